# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Composite-body algorithm: the joint-space mass matrix of any tree (Featherstone 2008, 6.2).

Composite inertias are kept about each body's own origin but in base axes, so that passing one to
the parent is a shift along the arm between them and no rotation. Entry (i, j) of the matrix is
what joint j feels while joint i alone accelerates the bodies beyond it.
"""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.dynamics.kinematics import POSITION, ROTATION, body_workspace
from legged_dynamics.dynamics.motion import state_vector
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.tree import (ARMATURE, COM, INERTIA, JOINT, MASS, P_TREE, PARENT,
                                        PRISMATIC, Q_START, R_TREE, REVOLUTE, SPHERICAL, V_START,
                                        Tree)
from legged_dynamics.spatial.algebra import (IDENTITY, ZERO, add, add_scaled, compose, cross, dot,
                                             load3, load6, load9, rotate, rotation_of_quaternion,
                                             scale, store3, store9, subtract, symmetric_times,
                                             turn_about_z, z_axis)
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.symmetric import (about_origin, add6, add_diagonal,
                                               add_mixed_outer, rotate_symmetric, store6)

# Columns of the (nb, N_COMPOSITE) workspace: mass, mass times centre of mass, inertia about the
# body's origin.
TOTAL, FIRST_MOMENT, SECOND_MOMENT = 0, 1, 4
N_COMPOSITE = 10


@kernel
def place_bodies(tree, q, bodies):
    """Pass 1: fill pose of every body in base axes, and nothing of its motion."""
    topology, constants = tree.topology, tree.constants
    store9(bodies[0], ROTATION, IDENTITY)
    store3(bodies[0], POSITION, ZERO)
    for i in range(1, topology.shape[0]):
        body, parent, constant = bodies[i], bodies[topology[i, PARENT]], constants[i]
        kind, iq = topology[i, JOINT], topology[i, Q_START]
        R_parent = load9(parent, ROTATION)
        offset = rotate(R_parent, load3(constant, P_TREE))
        R = compose(R_parent, load9(constant, R_TREE))
        if kind == REVOLUTE:
            R = turn_about_z(R, math.sin(q[iq]), math.cos(q[iq]))
        elif kind == PRISMATIC:
            offset = add_scaled(offset, q[iq], z_axis(R))
        else:
            R = compose(R, rotation_of_quaternion(q[iq], q[iq + 1], q[iq + 2], q[iq + 3]))
        store9(body, ROTATION, R)
        store3(body, POSITION, add(load3(parent, POSITION), offset))


@kernel
def composite_inertias(tree, bodies, composite):
    """Pass 2: gather inertias from the tips to the base."""
    topology, constants = tree.topology, tree.constants
    for i in range(topology.shape[0]):
        constant, R = constants[i], load9(bodies[i], ROTATION)
        mass, com = constant[MASS], rotate(R, load3(constant, COM))
        composite[i, TOTAL] = mass
        store3(composite[i], FIRST_MOMENT, scale(mass, com))
        turned = rotate_symmetric(R, load6(constant, INERTIA))
        store6(composite[i], SECOND_MOMENT, about_origin(turned, mass, com))
    for i in range(topology.shape[0] - 1, 0, -1):
        own, parent = composite[i], composite[topology[i, PARENT]]
        r = subtract(load3(bodies[i], POSITION), load3(bodies[topology[i, PARENT]], POSITION))
        mass, h = own[TOTAL], load3(own, FIRST_MOMENT)
        # About the parent's origin I grows by 2 (r.k) 1 - r k^T - k r^T, with k = h + m r / 2.
        k = add_scaled(h, 0.5 * mass, r)
        moved = add_diagonal(load6(own, SECOND_MOMENT), 2.0 * dot(r, k))
        moved = add_mixed_outer(moved, -1.0, r, k)
        parent[TOTAL] += mass
        store3(parent, FIRST_MOMENT, add(load3(parent, FIRST_MOMENT), add_scaled(h, mass, r)))
        store6(parent, SECOND_MOMENT, add6(load6(parent, SECOND_MOMENT), moved))


@kernel
def joint_axis(R, kind, k):
    """Return the k-th axis of a joint in base axes, given its body's rotation."""
    if kind == SPHERICAL:
        return R[k], R[3 + k], R[6 + k]
    return z_axis(R)


