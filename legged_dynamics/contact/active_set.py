# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Dual active-set method on a tick's slacks: two to three times as fast as the general one.

The method is that of Goldfarb and Idnani (1983), which `optimization.dual_method` has for any
program. Here the response of the slacks to a multiplier is known foot by foot, without a matrix of
all unknowns, and is computed only for inequalities that become active. A tick on four soles on a
slope takes 5.4 to 6.4 us here and 12.6 to 17.8 us there, on four point feet 3.4 us and 3.9 to
5.9 us, and 0.8 us where no inequality is active.
"""
from __future__ import annotations

import math

from legged_dynamics.contact.program import (
    AIM,
    BOUND,
    CHANGE,
    FOOT,
    REMEMBERED,
    SIZE_OF_SLACK,
    SLACK,
    WHOLE,
    WORKING,
    B,
    R,
    U,
    V,
    W,
    Y,
)
from legged_dynamics.contact.tick import STANDING
from legged_dynamics.dynamics.jacobians import SIZE, START
from legged_dynamics.optimization.factorizations import factorize, solve_factorized
from legged_dynamics.spatial.algebra import norm
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.layout import get3, get6, put6
from legged_dynamics.spatial.symmetric import add6, scale6

# -------------------------------------------------------------------------------------------------
# The program of a tick in the space of its multipliers.
#
# The unknowns are eliminated foot by foot, with ``M = V + A D^-1 A^T``. A unit multiplier of the
# inequality c of foot i then moves the unknowns by ``D^-1 c - D^-1 A^T M^-1 A D^-1 c``: a few
# dozen multiplications.


ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@part
def _dot6(a, b):
    """Return the product of two 6-tuples."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@part
def condense(index, p):
    """
    Fill ``D^-1 A^T`` and M, not yet factored.

    The base's six equations are summed up in registers, apart from those of joints that several
    feet share.

    Parameters
    ----------
    index : (nf, N_INDEX and more) int array
        Integers of the feet, with the flag STANDING: see `contact.tick`.
    p : Program
        Memory of the program.

    """
    e, table = p.e, p.narrow
    for i in range(index.shape[0]):
        start, size = index[i, START], index[i, SIZE]
        for k in range(start, start + size):
            row = scale6(table[p.inverse + k, 0], get6(table, p.A + start, 0))
            for j in range(1, size):
                row = add6(row, scale6(table[p.inverse + k, j], get6(table, p.A + start + j, 0)))
            put6(table, p.response + k, 0, row)
            for r in range(6, e):
                table[p.response + k, r] = 0.0
                for j in range(size):
                    table[p.response + k, r] += (table[p.inverse + k, j]
                                                 * table[p.A + start + j, r])
    for r in range(e):
        row = ZERO6
        for k in range(p.nc):
            row = add6(row, scale6(table[p.A + k, r], get6(table, p.response + k, 0)))
        put6(table, p.M + r, 0, row)
        for s in range(6, r + 1):
            table[p.M + r, s] = 0.0
            for k in range(p.nc):
                table[p.M + r, s] += table[p.A + k, r] * table[p.response + k, s]
        table[p.M + r, r] += p.wide[V, r]


@part
def _solve_equations(p, y):
    """Replace multipliers of the equations, the base's in a tuple, by M^-1 times them."""
    put6(p.wide, Y, 0, y)
    solve_factorized(p.narrow[p.M:], p.e, p.wide[Y])
    return get6(p.wide, Y, 0)


@part
def _response_of(p, c, y):
    """Return how unknown c responds to multipliers of the equations."""
    total = _dot6(get6(p.narrow, p.response + c, 0), y)
    for r in range(6, p.e):
        total += p.narrow[p.response + c, r] * p.wide[Y, r]
    return total


