# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One tick of the ground reaction estimator, from a row of measurements to all results.

Steps: differentiate; orientation; inverse dynamics; contact geometry; forces, and contact from
them (without torque contact first, then forces); low-pass of the forces.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.jacobians import (
    START,
    contact_jacobians,
    contact_map,
    contact_points,
    move_to_lowest_edge,
)
from legged_dynamics.dynamics.kinematics import FORCE, forward_kinematics, frame_motion
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import newton_euler
from legged_dynamics.estimation.attitude import (
    advance_tilt,
    rotation_from_imu,
    rotation_of_tilt,
    slopes,
)
from legged_dynamics.estimation.filter import layout as codes
from legged_dynamics.estimation.filter.equation_errors import correct_efforts, follow_slopes
from legged_dynamics.estimation.filter.forces_by_motion import track_by_motion
from legged_dynamics.estimation.filter.forces_by_torque import interpolate_sample, track_by_torque
from legged_dynamics.estimation.filter.layout import (
    ACCEL,
    BASE,
    LAG,
    MOST,
    RESIDUAL,
    TAU,
    WEIGHTS,
)
from legged_dynamics.estimation.filter.memory import EFFORT, FILTER, STATUS, TILT
from legged_dynamics.estimation.filter.missing_inputs import (
    drop_frozen_efforts,
    drop_zero_efforts,
    fill_passive_efforts,
    missing_inputs,
)
from legged_dynamics.estimation.filter.noise import update_noise
from legged_dynamics.estimation.filter.wrench_filter import filter_wrenches, write_wrenches
from legged_dynamics.estimation.ground import (
    follow_ground,
    keep_believable,
    keep_limits,
    move_to_given_ground,
    normals_under_feet,
)
from legged_dynamics.estimation.push import external_jacobian, write_link_wrench
from legged_dynamics.spatial.algebra import (
    ZERO,
    add,
    add_scaled,
    cross,
    load3,
    load9,
    norm,
    rotate,
    scale,
    store3,
    store9,
    subtract,
)
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.packed import opened


@part
def _slide(window, stamps, row):
    """
    Add the newest row to the window and drop the oldest; stamps[n] is the newest one's.

    Times are kept as differences of integer nanoseconds, oldest row first, so that an estimate
    does not depend on when the estimator was started, to the last bit.
    """
    n = window.shape[0]
    for i in range(n):
        stamps[i] = stamps[i + 1]
        if i < n - 1:
            for k in range(row.shape[0]):
                window[i, k] = window[i + 1, k]
    for k in range(row.shape[0]):
        window[n - 1, k] = row[k]
    for i in range(n):
        window[i, 0] = (stamps[i] - stamps[n]) * 1e-9


@part
def _base_motion(row, layout, settings, mount, accel, angular_at, base):
    """
    Move the IMU's reading to the base's origin and axes.

    The IMU moves against the base as `mount` says; of two rotations in a row the second's
    derivative turns with the first, and a point that moves in turning axes feels Coriolis.
    """
    R_BI, p, w_r, alpha_r, v_r, a_r = mount
    w = subtract(rotate(R_BI, load3(row, layout.gyro)), w_r)
    alpha = subtract(rotate(R_BI, load3(accel, angular_at)), add(alpha_r, cross(w, w_r)))
    a = rotate(R_BI, load3(row, layout.acceleration))
    a = subtract(a, add(cross(alpha, p), cross(w, cross(w, p))))
    if settings.imu_body > 0:
        a = subtract(a, add_scaled(a_r, 2.0, cross(w, v_r)))
    store3(base, 0, w)
    store3(base, 3, alpha)
    store3(base, 6, a)


@part
def _imu_mount(tree, row, layout, settings, accel, base, bodies):
    """
    Return where the IMU is on the base and how it moves against it, in base axes.

    Rotation, position, angular velocity and acceleration, velocity and acceleration. On the base
    itself that is a constant; on another link it is the motion of the joints between.
    """
    R_BI, p = load9(settings.R_BI, 0), load3(settings.p_BI, 0)
    zero = (0.0, 0.0, 0.0)
    if settings.imu_body == 0:
        return R_BI, p, zero, zero, zero, zero
    for k in range(9):
        base[k] = 0.0
    forward_kinematics(tree, row[layout.position:], row[layout.velocity:], accel, base, bodies)
    return frame_motion(bodies[settings.imu_body], R_BI, p)


