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
    INFEASIBLE,
    SOLVED,
    solve_program,
)
from legged_dynamics.contact.ground_limits import fill_inequalities, fill_slacks
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
from legged_dynamics.contact.range_space import condense
from legged_dynamics.contact.selection import choose
from legged_dynamics.contact.tick import (
    base_demand,
    fits,
    relieve_feet,
    report_residual,
    start_from_guess,
)
from legged_dynamics.dynamics.cholesky import factorize
from legged_dynamics.dynamics.external import relieve_bodies
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    SIZE,
    START,
    contact_jacobians,
    contact_points,
)
from legged_dynamics.dynamics.kinematics import FORCE, forward_kinematics
from legged_dynamics.dynamics.newton_euler import (
    add_joint_physics,
    inertial_wrenches,
    joint_efforts,
)
from legged_dynamics.spatial.algebra import cross, dot, load3
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.table import get3

# A newton missing at the base counts as much as a hundred under a foot.
BALANCE_WEIGHT = 1e4


@part
def share_by_motion(feet, settings, states, p, results):
    """Move the closed form's forces into the cones; return DONE or NOT_SOLVED."""
    index, rank = feet.index, int(results[RANK])
    carried = p.wide[B]
    for r in range(6):
        carried[r] = p.wide[V, r] = 0.0
    for i in range(index.shape[0]):
        start, force = index[i, START], get3(states, i, CONTACT_FORCE)
        moment = cross(get3(states, i, CONTACT), force)
        for k in range(3):
            carried[k] += force[k]
            carried[3 + k] += states[i, CONTACT_MOMENT + k] + moment[k]
        for k in range(index[i, SIZE]):
            p.wide[W, start + k] = states[i, CONTACT_FORCE + k]
    fill_inequalities(feet, settings, states, p)
    if rank == 0 or fill_slacks(index, p) == 0.0:
        return DONE
    fill_base_equations(index, states, p)
    ease, length, status = settings[EASE], settings[LENGTH], INFEASIBLE
    fill_distance(index, ease, p)
    for wish in range(2):
        if status != SOLVED:
            results[OUTCOME] = wish
            for r in range(6):
                square = 1.0 if r < 3 else length * length
                p.wide[V, r] = wish * square * ease / BALANCE_WEIGHT
            condense(index, p)
            if rank < 6 and wish == 0:
                close_gap(index, states, p, rank)
            if factorize(p.narrow[p.M:], p.e):
                status = solve_program(feet, settings, states, p, results)
    return DONE if status == SOLVED else NOT_SOLVED


@part
def share_by_measurement(tree, feet, settings, bodies, states, p, effort, free, results):
    """Find the most probable forces within the cones; return DONE or NOT_SOLVED."""
    index = feet.index
    contact_jacobians(tree, feet, bodies, states, p.wide[p.jacobian:])
    for r in range(6):
        p.wide[B, r] = bodies[0, FORCE + r]
        p.wide[V, r] = p.wide[BASE_VARIANCE, r]
    fill_base_equations(index, states, p)
    fill_errors(index, p, effort, free)
    fill_inequalities(feet, settings, states, p)
    condense(index, p)
    if not factorize(p.narrow[p.M:], p.e):
        return NOT_SOLVED
    return DONE if solve_program(feet, settings, states, p, results) == SOLVED else NOT_SOLVED


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

    """
    measured, status = effort.shape[0] != 0, DONE
    if not fits(integers, q, v, a, base) or (measured and effort.shape[0] != v.shape[0]):
        return MISFIT
    tree, feet, settings, bodies, states, external = carve(integers, floats)
    p, index = carve_program(narrow, wide, lists), feet.index
    normal = load3(settings, NORMAL)
    if not abs(dot(normal, normal) - 1.0) < 2e-6:
        return NOT_UNIT
    forward_kinematics(tree, q, v, a, base, bodies)
    inertial_wrenches(tree, bodies)
    if integers[1, LOADED] != 0:
        relieve_bodies(external, bodies)
    f, m = base_demand(bodies)
    if not math.isfinite(f[0] + f[1] + f[2] + m[0] + m[1] + m[2]):
        return NOT_FINITE
    contact_points(feet, bodies, normal, states)
    f, m = start_from_guess(index, states, integers[1, GUESSED] != 0, f, m)
    for i in range(index.shape[0]):
        for k in range(index[i, SIZE]):
            wide[AIM, index[i, START] + k] = states[i, CONTACT_FORCE + k]
    results[RANK] = choose(index, states, settings, f, m)
    results[OUTCOME] = results[KKT] = 0.0
    effort_out = results[6 * index.shape[0]:RESIDUAL]
    if measured:
        joint_efforts(tree, bodies, effort_out)
        add_joint_physics(tree, q, v, a, effort_out)
        status = share_by_measurement(tree, feet, settings, bodies, states, p, effort, effort_out,
                                      results)
    else:
        status = share_by_motion(feet, settings, states, p, results)
    for i in range(index.shape[0]):
        for k in range(index[i, SIZE]):
            states[i, CONTACT_FORCE + k] = wide[W, index[i, START] + k]
    relieve_feet(index, states, bodies, results)
    if measured:
        finite = explain(index, p, effort_out, results)
    else:
        joint_efforts(tree, bodies, effort_out)
        add_joint_physics(tree, q, v, a, effort_out)
        finite = report_residual(bodies, effort_out, results)
    return status if finite else NOT_FINITE
