# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Where standing feet stand: places that a pose is corrected by, that roll along, and that settle.

A ball rolls: its contact point moves by ``phi x radius n`` while the foot turns by ``phi``. A foot
that carries moments has an orientation beside its place, about their axes.

Arguments of the kernels: see ``estimation/__init__.py``. ``places`` is
(nf, .), ``p`` a record of settings, ``R`` and ``position`` the pose of the base, ``A`` and ``b``
normal equations.
"""
from __future__ import annotations

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_ROTATION,
    RADIUS,
    SIZE,
    has_moment,
    held,
    moment_axis,
)
from legged_dynamics.estimation.pose_correction import add_point, add_turn
from legged_dynamics.spatial.algebra import (
    add,
    add_scaled,
    compose,
    cross,
    dot,
    norm,
    rotate,
    rotate_back,
    subtract,
    transpose,
)
from legged_dynamics.spatial.exponential import rotation_exp, rotation_log
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.table import get3, get9, put3, put9

# The memory of a foot: place in the world, orientation there (of a ball: when it last rolled),
# number of samples it has stood, how far it is seen from its place; and where it is, standing or
# not.
PLACE, TURN, AGE, OFFSET, NOW = 0, 3, 12, 13, 14
N_PLACE = 17
# Number of samples after which the place of a foot counts half of what it may.
TRUSTED = 250.0
# Arm [m] at which the turn of a sole counts as much as its place.
SOLE = 0.1


@part
def roll_places(feet, places, states, contact, R):
    """Let the places of standing balls roll along, and remember how each ball is turned."""
    for i in range(feet.index.shape[0]):
        if feet.geometry[i, RADIUS] == 0.0:
            continue
        R_WF = compose(R, get9(states, i, FOOT_ROTATION))
        if contact[i] > 0.5 and places[i, AGE] > 0.0:
            phi = rotation_log(compose(R_WF, transpose(get9(places, i, TURN))))
            step = cross(phi, (0.0, 0.0, feet.geometry[i, RADIUS]))
            put3(places, i, PLACE, add(get3(places, i, PLACE), step))
        put9(places, i, TURN, R_WF)


@part
def add_places(feet, places, states, contact, R, position, p, A, b):
    """
    Add where the standing feet are to be; return the sum of their weights.

    Places found by one orientation of the base say nothing about another one: it takes a while
    until they are worth more than the IMU.
    """
    total = 0.0
    for i in range(feet.index.shape[0]):
        if contact[i] < 0.5 or places[i, AGE] == 0.0:
            continue
        age = places[i, AGE]
        weight = age / ((age + TRUSTED) * p.foothold * p.foothold)
        c = get3(states, i, CONTACT)
        seen = subtract(rotate_back(R, subtract(get3(places, i, PLACE), position)), c)
        add_point(A, b, c, seen, weight)
        if has_moment(feet.index, i):
            # The rotation r that takes the foot as it is seen to where it stands: base axes.
            R_WF = compose(R, get9(states, i, FOOT_ROTATION))
            turn = rotation_log(compose(get9(places, i, TURN), transpose(R_WF)))
            weight_turn = SOLE * SOLE * weight
            for k in range(feet.index[i, SIZE] - 3):
                axis = moment_axis(feet.index, states, i, k)
                add_turn(A, b, rotate_back(R, turn), 0.0, axis, weight_turn)
        total += weight
    return total


@part
def on_ground(place, p):
    """Return a place of a foot, on the ground if that is known to be flat."""
    return place[0], place[1], 0.0 if p.flat_ground > 0.5 else place[2]


@part
def settle_places(feet, places, states, contact, R, position, p, dt):
    """
    Compare standing feet with their places, and give places to those that have landed.

    Returns
    -------
    stepping, slips : int
        How many feet got a place; how many of them had one, from which they were far.
    variance : float [m^2]
        What that adds to the position's.

    """
    standing, stepping, slips, known, offsets = 0, 0, 0, 0, 0.0
    for i in range(feet.index.shape[0]):
        seen = add(position, rotate(R, get3(states, i, CONTACT)))
        put3(places, i, NOW, seen)
        if contact[i] < 0.5:
            places[i, AGE], places[i, OFFSET] = 0.0, 0.0
            continue
        standing += 1
        if places[i, AGE] > 0.0:
            away = subtract(seen, get3(places, i, PLACE))
            places[i, OFFSET] = norm(away)
            if places[i, OFFSET] <= p.slip_distance:
                known, offsets = known + 1, offsets + dot(away, away)
                # A running mean, until it has the length of the settling time.
                rate = max(1.0 / (places[i, AGE] + 1.0), min(dt / p.settling, 1.0))
                place = on_ground(add_scaled(get3(places, i, PLACE), rate, away), p)
                put3(places, i, PLACE, place)
                put3(places, i, NOW, place)
                if has_moment(feet.index, i):
                    R_WF = compose(R, get9(states, i, FOOT_ROTATION))
                    before = get9(places, i, TURN)
                    turn = rotation_log(compose(R_WF, transpose(before)))
                    # What nothing holds has gone all the way.
                    kept = rotate(R, held(feet.index, states, i, rotate_back(R, turn)))
                    turn = add_scaled(turn, rate - 1.0, kept)
                    put9(places, i, TURN, compose(rotation_exp(turn), before))
                places[i, AGE] += 1.0
                continue
            slips += 1
        stepping += 1
        seen = on_ground(seen, p)
        put3(places, i, PLACE, seen)
        put3(places, i, NOW, seen)
        put9(places, i, TURN, compose(R, get9(states, i, FOOT_ROTATION)))
        places[i, AGE] = 1.0
    # A new place is as wrong as the feet disagree, and has its share in the position.
    error = max(offsets / max(known, 1), p.foothold * p.foothold)
    return stepping, slips, error * stepping / max(standing, 1) ** 2
