# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Mean and covariance of a Gaussian within linear limits as in `GroundForceProblem`, for kernels.

The mean becomes the point of highest density that satisfies ``C x >= d`` (a quadratic program in
coordinates in which the covariance is 1). Each active limit then reduces the variance along its
normal to that of the truncated normal distribution about the limit (probability density
truncation: Simon 2010, "Kalman filtering with state constraints"). Without violated limits
nothing is computed, and nothing is allocated.
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.optimization.factorizations import factorize
from legged_dynamics.optimization.quadratic_program import SOLVED, ActiveSet, ascend
from legged_dynamics.spatial.jit import part

# A mean further outside than this many standard deviations: the deviations must be wrong.
LARGEST = 2.0
# Added to every variance, as a fraction of the largest, so that the covariance can be factored.
FLOOR = 1e-12


class LimitsMemory(NamedTuple):
    """Memory for m limits on n unknowns, inside kernels; the caller fills the first four."""

    C: np.ndarray           # (m, n): the limits
    d: np.ndarray           # (m,)
    begin: np.ndarray       # (m,) int: first nonzero column of each row of C,
    end: np.ndarray         # (m,) int: and the one after the last
    slack: np.ndarray       # (m,): ``C x - d`` of the mean that was given
    L: np.ndarray           # (n, n): factor of the covariance
    rows: np.ndarray        # (m, n): ``C L``
    columns: np.ndarray     # (n, m): the same
    gram: np.ndarray        # (n + 1, n + 1): scratch of the dual method
    vectors: np.ndarray     # (7, at least m, n + 1): scratch
    u: np.ndarray           # (n + 1,): multipliers of the active limits
    active: np.ndarray      # (n + 1,) int: which limits are active
    span: np.ndarray        # (m, 2) int: first nonzero column of each row, end of the last

    @classmethod
    def of_size(cls, n: int, m: int) -> LimitsMemory:
        """Return zeroed memory."""
        return cls(np.zeros((m, n)), np.zeros(m), np.zeros(m, np.int64), np.zeros(m, np.int64),
                   np.zeros(m), np.zeros((n, n)), np.zeros((m, n)), np.zeros((n, m)),
                   np.zeros((n + 1, n + 1)), np.zeros((7, max(m, n + 1))), np.zeros(n + 1),
                   np.zeros(n + 1, np.int64), np.zeros((m, 2), np.int64))


@part
def variance_at_limit(z):
    """Return a truncated normal's variance over the free one; ``z``: mean less limit in sigmas."""
    z = min(max(z, -LARGEST), 0.0)
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return 1.0 + z * z + z * density / (0.5 * math.erfc(-z / math.sqrt(2.0)))


@part
def tighten(P, c, z, row):
    """Reduce covariance P in place by the information that a limit ``c x >= d`` is active."""
    n, along = P.shape[0], 0.0
    row[:n] = 0.0
    for j in range(n):
        if c[j] != 0.0:
            for i in range(n):
                row[i] += P[j, i] * c[j]
    for i in range(n):
        along += c[i] * row[i]
    if not along > 0.0:
        return
    less = (1.0 - variance_at_limit(z)) / along
    for i in range(n):
        share = less * row[i]
        for j in range(n):
            P[i, j] -= share * row[j]


@part
def _nearest_inside(room, y):
    """Find the smallest y that meets the limits; return status and number active."""
    m, n = room.C.shape
    short, size = room.vectors[0], room.vectors[1]
    for i in range(m):
        square = 0.0
        short[i] = -room.slack[i]
        room.rows[i, :] = 0.0
        for j in range(room.begin[i], room.end[i]):
            h = room.C[i, j]
            if h != 0.0:
                for c in range(j + 1):
                    room.rows[i, c] += h * room.L[j, c]
        for c in range(n):
            square += room.rows[i, c] ** 2
            room.columns[c, i] = room.rows[i, c]
        size[i] = math.sqrt(square)
        room.span[i, 0], room.span[i, 1] = 0, room.end[i]
    y[:] = 0.0
    method = ActiveSet(room.rows, room.columns, short[:m], size[:m], y, room.active, room.u,
                       room.gram, room.vectors[2], room.vectors[3], room.vectors[4],
                       room.vectors[5], room.span)
    status, acting, _ = ascend(method, 0, 0, 50 + 2 * m, 0.0)
    return status, acting


@part
def within_limits(x, P, room):
    """
    Replace mean and covariance by those within limits; return the number active.

    -1, leaving x and P unchanged, if infeasible or out of steps.
    """
    n, m = x.shape[0], room.d.shape[0]
    C, L, slack = room.C, room.L, room.slack
    outside = False
    for i in range(m):
        s = -room.d[i]
        for c in range(room.begin[i], room.end[i]):
            s += C[i, c] * x[c]
        slack[i] = s
        outside = outside or s < 0.0
    if not outside:
        return 0
    largest = 0.0
    for i in range(n):
        largest = max(largest, P[i, i])
    for i in range(n):
        for j in range(i + 1):
            L[i, j] = P[i, j]
        L[i, i] += FLOOR * largest
    if not factorize(L, n):
        return -1
    for i in range(n):
        L[i, i] = 1.0 / L[i, i]
    y = room.vectors[6][:n]
    status, acting = _nearest_inside(room, y)
    if status != SOLVED:
        return -1
    for i in range(n):
        for j in range(i + 1):
            x[i] += L[i, j] * y[j]
    for a in range(acting):
        # The length of a row of C L is the deviation along its limit.
        i, deviation = room.active[a], room.vectors[1, room.active[a]]
        tighten(P, C[i], slack[i] / deviation if deviation > 0.0 else 0.0, room.vectors[4])
    return acting
