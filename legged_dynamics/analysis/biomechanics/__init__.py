# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Files of motion capture and OpenSim: tables, markers, force plates, and what they say of us."""
