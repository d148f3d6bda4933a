# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Forces where no torque is measured: six equations of the base, and how load passes between feet.

A Kalman filter as with torque (`force_tracking`), ``x = [w; p]`` and ``A w + d(p) = b``, without
equations of joints, and with an error p of the base's momentum instead of an external wrench. The
equations determine a sum of all forces; the rest is predicted from the tick before:

* the load on a foot is a random walk along the line of action of its force, so that the centre of
  pressure stays; it decays to an even share in a few natural times;
* the centre of pressure of a sole moves through the sole;
* no foot pulls, and friction bounds sideways forces. The force of a sole aims above the base, as
  in upright walkers (virtual pivot point, Maus et al. 2010). Motion does not determine squeeze
  between feet: this is all that is known of it.

Contact mixes hypotheses, as it does with torque: see `contact`.
"""
from __future__ import annotations

import math

from legged_dynamics.contact.contact_evidence import CORRELATION_TIME
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    SIZE,
    SOLE,
    START,
    moment_axes,
)
from legged_dynamics.dynamics.kinematics import FORCE
from legged_dynamics.estimation.contact import mix_with_air, normal_force
from legged_dynamics.estimation.contact_by_motion import (
    follow_lift,
    predict_velocity,
    update_contact_by_motion,
)
from legged_dynamics.estimation.filter.force_tracking import covariance_row, predict_equation
from legged_dynamics.estimation.filter.layout import BASE, BEYOND, MOST, VECTOR
from legged_dynamics.estimation.filter.memory import LEG, MOTION, N_EXTRA, STATUS
from legged_dynamics.estimation.filter.noise import (
    base_covariances,
    momentum_columns,
    predict_momentum_error,
    reset_momentum_error,
)
from legged_dynamics.estimation.filter.normal_equations import first3
from legged_dynamics.optimization.factorizations import factorize
from legged_dynamics.optimization.kalman_update import update_state, whiten
from legged_dynamics.spatial.algebra import (
    add_scaled,
    compose,
    dot,
    load3,
    load9,
    rotate,
    rotate_back,
    scale,
    store3,
    subtract,
    symmetric_times,
    transpose,
)
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.symmetric import add6, inverse_symmetric

# -------------------------------------------------------------------------------------------------
# Prediction of forces.


# Smallest deviation of a centre of pressure [m].
TINY = 1e-9


@part
def _start_loads(feet, settings, up, x, P):
    """Start with an even share on all feet and little knowledge of it."""
    nx, nf = x.shape[0], feet.index.shape[0]
    share = settings.weight / nf
    for r in range(nx):
        x[r] = 0.0
        for c in range(nx):
            P[r, c] = 0.0
    for i in range(nf):
        for k in range(3):
            x[feet.index[i, START] + k] = up[k] * share
            P[feet.index[i, START] + k, feet.index[i, START] + k] = share * share


@part
def _aim(robot, settings, states, up, i):
    """Return a foot's force for a load of one: towards a point above where it stands at rest."""
    point = load3(states[i], CONTACT)
    home = (robot.homes[i, 0], robot.homes[i, 1], 0.0)
    away = subtract(home, point)
    height = max(dot(up, away), settings.least_height) * settings.pivot
    sideways = scale(1.0 / height, add_scaled(away, -dot(up, away), up))
    length = math.sqrt(dot(sideways, sideways))
    return add_scaled(up, min(1.0, settings.steepest_aim / max(length, 1e-9)), sideways)


@part
def _scale_columns(A, v):
    """Return a 3x3 matrix with its columns multiplied by the elements of a vector."""
    return (A[0] * v[0], A[1] * v[1], A[2] * v[2], A[3] * v[0], A[4] * v[1], A[5] * v[2],
            A[6] * v[0], A[7] * v[1], A[8] * v[2])


@part
def _put_first3(row, at, n, v):
    """Put the first n numbers of a vector into a row."""
    for k in range(n):
        row[at + k] = v[k]


