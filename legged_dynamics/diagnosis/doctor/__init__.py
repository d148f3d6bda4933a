# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults of a robot's description, driver and sensors: what they are, how certain, and the fix."""
