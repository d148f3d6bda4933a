# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One tick of contact inverse dynamics: motion in, ground reactions and joint efforts out.

Newton-Euler outwards over the tree gives the wrench that the motion requires; the feet share it in
closed form, nearest to a guess or with the least contact moments; the efforts of the joints follow
inwards. What arrives at the base is the residual. The closed form is the ground-force problem
without limits and measured torque; it exists because a tick then takes less than 2 us.
"""
from __future__ import annotations

import math
from itertools import accumulate
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
    moment_axis,
    moment_part,
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
    subtract_external_wrenches,
)
from legged_dynamics.model.parts import N_TOPOLOGY, Tree
from legged_dynamics.model.robot_model import RobotModel
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
from legged_dynamics.spatial.jit import inlined_part, lean_kernel, part
from legged_dynamics.spatial.layout import get3, get9, put3
from legged_dynamics.spatial.symmetric import (
    add6,
    add_outer,
    adjugate,
    determinant,
    inverse_symmetric,
    scale6,
)

# -------------------------------------------------------------------------------------------------
# Memory of the kernels of contact inverse dynamics.
#
# One table of integers and one of floats, which `carve` cuts into their parts by rows, inside a
# kernel as well as from Python. Rows of one width cost nothing to cut. The results are an array of
# their own, so that one copy takes them all.
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
CONTACT_FORCE, CONTACT_MOMENT = accumulate((N_FOOT_STATE, 3))
GUESS = N_FOOT_STATE + 6
# Columns of Memory.settings: the ground's normal in base axes, the compliance of a force (that of
# a moment is 1), and the length by which moments of residuals are divided.
NORMAL, EASE, LENGTH = accumulate((0, 3, 1))
# Places in the results, counted from the end (wrenches and efforts come first): the residual of
# the base's wrench, rank and number of the contact coordinates, how a program ended.
RESIDUAL, RANK, UNKNOWNS, OUTCOME, KKT = accumulate((-10, 6, 1, 1, 1))
N_REPORT = 10
# What a kernel returns.
DONE, MISFIT, NOT_UNIT, NOT_FINITE, NOT_SOLVED = range(0, -5, -1)


class Memory(NamedTuple):
    """All memory of a tick, as rows of one integer and one float table."""

    tree: Tree
    feet: FeetTable             # and STANDING behind its integers
    settings: np.ndarray
    bodies: np.ndarray          # (nb, N_BODY_STATE)
    states: np.ndarray          # (nf, N_FOOT_STATE and what is behind)
    external: np.ndarray        # (nb, 6 and more) wrenches on bodies, in their axes


@part
def carve(integers, floats):
    """Return a `Memory` with views of the parts of the two tables from `allocate`."""
    nb, nf = integers[0, BODIES], integers[0, FEET]
    tree = Tree(integers[2:2 + nb], floats[1:1 + nb])
    feet = FeetTable(integers[2 + nb:], floats[1 + nb:1 + nb + nf])
    at = 1 + nb + nf
    return Memory(tree, feet, floats[0], floats[at:at + nb], floats[at + nb:at + nb + nf],
                  floats[at + nb + nf:])


def allocate(model: RobotModel, table: FeetTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Return (integers, floats, results) of a robot on its feet, with constants filled in.

    ``carve`` splits the first two; ``results`` is (6 nf + nv + N_REPORT,).
    """
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
# moment, ``m_i = a a^T w`` (of a sole, 1 in all): three equations, not six. Of point feet on one
# line ``I`` is singular. The residual that they cannot carry is then subtracted first: that with
# the least ``|f_r|^2 + |m_r|^2 / L^2``, ``m_r`` about the base's origin.


# Square of the relative distance from one line, or from each other, that counts as zero.
COLLINEAR = 1e-12


