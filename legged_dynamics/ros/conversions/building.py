# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Messages from arrays; each function takes the dialect (backend) whose message classes it uses.

Those at the robot's rate are made once, for `cdr.PreparedMessage`.
"""
from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from legged_dynamics.ros.middleware.protocol import Dialect

__all__ = [
    'boolean', 'clock', 'command', 'diagnostic_status', 'diagnostics', 'duration_message',
    'float64', 'header', 'imu', 'joint_state', 'labelled_array', 'odometry', 'point',
    'point_stamped', 'pose_stamped', 'quaternion', 'string', 'time_message', 'transforms',
    'vector3', 'wrench_stamped',
]
_NS = 1_000_000_000


def time_message(dialect: Dialect, ns: int) -> Any:
    """Return a builtin_interfaces/Time of ``ns`` nanoseconds since the clock's epoch."""
    sec, nanosec = divmod(ns, _NS)
    return dialect.message('builtin_interfaces/msg/Time')(sec=sec, nanosec=nanosec)


def duration_message(dialect: Dialect, seconds: float) -> Any:
    """Return a builtin_interfaces/Duration, rounded to a nanosecond."""
    sec, nanosec = divmod(round(seconds * _NS), _NS)
    return dialect.message('builtin_interfaces/msg/Duration')(sec=sec, nanosec=nanosec)


def header(dialect: Dialect, ns: int, frame_id: str = '') -> Any:
    """Return a std_msgs/Header with stamp ``ns`` [ns]; an empty frame for none."""
    return dialect.message('std_msgs/msg/Header')(stamp=time_message(dialect, ns),
                                                  frame_id=frame_id)


def vector3(dialect: Dialect, xyz: Iterable[float]) -> Any:
    """Return a geometry_msgs/Vector3, in any unit."""
    return _by_axis(dialect, 'geometry_msgs/msg/Vector3', xyz)


def point(dialect: Dialect, xyz: Iterable[float]) -> Any:
    """Return a geometry_msgs/Point [m]."""
    return _by_axis(dialect, 'geometry_msgs/msg/Point', xyz)


def quaternion(dialect: Dialect, xyzw: Iterable[float]) -> Any:
    """Return a geometry_msgs/Quaternion from a unit quaternion, scalar last."""
    return _by_axis(dialect, 'geometry_msgs/msg/Quaternion', xyzw)


def wrench(dialect: Dialect, values: Sequence[float]) -> Any:
    """Return a geometry_msgs/Wrench of ``[f; m]``."""
    return dialect.message('geometry_msgs/msg/Wrench')(
        force=vector3(dialect, values[:3]), torque=vector3(dialect, values[3:]))


def wrench_stamped(dialect: Dialect, ns: int, frame_id: str, values: Sequence[float]) -> Any:
    """Return a geometry_msgs/WrenchStamped of ``[f; m]`` in the frame's axes and origin."""
    return dialect.message('geometry_msgs/msg/WrenchStamped')(
        header=header(dialect, ns, frame_id), wrench=wrench(dialect, values))


def joint_state(dialect: Dialect, ns: int, names: Sequence[str],
                position: Sequence[float] = (), velocity: Sequence[float] = (),
                effort: Sequence[float] = ()) -> Any:
    """Return a sensor_msgs/JointState without a frame; fields not given stay empty."""
    return dialect.message('sensor_msgs/msg/JointState')(
        header=header(dialect, ns), name=list(names), position=_doubles(position),
        velocity=_doubles(velocity), effort=_doubles(effort))


def imu(dialect: Dialect, ns: int, frame_id: str, angular_velocity: Sequence[float],
        linear_acceleration: Sequence[float], orientation: Sequence[float] | None = None,
        variances: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Any:
    """
    Return a sensor_msgs/Imu, axes of ``frame_id``; acceleration is +g along z at rest.

    Without orientation (xyzw) it is marked as absent. ``variances``: of orientation,
    angular velocity and acceleration, equal on all axes.
    """
    of_orientation, of_gyro, of_acceleration = (_diagonal(value) for value in variances)
    if orientation is None:
        orientation, of_orientation[0] = (0.0, 0.0, 0.0, 1.0), -1.0
    return dialect.message('sensor_msgs/msg/Imu')(
        header=header(dialect, ns, frame_id), orientation=quaternion(dialect, orientation),
        orientation_covariance=of_orientation,
        angular_velocity=vector3(dialect, angular_velocity),
        angular_velocity_covariance=of_gyro,
        linear_acceleration=vector3(dialect, linear_acceleration),
        linear_acceleration_covariance=of_acceleration)


def point_stamped(dialect: Dialect, ns: int, frame_id: str, xyz: Iterable[float]) -> Any:
    """Return a geometry_msgs/PointStamped [m]."""
    return dialect.message('geometry_msgs/msg/PointStamped')(
        header=header(dialect, ns, frame_id), point=point(dialect, xyz))


def odometry(dialect: Dialect, ns: int, frame_id: str, child_frame_id: str,
             position: Sequence[float] = (0.0,) * 3,
             orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
             linear: Sequence[float] = (0.0,) * 3, angular: Sequence[float] = (0.0,) * 3) -> Any:
    """Return a nav_msgs/Odometry; pose in the parent frame, twist in body axes (REP-105)."""
    made = dialect.message('nav_msgs/msg/Odometry')(
        header=header(dialect, ns, frame_id), child_frame_id=child_frame_id)
    made.pose.pose = _pose(dialect, position, orientation)
    made.twist.twist.linear = vector3(dialect, linear)
    made.twist.twist.angular = vector3(dialect, angular)
    return made


def pose_stamped(dialect: Dialect, ns: int, frame_id: str,
                 position: Sequence[float] = (0.0,) * 3,
                 orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0)) -> Any:
    """Return a geometry_msgs/PoseStamped; orientation is a unit quaternion xyzw."""
    return dialect.message('geometry_msgs/msg/PoseStamped')(
        header=header(dialect, ns, frame_id), pose=_pose(dialect, position, orientation))