@part
def _jump_error(window, layout, settings, R_BI):
    """Return a deviation of the accelerometer's mean over a tick, by the readings at its ends."""
    middle, at = window.shape[0] // 2, layout.acceleration
    jump = subtract(load3(window[middle], at), load3(window[middle - 1], at))
    size, noise = norm(jump), settings.significant * settings.accelerometer_noise
    if not size > noise:
        return ZERO
    return scale(settings.jump_share * (1.0 - noise / size), rotate(R_BI, jump))


@part
def _fold_mimics(robot, tau, jacobian):
    """Add torques and Jacobian columns of joints that follow to those of their masters."""
    for m in range(robot.mimics.shape[0]):
        follower, master, ratio = robot.mimics[m, 0], robot.mimics[m, 1], robot.ratio[m]
        tau[master] += ratio * tau[follower]
        for c in range(jacobian.shape[0]):
            jacobian[c, master] += ratio * jacobian[c, follower]


@part
def _residuals(robot, scratch, imu, results):
    """Fill the residuals of the base's wrench and of the joint torques."""
    nc, nv = robot.prior.shape[0], robot.columns.shape[0]
    grasp, w = scratch.grasp, results.forces.coordinates
    for k in range(6):
        s = scratch.bodies[0, FORCE + k]
        for c in range(nc):
            s -= grasp[k, c] * w[c]
        results.base_residual[k] = s if imu else math.nan
    for j in range(nv):
        s = scratch.vectors[RESIDUAL, j]
        for m in range(robot.columns[j, 0]):
            c = robot.columns[j, m + 1]
            s -= scratch.jacobian[c, j] * w[c]
        results.joint_residual[j] = s


@part
def _mark_observable(feet, settings, covariance, observable):
    """Flag the feet whose force the measurements determine."""
    for i in range(feet.index.shape[0]):
        variance = 0.0
        for k in range(3):
            r = feet.index[i, START] + k
            variance += covariance[r, r]
        observable[i] = 1.0 if variance < settings.observable_variance else 0.0


