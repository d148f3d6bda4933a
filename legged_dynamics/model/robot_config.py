# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""RobotConfig: what a URDF does not say about a robot, read from its YAML."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from legged_dynamics.exceptions import ConfigurationError, UnknownNameError
from legged_dynamics.model.feet import FlatFoot, Foot, PointFoot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.schema import Setting, checked, read_parameter_file

SETTINGS = (
    Setting('robot.base_link', '', '', 'Link that carries the IMU; empty: the root of the URDF.'),
    Setting('robot.feet', [], '', 'Links of the feet.'),
    Setting('robot.foot_type', 'point', '', 'What a foot can carry.', choices=('point', 'flat')),
    Setting('robot.foot_radius', 0.0, 'm', 'Radius of a point foot.', 0.0, 1.0),
    Setting('robot.sole', [0.1, -0.1, 0.05, -0.05], 'm',
            'Front, back, left and right edge of a flat foot, in the foot frame.', -1.0, 1.0),
    Setting('robot.imu_link', '', '', 'Link the IMU is mounted on; empty: the base link.'),
    Setting('robot.joints', [], '', 'Joints in command order; empty: the order of the URDF.'),
    Setting('robot.nominal_position', [], 'rad',
            'Joint positions of the standing robot, in command order; empty: zero.'),
    Setting('robot.armature', [], 'kg m^2',
            'Rotor inertia at the joint: one value, or one per joint in command order.', 0.0),
    Setting('robot.joint_damping', [], 'N m s/rad',
            'Viscous friction: one value, or one per joint in command order.', 0.0),
    Setting('robot.joint_friction', [], 'N m',
            'Coulomb friction: one value, or one per joint in command order.', 0.0),
    Setting('noise.position', 1e-4, 'rad', 'Joint position, one standard deviation.', 0.0),
    Setting('noise.velocity', 0.01, 'rad/s', 'Joint velocity, one standard deviation.', 0.0),
    Setting('noise.effort', 0.5, 'N m', 'Joint torque, one standard deviation.', 0.0),
    Setting('noise.gyro', 0.003, 'rad/s', 'Angular velocity, one standard deviation.', 0.0),
    Setting('noise.accelerometer', 0.05, 'm/s^2', 'Acceleration, one standard deviation.', 0.0),
    Setting('noise.orientation', 0.002, 'rad', 'Orientation, one standard deviation.', 0.0),
    Setting('noise.gyro_bias', 0.001, 'rad/s', 'Bias of the gyro, one standard deviation.', 0.0),
    Setting('noise.accelerometer_bias', 0.02, 'm/s^2',
            'Bias of the accelerometer, one standard deviation.', 0.0),
    Setting('noise.mass', 0.005, '', "Error of the model's mass, as a fraction.", 0.0, 1.0),
    Setting('noise.center_of_mass', 0.002, 'm',
            "Error of the model's centre of mass, one standard deviation.", 0.0, 1.0),
)


@dataclass(frozen=True)
class SensorNoise:
    """One standard deviation of white noise per sample, of biases, and of the model itself."""

    position: float = 0.0
    velocity: float = 0.0
    effort: float = 0.0
    gyro: float = 0.0
    accelerometer: float = 0.0
    orientation: float = 0.0
    gyro_bias: float = 0.0
    accelerometer_bias: float = 0.0
    mass: float = 0.0
    center_of_mass: float = 0.0


