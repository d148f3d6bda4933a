# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a recording says of the robot itself: masses, friction, motors, sensors."""
