# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ROS 2: middleware, conversions of messages, nodes, and Unitree's own messages."""
