# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Builds the MuJoCo model of a climbing robot on its wall.

The robot moves in the plane of the wall. Each hip is two sliding joints and a turning one with
springs, dampers and motors; each foot has a point constraint to the wall that can be switched on
and off. World axes: z up, x to the right along the wall; the wall leans about x.
"""
from __future__ import annotations

import math

import mujoco
import numpy as np

from legged_dynamics.exceptions import SimulationError
from legged_dynamics.simulation.climbing_plant import ClimbingPlant
from legged_dynamics.simulation.world import IMU_SENSORS
from legged_dynamics.stickybot.model.joints import HIP_JOINTS
from legged_dynamics.stickybot.model.parts import Limb

ROOT_JOINTS = ('along_x', 'along_y', 'turn')
LIMB_RADIUS, FOOT_RADIUS = 0.005, 0.01      # m, drawn
# The stiffest point constraint that MuJoCo offers: part of the unconstrained acceleration that it
# takes away, and its time constant in steps.
IMPEDANCE, CONSTRAINT_STEPS = 0.9999, 2.0


def build_wall_world(plant: ClimbingPlant) -> mujoco.MjModel:
    """
    Compile the robot on its wall, in the order of the plant's joints and feet.

    Joints ``along_x``, ``along_y`` and ``turn`` move the body over the wall; sites are named after
    the base, the IMU and the feet, equality constraints after the feet.

    Raises
    ------
    SimulationError
        When MuJoCo cannot compile it.

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
    for name, kind in IMU_SENSORS.items():
        spec.add_sensor(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE,
                        objname=plant.imu_link)
    try:
        return spec.compile()
    except ValueError as error:
        raise SimulationError(f'MuJoCo cannot compile the robot: {error}') from error


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
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, size=[LIMB_RADIUS, 0.0, 0.0],
                      fromto=[0.0, 0.0, 0.0, -link.length, 0.0, 0.0], rgba=[0.2, 0.2, 0.2, 1.0])
        if k:
            parent, place, angle = body, [-link.length, 0.0, 0.0], -limb.bends[k - 1]
    end = [-limb.links[0].length, 0.0, -height]
    body.add_site(name=foot, pos=end)
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[FOOT_RADIUS, 0.0, 0.0], pos=end,
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
