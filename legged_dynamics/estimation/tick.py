# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""One tick of the ground reaction estimator, from a row of measurements to all results.

The order is the method: differentiate; find up; inverse dynamics; contact geometry; which feet
are down; fuse at full bandwidth; only then filter the forces.
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    SIZE,
    SOLE,
    START,
    FeetTable,
    contact_jacobians,
    contact_map,
    contact_points,
)
from legged_dynamics.dynamics.kinematics import FORCE, OMEGA, POSITION, VELOCITY
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED, newton_euler
from legged_dynamics.estimation.attitude import advance_tilt, rotation_from_imu, rotation_of_tilt
from legged_dynamics.estimation.contact_detection import (
    LOG_ODDS_LIMIT,
    clip,
    force_evidence,
    motion_evidence,
    probability_of,
    relax,
)
from legged_dynamics.estimation.derivatives import slopes
from legged_dynamics.estimation.force_filter import butterworth, filtered
from legged_dynamics.estimation.fusion import (
    add_base_information,
    foot_alone,
    joint_information,
    solve_standing,
)
from legged_dynamics.estimation.layout import (
    BASE_ONLY,
    FUSED,
    NO_EFFORT,
    NO_IMU,
    NO_ORIENTATION,
    NOT_FINITE,
    PARTIAL_EFFORT,
    TORQUE_ONLY,
    UNAVAILABLE,
    WARMING_UP,
)
from legged_dynamics.model.tree import FRICTION, Tree
from legged_dynamics.spatial.algebra import (
    add,
    add_scaled,
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
)
from legged_dynamics.spatial.jit import kernel

# A foot is observable when its force is known better than this fraction of the prior's variance.
OBSERVABLE = 0.05
# Below this fraction of the weight there is no centre of pressure to speak of.
UNLOADED = 0.02


class Robot(NamedTuple):
    """What the kernel needs to know of the robot.

    Attributes
    ----------
    tree : Tree
    feet : FeetTable
    variance : (6 + 2 nv,) array
        Of the base's equations, the joints', and the joints' without an IMU.
    prior : (nc,) array
        Inverse variance of each contact coordinate before measuring.
    columns : (nv, nc + 1) int array
        Contact coordinates each joint bears on, behind their number.
    """

    tree: Tree
    feet: FeetTable
    variance: np.ndarray
    prior: np.ndarray
    columns: np.ndarray


class Scratch(NamedTuple):
    """Arrays the kernel works in; nothing in them outlives a tick."""

    bodies: np.ndarray          # (nb, N_BODY_STATE)
    jacobian: np.ndarray        # (nc, nv), zero where no joint bears on a foot
    information: np.ndarray     # (nc, nc)
    grasp: np.ndarray           # (6, nc)
    vectors: np.ndarray         # (rows, max(nv, nc, 9))
    active: np.ndarray          # (nc,) int


# Rows of Scratch.vectors.
TAU, ACCEL, RESIDUAL, WEIGHTS, VECTOR, BASE, BASE_WEIGHTS = range(7)
N_VECTORS = 7


@kernel
def missing_inputs(row, layout, nj):
    """Return the fault bits of what a row of measurements lacks."""
    faults, unknown = 0, 0
    for j in range(nj):
        if math.isnan(row[layout.effort + j]):
            unknown += 1
    if unknown > 0:
        faults = NO_EFFORT if unknown == nj else PARTIAL_EFFORT
    if math.isnan(row[layout.gyro]) or math.isnan(row[layout.acceleration]):
        faults |= NO_IMU
    elif math.isnan(row[layout.orientation]):
        faults |= NO_ORIENTATION
    return faults


@kernel
def base_motion(row, layout, settings, accel, angular_at, base):
    """Move the IMU's reading to the base's origin and axes."""
    R_BI, p = load9(settings.R_BI, 0), load3(settings.p_BI, 0)
    w = rotate(R_BI, load3(row, layout.gyro))
    alpha = rotate(R_BI, load3(accel, angular_at))
    a = rotate(R_BI, load3(row, layout.acceleration))
    a = subtract(a, add(cross(alpha, p), cross(w, cross(w, p))))
    store3(base, 0, w)
    store3(base, 3, alpha)
    store3(base, 6, a)


