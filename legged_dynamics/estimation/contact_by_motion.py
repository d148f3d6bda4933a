# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Which feet are down where no torque tells: by how they move and by what the body's motion asks.

One Bayes filter a foot. Each sample adds log-likelihood ratios of standing over swinging:

* of the speed of the contact point over ground and its height over where this foot last stood:
  zero-mean normals, narrow for a standing foot, wide for a swinging one, in terms of the leg
  length l and of ``sqrt(g l)``, by which walks are alike (Froude). Feet have no ground in common.
  What rests elsewhere, on a step, stands there all the same: height has no veto;
* of the load: by how much the base's equations in this sample have made it likelier that the foot
  bears something (`forces_by_motion.density_of_no_load`). What was guessed before says nothing;
  a foot that must bear the robot stands, whatever its motion. A robot that falls freely stands on
  nothing.

Samples closer together than errors last count the less, but each look counts in full once: the
probability is what has lasted and what is seen now. No sensor tells the base's velocity over
ground: the accelerometer carries it along, with a variance, and standing feet correct it, so that
a foot that starts to swing is told from the others by continuity, and not by a vote. A robot that
is held up stands on one foot at least.

Arguments of the kernels: see ``estimation/__init__.py``.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.jacobians import BODY, CONTACT, FOOT_POSITION, SIZE
from legged_dynamics.dynamics.kinematics import OMEGA, POSITION, VELOCITY
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.contact import (
    LEAST_PROBABILITY,
    bayes_update,
    clip,
    force_evidence,
    motion_evidence,
    relax,
)
from legged_dynamics.estimation.filter.layout import WEIGHTS
from legged_dynamics.estimation.filter.memory import LEG, MOTION, PLACE
from legged_dynamics.spatial.algebra import (
    add,
    add_scaled,
    cross,
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

# How long errors of a foot's speed and of its load last [s].
CORRELATION_TIME = 0.01
# Error of the accelerometer that lasts [m/s^2], tilt and bias together, and for how long [s].
DRIFT, DRIFT_TIME = 0.3, 0.1
# Probability that nothing stands above which the base's velocity is lost, and after how long [s].
LOST, LOST_TIME = 0.5, 0.02
# Slowest steps, as a fraction of the fastest; and for how many natural times steps are remembered.
SLOWEST, FORGETS = 0.2, 10.0
# What speaks most for a foot that rests, which may be turning in the air, and how much more for
# one that was fast before.
RESTS, STOPS = 2.5, 3.0
# What speaks most against one that moves.
MOVES = 4.0
# Speed of a standing foot, which rolls and whose links bend, as a fraction of a swinging one's.
SLIP_SHARE = 0.12
# In which time that speed is learned [s].
SLIP_TIME = 0.17
# Certainty of what has lasted: no more than one look can turn, log(0.95 / 0.05) = 3.
LEAST_KEPT = 0.05
# What the model of a moving robot may be wrong by, as a fraction of the weight: of all feet.
FLIGHT_NOISE = 0.1
# No foot changes contact more often in a natural time; and the lower threshold of a mean.
STEPS, MEAN_OFF = 1.5, 0.4
# For how long a foot's speed is remembered [s].
RECENT = 0.03
# After how many of its natural times sqrt(l / g) a standing foot's ground is where it is.
SETTLING = 0.5


@part
def _foot_velocity(feet, bodies, states, i):
    """Return the velocity of a foot's contact point, the base's velocity taken as zero."""
    body, point = bodies[feet.index[i, BODY]], load3(states[i], CONTACT)
    return add(load3(body, VELOCITY),
               cross(load3(body, OMEGA), subtract(point, load3(body, POSITION))))


@part
def _height_over_place(states, ground, R_WB, i):
    """Return how high a foot is over where it last stood, along the ground's normal."""
    if ground.places[i, PLACE.known] < 0.5:
        return 0.0
    now = rotate(R_WB, load3(states[i], FOOT_POSITION))
    return dot(load3(ground.normal, 0), subtract(now, get3(ground.places, i, PLACE.position)))


@part
def _speed_levels(feet, settings, body, i):
    """
    Return the speeds of a standing and of a swinging foot, one deviation each, by recent steps.

    Balls move by what they were seen to differ by, and at least by the stated noise; soles roll
    off, which nobody sees while they stand still.
    """
    swing = min(max(body[MOTION.fastest], SLOWEST * settings.swing_speed), settings.swing_speed)
    slip = math.hypot(settings.slip_speed, SLIP_SHARE * swing)
    if feet.index[i, SIZE] == 3:
        slip = min(slip, math.sqrt(max(body[MOTION.slip_variance], settings.slip_speed ** 2)))
    return slip, swing


@part
def predict_velocity(feet, settings, bodies, states, normal, R_WB, acceleration, imu, dt, body):
    """
    Predict the base's velocity over the ground, and its variance, from the accelerometer.

    At the start it is that at which the lowest feet stand.

    Parameters
    ----------
    feet : FeetTable
        Feet of the robot.
    settings : record
        Of `filter.layout.SETTINGS`.
    bodies : (nb, N_BODY_STATE) array
        Frames and motion of the bodies, base axes.
    states : (nf, N_FOOT_STATE) array
        Frames and contact points of the feet, base axes.
    normal : (3,) array
        Unit normal of the ground, world axes.
    R_WB : 9 floats
        Orientation of the base, by rows; it turns vectors from base to world axes.
    acceleration : tuple of 3 floats [m/s^2]
        Proper acceleration of the base, base axes.
    imu, dt : bool, float [s]
        Whether there is a reading of the IMU, and the time since the last sample.
    body : (MOTION.width,) array
        Velocity and its variance; written.

    """
    nf, unknown = feet.index.shape[0], settings.swing_speed ** 2
    if body[MOTION.known] > 0.5 and imu:
        rate = subtract(rotate(R_WB, acceleration), (0.0, 0.0, GRAVITY))
        store3(body, MOTION.velocity, add_scaled(load3(body, MOTION.velocity), dt, rate))
        body[MOTION.variance] = min(
            body[MOTION.variance] + DRIFT ** 2 * DRIFT_TIME * dt, unknown)
    elif body[MOTION.known] < 0.5:
        # The first value comes from the lowest feet.
        up, lowest = rotate_back(R_WB, load3(normal, 0)), 1e30
        for i in range(nf):
            lowest = min(lowest, dot(load3(states[i], CONTACT), up))
        total, drift = 0.0, (0.0, 0.0, 0.0)
        for i in range(nf):
            height = dot(load3(states[i], CONTACT), up) - lowest
            w = math.exp(-0.5 * (height / settings.clearance) ** 2)
            total += w
            drift = add_scaled(drift, -w, _foot_velocity(feet, bodies, states, i))
        store3(body, MOTION.velocity, rotate(R_WB, scale(1.0 / total, drift)))
        body[MOTION.variance] = unknown
        body[MOTION.known] = 1.0
    else:
        body[MOTION.variance] = unknown


@part
def _learn_slip(feet, bodies, states, R_WB, standing, dt, body):
    """Learn by which speed standing feet differ, while more than one stands."""
    mean, total, square = (0.0, 0.0, 0.0), 0.0, 0.0
    for i in range(feet.index.shape[0]):
        p = standing[i]
        v = _foot_velocity(feet, bodies, states, i)
        # Over ground; the base's velocity drops out.
        v = add(v, rotate_back(R_WB, load3(body, MOTION.velocity)))
        mean, total, square = add_scaled(mean, p, v), total + p, square + p * dot(v, v)
    if total > 1.5:
        spread = max(square - dot(mean, mean) / total, 0.0) / (total - 1.0) / 3.0
        share = min(dt / SLIP_TIME, 1.0)
        body[MOTION.slip_variance] += share * (spread - body[MOTION.slip_variance])


@part
def _correct_velocity(feet, settings, bodies, states, R_WB, standing, dt, body):
    """Let standing feet say how fast the base moves over ground, the more the surer they are."""
    _learn_slip(feet, bodies, states, R_WB, standing, dt, body)
    information = 1.0 / body[MOTION.variance]
    pull = scale(information, load3(body, MOTION.velocity))
    share = min(dt / CORRELATION_TIME, 1.0)
    for i in range(feet.index.shape[0]):
        slip, _ = _speed_levels(feet, settings, body, i)
        w = share / slip ** 2 * standing[i]
        velocity = rotate(R_WB, _foot_velocity(feet, bodies, states, i))
        pull, information = add_scaled(pull, -w, velocity), information + w
    body[MOTION.variance] = 1.0 / information
    store3(body, MOTION.velocity, scale(1.0 / information, pull))


@part
def _evidence_of_motion(feet, settings, bodies, states, ground, R_WB, dt, motion, evidence):
    """Fill the log-likelihood ratio of each foot's speed and height."""
    body, legs = motion.body, motion.legs
    base = rotate_back(R_WB, load3(body, MOTION.velocity))
    fastest = body[MOTION.fastest] * (1.0 - min(dt / (FORGETS * settings.natural_time), 1.0))
    for i in range(feet.index.shape[0]):
        slip, swing = _speed_levels(feet, settings, body, i)
        speed = norm(add(base, _foot_velocity(feet, bodies, states, i)))
        fastest = max(fastest, speed)
        height = _height_over_place(states, ground, R_WB, i)
        recent = legs[i, LEG.speed]
        rest = RESTS + STOPS * min(recent / swing, 1.0)
        legs[i, LEG.speed] += min(dt / RECENT, 1.0) * (speed - recent)
        evidence[i] = motion_evidence(
            speed, height, slip, swing, body[MOTION.variance], rest, settings,
            MOVES)
    body[MOTION.fastest] = fastest


@part
def _contact_flag(p, i, settings, before, motion, dt):
    """
    Return whether a foot counts as down, by its probability.

    Feet cannot step as often as errors make them seem to: the more restless they were, the longer
    a mean of the probability decides instead.
    """
    rate = motion.body[MOTION.switches] / FORGETS - STEPS
    patience = min(max(rate / STEPS, 0.0), 1.0)
    mean = motion.legs[i, LEG.mean]
    time = patience * CORRELATION_TIME
    mean += (min(dt / time, 1.0) if time > dt else 1.0) * (p - mean)
    motion.legs[i, LEG.mean] = mean
    off = settings.off + patience * max(MEAN_OFF - settings.off, 0.0)
    if mean > settings.on:
        return 1.0
    return 0.0 if mean < off else before


@part
def update_contact_by_motion(robot, layout, settings, scratch, row, states, ground, R_WB,
                             load_evidence, total, spread, dt, motion, contact, found):
    """
    Update each foot's probability and flag of contact by its motion and by its load.

    Parameters
    ----------
    robot : Robot
        Constants of the robot, and its noise.
    layout : record
        Of `filter.layout.LAYOUT`: how many there are of everything, and places in a row of
        inputs.
    settings : record
        Of `filter.layout.SETTINGS`.
    scratch : Scratch
        Bodies, Jacobian and grasp matrix at this instant, and arrays to work in.
    row : (input_size,) array
        Measurement of this instant.
    states : (nf, N_FOOT_STATE) array
        Frames and contact points of the feet, base axes.
    ground : GroundMemory
        Normal of the ground, and where the feet stood last.
    R_WB : 9 floats
        Orientation of the base, by rows; it turns vectors from base to world axes.
    load_evidence : (nf,) array
        Log-likelihood ratio of each foot by the equations of the base in this sample.
    total, spread : float [N, N^2]
        Load on all feet and its variance; negative: not known.
    dt : float [s]
        Time since the last sample.
    motion : MotionMemory
        Velocity of the base, and what is learned; written.
    contact : ContactMemory
        Probability and flag of contact; written.
    found : ContactResults
        Probability and flag of contact; written.

    """
    feet, nf = robot.feet, robot.feet.index.shape[0]
    body, legs, evidence = motion.body, motion.legs, scratch.vectors[WEIGHTS]
    _evidence_of_motion(feet, settings, scratch.bodies, states, ground, R_WB, dt, motion, evidence)
    held = 0.0
    if spread >= 0.0:
        held = force_evidence(total, spread, settings.weight, settings.flight, FLIGHT_NOISE,
                              settings.force_evidence)
    share = min(dt / CORRELATION_TIME, 1.0)
    none, best, best_p, anyone, changes = 1.0, 0, -1.0, False, 0.0
    for i in range(nf):
        seen, load = evidence[i], clip(load_evidence[i], settings.force_evidence)
        if held < 0.0:      # in flight no motion speaks for a foot
            seen = min(seen, held)
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
        legs[i, LEG.probability] = min(max(lasted, LEAST_KEPT), 1.0 - LEAST_KEPT)
        contact.probability[i] = evidence[i] = p
        none *= 1.0 - p
        if p > best_p:
            best, best_p = i, p
    ticks = min(dt / (FORGETS * settings.natural_time), 1.0)
    body[MOTION.switches] += changes / nf - ticks * body[MOTION.switches]
    # A robot that is held up while nothing seems to stand moves otherwise than was thought.
    body[MOTION.lost] = body[MOTION.lost] + dt if held > 0.0 and none > LOST else 0.0
    if body[MOTION.lost] > LOST_TIME:
        body[MOTION.known] = body[MOTION.lost] = 0.0
    for i in range(nf):
        p, given = contact.probability[i], row[layout.given_contact + i]
        if held >= 0.0 and not anyone:      # something holds the robot up
            p = min(p / (1.0 - none), 1.0 - LEAST_PROBABILITY)
        down = _contact_flag(p, i, settings, contact.flag[i], motion, dt)
        if held >= 0.0 and not anyone and i == best and p > 0.5:
            down = 1.0
        if not math.isnan(given):
            down = given
        contact.probability[i], contact.flag[i] = p, down
        found.flag[i], found.probability[i] = down, p
    if body[MOTION.known] > 0.5:
        _correct_velocity(feet, settings, scratch.bodies, states, R_WB, evidence, dt, body)
