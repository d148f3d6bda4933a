# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The four stages of Wendlandt and Sastry (1997), section 3, one after another, every tick."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.reproductions.planar.dynamics import (
    MOTION,
    LinkMotion,
    WorkspaceDynamics,
    velocity_propagation,
    workspace_dynamics,
    workspace_dynamics_big_base,
)
from legged_dynamics.reproductions.planar.robot import (
    PlanarRobot,
    PlanarState,
    PlanarTarget,
    outboard_wrench,
)
from legged_dynamics.spatial.algebra import dot, load3, load9, scale, store3
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.workspace.command import WorkspaceFault

# -------------------------------------------------------------------------------------------------
# Stage 4, force propagation (3.24)-(3.27): from the wrench on the body to joint torques.


@lean_kernel
def _propagate_force(parent, links, force, shares, wrenches, torque):
    """
    Fill link wrenches (n, 3) in link axes, and joint torques: (3.24)-(3.27).

    ``force`` (3,): wanted on the body, its axes; ``shares``: part of it for each leg.
    """
    leg = 0
    for i in range(1, parent.shape[0]):
        if parent[i] == 0:
            F = scale(shares[leg], load3(force, 0))                          # (3.24)
            leg += 1
        else:
            F = scale(-1.0, load3(wrenches[parent[i]], 0))                   # (3.27)
        F = scale(-1.0, outboard_wrench(load9(links[i], MOTION.adjoint), F))        # (3.25)
        store3(wrenches[i], 0, F)
        torque[i - 1] = dot(load3(links[i], MOTION.hinge), F)                       # (3.26)


def force_propagation(robot: PlanarRobot, motion: LinkMotion, force: np.ndarray,
                      shares: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """
    Run stage 4: return torques ``J_b^T F`` of each leg's share F, and link wrenches (3.25).

    ``force`` (3,) is ``F_1`` in the body's axes [N, N m]; ``shares`` (3.24) have a sum of 1.
    Wrenches (n, 3) are on links from their inboard ones, in their own axes, zero for
    the body; the ground must put the opposite of a foot's on that foot.
    """
    try:
        weights, force = np.array(shares, float), np.array(force, float)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f'expected numbers for force and shares: {error}') from error
    if force.shape != (3,):
        raise ConfigurationError('expected a force of three components [N, N m], got an array of '
                                 f'shape {force.shape}')
    if motion.links.shape != (robot.n_links, MOTION.width):
        raise ConfigurationError(f'expected the motion of {robot.n_links} links, got that of '
                                 f'{len(motion.links)}')
    if weights.shape != (len(robot.feet),) or not abs(weights.sum() - 1.0) < 1e-9:
        raise ConfigurationError(f'expected {len(robot.feet)} shares with a sum of one, '
                                 f'got {weights.tolist()}')
    wrenches, torque = np.zeros((robot.n_links, 3)), np.empty(robot.n_joints)
    _propagate_force(robot.parent, motion.links, force, weights, wrenches, torque)
    return torque, wrenches


# -------------------------------------------------------------------------------------------------
# Stage 3, workspace force (3.21)-(3.23): computed torque on the body's pose.


def _three(value: float) -> np.ndarray:
    return np.full(3, value)


@dataclass(frozen=True, eq=False)
class PlanarGains:
    """
    Gains on x, z and angle of the body; by default the paper's.

    Attributes
    ----------
    position : (3,) array [1/s^2]
        ``K_p``. The paper's 3 is soft: one newton of wrong weight is 6 mm of height.
    velocity : (3,) array [1/s]
        ``K_v``.
    integral : (3,) array [1/s^3]
        ``K_i``, zero in the paper. Each loop is stable below ``K_v K_p``.

    Raises
    ------
    ConfigurationError
        When a gain is negative or not finite, or the integral makes a loop unstable.

    """

    position: np.ndarray = field(default_factory=lambda: _three(3.0))
    velocity: np.ndarray = field(default_factory=lambda: _three(2.46))
    integral: np.ndarray = field(default_factory=lambda: _three(0.0))

    def __post_init__(self) -> None:
        for name in ('position', 'velocity', 'integral'):
            gain = np.array(getattr(self, name), dtype=float)
            if gain.shape != (3,) or not (np.isfinite(gain) & (gain >= 0.0)).all():
                raise ConfigurationError(f'{name}: expected three gains of at least 0 '
                                         f'(x, z, angle), got {gain.tolist()}')
            gain.setflags(write=False)
            object.__setattr__(self, name, gain)
        limit = self.velocity * self.position
        if not ((self.integral < limit) | (self.integral == 0.0)).all():
            raise ConfigurationError(f'integral: expected gains below velocity * position = '
                                     f'{limit.tolist()}, beyond which the loop is unstable, got '
                                     f'{self.integral.tolist()}')


def pose_error(state: PlanarState, target: PlanarTarget) -> np.ndarray:
    """Return ``e`` of (3.21), body axes [m, m, rad]: pose less target, the shorter way around."""
    x, z, angle = state.pose - target.pose
    c, s = math.cos(state.pose[2]), math.sin(state.pose[2])
    return np.array([c * x - s * z, s * x + c * z, math.remainder(angle, 2.0 * math.pi)])


