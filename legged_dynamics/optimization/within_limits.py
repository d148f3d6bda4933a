# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What `bounded_gaussian` does, inside kernels: no allocation, and no work where none acts."""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.optimization.cholesky import factorize
from legged_dynamics.optimization.dual_method import SOLVED, dual_method_within
from legged_dynamics.spatial.jit import kernel, part

# A mean that is further outside than so many deviations says that deviations are wrong.
LARGEST = 2.0
# Variance, as a fraction of the largest one, that what is known exactly has for the factor's sake.
FLOOR = 1e-12


class BoundsRoom(NamedTuple):
    """
    Room for m limits on n unknowns, inside kernels.

    Attributes
    ----------
    C, d : (m, n), (m,) array
        The limits, filled by the caller.
    slack : (m,) array
        ``C x - d`` of the mean that was given.
    L, unit : (n, n) array
        Factor of the covariance; what `dual_method_within` uses up.
    rows, reduced : (m, n) array
    gram : (n + 1, n + 1) array
    vectors : (6, at least m, n + 1) array
    u : (m + n + 1,) array
        Multipliers of the limits that act.
    active : (m + n + 1,) int array
        Which those are.

    """

    C: np.ndarray
    d: np.ndarray
    slack: np.ndarray
    L: np.ndarray
    unit: np.ndarray
    rows: np.ndarray
    reduced: np.ndarray
    gram: np.ndarray
    vectors: np.ndarray
    u: np.ndarray
    active: np.ndarray


def bounds_size(m: int, n: int) -> int:
    """Return how many floats :func:`carve_bounds` cuts up."""
    return (3 * m * n + 2 * m + 2 * n * n + (n + 1) ** 2 + 6 * max(m, n + 1) + m + n + 1)


@kernel
def carve_bounds(floats, integers, m, n):
    """Return the room that lies in two flat arrays."""
    wide, at = max(m, n + 1), m * n
    C = floats[0:at].reshape((m, n))
    rows = floats[at:2 * at].reshape((m, n))
    reduced = floats[2 * at:3 * at].reshape((m, n))
    at = 3 * at
    d, slack, at = floats[at:at + m], floats[at + m:at + 2 * m], at + 2 * m
    L, at = floats[at:at + n * n].reshape((n, n)), at + n * n
    unit, at = floats[at:at + n * n].reshape((n, n)), at + n * n
    gram, at = floats[at:at + (n + 1) ** 2].reshape((n + 1, n + 1)), at + (n + 1) ** 2
    vectors, at = floats[at:at + 6 * wide].reshape((6, wide)), at + 6 * wide
    return BoundsRoom(C, d, slack, L, unit, rows, reduced, gram, vectors,
                      floats[at:at + m + n + 1], integers[0:m + n + 1])


@part
def spread_at_limit(z):
    """Return the mean square departure from an active limit, as a fraction of the variance."""
    z = min(max(z, -LARGEST), 0.0)
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return 1.0 + z * z + z * density / (0.5 * math.erfc(-z / math.sqrt(2.0)))


@part
def tighten(P, c, z, row):
    """Let a limit that acts take from a covariance what it tells; ``row`` is room."""
    n, along = P.shape[0], 0.0
    for i in range(n):
        row[i] = 0.0
        for j in range(n):
            row[i] += P[i, j] * c[j]
        along += c[i] * row[i]
    if not along > 0.0:
        return
    less = (1.0 - spread_at_limit(z)) / along
    for i in range(n):
        for j in range(n):
            P[i, j] -= less * row[i] * row[j]


@part
def within_limits(x, P, room):
    """
    Replace mean and covariance by those within the limits of ``room``.

    Returns
    -------
    int
        How many limits act; -1 when nothing satisfies them all, or steps run out: x and P are then
        as they were.

    """
    n, m = x.shape[0], room.d.shape[0]
    C, L, slack = room.C, room.L, room.slack
    outside = False
    for i in range(m):
        slack[i] = -room.d[i]
        for c in range(n):
            slack[i] += C[i, c] * x[c]
        outside = outside or slack[i] < 0.0
    if not outside:
        return 0
    largest = 0.0
    for i in range(n):
        largest = max(largest, P[i, i])
    for i in range(n):
        for j in range(n):
            L[i, j] = P[i, j]
            room.unit[i, j] = 1.0 if i == j else 0.0
        L[i, i] += FLOOR * largest
    if not factorize(L, n):
        return -1
    for i in range(n):
        L[i, i] = 1.0 / L[i, i]
    zero, y, short = room.vectors[4], room.vectors[5], room.slack
    for c in range(n):
        zero[c] = 0.0
    for i in range(m):
        short[i] = -short[i]
        for c in range(n):
            total = 0.0
            for j in range(c, n):
                total += C[i, j] * L[j, c]
            room.reduced[i, c] = total
    status, k, _ = dual_method_within(room.unit, zero[:n], room.reduced, short, 0, room.active, 0,
                                      room.u, y[:n], 50 + 2 * m, room.rows, room.gram,
                                      room.vectors)
    for i in range(m):
        slack[i] = -slack[i]
    if status != SOLVED:
        return -1
    for i in range(n):
        for j in range(i + 1):
            x[i] += L[i, j] * y[j]
    for a in range(k):      # by the factor's rows: their length is the deviation along the limit
        i, variance = room.active[a], 0.0
        for c in range(n):
            variance += room.reduced[i, c] * room.reduced[i, c]
        tighten(P, C[i], slack[i] / math.sqrt(variance) if variance > 0.0 else 0.0,
                room.vectors[4])
    return k
