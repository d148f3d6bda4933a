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

``R`` is the base's orientation, ``R_imu`` the IMU's, ``p`` a record of `PARAMETERS`, ``A`` and
``b`` normal equations.
"""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_ROTATION,
    N_FOOT_STATE,
    RADIUS,
    SIZE,
    START,
    contact_jacobians,
    contact_points,
    has_moment,
    moment_axis,
    moment_part,
)
from legged_dynamics.dynamics.kinematics import N_BODY_STATE, forward_kinematics
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
from legged_dynamics.spatial.layout import get3, get9, put3, put9

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


# Columns of ``places``: place in the world, orientation there (of a ball: when it last rolled),
# number of samples for which the foot has stood, measured distance from its place, and measured
# position, standing or not.
PLACE, TURN, AGE, OFFSET, NOW = 0, 3, 12, 13, 14
N_PLACE = 17
# Number of samples after which the place of a foot has half of its largest weight.
TRUSTED = 250.0
# Arm [m] at which the rotation of a sole has the same weight as its place.
SOLE = 0.1


@part
def _roll_places(feet, places, states, contact, R):
    """Move the places of standing feet as they roll, and keep the orientation of each ball."""
    for i in range(feet.index.shape[0]):
        if feet.geometry[i, RADIUS] == 0.0:
            continue
        R_WF = compose(R, get9(states, i, FOOT_ROTATION))
        if contact[i] > 0.5 and places[i, AGE] > 0.0:
            phi = rotation_log(compose(R_WF, transpose(get9(places, i, TURN))))
            if has_moment(feet.index, i):       # about these axes it does not roll
                held = moment_part(feet.index, states, i, rotate_back(R, phi))
                phi = subtract(phi, rotate(R, held))
            step = cross(phi, (0.0, 0.0, feet.geometry[i, RADIUS]))
            put3(places, i, PLACE, add(get3(places, i, PLACE), step))
        if not has_moment(feet.index, i):
            put9(places, i, TURN, R_WF)


@part
def _add_places(feet, places, states, contact, R, position, p, A, b):
    """
    Add where the standing feet are to be; return the sum of their weights.

    Places that were found with one orientation of the base do not determine another one: their
    weight grows with time.
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
def _on_ground(place, p):
    """Return a place of a foot, on the ground if that is known to be flat."""
    return place[0], place[1], 0.0 if p.flat_ground > 0.5 else place[2]


@part
def _settle_places(feet, places, states, contact, R, position, p, dt):
    """
    Compare stance feet with their places; return (stepping, slips, variance [m^2]).

    Feet that got a place, those of them that were far from an old one, and the position
    variance that this adds.
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
                place = _on_ground(add_scaled(get3(places, i, PLACE), rate, away), p)
                put3(places, i, PLACE, place)
                put3(places, i, NOW, place)
                if has_moment(feet.index, i):
                    R_WF = compose(R, get9(states, i, FOOT_ROTATION))
                    before = get9(places, i, TURN)
                    turn = rotation_log(compose(R_WF, transpose(before)))
                    # Free axes follow the measured rotation at once.
                    kept = rotate(R, moment_part(feet.index, states, i, rotate_back(R, turn)))
                    turn = add_scaled(turn, rate - 1.0, kept)
                    put9(places, i, TURN, compose(rotation_exp(turn), before))
                places[i, AGE] += 1.0
                continue
            slips += 1
        stepping += 1
        seen = _on_ground(seen, p)
        put3(places, i, PLACE, seen)
        put3(places, i, NOW, seen)
        put9(places, i, TURN, compose(R, get9(states, i, FOOT_ROTATION)))
        places[i, AGE] = 1.0
    # A new place is as wrong as the feet disagree, and has its share in the position.
    error = max(offsets / max(known, 1), p.foothold * p.foothold)
    return stepping, slips, error * stepping / max(standing, 1) ** 2


# -------------------------------------------------------------------------------------------------
# One sample.

PARAMETERS = np.dtype((np.record, [(name, np.float64) for name in (
    'gyro', 'orientation', 'heading', 'tilt_rate', 'velocity', 'creep', 'foothold',
    'slip_distance', 'settling', 'acceleration', 'position_rate', 'flat_ground')]
    + [('R_BI', np.float64, (9,)), ('p_BI', np.float64, (3,))]))

# The memory of the base: number of samples, pose, twist, acceleration of the IMU in the world,
# and bookkeeping.
KNOWN, R_WB, P_WB, TWIST, RATE, RATE_KNOWN, VARIANCE, DRIFT, STEPS, SLIPS, FAULTS = (
    0, 1, 10, 13, 19, 22, 23, 24, 25, 26, 27)
N_MEMORY = 28
# Faults, the values of body_state.OdometryFault.
NO_IMU, NO_ORIENTATION, NO_STANCE, SLIP = 4, 8, 16, 32
# Deviation of the angular velocity [rad/s] where neither gyro nor feet measure it.
UNKNOWN_RATE = 10.0
# Least gain of a correction, so that weights stay finite.
LEAST_GAIN = 1e-6


@part
def _read_imu(row, at, p):
    """Return gyro and accelerometer in base axes and R_WB of the IMU's orientation; NaN if not."""
    R_BI = load9(p.R_BI, 0)
    w, a = rotate(R_BI, load3(row, at)), rotate(R_BI, load3(row, at + 3))
    return w, a, rotation_from_imu(row, at + 6, p.R_BI, 0)


