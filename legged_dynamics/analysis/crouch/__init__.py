# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The crouch of source 002: run in closed loop, drawn as the paper's figures, put to the test."""
