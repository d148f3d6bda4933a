# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One sample of leg odometry, as one kernel.

1. Predict orientation by the gyro and velocity by the accelerometer.
2. Velocity: weighted least squares over the contact points of the standing feet, which do not
   move, the gyro, and the predicted velocity of the IMU.
3. Predict the pose with that twist.
4. Pose: weighted least squares over the standing feet, which are where they were, the
   orientation of the IMU, and the prediction.
5. Move the places of feet that disagree towards their measured positions; give places to feet that
   have landed.

A ball rolls: its contact point moves by ``phi x radius n`` while the foot turns by ``phi``.

``R`` is the base's orientation, ``R_imu`` the IMU's, ``p`` the record of `leg_odometry`, ``A`` and
``b`` normal equations.
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_ROTATION,
    N_FOOT_STATE,
    RADIUS,
    SIZE,
    START,
    FeetTable,
    contact_jacobians,
    contact_points,
    has_moment,
    moment_axis,
    moment_part,
)
from legged_dynamics.dynamics.kinematics import N_BODY_STATE, forward_kinematics, frame_motion
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.attitude import (
    STEADY,
    TILT_GAIN,
    rotation_from_imu,
    rotation_of_tilt,
)
from legged_dynamics.optimization.factorizations import factorize, solve_factorized
from legged_dynamics.spatial.algebra import (
    IDENTITY,
    add,
    add_scaled,
    compose,
    cross,
    dot,
    load3,
    load9,
    norm,
    rotate,
    rotate_back,
    scale,
    store3,
    store9,
    subtract,
    transpose,
)
from legged_dynamics.spatial.exponential import rotation_exp, rotation_log
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3, get9, offsets, put3, put9

# -------------------------------------------------------------------------------------------------
# Weighted least squares for six unknowns of a rigid body: a twist, or a small correction of a
# pose.
#
# Both are ``x = [t; r]`` in base axes at the base's origin, and a point at ``c`` of the body moves
# by ``t + r x c``: a standing foot gives the same equations for a velocity and for a displacement.
# They are added one by one to the normal equations ``A x = b``, A as lower triangle.


@part
def clear_equations(A, b):
    """Set the normal equations to zero."""
    for i in range(6):
        b[i] = 0.0
        for j in range(6):
            A[i, j] = 0.0


@part
def add_point(A, b, c, seen, weight):
    """
    Add ``t + r x c = seen`` for a point c (base axes) to the normal equations.

    ``seen``: measured displacement or velocity; ``weight``: inverse variance per component.
    """
    x, y, z = c
    for i in range(3):
        A[i, i] += weight
        b[i] += weight * seen[i]
    # With S(c) the cross-product matrix, the rows are [1, -S(c)].
    A[3, 1] -= weight * z
    A[3, 2] += weight * y
    A[4, 0] += weight * z
    A[4, 2] -= weight * x
    A[5, 0] -= weight * y
    A[5, 1] += weight * x
    A[3, 3] += weight * (y * y + z * z)
    A[4, 4] += weight * (x * x + z * z)
    A[5, 5] += weight * (x * x + y * y)
    A[4, 3] -= weight * x * y
    A[5, 3] -= weight * x * z
    A[5, 4] -= weight * y * z
    moment = cross(c, seen)
    for i in range(3):
        b[3 + i] += weight * moment[i]


@part
def add_turn(A, b, seen, weight, up, about_up):
    """Add ``r = seen`` with inverse variance ``weight``, and ``about_up`` along ``up``."""
    along = (about_up - weight) * (up[0] * seen[0] + up[1] * seen[1] + up[2] * seen[2])
    for i in range(3):
        A[3 + i, 3 + i] += weight
        b[3 + i] += weight * seen[i] + along * up[i]
        for j in range(i + 1):
            A[3 + i, 3 + j] += (about_up - weight) * up[i] * up[j]


