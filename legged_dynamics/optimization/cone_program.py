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

from legged_dynamics.optimization.factorizations import factorize, solve_factorized
from legged_dynamics.spatial.jit import kernel, part
from legged_dynamics.spatial.layout import offsets

# -------------------------------------------------------------------------------------------------
# Operations on a product of half-lines and second-order cones of dimension 3.
#
# A vector has first the half-lines' entries, then (t, y1, y2) of each cone ``t >= |y|``. Each cone
# has a product, a unit, and the scaling of Nesterov and Todd, ``W z = W^-1 s = lambda``
# (Vandenberghe 2010, sections 2 and 4).
#
# Arguments of the kernels: `lines` and `cones`, their numbers; `scaling`, (lines + cones, 4);
# slacks s, multipliers z, points x, y and directions d, (lines + 3 cones,).


# Column of a scaling, after v, one row per half-line and cone: W = beta (2 v v^T - J).
BETA = 3


@part
def _cone_norm(x, j):
    """Return sqrt(t^2 - |y|^2) of the cone at row j; the product form keeps small ones exact."""
    length = math.hypot(x[j + 1], x[j + 2])
    return math.sqrt(max((x[j] - length) * (x[j] + length), 0.0))


@kernel
def _scale(scaling, lines, cones, x, out, inverse):
    """Set out = W x, or W^-1 x where `inverse`; both may be the same array."""
    for j in range(lines):
        out[j] = x[j] / scaling[j, BETA] if inverse else x[j] * scaling[j, BETA]
    for k in range(cones):
        j, row = lines + 3 * k, lines + k
        v0, v1, v2, beta = scaling[row, 0], scaling[row, 1], scaling[row, 2], scaling[row, BETA]
        if inverse:
            v1, v2, beta = -v1, -v2, 1.0 / beta
        dot = 2.0 * (v0 * x[j] + v1 * x[j + 1] + v2 * x[j + 2])
        x0, x1, x2 = x[j], x[j + 1], x[j + 2]
        out[j] = beta * (dot * v0 - x0)
        out[j + 1] = beta * (dot * v1 + x1)
        out[j + 2] = beta * (dot * v2 + x2)


@kernel
def _find_scaling(scaling, lines, cones, s, z):
    """Fill the Nesterov-Todd scaling, ``W z = W^-1 s``; return False on the cones' boundary."""
    for j in range(lines):
        if not s[j] * z[j] > 0.0:
            return False
        scaling[j, BETA] = math.sqrt(s[j] / z[j])
    for k in range(cones):
        j, row = lines + 3 * k, lines + k
        # w is the point halfway between s and z, both scaled to unit norm, and v its square root
        # in the Jordan algebra: then W z = W^-1 s (Vandenberghe 2010, section 4).
        ns, nz = _cone_norm(s, j), _cone_norm(z, j)
        if not ns * nz > 0.0:
            return False
        dot = (s[j] * z[j] + s[j + 1] * z[j + 1] + s[j + 2] * z[j + 2]) / (ns * nz)
        gamma = 2.0 * math.sqrt(0.5 * (1.0 + dot))
        w0 = (s[j] / ns + z[j] / nz) / gamma
        w1 = (s[j + 1] / ns - z[j + 1] / nz) / gamma
        w2 = (s[j + 2] / ns - z[j + 2] / nz) / gamma
        root = math.sqrt(2.0 * (w0 + 1.0))
        scaling[row, 0], scaling[row, 1], scaling[row, 2] = (w0 + 1.0) / root, w1 / root, w2 / root
        scaling[row, BETA] = math.sqrt(ns / nz)
    return True


@kernel
def _fill_units(lines, cones, value, out):
    """Set a vector to a multiple of the cones' unit e."""
    for j in range(lines):
        out[j] = value
    for k in range(cones):
        j = lines + 3 * k
        out[j], out[j + 1], out[j + 2] = value, 0.0, 0.0


@kernel
def _subtract_product(lines, cones, x, y, out):
    """Subtract the Jordan product x o y from out."""
    for j in range(lines):
        out[j] -= x[j] * y[j]
    for k in range(cones):
        j = lines + 3 * k
        out[j] -= x[j] * y[j] + x[j + 1] * y[j + 1] + x[j + 2] * y[j + 2]
        out[j + 1] -= x[j] * y[j + 1] + y[j] * x[j + 1]
        out[j + 2] -= x[j] * y[j + 2] + y[j] * x[j + 2]


