# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""RobotConfig: what a URDF does not say about a robot, read from its YAML."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, UnknownNameError
from legged_dynamics.model.feet import FootFrame, foot_of_kind
from legged_dynamics.model.foot import Foot
from legged_dynamics.model.parts import Inertia
from legged_dynamics.model.payload import loaded
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.robot_settings import SETTINGS, SensorNoise
from legged_dynamics.model.sensor_correction import SensorCorrection
from legged_dynamics.model.tree import Q_START
from legged_dynamics.schema import checked, read_parameter_file
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_rpy

__all__ = ['SETTINGS', 'RobotConfig', 'SensorNoise']


@dataclass(frozen=True)
class RobotConfig:
    """
    Feet, IMU mount, command order, joint physics and sensor noise of one robot.

    Attributes
    ----------
    base_link, imu_link : str
        Empty for the root of the URDF, and for the base link.
    feet : tuple of Foot
    joints : tuple of str
        Command order; empty for the model's order.
    nominal_position, armature, joint_damping, joint_friction : tuple of float
        In command order, or one value for all, or empty for zero.
    noise : SensorNoise
    absent : mapping of str to float
        Joints that joint_states does not have, and where they stand [rad or m].
    foot_frames : tuple of FootFrame
        Feet that are no links of the URDF, and where they are fixed.
    sensors : SensorCorrection
        Correction of the driver's readings, applied before anything else.
    payload : Inertia
        What the base carries beyond the URDF, in the root link's frame.
    center_of_mass_offset : tuple of float [m]
        Shift of the base's own centre of mass from where the URDF has it.

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
    absent: Mapping[str, float] = field(default_factory=dict)
    foot_frames: tuple[FootFrame, ...] = ()
    sensors: SensorCorrection = field(default_factory=SensorCorrection.none)
    payload: Inertia = field(default_factory=Inertia)
    center_of_mass_offset: tuple[float, ...] = (0.0, 0.0, 0.0)

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
        feet, frames = _feet(found)
        joints = tuple(found['robot.joints'])
        for key in ('robot.joints', 'robot.absent_joints'):
            if len(set(found[key])) != len(found[key]):
                raise ConfigurationError(f'{key}: expected each joint once, got {found[key]}')
        per_joint = {}
        for key in ('nominal_position', 'armature', 'joint_damping', 'joint_friction'):
            values_of = tuple(found[f'robot.{key}'])
            allowed = {0, len(joints)} | ({1} if key != 'nominal_position' else set())
            if len(values_of) not in allowed:
                raise ConfigurationError(
                    f'robot.{key}: expected {" or ".join(map(str, sorted(allowed)))} values '
                    f'(there are {len(joints)} names in robot.joints), got {len(values_of)}')
            per_joint[key] = values_of
        of_noise: dict[str, Any] = {
            name.split('.')[1]: tuple(value) if isinstance(value, list) else value
            for name, value in found.items() if name.startswith('noise.')}
        noise = SensorNoise(**of_noise)
        for key in ('position', 'velocity', 'effort'):
            _as_many(f'noise.joint_{key}', getattr(noise, f'joint_{key}'), joints, 'robot.joints')
        absent, where = found['robot.absent_joints'], found['robot.absent_positions']
        _as_many('robot.absent_positions', where, absent, 'robot.absent_joints')
        for key in ('robot.payload_position', 'robot.center_of_mass_offset'):
            if len(found[key]) != 3:
                raise ConfigurationError(f'{key}: expected 3 values, got {len(found[key])}')
        payload = Inertia(found['robot.payload_mass'],
                          np.array(found['robot.payload_position'], float))
        return cls(found['robot.base_link'], found['robot.imu_link'], feet, joints, noise=noise,
                   absent=dict(zip(absent, where or [0.0] * len(absent))), foot_frames=frames,
                   sensors=SensorCorrection.from_parameters(found), payload=payload,
                   center_of_mass_offset=tuple(found['robot.center_of_mass_offset']),
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
            if str(path) in str(error):
                raise
            raise ConfigurationError(f'{path}: {error}') from error

    def per_joint(self, name: str) -> tuple[float, ...]:
        """Return armature, joint_damping, joint_friction or nominal_position, one per joint."""
        values: tuple[float, ...] = getattr(self, name)
        return values * len(self.joints) if len(values) == 1 else (
            values or (0.0,) * len(self.joints))

    def nominal_in(self, model: RobotModel) -> np.ndarray:
        """Return the standing pose in a model's joint order, (nq,) [rad or m]; else zero."""
        q = np.zeros(model.nq)
        starts = model.tree.topology[1:, Q_START]
        for joint, start in zip(model.joints, starts):
            if joint.kind == 'spherical':
                q[start + 3] = 1.0
        for name, value in self.absent.items():
            q[starts[model.joint_index(name)]] = value
        for name, value in zip(self.joints or model.joint_names, self.nominal_position):
            q[starts[model.joint_index(name)]] = value
        return model.mimics.positions(q)

    def apply_to(self, model: RobotModel) -> RobotModel:
        """
        Check the names against a model and return the model with this joint physics.

        Raises
        ------
        UnknownNameError
            When a foot, a joint or the IMU link is not in the model.
        ConfigurationError
            When the base is not the model's root, or an absent joint carries a foot or the IMU.

        """
        if self.foot_frames:
            model = model.with_frames({frame.name: (frame.parent, frame.pose)
                                       for frame in self.foot_frames})
        for foot in self.feet:
            if foot.link not in model.frames:
                raise UnknownNameError('foot link', foot.link, model.frames)
        if self.base_link and model.frame(self.base_link).body != 0:
            raise ConfigurationError(
                f'robot.base_link: expected a link fixed to the root {model.base_link!r} of the '
                f'URDF, got {self.base_link!r}, which moves against it')
        if self.imu_link:
            model.frame(self.imu_link)
        names = self.joints or model.joint_names
        for name in names:
            model.joint_index(name)
        carrying = self.carrying(model)
        for name in self.absent:
            model.joint_index(name)
            if name in carrying:
                raise ConfigurationError(
                    f'robot.absent_joints: {name!r} carries {carrying[name]}, whose place cannot '
                    'be known without it')
        if self.payload.mass or any(self.center_of_mass_offset):
            model = loaded(model, self.payload, np.array(self.center_of_mass_offset))
        return model.with_joint_physics(
            armature=_by_joint(names, self.armature),
            damping=_by_joint(names, self.joint_damping),
            friction=_by_joint(names, self.joint_friction))

    def carrying(self, model: RobotModel) -> dict[str, str]:
        """
        Return the joints between the base and a foot or the IMU, and what they carry.

        Raises
        ------
        UnknownNameError
            When a foot or the IMU link is not in the model.

        """
        found: dict[str, str] = {}
        links = [(foot.link, f'the foot {foot.link!r}') for foot in self.feet]
        if self.imu_link:
            links.append((self.imu_link, f'the IMU on {self.imu_link!r}'))
        for link, what in links:
            for body in model.chain(model.frame(link).body):
                joint = model.joints[body - 1]
                found.setdefault(joint.name, what)
                if joint.mimic is not None:
                    found.setdefault(joint.mimic.joint, what)
        return found

    def spare(self, model: RobotModel) -> dict[str, float]:
        """
        Return the joints that can be guessed where joint_states lacks them, and where they stand.

        Those that carry neither a foot nor the IMU: at their absent position, or else at their
        nominal one, or else at zero.

        Parameters
        ----------
        model : RobotModel
            With this config applied.

        """
        nominal = dict(zip(self.joints or model.joint_names, self.nominal_position))
        carrying = self.carrying(model)
        return {name: self.absent.get(name, nominal.get(name, 0.0)) for name in model.joint_names
                if name not in carrying}

    def require_fixed_imu(self, model: RobotModel, who: str) -> None:
        """
        Refuse an IMU that moves against the base.

        Parameters
        ----------
        model : RobotModel
            The robot.
        who : str
            Who cannot use it, for the error's text.

        Raises
        ------
        ConfigurationError
            When there are joints between the IMU link and the base.

        """
        if self.imu_link and model.frame(self.imu_link).body != 0:
            raise ConfigurationError(
                f'robot.imu_link: {who} expects an IMU fixed to the base {model.base_link!r}, got '
                f'{self.imu_link!r}, which moves against it')


