# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How forces go on from tick to tick where no torque is measured.

The load on a foot walks along the line on which it acts, and goes back to an even share; a sole's
centre of pressure travels through it, with the sole's low part as it tilts; what pushes sideways
aims above where the foot stands at rest, within friction.

Arguments of the kernels: see ``estimation/__init__.py``.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    SIZE,
    SOLE,
    START,
    moment_axes,
)
from legged_dynamics.estimation.fusion import first3
from legged_dynamics.spatial.algebra import (
    add_scaled,
    compose,
    dot,
    load3,
    load9,
    rotate,
    rotate_back,
    scale,
    store3,
    subtract,
    transpose,
)
from legged_dynamics.spatial.jit import part

# How fast the load of a foot in the air walks, which may land: its deviation after one natural
# time sqrt(l / g), as a fraction of the weight.
LANDING_RATE = 3.0
# No foot is so sure to stand that its load does not walk as if it might have just landed.
SUREST = 0.99
# After how many natural times load is shared evenly, and how unevenly feet share it, as a
# fraction of an even share.
EVEN_TIME, UNEVEN = 3.0, 0.5
# After how many natural times the centre of pressure has crossed the sole.
CROSSING = 1.5
# How far a force departs sideways from where it aims: friction's bound over the square root of
# three, and the steepest aim.
SIDEWAYS, STEEPEST_AIM = 0.3, 0.4
# After how many natural times it aims again.
STRAYING = 0.03
# Height of the point where legs' forces meet, over that of the base.
PIVOT = 1.3
# How far from its low edge a tilted sole presses, as a fraction of its size.
EDGE = 0.08
# A spread of where a foot presses that is none [m].
TINY = 1e-9
# Moment about the vertical over that which the sole's length allows.
TWIST = 0.3


@part
def start_loads(feet, settings, up, x, P):
    """Begin with an even share on all feet and little knowledge of it."""
    nx, nf = x.shape[0], feet.index.shape[0]
    share = settings.weight / nf
    for r in range(nx):
        x[r] = 0.0
        for c in range(nx):
            P[r, c] = 0.0
    for i in range(nf):
        for k in range(3):
            x[feet.index[i, START] + k] = up[k] * share
            P[feet.index[i, START] + k, feet.index[i, START] + k] = share * share


@part
def aim(robot, settings, states, up, i):
    """Return a foot's force for a load of one: towards a point above where it stands at rest."""
    point = load3(states[i], CONTACT)
    home = (robot.homes[i, 0], robot.homes[i, 1], 0.0)
    away = subtract(home, point)
    height = max(dot(up, away), settings.least_height) * PIVOT
    sideways = scale(1.0 / height, add_scaled(away, -dot(up, away), up))
    length = math.sqrt(dot(sideways, sideways))
    return add_scaled(up, min(1.0, STEEPEST_AIM / max(length, 1e-9)), sideways)


@part
def columns_times(A, v):
    """Return a 3x3 matrix with its columns multiplied by the elements of a vector."""
    return (A[0] * v[0], A[1] * v[1], A[2] * v[2], A[3] * v[0], A[4] * v[1], A[5] * v[2],
            A[6] * v[0], A[7] * v[1], A[8] * v[2])


@part
def put_first3(row, at, n, v):
    """Put the first n numbers of a vector into a row."""
    for k in range(n):
        row[at + k] = v[k]


@part
def follow_sole(feet, layout, states, memory, up, stay, x, P, i):
    """
    Carry a foot's moments on as its low part changes; return how far it may press from there.

    Where it presses is kept as a multiple of how far that may be: all of a sole that lies flat,
    next to nothing of one on its edge.
    """
    s, nx, at = feet.index[i, START] + 3, x.shape[0], layout.soles + 2 * i
    n = feet.index[i, SIZE] - 3
    R, sole = load9(states[i], FOOT_ROTATION), feet.geometry[i]
    low = rotate_back(R, subtract(load3(states[i], CONTACT), load3(states[i], FOOT_POSITION)))
    long, wide = sole[SOLE] - sole[SOLE + 1], sole[SOLE + 2] - sole[SOLE + 3]
    # The variance of a coin that shows one edge or the other, over three as of an even spread.
    spread_x = math.sqrt(max((sole[SOLE] - low[0]) * (low[0] - sole[SOLE + 1]), 0.0) / 3.0
                         + (EDGE * long) ** 2)
    spread_y = math.sqrt(max((sole[SOLE + 2] - low[1]) * (low[1] - sole[SOLE + 3]), 0.0) / 3.0
                         + (EDGE * wide) ** 2)
    keep = (stay, stay, stay)
    if memory[at] > 0.0:
        keep = (stay * spread_y / max(memory[at + 1], TINY), stay * spread_x / memory[at], stay)
    memory[at], memory[at + 1] = spread_x, spread_y
    axes = compose(moment_axes(feet.index, states, i), R)
    on = compose(columns_times(axes, keep), transpose(axes))
    put_first3(x, s, n, rotate(on, first3(x, s, n)))
    for k in range(nx):
        column = P[:, k]
        put_first3(column, s, n, rotate(on, first3(column, s, n)))
    for k in range(nx):
        put_first3(P[k], s, n, rotate(on, first3(P[k], s, n)))
    return spread_x, spread_y