@kernel
def _divide(lines, cones, lam, x):
    """Replace x by the solution y of lam o y = x (Jordan product)."""
    for j in range(lines):
        x[j] /= lam[j]
    for k in range(cones):
        j = lines + 3 * k
        l0, l1, l2 = lam[j], lam[j + 1], lam[j + 2]
        length = math.hypot(l1, l2)
        det = (l0 - length) * (l0 + length)
        y0 = (l0 * x[j] - l1 * x[j + 1] - l2 * x[j + 2]) / det
        x[j], x[j + 1], x[j + 2] = y0, (x[j + 1] - y0 * l1) / l0, (x[j + 2] - y0 * l2) / l0


@kernel
def longest_step(lines, cones, x, d):
    """Return the largest a <= 1e3 for which x + a d is in the cones, x being inside."""
    longest = 1e3
    for j in range(lines):
        if d[j] < 0.0:
            longest = min(longest, -x[j] / d[j])
    for k in range(cones):
        j = lines + 3 * k
        # (x + a d) lies on the cone where qa a^2 + 2 qb a + qc = 0.
        qa = d[j] * d[j] - d[j + 1] * d[j + 1] - d[j + 2] * d[j + 2]
        qb = x[j] * d[j] - x[j + 1] * d[j + 1] - x[j + 2] * d[j + 2]
        qc = _cone_norm(x, j) ** 2
        root = qb * qb - qa * qc
        # The form of the root that adds and does not cancel.
        if qa < 0.0:
            longest = min(longest, qc / (math.sqrt(max(root, 0.0)) - qb))
        elif qb < 0.0 and root >= 0.0:
            longest = min(longest, qc / (math.sqrt(root) - qb))
    return longest


@part
def _shift_into_cones(lines, cones, x):
    """Shift x along the cones' axes until it is well inside."""
    shift = -1e300
    for j in range(lines):
        shift = max(shift, -x[j])
    for k in range(cones):
        j = lines + 3 * k
        shift = max(shift, math.hypot(x[j + 1], x[j + 2]) - x[j])
    if shift > -1e-8:
        for j in range(lines):
            x[j] += 1.0 + shift
        for k in range(cones):
            x[lines + 3 * k] += 1.0 + shift


# -------------------------------------------------------------------------------------------------
# The same for interior-point methods in Python, on vectors of l half-lines and k cones.


class ConeScaling:
    """
    The Nesterov-Todd scaling at a pair (s, z) inside the cones; `exists` is False elsewhere.

    ``scaled``: ``lambda = W z = W^-1 s``.
    """

    def __init__(self, sizes: tuple[int, int], s: np.ndarray, z: np.ndarray):
        self._sizes, self._scaling = sizes, np.empty((sum(sizes), 4))
        self.exists = _find_scaling(self._scaling, *sizes, s, z)
        self.scaled = self.to(z)

    def to(self, v: np.ndarray, inverse: bool = False) -> np.ndarray:
        """Return W v, or W^-1 v."""
        out = np.empty(v.size)
        _scale(self._scaling, *self._sizes, v, out, inverse)
        return out

    def back(self, v: np.ndarray) -> np.ndarray:
        """Return W^-1 v."""
        return self.to(v, True)

    def target(self, s: np.ndarray, z: np.ndarray, centre: float) -> np.ndarray:
        """Return v of ``lambda o v = centre e - s o z``, for s and z in scaled coordinates."""
        v = np.empty(s.size)
        _fill_units(*self._sizes, centre, v)
        _subtract_product(*self._sizes, s, z, v)
        _divide(*self._sizes, self.scaled, v)
        return v


def moved_inside(lines: int, v: np.ndarray, least: float) -> np.ndarray:
    """Return v moved into the cones along their axes, at least ``least`` from their boundaries."""
    moved = v.copy()
    moved[:lines] = np.maximum(v[:lines], least)
    rounded = moved[lines:].reshape(-1, 3)
    rounded[:, 0] = np.maximum(rounded[:, 0], np.linalg.norm(rounded[:, 1:], axis=1) + least)
    return moved


