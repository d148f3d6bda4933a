# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint states and IMU messages as the robot's YAML corrects them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from legged_dynamics.estimation.measurement import ImuSample, JointSample
from legged_dynamics.middleware.conversions.reading import JointStateReader, read_imu
from legged_dynamics.model.joint_order import JointOrder
from legged_dynamics.model.mimic import Mimics
from legged_dynamics.model.sensor_correction import SensorCorrection


class SensorReader:
    """
    Reads joint states and IMU messages into what is true.

    Parameters
    ----------
    joint_names : sequence of str
        Joints of the model, in the order wanted.
    correction : SensorCorrection, optional
        None changes nothing.
    spare, mimics : optional
        As `JointStateReader` has them, of the joints wanted.

    Raises
    ------
    UnknownNameError
        When the correction names a joint that the model does not have.

    """

    def __init__(self, joint_names: Sequence[str], correction: SensorCorrection | None = None,
                 spare: Mapping[str, float] | None = None, mimics: Mimics | None = None):
        c = correction or SensorCorrection.none()
        self._names = names = tuple(joint_names)
        self._correction = None if c.neutral else c
        driver, efforts = c.driver_names(names), c.driver_names(names, effort=True)
        self._urdf_name = dict(zip(driver, names))
        # Followers are computed from corrected values, whether a message has them or not.
        self._mimics = mimics if mimics is not None and mimics.joints else None
        self._followers = frozenset(self._mimics.joints if self._mimics is not None else ())
        self._spare = {name: value for name, value in (spare or {}).items()
                       if name not in self._followers}
        if self._correction is None:
            self._read = JointStateReader(driver, spare, mimics)
        else:
            lacking = {**self._spare, **dict.fromkeys(self._followers, 0.0)}
            self._read = JointStateReader(
                driver, {known: lacking[name] for known, name in self._urdf_name.items()
                         if name in lacking})
        self._effort_order = JointOrder(driver, efforts)
        self._position = c.per_joint('position_scale', names, 1.0)
        self._offset = c.per_joint('position_offset', names, 0.0)
        self._velocity = c.per_joint('velocity_scale', names, 1.0)
        self._effort = c.per_joint('effort_scale', names, 1.0)
        self._effort[[name in c.ignore_effort for name in names]] = np.nan
        self._imu_delay = round(c.imu_delay * 1e9)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Spare joints that the newest message lacked."""
        return tuple(name for name in map(self._urdf_name.__getitem__, self._read.assumed)
                     if name not in self._followers)

    def joints(self, message: Any) -> JointSample:
        """
        Return a JointState's sample.

        Raises
        ------
        MeasurementError
            As `JointStateReader` has it.

        """
        sample = self._read(message)
        if self._correction is None:
            return sample
        effort = sample.effort
        if effort is not None:
            effort = self._effort * self._effort_order(effort)
        position = self._position * sample.position + self._offset
        velocity = self._velocity * sample.velocity
        for name in self.assumed:       # stated as it truly is: nothing to correct
            position[self._names.index(name)] = self._spare[name]
        if self._mimics is not None:
            position, velocity = self._mimics.positions(position), self._mimics.rates(velocity)
            if effort is not None:
                effort[self._mimics.follower_v] = np.nan
        return JointSample(sample.stamp_ns, position, velocity, effort)

    def imu(self, message: Any) -> ImuSample:
        """
        Return an Imu message's sample.

        Raises
        ------
        MeasurementError
            As :func:`read_imu` has it.

        """
        sample = read_imu(message)
        c = self._correction
        if c is None:
            return sample
        up = None if sample.orientation is None else c.reported_up(sample.orientation)
        gyro, acceleration = c.imu(sample.angular_velocity, sample.linear_acceleration, up)
        return ImuSample(sample.stamp_ns - self._imu_delay, gyro, acceleration,
                         c.orientation(sample.orientation))
