# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One tick with measured joint torque, within friction cones, or both.

The closed form of `tick` is only the start. Without measured torque the motion must be balanced
exactly; where no admissible forces do so, the equations become costs that outweigh the distance
from the guess, and what they miss is the residual. With measured torque every equation is a cost,
weighted by its variance.

The method is that of Goldfarb and Idnani (1983), which `optimization.quadratic_program` has for
any program. Here the response of the slacks to a multiplier is known foot by foot, without a
matrix of all unknowns, and is computed only for inequalities that become active. A tick on four
soles on a slope takes 5.4 to 6.4 us here and 12.6 to 17.8 us there, on four point feet 3.4 us and
3.9 to 5.9 us, and 0.8 us where no inequality is active.
"""
from __future__ import annotations

import math

from legged_dynamics.contact.program import (
    AIM,
    BASE_VARIANCE,
    BOUND,
    CHANGE,
    FOOT,
    JOINT_VARIANCE,
    NO_FOOT,
    OWNER,
    REMEMBERED,
    SEVERAL_FEET,
    SIZE_OF_SLACK,
    SLACK,
    WHOLE,
    WORKING,
    B,
    R,
    U,
    V,
    W,
    Y,
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
from legged_dynamics.spatial.algebra import add_scaled, cross, dot, load3, norm
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3, get6, put3, put6
from legged_dynamics.spatial.symmetric import add6, scale6

# -------------------------------------------------------------------------------------------------
# The program of a tick in the space of its multipliers.
#
# The unknowns are eliminated foot by foot, with ``M = V + A D^-1 A^T``. A unit multiplier of the
# inequality c of foot i then moves the unknowns by ``D^-1 c - D^-1 A^T M^-1 A D^-1 c``: a few
# dozen multiplications.


ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@part
def _dot6(a, b):
    """Return the product of two 6-tuples."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@part
def _condense(index, p):
    """
    Fill ``D^-1 A^T`` and M, not yet factored.

    The base's six equations are summed up in registers, apart from those of joints that several
    feet share.
    """
    e, table = p.e, p.narrow
    for i in range(index.shape[0]):
        start, size = index[i, START], index[i, SIZE]
        for k in range(start, start + size):
            row = scale6(table[p.inverse + k, 0], get6(table, p.A + start, 0))
            for j in range(1, size):
                row = add6(row, scale6(table[p.inverse + k, j], get6(table, p.A + start + j, 0)))
            put6(table, p.response + k, 0, row)
            for r in range(6, e):
                table[p.response + k, r] = 0.0
                for j in range(size):
                    table[p.response + k, r] += (table[p.inverse + k, j]
                                                 * table[p.A + start + j, r])
    for r in range(e):
        row = ZERO6
        for k in range(p.nc):
            row = add6(row, scale6(table[p.A + k, r], get6(table, p.response + k, 0)))
        put6(table, p.M + r, 0, row)
        for s in range(6, r + 1):
            table[p.M + r, s] = 0.0
            for k in range(p.nc):
                table[p.M + r, s] += table[p.A + k, r] * table[p.response + k, s]
        table[p.M + r, r] += p.wide[V, r]


@part
def _solve_equations(p, y):
    """Replace multipliers of the equations, the base's in a tuple, by M^-1 times them."""
    put6(p.wide, Y, 0, y)
    solve_factorized(p.narrow[p.M:], p.e, p.wide[Y])
    return get6(p.wide, Y, 0)


@part
def _response_of(p, c, y):
    """Return how unknown c responds to multipliers of the equations."""
    total = _dot6(get6(p.narrow, p.response + c, 0), y)
    for r in range(6, p.e):
        total += p.narrow[p.response + c, r] * p.wide[Y, r]
    return total


@part
def _find_unknowns(index, p, k):
    """Fill unknowns and multipliers of the equations from those of active inequalities."""
    y = get6(p.wide, B, 0)
    for r in range(6, p.e):
        p.wide[Y, r] = p.wide[B, r]
    for c in range(p.nc):
        aim = p.wide[AIM, c]
        p.wide[W, c] = aim
        y = add6(y, scale6(-aim, get6(p.narrow, p.A + c, 0)))
        for r in range(6, p.e):
            p.wide[Y, r] -= aim * p.narrow[p.A + c, r]
    for a in range(k):
        row, u = p.lists[WORKING, a], p.wide[U, a]
        i, pressed = int(p.narrow[row, FOOT]), get6(p.narrow, p.C + row, 0)
        for j in range(index[i, SIZE]):
            c, pull = index[i, START] + j, u * p.narrow[p.C + row, j]
            y = add6(y, scale6(-pull, get6(p.narrow, p.response + c, 0)))
            for r in range(6, p.e):
                p.wide[Y, r] -= pull * p.narrow[p.response + c, r]
            p.wide[W, c] += u * _dot6(get6(p.narrow, p.inverse + c, 0), pressed)
    y = _solve_equations(p, y)
    for c in range(p.nc):
        p.wide[W, c] += _response_of(p, c, y)


