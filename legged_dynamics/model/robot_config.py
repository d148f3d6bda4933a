# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""RobotConfig: what a URDF does not say about a robot, read from its YAML."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, UnknownNameError
from legged_dynamics.model.feet import KINDS, Foot, FootFrame, foot_of_kind
from legged_dynamics.model.parts import PARENT, Q_START, Inertia
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.sensor_correction import SETTINGS as SENSOR_SETTINGS
from legged_dynamics.model.sensor_correction import SensorCorrection, check_per_joint, check_three
from legged_dynamics.schema import CheckedSettings, checked, read_parameter_file, setting
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_rpy

# -------------------------------------------------------------------------------------------------
# What a robot's YAML says about its actuators; `model.actuators` has what follows from it.


@dataclass(frozen=True)
class ActuatorSettings(CheckedSettings):
    """What the YAML says about the actuators beside `robot.armature` and `robot.joint_*`."""

    joint_friction_deviation: list[float] = setting(
        'robot.joint_friction_deviation', [], 'N m',
        'Deviation of the Coulomb friction: one value, or one per joint in command order; empty: '
        'a tenth of what is stated, or what motors of that torque limit have.', 0.0)
    joint_damping_deviation: list[float] = setting(
        'robot.joint_damping_deviation', [], 'N m s/rad',
        'The same of the viscous friction.', 0.0)
    load_friction: list[float] = setting(
        'robot.load_friction', [], '1',
        'Friction that grows with load, as a share of the torque: one value, or one per joint in '
        'command order.', 0.0, 1.0)
    load_friction_deviation: list[float] = setting(
        'robot.load_friction_deviation', [], '1', 'Deviation of it.', 0.0, 1.0)
    armature_deviation: list[float] = setting(
        'robot.armature_deviation', [], 'kg m^2', 'Deviation of the rotor inertia.', 0.0)
    joint_stiffness: float = setting(
        'robot.joint_stiffness', 0.0, 'N m/rad',
        'Of the drives between motors, where encoders are, and links; 0: stiff, or not known.',
        0.0)
    joint_effort_gain: list[float] = setting(
        'noise.joint_effort_gain', [], '1',
        'Error of the scale of measured torques, one deviation per joint in command order; '
        'empty: noise.effort_gain.', 0.0, 1.0)
    joint_effort_offset: list[float] = setting(
        'noise.joint_effort_offset', [], 'N m',
        'Offset of measured torques, one deviation: one value, or one per joint in command '
        'order; empty: what torque sensors of that limit have.', 0.0)
    effort_age_deviation: float = setting(
        'noise.effort_age_deviation', 0.0, 's',
        'Deviation of noise.effort_age; 0: 0.3 ms where that is stated, 3 ms where not.', 0.0,
        0.05)


# -------------------------------------------------------------------------------------------------
# The settings of a robot's YAML.