# -------------------------------------------------------------------------------------------------
# Places of standing feet, by which the pose is corrected.
#
# The place of a ball rolls along with it. A foot that can have moments has an orientation in
# addition to its place, about the axes of these moments. ``places`` is (nf, N_PLACE), ``position``
# that of the base in the world.


class _PlaceColumns(NamedTuple):
    """Columns of ``places``, a row for each foot."""

    position: int = 3       # where it stands, world axes [m]
    turn: int = 9           # its orientation there, by rows; of a ball: when it last rolled
    age: int = 1            # number of samples for which it has stood
    offset: int = 1         # measured distance from its place [m]
    now: int = 3            # measured position, standing or not [m]
    width: int = 0


PLACE = offsets(_PlaceColumns())
# Number of samples after which the place of a foot has half of its largest weight.
TRUSTED = 250.0
# Arm [m] at which the rotation of a sole has the same weight as its place.
SOLE = 0.1


@part
def _roll_places(places, legs, R):
    """Move the places of standing feet as they roll, and keep the orientation of each ball."""
    feet, states, contact = legs.feet, legs.states, legs.contact
    for i in range(feet.index.shape[0]):
        if feet.geometry[i, RADIUS] == 0.0:
            continue
        R_WF = compose(R, get9(states, i, FOOT_ROTATION))
        if contact[i] > 0.5 and places[i, PLACE.age] > 0.0:
            phi = rotation_log(compose(R_WF, transpose(get9(places, i, PLACE.turn))))
            if has_moment(feet.index, i):       # about these axes it does not roll
                held = moment_part(feet.index, states, i, rotate_back(R, phi))
                phi = subtract(phi, rotate(R, held))
            step = cross(phi, (0.0, 0.0, feet.geometry[i, RADIUS]))
            put3(places, i, PLACE.position, add(get3(places, i, PLACE.position), step))
        if not has_moment(feet.index, i):
            put9(places, i, PLACE.turn, R_WF)


@part
def _add_places(places, legs, R, position, p):
    """
    Add where the standing feet are to be; return the sum of their weights.

    Places that were found with one orientation of the base do not determine another one: their
    weight grows with time.
    """
    feet, states, A, b, total = legs.feet, legs.states, legs.A, legs.b, 0.0
    for i in range(feet.index.shape[0]):
        if legs.contact[i] < 0.5 or places[i, PLACE.age] == 0.0:
            continue
        age = places[i, PLACE.age]
        weight = age / ((age + TRUSTED) * p.foothold * p.foothold)
        c = get3(states, i, CONTACT)
        seen = subtract(rotate_back(R, subtract(get3(places, i, PLACE.position), position)), c)
        add_point(A, b, c, seen, weight)
        if has_moment(feet.index, i):
            # The rotation r that takes the foot as it is seen to where it stands: base axes.
            R_WF = compose(R, get9(states, i, FOOT_ROTATION))
            turn = rotation_log(compose(get9(places, i, PLACE.turn), transpose(R_WF)))
            weight_turn = SOLE * SOLE * weight
            for k in range(feet.index[i, SIZE] - 3):
                axis = moment_axis(feet.index, states, i, k)
                add_turn(A, b, rotate_back(R, turn), 0.0, axis, weight_turn)
        total += weight
    return total


@part
def _on_ground(place, p):
    """Return a place of a foot, on the ground if that is known to be flat."""
    return place[0], place[1], 0.0 if p.flat_ground > 0.5 else place[2]


