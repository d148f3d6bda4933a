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
# Relative violation below which a limit counts as met.
MET = 1e-8


class LimitsMemory(NamedTuple):
    """Memory for m limits on n unknowns, inside kernels; the caller fills the first four."""

    C: np.ndarray           # (m, n): the limits
    d: np.ndarray           # (m,)
    begin: np.ndarray       # (m,) int: first nonzero column of each row of C,
    end: np.ndarray         # (m,) int: and the one after the last
    slack: np.ndarray       # (m,): ``C x - d`` of the mean that was given
    L: np.ndarray           # (n, n): factor of the covariance
    rows: np.ndarray        # (m, n): ``C L`` of the limits that are considered
    columns: np.ndarray     # (n, m): the same
    gram: np.ndarray        # (n + 1, n + 1): scratch of the dual method
    vectors: np.ndarray     # (8, at least m, n + 1): scratch
    u: np.ndarray           # (n + 1,): multipliers of the active limits
    active: np.ndarray      # (n + 1,) int: which of the considered limits are active
    looked_at: np.ndarray   # (m,) int: which limits are considered
    span: np.ndarray        # (m, 2) int: first nonzero column of each row, end of the last

    @classmethod
    def of_size(cls, n: int, m: int) -> LimitsMemory:
        """Return zeroed memory."""
        return cls(np.zeros((m, n)), np.zeros(m), np.zeros(m, np.int64), np.zeros(m, np.int64),
                   np.zeros(m), np.zeros((n, n)), np.zeros((m, n)), np.zeros((n, m)),
                   np.zeros((n + 1, n + 1)), np.zeros((8, max(m, n + 1))), np.zeros(n + 1),
                   np.zeros(n + 1, np.int64), np.zeros(m, np.int64), np.zeros((m, 2), np.int64))


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
    for i in range(n):
        row[i] = 0.0
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
def _look_at(room, all_of_them):
    """List the limits that share an unknown with a violated one; return their number."""
    m, n = room.C.shape
    touched, count = room.vectors[4], 0
    for c in range(n):
        touched[c] = 1.0 if all_of_them else 0.0
    for i in range(m):
        if room.slack[i] < 0.0:
            for c in range(room.begin[i], room.end[i]):
                if room.C[i, c] != 0.0:
                    touched[c] = 1.0
    for i in range(m):
        for c in range(room.begin[i], room.end[i]):
            if touched[c] > 0.0 and room.C[i, c] != 0.0:
                room.looked_at[count] = i
                count += 1
                break
    return count


@part
def _nearest_inside(room, y, count):
    """Find the smallest y that meets the considered limits; return status and number active."""
    n = y.shape[0]
    short, size = room.vectors[0], room.vectors[1]
    for k in range(count):
        i, square = room.looked_at[k], 0.0
        short[k] = -room.slack[i]
        for c in range(n):
            room.rows[k, c] = 0.0
        for j in range(room.begin[i], room.end[i]):
            h = room.C[i, j]
            if h != 0.0:
                for c in range(j + 1):
                    room.rows[k, c] += h * room.L[j, c]
        for c in range(n):
            square += room.rows[k, c] ** 2
            room.columns[c, k] = room.rows[k, c]
        size[k] = math.sqrt(square)
        room.span[k, 0], room.span[k, 1] = 0, room.end[i]
    for c in range(n):
        y[c] = 0.0
    method = ActiveSet(room.rows[:count], room.columns, short[:count], size[:count], y,
                       room.active, room.u, room.gram, room.vectors[2], room.vectors[3],
                       room.vectors[5], room.vectors[7], room.span)
    status, acting, _ = ascend(method, 0, 0, 50 + 2 * count, 0.0)
    return status, acting


@part
def _met_by(room, x):
    """Return whether a point meets all limits, but for rounding."""
    for i in range(room.d.shape[0]):
        s, size = -room.d[i], abs(room.d[i])
        for c in range(room.begin[i], room.end[i]):
            s += room.C[i, c] * x[c]
            size += abs(room.C[i, c] * x[c])
        if s < -MET * size:
            return False
    return True


@part
def within_limits(x, P, room):
    """
    Replace mean and covariance by those within limits; return the number active.

    -1, leaving x and P unchanged, if infeasible or out of steps. Limits that share no
    unknown with a violated one are considered only if the answer violates them.
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
    y, start, acting = room.vectors[6][:n], room.vectors[4][:n], 0
    for attempt in range(2):
        count = _look_at(room, attempt > 0)
        status, acting = _nearest_inside(room, y, count)
        if status != SOLVED:
            return -1
        for i in range(n):
            start[i] = x[i]
            for j in range(i + 1):
                start[i] += L[i, j] * y[j]
        if count == m or _met_by(room, start):
            break
    for i in range(n):
        x[i] = start[i]
    for a in range(acting):
        # The length of a row of C L is the deviation along its limit.
        k = room.active[a]
        i, deviation = room.looked_at[k], room.vectors[1, k]
        tighten(P, C[i], slack[i] / deviation if deviation > 0.0 else 0.0, room.vectors[5])
    return acting
