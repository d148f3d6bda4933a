# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What evidence makes of a foot's probability of standing: shared by force and by motion.

A Bayes filter with two states. Each sample adds a log-likelihood ratio of standing over swinging;
between samples the odds relax towards even at the switching rate. A foot is down above one
probability and up below another (hysteresis).
"""
from __future__ import annotations

import math

from legged_dynamics.spatial.jit import kernel

# Largest log-likelihood ratios by which height speaks for and against a foot.
LOW, HEIGHT_AGAINST = 0.5, -2.0
# Certainty beyond this says nothing more and only makes the next change slow.
DOUBT = 0.0025


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
    """
    Return the log-likelihood ratio of a normal force [N] with a variance [N^2].

    Parameters
    ----------
    normal_force, variance : float [N, N^2]
        Of the foot.
    weight : float [N]
        Of the robot.
    threshold, noise : float
        Force at which contact is as likely as not, and its error in the air, by weight.
    limit : float
        Largest ratio.

    """
    x = normal_force / weight
    s2 = noise * noise + variance / (weight * weight)
    return clip(2.0 * threshold * (x - threshold) / s2, limit)


@kernel
def motion_evidence(speed, height, slip, swing, drift_variance, rest, settings, limit):
    """
    Return the log-likelihood ratio of a contact point's speed [m/s] and height [m].

    Zero-mean normals, narrow (``slip``) for a standing foot and wide (``swing``) for a swinging
    one, of three dimensions of speed, each with the variance of the base's velocity beside, and
    one of height. A foot at rest may be one that turns in the air: no more than ``rest`` speaks
    for it.

    Parameters
    ----------
    speed, height : float [m/s, m]
        Of the contact point, over the ground.
    slip, swing : float [m/s]
        Deviation of the speed of a foot in contact, and of a swinging one.
    drift_variance : float [m^2/s^2]
        Of the base's velocity.
    rest, limit : float
        Most that speaks for a foot at rest, and most that speaks against one.
    settings : record
        Of layout.SETTINGS.

    """
    s2, w2 = slip * slip + drift_variance, swing * swing + drift_variance
    c, h = settings.clearance, settings.swing_clearance
    height = max(height, 0.0)
    low = math.log(h / c) - 0.5 * height * height * (1.0 / (c * c) - 1.0 / (h * h))
    slow = 1.5 * math.log(w2 / s2) - 0.5 * speed * speed * (1.0 / s2 - 1.0 / w2)
    return max(min(slow, rest) + min(max(low, HEIGHT_AGAINST), LOW), -limit)
