# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What the program of a tick minimises, and its equations, from the robot as it stands now.

Motion alone: the distance from the guess, under the six equations of the base. With measured
torque: the errors of all equations, those of a joint that bears on one foot in the foot's block.
"""
from __future__ import annotations

import math

from legged_dynamics.contact.memory import STANDING
from legged_dynamics.contact.program import (
    AIM,
    BASE_VARIANCE,
    CHANGE,
    JOINT_VARIANCE,
    OWNER,
    SEVERAL_FEET,
    B,
    V,
)
from legged_dynamics.contact.selection import support
from legged_dynamics.dynamics.jacobians import CONTACT, SIZE, START, moment_axis, unit
from legged_dynamics.optimization.cholesky import factorize, solve_factorized
from legged_dynamics.optimization.sweep import inverse_pivot
from legged_dynamics.spatial.algebra import add_scaled, cross, dot, scale
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.table import get3, put3


@part
def fill_base_equations(index, states, p):
    """Fill the equations of the base, force and moment about its origin; leave others empty."""
    for r in range(6, p.e):
        p.wide[B, r], p.wide[V, r] = 0.0, 1.0
    for i in range(index.shape[0]):
        start, on = index[i, START], 1.0 if index[i, STANDING] != 0 else 0.0
        x, y, z = scale(on, get3(states, i, CONTACT))
        for c in range(index[i, SIZE]):
            for r in range(p.e):
                p.narrow[p.A + start + c, r] = on if r == c and c < 3 else 0.0
        put3(p.narrow, p.A + start, 3, (0.0, z, -y))
        put3(p.narrow, p.A + start + 1, 3, (-z, 0.0, x))
        put3(p.narrow, p.A + start + 2, 3, (y, -x, 0.0))
        for k in range(3, index[i, SIZE]):
            axis = moment_axis(index, states, i, k - 3)
            put3(p.narrow, p.A + start + k, 3, scale(on, axis))


@part
def fill_distance(index, ease, p):
    """Let the cost be the distance from the guess, which is in AIM already."""
    for i in range(index.shape[0]):
        for k in range(index[i, SIZE]):
            row = index[i, START] + k
            for j in range(6):
                p.narrow[p.D + row, j] = p.narrow[p.inverse + row, j] = 0.0
            p.narrow[p.inverse + row, k] = ease if k < 3 else 1.0
            p.narrow[p.D + row, k] = 1.0 / p.narrow[p.inverse + row, k]


@part
def close_gap(index, states, p, rank):
    """
    Give M full rank where feet in one place or on one line leave it none.

    The wrench that is to be carried has nothing of those directions: they do not matter.
    """
    _, _, _, center, _, line = support(index, states, 1.0)
    size = p.narrow[p.M, 0]
    for k in range(1 if rank == 5 else 3):
        axis = unit(k)
        if rank == 5:
            axis = line
        elif rank == 4:     # what is across the line: the sum of squares is that of two axes
            axis = add_scaled(axis, -dot(axis, line), line)
        arm = cross(center, axis)
        for r in range(6):
            for s in range(r + 1):
                a = arm[r] if r < 3 else axis[r - 3]
                p.narrow[p.M + r, s] += size * a * (arm[s] if s < 3 else axis[s - 3])


@part
def invert_block(p, start, size):
    """Fill the inverse of a foot's block of D; by cofactors a weak prior would lose it."""
    D, inverse = p.D + start, p.inverse + start
    if size == 3:
        m, _, _ = inverse_pivot((p.narrow[D, 0], p.narrow[D, 1], p.narrow[D, 2],
                                 p.narrow[D + 1, 1], p.narrow[D + 1, 2], p.narrow[D + 2, 2]))
        put3(p.narrow, inverse, 0, (m[0], m[1], m[2]))
        put3(p.narrow, inverse + 1, 0, (m[1], m[3], m[4]))
        put3(p.narrow, inverse + 2, 0, (m[2], m[4], m[5]))
        return
    factor = p.wide[p.gram:]
    for r in range(size):
        for c in range(size):
            factor[r, c] = p.narrow[D + r, c]
            p.narrow[inverse + r, c] = 1.0 if r == c else 0.0
    factorize(factor, size)
    for r in range(size):
        solve_factorized(factor, size, p.narrow[inverse + r])


@part
def fill_errors(index, p, effort, free):
    """Let the cost be the squares of all errors, each by its variance; the prior is about AIM."""
    nv = effort.shape[0]
    shared = 6
    for j in range(nv):
        if p.lists[OWNER, j] == SEVERAL_FEET:
            known = not math.isnan(effort[j])
            p.wide[B, shared] = free[j] - effort[j] if known else 0.0
            p.wide[V, shared] = p.wide[JOINT_VARIANCE, j]
            for i in range(index.shape[0]):
                for c in range(index[i, START], index[i, START] + index[i, SIZE]):
                    standing = known and index[i, STANDING] != 0
                    p.narrow[p.A + c, shared] = (p.wide[p.jacobian + c, j] if standing
                                                 else 0.0)
            shared += 1
    pull = p.wide[CHANGE]
    for c in range(p.nc):
        for k in range(6):
            p.narrow[p.D + c, k] = 0.0
    for i in range(index.shape[0]):
        for k in range(index[i, SIZE]):
            c = index[i, START] + k
            p.narrow[p.D + c, k] = 1.0 / p.wide[BASE_VARIANCE, 6 + k // 3]
            pull[c] = p.narrow[p.D + c, k] * p.wide[AIM, c]
    for j in range(nv):
        i = p.lists[OWNER, j]
        if i >= 0 and not math.isnan(effort[j]):
            weight, error = 1.0 / p.wide[JOINT_VARIANCE, j], free[j] - effort[j]
            start = index[i, START]
            for r in range(start, start + index[i, SIZE]):
                weighed = weight * p.wide[p.jacobian + r, j]
                pull[r] += weighed * error
                for c in range(index[i, SIZE]):
                    p.narrow[p.D + r, c] += weighed * p.wide[p.jacobian + start + c, j]
    for i in range(index.shape[0]):
        invert_block(p, index[i, START], index[i, SIZE])
        for r in range(index[i, START], index[i, START] + index[i, SIZE]):
            total = 0.0
            for c in range(index[i, SIZE]):
                total += p.narrow[p.inverse + r, c] * pull[index[i, START] + c]
            p.wide[AIM, r] = total if index[i, STANDING] != 0 else 0.0
