# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One tick where torque is measured: forces of all feet, then contact.

The filter of `force_tracking`, from the covariance of the equations' errors to the forces of the
newest sample and of the one before it, with their covariances.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.composite_body import eliminate_branches, substitute
from legged_dynamics.dynamics.jacobians import BODY, SIZE, START, has_moment
from legged_dynamics.dynamics.kinematics import FORCE, ROTATION
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED
from legged_dynamics.estimation.contact import (
    clear_given_air,
    mix_latest_with_air,
    predict_heights,
    update_contact,
)
from legged_dynamics.estimation.filter.equation_errors import (
    STUCK,
    equation_covariance,
    fill_doubt,
    fill_masses,
    motion_response,
    stop_variance,
    usable_equations,
)
from legged_dynamics.estimation.filter.force_tracking import (
    add_process_noise,
    copy_state,
    measurement_update,
    predict_equation,
    start_tracking,
)
from legged_dynamics.estimation.filter.layout import (
    BASE,
    BASE_WEIGHTS,
    BENDING,
    DOUBT,
    LAG,
    N_RIGHT_SIDES,
    RESIDUAL,
    SLIPPING,
    SLOW_WEIGHTS,
    TAU,
    VECTOR,
)
from legged_dynamics.estimation.filter.memory import EFFORT, N_EXTRA, N_MASS, STATUS
from legged_dynamics.estimation.filter.normal_equations import (
    add_base_information,
    joint_information,
    solve_foot_alone,
)
from legged_dynamics.estimation.push import (
    feet_carry_weight,
    mass_columns,
    mean_mass_columns,
    predict_external,
    slow_push_variance,
    update_mass_error,
    write_external,
)
from legged_dynamics.model.parts import DAMPING, FRICTION, PARENT
from legged_dynamics.optimization.factorizations import (
    factorize,
    invert_factorized,
    solve_factorized,
)
from legged_dynamics.optimization.kalman_update import update_state, whiten
from legged_dynamics.spatial.algebra import (
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load9,
    rotate,
    scale,
    store3,
    subtract,
    z_axis,
)
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.layout import get3, put3
from legged_dynamics.spatial.packed import opened

# -------------------------------------------------------------------------------------------------
# Prediction to the newest sample by the accelerometer.
#
# Forces tracked from differences of velocities are means over the last tick. The accelerometer's
# reading is of its end, and obeys ``a = a_0 + G [w; e]`` with ``G = E^T M^-1 [J; 1]``, E the place
# of the accelerometer. One more Kalman update gives the forces there. It goes to the results and
# is not fed back: the next tick has the same information from the joints.


@part
def _set_product(A, B, out):
    """Fill ``out`` (3, n) with ``A^T B`` by the (m, 3) A and the m rows of B, read once."""
    for k in range(3):
        for c in range(out.shape[1]):
            out[k, c] = 0.0
    for r in range(B.shape[0]):
        x, y, z, row = A[r, 0], A[r, 1], A[r, 2], B[r]
        for c in range(out.shape[1]):
            out[0, c] += x * row[c]
            out[1, c] += y * row[c]
            out[2, c] += z * row[c]


