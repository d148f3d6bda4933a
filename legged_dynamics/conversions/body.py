# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Poses of a body: read from messages, and made into messages and tf transforms."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from legged_dynamics.conversions.building import header, quaternion, vector3
from legged_dynamics.conversions.reading import stamp_ns
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.middleware.protocol import Dialect

_UNIT_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class PoseSample:
    """
    Content of a PoseStamped.

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


def read_pose(msg: Any) -> PoseSample:
    """
    Return the pose in a PoseStamped.

    Parameters
    ----------
    msg : geometry_msgs/PoseStamped
        Message of any backend.

    Returns
    -------
    PoseSample
        Copied out of the message.

    Raises
    ------
    MeasurementError
        When a value is not finite, or the orientation is no unit quaternion.

    """
    return PoseSample(stamp_ns(msg.header.stamp), msg.header.frame_id,
                      _vector(msg.pose.position, 'pose: position'),
                      _unit(msg.pose.orientation, 'pose: orientation'))


def transforms(dialect: Dialect, ns: int, frame_id: str, child_frame_id: str,
               position: Sequence[float], orientation: Sequence[float]) -> Any:
    """
    Return a tf2_msgs/TFMessage of one transform.

    Parameters
    ----------
    dialect : Dialect
        Backend whose message class is used.
    ns : int [ns]
        Stamp.
    frame_id : str
        Parent frame.
    child_frame_id : str
        Frame whose pose is given.
    position : (3,) sequence [m]
        Origin of the child in the parent frame.
    orientation : (4,) sequence
        Unit quaternion xyzw from child to parent axes.

    Returns
    -------
    tf2_msgs/TFMessage
        Of one transform.

    """
    made = dialect.message('geometry_msgs/msg/TransformStamped')(
        header=header(dialect, ns, frame_id), child_frame_id=child_frame_id)
    made.transform.translation = vector3(dialect, position)
    made.transform.rotation = quaternion(dialect, orientation)
    return dialect.message('tf2_msgs/msg/TFMessage')(transforms=[made])


def pose_stamped(dialect: Dialect, ns: int, frame_id: str, position: Sequence[float],
                 orientation: Sequence[float]) -> Any:
    """
    Return a geometry_msgs/PoseStamped.

    Parameters
    ----------
    dialect : Dialect
        Backend whose message class is used.
    ns : int [ns]
        Stamp.
    frame_id : str
        Frame of the pose.
    position : (3,) sequence [m]
        In that frame.
    orientation : (4,) sequence
        Unit quaternion xyzw.

    Returns
    -------
    geometry_msgs/PoseStamped
        With this pose.

    """
    made = dialect.message('geometry_msgs/msg/PoseStamped')(header=header(dialect, ns, frame_id))
    x, y, z = position
    made.pose.position.x, made.pose.position.y, made.pose.position.z = float(x), float(y), float(z)
    made.pose.orientation = quaternion(dialect, orientation)
    return made


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
