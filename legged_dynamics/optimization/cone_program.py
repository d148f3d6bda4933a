# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A small second-order cone program, solved to its duality gap without allocation.

Minimise ``c^T x + e/2 |x|^2`` subject to ``h - G x`` in a product of k second-order cones
``{(t, y): t >= |y|}`` of dimension 3 and of l half-lines. A primal-dual path-following method with
Nesterov-Todd scaling and Mehrotra's correction (Vandenberghe, The CVXOPT linear and quadratic
cone program solvers, 2010), for problems that have an interior point and a bounded optimum; those
of this package are built to have both, infeasible ones included.
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.optimization.cones import (
    BETA,
    divide,
    fill_units,
    find_scaling,
    longest_step,
    scale,
    shift_into_cones,
    subtract_product,
)
from legged_dynamics.optimization.factorizations import factorize, solve_factorized
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.layout import offsets

MAX_ITERATIONS = 60
# Relative duality gap and residuals at which a solution is accepted, and with which it may be
# kept when rounding stops progress. The first is near what double precision can reach.
TIGHT, LOOSE = 1e-11, 1e-7
# Slacks and multipliers of a program without solution grow without bound: stop at this size.
DIVERGED = 1e12


class SlackRows(NamedTuple):
    """Rows of ``ConeProgram.slack``: slacks s and multipliers z."""

    s: int = 1
    z: int = 1
    scaled: int = 1         # lambda = W z = W^-1 s
    ds: int = 1
    dz: int = 1
    residual: int = 1       # of the primal equations, G x + s - h
    target: int = 1         # of complementarity, divided by lambda
    scratch: int = 1
    rows: int = 0


class UnknownRows(NamedTuple):
    """Rows of ``ConeProgram.unknown``."""

    x: int = 1
    cost: int = 1           # c
    residual: int = 1       # of the dual equations, e x + c + G^T z
    dx: int = 1
    rhs: int = 1
    rows: int = 0


SLACK, UNKNOWN = offsets(SlackRows()), offsets(UnknownRows())


class ConeProgram(NamedTuple):
    """
    Memory for a program of n unknowns, l half-lines and k cones, m = l + 3 k rows.

    Attributes
    ----------
    G : (m, n) array
        Half-lines first, then three rows to a cone.
    h : (m,) array
        Right side of the inequalities, filled by the caller.
    unknown : (5, n) array
        Solution and cost among them.
    slack : (8, m) array
        Slacks and multipliers among them.
    scaling : (l + k, 4) array
        Nesterov-Todd scaling.
    hessian : (n, n) array
        Factor of the condensed equations.
    scaled : (m, n) array
        Scratch memory: ``W^-1 G``.
    report : (3,) array
        Relative gap, primal and dual residual of the solution.

    """

    G: np.ndarray
    h: np.ndarray
    unknown: np.ndarray
    slack: np.ndarray
    scaling: np.ndarray
    hessian: np.ndarray
    scaled: np.ndarray
    report: np.ndarray


def make_cone_program(n: int, lines: int, cones: int) -> ConeProgram:
    """
    Return memory for a program of a given size.

    Parameters
    ----------
    n : int
        Number of unknowns.
    lines, cones : int
        Numbers of half-lines and of second-order cones; there are lines + 3 cones inequalities.

    Returns
    -------
    ConeProgram
        Zeros; the caller fills G, h and the cost.

    """
    m = lines + 3 * cones
    return ConeProgram(np.zeros((m, n)), np.zeros(m), np.zeros((UNKNOWN.rows, n)),
                       np.zeros((SLACK.rows, m)), np.zeros((lines + cones, 4)), np.zeros((n, n)),
                       np.zeros((m, n)), np.zeros(3))


@kernel
def _factor_normal_equations(program, lines, cones, n, ridge):
    """Factor e 1 + G^T W^-2 G."""
    G, scaled, H = program.G, program.scaled, program.hessian
    m, column = lines + 3 * cones, program.slack[SLACK.scratch]
    for a in range(n):
        for j in range(m):
            column[j] = G[j, a]
        scale(program.scaling, lines, cones, column, column, True)
        for j in range(m):
            scaled[j, a] = column[j]
    largest = 0.0
    for a in range(n):
        for b in range(a + 1):
            total = 0.0
            for j in range(m):
                total += scaled[j, a] * scaled[j, b]
            H[a, b] = total
        H[a, a] += ridge
        largest = max(largest, H[a, a])
    for a in range(n):
        # Rounding may leave a zero pivot where active constraints determine all unknowns.
        H[a, a] += 1e-15 * largest
    return factorize(H, n)


@kernel
def _solve_step(program, lines, cones, n):
    """Fill dx, ds, dz from both residuals and the target, divided by lambda."""
    G, unknown, slack, scaled = program.G, program.unknown, program.slack, program.scaled
    m = lines + 3 * cones
    scratch = slack[SLACK.scratch]
    # W^-1 (r_z + W d_s) = W^-1 r_z + d_s
    scale(program.scaling, lines, cones, slack[SLACK.residual], scratch, True)
    for j in range(m):
        scratch[j] += slack[SLACK.target, j]
    for a in range(n):
        total = -unknown[UNKNOWN.residual, a]
        for j in range(m):
            total -= scaled[j, a] * scratch[j]
        unknown[UNKNOWN.dx, a] = total
    solve_factorized(program.hessian, n, unknown[UNKNOWN.dx])
    for j in range(m):
        total = scratch[j]
        for a in range(n):
            total += scaled[j, a] * unknown[UNKNOWN.dx, a]
        scratch[j] = total
    scale(program.scaling, lines, cones, scratch, slack[SLACK.dz], True)
    for j in range(m):
        total = -slack[SLACK.residual, j]
        for a in range(n):
            total -= G[j, a] * unknown[UNKNOWN.dx, a]
        slack[SLACK.ds, j] = total


