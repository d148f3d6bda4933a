# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Motion of the soles over the ground: how fast, how high, and about which line each foot rolls.

The part of a sole that touches the ground does not slide on it. A rolling foot turns about that
part, which is the instantaneous centre of its rotation and holds the centre of pressure: the heel
at first, the ball of the foot while the heel rises, the toes at the end. The velocity of the
foot's points on the floor is linear in their position along the foot, ``v(x) = a + b x``, and is
least at

.. math:: x = -\frac{a \cdot b}{b \cdot b},

which is known to ``dv / |b|`` when speeds are known to ``dv``. The length of the sole does not
matter.

Most models have rigid soles, whose tips dip below the floor while the heel rises, where real toes
bend. So the height of the floor is taken from the times in which the whole sole rests.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics


@dataclass(frozen=True)
class SoleSettings:
    """When a sole rests, is level, and how far it bends; chosen by the size of shoes."""

    rest_speed: float = 0.3  # [touch-down speed]: all of a sole that rests is slower
    level: float = 0.1  # [size of the sole]: difference in height of the ends of a level one
    least_upright: float = 0.3  # Cosine of the tilt, for the floor along the normal
    largest_bend: float = 0.3  # [length of the sole]: floor above a rigid one where toes bend


SOLE = SoleSettings()


@dataclass(frozen=True, eq=False)
class SoleMotion:
    """Motion of the soles over the ground, for n instants and nf feet."""

    speed: np.ndarray  # (n, nf) [m/s]: speed of the slowest part of each sole
    height: np.ndarray  # (n, nf) [m]: height of its slow parts in the world; not below the floor
    # (n, nf) [m]: height of the ground where the foot last rested or next rests; NaN for feet that
    # never do
    floor: np.ndarray
    # (n, nf): whether the sole is level: no other part of it can touch the ground
    level: np.ndarray
    # (n, nf) [m]: position along x of the foot's frame about which it rolls; NaN without rolling
    roll: np.ndarray
    # (n, nf) [1/s]: growth of speed with the distance from there; zero where the sole is level or
    # rests
    roll_rate: np.ndarray


def sole_motion(dynamics: GaitInverseDynamics, landing: float, leaving: float,
                flight_load: float) -> SoleMotion:
    """
    Return the motion of the soles.

    ``landing``, ``leaving`` [m/s]: touch-down speed, and speed above which a foot is in the
    air; ``flight_load``: fraction of weight below which all feet are.
    """
    parts, loaded = [], dynamics.load > flight_load
    for i, points in enumerate(dynamics.sole_points()):
        ground = dynamics.ground_velocity[:, i, None]
        velocity = np.gradient(points, dynamics.step, axis=0) - ground
        speed = np.linalg.norm(velocity, axis=2)
        slowest = speed.min(axis=1)
        fastest = speed.max(axis=1)
        floor = _floor(loaded, fastest, points[..., 2].mean(axis=1), SOLE.rest_speed * landing)
        # Not the lowest part: the tip of a rigid sole is below the ground while real toes bend.
        slow = speed <= np.maximum(leaving, slowest)[:, None]
        height = np.where(slow, points[..., 2], np.inf).min(axis=1)
        roll, rate = _roll(dynamics, i, floor)
        across = np.linalg.norm(points[0, -1] - points[0, 0])
        level = np.ptp(points[..., 2], axis=1) <= SOLE.level * across
        rate[level | (fastest < SOLE.rest_speed * landing)] = 0.0
        parts.append((slowest, np.fmax(height, floor), floor, level, roll, rate))
    return SoleMotion(*(np.stack(columns, axis=1) for columns in zip(*parts)))


def on_floor(dynamics: GaitInverseDynamics, floor: np.ndarray, path: np.ndarray) -> np.ndarray:
    """
    Return points of the soles (foot frames), moved along their normals to the floor.

    ``floor`` (n, nf) [m]: ground height; points stay where it is NaN.
    """
    moved = path.copy()
    for i, foot in enumerate(dynamics.feet):
        height = dynamics.base_position[:, 2] + dynamics.points(path)[:, i, 2]
        upright = dynamics.foot_rotation[:, i, 2, 2]
        limit = SOLE.largest_bend * (foot.edges[0] - foot.edges[1])
        lift = (floor[:, i] - height) / np.maximum(upright, SOLE.least_upright)
        moved[:, i, 2] += np.clip(np.nan_to_num(lift), -limit, limit)
    return moved


def speed_scale(dynamics: GaitInverseDynamics) -> float:
    """Return ``sqrt(g l)`` [m/s], l the leg length: a Froude number of 1."""
    return float(np.sqrt(GRAVITY * dynamics.leg_length))


def _floor(loaded: np.ndarray, speed: np.ndarray, height: np.ndarray, rest: float) -> np.ndarray:
    """Return the height of the ground under one foot: between two rests, the lower of both."""
    resting = loaded & (speed < rest)
    below, above = np.full((2, len(speed)), np.nan)
    samples = np.flatnonzero(resting)
    if not len(samples):
        return below
    for run in np.split(samples, np.flatnonzero(np.diff(samples) > 1) + 1):
        # The foot moves at the ends of a rest, and may be lifted slowly in between.
        below[run[0]:] = np.percentile(height[run], 25.0)
    for run in np.split(samples, np.flatnonzero(np.diff(samples) > 1) + 1)[::-1]:
        above[:run[-1] + 1] = below[run[0]]
    return np.fmin(below, above)


def _roll(dynamics: GaitInverseDynamics, i: int,
          floor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the x about which one foot rolls over the floor, and the rate; see SoleMotion."""
    foot, n = dynamics.feet[i], len(dynamics.time)
    if foot.edges[0] == foot.edges[1]:      # without length
        return np.full(n, np.nan), np.zeros(n)
    R = dynamics.foot_rotation[:, i]
    origin = dynamics.base_position + dynamics.foot_arm[:, i]
    turning = np.gradient(R, dynamics.step, axis=0)
    velocity = np.gradient(origin, dynamics.step, axis=0) - dynamics.ground_velocity[:, i]
    # In the foot's frame, the point at x on the floor has z = below + slope x.
    upright = np.where(R[:, 2, 2] > SOLE.least_upright, R[:, 2, 2], np.nan)
    below = np.nan_to_num(floor - origin[:, 2], nan=0.0) / upright
    slope = np.where(np.isfinite(floor), -R[:, 2, 0] / upright, 0.0)
    a = velocity + turning[:, :, 2] * below[:, None] + turning[:, :, 1] * foot.center[1]
    b = turning[:, :, 0] + turning[:, :, 2] * slope[:, None]
    rate = np.nan_to_num(np.linalg.norm(b, axis=1))
    roll = -np.einsum('ni,ni->n', a, b) / np.maximum(rate, 1e-9) ** 2
    return np.where(rate > 1e-6, roll, np.nan), rate