@part
def _settle_places(places, legs, memory, p, dt):
    """
    Compare stance feet with their places; return (stepping, slips, variance [m^2]).

    Feet that got a place, those of them that were far from an old one, and the position
    variance that this adds.
    """
    feet, states, contact = legs.feet, legs.states, legs.contact
    R, position = load9(memory, BASE.R_WB), load3(memory, BASE.p_WB)
    standing, stepping, slips, known, apart = 0, 0, 0, 0, 0.0
    for i in range(feet.index.shape[0]):
        seen = add(position, rotate(R, get3(states, i, CONTACT)))
        put3(places, i, PLACE.now, seen)
        if contact[i] < 0.5:
            places[i, PLACE.age], places[i, PLACE.offset] = 0.0, 0.0
            continue
        standing += 1
        if places[i, PLACE.age] > 0.0:
            away = subtract(seen, get3(places, i, PLACE.position))
            places[i, PLACE.offset] = norm(away)
            if places[i, PLACE.offset] <= p.slip_distance:
                known, apart = known + 1, apart + dot(away, away)
                # A running mean, until it has the length of the settling time.
                rate = max(1.0 / (places[i, PLACE.age] + 1.0), min(dt / p.settling, 1.0))
                place = _on_ground(add_scaled(get3(places, i, PLACE.position), rate, away), p)
                put3(places, i, PLACE.position, place)
                put3(places, i, PLACE.now, place)
                if has_moment(feet.index, i):
                    R_WF = compose(R, get9(states, i, FOOT_ROTATION))
                    before = get9(places, i, PLACE.turn)
                    turn = rotation_log(compose(R_WF, transpose(before)))
                    # Free axes follow the measured rotation at once.
                    kept = rotate(R, moment_part(feet.index, states, i, rotate_back(R, turn)))
                    turn = add_scaled(turn, rate - 1.0, kept)
                    put9(places, i, PLACE.turn, compose(rotation_exp(turn), before))
                places[i, PLACE.age] += 1.0
                continue
            slips += 1
        stepping += 1
        seen = _on_ground(seen, p)
        put3(places, i, PLACE.position, seen)
        put3(places, i, PLACE.now, seen)
        put9(places, i, PLACE.turn, compose(R, get9(states, i, FOOT_ROTATION)))
        places[i, PLACE.age] = 1.0
    # A new place is as wrong as the feet disagree, and has its share in the position.
    error = max(apart / max(known, 1), p.foothold * p.foothold)
    return stepping, slips, error * stepping / max(standing, 1) ** 2


# -------------------------------------------------------------------------------------------------
# One sample.


class _BaseColumns(NamedTuple):
    """Columns of ``memory``, what is kept of the base."""

    known: int = 1          # number of samples
    R_WB: int = 9           # orientation, by rows
    p_WB: int = 3           # position [m]
    twist: int = 6          # linear and angular velocity, base axes [m/s, rad/s]
    v_BI: int = 3           # velocity of the IMU less that of the base's origin, base axes [m/s]
    rate: int = 3           # acceleration of the IMU, world axes [m/s^2]
    rate_known: int = 1     # 1: it is known
    variance: int = 1       # of each component of the velocity [m^2/s^2]
    drift: int = 1          # variance of the position [m^2]
    steps: int = 1          # feet that got a place
    slips: int = 1          # of these, far from an old one
    faults: int = 1         # bits of `leg_odometry.OdometryFault`
    width: int = 0


BASE = offsets(_BaseColumns())
# Faults, the values of leg_odometry.OdometryFault.
NO_IMU = 4
NO_ORIENTATION = 8
NO_STANCE = 16
SLIP = 32
# Deviation of the angular velocity [rad/s] where neither gyro nor feet measure it.
UNKNOWN_RATE = 10.0
# Least gain of a correction, so that weights stay finite.
LEAST_GAIN = 1e-6


class _Imu(NamedTuple):
    """What the IMU says in a sample, base axes; not finite where it does not."""

    w: tuple                # angular velocity [rad/s]
    a: tuple                # proper acceleration [m/s^2]
    p: tuple                # its place [m]
    v: tuple                # its velocity against the base [m/s]
    R_WB: tuple             # by its orientation, by rows
    moves: bool             # gyro and accelerometer are known
    oriented: bool          # the orientation is