@dataclass(frozen=True)
class RobotConfig:
    """
    Feet, IMU mount, command order, joint physics and sensor noise of one robot.

    Attributes
    ----------
    base_link, imu_link : str
        Empty for the root of the URDF, and for the base link.
    feet : tuple of PointFoot or FlatFoot
    joints : tuple of str
        Command order; empty for the model's order.
    nominal_position, armature, joint_damping, joint_friction : tuple of float
        In command order, or one value for all, or empty for zero.
    noise : SensorNoise

    """

    base_link: str
    imu_link: str
    feet: tuple[Foot, ...]
    joints: tuple[str, ...]
    nominal_position: tuple[float, ...]
    armature: tuple[float, ...]
    joint_damping: tuple[float, ...]
    joint_friction: tuple[float, ...]
    noise: SensorNoise

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any]) -> RobotConfig:
        """
        Build from dotted parameter names, as a node or a YAML file has them.

        Raises
        ------
        ConfigurationError
            When a key is unknown, or a value has the wrong type, length or range.

        """
        found = checked(values, SETTINGS)
        feet = tuple(_foot(link, found) for link in found['robot.feet'])
        if len(set(found['robot.feet'])) != len(feet):
            raise ConfigurationError(f'robot.feet: expected each foot once, '
                                     f"got {found['robot.feet']}")
        joints = tuple(found['robot.joints'])
        per_joint = {}
        for key in ('nominal_position', 'armature', 'joint_damping', 'joint_friction'):
            values_of = tuple(found[f'robot.{key}'])
            allowed = {0, len(joints)} | ({1} if key != 'nominal_position' else set())
            if len(values_of) not in allowed:
                raise ConfigurationError(
                    f'robot.{key}: expected {" or ".join(map(str, sorted(allowed)))} values '
                    f'(there are {len(joints)} names in robot.joints), got {len(values_of)}')
            per_joint[key] = values_of
        noise = SensorNoise(**{name.split('.')[1]: value for name, value in found.items()
                               if name.startswith('noise.')})
        return cls(found['robot.base_link'], found['robot.imu_link'], feet, joints, noise=noise,
                   **per_joint)

    @classmethod
    def from_yaml(cls, path: str | Path) -> RobotConfig:
        """
        Read a ROS 2 parameter file.

        Raises
        ------
        ConfigurationError
            When the file cannot be read, or its content is not a robot's.

        """
        try:
            return cls.from_parameters(read_parameter_file(path))
        except ConfigurationError as error:
            raise ConfigurationError(f'{path}: {error}') from error

    def per_joint(self, name: str) -> tuple[float, ...]:
        """Return armature, joint_damping, joint_friction or nominal_position, one per joint."""
        values: tuple[float, ...] = getattr(self, name)
        return values * len(self.joints) if len(values) == 1 else (
            values or (0.0,) * len(self.joints))

    def apply_to(self, model: RobotModel) -> RobotModel:
        """
        Check the names against a model and return the model with this joint physics.

        Raises
        ------
        UnknownNameError
            When a foot, a joint or the IMU link is not in the model.
        ConfigurationError
            When the base is not the model's root, or the IMU is not fixed to it.

        """
        for foot in self.feet:
            if foot.link not in model.frames:
                raise UnknownNameError('foot link', foot.link, model.frames)
        if self.base_link and model.frame(self.base_link).body != 0:
            raise ConfigurationError(
                f'robot.base_link: expected a link fixed to the root {model.base_link!r} of the '
                f'URDF, got {self.base_link!r}, which moves against it')
        if self.imu_link and model.frame(self.imu_link).body != 0:
            raise ConfigurationError(
                f'robot.imu_link: expected a link fixed to the base {model.base_link!r}, got '
                f'{self.imu_link!r}, which moves against it')
        names = self.joints or model.joint_names
        for name in names:
            model.joint_index(name)
        return model.with_joint_physics(
            armature=_by_joint(names, self.armature),
            damping=_by_joint(names, self.joint_damping),
            friction=_by_joint(names, self.joint_friction))


def _by_joint(names: tuple[str, ...], values: tuple[float, ...]) -> dict[str, float]:
    if len(values) == 1:
        values = values * len(names)
    return dict(zip(names, values))


def _foot(link: str, found: Mapping[str, Any]) -> Foot:
    if found['robot.foot_type'] == 'point':
        return PointFoot(link, found['robot.foot_radius'])
    sole = found['robot.sole']
    if len(sole) != 4:
        raise ConfigurationError('robot.sole: expected 4 values (front, back, left, right), '
                                 f'got {len(sole)}')
    return FlatFoot(link, *sole)
