# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A configuration with one more fix: readings exchanged, scaled, shifted or turned."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from legged_dynamics.model.parts import Inertia
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.sensor_correction import SensorCorrection
from legged_dynamics.spatial.rotations import rotation_from_rpy, rotation_from_vector

SCALES = {'position': ('position_scale', 'position_offset'), 'velocity': ('velocity_scale',),
          'effort': ('effort_scale',)}
LISTS = ('position_scale', 'position_offset', 'velocity_scale', 'effort_scale')


class Corrector:
    """
    Makes configurations out of one.

    Parameters
    ----------
    model : RobotModel
        As the URDF has it.

    """

    def __init__(self, model: RobotModel):
        self.model, self.names = model, model.joint_names

    def permuted(self, config: RobotConfig, source: Sequence[int],
                 effort_only: bool = False) -> RobotConfig:
        """Return it with joint i reading what joint ``source[i]`` read before, (nj,)."""
        c, names = config.sensors, self.names
        order = list(source)
        driver, efforts = c.driver_names(names), c.driver_names(names, effort=True)
        if not effort_only:
            driver = tuple(driver[i] for i in order)
        efforts = tuple(efforts[i] for i in order)
        changed = replace(
            c, rename={d: n for d, n in zip(driver, names) if d != n},
            rename_effort={e: n for e, d, n in zip(efforts, driver, names) if e != d})
        for name in LISTS:
            if getattr(c, name) and (name == 'effort_scale' or not effort_only):
                values = c.per_joint(name, names, 0.0 if 'offset' in name else 1.0)
                changed = changed.with_joint(name, names, values[order])
        return replace(config, sensors=changed)

    def scaled(self, config: RobotConfig, joints: Sequence[int] | slice, factor: float,
               *fields: str) -> RobotConfig:
        """Return it with positions, velocities or efforts of some joints scaled once more."""
        c = config.sensors
        for part in fields:
            for name in SCALES[part]:
                values = c.per_joint(name, self.names, 0.0 if 'offset' in name else 1.0)
                values[joints] *= factor
                if values.any():
                    c = c.with_joint(name, self.names, values)
        return replace(config, sensors=_simplest(c))

    def shifted(self, config: RobotConfig, joint: int, offset: float) -> RobotConfig:
        """Return it with an offset added to a joint's position [rad]."""
        c = config.sensors
        values = c.per_joint('position_offset', self.names, 0.0)
        values[joint] += offset
        return replace(config, sensors=c.with_joint('position_offset', self.names, values))

    def turned(self, config: RobotConfig, signed: np.ndarray) -> RobotConfig:
        """Return it with the IMU's vectors mapped once more by a signed permutation (3, 3)."""
        c = config.sensors
        axes = signed @ _axes_matrix(c)
        R = signed @ rotation_from_rpy(np.asarray(c.imu_rpy)) @ signed.T
        return replace(config, sensors=replace(
            c, imu_axes=_axes_names(axes), imu_rpy=_rpy(R),
            gyro_bias=tuple((signed @ c.gyro_bias).tolist()),
            accelerometer_bias=tuple((signed @ c.accelerometer_bias).tolist())))

    def tilted(self, config: RobotConfig, vector: np.ndarray) -> RobotConfig:
        """Return it with the IMU's vectors turned by a small rotation vector (3,) [rad]."""
        c = config.sensors
        R = rotation_from_vector(np.asarray(vector, float)) @ rotation_from_rpy(
            np.asarray(c.imu_rpy))
        return replace(config, sensors=replace(c, imu_rpy=_rpy(R)))

    def sensors(self, config: RobotConfig, **values: Any) -> RobotConfig:
        """Return it with other values of the sensor correction."""
        return replace(config, sensors=replace(config.sensors, **values))

    def loaded(self, config: RobotConfig, mass: float) -> RobotConfig:
        """Return it with mass added where the base's centre of mass is [kg]."""
        total = config.payload.mass + mass
        return replace(config, payload=Inertia(total, self.model.body_inertia(0).com))

    def balanced(self, config: RobotConfig, shift: np.ndarray) -> RobotConfig:
        """Return it with the base's centre of mass shifted by (3,) [m]."""
        moved = np.asarray(config.center_of_mass_offset) + shift
        return replace(config, center_of_mass_offset=tuple(moved.tolist()))

    def rolled(self, config: RobotConfig, radius: float) -> RobotConfig:
        """Return it with point feet of a radius larger by so much [m]."""
        return replace(config, feet=tuple(foot.rolled(radius) for foot in config.feet))


def _simplest(c: SensorCorrection) -> SensorCorrection:
    """Return the correction with lists of equal values as one value, or none."""
    for name in LISTS:
        values = getattr(c, name)
        plain = 0.0 if 'offset' in name else 1.0
        if values and len(set(values)) == 1:
            change: dict[str, Any] = {name: () if values[0] == plain else (values[0],)}
            c = replace(c, **change)
    return c


def _axes_matrix(c: SensorCorrection) -> np.ndarray:
    return replace(c, imu_rpy=(0.0, 0.0, 0.0)).imu_matrix


def _axes_names(matrix: np.ndarray) -> tuple[str, ...]:
    where = np.abs(matrix).argmax(axis=1)
    return tuple(('-' if matrix[i, k] < 0.0 else '') + 'xyz'[k] for i, k in enumerate(where))


def _rpy(R: np.ndarray) -> tuple[float, ...]:
    """Return roll, pitch and yaw of a rotation matrix [rad]."""
    pitch = float(np.arcsin(np.clip(-R[2, 0], -1.0, 1.0)))
    return (float(np.arctan2(R[2, 1], R[2, 2])) + 0.0, pitch + 0.0,
            float(np.arctan2(R[1, 0], R[0, 0])) + 0.0)