class _Legs(NamedTuple):
    """The feet, what a sample says of the legs, and arrays to work in."""

    feet: FeetTable
    q: np.ndarray           # (nj,): joint positions [rad or m]
    v: np.ndarray           # (nj,): joint velocities
    contact: np.ndarray     # (nf,): 1 for feet that stand
    bodies: np.ndarray      # (nb, N_BODY_STATE)
    states: np.ndarray      # (nf, N_FOOT_STATE)
    jacobian: np.ndarray    # (nc, nj)
    A: np.ndarray           # (6, 6): normal equations
    b: np.ndarray           # (6,) and more: their right side
    still: np.ndarray       # zeros


@part
def _read_imu(row, at, p, bodies):
    """Return what the IMU says, on whichever link it sits."""
    R_BI, p_BI, w_BI, _, v_BI, _ = frame_motion(bodies[p.imu_body], load9(p.R_BI, 0),
                                                load3(p.p_BI, 0))
    w = subtract(rotate(R_BI, load3(row, at)), w_BI)
    a = rotate(R_BI, load3(row, at + 3))
    R = rotation_from_imu(row, at + 6, R_BI)
    return _Imu(w, a, p_BI, v_BI, R, math.isfinite(w[0] + w[1] + w[2] + a[0] + a[1] + a[2]),
                math.isfinite(R[0] + R[4] + R[8]))


@part
def _read_legs(row, work, tree, feet):
    """Return what a row of a sample says of the legs, with the arrays to work in."""
    nb, nf, nj = tree.topology.shape[0], feet.index.shape[0], tree.topology.shape[0] - 1
    rows, nc = nb + nf, feet.index[nf - 1, START] + feet.index[nf - 1, SIZE]
    return _Legs(feet, row[:nj], row[nj:2 * nj], row[2 * nj + 10:],
                 work[:nb, :N_BODY_STATE], work[nb:rows, :N_FOOT_STATE],
                 work[rows:rows + nc, :nj], work[rows + nc:rows + nc + 6, :6],
                 work[rows + nc + 6], work[rows + nc + 7])


@part
def _leg_variance(jacobian, row, size, p):
    """Return the variance [m^2/s^2] of a contact's velocity by the noise of its leg."""
    s = 0.0
    for r in range(min(size, 3)):
        for j in range(jacobian.shape[1]):
            s += jacobian[row + r, j] * jacobian[row + r, j]
    return p.creep * p.creep + p.velocity * p.velocity * s / 3.0


@part
def _add_standing_velocities(legs, p):
    """Add the equations of the standing feet for the base's twist; return their weights' sum."""
    feet, v, states, jacobian, total = legs.feet, legs.v, legs.states, legs.jacobian, 0.0
    for i in range(feet.index.shape[0]):
        if legs.contact[i] < 0.5:
            continue
        row, size = feet.index[i, START], feet.index[i, SIZE]
        seen = (0.0, 0.0, 0.0)
        for j in range(v.shape[0]):
            seen = (seen[0] - jacobian[row, j] * v[j], seen[1] - jacobian[row + 1, j] * v[j],
                    seen[2] - jacobian[row + 2, j] * v[j])
        weight = 1.0 / _leg_variance(jacobian, row, size, p)
        add_point(legs.A, legs.b, load3(states[i], CONTACT), seen, weight)
        total += weight
        # The sum of three joint rates, as in a chain of three joints.
        weight = 1.0 / (3.0 * p.velocity * p.velocity + p.creep * p.creep)
        for k in range(size - 3):
            rate = 0.0
            for j in range(v.shape[0]):
                rate -= jacobian[row + 3 + k, j] * v[j]
            axis = moment_axis(feet.index, states, i, k)
            add_turn(legs.A, legs.b, scale(rate, axis), 0.0, axis, weight)
    return total


@part
def _add_orientation(R, imu, prior, samples, p, legs, dt):
    """Add the equations of the IMU: its orientation, or gravity's direction."""
    up, A, b = (R[6], R[7], R[8]), legs.A, legs.b
    if imu.oriented:
        weight = 1.0 / (p.orientation * p.orientation)
        turn = rotation_log(compose(transpose(R), imu.R_WB))
        add_turn(A, b, turn, weight, up, p.heading * weight)
    elif imu.moves:
        length = norm(imu.a)
        if math.fabs(length - GRAVITY) < STEADY * GRAVITY:
            # The rotation of the base that brings its idea of up to the measured one.
            tilt = cross(scale(1.0 / length, imu.a), up)
            gain = max(TILT_GAIN * dt, 1.0 / samples)
            add_turn(A, b, tilt, prior * gain, up, 0.0)


