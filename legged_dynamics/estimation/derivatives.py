# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The one derivative filter: joint and angular accelerations from velocities.

The slope of the least-squares line through the last ``2 h + 1`` samples, at their actual times,
is the acceleration at the middle one (for evenly spaced samples the quadratic Savitzky-Golay
derivative). So an estimate describes the sample ``h`` before the newest: a delay of ``h`` samples,
exactly, at every frequency. With ``h = 1`` it is the central difference. White noise of deviation
``s`` on the velocity becomes ``s / (dt sqrt(h (h + 1) (2 h + 1) / 3))`` on the acceleration.

With ``h = 0`` it is the difference of the last two samples: the mean acceleration between them,
which an impact in that tick alone enters, and ``s sqrt(2) / dt`` of noise.
"""
from __future__ import annotations

import math

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.jit import kernel


@kernel
def slopes(window, first, count, out, start):
    """Write the slopes of ``count`` columns from ``first`` on; column 0 of the window is time."""
    n = window.shape[0]
    mean = 0.0
    for i in range(n):
        mean += window[i, 0]
    mean /= n
    spread = 0.0
    for i in range(n):
        spread += (window[i, 0] - mean) ** 2
    for k in range(count):
        s = 0.0
        for i in range(n):
            s += (window[i, 0] - mean) * window[i, first + k]
        out[start + k] = s / spread


def acceleration_noise(velocity_noise: float, rate: float, half_window: int) -> float:
    """Return the deviation of an acceleration [1/s^2] from that of the velocities [1/s]."""
    h = half_window
    if h == 0:
        return velocity_noise * rate * math.sqrt(2.0)
    return velocity_noise * rate / math.sqrt(h * (h + 1) * (2 * h + 1) / 3.0)


def effort_place(age: float, rate: float, half_window: int) -> float:
    """
    Return where in the window of samples the efforts of the estimate's instant stand.

    Parameters
    ----------
    age : float [s]
        How much older efforts are than the positions they come with.
    rate : float [Hz]
        Of the measurements.
    half_window : int
        Of the derivative filter, in samples; 0: the last two samples.

    Raises
    ------
    ConfigurationError
        When the window does not reach so far.

    """
    middle = max(half_window, 0.5)
    if abs(age * rate) > middle + 1e-9:
        raise ConfigurationError(
            f'noise.effort_age: expected at most {middle / rate:g} s either way, half the span of '
            f'the samples that an estimate is made of, got {age:g}; raise derivative.half_window, '
            'or stamp efforts where they belong')
    return min(max(middle + age * rate, 0.0), 2.0 * middle)