@part
def find_unknowns(index, p, k):
    """
    Fill unknowns and multipliers of the equations, given the multipliers of active inequalities.

    Parameters
    ----------
    index : (nf, N_INDEX and more) int array
        Integers of the feet, with the flag STANDING: see `contact.tick`.
    p : Program
        Memory of the program.
    k : int
        Number of active inequalities, listed in ``p.lists[WORKING]``.

    """
    y = get6(p.wide, B, 0)
    for r in range(6, p.e):
        p.wide[Y, r] = p.wide[B, r]
    for c in range(p.nc):
        aim = p.wide[AIM, c]
        p.wide[W, c] = aim
        y = add6(y, scale6(-aim, get6(p.narrow, p.A + c, 0)))
        for r in range(6, p.e):
            p.wide[Y, r] -= aim * p.narrow[p.A + c, r]
    for a in range(k):
        row, u = p.lists[WORKING, a], p.wide[U, a]
        i, pressed = int(p.narrow[row, FOOT]), get6(p.narrow, p.C + row, 0)
        for j in range(index[i, SIZE]):
            c, pull = index[i, START] + j, u * p.narrow[p.C + row, j]
            y = add6(y, scale6(-pull, get6(p.narrow, p.response + c, 0)))
            for r in range(6, p.e):
                p.wide[Y, r] -= pull * p.narrow[p.response + c, r]
            p.wide[W, c] += u * _dot6(get6(p.narrow, p.inverse + c, 0), pressed)
    y = _solve_equations(p, y)
    for c in range(p.nc):
        p.wide[W, c] += _response_of(p, c, y)


@part
def _fill_response(index, p, row, slot):
    """
    Fill a column with how all slacks respond to a unit multiplier of one inequality.

    WHOLE becomes how its own slack would respond if there were no equations.
    """
    i, pressed = int(p.narrow[row, FOOT]), get6(p.narrow, p.C + row, 0)
    start, size = index[i, START], index[i, SIZE]
    y, whole = ZERO6, 0.0
    for r in range(6, p.e):
        p.wide[Y, r] = 0.0
    for c in range(start, start + size):
        pull = p.narrow[p.C + row, c - start]
        y = add6(y, scale6(-pull, get6(p.narrow, p.response + c, 0)))
        for r in range(6, p.e):
            p.wide[Y, r] -= pull * p.narrow[p.response + c, r]
    y = _solve_equations(p, y)
    for c in range(p.nc):
        p.wide[CHANGE, c] = _response_of(p, c, y)
    for c in range(start, start + size):
        own = _dot6(get6(p.narrow, p.inverse + c, 0), pressed)
        p.wide[CHANGE, c] += own
        whole += own * p.narrow[p.C + row, c - start]
    i, change = -1, ZERO6
    for k in range(p.m):
        foot = int(p.narrow[k, FOOT])
        if foot != i:
            # Behind the three of a point foot are another foot's: its coefficients there are zero.
            i, change = foot, get6(p.wide, CHANGE, index[foot, START])
        moved = _dot6(get6(p.narrow, p.C + k, 0), change)
        p.wide[p.columns + slot, k] = moved if index[i, STANDING] != 0 else 0.0
    p.wide[WHOLE, slot] = whole


# -------------------------------------------------------------------------------------------------
# The method itself: inequalities are added while one is violated, and dropped where their
# multiplier would become negative.


# Relative size below which one inequality is a linear combination of others: under equations, and
# under costs that outweigh the rest and leave it little freedom.
INDEPENDENT, INDEPENDENT_IF_SOFT = 1e-8, 1e-10
# Relative size below which an inequality is met: such large weights cost digits.
MET = 1e-10
SOLVED, INFEASIBLE, STEPS_RAN_OUT = 0, 1, 2
# Largest relative error of the optimality conditions of an accepted solution.
ACCEPTED = 1e-8
# Largest number of inequalities added or dropped; about ten is usual.
STEPS = 400


@part
def _drop(p, place, k):
    """Drop one of k active inequalities; a candidate's column follows."""
    for a in range(place, k):
        p.lists[WORKING, a], p.wide[U, a] = p.lists[WORKING, a + 1], p.wide[U, a + 1]
        p.wide[WHOLE, a] = p.wide[WHOLE, a + 1]
        for j in range(p.m):
            p.wide[p.columns + a, j] = p.wide[p.columns + a + 1, j]