@part
def _predict_moments(feet, settings, states, legs, stay, x, P, i):
    """
    Predict a foot's moments; return the deviations of its centre of pressure along and across.

    They change with the lowest part of the sole. The centre of pressure keeps its ratio to these
    deviations, which are large for a sole that lies flat and small for one on its edge.
    """
    s, nx = feet.index[i, START] + 3, x.shape[0]
    n = feet.index[i, SIZE] - 3
    R, sole = load9(states[i], FOOT_ROTATION), feet.geometry[i]
    low = rotate_back(R, subtract(load3(states[i], CONTACT), load3(states[i], FOOT_POSITION)))
    long, wide = sole[SOLE] - sole[SOLE + 1], sole[SOLE + 2] - sole[SOLE + 3]
    spread_x = math.sqrt(settings.pressure_along * (
        max((sole[SOLE] - low[0]) * (low[0] - sole[SOLE + 1]), 0.0) + (settings.edge * long) ** 2))
    spread_y = math.sqrt(settings.pressure_across * (
        max((sole[SOLE + 2] - low[1]) * (low[1] - sole[SOLE + 3]), 0.0)
        + (settings.edge * wide) ** 2))
    keep = (stay, stay, stay)
    if legs[i, LEG.spread_x] > 0.0:
        keep = (stay * spread_y / max(legs[i, LEG.spread_y], TINY),
                stay * spread_x / legs[i, LEG.spread_x], stay)
    legs[i, LEG.spread_x], legs[i, LEG.spread_y] = spread_x, spread_y
    axes = compose(moment_axes(feet.index, states, i), R)
    on = compose(_scale_columns(axes, keep), transpose(axes))
    _put_first3(x, s, n, rotate(on, first3(x, s, n)))
    for k in range(nx):
        column = P[:, k]
        _put_first3(column, s, n, rotate(on, first3(column, s, n)))
    for k in range(nx):
        _put_first3(P[k], s, n, rotate(on, first3(P[k], s, n)))
    return spread_x, spread_y


@part
def _predict_loads(robot, settings, states, up, probability, memory, dt):
    """Predict the forces of all feet from those of the tick before."""
    x, P, legs = memory.state, memory.covariance, memory.legs
    feet, nx, W2 = robot.feet, x.shape[0], settings.weight ** 2
    nf, ticks = feet.index.shape[0], dt / settings.natural_time
    keep = math.exp(-ticks / settings.even_time)
    stay = math.exp(-ticks / settings.crossing)
    stray = math.exp(-ticks / settings.straying)
    standing = 0.0
    for i in range(nf):
        standing += probability[i]
    for i in range(nf):
        s, size, p = feet.index[i, START], feet.index[i, SIZE], probability[i]
        # A point foot has no aim: only friction bounds its force.
        d = _aim(robot, settings, states, up, i) if size > 3 else up
        # Mean: load along the aim decays to even; departures from the aim decay soon; moments.
        load = dot(up, load3(x, s))
        even = settings.weight * p / max(standing, 1.0)
        lever = (0.0, 0.0, 0.0)
        spread_x, spread_y = 0.0, 0.0
        astray = add_scaled(load3(x, s), -load, d)
        load = even + keep * (load - even)
        store3(x, s, add_scaled(scale(load, d), stray, astray))
        for k in range(nx):
            t = (keep - stray) * (up[0] * P[s, k] + up[1] * P[s + 1, k] + up[2] * P[s + 2, k])
            for m in range(3):
                P[s + m, k] = stray * P[s + m, k] + d[m] * t
        for k in range(nx):
            t = (keep - stray) * (up[0] * P[k, s] + up[1] * P[k, s + 1] + up[2] * P[k, s + 2])
            for m in range(3):
                P[k, s + m] = stray * P[k, s + m] + d[m] * t
        if size > 3:
            spread_x, spread_y = _predict_moments(feet, settings, states, legs, stay, x, P, i)
            if load > 0.02 * settings.weight:
                lever = scale(1.0 / load, first3(x, s + 3, size - 3))
        # Process noise: of the load, along its line of action.
        rate = legs[i, LEG.load_rate]
        _, known = normal_force(P, x, s, up)
        # The variance does not grow beyond the square of an even share.
        room = max(1.0 - known / max(even * even, 1e-9), 0.0)
        q = ((p * rate ** 2 * room
              + (1.0 - min(p, settings.surest)) * settings.landing_rate ** 2) * W2 * ticks
             + (1.0 - keep * keep) * (settings.uneven_share * even) ** 2)
        for r in range(size):
            g = d[r] if r < 3 else lever[r - 3]
            for c in range(size):
                h = d[c] if c < 3 else lever[c - 3]
                P[s + r, s + c] += q * g * h
        _, variance = normal_force(P, x, s, up)
        square = load * load + variance
        sideways = (1.0 - stray * stray) * settings.sideways ** 2 * square
        for r in range(3):
            P[s + r, s + r] += sideways
            for c in range(3):
                P[s + r, s + c] -= sideways * up[r] * up[c]
        if size > 3:
            R = compose(moment_axes(feet.index, states, i), load9(states[i], FOOT_ROTATION))
            new = (1.0 - stay * stay) * square
            spread = (new * spread_y ** 2, new * spread_x ** 2,
                      new * (settings.twist * spread_x) ** 2)
            for r in range(size - 3):
                for c in range(size - 3):
                    for k in range(3):
                        P[s + 3 + r, s + 3 + c] += R[3 * r + k] * spread[k] * R[3 * c + k]


