# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Minimum-jerk motion between two poses: quintics of position and exponential coordinates.

Between given ends of position, velocity and acceleration the quintic has the least integral of
squared jerk (Flash and Hogan 1985). From rest to rest over a distance d in a time T its speed
peaks at ``15/8 d/T`` and its acceleration at ``10/sqrt(3) d/T^2``. Orientation is
``R_0 exp(phi(t))`` with phi quintic: a turn about one axis from rest to rest.
"""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.spatial.algebra import (
    add_scaled,
    compose,
    cross,
    load3,
    load9,
    norm,
    rotate_back,
    scale,
    store3,
    store9,
)
from legged_dynamics.spatial.exponential import rotation_exp, turn_rates
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.workspace.workspace_force import ACCELERATION, POSITION, ROTATION, TWIST

PEAK_SPEED, PEAK_ACCELERATION = 15.0 / 8.0, 10.0 / math.sqrt(3.0)
# A segment in one row: first rotation, coefficients (6 powers, 6 coordinates), duration.
R_0, POWERS, DURATION, N_SEGMENT = 0, 9, 45, 46
# Instants at which a segment is held against the limits.
SAMPLES = 33


@part
def powers_at(segment, t, order):
    """Return derivatives of that order of position and exponential coordinates, as vectors."""
    p, phi = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(5, order - 1, -1):
        factor = 1.0
        for i in range(order):
            factor *= k - i
        p = add_scaled(scale(factor, load3(segment, POWERS + 6 * k)), t, p)
        phi = add_scaled(scale(factor, load3(segment, POWERS + 6 * k + 3)), t, phi)
    return p, phi


@lean_kernel
def sample_segment(segment, t, target):
    """Fill a target (24,) at a time [s] of a segment; before and after it is at rest there."""
    resting = t < 0.0 or t >= segment[DURATION]
    t = min(max(t, 0.0), segment[DURATION])
    p, phi = powers_at(segment, t, 0)
    R = compose(load9(segment, R_0), rotation_exp(phi))
    store9(target, ROTATION, R)
    store3(target, POSITION, p)
    for k in range(TWIST, ACCELERATION + 6):
        target[k] = 0.0
    if resting:
        return
    velocity, rate = powers_at(segment, t, 1)
    acceleration, bend = powers_at(segment, t, 2)
    w, alpha = turn_rates(phi, rate, bend)
    v = rotate_back(R, velocity)
    store3(target, TWIST, v)
    store3(target, TWIST + 3, w)
    store3(target, ACCELERATION, add_scaled(rotate_back(R, acceleration), -1.0, cross(w, v)))
    store3(target, ACCELERATION + 3, alpha)


@lean_kernel
def segment_peaks(segment, target, peaks):
    """Fill the largest speed, acceleration, turning rate and turning acceleration of a segment."""
    for k in range(4):
        peaks[k] = 0.0
    for i in range(SAMPLES):
        sample_segment(segment, segment[DURATION] * i / SAMPLES, target)
        v, w = load3(target, TWIST), load3(target, TWIST + 3)
        a = load3(target, ACCELERATION)
        turning = cross(w, v)
        a = (a[0] + turning[0], a[1] + turning[1], a[2] + turning[2])
        peaks[0] = max(peaks[0], norm(v))
        peaks[1] = max(peaks[1], norm(a))
        peaks[2] = max(peaks[2], norm(w))
        peaks[3] = max(peaks[3], norm(load3(target, ACCELERATION + 3)))


def quintic(start: np.ndarray, end: np.ndarray, duration: float) -> np.ndarray:
    """
    Return the coefficients of quintics by power, (6, n).

    Parameters
    ----------
    start, end : (3, n) array
        Value, first and second derivative.
    duration : float [s]
        Above zero.

    """
    T = duration
    c0, c1, c2 = start[0], start[1], 0.5 * start[2]
    gap = end[0] - (c0 + T * (c1 + T * c2))
    slope = T * (end[1] - (c1 + 2.0 * T * c2))
    bend = T * T * (end[2] - 2.0 * c2)
    c3 = (10.0 * gap - 4.0 * slope + 0.5 * bend) / T ** 3
    c4 = (-15.0 * gap + 7.0 * slope - bend) / T ** 4
    c5 = (6.0 * gap - 3.0 * slope + 0.5 * bend) / T ** 5
    return np.array([c0, c1, c2, c3, c4, c5])


def segment(R_start: np.ndarray, start: np.ndarray, end: np.ndarray,
            duration: float) -> np.ndarray:
    """
    Return a segment for :func:`sample_segment`.

    Parameters
    ----------
    R_start : (3, 3) array
        Orientation from which the exponential coordinates count.
    start, end : (3, 6) array
        Position in the world and exponential coordinates, with two derivatives.
    duration : float [s]
        Above zero.

    """
    row = np.empty(N_SEGMENT)
    row[R_0:POWERS] = R_start.ravel()
    row[POWERS:DURATION] = quintic(start, end, duration).ravel()
    row[DURATION] = duration
    return row
