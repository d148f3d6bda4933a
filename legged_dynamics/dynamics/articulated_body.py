# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""Articulated-body algorithm: the accelerations that joint efforts cause, in O(n).

Source 000, algorithm 1 (Featherstone 2008, table 7.1), with two changes of form and none of
substance.

* Vectors have base axes and each body's own origin. ``X_i`` is then a shift along the arm from
  parent to child, and ``S_i`` a plain axis.
* The velocity-product terms ``c_i`` and gravity are summed outwards first, as the motion the
  bodies would have if no joint and no base accelerated. ``p_i`` is the wrench that *that* motion
  takes, less the external one. What is left to find are accelerations beyond it, and ``c_i``
  appears in neither later pass.

A joint of three degrees of freedom is one joint with a 3x3 ``d_i``, hence ball joints have no
gimbal lock.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.external import body_wrenches, relieve_bodies
from legged_dynamics.dynamics.kinematics import (ACCELERATION, ALPHA, FORCE, MOMENT,
                                                 N_BODY_STATE, POSITION, ROTATION,
                                                 forward_kinematics)
from legged_dynamics.dynamics.motion import BaseMotion
from legged_dynamics.dynamics.newton_euler import add_joint_physics, inertial_wrenches
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.tree import (ARMATURE, COM, INERTIA, JOINT, MASS, PARENT, PRISMATIC,
                                        SPHERICAL, V_START, Tree)
from legged_dynamics.spatial.algebra import (add, add_scaled, cross, dot, load3, load6, load9,
                                             rotate, rotate_back, scale, store3, store9, subtract,
                                             symmetric_times, z_axis)
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.symmetric import (about_origin, add6, add9, add_diagonal, add_outer,
                                               add_outer9, general_times_symmetric,
                                               inverse_symmetric, product_with_transpose,
                                               rotate_symmetric, scale6, scale9)
from legged_dynamics.spatial.table import get3, get6, get9, put3, put6, put9

# Columns of the (nb, N_ARTICULATED) workspace. The articulated inertia IA_i = [[M, G], [G^T, J]]
# maps linear and angular acceleration to force and moment; BIAS is pA_i, as force and moment;
# d_i^-1 as one number or a symmetric 3x3; u_i as one number or, in base axes, three.
M, G, J = 0, 6, 15
BIAS_FORCE, BIAS_MOMENT = 21, 24
D_INVERSE, U_EFFORT = 27, 33
N_ARTICULATED = 36


class Scratch(NamedTuple):
    """Arrays of one call, all parts of one flat memory: an argument of its own each costs 50 ns.

    Attributes
    ----------
    q, v, effort : (nq,), (nv,), (nv,) arrays
        State and motor efforts: inputs.
    base : (9,) array
        Angular velocity, angular and proper acceleration of the base. What a floating base
        accelerates at is not an input: zero.
    external : (nb, 6) array
        External wrenches in body axes: input.
    acceleration : (nv,) array
        Of the joints: result.
    base_acceleration : (6,) array
        Proper and angular acceleration of a floating base: result.
    base_wrench : (6,) array
        On a fixed base: result.
    bodies : (nb, N_BODY_STATE) array
    articulated : (nb, N_ARTICULATED) array
    physics : (nv,) array
        What the joints themselves take of the motors' efforts.
    """

    q: np.ndarray
    v: np.ndarray
    effort: np.ndarray
    base: np.ndarray
    external: np.ndarray
    acceleration: np.ndarray
    base_acceleration: np.ndarray
    base_wrench: np.ndarray
    bodies: np.ndarray
    articulated: np.ndarray
    physics: np.ndarray


def scratch_size(nb: int, nq: int, nv: int) -> int:
    """Return how many floats :func:`carve` needs."""
    return nq + 4 * nv + 9 + 6 + 6 + nb * (6 + N_BODY_STATE + N_ARTICULATED)


@kernel
def carve(memory, nb, nq, nv):
    """Divide a flat memory into the arrays of a :class:`Scratch`."""
    a = nq
    b = a + nv
    c = b + nv
    d = c + 9
    e = d + 6 * nb
    f = e + nv
    g = f + 6
    h = g + 6
    i = h + N_BODY_STATE * nb
    j = i + N_ARTICULATED * nb
    return Scratch(memory[:a], memory[a:b], memory[b:c], memory[c:d],
                   memory[d:e].reshape((nb, 6)), memory[e:f], memory[f:g], memory[g:h],
                   memory[h:i].reshape((nb, N_BODY_STATE)),
                   memory[i:j].reshape((nb, N_ARTICULATED)), memory[j:j + nv])


