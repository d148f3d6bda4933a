# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Forward kinematics: pose and motion of every body, from the base outwards, in base axes.

Everything is expressed in the base's axes and positions are from the base's origin, so that a
contact's Jacobian and a body's inertial force need no further transform. The base's own velocity
over ground is taken as zero in :data:`VELOCITY`; only an accelerometer's signal is needed.
"""
from __future__ import annotations

from itertools import accumulate

import numpy as np

from legged_dynamics.dynamics.motion import state_vector
from legged_dynamics.model.parts import (
    COM,
    INERTIA,
    JOINT,
    P_TREE,
    PARENT,
    PRISMATIC,
    Q_START,
    R_TREE,
    REVOLUTE,
    V_START,
)
from legged_dynamics.model.parts import MASS as TREE_MASS
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import (
    IDENTITY,
    ZERO,
    add,
    add_scaled,
    compose,
    cross,
    load3,
    load9,
    rotate,
    rotate_back,
    rotation_of_quaternion,
    scale,
    sine_cosine,
    symmetric_times,
    turn_about_z,
    z_axis,
)
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.jit import as_python, inlined_part, lean_kernel, part
from legged_dynamics.spatial.layout import get3, get6, get9, put3, put6, put9
from legged_dynamics.spatial.symmetric import about_origin, rotate_symmetric

# -------------------------------------------------------------------------------------------------
# One step of the Newton-Euler recursion over one joint and one body, in base axes.
#
# Kernels for single samples and for batches of samples share these parts.


@part
def acceleration_at(w, alpha, a, arm):
    """Return the acceleration [m/s^2] of the point at ``arm`` [m] on the same rigid body."""
    return add(a, add(cross(alpha, arm), cross(w, cross(w, arm))))


@part
def turn(w, alpha, axis, rate, acceleration):
    """Return angular velocity and acceleration of the body beyond a revolute joint."""
    spin = scale(rate, axis)
    return add(w, spin), add(alpha, add_scaled(cross(w, spin), acceleration, axis))


@part
def slide(w, a, axis, rate, acceleration):
    """Return acceleration beyond a prismatic joint from ``a``, of the first body's point there."""
    return add(a, add_scaled(scale(2.0, cross(w, scale(rate, axis))), acceleration, axis))


@inlined_part
def inertial_wrench(mass, com, inertia, R, w, alpha, a):
    """
    Return force and moment that a body's motion requires, about its origin, base axes.

    ``com`` and ``inertia`` (xx, xy, xz, yy, yz, zz, about ``com``) are in body axes; ``R``:
    body to base axes; ``a``: proper acceleration of the origin.
    """
    arm = rotate(R, com)
    force = scale(mass, acceleration_at(w, alpha, a, arm))
    w_body = rotate_back(R, w)
    moment = add(symmetric_times(inertia, rotate_back(R, alpha)),
                 cross(w_body, symmetric_times(inertia, w_body)))
    return force, add(rotate(R, moment), cross(arm, force))


# -------------------------------------------------------------------------------------------------
# Forward kinematics of a tree.

# Columns of the (nb, N_BODY_STATE) workspace that the kernels of this layer share.
ROTATION, POSITION, OMEGA, ALPHA, ACCELERATION, VELOCITY, FORCE, MOMENT = accumulate(
    (0, 9, 3, 3, 3, 3, 3, 3))

N_BODY_STATE = 30


def body_workspace(model: RobotModel) -> np.ndarray:
    """Return an empty body table for the kernels, zeros (n_bodies, N_BODY_STATE)."""
    return np.zeros((model.n_bodies, N_BODY_STATE))


@part
def frame_motion(body, R, p):
    """Return (R, p, w, alpha, v, a) in base axes of a frame at ``R``, ``p`` on a body."""
    R_body, w, alpha = load9(body, ROTATION), load3(body, OMEGA), load3(body, ALPHA)
    arm = rotate(R_body, p)
    v = add(load3(body, VELOCITY), cross(w, arm))
    a = acceleration_at(w, alpha, load3(body, ACCELERATION), arm)
    return compose(R_body, R), add(load3(body, POSITION), arm), w, alpha, v, a


@part
def joint_frame(tree, q, bodies, i):
    """Return body i's rotation, and its origin [m] from its parent's, base axes."""
    constants, kind, iq = tree.constants, tree.topology[i, JOINT], tree.topology[i, Q_START]
    R_parent = get9(bodies, tree.topology[i, PARENT], ROTATION)
    offset = rotate(R_parent, get3(constants, i, P_TREE))
    R = compose(R_parent, get9(constants, i, R_TREE))
    if kind == REVOLUTE:
        sine, cosine = sine_cosine(q[iq])
        R = turn_about_z(R, sine, cosine)
    elif kind == PRISMATIC:
        offset = add_scaled(offset, q[iq], z_axis(R))
    else:
        R = compose(R, rotation_of_quaternion(q[iq], q[iq + 1], q[iq + 2], q[iq + 3]))
    return R, offset