def _by_joint(names: tuple[str, ...], values: tuple[float, ...]) -> dict[str, float]:
    if len(values) == 1:
        values = values * len(names)
    return dict(zip(names, values))


def _as_many(name: str, values: Sequence[Any], others: Sequence[Any], of_what: str,
             per: int = 1) -> None:
    """Refuse a list that is neither empty nor as long as another."""
    if len(values) not in (0, per * len(others)):
        raise ConfigurationError(f'{name}: expected {per * len(others)} values'
                                 f'{f", {per} each" if per > 1 else ""} (there are {len(others)} '
                                 f'names in {of_what}), got {len(values)}')


def _feet(found: Mapping[str, Any]) -> tuple[tuple[Foot, ...], tuple[FootFrame, ...]]:
    links = found['robot.feet']
    if len(set(links)) != len(links):
        raise ConfigurationError(f'robot.feet: expected each foot once, got {links}')
    for name, per in (('foot_types', 1), ('foot_radii', 1), ('soles', 4), ('foot_parents', 1),
                      ('foot_frames', 6)):
        _as_many(f'robot.{name}', found[f'robot.{name}'], links, 'robot.feet', per)
    sole = found['robot.sole']
    if len(sole) != 4:
        raise ConfigurationError('robot.sole: expected 4 values (front, back, left, right), '
                                 f'got {len(sole)}')
    types = found['robot.foot_types'] or [found['robot.foot_type']] * len(links)
    radii = found['robot.foot_radii'] or [found['robot.foot_radius']] * len(links)
    soles = np.reshape(found['robot.soles'] or sole * len(links), (len(links), 4)).tolist()
    feet = tuple(foot_of_kind(kind, link, radius, edges)
                 for link, kind, radius, edges in zip(links, types, radii, soles))
    parents, frames = found['robot.foot_parents'], found['robot.foot_frames']
    if bool(parents) != bool(frames):
        raise ConfigurationError('robot.foot_parents and robot.foot_frames: expected both or '
                                 'neither: what a foot is fixed to, and where on it')
    poses = np.reshape(frames, (-1, 6))
    return feet, tuple(
        FootFrame(link, parent, Transform(rotation_from_rpy(pose[3:]), pose[:3]))
        for link, parent, pose in zip(links, parents, poses) if parent != link)