# -------------------------------------------------------------------------------------------------
# Update by the equations of the base.


@part
def _base_update(robot, settings, scratch, tracking, up, memory, dt):
    """Update the state by the six equations of the base at once (Kalman 1960)."""
    x, P, S, gain, nu = (memory.state, memory.covariance, tracking.block, tracking.gain,
                         tracking.innovation)
    nx, noise, others = x.shape[0], tracking.noise, tracking.slow_noise
    nc, body, legs = nx - N_EXTRA, memory.body, memory.legs
    scale = body[MOTION.noise_scale]
    keep = settings.momentum_keep
    new = scale * (1.0 - keep * keep) * settings.momentum_time ** 2
    momentum_columns(scratch.grasp, nc, keep, dt)
    for r in range(6):
        nu[r] = (scratch.bodies[0, FORCE + r]
                 - predict_equation(robot.columns, scratch.grasp, scratch.jacobian, r, x))
        covariance_row(robot.columns, scratch.grasp, scratch.jacobian, r, P, gain[r])
        for s in range(r + 1):
            S[r, s] = (predict_equation(robot.columns, scratch.grasp, scratch.jacobian, s, gain[r])
                       + scale * others[r, s] + new * noise[r, s] / dt ** 2)
    predict_momentum_error(x, P, gain, noise, nc, keep, new, dt)
    if not factorize(S, 6):
        return False
    whiten(S, gain, nu, 6)
    # An impact changes moments by far more than forces: outliers get smaller weights.
    surprise = 0.0
    for r in range(3, 6):
        surprise += min(nu[r] * nu[r], settings.moment_surprise) / 3.0
        weight = math.sqrt(min(1.0, settings.far_off / max(math.fabs(nu[r]), 1e-9)))
        nu[r] *= weight
        for k in range(nx):
            gain[r, k] *= weight
    change = min(dt / settings.scale_time, 1.0) * min(surprise - 1.0, settings.most_learned)
    body[MOTION.noise_scale] = min(max(body[MOTION.noise_scale] * math.exp(change),
                                       settings.least_scale), settings.largest_scale)
    _learn_load_rates(robot.feet, settings, gain, nu, up, legs, dt)
    update_state(x, P, gain, nu, 6)
    return True


@part
def _keep_unilateral(feet, up, x, P):
    """Condition the state on no foot pulling: by its covariance, the worst foot first."""
    nx, nf = x.shape[0], feet.index.shape[0]
    for _ in range(nf):
        worst, least = -1, -1e-9
        for i in range(nf):
            load = dot(up, load3(x, feet.index[i, START]))
            if load < least:
                worst, least = i, load
        if worst < 0:
            return
        s, known = feet.index[worst, START], 0.0
        for r in range(3):
            known += up[r] * dot(up, load3(P[s + r], s))
        if not known > 0.0:
            return
        for k in range(nx):
            x[k] -= least / known * (up[0] * P[s, k] + up[1] * P[s + 1, k] + up[2] * P[s + 2, k])


@part
def _learn_load_rates(feet, settings, gain, nu, up, legs, dt):
    """
    Estimate the process noise of each foot's load, from whether its corrections agree in sign.

    Corrections of a filter with too little process noise keep their sign, with too much they
    change it; they are summed over the correlation time of the errors.
    """
    for i in range(feet.index.shape[0]):
        s = feet.index[i, START]
        for r in range(6):
            g = up[0] * gain[r, s] + up[1] * gain[r, s + 1] + up[2] * gain[r, s + 2]
            legs[i, LEG.correction] += g * nu[r]
            legs[i, LEG.information] += g * g
        legs[i, LEG.elapsed] += dt
        if legs[i, LEG.elapsed] > 0.99 * CORRELATION_TIME:
            agreement = (legs[i, LEG.correction] * legs[i, LEG.before]
                         / max(legs[i, LEG.information], 1e-12))
            agreement = min(max(agreement, -1.0), 1.0)
            rate = legs[i, LEG.load_rate] * math.exp(
                min(settings.load_rate_learning * legs[i, LEG.elapsed], 1.0) * agreement)
            fastest = (settings.fastest_load_rate if feet.index[i, SIZE] == 3
                       else settings.fastest_sole_rate)
            legs[i, LEG.load_rate] = min(max(rate, settings.slowest_load_rate), fastest)
            legs[i, LEG.before] = legs[i, LEG.correction]
            legs[i, LEG.correction] = legs[i, LEG.information] = legs[i, LEG.elapsed] = 0.0


