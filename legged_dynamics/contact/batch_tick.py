# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Many ticks in one call: dynamics several samples side by side, contacts one by one."""
from __future__ import annotations

from legged_dynamics.contact.lanes import (
    BODY_BLOCK,
    LANES,
    inwards,
    lane3,
    lane9,
    outwards,
    put_lane3,
)
from legged_dynamics.contact.memory import (
    DONE,
    FLOATING,
    GUESS,
    GUESSED,
    LOADED,
    NORMAL,
    NOT_FINITE,
    NOT_UNIT,
    RANK,
    RESIDUAL,
    STANDING,
    carve,
)
from legged_dynamics.contact.program_tick import program_tick
from legged_dynamics.contact.selection import choose
from legged_dynamics.contact.tick import (
    relieve_feet,
    report_residual,
    start_from_guess,
)
from legged_dynamics.dynamics.jacobians import BODY, contact_points
from legged_dynamics.dynamics.kinematics import FORCE, MOMENT, POSITION, ROTATION
from legged_dynamics.dynamics.newton_euler import add_joint_physics
from legged_dynamics.spatial.algebra import add, cross, dot, load3, rotate, subtract
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.table import get3, put3, put9


@part
def load_block(table, t, block):
    """Fill a block with rows of a (samples, n) table from the t-th on, the last one repeated."""
    last = table.shape[0] - 1
    for k in range(LANES):
        row = min(t + k, last)
        for c in range(table.shape[1]):
            block[c * LANES + k] = table[row, c]


@part
def relieve_lanes(external, lanes):
    """Subtract external wrenches (nb, 6), in body axes, from what each body needs."""
    for i in range(external.shape[0]):
        body = lanes[i * BODY_BLOCK:(i + 1) * BODY_BLOCK]
        on_force, on_moment = get3(external, i, 0), get3(external, i, 3)
        for k in range(LANES):
            R = lane9(body, ROTATION, k)
            put_lane3(body, FORCE, k, subtract(lane3(body, FORCE, k), rotate(R, on_force)))
            put_lane3(body, MOMENT, k, subtract(lane3(body, MOMENT, k), rotate(R, on_moment)))


@part
def demand_lanes(n_bodies, lanes, demand):
    """Fill the force and moment about the base's origin that all bodies together take."""
    demand[:6 * LANES] = 0.0
    for i in range(n_bodies):
        body = lanes[i * BODY_BLOCK:(i + 1) * BODY_BLOCK]
        for k in range(LANES):
            force = lane3(body, FORCE, k)
            moment = add(lane3(body, MOMENT, k), cross(lane3(body, POSITION, k), force))
            put_lane3(demand, 0, k, add(lane3(demand, 0, k), force))
            put_lane3(demand, 3, k, add(lane3(demand, 3, k), moment))


@part
def set_sample(index, settings, states, t, standing, normal, guess):
    """
    Set the conditions of the t-th sample; a table without samples leaves them as they are.

    Arguments: see :mod:`~legged_dynamics.contact.memory`; ``t`` is the sample.
    """
    if standing.shape[0] > 0:
        for i in range(index.shape[0]):
            index[i, STANDING] = standing[t, i]
    if normal.shape[0] > 0:
        put3(settings, 0, NORMAL, get3(normal, t, 0))
    if guess.shape[0] > 0:
        for i in range(index.shape[0]):
            for c in range(6):
                states[i, GUESS + c] = guess[t, 6 * i + c]


