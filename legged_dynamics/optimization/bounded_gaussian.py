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
than two deviations says that these are wrong, and not that x is known better: z counts no further.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.optimization.quadratic_program import Outcome, solve_quadratic_program
from legged_dynamics.optimization.within_limits import tighten

# Eigenvalues of the covariance below this fraction of the largest count as zero, off line.
KNOWN = 1e-14


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
    return bounded_by(mean, factor_of(P), C, d)


def factor_of(covariance: np.ndarray) -> np.ndarray:
    """
    Return L, (n, r), with ``L L^T`` the covariance, which may be singular.

    Raises
    ------
    ConfigurationError
        When it is no covariance.

    """
    scale = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    if np.array_equal(covariance, np.diag(covariance.diagonal())):
        return np.diag(scale)[:, scale > 0.0]
    scale[scale == 0.0] = 1.0
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    if not np.isfinite(values).all() or values[0] < -1e-9 * max(values[-1], 1e-300):
        raise ConfigurationError('expected a positive semidefinite covariance, got one with the '
                                 f'eigenvalue {values[0]:g} (of the correlations)')
    kept = values > KNOWN * max(values[-1], 1e-300)
    return scale[:, None] * vectors[:, kept] * np.sqrt(values[kept])


def bounded_by(mean: np.ndarray, L: np.ndarray, C: np.ndarray, d: np.ndarray) -> BoundedGaussian:
    """Return the same as `bounded_gaussian`, given a factor of the covariance instead of it."""
    P, m = L @ L.T, len(d)
    slack = C @ mean - d
    size = np.abs(C) @ np.abs(mean) + np.abs(d)
    if (slack >= -1e-12 * size).all():
        return BoundedGaussian(mean, P, np.zeros(m), (), Outcome.SOLVED)
    if not L.size:
        return BoundedGaussian(mean, P, np.zeros(m), (), Outcome.INFEASIBLE)
    rows = C @ L
    found = solve_quadratic_program(np.eye(L.shape[1]), np.zeros(L.shape[1]), rows, -slack)
    if found.outcome is not Outcome.SOLVED:
        return BoundedGaussian(mean, P, np.zeros(m), (), found.outcome)
    room = np.zeros(len(mean))
    for i in found.active:
        deviation = float(np.linalg.norm(rows[i]))
        if deviation > 0.0:
            tighten(P, C[i], slack[i] / deviation, room)
    return BoundedGaussian(mean + L @ found.x, P, found.multipliers, found.active, found.outcome)
