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
from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from legged_dynamics.spatial.algebra import (
    add_scaled,
    compose,
    cross,
    dot,
    load3,
    load9,
    norm,
    rotate_back,
    scale,
    store3,
    store9,
    subtract,
    transpose,
)
from legged_dynamics.spatial.exponential import rotation_exp, rotation_log, turn_rates
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import offsets
from legged_dynamics.workspace.support import support_excess
from legged_dynamics.workspace.workspace_dynamics import POSE

PEAK_SPEED, PEAK_ACCELERATION = 15.0 / 8.0, 10.0 / math.sqrt(3.0)


class SegmentColumns(NamedTuple):
    """A segment in one row."""

    rotation: int = 9       # the first
    powers: int = 36        # coefficients, (6 powers of time, 6 coordinates)
    duration: int = 1       # s
    width: int = 0


SEGMENT = offsets(SegmentColumns())
# Instants at which a segment is checked against the limits.
SAMPLES = 32
# What is too much for the ground when so many times slower is not so by its speed; and what may be
# missing of a margin [m].
MOST, NOTHING = 100.0, 1e-6


@part
def _powers_at(segment, t, order):
    """Return derivatives of that order of position and exponential coordinates."""
    p, phi = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(5, order - 1, -1):
        factor = 1.0
        for i in range(order):
            factor *= k - i
        p = add_scaled(scale(factor, load3(segment, SEGMENT.powers + 6 * k)), t, p)
        phi = add_scaled(scale(factor, load3(segment, SEGMENT.powers + 6 * k + 3)), t, phi)
    return p, phi


@lean_kernel
def sample_segment(segment, t, target):
    """
    Fill a target at one instant of a segment; before and after the segment it is at rest.

    Parameters
    ----------
    segment : (SEGMENT.width,) array
        Of :func:`segment`.
    t : float [s]
        Time since the segment begins.
    target : (24,) array
        Filled at the places `POSE`: pose, twist and acceleration.

    """
    resting = t < 0.0 or t >= segment[SEGMENT.duration]
    t = min(max(t, 0.0), segment[SEGMENT.duration])
    p, phi = _powers_at(segment, t, 0)
    R = compose(load9(segment, SEGMENT.rotation), rotation_exp(phi))
    store9(target, POSE.rotation, R)
    store3(target, POSE.position, p)
    for k in range(POSE.twist, POSE.acceleration + 6):
        target[k] = 0.0
    if resting:
        return
    # The target has twist and acceleration in the axes of the moving base, component-wise.
    velocity, rate = _powers_at(segment, t, 1)
    acceleration, bend = _powers_at(segment, t, 2)
    w, alpha = turn_rates(phi, rate, bend)
    v = rotate_back(R, velocity)
    store3(target, POSE.twist, v)
    store3(target, POSE.twist + 3, w)
    store3(target, POSE.acceleration, add_scaled(rotate_back(R, acceleration), -1.0, cross(w, v)))
    store3(target, POSE.acceleration + 3, alpha)


@part
def _fill_segment(R_start, start, end, T, row):
    """Fill a segment; see :func:`segment` for the arguments."""
    store9(row, SEGMENT.rotation, R_start)
    row[SEGMENT.duration] = T
    for k in range(6):
        # The lower three powers are the start; the upper three meet the end in position, velocity
        # and acceleration: what is left of each after the lower ones, in closed form.
        c0, c1, c2 = start[0, k], start[1, k], 0.5 * start[2, k]
        gap = end[0, k] - (c0 + T * (c1 + T * c2))
        slope = T * (end[1, k] - (c1 + 2.0 * T * c2))
        bend = T * T * (end[2, k] - 2.0 * c2)
        row[SEGMENT.powers + k], row[SEGMENT.powers + 6 + k] = c0, c1
        row[SEGMENT.powers + 12 + k] = c2
        row[SEGMENT.powers + 18 + k] = (10.0 * gap - 4.0 * slope + 0.5 * bend) / T ** 3
        row[SEGMENT.powers + 24 + k] = (-15.0 * gap + 7.0 * slope - bend) / T ** 4
        row[SEGMENT.powers + 30 + k] = (6.0 * gap - 3.0 * slope + 0.5 * bend) / T ** 5


