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
    """Run pass 1: fill FORCE and MOMENT required by each body, about its own origin."""
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
    Run pass 2: sum wrenches from tips to base, and fill joint efforts ``tau`` (nv,).

    Afterwards each body's wrench is that of its subtree; body 0 has the base's.
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
    """Add efforts of rotor inertia, friction and springs to ``tau`` (nv,) in place."""
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
    Run inverse dynamics in one kernel; ``bodies`` and ``tau`` (nv,) are filled.

    ``base`` (9,): angular velocity, angular and proper acceleration, base axes.
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
    Return wrenches on links summed per body (n_bodies, 6), body axes and origin.

    ``external``: ``[f; m]`` on the robot by link name, in the link's axes about its origin.
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
    """Subtract external ``[f; m]`` (nb, 6), in body axes and origin, from ``bodies``."""
    for i in range(external.shape[0]):
        R = get9(bodies, i, ROTATION)
        put3(bodies, i, FORCE,
             subtract(get3(bodies, i, FORCE), rotate(R, get3(external, i, 0))))
        put3(bodies, i, MOMENT,
             subtract(get3(bodies, i, MOMENT), rotate(R, get3(external, i, 3))))
