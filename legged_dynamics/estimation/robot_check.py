# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a robot must be for its base to be followed: floating, on feet, by 1-DoF joints."""
from __future__ import annotations

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.tree import JOINT, SPHERICAL


def check_floating_robot(model: RobotModel, config: RobotConfig) -> None:
    """
    Check that a robot has feet, a floating base and joints of one degree of freedom.

    Raises
    ------
    ConfigurationError
        When it has not.

    """
    if not config.feet:
        raise ConfigurationError('robot.feet: expected at least one foot link, got none. The '
                                 f'links are: {", ".join(model.frames)}')
    if not model.floating:
        raise ConfigurationError('expected a model with a floating base, got a fixed one; read '
                                 "the URDF with base='floating'")
    if (model.tree.topology[1:, JOINT] == SPHERICAL).any():
        raise ConfigurationError('expected joints of one degree of freedom: joint_states carries '
                                 'one position a joint, and the model has a spherical one')