@part
def _coordinate_rates(phi, w, alpha):
    """Return rate and acceleration of exponential coordinates for angular ones, w and alpha."""
    zero = (0.0, 0.0, 0.0)
    # turn_rates is linear in the rate: its columns by unit vectors, inverted by cross products.
    x, _ = turn_rates(phi, (1.0, 0.0, 0.0), zero)
    y, _ = turn_rates(phi, (0.0, 1.0, 0.0), zero)
    z, _ = turn_rates(phi, (0.0, 0.0, 1.0), zero)
    yz, zx, xy = cross(y, z), cross(z, x), cross(x, y)
    part = 1.0 / dot(x, yz)
    rate = (part * dot(yz, w), part * dot(zx, w), part * dot(xy, w))
    _, drift = turn_rates(phi, rate, zero)
    # What is left of alpha after the part that the rate alone makes.
    rest = subtract(alpha, drift)
    return rate, (part * dot(yz, rest), part * dot(zx, rest), part * dot(xy, rest))


@lean_kernel
def pass_knots(knots, steps, rates, first, last):
    """
    Fill rates (n, 12) at knots from first to last - 1: velocity and acceleration.

    Between two slopes of the same sign the rate is their harmonic mean, which overshoots neither,
    and the acceleration the smaller of those on either side; else both are zero.

    Parameters
    ----------
    knots : (n, 12) array
        Rotation by rows and position, the first the start.
    steps : (n,) array [s]
        Time from the knot before; of the first without meaning.
    rates : (n, 12) array
        Velocity in the world and turning rate in the knot's axes; their derivatives.
    first, last : int
        Above zero; the rates of the last knot of all are zero.

    """
    n = knots.shape[0]
    for i in range(first, min(last, n - 1)):
        for start in range(2):
            if start == 0:
                before = subtract(load3(knots[i], 9), load3(knots[i - 1], 9))
                after = subtract(load3(knots[i + 1], 9), load3(knots[i], 9))
            else:
                R = transpose(load9(knots[i], 0))
                before = scale(-1.0, rotation_log(compose(R, load9(knots[i - 1], 0))))
                after = rotation_log(compose(R, load9(knots[i + 1], 0)))
            before, after = scale(1.0 / steps[i], before), scale(1.0 / steps[i + 1], after)
            store3(rates[i], 3 * start, before)
            store3(rates[i], 6 + 3 * start, after)
        for k in range(6):
            a, b = rates[i, k], rates[i, 6 + k]
            rate = 2.0 * a * b / (a + b) if a * b > 0.0 else 0.0
            left, right = 2.0 * (rate - a) / steps[i], 2.0 * (b - rate) / steps[i + 1]
            rates[i, k], rates[i, 6 + k] = rate, 0.0
            if left * right > 0.0:
                rates[i, 6 + k] = min(left, right) if left > 0.0 else max(left, right)


@lean_kernel
def join_knots(knots, steps, rates, rows, first, last, ends):
    """
    Fill the segments that end at knots from first to last - 1.

    Parameters
    ----------
    knots : (n, 12) array
        Poses to pass: rotation by rows, position [m].
    steps : (n,) array [s]
        Time from the knot before to each.
    rates : (n, 12) array
        Of :func:`pass_knots`.
    rows : (n, SEGMENT.width) array
        Filled.
    first, last : int
        Which knots.
    ends : (2, 3, 6) array
        Scratch.

    """
    for i in range(first, last):
        R = load9(knots[i - 1], 0)
        turn = rotation_log(compose(transpose(R), load9(knots[i], 0)))
        for k in range(6):
            ends[0, 0, k] = knots[i - 1, 9 + k] if k < 3 else 0.0
            ends[0, 1, k], ends[0, 2, k] = rates[i - 1, k], rates[i - 1, 6 + k]
            ends[1, 0, k] = knots[i, 9 + k] if k < 3 else turn[k - 3]
            ends[1, 1, k], ends[1, 2, k] = rates[i, k], rates[i, 6 + k]
        rate, bend = _coordinate_rates(turn, load3(rates[i], 3), load3(rates[i], 9))
        store3(ends[1, 1], 3, rate)
        store3(ends[1, 2], 3, bend)
        _fill_segment(R, ends[0], ends[1], steps[i], rows[i])


