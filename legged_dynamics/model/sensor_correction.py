# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Correction of a driver's readings: names, signs, units, offsets, the axes of the IMU."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, index_of
from legged_dynamics.schema import CheckedSettings, setting
from legged_dynamics.spatial.frames import GRAVITY
from legged_dynamics.spatial.rotations import (
    quaternion_from_rotation,
    rotation_from_quaternion,
    rotation_from_rpy,
)

PREFIX = 'robot.sensors.'
_AXES = {f'{sign}{axis}': value * np.eye(3)[i] for i, axis in enumerate('xyz')
         for sign, value in (('', 1.0), ('+', 1.0), ('-', -1.0))}


@dataclass(frozen=True)
class SensorSettings(CheckedSettings):
    """What the YAML says about the readings of a driver."""

    rename: list[str] = setting(
        'robot.sensors.rename', [], '',
        "Joints that the driver gives another joint's readings, as DRIVER=URDF.")
    rename_effort: list[str] = setting(
        'robot.sensors.rename_effort', [], '', 'The same for the efforts alone.')
    position_scale: list[float] = setting(
        'robot.sensors.position_scale', [], '1',
        'Factor from reported to true position: one, or one per joint in command order.')
    position_offset: list[float] = setting(
        'robot.sensors.position_offset', [], 'rad',
        'Added to the scaled position: one, or one per joint in command order.')
    velocity_scale: list[float] = setting(
        'robot.sensors.velocity_scale', [], '1',
        'Factor from reported to true velocity: one, or one per joint in command order.')
    effort_scale: list[float] = setting(
        'robot.sensors.effort_scale', [], '1',
        'Factor from reported to true effort: one, or one per joint in command order.')
    effort_offset: list[float] = setting(
        'robot.sensors.effort_offset', [], 'N m',
        'Added to the scaled effort: one, or one per joint in command order.')
    ignore_effort: list[str] = setting(
        'robot.sensors.ignore_effort', [], '', 'Joints whose efforts are not to be believed.')
    imu_axes: list[str] = setting(
        'robot.sensors.imu_axes', ['x', 'y', 'z'], '',
        "The IMU link's x, y and z axis as axes of the reported vectors, such as -y.")
    imu_rpy: list[float] = setting(
        'robot.sensors.imu_rpy', [0.0, 0.0, 0.0], 'rad',
        'Further rotation from the reported axes into those of the IMU link.')
    gyro_scale: float = setting(
        'robot.sensors.gyro_scale', 1.0, '1', 'Factor from reported to true angular velocity.')
    accelerometer_scale: float = setting(
        'robot.sensors.accelerometer_scale', 1.0, '1',
        'Factor from reported to true acceleration.')
    add_gravity: bool = setting(
        'robot.sensors.add_gravity', False, '',
        'Whether the acceleration comes without gravity, which the orientation then adds.')
    gyro_bias: list[float] = setting(
        'robot.sensors.gyro_bias', [0.0, 0.0, 0.0], 'rad/s',
        "Taken off the turned and scaled angular velocity, in the IMU link's axes.")
    accelerometer_bias: list[float] = setting(
        'robot.sensors.accelerometer_bias', [0.0, 0.0, 0.0], 'm/s^2',
        "Taken off the turned and scaled acceleration, in the IMU link's axes.")
    imu_delay: float = setting(
        'robot.sensors.imu_delay', 0.0, 's',
        'How much later the stamps of the IMU are than those of the joints at one instant.',
        -1.0, 1.0)
    quaternion_order: str = setting(
        'robot.sensors.quaternion_order', 'xyzw', '',
        'Order in which the orientation comes.', choices=('xyzw', 'wxyz'))
    ignore_orientation: bool = setting(
        'robot.sensors.ignore_orientation', False, '',
        "Whether the IMU's orientation is not to be believed.")


SETTINGS = SensorSettings.table()


