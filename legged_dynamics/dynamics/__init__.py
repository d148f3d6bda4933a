# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rigid-body dynamics of a :class:`~legged_dynamics.model.RobotModel`, one algorithm a file."""
from legged_dynamics.dynamics.composite_body import CompositeBody, mass_matrix
from legged_dynamics.dynamics.forward_dynamics import (
    ArticulatedBody,
    ForwardDynamics,
    forward_dynamics,
)
from legged_dynamics.dynamics.jacobians import frame_bias_acceleration, frame_jacobian
from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.dynamics.motion import GRAVITY, BaseMotion, Motion
from legged_dynamics.dynamics.newton_euler import InverseDynamics, inverse_dynamics

__all__ = ['Motion', 'BaseMotion', 'inverse_dynamics', 'InverseDynamics', 'forward_dynamics',
           'ForwardDynamics', 'ArticulatedBody', 'mass_matrix', 'CompositeBody', 'frame_poses',
           'frame_jacobian', 'frame_bias_acceleration', 'GRAVITY']
