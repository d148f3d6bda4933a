# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contact of each foot where no torque is measured: by its motion, and by the load on it.

One Bayes filter a foot (`gait.contact_evidence`). Each sample adds log-likelihood ratios of
standing over swinging:

* of the speed of the contact point over the ground and its height over where the foot last stood:
  zero-mean normals, narrow for a standing foot, wide for a swinging one, scaled by the leg length
  l and ``sqrt(g l)`` (Froude). Height has a small weight: a foot may stand on a step;
* of the load: by how much the base's equations in this sample have lowered the density of no load
  on the foot (`forces_by_motion`). A foot that must bear the robot stands, whatever its motion;
  in free fall no foot stands.

Samples closer together than the errors' correlation time have smaller weights. The base's
velocity over the ground is predicted by the accelerometer and corrected by standing feet, so that
a foot that starts to swing differs from the others at once. A robot that does not fall stands on
one foot at least, unless it was lifted: its base has risen as none of its feet says
(`follow_lift`).
"""

import math

from legged_dynamics.contact.contact_evidence import (
    CORRELATION_TIME,
    FLIGHT_NOISE,
    LEAST_PROBABILITY,
    RESTS,
    STOPS,
    bayes_update,
    clip,
    force_evidence,
    motion_evidence,
    relax,
    speed_levels,
)
from legged_dynamics.dynamics.jacobians import CONTACT, FOOT_POSITION, SIZE
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.contact import foot_velocity
from legged_dynamics.estimation.filter.layout import BASE, BEYOND, VECTOR, WEIGHTS
from legged_dynamics.estimation.filter.memory import LEG, MOTION, PLACE
from legged_dynamics.spatial.algebra import (
    add,
    add_scaled,
    dot,
    load3,
    norm,
    rotate,
    rotate_back,
    scale,
    store3,
    subtract,
)
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.layout import get3


@part
def _height_over_place(states, ground, R_WB, i):
    """Return how high a foot is over where it last stood, along the ground's normal."""
    if ground.places[i, PLACE.known] < 0.5:
        return 0.0
    now = rotate(R_WB, load3(states[i], FOOT_POSITION))
    return dot(load3(ground.normal, 0), subtract(now, get3(ground.places, i, PLACE.position)))


@part
def _speed_levels(feet, settings, body, i):
    """Return the deviations of a standing and of a swinging foot's speed, by recent steps."""
    # A standing point foot has the speed by which these were seen to differ; a sole rolls off.
    slip, swing = speed_levels(body[MOTION.fastest], settings.slip_speed, settings.swing_speed)
    if feet.index[i, SIZE] == 3:
        slip = min(slip, math.sqrt(max(body[MOTION.slip_variance], settings.slip_speed ** 2)))
    return slip, swing


@part
def predict_velocity(feet, settings, scratch, states, R_WB, imu, memory, dt):
    """
    Predict the base's velocity over ground and its variance from the accelerometer.

    At the start, the velocity at which the lowest feet stand.
    """
    body, acceleration = memory.motion.body, load3(scratch.vectors[BASE], 6)
    nf, unknown = feet.index.shape[0], settings.swing_speed ** 2
    if body[MOTION.known] > 0.5 and imu:
        rate = subtract(rotate(R_WB, acceleration), (0.0, 0.0, GRAVITY))
        store3(body, MOTION.velocity, add_scaled(load3(body, MOTION.velocity), dt, rate))
        body[MOTION.variance] = min(
            body[MOTION.variance]
            + settings.largest_rise_bias ** 2 * settings.rise_correlation * dt, unknown)
    elif body[MOTION.known] < 0.5:
        # The first value comes from the lowest feet.
        up, lowest = rotate_back(R_WB, load3(memory.ground.normal, 0)), 1e30
        for i in range(nf):
            lowest = min(lowest, dot(load3(states[i], CONTACT), up))
        total, drift = 0.0, (0.0, 0.0, 0.0)
        for i in range(nf):
            height = dot(load3(states[i], CONTACT), up) - lowest
            w = math.exp(-0.5 * (height / settings.clearance) ** 2)
            total += w
            drift = add_scaled(drift, -w, foot_velocity(feet, scratch.bodies, states, i))
        store3(body, MOTION.velocity, rotate(R_WB, scale(1.0 / total, drift)))
        body[MOTION.variance] = unknown
        body[MOTION.known] = 1.0
    else:
        body[MOTION.variance] = unknown