def transforms(dialect: Dialect, ns: int, frame_id: str, child_frame_id: str,
               position: Sequence[float], orientation: Sequence[float]) -> Any:
    """Return a tf2_msgs/TFMessage with the child's pose in the parent frame (m, xyzw)."""
    made = dialect.message('geometry_msgs/msg/TransformStamped')(
        header=header(dialect, ns, frame_id), child_frame_id=child_frame_id)
    made.transform.translation = vector3(dialect, position)
    made.transform.rotation = quaternion(dialect, orientation)
    return dialect.message('tf2_msgs/msg/TFMessage')(transforms=[made])


def boolean(dialect: Dialect, value: Any) -> Any:
    """Return a std_msgs/Bool of the value's truth."""
    return dialect.message('std_msgs/msg/Bool')(data=bool(value))


def float64(dialect: Dialect, value: float) -> Any:
    """Return a std_msgs/Float64, in any unit."""
    return dialect.message('std_msgs/msg/Float64')(data=float(value))


def string(dialect: Dialect, text: str) -> Any:
    """Return a std_msgs/String."""
    return dialect.message('std_msgs/msg/String')(data=text)


def clock(dialect: Dialect, ns: int) -> Any:
    """Return a rosgraph_msgs/Clock of the simulated time ``ns``."""
    return dialect.message('rosgraph_msgs/msg/Clock')(clock=time_message(dialect, ns))


def command(dialect: Dialect, values: Sequence[float], owner: str = '', count: int = 0) -> Any:
    """
    Return a std_msgs/Float64MultiArray command, as forward_command_controller takes it.

    ``owner`` (sender) is sent as label and ``count`` (message number) as stride of the only
    dimension, which hardware controllers ignore; without owner there is none.
    """
    made = dialect.message('std_msgs/msg/Float64MultiArray')(data=_doubles(values))
    if owner:
        made.layout.dim = [dialect.message('std_msgs/msg/MultiArrayDimension')(
            label=owner, size=len(values), stride=count)]
    return made


def labelled_array(dialect: Dialect, values: np.ndarray, labels: Sequence[Sequence[str]]) -> Any:
    """Return a row-major std_msgs/Float64MultiArray, its entry names in the dimensions."""
    values = np.asarray(values, float)
    dimension = dialect.message('std_msgs/msg/MultiArrayDimension')
    layout = dialect.message('std_msgs/msg/MultiArrayLayout')(dim=[
        dimension(label=' '.join(names), size=size, stride=int(np.prod(values.shape[axis:])))
        for axis, (names, size) in enumerate(zip(labels, values.shape))], data_offset=0)
    return dialect.message('std_msgs/msg/Float64MultiArray')(
        layout=layout, data=_doubles(values.ravel()))


def diagnostic_status(dialect: Dialect, level: str, name: str, message: str,
                      values: Mapping[str, Any] | None = None, hardware_id: str = '') -> Any:
    """Return a diagnostic_msgs/DiagnosticStatus of level 'OK', 'WARN', 'ERROR' or 'STALE'."""
    status = dialect.message('diagnostic_msgs/msg/DiagnosticStatus')
    pair = dialect.message('diagnostic_msgs/msg/KeyValue')
    return status(level=getattr(status, level), name=name, message=message,
                  hardware_id=hardware_id,
                  values=[pair(key=key, value=_text(value))
                          for key, value in (values or {}).items()])


def diagnostics(dialect: Dialect, ns: int, statuses: Iterable[Any]) -> Any:
    """Return a diagnostic_msgs/DiagnosticArray of :func:`diagnostic_status` messages."""
    return dialect.message('diagnostic_msgs/msg/DiagnosticArray')(
        header=header(dialect, ns), status=list(statuses))


def _by_axis(dialect: Dialect, kind: str, values: Iterable[float]) -> Any:
    return dialect.message(kind)(**dict(zip('xyzw', map(float, values))))


def _pose(dialect: Dialect, position: Iterable[float], orientation: Iterable[float]) -> Any:
    return dialect.message('geometry_msgs/msg/Pose')(
        position=point(dialect, position), orientation=quaternion(dialect, orientation))


def _doubles(values: Sequence[float]) -> array:
    if isinstance(values, np.ndarray):
        return array('d', np.ascontiguousarray(values, dtype=float).tobytes())
    return array('d', values)


def _diagonal(variance: float) -> np.ndarray:
    return np.array((variance, 0.0, 0.0, 0.0, variance, 0.0, 0.0, 0.0, variance))


def _text(value: Any) -> str:
    return f'{value:.6g}' if isinstance(value, float) else str(value)
