# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Ground forces of a robot on several feet, as one kernel: the constraint's KKT system.

Feet that stay where they are, ``J a + Jdot v = a_c``, and the equations of motion
``M a + h = B tau + Q_ext + J^T lambda`` give (checked against source 000's one-foot map)

    G = J M^-1 J^T,    lambda = l_0 + D tau,
    D = -G^-1 J M^-1 B,    l_0 = G^-1 (J M^-1 (h - Q_ext) - Jdot v + a_c).

With ``M = L^T D L`` and ``K = L^-T [B, h - Q_ext, J^T]`` all products are one: ``Y^T D^-1 K``
for the last block Y of K holds ``J M^-1 B``, ``J M^-1 (h - Q_ext)`` and G side by side.

Accelerations are *proper* ones (less gravity), so a foot at rest has ``a_c = -g`` and gravity
appears nowhere else, unless the base is fixed, when it is in h and in ``Jdot v`` as well.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.branch_elimination import eliminate_branches
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
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.table import get3, get9, put3

# A pivot of G below this fraction of its diagonal means that the contacts are redundant.
PIVOT_TOLERANCE = 1e-10
# What the kernel returns.
SOLVED, REDUNDANT, NOT_FINITE, NOT_POSITIVE = 0, 1, 2, 3

# The table of integers: a row of sizes, then a row a body and a row a foot, then two rows, for the
# ends of branches and for the rows of M that have a motor.
N_BODIES, N_BASE, N_VELOCITIES, N_FEET, N_CONTACTS, N_COLUMNS = range(6)
N_SIZES = 6
# Rows of the table of floats that are vectors: joint positions; velocities; angular velocity of
# the base in base axes, R_WB, gravity and the ground's normal in world axes; and, not inputs, the
# base's motion, joint accelerations of zero, the contacts' acceleration, Jdot v, diagonal of G.
Q, V, WORLD, BASE, STILL, TARGET, BIAS, DIAGONAL = range(8)
N_VECTORS = 8


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
        [B, h - Q_ext, J^T, M], and what elimination makes of them.

    """

    tree: Tree
    feet: FeetTable
    ends: np.ndarray
    actuated: np.ndarray
    vectors: np.ndarray
    external: np.ndarray
    system: np.ndarray
    states: np.ndarray
    bodies: np.ndarray
    K: np.ndarray


@kernel
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
                   floats[:N_VECTORS], floats[external:constants], floats[system:states],
                   floats[states:bodies], floats[bodies:K], floats[K:K + n])


def allocate(nq: int, sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the two tables that :func:`unpack` cuts up, zero but for the sizes."""
    nb, n_base, nv, nf, nc, na = sizes
    n = n_base + nv
    integers = np.zeros((1 + nb + nf + 2, max(N_SIZES, N_TOPOLOGY, N_INDEX, n, na)), np.int64)
    integers[0, :N_SIZES] = sizes
    rows = N_VECTORS + 3 * nb + 2 * nf + nc + n
    return integers, np.zeros((rows, max(nq, 18, na + 1 + nc + n, N_RIGID_BODY, N_CONSTANTS)))


@kernel
def set_contact_motion(feet, vectors, floating):
    """Write where up is for whom, and what acceleration a foot at rest has: that of -g."""
    R_WB = get9(vectors, WORLD, 3)
    up = rotate_back(R_WB, scale(-1.0, get3(vectors, WORLD, 12)))
    put3(vectors, BASE, 0, get3(vectors, WORLD, 0))
    put3(vectors, BASE, 6, (0.0, 0.0, 0.0) if floating else up)
    for i in range(feet.index.shape[0]):
        put3(vectors, TARGET, feet.index[i, START], up)


@kernel
def equations_of_motion(tree, vectors, external, bodies, n_base, M, bias):
    """Fill M, and the column h - Q_ext of K."""
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


@kernel
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


@kernel
def solve_system(system, n_right, pivots):
    """
    Replace X in ``system = [X, G]`` by ``G^-1 X``, by elimination, three rows at a time.

    ``pivots`` holds the diagonal of G, and then reciprocals of the pivots.

    Returns
    -------
    bool
        False when a pivot is next to nothing: G is singular, and the system unusable.

    """
    nc, width = system.shape[0], n_right + system.shape[0]
    for k in range(nc):
        for i in range(0, k - 2, 3):
            c = n_right + i
            x = system[k, c] * pivots[i]
            y = (system[k, c + 1] - x * system[i, c + 1]) * pivots[i + 1]
            z = (system[k, c + 2] - x * system[i, c + 2]
                 - y * system[i + 1, c + 2]) * pivots[i + 2]
            for j in range(width):
                system[k, j] -= x * system[i, j] + y * system[i + 1, j] + z * system[i + 2, j]
        for i in range(k - k % 3, k):
            x = system[k, n_right + i] * pivots[i]
            for j in range(width):
                system[k, j] -= x * system[i, j]
        if not system[k, n_right + k] > PIVOT_TOLERANCE * pivots[k]:
            return False
        pivots[k] = 1.0 / system[k, n_right + k]
    for k in range(nc - 1, -1, -1):
        rest = nc - 1 - k
        for i in range(k + 1, nc - rest % 3, 3):
            c = n_right + i
            x, y, z = system[k, c], system[k, c + 1], system[k, c + 2]
            for j in range(n_right):
                system[k, j] -= x * system[i, j] + y * system[i + 1, j] + z * system[i + 2, j]
        for i in range(nc - rest % 3, nc):
            x = system[k, n_right + i]
            for j in range(n_right):
                system[k, j] -= x * system[i, j]
        for j in range(n_right):
            system[k, j] *= pivots[k]
    return True


@kernel
def fill_system(K, n_right, width, vectors, system):
    """Fill ``system = [X, G]``, X being the right-hand sides of D and l_0."""
    gather_products(K, n_right, width, system)
    last = n_right - 1
    for i in range(system.shape[0]):
        for j in range(last):
            system[i, j] *= -1.0
        system[i, last] += vectors[TARGET, i] - vectors[BIAS, i]
        vectors[DIAGONAL, i] = system[i, n_right + i]


@kernel
def finite(table, start, stop, columns):
    """Return whether the first columns of some rows are all finite."""
    for i in range(start, stop):
        for k in range(columns):
            if not math.isfinite(table[i, k]):
                return False
    return True


@kernel
def contact_dynamics(integers, floats):
    """Fill ``system`` with [D, l_0]; when redundant, with what they are to be solved from."""
    s = unpack(integers, floats)
    tree, feet, vectors, states, bodies = s.tree, s.feet, s.vectors, s.states, s.bodies
    K, system = s.K, s.system
    n_base, nc, na = integers[0, N_BASE], integers[0, N_CONTACTS], integers[0, N_COLUMNS]
    n_right, width = na + 1, na + 1 + nc
    if not (finite(vectors, Q, WORLD + 1, vectors.shape[1])
            and finite(s.external, 0, s.external.shape[0], 6)):
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
        K[s.actuated[c], c] = 1.0
    if not eliminate_branches(K, s.ends, width):
        return NOT_POSITIVE
    fill_system(K, n_right, width, vectors, system)
    if not solve_system(system, n_right, vectors[DIAGONAL]):
        fill_system(K, n_right, width, vectors, system)
        return REDUNDANT
    return SOLVED
