# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Arrays out of messages: rclpy's, rosbags' and our own alike, for the field names are the same.

Each function returns arrays, or raises a MeasurementError that names the fault.
"""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.mimic import Mimics

_NS = 1_000_000_000
_NAME_LISTS_KEPT = 32
_UNIT_TOLERANCE = 1e-3  # of a quaternion's length: float32 drivers and rounding stay inside


@dataclass(frozen=True)
class JointSample:
    """
    What a JointState says of the joints asked for, in the order asked for.

    Attributes
    ----------
    stamp_ns : int
        Time of the sample [ns].
    position, velocity : (n,) array [rad or m, rad/s or m/s]
        Always finite.
    effort : (n,) array or None [N m or N]
        None when the message has none; NaN for a joint whose effort is not known.

    """

    stamp_ns: int
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray | None


@dataclass(frozen=True)
class ImuSample:
    """
    What an Imu message says, in the IMU's own frame.

    Attributes
    ----------
    stamp_ns : int
        Time of the sample [ns].
    angular_velocity : (3,) array [rad/s]
    linear_acceleration : (3,) array [m/s^2]
        Proper acceleration: +g along z at rest (REP-145).
    orientation : (4,) array or None
        Quaternion xyzw of unit length; None when the IMU has no orientation.

    """

    stamp_ns: int
    angular_velocity: np.ndarray
    linear_acceleration: np.ndarray
    orientation: np.ndarray | None


class _Order(NamedTuple):
    """Where the wanted joints stand in messages with certain names."""

    places: np.ndarray | None       # of each joint in the message; None: as they come
    lacking: np.ndarray | None      # flags of joints the message does not have
    stated: np.ndarray              # where those stand
    assumed: tuple[str, ...]


class JointStateReader:
    """
    Reads JointState messages by joint name.

    Parameters
    ----------
    joint_names : sequence of str
        The joints wanted, in the order wanted; a message may have others beside them.
    spare : mapping of str to float, optional
        Joints that a message may lack, and where they then stand, at rest and of unknown effort
        [rad or m].
    mimics : Mimics, optional
        Joints that follow others: computed, whether a message has them or not.

    Attributes
    ----------
    assumed : tuple of str
        Spare joints that the newest message lacked.

    """

    def __init__(self, joint_names: Sequence[str], spare: Mapping[str, float] | None = None,
                 mimics: Mimics | None = None):
        self.joint_names = tuple(joint_names)
        self.assumed: tuple[str, ...] = ()
        self._spare = dict(spare or {})
        self._mimics = mimics if mimics is not None and mimics.joints else None
        self._orders: dict[tuple[str, ...], _Order] = {}

    def __call__(self, msg: Any) -> JointSample:
        """
        Return the sample in a message.

        Raises
        ------
        MeasurementError
            When a joint is missing or named twice, a field has a wrong length, or a position or
            velocity is not finite.

        """
        names = tuple(msg.name)
        if names not in self._orders:
            self._remember(names)
        order = self._orders[names]
        self.assumed = order.assumed
        position = self._pick(msg.position, 'position', names, order)
        velocity = self._pick(msg.velocity, 'velocity', names, order)
        for field, values in (('position', position), ('velocity', velocity)):
            if not math.isfinite(sum(values.tolist())):
                self._refuse_not_finite(field, values)
        effort = None
        if len(msg.effort):
            effort = self._pick(msg.effort, 'effort', names, order)
            if self._mimics is not None:
                effort[self._mimics.follower_v] = math.nan
            if not math.isfinite(sum(effort.tolist())):
                effort = np.where(np.isfinite(effort), effort, np.nan)
        return JointSample(stamp_ns(msg.header.stamp), position, velocity, effort)

    def _remember(self, names: tuple[str, ...]) -> None:
        """Work out where the wanted joints stand in messages with these names."""
        counts = Counter(names)
        twice = [name for name in self.joint_names if counts[name] > 1]
        if twice:
            raise MeasurementError(f'joint_states: {_listing(twice)} named more than once; give '
                                   'each joint one entry')
        followers = set(self._mimics.joints) if self._mimics is not None else set()
        missing = [name for name in self.joint_names
                   if name not in counts and name not in followers and name not in self._spare]
        if missing:
            raise MeasurementError(f'joint_states: {_listing(missing)} missing; the message has '
                                   f'{", ".join(names) or "no joints"}')
        if len(self._orders) >= _NAME_LISTS_KEPT:
            self._orders.clear()
        where = {name: index for index, name in enumerate(names)}
        there = [name in where for name in self.joint_names]
        order = np.array([where.get(name, 0) for name in self.joint_names], dtype=np.intp)
        self._orders[names] = _Order(
            None if names == self.joint_names else order,
            None if all(there) else ~np.array(there, bool),
            np.array([self._spare.get(name, 0.0) for name in self.joint_names]),
            tuple(name for name, known in zip(self.joint_names, there)
                  if not known and name not in followers))

    def _pick(self, values: Any, field: str, names: tuple[str, ...],
              order: _Order) -> np.ndarray:
        if len(values) != len(names):
            raise MeasurementError(f'joint_states: expected {len(names)} values of {field}, one '
                                   f'per name, got {len(values)}')
        # copied: the message may be reused by whoever made it
        picked = np.array(values, dtype=float)
        if order.places is not None:
            picked = picked[order.places] if len(names) else np.zeros(len(order.places))
        if order.lacking is not None:
            picked[order.lacking] = (order.stated[order.lacking] if field == 'position' else
                                     0.0 if field == 'velocity' else math.nan)
        if self._mimics is not None and field != 'effort':
            picked = (self._mimics.positions(picked) if field == 'position' else
                      self._mimics.rates(picked))
        return picked

    def _refuse_not_finite(self, field: str, values: np.ndarray) -> None:
        bad = [f'{name} = {value}' for name, value in zip(self.joint_names, values)
               if not math.isfinite(value)]
        if bad:
            raise MeasurementError(f'joint_states: {field} is not finite: {", ".join(bad)}')


def read_imu(msg: Any) -> ImuSample:
    """
    Return the sample in an Imu message.

    Raises
    ------
    MeasurementError
        When a value is not finite, angular velocity or acceleration is marked as not there, or
        the orientation is no unit quaternion.

    """
    for field in ('angular_velocity', 'linear_acceleration'):
        if getattr(msg, f'{field}_covariance')[0] == -1.0:
            raise MeasurementError(f'imu: the IMU says that it does not measure {field} '
                                   f'({field}_covariance[0] is -1)')
    gyro, acceleration, attitude = msg.angular_velocity, msg.linear_acceleration, msg.orientation
    orientation = None
    if msg.orientation_covariance[0] != -1.0:
        x, y, z, w = attitude.x, attitude.y, attitude.z, attitude.w
        length = math.sqrt(x * x + y * y + z * z + w * w)
        if not abs(length - 1.0) < _UNIT_TOLERANCE:
            raise MeasurementError(f'imu: expected an orientation of length 1, got '
                                   f'{[x, y, z, w]} of length {length:.6g}; an IMU without '
                                   'orientation sets orientation_covariance[0] = -1')
        orientation = np.array((x / length, y / length, z / length, w / length))
    return ImuSample(stamp_ns(msg.header.stamp), _finite_vector(gyro, 'angular_velocity'),
                     _finite_vector(acceleration, 'linear_acceleration'), orientation)


def read_wrench(msg: Any) -> tuple[int, np.ndarray]:
    """Return (stamp [ns], (6,) wrench [f; m]) of a WrenchStamped."""
    force, torque = msg.wrench.force, msg.wrench.torque
    return stamp_ns(msg.header.stamp), np.array(
        (force.x, force.y, force.z, torque.x, torque.y, torque.z))


def read_command(msg: Any, names: Sequence[str]) -> np.ndarray:
    """
    Return the values of a Float64MultiArray command, one per joint (or foot) named.

    Raises
    ------
    MeasurementError
        When the number of values is wrong or one is not finite.

    """
    if len(msg.data) != len(names):
        raise MeasurementError(f'command: expected {len(names)} values, one each for '
                               f'{", ".join(names)}, got {len(msg.data)}')
    values = np.array(msg.data, dtype=float)
    if not np.isfinite(values).all():
        bad = [name for name, value in zip(names, values) if not math.isfinite(value)]
        raise MeasurementError(f'command: {_listing(bad)} not finite')
    return values


def stamp_ns(stamp: Any) -> int:
    """Return a Time or Duration message in nanoseconds."""
    return int(stamp.sec) * _NS + int(stamp.nanosec)


def diagnostic_level(status: Any) -> int:
    """Return a status's level as a number: 0 OK, 1 WARN, 2 ERROR, 3 STALE."""
    level = status.level
    return level[0] if isinstance(level, bytes) else int(level)


def _finite_vector(message: Any, field: str) -> np.ndarray:
    x, y, z = message.x, message.y, message.z
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        raise MeasurementError(f'imu: {field} is not finite: {[x, y, z]}')
    return np.array((x, y, z))


def _listing(names: Sequence[str]) -> str:
    return ', '.join(names) + (' is' if len(names) == 1 else ' are')
