# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One tick of the ground reaction estimator, from a row of measurements to all results.

The order is the method: differentiate; find up; inverse dynamics; contact geometry; which feet
are down; fuse at full bandwidth; only then filter the forces.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.composite_body import composite_inertias, fill_mass_matrix
from legged_dynamics.dynamics.jacobians import (
    SIZE,
    START,
    contact_jacobians,
    contact_map,
    contact_points,
    lean_on_lowest_part,
)
from legged_dynamics.dynamics.kinematics import FORCE
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import newton_euler
from legged_dynamics.dynamics.rigid_body import place_inertias
from legged_dynamics.estimation import layout as codes
from legged_dynamics.estimation.attitude import advance_tilt, rotation_from_imu, rotation_of_tilt
from legged_dynamics.estimation.contact_detection import detect_contact
from legged_dynamics.estimation.derivatives import slopes
from legged_dynamics.estimation.equation_errors import (
    equation_covariance,
    motion_response,
    usable_equations,
)
from legged_dynamics.estimation.force_ahead import carry_ahead
from legged_dynamics.estimation.force_contact import judge_contact
from legged_dynamics.estimation.force_filter import filter_wrenches, write_wrenches
from legged_dynamics.estimation.force_tracking import (
    correct,
    fade_external,
    follow_speed,
    go_on,
    learn_slopes,
    predicted,
    start_tracking,
    widen,
)
from legged_dynamics.estimation.fusion import (
    add_base_information,
    joint_information,
    solve_standing,
)
from legged_dynamics.estimation.ground_plane import follow_ground
from legged_dynamics.estimation.layout import (
    ACCEL,
    AHEAD,
    BASE,
    BASE_WEIGHTS,
    N_BESIDE,
    RESIDUAL,
    TAU,
    VECTOR,
    WEIGHTS,
    unpack,
)
from legged_dynamics.estimation.mass_error import LASTING_SHARE, learn_mass, mass_columns
from legged_dynamics.spatial.algebra import (
    add,
    cross,
    dot,
    load3,
    load9,
    rotate,
    rotate_back,
    scale,
    store3,
    store9,
    subtract,
)
from legged_dynamics.spatial.jit import kernel


# Errors of velocities are counted as new in every tick, although half of each goes back in the
# next one: shares of the filter's covariance that are left of it, in the mean of two ticks and in
# one.
MEAN_SHARE, LATEST_SHARE = 0.3, 0.25


@kernel
def missing_inputs(row, layout, nj):
    """Return the fault bits of what a row of measurements lacks."""
    faults, unknown = 0, 0
    for j in range(nj):
        if math.isnan(row[layout.effort + j]):
            unknown += 1
    if unknown > 0:
        faults = codes.NO_EFFORT if unknown == nj else codes.PARTIAL_EFFORT
    if math.isnan(row[layout.gyro]) or math.isnan(row[layout.acceleration]):
        faults |= codes.NO_IMU
    elif math.isnan(row[layout.orientation]):
        faults |= codes.NO_ORIENTATION
    return faults