# -------------------------------------------------------------------------------------------------
# The program, and the method.


MAX_ITERATIONS = 60
# Relative duality gap and residuals at which a solution is accepted: near what double precision
# can reach.
TIGHT = 1e-11
# Those with which it may be kept when rounding stops progress.
LOOSE = 1e-7
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


SLACK = offsets(SlackRows())
UNKNOWN = offsets(UnknownRows())


class ConeProgram(NamedTuple):
    """Memory for a program of n unknowns, l half-lines and k cones, m = l + 3 k rows."""

    G: np.ndarray  # (m, n): half-lines first, then three rows to a cone
    h: np.ndarray  # (m,): right side of the inequalities, filled by the caller
    unknown: np.ndarray  # (5, n): solution and cost among them
    slack: np.ndarray  # (8, m): slacks and multipliers among them
    scaling: np.ndarray  # (l + k, 4): nesterov-Todd scaling
    hessian: np.ndarray  # (n, n): factor of the condensed equations
    scaled: np.ndarray  # (m, n): scratch memory: ``W^-1 G``
    report: np.ndarray  # (3,): relative gap, primal and dual residual of the solution


def make_cone_program(n: int, lines: int, cones: int) -> ConeProgram:
    """Return zeroed memory for a program of lines + 3 cones inequalities in n unknowns."""
    m = lines + 3 * cones
    return ConeProgram(np.zeros((m, n)), np.zeros(m), np.zeros((UNKNOWN.rows, n)),
                       np.zeros((SLACK.rows, m)), np.zeros((lines + cones, 4)), np.zeros((n, n)),
                       np.zeros((m, n)), np.zeros(3))


@part
def _factor_normal_equations(program, lines, cones, n, ridge):
    """Factor e 1 + G^T W^-2 G."""
    G, scaled, H = program.G, program.scaled, program.hessian
    m, column = lines + 3 * cones, program.slack[SLACK.scratch]
    for a in range(n):
        for j in range(m):
            column[j] = G[j, a]
        _scale(program.scaling, lines, cones, column, column, True)
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


@part
def _solve_step(program, lines, cones, n):
    """Fill dx, ds, dz from both residuals and the target, divided by lambda."""
    G, unknown, slack, scaled = program.G, program.unknown, program.slack, program.scaled
    m = lines + 3 * cones
    scratch = slack[SLACK.scratch]
    # W^-1 (r_z + W d_s) = W^-1 r_z + d_s
    _scale(program.scaling, lines, cones, slack[SLACK.residual], scratch, True)
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
    _scale(program.scaling, lines, cones, scratch, slack[SLACK.dz], True)
    for j in range(m):
        total = -slack[SLACK.residual, j]
        for a in range(n):
            total -= G[j, a] * unknown[UNKNOWN.dx, a]
        slack[SLACK.ds, j] = total


@part
def _largest(values):
    """Return the largest absolute value, at least 1."""
    largest = 1.0
    for value in values:
        largest = max(largest, abs(value))
    return largest


@part
def _start(program, lines, cones, n, ridge):
    """Fill x, s and z with the least squares solution, slacks and multipliers inside the cones."""
    unknown, slack = program.unknown, program.slack
    s, z, m = slack[SLACK.s], slack[SLACK.z], lines + 3 * cones
    program.scaling[:, :BETA] = 0.0
    program.scaling[:, BETA] = 1.0
    program.scaling[lines:, 0] = 1.0
    _factor_normal_equations(program, lines, cones, n, ridge)
    for a in range(n):
        unknown[UNKNOWN.x, a] = 0.0
        unknown[UNKNOWN.residual, a] = unknown[UNKNOWN.cost, a]
    for j in range(m):
        slack[SLACK.residual, j], slack[SLACK.target, j] = -program.h[j], 0.0
    _solve_step(program, lines, cones, n)
    for a in range(n):
        unknown[UNKNOWN.x, a] = unknown[UNKNOWN.dx, a]
    for j in range(m):
        s[j], z[j] = slack[SLACK.ds, j], slack[SLACK.dz, j]
    _shift_into_cones(lines, cones, s)
    _shift_into_cones(lines, cones, z)