@part
def touch(feet, states, settings, flags, bodies, lanes, demand, k, results):
    """
    Share what sample k asks of the ground, and take it off the bodies of the feet.

    Arguments: see :mod:`~legged_dynamics.contact.memory`. ``flags`` is the second row of integers,
    ``lanes`` the bodies of a block of samples, ``demand`` (6, .) what each asks, ``k`` the place
    of the sample in the block; ``results`` is the sample's row.
    """
    index = feet.index
    for i in range(index.shape[0]):
        b = index[i, BODY]
        body = lanes[b * BODY_BLOCK:(b + 1) * BODY_BLOCK]
        put9(bodies, b, ROTATION, lane9(body, ROTATION, k))
        put3(bodies, b, POSITION, lane3(body, POSITION, k))
        put3(bodies, b, FORCE, lane3(body, FORCE, k))
        put3(bodies, b, MOMENT, lane3(body, MOMENT, k))
    contact_points(feet, bodies, load3(settings[0], NORMAL), states)
    f, m = start_from_guess(index, states, flags[GUESSED] != 0, lane3(demand, 0, k),
                            lane3(demand, 3, k))
    results[RANK] = 0.0
    if flags[FLOATING] != 0:
        results[RANK] = choose(index, states, settings[0], f, m)
    relieve_feet(index, states, bodies, results)
    for i in range(index.shape[0]):
        b = index[i, BODY]
        body = lanes[b * BODY_BLOCK:(b + 1) * BODY_BLOCK]
        put_lane3(body, FORCE, k, get3(bodies, b, FORCE))
        put_lane3(body, MOMENT, k, get3(bodies, b, MOMENT))


@lean_kernel
def batch_tick(q, v, a, base, standing, normal, guess, integers, floats, results, inputs, lanes):
    """
    Fill the rows of results for all samples of motion; inputs and lanes are room for blocks.

    Returns
    -------
    tuple of int
        `memory.DONE`, or which of `NOT_UNIT` and `NOT_FINITE` a sample is, and which sample.

    Arguments: see :mod:`~legged_dynamics.contact.memory`. ``inputs`` and
    ``lanes`` are scratch for a block of samples.

    """
    tree, feet, _, bodies, states, external = carve(integers, floats)
    settings, flags, efforts = floats[:1], integers[1], 6 * feet.index.shape[0]
    nq, nv, at = q.shape[1], v.shape[1], LANES
    q_block, at = inputs[:nq * at], nq * at
    v_block, at = inputs[at:at + nv * LANES], at + nv * LANES
    a_block, at = inputs[at:at + nv * LANES], at + nv * LANES
    base_block, at = inputs[at:at + 9 * LANES], at + 9 * LANES
    tau, at = inputs[at:at + nv * LANES], at + nv * LANES
    demand = inputs[at:]
    for t in range(0, q.shape[0], LANES):
        load_block(q, t, q_block)
        load_block(v, t, v_block)
        load_block(a, t, a_block)
        load_block(base, t, base_block)
        outwards(tree, q_block, v_block, a_block, base_block, lanes)
        if flags[LOADED] != 0:
            relieve_lanes(external[:bodies.shape[0]], lanes)
        demand_lanes(bodies.shape[0], lanes, demand)
        n = min(LANES, q.shape[0] - t)
        for k in range(n):
            set_sample(feet.index, settings, states, t + k, standing, normal, guess)
            up = load3(settings[0], NORMAL)
            if not abs(dot(up, up) - 1.0) < 2e-6:
                return NOT_UNIT, t + k
            touch(feet, states, settings, flags, bodies, lanes, demand, k, results[t + k])
        inwards(tree, lanes, tau)
        for k in range(n):
            row = results[t + k]
            effort = row[efforts:RESIDUAL]
            for j in range(nv):
                effort[j] = tau[j * LANES + k]
            add_joint_physics(tree, q[t + k], v[t + k], a[t + k], effort)
            put3(bodies, 0, FORCE, lane3(lanes, FORCE, k))
            put3(bodies, 0, MOMENT, lane3(lanes, MOMENT, k))
            if not report_residual(bodies, effort, row):
                return NOT_FINITE, t + k
    return DONE, 0


@lean_kernel
def program_batch(q, v, a, base, effort, standing, normal, guess, integers, floats, results,
                  narrow, wide, lists):
    """
    Run `program_tick` on all samples, each warm started by the last; effort may be (n, 0).

    Arguments: see :mod:`~legged_dynamics.contact.memory`.
    """
    _, feet, _, _, states, _ = carve(integers, floats)
    settings = floats[:1]
    for t in range(q.shape[0]):
        set_sample(feet.index, settings, states, t, standing, normal, guess)
        status = program_tick(q[t], v[t], a[t], base[t], effort[t], integers, floats, results[t],
                              narrow, wide, lists)
        if status != DONE:
            return status, t
    return DONE, 0
