# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Elimination with a mass matrix that keeps a tree's zeros (Featherstone 2008, section 6.5).

Two joints of different branches have no entry in M. Taken from the last joint to the first, each
row needs only the rows of the joints beyond it, and those stand in one run behind it:
``M = L^T D L``, L as sparse as M. What stands beside M becomes ``L^-T`` times it on the way.
"""
from __future__ import annotations

import numpy as np

from legged_dynamics.model.robot_model import VELOCITY_SIZE, RobotModel
from legged_dynamics.model.tree import JOINT, PARENT, V_START
from legged_dynamics.spatial.jit import lean_kernel


def branch_ends(model: RobotModel) -> np.ndarray:
    """
    Return, for each row of the mass matrix, the first row that is not beyond it.

    A model lists a joint before all that hang on it, and those before anything else.

    Returns
    -------
    (n,) int array
        Rows ``i + 1`` to ``ends[i] - 1`` are beyond row i.

    """
    n_base = 6 if model.floating else 0
    topology = model.tree.topology
    ends = np.full(n_base + model.nv, n_base + model.nv)
    for body in range(model.n_bodies - 1, 0, -1):
        start = n_base + int(topology[body, V_START])
        size = VELOCITY_SIZE[int(topology[body, JOINT])]
        beyond = [ends[n_base + int(topology[child, V_START])]
                  for child in range(body + 1, model.n_bodies)
                  if topology[child, PARENT] == body]
        ends[start:start + size] = max(beyond, default=start + size)
    return ends


def branches_of(model: RobotModel) -> np.ndarray:
    """Return, for each joint, the first one of its branch of the base and the first behind it."""
    parents = model.tree.topology[1:, PARENT]
    starts = np.flatnonzero(parents == 0)
    which = np.searchsorted(starts, np.arange(model.nv), side='right') - 1
    return np.column_stack([starts[which], np.append(starts[1:], model.nv)[which]])


@lean_kernel
def eliminate_branches(rows, ends, width, tolerance):
    """
    Replace ``rows = [X, M]`` by ``[L^-T X, D L]``, M being behind ``width`` columns of X.

    On the diagonal of D L stand reciprocals; above it, what is left over.

    Returns
    -------
    bool
        False when a pivot is not above ``tolerance`` times its diagonal element: with 0, when M
        is not positive definite. The rows are then unusable.

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
def substitute(rows, width):
    """Replace ``rows = [L^-T X, D L]`` of a matrix M without branches by ``[M^-1 X, D L]``."""
    for j in range(rows.shape[0]):
        i = 0
        while i + 2 < j:
            x, y, z = rows[j, width + i], rows[j, width + i + 1], rows[j, width + i + 2]
            for c in range(width):
                rows[j, c] -= x * rows[i, c] + y * rows[i + 1, c] + z * rows[i + 2, c]
            i += 3
        while i < j:
            x = rows[j, width + i]
            for c in range(width):
                rows[j, c] -= x * rows[i, c]
            i += 1
        for c in range(width):
            rows[j, c] *= rows[j, width + j]
