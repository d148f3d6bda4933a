# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Ground forces of a robot on several feet, as one kernel: the constraint's KKT system.

Feet that stay where they are, ``J a + Jdot v = a_c``, and the equations of motion
``M a + h = B tau + Q_ext + J^T lambda`` give (checked against source 000's one-foot map)

    G = J M^-1 J^T,    lambda = l_0 + D tau,
    D = -G^-1 J M^-1 B,    l_0 = G^-1 (J M^-1 (h - Q_ext) - Jdot v + a_c).

With ``M = L^T D L`` and ``K = L^-T [-B, h - Q_ext, J^T]`` all products are one: ``Y^T D^-1 K``
for the last block Y of K holds ``-J M^-1 B``, ``J M^-1 (h - Q_ext)`` and G side by side.

Accelerations are *proper* ones (less gravity), so a foot at rest has ``a_c = -g`` and gravity
appears nowhere else, unless the base is fixed, when it is in h and in ``Jdot v`` as well.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.branch_elimination import eliminate_branches, substitute
from legged_dynamics.dynamics.composite_body import composite_inertias, fill_mass_matrix
from legged_dynamics.dynamics.contact_bias import contact_bias
from legged_dynamics.dynamics.external import relieve_bodies
from legged_dynamics.dynamics.jacobians import (
    N_INDEX,
    START,
    FeetTable,
    contact_jacobians,
    contact_map,
    contact_points,
)
from legged_dynamics.dynamics.kinematics import FORCE, forward_kinematics
from legged_dynamics.dynamics.newton_euler import add_joint_physics, joint_efforts
from legged_dynamics.dynamics.rigid_body import (
    N_RIGID_BODY,
    place_inertial_wrenches,
    place_inertias,
)
from legged_dynamics.model.tree import N_CONSTANTS, N_TOPOLOGY, Tree
from legged_dynamics.spatial.algebra import rotate_back, scale
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.table import get3, get9, put3

# A pivot of G below this fraction of its diagonal means that the contacts are redundant.
PIVOT_TOLERANCE = 1e-10
# What the kernel returns.
SOLVED, REDUNDANT, NOT_FINITE, NOT_POSITIVE = 0, 1, 2, 3

# The table of integers: a row of sizes, then a row a body and a row a foot, then three rows: the
# ends of branches, the rows of M that have a motor, and the ends of branches of G, of which it has
# none.
N_POSITIONS, N_BODIES, N_BASE, N_VELOCITIES, N_FEET, N_CONTACTS, N_COLUMNS = range(7)
N_SIZES = 7
# Rows of the table of floats that are vectors: joint positions; velocities; angular velocity of
# the base in base axes, R_WB, gravity and the ground's normal in world axes; and, not inputs, the
# base's motion, joint accelerations of zero, the contacts' acceleration, Jdot v.
Q, V, WORLD, BASE, STILL, TARGET, BIAS = range(7)
N_VECTORS, N_WORLD = 7, 18


class Scratch(NamedTuple):
    """
    Everything one call works on, as views of a table of integers and one of floats.

    Each is a block of rows, which costs next to nothing to cut out, and so has columns to spare.

    Attributes
    ----------
    tree : Tree
        Of the robot.
    feet : FeetTable
        Those in contact.
    ends : (n,) int array
        See :func:`~legged_dynamics.dynamics.branch_elimination.branch_ends`.
    actuated : (na,) int array
        Row of the mass matrix of each column of the map.
    no_branches : (nc,) int array
        The number nc.
    vectors : (N_VECTORS, .) array
        At the rows this module names.
    external : (nb, 6) array
        External wrenches in body axes: input.
    system : (nc, na + 1 + nc) array
        Result: D, l_0, and scratch. When redundant: right-hand sides, and G.
    states : (nf, N_FOOT_STATE) array
        Foot frames and contact points: result.
    bodies : (nb, N_RIGID_BODY) array
        At the columns of dynamics.kinematics and dynamics.rigid_body.
    K : (n, na + 1 + nc + n) array
        [-B, h - Q_ext, J^T, M], and what elimination makes of them.

    """

    tree: Tree
    feet: FeetTable
    ends: np.ndarray
    actuated: np.ndarray
    no_branches: np.ndarray
    vectors: np.ndarray
    external: np.ndarray
    system: np.ndarray
    states: np.ndarray
    bodies: np.ndarray
    K: np.ndarray


@lean_kernel
def unpack(integers, floats):
    """Cut the two tables into their parts: two arguments to the kernel and not twenty."""
    nb, nf, nc = integers[0, N_BODIES], integers[0, N_FEET], integers[0, N_CONTACTS]
    n = integers[0, N_BASE] + integers[0, N_VELOCITIES]
    feet = 1 + nb
    ends = feet + nf
    external = N_VECTORS
    constants = external + nb
    geometry = constants + nb
    system = geometry + nf
    states = system + nc
    bodies = states + nf
    K = bodies + nb
    return Scratch(Tree(integers[1:feet], floats[constants:geometry]),
                   FeetTable(integers[feet:ends], floats[geometry:system]),
                   integers[ends, :n], integers[ends + 1, :integers[0, N_COLUMNS]],
                   integers[ends + 2, :nc],
                   floats[:N_VECTORS], floats[external:constants], floats[system:states],
                   floats[states:bodies], floats[bodies:K], floats[K:K + n])


def allocate(sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the two tables that :func:`unpack` cuts up, zero but for the sizes."""
    nq, nb, n_base, nv, nf, nc, na = sizes
    n = n_base + nv
    integers = np.zeros((1 + nb + nf + 3, max(N_SIZES, N_TOPOLOGY, N_INDEX, n, na, nc)), np.int64)
    integers[0, :N_SIZES] = sizes
    integers[-1, :nc] = nc
    rows = N_VECTORS + 3 * nb + 2 * nf + nc + n
    return integers, np.zeros((rows, max(nq, N_WORLD, na + 1 + nc + n, N_RIGID_BODY,
                                         N_CONSTANTS)))


@lean_kernel
def set_contact_motion(feet, vectors, floating):
    """Write where up is for whom, and what acceleration a foot at rest has: that of -g."""
    R_WB = get9(vectors, WORLD, 3)
    up = rotate_back(R_WB, scale(-1.0, get3(vectors, WORLD, 12)))
    put3(vectors, BASE, 0, get3(vectors, WORLD, 0))
    put3(vectors, BASE, 6, (0.0, 0.0, 0.0) if floating else up)
    for i in range(feet.index.shape[0]):
        put3(vectors, TARGET, feet.index[i, START], up)


@lean_kernel
def equations_of_motion(tree, vectors, external, bodies, n_base, M, bias):
    """
    Fill M, and the column h - Q_ext of K.

    Parameters
    ----------
    tree : Tree
        Of the robot.
    vectors, external, bodies : arrays
        As in `Scratch`; ``bodies`` is filled.
    n_base : int
        Velocities of the base: 6 or 0.
    M : (n, n) array
        Mass matrix, filled.
    bias : (n,) array [N, N m]
        Filled.

    """
    q, v, still = vectors[Q], vectors[V], vectors[STILL]
    forward_kinematics(tree, q, v, still, vectors[BASE], bodies)
    place_inertias(tree, bodies)
    place_inertial_wrenches(bodies)
    relieve_bodies(external, bodies)
    joint_efforts(tree, bodies, bias[n_base:])
    add_joint_physics(tree, q, v, still, bias[n_base:])
    for k in range(n_base):
        bias[k] = bodies[0, FORCE + k]
    composite_inertias(tree, bodies)
    fill_mass_matrix(tree, bodies, n_base, M)


@lean_kernel
def gather_products(K, n_right, width, system):
    """
    Fill ``system = Y^T D^-1 [B, h, Y]`` from ``K = [B, h, Y, D L]``.

    Three rows of K at a time: a limb's, or the base's linear and angular ones.
    """
    system[:, :] = 0.0
    n = K.shape[0]
    for k in range(0, n - n % 3, 3):
        for i in range(system.shape[0]):
            c = n_right + i
            x, y, z = K[k, c], K[k + 1, c], K[k + 2, c]
            if x != 0.0 or y != 0.0 or z != 0.0:
                x *= K[k, width + k]
                y *= K[k + 1, width + k + 1]
                z *= K[k + 2, width + k + 2]
                for j in range(width):
                    system[i, j] += x * K[k, j] + y * K[k + 1, j] + z * K[k + 2, j]
    for k in range(n - n % 3, n):
        for i in range(system.shape[0]):
            x = K[k, n_right + i] * K[k, width + k]
            for j in range(width):
                system[i, j] += x * K[k, j]


@lean_kernel
def fill_system(K, n_right, width, vectors, system):
    """Fill ``system = [X, G]``, X being the right-hand sides of D and l_0."""
    gather_products(K, n_right, width, system)
    for i in range(system.shape[0]):
        system[i, n_right - 1] += vectors[TARGET, i] - vectors[BIAS, i]


@lean_kernel
def finite_input(vectors, nq, nv):
    """Return whether all inputs are finite but external wrenches, which are checked when taken."""
    for k in range(nq):
        if not math.isfinite(vectors[Q, k]):
            return False
    for k in range(nv):
        if not math.isfinite(vectors[V, k]):
            return False
    for k in range(N_WORLD):
        if not math.isfinite(vectors[WORLD, k]):
            return False
    return True


@lean_kernel
def contact_dynamics(integers, floats):
    """Fill ``system`` with [D, l_0]; when redundant, with what they are to be solved from."""
    s = unpack(integers, floats)
    tree, feet, vectors, states, bodies = s.tree, s.feet, s.vectors, s.states, s.bodies
    K, system = s.K, s.system
    n_base, nc, na = integers[0, N_BASE], integers[0, N_CONTACTS], integers[0, N_COLUMNS]
    n_right, width = na + 1, na + 1 + nc
    if not finite_input(vectors, integers[0, N_POSITIONS], integers[0, N_VELOCITIES]):
        return NOT_FINITE
    normal = rotate_back(get9(vectors, WORLD, 3), get3(vectors, WORLD, 15))
    set_contact_motion(feet, vectors, n_base == 6)
    K[:, :] = 0.0
    equations_of_motion(tree, vectors, s.external, bodies, n_base, K[:, width:], K[:, na])
    contact_points(feet, bodies, normal, states)
    contact_bias(feet, bodies, states, normal, vectors[BIAS])
    if n_base == 6:
        contact_map(feet, states, K[:6, n_right:])
    contact_jacobians(tree, feet, bodies, states, K[n_base:, n_right:].T)
    for c in range(na):
        K[s.actuated[c], c] = -1.0
    if not eliminate_branches(K, s.ends, width, 0.0):
        return NOT_POSITIVE
    fill_system(K, n_right, width, vectors, system)
    if not eliminate_branches(system, s.no_branches, n_right, PIVOT_TOLERANCE):
        fill_system(K, n_right, width, vectors, system)
        return REDUNDANT
    substitute(system, n_right)
    return SOLVED
