# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Messages to arrays and back: stamps in integer ns, wrenches [f; m], quaternions xyzw."""
from legged_dynamics.conversions.body import PoseSample, pose_stamped, read_pose, transforms
from legged_dynamics.conversions.building import (
    PreparedWrench,
    boolean,
    clock,
    command,
    diagnostic_status,
    diagnostics,
    duration_message,
    float64,
    header,
    imu,
    joint_state,
    labelled_array,
    odometry,
    point,
    point_stamped,
    quaternion,
    string,
    time_message,
    vector3,
    wrench_stamped,
)
from legged_dynamics.conversions.markers import (
    force_markers,
    reaction_markers,
    reaction_picture,
    state_markers,
)
from legged_dynamics.conversions.reading import (
    JointStateReader,
    SensorReader,
    diagnostic_level,
    read_command,
    read_imu,
    read_switches,
    read_wrench,
    stamp_ns,
)

__all__ = [
    'JointStateReader', 'PoseSample', 'PreparedWrench', 'SensorReader', 'boolean', 'clock',
    'command', 'diagnostic_level', 'diagnostic_status', 'diagnostics', 'duration_message',
    'float64', 'force_markers', 'header', 'imu', 'joint_state', 'labelled_array', 'odometry',
    'point', 'point_stamped', 'pose_stamped', 'quaternion', 'reaction_markers',
    'reaction_picture', 'read_command', 'read_imu', 'read_pose', 'read_switches',
    'read_wrench', 'stamp_ns', 'state_markers', 'string', 'time_message',
    'transforms', 'vector3', 'wrench_stamped',
]