@part
def _accelerometer_rows(packed, layout, settings, G, R, free):
    """Fill G (3, nx), R and the reading without forces; return whether there is one."""
    arrays = opened(packed)
    robot, scratch, tracking = arrays.robot, arrays.scratch, arrays.tracking
    newest, middle, efforts = arrays.window[-1], arrays.middle, arrays.memory.efforts
    mass_error = arrays.memory.mass.error
    nv = robot.columns.shape[0]
    X, vectors = tracking.mass, scratch.vectors
    p = load3(settings.p_BI, 0)
    for e in range(6 + nv):
        for k in range(3):
            X[e, k] = 0.0
    for k in range(3):
        X[k, k] = 1.0
    X[3, 1], X[3, 2] = -p[2], p[1]
    X[4, 0], X[4, 2] = p[2], -p[0]
    X[5, 0], X[5, 1] = -p[1], p[0]
    if not eliminate_branches(X, robot.ends, N_RIGHT_SIDES, 0.0):
        return False
    substitute(X, robot.ends, N_RIGHT_SIDES)
    # The middle's accelerations belong to its torques and to the wrench that they require.
    at_rest = add(load3(vectors[BASE], 6), cross(load3(vectors[BASE], 3), p))
    for k in range(3):
        free[k] = at_rest[k]
        for m in range(3):
            R[k, m] = settings.accelerometer_noise ** 2 if k == m else 0.0
    for j in range(nv):
        damping, friction = robot.tree.constants[j + 1, DAMPING], robot.tree.constants[
            j + 1, FRICTION]
        v, v_mid = newest[layout.velocity + j], middle[layout.velocity + j]
        now = math.tanh(v / FRICTION_SPEED) if friction != 0.0 else 0.0
        late = settings.effort_age * efforts[j, EFFORT.slope]
        effort = (newest[layout.effort + j] + late - damping * (v - v_mid)
                  - friction * (now - vectors[SLIPPING, j]) - vectors[TAU, j])
        variance = (robot.effort_variance[j] + vectors[DOUBT, j]
                    + friction ** 2 * max(1.0 - now ** 2, settings.unsure_friction)
                    + stop_variance(robot, settings, j, newest[layout.position + j]))
        if not math.isfinite(effort):       # of a head or a gripper: that of its motion
            effort = 0.0
        for k in range(3):
            free[k] += X[6 + j, k] * effort
            for m in range(3):
                R[k, m] += variance * X[6 + j, k] * X[6 + j, m]
    for e in range(6):
        required = scratch.bodies[0, FORCE + e]
        for m in range(4):
            required -= tracking.mass_columns[e, m] * mass_error[m]
        for k in range(3):
            free[k] -= X[e, k] * required
    _set_product(X, scratch.grasp, G)
    for j in range(nv):
        # A motor without a measured torque is taken as locked against forces on its link.
        if not math.isfinite(newest[layout.effort + j]):
            continue
        for m in range(robot.columns[j, robot.columns.shape[1] - 1]):
            c = robot.columns[j, m + 1]
            for k in range(3):
                G[k, c] += X[6 + j, k] * scratch.jacobian[c, j]
    return True


@part
def _predict_latest(packed, layout, settings):
    """Replace the latest state, a copy, and its covariance by those of the newest sample."""
    arrays = opened(packed)
    robot, tracking, probability = arrays.robot, arrays.tracking, arrays.memory.contact.probability
    before, newest = arrays.window[-2], arrays.window[-1]
    x, P = tracking.latest, tracking.latest_covariance
    G, gain = tracking.sensor_rows[0:3], tracking.sensor_rows[3:6]
    S, nu, free = tracking.block, tracking.block[6], tracking.vector
    if not _accelerometer_rows(packed, layout, settings, G, S, free):
        return
    feet, nx = robot.feet, x.shape[0]
    R_BI, p = load9(settings.R_BI, 0), load3(settings.p_BI, 0)
    w = rotate(R_BI, load3(newest, layout.gyro))
    sensed = load3(newest, layout.acceleration)
    reading = subtract(rotate(R_BI, sensed), cross(w, cross(w, p)))
    # A late reading may be off by as much as it changes in that time.
    late = scale(settings.imu_late, rotate(R_BI, subtract(
        sensed, load3(before, layout.acceleration))))
    for k in range(3):
        nu[k] = reading[k] - free[k]
        for c in range(nx):
            nu[k] -= G[k, c] * x[c]
    _set_product(G.T, P, gain)
    for k in range(3):
        for m in range(k, 3):
            S[m, k] += late[m] * late[k]
            for c in range(nx):
                S[m, k] += gain[k, c] * G[m, c]
    if not factorize(S, 3):
        return
    whiten(S, gain, nu, 3)
    update_state(x, P, gain, nu, 3)
    if nu[0] * nu[0] + nu[1] * nu[1] + nu[2] * nu[2] > settings.surprise:
        for i in range(feet.index.shape[0]):
            more = (settings.surprise_force * settings.weight) ** 2 * (1.05 - probability[i])
            for k in range(min(feet.index[i, SIZE], 3)):
                P[feet.index[i, START] + k, feet.index[i, START] + k] += more


# -------------------------------------------------------------------------------------------------
# Covariance of the forces by slowly varying errors.
#
# Offsets and scales of torque sensors, dry friction at rest, the accelerometer's bias and errors
# of the base's model stay the same for seconds; a Kalman filter averages them away on paper alone.
# The forces settle at the weighted least squares of all equations, so these errors leave
#
#     P_slow = (J R_j^-1 J^T + A^T R_b^-1 A + P_0^-1)^-1
#
# with the variances R of slowly varying errors. A foot in the air has no force, and no such error.


