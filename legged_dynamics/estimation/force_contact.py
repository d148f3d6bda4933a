# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What forces say about contact, and contact about forces.

One Bayes filter a foot reads the force that the filter of all feet has found, with its variance:
``x`` in body weights is ``N(2 t, s^2)`` on a standing foot and ``N(0, s^2)`` on a swinging one, so
the log-likelihood ratio ``2 t (x - t) / s^2`` changes sign at the threshold t. A foot that has not
risen from its own place may be lighter and stands (`foot_lift`); no height is compared with
another foot's and no speed enters: a foot that bears weight stands, on whatever ground.

Where a foot is more likely up than down, the force becomes the mixture of two cases: as it is,
and nothing but what a foot in the air may show. Mean and covariance are those of the mixture, so
that doubt about contact stands in the force's deviation.

Arguments of the kernels: see ``estimation/__init__.py``.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.jacobians import SIZE, START, has_moment
from legged_dynamics.estimation.contact_detection import force_evidence, hysteresis, relax, weigh
from legged_dynamics.estimation.foot_lift import UNMOVED, note_place, still_there
from legged_dynamics.optimization.cholesky import factorize
from legged_dynamics.spatial.algebra import dot, load3
from legged_dynamics.spatial.jit import part

# What a foot in the air may show, as a fraction of the weight.
AIR_FORCE = 0.005
# Largest log-likelihood ratio that one sample may add.
LARGEST_EVIDENCE = 12.0


@part
def normal_force(P, x, s, normal):
    """Return a foot's force along the normal, and its variance."""
    variance = 0.0
    for r in range(3):
        for c in range(3):
            variance += normal[r] * P[s + r, s + c] * normal[c]
    return dot(normal, load3(x, s)), variance


@part
def mix_with_air(feet, i, settings, x, P, share, few, block):
    """Mix 'foot i is in the air' into state and covariance, with that probability."""
    s, size, nx = feet.index[i, START], feet.index[i, SIZE], x.shape[0]
    air = (AIR_FORCE * settings.weight) ** 2
    for r in range(size):
        for c in range(r + 1):
            block[r, c] = P[s + r, s + c]
        block[r, r] += air * (1.0 if r < 3 else settings.arm ** 2)
        for k in range(nx):
            few[r, k] = P[s + r, k]
    if not factorize(block, size):
        return
    away = few[6]
    for k in range(nx):
        away[k] = 0.0
    for r in range(size):
        row, t = few[r], x[s + r]
        for c in range(r):
            h, other = block[r, c], few[c]
            t -= h * block[c, 6]
            for k in range(nx):
                row[k] -= h * other[k]
        t *= block[r, r]
        block[r, 6] = t
        for k in range(nx):
            row[k] *= block[r, r]
            away[k] -= t * row[k]
    spread = share * (1.0 - share)
    for i in range(nx):
        to, more = P[i], spread * away[i]
        for k in range(nx):
            to[k] += more * away[k]
        for r in range(size):
            h, row = share * few[r, i], few[r]
            for k in range(nx):
                to[k] -= h * row[k]
    for k in range(nx):
        x[k] += share * away[k]


@part
def judge_contact(robot, layout, settings, tracking, row, memory, dt, out):
    """Advance each foot's probability and hysteresis, and mix what is likely up with nothing."""
    feet, x, P = robot.feet, tracking.state, tracking.covariance
    for i in range(feet.index.shape[0]):
        threshold, noise = robot.contact_levels[i, 0], robot.contact_levels[i, 1]
        up = load3(out, layout.foot_normals + 3 * i)
        force, variance = normal_force(P, x, feet.index[i, START], up)
        # A ball lets go at once.
        there = still_there(layout, settings, memory, i) if has_moment(feet.index, i) else 0.0
        # What seems to pull after a blow is an error: it speaks no more for the air than none.
        evidence = force_evidence(max(force, 0.0) if there > UNMOVED else force, variance,
                                  settings.weight, threshold, noise, LARGEST_EVIDENCE)
        if there > 0.0:
            evidence += min(there * force_evidence(
                2.0 * threshold * settings.weight, variance, settings.weight, threshold, noise,
                LARGEST_EVIDENCE), settings.motion_evidence)
        evidence += row[layout.switch_evidence + i]
        p = weigh(relax(memory[layout.standing + i], settings.switching_rate, dt), evidence)
        down = hysteresis(p, memory[layout.contact_state + i], settings)
        given = row[layout.given_contact + i]
        lifted = 1.0 - p
        if not math.isnan(given):
            down, p, lifted = given, weigh(given, 0.0), 1.0 - given
        note_place(layout, memory, i, down, force > 2.0 * threshold * settings.weight, dt)
        memory[layout.standing + i] = p
        memory[layout.contact_state + i] = down
        out[layout.contact + i], out[layout.probability + i] = down, p
        if lifted > 0.5:
            mix_with_air(feet, i, settings, x, P, lifted, tracking.few, tracking.block)


@part
def mix_what_flies(robot, layout, settings, tracking, memory, x, P, dt, out):
    """
    Mix forces of now of feet that are likely up with nothing, as those of the filter are.

    Carried to now they have the accelerometer's noise, and what they may have walked in the
    meantime; what they then show counts as evidence of a landing that the filter has not seen.
    """
    feet = robot.feet
    for i in range(feet.index.shape[0]):
        if memory[layout.standing + i] > 0.5:
            continue
        force, variance = normal_force(P, x, feet.index[i, START],
                                       load3(out, layout.foot_normals + 3 * i))
        evidence = force_evidence(force, variance, settings.weight, robot.contact_levels[i, 0],
                                  robot.contact_levels[i, 1], LARGEST_EVIDENCE)
        p = weigh(relax(memory[layout.standing + i], settings.switching_rate, dt), evidence)
        if p < 0.5:
            mix_with_air(feet, i, settings, x, P, 1.0 - p, tracking.few, tracking.block)
