# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Sharing a wrench between feet, in closed form.

Of all forces and moments at the contact points with ``sum f_i = f`` and
``sum p_i x f_i + m_i = m``, the one with the least ``sum |f_i|^2 / e + |m_i|^2`` is the velocity
field of a rigid body (Lagrange: ``B^-1 A^T (A B^-1 A^T)^-1 b``, and ``A B^-1 A^T`` is the spatial
inertia of masses ``e`` at the contact points):

    f_i = f / n + e w x d_i,      m_i = w,      w = I^-1 m_c,

with ``d_i`` from the middle of the n contact points, ``m_c`` the moment about it, and
``I = sum e (|d_i|^2 1 - d_i d_i^T)``, and ``a a^T`` more for each axis a about which a foot
carries a moment, ``m_i = a a^T w`` (of a sole, 1 in all): three equations, not six. Point feet on
one line leave ``I`` without an inverse. What they cannot carry is then taken off first, as the
least ``|f_r|^2 + |m_r|^2 / L^2``, ``m_r`` about the base's origin.
"""
from __future__ import annotations

import math

from legged_dynamics.contact.memory import (
    CONTACT_FORCE,
    CONTACT_MOMENT,
    EASE,
    LENGTH,
    STANDING,
)
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    SIZE,
    has_moment,
    held,
    moment_axis,
)
from legged_dynamics.spatial.algebra import (
    ZERO,
    add,
    add_scaled,
    cross,
    dot,
    norm,
    scale,
    subtract,
    symmetric_times,
)
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.symmetric import (
    add6,
    adjugate,
    determinant,
    inverse_symmetric,
    scale6,
)
from legged_dynamics.spatial.table import get3, put3

# Square of the fraction of their distance by which feet may be off one line, or apart at all.
COLLINEAR = 1e-12


@part
def middle(index, states):
    """Return how many feet stand, the sum of their moments' ``a a^T``, the contacts' middle."""
    n, turns, total = 0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), ZERO
    for i in range(index.shape[0]):
        if index[i, STANDING] != 0:
            n += 1
            total = add(total, get3(states, i, CONTACT))
            for k in range(index[i, SIZE] - 3):
                x, y, z = moment_axis(index, states, i, k)
                turns = add6(turns, (x * x, x * y, x * z, y * y, y * z, z * z))
    return n, turns, scale(1.0 / n if n > 0 else 0.0, total)


@part
def spread(index, states, center):
    """Return the sum of ``d d^T`` over the feet, d from their middle, as xx xy xz yy yz zz."""
    moments = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(index.shape[0]):
        if index[i, STANDING] != 0:
            x, y, z = subtract(get3(states, i, CONTACT), center)
            moments = add6(moments, (x * x, x * y, x * z, y * y, y * z, z * z))
    return moments


@part
def direction(moments):
    """Return the unit vector along which feet on one line are spread."""
    xx, xy, xz, yy, yz, zz = moments
    line = (xx, xy, xz)
    if yy > xx and yy >= zz:
        line = (xy, yy, yz)
    elif zz > xx:
        line = (xz, yz, zz)
    return scale(1.0 / (norm(line) + 1e-300), line)


@part
def support(index, states, length):
    """
    Return rank and number of the feet, their moments' axes, middle, moments, and line.

    The rank is 6, or 5, 4, 3 or 0 where they cannot carry every wrench. The line is that about
    which feet of rank 5 cannot carry a moment, and the only one about which those of rank 4 can:
    of line feet in one place, all in one direction.
    """
    n, turns, center = middle(index, states)
    moments = spread(index, states, center)
    xx, xy, xz, yy, yz, zz = moments
    reach, rank, line = xx + yy + zz, 6 if n > 0 else 0, direction(moments)
    inertia = (yy + zz, -xy, -xz, xx + zz, -yz, xx + yy)
    axes = turns[0] + turns[3] + turns[5]
    apart = reach > COLLINEAR * (dot(center, center) + length * length)
    if n > 0 and axes == 0.0:
        # Feet on a line have the moments of inertia 0, reach, reach.
        if determinant(inertia) <= COLLINEAR * reach * reach * reach:
            rank = 5 if apart else 3
    elif n > 0 and not holds_all(turns):
        # In units in which both kinds of moments count alike.
        square = axes / reach if apart else 0.0
        whole = add6(turns, scale6(square, inertia))
        most = whole[0] + whole[3] + whole[5]
        if determinant(whole) <= COLLINEAR * most * most * most:
            minors = adjugate(whole)
            if minors[0] + minors[3] + minors[5] > COLLINEAR * most * most:
                rank, line = 5, direction(minors)
            else:
                rank, line = 4, direction(whole)
    return rank, n, turns, center, moments, line


@part
def holds_all(turns):
    """Return whether axes, summed up, surely hold a turn about any: as those of a sole do."""
    return (turns[0] >= 1.0 and turns[3] >= 1.0 and turns[5] >= 1.0
            and turns[1] == 0.0 and turns[2] == 0.0 and turns[4] == 0.0)


@part
def carried(f, m, center, line, rank, length):
    """
    Return the wrench less what feet on a line (rank 5) or in one place (3 or 4) leave.

    Parameters
    ----------
    f, m : tuples of 3 floats [N, N m]
        Force and moment at the base's origin.
    center : tuple of 3 floats [m]
        Mean of the contact points.
    line : tuple of 3 floats
        Direction of the line, a unit vector.
    rank : int
        Of the map from contact coordinates to the wrench.
    length : float [m]
        That makes moments forces.

    """
    m_center = subtract(m, cross(center, f))
    square = length * length
    weight = dot(center, center) + square
    if rank == 3:
        # (weight 1 - c c^T) x = m_center, whose inverse is (1 + c c^T / L^2) / weight.
        x = scale(1.0 / weight, add_scaled(m_center, dot(center, m_center) / square, center))
    elif rank == 4:     # the same across the line
        c = add_scaled(center, -dot(center, line), line)
        m_across = add_scaled(m_center, -dot(m_center, line), line)
        x = scale(1.0 / weight, add_scaled(m_across, dot(c, m_across) / (weight - dot(c, c)), c))
    else:
        along = dot(center, line)
        x = scale(dot(line, m_center) / (weight - along * along), line)
    return subtract(f, cross(center, x)), subtract(m, scale(square, x))


@part
def choose(index, states, settings, f, m):
    """
    Add to the feet's states the least forces and moments that carry a wrench [f; m].

    Returns
    -------
    int
        Rank of the feet: 6, or 5, 4, 3 or 0 where they cannot carry every wrench.

    """
    ease, length = settings[EASE], settings[LENGTH]
    rank, n, turns, center, moments, line = support(index, states, length)
    if rank == 0:
        return 0
    if rank < 6:
        f, m = carried(f, m, center, line, rank, length)
    xx, xy, xz, yy, yz, zz = scale6(ease, moments)
    m_center = subtract(m, cross(center, f))
    w = ZERO
    if rank == 6:
        inertia = add6(turns, (yy + zz, -xy, -xz, xx + zz, -yz, xx + yy))
        w = symmetric_times(inverse_symmetric(inertia), m_center)
    elif rank == 5:
        # One direction has no inertia and, by now, no moment.
        a, b, c = scale(math.sqrt(xx + yy + zz + turns[0] + turns[3] + turns[5]), line)
        inertia = add6(turns, (yy + zz + a * a, a * b - xy, a * c - xz, xx + zz + b * b,
                               b * c - yz, xx + yy + c * c))
        w = symmetric_times(inverse_symmetric(inertia), m_center)
    elif rank == 4:
        w = scale(1.0 / (turns[0] + turns[3] + turns[5]), m_center)
    share = scale(1.0 / n, f)
    for i in range(index.shape[0]):
        if index[i, STANDING] != 0:
            force = add(share, scale(ease, cross(w, subtract(get3(states, i, CONTACT), center))))
            put3(states, i, CONTACT_FORCE, add(get3(states, i, CONTACT_FORCE), force))
            if has_moment(index, i):
                moment = add(get3(states, i, CONTACT_MOMENT), held(index, states, i, w))
                put3(states, i, CONTACT_MOMENT, moment)
    return rank
