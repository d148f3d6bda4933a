# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Estimate ground reactions from a Unitree robot's LowState; include it, or use it as it is."""
from legged_dynamics.ros.nodes.bringup import robot_node


def generate_launch_description():
    """Declare the arguments and start."""
    return robot_node('unitree')
