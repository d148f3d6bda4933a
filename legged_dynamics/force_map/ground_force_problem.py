# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The ground-force problem: the likeliest forces on the feet, given all that is known of them.

Unknown are the contact coordinates w of all feet. Known are a prior and rows,

    w ~ N(w_0, P_0),      H w = r + n,  n ~ N(0, R)

of any number and in any order: the six equations of the base, one a joint whose torque is
measured, an expected share, the last force; and limits ``C w >= d``: friction, the edges of soles,
unilateral contact, torques. An unknown external wrench is an error ``E P E^T`` of the rows in
which it appears. With ``P_0 = G G^T``, ``R = W W^T`` and ``W^-1 H G = U S V^T`` the solution is

    w = w_0 + G V S (1 + S^2)^-1 U^T W^-1 (r - H w_0),   L = G V (1 + S^2)^-1/2,   P = L L^T,

and within the limits the likeliest point, for which only L is required. Rows that are exact have
an error of `EXACT` times their spread under the prior: where the limits contradict them they are
met as nearly as possible, before anything else is, and the outcome says so.
"""
from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.optimization.quadratic_program import Outcome, solve_quadratic_program
from legged_dynamics.optimization.within_limits import tighten

# -------------------------------------------------------------------------------------------------
# A Gaussian within linear limits: its likeliest point, and the variance about it.
#
# ``x ~ N(mean, P)`` is known to satisfy ``C x >= d``. The likeliest such point is the nearest one
# in the metric of P, a quadratic program in ``x = mean + L y``, ``P = L L^T``, for which P is not
# inverted. Along an active limit, with the mean z deviations inside it (z < 0: outside), x is a
# truncated Gaussian, and its mean square departure from the limit is
#
#     s^2 (1 + z^2 + z phi(z) / Phi(z)),
#
# all of s^2 at z = 0, a half at -1, a quarter at -2, and never zero. A mean that is further out
# than two deviations means that these are wrong, and not that x is known better: z is limited to
# -2.


# Eigenvalues of the covariance below this fraction of the largest count as zero.
KNOWN = 1e-14


def _factor_of(covariance: np.ndarray) -> np.ndarray:
    """Return L, (n, r), with ``L L^T`` the covariance, which may be singular."""
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


def _bounded_by(mean: np.ndarray, L: np.ndarray, C: np.ndarray, d: np.ndarray
                ) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, ...], Outcome]:
    """
    Return the Gaussian ``x ~ N(mean, L L^T)`` truncated to ``C x >= d``.

    The likeliest point, its covariance, multipliers and active limits, and the outcome.
    """
    P, m = L @ L.T, len(d)
    slack = C @ mean - d
    size = np.abs(C) @ np.abs(mean) + np.abs(d)
    if (slack >= -1e-12 * size).all():
        return (mean, P, np.zeros(m), (), Outcome.SOLVED)
    if not L.size:
        return (mean, P, np.zeros(m), (), Outcome.INFEASIBLE)
    rows = C @ L
    found = solve_quadratic_program(np.eye(L.shape[1]), np.zeros(L.shape[1]), rows, -slack)
    if found.outcome is not Outcome.SOLVED:
        return (mean, P, np.zeros(m), (), found.outcome)
    room = np.zeros(len(mean))
    for i in found.active:
        deviation = float(np.linalg.norm(rows[i]))
        if deviation > 0.0:
            tighten(P, C[i], slack[i] / deviation, room)
    return (mean + L @ found.x, P, found.multipliers, found.active, found.outcome)


# -------------------------------------------------------------------------------------------------
# The problem.


# Error of rows that are exact, as a fraction of their spread under the prior.
EXACT = 1e-7
# Residual up to which exact rows count as met, as a fraction of the same.
MET = 1e-6


@dataclass(frozen=True, eq=False)
class GroundForces:
    """
    Solution of a ground-force problem.

    Attributes
    ----------
    mean : (n,) array [N, N m]
        Contact coordinates.
    covariance : (n, n) array
        Covariance of their error, given prior, rows and limits.
    residual : (k,) array
        Residual of the rows, right side less left.
    multipliers : (m,) array
        Multipliers of the limits; zero for those that are not active.
    active : tuple of int
        Active limits.
    outcome : Outcome
        INFEASIBLE where the limits contradict rows that are exact; the mean is then within the
        limits, and as near to these rows as possible.

    """

    mean: np.ndarray
    covariance: np.ndarray
    residual: np.ndarray
    multipliers: np.ndarray
    active: tuple[int, ...]
    outcome: Outcome


@dataclass(frozen=True, eq=False)
class GroundForceProblem:
    """
    A ground-force problem, built piece by piece; each piece gives a new problem.

    Attributes
    ----------
    mean, covariance : (n,), (n, n) array
        Prior.
    rows, right : (k, n), (k,) array
        Equations.
    error : (k, k) array
        Covariance of their errors; zero rows are exact.
    limits, least : (m, n), (m,) array
        ``limits w >= least``.

    """

    mean: np.ndarray
    covariance: np.ndarray
    rows: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    right: np.ndarray = field(default_factory=lambda: np.zeros(0))
    error: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    limits: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    least: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def prior(cls, mean: np.ndarray, covariance: np.ndarray) -> GroundForceProblem:
        """
        Return the problem with a prior alone.

        ``mean`` (n,) [N, N m]: the guess: an even share, the last forces, zero. ``covariance`` (n,
        n): covariance of its error; a vector is a diagonal of variances. Raises ConfigurationError
        when shapes do not fit.
        """
        mean, P = np.array(mean, float), np.array(covariance, float)
        P = np.diag(P) if P.ndim == 1 else P
        n = len(mean)
        if mean.ndim != 1 or P.shape != (n, n):
            raise ConfigurationError(f'expected a guess (n,) and its covariance (n, n) or (n,), '
                                     f'got shapes {mean.shape} and {P.shape}')
        return cls(mean, P, np.zeros((0, n)), limits=np.zeros((0, n)))

    def with_rows(self, rows: np.ndarray, right: np.ndarray,
                  error: np.ndarray | float = 0.0) -> GroundForceProblem:
        """
        Return the problem with equations in addition.

        ``rows, right`` (k, n): left and right sides: of the base ``A w = b``, of joints ``J^T w =
        tau_id - tau``. ``error`` (k, k): covariance or variances of their errors; 0: exact. Raises
        ConfigurationError when shapes do not fit.
        """
        rows, right = np.atleast_2d(np.array(rows, float)), np.atleast_1d(np.array(right, float))
        R = np.array(error, float)
        k = len(right)
        if R.ndim < 2:
            R = np.diag(np.full(k, R) if R.ndim == 0 else R)
        if rows.shape != (k, len(self.mean)) or R.shape != (k, k):
            raise ConfigurationError(f'expected {k} rows of {len(self.mean)} and their errors, '
                                     f'got shapes {rows.shape} and {R.shape}')
        whole = np.pad(self.error, (0, k))
        whole[len(self.right):, len(self.right):] = R
        return replace(self, rows=np.vstack([self.rows, rows]),
                       right=np.concatenate([self.right, right]), error=whole)

    def with_limits(self, limits: np.ndarray, least: np.ndarray) -> GroundForceProblem:
        """
        Return the problem with limits ``limits w >= least`` in addition.

        ``limits`` (m, n): coefficients, one limit a row. ``least`` (m,): least values. Raises
        ConfigurationError when shapes do not fit.
        """
        limits, least = np.atleast_2d(np.array(limits, float)), np.array(least, float)
        if least.ndim != 1 or limits.shape != (len(least), len(self.mean)):
            raise ConfigurationError(f'expected limits (m, {len(self.mean)}) and what they are to '
                                     f'reach at least, (m,), got shapes {limits.shape} and '
                                     f'{least.shape}')
        return replace(self, limits=np.vstack([self.limits, limits]),
                       least=np.concatenate([self.least, least]))

    def without_limits(self) -> GroundForceProblem:
        """Leave the limits out."""
        return replace(self, limits=self.limits[:0], least=self.least[:0])

    def solve(self) -> GroundForces:
        """Find the likeliest forces within the limits."""
        w, L, size = self._given()
        mean, covariance, multipliers, active, outcome = _bounded_by(w, L, self.limits, self.least)
        residual = self.right - self.rows @ mean
        exact = self.error.diagonal() <= 0.0
        if (np.abs(residual) > MET * (size + np.abs(self.right)))[exact].any():
            outcome = Outcome.INFEASIBLE
        return GroundForces(mean, covariance, residual, multipliers, active, outcome)

    def _given(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the mean without limits, a factor of its covariance, the rows' spread."""
        G = _factor_of(self.covariance)
        spread = self.rows @ G
        size = np.sqrt(np.maximum((spread ** 2).sum(axis=1), 1e-300))
        if not len(self.right):
            return self.mean, G, size
        error = self.error / np.outer(size, size)
        W = np.linalg.cholesky(error + EXACT ** 2 * np.eye(len(size)))
        U, s, Vt = np.linalg.svd(np.linalg.solve(W, spread / size[:, None]))
        left = U.T @ np.linalg.solve(W, (self.right - self.rows @ self.mean) / size)
        share, along = np.zeros((2, len(Vt)))
        share[:len(s)], along[:len(s)] = s, s / (1.0 + s ** 2) * left[:len(s)]
        return (self.mean + G @ (Vt.T @ along), G @ (Vt.T / np.sqrt(1.0 + share ** 2)), size)