@part
def _fill_bending(robot, scratch, x, bending):
    """
    Fill what a compliance of 1 does to each joint's equation by turning the joints by torques.

    Axes below turn with them, and the foot moves.
    """
    parent, columns = robot.tree.topology[:, PARENT], scratch.jacobian.T
    for j in range(bending.shape[0]):
        bending[j] = 0.0
    for i in range(robot.feet.index.shape[0]):
        foot, s = robot.feet.index[i, BODY], robot.feet.index[i, START]
        f, turn, moved = load3(x, s), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for way in (1.0, -1.0):
            b = foot
            while b > 0:
                torque = scratch.vectors[TAU, b - 1] - scratch.vectors[RESIDUAL, b - 1]
                torque = torque if math.isfinite(torque) else 0.0
                axis, column = z_axis(load9(scratch.bodies[b], ROTATION)), get3(columns, b - 1, s)
                if way < 0.0:
                    bending[b - 1] += dot(f, add(cross(turn, column), cross(axis, moved)))
                    moved = add_scaled(moved, torque, column)
                turn = add_scaled(turn, way * torque, axis)
                b = parent[b]


@part
def _store_slow_weights(robot, settings, efforts, tracking, vectors, joints, n):
    """Store the inverse variances of the equations by slowly varying errors."""
    steady, wander, rows = tracking.slow_variance[0], tracking.slow_variance[1], tracking.rows
    for j in range(rows.shape[0] - 6):
        vectors[SLOW_WEIGHTS, j] = 0.0
    for k in range(6):
        vectors[BASE_WEIGHTS, k] = 0.0
    for r in range(joints):
        j = rows[r] - 6
        unseen = robot.friction_doubt[j] * (STUCK + (1.0 - STUCK) * vectors[SLIPPING, j] ** 2)
        # A link of inertia M on a spring is behind by the time sqrt(c M); slopes are of a time,
        # behind which nothing is known of them.
        late = min(settings.compliance_error * tracking.mass[6 + j, N_RIGHT_SIDES + 6 + j],
                   settings.slope_time ** 2)
        unseen += settings.elastic * (
            (settings.compliance_error * vectors[BENDING, j]) ** 2
            + late * efforts[j, EFFORT.slope] ** 2)
        vectors[SLOW_WEIGHTS, j] = 1.0 / (steady[r] + wander[r] + unseen)
    for r in range(joints, n):
        vectors[BASE_WEIGHTS, rows[r]] = steady[r] + wander[r]


@part
def _slow_covariance(robot, scratch, forces, probability, nc):
    """Fill ``scratch.information`` with the (nc, nc) covariance, and `LAG` with what is beyond."""
    P, feet, vectors = forces.covariance, robot.feet, scratch.vectors
    information = scratch.information
    joint_information(robot.columns, scratch.jacobian, forces.bias[6:], vectors[SLOW_WEIGHTS],
                      robot.prior, information, vectors[VECTOR])
    for i in range(feet.index.shape[0]):
        if probability[i] < 0.5:    # that it is up is known, unless its own joints contradict
            s, end = feet.index[i, START], feet.index[i, START] + feet.index[i, SIZE]
            v, _ = solve_foot_alone(feet, i, information, vectors[VECTOR])
            doubt = 1.0 + dot(v, v) / (P[s, s] + P[s + 1, s + 1] + P[s + 2, s + 2])
            for r in range(s, end):
                information[r, r] += 1.0 / (doubt * P[r, r])
    if vectors[BASE_WEIGHTS, 0] > 0.0:
        for k in range(6):      # an unknown push is an error of the base's equation
            vectors[BASE_WEIGHTS, k] = 1.0 / (vectors[BASE_WEIGHTS, k] + P[nc + k, nc + k])
            t = vectors[BASE_WEIGHTS, k] * forces.bias[k]
            for c in range(nc):
                vectors[VECTOR, c] += t * scratch.grasp[k, c]
        add_base_information(scratch.grasp, vectors[BASE_WEIGHTS], information)
    for r in range(nc):
        vectors[LAG, r] = 0.0
    if not factorize(information, nc):
        return
    solve_factorized(information, nc, vectors[VECTOR])
    invert_factorized(information, nc)
    for i in range(feet.index.shape[0]):
        for r in range(feet.index[i, START], feet.index[i, START] + feet.index[i, SIZE]):
            # What innovations still ask for that the filter, slow at rest, has not followed.
            slow = information[r, r]
            lag = probability[i] * vectors[VECTOR, r] * slow / (slow + P[r, r])
            vectors[LAG, r] = max(lag * lag - probability[i] ** 2 * slow, 0.0)
            if probability[i] < 0.5 and not has_moment(feet.index, i):
                # A ball that is called up bears what its joints say, or none; soles: below.
                vectors[LAG, r] = forces.state[r] ** 2
            for c in range(nc):
                information[r, c] *= probability[i]
                information[c, r] *= probability[i]


# -------------------------------------------------------------------------------------------------
# One tick.


