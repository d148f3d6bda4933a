# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a robot's description, driver or sensors, how certain, and the fix."""
