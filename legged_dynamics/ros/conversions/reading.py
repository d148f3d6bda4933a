# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Arrays from messages of any backend: rclpy, rosbags and our own have the same field names.

Each function returns arrays, or raises a MeasurementError that names the fault. `JointStateReader`
reads by joint name, `SensorReader` applies the sensor correction of the robot's YAML,
`SampleReader` reads all sensors by topic, in the model's joint order, `RawSampleReader` as they
came, for those who look for faults in them; and `TrajectoryReader` reads a long trajectory piece
by piece.
"""
from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.joint_order import JointOrder, Mimics, listing
from legged_dynamics.model.measurement import ImuSample, JointSample, SwitchSample
from legged_dynamics.model.sensor_correction import SensorCorrection
from legged_dynamics.ros.middleware.cdr import HEADER, item_readers
from legged_dynamics.ros.middleware.protocol import stamp_ns

__all__ = [
    'ContactReader', 'JointStateReader', 'PoseSample', 'SensorReader', 'diagnostic_level',
    'read_command', 'read_imu', 'read_pose', 'read_switches', 'read_wrench', 'stamp_ns',
]
_NS = 1_000_000_000
_NAME_LISTS_KEPT = 32
_UNIT_TOLERANCE = 1e-3  # of a quaternion's length: float32 drivers and rounding stay inside


class _Order(NamedTuple):
    """How messages with certain joint names are read."""

    joints: JointOrder
    stated: np.ndarray              # where lacking joints stand
    assumed: tuple[str, ...]


class JointStateReader:
    """
    Reads the given joints, in order, from JointState messages by name, and corrects them.

    ``spare``: joints that a message may lack, with their true positions [rad or m], at rest;
    ``mimics`` are computed. With ``finite``, a non-finite position or velocity is an error,
    else passed on as NaN. ``assumed``: spare joints that the newest message lacked.
    """

    def __init__(self, joint_names: Sequence[str], spare: Mapping[str, float] | None = None,
                 mimics: Mimics | None = None, finite: bool = True,
                 correction: SensorCorrection | None = None):
        c = correction or SensorCorrection.none()
        self.joint_names = names = tuple(joint_names)
        self._finite, self.assumed = finite, tuple[str, ...]()
        self._mimics = mimics if mimics is not None and mimics.joints else None
        # Followers are computed from corrected values, whether a message has them or not.
        self._followers = frozenset(() if self._mimics is None else self._mimics.joints)
        self._spare = {**(spare or {}), **dict.fromkeys(self._followers, 0.0)}
        self._asked = c.driver_names(names)
        self._orders: dict[tuple[str, ...], _Order] = {}
        self._neutral = c.neutral
        self._effort_order = JointOrder(self._asked, c.driver_names(names, effort=True))
        self._scale, self._effort_scale, self._velocity_scale = (
            c.per_joint(f'{field}_scale', names, 1.0)
            for field in ('position', 'effort', 'velocity'))
        self._offset, self._effort_offset = (c.per_joint(f'{field}_offset', names, 0.0)
                                             for field in ('position', 'effort'))
        self._effort_scale[[name in c.ignore_effort for name in names]] = np.nan

    def __call__(self, msg: Any) -> JointSample:
        """Return the sample; raise MeasurementError for missing or invalid values."""
        names = tuple(msg.name)
        if names not in self._orders:
            self._remember(names)
        order = self._orders[names]
        self.assumed, lacking = order.assumed, order.joints.lacking
        position = _picked(msg.position, 'position', names, order)
        velocity = _picked(msg.velocity, 'velocity', names, order)
        effort = _picked(msg.effort, 'effort', names, order) if len(msg.effort) else None
        if not self._neutral:
            position = self._scale * position + self._offset
            velocity = self._velocity_scale * velocity
            if effort is not None:
                effort = self._effort_scale * self._effort_order(effort) + self._effort_offset
        if lacking is not None:     # stated as it truly is: nothing to correct
            position[lacking], velocity[lacking] = order.stated[lacking], 0.0
        if self._mimics is not None:
            position, velocity = self._mimics.positions(position), self._mimics.rates(velocity)
            if effort is not None:
                effort[self._mimics.follower_v] = math.nan
        for field, values in (('position', position), ('velocity', velocity)):
            if self._finite and not math.isfinite(sum(values.tolist())):
                self._refuse_not_finite(field, values)
        if effort is not None and not math.isfinite(sum(effort.tolist())):
            effort = np.where(np.isfinite(effort), effort, np.nan)
        return JointSample(stamp_ns(msg.header.stamp), position, velocity, effort, names)

    def _remember(self, names: tuple[str, ...]) -> None:
        """Work out where the wanted joints stand in messages with these names."""
        wanted = dict(zip(self.joint_names, self._asked))
        try:
            order = JointOrder(names, self._asked,
                               {asked for name, asked in wanted.items() if name in self._spare})
        except MeasurementError as error:
            raise MeasurementError(f'joint_states: {error}') from None
        if len(self._orders) >= _NAME_LISTS_KEPT:
            self._orders.clear()
        self._orders[names] = _Order(
            order, np.array([self._spare.get(name, 0.0) for name in wanted]),
            tuple(name for name, asked in wanted.items()
                  if asked not in names and name not in self._followers))

    def _refuse_not_finite(self, field: str, values: np.ndarray) -> None:
        bad = [f'{name} = {value}' for name, value in zip(self.joint_names, values)
               if not math.isfinite(value)]
        if bad:
            raise MeasurementError(f'joint_states: {field} is not finite: {", ".join(bad)}')


def _picked(values: Any, field: str, names: tuple[str, ...], order: _Order) -> np.ndarray:
    if len(values) != len(names):
        raise MeasurementError(f'joint_states: expected {len(names)} values of {field}, one '
                               f'per name, got {len(values)}')
    return order.joints(np.array(values, dtype=float))  # copied: backends may reuse the message


def read_imu(msg: Any) -> ImuSample:
    """
    Return the sample in an Imu message, in IMU axes; orientation None if marked absent.

    Raises MeasurementError for non-finite values, a non-unit quaternion, or no angular
    velocity or acceleration.
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
    return ImuSample(stamp_ns(msg.header.stamp), _vector(gyro, 'imu: angular_velocity'),
                     _vector(acceleration, 'imu: linear_acceleration'), orientation)


