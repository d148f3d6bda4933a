# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where a body is wanted or is: poses and trajectories out of messages, tf into them."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.middleware.conversions.building import header, quaternion, vector3
from legged_dynamics.middleware.conversions.reading import stamp_ns
from legged_dynamics.middleware.protocol import Dialect

_UNIT_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class PoseSample:
    """
    What a PoseStamped says.

    Attributes
    ----------
    stamp_ns : int [ns]
    frame_id : str
    position : (3,) array [m]
    orientation : (4,) array
        Unit quaternion xyzw.

    """

    stamp_ns: int
    frame_id: str
    position: np.ndarray
    orientation: np.ndarray


@dataclass(frozen=True, eq=False)
class BodyTrajectory:
    """
    What a MultiDOFJointTrajectory of one body says, one row a point.

    Attributes
    ----------
    stamp_ns : int [ns]
        When it begins; 0: at once.
    frame_id : str
    time : (n,) array [s]
        After the beginning, rising.
    position : (n, 3) array [m]
    orientation : (n, 4) array
        Unit quaternions xyzw.
    velocity, acceleration : (n, 6) array or None
        Linear and angular, in the axes of `frame_id`; None when the message has none.

    """

    stamp_ns: int
    frame_id: str
    time: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray | None
    acceleration: np.ndarray | None


def read_pose(msg: Any) -> PoseSample:
    """
    Return the pose in a PoseStamped.

    Raises
    ------
    MeasurementError
        When a value is not finite, or the orientation is no unit quaternion.

    """
    return PoseSample(stamp_ns(msg.header.stamp), msg.header.frame_id,
                      _vector(msg.pose.position, 'pose: position'),
                      _unit(msg.pose.orientation, 'pose: orientation'))


def read_body_trajectory(msg: Any) -> BodyTrajectory:
    """
    Return the trajectory of one body in a MultiDOFJointTrajectory.

    Raises
    ------
    MeasurementError
        When it has no points, a point has not exactly one transform, times do not rise from zero
        or above, a value is not finite, or only some points have velocities or accelerations.

    """
    if not msg.points:
        raise MeasurementError('trajectory: expected points, got none')
    for k, point in enumerate(msg.points):
        if len(point.transforms) != 1:
            raise MeasurementError(f'trajectory: expected one transform (of the base) in point '
                                   f'{k}, got {len(point.transforms)}')
    time = np.array([1e-9 * stamp_ns(point.time_from_start) for point in msg.points])
    if time[0] < 0.0 or (np.diff(time) <= 0.0).any():
        raise MeasurementError('trajectory: expected time_from_start to rise from zero or above, '
                               f'got {time.tolist()} s')
    poses = [point.transforms[0] for point in msg.points]
    return BodyTrajectory(
        stamp_ns(msg.header.stamp), msg.header.frame_id, time,
        np.array([_vector(pose.translation, 'trajectory: translation') for pose in poses]),
        np.array([_unit(pose.rotation, 'trajectory: rotation') for pose in poses]),
        _twists([point.velocities for point in msg.points], 'velocities'),
        _twists([point.accelerations for point in msg.points], 'accelerations'))


def transforms(dialect: Dialect, ns: int, frame_id: str, child_frame_id: str,
               position: Sequence[float], orientation: Sequence[float]) -> Any:
    """Return a tf2_msgs/TFMessage of one transform: the child's pose in the frame."""
    made = dialect.message('geometry_msgs/msg/TransformStamped')(
        header=header(dialect, ns, frame_id), child_frame_id=child_frame_id)
    made.transform.translation = vector3(dialect, position)
    made.transform.rotation = quaternion(dialect, orientation)
    return dialect.message('tf2_msgs/msg/TFMessage')(transforms=[made])


def pose_stamped(dialect: Dialect, ns: int, frame_id: str, position: Sequence[float],
                 orientation: Sequence[float]) -> Any:
    """Return a geometry_msgs/PoseStamped; the orientation is a quaternion xyzw."""
    made = dialect.message('geometry_msgs/msg/PoseStamped')(header=header(dialect, ns, frame_id))
    x, y, z = position
    made.pose.position.x, made.pose.position.y, made.pose.position.z = float(x), float(y), float(z)
    made.pose.orientation = quaternion(dialect, orientation)
    return made


def _twists(points: list[Any], name: str) -> np.ndarray | None:
    given = [len(twists) for twists in points]
    if not any(given):
        return None
    if set(given) != {1}:
        raise MeasurementError(f'trajectory: expected one of {name} in every point or in none, '
                               f'got {given}')
    return np.array([[*_vector(twist.linear, f'trajectory: {name}'),
                      *_vector(twist.angular, f'trajectory: {name}')] for (twist,) in points])


def _vector(message: Any, what: str) -> np.ndarray:
    values = np.array((message.x, message.y, message.z))
    if not np.isfinite(values).all():
        raise MeasurementError(f'{what} is not finite: {values.tolist()}')
    return values


def _unit(message: Any, what: str) -> np.ndarray:
    values = np.array((message.x, message.y, message.z, message.w))
    length = math.sqrt(values @ values)
    if not abs(length - 1.0) < _UNIT_TOLERANCE:
        raise MeasurementError(f'{what}: expected a quaternion of length 1, got '
                               f'{values.tolist()} of length {length:.6g}')
    return values / length
