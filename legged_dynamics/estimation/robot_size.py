# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How large the robot is: lengths and times that thresholds are in terms of."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.noise import nominal_position
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel

# A foot has risen by more than so many deviations of kinematics, and by more than so much of the
# leg's length, by which ground and rubber give way.
RISEN, GIVING_WAY = 1.5, 0.001


class RobotSize(NamedTuple):
    """
    Of a robot in its standing pose.

    Attributes
    ----------
    reach : float [m]
        How far the feet are from the base on the ground.
    pace : float [1/s]
        Angular frequency of a pendulum as long as the legs.
    risen : float [m]
        Height that a foot must rise by to be seen to have risen.

    """

    reach: float
    pace: float
    risen: float


def robot_size(model: RobotModel, config: RobotConfig) -> RobotSize:
    """Return the robot's size, with the stated noise of position and orientation."""
    feet = frame_poses(model, nominal_position(model, config),
                       tuple(foot.link for foot in config.feet))
    places = np.array([pose.p for pose in feet.values()])
    reach = float(np.sqrt(np.mean(places[:, 0] ** 2 + places[:, 1] ** 2) + 1e-6))
    leg = max(float(np.abs(places[:, 2]).max()), 0.1 * reach)
    position = config.noise.of_joints('position', model, config.joints).max(initial=0.0)
    risen = RISEN * np.hypot(position * leg, config.noise.orientation * reach) + GIVING_WAY * leg
    return RobotSize(reach, float(np.sqrt(GRAVITY / leg)), float(risen))
