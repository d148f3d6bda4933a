# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Forces where no torque is measured: six equations of the base, and how load passes between feet.

The same filter as with torque, ``x = [w; e]`` and ``A w + e = b``, without the joints' rows and
with nothing external; so motion alone decides a sum, and what it leaves open is carried on from
the tick before:

* the load on a foot walks, as fast as legs pass load on, along the line on which it acts now: its
  centre of pressure goes with it. Load goes back to an even share over a few natural times;
* where in a sole it presses travels through the sole, and is known while the foot stands alone;
* no foot pulls, and friction bounds what pushes sideways. That of a sole aims above where the foot
  stands at rest, as the forces of legs do in whatever walks upright (the virtual pivot point, Maus
  2010). Squeeze between feet no motion tells: that is all that is known of it.

Contact mixes hypotheses, as it does with torque: see `force_contact`.

Arguments of the kernels: see ``estimation/__init__.py``.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.jacobians import SIZE, START
from legged_dynamics.dynamics.kinematics import FORCE
from legged_dynamics.estimation.contact_by_motion import LASTS, judge_by_motion, predict_velocity
from legged_dynamics.estimation.force_contact import mix_with_air, normal_force
from legged_dynamics.estimation.force_tracking import predicted, times_covariance
from legged_dynamics.estimation.layout import BASE, BEYOND, N_BESIDE
from legged_dynamics.estimation.load_prediction import carry_loads, start_loads
from legged_dynamics.estimation.momentum_noise import (
    base_errors,
    carry_momentum_error,
    forget_momentum_error,
    see_momentum_error,
)
from legged_dynamics.optimization.cholesky import factorize
from legged_dynamics.optimization.kalman_update import take_in, whiten
from legged_dynamics.spatial.algebra import dot, load3, store3, subtract
from legged_dynamics.spatial.jit import part

# How fast a standing foot's load walks is learned: deviations after one natural time sqrt(l / g),
# as fractions of the weight, at first, at least, at most; and how fast it is learned [1/s].
FIRST_RATE, SLOWEST_RATE, FASTEST_RATE, LEARNING = 2.0, 0.2, 10.0, 60.0
# Noise of the base's equations is learned, too, as a share of what the stated noise makes of it:
# bounds, and in which time [s].
LEAST_SCALE, NOISE_TIME = 0.1, 0.17
# How large a squared deviation of moments counts for that, and how fast one sample is believed:
# impacts are no Gaussian's.
SURPRISING, LEARNED_AT_ONCE = 15.0, 3.0
# What the load on a foot may seem to be for other reasons, as a fraction of the weight.
LOAD_NOISE = 0.04
# How many deviations of a moment count.
FAR_OFF = 2.0


@part
def take_base(robot, layout, settings, scratch, tracking, up, memory, dt):
    """Take the six equations of the base in: Kalman's update with all of them at once."""
    x, P, S, gain, nu = (tracking.state, tracking.covariance, tracking.block, tracking.gain,
                         tracking.innovation)
    nx, noise, others = x.shape[0], tracking.noise, tracking.noise_lasting
    nc, scale = nx - N_BESIDE, memory[layout.noise_scale]
    keep = settings.momentum_keep
    new = scale * (1.0 - keep * keep) * settings.momentum_time ** 2
    see_momentum_error(scratch.grasp, nc, keep, dt)
    for r in range(6):
        nu[r] = (scratch.bodies[0, FORCE + r]
                 - predicted(robot.columns, scratch.grasp, scratch.jacobian, r, x))
        times_covariance(robot.columns, scratch.grasp, scratch.jacobian, r, P, gain[r])
        for s in range(r + 1):
            S[r, s] = (predicted(robot.columns, scratch.grasp, scratch.jacobian, s, gain[r])
                       + scale * others[r, s] + new * noise[r, s] / dt ** 2)
    carry_momentum_error(x, P, gain, noise, nc, keep, new, dt)
    if not factorize(S, 6):
        return False
    whiten(S, gain, nu, 6)
    # An impact puts moments off by far more than forces: what is too far off counts for less.
    surprise = 0.0
    for r in range(3, 6):
        surprise += min(nu[r] * nu[r], SURPRISING) / 3.0
        weight = math.sqrt(min(1.0, FAR_OFF / max(math.fabs(nu[r]), 1e-9)))
        nu[r] *= weight
        for k in range(nx):
            gain[r, k] *= weight
    change = min(dt / NOISE_TIME, 1.0) * min(surprise - 1.0, LEARNED_AT_ONCE)
    memory[layout.noise_scale] = min(max(memory[layout.noise_scale] * math.exp(change),
                                         LEAST_SCALE), 1.0)
    learn_rates(robot, layout, settings, gain, nu, up, memory, dt)
    take_in(x, P, gain, nu, 6)
    return True


