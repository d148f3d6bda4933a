# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One tick of contact inverse dynamics: motion in, ground reactions and joint efforts out.

Outwards over the tree for the motion of every body; the wrench that moves them all, shared
between the feet; each foot relieved of its share; and inwards for the efforts of the joints. What
arrives at the base is what no foot could carry.
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    BODY,
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    N_FOOT_STATE,
    N_INDEX,
    SIZE,
    FeetTable,
    contact_points,
    has_moment,
    held,
    moment_axis,
)
from legged_dynamics.dynamics.kinematics import (
    FORCE,
    MOMENT,
    N_BODY_STATE,
    POSITION,
    forward_kinematics,
)
from legged_dynamics.dynamics.newton_euler import (
    add_joint_physics,
    inertial_wrenches,
    joint_efforts,
    relieve_bodies,
)
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.tree import N_TOPOLOGY, Tree
from legged_dynamics.spatial.algebra import (
    ZERO,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    norm,
    rotate,
    rotate_back,
    scale,
    store3,
    subtract,
    symmetric_times,
)
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3, get9, put3
from legged_dynamics.spatial.symmetric import (
    add6,
    adjugate,
    determinant,
    inverse_symmetric,
    scale6,
)

# -------------------------------------------------------------------------------------------------
# What the kernels of contact inverse dynamics work on, and where things lie in it.
#
# One table of integers and one of floats, which `carve` cuts into their parts by rows: the same
# text inside a kernel and from Python. Rows of one width cost nothing to cut; the results are an
# array of their own, so that one copy takes them all.
#
# The kernels share their arguments:
#
# ==========================  ===================================================================
# ``q``, ``v``, ``a``         (nq,), (nv,), (nv,): joint states; of batches (n, .)
# ``base``                    (9,): angular velocity, angular and proper acceleration, base axes
# ``effort``                  (nv,) measured torques; empty where there are none
# ``integers``, ``floats``    tables that :func:`carve` cuts up
# ``results``                 wrenches (6 nf) and efforts (nv), then the report, see RESIDUAL
# ``tree``, ``feet``          `Tree` and `FeetTable`; ``index`` is the integers of the latter
# ``settings``                (., ) row at NORMAL, EASE, LENGTH
# ``bodies``, ``states``      body table and feet's states, base axes
# ``external``                (nb, 6 and more): wrenches on bodies, in their axes
# ``narrow, wide, lists``     tables of a `Program`
# ``standing``, ``normal``    of batches: (n, nf) flags of feet in contact; (n, 3) normals
# ``guess``                   of batches: (n, nf, 6) wrenches in the feet's axes
# ==========================  ===================================================================


# The first two rows of the integers: sizes, then what is special about a call.
BODIES, POSITIONS, VELOCITIES, FEET = range(4)
LOADED, GUESSED, FLOATING = range(3)
# Column of the feet's rows of integers, behind those of a FeetTable: 1 for a foot on the ground.
STANDING = N_INDEX
# Columns of the feet's states, behind those of contact_points: force and moment at the contact
# point in base axes, and the guess, which is in the foot's frame.
CONTACT_FORCE, CONTACT_MOMENT = N_FOOT_STATE, N_FOOT_STATE + 3
GUESS = N_FOOT_STATE + 6
# Columns of Memory.settings: the ground's normal in base axes, how much a force gives for a
# multiplier of one (a moment gives 1), and the length that makes moments of residuals forces.
NORMAL, EASE, LENGTH = 0, 3, 4
# Places in the results, from behind (before them stand wrenches and efforts): what the feet leave
# of the wrench on the base, rank and number of the contact coordinates, how a program ended.
RESIDUAL, RANK, UNKNOWNS, OUTCOME, KKT = -10, -4, -3, -2, -1
N_REPORT = 10
# What a kernel returns.
DONE, MISFIT, NOT_UNIT, NOT_FINITE, NOT_SOLVED = 0, -1, -2, -3, -4