@dataclass(frozen=True)
class RobotSettings(CheckedSettings):
    """What the YAML says about the robot itself; lists per joint are in command order."""

    base_link: str = setting(
        'robot.base_link', '', '', 'Link that carries the IMU; empty: the root of the URDF.')
    base: str = setting(
        'robot.base', 'floating', '',
        'Whether the root of the URDF moves freely, or is fixed to the ground with its z axis '
        'upwards, as on a test stand. A rail is then a passive joint of its own.',
        choices=('floating', 'fixed'))
    feet: list[str] = setting('robot.feet', [], '', 'Links of the feet.')
    foot_type: str = setting(
        'robot.foot_type', 'point', '',
        'What a foot can carry; of all feet.', choices=tuple(KINDS))
    foot_types: list[str] = setting(
        'robot.foot_types', [], '', 'The same, one per foot.', choices=tuple(KINDS))
    foot_radius: float = setting(
        'robot.foot_radius', 0.0, 'm', 'Radius of a point foot or a cylinder; of all feet.', 0.0,
        1.0)
    foot_radii: list[float] = setting(
        'robot.foot_radii', [], 'm', 'The same, one per foot; of others not looked at.', 0.0, 1.0)
    sole: list[float] = setting(
        'robot.sole', [0.1, -0.1, 0.05, -0.05], 'm',
        'Front, back, left and right edge of a flat foot in its frame; of a line or a cylinder '
        'its ends.',
        -1.0, 1.0)
    soles: list[float] = setting(
        'robot.soles', [], 'm',
        'The same, four per foot in a row; of a point foot not looked at.', -1.0, 1.0)
    foot_parents: list[str] = setting(
        'robot.foot_parents', [], '',
        'One per foot: the link a foot is fixed to that is no link of the URDF; its own name for '
        'one that is.')
    foot_frames: list[float] = setting(
        'robot.foot_frames', [], 'm, rad',
        'Six per foot in a row: x, y, z, roll, pitch, yaw of the foot on its parent.', -10.0, 10.0)
    imu_link: str = setting(
        'robot.imu_link', '', '', 'Link the IMU is mounted on, any link; empty: the base link.')
    joints: list[str] = setting(
        'robot.joints', [], '', 'Joints in command order; empty: the order of the URDF.')
    nominal_position: list[float] = setting(
        'robot.nominal_position', [], 'rad',
        'Joint positions of the standing robot, in command order; empty: zero.')
    absent_joints: list[str] = setting(
        'robot.absent_joints', [], '',
        'Joints that joint_states does not have. They may carry neither a foot nor the IMU, '
        'unless they are rails of a fixed base.')
    absent_positions: list[float] = setting(
        'robot.absent_positions', [], 'rad', 'Where they stand, one each; empty: zero.')
    passive_joints: list[str] = setting(
        'robot.passive_joints', [], '',
        'Joints without a motor. Efforts that joint_states has for them are not used.')
    passive_effort: str = setting(
        'robot.passive_effort', 'unknown', '',
        'Torque of passive joints: unknown, as of a spring, a rail that rubs or a hand that '
        'holds the robot; or zero, with noise.effort as its error.', choices=('unknown', 'zero'))
    transmission_cutoff: float = setting(
        'robot.transmission_cutoff', 0.0, 'Hz',
        'Frequency up to which links follow their motors through elastic transmissions (belts), '
        'where encoders are on the motors; 0: rigid, or encoders on the links.', 0.0, 1000.0)
    armature: list[float] = setting(
        'robot.armature', [], 'kg m^2',
        'Rotor inertia at the joint: one value, or one per joint in command order; 0: not known.',
        0.0)
    joint_damping: list[float] = setting(
        'robot.joint_damping', [], 'N m s/rad',
        'Viscous friction: one value, or one per joint in command order; 0: not known.', 0.0)
    joint_friction: list[float] = setting(
        'robot.joint_friction', [], 'N m',
        'Coulomb friction: one value, or one per joint in command order; 0: not known.', 0.0)
    payload_mass: float = setting(
        'robot.payload_mass', 0.0, 'kg',
        'What the base carries beyond the URDF; negative where the URDF has too much.')
    payload_position: list[float] = setting(
        'robot.payload_position', [0.0, 0.0, 0.0], 'm',
        'Where the payload is, in the axes of the root link.', -10.0, 10.0)
    center_of_mass_offset: list[float] = setting(
        'robot.center_of_mass_offset', [0.0, 0.0, 0.0], 'm',
        "Shift of the base's centre of mass from where the URDF has it.", -1.0, 1.0)