@kernel
def solve_cone_program(program, lines, cones, n, ridge):
    """
    Solve the program; the solution is left in the rows x, s and z.

    Parameters
    ----------
    program : ConeProgram
        The program, and memory for its solution.
    lines, cones, n : int
        Numbers of half-lines, of cones and of unknowns.
    ridge : float
        Weight e of the term e/2 abs(x)^2 of the cost.

    Returns
    -------
    int
        Number of iterations, negative when not even the loose tolerance was reached.

    """
    G, h, unknown, slack = program.G, program.h, program.unknown, program.slack
    s, z, lam = slack[SLACK.s], slack[SLACK.z], slack[SLACK.scaled]
    m, degree = lines + 3 * cones, lines + cones
    scale_h, scale_c = 1.0, 1.0
    for j in range(m):
        scale_h = max(scale_h, abs(h[j]))
    for a in range(n):
        scale_c = max(scale_c, abs(unknown[UNKNOWN.cost, a]))
    # Start: least squares for slacks and multipliers, moved into the cones.
    for j in range(lines):
        program.scaling[j, BETA] = 1.0
    for k in range(cones):
        program.scaling[lines + k, 0], program.scaling[lines + k, 1] = 1.0, 0.0
        program.scaling[lines + k, 2], program.scaling[lines + k, BETA] = 0.0, 1.0
    _factor_normal_equations(program, lines, cones, n, ridge)
    for a in range(n):
        unknown[UNKNOWN.x, a] = 0.0
        unknown[UNKNOWN.residual, a] = unknown[UNKNOWN.cost, a]
    for j in range(m):
        slack[SLACK.residual, j], slack[SLACK.target, j] = -h[j], 0.0
    _solve_step(program, lines, cones, n)
    for a in range(n):
        unknown[UNKNOWN.x, a] = unknown[UNKNOWN.dx, a]
    for j in range(m):
        s[j], z[j] = slack[SLACK.ds, j], slack[SLACK.dz, j]
    shift_into_cones(lines, cones, s)
    shift_into_cones(lines, cones, z)
    best, merit, stalled = math.inf, math.inf, 0
    for iteration in range(MAX_ITERATIONS):
        gap, cost, worst_x, worst_z, largest = 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(m):
            gap += s[j] * z[j]
            largest = max(largest, abs(s[j]), abs(z[j]))
            total = s[j] - h[j]
            for a in range(n):
                total += G[j, a] * unknown[UNKNOWN.x, a]
            slack[SLACK.residual, j] = total
            worst_z = max(worst_z, abs(total))
        for a in range(n):
            total = ridge * unknown[UNKNOWN.x, a] + unknown[UNKNOWN.cost, a]
            cost += unknown[UNKNOWN.cost, a] * unknown[UNKNOWN.x, a]
            for j in range(m):
                total += G[j, a] * z[j]
            unknown[UNKNOWN.residual, a] = total
            worst_x = max(worst_x, abs(total))
        mu = gap / degree
        program.report[0] = gap / max(1.0, abs(cost))
        program.report[1], program.report[2] = worst_z / scale_h, worst_x / scale_c
        merit = max(program.report[0], program.report[1], program.report[2])
        if merit < TIGHT:
            return iteration
        # Rounding prevents progress: accept the loose tolerance.
        stalled = stalled + 1 if merit > 0.5 * best else 0
        hopeless = not largest < DIVERGED or not merit < math.inf
        if hopeless or (stalled >= 2 and merit < LOOSE) or stalled > 10:
            break
        best = min(best, merit)
        # Predictor and corrector of Mehrotra share one scaling and one factorisation.
        if not find_scaling(program.scaling, lines, cones, s, z):
            break
        scale(program.scaling, lines, cones, z, lam, False)
        if not _factor_normal_equations(program, lines, cones, n, ridge):
            break
        sigma, step = 0.0, 0.0
        for corrector in range(2):
            # Complementarity: lam o lam, plus the affine steps' product, less sigma mu e.
            target = slack[SLACK.target]
            fill_units(lines, cones, sigma * mu, target)
            subtract_product(lines, cones, lam, lam, target)
            if corrector:
                subtract_product(lines, cones, slack[SLACK.ds], slack[SLACK.dz], target)
            divide(lines, cones, lam, target)
            if corrector:
                for j in range(m):
                    slack[SLACK.residual, j] *= 1.0 - sigma
                for a in range(n):
                    unknown[UNKNOWN.residual, a] *= 1.0 - sigma
            _solve_step(program, lines, cones, n)
            step = min(longest_step(lines, cones, s, slack[SLACK.ds]),
                       longest_step(lines, cones, z, slack[SLACK.dz]))
            if corrector == 0:
                step = min(1.0, step)
                # The length of the affine step determines the centring (Mehrotra 1992).
                sigma = (1.0 - step) ** 3
                # The corrector needs the affine steps in scaled coordinates.
                scale(program.scaling, lines, cones, slack[SLACK.ds], slack[SLACK.ds], True)
                scale(program.scaling, lines, cones, slack[SLACK.dz], slack[SLACK.dz], False)
        # Never onto the boundary, where the scaling has no meaning.
        step = min(1.0, 0.99 * step)
        for a in range(n):
            unknown[UNKNOWN.x, a] += step * unknown[UNKNOWN.dx, a]
        for j in range(m):
            s[j] += step * slack[SLACK.ds, j]
            z[j] += step * slack[SLACK.dz, j]
    return iteration if merit < LOOSE else -1