class Memory(NamedTuple):
    """Everything a tick works on, as rows of one integer and one float table."""

    tree: Tree
    feet: FeetTable             # and STANDING behind its integers
    settings: np.ndarray
    bodies: np.ndarray          # (nb, N_BODY_STATE)
    states: np.ndarray          # (nf, N_FOOT_STATE and what is behind)
    external: np.ndarray        # (nb, 6 and more) wrenches on bodies, in their axes


@part
def carve(integers, floats):
    """Cut the two tables into the parts of a `Memory`."""
    nb, nf = integers[0, BODIES], integers[0, FEET]
    tree = Tree(integers[2:2 + nb], floats[1:1 + nb])
    feet = FeetTable(integers[2 + nb:], floats[1 + nb:1 + nb + nf])
    at = 1 + nb + nf
    return Memory(tree, feet, floats[0], floats[at:at + nb], floats[at + nb:at + nb + nf],
                  floats[at + nb + nf:])


def allocate(model: RobotModel, table: FeetTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return integers, floats and results for a robot on its feet, with its constants in."""
    nb, nf = model.n_bodies, len(table.index)
    integers = np.zeros((2 + nb + nf, max(N_TOPOLOGY, N_INDEX + 1)), np.int64)
    integers[0, :4] = nb, model.nq, model.nv, nf
    integers[1, FLOATING] = model.floating
    floats = np.zeros((1 + 3 * nb + 2 * nf, N_BODY_STATE))
    memory = carve(integers, floats)
    memory.tree.topology[:, :N_TOPOLOGY] = model.tree.topology
    memory.tree.constants[:, :model.tree.constants.shape[1]] = model.tree.constants
    memory.feet.index[:, :N_INDEX] = table.index
    memory.feet.geometry[:, :table.geometry.shape[1]] = table.geometry
    return integers, floats, np.zeros(6 * nf + model.nv + N_REPORT)


# -------------------------------------------------------------------------------------------------
# Sharing a wrench between feet, in closed form.
#
# Of all forces and moments at the contact points with ``sum f_i = f`` and ``sum p_i x f_i + m_i =
# m``, the one with the least ``sum |f_i|^2 / e + |m_i|^2`` is the velocity field of a rigid body
# (Lagrange: ``B^-1 A^T (A B^-1 A^T)^-1 b``, and ``A B^-1 A^T`` is the spatial inertia of masses
# ``e`` at the contact points):
#
#     f_i = f / n + e w x d_i,      m_i = w,      w = I^-1 m_c,
#
# with ``d_i`` from the middle of the n contact points, ``m_c`` the moment about it, and ``I = sum
# e (|d_i|^2 1 - d_i d_i^T)``, and ``a a^T`` more for each axis a about which a foot carries a
# moment, ``m_i = a a^T w`` (of a sole, 1 in all): three equations, not six. Point feet on one line
# leave ``I`` without an inverse. What they cannot carry is then taken off first, as the least
# ``|f_r|^2 + |m_r|^2 / L^2``, ``m_r`` about the base's origin.


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


# -------------------------------------------------------------------------------------------------


@part
def base_demand(bodies):
    """Return the force and moment about the base's origin that all bodies together take."""
    f, m = ZERO, ZERO
    for i in range(bodies.shape[0]):
        force = get3(bodies, i, FORCE)
        f = add(f, force)
        m = add(m, add(get3(bodies, i, MOMENT), cross(get3(bodies, i, POSITION), force)))
    return f, m


@part
def demand(tree, bodies, external, loaded, q, v, a, base):
    """
    Walk outwards; return the force and moment that feet are to give at the base's origin.

    Arguments: see :mod:`~legged_dynamics.contact.tick`; ``loaded`` says whether
    there are external wrenches.
    """
    forward_kinematics(tree, q, v, a, base, bodies)
    inertial_wrenches(tree, bodies)
    if loaded:
        relieve_bodies(external, bodies)
    return base_demand(bodies)


@part
def fits(integers, q, v, a, base):
    """Return whether the inputs have the robot's sizes."""
    nv = integers[0, VELOCITIES]
    return (q.shape[0] == integers[0, POSITIONS] and v.shape[0] == nv and a.shape[0] == nv
            and base.shape[0] == 9)


@part
def start_from_guess(index, states, guessed, f, m):
    """Fill contact forces and moments with the guess or zero; return what it leaves to carry."""
    for i in range(index.shape[0]):
        force, moment = ZERO, ZERO
        if guessed and index[i, STANDING] != 0:
            R, point = get9(states, i, FOOT_ROTATION), get3(states, i, CONTACT)
            force = rotate(R, get3(states, i, GUESS))
            if has_moment(index, i):
                arm = subtract(point, get3(states, i, FOOT_POSITION))
                moment = subtract(rotate(R, get3(states, i, GUESS + 3)), cross(arm, force))
                moment = held(index, states, i, moment)
            f = subtract(f, force)
            m = subtract(m, add(moment, cross(point, force)))
        put3(states, i, CONTACT_FORCE, force)
        put3(states, i, CONTACT_MOMENT, moment)
    return f, m


@part
def relieve_feet(index, states, bodies, results):
    """Take the contact forces off the feet's bodies; fill the wrenches in the feet's frames."""
    unknowns = 0
    for i in range(index.shape[0]):
        force, moment = get3(states, i, CONTACT_FORCE), get3(states, i, CONTACT_MOMENT)
        point, b, R = get3(states, i, CONTACT), index[i, BODY], get9(states, i, FOOT_ROTATION)
        about_foot = cross(subtract(point, get3(states, i, FOOT_POSITION)), force)
        store3(results, 6 * i, rotate_back(R, force))
        store3(results, 6 * i + 3, rotate_back(R, add(moment, about_foot)))
        about_body = cross(subtract(point, get3(bodies, b, POSITION)), force)
        put3(bodies, b, FORCE, subtract(get3(bodies, b, FORCE), force))
        put3(bodies, b, MOMENT, subtract(get3(bodies, b, MOMENT), add(moment, about_body)))
        unknowns += index[i, SIZE] * index[i, STANDING]
    results[UNKNOWNS] = unknowns


@part
def report_residual(bodies, effort, results):
    """Fill what is left at the base; return whether it and the efforts are finite."""
    total = 0.0
    for k in range(6):
        results[RESIDUAL + k] = bodies[0, FORCE + k]
        total += bodies[0, FORCE + k]
    for j in range(effort.shape[0]):
        total += effort[j]
    return math.isfinite(total)


@lean_kernel
def tick(q, v, a, base, integers, floats, results):
    """
    Fill the results for one sample of motion.

    Returns
    -------
    int
        `memory.DONE`, or which of `MISFIT`, `NOT_UNIT` and `NOT_FINITE` the inputs are.

    Arguments: see :mod:`~legged_dynamics.contact.tick`.

    """
    if not fits(integers, q, v, a, base):
        return MISFIT
    tree, feet, settings, bodies, states, external = carve(integers, floats)
    normal = load3(settings, NORMAL)
    if not abs(dot(normal, normal) - 1.0) < 2e-6:
        return NOT_UNIT
    f, m = demand(tree, bodies, external, integers[1, LOADED] != 0, q, v, a, base)
    contact_points(feet, bodies, normal, states)
    f, m = start_from_guess(feet.index, states, integers[1, GUESSED] != 0, f, m)
    results[RANK] = 0.0
    if integers[1, FLOATING] != 0:
        results[RANK] = choose(feet.index, states, settings, f, m)
    relieve_feet(feet.index, states, bodies, results)
    effort = results[6 * feet.index.shape[0]:RESIDUAL]
    joint_efforts(tree, bodies, effort)
    add_joint_physics(tree, q, v, a, effort)
    return DONE if report_residual(bodies, effort, results) else NOT_FINITE
