# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A small dense quadratic program: ``min x^T H x / 2 + g^T x`` subject to ``C x >= d``.

For tens of unknowns and a hundred constraints. A warm start is a guess of the active constraints:
the program with these as equalities is solved, constraints with negative multipliers are dropped,
and the method goes on from there. A wrong guess costs steps and never changes the answer.

The method is the dual active-set method of Goldfarb and Idnani (1983). In ``y = L^T x`` with ``H =
L L^T`` the cost is a distance, and the method ascends from the unconstrained minimum: it adds the
constraint that is violated most to the active ones, moves onto it while the others stay active,
and drops one whose multiplier reaches zero on the way. Every step is optimal for the active
constraints, so the method ends after few steps, and it detects when no point satisfies all
constraints.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.optimization.factorizations import factorize, solve_factorized
from legged_dynamics.spatial.jit import lean_kernel, part

# Relative size below which a constraint is met.
TOLERANCE = 1e-10
# A row counts as linearly dependent on others when the square of its remainder, relative to its
# own, is below this. Rounding is 1e-28 where the row is projected twice. At condition 1e8 two
# distinct constraints can differ by 1e-12.
DEPENDENT = 1e-20
# The same where only a Gram matrix is used, with a rounding of 1e-15.
DEPENDENT_IN_GRAM = 1e-13
# A relative violation below this does not prove that the constraints contradict each other.
CONTRADICTION = 1e-7
# Rounding error of the starting point, relative to it, in units of TOLERANCE.
ROUNDING = 1e-4
# Below this relative remainder the projection has lost digits, and is repeated.
CANCELLED = 1e-4
SOLVED, INFEASIBLE, ITERATION_LIMIT, NOT_CONVEX = range(4)


class QuadraticProgram(NamedTuple):
    """A program of n unknowns and m constraints, equalities first, with the method's memory."""

    H: np.ndarray           # (n, n): its lower triangle is replaced by its factor
    g: np.ndarray           # (n,)
    C: np.ndarray           # (m, n)
    d: np.ndarray           # (m,)
    x: np.ndarray           # (n,): the answer
    u: np.ndarray           # (n + 1 or more,): multipliers of the active constraints
    active: np.ndarray      # (m + n + 1,) int: which hold with equality: a guess, then the answer
    rows: np.ndarray        # (m, n): constraints on ``y = L^T x``
    columns: np.ndarray     # (n, m or more): the same
    gram: np.ndarray        # (n + 1, n + 1): factored products of the active rows
    vectors: np.ndarray     # (5, at least m and n + 1): scratch
    span: np.ndarray        # (m or more, 2) int: scratch

    @classmethod
    def of_size(cls, n: int, m: int) -> QuadraticProgram:
        """Return zeroed memory."""
        return cls(np.zeros((n, n)), np.zeros(n), np.zeros((m, n)), np.zeros(m), np.zeros(n),
                   np.zeros(m + n + 1), np.zeros(m + n + 1, np.int64), np.zeros((m, n)),
                   np.zeros((n, m)), np.zeros((n + 1, n + 1)), np.zeros((5, max(m, n + 1))),
                   np.zeros((m, 2), np.int64))


class ActiveSet(NamedTuple):
    """What the dual method works on: the nearest point with ``rows y >= d``."""

    rows: np.ndarray        # (m, n)
    columns: np.ndarray     # (n, m or more): the same, for loops over all constraints
    d: np.ndarray           # (m,)
    size: np.ndarray        # (m,): lengths of the rows
    y: np.ndarray           # (n,): present point
    active: np.ndarray      # (n + 1 or more,) int: the first k entries hold with equality
    u: np.ndarray           # (n + 1 or more,): their multipliers
    gram: np.ndarray        # (n + 1, n + 1) scratch: factored products of the active rows
    r: np.ndarray           # (n + 1,) scratch: a row as a sum of the active ones,
    z: np.ndarray           # (n,) scratch: and its rest
    error: np.ndarray       # (n + 1,) scratch
    slack: np.ndarray       # (m or more,) scratch
    span: np.ndarray        # (m or more, 2) int: each row's first nonzero column, end of the last