@part
def follow_lift(feet, settings, scratch, states, R_WB, imu, memory, dt):
    """
    Update the probability that the robot has been lifted off the ground.

    A standing robot's base rises as a foot says, a lifted one by the accelerometer alone;
    the velocities are compared while all feet seem to stand.
    """
    body, bodies, flags = memory.motion.body, scratch.bodies, memory.contact.flag
    acceleration = load3(scratch.vectors[BASE], 6)
    nf, upward, hanging = feet.index.shape[0], 0.0, body[MOTION.lifted] > 0.5
    down = 0
    for i in range(nf):
        upward -= rotate(R_WB, foot_velocity(feet, bodies, states, i))[2] / nf
        down += 1 if flags[i] > 0.5 else 0
    before = body[MOTION.upward]
    body[MOTION.upward] = upward
    if not imu or not (hanging or down == nf):
        body[MOTION.stood] = body[MOTION.rising] = 0.0
        return
    if body[MOTION.stood] == 0.0:
        body[MOTION.rising] = body[MOTION.rising_bias] = 0.0
    body[MOTION.stood] += dt
    faster = rotate(R_WB, acceleration)[2] - GRAVITY - (upward - before) / dt
    faster -= body[MOTION.rising_bias]
    if body[MOTION.stood] < settings.standing_known:
        body[MOTION.rising_bias] += dt / body[MOTION.stood] * faster
        return
    if math.fabs(body[MOTION.rising_bias]) > settings.largest_rise_bias:      # it was not at rest
        body[MOTION.stood] = 0.0
        return
    rising = body[MOTION.rising]
    body[MOTION.rising_bias] += dt / settings.rise_time ** 2 * clip(
        rising, 3.0 * settings.rise_error)
    rising += dt * (faster - 2.0 / settings.rise_time * rising)
    body[MOTION.rising] = rising
    velocity, hanging_speed = rising + upward, settings.hanging_speed
    error = math.hypot(settings.rise_error, settings.rise_share * upward)
    off = 1e30
    for i in range(nf):
        one = velocity + rotate(R_WB, foot_velocity(feet, bodies, states, i))[2]
        off = min(off, math.fabs(one) if hanging else max(one, 0.0))
    rests = -0.5 * (velocity / error) ** 2
    hangs = max(rests, -0.5 * (velocity / hanging_speed) ** 2 - math.log(hanging_speed / error))
    lifted = body[MOTION.lifted]
    if max(math.fabs(velocity), math.fabs(upward)) > settings.significant * settings.rise_error:
        lifted = bayes_update(lifted, min(dt / settings.rise_correlation, 1.0) * (
            hangs + 0.5 * (off / error) ** 2))
    if lifted <= 0.5:
        lifted *= 1.0 - min(dt / settings.standing_known, 1.0)
    body[MOTION.lifted] = min(lifted, 1.0 - settings.least_kept)


@part
def _learn_slip(feet, settings, bodies, states, R_WB, standing, dt, body):
    """Update the variance of standing feet's velocities, while more than one stands."""
    mean, total, square = (0.0, 0.0, 0.0), 0.0, 0.0
    for i in range(feet.index.shape[0]):
        p = standing[i]
        v = foot_velocity(feet, bodies, states, i)
        # Over ground; the base's velocity drops out.
        v = add(v, rotate_back(R_WB, load3(body, MOTION.velocity)))
        mean, total, square = add_scaled(mean, p, v), total + p, square + p * dot(v, v)
    if total > 1.5:
        spread = max(square - dot(mean, mean) / total, 0.0) / (total - 1.0) / 3.0
        share = min(dt / settings.slip_time, 1.0)
        body[MOTION.slip_variance] += share * (spread - body[MOTION.slip_variance])


@part
def _correct_velocity(feet, settings, bodies, states, R_WB, standing, dt, body):
    """Correct the base's velocity by the standing feet, weighted by their probabilities."""
    _learn_slip(feet, settings, bodies, states, R_WB, standing, dt, body)
    information = 1.0 / body[MOTION.variance]
    pull = scale(information, load3(body, MOTION.velocity))
    share = min(dt / CORRELATION_TIME, 1.0)
    for i in range(feet.index.shape[0]):
        slip, _ = _speed_levels(feet, settings, body, i)
        w = share / slip ** 2 * standing[i]
        velocity = rotate(R_WB, foot_velocity(feet, bodies, states, i))
        pull, information = add_scaled(pull, -w, velocity), information + w
    body[MOTION.variance] = 1.0 / information
    store3(body, MOTION.velocity, scale(1.0 / information, pull))


@part
def _evidence_of_motion(feet, settings, scratch, states, R_WB, memory, dt):
    """Fill the log-likelihood ratio of each foot's speed and height."""
    body, legs, evidence = memory.motion.body, memory.motion.legs, scratch.vectors[WEIGHTS]
    base = rotate_back(R_WB, load3(body, MOTION.velocity))
    memory_time = settings.step_memory * settings.natural_time
    fastest = body[MOTION.fastest] * (1.0 - min(dt / memory_time, 1.0))
    for i in range(feet.index.shape[0]):
        slip, swing = _speed_levels(feet, settings, body, i)
        speed = norm(add(base, foot_velocity(feet, scratch.bodies, states, i)))
        fastest = max(fastest, speed)
        height = _height_over_place(states, memory.ground, R_WB, i)
        recent = legs[i, LEG.speed]
        rest = RESTS + STOPS * min(recent / swing, 1.0)
        legs[i, LEG.speed] += min(dt / settings.speed_time, 1.0) * (speed - recent)
        evidence[i] = motion_evidence(
            speed, height, slip, swing, body[MOTION.variance], rest, feet.index[i, SIZE] > 3,
            settings.clearance, settings.swing_clearance)
    body[MOTION.fastest] = fastest


