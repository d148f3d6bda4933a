# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One tick of contact inverse dynamics: motion in, ground reactions and joint efforts out.

Outwards over the tree for the motion of every body; the wrench that moves them all, shared
between the feet; each foot relieved of its share; and inwards for the efforts of the joints. What
arrives at the base is what no foot could carry.
"""
from __future__ import annotations

import math

from legged_dynamics.contact.memory import (
    CONTACT_FORCE,
    CONTACT_MOMENT,
    DONE,
    FLOATING,
    GUESS,
    GUESSED,
    LOADED,
    MISFIT,
    NORMAL,
    NOT_FINITE,
    NOT_UNIT,
    POSITIONS,
    RANK,
    RESIDUAL,
    STANDING,
    UNKNOWNS,
    VELOCITIES,
    carve,
)
from legged_dynamics.contact.selection import choose
from legged_dynamics.dynamics.external import relieve_bodies
from legged_dynamics.dynamics.jacobians import (
    BODY,
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    SIZE,
    contact_points,
    has_moment,
    held,
)
from legged_dynamics.dynamics.kinematics import (
    FORCE,
    MOMENT,
    POSITION,
    forward_kinematics,
)
from legged_dynamics.dynamics.newton_euler import (
    add_joint_physics,
    inertial_wrenches,
    joint_efforts,
)
from legged_dynamics.spatial.algebra import (
    ZERO,
    add,
    cross,
    dot,
    load3,
    rotate,
    rotate_back,
    store3,
    subtract,
)
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.table import get3, get9, put3


@part
def base_demand(bodies):
    """Return the force and moment about the base's origin that all bodies together take."""
    f, m = ZERO, ZERO
    for i in range(bodies.shape[0]):
        force = get3(bodies, i, FORCE)
        f = add(f, force)
        m = add(m, add(get3(bodies, i, MOMENT), cross(get3(bodies, i, POSITION), force)))
    return f, m


@part
def demand(tree, bodies, external, loaded, q, v, a, base):
    """
    Walk outwards; return the force and moment that feet are to give at the base's origin.

    Arguments: see :mod:`~legged_dynamics.contact.memory`; ``loaded`` says whether
    there are external wrenches.
    """
    forward_kinematics(tree, q, v, a, base, bodies)
    inertial_wrenches(tree, bodies)
    if loaded:
        relieve_bodies(external, bodies)
    return base_demand(bodies)


@part
def fits(integers, q, v, a, base):
    """Return whether the inputs have the robot's sizes."""
    nv = integers[0, VELOCITIES]
    return (q.shape[0] == integers[0, POSITIONS] and v.shape[0] == nv and a.shape[0] == nv
            and base.shape[0] == 9)


@part
def start_from_guess(index, states, guessed, f, m):
    """Fill contact forces and moments with the guess or zero; return what it leaves to carry."""
    for i in range(index.shape[0]):
        force, moment = ZERO, ZERO
        if guessed and index[i, STANDING] != 0:
            R, point = get9(states, i, FOOT_ROTATION), get3(states, i, CONTACT)
            force = rotate(R, get3(states, i, GUESS))
            if has_moment(index, i):
                arm = subtract(point, get3(states, i, FOOT_POSITION))
                moment = subtract(rotate(R, get3(states, i, GUESS + 3)), cross(arm, force))
                moment = held(index, states, i, moment)
            f = subtract(f, force)
            m = subtract(m, add(moment, cross(point, force)))
        put3(states, i, CONTACT_FORCE, force)
        put3(states, i, CONTACT_MOMENT, moment)
    return f, m


@part
def relieve_feet(index, states, bodies, results):
    """Take the contact forces off the feet's bodies; fill the wrenches in the feet's frames."""
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
    """Fill what is left at the base; return whether it and the efforts are finite."""
    total = 0.0
    for k in range(6):
        results[RESIDUAL + k] = bodies[0, FORCE + k]
        total += bodies[0, FORCE + k]
    for j in range(effort.shape[0]):
        total += effort[j]
    return math.isfinite(total)


@lean_kernel
def tick(q, v, a, base, integers, floats, results):
    """
    Fill the results for one sample of motion.

    Returns
    -------
    int
        `memory.DONE`, or which of `MISFIT`, `NOT_UNIT` and `NOT_FINITE` the inputs are.

    Arguments: see :mod:`~legged_dynamics.contact.memory`.

    """
    if not fits(integers, q, v, a, base):
        return MISFIT
    tree, feet, settings, bodies, states, external = carve(integers, floats)
    normal = load3(settings, NORMAL)
    if not abs(dot(normal, normal) - 1.0) < 2e-6:
        return NOT_UNIT
    f, m = demand(tree, bodies, external, integers[1, LOADED] != 0, q, v, a, base)
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
