# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Cone programs over foot forces ``F = F_0 + D x``, whose cost is a largest norm: their kernels.

Three programs share one text, with weights c_i and sets S_i (a disc of radius rho_i cut by
half-planes):

=============  ================================================================================
least maximum  min s  with  |F_i| <= s c_i,  F_i in the half-planes of S_i
largest        max g . x  with  F_i in S_i
relaxed        min t  with  |F_i| <= rho_i + t, half-planes moved out by t: feasible at once,
               bounded, and t > 0 proves that no forces lie in the sets
=============  ================================================================================
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.optimization.cone_program import (
    SLACK,
    UNKNOWN,
    ConeProgram,
    make_cone_program,
    solve_cone_program,
)
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.stickybot.allocation.force_sets import MAX_PLANES, SET

LEAST_MAXIMUM, LARGEST, RELAXED = range(3)
# A balance whose row is this much shorter, after the others are taken out, says nothing new.
RANK_TOLERANCE = 1e-9


class ForceMemory(NamedTuple):
    """
    Memory for programs of up to N feet.

    Attributes
    ----------
    basis : (2 N + 1, 2 N) array
        Orthonormal rows: first those of the balance, then its null space.
    particular : (2 N,) array
    program : ConeProgram

    """

    basis: np.ndarray
    particular: np.ndarray
    program: ConeProgram


def make_force_memory(n_feet: int) -> ForceMemory:
    """Return memory for that many feet."""
    size = 2 * n_feet
    return ForceMemory(np.zeros((size + 1, size)), np.zeros(size),
                       make_cone_program(size + 2, MAX_PLANES * n_feet, n_feet))


@kernel
def solve_balance(G, w, basis, particular):
    """
    Find all F with G F = w: the least F and an orthonormal basis of the null space.

    Gram-Schmidt, twice over, with the longest remaining row first.

    Returns
    -------
    rank : int
        Number of independent rows; rows `rank` and up of `basis` span the null space.
    error : float
        Largest part of w that no F makes, in the units of w's scaled rows.

    """
    rows, size = G.shape
    particular[:] = 0.0
    rank, error = 0, 0.0
    left = np.empty((rows, size))
    value = np.empty(rows)
    used = np.zeros(rows, np.bool_)
    for i in range(rows):
        # Rows in units of their own length, so that one tolerance serves forces and moments.
        value[i] = w[i]
        length = 0.0
        for j in range(size):
            length += G[i, j] * G[i, j]
        length = math.sqrt(length)
        scale = 1.0 / length if length > 0.0 else 1.0
        value[i] *= scale
        for j in range(size):
            left[i, j] = G[i, j] * scale
    for _ in range(rows):
        best, at = -1.0, -1
        for i in range(rows):
            if not used[i]:
                length = 0.0
                for j in range(size):
                    length += left[i, j] * left[i, j]
                if length > best:
                    best, at = length, i
        used[at] = True
        length = math.sqrt(best)
        if length < RANK_TOLERANCE or rank == size:
            error = max(error, abs(value[at]))
            continue
        for j in range(size):
            basis[rank, j] = left[at, j] / length
        coordinate = value[at] / length
        for j in range(size):
            particular[j] += coordinate * basis[rank, j]
        for i in range(rows):
            if not used[i]:
                dot = 0.0
                for j in range(size):
                    dot += left[i, j] * basis[rank, j]
                for j in range(size):
                    left[i, j] -= dot * basis[rank, j]
                value[i] -= dot * coordinate
        rank += 1
    complete_basis(basis, rank, size)
    return rank, error


@kernel
def complete_basis(basis, rank, size):
    """Complete `rank` orthonormal rows to a basis."""
    for n in range(rank, size):
        best, at = -1.0, 0
        for j in range(size):
            rest = 1.0
            for k in range(n):
                rest -= basis[k, j] * basis[k, j]
            if rest > best:
                best, at = rest, j
        for j in range(size):
            basis[n, j] = 1.0 if j == at else 0.0
        # Twice is enough against rounding (Parlett 1980, 6.9).
        for _ in range(2):
            for k in range(n):
                dot = 0.0
                for j in range(size):
                    dot += basis[n, j] * basis[k, j]
                for j in range(size):
                    basis[n, j] -= dot * basis[k, j]
        length = 0.0
        for j in range(size):
            length += basis[n, j] * basis[n, j]
        length = math.sqrt(length)
        for j in range(size):
            basis[n, j] /= length


