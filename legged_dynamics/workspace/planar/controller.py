# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The recursive workspace controller of source 002: four stages, one after another, every tick."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.workspace.command import WorkspaceFault
from legged_dynamics.workspace.planar.force_propagation import force_propagation
from legged_dynamics.workspace.planar.robot import PlanarRobot
from legged_dynamics.workspace.planar.state import PlanarState, PlanarTarget
from legged_dynamics.workspace.planar.velocity_propagation import velocity_propagation
from legged_dynamics.workspace.planar.workspace_dynamics import (
    WorkspaceDynamics,
    workspace_dynamics,
    workspace_dynamics_big_base,
)
from legged_dynamics.workspace.planar.workspace_force import (
    PlanarGains,
    pose_error,
    velocity_error,
    workspace_force,
)

# A leg of this condition is straight: its inertia at the body has no digits left.
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
        SINGULAR where a knee is straight: the legs are then taken to be massless, and no more is
        known of the body's motion than its own inertia says.

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
        Return the torques until the next tick.

        Parameters
        ----------
        state : PlanarState
            Of body and joints, now.
        target : PlanarTarget
            Wanted of the body, now.
        period : float
            Time until the next tick [s]; accumulates the error.
        gravity : float
            [m/s^2].

        Raises
        ------
        MeasurementError
            When the state does not fit the robot.

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
