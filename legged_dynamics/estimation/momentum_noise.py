# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Errors of the base's equations where no torque is measured: of momentum, and of all else.

Accelerations are differences of noisy velocities, so what the equations are off by is a
difference, too, of an error p of momentum: ``A w + (p_k - p_k-1) / dt = b``. In one tick that is
large, and the larger the higher the rate; over a time it leaves what its two ends leave, at any
rate. p is kept as a state beside the forces, in the place of the external wrench that motion alone
cannot tell. Of slopes over several samples p is a smooth error: ``p_k = keep p_k-1 + new``.

Arguments of the kernels: see ``estimation/__init__.py``.
"""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.estimation.derivatives import acceleration_noise
from legged_dynamics.estimation.equation_errors import (
    LASTING_TIME,
    fill_masses,
    motion_response,
)
from legged_dynamics.spatial.jit import part


def momentum_time(rate: float, half_window: int) -> float:
    """
    Return the deviation of a momentum's error over that of its derivative [s].

    Parameters
    ----------
    rate : float [Hz]
        Of the measurements.
    half_window : int
        Of the derivative filter, in samples.

    """
    h = half_window
    if h == 0:
        return math.sqrt(0.5) / rate
    # Slopes add up to a mean of velocities, weighted by what slopes' weights add up to.
    weights = np.cumsum(np.arange(-h, h)) / (h * (h + 1) * (2 * h + 1) / 3.0)
    return float(np.linalg.norm(weights)) / (rate * acceleration_noise(1.0, 1.0, h))


@part
def base_errors(robot, settings, scratch, tracking, imu, jump, dt):
    """
    Fill the covariance of errors of the base's equations in a sample.

    ``tracking.noise`` gets that of errors of momentum, over `momentum_time` squared, and
    ``tracking.noise_lasting`` that of all others, lower triangles.
    """
    nv, rows, L = robot.columns.shape[0], tracking.rows, tracking.response
    fill_masses(robot, scratch, tracking)
    for r in range(6):
        rows[r] = r
    motion_response(robot, settings, tracking.mass, rows, 6, imu, jump, L)
    # What lasts is new only so often.
    lasts = max(LASTING_TIME / dt, 1.0)
    sensed = 1.0 + settings.linear_lasting * lasts
    for r in range(6):
        for s in range(r + 1):
            brief = 0.0
            for m in range(nv + 3):
                brief += L[r, m] * L[s, m]
            tracking.noise[r, s] = tracking.noise[s, r] = brief
            tracking.noise_lasting[r, s] = L[r, nv + 6] * L[s, nv + 6] + sensed * (
                L[r, nv + 3] * L[s, nv + 3] + L[r, nv + 4] * L[s, nv + 4]
                + L[r, nv + 5] * L[s, nv + 5])
        tracking.noise_lasting[r, r] += lasts * robot.model_error[r]


@part
def forget_momentum_error(x, P, nc):
    """Let errors of momentum before this sample have nothing to do with forces."""
    nx = x.shape[0]
    for r in range(nc, nx):
        x[r] = 0.0
        for c in range(nx):
            P[r, c] = P[c, r] = 0.0


@part
def see_momentum_error(grasp, nc, keep, dt):
    """Let the base's equations see the error of momentum of the sample before."""
    for r in range(6):
        for k in range(6):
            grasp[r, nc + k] = (keep - 1.0) / dt if r == k else 0.0


@part
def carry_momentum_error(x, P, gain, noise, nc, keep, new, dt):
    """
    Let state, covariance and the gain's rows ``H P`` go on to this sample's error of momentum.

    ``new`` times ``noise`` is the variance of what is new of it, which the equations show over dt.
    """
    nx = x.shape[0]
    for k in range(nc, nx):
        x[k] *= keep
        for c in range(nx):
            P[k, c] *= keep
        for r in range(nx):
            P[r, k] *= keep
    for r in range(6):
        for k in range(6):
            P[nc + r, nc + k] += new * noise[r, k]
            gain[r, nc + k] = keep * gain[r, nc + k] + new * noise[r, k] / dt
