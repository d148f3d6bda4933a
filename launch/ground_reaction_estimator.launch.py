# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start the ground reaction estimator on a robot; include it, or use it as it is."""
from legged_dynamics.ros.nodes.bringup import robot_node


def generate_launch_description():
    """Declare the arguments and start."""
    return robot_node('ground_reaction_estimator')
