# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How noisy joint velocities and torques are, seen from themselves.

The third difference d of a signal leaves next to nothing of a motion and twenty times the variance
of white noise, and two in a row have the covariance -15 times it. A motion that is fast for the
rate makes d^2 larger and -d d' smaller, so the noise lies between what the two say: their medians
over seconds, for the blow of a landing may be as large as it likes. Stated noise between these
bounds is believed; other noise is moved to the nearer one. That serves what a tick takes for
noise: what alternates from sample to sample is not the mean of the tick between them.

A signal in steps, as a coarse encoder's, repeats itself. Its medians then say nothing: stated
noise is believed, or the width of a step over the root of twelve if that is more.

Arguments of the kernels: see ``estimation/__init__.py``.
"""
from __future__ import annotations

import math

from legged_dynamics.estimation import layout as codes
from legged_dynamics.spatial.jit import part

# Medians of |d| and of -d d' of white noise of unit variance.
MEDIAN, MEDIAN_PRODUCT = 3.0164, 5.860
# By which share a median moves in a sample, at first and later.
FIRST_STEP, STEP = 0.03, 0.003
# How far the bounds are from what is seen, by a factor: they jitter by a few per cent.
BAND = 1.1
# Stated noise may be meant for what is not white as well: so much of it is left however quiet.
LEAST_SHARE = 0.5
# A signal repeats itself when so many of its differences are less than so much of the noise.
REPEATS, SAME = 0.3, 1e-3
WIDTH = math.sqrt(1.0 / 12.0)
# Noise of more than so many times what is stated is worth telling.
MISSTATED = 2.0


@part
def follow_noise(robot, layout, window, memory, out):
    """
    Take the newest sample in; fill the noise that counts into the robot and the results.

    Nothing is told of a joint without a measured torque, whose noise bears on no force.
    """
    n, nj, faults = window.shape[0], layout.joints, int(out[layout.faults])
    newest, before = window[n - 1], window[n - 2]
    ticks = memory[layout.noise_ticks]
    if ticks == 0.0:
        for c in range(2 * nj):
            memory[layout.noise_below + c] = memory[layout.noise_above + c] = max(
                robot.stated_noise[c], 1e-9)
    step = max(1.0 / (1.0 / FIRST_STEP + ticks), STEP)
    memory[layout.noise_ticks] = min(ticks + 1.0, 1.0 / STEP)
    for c in range(2 * nj):
        first = newest[layout.velocity + c] - before[layout.velocity + c]
        second = first - memory[layout.first_difference + c]
        third = second - memory[layout.second_difference + c]
        product = -third * memory[layout.third_difference + c]
        memory[layout.first_difference + c] = first
        memory[layout.second_difference + c] = second
        memory[layout.third_difference + c] = third
        stated = robot.stated_noise[c]
        below, above = memory[layout.noise_below + c], memory[layout.noise_above + c]
        least, size = max(1e-2 * stated, 1e-9), math.fabs(first)
        repeats, width = memory[layout.repeats + c], memory[layout.step_width + c]
        if math.isfinite(product) and ticks > 2.0:
            same = size < SAME * stated
            repeats += step * ((1.0 if same else 0.0) - repeats)
            if not same:        # the smallest of seconds
                width = size if width == 0.0 else min(width * (1.0 + STEP), size)
            memory[layout.repeats + c], memory[layout.step_width + c] = repeats, width
            below *= 1.0 + step if product > MEDIAN_PRODUCT * below * below else 1.0 - step
            above *= 1.0 + step if math.fabs(third) > MEDIAN * above else 1.0 - step
            memory[layout.noise_below + c] = max(below, least)
            memory[layout.noise_above + c] = max(above, least)
        if repeats > REPEATS:
            counts = max(stated, WIDTH * width)
        else:
            counts = max(min(stated, BAND * above), max(below / BAND, LEAST_SHARE * stated))
        out[layout.joint_noise + c] = counts
        j = c if c < nj else c - nj
        if c < nj:
            robot.motion_noise[j] = robot.slope_noise[0] * counts
        else:
            robot.effort_variance[j] = counts * counts
        if (counts > MISSTATED * stated and robot.columns[j, 0] > 0
                and math.isfinite(newest[layout.effort + j])):
            faults |= codes.NOISE_MISSTATED
    out[layout.faults] = faults
