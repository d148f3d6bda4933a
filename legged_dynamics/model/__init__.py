# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The robot: a kinematic tree from URDF or code, and what its YAML adds to it."""
from legged_dynamics.model.actuators import ActuatorModel
from legged_dynamics.model.assembly import Frame
from legged_dynamics.model.feet import CylinderFoot, FlatFoot, Foot, LineFoot, PointFoot
from legged_dynamics.model.joint_order import JointOrder
from legged_dynamics.model.parts import Inertia, Joint, Tree
from legged_dynamics.model.robot_config import RobotConfig, SensorNoise
from legged_dynamics.model.robot_model import ModelWarning, RobotModel

__all__ = ['RobotModel', 'RobotConfig', 'PointFoot', 'FlatFoot', 'LineFoot', 'CylinderFoot',
           'Foot', 'JointOrder', 'SensorNoise', 'ActuatorModel', 'Frame', 'Joint', 'Inertia',
           'Tree', 'ModelWarning']
