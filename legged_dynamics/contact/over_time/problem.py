# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The frames of a problem over time as arrays, and their solution frame by frame in O(T).

The coordinates of a foot are padded to three or six, as pivots go by threes: those behind its last
contact coordinate are idle and stay zero. The gains K of the elimination are stored as lower
triangles by rows.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import SIZE, START, unit
from legged_dynamics.optimization.factorizations import sweep, times_symmetric
from legged_dynamics.spatial.algebra import add_scaled, cross, dot
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3

# Columns of Problem.cost, elements of Problem.smoothing.
ON_FORCE, ON_MOMENT, AT_TRANSITIONS = range(3)


class Problem(NamedTuple):
    """Frames of contact coordinates, nc of them for nf feet."""

    # (nf, N_INDEX): that of a FeetTable, with first coordinates and their numbers as `by_threes`
    # has them
    index: np.ndarray
    standing: np.ndarray  # (T, nf): 1 for a foot on the ground; the coordinates of others are zero
    points: np.ndarray  # (T, nf, 3) [m]: contact points from the base's origin
    # (T, nf, 9): rotation from each foot's force to the axes of points and wrenches; none for
    # equal axes
    axes: np.ndarray
    # (T, nf, 9): the axes of each foot's moments in those axes, as columns; none where they are
    # the same
    turns: np.ndarray
    required: np.ndarray  # (T, 6) [N, N m]: b, within what the feet can carry
    rank: np.ndarray  # (T,): rank of A
    # (T, 6) [m, -]: middle of the contact points, and the unit vector along them, where the rank
    # is below 6
    line: np.ndarray
    cost: np.ndarray  # (T, nf, 2): diagonal of H, for force and moment
    # (3,): diagonal of S for force and moment, and what part of it holds where a foot lands or
    # leaves (its wrench being zero in the air)
    smoothing: np.ndarray
    slack: np.ndarray  # (6,): delta


