# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
PinnedRobot: a planar robot whose feet are fixed to the ground, as the controller assumes.

Body pose and twist are the state; legs follow in closed form, so no foot can drift. The equation
of motion is that of stage 2, exact, ``P_1 Vdot_1 + z_1 = sum rates^T tau + F_push``, integrated by
Runge and Kutta's fourth order.
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import MeasurementError, SimulationError
from legged_dynamics.reproductions.planar.dynamics import (
    MOTION,
    propagate_velocity,
    reduce_exact,
    velocity_propagation,
)
from legged_dynamics.reproductions.planar.robot import (
    JOINTS_PER_LEG,
    LINK,
    PlanarRobot,
    PlanarState,
    finite_vector,
)
from legged_dynamics.spatial.algebra import (
    add_scaled,
    cross,
    dot,
    load3,
    load9,
    store3,
    subtract,
)
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import offsets


class HeldFoot(NamedTuple):
    """Columns of the table of fixed feet, a row a foot."""

    ankle_x: int = 1        # m, inertial axes
    ankle_z: int = 1
    angle: int = 1          # rad
    bend: int = 1           # 1 or -1: which way the knee bends
    width: int = 0


HELD = offsets(HeldFoot())
# State of the body: pose and twist.
N_STATE = 6


@part
def _turn(angle, x, z):
    """Return R(angle) (x, z)."""
    c, s = math.cos(angle), math.sin(angle)
    return c * x + s * z, c * z - s * x


@part
def _short_way(angle):
    """Return the angle reduced to half a turn about zero."""
    return math.atan2(math.sin(angle), math.cos(angle))


@lean_kernel
def _place_legs(parent, constants, feet, pose, position):
    """Fill the joint angles that put every foot where it is fixed, by the law of cosines."""
    leg = 0
    for foot in range(1, parent.shape[0]):
        if parent[foot] < 1 or parent[parent[foot]] < 1:
            continue
        held = feet[leg]
        leg += 1
        shank, thigh = parent[foot], parent[parent[foot]]
        hip_x, hip_z = _turn(pose[2], constants[thigh, LINK.in_x], constants[thigh, LINK.in_z])
        d_x, d_z = held[HELD.ankle_x] - pose[0] - hip_x, held[HELD.ankle_z] - pose[1] - hip_z
        a_x = constants[shank, LINK.in_x] - constants[thigh, LINK.out_x]
        a_z = constants[shank, LINK.in_z] - constants[thigh, LINK.out_z]
        b_x = constants[foot, LINK.in_x] - constants[shank, LINK.out_x]
        b_z = constants[foot, LINK.in_z] - constants[shank, LINK.out_z]
        # |a + R(knee) b|^2 = |d|^2; a . R(knee) b = |a| |b| cos(knee - zero).
        along, across = a_x * b_x + a_z * b_z, a_x * b_z - a_z * b_x
        reach = 0.5 * (d_x * d_x + d_z * d_z - a_x * a_x - a_z * a_z - b_x * b_x - b_z * b_z)
        cosine = reach / math.sqrt(along * along + across * across)
        bend = math.acos(cosine) if abs(cosine) <= 1.0 else math.nan
        knee = math.atan2(across, along) + held[HELD.bend] * bend
        e_x, e_z = _turn(knee, b_x, b_z)
        hip = math.atan2(d_x, d_z) - math.atan2(a_x + e_x, a_z + e_z)
        position[thigh - 1] = _short_way(hip - pose[2])
        position[shank - 1] = _short_way(knee)
        position[foot - 1] = _short_way(held[HELD.angle] - hip - knee)


@part
def _joint_rates(rates, twist, velocity):
    """Fill the joint rates that follow from a twist of the body."""
    for i in range(1, rates.shape[0]):
        velocity[i - 1] = dot(load3(rates[i], 0), twist)


@part
def _pinned_rate(robot, body, torque, push, gravity, work, slope):
    """
    Fill d/dt of (pose, twist); ``work`` holds joints (2 n), links, rates and dynamics.

    ``robot``: parents, constants and feet; ``body`` (6,): pose, and twist in body axes; ``push``
    (3,): wrench on its CoM, inertial axes.
    """
    parent, constants, feet = robot
    n = parent.shape[0]
    position, velocity = work[0, :n - 1], work[1, :n - 1]
    links, rates = work[2:2 + n, :MOTION.width], work[2 + n:2 + 2 * n, :3]
    dynamics = work[2 + 2 * n]
    pose, twist = body[:3], body[3:]
    _place_legs(parent, constants, feet, pose, position)
    # Twice: rates of the joints follow from the Jacobian, which needs no rates; then with them.
    velocity[:] = 0.0
    propagate_velocity(parent, constants, pose, twist, position, velocity, gravity, links)
    reduce_exact(parent, constants, links, rates, dynamics)
    _joint_rates(rates, load3(twist, 0), velocity)
    propagate_velocity(parent, constants, pose, twist, position, velocity, gravity, links)
    reduce_exact(parent, constants, links, rates, dynamics)
    # A push is given in inertial axes, the equation of motion stands in the body's.
    x, z = _turn(-pose[2], push[0], push[1])
    F = subtract((x, z, push[2]), load3(dynamics, 9))
    for i in range(1, n):
        F = add_scaled(F, torque[i - 1], load3(rates[i], 0))
    P = load9(dynamics, 0)
    c0, c1, c2 = (P[0], P[3], P[6]), (P[1], P[4], P[7]), (P[2], P[5], P[8])
    r0, r1, r2 = cross(c1, c2), cross(c2, c0), cross(c0, c1)
    s = 1.0 / dot(c0, r0)
    slope[0], slope[1] = _turn(pose[2], twist[0], twist[1])
    slope[2] = twist[2]
    store3(slope, 3, (s * dot(r0, F), s * dot(r1, F), s * dot(r2, F)))


