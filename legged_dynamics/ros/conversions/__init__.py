# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Messages to arrays and back: stamps in integer ns, wrenches [f; m], quaternions xyzw.

What rviz draws of an estimate is in `legged_dynamics.ros.conversions.markers`, which is not
imported here: a node that only reads and sends messages needs no estimator.
"""
from legged_dynamics.ros.conversions.building import (
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
    pose_stamped,
    quaternion,
    string,
    time_message,
    transforms,
    vector3,
    wrench_stamped,
)
from legged_dynamics.ros.conversions.reading import (
    ContactReader,
    JointStateReader,
    PoseSample,
    SensorReader,
    diagnostic_level,
    read_command,
    read_imu,
    read_pose,
    read_switches,
    read_wrench,
    stamp_ns,
)

__all__ = [
    'ContactReader', 'JointStateReader', 'PoseSample', 'SensorReader', 'boolean', 'clock',
    'command', 'diagnostic_level', 'diagnostic_status', 'diagnostics', 'duration_message',
    'float64', 'header', 'imu', 'joint_state', 'labelled_array', 'odometry', 'point',
    'point_stamped', 'pose_stamped', 'quaternion', 'read_command', 'read_imu', 'read_pose',
    'read_switches', 'read_wrench', 'stamp_ns', 'string', 'time_message', 'transforms', 'vector3',
    'wrench_stamped',
]
