# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a simulated robot is made of: the URDF text and the YAML keys that the simulator needs."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import SubElement

import mujoco
import numpy as np
from scipy.optimize import brentq

from legged_dynamics.exceptions import ConfigurationError, SimulationError
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.parts import Inertia, Joint
from legged_dynamics.model.robot_config import RobotConfig, SensorNoise
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.urdf import read_description_file, urdf_text
from legged_dynamics.schema import CheckedSettings, checked, read_parameter_file, setting


@dataclass(frozen=True)
class SimulationSettings(CheckedSettings):
    """What the YAML says about every simulated robot."""

    kind: str = setting(
        'simulation.kind', 'walker', '',
        'Whether the robot stands on the ground or climbs a wall.', choices=('walker', 'climber'))
    rate: float = setting(
        'simulation.rate', 500.0, 'Hz', 'Sensor samples per second.', 50.0, 1000.0)


KIND, _ = SimulationSettings.table()


@dataclass(frozen=True)
class WalkerSettings(SimulationSettings):
    """What the YAML says about the simulated robot and its ground."""

    timestep: float = setting('simulation.timestep', 1e-3, 's', 'Physics step.', 1e-4, 1e-3)
    command_timeout: float = setting(
        'simulation.command_timeout', 0.02, 's',
        'Age at which an effort command is no longer obeyed.', 1e-3, 10.0)
    floor_friction: float = setting(
        'simulation.floor_friction', 0.8, '1', 'Friction coefficient of the feet.', 0.01, 5.0)
    contact_time: float = setting(
        'simulation.contact_time', 0.01, 's', "Time constant of the feet's rubber.", 1e-3, 0.1)
    restitution: float = setting(
        'simulation.restitution', 0.1353, '1',
        'Speed after an impact by that before; 0.1353 is critical damping.', 0.01, 0.9)
    drop_height: float = setting(
        'simulation.drop_height', 0.0, 'm', 'Height of the feet at the start.', 0.0, 1.0)
    push_time: float = setting(
        'simulation.push.time', 0.0, 's', 'When the base is pushed; 0: never.', 0.0, 1e6)
    push_duration: float = setting(
        'simulation.push.duration', 0.2, 's', 'How long the base is pushed.', 0.0, 1e3)
    push_force: list[float] = setting(
        'simulation.push.force', [0.0, 0.0, 0.0], '',
        'Push on the base along x, y, z of the world, in weights of the robot.', -10.0, 10.0)


@dataclass(frozen=True)
class TrotSettings(CheckedSettings):
    """Timing, steps and joint gains of the simulated robot's own trot controller."""

    period: float = setting(
        'simulation.gait.period', 0.64, 's', 'Duration of one trot cycle.', 0.1, 5.0)
    duty: float = setting(
        'simulation.gait.duty', 0.58, '1',
        'Part of the cycle that a foot is on the ground.', 0.51, 0.9)
    step_height: float = setting(
        'simulation.gait.step_height', 0.06, 'm', 'How high a foot is lifted.', 0.0, 0.5)
    speed: float = setting(
        'simulation.gait.speed', 0.35, 'm/s', 'Forward speed of trot_forward.', -1.0, 1.0)
    stiffness: float = setting(
        'simulation.gait.stiffness', 250.0, 'N m/rad', 'Joint PD of a swinging leg.', 0.0)
    damping: float = setting(
        'simulation.gait.damping', 8.0, 'N m s/rad', 'Joint PD of a swinging leg.', 0.0)
    stance_stiffness: float = setting(
        'simulation.gait.stance_stiffness', 60.0, 'N m/rad', 'Joint PD of a loaded leg.', 0.0)
    stance_damping: float = setting(
        'simulation.gait.stance_damping', 4.0, 'N m s/rad', 'Joint PD of a loaded leg.', 0.0)


SETTINGS = (*WalkerSettings.table(), *TrotSettings.table())