@kernel
def solve_forces(kind, base, directions, first, n, sets, weights, goal, ridge, program, forces):
    """
    Solve one of the three programs for ``F = base + sum_a x_a directions[first + a]``.

    Parameters
    ----------
    kind : int
        `LEAST_MAXIMUM`, `LARGEST` or `RELAXED`.
    base : (2 N,) array [N]
        Forces at x = 0.
    directions : (first + n or more, 2 N) array
        Changes of all forces by each unknown.
    first : int
        Row of the first unknown's.
    n : int
        Number of unknowns x.
    sets : (N, SET.width) array
        What the feet can carry.
    weights : (N,) array
        Of `LEAST_MAXIMUM`.
    goal : (n,) array
        Of `LARGEST`.
    ridge : float
        Weight of ``|x|^2 / 2``: which of several solutions.
    program : ConeProgram
        Memory of the cone program.
    forces : (2 N,) array [N]
        Filled.

    Returns
    -------
    int
        Iterations, or negative without success.
    float
        s, g . x, or t.

    """
    G, h, unknown = program.G, program.h, program.unknown
    feet = sets.shape[0]
    # The program is solved in units of its largest force.
    unit = 0.0
    for i in range(feet):
        unit = max(unit, math.hypot(base[2 * i], base[2 * i + 1]))
        if kind != LEAST_MAXIMUM:
            unit = max(unit, sets[i, SET.radius])
    unit = unit if unit > 0.0 else 1.0
    extra = 0 if kind == LARGEST else 1
    lines = 0
    for i in range(feet):
        for k in range(int(sets[i, SET.n_planes])):
            column = SET.planes + 3 * k
            nx, ny = sets[i, column], sets[i, column + 1]
            h[lines] = (sets[i, column + 2] - nx * base[2 * i] - ny * base[2 * i + 1]) / unit
            for a in range(n):
                G[lines, a] = (nx * directions[first + a, 2 * i]
                               + ny * directions[first + a, 2 * i + 1])
            if extra:
                G[lines, n] = -1.0 if kind == RELAXED else 0.0
            lines += 1
    for i in range(feet):
        row = lines + 3 * i
        h[row] = 0.0 if kind == LEAST_MAXIMUM else sets[i, SET.radius] / unit
        h[row + 1], h[row + 2] = base[2 * i] / unit, base[2 * i + 1] / unit
        for a in range(n):
            G[row, a] = 0.0
            G[row + 1, a] = -directions[first + a, 2 * i]
            G[row + 2, a] = -directions[first + a, 2 * i + 1]
        if extra:
            G[row, n] = -weights[i] if kind == LEAST_MAXIMUM else -1.0
            G[row + 1, n] = G[row + 2, n] = 0.0
    for a in range(n):
        unknown[UNKNOWN.cost, a] = -goal[a] if kind == LARGEST else 0.0
    if extra:
        unknown[UNKNOWN.cost, n] = 1.0
    iterations = solve_cone_program(program, lines, feet, n + extra, ridge)
    value = unknown[UNKNOWN.x, n] * unit if extra else 0.0
    for j in range(2 * feet):
        forces[j] = base[j]
        for a in range(n):
            forces[j] += unit * unknown[UNKNOWN.x, a] * directions[first + a, j]
    if kind == LARGEST:
        for a in range(n):
            value += unit * goal[a] * unknown[UNKNOWN.x, a]
    return iterations, value


@kernel
def force_multipliers(kind, sets, program, out):
    """Fill for each foot the force-space multiplier ``nu_i = d(optimum)/d F_i``, (2 N,)."""
    lines = 0
    out[:] = 0.0
    for i in range(sets.shape[0]):
        for k in range(int(sets[i, SET.n_planes])):
            column = SET.planes + 3 * k
            out[2 * i] += program.slack[SLACK.z, lines] * sets[i, column]
            out[2 * i + 1] += program.slack[SLACK.z, lines] * sets[i, column + 1]
            lines += 1
    for i in range(sets.shape[0]):
        row = lines + 3 * i
        out[2 * i] -= program.slack[SLACK.z, row + 1]
        out[2 * i + 1] -= program.slack[SLACK.z, row + 2]
