# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Reference of the body: where it is to be while the legs step.

On points it follows the integral of the velocity, at its height over the plane of the footholds
and tilted with it; in gaits whose feet swing one after the other it is led over those that bear
next. On soles the centre of pressure takes the error of the divergent component of motion away,

    p = p_ref + (1 + k / omega) (xi - xi_ref) + k_i int (xi - xi_ref) dt,

as in the stabilizer of Caron et al. (2019, eq. 8); height and orientation are the servo's.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.estimation.leg_odometry import BodyState
from legged_dynamics.model.feet import Foot
from legged_dynamics.spatial.algebra import cross, load3, load9, rotate, rotate_back, store3
from legged_dynamics.spatial.convex_hull import convex_hull
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.rotations import rotation_from_vector, rotation_vector
from legged_dynamics.workspace.command import BodyTarget
from legged_dynamics.workspace.pressure import Pressure
from legged_dynamics.workspace.walking.divergent import PressurePlan
from legged_dynamics.workspace.walking.footholds import Floor
from legged_dynamics.workspace.walking.stance import Pendulum, Stance, heading_of, turned


@dataclass(frozen=True)
class ReferenceSettings:
    """
    How the body follows; times are in time constants of the pendulum.

    The body of a robot on tiles follows footholds at half of `follows`; at twice it lags behind
    slopes.
    """

    follows: float = 8.0    # time constant with which it follows a slope, and a height on points
    # time ahead in which a body that is about to stand comes to rest; at 1, its capture point,
    # it does not come to rest and steps on
    rests: float = 0.45
    # rad, largest angle from body to target: it gets up as it lands. Below the angle at which a
    # body counts as lost, `limits.error.angular`.
    leans: float = 0.4
    sway: float = 0.6       # of the way from the middle of all feet to those that bear, on points
    shift: float = 3.0      # time of the first and of the last shift of the weight
    # Gains of the divergent component: proportional and integral [1/s], and the largest part of
    # the integral [m]. With omega for the first g1 takes more steps after a push to the back.
    gain: float = 4.0
    learn: float = 1.0
    learnt: float = 0.03


REFERENCE = ReferenceSettings()
NOWHERE = np.zeros(2)


