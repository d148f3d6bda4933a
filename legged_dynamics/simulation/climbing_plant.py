# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a simulated climbing robot is made of: the robot on its wall, its pads, its sensors."""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.schema import checked, read_parameter_file, setting
from legged_dynamics.simulation.plant import Hardware, SimulationSettings
from legged_dynamics.stickybot.model.adhesion import Adhesion
from legged_dynamics.stickybot.model.joints import BASE, DRAWN, HIP_JOINTS, LimbJoints, urdf
from legged_dynamics.stickybot.model.robot import Limb, StickybotModel
from legged_dynamics.stickybot.settings import SETTINGS as STICKYBOT_SETTINGS
from legged_dynamics.stickybot.settings import StickybotSettings


@dataclass(frozen=True)
class ClimberSettings(SimulationSettings):
    """What the YAML says about the simulated robot on its wall."""

    timestep: float = setting(
        'simulation.timestep', 1e-4, 's',
        'Physics step: short against the fastest mode of a limb on its hip, 5000/s.', 1e-5, 1e-3)
    command_timeout: float = setting(
        'simulation.command_timeout', 1.0, 's',
        'Age at which an effort command is no longer obeyed.', 1e-3, 10.0)
    fault_foot: str = setting(
        'simulation.fault.foot', '', '', 'Foot whose pad fails once; empty: none.')
    fault_time: float = setting(
        'simulation.fault.time', 0.0, 's', 'Earliest time of that.', 0.0, 1e6)
    fault_distance: float = setting(
        'simulation.fault.distance', 0.0, 'm',
        'How far the robot has then climbed; 0: no matter.', 0.0, 1e3)


SETTINGS = (
    *ClimberSettings.table(),
    *(setting for setting in STICKYBOT_SETTINGS
      if setting.name.startswith(('stickybot.', 'adhesion.'))),
)


@dataclass(frozen=True)
class PadFault:
    """
    One failure of one pad.

    Attributes
    ----------
    foot : str
        Link of the foot.
    time, distance : float [s, m]
        It fails when that much time has passed and the robot has climbed that far, as soon as it
        is on the wall; a distance of 0 asks for none.

    """

    foot: str
    time: float = 0.0
    distance: float = 0.0

    def due(self, time: float, climbed: float) -> bool:
        """Return whether a time [s] and climbed height [m] are reached."""
        return time >= self.time and (self.distance == 0.0 or climbed >= self.distance)


@dataclass(frozen=True)
class ClimbingPlant(Hardware):
    """
    Everything that defines one simulated climbing robot.

    Attributes
    ----------
    climber : StickybotModel
        The robot on its wall.
    limbs : LimbJoints
        Its joints by name.
    pads : tuple of Adhesion or None
        Limits of the feet.
    effort_limits : (nj,) array [N or N m]
        Of the motors.
    fault : PadFault or None
    held : float [s]
        How long a hand holds the robot on its wall, until its springs carry it: without load, a
        directional pad resists no pull. Chosen by hand.

    """

    climber: StickybotModel
    limbs: LimbJoints
    pads: tuple[Adhesion, ...] | None
    effort_limits: np.ndarray
    fault: PadFault | None
    held: float = 0.1

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any], description: str = ''
                        ) -> ClimbingPlant:
        """
        Build from dotted parameter names, as a node holds them.

        Parameters
        ----------
        parameters : mapping
            Names of `SETTINGS`, of `stickybot.settings` and of a robot's YAML.
        description : str
            URDF text, for the limits of the motors; empty: made from the parameters.

        Returns
        -------
        ClimbingPlant
            Checked against the URDF.

        Raises
        ------
        ConfigurationError
            When a setting is wrong, or the robot's names or the URDF do not fit the parameters.

        """
        found = checked(parameters, SETTINGS)
        own = ClimberSettings.from_checked(found)
        settings = StickybotSettings.from_parameters(
            {key: value for key, value in found.items() if not key.startswith('simulation.')})
        config = RobotConfig.from_parameters(parameters)
        climber = settings.model()
        limbs = LimbJoints(climber)
        joints = config.joints or limbs.names
        for key, given, made in (('joints', joints, limbs.names), (
                'feet', [foot.link for foot in config.feet] or limbs.feet, limbs.feet)):
            if tuple(given) != made:
                raise ConfigurationError(f'robot.{key}: expected those of the parameters '
                                         f'stickybot.*, {list(made)}, got {list(given)}')
        description = description or urdf(climber)
        robot = RobotModel.from_xml(description)
        if robot.joint_names != limbs.names or not math.isclose(
                robot.total_mass, climber.mass, rel_tol=1e-3):
            raise ConfigurationError(
                f'robot_description: expected the robot of the parameters stickybot.*, of '
                f'{climber.mass:.3f} kg with the joints {list(limbs.names)}, got '
                f'{robot.total_mass:.3f} kg and {list(robot.joint_names)}; leave it empty to have '
                'it made from the parameters')
        foot = own.fault_foot
        if foot and foot not in limbs.feet:
            raise ConfigurationError(f'simulation.fault.foot: expected one of '
                                     f'{", ".join(limbs.feet)}, got {foot!r}')
        fault = PadFault(foot, own.fault_time, own.fault_distance) if foot else None
        return cls(
            urdf=description, base_link=robot.base_link, imu_link=config.imu_link or BASE,
            feet=limbs.feet, joints=limbs.names, noise=config.noise,
            rate=own.rate, timestep=own.timestep, command_timeout=own.command_timeout,
            climber=climber, limbs=limbs, pads=settings.pads(),
            effort_limits=robot.effort_limits, fault=fault)

    @classmethod
    def from_files(cls, config: str | Path, **changes: Any) -> ClimbingPlant:
        """
        Read a robot's YAML and the URDF of the same name beside it, if there is one.

        Parameters
        ----------
        config : str or Path
            YAML of the robot.
        **changes : Any
            Parameters that replace those of the file; a__b stands for a.b.

        Returns
        -------
        ClimbingPlant
            Robot, wall, pads and sensors of the files.

        Raises
        ------
        ConfigurationError
            When a file cannot be read or a key is missing or out of range.

        """
        path = Path(config).with_suffix('.urdf')
        return cls.from_parameters(
            read_parameter_file(config) | {key.replace('__', '.'): value
                                           for key, value in changes.items()},
            path.read_text(encoding='utf-8') if path.is_file() else '')


