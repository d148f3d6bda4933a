# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Noise of joint velocities and torques, estimated from the signals; errors of the base's momentum.

The third difference d of a signal contains little of a motion and twenty times the variance of
white noise, and two in a row have the covariance -15 times it. A motion that is fast for the rate
makes d^2 larger and -d d' smaller, so the noise lies between the two estimates: their medians over
seconds, which impacts do not change. Stated noise between these bounds is kept; other noise is
moved to the nearer one.

A signal in steps, as a coarse encoder's, repeats itself, and its medians are useless: noise is
then the stated one, or the width of a step over the root of twelve if that is more.
"""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.estimation.attitude import acceleration_noise
from legged_dynamics.estimation.filter import layout as codes
from legged_dynamics.estimation.filter.equation_errors import (
    SLOW_TIME,
    fill_masses,
    motion_response,
)
from legged_dynamics.estimation.filter.memory import N_EXTRA, SIGNAL
from legged_dynamics.spatial.jit import part

# Medians of |d| and of -d d' of white noise of unit variance.
MEDIAN = 3.0164
MEDIAN_PRODUCT = 5.860
# Deviation of a signal in steps of width one.
WIDTH = math.sqrt(1.0 / 12.0)


@part
def update_noise(robot, layout, settings, window, memory, results):
    """Update the estimated noise by the newest sample; write it to robot and results."""
    n, nj, faults = window.shape[0], layout.joints, int(results.faults[0])
    newest, before = window[n - 1], window[n - 2]
    ticks, signals = memory.ticks[0], memory.signals
    if ticks == 0.0:
        for c in range(2 * nj):
            signals[c, SIGNAL.below] = signals[c, SIGNAL.above] = signals[c, SIGNAL.step_width] = (
                max(robot.stated_noise[c], 1e-9))
    step = max(1.0 / (0.1 / settings.step + ticks), settings.step)
    memory.ticks[0] = min(ticks + 1.0, 1.0 / settings.step)
    for c in range(2 * nj):
        first = newest[layout.velocity + c] - before[layout.velocity + c]
        second = first - signals[c, SIGNAL.first]
        third = second - signals[c, SIGNAL.second]
        product = -third * signals[c, SIGNAL.third]
        signals[c, SIGNAL.first] = first
        signals[c, SIGNAL.second] = second
        signals[c, SIGNAL.third] = third
        stated = robot.stated_noise[c]
        below, above = signals[c, SIGNAL.below], signals[c, SIGNAL.above]
        least, size = max(1e-2 * stated, 1e-9), math.fabs(first)
        repeats, width = signals[c, SIGNAL.repeats], signals[c, SIGNAL.step_width]
        if math.isfinite(product) and ticks > 2.0:
            repeats += step * ((1.0 if size == 0.0 else 0.0) - repeats)
            if size > 0.0:      # the smallest of many: one step alone is a motion
                width = min(settings.width_growth * width, size)
            signals[c, SIGNAL.repeats], signals[c, SIGNAL.step_width] = repeats, width
            below *= 1.0 + step if product > MEDIAN_PRODUCT * below * below else 1.0 - step
            above *= 1.0 + step if math.fabs(third) > MEDIAN * above else 1.0 - step
            signals[c, SIGNAL.below] = max(below, least)
            signals[c, SIGNAL.above] = max(above, least)
        if repeats > settings.repeats:
            counts = max(stated, WIDTH * width)
        else:
            counts = max(min(stated, settings.noise_band * above), below / settings.noise_band,
                         settings.least_noise_share * stated)
        j = c if c < nj else c - nj
        results.joint_noise[c // nj, j] = counts
        if c < nj:
            robot.motion_noise[j] = robot.slope_noise[0] * counts
        else:
            robot.effort_variance[j] = counts * counts
        if (counts > settings.significant * stated and robot.columns[j, 0] > 0
                and math.isfinite(newest[layout.effort + j])):
            faults |= codes.NOISE_MISSTATED
    results.faults[0] = faults


# -------------------------------------------------------------------------------------------------
# Errors of the base's momentum, where no torque is measured.
#
# Accelerations are differences of noisy velocities, so the error of the equations is a difference
# of errors p of momentum: ``A w + (p_k - p_k-1) / dt = b``. In one tick it is large, and the
# larger the higher the rate; over a longer time only its two ends remain. p is a state in addition
# to the forces, ``p_k = keep p_k-1 + new``; of slopes over several samples it is a smooth error.


def momentum_time(rate: float, half_window: int) -> float:
    """Return the ratio [s] of a momentum error's deviation to that of its derivative."""
    h = half_window
    if h == 0:
        return math.sqrt(0.5) / rate
    # Slopes add up to a mean of velocities, weighted by what slopes' weights add up to.
    weights = np.cumsum(np.arange(-h, h)) / (h * (h + 1) * (2 * h + 1) / 3.0)
    return float(np.linalg.norm(weights)) / (rate * acceleration_noise(1.0, 1.0, h))


@part
def base_covariances(robot, settings, scratch, tracking, imu, jump, dt):
    """
    Fill the covariances (lower triangles) of the base equations' errors in a sample.

    ``tracking.noise``: momentum errors, over `momentum_time` squared;
    ``tracking.slow_noise``: all others.
    """
    nv, rows, L = robot.columns.shape[0], tracking.rows, tracking.response
    fill_masses(robot, scratch, tracking)
    for r in range(6):
        rows[r] = r
    motion_response(robot, settings, tracking.mass, rows, 6, imu, jump, L)
    # A slowly varying error has a new value once in so many samples.
    samples = max(SLOW_TIME / dt, 1.0)
    sensed = 1.0 + settings.linear_slow * samples
    for r in range(6):
        for s in range(r + 1):
            brief = 0.0
            for m in range(nv + 3):
                brief += L[r, m] * L[s, m]
            tracking.noise[r, s] = tracking.noise[s, r] = brief
            tracking.slow_noise[r, s] = L[r, nv + 6] * L[s, nv + 6] + sensed * (
                L[r, nv + 3] * L[s, nv + 3] + L[r, nv + 4] * L[s, nv + 4]
                + L[r, nv + 5] * L[s, nv + 5])
        tracking.slow_noise[r, r] += samples * robot.model_error[r]


@part
def reset_momentum_error(x, P):
    """Reset the momentum error in ``x``, ``P`` to a known zero, independent of the forces."""
    nx = x.shape[0]
    for r in range(nx - N_EXTRA, nx):
        x[r] = 0.0
        for c in range(nx):
            P[r, c] = P[c, r] = 0.0


@part
def momentum_columns(grasp, nc, keep, dt):
    """Fill the momentum error's columns of ``grasp``; ``keep``: share that stays."""
    for r in range(6):
        for k in range(6):
            grasp[r, nc + k] = (keep - 1.0) / dt if r == k else 0.0


@part
def predict_momentum_error(x, P, gain, noise, nc, keep, new, dt):
    """
    Predict this sample's momentum error, writing ``x``, ``P`` and ``gain`` (``H P``).

    ``keep``: share that stays in a sample; ``new`` [s^2]: new variance as a multiple of
    ``noise`` (momentum covariance over `momentum_time` squared).
    """
    nx = x.shape[0]
    for k in range(nc, nx):
        x[k] *= keep
        for r in range(nx):
            P[k, r] *= keep
            P[r, k] *= keep
    for r in range(6):
        for k in range(6):
            P[nc + r, nc + k] += new * noise[r, k]
            gain[r, nc + k] = keep * gain[r, nc + k] + new * noise[r, k] / dt
