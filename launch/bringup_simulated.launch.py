# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot in place of the real one, with the same nodes."""
from legged_dynamics.ros.nodes import bringup

ARGUMENTS = (
    *bringup.ROBOT,
    ('schedule', 'stand 1000', 'Behaviours of the simulated robot with seconds.'),
    ('ros2_control', 'false', 'Whether joint states and efforts go through ros2_control, as on '
     'the robot (topic-based hardware).'),
    *bringup.CONTROL, *bringup.SHOWN,
)


def start(values):
    """Compose robot and nodes."""
    controlled = values['ros2_control'] == 'true'
    chain = ([*bringup.control(values, 'topic'), bringup.hardware_relay(values)] if controlled
             else [bringup.state_publisher(values, bringup.described(values))])
    return [*chain, bringup.simulated_robot(values, controlled),
            *bringup.nodes(values, 'imu/data')]


def generate_launch_description():
    """Declare the arguments and start."""
    return bringup.launch_description(ARGUMENTS, start)
