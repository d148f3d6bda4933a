# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The controller: gait, footing, load sharing between feet, odometry on the wall."""
