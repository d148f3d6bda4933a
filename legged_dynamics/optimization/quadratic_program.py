# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A small dense quadratic program: ``min x^T H x / 2 + g^T x`` subject to ``C x >= d``.

For tens of unknowns and a hundred constraints. A warm start is a guess of the active constraints:
the program with these as equalities is solved, constraints with negative multipliers are dropped,
and the method goes on from there. A wrong guess costs steps and never changes the answer.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.optimization.dual_method import (
    INFEASIBLE,
    ITERATION_LIMIT,
    NOT_CONVEX,
    SOLVED,
    dual_method_within,
)
from legged_dynamics.spatial.jit import lean_kernel

# -------------------------------------------------------------------------------------------------
# Violation of the optimality conditions.


@lean_kernel
def optimality(H, g, C, d, n_equal, x, u):
    """
    Return the largest violation of the optimality conditions, relative to their terms.

    Stationarity ``|H x + g - C^T u|``, constraints ``d - C x``, and sign and complementarity of
    the (m,) multipliers u.

    Parameters
    ----------
    H, g : (n, n), (n,) array
        Cost ``x^T H x / 2 + g^T x``.
    C, d : (m, n), (m,) array
        Constraints ``C x >= d``, of which the first n_equal are equalities.
    n_equal : int
        How many of them.
    x, u : (n,), (m,) array
        Solution and multipliers.

    """
    n, m = x.shape[0], d.shape[0]
    worst, terms, largest = 0.0, 1e-300, 1e-300
    for j in range(n):
        s, size = g[j], abs(g[j])
        for c in range(n):
            s += H[j, c] * x[c]
            size += abs(H[j, c] * x[c])
        for i in range(m):
            if u[i] != 0.0:
                s -= C[i, j] * u[i]
                size += abs(C[i, j] * u[i])
        worst, terms = max(worst, abs(s)), max(terms, size)
    worst /= terms
    for i in range(m):
        largest = max(largest, abs(u[i]))
    # A constraint's own terms vanish at a cone's apex: its size is that of all unknowns, where
    # they are and where the cost alone would have them.
    reach = 0.0
    for j in range(n):
        reach = max(reach, abs(x[j]), abs(g[j]) / max(abs(H[j, j]), 1e-300))
    for i in range(m):
        slack, size = -d[i], abs(d[i]) + 1e-300
        for c in range(n):
            slack += C[i, c] * x[c]
            size += abs(C[i, c]) * reach
        slack, own = slack / size, u[i] / largest
        worst = max(worst, abs(slack) if i < n_equal else -slack, abs(own * slack))
        if i >= n_equal:
            worst = max(worst, -own)
    return worst


# -------------------------------------------------------------------------------------------------
# The solver.


class Outcome(Enum):
    """How a quadratic program ended."""

    SOLVED = 'the minimum was found'
    INFEASIBLE = 'no point satisfies all constraints'
    ITERATION_LIMIT = 'the steps ran out before the minimum was found'


_OUTCOMES = {SOLVED: Outcome.SOLVED, INFEASIBLE: Outcome.INFEASIBLE,
             ITERATION_LIMIT: Outcome.ITERATION_LIMIT}


@dataclass(frozen=True, eq=False)
class QuadraticSolution:
    """
    Minimum of a quadratic program.

    Attributes
    ----------
    x : (n,) array
        Meaningful only when the outcome is SOLVED.
    multipliers : (m,) array
        Of the constraints: zero for those that do not hold with equality.
    active : tuple of int
        Constraints that hold with equality, the next warm start.
    outcome : Outcome
        Whether x is the minimum.
    iterations : int
        Number of constraints added or dropped.
    kkt_residual : float
        The largest violation of the optimality conditions, recomputed from the problem as it was
        given: stationarity ``|H x + g - C^T u|`` relative to its terms, constraints ``d - C x``
        relative to the size of theirs, and sign and complementarity of the multipliers.

    """

    x: np.ndarray
    multipliers: np.ndarray
    active: tuple[int, ...]
    outcome: Outcome
    iterations: int
    kkt_residual: float


def solve_quadratic_program(H: np.ndarray, g: np.ndarray, C: np.ndarray, d: np.ndarray, *,
                            n_equalities: int = 0, warm_start: Sequence[int] = (),
                            iteration_limit: int = 500) -> QuadraticSolution:
    """
    Minimise ``x^T H x / 2 + g^T x`` subject to ``C x >= d``.

    Parameters
    ----------
    H : (n, n) array
        Symmetric and positive definite.
    g : (n,) array
        Linear part of the cost.
    C : (m, n) array
        One constraint a row.
    d : (m,) array
        What each is to reach at least.
    n_equalities : int
        How many of the constraints, counted from the first, are equalities.
    warm_start : sequence of int
        Constraints expected to hold with equality: the `active` of a similar program.
    iteration_limit : int
        Largest number of constraints that may be added or dropped.

    Returns
    -------
    QuadraticSolution

    Raises
    ------
    ConfigurationError
        When shapes do not fit, a value is not finite, or H is not positive definite.

    """
    try:
        H, g, C, d = (np.ascontiguousarray(a, dtype=float) for a in (H, g, C, d))
        guess = dict.fromkeys(int(i) for i in warm_start)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f'expected arrays of numbers, and a warm start of integers: '
                                 f'{error}') from error
    if g.ndim != 1 or d.ndim != 1:
        raise ConfigurationError(f'expected vectors g and d, got shapes {g.shape} and {d.shape}')
    n, m = len(g), len(d)
    if n == 0:
        raise ConfigurationError('expected at least one unknown, got an empty g')
    if isinstance(n_equalities, bool) or n_equalities not in range(m + 1):
        raise ConfigurationError(f'n_equalities: expected from 0 to the {m} constraints, got '
                                 f'{n_equalities!r}')
    n_equalities = int(n_equalities)
    if H.shape != (n, n) or C.shape != (m, n):
        raise ConfigurationError(f'expected H {(n, n)} and C {(m, n)}, for {n} unknowns and {m} '
                                 f'constraints; got {H.shape} and {C.shape}')
    if not all(np.isfinite(a).all() for a in (H, g, C, d)):
        raise ConfigurationError('expected finite H, g, C and d; leave a constraint out instead '
                                 'of making it infinite')
    active, u, x = np.zeros(m + n + 1, np.int64), np.zeros(m + n + 1), np.zeros(n)
    start = [*range(n_equalities), *(i for i in guess if n_equalities <= i < m)]
    active[:len(start)] = start
    status, k, steps = dual_method_within(
        H.copy(), g, C, d, n_equalities, active, len(start), u, x, iteration_limit,
        np.zeros((m, n)), np.zeros((n + 1, n + 1)), np.zeros((4, max(m, n + 1))))
    if status == NOT_CONVEX:
        raise ConfigurationError('expected a positive definite H; add a small multiple of the '
                                 'identity to it')
    multipliers = np.zeros(m)
    multipliers[active[:k]] = u[:k]
    return QuadraticSolution(x, multipliers, tuple(int(i) for i in active[:k]), _OUTCOMES[status],
                             steps, optimality(H, g, C, d, n_equalities, x, multipliers))
