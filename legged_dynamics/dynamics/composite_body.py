# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Composite-body algorithm: the joint-space mass matrix of any tree (Featherstone 2008, 6.2).

Composite inertias are kept about each body's own origin but in base axes, so that passing one to
the parent is a shift along the arm between them and no rotation. Entry (i, j) of the matrix is
what joint j feels while joint i alone accelerates the bodies beyond it.
"""
from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from legged_dynamics.dynamics.kinematics import (
    FIRST_MOMENT,
    MASS,
    N_RIGID_BODY,
    POSITION,
    ROTATION,
    SECOND_MOMENT,
    joint_frame,
    place_inertias,
)
from legged_dynamics.dynamics.motion import fill, input_views, state_vector
from legged_dynamics.model.parts import (
    ARMATURE,
    JOINT,
    PARENT,
    PRISMATIC,
    SPHERICAL,
    V_START,
    Tree,
)
from legged_dynamics.model.robot_model import VELOCITY_SIZE, RobotModel
from legged_dynamics.spatial.algebra import (
    IDENTITY,
    ZERO,
    add,
    add_scaled,
    cross,
    dot,
    scale,
    subtract,
    symmetric_times,
)
from legged_dynamics.spatial.jit import as_python, lean_kernel
from legged_dynamics.spatial.layout import get3, get6, length_of, matrix, put3, put6, put9, vector
from legged_dynamics.spatial.symmetric import add6, add_diagonal, add_mixed_outer


@lean_kernel
def _place_bodies(tree, q, bodies):
    """Pass 1, outwards: fill the pose of every body in base axes, and nothing of its motion."""
    put9(bodies, 0, ROTATION, IDENTITY)
    put3(bodies, 0, POSITION, ZERO)
    for i in range(1, tree.topology.shape[0]):
        R, offset = joint_frame(tree, q, bodies, i)
        put9(bodies, i, ROTATION, R)
        origin = get3(bodies, tree.topology[i, PARENT], POSITION)
        put3(bodies, i, POSITION, add(origin, offset))


@lean_kernel
def composite_inertias(tree, bodies):
    """Run pass 2, inward: accumulate ``bodies``' inertias over subtrees in place."""
    topology = tree.topology
    for i in range(topology.shape[0] - 1, 0, -1):
        parent = topology[i, PARENT]
        r = subtract(get3(bodies, i, POSITION), get3(bodies, parent, POSITION))
        mass, h = bodies[i, MASS], get3(bodies, i, FIRST_MOMENT)
        # About the parent's origin I grows by 2 (r.k) 1 - r k^T - k r^T, with k = h + m r / 2.
        k = add_scaled(h, 0.5 * mass, r)
        moved = add_diagonal(get6(bodies, i, SECOND_MOMENT), 2.0 * dot(r, k))
        moved = add_mixed_outer(moved, -1.0, r, k)
        bodies[parent, MASS] += mass
        put3(bodies, parent, FIRST_MOMENT,
             add(get3(bodies, parent, FIRST_MOMENT), add_scaled(h, mass, r)))
        put6(bodies, parent, SECOND_MOMENT, add6(get6(bodies, parent, SECOND_MOMENT), moved))


@lean_kernel
def joint_axis(bodies, i, kind, k):
    """Return the k-th axis of body i's joint, base axes (k = 0 unless spherical)."""
    c = k if kind == SPHERICAL else 2
    return bodies[i, ROTATION + c], bodies[i, ROTATION + 3 + c], bodies[i, ROTATION + 6 + c]


