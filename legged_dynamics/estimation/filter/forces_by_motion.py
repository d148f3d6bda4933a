# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Forces where no torque is measured: six equations of the base, and how load passes between feet.

A Kalman filter as with torque (`force_tracking`), ``x = [w; p]`` and ``A w + d(p) = b``, without
equations of joints, and with an error p of the base's momentum instead of an external wrench. The
equations determine a sum of all forces; the rest is predicted from the tick before:

* the load on a foot is a random walk that keeps the centre of pressure; it decays to an even share
  in a few natural times;
* the centre of pressure of a sole moves through the sole;
* no foot pulls, and friction bounds sideways forces. Motion does not determine squeeze between
  feet: this is all that is known of it.

Contact mixes hypotheses, as it does with torque: see `contact`.
"""
from __future__ import annotations

import math

from legged_dynamics.contact.contact_evidence import CORRELATION_TIME, LEAST_PROBABILITY
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
from legged_dynamics.estimation.contact import clear_given_air, mix_with_air, normal_force
from legged_dynamics.estimation.contact_by_motion import (
    follow_lift,
    predict_velocity,
    update_contact_by_motion,
)
from legged_dynamics.estimation.filter.force_tracking import (
    copy_state,
    covariance_row,
    predict_equation,
    start_tracking,
)
from legged_dynamics.estimation.filter.layout import BEYOND, MOST, VECTOR
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
    cross,
    dot,
    load3,
    load9,
    norm,
    rotate_back,
    scale,
    store3,
    subtract,
    symmetric_times,
)
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.symmetric import add6, inverse_symmetric

# -------------------------------------------------------------------------------------------------
# Prediction of forces.


@part
def _spreads(feet, settings, states, i):
    """Return how far a centre of pressure may be off [m], less for a sole on its edge."""
    R, sole = load9(states[i], FOOT_ROTATION), feet.geometry[i]
    low = rotate_back(R, subtract(load3(states[i], CONTACT), load3(states[i], FOOT_POSITION)))
    long, wide = sole[SOLE] - sole[SOLE + 1], sole[SOLE + 2] - sole[SOLE + 3]
    along = max((sole[SOLE] - low[0]) * (low[0] - sole[SOLE + 1]), 0.0)
    across = max((sole[SOLE + 2] - low[1]) * (low[1] - sole[SOLE + 3]), 0.0)
    return (math.sqrt(settings.pressure_along * (along + (settings.edge * long) ** 2)),
            math.sqrt(settings.pressure_across * (across + (settings.edge * wide) ** 2)))


@part
def _predict_loads(robot, settings, states, up, probability, memory, dt):
    """Predict the forces of all feet from those of the tick before."""
    x, P, legs = memory.state, memory.covariance, memory.legs
    feet, nx, W2 = robot.feet, x.shape[0], settings.weight ** 2
    nf, ticks = feet.index.shape[0], dt / settings.natural_time
    keep = math.exp(-ticks / settings.even_time)
    stay = math.exp(-2.0 * ticks / settings.even_time)
    stray = math.exp(-ticks / settings.straying)
    standing = 0.0
    for i in range(nf):
        standing += probability[i]
    for i in range(nf):
        s, size, p = feet.index[i, START], feet.index[i, SIZE], probability[i]
        # Mean: load decays to even; what is sideways decays soon; moments.
        load = dot(up, load3(x, s))
        even = settings.weight * p / max(standing, 1.0)
        lever = (0.0, 0.0, 0.0)
        spread_x, spread_y = 0.0, 0.0
        astray = add_scaled(load3(x, s), -load, up)
        load = even + keep * (load - even)
        store3(x, s, add_scaled(scale(load, up), stray, astray))
        for k in range(nx):
            t = (keep - stray) * (up[0] * P[s, k] + up[1] * P[s + 1, k] + up[2] * P[s + 2, k])
            for m in range(3):
                P[s + m, k] = stray * P[s + m, k] + up[m] * t
        for k in range(nx):
            t = (keep - stray) * (up[0] * P[k, s] + up[1] * P[k, s + 1] + up[2] * P[k, s + 2])
            for m in range(3):
                P[k, s + m] = stray * P[k, s + m] + up[m] * t
        if size > 3:
            spread_x, spread_y = _spreads(feet, settings, states, i)
            for r in range(s + 3, s + size):
                x[r] *= stay
                for k in range(nx):
                    P[r, k] *= stay
                    P[k, r] *= stay
            if load > settings.unloaded * settings.weight:
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
            g = up[r] if r < 3 else lever[r - 3]
            for c in range(size):
                h = up[c] if c < 3 else lever[c - 3]
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
                      new * (settings.sideways * spread_x) ** 2)
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
        surprise += nu[r] * nu[r] / 3.0
        weight = math.sqrt(min(1.0, settings.significant / max(math.fabs(nu[r]), 1e-9)))
        nu[r] *= weight
        for k in range(nx):
            gain[r, k] *= weight
    change = min(dt / settings.slip_time, 1.0) * min(surprise - 1.0, settings.most_learned)
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
        s = feet.index[worst, START]
        _, known = normal_force(P, x, s, up)
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
    nf = feet.index.shape[0]
    for i in range(nf):
        evidence[i] = _log_density_of_no_load(x, P, feet, settings, i, up)
    if _base_update(robot, settings, scratch, tracking, up, motion, dt):
        for i in range(nf):
            evidence[i] -= _log_density_of_no_load(x, P, feet, settings, i, up)
    else:
        start_tracking(feet, settings, up, settings.weight / nf, x, P)
        reset_momentum_error(x, P)
        for i in range(nf):
            evidence[i] = 0.0
    _keep_unilateral(feet, up, x, P)


@part
def _start_learning(feet, settings, memory, contact):
    """Reset the error of momentum and all that is estimated in addition to the forces."""
    reset_momentum_error(memory.state, memory.covariance)
    for i in range(feet.index.shape[0]):
        legs = memory.legs
        legs[i, LEG.load_rate] = settings.first_load_rate
        legs[i, LEG.correction] = legs[i, LEG.information] = 0.0
        legs[i, LEG.before] = legs[i, LEG.elapsed] = 0.0
        legs[i, LEG.probability] = contact.probability[i]
    memory.body[MOTION.noise_scale] = 1.0
    memory.body[MOTION.slip_variance] = settings.swing_speed ** 2
    memory.body[MOTION.stood] = memory.body[MOTION.rising] = memory.body[MOTION.lifted] = 0.0


# Variance of a load that is anywhere from q to -q, evenly, over q squared.
PASSED = 1.0 / 3.0


@part
def _let_load_pass(feet, settings, states, up, probability, x, passing, covariance):
    """
    Let load pass unseen from point feet that stood to those that landed: half of it, in the mean.

    It is not seen in the part q of the loads, row ``passing``, that the balance leaves open, and
    which becomes -q: of a trot, all load on one diagonal, then on the other.
    """
    nf, reach = feet.index.shape[0], settings.reach
    N, b, size = (1e-6, 0.0, 0.0, 1e-6, 0.0, 1e-6), (0.0, 0.0, 0.0), 0
    for i in range(nf):
        p, size = probability[i], max(size, feet.index[i, SIZE])
        a, c, _ = scale(1.0 / reach, cross(load3(states[i], CONTACT), up))
        passing[i] = dot(up, load3(x, feet.index[i, START]))
        N = add6(N, (p, p * a, p * c, p * a * a, p * a * c, p * c * c))
        b = add_scaled(b, passing[i], (1.0, a, c))
    if size > 3:
        return
    balanced = symmetric_times(inverse_symmetric(N), b)
    for i in range(nf):
        a, c, _ = scale(1.0 / reach, cross(load3(states[i], CONTACT), up))
        passing[i] -= probability[i] * dot(balanced, (1.0, a, c))
    for i in range(nf):
        for r in range(3):
            x[feet.index[i, START] + r] -= passing[i] * up[r]
        for j in range(nf):
            both = PASSED * passing[i] * passing[j]
            for r in range(3):
                for c in range(3):
                    covariance[feet.index[i, START] + r, feet.index[j, START] + c] += (
                        both * up[r] * up[c])


@part
def _add_blow(feet, layout, settings, before, newest, covariance):
    """
    Add to a covariance what the newest reading of the accelerometer has beyond its tick's mean.

    Forces are means over a tick, at whose end one of n feet may have landed: it bears all of the
    jump, of which the mean has a half, on all alike.
    """
    first, n = layout.acceleration, float(feet.index.shape[0])
    share = math.sqrt((1.0 - 0.75 / n) / n)
    jump = norm(subtract(load3(newest, first), load3(before, first)))
    for i in range(feet.index.shape[0]):
        up = newest[layout.given_contact + i] < 0.5     # False where it is not given
        blow = 0.0 if up else share * jump * settings.weight / settings.gravity
        for k in range(feet.index[i, SIZE]):
            at = feet.index[i, START] + k
            covariance[at, at] += (blow if k < 3 else blow * settings.arm) ** 2


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
    if status[STATUS.by_motion] < 0.5:
        if status[STATUS.by_torque] < 0.5:
            start_tracking(feet, settings, up, settings.weight / nf, x, P)
        else:
            copy_state(nc, memory.forces.state, memory.forces.covariance, 1.0, x, P)
        _start_learning(feet, settings, motion, contact)
    status[STATUS.by_torque], status[STATUS.by_motion] = 0.0, 1.0
    _predict_loads(robot, settings, states, up, contact.probability, motion, dt)
    total, spread = 0.0, -1.0
    evidence = scratch.vectors[BEYOND]
    for i in range(nf):
        evidence[i] = scratch.vectors[MOST, i] = 0.0
    if base_used:
        base_covariances(robot, settings, scratch, tracking, imu, load3(memory.jump, 0), dt)
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
    update_contact_by_motion(arrays, layout, settings, row, R_WB, (total, spread), dt, results)

    # Feet that are likely up are mixed with no force in the state, others in the results only.
    latest, covariance, found = tracking.latest, tracking.latest_covariance, results.forces
    for i in range(nf):
        given = row[layout.given_contact + i]
        lifted = 1.0 - contact.probability[i] if math.isnan(given) else 1.0 - given
        if lifted > 0.5:
            mix_with_air(feet, i, settings, x, P, lifted, 0.0, tracking.foot_rows, tracking.block)
    copy_state(nx, x, P, 1.0, latest, covariance)
    for i in range(nf):
        lifted = max(1.0 - LEAST_PROBABILITY - contact.probability[i], 0.0)     # it is a bound
        if math.isnan(row[layout.given_contact + i]) and lifted <= 0.5:
            mix_with_air(feet, i, settings, latest, covariance, lifted, 0.0, tracking.foot_rows,
                         tracking.block)
    _let_load_pass(feet, settings, states, up, contact.probability, latest, loads, covariance)
    _keep_unilateral(feet, up, latest, covariance)
    copy_state(nc, latest, covariance, 1.0, found.coordinates, found.covariance)
    copy_state(nc, latest, covariance, 1.0, found.latest, found.latest_covariance)
    if imu and settings.two_samples > 0.5:
        _add_blow(feet, layout, settings, arrays.window[0], arrays.window[1],
                  found.latest_covariance)
    clear_given_air(feet, layout, row, found)
