# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Sections of a recording to be solved over time: motion, contacts, external wrenches, checks.

From a motion to the frames of a problem, and from its solution to wrenches and efforts: both ways
run the same Newton-Euler passes as a single tick, and store nothing of the bodies in
between: running them twice costs less than a table of joint Jacobians.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from legged_dynamics.contact.over_time.limits import OverTimeWeights
from legged_dynamics.contact.over_time.problem import (
    DONE,
    Elimination,
    Problem,
    by_threes,
    eliminate,
    gain_width,
    substitute_back,
)
from legged_dynamics.contact.over_time.recorded_motion import GeneralizedMotion, RecordedMotion
from legged_dynamics.contact.tick import (
    CONTACT_FORCE,
    CONTACT_MOMENT,
    LENGTH,
    RESIDUAL,
    STANDING,
    allocate,
    base_wrench,
    carried,
    carve,
    relieve_feet,
    report_residual,
    support,
)
from legged_dynamics.dynamics.jacobians import (
    AXES,
    BODY,
    CONTACT,
    FOOT_ROTATION,
    IN_FOOT,
    SIZE,
    START,
    FeetTable,
    contact_points,
    moment_axes,
)
from legged_dynamics.dynamics.kinematics import OMEGA, POSITION, VELOCITY, forward_kinematics
from legged_dynamics.dynamics.newton_euler import (
    add_joint_physics,
    body_wrenches,
    inertial_wrenches,
    joint_efforts,
    subtract_external_wrenches,
)
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import (
    IDENTITY,
    ZERO,
    add,
    compose,
    cross,
    dot,
    rotate,
    rotate_back,
    subtract,
    transpose,
)
from legged_dynamics.spatial.jit import as_python, lean_kernel, part
from legged_dynamics.spatial.layout import get3, get9, put3, put9
from legged_dynamics.spatial.rotations import check_normal

# Return code of kernels when every frame is finite; otherwise the first frame that is not.
FINITE = -1


class MotionArrays(NamedTuple):
    """
    A motion as kernels take it, T frames.

    Attributes
    ----------
    position : (T, nq) array [rad or m]
        Positions of the joints.
    velocity, acceleration : (T, nv) array [rad/s, rad/s^2 or m/s, m/s^2]
        Velocities and accelerations of the joints.
    base : (T, 9) array [rad/s, rad/s^2, m/s^2]
        Angular velocity and acceleration, proper acceleration of the base, in its axes.
    rotation : (T, 9) array
        R_WB.
    base_velocity : (T, 3) array, or (0, 3) [m/s]
        Velocity of the base's origin over ground, in world axes.

    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    base: np.ndarray
    rotation: np.ndarray
    base_velocity: np.ndarray


class Section(NamedTuple):
    """A motion under given conditions, with the memory of a tick, which is written to."""

    motion: MotionArrays
    normal: tuple[float, float, float]      # of the ground, world axes
    external: np.ndarray    # (T or 0, nb, 6) [N, N m]: wrenches on bodies, in their axes
    in_world: bool          # whether contact coordinates are in world axes, and not the feet's
    integers: np.ndarray    # as `contact.tick.allocate` makes them
    floats: np.ndarray
    results: np.ndarray


@part
def _enter(section, memory, standing, t):
    """Set the contacts of frame t, run the outward pass, and return the required wrench."""
    motion, external = section.motion, section.external
    for i in range(standing.shape[1]):
        memory.feet.index[i, STANDING] = standing[t, i]
    forward_kinematics(memory.tree, motion.position[t], motion.velocity[t],
                       motion.acceleration[t], motion.base[t], memory.bodies)
    inertial_wrenches(memory.tree, memory.bodies)
    if external.shape[0] > 0:
        subtract_external_wrenches(external[t], memory.bodies)
    contact_points(memory.feet, memory.bodies,
                   rotate_back(get9(motion.rotation, t, 0), section.normal), memory.states)
    return base_wrench(memory.bodies)


@part
def _contact_speed(memory, i, base_velocity):
    """Return the square of the speed over ground of a foot's contact point, base axes."""
    b, point = memory.feet.index[i, BODY], get3(memory.states, i, CONTACT)
    v = add(get3(memory.bodies, b, VELOCITY),
            cross(get3(memory.bodies, b, OMEGA),
                  subtract(point, get3(memory.bodies, b, POSITION))))
    v = add(v, base_velocity)
    return dot(v, v)


