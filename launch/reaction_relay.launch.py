# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start the relay that hands estimates on; params_file says from where to where, and as what."""
from legged_dynamics.ros.nodes.bringup import robot_node


def generate_launch_description():
    """Declare the arguments and start."""
    return robot_node('reaction_relay')