@kernel
def bias(tree, s):
    """Pass 1, outwards: pose and velocity of every body, ``I_i`` and ``p_i`` (lines 4-12).

    Accelerations start at zero, so that a body's are the sum of the ``c_i`` before it.
    """
    for i in range(s.v.shape[0]):
        s.acceleration[i] = s.physics[i] = 0.0
    forward_kinematics(tree, s.q, s.v, s.acceleration, s.base, s.bodies)
    inertial_wrenches(tree, s.bodies)
    relieve_bodies(s.external, s.bodies)
    add_joint_physics(tree, s.q, s.v, s.acceleration, s.physics)
    constants, bodies, articulated = tree.constants, s.bodies, s.articulated
    for i in range(bodies.shape[0]):
        R = get9(bodies, i, ROTATION)
        mass, com = constants[i, MASS], rotate(R, get3(constants, i, COM))
        x, y, z = scale(mass, com)
        put6(articulated, i, M, (mass, 0.0, 0.0, mass, 0.0, mass))
        put9(articulated, i, G, (0.0, z, -y, -z, 0.0, x, y, -x, 0.0))
        put6(articulated, i, J, about_origin(rotate_symmetric(R, get6(constants, i, INERTIA)), mass, com))
        put3(articulated, i, BIAS_FORCE, get3(bodies, i, FORCE))
        put3(articulated, i, BIAS_MOMENT, get3(bodies, i, MOMENT))


@kernel
def articulate(tree, s):
    """Pass 2, inwards: ``d_i, u_i, IA_i, pA_i`` (lines 13-22)."""
    topology, constants, bodies, articulated = tree.topology, tree.constants, s.bodies, s.articulated
    effort, physics = s.effort, s.physics
    for i in range(topology.shape[0] - 1, 0, -1):
        iv, kind, armature = topology[i, V_START], topology[i, JOINT], constants[i, ARMATURE]
        R = get9(bodies, i, ROTATION)
        force, moment = get3(articulated, i, BIAS_FORCE), get3(articulated, i, BIAS_MOMENT)
        m, g, j = get6(articulated, i, M), get9(articulated, i, G), get6(articulated, i, J)
        if kind == SPHERICAL:
            d_inverse = inverse_symmetric(add_diagonal(j, armature))
            net = rotate(R, subtract(load3(effort, iv), load3(physics, iv)))
            u = subtract(net, moment)
            put6(articulated, i, D_INVERSE, d_inverse)
            put3(articulated, i, U_EFFORT, u)
            # With U = [G; J] and d = J + armature, J - J d^-1 J is zero but for the armature.
            b_force = general_times_symmetric(g, d_inverse)
            qdd = symmetric_times(d_inverse, u)
            force, moment = add(force, rotate(g, qdd)), add_scaled(net, -armature, qdd)
            m = add6(m, scale6(-1.0, product_with_transpose(b_force, g)))
            g = scale9(armature, b_force)
            j = add_diagonal(scale6(-armature * armature, d_inverse), armature)
        else:
            axis = z_axis(R)
            if kind == PRISMATIC:
                U_force, U_moment = symmetric_times(m, axis), rotate_back(g, axis)
                d, felt = dot(axis, U_force) + armature, dot(axis, force)
            else:
                U_force, U_moment = rotate(g, axis), symmetric_times(j, axis)
                d, felt = dot(axis, U_moment) + armature, dot(axis, moment)
            u = effort[iv] - physics[iv] - felt
            per_d = 1.0 / d
            articulated[i, D_INVERSE], articulated[i, U_EFFORT] = per_d, u
            force = add_scaled(force, per_d * u, U_force)
            moment = add_scaled(moment, per_d * u, U_moment)
            m = add_outer(m, -per_d, U_force)
            g = add_outer9(g, -per_d, U_force, U_moment)
            j = add_outer(j, -per_d, U_moment)
        parent = topology[i, PARENT]
        arm = subtract(get3(bodies, i, POSITION), get3(bodies, parent, POSITION))
        add_to_parent(articulated, parent, arm, m, g, j, force, moment)


