# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rotations, frames, motion and force vectors, and how kernels are compiled."""
from legged_dynamics.spatial.frames import Transform, twist_in_frame, wrench_in_frame

__all__ = ['Transform', 'twist_in_frame', 'wrench_in_frame']