# -------------------------------------------------------------------------------------------------
# Builds the MuJoCo model of a climbing robot on its wall.
#
# The robot moves in the plane of the wall. Each hip is two sliding joints and a turning one with
# springs, dampers and motors; each foot has a point constraint to the wall that can be switched on
# and off. World axes: z up, x to the right along the wall; the wall leans about x.


ROOT_JOINTS = ('along_x', 'along_y', 'turn')
# The stiffest point constraint that MuJoCo offers: part of the unconstrained acceleration that it
# takes away, and its time constant in steps.
IMPEDANCE = 0.9999
CONSTRAINT_STEPS = 2.0


def build_wall_world(plant: ClimbingPlant) -> mujoco.MjSpec:
    """
    Return the robot on its wall, in the order of the plant's joints and feet.

    Joints ``along_x``, ``along_y`` and ``turn`` move the body; sites are named after base,
    IMU and feet, equality constraints after the feet.
    """
    climber, spec = plant.climber, mujoco.MjSpec()
    spec.option.timestep = plant.timestep
    # Implicit in the dampers: a limb's own decay is of the order of the step.
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.tolerance = 1e-14
    spec.option.gravity = [0.0, 0.0, -climber.wall.gravity]
    # A diverged simulation must be reported, not silently restarted; nothing collides.
    spec.option.disableflags |= (mujoco.mjtDisableBit.mjDSBL_AUTORESET
                                 | mujoco.mjtDisableBit.mjDSBL_CONTACT)
    lean = climber.wall.inclination
    wall = spec.worldbody.add_body(name='wall',
                                   quat=[math.cos(lean / 2.0), math.sin(lean / 2.0), 0.0, 0.0])
    wall.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5, 2.0, 0.01], pos=[0.0, 0.0, -0.01],
                  rgba=[0.55, 0.6, 0.55, 1.0])
    spec.worldbody.add_light(pos=[0.0, -3.0, 3.0], dir=[0.0, 1.0, -1.0],
                             type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL)
    base = _add_body(wall, plant)
    for k, limb in enumerate(climber.limbs):
        _add_limb(spec, base, limb, plant.feet[k], climber.body.height, plant.timestep)
    for name, limit in zip(plant.joints, plant.effort_limits):
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT,
                                  ctrllimited=True, ctrlrange=[-limit, limit])
        motor.set_to_motor()
    return spec


