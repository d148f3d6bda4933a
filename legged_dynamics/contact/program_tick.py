# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One tick with measured joint torque, within friction cones, or both.

The closed form of `tick` is only the start. Without measured torque the motion must be balanced
exactly; where no admissible forces do so, the equations become costs that outweigh the distance
from the guess, and what they miss is the residual. With measured torque every equation is a cost,
weighted by its variance.
"""
from __future__ import annotations

import math

from legged_dynamics.contact.active_set import (
    ACCEPTED,
    INDEPENDENT,
    INDEPENDENT_IF_SOFT,
    INFEASIBLE,
    SOLVED,
    STEPS_RAN_OUT,
    ascend,
    condense,
    fill_sizes,
    find_unknowns,
    optimality,
    remember_active,
    warm_start,
)
from legged_dynamics.contact.program import (
    AIM,
    BASE_VARIANCE,
    CHANGE,
    JOINT_VARIANCE,
    NO_FOOT,
    OWNER,
    REMEMBERED,
    SEVERAL_FEET,
    B,
    V,
    W,
    carve_program,
    fill_inequalities,
    fill_slacks,
    move_inside,
)
from legged_dynamics.contact.tick import (
    CONTACT_FORCE,
    CONTACT_MOMENT,
    DONE,
    EASE,
    GUESSED,
    KKT,
    LENGTH,
    LOADED,
    MISFIT,
    NORMAL,
    NOT_FINITE,
    NOT_SOLVED,
    NOT_UNIT,
    OUTCOME,
    RANK,
    RESIDUAL,
    STANDING,
    carve,
    choose,
    fits,
    relieve_feet,
    report_residual,
    required_wrench,
    start_from_guess,
    support,
)
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    SIZE,
    START,
    contact_jacobians,
    contact_map,
    contact_points,
    foot_moment,
    put_moment,
    unit,
)
from legged_dynamics.dynamics.kinematics import FORCE
from legged_dynamics.dynamics.newton_euler import (
    add_joint_physics,
    joint_efforts,
)
from legged_dynamics.force_map.affine import BALANCE_WEIGHT
from legged_dynamics.optimization.factorizations import factorize, inverse_pivot, solve_factorized
from legged_dynamics.spatial.algebra import add_scaled, cross, dot, load3
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3, put3

# -------------------------------------------------------------------------------------------------
# Cost and equations of the program, at the present pose.
#
# Motion alone: the distance from the guess, under the six equations of the base. With measured
# torque: the errors of all equations; that of a joint that one foot loads is in the foot's block.


@part
def _fill_base_equations(feet, states, p):
    """Fill the equations of the base, force and moment about its origin; leave others empty."""
    for r in range(6, p.e):
        p.wide[B, r], p.wide[V, r] = 0.0, 1.0
    contact_map(feet, states, p.narrow[p.A:p.A + p.nc].T)
    for i in range(feet.index.shape[0]):
        start, size = feet.index[i, START], feet.index[i, SIZE]
        for c in range(start, start + size):
            for r in range(0 if feet.index[i, STANDING] == 0 else 6, p.e):
                p.narrow[p.A + c, r] = 0.0


@part
def _fill_distance(index, ease, p):
    """Fill D for the distance from the guess, which is in AIM already."""
    for i in range(index.shape[0]):
        for k in range(index[i, SIZE]):
            row = index[i, START] + k
            for j in range(6):
                p.narrow[p.D + row, j] = p.narrow[p.inverse + row, j] = 0.0
            p.narrow[p.inverse + row, k] = ease if k < 3 else 1.0
            p.narrow[p.D + row, k] = 1.0 / p.narrow[p.inverse + row, k]


@part
def _close_gap(index, states, p, rank):
    """
    Give M full rank where feet in one place or on one line leave it singular.

    The required wrench has no part in those directions, so their pivots do not matter.
    """
    _, _, _, center, _, line = support(index, states, 1.0)
    size = p.narrow[p.M, 0]
    for k in range(1 if rank == 5 else 3):
        axis = unit(k)
        if rank == 5:
            axis = line
        elif rank == 4:     # across the line: the sum of squares is that of two axes
            axis = add_scaled(axis, -dot(axis, line), line)
        arm = cross(center, axis)
        for r in range(6):
            for s in range(r + 1):
                a = arm[r] if r < 3 else axis[r - 3]
                p.narrow[p.M + r, s] += size * a * (arm[s] if s < 3 else axis[s - 3])


@part
def _invert_block(p, start, size):
    """Fill the inverse of a foot's block of D; cofactors would lose digits of a weak prior."""
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
def _fill_errors(index, p, effort, free):
    """Fill D and AIM for the squares of all errors over their variances."""
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
        _invert_block(p, index[i, START], index[i, SIZE])
        for r in range(index[i, START], index[i, START] + index[i, SIZE]):
            total = 0.0
            for c in range(index[i, SIZE]):
                total += p.narrow[p.inverse + r, c] * pull[index[i, START] + c]
            p.wide[AIM, r] = total if index[i, STANDING] != 0 else 0.0


# -------------------------------------------------------------------------------------------------


@part
def _put_coordinates(index, states, i, out):
    """Put a foot's force and moment where its contact coordinates are."""
    force = get3(states, i, CONTACT_FORCE)
    for k in range(3):
        out[index[i, START] + k] = force[k]
    put_moment(index, states, i, get3(states, i, CONTACT_MOMENT), out)


@part
def _fill_closed_form(index, states, p):
    """Set the unknowns to the closed form's forces, and the equations to their wrench."""
    for r in range(6):
        p.wide[B, r] = 0.0
    for i in range(index.shape[0]):
        force = get3(states, i, CONTACT_FORCE)
        moment = cross(get3(states, i, CONTACT), force)
        for k in range(3):
            p.wide[B, k] += force[k]
            p.wide[B, 3 + k] += states[i, CONTACT_MOMENT + k] + moment[k]
        _put_coordinates(index, states, i, p.wide[W])