class BodyReference:
    """
    Reference of a body on point feet.

    `place` (2,) [m]: integral of the commanded velocity; `yaw` [rad]: of the rate.
    """

    def __init__(self, stance: Stance, plan: PressurePlan):
        self._stance, self.plan = stance, plan
        self._slope, self._level = np.zeros(2), np.zeros(3)

    def start(self, state: BodyState, body: Pendulum, floor: Floor) -> None:
        """Begin where the body is."""
        self.yaw, self._slope[:] = heading_of(state.rotation), floor.plane[:2]
        self.place = body.place.copy()
        self.sway, self._drive = self.place, NOWHERE
        self._level[2] = state.position[2]

    def error(self, body: Pendulum) -> np.ndarray:
        """Return what the divergent component is off the reference, (2,) [m]."""
        return body.place - self.sway + (body.speed - self._drive) / body.omega

    def follow(self, body: Pendulum, speed: np.ndarray, dcm: np.ndarray | None,
               pressure: np.ndarray, leash: float, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """
        Move on with a velocity (2,); return velocity and acceleration of the reference.

        ``dcm``, ``pressure`` (2,): planned divergent component and centre of pressure where the
        body is led, else None.
        """
        self.place = self.place + speed * dt
        drive, pull = speed, NOWHERE
        if dcm is None:
            self.sway = self.place
        else:
            drive = body.omega * (dcm - self.sway)
            pull = body.omega * body.omega * (self.sway - pressure)
            self.sway = self.sway + dt * drive
        lead = self.sway - body.place
        far = math.hypot(*lead.tolist())
        if far > leash:
            off = lead * (1.0 - leash / far)
            self.sway, self.place = self.sway - off, self.place - off
        self._drive = drive
        return drive, pull

    def target(self, state: BodyState, body: Pendulum, drive: np.ndarray, pull: np.ndarray,
               turning: float, floor: Floor, dt: float) -> BodyTarget:
        """Return the target: over the plane of the feet, which is filtered, and tilted with it."""
        s, R, level = REFERENCE, state.rotation, self._level
        (a, b), part = self._slope.tolist(), min(1.0, dt * body.omega / s.follows)
        a, b = a + part * (floor.plane[0] - a), b + part * (floor.plane[1] - b)
        self._slope[:] = a, b
        R_d, packed = np.empty((3, 3)), np.zeros(24)
        alike = stand_on_slope(self._slope, turned(self.yaw), R, R_d)
        # A body that has fallen is lost; one that leans less gets up.
        if alike < 1.0 + 2.0 * math.cos(s.leans) and R[2, 2] > math.cos(2.0 * s.leans):
            off = rotation_vector(R.T @ R_d)
            R_d = R @ rotation_from_vector(off * (s.leans / np.linalg.norm(off)))
        x, y = body.speed.tolist()
        level[0], level[1] = self._stance.height, part
        level[2] += dt * (a * x + b * y)
        fill_target((self.sway, drive, pull), turning, R_d, self._stance.com, floor.plane, level,
                    packed)
        return BodyTarget(packed)


class PressureReference:
    """
    Reference of a body on soles: height, heading, and where the ground is to press.

    `place` (2,) [m]: integral of the commanded velocity; `yaw` [rad]: of the rate; `foot_yaw`:
    headings of the soles.
    """

    def __init__(self, stance: Stance, feet: Sequence[Foot]):
        self._stance, self.plan = stance, PressurePlan(1.0)
        # Counterclockwise, from the middle of each sole.
        self._corners = [(foot.corners - foot.center)[[0, 2, 3, 1], :2] for foot in feet]
        self._lift_yaw = 0.0

    def start(self, state: BodyState, body: Pendulum, floor: Floor) -> None:
        """Begin where the body is."""
        self.yaw = heading_of(state.rotation)
        self.place, self._rise = body.place[:2].copy(), float(state.position[2])
        self.foot_yaw = [self.yaw for _ in self._corners]
        self._learnt = np.zeros(2)

    def follow(self, body: Pendulum, speed: np.ndarray, leash: float, dt: float) -> None:
        """Move on with a velocity (2,), near the body."""
        self.place = self.place + speed * dt
        lead = self.place - body.place[:2]
        self.place = body.place[:2] + lead * min(1.0, leash / max(math.hypot(*lead.tolist()),
                                                                  1e-9))

    def pressure(self, state: BodyState, body: Pendulum, planned: np.ndarray, error: np.ndarray,
                 bearing: np.ndarray, ground: float) -> Pressure:
        """Return where the ground presses; ``error`` (2,): of the divergent component."""
        gain = 1.0 + REFERENCE.gain / body.omega
        return Pressure(planned + gain * error + self._learnt,
                        self.soles(state, bearing), body.place, ground)

    def learn(self, error: np.ndarray, dt: float) -> None:
        """Integrate the error of the divergent component, (2,) [m]."""
        most = REFERENCE.learnt
        self._learnt = np.clip(self._learnt + REFERENCE.learn * dt * error, -most, most)

    def target(self, state: BodyState, turning: float, ground: float, part: float) -> BodyTarget:
        """Return the target: upright, at its height, across the ground where the body is."""
        turn = turned(self.yaw)
        self._rise += part * (ground + self._stance.height - self._rise)
        along = state.rotation @ state.twist[:3]
        velocity = turn.T @ np.array([along[0], along[1], 0.0])
        return BodyTarget(np.concatenate([
            turn.ravel(), state.position[:2], [self._rise], velocity, [0.0, 0.0, turning],
            np.zeros(6)]))

    def turn_sole(self, foot: int, part: float, left: float, turning: float) -> np.ndarray:
        """Return the orientation of a swinging sole, which turns to that of the walk."""
        if part == 0.0:
            self._lift_yaw = self.foot_yaw[foot]
        x = min(part, 1.0)
        turn = self.yaw + turning * left - self._lift_yaw
        self.foot_yaw[foot] = self._lift_yaw + turn * x ** 3 * (10.0 - 15.0 * x + 6.0 * x * x)
        return turned(self.foot_yaw[foot] + self._stance.headings[foot])

    def soles(self, state: BodyState, bearing: np.ndarray) -> np.ndarray:
        """Return the polygon in which the centre of pressure may be, (k, 2) counterclockwise."""
        found = []
        for i in np.flatnonzero(bearing):
            turn = turned(self.foot_yaw[i] + self._stance.headings[i])[:2, :2]
            found.append(state.foot_position[i, :2] + self._corners[i] @ turn.T)
        return found[0] if len(found) == 1 else convex_hull(np.vstack(found))


@lean_kernel
def stand_on_slope(slope, heading, now, R):
    """
    Fill R with z normal to a slope and x along a heading; return its trace to ``now``.

    ``slope``: along world x, y; ``heading``: rotation about the vertical; trace of the relative
    rotation, 1 + 2 cos.
    """
    n = 1.0 / math.sqrt(1.0 + slope[0] * slope[0] + slope[1] * slope[1])
    z = (-slope[0] * n, -slope[1] * n, n)
    c, s, trace = heading[0, 0], heading[1, 0], 0.0
    rise = slope[0] * c + slope[1] * s
    size = 1.0 / math.sqrt(1.0 + rise * rise)
    x = (c * size, s * size, rise * size)
    y = cross(z, x)
    for i in range(3):
        R[i, 0], R[i, 1], R[i, 2] = x[i], y[i], z[i]
        trace += now[i, 0] * x[i] + now[i, 1] * y[i] + now[i, 2] * z[i]
    return trace


@lean_kernel
def fill_target(led, turning, R, com, plane, goal, packed):
    """
    Fill pose, twist and acceleration of a base whose CoM is led over a plane.

    ``led``: its place, velocity and acceleration, (2,) each; ``plane``: ``a, b, c`` of the
    ground; ``com`` in base axes; ``goal`` (3,): height above ground, part of the way to it now,
    and world height, which is updated.
    """
    (place, drive, pull), (a, b, c) = led, plane
    arm = rotate(load9(R.reshape(9), 0), load3(com, 0))
    x, y = place[0] - arm[0], place[1] - arm[1]
    goal[2] += goal[1] * (goal[0] / R[2, 2] + a * x + b * y + c - goal[2])
    whole = load9(R.reshape(9), 0)
    v = rotate_back(whole, (drive[0] + turning * arm[1], drive[1] - turning * arm[0],
                            a * drive[0] + b * drive[1]))
    for i in range(9):
        packed[i] = whole[i]
    packed[9], packed[10], packed[11] = x, y, goal[2]
    store3(packed, 12, v)
    store3(packed, 15, rotate_back(whole, (0.0, 0.0, turning)))
    store3(packed, 18, rotate_back(whole, (pull[0], pull[1], 0.0)))