@part
def _too_much(support, target, slower):
    """Return whether a motion, slowed down by a factor, exceeds the limits of the ground."""
    margin, friction = support_excess(support, target, slower)
    return margin > NOTHING or friction > NOTHING


@lean_kernel
def needed_stretch(rows, first, last, samples, limits, support, slower, target):
    """
    Return by which factor segments must be slowed down to keep the limits.

    Parameters
    ----------
    rows : (n, 46) array
        Segments; those from first to last - 1 are checked.
    first, last : int
        Range of the segments.
    samples : int
        Number of instants of each segment that are checked.
    limits : (5,) array [m/s, m/s^2, rad/s, rad/s^2, m/s^3]
        Speed, acceleration, turning rate and acceleration, jerk.
    support : Support
        Motions that the ground allows.
    slower : float
        Smallest factor to return.
    target : (24,) array
        Scratch memory.

    Returns
    -------
    float
        The factor on all times, at least `slower`.

    """
    for i in range(first, last):
        for k in range(samples + 1):
            t = min(k / samples, 1.0 - 1e-9) * rows[i, SEGMENT.duration]
            sample_segment(rows[i], t, target)
            v, w = load3(target, POSE.twist), load3(target, POSE.twist + 3)
            turning, a = cross(w, v), load3(target, POSE.acceleration)
            a = (a[0] + turning[0], a[1] + turning[1], a[2] + turning[2])
            jerk, _ = _powers_at(rows[i], t, 3)
            slower = max(slower, norm(v) / limits[0], math.sqrt(norm(a) / limits[1]),
                         norm(w) / limits[2],
                         math.sqrt(norm(load3(target, POSE.acceleration + 3)) / limits[3]),
                         (norm(jerk) / limits[4]) ** (1.0 / 3.0))
            if _too_much(support, target, slower) and not _too_much(support, target, MOST):
                while _too_much(support, target, slower):
                    slower *= 1.03
    return slower


@lean_kernel
def _join(R_start, start, end, T, row):
    _fill_segment(load9(R_start, 0), start, end, T, row)


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
    row = np.empty(SEGMENT.width)
    _join(R_start.ravel(), start, end, duration, row)
    return row


# -------------------------------------------------------------------------------------------------
# Poses of the base and planned trajectories.


Result = TypeVar('Result')


def run(work: Generator[None, None, Result]) -> Result:
    """
    Run work that is done in pieces to its end.

    Parameters
    ----------
    work : generator
        Yields after each piece.

    Returns
    -------
    object
        What the generator returns.

    """
    try:
        while True:
            next(work)
    except StopIteration as done:
        return done.value


@dataclass(frozen=True, eq=False)
class BodyPose:
    """
    A pose of the base.

    Attributes
    ----------
    position : (3,) array [m]
        ``p_WB``.
    rotation : (3, 3) array
        ``R_WB``.

    """

    position: np.ndarray
    rotation: np.ndarray


@dataclass(frozen=True, eq=False)
class TrajectoryPlan:
    """
    A planned trajectory that has not started.

    Attributes
    ----------
    asked : float [s]
        Duration that was requested.
    first_step : float [s]
        Duration of the way to the first pose.
    first, first_rates : (12,) array
        First pose, and velocity and acceleration there.
    rows : (n, 46) array
        Segments; the second is the way to the first pose, which is made at the start.
    ends_ns : (n - 1,) int array [ns]
        End of each segment, counted from the first pose.

    """

    asked: float
    first_step: float
    first: np.ndarray
    first_rates: np.ndarray
    rows: np.ndarray
    ends_ns: np.ndarray