@lean_kernel
def gather(section, problem, foot_rotation, speed):
    """
    Fill the problem's points, required wrench, rank and line, and the optional tables.

    ``foot_rotation`` and ``speed`` [m^2/s^2] are filled if not empty. Returns `FINITE` or the
    first non-finite frame.
    """
    memory, motion = carve(section.integers, section.floats), section.motion
    in_world = section.in_world
    for t in range(problem.required.shape[0]):
        f, m = _enter(section, memory, problem.standing, t)
        if not math.isfinite(dot(f, f) + dot(m, m)):
            return t
        R_WB = get9(motion.rotation, t, 0)
        rank, _, _, center, _, line = support(
            memory.feet.index, memory.states, memory.settings[LENGTH])
        if 0 < rank < 6:
            f, m = carried(f, m, center, line, rank, memory.settings[LENGTH])
        elif rank == 0:
            f, m = ZERO, ZERO
        problem.rank[t] = rank
        put3(problem.line, t, 0, _turned(R_WB, center, in_world))
        put3(problem.line, t, 3, _turned(R_WB, line, in_world))
        put3(problem.required, t, 0, _turned(R_WB, f, in_world))
        put3(problem.required, t, 3, _turned(R_WB, m, in_world))
        for i in range(speed.shape[1]):
            put3(problem.points[t], i, 0, _turned(R_WB, get3(memory.states, i, CONTACT), in_world))
            R = get9(memory.states, i, FOOT_ROTATION)
            if foot_rotation.shape[0] > 0:
                put9(foot_rotation[t], i, 0, compose(R_WB, R) if in_world else R)
            if problem.turns.shape[0] > 0:
                put9(problem.turns[t], i, 0, _moment_columns(memory, i, R_WB, R, in_world))
            if speed.shape[0] > 0:
                over_ground = rotate_back(R_WB, get3(motion.base_velocity, t, 0))
                speed[t, i] = _contact_speed(memory, i, over_ground)
    return FINITE


@lean_kernel
def express(section, problem, x, wrench, effort, residual):
    """
    Fill foot wrenches (foot frames), joint efforts and the base residual (base axes).

    Returns `FINITE`, or the first frame with non-finite efforts.
    """
    memory, motion = carve(section.integers, section.floats), section.motion
    in_world, results = section.in_world, section.results
    states, index = memory.states, problem.index
    nf = wrench.shape[1]
    for t in range(x.shape[0]):
        _enter(section, memory, problem.standing, t)
        R_WB = get9(motion.rotation, t, 0)
        for i in range(nf):
            start, R = index[i, START], get9(states, i, FOOT_ROTATION)
            f, m = get3(x, t, start), ZERO
            if index[i, SIZE] > 3:
                m = get3(x, t, start + 3)
            if problem.turns.shape[0] > 0:
                m = rotate(get9(problem.turns[t], i, 0), m)
            put3(states, i, CONTACT_FORCE, rotate_back(R_WB, f) if in_world else rotate(R, f))
            put3(states, i, CONTACT_MOMENT, rotate_back(R_WB, m) if in_world else m)
        relieve_feet(memory.feet.index, states, memory.bodies, results)
        joint_efforts(memory.tree, memory.bodies, effort[t])
        add_joint_physics(memory.tree, motion.position[t], motion.velocity[t],
                          motion.acceleration[t], effort[t])
        if not report_residual(memory.bodies, effort[t], results):
            return t
        for i in range(nf):
            for k in range(6):
                wrench[t, i, k] = results[6 * i + k]
        for k in range(6):
            residual[t, k] = results[RESIDUAL + k]
    return FINITE


@part
def _moment_columns(memory, i, R_WB, R, in_world):
    """Return a foot's moment axes in the axes of the problem (or the foot), as columns."""
    columns = transpose(moment_axes(memory.feet.index, memory.states, i))
    if memory.feet.index[i, AXES] >= IN_FOOT:
        return compose(R_WB, columns) if in_world else columns
    return IDENTITY if in_world else R


@part
def _turned(R, v, in_world):
    """Return v in world axes where the problem is in them."""
    return rotate(R, v) if in_world else v


# -------------------------------------------------------------------------------------------------
# A section of a recording, and its parts as kernels take them.