@part
def _log_density_of_no_load(x, P, feet, settings, i, up):
    """Return the logarithm of the density of a foot's load at zero."""
    load, variance = normal_force(P, x, feet.index[i, START], up)
    variance += (settings.load_noise * settings.weight) ** 2
    return -0.5 * (load * load / variance + math.log(variance))


@part
def _update_by_base(robot, settings, scratch, tracking, up, motion, evidence, dt):
    """Update forces by the equations of the base, and fill what these say of each foot's load."""
    feet, x, P = robot.feet, motion.state, motion.covariance
    for i in range(feet.index.shape[0]):
        evidence[i] = _log_density_of_no_load(x, P, feet, settings, i, up)
    if _base_update(robot, settings, scratch, tracking, up, motion, dt):
        for i in range(feet.index.shape[0]):
            evidence[i] -= _log_density_of_no_load(x, P, feet, settings, i, up)
    else:
        _start_loads(feet, settings, up, x, P)
        reset_momentum_error(x, P)
        for i in range(feet.index.shape[0]):
            evidence[i] = 0.0
    _keep_unilateral(feet, up, x, P)


@part
def _start_from_torque(forces, motion):
    """Take over the forces of the filter with torque."""
    nc = forces.state.shape[0] - N_EXTRA
    for r in range(nc):
        motion.state[r] = forces.state[r]
        for c in range(nc):
            motion.covariance[r, c] = forces.covariance[r, c]


@part
def _start_learning(feet, settings, up, memory, contact):
    """Reset the error of momentum and all that is estimated in addition to the forces."""
    reset_momentum_error(memory.state, memory.covariance)
    for i in range(feet.index.shape[0]):
        legs = memory.legs
        legs[i, LEG.load_rate], legs[i, LEG.spread_x] = settings.first_load_rate, 0.0
        legs[i, LEG.correction] = legs[i, LEG.information] = 0.0
        legs[i, LEG.before] = legs[i, LEG.elapsed] = 0.0
        legs[i, LEG.probability] = legs[i, LEG.mean] = contact.probability[i]
    memory.body[MOTION.noise_scale], memory.body[MOTION.switches] = 1.0, 0.0
    memory.body[MOTION.slip_variance] = settings.swing_speed ** 2
    memory.body[MOTION.stood] = memory.body[MOTION.rising] = memory.body[MOTION.lifted] = 0.0


# Variance of a load that is anywhere from q to -q, evenly, about q, over q squared.
PASSED = 4.0 / 3.0


@part
def _add_passing(feet, settings, states, up, probability, x, passing, covariance):
    """
    Add to a covariance that load passes unseen from point feet that stood to those that landed.

    It is not seen in the part q of the loads, row ``passing``, that the balance leaves open, and
    which becomes -q: of a trot, all load on one diagonal, then on the other.
    """
    nf, reach = feet.index.shape[0], settings.reach
    N, b, size = (1e-6, 0.0, 0.0, 1e-6, 0.0, 1e-6), (0.0, 0.0, 0.0), 0
    for i in range(nf):
        p, size = probability[i], max(size, feet.index[i, SIZE])
        a, c = states[i, CONTACT] / reach, states[i, CONTACT + 1] / reach
        passing[i] = dot(up, load3(x, feet.index[i, START]))
        N = add6(N, (p, p * a, p * c, p * a * a, p * a * c, p * c * c))
        b = add_scaled(b, passing[i], (1.0, a, c))
    if size > 3:
        return
    balanced = symmetric_times(inverse_symmetric(N), b)
    for i in range(nf):
        arm = (1.0, states[i, CONTACT] / reach, states[i, CONTACT + 1] / reach)
        passing[i] -= probability[i] * dot(balanced, arm)
    for i in range(nf):
        for j in range(nf):
            both = PASSED * passing[i] * passing[j]
            for r in range(3):
                for c in range(3):
                    covariance[feet.index[i, START] + r, feet.index[j, START] + c] += (
                        both * up[r] * up[c])


