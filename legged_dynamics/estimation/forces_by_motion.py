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
* a force aims above where the foot stands at rest, as the forces of legs do in whatever walks
  upright (the virtual pivot point, Maus 2010), and friction bounds how far it departs from that.
  Squeeze between feet no motion tells: that is all that is known of it.

Contact mixes hypotheses, as it does with torque: see `force_contact`.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    SIZE,
    SOLE,
    START,
)
from legged_dynamics.dynamics.kinematics import FORCE
from legged_dynamics.estimation.contact_by_motion import LASTS, judge_by_motion, predict_velocity
from legged_dynamics.estimation.force_contact import mix_with_air
from legged_dynamics.estimation.force_tracking import predicted, take_in, times_covariance
from legged_dynamics.estimation.layout import BASE
from legged_dynamics.optimization.cholesky import factorize
from legged_dynamics.spatial.algebra import (
    add_scaled,
    dot,
    load3,
    load9,
    rotate,
    rotate_back,
    scale,
    store3,
    subtract,
)
from legged_dynamics.spatial.jit import part

# How fast a load walks: deviations after one natural time sqrt(l / g), as fractions of the weight.
# That of a standing foot is learned (first value, bounds, and how fast [1/s]); a foot in the air
# may land.
FIRST_RATE, SLOWEST_RATE, FASTEST_RATE, LEARNING = 2.0, 0.2, 10.0, 60.0
LANDING_RATE = 3.0
# Noise of the base's equations is learned, too, as a share of what the stated noise makes of it:
# bounds, and in which time [s].
LEAST_SCALE, NOISE_TIME = 0.03, 0.17
# How many deviations of a moment count.
FAR_OFF = 2.0
# After how many natural times load is shared evenly, and how unevenly feet share it, as a
# fraction of an even share.
EVEN_TIME, UNEVEN = 3.0, 0.5
# After how many natural times the centre of pressure has crossed the sole.
CROSSING = 1.5
# How far a force departs sideways from where it aims: friction's bound over the square root of
# three, and the steepest aim.
SIDEWAYS, STEEPEST_AIM = 0.3, 0.4
# Height of the point where legs' forces meet, over that of the base.
PIVOT = 1.3
# How far from its low edge a tilted sole presses, as a fraction of its size.
EDGE = 0.08
# Moment about the vertical over that which the sole's length allows.
TWIST = 0.3


@part
def start_loads(feet, settings, up, x, P):
    """Begin with an even share on all feet and little knowledge of it."""
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
def aim(robot, settings, states, up, i):
    """Return a foot's force for a load of one: towards a point above where it stands at rest."""
    point = load3(states[i], CONTACT)
    home = (robot.homes[i, 0], robot.homes[i, 1], 0.0)
    away = subtract(home, point)
    height = max(dot(up, away), settings.least_height) * PIVOT
    sideways = scale(1.0 / height, add_scaled(away, -dot(up, away), up))
    length = math.sqrt(dot(sideways, sideways))
    return add_scaled(up, min(1.0, STEEPEST_AIM / max(length, 1e-9)), sideways)


