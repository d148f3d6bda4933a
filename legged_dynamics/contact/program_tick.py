# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One tick with measured joint torque, within friction cones, or both.

As `tick`, but the closed form is only the start. Motion alone must be carried exactly; where no
admissible forces do, the equations become a wish that outweighs the rest, and what stays is the
residual. With measured torque every equation is a wish, weighed by its variance.
"""
from __future__ import annotations

import math

from legged_dynamics.contact.active_set import (
    ACCEPTED,
    INDEPENDENT,
    INDEPENDENT_OF_WISHES,
    INFEASIBLE,
    SOLVED,
    STEPS_RAN_OUT,
    climb,
    fill_sizes,
    optimality,
    remember,
    start_from_last,
)
from legged_dynamics.contact.ground_limits import fill_inequalities, fill_slacks, move_inside
from legged_dynamics.contact.memory import (
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
    carve,
)
from legged_dynamics.contact.program import (
    AIM,
    BASE_VARIANCE,
    NO_FOOT,
    OWNER,
    REMEMBERED,
    SEVERAL_FEET,
    B,
    V,
    W,
    carve_program,
)
from legged_dynamics.contact.program_cost import (
    close_gap,
    fill_base_equations,
    fill_distance,
    fill_errors,
)
from legged_dynamics.contact.range_space import condense, find_unknowns
from legged_dynamics.contact.selection import choose
from legged_dynamics.contact.tick import (
    demand,
    fits,
    relieve_feet,
    report_residual,
    start_from_guess,
)
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    SIZE,
    START,
    contact_jacobians,
    contact_points,
    foot_moment,
    put_moment,
)
from legged_dynamics.dynamics.kinematics import FORCE
from legged_dynamics.dynamics.newton_euler import (
    add_joint_physics,
    joint_efforts,
)
from legged_dynamics.force_map.weights import BALANCE_WEIGHT
from legged_dynamics.optimization.cholesky import factorize
from legged_dynamics.spatial.algebra import cross, dot, load3
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.table import get3, put3


@part
def put_coordinates(index, states, i, out):
    """Put a foot's force and moment where its contact coordinates are."""
    force = get3(states, i, CONTACT_FORCE)
    for k in range(3):
        out[index[i, START] + k] = force[k]
    put_moment(index, states, i, get3(states, i, CONTACT_MOMENT), out)


@part
def fill_closed_form(index, states, p):
    """Let the unknowns be the closed form's forces, and the equations ask for what they carry."""
    for r in range(6):
        p.wide[B, r] = 0.0
    for i in range(index.shape[0]):
        force = get3(states, i, CONTACT_FORCE)
        moment = cross(get3(states, i, CONTACT), force)
        for k in range(3):
            p.wide[B, k] += force[k]
            p.wide[B, 3 + k] += states[i, CONTACT_MOMENT + k] + moment[k]
        put_coordinates(index, states, i, p.wide[W])


@part
def fill_wishes(settings, p, wish):
    """Let the base's equations be wishes that outweigh the distance from the guess, or exact."""
    for r in range(6):
        square = 1.0 if r < 3 else settings[LENGTH] * settings[LENGTH]
        p.wide[V, r] = settings[EASE] * square / BALANCE_WEIGHT if wish else 0.0


@part
def explain(index, p, free, results):
    """Take the contact forces off joint efforts and base; return whether all is finite."""
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

    Returns
    -------
    int
        `memory.DONE`, or what is wrong with the inputs, or NOT_SOLVED.

    Arguments: see :mod:`~legged_dynamics.contact.memory`.

    """
    measured = effort.shape[0] != 0
    if not fits(integers, q, v, a, base) or (measured and effort.shape[0] != v.shape[0]):
        return MISFIT
    tree, feet, settings, bodies, states, external = carve(integers, floats)
    p, index = carve_program(narrow, wide, lists), feet.index
    normal = load3(settings, NORMAL)
    if not abs(dot(normal, normal) - 1.0) < 2e-6:
        return NOT_UNIT
    f, m = demand(tree, bodies, external, integers[1, LOADED] != 0, q, v, a, base)
    if not math.isfinite(f[0] + f[1] + f[2] + m[0] + m[1] + m[2]):
        return NOT_FINITE
    contact_points(feet, bodies, normal, states)
    f, m = start_from_guess(index, states, integers[1, GUESSED] != 0, f, m)
    for i in range(index.shape[0]):
        put_coordinates(index, states, i, wide[AIM])
    rank = choose(index, states, settings, f, m)
    results[RANK], results[OUTCOME], results[KKT] = rank, 0.0, 0.0
    efforts = results[6 * index.shape[0]:RESIDUAL]
    fill_base_equations(index, states, p)
    fill_inequalities(feet, settings, states, p)
    if measured:
        joint_efforts(tree, bodies, efforts)
        add_joint_physics(tree, q, v, a, efforts)
        contact_jacobians(tree, feet, bodies, states, wide[p.jacobian:])
        for r in range(6):
            wide[B, r], wide[V, r] = bodies[0, FORCE + r], wide[BASE_VARIANCE, r]
        fill_errors(index, p, effort, efforts)
    else:
        fill_closed_form(index, states, p)
        fill_distance(index, settings[EASE], p)

    # First exactly, then as a wish; and without what held last time, should that lead astray.
    attempt, last, status = 0, 1 if measured else 2, SOLVED
    if measured or (rank > 0 and fill_slacks(index, p) < 0.0):
        status = INFEASIBLE
    while status != SOLVED and attempt <= last:
        wish = attempt > 0 or measured
        if attempt == 0 or (attempt == 1 and not measured):
            if not measured:
                fill_wishes(settings, p, wish)
                results[OUTCOME] = attempt
            condense(index, p)
            if rank < 6 and not wish:
                close_gap(index, states, p, rank)
            if not factorize(narrow[p.M:], p.e):
                attempt += 1
                continue
        if attempt == last:
            lists[REMEMBERED, 0] = 0
        find_unknowns(index, p, 0)
        status = SOLVED
        if fill_slacks(index, p) < 0.0:
            fill_sizes(index, p)
            least = INDEPENDENT_OF_WISHES if wish else INDEPENDENT
            status, k = climb(index, p, start_from_last(index, p, least), least)
            if status == SOLVED:
                remember(p, k)
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
        finite = explain(index, p, efforts, results)
    else:
        joint_efforts(tree, bodies, efforts)
        add_joint_physics(tree, q, v, a, efforts)
        finite = report_residual(bodies, efforts, results)
    if not finite:
        return NOT_FINITE
    return DONE if status == SOLVED else NOT_SOLVED
