# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A recording in place of the robot: ground reactions of a bag that is played."""
from launch.actions import ExecuteProcess

from legged_dynamics.ros.nodes import bringup

ARGUMENTS = (
    ('bag', '', 'The bag.'),
    *bringup.ROBOT,
    ('rate', '1.0', 'Seconds of the bag a second.'),
    ('joint_states', '/joint_states', 'Topic of the joint states in the bag.'),
    ('imu', '/imu/data', 'Topic of the IMU in the bag.'),
    *bringup.SHOWN,
)


def start(values):
    """Compose player and estimator."""
    space = f'/{values["namespace"].strip("/")}'.rstrip('/')
    play = ExecuteProcess(output='screen', cmd=[
        'ros2', 'bag', 'play', values['bag'], '--clock', '--rate', values['rate'],
        '--topics', values['joint_states'], values['imu'],
        '--remap', f'{values["joint_states"]}:={space}/joint_states',
        f'{values["imu"]}:={space}/imu/data'])
    urdf = bringup.described(values)
    return [bringup.state_publisher(values, urdf, sim_time=True),
            *bringup.nodes(values, 'imu/data', sim_time=True), play]


def generate_launch_description():
    """Declare the arguments and start."""
    return bringup.launch_description(ARGUMENTS, start)
