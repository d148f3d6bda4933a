# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The climbing robot on its wall: its parts, equations of motion, pads, energy and momentum."""