@lean_kernel
def forward_kinematics(tree, q, v, a, base, bodies):
    """
    Fill pose and motion of every body in ``bodies``, base axes.

    ``base`` (9,): angular velocity, angular and proper acceleration of the base, base axes.
    """
    topology = tree.topology
    put9(bodies, 0, ROTATION, IDENTITY)
    put3(bodies, 0, POSITION, ZERO)
    put3(bodies, 0, OMEGA, load3(base, 0))
    put3(bodies, 0, ALPHA, load3(base, 3))
    put3(bodies, 0, ACCELERATION, load3(base, 6))
    put3(bodies, 0, VELOCITY, ZERO)
    for i in range(1, topology.shape[0]):
        parent, kind, iv = topology[i, PARENT], topology[i, JOINT], topology[i, V_START]
        w, alpha = get3(bodies, parent, OMEGA), get3(bodies, parent, ALPHA)
        R, offset = joint_frame(tree, q, bodies, i)
        z = z_axis(R)       # of a hinge, before and after it turns
        acceleration = acceleration_at(w, alpha, get3(bodies, parent, ACCELERATION), offset)
        velocity = add(get3(bodies, parent, VELOCITY), cross(w, offset))
        if kind == REVOLUTE:
            w, alpha = turn(w, alpha, z, v[iv], a[iv])
        elif kind == PRISMATIC:
            acceleration = slide(w, acceleration, z, v[iv], a[iv])
            velocity = add_scaled(velocity, v[iv], z)
        else:
            w, alpha = turn(w, add(alpha, rotate(R, load3(a, iv))), rotate(R, load3(v, iv)),
                            1.0, 0.0)
        put9(bodies, i, ROTATION, R)
        put3(bodies, i, POSITION, add(get3(bodies, parent, POSITION), offset))
        put3(bodies, i, OMEGA, w)
        put3(bodies, i, ALPHA, alpha)
        put3(bodies, i, ACCELERATION, acceleration)
        put3(bodies, i, VELOCITY, velocity)


def frame_poses(model: RobotModel, position: np.ndarray,
                links: tuple[str, ...] | None = None) -> dict[str, Transform]:
    """
    Compute the poses of links in the base frame.

    Parameters
    ----------
    model : RobotModel
        The robot.
    position : (nq,) array [rad or m]
        Joint positions in the model's order.
    links : tuple of str, optional
        Names of the links; all by default.

    Returns
    -------
    dict of str to Transform
        Pose by the link's name.

    Raises
    ------
    MeasurementError
        When the positions do not fit the model.
    UnknownNameError
        When a link is not in the model.

    """
    q = state_vector(position, model.nq, 'joint positions')
    bodies = body_workspace(model)
    still = np.zeros(model.nv)
    as_python(forward_kinematics)(model.tree, q, still, still, np.zeros(9), bodies)
    poses = {}
    for link in links if links is not None else model.frames:
        body, pose = model.frame(link)
        R_B = bodies[body, ROTATION:ROTATION + 9].reshape(3, 3)
        poses[link] = Transform(R_B, bodies[body, POSITION:POSITION + 3]) @ pose
    return poses


# -------------------------------------------------------------------------------------------------
# Rigid bodies in base axes, each about its own origin: their inertia, and what motion takes.
#
# Turned into base axes once, an inertia serves bias forces, articulated and composite inertias.


# Columns of the body table behind those of motion: mass, mass times centre of mass, inertia about
# the body's origin.
MASS, FIRST_MOMENT, SECOND_MOMENT = accumulate((N_BODY_STATE, 1, 3))
N_RIGID_BODY = N_BODY_STATE + 10


@lean_kernel
def place_inertias(tree, bodies):
    """Fill every body's inertia about its origin, in base axes."""
    constants = tree.constants
    for i in range(bodies.shape[0]):
        R, mass = get9(bodies, i, ROTATION), constants[i, TREE_MASS]
        com = rotate(R, get3(constants, i, COM))
        inertia = rotate_symmetric(R, get6(constants, i, INERTIA))
        bodies[i, MASS] = mass
        put3(bodies, i, FIRST_MOMENT, scale(mass, com))
        put6(bodies, i, SECOND_MOMENT, about_origin(inertia, mass, com))


@lean_kernel
def place_inertial_wrenches(bodies):
    """Fill FORCE and MOMENT with the wrench ``I a + v x* I v`` that each body requires."""
    for i in range(bodies.shape[0]):
        h, inertia = get3(bodies, i, FIRST_MOMENT), get6(bodies, i, SECOND_MOMENT)
        w, alpha, a = get3(bodies, i, OMEGA), get3(bodies, i, ALPHA), get3(bodies, i, ACCELERATION)
        put3(bodies, i, FORCE, acceleration_at(w, alpha, scale(bodies[i, MASS], a), h))
        put3(bodies, i, MOMENT, add(cross(h, a), add(symmetric_times(inertia, alpha),
                                                     cross(w, symmetric_times(inertia, w)))))