@kernel
def slide(window, stamps, row):
    """
    Let the newest row in and the oldest out; stamps[n] is the newest one's.

    Times are kept as differences of integer nanoseconds, oldest row first, so that an estimate
    does not depend, not in one bit, on when the estimator was started.
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
    """Flag the feet whose force is known."""
    for i in range(feet.index.shape[0]):
        variance = 0.0
        for k in range(3):
            r = feet.index[i, START] + k
            variance += out[layout.covariance + r * nc + r]
        out[layout.observable + i] = 1.0 if variance < settings.observable_variance else 0.0


@kernel
def take_middle(window, middle):
    """
    Fill the measurement that an estimate starts from.

    Of two samples their mean, which is what the mean acceleration between them belongs to, with
    the orientation of the newer one; of more the one in the middle.
    """
    n = window.shape[0]
    for k in range(middle.shape[0]):
        middle[k] = window[n // 2, k] if n > 2 else 0.5 * (window[0, k] + window[1, k])


@kernel
def track_forces(robot, layout, settings, scratch, tracking, window, middle, memory, up, normal,
                 imu, dt, out):
    """Advance the filter of all forces by one instant; fill contact, forces and covariance."""
    feet, nc, nj = robot.feet, layout.contacts, layout.joints
    x, P, nx = tracking.state, tracking.covariance, layout.contacts + N_BESIDE
    vectors, grasp, jacobian = scratch.vectors, scratch.grasp, scratch.jacobian
    base_used = imu and settings.use_base > 0.5
    a = load3(vectors[BASE], 6)
    jump = (0.0, 0.0, 0.0)
    started = memory[layout.tracking] < 0.5
    if started:
        start_tracking(feet, settings, up, x, P)
        memory[layout.tracking] = 1.0
        for k in range(6):
            memory[layout.push + k] = 0.0
        for k in range(5 * feet.index.shape[0]):
            memory[layout.walking + k] = 1.0 if k % 5 == 0 else 0.0
        for k in range(nc):
            memory[layout.slope + k] = 0.0
        for k in range(6 + nj):
            memory[layout.lasting + k] = 0.0
        for k in range(20):
            memory[layout.mass + k] = 0.0
        for k in range(4):
            tracking.theta[k] = 0.0
    elif imu:
        jump = subtract(a, load3(memory, layout.reading))
    store3(memory, layout.reading, a)

    # What the equations say, and how wrong they are.
    for i in range(robot.tree.topology.shape[0]):
        for k in range(12):
            tracking.rigid[i, k] = scratch.bodies[i, k]
    place_inertias(robot.tree, tracking.rigid)
    composite_inertias(robot.tree, tracking.rigid)
    for r in range(6):      # elimination has filled what is zero there and is not written
        for c in range(6):
            tracking.mass[r, AHEAD + c] = 0.0
    fill_mass_matrix(robot.tree, tracking.rigid, 6, tracking.mass[:, AHEAD:])
    mass_columns(a, tracking.columns)
    rows = tracking.rows
    joints, n = usable_equations(robot, layout, middle, True, base_used, rows)
    motion_response(robot, settings, tracking.mass, rows, n, imu, jump, tracking.response)
    equation_covariance(robot, layout, settings, middle, rows, n, tracking.response,
                        tracking.noise, tracking.noise_lasting)

    # Predict, widen, correct.
    follow_speed(layout, middle, memory, dt)
    fade_external(x, P, dt)
    go_on(robot, layout, memory[layout.standing:], memory, x, dt)
    for c in range(nx):
        tracking.now[c] = x[c]
    for r in range(n):
        e = rows[r]
        if e >= 6:
            known = vectors[RESIDUAL, e - 6]
        else:
            known = scratch.bodies[0, FORCE + e]
            for k in range(4):
                known -= tracking.columns[e, k] * tracking.theta[k]
        tracking.innovation[r] = known - predicted(robot, grasp, jacobian, e, x)
    widen(robot, layout, settings, tracking, memory[layout.standing:], memory, scratch, joints, n,
          dt)
    if n > joints:
        for e in range(6):      # what the base's equations leave without theta
            for k in range(4):
                tracking.left[e] += tracking.columns[e, k] * tracking.theta[k]
        learn_mass(robot, settings, tracking.columns, tracking.left, memory, layout.mass,
                   tracking.block, tracking.theta, dt)
    if not correct(robot, layout, tracking, memory, grasp, jacobian, n):
        start_tracking(feet, settings, up, x, P)
    learn_slopes(robot, layout, memory, x, tracking.now, dt)
    judge_contact(robot, layout, settings, tracking, window[-1], normal, memory, dt, out)
    for i in range(feet.index.shape[0]):
        out[layout.latest_contact + i] = out[layout.contact + i]
        if started:
            memory[layout.contact_before + 2 * i] = out[layout.contact + i]
            memory[layout.contact_before + 2 * i + 1] = out[layout.probability + i]

    # Forces of now.
    now, covariance = tracking.now, tracking.carried
    for r in range(nx):
        now[r] = x[r]
        for c in range(nx):
            covariance[r, c] = LATEST_SHARE * P[r, c]
    if settings.ahead > 0.5:
        go_on(robot, layout, memory[layout.standing:], memory, now, 0.5 * dt)
    if settings.ahead > 0.5 and base_used and joints_known(robot, layout, window[-1]):
        carry_ahead(robot, layout, settings, tracking, scratch, window[-1], middle,
                    memory[layout.standing:], now, covariance)
    for i in range(feet.index.shape[0]):
        s, size = feet.index[i, START], feet.index[i, SIZE]
        lifted = window[-1, layout.given_contact + i] < 0.5     # False where it is not given
        for k in range(s, s + size):
            out[layout.coordinates + k] = 0.0 if lifted else x[k]
            out[layout.latest_coordinates + k] = 0.0 if lifted else now[k]
            if started:
                memory[layout.before + k] = out[layout.coordinates + k]
    for r in range(nc):
        for c in range(nc):
            out[layout.covariance + r * nc + c] = MEAN_SHARE * P[r, c]
            out[layout.latest_covariance + r * nc + c] = covariance[r, c]
    for i in range(feet.index.shape[0]):
        lasting = (LASTING_SHARE * robot.contact_levels[i, 2] * settings.weight) ** 2
        for k in range(feet.index[i, SIZE]):
            r = feet.index[i, START] + k
            at, more = r * (nc + 1), lasting * (1.0 if k < 3 else settings.arm ** 2)
            out[layout.latest_covariance + at] += more
            if settings.ahead > 0.5 and memory[layout.standing + i] >= 0.5:
                more += 0.5 * tracking.walk[r]      # what may have happened in the tick
            out[layout.covariance + at] += more
    for k in range(6):
        out[layout.external_wrench + k] = now[nc + k]
        out[layout.external_deviation + k] = math.sqrt(max(covariance[nc + k, nc + k], 0.0))
    for k in range(4):
        out[layout.mass_error + k] = tracking.theta[k]


@kernel
def describe_sample_before(feet, layout, memory, out):
    """
    Replace forces and contact of the last tick by those of the sample between the last two.

    Forces are means over a tick, so two of them lie evenly about that sample.
    """
    for k in range(layout.contacts):
        mean = out[layout.coordinates + k]
        out[layout.coordinates + k] = 0.5 * (memory[layout.before + k] + mean)
        memory[layout.before + k] = mean
    for i in range(feet.index.shape[0]):
        at = layout.contact_before + 2 * i
        memory[at], out[layout.contact + i] = out[layout.contact + i], memory[at]
        memory[at + 1], out[layout.probability + i] = out[layout.probability + i], memory[at + 1]


@kernel
def joints_known(robot, layout, row):
    """Return whether every joint's torque is."""
    for j in range(robot.columns.shape[0]):
        if not math.isfinite(row[layout.effort + j]):
            return False
    return True