@part
def multiply(a, b):
    """Return the products of the elements of two 3-tuples."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@part
def follow_sole(feet, layout, states, memory, up, stay, x, P, i):
    """
    Carry a sole's moments on as its low part changes; return how far it may press from there.

    Where it presses is kept as a multiple of how far that may be: all of a sole that lies flat,
    next to nothing of one on its edge.
    """
    s, nx, at = feet.index[i, START], x.shape[0], layout.soles + 2 * i
    R, sole = load9(states[i], FOOT_ROTATION), feet.geometry[i]
    low = rotate_back(R, subtract(load3(states[i], CONTACT), load3(states[i], FOOT_POSITION)))
    long, wide = sole[SOLE] - sole[SOLE + 1], sole[SOLE + 2] - sole[SOLE + 3]
    # The variance of a coin that shows one edge or the other, over three as of an even spread.
    spread_x = math.sqrt(max((sole[SOLE] - low[0]) * (low[0] - sole[SOLE + 1]), 0.0) / 3.0
                         + (EDGE * long) ** 2)
    spread_y = math.sqrt(max((sole[SOLE + 2] - low[1]) * (low[1] - sole[SOLE + 3]), 0.0) / 3.0
                         + (EDGE * wide) ** 2)
    keep = (stay, stay, stay)
    if memory[at] > 0.0:
        keep = (stay * spread_y / memory[at + 1], stay * spread_x / memory[at], stay)
    memory[at], memory[at + 1] = spread_x, spread_y
    m = rotate_back(R, load3(x, s + 3))
    store3(x, s + 3, rotate(R, multiply(keep, m)))
    for k in range(nx):
        m = rotate_back(R, (P[s + 3, k], P[s + 4, k], P[s + 5, k]))
        m = rotate(R, multiply(keep, m))
        P[s + 3, k], P[s + 4, k], P[s + 5, k] = m
    for k in range(nx):
        store3(P[k], s + 3, rotate(R, multiply(keep, rotate_back(R, load3(P[k], s + 3)))))
    return spread_x, spread_y


@part
def carry_loads(robot, layout, settings, states, up, memory, x, P, dt):
    """Predict the forces of all feet from those of the tick before."""
    feet, nx, W2 = robot.feet, x.shape[0], settings.weight ** 2
    probability = memory[layout.standing:]
    nf, ticks = feet.index.shape[0], dt / settings.natural_time
    keep = math.exp(-ticks / EVEN_TIME)
    stay = math.exp(-ticks / CROSSING)
    standing = 0.0
    for i in range(nf):
        standing += probability[i]
    for i in range(nf):
        s, size, p = feet.index[i, START], feet.index[i, SIZE], probability[i]
        d = aim(robot, settings, states, up, i)
        # What is kept: load, along the aim; moments of a sole.
        load = dot(up, load3(x, s))
        even = settings.weight * p / max(standing, 1.0)
        lever = (0.0, 0.0, 0.0)
        spread_x, spread_y = 0.0, 0.0
        load = even + keep * (load - even)
        for k in range(3):
            x[s + k] = d[k] * load
        for k in range(nx):
            t = keep * (up[0] * P[s, k] + up[1] * P[s + 1, k] + up[2] * P[s + 2, k])
            for m in range(3):
                P[s + m, k] = d[m] * t
        for k in range(nx):
            t = keep * (up[0] * P[k, s] + up[1] * P[k, s + 1] + up[2] * P[k, s + 2])
            for m in range(3):
                P[k, s + m] = d[m] * t
        if size == 6:
            spread_x, spread_y = follow_sole(feet, layout, states, memory, up, stay, x, P, i)
            if load > 0.02 * settings.weight:
                lever = scale(1.0 / load, load3(x, s + 3))
        # What is new: load walks along the line on which it acts.
        rate = memory[layout.load_rate + 5 * i]
        q = ((p * rate ** 2 + (1.0 - p) * LANDING_RATE ** 2) * W2 * ticks
             + (1.0 - keep * keep) * (UNEVEN * even) ** 2)
        for r in range(size):
            g = d[r] if r < 3 else lever[r - 3]
            for c in range(size):
                h = d[c] if c < 3 else lever[c - 3]
                P[s + r, s + c] += q * g * h
        variance = 0.0
        for r in range(3):
            for c in range(3):
                variance += up[r] * P[s + r, s + c] * up[c]
        square = load * load + variance
        sideways = SIDEWAYS ** 2 * square
        for r in range(3):
            P[s + r, s + r] += sideways
            for c in range(3):
                P[s + r, s + c] -= sideways * up[r] * up[c]
        if size == 6:
            R = load9(states[i], FOOT_ROTATION)
            new = (1.0 - stay * stay) * square
            spread = (new * spread_y ** 2, new * spread_x ** 2, new * (TWIST * spread_x) ** 2)
            for r in range(3):
                for c in range(3):
                    for k in range(3):
                        P[s + 3 + r, s + 3 + c] += R[3 * r + k] * spread[k] * R[3 * c + k]


@part
def take_base(robot, layout, settings, scratch, tracking, up, memory, dt):
    """Take the six equations of the base in: Kalman's update with all of them at once."""
    x, P, S, gain, nu = (tracking.state, tracking.covariance, tracking.noise, tracking.gain,
                         tracking.innovation)
    nx = x.shape[0]
    for r in range(6):
        nu[r] = (scratch.bodies[0, FORCE + r]
                 - predicted(robot.columns, scratch.grasp, scratch.jacobian, r, x))
        times_covariance(robot.columns, scratch.grasp, scratch.jacobian, r, P, gain[r])
        for s in range(r + 1):
            S[r, s] = predicted(robot.columns, scratch.grasp, scratch.jacobian, s, gain[r])
        S[r, r] += memory[layout.noise_scale] * robot.variance[r]
    if not factorize(S, 6):
        return False
    for r in range(6):
        row, t = gain[r], nu[r]
        for s in range(r):
            h, other = S[r, s], gain[s]
            t -= h * nu[s]
            for k in range(nx):
                row[k] -= h * other[k]
        nu[r] = t * S[r, r]
        for k in range(nx):
            row[k] *= S[r, r]
    # An impact puts moments off by far more than forces: what is too far off counts for less.
    surprise = 0.0
    for r in range(3, 6):
        surprise += min(nu[r] * nu[r], 9.0) / 3.0
        weight = math.sqrt(min(1.0, FAR_OFF / max(math.fabs(nu[r]), 1e-9)))
        nu[r] *= weight
        for k in range(nx):
            gain[r, k] *= weight
    change = min(dt / NOISE_TIME, 1.0) * min(surprise - 1.0, 1.0)
    memory[layout.noise_scale] = min(max(memory[layout.noise_scale] * math.exp(change),
                                         LEAST_SCALE), 1.0)
    learn_rates(robot, layout, settings, gain, nu, up, memory, dt)
    take_in(x, P, gain, nu, 6)
    return True


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
def standing_forces(robot, layout, settings, scratch, tracking, row, states, memory, R_WB, imu, dt,
                    out):
    """Find contact and forces from motion alone, where no torque is measured."""
    feet, nf, nc = robot.feet, robot.feet.index.shape[0], layout.contacts
    x, P = tracking.state, tracking.covariance
    nx = x.shape[0]
    up = (R_WB[6], R_WB[7], R_WB[8])
    base_used = imu and settings.use_base > 0.5
    if memory[layout.tracking] < 0.5 and memory[layout.by_motion] < 0.5:
        start_loads(feet, settings, up, x, P)
    if memory[layout.by_motion] < 0.5:
        for i in range(nf):
            for k in range(5):
                memory[layout.load_rate + 5 * i + k] = FIRST_RATE if k == 0 else 0.0
            memory[layout.soles + 2 * i] = 0.0
        memory[layout.noise_scale] = 1.0
    memory[layout.tracking], memory[layout.by_motion] = 0.0, 1.0
    for r in range(nc, nx):         # nothing external: motion alone cannot tell it from feet
        x[r] = 0.0
        for c in range(nx):
            P[r, c] = P[c, r] = 0.0
    carry_loads(robot, layout, settings, states, up, memory, x, P, dt)
    total, spread = 0.0, -1.0
    if base_used:
        if not take_base(robot, layout, settings, scratch, tracking, up, memory, dt):
            start_loads(feet, settings, up, x, P)
        total = dot(up, load3(scratch.bodies[0], FORCE))
        spread = max(robot.variance[0], max(robot.variance[1], robot.variance[2]))
    predict_velocity(feet, layout, settings, scratch, states, memory, R_WB,
                     load3(scratch.vectors[BASE], 6), imu, dt)
    judge_by_motion(robot, layout, settings, scratch, tracking, row, states, memory, R_WB, imu,
                    total, spread, dt, out)

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
