# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
From a robot's messages to sensor samples, by topic: the one place where that is decided.

`SampleReader` gives samples in the model's joint order, corrected as the robot's YAML says.
`RawSampleReader` gives them in the driver's order and as they came, for those who look for faults
in them.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from legged_dynamics.estimation.measurement import ImuSample, JointSample
from legged_dynamics.estimation.sensor_stream import Sample
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.ros.conversions.reading import SensorReader, read_switches
from legged_dynamics.ros.middleware.protocol import stamp_ns


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
        self._read = SensorReader(applied.joint_names, config.sensors,
                                  config.spare(applied) if spare is None else spare,
                                  applied.mimics, finite)
        self.joints, self.imu = self._read.joints, self._read.imu
        self._feet = tuple(foot.link for foot in config.feet)
        self._joint_states, self._imu = joint_states, imu
        self.topics = frozenset({joint_states, imu, foot_switches} - {''})

    @property
    def assumed(self) -> tuple[str, ...]:
        """Joints that the newest joint state lacked, although it may."""
        return self._read.assumed

    def __call__(self, topic: str, message: Any) -> Sample:
        """Return the sample in a decoded message of one of `topics`."""
        if topic == self._joint_states:
            return self.joints(message)
        if topic == self._imu:
            return self.imu(message)
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