@part
def _square(v, n):
    """Return the sum of the squares of the first n elements."""
    total = 0.0
    for c in range(n):
        total += v[c] * v[c]
    return total


@part
def _product(s, i, j):
    """Return the product of two rows."""
    total = 0.0
    for c in range(max(s.span[i, 0], s.span[j, 0]), min(s.span[i, 1], s.span[j, 1])):
        total += s.rows[i, c] * s.rows[j, c]
    return total


@part
def _factor_row(s, i, p):
    """Factor products of row p with the first i active rows, and itself; return its square."""
    gram, square = s.gram, _product(s, p, p)
    for j in range(i + 1):
        total = _product(s, p, s.active[j]) if j < i else square
        for c in range(j):
            total -= gram[i, c] * gram[j, c]
        gram[i, j] = total * gram[j, j] if j < i else total
    return square


@part
def _factor_gram(s, ready, k):
    """Factor the products of active rows from number ``ready`` on; return if independent."""
    gram = s.gram
    for i in range(ready, k):
        _factor_row(s, i, s.active[i])
        if not gram[i, i] > 0.0:
            return False
        gram[i, i] = 1.0 / math.sqrt(gram[i, i])
    return True


@part
def _project(s, ready, k, p):
    """
    Split row p into r, on active rows, and z; return |z|^2, -1 for dependent rows.

    The products of the first ``ready`` active rows are factored already.
    """
    rows, active, r, z, error = s.rows, s.active, s.r, s.z, s.error
    n = rows.shape[1]
    for i in range(k):
        r[i] = _product(s, active[i], p)
    if not _factor_gram(s, ready, k):
        return -1.0
    solve_factorized(s.gram, k, r)
    for c in range(n):
        z[c] = rows[p, c]
    for i in range(k):
        for c in range(s.span[active[i], 0], s.span[active[i], 1]):
            z[c] -= r[i] * rows[active[i], c]
    left = _square(z, n)
    if left > CANCELLED * _square(rows[p], n):
        return left
    # Twice is enough (Parlett 1980, 6.9): the remaining component along active rows is rounding.
    for i in range(k):
        error[i] = 0.0
        for c in range(n):
            error[i] += rows[active[i], c] * z[c]
    solve_factorized(s.gram, k, error)
    for i in range(k):
        r[i] += error[i]
        for c in range(n):
            z[c] -= error[i] * rows[active[i], c]
    return _square(z, n)


@part
def _polish(s, start, k):
    """
    Solve once more for the active rows, where rounding has left them unmet.

    ``start`` is the unconstrained minimum; y is to be that and the active rows times u.
    """
    rows, d, y, active, u, r = s.rows, s.d, s.y, s.active, s.u, s.r
    n = rows.shape[1]
    for _ in range(3):
        worst = 0.0
        for c in range(n):
            y[c] = start[c]
            for i in range(k):
                y[c] += u[i] * rows[active[i], c]
        reach = math.sqrt(_square(y, n))
        for i in range(k):
            r[i] = d[active[i]]
            for c in range(n):
                r[i] -= rows[active[i], c] * y[c]
            worst = max(worst, abs(r[i]) / (abs(d[active[i]]) + s.size[active[i]] * reach
                                            + 1e-300))
        if worst < 1e-13:
            return
        if not _factor_gram(s, 0, k):
            return
        solve_factorized(s.gram, k, r)
        for i in range(k):
            u[i] += r[i]
            for c in range(n):
                y[c] += r[i] * rows[active[i], c]