def read_switches(msg: Any, feet: Sequence[str]) -> SwitchSample:
    """Return contact switches (1, 0, or NaN if unknown) of a JointState, by ``feet``."""
    unknown = [name for name in msg.name if name not in feet]
    if unknown:
        raise MeasurementError(f'foot_switches: expected names of the feet {", ".join(feet)}, got '
                               f'{", ".join(unknown)}')
    closed = np.array(msg.position, dtype=float)
    if len(closed) != len(msg.name) or not ((closed >= 0.0) & (closed <= 1.0)).all():
        raise MeasurementError(f'foot_switches: expected a position of 1 (closed) or 0 (open) for '
                               f'each name, got {closed.tolist()} for {list(msg.name)}')
    try:
        order = JointOrder(msg.name, feet, spare=feet)
    except MeasurementError as error:
        raise MeasurementError(f'foot_switches: {error}') from None
    return SwitchSample(stamp_ns(msg.header.stamp), order(closed))


class ContactReader:
    """
    Contact switches from ros_gz_interfaces/Contacts, which name what touches and nothing else.

    A foot is named where its link stands in the name of a collision, lumped with another link
    or not; one that no message has named for `memory` [s] is open.
    """

    def __init__(self, feet: Sequence[str], memory: float = 0.0):
        self.memory, self._seen = memory, np.full(len(feet), -math.inf)
        self._names = [re.compile(rf'(?<![^\W_]){re.escape(foot)}(?![^\W_])') for foot in feet]

    def __call__(self, msg: Any) -> SwitchSample:
        """Return which feet touch at the message's stamp."""
        ns = stamp_ns(msg.header.stamp)
        touching = [entity.name for contact in msg.contacts
                    for entity in (contact.collision1, contact.collision2)]
        for i, name in enumerate(self._names):
            if any(map(name.search, touching)):
                self._seen[i] = ns
        return SwitchSample(ns, (np.abs(ns - self._seen) <= 1e9 * self.memory).astype(float))


def read_wrench(msg: Any) -> tuple[int, np.ndarray]:
    """Return the stamp [ns] and the wrench ``[f; m]`` of a WrenchStamped."""
    force, torque = msg.wrench.force, msg.wrench.torque
    return stamp_ns(msg.header.stamp), np.array(
        (force.x, force.y, force.z, torque.x, torque.y, torque.z))


