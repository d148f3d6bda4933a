# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One tick with measured joint torque, within friction cones, or both.

The closed form of `tick` is only the start. Without measured torque the motion must be balanced
exactly; where no admissible forces do so, the equations become costs that outweigh the distance
from the guess, and what they miss is the residual. With measured torque every equation is a cost,
weighted by its variance. The program is that of `program`, the method the dual one of
`optimization.quadratic_program`.
"""

import math

from legged_dynamics.contact.program import LIMITS, fill_inequalities, move_inside, within
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
    required_wrench,
    start_from_guess,
)
from legged_dynamics.dynamics.jacobians import (
    SIZE,
    START,
    contact_jacobians,
    contact_map,
    contact_points,
    foot_moment,
    put_moment,
)
from legged_dynamics.dynamics.newton_euler import add_joint_physics, joint_efforts
from legged_dynamics.force_map.affine import BALANCE_WEIGHT
from legged_dynamics.optimization.quadratic_program import (
    INFEASIBLE,
    ITERATION_LIMIT,
    SOLVED,
    QuadraticProgram,
    dual_method,
    optimality,
)
from legged_dynamics.spatial.algebra import dot, load3, store3
from legged_dynamics.spatial.jit import inlined_part, lean_kernel, part
from legged_dynamics.spatial.layout import get3, put3
from legged_dynamics.spatial.packed import opened

# Largest relative error of the optimality conditions of an accepted solution.
ACCEPTED = 1e-8
# Largest number of inequalities added or dropped; about ten is usual.
STEPS = 400


@part
def _put_coordinates(index, states, i, out):
    """Put a foot's force and moment where its contact coordinates are."""
    store3(out, index[i, START], get3(states, i, CONTACT_FORCE))
    put_moment(index, states, i, get3(states, i, CONTACT_MOMENT), out)


@part
def _leave_out(index, p):
    """Let feet in the air have no part in any equation."""
    for i in range(index.shape[0]):
        if index[i, STANDING] == 0:
            for c in range(index[i, START], index[i, START] + index[i, SIZE]):
                p.qp.C[:LIMITS, c] = 0.0
                p.jacobian[c, :] = 0.0


@part
def _start_cost(index, p, of_force, of_moment):
    """Fill the cost with the distance from the guess, zero for feet in the air."""
    p.cost[:, :] = 0.0
    for i in range(index.shape[0]):
        standing = 1.0 if index[i, STANDING] != 0 else 0.0
        for k in range(index[i, SIZE]):
            c = index[i, START] + k
            p.cost[c, c] = of_force if k < 3 else of_moment
            p.qp.g[c] = -standing * p.cost[c, c] * p.near[c]


@part
def _add_square(p, row, value, weight):
    """Add ``weight (row w - value)^2 / 2`` to the cost."""
    for r in range(row.shape[0]):
        weighed = weight * row[r]
        if weighed != 0.0:
            p.qp.g[r] -= weighed * value
            for c in range(r + 1):
                p.cost[r, c] += weighed * row[c]


@part
def _solve(p, first, remembered):
    """Solve the program of the rows from ``first`` on; return status and violation."""
    qp, n_equal, k = p.qp, LIMITS - first, 0
    for r in range(p.cost.shape[0]):
        for c in range(r + 1):
            qp.H[r, c] = p.cost[c, r] = p.cost[r, c]
    while k < n_equal:
        qp.active[k] = k
        k += 1
    for a in range(p.kept[0] if remembered else 0):
        qp.active[k] = p.kept[1 + a] - first
        k += 1
    C, d, u = qp.C[first:], qp.d[first:], p.multipliers[first:]
    status, k, _ = dual_method(QuadraticProgram(
        qp.H, qp.g, C, d, qp.x, qp.u, qp.active, qp.rows[first:], qp.columns, qp.gram,
        qp.vectors, qp.span), n_equal, k, STEPS)
    if status != SOLVED:
        return status, math.inf
    u[:] = 0.0
    p.kept[0] = 0
    for a in range(k):
        u[qp.active[a]] = qp.u[a]
        if qp.active[a] >= n_equal:
            p.kept[0] += 1
            p.kept[p.kept[0]] = qp.active[a] + first
    return status, optimality(p.cost, qp.g, C, d, n_equal, qp.x, u)


@part
def _solve_warm(p, first, results):
    """Solve, without the warm start should that have failed; return the status."""
    status, violation = _solve(p, first, True)
    if (status != INFEASIBLE or first == LIMITS) and not violation < ACCEPTED:
        status, violation = _solve(p, first, False)
    results[KKT] = violation if status == SOLVED else 0.0
    return ITERATION_LIMIT if status == SOLVED and not violation < ACCEPTED else status