@part
def push_only(feet, up, x, P):
    """Move along what is not known until no foot pulls at the ground."""
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
def learn_rates(robot, layout, settings, gain, nu, up, memory, dt):
    """
    Learn how fast each foot's load walks, from whether its corrections agree in sign.

    Those of a filter that expects too little come with one sign, those of one that expects too
    much change sign; summed over as long as errors last.
    """
    for i in range(robot.feet.index.shape[0]):
        s, at = robot.feet.index[i, START], layout.load_rate + 5 * i
        for r in range(6):
            g = up[0] * gain[r, s] + up[1] * gain[r, s + 1] + up[2] * gain[r, s + 2]
            memory[at + 1] += g * nu[r]
            memory[at + 2] += g * g
        memory[at + 4] += dt
        if memory[at + 4] > 0.99 * LASTS:
            agreement = memory[at + 1] * memory[at + 3] / max(memory[at + 2], 1e-12)
            agreement = min(max(agreement, -1.0), 1.0)
            rate = memory[at] * math.exp(min(LEARNING * memory[at + 4], 1.0) * agreement)
            memory[at] = min(max(rate, SLOWEST_RATE), FASTEST_RATE)
            memory[at + 3] = memory[at + 1]
            memory[at + 1] = memory[at + 2] = memory[at + 4] = 0.0


@part
def density_of_no_load(tracking, feet, settings, i, up):
    """Return the logarithm of the density that a foot's load has at nothing."""
    load, variance = normal_force(tracking.covariance, tracking.state, feet.index[i, START], up)
    variance += (LOAD_NOISE * settings.weight) ** 2
    return -0.5 * (load * load / variance + math.log(variance))


@part
def standing_forces(robot, layout, settings, scratch, tracking, row, states, memory, R_WB, imu, dt,
                    out):
    """Find contact and forces from motion alone, where no torque is measured."""
    feet, nf, nc = robot.feet, robot.feet.index.shape[0], layout.contacts
    x, P = tracking.state, tracking.covariance
    nx = x.shape[0]
    up = (R_WB[6], R_WB[7], R_WB[8])
    base_used = imu and settings.use_base > 0.5
    a = load3(scratch.vectors[BASE], 6)
    jump = (0.0, 0.0, 0.0)
    if memory[layout.by_motion] > 0.5:
        jump = subtract(a, load3(memory, layout.reading))
    store3(memory, layout.reading, a)
    if memory[layout.tracking] < 0.5 and memory[layout.by_motion] < 0.5:
        start_loads(feet, settings, up, x, P)
    if memory[layout.by_motion] < 0.5:
        forget_momentum_error(x, P, nc)
        for i in range(nf):
            for k in range(5):
                memory[layout.load_rate + 5 * i + k] = FIRST_RATE if k == 0 else 0.0
            memory[layout.soles + 2 * i] = 0.0
        memory[layout.noise_scale], memory[layout.restless] = 1.0, 0.0
        memory[layout.slip_variance] = settings.swing_speed ** 2
        for i in range(nf):
            memory[layout.lasted + i] = memory[layout.flag + i] = memory[layout.standing + i]
    memory[layout.tracking], memory[layout.by_motion] = 0.0, 1.0
    carry_loads(robot, layout, settings, states, up, memory, x, P, dt)
    total, spread = 0.0, -1.0
    told = scratch.vectors[BEYOND]
    for i in range(nf):
        told[i] = 0.0
    if base_used:
        base_errors(robot, settings, scratch, tracking, imu, jump, dt)
        for i in range(nf):
            told[i] = density_of_no_load(tracking, feet, settings, i, up)
        if take_base(robot, layout, settings, scratch, tracking, up, memory, dt):
            for i in range(nf):
                told[i] -= density_of_no_load(tracking, feet, settings, i, up)
        else:
            start_loads(feet, settings, up, x, P)
            forget_momentum_error(x, P, nc)
            for i in range(nf):
                told[i] = 0.0
        push_only(feet, up, x, P)
        total = dot(up, load3(scratch.bodies[0], FORCE))
        spread = 0.0
        for r in range(3):
            for s in range(3):
                spread += up[r] * up[s] * (tracking.noise[r, s] + tracking.noise_lasting[r, s])
    else:
        forget_momentum_error(x, P, nc)
    predict_velocity(feet, layout, settings, scratch, states, memory, R_WB,
                     a, imu, dt)
    judge_by_motion(robot, layout, settings, scratch, row, states, memory, R_WB, imu, told, total,
                    spread, dt, out)

    # A foot that is likely up is mixed with nothing, for good; one that may be, in the output.
    now, covariance = tracking.now, tracking.carried
    for i in range(nf):
        given = row[layout.given_contact + i]
        lifted = 1.0 - memory[layout.standing + i] if math.isnan(given) else 1.0 - given
        if lifted > 0.5:
            mix_with_air(feet, i, settings, x, P, lifted, tracking.few, tracking.block)
    for r in range(nx):
        now[r] = x[r]
        for c in range(nx):
            covariance[r, c] = P[r, c]
    for i in range(nf):
        lifted = 1.0 - memory[layout.standing + i]
        if math.isnan(row[layout.given_contact + i]) and lifted <= 0.5:
            mix_with_air(feet, i, settings, now, covariance, lifted, tracking.few, tracking.block)
    push_only(feet, up, now, covariance)
    for i in range(nf):
        s = feet.index[i, START]
        lifted = row[layout.given_contact + i] < 0.5    # False where it is not given
        for k in range(s, s + feet.index[i, SIZE]):
            out[layout.coordinates + k] = 0.0 if lifted else now[k]
            out[layout.latest_coordinates + k] = out[layout.coordinates + k]
        out[layout.latest_contact + i] = out[layout.contact + i]
    for r in range(nc):
        for c in range(nc):
            out[layout.covariance + r * nc + c] = covariance[r, c]
            out[layout.latest_covariance + r * nc + c] = covariance[r, c]