# Variance of the force between two ticks about the mean of their two means, as a share of the
# process noise of each: of a random walk, and of an impact, which is anywhere in its tick.
WALK_SHARE = 1.0 / 12.0


@part
def _start(feet, settings, up, a, memory):
    """Start the filter: pushes, errors and places are unknown."""
    forces, mass = memory.forces, memory.mass
    start_tracking(feet, settings, up, settings.weight, forces.state, forces.covariance)
    memory.status[STATUS.by_torque] = 1.0
    for table in (memory.push, memory.lift, mass.equations):
        for r in range(table.shape[0]):     # loops compile faster than slices
            for c in range(table.shape[1]):
                table[r, c] = 0.0
    for vector in (forces.bias, mass.error):
        for k in range(vector.shape[0]):
            vector[k] = 0.0
    forces.rate[0] = settings.fastest_rate
    for i in range(feet.index.shape[0]):
        put3(forces.mean, i, 0, load3(forces.state, feet.index[i, START]))
    store3(mass.acceleration, 0, a)


@part
def _fill_equations(packed, layout, settings, imu, base_used):
    """Fill equations and the covariances of their errors; return how many, of joints and all."""
    arrays = opened(packed)
    robot, scratch, tracking, middle = (arrays.robot, arrays.scratch, arrays.tracking,
                                        arrays.middle)
    vectors, rows = scratch.vectors, tracking.rows
    fill_masses(robot, scratch, tracking)
    mass_columns(load3(vectors[BASE], 6), tracking.mass_columns)
    joints, n = usable_equations(robot, layout, middle, base_used, rows)
    motion_response(robot, settings, tracking.mass, rows, n, imu, load3(arrays.memory.jump, 0),
                    tracking.response)
    fill_doubt(robot, layout, arrays.memory.efforts, middle, vectors)
    equation_covariance(robot, layout, settings, middle, vectors, tracking, n)
    _fill_bending(robot, scratch, arrays.memory.forces.state,
                  vectors[BENDING][:robot.columns.shape[0]])
    _store_slow_weights(robot, settings, arrays.memory.efforts, tracking, vectors, joints, n)
    if n > joints:
        slow_push_variance(robot, settings, scratch, tracking, joints, n)
    return joints, n


@part
def _fill_innovations(robot, scratch, tracking, mass, x, n):
    """Fill what each equation has that the state does not predict."""
    for r in range(n):
        e = tracking.rows[r]
        if e >= 6:
            known = scratch.vectors[RESIDUAL, e - 6]
        else:
            known = scratch.bodies[0, FORCE + e]
            for k in range(N_MASS):
                known -= tracking.mass_columns[e, k] * mass.error[k]
        tracking.innovation[r] = known - predict_equation(robot.columns, scratch.grasp,
                                                          scratch.jacobian, e, x)


@part
def _follow_mass(feet, settings, tracking, memory, up, a, pushed, dt):
    """Update the error of the base's mass by what its equations leave without it."""
    mass = memory.mass
    for e in range(6):
        for k in range(N_MASS):
            tracking.unexplained[e] += tracking.mass_columns[e, k] * mass.error[k]
    mean_mass_columns(settings, a, mass.acceleration, tracking.mass_columns, dt)
    if feet_carry_weight(feet, settings, up, memory.contact.probability, memory.forces.state):
        update_mass_error(settings, tracking, mass, pushed, dt)
    mass_columns(a, tracking.mass_columns)


@part
def _write_forces(packed, layout, settings, results):
    """Write both samples' forces with their covariances, which errors that last add to."""
    arrays = opened(packed)
    feet, memory, tracking, nc = arrays.robot.feet, arrays.memory, arrays.tracking, layout.contacts
    x, P, probability = memory.forces.state, memory.forces.covariance, memory.contact.probability
    found, latest = results.forces, tracking.latest
    for k in range(nc):
        found.coordinates[k], found.latest[k] = x[k], latest[k]
    clear_given_air(feet, layout, arrays.window[-1], found)
    _slow_covariance(arrays.robot, arrays.scratch, memory.forces, probability, nc)
    slow, scale = arrays.scratch.information, settings.scale_doubt ** 2
    light, now, before = arrays.scratch.vectors[VECTOR], found.coordinates, memory.previous.forces
    for r in range(nc):
        light[r] = now[r] + 0.5 * settings.two_samples * (before[r] - now[r])
        for c in range(nc):
            both = slow[r, c] + scale * x[r] * x[c]
            found.covariance[r, c] = settings.covariance_share * P[r, c] + both
            found.latest_covariance[r, c] = tracking.latest_covariance[r, c] + both
    for i in range(feet.index.shape[0]):
        # A sole that is called up bears the light load that is published, of two ticks, or none.
        if probability[i] < 0.5 and has_moment(feet.index, i):
            s, end = feet.index[i, START], feet.index[i, START] + feet.index[i, SIZE]
            for r in range(s, end):
                for c in range(s, end):
                    found.covariance[r, c] += light[r] * light[c]
                    found.latest_covariance[r, c] += found.latest[r] * found.latest[c]
    if settings.two_samples > 0.5:
        add_variance_within_ticks(feet, settings, tracking.process_noise, probability,
                                  memory.forces.impact, memory.previous, found.covariance)