@kernel
def standing_forces(robot, layout, settings, scratch, row, states, memory, R_WB, imu, dt, out):
    """Find contact and forces from motion alone, where no torque is measured."""
    feet, nc, vectors = robot.feet, layout.contacts, scratch.vectors
    up = (R_WB[6], R_WB[7], R_WB[8])
    load = dot(up, load3(scratch.bodies[0], FORCE)) / settings.weight
    for j in range(robot.columns.shape[0]):
        vectors[WEIGHTS, j] = 0.0
    joint_information(robot.columns, scratch.jacobian, vectors[RESIDUAL], vectors[WEIGHTS],
                      robot.prior, scratch.information, vectors[VECTOR])
    detect_contact(feet, layout, settings, scratch, states, row, memory, R_WB,
                   load3(vectors[BASE], 6), imu, load if imu else 1.0, dt, False, out)
    if imu and settings.use_base > 0.5:
        for k in range(6):
            vectors[BASE_WEIGHTS, k] = 1.0 / robot.variance[k]
        add_base_information(scratch.grasp, scratch.bodies[0, FORCE:FORCE + 6],
                             vectors[BASE_WEIGHTS], scratch.information, vectors[VECTOR])
    solve_standing(feet, out[layout.contact:], scratch.information, vectors[VECTOR],
                   scratch.active, out[layout.coordinates:layout.coordinates + nc],
                   out[layout.covariance:])
    for k in range(nc):
        out[layout.latest_coordinates + k] = out[layout.coordinates + k]
    for k in range(nc * nc):
        out[layout.latest_covariance + k] = out[layout.covariance + k]
    for i in range(feet.index.shape[0]):
        out[layout.latest_contact + i] = out[layout.contact + i]


