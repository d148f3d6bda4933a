# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A bag's joint states and IMU readings as they came, for the doctor and for identification."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from legged_dynamics.conversions.samples import RawSampleReader
from legged_dynamics.estimation.measurement import ImuSample, JointSample
from legged_dynamics.exceptions import BagError
from legged_dynamics.identification.samples import ImuLog, JointLog, SensorLog
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.topics import input_topics


class SensorLogWriter:
    """Gathers messages of joint states and IMU into a SensorLog."""

    def __init__(self) -> None:
        self._read = RawSampleReader()
        self._joints: list[tuple[int, JointSample]] = []
        self._imu: list[tuple[int, ImuSample]] = []

    def take(self, message: Any, receipt_ns: int) -> None:
        """
        Add a message.

        Parameters
        ----------
        message : sensor_msgs/JointState or sensor_msgs/Imu
            Decoded message.
        receipt_ns : int [ns]
            When it was received.

        """
        sample = self._read(message)
        if isinstance(sample, JointSample):
            self._joints.append((receipt_ns, sample))
        else:
            self._imu.append((receipt_ns, sample))

    @property
    def count(self) -> int:
        """Number of joint states so far."""
        return len(self._joints)

    def log(self) -> SensorLog:
        """
        Return everything so far.

        Returns
        -------
        SensorLog

        Raises
        ------
        BagError
            When there is no joint state.

        """
        if not self._joints:
            raise BagError('expected joint states, got none')
        stamp, receipt, q, v, tau = _columns(self._joints)
        joints = JointLog(stamp, receipt, self._read.names, q, v, tau)
        if not self._imu:
            return SensorLog(joints)
        stamp, receipt, w, a, xyzw = _columns(self._imu)
        return SensorLog(joints, ImuLog(stamp, receipt, w, a, xyzw, self._read.imu_frame))


def _columns(received: Sequence[tuple[int, JointSample | ImuSample]]) -> list[np.ndarray]:
    """Return stamps, receipts and the three fields of samples."""
    stamps, *fields = zip(*(sample[:4] for _, sample in received))
    return [np.array(stamps), np.array([receipt for receipt, _ in received]),
            *(np.array(field) for field in fields)]


def read_sensor_log(bag: BagReader, joint_states: str = '', imu: str = '',
                    start: float | None = None, end: float | None = None) -> SensorLog:
    """
    Return a bag's joint states and IMU readings.

    Parameters
    ----------
    bag : BagReader
        An open bag.
    joint_states, imu : str
        Topics; found by type and name when empty.
    start, end : float, optional [s]
        Part of the bag, from its beginning.

    Returns
    -------
    SensorLog

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
        writer.take(bag.decode(message), message.receipt_ns)
    return replace(writer.log(), simulated='/clock' in bag.topics)
