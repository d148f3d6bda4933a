# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
The program of a tick in the space of its multipliers.

After the unknowns are eliminated foot by foot, with ``M = V + A D^-1 A^T``, a unit multiplier of
the inequality c of foot i moves the unknowns by ``H^-1 c = D^-1 c - D^-1 A^T M^-1 A D^-1 c``: a
few dozen multiplications.
"""
from __future__ import annotations

from legged_dynamics.contact.memory import STANDING
from legged_dynamics.contact.program import AIM, CHANGE, FOOT, WHOLE, WORKING, B, U, V, W, Y
from legged_dynamics.dynamics.jacobians import SIZE, START
from legged_dynamics.optimization.cholesky import solve_factorized
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.symmetric import add6, scale6
from legged_dynamics.spatial.table import get6, put6

ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@part
def dot6(a, b):
    """Return the product of two 6-tuples."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@part
def condense(index, p):
    """
    Fill ``D^-1 A^T`` and M, not yet factored.

    The base's six equations are summed up in registers, apart from those of shared joints.
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
def solve_equations(p, y):
    """Replace multipliers of the equations, the base's in a tuple, by M^-1 times them."""
    put6(p.wide, Y, 0, y)
    solve_factorized(p.narrow[p.M:], p.e, p.wide[Y])
    return get6(p.wide, Y, 0)


@part
def answer_of(p, c, y):
    """Return how unknown c answers to multipliers of the equations."""
    total = dot6(get6(p.narrow, p.response + c, 0), y)
    for r in range(6, p.e):
        total += p.narrow[p.response + c, r] * p.wide[Y, r]
    return total


@part
def find_unknowns(index, p, k):
    """Fill unknowns and multipliers of the equations, given those of k inequalities."""
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
            p.wide[W, c] += u * dot6(get6(p.narrow, p.inverse + c, 0), pressed)
    y = solve_equations(p, y)
    for c in range(p.nc):
        p.wide[W, c] += answer_of(p, c, y)


@part
def answer(index, p, row, slot):
    """
    Fill a slot of `columns` with how all slacks answer to a multiplier of one inequality.

    WHOLE has how its own slack would answer if there were no equations.
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
    y = solve_equations(p, y)
    for c in range(p.nc):
        p.wide[CHANGE, c] = answer_of(p, c, y)
    for c in range(start, start + size):
        own = dot6(get6(p.narrow, p.inverse + c, 0), pressed)
        p.wide[CHANGE, c] += own
        whole += own * p.narrow[p.C + row, c - start]
    i, change = -1, ZERO6
    for k in range(p.m):
        foot = int(p.narrow[k, FOOT])
        if foot != i:
            # Behind a point foot's three stand others, which its coefficients of zero leave out.
            i, change = foot, get6(p.wide, CHANGE, index[foot, START])
        moved = dot6(get6(p.narrow, p.C + k, 0), change)
        p.wide[p.columns + slot, k] = moved if index[i, STANDING] != 0 else 0.0
    p.wide[WHOLE, slot] = whole