@dataclass(frozen=True)
class SensorCorrection:
    """
    From what a driver reports to what is true.

    Attributes
    ----------
    rename, rename_effort : mapping of str to str
        Map from the name that the driver uses to the joint of the URDF it belongs to.
    position_scale, position_offset, velocity_scale, effort_scale, effort_offset : tuple of float
        None, one for all, or one per joint of `joints`.
    ignore_effort : tuple of str
        Joints whose efforts are not used.
    imu_axes : tuple of str
        The IMU link's axes as axes of the reported vectors.
    imu_rpy, gyro_bias, accelerometer_bias : tuple of float
        Rotation from the reported axes to the IMU link's [rad], and biases that are
        subtracted after it [rad/s, m/s^2].
    gyro_scale, accelerometer_scale : float
        Factors from reported to true values.
    add_gravity : bool
        Whether the reported acceleration lacks gravity.
    imu_delay : float [s]
        How much later the stamps of the IMU are than those of the joints at one instant.
    quaternion_order : {'xyzw', 'wxyz'}
        Order of the reported orientation.
    ignore_orientation : bool
        Whether the reported orientation is not used.
    joints : tuple of str
        Command order; empty for the model's.

    """

    rename: Mapping[str, str]
    rename_effort: Mapping[str, str]
    position_scale: tuple[float, ...] = ()
    position_offset: tuple[float, ...] = ()
    velocity_scale: tuple[float, ...] = ()
    effort_scale: tuple[float, ...] = ()
    effort_offset: tuple[float, ...] = ()
    ignore_effort: tuple[str, ...] = ()
    imu_axes: tuple[str, ...] = ('x', 'y', 'z')
    imu_rpy: tuple[float, ...] = (0.0, 0.0, 0.0)
    gyro_scale: float = 1.0
    accelerometer_scale: float = 1.0
    add_gravity: bool = False
    gyro_bias: tuple[float, ...] = (0.0, 0.0, 0.0)
    accelerometer_bias: tuple[float, ...] = (0.0, 0.0, 0.0)
    imu_delay: float = 0.0
    quaternion_order: str = 'xyzw'
    ignore_orientation: bool = False
    joints: tuple[str, ...] = ()

    @classmethod
    def none(cls, joints: Sequence[str] = ()) -> SensorCorrection:
        """Return the correction that changes nothing; ``joints``: command order."""
        return cls({}, {}, joints=tuple(joints))

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any]) -> SensorCorrection:
        """Return the correction from dotted parameter names, ignoring others."""
        own = {name: value for name, value in values.items() if name.startswith(PREFIX)}
        found: dict[str, Any] = dict(vars(SensorSettings.from_parameters(own)))
        joints = tuple(values.get('robot.joints') or ())
        for key in ('position_scale', 'position_offset', 'velocity_scale', 'effort_scale',
                    'effort_offset'):
            check_per_joint(f'{PREFIX}{key}', found[key], joints)
        for key in ('imu_rpy', 'gyro_bias', 'accelerometer_bias', 'imu_axes'):
            check_three(f'{PREFIX}{key}', found[key])
        axes = tuple(str(axis) for axis in found['imu_axes'])
        if {axis.lstrip('+-') for axis in axes} != set('xyz') or not set(axes) <= set(_AXES):
            raise ConfigurationError(f'{PREFIX}imu_axes: expected x, y and z in some order, each '
                                     f'with a sign or without, got {list(axes)}')
        found.update({name: tuple(value) for name, value in found.items()
                      if isinstance(value, list)}, imu_axes=axes,
                     rename=_renaming('rename', found['rename']),
                     rename_effort=_renaming('rename_effort', found['rename_effort']))
        return cls(joints=joints, **found)

    @property
    def neutral(self) -> bool:
        """Whether it changes nothing."""
        return self == SensorCorrection.none(self.joints)

    def parameters(self) -> dict[str, Any]:
        """Return the settings that differ from the defaults, by dotted name."""
        found: dict[str, Any] = {}
        default = SensorCorrection.none()
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.name == 'joints' or value == getattr(default, entry.name):
                continue
            if isinstance(value, Mapping):
                value = [f'{driver}={urdf}' for driver, urdf in value.items()]
            found[PREFIX + entry.name] = list(value) if isinstance(value, tuple) else value
        return found

    def driver_names(self, joints: Sequence[str], effort: bool = False) -> tuple[str, ...]:
        """Return the driver's names of model joints; for ``effort`` they may differ."""
        back = {urdf: driver for driver, urdf in self.rename.items()}
        if effort:
            back.update({urdf: driver for driver, urdf in self.rename_effort.items()})
        for name in back:
            index_of('joint', name, joints)
        return tuple(back.get(name, name) for name in joints)

    def per_joint(self, name: str, joints: Sequence[str], default: float) -> np.ndarray:
        """Return one list of this correction, such as 'position_scale', per model joint."""
        values: tuple[float, ...] = getattr(self, name)
        if len(values) < 2:
            return np.full(len(joints), values[0] if values else default)
        found = dict(zip(self.joints or joints, values))
        return np.array([found.get(joint, default) for joint in joints])

    def with_joint(self, name: str, joints: Sequence[str], values: np.ndarray) -> SensorCorrection:
        """Return the correction with one list replaced, values in the model's order."""
        order = self.joints or tuple(joints)
        found = dict(zip(joints, np.asarray(values, float).tolist()))
        change: dict[str, Any] = {name: tuple(found.get(joint, 0.0) for joint in order),
                                  'joints': order}
        return replace(self, **change)

    @property
    def imu_matrix(self) -> np.ndarray:
        """(3, 3) map from reported vectors to the IMU link's axes; a mirror image may be in it."""
        signed = np.array([_AXES[axis] for axis in self.imu_axes])
        return rotation_from_rpy(np.asarray(self.imu_rpy)) @ signed

    def imu(self, gyro: np.ndarray, acceleration: np.ndarray,
            up: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """
        Return true angular velocity and proper acceleration (..., 3), IMU link axes.

        ``up`` (..., 3): vertical in the reported axes by orientation, for `add_gravity`.
        """
        M = self.imu_matrix
        if self.add_gravity and up is not None:
            acceleration = acceleration + GRAVITY / self.accelerometer_scale * up
        # A driver that mirrors axes only exchanges numbers: the same matrix applies to axial and
        # polar vectors.
        return (self.gyro_scale * gyro @ M.T - self.gyro_bias,
                self.accelerometer_scale * acceleration @ M.T - self.accelerometer_bias)

    def reported_up(self, xyzw: np.ndarray) -> np.ndarray:
        """Return the vertical (..., 3) in the reported vectors' axes, by orientation."""
        if self.quaternion_order == 'wxyz':
            xyzw = np.roll(xyzw, -1, axis=-1)
        x, y, z, w = np.moveaxis(xyzw, -1, 0)
        return np.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x),
                         1.0 - 2.0 * (x * x + y * y)], axis=-1)

    def orientation(self, xyzw: np.ndarray | None) -> np.ndarray | None:
        """Return IMU link to world xyzw, from that reported; None if unknown or ignored."""
        if xyzw is None or self.ignore_orientation:
            return None
        if self.quaternion_order == 'wxyz':
            xyzw = np.roll(xyzw, -1)
        M = self.imu_matrix
        if np.array_equal(M, np.eye(3)):
            return xyzw
        if np.linalg.det(M) < 0.0:
            return None             # a mirrored frame has no orientation
        return quaternion_from_rotation(rotation_from_quaternion(xyzw) @ M.T)


def check_per_joint(name: str, values: Sequence[float], joints: Sequence[str]) -> None:
    """Refuse a list of other than no value, one for all joints, or one each."""
    if len(values) not in {0, 1, len(joints)}:
        raise ConfigurationError(f'{name}: expected one value, or one per name in robot.joints '
                                 f'({len(joints)}), got {len(values)}')


def check_three(name: str, values: Sequence[Any]) -> None:
    """Refuse a list of other than three values."""
    if len(values) != 3:
        raise ConfigurationError(f'{name}: expected 3 values, got {len(values)}')


def _renaming(name: str, pairs: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        driver, separator, urdf = str(pair).partition('=')
        if not (driver and separator and urdf) or driver in found or urdf in found.values():
            raise ConfigurationError(f'{PREFIX}{name}: expected DRIVER=URDF, each name once on '
                                     f'each side, got {pair!r}')
        found[driver] = urdf
    return found