@kernel
def foot_speeds(feet, bodies, states, normal, i):
    """Return velocity and height of a foot's lowest point, the base's velocity taken as zero."""
    body = bodies[feet.index[i, 0]]
    point = load3(states[i], CONTACT)
    if feet.index[i, SIZE] == 6:
        R_BF, origin = load9(states[i], FOOT_ROTATION), load3(states[i], FOOT_POSITION)
        sole = feet.geometry[i]
        lowest = 1e30
        for k in range(4):
            corner = add(origin, rotate(R_BF, (sole[SOLE + k // 2], sole[SOLE + 2 + k % 2], 0.0)))
            if dot(corner, normal) < lowest:
                lowest = dot(corner, normal)
                point = corner
    velocity = add(load3(body, VELOCITY),
                   cross(load3(body, OMEGA), subtract(point, load3(body, POSITION))))
    return velocity, dot(point, normal)


@kernel
def detect_contact(robot, layout, settings, scratch, states, row, memory, normal, load, dt,
                   torque, out):
    """Advance each foot's log-odds of standing and its hysteresis; fill contact, probability."""
    feet = robot.feet
    nf = feet.index.shape[0]
    vectors = scratch.vectors
    total, drift, ground, lowest = 0.0, (0.0, 0.0, 0.0), 0.0, 1e30
    for i in range(nf):
        p = probability_of(memory[layout.log_odds + i])
        velocity, height = foot_speeds(feet, scratch.bodies, states, normal, i)
        total += p
        drift = add_scaled(drift, p, velocity)
        ground += p * height
        lowest = min(lowest, height)
    drift, ground = scale(1.0 / total, drift), ground / total
    motion_limit = settings.motion_evidence if torque else settings.force_evidence
    for i in range(nf):
        odds = relax(memory[layout.log_odds + i], settings.switching_rate, dt)
        velocity, height = foot_speeds(feet, scratch.bodies, states, normal, i)
        odds += motion_evidence(norm(subtract(velocity, drift)), height - min(ground, lowest),
                                settings.slip_speed, settings.swing_speed, settings.clearance,
                                settings.swing_clearance, motion_limit)
        if torque:
            force, variance = foot_alone(feet, i, scratch.information, vectors[VECTOR], normal)
            odds += force_evidence(force, variance, settings.weight, settings.force_threshold,
                                   settings.force_noise, settings.force_evidence)
        elif load < settings.force_threshold:
            odds -= settings.force_evidence     # nothing holds the robot up: it is in the air
        odds = clip(odds, LOG_ODDS_LIMIT)
        p = probability_of(odds)
        down = memory[layout.contact_state + i]
        if p > settings.on:
            down = 1.0
        elif p < settings.off:
            down = 0.0
        given = row[layout.given_contact + i]
        if not math.isnan(given):
            down = given
            p = given
            odds = LOG_ODDS_LIMIT * (2.0 * given - 1.0)
        memory[layout.log_odds + i] = odds
        memory[layout.contact_state + i] = down
        out[layout.contact + i] = down
        out[layout.probability + i] = p


@kernel
def write_wrenches(feet, layout, states, w, out, start):
    """Move contact coordinates to wrenches in base axes about each foot's origin."""
    for i in range(feet.index.shape[0]):
        c = feet.index[i, START]
        force = load3(w, c)
        moment = cross(subtract(load3(states[i], CONTACT), load3(states[i], FOOT_POSITION)), force)
        if feet.index[i, SIZE] == 6:
            moment = add(moment, load3(w, c + 3))
        store3(out, start + 6 * i, force)
        store3(out, start + 6 * i + 3, moment)


@kernel
def filter_wrenches(feet, layout, settings, states, R_WB, memory, dt, out):
    """Filter the raw wrenches in world axes; turn both kinds into the feet's axes."""
    coefficients = butterworth(settings.cutoff, dt)
    ready = memory[layout.filter_ready] > 0.5
    net_force, net_moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    load, center = 0.0, (0.0, 0.0, 0.0)
    normal = (R_WB[6], R_WB[7], R_WB[8])
    for i in range(feet.index.shape[0]):
        R_BF, origin = load9(states[i], FOOT_ROTATION), load3(states[i], FOOT_POSITION)
        for part in range(2):
            at = layout.raw_wrench + 6 * i + 3 * part
            raw = load3(out, at)
            world = rotate(R_WB, raw)
            channel = layout.filter + 12 * i + 6 * part
            smooth = (filtered(memory, channel, world[0], coefficients, ready),
                      filtered(memory, channel + 2, world[1], coefficients, ready),
                      filtered(memory, channel + 4, world[2], coefficients, ready))
            smooth = rotate_back(R_WB, smooth)
            if part == 0:
                force = smooth
                net_force = add(net_force, smooth)
            else:
                net_moment = add(net_moment, add(smooth, cross(origin, force)))
                pressed = dot(normal, force)
                if pressed > 0.0:
                    # The point where the wrench has no tipping moment, at the contact's height.
                    contact = load3(states[i], CONTACT)
                    arm = subtract(contact, origin)
                    tipping = subtract(smooth, cross(arm, force))
                    point = add_scaled(contact, 1.0 / pressed, cross(normal, tipping))
                    center = add_scaled(center, pressed, point)
                    load += pressed
            store3(out, at, rotate_back(R_BF, raw))
            store3(out, layout.wrench + 6 * i + 3 * part, rotate_back(R_BF, smooth))
    memory[layout.filter_ready] = 1.0
    store3(out, layout.net_wrench, net_force)
    store3(out, layout.net_wrench + 3, net_moment)
    if load > UNLOADED * settings.weight:
        store3(out, layout.center_of_pressure, scale(1.0 / load, center))
    else:
        store3(out, layout.center_of_pressure, (math.nan, math.nan, math.nan))


@kernel
def joint_equations(robot, layout, row, settings, scratch, imu):
    """Fill residual and weight of each joint's equation; return how many have a torque."""
    nv = robot.columns.shape[0]
    vectors = scratch.vectors
    used = 0
    for j in range(nv):
        measured = row[layout.effort + j]
        vectors[RESIDUAL, j] = vectors[TAU, j] - measured
        vectors[WEIGHTS, j] = 0.0
        if not math.isnan(measured) and settings.use_torque > 0.5 and robot.columns[j, 0] > 0:
            friction = robot.tree.constants[j + 1, FRICTION]
            slipping = math.tanh(row[layout.velocity + j] / FRICTION_SPEED)
            variance = robot.variance[6 + j] if imu else robot.variance[6 + nv + j]
            variance += friction * friction * (1.0 - slipping * slipping)
            vectors[WEIGHTS, j] = 1.0 / variance
            used += 1
    return used


@kernel
def residuals(robot, layout, scratch, imu, out):
    """Fill what the estimate leaves unexplained, of the base's wrench and of joint torques."""
    nc, nv = robot.prior.shape[0], robot.columns.shape[0]
    grasp = scratch.grasp
    for k in range(6):
        s = scratch.bodies[0, FORCE + k]
        for c in range(nc):
            s -= grasp[k, c] * out[layout.coordinates + c]
        out[layout.base_residual + k] = s if imu else math.nan
    for j in range(nv):
        s = scratch.vectors[RESIDUAL, j]
        for m in range(robot.columns[j, 0]):
            c = robot.columns[j, m + 1]
            s -= scratch.jacobian[c, j] * out[layout.coordinates + c]
        out[layout.external_torque + j] = s


@kernel
def mark_observable(feet, layout, settings, nc, out):
    """Flag the feet whose force is known much better than before measuring."""
    for i in range(feet.index.shape[0]):
        variance = 0.0
        for r in range(nc):
            for k in range(3):
                variance += out[layout.covariance_root + r * nc + feet.index[i, START] + k] ** 2
        known = variance < OBSERVABLE * settings.prior_force_variance
        out[layout.observable + i] = 1.0 if known else 0.0


@kernel
def tick(robot, layouts, settings_table, window, memory, scratch, row, out):
    """Take one row of measurements in and estimate the middle one of the window.

    Returns
    -------
    int
        The mode (`layout.UNAVAILABLE` while the window fills), or `layout.NOT_FINITE` when the
        row has no finite joint position or velocity and was not taken.
    """
    layout, settings = layouts[0], settings_table[0]
    feet, tree, vectors = robot.feet, robot.tree, scratch.vectors
    nj, nf, nc = robot.columns.shape[0], feet.index.shape[0], robot.prior.shape[0]
    n = window.shape[0]
    for k in range(layout.position, layout.velocity + nj):
        if not math.isfinite(row[k]):
            return NOT_FINITE

    # The window is a ring: a slope does not mind the order of its samples.
    head = (int(memory[layout.head]) + 1) % n
    memory[layout.head] = head
    for k in range(row.shape[0]):
        window[head, k] = row[k]
    memory[layout.filled] = min(memory[layout.filled] + 1.0, float(n))
    faults = int(out[layout.faults]) | missing_inputs(row, layout, nj)
    out[layout.faults] = faults
    if memory[layout.filled] < n:
        out[layout.faults] = faults | WARMING_UP
        return UNAVAILABLE
    now = window[(head + n - n // 2) % n]
    dt = now[0] - memory[layout.last_time]
    if not 0.0 < dt < 1.0:
        dt = window[(head + n - n // 2 + 1) % n, 0] - now[0]
    memory[layout.last_time] = now[0]

    # 1 Differentiate.
    accel, base = vectors[ACCEL], vectors[BASE]
    slopes(window, layout.velocity, nj, accel, 0)
    slopes(window, layout.gyro, 3, accel, nj)
    imu = math.isfinite(accel[nj] + accel[nj + 1] + accel[nj + 2]
                        + now[layout.acceleration] + now[layout.acceleration + 1]
                        + now[layout.acceleration + 2])

    # 2 Find up.
    oriented = imu and math.isfinite(now[layout.orientation] + now[layout.orientation + 1]
                                     + now[layout.orientation + 2] + now[layout.orientation + 3])
    if imu:
        base_motion(now, layout, settings, accel, nj, base)
    if oriented:
        R_WB = rotation_from_imu(now, layout.orientation, settings.R_BI, 0)
        store3(memory, layout.up, (R_WB[6], R_WB[7], R_WB[8]))
        memory[layout.up_known] = 1.0
    else:
        if imu:
            advance_tilt(memory, layout.up, layout.up_known, load3(base, 0), load3(base, 6), dt)
        R_WB = rotation_of_tilt(load3(memory, layout.up))
    if (memory[layout.oriented] > 0.5) != oriented:
        memory[layout.oriented] = 1.0 if oriented else 0.0
        memory[layout.filter_ready] = 0.0       # heading jumps, and the filter's axes with it
    up = (R_WB[6], R_WB[7], R_WB[8])
    store9(out, layout.base_rotation, R_WB)
    if not imu:
        store3(base, 0, (0.0, 0.0, 0.0))
        store3(base, 3, (0.0, 0.0, 0.0))
        store3(base, 6, scale(9.81, up))

    # 3 Inverse dynamics; 4 contact geometry.
    newton_euler(tree, now[layout.position:], now[layout.velocity:], accel, base, scratch.bodies,
                 vectors[TAU])
    states = out[layout.feet:layout.feet + 15 * nf].reshape((nf, 15))
    contact_points(feet, scratch.bodies, up, states)
    contact_jacobians(tree, feet, scratch.bodies, states, scratch.jacobian)
    information, grasp = scratch.information, scratch.grasp
    contact_map(feet, states, grasp)
    used = joint_equations(robot, layout, now, settings, scratch, imu)
    joint_information(robot.columns, scratch.jacobian, vectors[RESIDUAL], vectors[WEIGHTS],
                      robot.prior, information, vectors[VECTOR])

    # 5 Which feet are down.
    load = dot(up, load3(scratch.bodies[0], FORCE)) / settings.weight
    detect_contact(robot, layout, settings, scratch, states, now, memory, up,
                   load if imu else 1.0, dt, used > 0, out)

    # 6 Fuse.
    base_used = imu and settings.use_base > 0.5
    if base_used:
        for k in range(6):
            vectors[BASE_WEIGHTS, k] = 1.0 / robot.variance[k]
        add_base_information(grasp, scratch.bodies[0, FORCE:FORCE + 6], vectors[BASE_WEIGHTS],
                             information, vectors[VECTOR])
    w = out[layout.coordinates:layout.coordinates + nc]
    solve_standing(feet, out[layout.contact:], information, vectors[VECTOR], scratch.active, w,
                   out[layout.covariance_root:])
    residuals(robot, layout, scratch, imu, out)
    mark_observable(feet, layout, settings, nc, out)

    # 7 Filter.
    write_wrenches(feet, layout, states, w, out, layout.raw_wrench)
    filter_wrenches(feet, layout, settings, states, R_WB, memory, dt, out)
    for j in range(nj):
        out[layout.joint_acceleration + j] = accel[j]
    if used > 0:
        return FUSED if base_used else TORQUE_ONLY
    return BASE_ONLY if base_used else UNAVAILABLE