@part
def _find_residuals(program, m, n, ridge, scale_h, scale_c):
    """Fill both residuals and the report; return s^T z and the largest entry of s and z."""
    G, unknown, slack, report = program.G, program.unknown, program.slack, program.report
    s, z = slack[SLACK.s], slack[SLACK.z]
    gap, cost, worst_x, worst_z, largest = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(m):
        gap += s[j] * z[j]
        largest = max(largest, abs(s[j]), abs(z[j]))
        total = s[j] - program.h[j]
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
    report[0] = gap / max(1.0, abs(cost))
    report[1], report[2] = worst_z / scale_h, worst_x / scale_c
    return gap, largest


@part
def _predict_and_correct(program, lines, cones, n, mu):
    """Fill the step by Mehrotra's predictor and corrector; return its longest length, up to 1."""
    unknown, slack = program.unknown, program.slack
    s, z, lam, target = (slack[SLACK.s], slack[SLACK.z], slack[SLACK.scaled], slack[SLACK.target])
    ds, dz = slack[SLACK.ds], slack[SLACK.dz]
    sigma, step = 0.0, 0.0
    for corrector in range(2):
        # Complementarity: lam o lam, plus the affine steps' product, less sigma mu e.
        _fill_units(lines, cones, sigma * mu, target)
        _subtract_product(lines, cones, lam, lam, target)
        if corrector:
            _subtract_product(lines, cones, ds, dz, target)
        _divide(lines, cones, lam, target)
        if corrector:
            for j in range(lines + 3 * cones):
                slack[SLACK.residual, j] *= 1.0 - sigma
            for a in range(n):
                unknown[UNKNOWN.residual, a] *= 1.0 - sigma
        _solve_step(program, lines, cones, n)
        step = min(longest_step(lines, cones, s, ds), longest_step(lines, cones, z, dz))
        if corrector == 0:
            step = min(1.0, step)
            # The length of the affine step determines the centring (Mehrotra 1992).
            sigma = (1.0 - step) ** 3
            # The corrector needs the affine steps in scaled coordinates.
            _scale(program.scaling, lines, cones, ds, ds, True)
            _scale(program.scaling, lines, cones, dz, dz, False)
    # Never onto the boundary, where the scaling has no meaning.
    return min(1.0, 0.99 * step)


@kernel
def solve_cone_program(program, lines, cones, n, ridge):
    """
    Solve the program, leaving x, s and z in its rows; return the iteration count.

    Negative if not even the loose tolerance was reached. ``ridge``: e of the cost e/2
    abs(x)^2.
    """
    unknown, slack, report = program.unknown, program.slack, program.report
    s, z, m = slack[SLACK.s], slack[SLACK.z], lines + 3 * cones
    scale_h, scale_c = _largest(program.h[:m]), _largest(unknown[UNKNOWN.cost, :n])
    _start(program, lines, cones, n, ridge)
    best, merit, stalled = math.inf, math.inf, 0
    for iteration in range(MAX_ITERATIONS):
        gap, largest = _find_residuals(program, m, n, ridge, scale_h, scale_c)
        merit = max(report[0], report[1], report[2])
        if merit < TIGHT:
            return iteration
        # Rounding prevents progress: accept the loose tolerance.
        stalled = stalled + 1 if merit > 0.5 * best else 0
        hopeless = not largest < DIVERGED or not merit < math.inf
        if hopeless or (stalled >= 2 and merit < LOOSE) or stalled > 10:
            break
        best = min(best, merit)
        # Predictor and corrector share one scaling and one factorisation.
        if not _find_scaling(program.scaling, lines, cones, s, z):
            break
        _scale(program.scaling, lines, cones, z, slack[SLACK.scaled], False)
        if not _factor_normal_equations(program, lines, cones, n, ridge):
            break
        step = _predict_and_correct(program, lines, cones, n, gap / (lines + cones))
        for a in range(n):
            unknown[UNKNOWN.x, a] += step * unknown[UNKNOWN.dx, a]
        for j in range(m):
            s[j] += step * slack[SLACK.ds, j]
            z[j] += step * slack[SLACK.dz, j]
    return iteration if merit < LOOSE else -1