@lean_kernel
def fill_mass_matrix(tree, bodies, n_base, mass_matrix):
    """
    Run pass 3: fill the joint rows of the mass matrix from composite inertias.

    Columns: the joint's ancestors and the base, whose ``n_base`` (6 or 0) rows come first.
    """
    topology, M = tree.topology, mass_matrix
    for i in range(1, topology.shape[0]):
        kind, start = topology[i, JOINT], n_base + topology[i, V_START]
        mass, h = bodies[i, MASS], get3(bodies, i, FIRST_MOMENT)
        for k in range(3 if kind == SPHERICAL else 1):
            axis, row = joint_axis(bodies, i, kind, k), start + k
            # Wrench that accelerates all bodies beyond by one unit about or along the axis.
            if kind == PRISMATIC:
                force, moment = scale(mass, axis), cross(h, axis)
            else:
                force = cross(axis, h)
                moment = symmetric_times(get6(bodies, i, SECOND_MOMENT), axis)
            felt = dot(axis, force) if kind == PRISMATIC else dot(axis, moment)
            M[row, row] = felt + tree.constants[i, ARMATURE]
            for j in range(k):
                felt = dot(joint_axis(bodies, i, kind, j), moment)
                M[row, start + j] = M[start + j, row] = felt
            b, parent = i, topology[i, PARENT]
            while True:
                arm = subtract(get3(bodies, b, POSITION), get3(bodies, parent, POSITION))
                moment = add(moment, cross(arm, force))
                if parent == 0:
                    break
                b, parent = parent, topology[parent, PARENT]
                kind_b, column = topology[b, JOINT], n_base + topology[b, V_START]
                for j in range(3 if kind_b == SPHERICAL else 1):
                    axis_b = joint_axis(bodies, b, kind_b, j)
                    felt = dot(axis_b, force) if kind_b == PRISMATIC else dot(axis_b, moment)
                    M[row, column + j] = M[column + j, row] = felt
            if n_base == 6:
                for j in range(3):
                    M[row, j] = M[j, row] = force[j]
                    M[row, 3 + j] = M[3 + j, row] = moment[j]
    if n_base == 6:
        _fill_base_block(bodies, M)


@lean_kernel
def _fill_base_block(bodies, M):
    """Fill the 6x6 block of a floating base from the composite inertia of the whole robot."""
    x, y, z = get3(bodies, 0, FIRST_MOMENT)
    xx, xy, xz, yy, yz, zz = get6(bodies, 0, SECOND_MOMENT)
    M[0, 0] = M[1, 1] = M[2, 2] = bodies[0, MASS]
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


@lean_kernel
def _composite_body(topology, constants, memory, nq, n_base, nv):
    """Compute the mass matrix in one kernel; return False for a non-finite position."""
    tree = Tree(topology, constants)
    q, bodies, M, _ = _carve(memory, topology.shape[0], nq, n_base + nv)
    for k in range(nq):
        if not math.isfinite(q[k]):
            return False
    _place_bodies(tree, q, bodies)
    place_inertias(tree, bodies)
    composite_inertias(tree, bodies)
    fill_mass_matrix(tree, bodies, n_base, M)
    return True


@lean_kernel
def _carve(memory, nb, nq, n):
    """Cut positions (nq,), body table and mass matrix (n, n) out of a memory; and its length."""
    q, at = vector(memory, 0, nq)
    bodies, at = matrix(memory, at, nb, N_RIGID_BODY)
    M, end = matrix(memory, at, n, n)
    return q, bodies, M, end


class CompositeBody:
    """
    Mass matrices of one robot, computed in memory of its own.

    Parameters
    ----------
    model : RobotModel
        The robot; later changes of its inertias are not seen.

    """

    def __init__(self, model: RobotModel):
        self.model = model
        n_base = 6 if model.floating else 0
        sizes = model.n_bodies, model.nq, n_base + model.nv
        memory = np.zeros(length_of(_carve, *sizes))
        q, _, M, _ = as_python(_carve)(memory, *sizes)
        self._q, = input_views(q)
        self._mass_matrix = M.view()
        self._mass_matrix.setflags(write=False)
        # Writable copies: a read-only array costs 35 ns more to hand to a kernel.
        self._arguments = (model.tree.topology.copy(), model.tree.constants.copy(), memory,
                           model.nq, n_base, model.nv)

    def mass_matrix(self, position: np.ndarray) -> np.ndarray:
        """
        Return the mass matrix in the given pose.

        Parameters
        ----------
        position : (nq,) array [rad or m]
            Joint positions in the model's order.

        Returns
        -------
        (n, n) array [kg, kg m, kg m^2]
            Symmetric, rotor inertias included. With a floating base n = 6 + nv and the first
            rows are the base's, linear then angular, in base axes at the base's origin; with a
            fixed one n = nv. Read-only; the next call overwrites it.

        Raises
        ------
        MeasurementError
            When the positions do not fit the model or are not finite.

        """
        return self._run(_composite_body, position)

    def _run(self, kernel: Callable[..., bool], position: np.ndarray) -> np.ndarray:
        try:
            self._q[:] = position       # type: ignore[call-overload]
        except (TypeError, ValueError):
            fill(self._q, position, 'joint positions')
        if not kernel(*self._arguments):
            state_vector(position, self.model.nq, 'joint positions')
        return self._mass_matrix


