# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Orientation of the base, and derivatives of velocities.

The orientation is the IMU's where it gives one; else a complementary filter of gyro and
accelerometer finds the direction of gravity (Mahony et al. 2008), with heading zero.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.filter.memory import TILT
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.algebra import (
    add_scaled,
    compose,
    cross,
    dot,
    load3,
    norm,
    rotation_of_quaternion,
    scale,
    store3,
    subtract,
)
from legged_dynamics.spatial.jit import kernel, part

# Gain of the accelerometer in the complementary filter [1/s], after Mahony et al. (2008), eq. 32:
# fast enough to remove a gyro's bias, slow against a stride.
TILT_GAIN = 0.5
# The accelerometer is used while its length differs from gravity by less than this fraction.
STEADY = 0.15


@part
def rotation_of_tilt(up):
    """Return ``R_WB`` by rows for zero heading: world x above base x."""
    x = add_scaled((1.0, 0.0, 0.0), -up[0], up)
    if norm(x) < 1e-3:      # base x points straight up or down: let world y lie over base y
        y = add_scaled((0.0, 1.0, 0.0), -up[1], up)
        y = scale(1.0 / norm(y), y)
        x = cross(y, up)
    else:
        x = scale(1.0 / norm(x), x)
        y = cross(up, x)
    return x[0], x[1], x[2], y[0], y[1], y[2], up[0], up[1], up[2]


@part
def rotation_from_imu(quaternion, start, R):
    """Return ``R_WB`` by rows from an IMU's xyzw, from ``start`` on, and ``R_BI`` (rows)."""
    R_WI = rotation_of_quaternion(quaternion[start], quaternion[start + 1], quaternion[start + 2],
                                  quaternion[start + 3])
    return compose(R_WI, (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]))


@kernel
def advance_tilt(tilt, w, acceleration, dt):
    """Advance up in ``tilt``, base axes, by a complementary filter (Mahony 2008, eq. 32)."""
    length = norm(acceleration)
    if tilt[TILT.known] == 0.0:
        if length < 1e-6:
            return
        up = scale(1.0 / length, acceleration)
        tilt[TILT.known] = 1.0
    else:
        up = load3(tilt, TILT.up)
        up = add_scaled(up, dt, cross(up, w))
        if math.fabs(length - GRAVITY) < STEADY * GRAVITY:
            measured = scale(1.0 / length, acceleration)
            up = add_scaled(up, min(TILT_GAIN * dt, 1.0), subtract(measured, up))
        up = scale(1.0 / math.sqrt(dot(up, up)), up)
    store3(tilt, TILT.up, up)


# -------------------------------------------------------------------------------------------------
# The derivative filter: joint and angular accelerations from velocities.
#
# The slope of the least-squares line through the last ``2 h + 1`` samples, at their actual times,
# is the acceleration at the middle one (for evenly spaced samples the quadratic Savitzky-Golay
# derivative). So an estimate describes the sample ``h`` before the newest: a delay of ``h``
# samples, exactly, at every frequency. With ``h = 1`` it is the central difference. White noise of
# deviation ``s`` on the velocity becomes ``s / (dt sqrt(h (h + 1) (2 h + 1) / 3))`` on the
# acceleration.
#
# With ``h = 0`` it is the difference of the last two samples: the mean acceleration between them,
# which an impact in that tick alone enters, and ``s sqrt(2) / dt`` of noise.


@part
def slopes(window, first, count, out, start):
    """Write the slopes [1/s] of ``count`` window columns over time (column 0) to ``out``."""
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
    """
    Return an acceleration's standard deviation [1/s^2] from that of velocities [1/s].

    ``half_window`` of the derivative filter, in samples; 0: difference of two samples.
    """
    h = half_window
    if h == 0:
        return velocity_noise * rate * math.sqrt(2.0)
    return velocity_noise * rate / math.sqrt(h * (h + 1) * (2 * h + 1) / 3.0)


def effort_place(age: float, rate: float, half_window: int) -> float:
    """
    Return the index in the window, from its oldest sample, of the estimate's efforts.

    ``age`` [s]: efforts older than positions; beyond half the window they are extrapolated.
    Raises ConfigurationError if they are younger than the window reaches.
    """
    middle = max(half_window, 0.5)
    if -age * rate > middle + 1e-9:
        raise ConfigurationError(
            f'noise.effort_age: expected at least {-middle / rate:g} s, half the span of the '
            f'samples that an estimate is made of, got {age:g}; raise derivative.half_window, or '
            'stamp efforts where they belong')
    return max(middle + age * rate, 0.0)
