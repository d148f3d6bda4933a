# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rotations, frames, motion and force vectors, and how kernels are compiled."""
from legged_dynamics.spatial.frames import Transform, twist_in_frame, wrench_in_frame
from legged_dynamics.spatial.rotations import (
    quaternion_from_rotation,
    rotation_from_quaternion,
    rotation_from_rpy,
    rotation_from_vector,
    rotation_to_z,
    rotation_vector,
    skew,
)

__all__ = ['Transform', 'quaternion_from_rotation', 'rotation_from_quaternion',
           'rotation_from_rpy', 'rotation_from_vector', 'rotation_to_z', 'rotation_vector', 'skew',
           'twist_in_frame', 'wrench_in_frame']