def by_threes(index: np.ndarray) -> np.ndarray:
    """Return the FeetTable index (nf, N_INDEX) with coordinates padded to 3 or 6 per foot."""
    padded = index.copy()
    padded[:, SIZE] = 3 * -(-index[:, SIZE] // 3)
    padded[:, START] = np.cumsum(padded[:, SIZE]) - padded[:, SIZE]
    return padded


def gain_width(index: np.ndarray) -> int:
    """Return the length of a frame's packed K."""
    n = int(index[:, SIZE].sum())
    return n * (n + 1) // 2


# -------------------------------------------------------------------------------------------------
# Least squares over many frames with an equality in each, frame by frame: O(T).
#
# The problem is
#
# .. math::
#
#     \min \sum_t \tfrac12 x_t^T H_t x_t - g_t^T x_t
#          + \tfrac12 (x_{t+1} - x_t)^T S_t (x_{t+1} - x_t),
#     \qquad A_t x_t + \delta \lambda_t = b_t
#
# with H block diagonal by feet and S diagonal. The information of earlier frames about frame t is
# a quadratic, ``P_t`` and ``h_t``. With ``M = H_t + S_t + P_t`` the frame is solved, but for its
# successor, by
#
# .. math::
#
#     \begin{pmatrix} M & A^T \\ A & -\delta \end{pmatrix}^{-1}
#         = \begin{pmatrix} K & N \\ N^T & \cdot \end{pmatrix}, \qquad
#     x_t = c_t + K S x_{t+1}, \quad c_t = K (g_t + h_t) + N b_t,
#
# and passes on ``P_{t+1} = S - S K S`` and ``h_{t+1} = S c_t``. That is the block LDL^T
# factorisation of the whole system, whose diagonal blocks are inverted explicitly, by sweeping
# three pivots at a time. Only K and c are kept; the second pass runs back from the last frame.


# Return code of `eliminate` when it reached the end; otherwise the frame where it failed.
DONE = -1


@part
def _links(problem, now, then, both, either):
    """
    Fill the diagonal of S between two frames, given which feet stand (-1 for no frame).

    ``both`` couples a foot that stands in both; ``either`` pulls one to zero that lands or leaves.
    """
    s = problem.smoothing
    for i in range(now.shape[0]):
        start, size = problem.index[i, START], problem.index[i, SIZE]
        coupled = 1.0 if now[i] == 1 and then[i] == 1 else 0.0
        passing = s[AT_TRANSITIONS] if now[i] + then[i] == 1 else 0.0
        for k in range(size):
            weight = s[ON_FORCE] if k < 3 else s[ON_MOMENT]
            both[start + k] = weight * coupled
            either[start + k] = weight * passing


@part
def _add_costs(problem, t, blocks, either, both, W):
    """
    Add H_t and S_t to ``W`` (nc, nc, lower triangle) in place; zero rows of swing feet.

    ``blocks`` (T, nf, 6, 6): costs beyond the diagonal, may be empty; ``either``, ``both``
    (nc,): weights of :func:`_links` between this frame and the next.
    """
    index = problem.index
    for i in range(index.shape[0]):
        start, size = index[i, START], index[i, SIZE]
        if problem.standing[t, i] == 0:
            end = start + size
            W[start:end, :end] = 0.0
            W[end:, start:end] = 0.0
            continue
        for r in range(size):
            at = start + r
            W[at, at] += problem.cost[t, i, 0 if r < 3 else 1] + both[at] + either[at]
            if blocks.shape[0] > 0:
                for c in range(r + 1):
                    W[at, start + c] += blocks[t, i, r, c]


@part
def _put_balance(problem, t, n, W):
    """Fill the rows below n with A_t and -delta; complete them where A_t is rank deficient."""
    index, standing = problem.index, problem.standing[t]
    W[n:n + 6, :n + 6] = 0.0
    for i in range(index.shape[0]):
        if standing[i] != 0:
            c, size = index[i, START], index[i, SIZE]
            x, y, z = problem.points[t, i, 0], problem.points[t, i, 1], problem.points[t, i, 2]
            for k in range(3):
                f = unit(k)
                if problem.axes.shape[0] > 0:
                    f = (problem.axes[t, i, k], problem.axes[t, i, 3 + k],
                         problem.axes[t, i, 6 + k])
                m = cross((x, y, z), f)
                for r in range(3):
                    W[n + r, c + k] = f[r]
                    W[n + 3 + r, c + k] = m[r]
                if size > 3:
                    a = f
                    if problem.turns.shape[0] > 0:
                        a = (problem.turns[t, i, k], problem.turns[t, i, 3 + k],
                             problem.turns[t, i, 6 + k])
                    for r in range(3):
                        W[n + 3 + r, c + 3 + k] = a[r]
    for r in range(6):
        W[n + r, n + r] = -problem.slack[r]
    if problem.rank[t] < 6 and problem.slack[0] == 0.0:
        _fill_missing(problem, t, n, W)


@part
def _fill_missing(problem, t, n, W):
    """
    Give the balance a pivot for every twist that no foot resists.

    The twists are turns about the points' line, or about their place (of line feet, across them).
    The required wrench has no part along them, so the pivots' size and sign do not matter.
    """
    rank, most = problem.rank[t], 0.0
    for i in range(n):
        most = max(most, W[i, i])
    scale = 1.0 / most if most > 0.0 else 1.0
    if rank == 0:
        for r in range(6):
            W[n + r, n + r] -= scale
        return
    middle = get3(problem.line, t, 0)
    for k in range(1 if rank == 5 else 3):
        axis = unit(k)
        if rank == 5:
            axis = get3(problem.line, t, 3)
        elif rank == 4:     # across the line: the sum of squares is that of two axes
            line = get3(problem.line, t, 3)
            axis = add_scaled(axis, -dot(axis, line), line)
        v = cross(middle, axis)
        for r in range(3):
            for c in range(3):
                W[n + r, n + c] -= scale * v[r] * v[c]
                W[n + 3 + r, n + c] -= scale * axis[r] * v[c]
                W[n + 3 + r, n + 3 + c] -= scale * axis[r] * axis[c]


@part
def _solve_frame(problem, t, n, W, rows):
    """Turn W = [M; A, -delta] into minus its inverse; False where M or the balance fails."""
    i, last = 0, problem.index.shape[0] - 1
    for k in range(0, n + 6, 3):
        if i < last and k >= problem.index[i + 1, START]:
            i += 1
        standing = problem.standing[t, i] != 0 or k >= n
        if standing and not sweep(W, rows, k, n + 6, 1.0 if k < n else -1.0):
            return False
    return True


class Elimination(NamedTuple):
    """What the passes over T frames write."""

    gains: np.ndarray       # (T, gain_width): K, packed
    x: np.ndarray           # (T, nc): c, and in the end the contact coordinates
    work: np.ndarray        # (nc + 6, nc + 6) scratch
    vectors: np.ndarray     # (6, nc + 6) scratch

    @classmethod
    def of(cls, T: int, nc: int, width: int) -> Elimination:
        """Return memory for T frames of nc coordinates."""
        return cls(np.empty((T, width)), np.empty((T, nc)), np.zeros((nc + 6, nc + 6)),
                   np.zeros((6, nc + 6)))


@lean_kernel
def eliminate(problem, blocks, gradient, past, past_linear, after, made):
    """
    Run the forward pass: fill ``gains`` (K, packed) and ``x`` (c) of every frame.

    ``past``, ``past_linear``: P, h of the first frame, replaced by those after the last;
    ``after``: feet there, or -1. Returns `DONE` or the undetermined frame.
    """
    gains, x, work, vectors = made
    n, T = x.shape[1], x.shape[0]
    both, either, linear = vectors[3, :n], vectors[4, :n], vectors[5, :n]
    rows = vectors[:3]
    for i in range(n):
        linear[i] = past_linear[i]
        for j in range(i + 1):
            work[i, j] = past[i, j]
    for t in range(T):
        then = problem.standing[t + 1] if t + 1 < T else after
        _links(problem, problem.standing[t], then, both, either)
        _add_costs(problem, t, blocks, either, both, work)
        _put_balance(problem, t, n, work)
        if not _solve_frame(problem, t, n, work, rows):
            return t
        for i in range(n):
            if gradient.shape[0] > 0:
                linear[i] += gradient[t, i]
            x[t, i] = 0.0
            for k in range(6):
                x[t, i] -= work[n + k, i] * problem.required[t, k]
        at = 0
        for i in range(n):
            for j in range(i + 1):
                gains[t, at + j] = -work[i, j]
            at += i + 1
        times_symmetric(gains[t], linear, x[t])
        for i in range(n):
            linear[i] = both[i] * x[t, i]
            for j in range(i + 1):
                work[i, j] *= both[i] * both[j]
            work[i, i] += both[i] + either[i]
    for i in range(n):
        past_linear[i] = linear[i]
        for j in range(i + 1):
            past[i, j] = past[j, i] = work[i, j]
    return DONE


@lean_kernel
def substitute(problem, gradient, made):
    """Fill ``x`` with c for another gradient and no required wrench, reusing the gains."""
    gains, x, _, vectors = made
    T, n = x.shape
    both, either, linear = vectors[3, :n], vectors[4, :n], vectors[5, :n]
    linear[:] = 0.0
    for t in range(T):
        for i in range(n):
            linear[i] += gradient[t, i]
            x[t, i] = 0.0
        times_symmetric(gains[t], linear, x[t])
        if t + 1 < T:
            _links(problem, problem.standing[t], problem.standing[t + 1], both, either)
            for i in range(n):
                linear[i] = both[i] * x[t, i]


@lean_kernel
def substitute_back(problem, after, x_after, made):
    """Run the backward pass: replace c in ``x`` by ``x_t = c_t + K S x_{t+1}`` in place."""
    gains, x, _, vectors = made
    T, n = x.shape
    both, either, pull = vectors[3, :n], vectors[4, :n], vectors[5, :n]
    for t in range(T - 1, -1, -1):
        then, following = after, x_after
        if t + 1 < T:
            then, following = problem.standing[t + 1], x[t + 1]
        _links(problem, problem.standing[t], then, both, either)
        for i in range(n):
            pull[i] = both[i] * following[i]
        times_symmetric(gains[t], pull, x[t])