@dataclass(frozen=True)
class Hardware:
    """
    What is known of every simulated robot.

    Attributes
    ----------
    urdf : str
        The robot's URDF text.
    base_link, imu_link : str
        URDF links of the base and of the IMU.
    feet : tuple of str
        URDF links whose origins are the feet.
    joints : tuple of str
        Joints in command order; every array over joints has this order.
    noise : SensorNoise
        Noise and bias of the sensors.
    rate, timestep, command_timeout : float
        Sensor rate [Hz], physics step [s], age at which effort commands expire [s].

    """

    urdf: str
    base_link: str
    imu_link: str
    feet: tuple[str, ...]
    joints: tuple[str, ...]
    noise: SensorNoise
    rate: float
    timestep: float
    command_timeout: float

    @property
    def name(self) -> str:
        """Return the robot's name in its URDF."""
        return ElementTree.fromstring(self.urdf).get('name', 'robot')


@dataclass(frozen=True)
class Plant(Hardware):
    """
    Everything that defines one simulated walking robot.

    Attributes
    ----------
    foot_radius : float
        Radius of a point foot's sphere; zero for flat feet [m].
    flat_feet : bool
        Whether the feet are soles (or edges), and not balls.
    nominal_position : (nj,) array
        Standing pose [rad].
    armature, joint_damping, joint_friction : (nj,) array
        Rotor inertia at the joint [kg m^2], viscous [N m s/rad] and dry friction [N m].
    floor_friction, contact_time : float
        Friction coefficient of the feet; time constant of their rubber [s].
    restitution, drop_height : float
        Speed after an impact by that before; height of the feet at the start [m].
    push_time, push_duration, push_force : float, float, list of float
        When and how long the base is pushed [s]; force in weights of the robot, world axes.
    gait : TrotSettings
        How the robot stands and trots.
    physics : str
        URDF text for MuJoCo, where it differs from `urdf`; empty where that is read as it is.

    """

    foot_radius: float
    flat_feet: bool
    nominal_position: np.ndarray
    armature: np.ndarray
    joint_damping: np.ndarray
    joint_friction: np.ndarray
    floor_friction: float
    contact_time: float
    restitution: float
    drop_height: float
    push_time: float
    push_duration: float
    push_force: list[float]
    gait: TrotSettings
    physics: str = ''

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any], urdf: str) -> Plant:
        """
        Build from dotted parameter names, as a node holds them, and check against a URDF.

        Parameters
        ----------
        parameters : mapping of str to Any
            Values of the parameters by name.
        urdf : str
            URDF as text.

        Raises
        ------
        ConfigurationError
            When a key is missing, of the wrong length, or a setting is out of range.

        """
        config = RobotConfig.from_parameters(parameters)
        found = checked(parameters, SETTINGS)
        model = RobotModel.from_xml(urdf)
        config = replace(config, base_link=config.base_link or model.base_link,
                         imu_link=config.imu_link_in(model),
                         joints=config.joints or model.joint_names)
        _check_plant(model, config)
        settings = vars(WalkerSettings.from_checked(found)).copy()
        del settings['kind']
        return cls(
            urdf=urdf, physics='' if readable(urdf, config) else _physics_text(model, config),
            base_link=config.base_link, imu_link=config.imu_link,
            feet=tuple(foot.link for foot in config.feet),
            foot_radius=config.feet[0].radius, joints=config.joints,
            flat_feet=bool(config.feet[0].moments),
            noise=_plain_noise(model, config), gait=TrotSettings.from_checked(found), **settings,
            **{key: _read_only(config.per_joint(key)) for key in (
                'nominal_position', 'armature', 'joint_damping', 'joint_friction')})

    @classmethod
    def from_files(cls, config: str | Path, urdf: str | Path | None = None) -> Plant:
        """
        Read a robot's YAML and the URDF of the same name beside it, unless another is given.

        Parameters
        ----------
        config : str | Path
            Robot YAML file.
        urdf : str | Path, optional
            URDF file.

        Returns
        -------
        Plant
            The robot of both files.

        Raises
        ------
        ConfigurationError
            When a key is missing or out of range.
        ModelError
            When the URDF cannot be read.

        """
        config = Path(config)
        urdf = config.with_suffix('.urdf') if urdf is None else Path(urdf)
        return cls.from_parameters(read_parameter_file(config), read_description_file(urdf))


