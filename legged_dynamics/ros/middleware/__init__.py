# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The seam to the bus: rclpy on ROS 2, Cyclone DDS without it, a loopback for tests."""
