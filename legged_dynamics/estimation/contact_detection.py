# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which feet are down, without foot sensors.

One Bayes filter a foot, in log-odds. Each sample adds the log-likelihood ratio of standing over
swinging from

* the normal force that the joint torques show, ``x`` in body weights: standing means
  ``N(2 t, s^2)``, swinging ``N(0, s^2)``, so the ratio is ``2 t (x - t) / s^2`` and changes sign
  at the threshold ``t``; a leg that cannot tell (no torque, straight knee) has a large ``s`` and
  adds nothing;
* the speed of the contact point over ground, and its height over the feet that stand: zero-mean
  normals, narrow for a standing foot, wide for a swinging one.

The base's velocity is not measured, so ground speed is relative to what the probably standing
feet say, ``v_B = -sum p_i u_i / sum p_i``. Between samples the odds relax towards even at the
switching rate. A foot is down above one probability and up below another (hysteresis).
"""
from __future__ import annotations

import math

from legged_dynamics.spatial.jit import kernel

# Odds beyond this say nothing more and only make the next change slow.
LOG_ODDS_LIMIT = 6.0


@kernel
def probability_of(log_odds):
    """Return the probability of log-odds."""
    return 1.0 / (1.0 + math.exp(-log_odds))


@kernel
def clip(value, limit):
    """Return value within [-limit, limit]."""
    return min(max(value, -limit), limit)


@kernel
def relax(log_odds, rate, dt):
    """Carry log-odds over a time step, in which the foot may have switched."""
    p = probability_of(log_odds)
    p += min(rate * dt, 0.5) * (1.0 - 2.0 * p)
    return math.log(p / (1.0 - p))


@kernel
def force_evidence(normal_force, variance, weight, threshold, noise, limit):
    """Return the log-likelihood ratio of a normal force [N] with a variance [N^2]."""
    x = normal_force / weight
    s2 = noise * noise + variance / (weight * weight)
    return clip(2.0 * threshold * (x - threshold) / s2, limit)


@kernel
def narrow_or_wide(value, narrow, wide, dimensions):
    """Return the log-likelihood ratio of two zero-mean normals in 1 or more dimensions."""
    return (dimensions * math.log(wide / narrow)
            - 0.5 * value * value * (1.0 / (narrow * narrow) - 1.0 / (wide * wide)))


@kernel
def motion_evidence(speed, height, slip_speed, swing_speed, clearance, swing_clearance, limit):
    """Return the log-likelihood ratio of a contact point's speed [m/s] and height [m]."""
    return clip(narrow_or_wide(speed, slip_speed, swing_speed, 3)
                + narrow_or_wide(max(height, 0.0), clearance, swing_clearance, 1), limit)
