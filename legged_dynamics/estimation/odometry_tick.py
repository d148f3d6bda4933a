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
5. Move the places of feet that disagree towards where they are seen; give places to feet that
   have landed.

A ball rolls: its contact point moves by ``phi x radius n`` while the foot turns by ``phi``.

Arguments of the kernels: see ``estimation/__init__.py``. ``R`` is the base's
orientation, ``R_imu`` the IMU's, ``p`` a record of settings, ``A`` and ``b`` normal equations.
"""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    N_FOOT_STATE,
    SIZE,
    START,
    contact_jacobians,
    contact_points,
    moment_axis,
)
from legged_dynamics.dynamics.kinematics import N_BODY_STATE, forward_kinematics
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.attitude import (
    STEADY,
    TILT_GAIN,
    rotation_from_imu,
    rotation_of_tilt,
)
from legged_dynamics.estimation.foot_places import add_places, roll_places, settle_places
from legged_dynamics.estimation.pose_correction import add_point, add_turn, clear_equations
from legged_dynamics.optimization.cholesky import factorize, solve_factorized
from legged_dynamics.spatial.algebra import (
    IDENTITY,
    add,
    add_scaled,
    compose,
    cross,
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
# A guess of the angular velocity [rad/s] where neither gyro nor feet tell it.
UNKNOWN_RATE = 10.0
# A sample corrects at least this part, for weights to stay finite.
LEAST_GAIN = 1e-6


@part
def read_imu(row, at, p):
    """Return gyro and accelerometer in base axes and R_WB of the IMU's orientation; NaN if not."""
    R_BI = load9(p.R_BI, 0)
    w, a = rotate(R_BI, load3(row, at)), rotate(R_BI, load3(row, at + 3))
    return w, a, rotation_from_imu(row, at + 6, p.R_BI, 0)


@part
def leg_variance(jacobian, row, size, p):
    """Return the variance [m^2/s^2] of a contact's velocity as its leg sees it."""
    s = 0.0
    for r in range(min(size, 3)):
        for j in range(jacobian.shape[1]):
            s += jacobian[row + r, j] * jacobian[row + r, j]
    return p.creep * p.creep + p.velocity * p.velocity * s / 3.0


@part
def add_standing_velocities(feet, states, jacobian, v, contact, p, A, b):
    """Add what the standing feet say of the base's twist; return the sum of their weights."""
    total = 0.0
    for i in range(feet.index.shape[0]):
        if contact[i] < 0.5:
            continue
        row, size = feet.index[i, START], feet.index[i, SIZE]
        seen = (0.0, 0.0, 0.0)
        for j in range(v.shape[0]):
            seen = (seen[0] - jacobian[row, j] * v[j], seen[1] - jacobian[row + 1, j] * v[j],
                    seen[2] - jacobian[row + 2, j] * v[j])
        weight = 1.0 / leg_variance(jacobian, row, size, p)
        add_point(A, b, load3(states[i], CONTACT), seen, weight)
        total += weight
        # One joint rate beside another, as many as in a chain of three.
        weight = 1.0 / (3.0 * p.velocity * p.velocity + p.creep * p.creep)
        for k in range(size - 3):
            rate = 0.0
            for j in range(v.shape[0]):
                rate -= jacobian[row + 3 + k, j] * v[j]
            axis = moment_axis(feet.index, states, i, k)
            add_turn(A, b, scale(rate, axis), 0.0, axis, weight)
    return total


@part
def add_orientation(R, R_imu, acceleration, oriented, imu, prior, samples, p, dt, A, b):
    """Add what the IMU says of the orientation: all of it, or up by its accelerometer."""
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
def prior_share(gain):
    """Return the weight of a prediction, in weights of what corrects it with that gain."""
    return 1.0 / min(max(gain, LEAST_GAIN), 1.0) - 1.0


@part
def start(feet, states, contact, R_imu, acceleration, oriented, imu, memory):
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
def legs(tree, feet, q, v, normal, bodies, states, jacobian, still, base):
    """Fill the feet's frames, contact points and Jacobians."""
    forward_kinematics(tree, q, v, still, base, bodies)
    contact_points(feet, bodies, normal, states)
    contact_jacobians(tree, feet, bodies, states, jacobian)


@lean_kernel
def odometry_tick(tree, feet, p, row, memory, places, work, dt):
    """
    Advance the memory by one sample; return False when the joints are not finite.

    ``row`` holds positions, velocities (nj each), gyro, accelerometer, quaternion, flags of
    standing feet; ``work`` is scratch: rows for bodies, feet, Jacobian, and eight more.
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
    w, acceleration, R_imu = read_imu(row, 2 * nj, p)
    imu = math.isfinite(w[0] + w[1] + w[2] + acceleration[0] + acceleration[1] + acceleration[2])
    oriented = math.isfinite(R_imu[0] + R_imu[4] + R_imu[8])
    faults = int(memory[FAULTS])
    if not oriented:
        faults |= NO_ORIENTATION if imu else NO_IMU
    p_BI = load3(p.p_BI, 0)
    starting = memory[KNOWN] < 0.5
    if starting:
        # The contact points of balls want to know up: once around is enough.
        up = (0.0, 0.0, 1.0)
        if oriented:
            up = (R_imu[6], R_imu[7], R_imu[8])
        legs(tree, feet, q, v, up, bodies, states, jacobian, still, still)
        start(feet, states, contact, R_imu, acceleration, oriented, imu, memory)
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
        memory[VARIANCE] += dt * dt     # 1 m/s^2, of whose direction nothing is known
    store3(memory, RATE, rate)
    memory[RATE_KNOWN] = 1.0 if imu else 0.0

    # 2 Velocity.
    legs(tree, feet, q, v, (R_next[6], R_next[7], R_next[8]), bodies, states, jacobian, still,
         still)
    clear_equations(A, b)
    total = add_standing_velocities(feet, states, jacobian, v, contact, p, A, b)
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
    roll_places(feet, places, states, contact, R)
    if not starting:
        clear_equations(A, b)
        total = add_places(feet, places, states, contact, R, position, p, A, b)
        share = min(prior_share(p.tilt_rate * dt), memory[KNOWN])
        prior = share / (p.orientation * p.orientation) + 1.0
        add_turn(A, b, (0.0, 0.0, 0.0), prior, (0.0, 0.0, 1.0), prior)
        add_orientation(R, R_imu, acceleration, oriented, imu, prior, memory[KNOWN], p, dt, A, b)
        share = prior_share(p.position_rate * dt)
        add_point(A, b, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), total * share + 1.0)
        factorize(A, 6)
        solve_factorized(A, 6, b)
        position = add(position, rotate(R, load3(b, 0)))
        R = compose(R, rotation_exp(load3(b, 3)))
    store9(memory, R_WB, R)
    store3(memory, P_WB, position)

    # 5 Places.
    stepping, slips, variance = settle_places(feet, places, states, contact, R, position, p, dt)
    if slips > 0:
        memory[FAULTS] = float(faults | SLIP)
    if not starting:
        memory[STEPS] += float(stepping)
        memory[SLIPS] += float(slips)
        memory[DRIFT] += variance
    memory[KNOWN] += 1.0
    return True
