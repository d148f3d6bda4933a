# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Foot force of a robot that stands on one foot, from one articulated-body sweep (source 000).

The ground is the fixed base F0 and the foot is the first joint. With ``b_i = IA_i S_i / d_i`` and
``A_i = 1 - b_i S_i^T``, the wrench that the ground exerts through that joint is

    [f_1]_0 = k_0 + sum_i Phi_{i-1} X_i^T b_i tau_i,    Phi_i = Phi_{i-1} X_i^T A_i,  Phi_0 = 1

(equation 10), along a chain or a tree. ``k_0`` is what pass 2 leaves at the ground when no listed
torque acts: gravity, motion, external forces and the joints' own friction are in it. Each factor
``A_i`` takes one column off Phi, so the whole map costs O(n).
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.articulated_body import (
    BIAS_FORCE,
    D_INVERSE,
    U_FORCE,
    U_MOMENT,
    G,
    J,
    articulate,
    bias,
    carve,
)
from legged_dynamics.dynamics.composite_body import joint_axis
from legged_dynamics.dynamics.kinematics import POSITION, ROTATION
from legged_dynamics.model.tree import JOINT, PARENT, PRISMATIC, SPHERICAL, V_START, Tree
from legged_dynamics.spatial.algebra import (
    add,
    add_scaled,
    cross,
    dot,
    rotate_back,
    subtract,
    symmetric_times,
)
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.table import get3, get6, get9, put3


@lean_kernel
def propagate_map(tree, bodies, phi, D):
    """
    Pass 3, outwards: a column of D for each joint velocity; Phi of each body along the way.

    ``phi`` is (nb, 36): row k of a body's Phi, at 6 k, weighs the force and moment on it.
    """
    topology = tree.topology
    for k in range(36):
        phi[0, k] = 1.0 if k % 7 == 0 else 0.0
    for i in range(1, topology.shape[0]):
        parent, kind, iv = topology[i, PARENT], topology[i, JOINT], topology[i, V_START]
        arm = subtract(get3(bodies, i, POSITION), get3(bodies, parent, POSITION))
        for k in range(6):
            on_moment = get3(phi, parent, 6 * k + 3)
            on_force = add(get3(phi, parent, 6 * k), cross(on_moment, arm))
            if kind == SPHERICAL:
                # b_i = [G; J] d^-1 in base axes, where S_i is the identity on rotation.
                U = add(rotate_back(get9(bodies, i, G), on_force),
                        symmetric_times(get6(bodies, i, J), on_moment))
                column = symmetric_times(get6(bodies, i, D_INVERSE), U)
                put3(D, k, iv, rotate_back(get9(bodies, i, ROTATION), column))
                on_moment = subtract(on_moment, column)
            else:
                U = dot(on_force, get3(bodies, i, U_FORCE))
                U += dot(on_moment, get3(bodies, i, U_MOMENT))
                D[k, iv] = U * bodies[i, D_INVERSE]
                axis = joint_axis(bodies, i, kind, 0)
                if kind == PRISMATIC:
                    on_force = add_scaled(on_force, -D[k, iv], axis)
                else:
                    on_moment = add_scaled(on_moment, -D[k, iv], axis)
            put3(phi, i, 6 * k, on_force)
            put3(phi, i, 6 * k + 3, on_moment)


@lean_kernel
def foot_chain(topology, constants, memory, nq, nv, start):
    """
    Fill D and k_0 behind the articulated body's memory; False when an input is not finite.

    From ``start`` on: (6, nv) D, rows force then moment about the ground's origin; (6,) k_0;
    (nb, 36) scratch.

    Parameters
    ----------
    topology, constants : arrays
        Of the Tree.
    memory, nq, nv : array, int
        As :func:`~legged_dynamics.dynamics.articulated_body.carve` takes them; inputs in place.
    start : int
        Length of that part of the memory.

    """
    tree, nb = Tree(topology, constants), topology.shape[0]
    s = carve(memory, nb, nq, nv)
    for k in range(nq + 2 * nv + 9):
        if not math.isfinite(memory[k]):
            return False
    D = memory[start:start + 6 * nv].reshape((6, nv))
    end = start + 6 * nv + 6
    bias(tree, s)
    for k in range(6):
        s.bodies[0, BIAS_FORCE + k] = 0.0       # what the ground itself weighs is not asked
    articulate(tree, s)
    for k in range(6):
        memory[end - 6 + k] = s.bodies[0, BIAS_FORCE + k]
    propagate_map(tree, s.bodies, memory[end:end + 36 * nb].reshape((nb, 36)), D)
    return True
