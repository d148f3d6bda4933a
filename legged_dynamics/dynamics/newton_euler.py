# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Recursive Newton-Euler inverse dynamics, driven by what an IMU measures.

The base's proper acceleration represents both its acceleration and gravity (d'Alembert), so
neither the base's velocity nor the mass matrix is needed, and any direction of gravity is the
same to the algorithm (Featherstone 2008, section 5.3, in base coordinates).
"""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.kinematics import (
    ACCELERATION,
    ALPHA,
    FORCE,
    MOMENT,
    OMEGA,
    POSITION,
    ROTATION,
    body_workspace,
    forward_kinematics,
    inertial_wrench,
)
from legged_dynamics.dynamics.motion import Motion, state_vector
from legged_dynamics.model.parts import (
    ARMATURE,
    COM,
    INERTIA,
    JOINT,
    MASS,
    PARENT,
    PRISMATIC,
    Q_START,
    REST,
    SPHERICAL,
    STIFFNESS,
    V_START,
)
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import (
    add,
    cross,
    dot,
    rotate,
    rotate_back,
    store3,
    subtract,
    z_axis,
)
from legged_dynamics.spatial.frames import wrench_in_frame
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.layout import get3, get6, get9, put3

# Coulomb friction is smoothed over this joint speed [rad/s]: at rest its sign is unknown.
FRICTION_SPEED = 0.1


@lean_kernel
def inertial_wrenches(tree, bodies):
    """
    Pass 1: fill the wrench that each body's motion requires, about its own origin.

    Parameters
    ----------
    tree : Tree
        Structure and constants of the robot.
    bodies : (nb, N_BODY_STATE) array
        Motion of the bodies; FORCE and MOMENT are filled.

    """
    constants = tree.constants
    for i in range(constants.shape[0]):
        force, moment = inertial_wrench(
            constants[i, MASS], get3(constants, i, COM), get6(constants, i, INERTIA),
            get9(bodies, i, ROTATION), get3(bodies, i, OMEGA), get3(bodies, i, ALPHA),
            get3(bodies, i, ACCELERATION))
        put3(bodies, i, FORCE, force)
        put3(bodies, i, MOMENT, moment)


@lean_kernel
def joint_efforts(tree, bodies, tau):
    """
    Pass 2: add up wrenches from the tips to the base, and project them on the joints.

    Afterwards each body's wrench is that of its whole subtree; body 0 holds the base's.

    Parameters
    ----------
    tree : Tree
        Structure and constants of the robot.
    bodies : (nb, N_BODY_STATE) array
        As :func:`inertial_wrenches` leaves it.
    tau : (nv,) array [N m or N]
        Is filled: joint efforts.

    """
    topology = tree.topology
    for i in range(topology.shape[0] - 1, 0, -1):
        parent, iv = topology[i, PARENT], topology[i, V_START]
        force, moment = get3(bodies, i, FORCE), get3(bodies, i, MOMENT)
        R = get9(bodies, i, ROTATION)
        if topology[i, JOINT] == PRISMATIC:
            tau[iv] = dot(z_axis(R), force)
        elif topology[i, JOINT] == SPHERICAL:
            store3(tau, iv, rotate_back(R, moment))
        else:
            tau[iv] = dot(z_axis(R), moment)
        arm = subtract(get3(bodies, i, POSITION), get3(bodies, parent, POSITION))
        put3(bodies, parent, FORCE, add(get3(bodies, parent, FORCE), force))
        put3(bodies, parent, MOMENT,
             add(get3(bodies, parent, MOMENT), add(moment, cross(arm, force))))


@lean_kernel
def add_joint_physics(tree, q, v, a, tau):
    """
    Add the efforts of the joints' own parts: rotor inertia, friction and springs.

    Parameters
    ----------
    tree : Tree
        Structure and constants of the robot.
    q, v, a : (nq,), (nv,), (nv,) array
        Joint positions, velocities and accelerations.
    tau : (nv,) array [N m or N]
        Joint efforts that are added to.

    """
    topology, constants = tree.topology, tree.constants
    for i in range(1, topology.shape[0]):
        iq, iv = topology[i, Q_START], topology[i, V_START]
        spherical = topology[i, JOINT] == SPHERICAL
        armature, damping, friction = get3(constants, i, ARMATURE)
        for k in range(iv, iv + 3 if spherical else iv + 1):
            tau[k] += armature * a[k] + damping * v[k]
        if not spherical:
            tau[iv] += constants[i, STIFFNESS] * (q[iq] - constants[i, REST])
            if friction != 0.0:
                tau[iv] += friction * math.tanh(v[iv] / FRICTION_SPEED)


@lean_kernel
def newton_euler(tree, q, v, a, base, bodies, tau):
    """
    Inverse dynamics as one kernel; see :func:`inverse_dynamics`.

    Parameters
    ----------
    tree : Tree
        Tree of the robot.
    q : (nq,) array [rad or m]
        Joint positions.
    v, a : (nv,) array
        Velocity and acceleration of the joints.
    base : (9,) array
        Angular velocity, angular and proper acceleration of the base, base axes.
    bodies : (nb, N_BODY_STATE) array
        Filled, base axes.
    tau : (nv,) array [N m or N]
        Filled.

    """
    forward_kinematics(tree, q, v, a, base, bodies)
    inertial_wrenches(tree, bodies)
    joint_efforts(tree, bodies, tau)
    add_joint_physics(tree, q, v, a, tau)


@dataclass(frozen=True, eq=False)
class InverseDynamics:
    """
    What moves a robot the way it moves.

    Attributes
    ----------
    joint_effort : (nv,) array [N m or N]
        Joint efforts when nothing touches the robot but `base_wrench`.
    base_wrench : (6,) array [N, N m]
        ``[f; m]`` that must act on the base, in base axes about the base's origin: the sum of
        all ground reactions.

    """

    joint_effort: np.ndarray
    base_wrench: np.ndarray


def inverse_dynamics(model: RobotModel, motion: Motion) -> InverseDynamics:
    """
    Return joint efforts and base wrench for a motion.

    Parameters
    ----------
    model : RobotModel
        The robot.
    motion : Motion
        Joints in the model's order; the base in its own axes, gravity included.

    Returns
    -------
    InverseDynamics

    Raises
    ------
    MeasurementError
        When the motion does not fit the model or is not finite.

    """
    motion = motion.checked(model)
    bodies, tau = body_workspace(model), np.zeros(model.nv)
    newton_euler(model.tree, motion.position, motion.velocity, motion.acceleration,
                 motion.base.packed(), bodies, tau)
    return InverseDynamics(tau, bodies[0, FORCE:FORCE + 6].copy())


# -------------------------------------------------------------------------------------------------
# External forces: wrenches that the world exerts on links, gravity and ground contact apart.


def body_wrenches(model: RobotModel, external: Mapping[str, np.ndarray] | None,
                  out: np.ndarray | None = None) -> np.ndarray:
    """
    Gather wrenches on links into one per body.

    Parameters
    ----------
    model : RobotModel
        The robot whose links they act on.
    external : mapping of link name to (6,) array [N, N m], optional
        ``[f; m]`` exerted on the robot, in the link's axes about the link's origin.
    out : (n_bodies, 6) array, optional
        Where to write.

    Returns
    -------
    (n_bodies, 6) array [N, N m]
        In each body's axes about its origin.

    Raises
    ------
    UnknownNameError
        When a link is not in the model.
    MeasurementError
        When a wrench is not six finite numbers.

    """
    wrenches = np.zeros((model.n_bodies, 6)) if out is None else out
    wrenches[:] = 0.0
    for link, wrench in (external or {}).items():
        body, pose = model.frame(link)
        values = state_vector(wrench, 6, f'components [f; m] of the wrench on link {link!r}')
        wrenches[body] += wrench_in_frame(values, pose)
    return wrenches


@lean_kernel
def subtract_external_wrenches(external, bodies):
    """
    Subtract external wrenches from the wrench that each body's motion requires.

    Parameters
    ----------
    external : (nb, 6) array [N, N m]
        Wrenches [f; m] on the bodies about their origins, in body axes.
    bodies : (nb, N_BODY_STATE) array
        FORCE and MOMENT are changed.

    """
    for i in range(external.shape[0]):
        R = get9(bodies, i, ROTATION)
        put3(bodies, i, FORCE,
             subtract(get3(bodies, i, FORCE), rotate(R, get3(external, i, 0))))
        put3(bodies, i, MOMENT,
             subtract(get3(bodies, i, MOMENT), rotate(R, get3(external, i, 3))))