@kernel
def fill_mass_matrix(tree, bodies, composite, n_base, M):
    """Pass 3: fill M, in which only entries between a joint and its ancestors are written."""
    topology, constants = tree.topology, tree.constants
    for i in range(1, topology.shape[0]):
        R, kind, iv = load9(bodies[i], ROTATION), topology[i, JOINT], topology[i, V_START]
        mass, h = composite[i, TOTAL], load3(composite[i], FIRST_MOMENT)
        inertia = load6(composite[i], SECOND_MOMENT)
        for k in range(3 if kind == SPHERICAL else 1):
            axis, row = joint_axis(R, kind, k), n_base + iv + k
            # What it takes to accelerate all bodies beyond by one unit about or along the axis.
            if kind == PRISMATIC:
                force, moment = scale(mass, axis), cross(h, axis)
                M[row, row] = mass + constants[i, ARMATURE]
            else:
                force, moment = cross(axis, h), symmetric_times(inertia, axis)
                for j in range(k):
                    M[row, n_base + iv + j] = dot(joint_axis(R, kind, j), moment)
                    M[n_base + iv + j, row] = M[row, n_base + iv + j]
                M[row, row] = dot(axis, moment) + constants[i, ARMATURE]
            b, parent = i, topology[i, PARENT]
            while b > 0:
                arm = subtract(load3(bodies[b], POSITION), load3(bodies[parent], POSITION))
                moment = add(moment, cross(arm, force))
                b, parent = parent, topology[parent, PARENT]
                if b > 0:
                    R_b, kind_b = load9(bodies[b], ROTATION), topology[b, JOINT]
                    for j in range(3 if kind_b == SPHERICAL else 1):
                        felt = force if kind_b == PRISMATIC else moment
                        column = n_base + topology[b, V_START] + j
                        M[row, column] = dot(joint_axis(R_b, kind_b, j), felt)
                        M[column, row] = M[row, column]
            if n_base == 6:
                for j in range(3):
                    M[row, j] = M[j, row] = force[j]
                    M[row, 3 + j] = M[3 + j, row] = moment[j]
    if n_base == 6:
        fill_base_block(composite[0], M)


@kernel
def fill_base_block(whole, M):
    """Fill the 6x6 block of a floating base from the composite inertia of the whole robot."""
    x, y, z = load3(whole, FIRST_MOMENT)
    xx, xy, xz, yy, yz, zz = load6(whole, SECOND_MOMENT)
    M[0, 0] = M[1, 1] = M[2, 2] = whole[TOTAL]
    M[0, 4] = M[4, 0] = z
    M[1, 3] = M[3, 1] = -z
    M[0, 5] = M[5, 0] = -y
    M[2, 3] = M[3, 2] = y
    M[1, 5] = M[5, 1] = x
    M[2, 4] = M[4, 2] = -x
    M[3, 3], M[4, 4], M[5, 5] = xx, yy, zz
    M[3, 4] = M[4, 3] = xy
    M[3, 5] = M[5, 3] = xz
    M[4, 5] = M[5, 4] = yz


@kernel
def crba(topology, constants, q, bodies, composite, n_base, M):
    tree = Tree(topology, constants)
    place_bodies(tree, q, bodies)
    composite_inertias(tree, bodies, composite)
    fill_mass_matrix(tree, bodies, composite, n_base, M)
    s = 0.0
    for i in range(q.shape[0]):
        s += q[i] * 0.0
    return s == 0.0
