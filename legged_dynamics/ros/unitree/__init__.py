# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Unitree's low-level messages, the order of their motors, and the way to our samples and back."""
