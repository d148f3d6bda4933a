# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""People: gait of a recorded motion, trials of motion capture, and OpenSim's files."""