@part
def _leg_variance(jacobian, row, size, p):
    """Return the variance [m^2/s^2] of a contact's velocity by the noise of its leg."""
    s = 0.0
    for r in range(min(size, 3)):
        for j in range(jacobian.shape[1]):
            s += jacobian[row + r, j] * jacobian[row + r, j]
    return p.creep * p.creep + p.velocity * p.velocity * s / 3.0


@part
def _add_standing_velocities(feet, states, jacobian, v, contact, p, A, b):
    """Add the equations of the standing feet for the base's twist; return their weights' sum."""
    total = 0.0
    for i in range(feet.index.shape[0]):
        if contact[i] < 0.5:
            continue
        row, size = feet.index[i, START], feet.index[i, SIZE]
        seen = (0.0, 0.0, 0.0)
        for j in range(v.shape[0]):
            seen = (seen[0] - jacobian[row, j] * v[j], seen[1] - jacobian[row + 1, j] * v[j],
                    seen[2] - jacobian[row + 2, j] * v[j])
        weight = 1.0 / _leg_variance(jacobian, row, size, p)
        add_point(A, b, load3(states[i], CONTACT), seen, weight)
        total += weight
        # The sum of three joint rates, as in a chain of three joints.
        weight = 1.0 / (3.0 * p.velocity * p.velocity + p.creep * p.creep)
        for k in range(size - 3):
            rate = 0.0
            for j in range(v.shape[0]):
                rate -= jacobian[row + 3 + k, j] * v[j]
            axis = moment_axis(feet.index, states, i, k)
            add_turn(A, b, scale(rate, axis), 0.0, axis, weight)
    return total


@part
def _add_orientation(R, R_imu, acceleration, oriented, imu, prior, samples, p, dt, A, b):
    """Add the equations of the IMU: its orientation, or gravity's direction."""
    up = (R[6], R[7], R[8])
    if oriented:
        weight = 1.0 / (p.orientation * p.orientation)
        turn = rotation_log(compose(transpose(R), R_imu))
        add_turn(A, b, turn, weight, up, p.heading * weight)
    elif imu:
        length = norm(acceleration)
        if math.fabs(length - GRAVITY) < STEADY * GRAVITY:
            # The rotation of the base that brings its idea of up to the measured one.
            tilt = cross(scale(1.0 / length, acceleration), up)
            gain = max(TILT_GAIN * dt, 1.0 / samples)
            add_turn(A, b, tilt, prior * gain, up, 0.0)


@part
def _prior_share(gain):
    """Return the weight of a prediction over that of the correction, by the gain."""
    return 1.0 / min(max(gain, LEAST_GAIN), 1.0) - 1.0


@part
def _start(feet, states, contact, R_imu, acceleration, oriented, imu, memory):
    """Put the world's origin on the ground in the middle of the standing feet (or of all)."""
    R = IDENTITY
    if oriented:
        R = R_imu
    elif imu and norm(acceleration) > 1e-6:
        R = rotation_of_tilt(scale(1.0 / norm(acceleration), acceleration))
    middle, total = (0.0, 0.0, 0.0), 0.0
    for i in range(feet.index.shape[0]):
        weight = max(contact[i], 1e-6)
        middle = add_scaled(middle, weight, load3(states[i], CONTACT))
        total += weight
    store9(memory, R_WB, R)
    store3(memory, P_WB, scale(-1.0 / total, rotate(R, middle)))
    memory[RATE_KNOWN], memory[VARIANCE] = 0.0, 1.0
    memory[DRIFT], memory[STEPS], memory[SLIPS] = 0.0, 0.0, 0.0


@part
def _fill_legs(tree, feet, q, v, normal, bodies, states, jacobian, still, base):
    """Fill the feet's frames, contact points and Jacobians."""
    forward_kinematics(tree, q, v, still, base, bodies)
    contact_points(feet, bodies, normal, states)
    contact_jacobians(tree, feet, bodies, states, jacobian)


