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
from legged_dynamics.workspace.planar.velocity_propagation import LinkMotion, velocity_propagation
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

# What a knee that is straight is taken as bent by [rad].
LEAST_BEND = 0.02
# Condition of a leg's Jacobian from which its dynamics are rounding.
SINGULAR_CONDITION = 1e8


def _usable(dynamics: WorkspaceDynamics) -> bool:
    # In big-base mode there is no condition, and NaN stands for it.
    return bool(np.isfinite(dynamics.inertia).all() and np.isfinite(dynamics.bias).all()
                and not dynamics.condition > SINGULAR_CONDITION)


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
        SINGULAR where a knee is straight: the body's dynamics are then those of knees bent by
        `LEAST_BEND`, for at a straight one they have no answer.

    """

    torque: np.ndarray
    force: np.ndarray
    wrenches: np.ndarray
    error: np.ndarray
    dynamics: WorkspaceDynamics
    faults: WorkspaceFault = WorkspaceFault.NONE


class PlanarController:
    """
    Moves the body of a planar robot on standing feet by joint torques.

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
        dynamics, faults = self._dynamics(motion), WorkspaceFault.NONE
        if not _usable(dynamics):
            faults = WorkspaceFault.SINGULAR
            dynamics = self._dynamics(velocity_propagation(self.robot, self._bent(state), gravity))
        error, rate = pose_error(state, target), velocity_error(state, target)
        force = workspace_force(dynamics, self.gains, error, rate, target.acceleration,
                                self._accumulate(state, error, period))
        torque, wrenches = force_propagation(self.robot, motion, force, self._shares)
        return PlanarCommand(torque, force, wrenches, error, dynamics, faults)

    def _dynamics(self, motion: LinkMotion) -> WorkspaceDynamics:
        if self._big_base is None:
            return workspace_dynamics(self.robot, motion)
        return workspace_dynamics_big_base(self.robot, motion, self._big_base)

    def _bent(self, state: PlanarState) -> PlanarState:
        """Return the state with straight knees bent a little, and their rates of no account."""
        position, velocity = state.position.copy(), state.velocity.copy()
        for foot in self.robot.feet:
            knee = self.robot.leg(foot)[1] - 1
            if abs(position[knee]) < LEAST_BEND:
                position[knee] = np.copysign(LEAST_BEND, position[knee])
                velocity[knee] = 0.0
        return PlanarState(state.pose, state.twist, position, velocity)

    def _accumulate(self, state: PlanarState, error: np.ndarray,
                    period: float) -> np.ndarray | None:
        if not self.gains.integral.any():
            return None
        c, s = np.cos(state.pose[2]), np.sin(state.pose[2])
        to_body = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        self._accumulated = np.clip(self._accumulated + period * (error @ to_body),
                                    -self._windup, self._windup)
        return to_body @ self._accumulated