def mass_matrix(model: RobotModel, position: np.ndarray) -> np.ndarray:
    """
    Return the mass matrix of a robot, once; see :meth:`CompositeBody.mass_matrix`.

    Parameters
    ----------
    model : RobotModel
        The robot.
    position : (nq,) array [rad or m]
        Joint positions in the model's order.

    Returns
    -------
    (n, n) array [kg, kg m, kg m^2]
        As the method returns it, to keep.

    Raises
    ------
    MeasurementError
        When the positions do not fit the model or are not finite.

    """
    # A call too rare to compile.
    return CompositeBody(model)._run(as_python(_composite_body), position).copy()


# -------------------------------------------------------------------------------------------------
# Elimination with a mass matrix that keeps a tree's zeros (Featherstone 2008, section 6.5).
#
# Two joints of different branches have no entry in M. Eliminated from the last joint to the
# first, each row requires only the rows of the joints beyond it, which directly follow it:
# ``M = L^T D L`` with L as sparse as M. Columns X in front of M become ``L^-T X`` on the way.


def branch_ends(model: RobotModel) -> np.ndarray:
    """Return ``ends`` (n,): rows ``i + 1`` to ``ends[i] - 1`` are beyond row i of M."""
    topology = model.tree.topology
    sizes = [6 if model.floating else 0,
             *(VELOCITY_SIZE[kind] for kind in topology[1:, JOINT].tolist())]
    ends = np.cumsum(sizes)
    for body in range(model.n_bodies - 1, 0, -1):
        parent = topology[body, PARENT]
        ends[parent] = max(ends[parent], ends[body])
    return np.repeat(ends, sizes)


def branches_of(model: RobotModel) -> np.ndarray:
    """
    Return for each joint the first joint of its branch of the base, and the first behind it.

    As rows, (nv, 2); for joints of one degree of freedom.
    """
    parents = model.tree.topology[1:, PARENT]
    starts = np.flatnonzero(parents == 0)
    which = np.searchsorted(starts, np.arange(model.nv), side='right') - 1
    return np.column_stack([starts[which], np.append(starts[1:], model.nv)[which]])


@lean_kernel
def eliminate_branches(rows, ends, width, tolerance):
    """
    Replace ``rows = [X, M]`` by ``[L^-T X, D L]``; return False for a too small pivot.

    M (lower triangle) follows ``width`` columns of X; the diagonal of D L holds
    reciprocals. ``tolerance``: least pivot relative to its diagonal element.
    """
    for j in range(ends.shape[0] - 1, -1, -1):
        column, i = width + j, j + 1
        least = tolerance * rows[j, column]
        while i + 2 < ends[j]:      # three at a time: a loop costs more than what it does
            x = rows[i, column] * rows[i, width + i]
            y = rows[i + 1, column] * rows[i + 1, width + i + 1]
            z = rows[i + 2, column] * rows[i + 2, width + i + 2]
            for c in range(column + 1):
                rows[j, c] -= x * rows[i, c] + y * rows[i + 1, c] + z * rows[i + 2, c]
            i += 3
        while i < ends[j]:
            x = rows[i, column] * rows[i, width + i]
            for c in range(column + 1):
                rows[j, c] -= x * rows[i, c]
            i += 1
        if not rows[j, column] > least:
            return False
        rows[j, column] = 1.0 / rows[j, column]
    return True


@lean_kernel
def substitute(rows, ends, width):
    """Replace ``rows = [L^-T X, D L]`` by ``[M^-1 X, D L]``."""
    for j in range(rows.shape[0]):
        i = 0
        while i < j:
            if ends[i] <= j:        # of another branch
                i = ends[i]
            elif i + 2 < j:
                x, y, z = rows[j, width + i], rows[j, width + i + 1], rows[j, width + i + 2]
                for c in range(width):
                    rows[j, c] -= x * rows[i, c] + y * rows[i + 1, c] + z * rows[i + 2, c]
                i += 3
            else:
                x = rows[j, width + i]
                for c in range(width):
                    rows[j, c] -= x * rows[i, c]
                i += 1
        for c in range(width):
            rows[j, c] *= rows[j, width + j]