@part
def _fill_response(index, p, row, slot):
    """Fill a column with the change of all slacks per unit multiplier of one inequality."""
    i, pressed = int(p.narrow[row, FOOT]), get6(p.narrow, p.C + row, 0)
    start, size = index[i, START], index[i, SIZE]
    y, whole = ZERO6, 0.0
    for r in range(6, p.e):
        p.wide[Y, r] = 0.0
    for c in range(start, start + size):
        pull = p.narrow[p.C + row, c - start]
        y = add6(y, scale6(-pull, get6(p.narrow, p.response + c, 0)))
        for r in range(6, p.e):
            p.wide[Y, r] -= pull * p.narrow[p.response + c, r]
    y = _solve_equations(p, y)
    for c in range(p.nc):
        p.wide[CHANGE, c] = _response_of(p, c, y)
    for c in range(start, start + size):
        own = _dot6(get6(p.narrow, p.inverse + c, 0), pressed)
        p.wide[CHANGE, c] += own
        whole += own * p.narrow[p.C + row, c - start]
    i, change = -1, ZERO6
    for k in range(p.m):
        foot = int(p.narrow[k, FOOT])
        if foot != i:
            # Behind the three of a point foot are another foot's: its coefficients there are zero.
            i, change = foot, get6(p.wide, CHANGE, index[foot, START])
        moved = _dot6(get6(p.narrow, p.C + k, 0), change)
        p.wide[p.columns + slot, k] = moved if index[i, STANDING] != 0 else 0.0
    p.wide[WHOLE, slot] = whole


# -------------------------------------------------------------------------------------------------
# The method itself: inequalities are added while one is violated, and dropped where their
# multiplier would become negative.


# Relative size below which one inequality is a linear combination of others, under equations.
INDEPENDENT = 1e-8
# The same under costs that outweigh the rest and leave it little freedom.
INDEPENDENT_IF_SOFT = 1e-10
# Relative size below which an inequality is met: such large weights cost digits.
MET = 1e-10
SOLVED, INFEASIBLE, STEPS_RAN_OUT = range(3)
# Largest relative error of the optimality conditions of an accepted solution.
ACCEPTED = 1e-8
# Largest number of inequalities added or dropped; about ten is usual.
STEPS = 400


@part
def _drop(p, place, k):
    """Drop one of k active inequalities; a candidate's column follows."""
    for a in range(place, k):
        p.lists[WORKING, a], p.wide[U, a] = p.lists[WORKING, a + 1], p.wide[U, a + 1]
        p.wide[WHOLE, a] = p.wide[WHOLE, a + 1]
        for j in range(p.m):
            p.wide[p.columns + a, j] = p.wide[p.columns + a + 1, j]


@part
def _factor_active(p, k, least):
    """Factor the matrix of the k active inequalities; return whether they are independent."""
    for a in range(k):
        for b in range(a + 1):
            p.wide[p.gram + a, b] = p.wide[p.columns + a, p.lists[WORKING, b]]
    if not factorize(p.wide[p.gram:], k):
        return False
    for a in range(k):
        reciprocal = p.wide[p.gram + a, a]
        if reciprocal * reciprocal * least * p.wide[WHOLE, a] > 1.0:
            return False
    return True


@part
def _warm_start(index, p, least):
    """Solve for last time's active inequalities; drop those with negative multipliers."""
    k = p.lists[REMEMBERED, 0]
    for a in range(k):
        p.lists[WORKING, a] = p.lists[REMEMBERED, 1 + a]
        _fill_response(index, p, p.lists[WORKING, a], a)
    while k > 0:
        if not _factor_active(p, k, least):
            return 0
        for a in range(k):
            p.wide[U, a] = -p.wide[SLACK, p.lists[WORKING, a]]
        solve_factorized(p.wide[p.gram:], k, p.wide[U])
        worst, value = -1, 0.0
        for a in range(k):
            if p.wide[U, a] < value:
                worst, value = a, p.wide[U, a]
        if worst < 0:
            break
        _drop(p, worst, k)
        k -= 1
    for a in range(k):
        for j in range(p.m):
            p.wide[SLACK, j] += p.wide[U, a] * p.wide[p.columns + a, j]
    return k


@part
def _most_violated(p, k):
    """Return the inequality violated most for its size, or -1 when all are met."""
    found, worst = -1, -MET
    for j in range(p.m):
        if p.wide[SLACK, j] < worst * p.wide[SIZE_OF_SLACK, j]:
            active = False
            for a in range(k):
                active = active or p.lists[WORKING, a] == j
            if not active:
                found, worst = j, p.wide[SLACK, j] / p.wide[SIZE_OF_SLACK, j]
    return found


