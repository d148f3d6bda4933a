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
    load9,
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
    """
    Return the orientation of a base whose heading is zero: world x lies over base x.

    Parameters
    ----------
    up : tuple of 3 floats
        Unit vector against gravity, base axes.

    Returns
    -------
    9 floats
        ``R_WB`` by rows.

    """
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
def rotation_from_mount(quaternion, start, R):
    """
    Return the base's orientation from that of the IMU.

    Parameters
    ----------
    quaternion, start : array, int
        Orientation of the IMU in the world, xyzw from ``start`` on.
    R : 9 floats
        ``R_BI`` by rows: orientation of the IMU on the base.

    Returns
    -------
    9 floats
        ``R_WB`` by rows; NaN where the orientation is.

    """
    R_WI = rotation_of_quaternion(quaternion[start], quaternion[start + 1], quaternion[start + 2],
                                  quaternion[start + 3])
    return compose(R_WI, (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]))


@part
def rotation_from_imu(quaternion, start, settings, mount):
    """
    Return the base's orientation from that of an IMU that is fixed to it.

    Parameters
    ----------
    quaternion, start : array, int
        Orientation of the IMU in the world, xyzw from ``start`` on.
    settings, mount : array, int
        ``R_BI`` by rows, nine numbers from ``mount`` on.

    Returns
    -------
    9 floats
        ``R_WB`` by rows; NaN where the orientation is.

    """
    return rotation_from_mount(quaternion, start, load9(settings, mount))


@kernel
def advance_tilt(tilt, w, acceleration, dt):
    """
    Advance the direction of gravity by a complementary filter (Mahony et al. 2008, eq. 32).

    The gyro turns it; the accelerometer pulls it back while its length is near gravity.

    Parameters
    ----------
    tilt : (TILT.width,) array
        Direction against gravity in base axes, and whether it is known; written.
    w, acceleration : tuple of 3 floats [rad/s, m/s^2]
        Gyro and accelerometer, base axes.
    dt : float [s]
        Time since the last sample.

    """
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
    """
    Write the slopes of some columns of the window over time.

    Parameters
    ----------
    window : (samples, input_size) array
        Measurements; column 0 is time [s].
    first, count : int
        First column, and how many.
    out, start : array, int
        Slopes are written from ``start`` on [1/s times the unit].

    """
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
    Return the standard deviation of an acceleration [1/s^2].

    Parameters
    ----------
    velocity_noise : float [1/s]
        Standard deviation of the velocities.
    rate : float [Hz]
        Rate of the measurements.
    half_window : int
        Of the derivative filter, in samples; 0: difference of two samples.

    """
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

    Returns
    -------
    float
        In samples from the oldest one; beyond the newest where efforts are older than half the
        window, which are then continued by their slope.

    Raises
    ------
    ConfigurationError
        When efforts are younger than the window reaches.

    """
    middle = max(half_window, 0.5)
    if -age * rate > middle + 1e-9:
        raise ConfigurationError(
            f'noise.effort_age: expected at least {-middle / rate:g} s, half the span of the '
            f'samples that an estimate is made of, got {age:g}; raise derivative.half_window, or '
            'stamp efforts where they belong')
    return max(middle + age * rate, 0.0)