def velocity_error(state: PlanarState, target: PlanarTarget) -> np.ndarray:
    """Return ``edot`` of (3.22), body axes; it differs from (3.21)'s derivative by ``w x e``."""
    return state.twist - target.twist


def workspace_force(dynamics: WorkspaceDynamics, gains: PlanarGains, error: np.ndarray,
                    rate: np.ndarray, acceleration: np.ndarray,
                    accumulated: np.ndarray | None = None) -> np.ndarray:
    """
    Run stage 3: return the wrench F_1 [N, N, N m] on the body, all in the body's axes.

    ``P_1 (Vdot^d - K_v edot - K_p e - K_i int e) + z_1``, (3.23) with an integral term;
    ``accumulated`` [m s, rad s] is ``int e``.
    """
    wanted = acceleration - gains.velocity * rate - gains.position * error
    if accumulated is not None:
        wanted = wanted - gains.integral * accumulated
    return dynamics.inertia @ wanted + dynamics.bias


# -------------------------------------------------------------------------------------------------
# The controller.


# Condition number of a leg's Jacobian from which the knee counts as straight: rounding leaves no
# digits of the leg's inertia at the body.
STRAIGHT = 1e6


@dataclass(frozen=True, eq=False)
class PlanarCommand:
    """
    One tick of the controller.

    Attributes
    ----------
    torque : (n_joints,) array [N m]
    force : (3,) array
        Wrench F_1 wanted on the body, in its axes [N, N m].
    wrenches : (n, 3) array
        Wrench wanted on each link from its inboard link, in the link's axes [N, N m].
    error : (3,) array
        Pose less target, in the body's axes [m, rad].
    dynamics : WorkspaceDynamics
    faults : WorkspaceFault
        SINGULAR at a straight knee: the legs then count as massless, so that only the body's own
        inertia is used.

    """

    torque: np.ndarray
    force: np.ndarray
    wrenches: np.ndarray
    error: np.ndarray
    dynamics: WorkspaceDynamics
    faults: WorkspaceFault = WorkspaceFault.NONE


class PlanarController:
    """
    Moves the body of a planar robot on feet in contact by joint torques.

    Parameters
    ----------
    robot : PlanarRobot
    gains : PlanarGains, optional
        The paper's unless given.
    shares : sequence of float, optional
        Part of the force that each leg gives (3.24); even unless given.
    big_base : float, optional
        Size of the feet of the paper's approximation (3.14); exact dynamics when None.
    windup : float
        Largest size of the accumulated error [m s, rad s].

    Raises
    ------
    ConfigurationError
        When the windup is negative.

    """

    def __init__(self, robot: PlanarRobot, gains: PlanarGains | None = None,
                 shares: Sequence[float] | None = None, big_base: float | None = None,
                 windup: float = 1.0):
        if not windup >= 0.0:
            raise ConfigurationError(f'expected a windup of at least zero, got {windup!r}')
        self.robot = robot
        self.gains = PlanarGains() if gains is None else gains
        self._shares = [1.0 / len(robot.feet)] * len(robot.feet) if shares is None else shares
        self._big_base = big_base
        self._windup = windup
        self.reset()

    def reset(self) -> None:
        """Forget the accumulated error."""
        self._accumulated = np.zeros(3)     # in inertial axes: the body's turn

    def update(self, state: PlanarState, target: PlanarTarget, period: float,
               gravity: float = GRAVITY) -> PlanarCommand:
        """
        Compute the torques until the next tick.

        ``state``: state of body and joints, now. ``target``: wanted of the body, now. ``period``:
        time until the next tick [s]; accumulates the error. ``gravity``: [m/s^2]. Raises
        MeasurementError when the state does not fit the robot.
        """
        motion = velocity_propagation(self.robot, state, gravity)
        faults = WorkspaceFault.NONE
        if self._big_base is None:
            dynamics = workspace_dynamics(self.robot, motion)
        else:
            dynamics = workspace_dynamics_big_base(self.robot, motion, self._big_base)
        if self._big_base is None and not dynamics.condition < STRAIGHT:
            faults = WorkspaceFault.SINGULAR
            own = np.diag([self.robot.mass[0], self.robot.mass[0], self.robot.inertia[0]])
            dynamics = WorkspaceDynamics(own, motion.load[0].copy(), dynamics.condition, None)
        error, rate = pose_error(state, target), velocity_error(state, target)
        force = workspace_force(dynamics, self.gains, error, rate, target.acceleration,
                                self._accumulate(state, error, period))
        torque, wrenches = force_propagation(self.robot, motion, force, self._shares)
        return PlanarCommand(torque, force, wrenches, error, dynamics, faults)

    def _accumulate(self, state: PlanarState, error: np.ndarray,
                    period: float) -> np.ndarray | None:
        if not self.gains.integral.any():
            return None
        c, s = np.cos(state.pose[2]), np.sin(state.pose[2])
        to_body = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        self._accumulated = np.clip(self._accumulated + period * (error @ to_body),
                                    -self._windup, self._windup)
        return to_body @ self._accumulated
