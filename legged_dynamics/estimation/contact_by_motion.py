# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Which feet are down where no torque tells: by how they move and by what the body's motion asks.

One Bayes filter a foot. Each sample adds log-likelihood ratios of standing over swinging:

* of the speed of the contact point over ground and its height over where this foot last stood:
  zero-mean normals, narrow for a standing foot, wide for a swinging one, in terms of the leg
  length l and of ``sqrt(g l)``, by which walks are alike (Froude). Feet have no ground in common.
  What rests elsewhere, on a step, stands there all the same: height has no veto;
* of the load that the base's equations leave it, with its variance. A foot that must bear the
  robot stands, whatever its motion; and none bears more than all do together.

Samples closer together than errors last count the less. No sensor tells the base's velocity over
ground: the accelerometer carries it along, with a variance, and standing feet correct it, so that
a foot that starts to swing is told from the others by continuity, and not by a vote. A robot that
is held up stands on one foot at least.

Arguments of the kernels: see ``estimation/__init__.py``.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.jacobians import BODY, CONTACT, FOOT_POSITION, START
from legged_dynamics.dynamics.kinematics import OMEGA, POSITION, VELOCITY
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.contact_detection import (
    DOUBT,
    force_evidence,
    hysteresis,
    motion_evidence,
    relax,
    weigh,
)
from legged_dynamics.estimation.force_contact import normal_force
from legged_dynamics.estimation.ground_plane import N_PLACE
from legged_dynamics.estimation.layout import WEIGHTS
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

# How long errors of a foot's speed and of its load last [s].
LASTS = 0.01
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
# For how long a foot's speed is remembered [s].
RECENT = 0.03
# After how many of its natural times sqrt(l / g) a standing foot's ground is where it is.
SETTLING = 0.5


@part
def foot_velocity(feet, bodies, states, i):
    """Return the velocity of a foot's contact point, the base's velocity taken as zero."""
    body, point = bodies[feet.index[i, BODY]], load3(states[i], CONTACT)
    return add(load3(body, VELOCITY),
               cross(load3(body, OMEGA), subtract(point, load3(body, POSITION))))


@part
def height_over_place(layout, settings, states, memory, R_WB, i):
    """Return how high a foot is over where it last stood, along the ground's normal."""
    at = layout.places + N_PLACE * i
    if memory[at + 3] < 0.5:
        return 0.0
    now = rotate(R_WB, load3(states[i], FOOT_POSITION))
    return dot(load3(memory, layout.normal), subtract(now, load3(memory, at)))


@part
def paces(layout, settings, memory):
    """Return the speeds of standing and of swinging feet, one deviation each, by recent steps."""
    swing = min(max(memory[layout.fastest], SLOWEST * settings.swing_speed), settings.swing_speed)
    return math.hypot(settings.slip_speed, SLIP_SHARE * swing), swing


@part
def predict_velocity(feet, layout, settings, scratch, states, memory, R_WB, acceleration, imu, dt):
    """Carry the base's velocity over ground (world axes) and its variance to this sample."""
    nf, unknown = feet.index.shape[0], settings.swing_speed ** 2
    if memory[layout.drift_known] > 0.5 and imu:
        rate = subtract(rotate(R_WB, acceleration), (0.0, 0.0, GRAVITY))
        store3(memory, layout.drift, add_scaled(load3(memory, layout.drift), dt, rate))
        memory[layout.drift_variance] = min(
            memory[layout.drift_variance] + DRIFT ** 2 * DRIFT_TIME * dt, unknown)
    elif memory[layout.drift_known] < 0.5:
        # The first value comes from the lowest feet.
        up, lowest = rotate_back(R_WB, load3(memory, layout.normal)), 1e30
        for i in range(nf):
            lowest = min(lowest, dot(load3(states[i], CONTACT), up))
        total, drift = 0.0, (0.0, 0.0, 0.0)
        for i in range(nf):
            height = dot(load3(states[i], CONTACT), up) - lowest
            w = math.exp(-0.5 * (height / settings.clearance) ** 2)
            total += w
            drift = add_scaled(drift, -w, foot_velocity(feet, scratch.bodies, states, i))
        store3(memory, layout.drift, rotate(R_WB, scale(1.0 / total, drift)))
        memory[layout.drift_variance] = unknown
        memory[layout.drift_known] = 1.0
    else:
        memory[layout.drift_variance] = unknown


