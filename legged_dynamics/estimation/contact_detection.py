# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Which feet are down, where neither foot sensors nor torques tell; and what both ways share.

One Bayes filter a foot. Each sample adds the log-likelihood ratio of standing over swinging from
the speed of the contact point over ground, and its height over the feet that stand: zero-mean
normals, narrow for a standing foot, wide for a swinging one. With torques `force_contact` judges
by :func:`force_evidence` instead.

No sensor tells the base's velocity over ground. It is carried along by the accelerometer and
pulled towards what the standing feet say, ``v_B = -sum p_i u_i / sum p_i`` with ``u_i`` a foot's
velocity seen from a base at rest: so a foot that starts to swing is told from the others by
continuity, and not by a vote. Between samples the odds relax towards even at the switching rate.
A foot is down above one probability and up below another (hysteresis). A robot that is held up
by something stands on its most probable foot at least.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.jacobians import BODY, CONTACT
from legged_dynamics.dynamics.kinematics import OMEGA, POSITION, VELOCITY
from legged_dynamics.dynamics.motion import GRAVITY
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
from legged_dynamics.spatial.jit import kernel

# Certainty beyond this says nothing more and only makes the next change slow.
DOUBT = 0.0025
# How fast the standing feet correct the base's velocity over ground [1/s]: slow against an impact,
# fast against an accelerometer's bias.
VELOCITY_GAIN = 20.0


@kernel
def clip(value, limit):
    """Return value within [-limit, limit]."""
    return min(max(value, -limit), limit)


@kernel
def relax(p, rate, dt):
    """Carry a probability over a time step, in which the foot may have switched."""
    return p + min(rate * dt, 0.5) * (1.0 - 2.0 * p)


@kernel
def weigh(p, evidence):
    """Return the probability after evidence, a log-likelihood ratio (Bayes' rule)."""
    odds = p * math.exp(evidence)
    return min(max(odds / (odds + 1.0 - p), DOUBT), 1.0 - DOUBT)


@kernel
def hysteresis(p, down, settings):
    """Return whether a foot counts as down, 1 or 0, by its probability and what it counted as."""
    if p > settings.on:
        return 1.0
    return 0.0 if p < settings.off else down


@kernel
def force_evidence(normal_force, variance, weight, threshold, noise, limit):
    """Return the log-likelihood ratio of a normal force [N] with a variance [N^2]."""
    x = normal_force / weight
    s2 = noise * noise + variance / (weight * weight)
    return clip(2.0 * threshold * (x - threshold) / s2, limit)


@kernel
def motion_evidence(speed, height, settings, limit):
    """
    Return the log-likelihood ratio of a contact point's speed [m/s] and height [m].

    Zero-mean normals, narrow for a standing foot and wide for a swinging one, of three dimensions
    of speed and one of height; their log-determinants stand ready in ``settings.at_rest``.
    """
    s, w = settings.slip_speed, settings.swing_speed
    c, h = settings.clearance, settings.swing_clearance
    height = max(height, 0.0)
    return clip(settings.at_rest
                - 0.5 * speed * speed * (1.0 / (s * s) - 1.0 / (w * w))
                - 0.5 * height * height * (1.0 / (c * c) - 1.0 / (h * h)), limit)


@kernel
def foot_speeds(feet, bodies, states, normal, i):
    """Return velocity and height of a foot's contact point, the base's velocity taken as zero."""
    body, point = bodies[feet.index[i, BODY]], load3(states[i], CONTACT)
    velocity = add(load3(body, VELOCITY),
                   cross(load3(body, OMEGA), subtract(point, load3(body, POSITION))))
    return velocity, dot(point, normal)


@kernel
def ground_velocity(feet, layout, settings, scratch, states, memory, R_WB, acceleration, imu, dt):
    """
    Carry the base's velocity over ground (world axes) by the accelerometer; return it.

    The first value comes from the lowest feet.
    """
    normal = (R_WB[6], R_WB[7], R_WB[8])
    if memory[layout.drift_known] > 0.5:
        velocity = load3(memory, layout.drift)
        if imu:
            rate = subtract(rotate(R_WB, acceleration), (0.0, 0.0, GRAVITY))
            velocity = add_scaled(velocity, dt, rate)
        return velocity
    lowest = 1e30
    for i in range(feet.index.shape[0]):
        _, height = foot_speeds(feet, scratch.bodies, states, normal, i)
        lowest = min(lowest, height)
    total, drift = 0.0, (0.0, 0.0, 0.0)
    for i in range(feet.index.shape[0]):
        speed, height = foot_speeds(feet, scratch.bodies, states, normal, i)
        w = math.exp(-0.5 * ((height - lowest) / settings.clearance) ** 2)
        total += w
        drift = add_scaled(drift, -w, speed)
    return rotate(R_WB, scale(1.0 / total, drift))


@kernel
def detect_contact(feet, layout, settings, scratch, states, row, memory, R_WB, acceleration, imu,
                   load, dt, out):
    """Advance each foot's probability of standing and its hysteresis; fill both into ``out``."""
    nf = feet.index.shape[0]
    normal = (R_WB[6], R_WB[7], R_WB[8])
    velocity = ground_velocity(feet, layout, settings, scratch, states, memory, R_WB,
                               acceleration, imu, dt)
    base = rotate_back(R_WB, velocity)
    total, ground, lowest = 0.0, 0.0, 1e30
    for i in range(nf):
        _, height = foot_speeds(feet, scratch.bodies, states, normal, i)
        total += memory[layout.standing + i]
        ground += memory[layout.standing + i] * height
        lowest = min(lowest, height)
    ground = min(ground / total, lowest)
    total, drift = 0.0, (0.0, 0.0, 0.0)
    best, best_p, anyone = 0, -1.0, False
    for i in range(nf):
        speed, height = foot_speeds(feet, scratch.bodies, states, normal, i)
        evidence = motion_evidence(norm(add(speed, base)), height - ground, settings,
                                   settings.force_evidence)
        if load < settings.force_threshold:
            evidence -= settings.force_evidence     # nothing holds the robot up: it is in the air
        p = weigh(relax(memory[layout.standing + i], settings.switching_rate, dt), evidence)
        down = hysteresis(p, memory[layout.contact_state + i], settings)
        given = row[layout.given_contact + i]
        if not math.isnan(given):
            down = given
            p = weigh(given, 0.0)
        elif p > best_p:
            best, best_p = i, p
        memory[layout.standing + i] = p
        memory[layout.contact_state + i] = down
        anyone = anyone or down > 0.5
        total += p
        drift = add_scaled(drift, -p, speed)
    if not (anyone or load < settings.force_threshold or best_p < 0.0):
        memory[layout.contact_state + best] = 1.0       # something holds the robot up
        memory[layout.standing + best] = max(best_p, 0.5)
    for i in range(nf):
        out[layout.contact + i] = memory[layout.contact_state + i]
        out[layout.probability + i] = memory[layout.standing + i]
    # Standing feet correct the velocity, the more the surer they are.
    gain = min(VELOCITY_GAIN * dt, 1.0) if imu else 1.0
    seen = rotate(R_WB, scale(1.0 / total, drift))
    share = gain * min(total, 1.0)
    store3(memory, layout.drift, add_scaled(velocity, share, subtract(seen, velocity)))
    memory[layout.drift_known] = 1.0
