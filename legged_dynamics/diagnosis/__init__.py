# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a robot: faults, masses and friction, and how far forces can be trusted."""