@part
def _balance(index, settings, p, results):
    """Find forces for the wrench of those in x: exactly, or else as nearly as can be."""
    qp = p.qp
    for r in range(6):
        qp.d[r] = 0.0
        for c in range(qp.x.shape[0]):
            qp.d[r] += qp.C[r, c] * qp.x[c]
    _start_cost(index, p, 1.0 / settings[EASE], 1.0)
    status = _solve_warm(p, 0, results)
    if status != SOLVED:
        results[OUTCOME] = 1.0
        for r in range(6):
            square = 1.0 if r < 3 else settings[LENGTH] * settings[LENGTH]
            _add_square(p, qp.C[r], qp.d[r], BALANCE_WEIGHT / (settings[EASE] * square))
        status = _solve_warm(p, LIMITS, results)
    return status


@part
def _explain(p, free, wrench, results):
    """Subtract the contact forces from efforts and base; return whether all is finite."""
    total, w = 0.0, p.qp.x
    for j in range(free.shape[0]):
        for c in range(w.shape[0]):
            free[j] -= p.jacobian[c, j] * w[c]
        total += free[j]
    for r in range(6):
        results[RESIDUAL + r] = wrench[r]
        for c in range(w.shape[0]):
            results[RESIDUAL + r] -= p.qp.C[r, c] * w[c]
        total += results[RESIDUAL + r]
    return math.isfinite(total)


@lean_kernel
def program_tick(q, v, a, base, effort, program):
    """Check the inputs' sizes, then `solve_sample_within`; return its status or `MISFIT`."""
    p = opened(program)
    integers, measured = p.integers, effort.shape[0] != 0
    if not fits(integers, q, v, a, base) or (measured and effort.shape[0] != v.shape[0]):
        return MISFIT
    return solve_sample_within(p, carve(integers, p.floats), q, v, a, base, effort)


@inlined_part
def solve_sample_within(p, memory, q, v, a, base, effort):
    """
    Fill the results for one sample of motion and measured torque; return the status.

    ``effort`` (nv,), NaN where unknown, may be empty. The status is `DONE`, `NOT_UNIT`,
    `NOT_FINITE` or `NOT_SOLVED`.
    """
    tree, feet, settings, bodies, states, external = memory
    integers, results, measured = p.integers, p.results, effort.shape[0] != 0
    index, normal = feet.index, load3(settings, NORMAL)
    if not abs(dot(normal, normal) - 1.0) < 2e-6:
        return NOT_UNIT
    f, m = required_wrench(tree, bodies, external, integers[1, LOADED] != 0, q, v, a, base)
    if not math.isfinite(f[0] + f[1] + f[2] + m[0] + m[1] + m[2]):
        return NOT_FINITE
    contact_points(feet, bodies, normal, states)
    wrench = f[0], f[1], f[2], m[0], m[1], m[2]
    f, m = start_from_guess(index, states, integers[1, GUESSED] != 0, f, m)
    for i in range(index.shape[0]):
        _put_coordinates(index, states, i, p.near)
    rank = choose(index, states, settings, f, m)
    results[RANK], results[OUTCOME], results[KKT] = rank, 0.0, 0.0
    free = results[6 * index.shape[0]:RESIDUAL]
    joint_efforts(tree, bodies, free)
    add_joint_physics(tree, q, v, a, free)
    contact_jacobians(tree, feet, bodies, states, p.jacobian)
    contact_map(feet, states, p.qp.C)
    _leave_out(index, p)
    fill_inequalities(feet, settings, states, p)
    status = SOLVED
    if measured:
        _start_cost(index, p, 1.0 / p.variance[6], 1.0 / p.variance[7])
        for r in range(6):
            _add_square(p, p.qp.C[r], wrench[r], 1.0 / p.variance[r])
        for j in range(v.shape[0]):
            if not math.isnan(effort[j]):
                _add_square(p, p.jacobian[:, j], free[j] - effort[j], 1.0 / p.variance[8 + j])
        status = _solve_warm(p, LIMITS, results)
    else:
        for i in range(index.shape[0]):
            _put_coordinates(index, states, i, p.qp.x)
        if rank > 0 and not within(index, p):
            status = _balance(index, settings, p, results)
    if results[KKT] > 0.0:
        move_inside(feet, settings, states, p)
    for i in range(index.shape[0]):
        put3(states, i, CONTACT_FORCE, load3(p.qp.x, index[i, START]))
        put3(states, i, CONTACT_MOMENT, foot_moment(index, states, i, p.qp.x))
    relieve_feet(index, states, bodies, results)
    if not _explain(p, free, wrench, results):
        return NOT_FINITE
    return DONE if status == SOLVED else NOT_SOLVED
