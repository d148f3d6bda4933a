# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One tick of workspace control: the four stages, one after another, in three kernels.

`StanceFeet` holds their arrays and memory for one set of feet in contact.
"""
from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import PLANE, SOLE, START, WRENCH, foot_moment
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import load3, load9, rotate_back, scale, store3, subtract
from legged_dynamics.spatial.jit import as_python, lean_kernel, part
from legged_dynamics.spatial.layout import offsets
from legged_dynamics.spatial.packed import opened, pack
from legged_dynamics.workspace.force_division import (
    BALANCED,
    EVEN,
    FRICTION_CONE,
    NO_SOLUTION,
    add_leg_loads,
    asked_shares,
    division_program,
    even_shares,
    foot_cone,
    least_squares,
    missing_wrench,
)
from legged_dynamics.workspace.ground import GroundReading
from legged_dynamics.workspace.propagation import (
    free_efforts,
    invert_legs,
    propagate_force,
    propagate_velocity,
    wrenches_in_feet,
)
from legged_dynamics.workspace.settings import WorkspaceSettings
from legged_dynamics.workspace.stance_arrays import GROUP, stance_arrays
from legged_dynamics.workspace.workspace_dynamics import (
    POSE,
    SERVO,
    follow_base,
    reduce_exact,
    wanted_acceleration,
    workspace_force,
)

# Faults of a tick; values of command.WorkspaceFault.
UNBALANCED = 4
EFFORT_LIMIT = 8
ACCELERATION_LIMIT = 16
SINGULAR = 32
LOST = 64


class Parameters(NamedTuple):
    """Settings that the kernels read."""

    threshold: int = 1              # singular value below which a leg is called singular
    posture_stiffness: int = 1      # 1/s^2
    posture_damping: int = 1        # 1/s
    tolerance: int = 1              # N or N m, of the balance on the base
    far: int = 1                    # m, from where the base is lost
    turned: int = 1                 # rad
    width: int = 0


class Inputs(NamedTuple):
    """Motion of the base and its target; each at the columns `POSE`."""

    body: int = POSE.acceleration
    target: int = POSE.width
    width: int = 0


class Outputs(NamedTuple):
    """
    Results of a tick in one row; base axes.

    From `effort` on: efforts (nv), wrenches of all feet in their own axes (6 nf), smallest
    singular value of their legs (nf).
    """

    errors: int = 24        # (4, 6) at the rows `SERVO`
    force: int = 6          # F of stage 3 [N, N m]
    net: int = 6            # W, what the feet are to give together [N, N m]
    missing: int = 6        # of it [N, N m]
    inertia: int = 36       # Lambda
    bias: int = 6           # mu [N, N m]
    effort: int = 0         # N m or N


PARAMETER = offsets(Parameters())
INPUT = offsets(Inputs())
OUTPUT = offsets(Outputs())


class StanceMemory(NamedTuple):
    """
    Memory of one set of k stance feet in addition to its StanceArrays.

    Attributes
    ----------
    members, group : (k,) int array
        Number of each stance foot among all feet, and its group.
    limits : (nv,) array [N m or N]
        Effort limits; zero for a joint without a limit.
    weights, shares : (nc,) array
        Weights of the division, and its result.
    asked : (k, 4) array [-, N, N, N]
        Flag whether a force is requested of a foot, and that force in base axes.
    load, moved : (6,) array [m/s^2, rad/s^2]
        Desired acceleration of the base: the part that holds a load, and the part that moves it.
    acceleration : (n,) array
        Accelerations of base and joints.
    wrenches : (6 k,) array
        Wrenches in the feet's axes.

    """

    members: np.ndarray
    group: np.ndarray
    limits: np.ndarray
    weights: np.ndarray
    shares: np.ndarray
    asked: np.ndarray
    load: np.ndarray
    moved: np.ndarray
    acceleration: np.ndarray
    wrenches: np.ndarray


@part
def _cut_efforts(effort, limits):
    """Cut efforts to their limits; return whether any was cut."""
    cut = False
    for j in range(effort.shape[0]):
        if limits[j] > 0.0 and abs(effort[j]) > limits[j]:
            # A tolerance, so that an effort at its limit does not count as cut.
            cut = cut or abs(effort[j]) > limits[j] * (1.0 + 1e-9)
            effort[j] = math.copysign(limits[j], effort[j])
    return cut


@part
def _far_off(error, far, turned):
    """Return whether the base is too far from its target."""
    return (error[0] ** 2 + error[1] ** 2 + error[2] ** 2 > far * far
            or error[3] ** 2 + error[4] ** 2 + error[5] ** 2 > turned * turned)


@part
def _report(feet, states, singular, inertia, bias, memory, out, nv):
    """Copy stage results to ``out`` at `OUTPUT`, with a place for every foot."""
    for i in range(6):
        out[OUTPUT.bias + i] = bias[i]
        for k in range(6):
            out[OUTPUT.inertia + 6 * i + k] = inertia[i, k]
    wrenches_in_feet(feet, states, memory.shares, memory.wrenches)
    n_feet = (out.shape[0] - OUTPUT.effort - nv) // 7
    for i in range(memory.members.shape[0]):
        foot = memory.members[i]
        for k in range(6):
            out[OUTPUT.effort + nv + 6 * foot + k] = memory.wrenches[6 * i + k]
        out[OUTPUT.effort + nv + 6 * n_feet + foot] = singular[memory.group[i], 0]


@lean_kernel
def find_dynamics(s, parameters, held, moved, inputs):
    """
    Run stages 1 and 2 on q, v in ``s`` and the base motion in ``inputs`` (42,).

    ``held``: positions to keep of joints that do not move the feet; ``moved``:
    accelerations of swing joints instead, NaN for others.
    """
    s = opened(s)
    up, w = (inputs[6], inputs[7], inputs[8]), load3(inputs, POSE.twist + 3)
    store3(s.base, 0, w)
    store3(s.base, 6, scale(GRAVITY, up))
    for j in range(s.v.shape[0]):
        s.posture[j] = (parameters[PARAMETER.posture_stiffness] * (held[j] - s.q[j])
                        - parameters[PARAMETER.posture_damping] * s.v[j])
        if not math.isnan(moved[j]):
            s.posture[j] = moved[j]
    for i in range(s.lean.shape[0]):
        # Only the difference from the vertical is stored: the dynamics kernels use one normal.
        normal = rotate_back(load9(inputs, 0), load3(s.touch[i], 0))
        store3(s.lean[i], 0, subtract(normal, up))
    propagate_velocity(s, up)
    invert_legs(s, parameters[PARAMETER.threshold])
    reduce_exact(s, inputs[POSE.twist:INPUT.target])


@lean_kernel
def find_forces(s, memory, method, gains, integral, inputs, dt, out):
    """
    Run stage 3; fill the wrench required of the feet and the efforts without them.

    ``integral`` (6,) of the error, world axes, is advanced by ``dt`` (0 keeps it); the
    memory's shares become even.
    """
    s, memory = opened(s), opened(memory)
    body, errors = inputs[INPUT.body:INPUT.target], out[OUTPUT.errors:OUTPUT.force].reshape((4, 6))
    force, wrench = out[OUTPUT.force:OUTPUT.net], out[OUTPUT.net:OUTPUT.missing]
    wanted_acceleration(body, inputs[INPUT.target:], gains, integral, dt, errors)
    workspace_force(s.inertia, s.bias, errors[SERVO.wanted], force)
    # The integral estimates a load on the base; it accelerates neither base nor legs.
    for start in range(0, 6, 3):
        learnt = rotate_back(load9(inputs, 0), load3(integral, start))
        for k in range(3):
            memory.load[start + k] = -gains[2, start + k] * learnt[k]
            memory.moved[start + k] = errors[SERVO.wanted, start + k] - memory.load[start + k]
    follow_base(s.N, s.n0, memory.moved, body[POSE.twist:], memory.acceleration)
    free_efforts(s.M, s.h, memory.acceleration, out[OUTPUT.effort:OUTPUT.effort + s.v.shape[0]],
                 wrench)
    for i in range(6):
        for k in range(6):
            wrench[i] += s.inertia[i, k] * memory.load[k]
    # The paper divides F of massless legs; the other methods W, which includes the legs.
    even_shares(s.feet, s.states, force if method == EVEN else wrench, memory.shares)
    if method != EVEN:
        asked_shares(s.feet, memory.asked, wrench, memory.weights, memory.shares)


@lean_kernel
def find_efforts(s, memory, method, outcome, parameters, out):
    """Run stage 4 on the divided forces; return bits of `command.WorkspaceFault`."""
    s, memory = opened(s), opened(memory)
    nv, errors = s.v.shape[0], out[OUTPUT.errors:OUTPUT.force].reshape((4, 6))
    force, wrench = out[OUTPUT.force:OUTPUT.net], out[OUTPUT.net:OUTPUT.missing]
    effort, missing = out[OUTPUT.effort:OUTPUT.effort + nv], out[OUTPUT.missing:OUTPUT.inertia]
    if method != FRICTION_CONE or outcome == NO_SOLUTION:
        least_squares(s.grasp, s.spare, force if method == EVEN else wrench, memory.weights,
                      memory.shares)
    if method == EVEN:
        add_leg_loads(s.inverse, effort, memory.shares)
    missing_wrench(s.grasp, wrench, memory.shares, missing)
    propagate_force(s.tree, s.feet, s.bodies, s.states, memory.shares, effort)

    faults = 0
    for i in range(6):
        if outcome != BALANCED or abs(missing[i]) > parameters[PARAMETER.tolerance]:
            faults |= UNBALANCED
        if errors[SERVO.cut, i] != 0.0:
            faults |= ACCELERATION_LIMIT
    if _cut_efforts(effort, memory.limits):
        faults |= EFFORT_LIMIT
    for g in range(s.singular.shape[0]):
        if s.singular[g, 0] < parameters[PARAMETER.threshold]:
            faults |= SINGULAR
    if _far_off(errors[SERVO.error], parameters[PARAMETER.far], parameters[PARAMETER.turned]):
        faults |= LOST
    _report(s.feet, s.states, s.singular, s.inertia, s.bias, memory, out, nv)
    return faults


# Missing newtons at the base that count as much as one missing newton metre [1/m]: a body that is
# pushed away should stay upright.
UPRIGHT = 10.0
# Largest normal force of a foot without a limit, in weights of the robot.
MOST = 100.0


class StanceFeet:
    """
    Arrays of the stages for a robot on some of its feet.

    `enough`: whether they can hold the base (a sole, or two of any kind), else the rest is
    missing; `members`: indices of contact feet; `place`: index and first contact coordinate
    by foot.
    """

    def __init__(self, model: RobotModel, feet: Sequence[Foot], contact: Sequence[bool],
                 settings: WorkspaceSettings):
        self.members = np.flatnonzero(contact)
        standing = [feet[i] for i in self.members]
        self.enough = len(standing) > 1 or any(len(foot.rows) == WRENCH for foot in standing)
        if not self.enough:
            return
        self.arrays = stance_arrays(model, standing)
        table, nv = self.arrays.feet, model.nv
        self.place = {foot: (i, int(start)) for i, (foot, start) in enumerate(
            zip(self.members.tolist(), table.index[:, START]))}
        self._seen = self._version = -1
        self._asked = False
        self._minimum = settings.minimum_load * model.total_mass * GRAVITY
        self._unlimited, self._most = MOST * model.total_mass * GRAVITY, None
        self.program = division_program(
            standing, table.size, nv, settings.friction, self._minimum,
            self.arrays.ground, UPRIGHT, self._unlimited)
        # Rows of a cone are affine in friction.
        one, two = (np.zeros_like(self.program.cones[:, :, 1:]) for _ in range(2))
        for i, foot in enumerate(standing):
            for rows, friction in ((one[i], 1.0), (two[i], 2.0)):
                A, _ = foot_cone(foot, friction, self._minimum, settings.sole_margin,
                                 self._unlimited)
                rows[:len(A)] = A
        self._cones = 2.0 * one - two, two - one
        # The last two rows of a foot's cone are its least and its largest normal force.
        self._loads = [int(cone[:, 0].sum()) - 2 for cone in self.program.cones]
        weights = table.rows.scales(1.0, settings.moment_arm ** -2)
        group = [next(g for g, row in enumerate(self.arrays.groups)
                      if start in row[GROUP.members:GROUP.members + row[GROUP.n_rows]])
                 for start in table.index[:, START]]
        limits = model.effort_limits
        self._limits = np.where(np.isfinite(limits), limits, 0.0)
        self._fraction = self._most_effort = settings.effort_fraction
        self.memory = StanceMemory(
            self.members, np.array(group), self._most_effort * self._limits, weights,
            np.zeros(table.size), np.zeros((len(standing), 4)), np.zeros(6), np.zeros(6),
            np.zeros(6 + nv), np.zeros(6 * len(standing)))
        self.packed = pack(self.arrays), pack(self.memory), pack(self.program)

    def stand_on(self, ground: GroundReading) -> None:
        """Update the normals and friction of the ground under these feet."""
        if self._seen != ground.seen:
            self._seen = ground.seen
            self.arrays.ground[:] = ground.axes[self.members]
            self.arrays.touch[:] = ground.touch[self.members]
        if self._version == ground.version:
            return
        self._version = ground.version
        level, slope = self._cones
        self.program.cones[:, :, 1:] = level + ground.friction[self.members, None, None] * slope

    def bear(self, most: np.ndarray | None) -> None:
        """Limit normal forces by ``most`` (nf,) [N], of all feet; None for no limit."""
        if most is None and self._most is None:
            return
        self._most, bounds = most, self.program.bounds
        limits = itertools.repeat(self._unlimited) if most is None else most[self.members].tolist()
        for i, (limit, row) in enumerate(zip(limits, self._loads)):
            bounds[i, row] = min(self._minimum, 0.5 * min(limit, self._unlimited))
            bounds[i, row + 1] = -min(limit, self._unlimited)

    def spare_efforts(self, fraction: float) -> None:
        """Limit efforts to a fraction of their limits, at most that of the settings."""
        fraction = min(fraction, self._most_effort)
        if fraction != self._fraction:
            self._fraction = fraction
            np.multiply(fraction, self._limits, out=self.memory.limits)

    # ---- forces on single feet, in world axes ----------------------------------------------

    def ask(self, sought: Mapping[int, np.ndarray], R_WB: np.ndarray) -> None:
        """Set the forces (world axes) by foot that the division seeks; others are free."""
        if not sought and not self._asked:
            return
        self._asked = bool(sought)
        self.memory.asked[:, 0] = 0.0
        for foot, force in sought.items():
            row = self.memory.asked[self.place[foot][0]]
            row[0], row[1:] = 1.0, force @ R_WB

    def forces(self, R_WB: np.ndarray) -> dict[int, np.ndarray]:
        """Return the last divided forces by foot [N], world axes."""
        return {foot: self.force(R_WB, foot) for foot in self.place}

    def force(self, R_WB: np.ndarray, foot: int) -> np.ndarray:
        """Return a foot's last divided force (3,) [N], world axes."""
        start = self.place[foot][1]
        return R_WB @ self.memory.shares[start:start + 3]

    def rotation(self, foot: int) -> np.ndarray:
        """Return a foot's ``R_BF``, the identity if not in contact."""
        if foot not in self.place:
            return np.eye(3)
        return self.arrays.states[self.place[foot][0], :9].reshape(3, 3)

    def why_not(self, foot: int, force: np.ndarray, R_WB: np.ndarray) -> str:
        """
        Return why a foot cannot have a requested force (world axes).

        Its own limits are checked first; if they hold, the other feet are the reason.
        """
        i, start = self.place[foot]
        R_BC = R_WB.T @ self.arrays.ground[i].reshape(3, 3)
        if self.arrays.feet.index[i, PLANE]:
            R_BC = self.arrays.states[i, :9].reshape(3, 3)
        in_base = force @ R_WB
        local, cone = in_base @ R_BC, self.program.cones[i]
        rows = cone[(cone[:, 0] != 0.0) & (np.abs(cone[:, 4:]).max(axis=1) == 0.0), 1:4]
        if local[2] < self._minimum:
            return f'a normal force below {self._minimum:.0f} N'
        if (rows[:-2] @ local < -1e-9 * np.linalg.norm(force)).any():
            return 'outside the friction cone'
        own = self.arrays.jacobian[start:start + 3]
        free = self.arrays.M[6:] @ self.memory.acceleration + self.arrays.h[6:]
        effort = free - in_base @ own
        if ((np.abs(effort) > self.memory.limits) & (np.abs(own).max(axis=0) > 0.0)
            & (self.memory.limits > 0.0)).any():
            return 'beyond the effort limits'
        return 'the other feet cannot balance it'

    def margins(self, R_WB: np.ndarray, friction: np.ndarray) -> dict[str, float]:
        """Return the margins ``friction`` and ``sole`` of `WorkspaceController.margins`."""
        found: dict[str, float] = {}
        for i, (foot, force) in enumerate(self.forces(R_WB).items()):
            R_BF, axes = self.arrays.states[i, :9].reshape(3, 3), self.arrays.ground[i]
            axes = R_WB @ R_BF if self.arrays.feet.index[i, PLANE] else axes.reshape(3, 3)
            x, y, z = force @ axes
            if z <= 0.0:
                continue
            free = 1.0 - float(np.hypot(x, y) / (friction[foot] * z))
            found['friction'] = min(free, found.get('friction', 1.0))
            mx, my, _ = as_python(foot_moment)(
                self.arrays.feet.index, self.arrays.states, i, self.memory.shares) @ R_BF
            front, back, left, right = self.arrays.feet.geometry[i, SOLE:SOLE + 4]
            for width, off in ((front - back, my / z), (left - right, mx / z)):
                if width > 0.0:
                    found['sole'] = min(float(0.5 * width - abs(off)), found.get('sole', np.inf))
        return found