@part
def track_by_torque(packed, layout, settings, up, normal, imu, dt, results):
    """
    Advance the force filter of all feet by a tick; fill contact, forces, covariance.

    ``up`` and ``normal`` are in base axes.
    """
    arrays = opened(packed)
    robot, scratch, tracking, memory = (arrays.robot, arrays.scratch, arrays.tracking,
                                        arrays.memory)
    feet, forces = robot.feet, memory.forces
    x, P, nx = forces.state, forces.covariance, layout.contacts + N_EXTRA
    base_used = imu and settings.use_base > 0.5
    a = load3(scratch.vectors[BASE], 6)
    if memory.status[STATUS.by_torque] < 0.5:
        _start(feet, settings, up, a, memory)
    joints, n = _fill_equations(packed, layout, settings, imu, base_used)
    predict_heights(feet, results.feet.states, normal, memory.lift)

    # Prediction and measurement update.
    predict_external(settings, x, P, dt)
    _fill_innovations(robot, scratch, tracking, memory.mass, x, n)
    pushed = add_process_noise(robot, settings, scratch, tracking, memory, joints, n, dt)
    if n > joints:
        _follow_mass(feet, settings, tracking, memory, up, a, pushed, dt)
    if not measurement_update(robot.columns, settings, tracking, forces, scratch.grasp,
                              scratch.jacobian, n):
        start_tracking(feet, settings, up, settings.weight, x, P)
    update_contact(arrays, layout, settings, normal, dt, results)

    # Forces of the newest sample.
    latest, covariance = tracking.latest, tracking.latest_covariance
    copy_state(nx, x, P, settings.covariance_share, latest, covariance)
    for k in range(layout.contacts):    # half a tick more
        covariance[k, k] += 0.5 * tracking.process_noise[k]
    if settings.two_samples > 0.5 and base_used and settings.imu_body == 0:
        _predict_latest(packed, layout, settings)
    mix_latest_with_air(robot, settings, tracking, memory.contact.probability,
                        results.feet.normals, dt)
    _write_forces(packed, layout, settings, results)
    write_external(robot, settings, scratch, tracking, memory.push, joints, n > joints,
                   results.external)
    for k in range(N_MASS):
        results.external.mass_error[k] = memory.mass.error[k]


@part
def add_variance_within_ticks(feet, settings, process_noise, probability, impact, previous,
                              covariance):
    """
    Add to ``covariance`` the variance by force changes within the ticks about a sample.

    A mean over a tick does not show when the force changed: an impact may lie in the tick
    before, a foot that is up may have left in this one.
    """
    for i in range(feet.index.shape[0]):
        down = max(probability[i], previous.probability[i]) >= 0.5
        # The process noise is that of any foot, by what all have changed.
        share = settings.impact_share if impact[i] > 0.5 else WALK_SHARE / impact.shape[0]
        for k in range(feet.index[i, SIZE]):
            r = feet.index[i, START] + k
            happened = share * process_noise[r] if down else 0.0
            covariance[r, r] += happened + previous.variance[r]
            previous.variance[r] = happened


@part
def interpolate_sample(previous, contact, coordinates):
    """
    Replace a tick's forces and contact by those of the sample between it and the last tick.

    Forces are means over a tick, so two of them lie evenly about that sample.
    """
    nc, nf = coordinates.shape[0], contact.flag.shape[0]
    if previous.known[0] < 0.5:
        previous.known[0] = 1.0
        for k in range(nc):
            previous.forces[k] = coordinates[k]
        for i in range(nf):
            previous.contact[i] = contact.flag[i]
            previous.probability[i] = contact.probability[i]
    for k in range(nc):
        newest = coordinates[k]
        coordinates[k] = 0.5 * (previous.forces[k] + newest)
        previous.forces[k] = newest
    for i in range(nf):
        previous.contact[i], contact.flag[i] = contact.flag[i], previous.contact[i]
        previous.probability[i], contact.probability[i] = (
            contact.probability[i], previous.probability[i])
