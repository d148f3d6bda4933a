# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The filter of the forces of all feet: one tick, its memory and its parts."""