def _check_plant(model: RobotModel, config: RobotConfig) -> None:
    """Refuse a robot that cannot be simulated, with everything that is wrong at once."""
    wrong = [f'robot.{key} is missing; the simulator needs it' for key, given in (
        ('feet', config.feet), ('nominal_position', config.nominal_position)) if not given]
    if len({(foot.kind, foot.radius) for foot in config.feet}) > 1:
        wrong.append('robot.foot_types: the simulator expects feet of one kind and size')
    if any(foot.radius == 0.0 and foot.edges[0] == foot.edges[1] for foot in config.feet):
        wrong.append('robot.foot_radius: the simulator expects balls larger than 0 m')
    extra = {frame.name: frame.parent for frame in config.foot_frames}
    for key, names in (('base_link', [config.base_link]), ('imu_link', [config.imu_link]),
                       ('feet', [extra.get(foot.link, foot.link) for foot in config.feet])):
        wrong += [f'robot.{key}: the URDF has no link {name}' for name in names
                  if name not in model.links]
    strange = [name for name in config.joints if name not in model.joint_names]
    if strange:
        wrong.append(f'robot.joints: the URDF has no joint {", ".join(strange)}')
    limits = [] if strange else model.effort_limits[[model.joint_index(name)
                                                     for name in config.joints]]
    weak = [name for name, limit in zip(config.joints, limits) if not 0.0 < limit < np.inf]
    if weak:
        wrong.append(f'the URDF states no effort limit of {", ".join(weak)}; the motors need one')
    if wrong:
        raise ConfigurationError('; '.join(wrong))


def _plain_noise(model: RobotModel, config: RobotConfig) -> SensorNoise:
    """Return a robot's noise with torques in N m alone."""
    noise = config.noise
    if not noise.effort_percent:
        return noise
    each = noise.of_joints('effort', model, config.joints)
    return replace(noise, effort_percent=0.0, joint_effort=tuple(
        float(each[model.joint_index(name)]) for name in config.joints))


def _read_only(values: Sequence[float]) -> np.ndarray:
    array = np.array(values, dtype=float)
    array.setflags(write=False)
    return array


# -------------------------------------------------------------------------------------------------
# Builds the MuJoCo model of a robot on its ground from the URDF and the drives' properties.


GROUND, ROBOT = range(1, 3)  # collision bits: robots touch the ground, not themselves
IMU_SENSORS = {'gyro': mujoco.mjtSensor.mjSENS_GYRO,
               'accelerometer': mujoco.mjtSensor.mjSENS_ACCELEROMETER,
               'orientation': mujoco.mjtSensor.mjSENS_FRAMEQUAT}


def add_floor(spec: mujoco.MjSpec) -> None:
    """Add a lit horizontal floor at height zero."""
    spec.worldbody.add_geom(name='floor', type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1],
                            contype=GROUND, conaffinity=ROBOT, rgba=[0.45, 0.5, 0.45, 1])
    spec.worldbody.add_light(pos=[0, 0, 10], dir=[0.2, 0.3, -1],
                             type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL)


