# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
A Gaussian within linear limits: its likeliest point, and how far from that the truth may be.

``x ~ N(mean, P)`` is known to satisfy ``C x >= d``. The likeliest such point is the nearest one
in the metric of P, a quadratic program in ``x = mean + L y``, ``P = L L^T``, which asks for no
inverse of P. Along a limit that acts, with the mean z deviations inside it (z < 0: outside), the
truth is a Gaussian cut off at the limit, and its mean square departure from the limit is

    s^2 (1 + z^2 + z phi(z) / Phi(z)),

all of s^2 at z = 0, a half at -1, a quarter at -2, and never nothing. A mean that is further out
than `LARGEST` says that deviations are wrong, and not that x is known better: z counts no further.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.optimization.cholesky import factorize
from legged_dynamics.optimization.dual_method import SOLVED, dual_method_within
from legged_dynamics.optimization.quadratic_program import Outcome, solve_quadratic_program
from legged_dynamics.spatial.jit import kernel, part

LARGEST = 2.0
# Variance, as a fraction of the largest one, that what is known exactly has for the factor's sake.
FLOOR = 1e-12
# Eigenvalues of the covariance below this fraction of the largest count as zero, off line.
KNOWN = 1e-14


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


@dataclass(frozen=True, eq=False)
class BoundedGaussian:
    """
    What is known of x within its limits.

    Attributes
    ----------
    mean : (n,) array
        The likeliest point inside; where nothing is inside, the mean that was given.
    covariance : (n, n) array
        Mean square departure of the truth from it.
    multipliers : (m,) array
        Of the limits: zero for those that do not act.
    active : tuple of int
        Limits that act.
    outcome : Outcome

    """

    mean: np.ndarray
    covariance: np.ndarray
    multipliers: np.ndarray
    active: tuple[int, ...]
    outcome: Outcome


def bounded_gaussian(mean: np.ndarray, covariance: np.ndarray, C: np.ndarray, d: np.ndarray
                     ) -> BoundedGaussian:
    """
    Return what is known of ``x ~ N(mean, covariance)`` once ``C x >= d`` is known, too.

    Parameters
    ----------
    mean, covariance : (n,), (n, n) array
        The covariance may be singular: what is known exactly stays so.
    C, d : (m, n), (m,) array
        One limit a row.

    Raises
    ------
    ConfigurationError
        When shapes do not fit, or the covariance is not one.

    """
    mean, P, C, d = (np.array(a, dtype=float) for a in (mean, covariance, C, d))
    n = len(mean)
    if mean.ndim != 1 or P.shape != (n, n) or C.shape != (len(d), n):
        raise ConfigurationError(f'expected a mean (n,), covariance (n, n) and limits (m, n), '
                                 f'(m,); got shapes {mean.shape}, {P.shape}, {C.shape}, {d.shape}')
    scale = np.sqrt(np.maximum(P.diagonal(), 0.0))
    scale[scale == 0.0] = 1.0
    values, vectors = np.linalg.eigh(P / np.outer(scale, scale))
    if not np.isfinite(values).all() or values[0] < -1e-9 * max(values[-1], 1e-300):
        raise ConfigurationError('expected a positive semidefinite covariance, got one with the '
                                 f'eigenvalue {values[0]:g} (of the correlations)')
    kept = values > KNOWN * max(values[-1], 1e-300)
    L = scale[:, None] * vectors[:, kept] * np.sqrt(values[kept])
    slack = C @ mean - d
    nothing = BoundedGaussian(mean, P, np.zeros(len(d)), (), Outcome.SOLVED)
    size = np.abs(C) @ np.abs(mean) + np.abs(d)
    if (slack >= -1e-12 * size).all():
        return nothing
    if not kept.any():
        return BoundedGaussian(mean, P, np.zeros(len(d)), (), Outcome.INFEASIBLE)
    rows = C @ L
    found = solve_quadratic_program(np.eye(L.shape[1]), np.zeros(L.shape[1]), rows, -slack)
    if found.outcome is not Outcome.SOLVED:
        return BoundedGaussian(mean, P, np.zeros(len(d)), (), found.outcome)
    room = np.zeros(n)
    for i in found.active:
        deviation = float(np.linalg.norm(rows[i]))
        if deviation > 0.0:
            tighten(P, C[i], slack[i] / deviation, room)
    return BoundedGaussian(mean + L @ found.x, P, found.multipliers, found.active, found.outcome)