@dataclass(frozen=True)
class SensorNoise(CheckedSettings):
    """Errors of the sensors and of the model, one deviation each; by default those of a YAML."""

    position: float = setting(
        'noise.position', 1e-4, 'rad', 'Joint position, one standard deviation.', 0.0)
    velocity: float = setting(
        'noise.velocity', 0.01, 'rad/s', 'Joint velocity, one standard deviation.', 0.0)
    effort: float = setting(
        'noise.effort', 0.5, 'N m', 'Joint torque, one standard deviation.', 0.0)
    effort_percent: float = setting(
        'noise.effort_percent', 0.0, '%',
        "The same in percent of each joint's effort limit, beside noise.effort.", 0.0, 100.0)
    effort_gain: float = setting(
        'noise.effort_gain', 0.02, '',
        'Error of the scale of measured torques, one deviation: as motor constants vary.',
        0.0, 1.0)
    effort_age: float = setting(
        'noise.effort_age', 0.0, 's',
        'How much older measured torques are than the positions of their message: half a period '
        'where a driver reports what its motors have held until then; 0: not known, and learned.',
        -0.05, 0.05)
    velocity_age: float = setting(
        'noise.velocity_age', 0.0, 's',
        'How much older joint velocities are than the positions of their message, as behind a '
        'low-pass; 0: not known, and learned.', 0.0, 0.02)
    joint_position: Sequence[float] = setting(
        'noise.joint_position', [], 'rad',
        'Position, one per joint in command order; empty: noise.position.', 0.0)
    joint_velocity: Sequence[float] = setting(
        'noise.joint_velocity', [], 'rad/s',
        'Velocity, one per joint in command order; empty: noise.velocity.', 0.0)
    joint_effort: Sequence[float] = setting(
        'noise.joint_effort', [], 'N m',
        'Torque, one per joint in command order; empty: noise.effort.', 0.0)
    gyro: float = setting(
        'noise.gyro', 0.003, 'rad/s', 'Angular velocity, one standard deviation.', 0.0)
    accelerometer: float = setting(
        'noise.accelerometer', 0.05, 'm/s^2', 'Acceleration, one standard deviation.', 0.0)
    orientation: float = setting(
        'noise.orientation', 0.002, 'rad', 'Orientation, one standard deviation.', 0.0)
    gyro_bias: float = setting(
        'noise.gyro_bias', 0.001, 'rad/s', 'Bias of the gyro, one standard deviation.', 0.0)
    accelerometer_bias: float = setting(
        'noise.accelerometer_bias', 0.02, 'm/s^2',
        'Bias of the accelerometer, one standard deviation.', 0.0)
    mass: float = setting(
        'noise.mass', 0.005, '', "Error of the model's mass, as a fraction.", 0.0, 1.0)
    center_of_mass: float = setting(
        'noise.center_of_mass', 0.002, 'm',
        "Error of the model's centre of mass, one standard deviation.", 0.0, 1.0)

    def of_joints(self, quantity: str, model: RobotModel, joints: Sequence[str] = ()
                  ) -> np.ndarray:
        """
        Find the deviation of each joint's reading.

        Parameters
        ----------
        quantity : {'position', 'velocity', 'effort'}
            What is measured: [rad or m], [rad/s or m/s], [N m or N].
        model : RobotModel
            Whose effort limits ``effort_percent`` is of.
        joints : sequence of str
            The command order that values per joint are in; empty: the model's.

        Returns
        -------
        (n_joints,) array
            Standard deviations, in the model's order.

        Raises
        ------
        ConfigurationError
            When there are not as many values as joints, or a percentage is asked of a joint
            without an effort limit.

        """
        found = np.full(model.n_joints, float(getattr(self, quantity)))
        each: Sequence[float] = getattr(self, f'joint_{quantity}')
        names = joints or model.joint_names
        if each and len(each) != len(names):
            raise ConfigurationError(f'noise.joint_{quantity}: expected {len(names)} values, one '
                                     f'per joint in command order, got {len(each)}')
        for name, value in zip(names, each):
            found[model.joint_index(name)] = value
        if quantity == 'effort' and self.effort_percent > 0.0:
            free = [joint.mimic is not None and np.isinf(joint.effort) for joint in model.joints]
            limits = np.where(free, 0.0, model.effort_limits)   # what follows has no motor
            if not np.isfinite(limits).all():
                name = model.joint_names[int(np.flatnonzero(~np.isfinite(limits))[0])]
                raise ConfigurationError('noise.effort_percent: expected an effort limit of every '
                                         f'joint, and {name!r} has none in the URDF; give '
                                         'noise.joint_effort instead')
            found = np.hypot(found, 0.01 * self.effort_percent * limits)
        return found


SETTINGS = (*RobotSettings.table(), *ActuatorSettings.table(), *SENSOR_SETTINGS,
            *SensorNoise.table())


# -------------------------------------------------------------------------------------------------
# Payload of the base, and masses that differ from the URDF's.


# Where a loaded model keeps the inertia of its base without load.
_BARE = '_bare_base'


def _loaded(model: RobotModel, payload: Inertia, shift: np.ndarray) -> RobotModel:
    """Return the model with a base payload and a CoM shift, replacing earlier ones."""
    bare = model.__dict__.get(_BARE) or model.body_inertia(0)
    loaded = model.with_body_inertia({0: replace(bare, com=bare.com + shift) + payload})
    if loaded is not model:
        loaded.__dict__[_BARE] = bare
    return loaded


