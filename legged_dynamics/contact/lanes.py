# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Newton-Euler over several samples side by side: the loop over bodies outside, that over samples in.

The inner loops have no branches and run over neighbouring memory, so that the compiler makes
vector instructions of them. What happens at a joint or a body is that of `dynamics.body_motion`.

Kernels take blocks, with the samples in the last axis: a body is (N_BODY_STATE, .), joint states
``q``, ``v``, ``a`` are rows of (., .), ``base`` is (9, .), ``lanes`` (nb, N_BODY_STATE, .). All is
in base axes; ``R_tree`` and ``p_tree`` place the body's frame in its parent's.

The kernels share their arguments.
"""
from __future__ import annotations

from legged_dynamics.dynamics.body_motion import acceleration_at, inertial_wrench, slide, turn
from legged_dynamics.dynamics.kinematics import (
    ACCELERATION,
    ALPHA,
    FORCE,
    MOMENT,
    N_BODY_STATE,
    OMEGA,
    POSITION,
    ROTATION,
)
from legged_dynamics.model.tree import (
    COM,
    INERTIA,
    JOINT,
    MASS,
    P_TREE,
    PARENT,
    PRISMATIC,
    Q_START,
    R_TREE,
    REVOLUTE,
    SPHERICAL,
    V_START,
)
from legged_dynamics.spatial.algebra import (
    IDENTITY,
    ZERO,
    add,
    add_scaled,
    compose,
    cross,
    dot,
    rotate,
    rotate_back,
    rotation_of_quaternion,
    subtract,
    turn_about_z,
    z_axis,
)
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.table import get3, get6, get9
from legged_dynamics.spatial.trigonometry import sine_cosine

# Samples side by side. What is called a block here is a flat array of rows of LANES samples, a row
# for each quantity: places in it are known when it is compiled, or nothing is made a vector.
LANES = 16
BODY_BLOCK = N_BODY_STATE * LANES


@part
def lane3(block, row, k):
    """Read a vector of sample k."""
    return block[row * LANES + k], block[(row + 1) * LANES + k], block[(row + 2) * LANES + k]


@part
def lane9(block, row, k):
    """Read a rotation of sample k."""
    a, b, c = lane3(block, row, k), lane3(block, row + 3, k), lane3(block, row + 6, k)
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@part
def put_lane3(block, row, k, v):
    """Write a vector of sample k."""
    block[row * LANES + k] = v[0]
    block[(row + 1) * LANES + k] = v[1]
    block[(row + 2) * LANES + k] = v[2]


@part
def put_lane9(block, row, k, R):
    """Write a rotation of sample k."""
    put_lane3(block, row, k, (R[0], R[1], R[2]))
    put_lane3(block, row + 3, k, (R[3], R[4], R[5]))
    put_lane3(block, row + 6, k, (R[6], R[7], R[8]))


@part
def put_motion(block, k, R, p, w, alpha, a):
    """Write pose and motion of a body in sample k."""
    put_lane9(block, ROTATION, k, R)
    put_lane3(block, POSITION, k, p)
    put_lane3(block, OMEGA, k, w)
    put_lane3(block, ALPHA, k, alpha)
    put_lane3(block, ACCELERATION, k, a)


@part
def turn_lanes(R_tree, p_tree, parent, body, q, v, a):
    """Fill a body's pose and motion beyond a revolute joint."""
    for k in range(LANES):
        R, w, alpha = lane9(parent, ROTATION, k), lane3(parent, OMEGA, k), lane3(parent, ALPHA, k)
        offset, R = rotate(R, p_tree), compose(R, R_tree)
        acceleration = acceleration_at(w, alpha, lane3(parent, ACCELERATION, k), offset)
        w, alpha = turn(w, alpha, z_axis(R), v[k], a[k])
        sine, cosine = sine_cosine(q[k])
        put_motion(body, k, turn_about_z(R, sine, cosine), add(lane3(parent, POSITION, k), offset),
                   w, alpha, acceleration)


@part
def slide_lanes(R_tree, p_tree, parent, body, q, v, a):
    """Fill a body's pose and motion beyond a prismatic joint."""
    for k in range(LANES):
        R, w, alpha = lane9(parent, ROTATION, k), lane3(parent, OMEGA, k), lane3(parent, ALPHA, k)
        offset, R = rotate(R, p_tree), compose(R, R_tree)
        offset = add_scaled(offset, q[k], z_axis(R))
        acceleration = acceleration_at(w, alpha, lane3(parent, ACCELERATION, k), offset)
        put_motion(body, k, R, add(lane3(parent, POSITION, k), offset), w, alpha,
                   slide(w, acceleration, z_axis(R), v[k], a[k]))


