# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Swinging legs: where a foot is to be on its way, and the joint accelerations that take it there.

Across the ground a foot follows the minimum-jerk polynomial from where its reference is to its
foothold in the time that is left (Flash and Hogan 1985, eq. A6), planned afresh at every tick, so
the foothold may move. Above ground it follows ``z0 + (z1 - z0) s(x) + 64 c x^3 (1 - x)^3`` with
the smooth step ``s`` and the clearance ``c``. The leg's joints get the accelerations

    qdd = J^+ (xdd_d + K_v (xd_d - xd) + K_p (x_d - x) - Jdot v),

which the control tick turns into efforts by inverse dynamics, together with the reaction on the
body. A sole is also held at an orientation in the world.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_ROTATION,
    SIZE,
    START,
    contact_bias,
    contact_jacobians,
    contact_map,
    contact_points,
    has_moment,
    moment_axis,
)
from legged_dynamics.dynamics.kinematics import forward_kinematics
from legged_dynamics.estimation.leg_odometry import SETTLED
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import (
    add,
    compose,
    cross,
    dot,
    load3,
    load9,
    rotate,
    rotate_back,
    store3,
    subtract,
    transpose,
)
from legged_dynamics.spatial.exponential import rotation_log
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.layout import get9
from legged_dynamics.spatial.packed import opened, pack
from legged_dynamics.workspace.propagation import invert_legs
from legged_dynamics.workspace.stance_arrays import GROUP, StanceArrays, stance_arrays


@dataclass(frozen=True)
class SwingSettings:
    """
    Swinging legs beside `WalkSettings`; friction was chosen on robots with 3 % of it unknown.

    Half of `learns` leaves light legs behind in the first second; at twice it follows noise.
    """

    margin: float = 0.02        # of a joint's range, at either end, that swings leave free
    threshold: float = 0.05     # least singular value of a leg, in its lengths, before damping
    learns: float = 6.0         # 1/s, how fast friction is learned
    slides: float = 0.15        # rad/s or m/s of a joint from which its friction is whole
    most: float = 0.06          # of the effort limit: largest friction that is believed
    # Part of friction that is compensated in legs that bear on points.
    stance_friction_part: float = 0.8
    first: float = 0.025        # s of sliding that count as frictionless before any


SWING = SwingSettings()
# Newton steps of the inverse kinematics at most, and how near a foot comes to its place [m].
INVERSIONS = 12
REACHED = 1e-3
_FIRST = SWING.first


class SwingPath:
    """
    Reference of a swing foot; ``clearance`` [m]: above the line between the ends.

    `lifted` (2,) [m]: where it began.
    """

    def __init__(self, start: np.ndarray, clearance: float):
        self._across = np.zeros((2, 3))
        self._across[:, 0] = start[:2]
        self.lifted = start[:2].copy()
        self.ends = np.array([start[2], clearance], float)

    def advance(self, goal: np.ndarray, part: float, left: float, duration: float,
                dt: float) -> np.ndarray:
        """
        Return position, velocity and acceleration (9,) one step later, world axes.

        ``goal``: foothold; ``part``: of the swing passed; ``left`` [s]: until touch-down.
        """
        out = np.empty(9)
        advance_path(self._across, self.ends, goal, part, left, duration, dt, out)
        return out

    def rise(self, step: float, most: float) -> None:
        """Raise the clearance by ``step`` to at most ``most`` [m], after hitting an edge."""
        self.ends[1] = max(self.ends[1], min(self.ends[1] + step, most))


