# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The frames of a problem over time as arrays, and the gains K of its elimination in packed form.

Pivots go by threes, so each foot has three coordinates or six: those behind its last contact
coordinate are idle, and stay zero.

The rows of K balance to zero, ``A K = 0``. Where all feet carry whole wrenches, the rows of the
first foot that stands follow from the others', so they need not be kept: 171 numbers for four
soles, not 300.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import SIZE, START, WRENCH
from legged_dynamics.optimization.sweep import times_symmetric
from legged_dynamics.spatial.algebra import (
    ZERO,
    add,
    cross,
    load3,
    rotate,
    rotate_back,
    store3,
    subtract,
)
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.table import get3, get9

# Columns of Problem.cost, elements of Problem.smoothing.
ON_FORCE, ON_MOMENT, AT_TRANSITIONS = 0, 1, 2


class Problem(NamedTuple):
    """
    Frames of contact coordinates, nc of them for nf feet.

    Attributes
    ----------
    index : (nf, N_INDEX) int array
        That of a FeetTable, with first coordinates and their numbers as `by_threes` has them.
    standing : (T, nf) int array
        1 for a foot on the ground; the coordinates of others are zero.
    points : (T, nf, 3) array [m]
        Contact points from the base's origin.
    axes : (T, nf, 9) array, or (0, nf, 9)
        Rotation from each foot's force to the axes of points and demand; none for equal axes.
    turns : (T, nf, 9) array, or (0, nf, 9)
        The axes of each foot's moments in those axes, as columns; none where they are the same.
    demand : (T, 6) array [N, N m]
        b, within what the feet can carry.
    rank : (T,) int array
        Of A.
    line : (T, 6) array [m, -]
        Middle of the contact points, and the unit vector along them, where the rank is below 6.
    cost : (T, nf, 2) array
        Diagonal of H, for force and moment.
    smoothing : (3,) array
        Diagonal of S for force and moment, and what part of it holds where a foot lands or
        leaves (its wrench being zero in the air).
    slack : (6,) array
        delta.

    """

    index: np.ndarray
    standing: np.ndarray
    points: np.ndarray
    axes: np.ndarray
    turns: np.ndarray
    demand: np.ndarray
    rank: np.ndarray
    line: np.ndarray
    cost: np.ndarray
    smoothing: np.ndarray
    slack: np.ndarray


def by_threes(index: np.ndarray) -> np.ndarray:
    """Return the index of a FeetTable with idle coordinates behind those of some feet."""
    padded = index.copy()
    padded[:, SIZE] = 3 * -(-index[:, SIZE] // 3)
    padded[:, START] = np.cumsum(padded[:, SIZE]) - padded[:, SIZE]
    return padded


def gain_width(index: np.ndarray, *, whole: bool) -> int:
    """
    Return how many numbers a frame's K takes.

    Parameters
    ----------
    index : (nf, N_INDEX) int array
        Of the problem.
    whole : bool
        Whether all feet carry whole wrenches, and frames balance exactly.

    """
    n = int(index[:, SIZE].sum()) - (WRENCH if whole else 0)
    return n * (n + 1) // 2


@part
def left_out(problem, t, n, width):
    """Return the first coordinate of the foot whose rows of K are not kept; n for none."""
    if 2 * width == n * (n + 1):
        return n
    for i in range(problem.index.shape[0]):
        if problem.standing[t, i] != 0:
            return problem.index[i, START]
    return 0


@part
def keep_gain(problem, t, n, W, gain):
    """Store K, which is minus the leading n rows of W."""
    out, at = left_out(problem, t, n, gain.shape[0]), 0
    for i in range(min(out, n)):
        for j in range(i + 1):
            gain[at + j] = -W[i, j]
        at += i + 1
    for i in range(out + 6, n):
        for j in range(out):
            gain[at + j] = -W[i, j]
        at += out
        for j in range(out + 6, i + 1):
            gain[at + j - out - 6] = -W[i, j]
        at += i - out - 5


@part
def apply_gain(problem, t, gain, u, x, scratch):
    """
    Add K u to x; ``scratch`` is two vectors as long.

    Parameters
    ----------
    problem : Problem
        Of all frames.
    t : int
        The frame.
    gain : array
        K of the frame, lower triangle row by row.
    u, x : (nc,) array
        x is added to.
    scratch : (2, nc or more) array
        Scratch.

    """
    n = u.shape[0]
    out = left_out(problem, t, n, gain.shape[0])
    if out == n:
        times_symmetric(gain, u, x)
        return
    m = n - 6
    v, y = scratch[0, :m], scratch[1, :m]
    p = out // 6
    point = get3(problem.points[t], p, 0)
    # u of the foot left out acts on the others through the balance: u - A_i^T A_p^-T u_p.
    b = in_axes(problem, t, p, load3(u, out + 3))
    a = subtract(in_axes(problem, t, p, load3(u, out)), cross(b, point))
    for i in range(problem.index.shape[0]):
        at = 6 * i if i < p else 6 * i - 6
        if i != p:
            arm = get3(problem.points[t], i, 0)
            force = in_own(problem, t, i, add(a, cross(b, arm)))
            store3(v, at, subtract(load3(u, 6 * i), force))
            store3(v, at + 3, subtract(load3(u, 6 * i + 3), in_own(problem, t, i, b)))
            store3(y, at, ZERO)
            store3(y, at + 3, ZERO)
    times_symmetric(gain, v, y)
    f, m_point = ZERO, ZERO
    for i in range(problem.index.shape[0]):
        if i != p and problem.standing[t, i] != 0:
            at = 6 * i if i < p else 6 * i - 6
            force = in_axes(problem, t, i, load3(y, at))
            arm = subtract(get3(problem.points[t], i, 0), point)
            f = add(f, force)
            m_point = add(m_point, add(cross(arm, force),
                                       in_axes(problem, t, i, load3(y, at + 3))))
            store3(x, 6 * i, add(load3(x, 6 * i), load3(y, at)))
            store3(x, 6 * i + 3, add(load3(x, 6 * i + 3), load3(y, at + 3)))
    if problem.standing[t, p] != 0:
        store3(x, out, subtract(load3(x, out), in_own(problem, t, p, f)))
        store3(x, out + 3, subtract(load3(x, out + 3), in_own(problem, t, p, m_point)))


@part
def in_axes(problem, t, i, v):
    """Return a foot's coordinates v in the axes of points and demand."""
    if problem.axes.shape[0] == 0:
        return v
    return rotate(get9(problem.axes[t], i, 0), v)


@part
def in_own(problem, t, i, v):
    """Return v in a foot's own coordinates."""
    if problem.axes.shape[0] == 0:
        return v
    return rotate_back(get9(problem.axes[t], i, 0), v)