def scaled_to(model: RobotModel, mass: float) -> RobotModel:
    """Return the model with masses and inertias scaled to a total mass [kg]."""
    if not 0.0 < mass < np.inf:
        raise ConfigurationError(f'expected a mass above 0 kg, got {mass:g}')
    factor = mass / model.total_mass
    bodies = {body: model.body_inertia(body) for body in range(model.n_bodies)}
    copy = model.with_body_inertia({body: _scaled(part, factor) for body, part in bodies.items()
                                    if part.mass > 0.0})
    copy.links = {name: _scaled(part, factor) for name, part in model.links.items()}
    return copy


def _scaled(part: Inertia, factor: float) -> Inertia:
    return Inertia(factor * part.mass, part.com, factor * part.about_com)


# -------------------------------------------------------------------------------------------------
# The configuration of a robot.

@dataclass(frozen=True)
class RobotConfig:
    """
    Feet, IMU mount, command order, joint physics and sensor noise of one robot.

    Attributes
    ----------
    base_link, imu_link : str
        Empty for the root of the URDF, and for the base link.
    feet : tuple of Foot
        Feet, in the order of all arrays over feet.
    joints : tuple of str
        Command order; empty for the model's order.
    nominal_position, armature, joint_damping, joint_friction : tuple of float
        Values in command order, or one value for all, or empty for zero.
    noise : SensorNoise
        Errors of the sensors and of the model.
    absent : mapping of str to float
        Joints that joint_states does not have, and their positions [rad or m].
    foot_frames : tuple of FootFrame
        Feet that are no links of the URDF, and where they are fixed.
    sensors : SensorCorrection
        Correction of the driver's readings, applied before anything else.
    payload : Inertia
        Load of the base that the URDF lacks, in the root link's frame.
    center_of_mass_offset : tuple of float [m]
        Shift of the base's own centre of mass from where the URDF has it.
    base : str
        'floating', or 'fixed' where the root of the URDF is fixed to the ground.
    passive_joints : tuple of str
        Joints without a motor.
    transmission_cutoff : float [Hz]
        Frequency up to which links follow their motors; 0: at any.
    passive_effort : str
        'unknown' or 'zero': their torque.
    actuators : ActuatorSettings
        What is stated of the actuators beside armature, damping and friction; see
        `model.actuators.ActuatorModel.of`.
    source : str
        File that it was read from, for messages; empty when it was not.

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
    base: str = 'floating'
    passive_joints: tuple[str, ...] = ()
    passive_effort: str = 'unknown'
    transmission_cutoff: float = 0.0
    actuators: ActuatorSettings = field(default_factory=ActuatorSettings)
    source: str = field(default='', compare=False)

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any]) -> RobotConfig:
        """
        Build from dotted parameter names, as a node or a YAML file has them.

        Parameters
        ----------
        values : mapping of str to value
            Values by dotted name.

        Returns
        -------
        RobotConfig

        Raises
        ------
        ConfigurationError
            When a key is unknown, or a value has the wrong type, length or range.

        """
        found = checked(values, SETTINGS)
        robot = RobotSettings.from_checked(found)
        noise = SensorNoise.from_checked(found)
        feet, frames = _feet(robot)
        joints = robot.joints
        for key in ('joints', 'absent_joints', 'passive_joints'):
            names = getattr(robot, key)
            if len(set(names)) != len(names):
                raise ConfigurationError(f'robot.{key}: expected each joint once, got {names}')
        for key in ('nominal_position', 'armature', 'joint_damping', 'joint_friction'):
            count = len(getattr(robot, key))
            allowed = {0, len(joints)} | ({1} if key != 'nominal_position' else set())
            if count not in allowed:
                raise ConfigurationError(
                    f'robot.{key}: expected {" or ".join(map(str, sorted(allowed)))} values '
                    f'(there are {len(joints)} names in robot.joints), got {count}')
        for key in ('position', 'velocity', 'effort'):
            _as_many(f'noise.joint_{key}', getattr(noise, f'joint_{key}'), joints, 'robot.joints')
        absent, where = robot.absent_joints, robot.absent_positions
        _as_many('robot.absent_positions', where, absent, 'robot.absent_joints')
        for key in ('payload_position', 'center_of_mass_offset'):
            check_three(f'robot.{key}', getattr(robot, key))
        actuators = ActuatorSettings.from_checked(found)
        for name, given in actuators.values.items():
            if isinstance(given, list):
                check_per_joint(name, given, joints)
        payload = Inertia(robot.payload_mass, np.array(robot.payload_position, float))
        plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
                                 for name, value in vars(robot).items()
                                 if name in cls.__dataclass_fields__}
        return cls(**{**plain, 'feet': feet, 'foot_frames': frames}, noise=noise,
                   absent=dict(zip(absent, where or [0.0] * len(absent))), payload=payload,
                   sensors=SensorCorrection.from_parameters(found), actuators=actuators)

    @classmethod
    def from_yaml(cls, path: str | Path) -> RobotConfig:
        """
        Read a ROS 2 parameter file.

        Parameters
        ----------
        path : str or Path
            YAML of the robot.

        Returns
        -------
        RobotConfig

        Raises
        ------
        ConfigurationError
            When the file cannot be read, or its content is not a robot's.

        """
        try:
            return replace(cls.from_parameters(read_parameter_file(path)), source=str(path))
        except ConfigurationError as error:
            if str(path) in str(error):
                raise
            raise ConfigurationError(f'{path}: {error}') from error

    def per_joint(self, name: str) -> tuple[float, ...]:
        """
        Return a setting that is given per joint, with one value per joint.

        Parameters
        ----------
        name : str
            'armature', 'joint_damping', 'joint_friction' or 'nominal_position'.

        Returns
        -------
        tuple of float
            In command order; zeros where nothing is given.

        """
        values: tuple[float, ...] = getattr(self, name)
        return values * len(self.joints) if len(values) == 1 else (
            values or (0.0,) * len(self.joints))

    def nominal_in(self, model: RobotModel) -> np.ndarray:
        """
        Return the standing pose in a model's joint order.

        Parameters
        ----------
        model : RobotModel
            The robot.

        Returns
        -------
        (nq,) array [rad or m]
            Zero for joints whose position is not given.

        """
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

    def imu_link_in(self, model: RobotModel) -> str:
        """Return the link of a model whose axes the IMU reports in: by default the base link."""
        return self.imu_link or self.base_link or model.base_link

    def apply_to(self, model: RobotModel) -> RobotModel:
        """
        Check the names against a model, and return the model with this joint physics.

        Parameters
        ----------
        model : RobotModel
            The robot of the URDF.

        Returns
        -------
        RobotModel
            With frames of feet, payload, armature, damping and friction. A model that has them
            already is returned as it is.

        Raises
        ------
        UnknownNameError
            When a foot, a joint or the IMU link is not in the model.
        ConfigurationError
            When the base is not the model's root, or an absent joint carries a foot or the IMU.

        """
        if self.base == 'fixed':
            model = model.with_base('fixed')
        if self.foot_frames:
            with self._key('foot_parents'):
                model = model.with_frames({frame.name: (frame.parent, frame.pose)
                                           for frame in self.foot_frames})
        with self._key('feet'):
            for foot in self.feet:
                model.frame(foot.link)
        with self._key('base_link'):
            based = not self.base_link or model.frame(self.base_link).body == 0
        if not based:
            raise ConfigurationError(
                f'robot.base_link: expected a link fixed to the root {model.base_link!r} of the '
                f'URDF, got {self.base_link!r}, which moves against it')
        with self._key('imu_link'):
            model.frame(self.imu_link_in(model))
        names = self.joints or model.joint_names
        for key, listed in (('joints', names), ('passive_joints', self.passive_joints),
                            ('absent_joints', self.absent)):
            with self._key(key):
                for name in listed:
                    model.joint_index(name)
        carrying, rails = self.carrying(model), self.rails(model)
        for name in self.absent:
            if name in carrying and name not in rails:
                raise ConfigurationError(
                    f'robot.absent_joints: {name!r} carries {carrying[name]}, whose place cannot '
                    'be known without it')
        if self.payload.mass or any(self.center_of_mass_offset):
            model = _loaded(model, self.payload, np.array(self.center_of_mass_offset))
        return model.with_joint_physics(
            armature=by_joint(names, self.armature), damping=by_joint(names, self.joint_damping),
            friction=by_joint(names, self.joint_friction))

    @contextmanager
    def _key(self, key: str) -> Iterator[None]:
        """Name key and file where a name is not in the model."""
        try:
            yield
        except UnknownNameError as error:
            error.args = (f'{self.source}{": " if self.source else ""}robot.{key}: {error}',)
            raise

    def carrying(self, model: RobotModel) -> dict[str, str]:
        """
        Return the joints between the base and a foot or the IMU, and what they carry.

        Parameters
        ----------
        model : RobotModel
            The robot.

        Returns
        -------
        dict of str to str
            By joint: a foot or the IMU, in words.

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

    @property
    def unknown_efforts(self) -> tuple[str, ...]:
        """Passive joints whose equation of motion is of no use: torque or motion is unknown."""
        return tuple(name for name in self.passive_joints
                     if self.passive_effort == 'unknown' or name in self.absent)

    def rails(self, model: RobotModel) -> tuple[str, ...]:
        """
        Return the rails of a fixed base: passive sliding joints between its root and the robot.

        Parameters
        ----------
        model : RobotModel
            The robot.

        Returns
        -------
        tuple of str
            From the root on; empty for a floating base.

        """
        found: list[str] = []
        if self.base != 'fixed':
            return ()
        for body, joint in enumerate(model.joints, start=1):
            if (joint.kind != 'prismatic' or joint.name not in self.passive_joints
                    or model.tree.topology[body, PARENT] != len(found)):
                break
            found.append(joint.name)
        return tuple(found)

    def spare(self, model: RobotModel) -> dict[str, float]:
        """
        Find the joints whose positions may be assumed where joint_states lacks them.

        Those that carry neither a foot nor the IMU: at their absent position, or else at their
        nominal one, or else at zero.

        Parameters
        ----------
        model : RobotModel
            Robot with this config applied.

        Returns
        -------
        dict of str to float [rad or m]
            Assumed position by the joint's name.

        """
        nominal = dict(zip(self.joints or model.joint_names, self.nominal_position))
        carrying = self.carrying(model)
        return {name: self.absent.get(name, nominal.get(name, 0.0)) for name in model.joint_names
                if name not in carrying or name in self.absent}

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
                f'{self.imu_link!r}, which moves against it; name a link of an IMU on the base')