@part
def roll_lanes(R_tree, p_tree, parent, body, q, v, a):
    """Fill a body's pose and motion beyond a spherical joint."""
    for k in range(LANES):
        R, w, alpha = lane9(parent, ROTATION, k), lane3(parent, OMEGA, k), lane3(parent, ALPHA, k)
        offset, R = rotate(R, p_tree), compose(R, R_tree)
        acceleration = acceleration_at(w, alpha, lane3(parent, ACCELERATION, k), offset)
        R = compose(R, rotation_of_quaternion(q[k], q[LANES + k], q[2 * LANES + k],
                                              q[3 * LANES + k]))
        w, alpha = turn(w, add(alpha, rotate(R, lane3(a, 0, k))), rotate(R, lane3(v, 0, k)),
                        1.0, 0.0)
        put_motion(body, k, R, add(lane3(parent, POSITION, k), offset), w, alpha, acceleration)


@part
def load_lanes(mass, com, inertia, body):
    """Fill the wrench a body takes to move as it does."""
    for k in range(LANES):
        force, moment = inertial_wrench(
            mass, com, inertia, lane9(body, ROTATION, k), lane3(body, OMEGA, k),
            lane3(body, ALPHA, k), lane3(body, ACCELERATION, k))
        put_lane3(body, FORCE, k, force)
        put_lane3(body, MOMENT, k, moment)


@part
def outwards(tree, q, v, a, base, lanes):
    """Fill motion and wrench of every body, from blocks of joint states and the base's motion."""
    topology, constants = tree.topology, tree.constants
    body = lanes[:BODY_BLOCK]
    for k in range(LANES):
        put_motion(body, k, IDENTITY, ZERO, lane3(base, 0, k), lane3(base, 3, k),
                   lane3(base, 6, k))
    for i in range(topology.shape[0]):
        body = lanes[i * BODY_BLOCK:(i + 1) * BODY_BLOCK]
        if i > 0:
            parent = lanes[topology[i, PARENT] * BODY_BLOCK:(topology[i, PARENT] + 1) * BODY_BLOCK]
            R_tree, p_tree = get9(constants, i, R_TREE), get3(constants, i, P_TREE)
            kind, q_i = topology[i, JOINT], q[LANES * topology[i, Q_START]:]
            v_i, a_i = v[LANES * topology[i, V_START]:], a[LANES * topology[i, V_START]:]
            if kind == REVOLUTE:
                turn_lanes(R_tree, p_tree, parent, body, q_i, v_i, a_i)
            elif kind == PRISMATIC:
                slide_lanes(R_tree, p_tree, parent, body, q_i, v_i, a_i)
            else:
                roll_lanes(R_tree, p_tree, parent, body, q_i, v_i, a_i)
        load_lanes(constants[i, MASS], get3(constants, i, COM), get6(constants, i, INERTIA), body)


@part
def gather(body, parent):
    """Add a body's wrench to its parent's."""
    for k in range(LANES):
        force = lane3(body, FORCE, k)
        arm = subtract(lane3(body, POSITION, k), lane3(parent, POSITION, k))
        moment = add(lane3(body, MOMENT, k), cross(arm, force))
        put_lane3(parent, FORCE, k, add(lane3(parent, FORCE, k), force))
        put_lane3(parent, MOMENT, k, add(lane3(parent, MOMENT, k), moment))


@part
def inwards(tree, lanes, tau):
    """Gather wrenches from the tips to the base and project them on the joints."""
    topology = tree.topology
    for i in range(topology.shape[0] - 1, 0, -1):
        body = lanes[i * BODY_BLOCK:(i + 1) * BODY_BLOCK]
        own = tau[LANES * topology[i, V_START]:]
        if topology[i, JOINT] == SPHERICAL:
            for k in range(LANES):
                put_lane3(own, 0, k, rotate_back(lane9(body, ROTATION, k),
                                                 lane3(body, MOMENT, k)))
        else:
            felt = FORCE if topology[i, JOINT] == PRISMATIC else MOMENT
            for k in range(LANES):
                own[k] = dot(z_axis(lane9(body, ROTATION, k)), lane3(body, felt, k))
        gather(body, lanes[topology[i, PARENT] * BODY_BLOCK:
                           (topology[i, PARENT] + 1) * BODY_BLOCK])