@dataclass(frozen=True, eq=False)
class Stretch:
    """
    Successive frames of a recording.

    Attributes
    ----------
    motion : RecordedMotion
        Evenly spaced; the last frame of one stretch is followed by the first of the next.
    in_contact : (nf,) or (T, nf) array of bool, optional
        Feet on the ground; all by default.
    external : mapping of link name to (6,) or (T, 6) array, optional [N, N m]
        Wrenches ``[f; m]`` on the robot apart from gravity and ground, in the link's axes about
        its origin.

    """

    motion: RecordedMotion
    in_contact: np.ndarray | Sequence[bool] | None = None
    external: Mapping[str, np.ndarray] | None = None


def _base_velocity(motion: RecordedMotion) -> np.ndarray:
    if isinstance(motion, GeneralizedMotion):
        return np.ascontiguousarray(motion.base_velocity, dtype=float)
    return np.gradient(np.asarray(motion.base_position, float), motion.step, axis=0)


def _standing(in_contact: object, T: int, nf: int) -> np.ndarray:
    """Return contact flags as integers (T, nf), 1 on the ground; all by default."""
    if in_contact is None:
        return np.ones((T, nf), np.int64)
    flags = np.asarray(in_contact, dtype=bool)
    if flags.shape not in ((nf,), (T, nf)):
        raise MeasurementError(f'expected contact flags of shape ({nf},) or ({T}, {nf}), got '
                               f'{flags.shape}')
    return np.ascontiguousarray(np.broadcast_to(flags, (T, nf)), dtype=np.int64)


def _external(model: RobotModel, external: Mapping[str, np.ndarray] | None, T: int) -> np.ndarray:
    """
    Return external wrenches by body (T, nb, 6) in body axes; (0, nb, 6) without any.

    ``external`` maps link names to (6,) or (T, 6), in link axes about the link's origin.
    """
    if not external:
        return np.zeros((0, model.n_bodies, 6))
    wrenches = np.zeros((T, model.n_bodies, 6))
    for link, values in external.items():
        rows = np.asarray(values, dtype=float)
        if rows.shape == (6,):
            wrenches += body_wrenches(model, {link: rows})
            continue
        if rows.shape != (T, 6) or not np.isfinite(rows).all():
            raise MeasurementError(f'expected finite wrenches on link {link!r} of shape (6,) or '
                                   f'({T}, 6), got {rows.shape}')
        body, pose = model.frame(link)
        wrenches[:, body] += rows @ pose.wrench_matrix.T
    return wrenches


# -------------------------------------------------------------------------------------------------
# The passes over a section, with their memory.
#
# One section passes on to the next the information of its frames about the next one's contact
# coordinates; the backward pass returns the solution of these.


@dataclass(frozen=True, eq=False)
class Past:
    """Information of earlier frames on the next one's coordinates x: ``x^T P x / 2 - h^T x``."""

    information: np.ndarray  # (nc, nc): P
    linear: np.ndarray  # (nc,): h

    @classmethod
    def nothing(cls, n: int) -> Past:
        """Return the empty information before the first frame, for n contact coordinates."""
        return cls(np.zeros((n, n)), np.zeros(n))

    @classmethod
    def near(cls, x: np.ndarray, weight: np.ndarray) -> Past:
        """Return information that pulls the next frame to x (nc,), weighting squares."""
        return cls(np.diag(weight), weight * x)


