# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A bag's joint states and IMU as they came: nothing is refused that a doctor may want to see."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from legged_dynamics.conversions import stamp_ns
from legged_dynamics.exceptions import BagError
from legged_dynamics.identification.samples import ImuLog, JointLog, SensorLog
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.topics import input_topics


class SensorLogWriter:
    """Gathers messages into a SensorLog."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self._where: dict[tuple[str, ...], list[int]] = {}
        self._joints: list[tuple[int, int, np.ndarray]] = []
        self._imu: list[tuple[int, int, np.ndarray]] = []
        self._frame = ''

    def take_joints(self, message: Any, receipt_ns: int) -> None:
        """Add a JointState; names are those of the first, and what is not there is NaN."""
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
        self._joints.append((stamp_ns(message.header.stamp), receipt_ns, row))

    def take_imu(self, message: Any, receipt_ns: int) -> None:
        """Add an Imu."""
        w, a, q = message.angular_velocity, message.linear_acceleration, message.orientation
        row = np.array([w.x, w.y, w.z, a.x, a.y, a.z, q.x, q.y, q.z, q.w])
        if message.orientation_covariance[0] == -1.0 or not np.any(row[6:]):
            row[6:] = np.nan
        self._frame = self._frame or message.header.frame_id
        self._imu.append((stamp_ns(message.header.stamp), receipt_ns, row))

    @property
    def count(self) -> int:
        """Joint states so far."""
        return len(self._joints)

    def log(self) -> SensorLog:
        """
        Return everything so far.

        Raises
        ------
        BagError
            When there is no joint state.

        """
        if not self._joints:
            raise BagError('expected joint states, got none')
        stamp, receipt, rows = (np.array(column) for column in zip(*self._joints))
        joints = JointLog(stamp, receipt, self.names, rows[:, 0], rows[:, 1], rows[:, 2])
        if not self._imu:
            return SensorLog(joints)
        stamp, receipt, rows = (np.array(column) for column in zip(*self._imu))
        return SensorLog(joints, ImuLog(stamp, receipt, rows[:, :3], rows[:, 3:6], rows[:, 6:],
                                        self._frame))


def read_sensor_log(bag: BagReader, joint_states: str = '', imu: str = '',
                    start: float | None = None, end: float | None = None) -> SensorLog:
    """
    Return a bag's sensors.

    Parameters
    ----------
    bag : BagReader
        An open bag.
    joint_states, imu : str
        Topics; found by type and name when empty.
    start, end : float, optional [s]
        Part of the bag, from its beginning.

    Raises
    ------
    BagError
        When the bag has no joint states, or several topics fit.

    """
    joints, inertial, _ = input_topics(bag, joint_states, imu)
    writer = SensorLogWriter()
    first = None if start is None else bag.start_ns + round(start * 1e9)
    last = None if end is None else bag.start_ns + round(end * 1e9)
    for message in bag.messages({joints, inertial} - {''}, first, last):
        take = writer.take_joints if message.topic == joints else writer.take_imu
        take(bag.decode(message), message.receipt_ns)
    return replace(writer.log(), simulated='/clock' in bag.topics)