@lean_kernel
def advance_path(across, ends, goal, part, left, duration, dt, out):
    """
    Advance a swing foot's reference by one step, frozen at the end; fill ``out`` (9,).

    ``across`` (2, 3): motion along world x and y, updated; ``ends``: start height and
    clearance; ``part``: of the swing passed; ``left`` [s]: until touch-down.
    """
    for axis in range(2):
        x, v, a = across[axis, 0], across[axis, 1], across[axis, 2]
        if left > SETTLED:
            jerk = (60.0 * (goal[axis] - x) / left - 36.0 * v - 9.0 * a * left) / (left * left)
            x, v, a = x + dt * (v + 0.5 * dt * a), v + dt * (a + 0.5 * dt * jerk), a + dt * jerk
        else:
            v, a = 0.0, 0.0
        across[axis, 0], across[axis, 1], across[axis, 2] = x, v, a
        out[axis], out[3 + axis], out[6 + axis] = x, v, a
    s = min(max(part, 0.0), 1.0)
    r, way, rate, c = 1.0 - s, goal[2] - ends[0], 1.0 / duration, 64.0 * ends[1]
    x = s * r
    out[2] = ends[0] + way * s ** 3 * (10.0 - 15.0 * s + 6.0 * s * s) + c * x ** 3
    out[5] = rate * x * x * (30.0 * way + 3.0 * c * (1.0 - 2.0 * s))
    out[8] = rate * rate * (60.0 * way * x * (1.0 - 2.0 * s)
                            + 6.0 * c * x * ((1.0 - 2.0 * s) ** 2 - x))


@lean_kernel
def directions(up, turn, force):
    """Return a foot's force [N] along and across ``up`` (base axes); ``turn``: foot to base."""
    f = rotate(load9(turn.reshape(9), 0), load3(force, 0))
    along = dot(load3(up, 0), f)
    return along, math.sqrt(max(dot(f, f) - along * along, 0.0))


