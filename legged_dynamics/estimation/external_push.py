# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The external wrench on the base: a push is let in fast, a lasting error of the equations is not.

The base's equations, with the feet taken as their own joints see them, leave a wrench that is off
by what torques, the accelerometer and the model are off by for long. The filter's external wrench
stays small unless what is left is so large that such errors do not explain it: at once where a few
samples say so, else by what lasts a tenth of a second. What is published is all that is left,
nothing held back: the filter's wrench and, until a push is let in, averaged, what it does not
follow, with the deviation that lasting errors and the average leave.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.jacobians import START
from legged_dynamics.estimation.equation_errors import LASTING_SHARE
from legged_dynamics.estimation.external_link import (
    EXTERNAL_TIME,
    about_point,
    push_through_leg,
)
from legged_dynamics.estimation.fusion import joint_information, leg_alone
from legged_dynamics.estimation.layout import BEYOND, N_BESIDE, VECTOR, WEIGHTS
from legged_dynamics.spatial.algebra import dot, load3, symmetric_times
from legged_dynamics.spatial.jit import part

# How the wrench walks once it is a push: its deviation after a second, of the weight.
PUSH_RATE = 0.45
# A push: the base's equations have been off in one direction by so many deviations of a sample, no
# sample counting for more than so many, in the mean of so many seconds, or of so many samples
# where those are rare.
PUSH_LEVEL, PUSH_CLIP, PUSH_TIME, PUSH_SAMPLES = 1.3, 2.5, 0.009, 4.5
# The mean of what is left, or of all of it, off by so many deviations of a lasting error is a push
# as well; by this its variance counts.
LASTING_LEVEL = 2.5
LASTING_COUNTS = (LASTING_LEVEL / PUSH_LEVEL) ** 2
# Over how long what the filter does not follow is averaged [s], and how many deviations of a
# sample count.
BEYOND_TIME, BEYOND_CLIP = 0.1, 2.5
# A sample whose wrench lasting errors make uncertain by so much of the weight counts half.
UNSURE = 0.1


@part
def lasting_doubt(robot, scratch, tracking, joints, n):
    """Fill the first six of ``tracking.doubt``: what lasting errors leave in the wrench."""
    feet, vectors, steady, rows = robot.feet, scratch.vectors, tracking.steady[0], tracking.rows
    for j in range(robot.columns.shape[0]):
        vectors[WEIGHTS, j] = vectors[BEYOND, j] = 0.0
    for r in range(joints):
        # That a torque is quieter than stated does not make its offset a push or a mass.
        j = rows[r] - 6
        stated = robot.stated_noise[robot.columns.shape[0] + j]
        quieter = max(stated * stated - robot.effort_variance[j], 0.0)
        vectors[WEIGHTS, j] = 1.0 / (steady[r] + LASTING_SHARE ** 2 * quieter)
    joint_information(robot.columns, scratch.jacobian, vectors[BEYOND], vectors[WEIGHTS],
                      robot.prior, scratch.information, vectors[VECTOR])
    for r in range(joints, n):
        tracking.doubt[rows[r]] = steady[r]
    for i in range(feet.index.shape[0]):
        s = feet.index[i, START]
        _, C = leg_alone(feet, i, scratch.information, vectors[VECTOR])
        for k in range(6):
            arm = load3(scratch.grasp[k], s)
            tracking.doubt[k] += dot(arm, symmetric_times(C, arm))


@part
def doubt_about_point(grasp, doubt, nc, k):
    """Return the variance of component k where the wrench acts."""
    total = doubt[k]
    if k > 2:
        for c in range(3):
            total += grasp[k, nc + c] ** 2 * doubt[c]
    return total


@part
def trust(settings, doubt, k):
    """Return how much a sample says of component k of the wrench, 0 to 1."""
    unit = UNSURE * settings.weight * (1.0 if k < 3 else settings.arm)
    return 1.0 / (1.0 + doubt / (unit * unit))


