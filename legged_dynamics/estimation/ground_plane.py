# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The ground's normal, from where feet have stood.

A plane through the last places of all feet is a help for the contact points of balls, for the
normal force and for telling a tilted sole from one that lies on a slope; it decides nothing. It
counts the less the worse the places lie on it: on steps gravity's direction is the better guess.
Soles that rest say the normal themselves.

Arguments of the kernels: see ``estimation/__init__.py``.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.jacobians import BODY, FOOT_POSITION, FOOT_ROTATION, PLANE
from legged_dynamics.dynamics.kinematics import OMEGA
from legged_dynamics.spatial.algebra import (
    add,
    add_scaled,
    load3,
    norm,
    rotate,
    scale,
    store3,
    subtract,
)
from legged_dynamics.spatial.jit import part

# What places may lie off the plane, as a fraction of the feet's distance from the base.
UNEVEN = 0.02
# How fast the normal follows [s], and how fast a sole may turn that counts as resting [rad/s].
NORMAL_TIME, RESTING = 0.3, 0.3
# A robot that was just found may still settle [s]: gravity's direction holds until then.
SETTLED = 0.5
# Steepest slope that is believed, as the horizontal part of the normal (35 degrees).
STEEPEST = 0.57
# Memory of a foot: its place from the base in world axes, and whether it has one.
N_PLACE = 4


@part
def follow_ground(feet, layout, settings, bodies, states, R_WB, imu, memory, settle, dt):
    """
    Move the feet's last places along with the base, and the normal towards their plane.

    A standing foot draws its place to where it is by the share ``settle``, at once by 1.
    """
    nf = feet.index.shape[0]
    moved, total = (0.0, 0.0, 0.0), 0.0
    soles, resting = (0.0, 0.0, 0.0), 0
    for i in range(nf):
        at, p = layout.places + N_PLACE * i, memory[layout.standing + i]
        now = rotate(R_WB, load3(states[i], FOOT_POSITION))
        if p > 0.5 and memory[at + 3] > 0.5:
            moved, total = add_scaled(moved, p, subtract(now, load3(memory, at))), total + p
        if p > 0.5 and feet.index[i, PLANE] != 0:
            if norm(load3(bodies[feet.index[i, BODY]], OMEGA)) < RESTING:
                R_WF = rotate(R_WB, (states[i, FOOT_ROTATION + 2], states[i, FOOT_ROTATION + 5],
                                     states[i, FOOT_ROTATION + 8]))
                soles, resting = add(soles, R_WF), resting + 1
    step = scale(1.0 / total, moved) if total > 0.0 else (0.0, 0.0, 0.0)
    known = 0
    for i in range(nf):
        at = layout.places + N_PLACE * i
        place = add(load3(memory, at), step)
        if memory[layout.standing + i] > 0.5:
            now = rotate(R_WB, load3(states[i], FOOT_POSITION))
            share = settle if memory[at + 3] > 0.5 else 1.0
            place = now if share == 1.0 else add_scaled(place, share, subtract(now, place))
            memory[at + 3] = 1.0
        store3(memory, at, place)
        if memory[at + 3] > 0.5:
            known += 1
    memory[layout.followed] = min(memory[layout.followed] + dt, SETTLED)
    if not imu or memory[layout.followed] < SETTLED:
        return
    goal = (0.0, 0.0, 1.0)
    if resting > 0:
        goal = soles
    elif known >= 3 and known == nf:
        goal = plane_normal(layout, settings, memory, nf)
    length = norm(goal)
    slope = math.sqrt(goal[0] * goal[0] + goal[1] * goal[1])
    if not (length > 0.0 and slope < STEEPEST * length):
        return
    normal = load3(memory, layout.normal)
    share = min(dt / NORMAL_TIME, 1.0)
    normal = add_scaled(normal, share, subtract(scale(1.0 / length, goal), normal))
    store3(memory, layout.normal, scale(1.0 / norm(normal), normal))


@part
def plane_normal(layout, settings, memory, nf):
    """Return a normal of the plane nearest to the places, drawn to gravity's direction."""
    mean = (0.0, 0.0, 0.0)
    for i in range(nf):
        mean = add_scaled(mean, 1.0 / nf, load3(memory, layout.places + N_PLACE * i))
    uneven2 = (UNEVEN * settings.reach) ** 2
    # Ridge: a plane through points that are nearly in line leans nowhere.
    xx = yy = nf * uneven2
    xy = xz = yz = zz = 0.0
    for i in range(nf):
        x, y, z = subtract(load3(memory, layout.places + N_PLACE * i), mean)
        xx, xy, xz = xx + x * x, xy + x * y, xz + x * z
        yy, yz, zz = yy + y * y, yz + y * z, zz + z * z
    determinant = xx * yy - xy * xy
    a, b = (yy * xz - xy * yz) / determinant, (xx * yz - xy * xz) / determinant
    left = max(zz - a * xz - b * yz, 0.0) / nf
    trust = uneven2 / (uneven2 + left)
    return -trust * a, -trust * b, 1.0