@part
def _prior_share(gain):
    """Return the weight of a prediction over that of the correction, by the gain."""
    return 1.0 / min(max(gain, LEAST_GAIN), 1.0) - 1.0


@part
def _start(legs, imu, memory):
    """Put the world's origin on the ground in the middle of the standing feet (or of all)."""
    R = IDENTITY
    if imu.oriented:
        R = imu.R_WB
    elif imu.moves and norm(imu.a) > 1e-6:
        R = rotation_of_tilt(scale(1.0 / norm(imu.a), imu.a))
    middle, total = (0.0, 0.0, 0.0), 0.0
    for i in range(legs.contact.shape[0]):
        weight = max(legs.contact[i], 1e-6)
        middle = add_scaled(middle, weight, load3(legs.states[i], CONTACT))
        total += weight
    store9(memory, BASE.R_WB, R)
    store3(memory, BASE.p_WB, scale(-1.0 / total, rotate(R, middle)))
    memory[BASE.rate_known], memory[BASE.variance] = 0.0, 1.0
    memory[BASE.drift], memory[BASE.steps], memory[BASE.slips] = 0.0, 0.0, 0.0


@part
def _predict_velocity(R, R_next, imu, memory, p, dt):
    """Return the IMU's velocity by the accelerometer, world axes; keep its variance."""
    twist_v, twist_w = load3(memory, BASE.twist), load3(memory, BASE.twist + 3)
    rate = (0.0, 0.0, 0.0)
    v_BI = load3(memory, BASE.v_BI) if dt > 0.0 else add(cross(twist_w, imu.p), imu.v)
    at_imu = rotate(R, add(twist_v, v_BI))
    if imu.moves:
        rate = subtract(rotate(R_next, imu.a), (0.0, 0.0, GRAVITY))
        before = load3(memory, BASE.rate) if memory[BASE.rate_known] > 0.5 else rate
        at_imu = add_scaled(at_imu, 0.5 * dt, add(before, rate))
        memory[BASE.variance] += (p.acceleration * dt) ** 2
    else:
        memory[BASE.variance] += dt * dt     # an unknown acceleration of 1 m/s^2
    store3(memory, BASE.rate, rate)
    memory[BASE.rate_known] = 1.0 if imu.moves else 0.0
    return at_imu


@part
def _solve_velocity(legs, R, imu, at_imu, memory, p):
    """Store the twist by feet, gyro and prediction; return the weight of the feet."""
    A, b = legs.A, legs.b
    clear_equations(A, b)
    total = _add_standing_velocities(legs, p)
    add_point(A, b, imu.p, subtract(rotate_back(R, at_imu), imu.v), 1.0 / memory[BASE.variance])
    weight = 1.0 / (p.gyro * p.gyro) if imu.moves else 1.0 / (UNKNOWN_RATE * UNKNOWN_RATE)
    add_turn(A, b, imu.w if imu.moves else (0.0, 0.0, 0.0), weight, (0.0, 0.0, 1.0), weight)
    factorize(A, 6)
    solve_factorized(A, 6, b)
    memory[BASE.variance] = 1.0 / (1.0 / memory[BASE.variance] + total)
    store3(memory, BASE.twist, load3(b, 0))
    store3(memory, BASE.twist + 3, load3(b, 3))
    store3(memory, BASE.v_BI, add(cross(load3(b, 3), imu.p), imu.v))
    return total


