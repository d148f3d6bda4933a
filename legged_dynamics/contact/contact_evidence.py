# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Evidence of contact by force and by motion, and the Bayes filter that weighs it, live or off line.

Each sample adds a log-likelihood ratio of contact over no contact; between samples the odds relax
towards even at the switching rate. Off line the filter runs forward and backward, and the product
of both is the probability given all samples (two-state smoother, Rabiner 1989). Speeds and heights
are compared in ``sqrt(g l)`` and ``l``, with the leg length l (Froude).
"""

import math

from legged_dynamics.spatial.jit import part

# Numbers of kernels, which cannot read an instance of settings.

# Log-likelihood ratios by which height speaks for a foot at most, and against it.
LOW = 0.5
HEIGHT_AGAINST = -2.0
# A sole's height is known more precisely than a ball's, and counts whatever its speed: part of the
# clearance.
SOLE_CLEARANCE = 1.0 / 3.0
# Largest ratio against a sole by its height.
SOLE_AGAINST = -4.0
# Smallest probability, and distance to one: more certainty only makes the next change slow.
LEAST_PROBABILITY = 0.0025
# Speed of a standing foot, which rolls and whose links bend [sqrt(g l)].
SLIP = 0.01
# Speed of a swinging foot [sqrt(g l)].
SWING = 0.5
# Height of a standing foot [l].
CLEARANCE = 0.015
# Height of a swinging foot [l].
SWING_CLEARANCE = 0.1
# Slowest steps, by which a swinging foot's speed is known [fastest steps].
SLOWEST = 0.2
# Speed of a standing foot by rolling and bending of links [speed of a swinging one].
SLIP_SHARE = 0.12
# Largest ratio for a foot at rest, which may be at its turning point in the air.
RESTS = 2.5
# Added to that for a foot that was fast before.
STOPS = 3.0
# Largest ratio against a foot that moves.
MOVES = 4.0
# Error of the load on all feet of a moving robot [weight].
FLIGHT_NOISE = 0.1
# Correlation time of errors of a foot's speed and of its load [s]: samples closer together count
# less.
CORRELATION_TIME = 0.01


@part
def clip(value, limit):
    """Return value clipped to [-limit, limit]."""
    return min(max(value, -limit), limit)


@part
def relax(p, rate, dt):
    """Predict a contact probability over dt; ``rate``: how often the foot switches [1/s]."""
    return p + min(rate * dt, 0.5) * (1.0 - 2.0 * p)


@part
def bayes_update(p, evidence):
    """Return the contact probability after a log-likelihood ratio (Bayes' rule)."""
    odds = p * math.exp(evidence)
    return min(max(odds / (odds + 1.0 - p), LEAST_PROBABILITY), 1.0 - LEAST_PROBABILITY)


@part
def force_evidence(normal_force, variance, weight, threshold, noise, limit):
    """Return contact's log-likelihood ratio; ``threshold`` and ``noise``: parts of the weight."""
    x = normal_force / weight
    s2 = noise * noise + variance / (weight * weight)
    return clip(2.0 * threshold * (x - threshold) / s2, limit)


@part
def motion_evidence(speed, height, slip, swing, drift_variance, rest, sole, clearance,
                    swing_clearance):
    """
    Return the log-likelihood ratio of contact for a point's speed [m/s] and height [m].

    Zero-mean normals, narrow (``slip``, ``clearance``) in stance, wide (``swing``) in
    swing; at most ``rest`` for a foot at rest, which may be at its turning point.
    """
    s2, w2 = slip * slip + drift_variance, swing * swing + drift_variance
    c, h = clearance * (SOLE_CLEARANCE if sole else 1.0), swing_clearance
    height = max(height, 0.0)
    low = math.log(h / c) - 0.5 * height * height * (1.0 / (c * c) - 1.0 / (h * h))
    slow = 1.5 * math.log(w2 / s2) - 0.5 * speed * speed * (1.0 / s2 - 1.0 / w2)
    if sole:
        return max(min(slow, rest), -MOVES) + min(max(low, SOLE_AGAINST), LOW)
    return max(min(slow, rest) + min(max(low, HEIGHT_AGAINST), LOW), -MOVES)


@part
def speed_levels(fastest, slip_speed, swing_speed):
    """Return speed deviations [m/s]: stance, from slip_speed up; swing, up to swing_speed."""
    swing = min(max(fastest, SLOWEST * swing_speed), swing_speed)
    return math.hypot(slip_speed, SLIP_SHARE * swing), swing


@part
def smooth(evidence, rate, dt, probability):
    """Fill a foot's contact probability (n,), given all samples' log-likelihood ratios."""
    p = 0.5
    for k in range(len(evidence)):
        p = bayes_update(relax(p, rate, dt), evidence[k])
        probability[k] = p
    later = 0.5     # likelihood of all samples after this one, in contact and not, with sum one
    for k in range(len(evidence) - 1, -1, -1):
        probability[k] = bayes_update(probability[k], math.log(later / (1.0 - later)))
        later = relax(bayes_update(later, evidence[k]), rate, dt)