@dataclass(frozen=True, eq=False)
class Frames:
    """A section of a recording, set up as a problem."""

    section: Section  # The frames
    problem: Problem  # Its unknowns are the frames' contact coordinates
    # (T, nf, 9): rotations from the feet's axes to the problem's, where they are needed
    foot_rotation: np.ndarray

    def __len__(self) -> int:
        """Return the number of frames."""
        return len(self.problem.required)

    @property
    def standing(self) -> np.ndarray:
        """(T, nf) int array, 1 for a foot on the ground."""
        return self.problem.standing

    def head(self, count: int) -> Frames:
        """Return at most the first ``count`` frames."""
        return self._each(lambda rows: rows[:count])

    def joined(self, following: Frames) -> Frames:
        """Return these frames followed by others of the same robot and feet."""
        others = iter(following._tables())
        return self._each(lambda rows: np.concatenate([rows, next(others)]))

    def _tables(self) -> list[np.ndarray]:
        """Return all tables that have one row a frame."""
        p = self.problem
        return [*self.section.motion, p.standing, p.points, p.axes, p.turns, p.required, p.rank,
                p.line, p.cost, self.foot_rotation, self.section.external]

    def _each(self, change: Callable[[np.ndarray], np.ndarray]) -> Frames:
        tables = [change(rows) for rows in self._tables()]
        n = len(self.section.motion)
        problem = Problem._make([self.problem.index, *tables[n:n + 8], self.problem.smoothing,
                                 self.problem.slack])
        section = self.section._replace(motion=MotionArrays._make(tables[:n]), external=tables[-1])
        return replace(self, section=section, problem=problem, foot_rotation=tables[-2])

    def forward(self, past: Past, after: np.ndarray) -> tuple[Elimination, Past]:
        """
        Eliminate all frames; return that, and the information after the last frame.

        ``after`` (nf,): feet on the ground after the last frame, -1 without such a frame.
        Raises ConfigurationError when numbers exceed the floating-point range.
        """
        nc, nf = len(past.linear), self.standing.shape[1]
        made = Elimination.of(len(self), nc, gain_width(self.problem.index))
        P, h = past.information.copy(), past.linear.copy()
        at = eliminate(self.problem, np.zeros((0, nf, 6, 6)), np.zeros((0, nc)), P, h, after, made)
        if at != DONE:
            raise ConfigurationError(
                f'frame {at}: the costs leave the wrenches open, or lie so far apart that floating'
                ' point cannot tell. Take weights nearer to each other, or a larger ridge.')
        return made, Past(P, h)

    def backward(self, made: Elimination, after: np.ndarray, x_after: np.ndarray) -> np.ndarray:
        """Return x (T, nc), given the stance feet (-1: none) and x of the frame after."""
        substitute_back(self.problem, after, x_after, made)
        return made.x

    def alone(self, past: Past) -> np.ndarray:
        """Return x (T, nc) where no frame follows."""
        none = np.full(self.standing.shape[1], -1)
        return self.backward(self.forward(past, none)[0], none, np.zeros_like(past.linear))

    def express(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return the results for contact coordinates x (T, nc).

        Wrenches (T, nf, 6) [N, N m] in foot frames, joint efforts (T, nv) [N m or N], and the
        residual wrench at the base (T, 6) in its axes.
        """
        T, nf = self.standing.shape
        wrench, effort = np.empty((T, nf, 6)), np.empty_like(self.section.motion.velocity)
        residual = np.empty((T, 6))
        at = express(self.section, self.problem, x, wrench, effort, residual)
        if at != FINITE:
            raise MeasurementError(f'frame {at}: the joint efforts of this motion are not finite')
        return wrench, effort, residual


def assemble(model: RobotModel, table: FeetTable, stretch: Stretch, weights: OverTimeWeights,
             normal: Sequence[float], *, axes: str, rotations: bool = False) -> Frames:
    """
    Run Newton-Euler over a section of a recording and set up its problem.

    ``normal`` is in world axes; ``axes`` ('world' or 'foot') are those of the contact
    coordinates; ``rotations`` keeps the foot rotations in any case.
    """
    checked, with_speed = stretch.motion.checked(model), weights.velocity_penalty is not None
    motion = MotionArrays(
        checked.position, checked.velocity, checked.acceleration, checked.base_motion,
        checked.base_rotation.reshape(-1, 9),
        _base_velocity(stretch.motion) if with_speed else np.zeros((0, 3)))
    T, nf = len(motion.base), len(table.index)
    standing = _standing(stretch.in_contact, T, nf)
    in_world = axes == 'world'
    x, y, z = check_normal(normal, MeasurementError).tolist()
    memory = allocate(model, table)
    as_python(carve)(*memory[:2]).settings[LENGTH] = weights.length_scale
    rotation = np.empty((T if rotations or not in_world else 0, nf, 9))
    turns = np.empty((T if not in_world or (table.index[:, AXES] >= IN_FOOT).any() else 0, nf, 9))
    speed = np.empty((T if with_speed else 0, nf))
    problem = Problem(by_threes(table.index), standing, np.empty((T, nf, 3)),
                      np.empty((0, nf, 9)) if in_world else rotation, turns, np.empty((T, 6)),
                      np.empty(T, np.int64), np.empty((T, 6)), np.empty((T, nf, 2)),
                      weights.smoothing_diagonal(), np.zeros(6))
    section = Section(motion, (x, y, z), _external(model, stretch.external, T), in_world, *memory)
    at = gather(section, problem, rotation, speed)
    if at != FINITE:
        raise MeasurementError(f'frame {at}: the motion requires a wrench that is not finite')
    problem.cost[:] = weights.costs((T, nf), speed if len(speed) else None)
    return Frames(section, problem, rotation)