def _add_body(wall: mujoco.MjsBody, plant: ClimbingPlant) -> mujoco.MjsBody:
    body = plant.climber.body
    base = wall.add_body(name=plant.base_link, pos=[0.0, 0.0, body.height])
    for name, kind, axis in zip(ROOT_JOINTS, _KINDS, np.eye(3)):
        base.add_joint(name=name, type=kind, axis=axis)
    _set_inertia(base, body.mass, body.inertia, 0.0)
    hips = np.abs([limb.hip for limb in plant.climber.limbs]).max(axis=0)
    base.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[max(hips[0], 0.01), hips[1] + 0.02, 0.01],
                  rgba=[0.3, 0.5, 0.8, 1.0])
    for name in dict.fromkeys([plant.base_link, plant.imu_link]):
        base.add_site(name=name)
    return base


_KINDS = (mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE)


def _add_limb(spec: mujoco.MjSpec, base: mujoco.MjsBody, limb: Limb, foot: str, height: float,
              timestep: float) -> None:
    """Add the links from the hip to the foot; each frame is at the end towards the hip."""
    parent, place, angle = base, [*limb.hip, 0.0], limb.rest_angle
    for k in range(len(limb.links) - 1, -1, -1):
        link = limb.links[k]
        body = parent.add_body(name=f'{limb.name}_link_{k + 1}', pos=place,
                               quat=[math.cos(angle / 2.0), 0.0, 0.0, math.sin(angle / 2.0)])
        if k == len(limb.links) - 1:
            _add_hip(spec, body, limb)
        else:
            outer = limb.links[k + 1]
            # An inner joint counts the hip's side against the foot's.
            joint = body.add_joint(name=f'{limb.name}_joint_{k + 1}', axis=[0.0, 0.0, -1.0],
                                   type=mujoco.mjtJoint.mjJNT_HINGE)
            joint.stiffness[0], joint.damping[0] = outer.stiffness, outer.damping
        _set_inertia(body, link.mass, link.inertia, link.center - link.length)
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, size=[DRAWN.limb_radius, 0.0, 0.0],
                      fromto=[0.0, 0.0, 0.0, -link.length, 0.0, 0.0], rgba=[0.2, 0.2, 0.2, 1.0])
        if k:
            parent, place, angle = body, [-link.length, 0.0, 0.0], -limb.bends[k - 1]
    end = [-limb.links[0].length, 0.0, -height]
    body.add_site(name=foot, pos=end)
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[DRAWN.foot_radius, 0.0, 0.0], pos=end,
                  rgba=[0.9, 0.6, 0.1, 1.0])
    grip = spec.add_equality(name=foot, type=mujoco.mjtEq.mjEQ_CONNECT, name1=body.name,
                             name2='world', objtype=mujoco.mjtObj.mjOBJ_BODY)
    grip.data[:3] = end
    grip.solref = [CONSTRAINT_STEPS * timestep, 1.0]
    grip.solimp = [IMPEDANCE, IMPEDANCE, 0.001, 0.5, 2.0]


def _add_hip(spec: mujoco.MjSpec, body: mujoco.MjsBody, limb: Limb) -> None:
    names = [f'{limb.name}_{joint}' for joint in HIP_JOINTS]
    c, s = math.cos(limb.rest_angle), math.sin(limb.rest_angle)
    # MuJoCo wants axes in the link's frame, which is turned; the slides are the body's.
    axes = ([c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0])
    joints = [body.add_joint(name=name, type=kind, axis=axis)
              for name, kind, axis in zip(names, _KINDS, axes)]
    for matrix, kind in ((limb.stiffness, 'stiffness'), (limb.damping, 'damping')):
        if not (matrix - np.diag(np.diag(matrix))).any():
            for joint, value in zip(joints, np.diag(matrix)):
                getattr(joint, kind)[0] = value
            continue
        # Coupled axes: a spring or damper along each eigenvector.
        values, vectors = np.linalg.eigh(matrix)
        for k in range(3):
            tendon = spec.add_tendon(name=f'{limb.name}_{kind}_{k}')
            getattr(tendon, kind)[0] = max(values[k], 0.0)
            tendon.springlength = [0.0, 0.0]
            for name, weight in zip(names, vectors[:, k]):
                tendon.wrap_joint(name, weight)


def _set_inertia(body: mujoco.MjsBody, mass: float, yaw: float, x: float) -> None:
    """Set a body's mass, centre of mass, and inertia about the wall's normal."""
    body.explicitinertial = True
    body.mass, body.ipos = mass, [x, 0.0, 0.0]
    # MuJoCo wants some inertia even of a point; in the plane only the last one counts.
    yaw = max(yaw, 1e-12)
    body.inertia = [yaw / 2.0, yaw / 2.0, yaw]
