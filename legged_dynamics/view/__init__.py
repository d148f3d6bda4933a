# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot and the forces on its feet in a browser, from the bus or from a bag."""
