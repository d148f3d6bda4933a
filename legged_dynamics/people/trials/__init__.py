# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motion of people and robots from files: OpenSim, C3D, CSV and bags, and forces from it."""