@part
def _factor_active(p, k, least):
    """Factor the matrix of the k active inequalities; return whether they are independent."""
    for a in range(k):
        for b in range(a + 1):
            p.wide[p.gram + a, b] = p.wide[p.columns + a, p.lists[WORKING, b]]
    if not factorize(p.wide[p.gram:], k):
        return False
    for a in range(k):
        reciprocal = p.wide[p.gram + a, a]
        if reciprocal * reciprocal * least * p.wide[WHOLE, a] > 1.0:
            return False
    return True


@part
def warm_start(index, p, least):
    """
    Solve for the inequalities that were active last time; drop those with negative multipliers.

    Parameters
    ----------
    index : (nf, N_INDEX and more) int array
        Integers of the feet, with the flag STANDING: see `contact.tick`.
    p : Program
        Memory of the program.
    least : float
        Relative size below which an inequality counts as a sum of the active ones.

    Returns
    -------
    int
        Number of active inequalities that are left.

    """
    k = p.lists[REMEMBERED, 0]
    for a in range(k):
        p.lists[WORKING, a] = p.lists[REMEMBERED, 1 + a]
        _fill_response(index, p, p.lists[WORKING, a], a)
    while k > 0:
        if not _factor_active(p, k, least):
            return 0
        for a in range(k):
            p.wide[U, a] = -p.wide[SLACK, p.lists[WORKING, a]]
        solve_factorized(p.wide[p.gram:], k, p.wide[U])
        worst, value = -1, 0.0
        for a in range(k):
            if p.wide[U, a] < value:
                worst, value = a, p.wide[U, a]
        if worst < 0:
            break
        _drop(p, worst, k)
        k -= 1
    for a in range(k):
        for j in range(p.m):
            p.wide[SLACK, j] += p.wide[U, a] * p.wide[p.columns + a, j]
    return k


@part
def _most_violated(p, k):
    """Return the inequality violated most for its size, or -1 when all are met."""
    found, worst = -1, -MET
    for j in range(p.m):
        if p.wide[SLACK, j] < worst * p.wide[SIZE_OF_SLACK, j]:
            active = False
            for a in range(k):
                active = active or p.lists[WORKING, a] == j
            if not active:
                found, worst = j, p.wide[SLACK, j] / p.wide[SIZE_OF_SLACK, j]
    return found


@part
def ascend(index, p, k, least):
    """
    Add violated inequalities until none is left.

    Parameters
    ----------
    index : (nf, N_INDEX and more) int array
        Integers of the feet, with the flag STANDING: see `contact.tick`.
    p : Program
        Memory of the program.
    k : int
        Number at the start of active inequalities, listed in ``p.lists[WORKING]``.
    least : float
        Relative size below which an inequality counts as a sum of the active ones.

    Returns
    -------
    int, int
        SOLVED, INFEASIBLE or STEPS_RAN_OUT, and the number of active inequalities.

    """
    steps = 0
    u, step = p.wide[U], p.wide[R]
    while steps < STEPS:
        row = _most_violated(p, k)
        if row < 0:
            return SOLVED, k
        _fill_response(index, p, row, k)
        own = 0.0
        while steps < STEPS:
            steps += 1
            _factor_active(p, k, 0.0)
            left = p.wide[p.columns + k, row]
            for a in range(k):
                step[a] = p.wide[p.columns + k, p.lists[WORKING, a]]
            solve_factorized(p.wide[p.gram:], k, step)
            for a in range(k):
                left -= step[a] * p.wide[p.columns + a, row]
            drop, partial = -1, math.inf
            for a in range(k):
                if step[a] > 0.0 and u[a] < partial * step[a]:
                    drop, partial = a, u[a] / step[a]
            free = left > least * p.wide[WHOLE, k]
            full = -p.wide[SLACK, row] / left if free else math.inf
            t = min(full, partial)
            if t == math.inf:
                return INFEASIBLE, k
            for j in range(p.m):
                change = p.wide[p.columns + k, j]
                for a in range(k):
                    change -= step[a] * p.wide[p.columns + a, j]
                p.wide[SLACK, j] += t * change
            for a in range(k):
                u[a] -= t * step[a]
            own += t
            if full <= partial:
                p.lists[WORKING, k], u[k] = row, own
                k += 1
                break
            _drop(p, drop, k)
            k -= 1
    return STEPS_RAN_OUT, k