@part
def _soften(settings, p, soft):
    """Make the base's equations costs that outweigh the distance from the guess, or exact."""
    for r in range(6):
        square = 1.0 if r < 3 else settings[LENGTH] * settings[LENGTH]
        p.wide[V, r] = settings[EASE] * square / BALANCE_WEIGHT if soft else 0.0


@part
def _explain(index, p, free, results):
    """Subtract the contact forces from efforts and base; return whether all is finite."""
    total = 0.0
    for j in range(free.shape[0]):
        i = p.lists[OWNER, j]
        if i != NO_FOOT:
            first = 0 if i == SEVERAL_FEET else index[i, START]
            last = p.nc if i == SEVERAL_FEET else first + index[i, SIZE]
            for c in range(first, last):
                free[j] -= p.wide[p.jacobian + c, j] * p.wide[W, c]
        total += free[j]
    for r in range(6):
        results[RESIDUAL + r] = p.wide[B, r]
        for c in range(p.nc):
            results[RESIDUAL + r] -= p.narrow[p.A + c, r] * p.wide[W, c]
        total += results[RESIDUAL + r]
    return math.isfinite(total)


@lean_kernel
def program_tick(q, v, a, base, effort, integers, floats, results, narrow, wide, lists):
    """
    Fill the results for one sample of motion, and of joint torque unless that is empty.

    Parameters
    ----------
    q, v, a, base : arrays
        Motion of joints and base: see `contact.tick`.
    effort : (nv,) array [N m or N]
        Measured joint torques, NaN where unknown; empty where there are none.
    integers, floats, results : arrays
        Memory of a tick: see `contact.tick`.
    narrow, wide, lists : arrays
        Memory of a `Program`.

    Returns
    -------
    int
        `DONE`, or why the inputs are wrong (`MISFIT`, `NOT_UNIT`, `NOT_FINITE`), or `NOT_SOLVED`.

    """
    measured = effort.shape[0] != 0
    if not fits(integers, q, v, a, base) or (measured and effort.shape[0] != v.shape[0]):
        return MISFIT
    tree, feet, settings, bodies, states, external = carve(integers, floats)
    p, index = carve_program(narrow, wide, lists), feet.index
    normal = load3(settings, NORMAL)
    if not abs(dot(normal, normal) - 1.0) < 2e-6:
        return NOT_UNIT
    f, m = required_wrench(tree, bodies, external, integers[1, LOADED] != 0, q, v, a, base)
    if not math.isfinite(f[0] + f[1] + f[2] + m[0] + m[1] + m[2]):
        return NOT_FINITE
    contact_points(feet, bodies, normal, states)
    f, m = start_from_guess(index, states, integers[1, GUESSED] != 0, f, m)
    for i in range(index.shape[0]):
        _put_coordinates(index, states, i, wide[AIM])
    rank = choose(index, states, settings, f, m)
    results[RANK], results[OUTCOME], results[KKT] = rank, 0.0, 0.0
    efforts = results[6 * index.shape[0]:RESIDUAL]
    _fill_base_equations(feet, states, p)
    fill_inequalities(feet, settings, states, p)
    if measured:
        joint_efforts(tree, bodies, efforts)
        add_joint_physics(tree, q, v, a, efforts)
        contact_jacobians(tree, feet, bodies, states, wide[p.jacobian:])
        for r in range(6):
            wide[B, r], wide[V, r] = bodies[0, FORCE + r], wide[BASE_VARIANCE, r]
        _fill_errors(index, p, effort, efforts)
    else:
        _fill_closed_form(index, states, p)
        _fill_distance(index, settings[EASE], p)

    # First exactly, then as a cost; at last without the warm start, should that have failed.
    attempt, last, status = 0, 1 if measured else 2, SOLVED
    if measured or (rank > 0 and fill_slacks(index, p) < 0.0):
        status = INFEASIBLE
    while status != SOLVED and attempt <= last:
        soft = attempt > 0 or measured
        if attempt == 0 or (attempt == 1 and not measured):
            if not measured:
                _soften(settings, p, soft)
                results[OUTCOME] = attempt
            condense(index, p)
            if rank < 6 and not soft:
                _close_gap(index, states, p, rank)
            if not factorize(narrow[p.M:], p.e):
                attempt += 1
                continue
        if attempt == last:
            lists[REMEMBERED, 0] = 0
        find_unknowns(index, p, 0)
        status = SOLVED
        if fill_slacks(index, p) < 0.0:
            fill_sizes(index, p)
            least = INDEPENDENT_IF_SOFT if soft else INDEPENDENT
            status, k = ascend(index, p, warm_start(index, p, least), least)
            if status == SOLVED:
                remember_active(p, k)
                find_unknowns(index, p, k)
                move_inside(feet, settings, states, p)
                fill_slacks(index, p)
                results[KKT] = optimality(index, p, k)
                if not results[KKT] < ACCEPTED:
                    status = STEPS_RAN_OUT
        attempt += 1
    for i in range(index.shape[0]):
        put3(states, i, CONTACT_FORCE, get3(wide, W, index[i, START]))
        put3(states, i, CONTACT_MOMENT, foot_moment(index, states, i, wide[W]))
    relieve_feet(index, states, bodies, results)
    if measured:
        finite = _explain(index, p, efforts, results)
    else:
        joint_efforts(tree, bodies, efforts)
        add_joint_physics(tree, q, v, a, efforts)
        finite = report_residual(bodies, efforts, results)
    if not finite:
        return NOT_FINITE
    return DONE if status == SOLVED else NOT_SOLVED