def build_world(urdf: str, *, base_link: str, imu_link: str, joints: Sequence[str],
                feet: Sequence[str], armature: np.ndarray, damping: np.ndarray,
                friction: np.ndarray, timestep: float, foot_friction: float = 0.8,
                contact_time: float = 0.01, restitution: float = 0.1353,
                scenery: Callable[[mujoco.MjSpec], None] = add_floor) -> mujoco.MjModel:
    """
    Compile a free-floating robot with one motor per joint into a MuJoCo model.

    Fixed links keep their bodies; shapes must be primitive; motors are in command order,
    limited to the URDF's effort. ``restitution``: speed after over before.
    """
    try:
        spec = mujoco.MjSpec.from_string(urdf)
    except ValueError as error:
        raise SimulationError(f'MuJoCo cannot read the URDF: {error}') from error
    spec.compiler.fusestatic = False
    # As URDF has it, a link without <inertial> is massless, whatever its shape.
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.option.timestep = timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0       # feet stick instead of creeping
    spec.option.tolerance = 1e-12     # the truth closes the equations of motion to round-off
    # A diverged simulation must be reported, not silently restarted.
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    _body(spec, base_link).add_freejoint(align=mujoco.mjtAlignFree.mjALIGNFREE_FALSE)
    for geom in spec.geoms:
        geom.contype, geom.conaffinity = ROBOT, GROUND
    for foot in feet:
        for geom in _body(spec, foot).geoms:
            geom.priority = 1
            geom.condim = 3
            geom.friction = [foot_friction, 0.005, 1e-4]
            geom.solref = [contact_time, _damping_ratio(restitution)]
            geom.solimp = [0.9, 0.99, 0.002, 0.5, 2.0]
    for name in dict.fromkeys([base_link, imu_link, *feet]):
        _body(spec, name).add_site(name=name)
    for name, rotor, viscous, dry in zip(joints, armature, damping, friction):
        _add_drive(spec, name, rotor, viscous, dry)
    scenery(spec)
    return compiled(spec, imu_link)


def compiled(spec: mujoco.MjSpec, imu_link: str) -> mujoco.MjModel:
    """Add the IMU's sensors, and compile."""
    for name, kind in IMU_SENSORS.items():
        spec.add_sensor(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=imu_link)
    try:
        return spec.compile()
    except ValueError as error:
        raise SimulationError(f'MuJoCo cannot compile the robot: {error}') from error


def _damping_ratio(restitution: float) -> float:
    """
    Return the damping ratio of a contact spring-damper with a restitution coefficient.

    Without pulling, restitution is ``exp(-2 z arccos(z) / sqrt(1 - z^2))`` at damping ratio
    z (above one arcosh and z^2 - 1).
    """
    def remains(z: float) -> float:
        root = math.sqrt(abs(1.0 - z * z))
        angle = math.acos(z) if z < 1.0 else math.acosh(z)
        return -2.0 * z * (angle / root if root > 1e-6 else 1.0) - math.log(restitution)
    return brentq(remains, 0.0, 1e3)


def _body(spec: mujoco.MjSpec, name: str) -> mujoco.MjsBody:
    body = spec.body(name)
    if body is None:
        names = ', '.join(b.name for b in spec.bodies if b.name != 'world')
        raise SimulationError(f'expected a link of the URDF, got {name!r}. The links are: {names}')
    return body


def _add_drive(spec: mujoco.MjSpec, name: str, armature: float, damping: float,
               friction: float) -> None:
    joint = spec.joint(name)
    if joint is None:
        names = ', '.join(j.name for j in spec.joints if j.name)
        raise SimulationError(
            f'expected a joint of the URDF, got {name!r}. The joints are: {names}')
    lower, upper = joint.actfrcrange
    if not upper > 0.0:
        raise SimulationError(f'joint {name} has no effort limit: give its <limit> in the URDF '
                              f'an effort above 0 N m')
    joint.armature = armature
    joint.damping[0] = damping
    joint.frictionloss = friction
    motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT,
                              ctrllimited=True, ctrlrange=[lower, upper])
    motor.set_to_motor()


# -------------------------------------------------------------------------------------------------
# A URDF as physics needs it: one link a moving body, primitive feet, and nothing else.
#
# Makers' URDFs have meshes, materials twice, rotors and lidars without mass or inertia, and joints
# to the world; MuJoCo refuses some and misreads others. `_physics_text` writes the robot anew from
# the `RobotModel` that the estimator uses: links that fixed joints connect are one body, moving
# bodies without mass get a negligible one, and base, IMU and feet are frames of their own.


