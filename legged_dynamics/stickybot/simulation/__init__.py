# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulation of a climb: implicit integration of stiff hips, with pads that let go."""
