# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Builds the MuJoCo model of a robot on its ground from the URDF and the drives' properties."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import mujoco
import numpy as np
from scipy.optimize import brentq

from legged_dynamics.exceptions import SimulationError

GROUND, ROBOT = 1, 2  # collision bits: robots touch the ground, not themselves
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

    Fixed links keep their own bodies, so that frames and inertias stay those of the URDF.

    Parameters
    ----------
    urdf : str
        URDF text; shapes must be primitive (no mesh files).
    base_link : str
        Link that gets the free joint.
    imu_link : str
        Link whose frame is the IMU's; gets sensors ``gyro``, ``accelerometer``, ``orientation``.
    joints : sequence of str
        Joints in command order; motors are created in this order, limited to the URDF's effort.
    feet : sequence of str
        Links whose shapes touch the ground with ``foot_friction`` and ``contact_time``. Base, IMU
        and feet each get a site of their own name.
    armature, damping, friction : (nj,) array
        Per joint: rotor inertia [kg m^2], viscous damping [N m s/rad], dry friction [N m].
    timestep : float
        Physics step [s].
    foot_friction, contact_time : float
        Friction coefficient; time constant of the contacts' spring and damper [s].
    restitution : float
        Speed after an impact by that before, of the contacts' spring and damper.
    scenery : callable
        Adds the ground to the specification; its shapes belong to the world body.

    Raises
    ------
    SimulationError
        When the URDF cannot be compiled, lacks a link or joint, or leaves an effort limit out.

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
            geom.solref = [contact_time, damping_ratio(restitution)]
            geom.solimp = [0.9, 0.99, 0.002, 0.5, 2.0]
    for name in dict.fromkeys([base_link, imu_link, *feet]):
        _body(spec, name).add_site(name=name)
    for name, kind in IMU_SENSORS.items():
        spec.add_sensor(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=imu_link)
    for name, rotor, viscous, dry in zip(joints, armature, damping, friction):
        _add_drive(spec, name, rotor, viscous, dry)
    scenery(spec)
    try:
        return spec.compile()
    except ValueError as error:
        raise SimulationError(f'MuJoCo cannot compile the robot: {error}') from error


def damping_ratio(restitution: float) -> float:
    """
    Return the damping ratio of a spring and damper that throws a body back at that speed.

    They push until spring and damper cancel, and do not pull: of the speed of the impact there
    remains ``exp(-2 z arccos(z) / sqrt(1 - z^2))`` at a damping ratio z (with arcosh and z^2 - 1
    above one), which is ``exp(-2)`` at critical damping.
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
