# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Pseudo-inverse of the legs' Jacobians, damped where a leg is singular, and how singular it is.

One-sided Jacobi (Hestenes): the columns of ``B = (S J)^T`` are turned in pairs until they are
orthogonal; then ``B V`` has the singular values as lengths, and
``J^+ = B V diag(1 / sigma^2) V^T S``. Small singular values come out as exact as large ones. S
divides linear rows by the length of the leg, so that metres and radians compare.

A straight knee has a singular value of zero: no joint rate moves the foot along the leg. Below a
threshold e the factor ``1 / sigma^2`` becomes ``1 / e^2``: the answer then goes to zero with the
singular value, instead of to infinity.
"""
from __future__ import annotations

import math

from legged_dynamics.spatial.jit import part
from legged_dynamics.workspace.stance_arrays import GROUP

# Two columns are orthogonal when their cosine is below this.
ORTHOGONAL = 1e-15
SWEEPS = 20
# Lengths below this are zero: not even damped.
NOTHING = 1e-12


@part
def orthogonalize(B, V, m, k):
    """Turn the k columns (m rows) of B until they are orthogonal, and those of V = 1 with them."""
    for i in range(k):
        for j in range(k):
            V[i, j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        turned = False
        for p in range(k - 1):
            for q in range(p + 1, k):
                a, b, c = 0.0, 0.0, 0.0
                for i in range(m):
                    a += B[i, p] * B[i, p]
                    b += B[i, q] * B[i, q]
                    c += B[i, p] * B[i, q]
                if c * c <= ORTHOGONAL * ORTHOGONAL * a * b or a * b == 0.0:
                    continue
                turned = True
                # One-sided Jacobi (Hestenes): the smaller root of t^2 + 2 zeta t - 1 turns least.
                zeta = (b - a) / (2.0 * c)
                t = math.copysign(1.0, zeta) / (abs(zeta) + math.hypot(1.0, zeta))
                cosine = 1.0 / math.sqrt(1.0 + t * t)
                sine = cosine * t
                for i in range(m):
                    B[i, p], B[i, q] = (cosine * B[i, p] - sine * B[i, q],
                                        sine * B[i, p] + cosine * B[i, q])
                for i in range(k):
                    V[i, p], V[i, q] = (cosine * V[i, p] - sine * V[i, q],
                                        sine * V[i, p] + cosine * V[i, q])
        if not turned:
            return


@part
def invert_legs(s, threshold):
    """
    Fill ``inverse`` and, for each group, its smallest and largest singular value.

    Parameters
    ----------
    s : StanceArrays
        Its Jacobian is read.
    threshold : float
        Singular value, in lengths of the leg, below which a direction is damped.

    """
    nv, nc = s.inverse.shape
    largest = max(nv, nc)
    B, V = s.spare[:largest], s.spare[largest:2 * largest]
    s.inverse[:, :] = 0.0
    for g in range(s.groups.shape[0]):
        k, m = s.groups[g, GROUP.n_rows], s.groups[g, GROUP.n_columns]
        rows, columns = s.groups[g, GROUP.members:], s.groups[g, GROUP.members + k:]
        for i in range(m):
            for j in range(k):
                # J^T in lengths of the leg, so that one threshold serves robots of any size.
                B[i, j] = s.jacobian[rows[j], columns[i]] / s.reach[rows[j]]
        orthogonalize(B, V, m, k)
        lengths = s.spare[2 * largest]
        for j in range(k):
            square = 0.0
            for i in range(m):
                square += B[i, j] * B[i, j]
            lengths[j] = square
        for j in range(k):          # insertion: largest first, into the next row
            at = j
            while at > 0 and s.spare[2 * largest + 1, at - 1] < lengths[j]:
                s.spare[2 * largest + 1, at] = s.spare[2 * largest + 1, at - 1]
                at -= 1
            s.spare[2 * largest + 1, at] = lengths[j]
        # A leg of fewer joints than its foot has coordinates moves in no more directions.
        s.singular[g, 0] = math.sqrt(s.spare[2 * largest + 1, min(k, m) - 1])
        s.singular[g, 1] = math.sqrt(s.spare[2 * largest + 1, 0])
        for c in range(k):
            if lengths[c] < NOTHING * NOTHING:
                continue
            # J^+ = sum v b^T / sigma^2 with b = sigma u; below the threshold, its square
            # replaces sigma^2, which damps that direction and leaves the others exact.
            weight = 1.0 / max(lengths[c], threshold * threshold)
            for i in range(m):
                for j in range(k):
                    s.inverse[columns[i], rows[j]] += (weight * B[i, c] * V[j, c]
                                                       / s.reach[rows[j]])