@part
def _start_from(s, n_equal, k):
    """Move ``y`` to the minimum on the active rows that do not pull; return how many are left."""
    rows, y, active, u, gram = s.rows, s.y, s.active, s.u, s.gram
    n = rows.shape[1]
    while True:
        kept = 0
        for i in range(k):      # rows that are sums of those before them are dropped
            if kept == n:       # rounding may hide that the others are
                break
            diagonal = _factor_row(s, kept, active[i])
            if gram[kept, kept] > DEPENDENT_IN_GRAM * diagonal:
                gram[kept, kept] = 1.0 / math.sqrt(gram[kept, kept])
                active[kept] = active[i]
                kept += 1
        k = kept
        for i in range(k):
            u[i] = s.d[active[i]]
            for c in range(n):
                u[i] -= rows[active[i], c] * y[c]
        solve_factorized(gram, k, u)
        worst, value = -1, 0.0
        for i in range(k):
            if active[i] >= n_equal and u[i] < value:
                worst, value = i, u[i]
        if worst < 0:
            break
        for i in range(worst, k - 1):
            active[i] = active[i + 1]
        k -= 1
    for i in range(k):
        for c in range(n):
            y[c] += u[i] * rows[active[i], c]
    return k


@part
def _equalities_hold(s, n_equal, reach):
    """Return whether equalities that depend linearly on others agree with them."""
    for i in range(n_equal):
        total = -s.d[i]
        for c in range(s.rows.shape[1]):
            total += s.rows[i, c] * s.y[c]
        if abs(total) > math.sqrt(TOLERANCE) * (abs(s.d[i]) + s.size[i] * reach):
            return False
    return True


@part
def _most_violated(s, k, reach):
    """
    Return the constraint violated most, its value, and that for its size; -1 when all are met.

    Its size is that of its terms where y is now, and of the rounding left from where y began.
    """
    found, worst, value = -1, -TOLERANCE, 0.0
    length = math.sqrt(_square(s.y, s.rows.shape[1])) + ROUNDING * reach
    m, slack = s.rows.shape[0], s.slack
    for i in range(m):
        slack[i] = -s.d[i]
    for c in range(s.rows.shape[1]):
        column, along = s.columns[c], s.y[c]
        for i in range(m):      # a vector instruction, which a sum along a row is not
            slack[i] += column[i] * along
    for i in range(m):
        whole = abs(s.d[i]) + s.size[i] * length + 1e-300
        if slack[i] < worst * whole:
            is_active = False
            for j in range(k):
                is_active = is_active or s.active[j] == i
            if not is_active:
                found, worst, value = i, slack[i] / whole, slack[i]
    return found, value, worst


@part
def ascend(s, n_equal, k, limit, reach):
    """
    Add violated constraints to the active ones until none is violated.

    ``reach``: length that tells rounding from violation; products of the first k rows are
    factored. Returns (SOLVED, INFEASIBLE or ITERATION_LIMIT, k, steps).
    """
    rows, y, active, u, r, z = s.rows, s.y, s.active, s.u, s.r, s.z
    n, steps, ready = rows.shape[1], 0, k
    while steps < limit:
        p, slack, relative = _most_violated(s, k, reach)
        if p < 0:
            return SOLVED, k, steps
        # Where many constraints meet, rounding leaves one unmet that nothing contradicts.
        refusal = SOLVED if relative > -CONTRADICTION else INFEASIBLE
        own, whole = 0.0, _square(rows[p], n)
        while steps < limit:
            steps += 1
            # Direction z meets constraint p and leaves the active ones as they are; -r is how
            # their multipliers answer.
            left = _project(s, ready, k, p)
            if left < 0.0:
                return refusal, k, steps
            ready = k
            drop, partial = -1, math.inf
            for i in range(k):
                if active[i] >= n_equal and r[i] > 0.0 and u[i] < partial * r[i]:
                    drop, partial = i, u[i] / r[i]
            free = k < n and left > DEPENDENT * whole
            full = -slack / left if free else math.inf
            # A full step meets p; a partial one ends where a multiplier reaches zero: that row
            # is dropped.
            t = min(partial, full)
            if not t < math.inf:        # NaN as well
                return refusal, k, steps
            if free:
                for c in range(n):
                    y[c] += t * z[c]
                slack += t * left
            for i in range(k):
                u[i] -= t * r[i]
            own += t
            if full <= partial:
                active[k], u[k] = p, own
                k += 1
                break
            for i in range(drop, k - 1):
                active[i], u[i] = active[i + 1], u[i + 1]
            k, ready = k - 1, drop
    return ITERATION_LIMIT, k, steps