class SwingLegs:
    """
    Joint accelerations of one set of swinging feet.

    Parameters
    ----------
    model : RobotModel
        Robot with a floating base and 1-DoF joints.
    feet : sequence of Foot
        All feet.
    swinging : sequence of int
        Numbers of those that swing.

    Attributes
    ----------
    members : list of int
        Numbers of the swinging feet.
    arrays : StanceArrays
        Arrays of their legs; a ball is taken at its centre, a cylinder at its axis.
    learnt : (2, nv) array [rad/s^2 or m/s^2, rad/s or m/s]
        Part of the last accelerations that corrects errors, and joint velocities along the
        reference; zero at other joints.

    """

    def __init__(self, model: RobotModel, feet: Sequence[Foot], swinging: Sequence[int]):
        self.members = list(swinging)
        found = [feet[i].rolled(-feet[i].radius) for i in self.members]
        self.arrays: StanceArrays = stance_arrays(model, found)
        self._packed = pack(self.arrays)
        self._columns, self.learnt = np.zeros(model.nv), np.zeros((2, model.nv))
        self._rows = np.zeros((2, self.arrays.inverse.shape[1]))
        for group in self.arrays.groups:
            k, m = group[GROUP.n_rows], group[GROUP.n_columns]
            self._columns[group[GROUP.members + k:GROUP.members + k + m]] = 1.0

    def accelerations(self, body: np.ndarray, q: np.ndarray, v: np.ndarray, goals: np.ndarray,
                      frequency: float, moved: np.ndarray) -> np.ndarray:
        """
        Fill ``moved`` at the swing legs' joints; return foot errors (k,) [m].

        ``body`` (18,): ``R_WB`` by rows, position, twist; ``goals`` (k, 18): position, velocity,
        acceleration, orientation of soles, in world axes; ``frequency`` [rad/s]: of the spring.
        """
        s = self.arrays
        s.q[:], s.v[:] = q, v
        away = np.zeros(len(goals))
        find_swing(self._packed, body, goals, (frequency * frequency, 2.0 * frequency,
                                               SWING.threshold),
                   self._columns, moved, (away, self._rows, self.learnt))
        return away

    def standing_at(self, q: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """
        Return joint positions with which feet are at places, and which feet are, (k,) of bool.

        ``places`` (k, 3): axes of a level base; ``q``: first guess.
        """
        still, level = np.zeros(len(q)), np.eye(3).ravel()
        body, goals = np.concatenate([level, np.zeros(9)]), np.zeros((len(places), 18))
        goals[:, :3], goals[:, 9:] = places, level
        for _ in range(INVERSIONS):
            moved = still.copy()
            # Of joints at rest the spring's acceleration is its frequency squared times the way.
            away = self.accelerations(body, q, still, goals, 1.0, moved)
            if away.max() < REACHED:
                break
            q = q + moved
        return q, away < REACHED

    def effort_at(self, q: np.ndarray, places: np.ndarray, force: float,
                  limits: np.ndarray) -> tuple[float, np.ndarray]:
        """
        Return relative effort and joint positions of legs with a vertical force.

        Norm of fourth powers over joints, maximum over legs, infinite where a foot is out of
        reach; ``places`` (k, 3): axes of a level base; ``q``: first guess.
        """
        q, reached = self.standing_at(q, places)
        if not reached.all():
            return np.inf, q
        down = self.arrays.feet.index[:, START] + 2
        parts = (self.arrays.jacobian[down] * (force / limits)) ** 4
        return float(parts.sum(axis=1).max() ** 0.25), q

    def within(self, q: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return whose leg's joints are within their ends (nv, 2), (k,) of bool."""
        out = (q < ends[:, 0]) | (q > ends[:, 1])
        return ~((np.abs(self.arrays.jacobian[self.arrays.feet.index[:, START] + np.arange(3)[
            :, None]]).max(axis=0) > 0.0) & out).any(axis=1)


class SwingControl:
    """Moves the legs that swing, and learns the friction of their joints."""

    def __init__(self, model: RobotModel, feet: Sequence[Foot], inertia: np.ndarray, soles: bool):
        self._model, self._feet, self._inertia = model, feet, inertia
        self._legs: dict[bytes, SwingLegs] = {}
        limits = np.where(np.isfinite(model.effort_limits), model.effort_limits, 0.0)
        self._most = SWING.most * limits
        self._stance_part = 0.0 if soles else SWING.stance_friction_part
        free = SWING.margin * np.nan_to_num(np.ptp(model.position_limits, axis=1), posinf=0.0)
        self.ends = model.position_limits + np.outer(free, [1.0, -1.0])
        self._learnt = np.zeros((2, model.nv))
        self._friction, self._seen = np.zeros((2, model.nv))

    def legs(self, members: Sequence[int]) -> SwingLegs:
        """Return the legs of a set of feet."""
        key = bytes(members)
        if key not in self._legs:
            self._legs[key] = SwingLegs(self._model, self._feet, members)
        return self._legs[key]

    def move(self, members: Sequence[int], body: np.ndarray, q: np.ndarray, v: np.ndarray,
             goals: np.ndarray, frequency: float, moved: np.ndarray) -> list[np.ndarray]:
        """Fill ``moved`` with accelerations of swinging legs; return their feet's ``R_BF``."""
        legs = self.legs(members)
        self._learnt = legs.learnt
        legs.accelerations(body, q, v, goals, frequency, moved)
        keep_within(moved, q, v, self.ends, 2.0 * frequency)
        return [state[FOOT_ROTATION:FOOT_ROTATION + 9].reshape(3, 3).copy()
                for state in legs.arrays.states]

    def against_friction(self, moved: np.ndarray, v: np.ndarray, dt: float) -> np.ndarray:
        """
        Return efforts against unknown dry friction, which would leave light legs behind.

        Learnt from corrections of swings, as in adaptive control (Slotine and Li 1987).
        """
        effort = np.empty(len(v))
        learn_friction(self._learnt, moved, v, dt, (SWING.learns, SWING.slides, self._stance_part),
                       (self._inertia, self._most, self._seen, self._friction), effort)
        return effort


@lean_kernel
def keep_within(moved, q, v, ends, frequency):
    """Bound accelerations of swinging joints (others are NaN) so that none passes its ends."""
    for j in range(moved.shape[0]):
        if not math.isnan(moved[j]):
            brake = 2.0 * frequency * v[j]
            moved[j] = max(min(moved[j], frequency * frequency * (ends[j, 1] - q[j]) - brake),
                           frequency * frequency * (ends[j, 0] - q[j]) - brake)


@lean_kernel
def learn_friction(learnt, moved, speed, dt, settings, joints, effort):
    """
    Learn the dry friction of swinging joints; fill ``effort`` to compensate it.

    The mean of corrections, later with rate ``least`` [1/s]; ``slides``: velocity of full
    friction; ``stance_part``: of it, compensated in stance; ``seen``, ``friction`` are updated.
    """
    least, slides, stance_part = settings
    inertia, most, seen, friction = joints
    for j in range(friction.shape[0]):
        if math.isnan(moved[j]):
            effort[j] = stance_part * friction[j] * math.tanh(speed[j] / slides)
            continue
        way = math.tanh(learnt[1, j] / slides)
        seen[j] += dt * way * way
        rate = dt * max(least, 1.0 / (_FIRST + seen[j]))
        friction[j] = min(max(friction[j] + rate * inertia[j] * learnt[0, j] * way, 0.0), most[j])
        effort[j] = friction[j] * way


@lean_kernel
def find_swing(s, body, goal, gains, columns, moved, found):
    """
    Fill joint accelerations that take feet along their references.

    ``goal`` (k, 18): position, velocity, acceleration, orientation, world axes; ``gains``:
    stiffness, damping, threshold of singular values; ``found``: errors of feet (k,), then rows
    of the feet and values of the joints of correction and reference velocity.
    """
    stiffness, damping, threshold = gains
    away, rows, learnt = found
    s, R, p = opened(s), load9(body, 0), load3(body, 9)
    vel, w = load3(body, 12), load3(body, 15)
    up = (R[6], R[7], R[8])
    store3(s.base, 0, w)
    store3(s.base, 6, (0.0, 0.0, 0.0))
    forward_kinematics(s.tree, s.q, s.v, s.still, s.base, s.bodies)
    contact_points(s.feet, s.bodies, up, s.states)
    contact_map(s.feet, s.states, s.grasp)
    contact_jacobians(s.tree, s.feet, s.bodies, s.states, s.jacobian)
    contact_bias(s.feet, s.bodies, s.states, up, s.drift)
    invert_legs(s, threshold)
    wanted = s.spare[2 * max(s.inverse.shape[0], s.inverse.shape[1]) + 2]
    nv = s.v.shape[0]
    for i in range(s.feet.index.shape[0]):
        row, size = s.feet.index[i, START], s.feet.index[i, SIZE]
        c = load3(s.states[i], CONTACT)
        speed = add(vel, cross(w, c))
        for k in range(3):
            x = speed[k]
            rows[1, row + k] = -speed[k]
            for j in range(nv):
                x += s.jacobian[row + k, j] * s.v[j]
            wanted[row + k] = x
        gap = subtract(rotate_back(R, subtract(load3(goal[i], 0), p)), c)
        away[i] = dot(gap, gap) ** 0.5
        fast = rotate_back(R, load3(goal[i], 3))
        faster = rotate_back(R, load3(goal[i], 6))
        for k in range(3):
            rows[0, row + k] = damping * (fast[k] - wanted[row + k]) + stiffness * gap[k]
            rows[1, row + k] += fast[k]
            wanted[row + k] = faster[k] + rows[0, row + k] - s.drift[row + k]
        if has_moment(s.feet.index, i):
            R_WF = compose(R, get9(s.states, i, FOOT_ROTATION))
            turn = rotate_back(R, rotation_log(compose(load9(goal[i], 9), transpose(R_WF))))
            for k in range(size - 3):
                axis = moment_axis(s.feet.index, s.states, i, k)
                rate = dot(axis, w)
                for j in range(nv):
                    rate += s.jacobian[row + 3 + k, j] * s.v[j]
                wanted[row + 3 + k] = (stiffness * dot(axis, turn) - damping * rate
                                       - s.drift[row + 3 + k])
    for j in range(nv):
        if columns[j] == 0.0:
            continue
        x, y, z = 0.0, 0.0, 0.0
        for c in range(s.inverse.shape[1]):
            x += s.inverse[j, c] * wanted[c]
            y += s.inverse[j, c] * rows[0, c]
            z += s.inverse[j, c] * rows[1, c]
        moved[j], learnt[0, j], learnt[1, j] = x, y, z