@part
def correct_velocity(feet, layout, settings, scratch, states, memory, R_WB, dt):
    """Let standing feet say how fast the base moves over ground, the more the surer they are."""
    information = 1.0 / memory[layout.drift_variance]
    pull = scale(information, load3(memory, layout.drift))
    slip, _ = paces(layout, settings, memory)
    each = min(dt / LASTS, 1.0) / slip ** 2
    for i in range(feet.index.shape[0]):
        w = each * memory[layout.standing + i]
        velocity = rotate(R_WB, foot_velocity(feet, scratch.bodies, states, i))
        pull, information = add_scaled(pull, -w, velocity), information + w
    memory[layout.drift_variance] = 1.0 / information
    store3(memory, layout.drift, scale(1.0 / information, pull))


@part
def evidence_of_motion(feet, layout, settings, scratch, states, memory, R_WB, dt, evidence):
    """Fill the log-likelihood ratio of each foot's speed and height."""
    base = rotate_back(R_WB, load3(memory, layout.drift))
    slip, swing = paces(layout, settings, memory)
    fastest = memory[layout.fastest] * (1.0 - min(dt / (FORGETS * settings.natural_time), 1.0))
    for i in range(feet.index.shape[0]):
        speed = norm(add(base, foot_velocity(feet, scratch.bodies, states, i)))
        fastest = max(fastest, speed)
        height = height_over_place(layout, settings, states, memory, R_WB, i)
        recent = memory[layout.recent_speed + i]
        rest = RESTS + STOPS * min(recent / swing, 1.0)
        memory[layout.recent_speed + i] += min(dt / RECENT, 1.0) * (speed - recent)
        evidence[i] = min(dt / LASTS, 1.0) * motion_evidence(
            speed, height, slip, swing, memory[layout.drift_variance], rest, settings,
            MOVES)
    memory[layout.fastest] = fastest


@part
def judge_by_motion(robot, layout, settings, scratch, tracking, row, states, memory, R_WB, imu,
                    total, spread, dt, out):
    """
    Advance each foot's probability of standing and its hysteresis; fill both into ``out``.

    ``total`` is the load on all feet [N] and ``spread`` its variance; negative: not known.
    """
    feet, nf = robot.feet, robot.feet.index.shape[0]
    up = (R_WB[6], R_WB[7], R_WB[8])
    evidence = scratch.vectors[WEIGHTS]
    evidence_of_motion(feet, layout, settings, scratch, states, memory, R_WB, dt, evidence)
    held = 0.0
    if spread >= 0.0:
        held = force_evidence(total, spread, settings.weight, settings.flight, settings.flight,
                              settings.force_evidence)
    none, best, best_p, anyone = 1.0, 0, -1.0, False
    for i in range(nf):
        e = evidence[i]
        if spread >= 0.0:
            force, variance = normal_force(tracking.covariance, tracking.state,
                                           feet.index[i, START], up)
            e += min(dt / LASTS, 1.0) * force_evidence(
                force, variance, settings.weight, robot.contact_levels[i, 3],
                robot.contact_levels[i, 4], settings.force_evidence)
            if held < 0.0:
                e = min(e, held)
        e += row[layout.switch_evidence + i]
        p = weigh(relax(memory[layout.standing + i], settings.switching_rate, dt), e)
        given = row[layout.given_contact + i]
        if not math.isnan(given):
            p = weigh(given, 0.0)
            anyone = True
        memory[layout.standing + i] = p
        none *= 1.0 - p
        if p > best_p:
            best, best_p = i, p
    # A robot that is held up while nothing seems to stand moves otherwise than was thought.
    memory[layout.lost] = memory[layout.lost] + dt if held > 0.0 and none > LOST else 0.0
    if memory[layout.lost] > LOST_TIME:
        memory[layout.drift_known] = memory[layout.lost] = 0.0
    for i in range(nf):
        p, given = memory[layout.standing + i], row[layout.given_contact + i]
        if held >= 0.0 and not anyone:      # something holds the robot up
            p = min(p / (1.0 - none), 1.0 - DOUBT)
        down = hysteresis(p, memory[layout.contact_state + i], settings)
        if held >= 0.0 and not anyone and i == best and p > 0.5:
            down = 1.0
        if not math.isnan(given):
            down = given
        memory[layout.standing + i], memory[layout.contact_state + i] = p, down
        out[layout.contact + i], out[layout.probability + i] = down, p
    if memory[layout.drift_known] > 0.5:
        correct_velocity(feet, layout, settings, scratch, states, memory, R_WB, dt)