@lean_kernel
def _pinned_steps(robot, body, loads, h, steps, work, slopes):
    """Advance pose and twist by ``steps`` of h [s] with constant loads: torques, push, gravity."""
    for _ in range(steps):
        half = slopes[4]
        for k in range(4):
            part = 0.0 if k == 0 else h if k == 3 else 0.5 * h
            for j in range(N_STATE):
                half[j] = body[j] + (part * slopes[k - 1, j] if k else 0.0)
            _pinned_rate(robot, half, loads[0], loads[1], loads[2], work, slopes[k])
        for j in range(N_STATE):
            body[j] += h / 6.0 * (slopes[0, j] + 2.0 * slopes[1, j]
                                  + 2.0 * slopes[2, j] + slopes[3, j])


class PinnedRobot:
    """
    Integrates a planar robot whose feet stay where they are.

    The feet can pull as well as push: this is the paper's assumption, not a floor.

    Parameters
    ----------
    robot : PlanarRobot
    state : PlanarState
        Initial state; the feet are fixed where they stand in it, and joint rates are ignored.
    timestep : float
        Longest step of the integration [s].
    gravity : float
        [m/s^2].

    """

    def __init__(self, robot: PlanarRobot, state: PlanarState, timestep: float = 2e-3,
                 gravity: float = GRAVITY):
        self.robot = robot
        self.timestep, self.gravity = timestep, gravity
        self._body = np.concatenate([state.pose, state.twist])
        self._feet = self._hold(state)
        n = robot.n_links
        self._work = np.zeros((2 * n + 3, MOTION.width))
        self._slopes = np.zeros((5, N_STATE))

    def _hold(self, state: PlanarState) -> np.ndarray:
        robot, feet = self.robot, []
        angle = velocity_propagation(robot, state).angle
        for foot in robot.feet:
            point = np.array(state.pose[:2])
            links = robot.leg(foot)
            for inner, link in zip([0, *links], links):
                row = robot.constants[link]
                point += _turn(angle[inner], row[LINK.in_x], row[LINK.in_z])
                if link != foot:
                    point -= _turn(angle[link], row[LINK.out_x], row[LINK.out_z])
            bend = math.copysign(1.0, state.position[links[1] - 1])
            feet.append([*point, angle[foot], bend])
        return np.array(feet)

    @property
    def state(self) -> PlanarState:
        """Pose and twist of the body, and the joints that follow from them."""
        robot, (position, velocity) = self.robot, np.zeros((2, self.robot.n_joints))
        pose, twist = self._body[:3], self._body[3:]
        _place_legs(robot.parent, robot.constants, self._feet, pose, position)
        links = velocity_propagation(robot, PlanarState(pose, twist, position, velocity)).links
        rates, dynamics = np.zeros((robot.n_links, JOINTS_PER_LEG)), np.empty(12)
        reduce_exact(robot.parent, robot.constants, links, rates, dynamics)
        return PlanarState(pose, twist, position, rates[1:] @ twist)

    @property
    def true_state(self) -> PlanarState:
        """The same as `state`: this plant has exact sensors."""
        return self.state

    @property
    def ground(self) -> np.ndarray:
        """Feet on the ground, as in `PlanarBiped`: not known here, (n_legs, 5) of NaN."""
        return np.full((len(self.robot.feet), 5), math.nan)

    @property
    def fallen(self) -> bool:
        """Whether the robot has fallen: on pinned feet it does not."""
        return False

    def advance(self, torque: np.ndarray, duration: float, push: np.ndarray | None = None
                ) -> None:
        """
        Integrate with constant torques and push.

        ``torque`` (n_joints,): torques of the joints [N m]. ``duration``: [s]; cut into equal
        steps of at most the timestep. ``push`` (3,): force and moment on the body's centre of
        mass, inertial axes [N, N m]. Raises MeasurementError when torques or push have another
        shape or are not finite, or the duration is not above zero. Raises SimulationError when a
        leg cannot reach its foot any more.
        """
        torque = finite_vector(torque, 'torque', self.robot.n_joints).copy()
        push = np.zeros(3) if push is None else finite_vector(push, 'push', 3).copy()
        if not 0.0 < duration < math.inf:
            raise MeasurementError(f'expected a duration above 0 s, got {duration!r}')
        steps = math.ceil(duration / self.timestep - 1e-9)
        _pinned_steps((self.robot.parent, self.robot.constants, self._feet), self._body,
                      (torque, push, self.gravity), duration / steps, steps, self._work,
                      self._slopes)
        if not np.isfinite(self._body).all():
            raise SimulationError('a leg of the pinned robot is stretched beyond its length; '
                                  'its feet cannot stay where they are')

    @property
    def energy(self) -> float:
        """Kinetic energy of all links, and their potential one from the inertial origin [J]."""
        robot, state = self.robot, self.state
        motion = velocity_propagation(robot, state)
        V, height, total = motion.twist, np.zeros(robot.n_links), 0.0
        height[0] = state.pose[1]
        for link in range(robot.n_links):
            row, inner = robot.constants[link], robot.parent[link]
            if link:
                _, up = _turn(motion.angle[inner], row[LINK.in_x], row[LINK.in_z])
                _, down = _turn(motion.angle[link], row[LINK.out_x], row[LINK.out_z])
                height[link] = height[inner] + up - down
            total += (0.5 * robot.mass[link] * (V[link, :2] @ V[link, :2])
                      + 0.5 * robot.inertia[link] * V[link, 2] ** 2
                      + robot.mass[link] * self.gravity * height[link])
        return float(total)