@part
def follow_external(layout, settings, tracking, memory, k, whole, left, spread, doubt, dt):
    """
    Return by how much component k of the wrench walks in a tick because it is a push, a variance.

    ``whole`` is the wrench as this sample has it, ``left`` the part that the filter's does not
    follow, ``spread`` the variance of both by errors of a sample, ``doubt`` by lasting ones.
    """
    deviation = math.sqrt(spread + LASTING_COUNTS * doubt)
    share, opened = min(dt / PUSH_TIME, 1.0 / PUSH_SAMPLES), False
    # All of it shows that a push is there, what is not followed that one has changed.
    for at, off in ((layout.push + k, whole), (layout.push_change + k, left)):
        score = min(max(off / deviation, -PUSH_CLIP), PUSH_CLIP)
        memory[at] += share * (score - memory[at])
        opened = opened or math.fabs(memory[at]) > PUSH_LEVEL
    share, at = min(dt / BEYOND_TIME, 1.0), layout.push_beyond + k
    limit = BEYOND_CLIP * math.sqrt(spread + doubt)
    memory[at] += (share * trust(settings, doubt, k)
                   * min(max(left - memory[at], -limit), limit))
    # Differences of noisy velocities are undone in the next one: the mean keeps its ends.
    tracking.doubt[6 + k] = spread * share * share / (2.0 - share)
    level = LASTING_LEVEL * math.sqrt(doubt + tracking.doubt[6 + k])
    lasts = max(math.fabs(memory[at]), math.fabs(memory[at] + whole - left))
    opened = opened or lasts > level
    rate = PUSH_RATE * settings.weight * (1.0 if k < 3 else settings.arm)
    return rate * rate * dt if opened else 0.0


@part
def widen_external(feet, layout, settings, grasp, tracking, memory, force, joints, n, dt):
    """
    Fill by how much the wrench walks in a tick; return whether a push is let in.

    ``force`` is what the feet's own joints add to their forces; its variances are the first row of
    ``tracking.few``.
    """
    nx, S = tracking.state.shape[0], tracking.noise
    nc, variance, pushed = nx - N_BESIDE, tracking.few[0], False
    x, P, walk = tracking.state, tracking.covariance, tracking.walk
    for k in range(6):
        deviation = settings.external_force if k < 3 else settings.external_moment
        walk[nc + k] = 2.0 / EXTERNAL_TIME * deviation ** 2 * dt
        if n > joints:
            # The base's equation with the feet taken as their joints see them.
            r = joints + k
            left, spread = tracking.innovation[r], S[r, r] + P[nc + k, nc + k]
            for i in range(feet.index.shape[0]):
                s = feet.index[i, START]
                for m in range(3):
                    left -= grasp[k, s + m] * force[s + m]
                    spread += grasp[k, s + m] ** 2 * variance[s + m]
            tracking.left[k] = left
            for c in range(nc, nx):
                tracking.left[k] += grasp[k, c] * x[c]
            if settings.external_body >= 0:
                left, spread = about_point(grasp, tracking.vector, nc, k, left, spread)
            doubt = doubt_about_point(grasp, tracking.doubt, nc, k)
            more = follow_external(
                layout, settings, tracking, memory, k, left + x[nc + k], left, spread, doubt, dt)
            walk[nc + k], pushed = max(walk[nc + k], more), pushed or more > 0.0
    return pushed


@part
def slow_share(walk, variance):
    """
    Return by how much of its gain a lasting innovation moves the wrench.

    What lasts comes again in every tick and is no news: only what the wrench walked in the
    meantime makes room for it. With the gain of new innovations it would become all of it.
    """
    return min(0.5 * walk / variance, 1.0) if variance > 0.0 else 1.0


@part
def write_external(robot, layout, settings, scratch, tracking, memory, joints, base_known, out):
    """Fill the wrench and its deviation into the results."""
    grasp, now, covariance = scratch.grasp, tracking.now, tracking.carried
    nc, pushed = now.shape[0] - N_BESIDE, False
    for k in range(6):      # a push that is let in is all in the filter
        whole, change = memory[layout.push + k], memory[layout.push_change + k]
        pushed = pushed or max(math.fabs(whole), math.fabs(change)) > PUSH_LEVEL
    beyond = tracking.vector
    for k in range(6):
        beyond[k] = memory[layout.push_beyond + k]
        variance = max(covariance[nc + k, nc + k], 0.0)
        if base_known:
            variance = doubt_about_point(grasp, tracking.doubt, nc, k) + tracking.doubt[6 + k]
        out[layout.external_deviation + k] = math.sqrt(variance)
    if base_known and settings.external_on_leg > 0.5:
        push_through_leg(robot, settings, scratch, tracking, joints, beyond,
                         out[layout.external_deviation:])
    for k in range(6):
        wrench, deviation = now[nc + k], out[layout.external_deviation + k]
        # Beside a push only what lasting errors do not explain is another part of it.
        if base_known and (not pushed or math.fabs(beyond[k]) > LASTING_LEVEL * deviation):
            wrench += beyond[k]
        out[layout.external_wrench + k] = wrench