# Of a body that has none: its mass as a part of the robot's, and its radius of gyration [m].
LEAST_MASS = 1e-6
LEAST_RADIUS = 0.02
THICKNESS = 0.01        # m, of a sole


def readable(urdf: str, config: RobotConfig) -> bool:
    """Return whether a URDF compiles in MuJoCo, with foot shapes and no world joint."""
    if config.foot_frames or '<mesh' in urdf:
        return False
    try:
        spec = mujoco.MjSpec.from_string(urdf)
        spec.compiler.fusestatic = False
        shaped = {body.name for body in spec.bodies if list(body.geoms)}
        free = any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in spec.joints)
        first = spec.worldbody.first_body()
        spec.compile()
    except ValueError:
        return False
    return (not free and all(foot.link in shaped for foot in config.feet)
            and first is not None and first.name == config.base_link)


def _physics_text(model: RobotModel, config: RobotConfig) -> str:
    """Return a robot's URDF with only what physics needs."""
    frames = model.with_frames({frame.name: (frame.parent, frame.pose)
                                for frame in config.foot_frames})
    base = config.base_link or model.base_link
    # The free body has the name of the base, which may be fixed to the root of the URDF.
    names = [base if model.frame(base).body == 0 else model.base_link,
             *(joint.child for joint in model.joints)]
    # A body's axes in the model are its joint's; here they are its link's again.
    to_link = [model.frame(name).pose.inverse() for name in names]
    links = {name: _with_mass(model.body_inertia(body).seen_from(to_link[body]),
                              model.total_mass) for body, name in enumerate(names)}
    joints = []
    for joint in model.joints:
        body, pose = model.frame(joint.parent)
        joints.append(replace(joint, parent=names[body], mimic=None,
                              placement=to_link[body] @ pose @ joint.placement))
    for name in dict.fromkeys([base, config.imu_link_in(model),
                               *(foot.link for foot in config.feet)]):
        if name in links:
            continue
        body, pose = frames.frame(name)
        links[name] = Inertia()
        joints.append(Joint(f'{name}_frame', 'fixed', names[body], name, to_link[body] @ pose,
                            np.array([1.0, 0.0, 0.0])))
    root = ElementTree.fromstring(urdf_text(model.name, links, joints))
    for foot in config.feet:
        _add_shape(next(link for link in root.iter('link') if link.get('name') == foot.link), foot)
    return ElementTree.tostring(root, encoding='unicode')


def _with_mass(inertia: Inertia, total: float) -> Inertia:
    least = LEAST_MASS * total
    moments = np.linalg.eigvalsh(inertia.about_com)
    if inertia.mass >= least and moments[0] > 0.0 and moments[2] <= moments[0] + moments[1]:
        return inertia
    mass = max(inertia.mass, least)
    # The nearest inertia that a distribution of mass has: MuJoCo refuses others.
    values, axes = np.linalg.eigh(inertia.about_com)
    values = np.maximum(values, mass * LEAST_RADIUS ** 2 * 1e-3)
    values[2] = min(values[2], values[0] + values[1])
    return Inertia(mass, inertia.com, (axes * values) @ axes.T)


def _add_shape(link: ElementTree.Element, foot: Foot) -> None:
    collision = SubElement(link, 'collision')
    front, back, left, right = foot.edges
    if front == back:
        SubElement(SubElement(collision, 'geometry'), 'sphere', radius=f'{foot.radius:g}')
        return
    if foot.radius:
        SubElement(collision, 'origin', rpy=f'0 {math.pi / 2} 0',
                   xyz=f'{(front + back) / 2:g} 0 0')
        SubElement(SubElement(collision, 'geometry'), 'cylinder', radius=f'{foot.radius:g}',
                   length=f'{front - back:g}')
        return
    SubElement(collision, 'origin', rpy='0 0 0', xyz=f'{(front + back) / 2:g} '
               f'{(left + right) / 2:g} {THICKNESS / 2:g}')
    SubElement(SubElement(collision, 'geometry'), 'box',
               size=f'{front - back:g} {max(left - right, 1e-3):g} {THICKNESS:g}')
