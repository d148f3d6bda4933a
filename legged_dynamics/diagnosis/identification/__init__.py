# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Identification of a robot from its own recording: masses, friction, motors, sensors."""