@part
def _correct_pose(places, legs, imu, memory, p, dt):
    """Store the pose by the places of standing feet, the IMU and the predicted one."""
    A, b, samples = legs.A, legs.b, memory[BASE.known]
    R, position = load9(memory, BASE.R_WB), load3(memory, BASE.p_WB)
    clear_equations(A, b)
    total = _add_places(places, legs, R, position, p)
    share = min(_prior_share(p.tilt_rate * dt), samples)
    prior = share / (p.orientation * p.orientation) + 1.0
    add_turn(A, b, (0.0, 0.0, 0.0), prior, (0.0, 0.0, 1.0), prior)
    _add_orientation(R, imu, prior, samples, p, legs, dt)
    share = _prior_share(p.position_rate * dt)
    add_point(A, b, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), total * share + 1.0)
    factorize(A, 6)
    solve_factorized(A, 6, b)
    store9(memory, BASE.R_WB, compose(R, rotation_exp(load3(b, 3))))
    store3(memory, BASE.p_WB, add(position, rotate(R, load3(b, 0))))


@lean_kernel
def odometry_tick(tree, feet, p, row, memory, places, work, dt):
    """
    Advance leg odometry by one sample; return False, writing nothing, if not finite.

    ``row``: positions, velocities, gyro, accelerometer, xyzw, stance flags; ``memory`` and
    ``places`` are written.
    """
    p = p[0]
    nj = tree.topology.shape[0] - 1
    for k in range(2 * nj):
        if not math.isfinite(row[k]):
            return False
    legs = _read_legs(row, work, tree, feet)
    forward_kinematics(tree, legs.q, legs.v, legs.still, legs.still, legs.bodies)
    imu = _read_imu(row, 2 * nj, p, legs.bodies)
    faults = int(memory[BASE.faults])
    if not imu.oriented:
        faults |= NO_ORIENTATION if imu.moves else NO_IMU
    starting = memory[BASE.known] < 0.5
    if starting:
        # The contact points of balls require the direction of gravity.
        up = (0.0, 0.0, 1.0)
        if imu.oriented:
            up = (imu.R_WB[6], imu.R_WB[7], imu.R_WB[8])
        contact_points(feet, legs.bodies, up, legs.states)
        _start(legs, imu, memory)
        dt = 0.0

    # 1 Predict; 2 velocity.
    R, position = load9(memory, BASE.R_WB), load3(memory, BASE.p_WB)
    twist_v, twist_w = load3(memory, BASE.twist), load3(memory, BASE.twist + 3)
    mean = scale(0.5, add(twist_w, imu.w)) if imu.moves else twist_w
    R_next = compose(R, rotation_exp(scale(dt, mean)))
    at_imu = _predict_velocity(R, R_next, imu, memory, p, dt)
    contact_points(feet, legs.bodies, (R_next[6], R_next[7], R_next[8]), legs.states)
    contact_jacobians(tree, feet, legs.bodies, legs.states, legs.jacobian)
    if _solve_velocity(legs, R_next, imu, at_imu, memory, p) == 0.0:
        faults |= NO_STANCE

    # 3 Predict the pose; 4 correct it.
    mean = scale(0.5, add(twist_w, load3(legs.b, 3))) if not starting else (0.0, 0.0, 0.0)
    velocity = scale(0.5, add(rotate(R, twist_v), rotate(R_next, load3(legs.b, 0))))
    R = compose(R, rotation_exp(scale(dt, mean)))
    position = add_scaled(position, dt, velocity)
    memory[BASE.faults] = float(faults)
    _roll_places(places, legs, R)
    store9(memory, BASE.R_WB, R)
    store3(memory, BASE.p_WB, position)
    if not starting:
        _correct_pose(places, legs, imu, memory, p, dt)

    # 5 Places.
    stepping, slips, variance = _settle_places(places, legs, memory, p, dt)
    if slips > 0:
        memory[BASE.faults] = float(faults | SLIP)
    if not starting:
        memory[BASE.steps] += float(stepping)
        memory[BASE.slips] += float(slips)
        memory[BASE.drift] += variance
    memory[BASE.known] += 1.0
    return True
