# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recorded motion in, joint torques and foot wrenches out: for people, and whatever walks."""