@kernel
def tick(layouts, settings_table, integers, floats, out):
    """
    Take the measurement in `Arrays.row` and estimate the forces it completes.

    Returns
    -------
    int
        The mode (`layout.UNAVAILABLE` while the window fills), or `layout.NOT_FINITE` when the
        row has no finite joint position or velocity and was not taken.

    """
    layout, settings = layouts[0], settings_table[0]
    robot, scratch, window, stamps, memory, row, now, tracking = unpack(layout, integers, floats)
    feet, tree, vectors = robot.feet, robot.tree, scratch.vectors
    nj, nf, nc = layout.joints, layout.feet_count, layout.contacts
    n = window.shape[0]
    for k in range(layout.position, layout.velocity + nj):
        if not math.isfinite(row[k]):
            return codes.NOT_FINITE

    slide(window, stamps, row)
    memory[layout.filled] = min(memory[layout.filled] + 1.0, float(n))
    faults = int(out[layout.faults]) | missing_inputs(row, layout, nj)
    out[layout.faults] = faults
    if memory[layout.filled] < n:
        out[layout.faults] = faults | codes.WARMING_UP
        return codes.UNAVAILABLE
    take_middle(window, now)
    dt = window[n // 2, 0] - window[n // 2 - 1, 0]

    # 1 Differentiate.
    accel, base = vectors[ACCEL], vectors[BASE]
    slopes(window, layout.velocity, nj, accel, 0)
    slopes(window, layout.gyro, 3, accel, nj)
    imu = math.isfinite(accel[nj] + accel[nj + 1] + accel[nj + 2]
                        + now[layout.acceleration] + now[layout.acceleration + 1]
                        + now[layout.acceleration + 2])

    # 2 Find up.
    seen = window[n // 2]
    oriented = imu and math.isfinite(seen[layout.orientation] + seen[layout.orientation + 1]
                                     + seen[layout.orientation + 2] + seen[layout.orientation + 3])
    if imu:
        base_motion(now, layout, settings, accel, nj, base)
    if oriented:
        R_WB = rotation_from_imu(seen, layout.orientation, settings.R_BI, 0)
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
        store3(base, 6, scale(GRAVITY, up))

    # 3 Inverse dynamics; 4 contact geometry.
    newton_euler(tree, now[layout.position:], now[layout.velocity:], accel, base, scratch.bodies,
                 vectors[TAU])
    states = out[layout.feet:layout.feet + 15 * nf].reshape((nf, 15))
    normal = rotate_back(R_WB, load3(memory, layout.normal))
    store3(out, layout.ground_normal, normal)
    contact_points(feet, scratch.bodies, normal, states)
    lean_on_lowest_part(feet, normal, states)
    contact_jacobians(tree, feet, scratch.bodies, states, scratch.jacobian)
    contact_map(feet, states, scratch.grasp)
    used = 0
    for j in range(nj):
        vectors[RESIDUAL, j] = vectors[TAU, j] - now[layout.effort + j]
        if robot.columns[j, 0] > 0 and math.isfinite(now[layout.effort + j]):
            used += 1

    # 5 Forces, and which feet are down: by torque at once, without it contact comes first.
    if used > 0 and settings.use_torque > 0.5:
        track_forces(robot, layout, settings, scratch, tracking, window, now, memory, up, normal,
                     imu, dt, out)
        follow_ground(feet, layout, settings, scratch.bodies, states, R_WB, imu, memory, dt)
    else:
        used = 0
        memory[layout.tracking] = 0.0
        standing_forces(robot, layout, settings, scratch, window[n // 2], states, memory, R_WB,
                        imu, dt, out)
    residuals(robot, layout, scratch, imu, out)
    if used > 0 and settings.ahead > 0.5:
        describe_sample_before(feet, layout, memory, out)
    mark_observable(feet, layout, settings, nc, out)

    # 6 Filter.
    write_wrenches(feet, states, out[layout.coordinates:], out, layout.raw_wrench)
    write_wrenches(feet, states, out[layout.latest_coordinates:], out, layout.wrench)
    filter_wrenches(feet, layout, settings, states, R_WB, memory, dt, out)
    for j in range(nj):
        out[layout.joint_acceleration + j] = accel[j]
    base_used = imu and settings.use_base > 0.5
    if used > 0:
        return codes.FUSED if base_used else codes.TORQUE_ONLY
    return codes.BASE_ONLY if base_used else codes.UNAVAILABLE
