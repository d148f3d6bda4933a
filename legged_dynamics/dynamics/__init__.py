# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rigid-body dynamics of a :class:`~legged_dynamics.model.RobotModel`, one algorithm a file."""
from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.dynamics.motion import GRAVITY, BaseMotion, Motion
from legged_dynamics.dynamics.newton_euler import InverseDynamics, inverse_dynamics

__all__ = ['GRAVITY', 'BaseMotion', 'InverseDynamics', 'Motion', 'frame_poses',
           'inverse_dynamics']