@part
def _middle(index, states):
    """Return the number of feet that stand, the sum of ``a a^T`` of their moments, the mean."""
    n, turns, total = 0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), ZERO
    for i in range(index.shape[0]):
        if index[i, STANDING] != 0:
            n += 1
            total = add(total, get3(states, i, CONTACT))
            for k in range(index[i, SIZE] - 3):
                turns = add_outer(turns, 1.0, moment_axis(index, states, i, k))
    return n, turns, scale(1.0 / n if n > 0 else 0.0, total)


@part
def _spread(index, states, center):
    """Return the sum of ``d d^T`` over the feet, d from their middle, as xx xy xz yy yz zz."""
    moments = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(index.shape[0]):
        if index[i, STANDING] != 0:
            moments = add_outer(moments, 1.0, subtract(get3(states, i, CONTACT), center))
    return moments


@part
def _inertia(moments):
    """Return ``sum |d|^2 1 - d d^T`` of the sum of ``d d^T``."""
    xx, xy, xz, yy, yz, zz = moments
    return yy + zz, -xy, -xz, xx + zz, -yz, xx + yy


@part
def _direction(moments):
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
    Return what standing feet can carry: (rank, n, turns, center, moments, line).

    ``turns``: sum of ``a a^T`` over moment axes; ``moments``: of ``d d^T`` about
    ``center``; ``line``: axis of no moment (rank 5) or of the only one (rank 4).
    """
    n, turns, center = _middle(index, states)
    moments = _spread(index, states, center)
    reach, inertia = moments[0] + moments[3] + moments[5], _inertia(moments)
    rank, line = 6 if n > 0 else 0, _direction(moments)
    axes = turns[0] + turns[3] + turns[5]
    apart = reach > COLLINEAR * (dot(center, center) + length * length)
    if n > 0 and axes == 0.0:
        # Feet on a line have the moments of inertia 0, reach, reach.
        if determinant(inertia) <= COLLINEAR * reach * reach * reach:
            rank = 5 if apart else 3
    elif n > 0 and not _holds_all(turns):
        # In units in which both kinds of moments count alike.
        square = axes / reach if apart else 0.0
        whole = add6(turns, scale6(square, inertia))
        most = whole[0] + whole[3] + whole[5]
        if determinant(whole) <= COLLINEAR * most * most * most:
            minors = adjugate(whole)
            if minors[0] + minors[3] + minors[5] > COLLINEAR * most * most:
                rank, line = 5, _direction(minors)
            else:
                rank, line = 4, _direction(whole)
    return rank, n, turns, center, moments, line


@part
def _holds_all(turns):
    """Return whether axes, summed up, surely hold a turn about any: as those of a sole do."""
    return (turns[0] >= 1.0 and turns[3] >= 1.0 and turns[5] >= 1.0
            and turns[1] == 0.0 and turns[2] == 0.0 and turns[4] == 0.0)


@part
def carried(f, m, center, line, rank, length):
    """
    Return the part of a wrench that feet on a line (rank 5) or at a point (3, 4) carry.

    About the base origin; ``center`` [m]: mean contact point; ``length`` [m] divides
    moments.
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
    Add the least foot forces and moments that sum to a wrench; return the feet's rank.

    ``f``, ``m`` are about the base origin; the rank is 6, or 5, 4, 3, 0 where the feet
    cannot carry every wrench.
    """
    ease, length = settings[EASE], settings[LENGTH]
    rank, n, turns, center, moments, line = support(index, states, length)
    if rank == 0:
        return 0
    if rank < 6:
        f, m = carried(f, m, center, line, rank, length)
    moments = scale6(ease, moments)
    inertia, m_center, w = _inertia(moments), subtract(m, cross(center, f)), ZERO
    if rank == 5:
        # One direction has no inertia; the moment about it has been subtracted.
        size = moments[0] + moments[3] + moments[5] + turns[0] + turns[3] + turns[5]
        inertia = add_outer(inertia, 1.0, scale(math.sqrt(size), line))
    if rank >= 5:
        w = symmetric_times(inverse_symmetric(add6(turns, inertia)), m_center)
    elif rank == 4:
        w = scale(1.0 / (turns[0] + turns[3] + turns[5]), m_center)
    share = scale(1.0 / n, f)
    for i in range(index.shape[0]):
        if index[i, STANDING] != 0:
            force = add(share, scale(ease, cross(w, subtract(get3(states, i, CONTACT), center))))
            put3(states, i, CONTACT_FORCE, add(get3(states, i, CONTACT_FORCE), force))
            if has_moment(index, i):
                moment = add(get3(states, i, CONTACT_MOMENT), moment_part(index, states, i, w))
                put3(states, i, CONTACT_MOMENT, moment)
    return rank


# -------------------------------------------------------------------------------------------------
# The stages of a tick.


@part
def base_wrench(bodies):
    """Return force [N] and moment [N m] required by all bodies, about the base origin."""
    f, m = ZERO, ZERO
    for i in range(bodies.shape[0]):
        force = get3(bodies, i, FORCE)
        f = add(f, force)
        m = add(m, add(get3(bodies, i, MOMENT), cross(get3(bodies, i, POSITION), force)))
    return f, m


@part
def required_wrench(tree, bodies, external, loaded, q, v, a, base):
    """
    Compute the outward pass and return the wrench required of the ground, at the base.

    Force [N] and moment [N m] about the base origin; ``external`` (nb, 6 or more) in body
    axes.
    """
    forward_kinematics(tree, q, v, a, base, bodies)
    inertial_wrenches(tree, bodies)
    if loaded:
        subtract_external_wrenches(external, bodies)
    return base_wrench(bodies)


@part
def fits(integers, q, v, a, base):
    """Return whether the inputs have the sizes in the first row of ``integers``."""
    nv = integers[0, VELOCITIES]
    return (q.shape[0] == integers[0, POSITIONS] and v.shape[0] == nv and a.shape[0] == nv
            and base.shape[0] == 9)


@part
def start_from_guess(index, states, guessed, f, m):
    """Set the contact wrenches to the guess or to zero; return the wrench left to carry."""
    for i in range(index.shape[0]):
        force, moment = ZERO, ZERO
        if guessed and index[i, STANDING] != 0:
            R, point = get9(states, i, FOOT_ROTATION), get3(states, i, CONTACT)
            force = rotate(R, get3(states, i, GUESS))
            if has_moment(index, i):
                arm = subtract(point, get3(states, i, FOOT_POSITION))
                moment = subtract(rotate(R, get3(states, i, GUESS + 3)), cross(arm, force))
                moment = moment_part(index, states, i, moment)
            f = subtract(f, force)
            m = subtract(m, add(moment, cross(point, force)))
        put3(states, i, CONTACT_FORCE, force)
        put3(states, i, CONTACT_MOMENT, moment)
    return f, m


@part
def relieve_feet(index, states, bodies, results):
    """Subtract contact forces from the feet's bodies; fill wrenches in foot frames."""
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
    """Fill the base residual from row 0 of ``bodies``; return whether all is finite."""
    total = 0.0
    for k in range(6):
        results[RESIDUAL + k] = bodies[0, FORCE + k]
        total += bodies[0, FORCE + k]
    for j in range(effort.shape[0]):
        total += effort[j]
    return math.isfinite(total)


@lean_kernel
def tick(q, v, a, base, integers, floats, results):
    """Check the inputs' sizes, then `solve_sample`; return its status or `MISFIT`."""
    if not fits(integers, q, v, a, base):
        return MISFIT
    return solve_sample(integers, carve(integers, floats), q, v, a, base, results)


@inlined_part
def solve_sample(integers, memory, q, v, a, base, results):
    """
    Fill the results for one sample of motion; return `DONE`, `NOT_UNIT` or `NOT_FINITE`.

    ``base`` (9,): angular velocity, angular and proper acceleration, base axes.
    """
    tree, feet, settings, bodies, states, external = memory
    normal = load3(settings, NORMAL)
    if not abs(dot(normal, normal) - 1.0) < 2e-6:
        return NOT_UNIT
    f, m = required_wrench(tree, bodies, external, integers[1, LOADED] != 0, q, v, a, base)
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