@part
def _transform(C, factor, s):
    """Fill the rows L^-1 c of constraints c, by columns too, their lengths and spans."""
    m, n = C.shape
    size = s.size
    size[:] = 0.0
    for c in range(n):
        to, diagonal = s.columns[c], factor[c, c]
        for i in range(m):
            to[i] = C[i, c]
        for j in range(c):
            known, h = s.columns[j], factor[c, j]
            if h != 0.0:
                for i in range(m):
                    to[i] -= h * known[i]
        for i in range(m):
            to[i] *= diagonal
            size[i] += to[i] * to[i]
    for i in range(m):
        first, end = n, 0
        for c in range(n):
            s.rows[i, c] = s.columns[c, i]
            if s.rows[i, c] != 0.0:
                first, end = min(first, c), c + 1
        s.span[i, 0], s.span[i, 1], size[i] = first, end, math.sqrt(size[i])


@part
def _descend(factor, g, y):
    """Fill the unconstrained minimum ``y = -L^-1 g``."""
    for c in range(g.shape[0]):
        total = -g[c]
        for j in range(c):
            total -= factor[c, j] * y[j]
        y[c] = total * factor[c, c]


@lean_kernel
def dual_method(program, n_equal, k, limit):
    """Solve the program from its first k active constraints; return (status, k, steps)."""
    factor, g, C, d, x, u, active, rows, columns, gram, vectors, span = program
    n, m = len(g), len(d)
    if not factorize(factor, n):
        return NOT_CONVEX, 0, 0
    z, y = vectors[2, :n], x
    s = ActiveSet(rows, columns, d, vectors[0, :m], y, active, u, gram, vectors[1, :n + 1], z,
                  vectors[3, :n + 1], vectors[4], span)
    _transform(C, factor, s)
    _descend(factor, g, y)
    free = _square(y, n)
    k = _start_from(s, n_equal, k)
    # Without a linear cost it is the equalities that give it a size.
    reach = math.sqrt(max(free, _square(y, n)))
    status, steps = INFEASIBLE, 0
    if _equalities_hold(s, n_equal, reach):
        status, k, steps = ascend(s, n_equal, k, limit, reach)
    if status == SOLVED and k > 0:
        _descend(factor, g, z)
        _polish(s, z, k)
    for c in range(n - 1, -1, -1):
        total = y[c]
        for j in range(c + 1, n):
            total -= factor[j, c] * x[j]
        x[c] = total * factor[c, c]
    return status, k, steps


# -------------------------------------------------------------------------------------------------
# Violation of the optimality conditions.


@lean_kernel
def optimality(H, g, C, d, n_equal, x, u):
    """
    Return the largest violation of the QP's optimality conditions, relative to terms.

    Stationarity ``|H x + g - C^T u|``, constraints ``d - C x``, sign and complementarity of
    u.
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
            if C[i, c] != 0.0:
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
        Multipliers of the constraints: zero for those that do not hold with equality.
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
        H, g, C, d = (np.array(a, dtype=float, order='C') for a in (H, g, C, d))
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
    program = QuadraticProgram.of_size(n, m)._replace(H=H.copy(), g=g, C=C, d=d)
    start = [*range(n_equalities), *(i for i in guess if n_equalities <= i < m)]
    program.active[:len(start)] = start
    status, k, steps = dual_method(program, n_equalities, len(start), iteration_limit)
    if status == NOT_CONVEX:
        raise ConfigurationError('expected a positive definite H; add a small multiple of the '
                                 'identity to it')
    multipliers, active, x = np.zeros(m), program.active[:k], program.x
    multipliers[active] = program.u[:k]
    return QuadraticSolution(x, multipliers, tuple(int(i) for i in active), _OUTCOMES[status],
                             steps, optimality(H, g, C, d, n_equalities, x, multipliers))