@part
def carry_loads(robot, layout, settings, states, up, memory, x, P, dt):
    """Predict the forces of all feet from those of the tick before."""
    feet, nx, W2 = robot.feet, x.shape[0], settings.weight ** 2
    probability = memory[layout.standing:]
    nf, ticks = feet.index.shape[0], dt / settings.natural_time
    keep = math.exp(-ticks / EVEN_TIME)
    stay = math.exp(-ticks / CROSSING)
    stray = math.exp(-ticks / STRAYING)
    standing = 0.0
    for i in range(nf):
        standing += probability[i]
    for i in range(nf):
        s, size, p = feet.index[i, START], feet.index[i, SIZE], probability[i]
        # Of balls no more is known than that friction holds them.
        d = aim(robot, settings, states, up, i) if size > 3 else up
        # What is kept: load, along the aim; what departs from it for a while; moments.
        load = dot(up, load3(x, s))
        even = settings.weight * p / max(standing, 1.0)
        lever = (0.0, 0.0, 0.0)
        spread_x, spread_y = 0.0, 0.0
        astray = add_scaled(load3(x, s), -load, d)
        load = even + keep * (load - even)
        store3(x, s, add_scaled(scale(load, d), stray, astray))
        for k in range(nx):
            t = (keep - stray) * (up[0] * P[s, k] + up[1] * P[s + 1, k] + up[2] * P[s + 2, k])
            for m in range(3):
                P[s + m, k] = stray * P[s + m, k] + d[m] * t
        for k in range(nx):
            t = (keep - stray) * (up[0] * P[k, s] + up[1] * P[k, s + 1] + up[2] * P[k, s + 2])
            for m in range(3):
                P[k, s + m] = stray * P[k, s + m] + d[m] * t
        if size > 3:
            spread_x, spread_y = follow_sole(feet, layout, states, memory, up, stay, x, P, i)
            if load > 0.02 * settings.weight:
                lever = scale(1.0 / load, first3(x, s + 3, size - 3))
        # What is new: load walks along the line on which it acts.
        rate = memory[layout.load_rate + 5 * i]
        known = 0.0
        for r in range(3):
            for c in range(3):
                known += up[r] * P[s + r, s + c] * up[c]
        # What is as unknown as an even share is large need not become more so.
        room = max(1.0 - known / max(even * even, 1e-9), 0.0)
        q = ((p * rate ** 2 * room + (1.0 - min(p, SUREST)) * LANDING_RATE ** 2) * W2 * ticks
             + (1.0 - keep * keep) * (UNEVEN * even) ** 2)
        for r in range(size):
            g = d[r] if r < 3 else lever[r - 3]
            for c in range(size):
                h = d[c] if c < 3 else lever[c - 3]
                P[s + r, s + c] += q * g * h
        variance = 0.0
        for r in range(3):
            for c in range(3):
                variance += up[r] * P[s + r, s + c] * up[c]
        square = load * load + variance
        sideways = (1.0 - stray * stray) * SIDEWAYS ** 2 * square
        for r in range(3):
            P[s + r, s + r] += sideways
            for c in range(3):
                P[s + r, s + c] -= sideways * up[r] * up[c]
        if size > 3:
            R = compose(moment_axes(feet.index, states, i), load9(states[i], FOOT_ROTATION))
            new = (1.0 - stay * stay) * square
            spread = (new * spread_y ** 2, new * spread_x ** 2, new * (TWIST * spread_x) ** 2)
            for r in range(size - 3):
                for c in range(size - 3):
                    for k in range(3):
                        P[s + 3 + r, s + 3 + c] += R[3 * r + k] * spread[k] * R[3 * c + k]
