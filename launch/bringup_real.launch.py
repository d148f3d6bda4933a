# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot on ros2_control: its controllers, its ground reactions, and who commands it."""
from legged_dynamics.ros.nodes import bringup

ARGUMENTS = (
    *bringup.ROBOT,
    ('hardware', 'own', 'Driver of the joints, whose drives need a command time-out of their own '
     '(docs/safety.md): own (the <ros2_control> of the URDF) | mock | topic.'),
    ('imu', '', "Topic of the IMU; empty: imu_sensor_broadcaster's, or imu/data for topic-based "
     'hardware.'),
    *bringup.CONTROL, *bringup.SHOWN,
)


def start(values):
    """Compose the robot."""
    hardware = values['hardware']
    imu = values['imu'] or ('imu/data' if hardware == 'topic' else 'imu_sensor_broadcaster/imu')
    return [*bringup.control(values, hardware), *bringup.nodes(values, imu)]


def generate_launch_description():
    """Declare the arguments and start."""
    return bringup.launch_description(ARGUMENTS, start)