@part
def _contact_flag(p, i, settings, before, motion, dt):
    """
    Return whether a foot counts as in contact, by its probability.

    Feet cannot step as often as errors make them seem to: the more contact has changed of late,
    the longer the mean of the probability that decides.
    """
    rate = motion.body[MOTION.switches] / settings.step_memory - settings.most_steps
    patience = min(max(rate / settings.most_steps, 0.0), 1.0)
    mean = motion.legs[i, LEG.mean]
    time = patience * CORRELATION_TIME
    mean += (min(dt / time, 1.0) if time > dt else 1.0) * (p - mean)
    motion.legs[i, LEG.mean] = mean
    off = settings.off + patience * max(settings.mean_off - settings.off, 0.0)
    if mean > settings.on:
        return 1.0
    return 0.0 if mean < off else before


@part
def update_contact_by_motion(arrays, layout, settings, row, R_WB, on_feet, dt, results):
    """
    Update each foot's contact probability and flag by its motion and its load.

    Rows VECTOR: loads (nf,) [N]; BEYOND: log-likelihood ratios by the base equations;
    ``on_feet`` [N, N^2]: load on all feet and its variance, negative if unknown.
    """
    feet, nf = arrays.robot.feet, arrays.robot.feet.index.shape[0]
    scratch, motion, contact = arrays.scratch, arrays.memory.motion, arrays.memory.contact
    states, found, (total, spread) = results.feet.states, results.contact, on_feet
    loads, load_evidence = scratch.vectors[VECTOR], scratch.vectors[BEYOND]
    body, legs, evidence = motion.body, motion.legs, scratch.vectors[WEIGHTS]
    _evidence_of_motion(feet, settings, scratch, states, R_WB, arrays.memory, dt)
    support = 0.0
    if spread >= 0.0:
        support = force_evidence(total, spread, settings.weight, settings.flight, FLIGHT_NOISE,
                              settings.force_evidence)
    if support < 0.0:       # dropped
        body[MOTION.lifted] = body[MOTION.stood] = 0.0
    share = min(dt / CORRELATION_TIME, 1.0)
    none, best, best_p, anyone, changes = 1.0, 0, -1.0, False, 0.0
    for i in range(nf):
        seen, load = evidence[i], clip(load_evidence[i], settings.force_evidence)
        if support < 0.0:   # in flight a foot at rest is not in contact
            seen = min(seen, support)
        load += row[layout.switch_evidence + i]
        before = relax(legs[i, LEG.probability], settings.switching_rate, dt)
        p = bayes_update(before, seen + load)
        lasted = bayes_update(before, share * seen + load)
        given = row[layout.given_contact + i]
        if not math.isnan(given):
            lasted = p = bayes_update(given, 0.0)
            anyone = True
        if (p > 0.5) != (contact.probability[i] > 0.5):
            changes += 1.0
        legs[i, LEG.probability] = min(max(lasted, settings.least_kept), 1.0 - settings.least_kept)
        contact.probability[i] = evidence[i] = p
        none *= 1.0 - p
        if p > best_p:
            best, best_p = i, p
    lifted = body[MOTION.lifted]
    ticks = min(dt / (settings.step_memory * settings.natural_time), 1.0)
    body[MOTION.switches] += changes / nf - ticks * body[MOTION.switches]
    # A robot that does not fall while no foot seems to stand: its velocity is wrong.
    body[MOTION.lost] = body[MOTION.lost] + dt if support > 0.0 and none > 0.5 else 0.0
    if body[MOTION.lost] > settings.lost_time:
        body[MOTION.known] = body[MOTION.lost] = 0.0
    for i in range(nf):
        p, given = contact.probability[i], row[layout.given_contact + i]
        if support >= 0.0 and not anyone:      # something holds the robot up
            p = min(p / (1.0 - none), 1.0 - LEAST_PROBABILITY)
        if lifted > 0.5:
            p = max((1.0 - lifted) * p, LEAST_PROBABILITY)
        down = _contact_flag(p, i, settings, contact.flag[i], motion, dt)
        if support >= 0.0 and not anyone and i == best and p > 0.5:
            down = 1.0
        if not math.isnan(given):
            down = given
        contact.probability[i], contact.flag[i] = p, down
        found.flag[i], found.probability[i], found.latest[i] = down, p, down
    even = settings.weight / nf
    for i in range(nf):
        if feet.index[i, SIZE] > 3:
            evidence[i] *= min(max(loads[i] / even, settings.least_load), 1.0) ** 2
    if body[MOTION.known] > 0.5:
        _correct_velocity(feet, settings, scratch.bodies, states, R_WB, evidence, dt, body)
