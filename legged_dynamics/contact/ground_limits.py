# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the ground can give the feet as they stand now: the inequalities of a tick's program."""
from __future__ import annotations

from legged_dynamics.contact.memory import NORMAL, STANDING
from legged_dynamics.contact.program import BOUND, FOOT, INEQUALITY, SLACK, W
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    PLANE,
    SIZE,
    SOLE,
    START,
    has_moment,
    moment_axes,
)
from legged_dynamics.spatial.algebra import ZERO, add, cross, load3, rotate, subtract, z_axis
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.table import get3, get9, put3

NO_AXES = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@part
def frame_on(normal):
    """Return the rotation whose third axis is a unit normal, as `rotation_to_z` has it."""
    x, y, z = normal
    if z < -1.0 + 1e-12:
        return 1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0
    s = 1.0 / (1.0 + z)
    return 1.0 - s * x * x, -s * x * y, x, -s * x * y, 1.0 - s * y * y, y, -x, -y, z


@part
def ground_axes(feet, settings, states, i):
    """Return the axes of the forces in a foot's inequalities, and the arm from their origin."""
    geometry = feet.geometry
    R, arm = get9(states, i, FOOT_ROTATION), ZERO
    if has_moment(feet.index, i):
        middle = (0.5 * (geometry[i, SOLE] + geometry[i, SOLE + 1]),
                  0.5 * (geometry[i, SOLE + 2] + geometry[i, SOLE + 3]), 0.0)
        arm = subtract(get3(states, i, CONTACT), get3(states, i, FOOT_POSITION))
        arm = subtract(arm, rotate(R, middle))
    if feet.index[i, PLANE] == 0:
        R = frame_on(load3(settings, NORMAL))
    return R, arm


@part
def limit_row(on_force, on_moment, arm, axes):
    """
    Return a limit's coefficients of a foot's force and of its moments' coordinates.

    A moment about the middle of the sole has that of the force at the contact in it.
    """
    return add(on_force, cross(on_moment, arm)), rotate(axes, on_moment)


@part
def fill_inequalities(feet, settings, states, p):
    """Turn the templates into inequalities on contact coordinates."""
    i = -1
    R, arm, axes = frame_on((0.0, 0.0, 1.0)), ZERO, NO_AXES
    for k in range(p.m):
        foot = int(p.narrow[k, FOOT])
        if foot != i:
            i = foot
            R, arm = ground_axes(feet, settings, states, i)
            axes = moment_axes(feet.index, states, i)
        on_force, on_moment = rotate(R, get3(p.narrow, k, INEQUALITY)), ZERO
        if has_moment(feet.index, i):
            moment = rotate(get9(states, i, FOOT_ROTATION), get3(p.narrow, k, INEQUALITY + 3))
            on_force, on_moment = limit_row(on_force, moment, arm, axes)
        put3(p.narrow, p.C + k, 0, on_force)
        put3(p.narrow, p.C + k, 3, on_moment)


@part
def fill_slacks(index, p):
    """Fill ``C w - d`` of all inequalities, zero for lifted feet; return the smallest."""
    smallest = 0.0
    for k in range(p.m):
        i, slack = int(p.narrow[k, FOOT]), 0.0
        if index[i, STANDING] != 0:
            slack = -p.narrow[k, BOUND]
            for c in range(index[i, SIZE]):
                slack += p.narrow[p.C + k, c] * p.wide[W, index[i, START] + c]
        p.wide[SLACK, k] = slack
        smallest = min(smallest, slack)
    return smallest


@part
def move_inside(feet, settings, states, p):
    """
    Move each foot inside its last inequality, out of which rounding has left it.

    A force along the normal, at the middle of a sole, is inside all of them but a load's upper
    limit; less of the whole wrench is inside that. It is a matter of the program's tolerance.
    """
    if fill_slacks(feet.index, p) == 0.0:
        return
    for i in range(feet.index.shape[0]):
        start, size = feet.index[i, START], feet.index[i, SIZE]
        R, arm = ground_axes(feet, settings, states, i)
        normal = z_axis(R)
        moment = rotate(moment_axes(feet.index, states, i), cross(normal, arm))
        missing, limit, reached, share = 0.0, -1.0, 0.0, 1.0
        for k in range(p.m):
            if int(p.narrow[k, FOOT]) == i:
                room = 0.0
                for c in range(3):
                    room += p.narrow[p.C + k, c] * normal[c] + p.narrow[p.C + k, 3 + c] * moment[c]
                if room > 0.0:
                    missing = max(missing, -p.wide[SLACK, k] / room)
                elif p.narrow[k, BOUND] < 0.0:
                    limit = p.narrow[k, BOUND]
                    reached = p.wide[SLACK, k] + limit
        if reached - missing < limit:
            share = limit / (reached - missing)
        for c in range(3):
            p.wide[W, start + c] = share * (p.wide[W, start + c] + missing * normal[c])
        for c in range(size - 3):
            p.wide[W, start + 3 + c] = share * (p.wide[W, start + 3 + c] + missing * moment[c])