def by_joint(names: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    """Return one value for all, or one each, by joint; without values nothing."""
    return dict(zip(names, tuple(values) * (len(names) if len(values) == 1 else 1)))


def _as_many(name: str, values: Sequence[Any], others: Sequence[Any], of_what: str,
             per: int = 1) -> None:
    """Refuse a list that is neither empty nor as long as another."""
    if len(values) not in (0, per * len(others)):
        raise ConfigurationError(f'{name}: expected {per * len(others)} values'
                                 f'{f", {per} each" if per > 1 else ""} (there are {len(others)} '
                                 f'names in {of_what}), got {len(values)}')


def _feet(robot: RobotSettings) -> tuple[tuple[Foot, ...], tuple[FootFrame, ...]]:
    links = robot.feet
    if len(set(links)) != len(links):
        raise ConfigurationError(f'robot.feet: expected each foot once, got {links}')
    for name, per in (('foot_types', 1), ('foot_radii', 1), ('soles', 4), ('foot_parents', 1),
                      ('foot_frames', 6)):
        _as_many(f'robot.{name}', getattr(robot, name), links, 'robot.feet', per)
    sole = robot.sole
    if len(sole) != 4:
        raise ConfigurationError('robot.sole: expected 4 values (front, back, left, right), '
                                 f'got {len(sole)}')
    types = robot.foot_types or [robot.foot_type] * len(links)
    radii = robot.foot_radii or [robot.foot_radius] * len(links)
    soles = np.reshape(robot.soles or sole * len(links), (len(links), 4)).tolist()
    feet = tuple(foot_of_kind(kind, link, radius, edges)
                 for link, kind, radius, edges in zip(links, types, radii, soles))
    parents, frames = robot.foot_parents, robot.foot_frames
    if bool(parents) != bool(frames):
        raise ConfigurationError('robot.foot_parents and robot.foot_frames: expected both or '
                                 'neither: what a foot is fixed to, and where on it')
    poses = np.reshape(frames, (-1, 6))
    return feet, tuple(
        FootFrame(link, parent, Transform(rotation_from_rpy(pose[3:]), pose[:3]))
        for link, parent, pose in zip(links, parents, poses) if parent != link)