def read_command(msg: Any, names: Sequence[str]) -> np.ndarray:
    """Return the values of a Float64MultiArray command, checked for number and finiteness."""
    if len(msg.data) != len(names):
        raise MeasurementError(f'command: expected {len(names)} values, one each for '
                               f'{", ".join(names)}, got {len(msg.data)}')
    values = np.array(msg.data, dtype=float)
    if not np.isfinite(values).all():
        bad = [name for name, value in zip(names, values) if not math.isfinite(value)]
        raise MeasurementError(f'command: {listing(bad)} not finite')
    return values


def diagnostic_level(status: Any) -> int:
    """Return a status's level: 0 OK, 1 WARN, 2 ERROR, 3 STALE (rclpy has it as bytes)."""
    level = status.level
    return level[0] if isinstance(level, bytes) else int(level)


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
    """Return the pose in a PoseStamped, checked for finiteness and a unit quaternion."""
    return PoseSample(stamp_ns(msg.header.stamp), msg.header.frame_id,
                      _vector(msg.pose.position, 'pose: position'),
                      _unit(msg.pose.orientation, 'pose: orientation'))


def _vector(message: Any, what: str) -> np.ndarray:
    x, y, z = message.x, message.y, message.z
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        raise MeasurementError(f'{what} is not finite: {[x, y, z]}')
    return np.array((x, y, z))


def _unit(message: Any, what: str) -> np.ndarray:
    values = np.array((message.x, message.y, message.z, message.w))
    length = math.sqrt(values @ values)
    if not abs(length - 1.0) < _UNIT_TOLERANCE:
        raise MeasurementError(f'{what}: expected a quaternion of length 1, got '
                               f'{values.tolist()} of length {length:.6g}')
    return values / length


# -------------------------------------------------------------------------------------------------
# TrajectoryReader: a long MultiDOFJointTrajectory from its bytes, some points at a time, since
# objects for thousands of points at once would take longer than a control tick.