@part
def track_by_motion(arrays, layout, settings, R_WB, imu, dt, results):
    """Estimate contact and forces without torques, filling memory and ``results``."""
    robot, scratch, tracking, memory = (arrays.robot, arrays.scratch, arrays.tracking,
                                        arrays.memory)
    row = arrays.window[arrays.window.shape[0] // 2]
    feet, nf, nc, status = robot.feet, robot.feet.index.shape[0], layout.contacts, memory.status
    motion, contact, states = memory.motion, memory.contact, results.feet.states
    x, P = motion.state, motion.covariance
    nx = x.shape[0]
    up = (R_WB[6], R_WB[7], R_WB[8])
    base_used = imu and settings.use_base > 0.5
    a = load3(scratch.vectors[BASE], 6)
    jump = (0.0, 0.0, 0.0)
    if status[STATUS.by_motion] > 0.5:
        jump = subtract(a, load3(memory.acceleration, 0))
    store3(memory.acceleration, 0, a)
    if status[STATUS.by_motion] < 0.5:
        if status[STATUS.by_torque] < 0.5:
            _start_loads(feet, settings, up, x, P)
        else:
            _start_from_torque(memory.forces, motion)
        _start_learning(feet, settings, up, motion, contact)
    status[STATUS.by_torque], status[STATUS.by_motion] = 0.0, 1.0
    _predict_loads(robot, settings, states, up, contact.probability, motion, dt)
    total, spread = 0.0, -1.0
    evidence = scratch.vectors[BEYOND]
    for i in range(nf):
        evidence[i] = scratch.vectors[MOST, i] = 0.0
    if base_used:
        base_covariances(robot, settings, scratch, tracking, imu, jump, dt)
        if motion.body[MOTION.lifted] > 0.5:    # what holds the robot is no foot
            reset_momentum_error(x, P)
        else:
            _update_by_base(robot, settings, scratch, tracking, up, motion, evidence, dt)
        total = dot(up, load3(scratch.bodies[0], FORCE))
        spread = 0.0
        for r in range(3):
            for s in range(3):
                spread += up[r] * up[s] * (tracking.noise[r, s] + tracking.slow_noise[r, s])
    else:
        reset_momentum_error(x, P)
    predict_velocity(feet, settings, scratch, states, R_WB, imu, memory, dt)
    follow_lift(feet, settings, scratch, states, R_WB, imu, memory, dt)
    loads = scratch.vectors[VECTOR]
    for i in range(nf):
        loads[i] = dot(up, load3(x, feet.index[i, START]))
    update_contact_by_motion(arrays, layout, settings, row, R_WB, (total, spread), dt,
                             results)

    # Feet that are likely up are mixed with no force in the state, others in the results only.
    latest, covariance = tracking.latest, tracking.latest_covariance
    for i in range(nf):
        given = row[layout.given_contact + i]
        lifted = 1.0 - contact.probability[i] if math.isnan(given) else 1.0 - given
        if lifted > 0.5:
            mix_with_air(feet, i, settings, x, P, lifted, 0.0, tracking.foot_rows, tracking.block)
    for r in range(nx):
        latest[r] = x[r]
        for c in range(nx):
            covariance[r, c] = P[r, c]
    for i in range(nf):
        lifted = 1.0 - contact.probability[i]
        if math.isnan(row[layout.given_contact + i]) and lifted <= 0.5:
            mix_with_air(feet, i, settings, latest, covariance, lifted, 0.0, tracking.foot_rows,
                         tracking.block)
    _keep_unilateral(feet, up, latest, covariance)
    _add_passing(feet, settings, states, up, contact.probability, latest, loads, covariance)
    found = results.forces
    for i in range(nf):
        s = feet.index[i, START]
        lifted = row[layout.given_contact + i] < 0.5    # False where it is not given
        for k in range(s, s + feet.index[i, SIZE]):
            found.coordinates[k] = 0.0 if lifted else latest[k]
            found.latest[k] = found.coordinates[k]
    for r in range(nc):
        for c in range(nc):
            found.covariance[r, c] = covariance[r, c]
            found.latest_covariance[r, c] = covariance[r, c]
