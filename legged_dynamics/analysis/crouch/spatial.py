# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The controller in SE(3), given the crouch's planar state: for a comparison of the two."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from legged_dynamics.estimation.body_state import BodyState, OdometryFault
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.spatial.rotations import rotation_from_rpy
from legged_dynamics.workspace.controller import WorkspaceController
from legged_dynamics.workspace.planar import (
    Biped,
    PlanarGains,
    PlanarState,
    PlanarTarget,
    biped_urdf,
)
from legged_dynamics.workspace.target import BodyTarget

FEET = 2


@dataclass(frozen=True)
class SpatialCommand:
    """What the loop needs of a tick: joint torques, (6,) [N m]."""

    torque: np.ndarray


class SpatialController:
    """
    `WorkspaceController` behind the planar controller's interface, with even gains.

    Parameters
    ----------
    gains : PlanarGains
        Those of x are used along, that of the angle about all axes; no integral.

    """

    def __init__(self, gains: PlanarGains):
        settings: dict[str, Any] = {
            f'gains.{kind}.{name}': [float(values[axis])] * 3
            for kind, axis in (('linear', 0), ('angular', 2))
            for name, values in (('stiffness', gains.position), ('damping', gains.velocity),
                                 ('integral', np.zeros(3)))}
        # As the planar controller, it believes that everything is within reach.
        settings.update({'limits.error.linear': 10.0, 'limits.error.angular': 3.0,
                         'limits.acceleration.linear': 100.0,
                         'limits.acceleration.angular': 1000.0})
        yaml, _ = robot_files('biped')
        self._controller = WorkspaceController(
            RobotModel.from_urdf(biped_urdf(Biped())), RobotConfig.from_yaml(yaml), settings)
        self._time = 0.0

    def reset(self) -> None:
        """Forget what was before."""
        self._controller.reset()
        self._time = 0.0

    def update(self, state: PlanarState, target: PlanarTarget, period: float) -> SpatialCommand:
        """Return the torques until the next tick, after the period [s]."""
        stamp = round(1e9 * self._time)
        self._time += period
        position, rotation = _pose(state.pose)
        x, z, w = state.twist
        body = BodyState(
            stamp, position, rotation, np.array([-x, 0.0, z, 0.0, -w, 0.0]),
            np.ones(FEET, dtype=bool), np.zeros((FEET, 3)), np.zeros(FEET), 0.0, 0, 0,
            OdometryFault.NONE)
        command = self._controller.update(
            body, Measurement(stamp, state.position, state.velocity),
            BodyTarget.of(*_pose(target.pose)))
        return SpatialCommand(command.effort)


def _pose(pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return position and rotation in REP-103 axes of a pose in the paper's."""
    return (np.array([-pose[0], 0.0, pose[1]]),
            rotation_from_rpy(np.array([0.0, -pose[2], 0.0])))