@lean_kernel
def odometry_tick(tree, feet, p, row, memory, places, work, dt):
    """
    Advance leg odometry by one sample; return False, writing nothing, if not finite.

    ``row``: positions, velocities, gyro, accelerometer, xyzw, stance flags; ``memory`` and
    ``places`` are written.
    """
    p = p[0]
    nb, nf, nj = tree.topology.shape[0], feet.index.shape[0], tree.topology.shape[0] - 1
    for k in range(2 * nj):
        if not math.isfinite(row[k]):
            return False
    q, v, contact = row[:nj], row[nj:2 * nj], row[2 * nj + 10:]
    rows = nb + nf
    nc = feet.index[nf - 1, START] + feet.index[nf - 1, SIZE]
    bodies, states = work[:nb, :N_BODY_STATE], work[nb:rows, :N_FOOT_STATE]
    jacobian, A = work[rows:rows + nc, :nj], work[rows + nc:rows + nc + 6, :6]
    b, still = work[rows + nc + 6], work[rows + nc + 7]
    w, acceleration, R_imu = _read_imu(row, 2 * nj, p)
    imu = math.isfinite(w[0] + w[1] + w[2] + acceleration[0] + acceleration[1] + acceleration[2])
    oriented = math.isfinite(R_imu[0] + R_imu[4] + R_imu[8])
    faults = int(memory[FAULTS])
    if not oriented:
        faults |= NO_ORIENTATION if imu else NO_IMU
    p_BI = load3(p.p_BI, 0)
    starting = memory[KNOWN] < 0.5
    if starting:
        # The contact points of balls require the direction of gravity.
        up = (0.0, 0.0, 1.0)
        if oriented:
            up = (R_imu[6], R_imu[7], R_imu[8])
        _fill_legs(tree, feet, q, v, up, bodies, states, jacobian, still, still)
        _start(feet, states, contact, R_imu, acceleration, oriented, imu, memory)
        dt = 0.0

    # 1 Predict.
    R, position = load9(memory, R_WB), load3(memory, P_WB)
    twist_v, twist_w = load3(memory, TWIST), load3(memory, TWIST + 3)
    mean = scale(0.5, add(twist_w, w)) if imu else twist_w
    R_next = compose(R, rotation_exp(scale(dt, mean)))
    rate = (0.0, 0.0, 0.0)
    at_imu = rotate(R, add(twist_v, cross(twist_w, p_BI)))
    if imu:
        rate = subtract(rotate(R_next, acceleration), (0.0, 0.0, GRAVITY))
        before = load3(memory, RATE) if memory[RATE_KNOWN] > 0.5 else rate
        at_imu = add_scaled(at_imu, 0.5 * dt, add(before, rate))
        memory[VARIANCE] += (p.acceleration * dt) ** 2
    else:
        memory[VARIANCE] += dt * dt     # an unknown acceleration of 1 m/s^2
    store3(memory, RATE, rate)
    memory[RATE_KNOWN] = 1.0 if imu else 0.0

    # 2 Velocity.
    _fill_legs(tree, feet, q, v, (R_next[6], R_next[7], R_next[8]), bodies, states, jacobian,
               still, still)
    clear_equations(A, b)
    total = _add_standing_velocities(feet, states, jacobian, v, contact, p, A, b)
    add_point(A, b, p_BI, rotate_back(R_next, at_imu), 1.0 / memory[VARIANCE])
    weight = 1.0 / (p.gyro * p.gyro) if imu else 1.0 / (UNKNOWN_RATE * UNKNOWN_RATE)
    add_turn(A, b, w if imu else (0.0, 0.0, 0.0), weight, (0.0, 0.0, 1.0), weight)
    factorize(A, 6)
    solve_factorized(A, 6, b)
    memory[VARIANCE] = 1.0 / (1.0 / memory[VARIANCE] + total)
    store3(memory, TWIST, load3(b, 0))
    store3(memory, TWIST + 3, load3(b, 3))
    if total == 0.0:
        faults |= NO_STANCE

    # 3 Predict the pose.
    mean = scale(0.5, add(twist_w, load3(b, 3))) if not starting else (0.0, 0.0, 0.0)
    velocity = scale(0.5, add(rotate(R, twist_v), rotate(R_next, load3(b, 0))))
    R = compose(R, rotation_exp(scale(dt, mean)))
    position = add_scaled(position, dt, velocity)
    memory[FAULTS] = float(faults)

    # 4 Correct it.
    _roll_places(feet, places, states, contact, R)
    if not starting:
        clear_equations(A, b)
        total = _add_places(feet, places, states, contact, R, position, p, A, b)
        share = min(_prior_share(p.tilt_rate * dt), memory[KNOWN])
        prior = share / (p.orientation * p.orientation) + 1.0
        add_turn(A, b, (0.0, 0.0, 0.0), prior, (0.0, 0.0, 1.0), prior)
        _add_orientation(R, R_imu, acceleration, oriented, imu, prior, memory[KNOWN], p, dt, A, b)
        share = _prior_share(p.position_rate * dt)
        add_point(A, b, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), total * share + 1.0)
        factorize(A, 6)
        solve_factorized(A, 6, b)
        position = add(position, rotate(R, load3(b, 0)))
        R = compose(R, rotation_exp(load3(b, 3)))
    store9(memory, R_WB, R)
    store3(memory, P_WB, position)

    # 5 Places.
    stepping, slips, variance = _settle_places(feet, places, states, contact, R, position, p, dt)
    if slips > 0:
        memory[FAULTS] = float(faults | SLIP)
    if not starting:
        memory[STEPS] += float(stepping)
        memory[SLIPS] += float(slips)
        memory[DRIFT] += variance
    memory[KNOWN] += 1.0
    return True