@part
def _ascend(index, p, k, least):
    """Add violated inequalities until none is left."""
    steps = 0
    u, step = p.wide[U], p.wide[R]
    while steps < STEPS:
        row = _most_violated(p, k)
        if row < 0:
            return SOLVED, k
        _fill_response(index, p, row, k)
        own = 0.0
        while steps < STEPS:
            steps += 1
            _factor_active(p, k, 0.0)
            left = p.wide[p.columns + k, row]
            for a in range(k):
                step[a] = p.wide[p.columns + k, p.lists[WORKING, a]]
            solve_factorized(p.wide[p.gram:], k, step)
            for a in range(k):
                left -= step[a] * p.wide[p.columns + a, row]
            drop, partial = -1, math.inf
            for a in range(k):
                if step[a] > 0.0 and u[a] < partial * step[a]:
                    drop, partial = a, u[a] / step[a]
            free = left > least * p.wide[WHOLE, k]
            full = -p.wide[SLACK, row] / left if free else math.inf
            t = min(full, partial)
            if t == math.inf:
                return INFEASIBLE, k
            for j in range(p.m):
                change = p.wide[p.columns + k, j]
                for a in range(k):
                    change -= step[a] * p.wide[p.columns + a, j]
                p.wide[SLACK, j] += t * change
            for a in range(k):
                u[a] -= t * step[a]
            own += t
            if full <= partial:
                p.lists[WORKING, k], u[k] = row, own
                k += 1
                break
            _drop(p, drop, k)
            k -= 1
    return STEPS_RAN_OUT, k


@part
def _remember_active(p, k):
    """Keep the active inequalities for the warm start of the next tick."""
    p.lists[REMEMBERED, 0] = k
    for a in range(k):
        p.lists[REMEMBERED, 1 + a] = p.lists[WORKING, a]


@part
def _optimality(index, p, k):
    """Return the largest relative violation of the optimality conditions."""
    nc, e = p.nc, p.e
    w, y = p.wide[W], p.wide[Y]
    pull, pulls, miss, misses = 0.0, 1e-300, 0.0, 1e-300
    for i in range(index.shape[0]):
        for j in range(index[i, SIZE]):
            c = index[i, START] + j
            s, size = 0.0, 0.0
            for n in range(index[i, SIZE]):
                other = index[i, START] + n
                term = p.narrow[p.D + c, n] * (w[other] - p.wide[AIM, other])
                s, size = s + term, size + abs(term)
            for r in range(e):
                s, size = s - p.narrow[p.A + c, r] * y[r], size + abs(p.narrow[p.A + c, r] * y[r])
            for a in range(k):
                row = p.lists[WORKING, a]
                if int(p.narrow[row, FOOT]) == i:
                    term = p.narrow[p.C + row, j] * p.wide[U, a]
                    s, size = s - term, size + abs(term)
            if index[i, STANDING] != 0:
                pull, pulls = max(pull, abs(s)), max(pulls, size)
    for r in range(e):
        gap = p.wide[V, r] * y[r]       # what a soft equation leaves
        s, size = p.wide[B, r] - gap, abs(p.wide[B, r]) + abs(gap)
        for c in range(nc):
            s, size = s - p.narrow[p.A + c, r] * w[c], size + abs(p.narrow[p.A + c, r] * w[c])
        miss, misses = max(miss, abs(s)), max(misses, size)
    worst, largest = max(pull / pulls, miss / misses), 1e-300
    for a in range(k):
        largest = max(largest, abs(p.wide[U, a]))
    for a in range(k):
        row, own = p.lists[WORKING, a], p.wide[U, a] / largest
        slack = p.wide[SLACK, row] / p.wide[SIZE_OF_SLACK, row]
        worst = max(worst, -own, abs(own * slack))
    for j in range(p.m):
        worst = max(worst, -p.wide[SLACK, j] / p.wide[SIZE_OF_SLACK, j])
    return worst


@part
def _fill_sizes(index, p):
    """Fill the scale of each inequality's slack from the load on the feet."""
    load = 1e-300
    for i in range(index.shape[0]):
        load += norm(get3(p.wide, W, index[i, START]))
    for j in range(p.m):
        load = max(load, abs(p.narrow[j, BOUND]))
    for j in range(p.m):
        size = abs(p.narrow[j, BOUND])
        for c in range(6):
            size += abs(p.narrow[p.C + j, c]) * load
        p.wide[SIZE_OF_SLACK, j] = size


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
    Fill the results for one sample of motion and measured torque; return the status.

    ``effort`` (nv,), NaN where unknown, may be empty. The status is `DONE`, `MISFIT`,
    `NOT_UNIT`, `NOT_FINITE` or `NOT_SOLVED`. Memory: see `contact.tick` and `Program`.
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
            _condense(index, p)
            if rank < 6 and not soft:
                _close_gap(index, states, p, rank)
            if not factorize(narrow[p.M:], p.e):
                attempt += 1
                continue
        if attempt == last:
            lists[REMEMBERED, 0] = 0
        _find_unknowns(index, p, 0)
        status = SOLVED
        if fill_slacks(index, p) < 0.0:
            _fill_sizes(index, p)
            least = INDEPENDENT_IF_SOFT if soft else INDEPENDENT
            status, k = _ascend(index, p, _warm_start(index, p, least), least)
            if status == SOLVED:
                _remember_active(p, k)
                _find_unknowns(index, p, k)
                move_inside(feet, settings, states, p)
                fill_slacks(index, p)
                results[KKT] = _optimality(index, p, k)
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