@kernel
def add_to_parent(articulated, i, r, m, g, j, force, moment):
    """Shift ``Ia_i`` and ``pa_i`` along -r to the parent's origin and add: ``X_i^T Ia_i X_i``."""
    # G' = G - M S(r) row by row, then J' = J - G^T S(r) + S(r) G'.
    row_0 = subtract((g[0], g[1], g[2]), cross((m[0], m[1], m[2]), r))
    row_1 = subtract((g[3], g[4], g[5]), cross((m[1], m[3], m[4]), r))
    row_2 = subtract((g[6], g[7], g[8]), cross((m[2], m[4], m[5]), r))
    x = cross(r, (g[0] + row_0[0], g[3] + row_1[0], g[6] + row_2[0]))
    y, old_y = cross(r, (row_0[1], row_1[1], row_2[1])), cross(r, (g[1], g[4], g[7]))
    z, old_x = cross(r, (row_0[2], row_1[2], row_2[2])), cross(r, (g[0], g[3], g[6]))
    old_z = cross(r, (g[2], g[5], g[8]))
    put6(articulated, i, J, add6(get6(articulated, i, J), (
        j[0] + x[0], j[1] + old_x[1] + y[0], j[2] + old_x[2] + z[0],
        j[3] + old_y[1] + y[1], j[4] + old_y[2] + z[1], j[5] + old_z[2] + z[2])))
    put6(articulated, i, M, add6(get6(articulated, i, M), m))
    put9(articulated, i, G, add9(get9(articulated, i, G), row_0 + row_1 + row_2))
    put3(articulated, i, BIAS_FORCE, add(get3(articulated, i, BIAS_FORCE), force))
    put3(articulated, i, BIAS_MOMENT, add(get3(articulated, i, BIAS_MOMENT), add(moment, cross(r, force))))


@kernel
def accelerate_base(own, result):
    """Solve ``IA_0 a_0 = -pA_0`` of a floating base, by blocks."""
    m, g, j = load6(own, M), load9(own, G), load6(own, J)
    force, moment = load3(own, BIAS_FORCE), load3(own, BIAS_MOMENT)
    m_inverse = inverse_symmetric(m)
    columns = (g[0], g[3], g[6], g[1], g[4], g[7], g[2], g[5], g[8])
    carried = general_times_symmetric(columns, m_inverse)
    schur = add6(j, scale6(-1.0, product_with_transpose(carried, columns)))
    alpha = symmetric_times(inverse_symmetric(schur), subtract(rotate(carried, force), moment))
    linear = scale(-1.0, symmetric_times(m_inverse, add(force, rotate(g, alpha))))
    store3(result, 0, linear)
    store3(result, 3, alpha)


@kernel
def accelerate(tree, s, floating):
    """Pass 3, outwards: ``a' = X a_parent``, ``qdd = d^-1 (u - U^T a')`` (lines 23-28).

    Workspace columns that held bias accelerations receive what comes on top of them.
    """
    topology, bodies, articulated, qdd = tree.topology, s.bodies, s.articulated, s.acceleration
    base = articulated[0]
    for k in range(6):
        s.base_acceleration[k] = s.base_wrench[k] = 0.0
    if floating:
        accelerate_base(base, s.base_acceleration)
    else:
        for k in range(6):
            s.base_wrench[k] = base[BIAS_FORCE + k]
    put3(bodies, 0, ACCELERATION, load3(s.base_acceleration, 0))
    put3(bodies, 0, ALPHA, load3(s.base_acceleration, 3))
    for i in range(1, topology.shape[0]):
        parent = topology[i, PARENT]
        kind, iv, R = topology[i, JOINT], topology[i, V_START], get9(bodies, i, ROTATION)
        alpha = get3(bodies, parent, ALPHA)
        arm = subtract(get3(bodies, i, POSITION), get3(bodies, parent, POSITION))
        a = add(get3(bodies, parent, ACCELERATION), cross(alpha, arm))
        force = add(symmetric_times(get6(articulated, i, M), a), rotate(get9(articulated, i, G), alpha))
        moment = add(rotate_back(get9(articulated, i, G), a), symmetric_times(get6(articulated, i, J), alpha))
        if kind == SPHERICAL:
            relative = symmetric_times(get6(articulated, i, D_INVERSE),
                                       subtract(get3(articulated, i, U_EFFORT), moment))
            alpha = add(alpha, relative)
            store3(qdd, iv, rotate_back(R, relative))
        elif kind == PRISMATIC:
            rate = articulated[i, D_INVERSE] * (articulated[i, U_EFFORT] - dot(z_axis(R), force))
            a = add_scaled(a, rate, z_axis(R))
            qdd[iv] = rate
        else:
            rate = articulated[i, D_INVERSE] * (articulated[i, U_EFFORT] - dot(z_axis(R), moment))
            alpha = add_scaled(alpha, rate, z_axis(R))
            qdd[iv] = rate
        put3(bodies, i, ACCELERATION, a)
        put3(bodies, i, ALPHA, alpha)


@kernel
def articulated_body(topology, constants, memory, nq, nv, floating):
    """Forward dynamics as one kernel; False when an input in the memory is not finite."""
    tree = Tree(topology, constants)
    s = carve(memory, topology.shape[0], nq, nv)
    for k in range(nq + 2 * nv + 9):
        if not math.isfinite(memory[k]):
            return False
    bias(tree, s)
    articulate(tree, s)
    accelerate(tree, s, floating)
    return True