class TrajectoryReader:
    """Reads one body's trajectory points from CDR bytes; ``left``: points not yet read."""

    def __init__(self, cdr: bytes):
        head, self._point = item_readers('trajectory_msgs/msg/MultiDOFJointTrajectory')
        self._body, self._at, self._before = bytes(cdr[len(HEADER):]), 0, -1.0
        header, _, self.count = self._next(head)    # joint names do not matter for a body
        self.frame_id, self.left = header.frame_id, self.count
        if not self.count:
            raise MeasurementError('trajectory: expected points, got none')

    def read(self, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Read up to ``most`` points: times from the start, positions, quaternions xyzw.

        Raises MeasurementError for points without exactly one transform, times that do not
        increase from 0 or above, invalid values, or a truncated message.
        """
        k = min(most, self.left)
        times, poses = np.empty(k), np.empty((k, 7))
        for i in range(k):
            point = self._next(self._point)
            if len(point.transforms) != 1:
                raise MeasurementError(
                    'trajectory: expected one transform (of the base) in point '
                    f'{self.count - self.left + i}, got {len(point.transforms)}')
            at, turn = point.transforms[0].translation, point.transforms[0].rotation
            poses[i] = at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w
            times[i] = point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec
            if times[i] <= self._before or times[i] < 0.0:
                raise MeasurementError('trajectory: expected time_from_start to rise from zero or '
                                       f'above, got {times[i]} s after {self._before} s')
            self._before = times[i]
        self.left -= k
        if not np.isfinite(poses).all():
            raise MeasurementError(f'trajectory: expected finite poses, got {poses.tolist()}')
        lengths = np.linalg.norm(poses[:, 3:], axis=1)
        if (np.abs(lengths - 1.0) > _UNIT_TOLERANCE).any():
            raise MeasurementError('trajectory: expected unit quaternions, got lengths '
                                   f'{lengths.tolist()}')
        return times, poses[:, :3], poses[:, 3:] / lengths[:, None]

    def _next(self, read: Callable[[bytes, int], tuple[Any, int]]) -> Any:
        try:
            found, self._at = read(self._body, self._at)
        except (struct.error, ValueError) as error:
            raise MeasurementError('trajectory: the message ends after '
                                   f'{len(self._body)} bytes: {error}') from error
        if self._at > len(self._body):
            raise MeasurementError(f'trajectory: the message ends after {len(self._body)} bytes')
        return found


# -------------------------------------------------------------------------------------------------
# SensorReader: joint states and IMU messages, corrected as the robot's YAML says.


class SensorReader:
    """Reads JointState (as `JointStateReader`) and Imu messages; ``correction``: known errors."""

    def __init__(self, joint_names: Sequence[str], correction: SensorCorrection | None = None,
                 spare: Mapping[str, float] | None = None, mimics: Mimics | None = None,
                 finite: bool = True):
        c = correction or SensorCorrection.none()
        self._correction = None if c.neutral else c
        self.joints = JointStateReader(joint_names, spare, mimics, finite, c)
        self._imu_delay = round(c.imu_delay * 1e9)

    def imu(self, message: Any) -> ImuSample:
        """Return the sample in an Imu message, corrected, in the IMU's true axes."""
        sample = read_imu(message)
        c = self._correction
        if c is None:
            return sample
        up = None if sample.orientation is None else c.reported_up(sample.orientation)
        gyro, acceleration = c.imu(sample.angular_velocity, sample.linear_acceleration, up)
        return ImuSample(sample.stamp_ns - self._imu_delay, gyro, acceleration,
                         c.orientation(sample.orientation))


# -------------------------------------------------------------------------------------------------
# From the messages of a robot to samples, by topic.


class SampleReader:
    """
    Reads the messages of a robot's sensors; the configuration is applied to the model.

    Topics are empty where there is none; ``spare`` [rad or m]: positions of joints that a
    message may lack, by default those of the configuration.
    """

    def __init__(self, model: RobotModel, config: RobotConfig, joint_states: str = 'joint_states',
                 imu: str = 'imu/data', foot_switches: str = 'foot_switches',
                 spare: Mapping[str, float] | None = None, finite: bool = True):
        applied = config.apply_to(model)
        read = SensorReader(applied.joint_names, config.sensors,
                            config.spare(applied) if spare is None else spare,
                            applied.mimics, finite)
        self.joints, self.imu = read.joints, read.imu
        self._feet = tuple(foot.link for foot in config.feet)
        self.contacts = ContactReader(self._feet)
        self._joint_states, self._imu = joint_states, imu
        self.topics = frozenset({joint_states, imu, foot_switches} - {''})

    @property
    def assumed(self) -> tuple[str, ...]:
        """Joints that the newest joint state lacked, although it may."""
        return self.joints.assumed

    def __call__(self, topic: str, message: Any) -> JointSample | ImuSample | SwitchSample:
        """Return the sample in a decoded message of one of `topics`."""
        if topic == self._joint_states:
            return self.joints(message)
        if topic == self._imu:
            return self.imu(message)
        if hasattr(message, 'contacts'):
            return self.contacts(message)
        return read_switches(message, self._feet)


class RawSampleReader:
    """
    Reads joint states and IMU messages unchanged: nothing is corrected or refused.

    Joints are ordered as in the first message (`names`, empty before it); missing values
    are NaN.
    """

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self.imu_frame = ''
        self._where: dict[tuple[str, ...], list[int]] = {}

    def __call__(self, message: Any) -> JointSample | ImuSample:
        """Return the joint or IMU sample in a message, by the message's fields."""
        return self._imu(message) if hasattr(message, 'orientation') else self._joints(message)

    def _joints(self, message: Any) -> JointSample:
        names = tuple(message.name)
        if not self.names:
            self.names = names
        if names not in self._where:
            self._where[names] = [names.index(name) if name in names else -1
                                  for name in self.names]
        order = self._where[names]
        row = np.full((3, len(self.names)), np.nan)
        for i, field in enumerate(('position', 'velocity', 'effort')):
            values = np.append(np.asarray(getattr(message, field), float), np.nan)
            if len(values) == len(names) + 1:
                row[i] = values[order]
        return JointSample(stamp_ns(message.header.stamp), row[0], row[1], row[2], names)

    def _imu(self, message: Any) -> ImuSample:
        w, a, q = message.angular_velocity, message.linear_acceleration, message.orientation
        orientation = np.array([q.x, q.y, q.z, q.w])
        if message.orientation_covariance[0] == -1.0 or not np.any(orientation):
            orientation[:] = np.nan
        self.imu_frame = self.imu_frame or message.header.frame_id
        return ImuSample(stamp_ns(message.header.stamp), np.array([w.x, w.y, w.z]),
                         np.array([a.x, a.y, a.z]), orientation)
