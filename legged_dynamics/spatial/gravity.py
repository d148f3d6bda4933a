# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The one constant of gravity."""

GRAVITY = 9.81      # m/s^2
