# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Recursive Newton-Euler inverse dynamics, driven by what an IMU measures.

The base's proper acceleration stands for both its acceleration and gravity (d'Alembert), so
neither the base's velocity nor the mass matrix is needed, and any direction of gravity is the
same to the algorithm (Featherstone 2008, section 5.3, in base coordinates).
"""
from __future__ import annotations

import math
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
)
from legged_dynamics.dynamics.motion import Motion
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.tree import (
    ARMATURE,
    COM,
    DAMPING,
    FRICTION,
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
from legged_dynamics.spatial.algebra import (
    add,
    cross,
    dot,
    load3,
    load6,
    load9,
    rotate,
    rotate_back,
    scale,
    store3,
    subtract,
    symmetric_times,
    z_axis,
)
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.table import get3, get9, put3

# Coulomb friction is smoothed over this joint speed [rad/s]: nobody knows its sign at rest.
FRICTION_SPEED = 0.05


@kernel
def inertial_wrenches(tree, bodies):
    """Pass 1: fill the wrench each body needs to move as it does, about its own origin."""
    constants = tree.constants
    for i in range(constants.shape[0]):
        body, constant = bodies[i], constants[i]
        R = load9(body, ROTATION)
        w, alpha = load3(body, OMEGA), load3(body, ALPHA)
        com = rotate(R, load3(constant, COM))
        at_com = add(load3(body, ACCELERATION), add(cross(alpha, com), cross(w, cross(w, com))))
        force = scale(constant[MASS], at_com)
        inertia, w_body = load6(constant, INERTIA), rotate_back(R, w)
        moment = add(symmetric_times(inertia, rotate_back(R, alpha)),
                     cross(w_body, symmetric_times(inertia, w_body)))
        store3(body, FORCE, force)
        store3(body, MOMENT, add(rotate(R, moment), cross(com, force)))


@kernel
def joint_efforts(tree, bodies, tau):
    """
    Pass 2: gather wrenches from the tips to the base and project them on the joints.

    Afterwards each body's wrench is that of its whole subtree; body 0 holds the base's.
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


@kernel
def add_joint_physics(tree, q, v, a, tau):
    """Add what the joint itself takes: rotor inertia, friction and springs."""
    topology, constants = tree.topology, tree.constants
    for i in range(1, topology.shape[0]):
        iq, iv = topology[i, Q_START], topology[i, V_START]
        if topology[i, JOINT] == SPHERICAL:
            for k in range(3):
                tau[iv + k] += (constants[i, ARMATURE] * a[iv + k]
                                + constants[i, DAMPING] * v[iv + k])
        else:
            tau[iv] += (constants[i, ARMATURE] * a[iv] + constants[i, DAMPING] * v[iv]
                        + constants[i, STIFFNESS] * (q[iq] - constants[i, REST]))
            if constants[i, FRICTION] != 0.0:
                tau[iv] += constants[i, FRICTION] * math.tanh(v[iv] / FRICTION_SPEED)


@kernel
def newton_euler(tree, q, v, a, base, bodies, tau):
    """Inverse dynamics as one kernel; see :func:`inverse_dynamics`."""
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