@part
def _take_middle(window, layout, settings, efforts, middle):
    """
    Fill the measurement that an estimate starts from.

    The mean of two samples, or the middle one of more; efforts of their own age, by their slopes.
    """
    n, at = window.shape[0], layout.orientation
    if n == 2:
        dot = 0.0
        for k in range(at, at + 4):
            dot += window[0, k] * window[1, k]
        if dot < 0.0:       # the same orientation has two quaternions
            for k in range(at, at + 4):
                window[0, k] = -window[0, k]
    for k in range(middle.shape[0]):
        middle[k] = window[n // 2, k] if n > 2 else 0.5 * (window[0, k] + window[1, k])
    first = min(int(settings.effort_at), n - 2)
    share = settings.effort_at - first
    beyond = settings.effort_at - (n - 1)
    if beyond > 0.0:
        ahead = beyond * (window[n - 1, 0] - window[n - 2, 0])
        for j in range(layout.joints):
            k = layout.effort + j
            middle[k] = window[n - 1, k] + ahead * efforts[j, EFFORT.slope]
    elif settings.effort_at != 0.5 * (n - 1):
        for k in range(layout.effort, layout.effort + layout.joints):
            middle[k] = (1.0 - share) * window[first, k] + share * window[first + 1, k]


@part
def _take_row(arrays, layout, settings):
    """Mend what drives send as torques; put the newest row into the window."""
    robot, memory, window, stamps, row = (arrays.robot, arrays.memory, arrays.window,
                                          arrays.stamps, arrays.row)
    n = window.shape[0]
    drop_zero_efforts(row, layout, robot.feet, robot.columns)
    if drop_frozen_efforts(row, layout, settings, robot.columns, memory.efforts,
                           memory.noise.signals):
        memory.status[STATUS.by_torque] = 0.0
    correct_efforts(row, layout, robot.effort_map)
    fill_passive_efforts(row, layout, robot.passive, robot.columns)
    _slide(window, stamps, row)
    follow_slopes(window, layout, settings, memory.efforts)
    memory.status[STATUS.filled] = min(memory.status[STATUS.filled] + 1.0, float(n))


@part
def _length(window):
    """Return the length of a tick [s]."""
    middle = window.shape[0] // 2
    return window[middle, 0] - window[middle - 1, 0]


@part
def _has_imu(arrays, layout):
    """Return whether there is an IMU."""
    total = 0.0
    for k in range(3):
        total += (arrays.scratch.vectors[ACCEL, layout.joints + k]
                  + arrays.middle[layout.acceleration + k])
    return math.isfinite(total)


@part
def _orient(now, layout, R_BI, base, imu, memory, dt):
    """Return R_WB by the IMU's orientation, else by gyro and accelerometer."""
    at = layout.orientation
    oriented = imu and math.isfinite(now[at] + now[at + 1] + now[at + 2] + now[at + 3])
    if oriented:
        R_WB = rotation_from_imu(now, at, R_BI)
        store3(memory.tilt, TILT.up, (R_WB[6], R_WB[7], R_WB[8]))
        memory.tilt[TILT.known] = 1.0
    else:
        if imu:
            advance_tilt(memory.tilt, load3(base, 0), load3(base, 6), dt)
        R_WB = rotation_of_tilt(load3(memory.tilt, TILT.up))
    if (memory.filter.status[FILTER.oriented] > 0.5) != oriented:
        memory.filter.status[FILTER.oriented] = 1.0 if oriented else 0.0
        # The heading jumps, and the filter's axes with it.
        memory.filter.status[FILTER.ready] = 0.0
    return R_WB


@part
def _fill_geometry(packed, layout, settings, R_WB, results):
    """Fill contact points, Jacobians, grasp and where a push acts; return the ground's normal."""
    arrays = opened(packed)
    robot, scratch, ground = arrays.robot, arrays.scratch, arrays.ground
    feet, states = robot.feet, results.feet.states
    normal = normals_under_feet(ground.given, R_WB, load3(arrays.memory.ground.normal, 0),
                                results.feet)
    contact_points(feet, scratch.bodies, normal, states)
    move_to_lowest_edge(feet, normal, states)
    move_to_given_ground(feet, ground.given, scratch.bodies, normal, results.feet)
    for m in range(robot.mimics.shape[0]):
        scratch.jacobian[:, robot.mimics[m, 1]] = 0.0
    contact_jacobians(robot.tree, feet, scratch.bodies, states, scratch.jacobian)
    contact_map(feet, states, scratch.grasp)
    store3(results.external.link_point, 0, external_jacobian(
        robot.tree, settings, scratch.bodies, layout.contacts, scratch.jacobian, scratch.grasp))
    _fold_mimics(robot, scratch.vectors[TAU], scratch.jacobian)
    return normal


@lean_kernel
def tick(packed):
    """
    Take the measurement in `Arrays.row`, estimate the forces, and return the mode.

    `layout.UNAVAILABLE` while the window fills; `layout.NOT_FINITE` without finite joint
    positions and velocities (row not taken); `layout.BY_MOTION` where no torque is measured and
    `tick_by_motion` is to go on.
    """
    arrays = opened(packed)
    layout, settings, results = arrays.layout[0], arrays.settings[0], arrays.results
    robot, scratch, memory = arrays.robot, arrays.scratch, arrays.memory
    window, row, now = arrays.window, arrays.row, arrays.middle
    tree, vectors, status = robot.tree, scratch.vectors, memory.status
    nj, n = layout.joints, window.shape[0]
    for k in range(layout.position, layout.velocity + nj):
        if not math.isfinite(row[k]):
            return codes.NOT_FINITE

    _take_row(arrays, layout, settings)
    faults = int(results.faults[0]) | missing_inputs(row, layout, robot.columns)
    results.faults[0] = faults
    if status[STATUS.filled] < n:
        results.faults[0] = faults | codes.WARMING_UP
        return codes.UNAVAILABLE
    update_noise(robot, layout, settings, window, memory.noise, results)
    _take_middle(window, layout, settings, memory.efforts, now)
    results.faults[0] = int(results.faults[0]) | missing_inputs(now, layout, robot.columns)
    dt = _length(window)

    # 1 Differentiate; 2 orientation.
    accel, base = vectors[ACCEL], vectors[BASE]
    slopes(window, layout.velocity, nj, accel, 0)
    slopes(window, layout.gyro, 3, accel, nj)
    imu = _has_imu(arrays, layout)
    mount = _imu_mount(tree, now, layout, settings, accel, base, scratch.bodies)
    if imu:
        _base_motion(now, layout, settings, mount, accel, nj, base)
    store3(memory.jump, 0, _jump_error(window, layout, settings, mount[0]) if imu else ZERO)
    R_WB = _orient(now, layout, mount[0], base, imu, memory, dt)
    up = (R_WB[6], R_WB[7], R_WB[8])
    store9(results.base_rotation, 0, R_WB)
    if not imu:
        store3(base, 0, (0.0, 0.0, 0.0))
        store3(base, 3, (0.0, 0.0, 0.0))
        store3(base, 6, scale(GRAVITY, up))

    # 3 Inverse dynamics; 4 contact geometry.
    newton_euler(tree, now[layout.position:], now[layout.velocity:], accel, base, scratch.bodies,
                 vectors[TAU])
    normal = _fill_geometry(packed, layout, settings, R_WB, results)
    used = 0
    for j in range(nj):
        vectors[RESIDUAL, j] = vectors[TAU, j] - now[layout.effort + j]
        if robot.columns[j, 0] > 0 and math.isfinite(now[layout.effort + j]):
            used += 1

    # 5 Forces and contact, by torque here.
    if used > 0 and settings.use_torque > 0.5:
        track_by_torque(packed, layout, settings, up, normal, imu, dt, results)
        status[STATUS.by_motion] = 0.0
        return _finish(packed, layout, settings, R_WB, imu, dt, True)
    return codes.BY_MOTION


@lean_kernel
def tick_by_motion(packed):
    """Go on after a `tick` that had no torque to go by; return the mode."""
    arrays = opened(packed)
    layout, settings, results = arrays.layout[0], arrays.settings[0], arrays.results
    R_WB, imu = load9(results.base_rotation, 0), _has_imu(arrays, layout)
    dt = _length(arrays.window)
    track_by_motion(arrays, layout, settings, R_WB, imu, dt, results)
    external = results.external
    for k in range(6):      # motion does not determine it: it may be as large as the weight
        external.wrench[k], external.deviation[k] = 0.0, settings.weight * (
            1.0 if k < 3 else settings.reach)
    for k in range(external.mass_error.shape[0]):
        external.mass_error[k] = 0.0
    return _finish(packed, layout, settings, R_WB, imu, dt, False)


@part
def _finish(packed, layout, settings, R_WB, imu, dt, by_torque):
    """Follow the ground, fill and filter the results; return the mode."""
    arrays = opened(packed)
    robot, scratch, memory, results = (arrays.robot, arrays.scratch, arrays.memory, arrays.results)
    feet, states = robot.feet, results.feet.states
    settle, bearing = 1.0, memory.contact.probability
    if not by_torque:
        settle = min(dt / (settings.place_time * settings.natural_time), 1.0)
        bearing = scratch.vectors[WEIGHTS]
    window = arrays.window
    base_used = imu and settings.use_base > 0.5
    total = norm(load3(scratch.bodies[0], FORCE)) if base_used else 0.0
    bounded = by_torque or base_used
    if bounded:
        keep_believable(feet, total, scratch.vectors[MOST], results.forces.coordinates,
                        results.forces.covariance)
    follow_ground(arrays, settings, states, R_WB, imu, bearing, settle, dt)
    _residuals(robot, scratch, imu, results)
    if settings.two_samples > 0.5:
        interpolate_sample(memory.previous, results.contact, results.forces.coordinates)
    if by_torque:       # without torque the filter itself keeps to friction and contact
        keep_limits(feet, layout, arrays.ground, window[-1], results)
    write_link_wrench(settings, scratch.bodies, results.external)
    _mark_observable(feet, settings, results.forces.covariance, results.contact.observable)
    if bounded:
        if imu:     # an impact may be in the newest reading alone
            total = max(total, settings.weight / GRAVITY * norm(
                load3(window[-1], layout.acceleration)))
        keep_believable(feet, total, scratch.vectors[MOST], results.forces.latest,
                        results.forces.latest_covariance)
    for r in range(layout.contacts if by_torque else 0):    # not a reason to believe more
        results.forces.covariance[r, r] += scratch.vectors[LAG, r]
        results.forces.latest_covariance[r, r] += scratch.vectors[LAG, r]

    # 6 Filter.
    write_wrenches(feet, states, results.forces.coordinates, results.wrenches.raw)
    write_wrenches(feet, states, results.forces.latest, results.wrenches.latest)
    filter_wrenches(feet, settings, states, R_WB, memory.filter, dt, results.wrenches)
    for j in range(layout.joints):
        results.joint_acceleration[j] = scratch.vectors[ACCEL, j]
    if by_torque:
        return codes.FUSED if base_used else codes.TORQUE_ONLY
    return codes.BASE_ONLY if base_used else codes.UNAVAILABLE