@part
def remember_active(p, k):
    """
    Keep the active inequalities for the warm start of the next tick.

    Parameters
    ----------
    p : Program
        Memory of the program.
    k : int
        Number of active inequalities, listed in ``p.lists[WORKING]``.

    """
    p.lists[REMEMBERED, 0] = k
    for a in range(k):
        p.lists[REMEMBERED, 1 + a] = p.lists[WORKING, a]


@part
def optimality(index, p, k):
    """
    Return the largest violation of the optimality conditions, relative to their terms.

    It is computed for the present unknowns and multipliers from the program as it was given.

    Parameters
    ----------
    index : (nf, N_INDEX and more) int array
        Integers of the feet, with the flag STANDING: see `contact.tick`.
    p : Program
        Memory of the program.
    k : int
        Number of active inequalities, listed in ``p.lists[WORKING]``.

    Returns
    -------
    float
        Relative violation.

    """
    nc, e = p.nc, p.e
    w, y = p.wide[W], p.wide[Y]
    pull, pulls, miss, misses = 0.0, 1e-300, 0.0, 1e-300
    for i in range(index.shape[0]):
        for j in range(index[i, SIZE]):
            c = index[i, START] + j
            s, size = 0.0, 0.0
            for n in range(index[i, SIZE]):
                other = index[i, START] + n
                term = p.narrow[p.D + c, n] * (w[other] - p.wide[AIM, other])
                s, size = s + term, size + abs(term)
            for r in range(e):
                s, size = s - p.narrow[p.A + c, r] * y[r], size + abs(p.narrow[p.A + c, r] * y[r])
            for a in range(k):
                row = p.lists[WORKING, a]
                if int(p.narrow[row, FOOT]) == i:
                    term = p.narrow[p.C + row, j] * p.wide[U, a]
                    s, size = s - term, size + abs(term)
            if index[i, STANDING] != 0:
                pull, pulls = max(pull, abs(s)), max(pulls, size)
    for r in range(e):
        s, size = p.wide[B, r] - p.wide[V, r] * y[r], abs(p.wide[B, r])
        for c in range(nc):
            s, size = s - p.narrow[p.A + c, r] * w[c], size + abs(p.narrow[p.A + c, r] * w[c])
        miss, misses = max(miss, abs(s)), max(misses, size)
    worst, largest = max(pull / pulls, miss / misses), 1e-300
    for a in range(k):
        largest = max(largest, abs(p.wide[U, a]))
    for a in range(k):
        row, own = p.lists[WORKING, a], p.wide[U, a] / largest
        slack = p.wide[SLACK, row] / p.wide[SIZE_OF_SLACK, row]
        worst = max(worst, -own, abs(own * slack))
    for j in range(p.m):
        worst = max(worst, -p.wide[SLACK, j] / p.wide[SIZE_OF_SLACK, j])
    return worst


@part
def fill_sizes(index, p):
    """
    Fill the scale of each inequality's slack from the load on the feet.

    Parameters
    ----------
    index : (nf, N_INDEX and more) int array
        Integers of the feet, with the flag STANDING: see `contact.tick`.
    p : Program
        Memory of the program.

    """
    load = 1e-300
    for i in range(index.shape[0]):
        load += norm(get3(p.wide, W, index[i, START]))
    for j in range(p.m):
        load = max(load, abs(p.narrow[j, BOUND]))
    for j in range(p.m):
        size = abs(p.narrow[j, BOUND])
        for c in range(6):
            size += abs(p.narrow[p.C + j, c]) * load
        p.wide[SIZE_OF_SLACK, j] = size
