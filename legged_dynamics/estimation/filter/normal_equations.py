# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Normal equations of the contact forces: ``J^T w = tau - tau_measured`` and ``A w = b``.

Each equation has its variance, and a weak prior ``w ~ N(0, P_0)`` decides directions that no joint
measures. A joint without a measured torque has no equation.
"""
from __future__ import annotations

from legged_dynamics.dynamics.jacobians import SIZE, START
from legged_dynamics.spatial.algebra import dot, symmetric_times
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.symmetric import inverse_symmetric


@part
def joint_information(columns, jacobian, residual, weight, prior, information, vector):
    """
    Start the normal equations from the prior and the joint equations.

    ``columns`` (nv, nc + 1): number and indices of contact coordinates moved by each joint;
    ``weight``: inverse variances, zero without a torque.
    """
    nc = information.shape[0]
    for r in range(nc):
        vector[r] = 0.0
        for c in range(nc):
            information[r, c] = 0.0
        information[r, r] = prior[r]
    for j in range(weight.shape[0]):
        w = weight[j]
        if w == 0.0:
            continue
        for m in range(columns[j, 0]):
            r = columns[j, m + 1]
            wr = w * jacobian[r, j]
            vector[r] += wr * residual[j]
            for n in range(columns[j, 0]):
                c = columns[j, n + 1]
                information[r, c] += wr * jacobian[c, j]


@part
def first3(row, at, n):
    """Return n (1 to 3) numbers of a row from ``at`` on as a vector, padded with zeros."""
    return row[at], row[at + 1] if n > 1 else 0.0, row[at + 2] if n > 2 else 0.0


@part
def solve_foot_alone(feet, i, information, vector):
    """
    Return foot i's force [N] and covariance (xx, xy, xz, yy, yz, zz) by its own block.

    Its moments are eliminated from the normal equations first; the 3x3 rest is solved by
    cofactors.
    """
    s = feet.index[i, START]
    a, b, c = information[s, s], information[s, s + 1], information[s, s + 2]
    d, e, f = information[s + 1, s + 1], information[s + 1, s + 2], information[s + 2, s + 2]
    x, y, z = vector[s], vector[s + 1], vector[s + 2]
    n = feet.index[i, SIZE] - 3
    if n > 0:
        L = first3(information[s + 3], s + 3, n)
        xx, xy, xz, yy, yz, zz = L[0], L[1], L[2], 1.0, 0.0, 1.0
        if n > 1:
            L = first3(information[s + 4], s + 3, n)
            yy, yz = L[1], L[2]
        if n > 2:
            zz = information[s + 5, s + 5]
        inverse = inverse_symmetric((xx, xy, xz, yy, yz, zz))
        U = (first3(information[s], s + 3, n), first3(information[s + 1], s + 3, n),
             first3(information[s + 2], s + 3, n))
        V = (symmetric_times(inverse, U[0]), symmetric_times(inverse, U[1]),
             symmetric_times(inverse, U[2]))
        m = first3(vector, s + 3, n)
        a, b, c = a - dot(U[0], V[0]), b - dot(U[0], V[1]), c - dot(U[0], V[2])
        d, e, f = d - dot(U[1], V[1]), e - dot(U[1], V[2]), f - dot(U[2], V[2])
        x, y, z = x - dot(V[0], m), y - dot(V[1], m), z - dot(V[2], m)
    inverse = inverse_symmetric((a, b, c, d, e, f))
    return symmetric_times(inverse, (x, y, z)), inverse


@part
def add_base_information(g, weight, information):
    """
    Add the base's six equations to the information, lower triangle.

    ``g``: their rows; ``weight``: inverse variances.
    """
    for r in range(information.shape[0]):
        to = information[r]
        a, b, c = weight[0] * g[0, r], weight[1] * g[1, r], weight[2] * g[2, r]
        d, e, f = weight[3] * g[3, r], weight[4] * g[4, r], weight[5] * g[5, r]
        for k in range(r + 1):
            to[k] += (a * g[0, k] + b * g[1, k] + c * g[2, k]
                      + d * g[3, k] + e * g[4, k] + f * g[5, k])
