# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
How soles move over the ground: how fast, how high, and about which line they roll.

What touches the ground does not move over it. A rolling foot turns about the part that rests, so
that part is the instantaneous centre of its rotation, and it is there that the foot presses: on
the heel at first, under the ball while the heel rises, under the toes at the end. The velocity of
the foot's points on the floor is linear in where they are, ``v(x) = a + b x``, and is least at

.. math:: x = -\frac{a \cdot b}{b \cdot b},

known to ``dv / |b|`` when speeds are known to ``dv``. No length of the sole is in it.

A sole is rigid in most models while toes bend: then its tip dips under the floor as the heel
rises. So the floor is taken from where the whole sole rests, and nothing is below it.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.gait.ground_demand import GroundDemand

# The whole sole below this part of the speed at which a foot has landed: it lies on the ground.
AT_REST = 0.3
# A sole is level while its ends differ in height by less than this part of its size.
TILTED = 0.1
# Beyond this the floor is seen along the sole, and a point on it says nothing.
LEAST_UPRIGHT = 0.3
# How far above a rigid sole the floor may be where toes bend [of the sole's length].
LARGEST_BEND = 0.3


@dataclass(frozen=True, eq=False)
class SoleMotion:
    """
    Motion of n instants and nf feet over the ground.

    Attributes
    ----------
    speed : (n, nf) array [m/s]
        Of the slowest part of each sole.
    height : (n, nf) array [m]
        Of its slow parts, in the world; not below the floor.
    floor : (n, nf) array [m]
        Height of the ground where the foot last or next rests; NaN for feet that never rest.
    level : (n, nf) bool array
        Whether the sole is level: no other part of it can touch the ground.
    roll : (n, nf) array [m]
        Where along x of its own frame the foot rolls over the floor; NaN without rolling.
    roll_rate : (n, nf) array [1/s]
        How fast speed grows with the distance from there; zero where the sole is level or rests.

    """

    speed: np.ndarray
    height: np.ndarray
    floor: np.ndarray
    level: np.ndarray
    roll: np.ndarray
    roll_rate: np.ndarray


def sole_motion(demand: GroundDemand, landing: float, leaving: float,
                flight_load: float) -> SoleMotion:
    """
    Return how the soles move.

    Parameters
    ----------
    demand : GroundDemand
        The feet's poses.
    landing, leaving : float [m/s]
        Speeds below which a foot may stand and above which it may not.
    flight_load : float
        Part of the weight below which all feet are in the air.

    """
    parts, borne = [], demand.load > flight_load
    for i, points in enumerate(demand.sole_points()):
        velocity = np.gradient(points, demand.step, axis=0) - demand.ground_velocity[:, i, None]
        speed = np.linalg.norm(velocity, axis=2)
        slowest = speed.min(axis=1)
        fastest = speed.max(axis=1)
        floor = _floor(borne, fastest, points[..., 2].mean(axis=1), AT_REST * landing)
        # Not the lowest part: toes that bend are under the ground when the model has them stiff.
        slow = speed <= np.maximum(leaving, slowest)[:, None]
        height = np.where(slow, points[..., 2], np.inf).min(axis=1)
        roll, rate = _roll(demand, i, floor)
        across = np.linalg.norm(points[0, -1] - points[0, 0])
        level = np.ptp(points[..., 2], axis=1) <= TILTED * across
        rate[level | (fastest < AT_REST * landing)] = 0.0
        parts.append((slowest, np.fmax(height, floor), floor, level, roll, rate))
    return SoleMotion(*(np.stack(columns, axis=1) for columns in zip(*parts)))


def on_floor(demand: GroundDemand, floor: np.ndarray, path: np.ndarray) -> np.ndarray:
    """
    Return (n, nf, 3) points of the soles moved along the soles' normals to the floor.

    Parameters
    ----------
    demand : GroundDemand
        The feet's poses.
    floor : (n, nf) array [m]
        Height of the ground; NaN: points stay where they are.
    path : (n, nf, 3) array [m]
        In the feet's frames.

    """
    moved = path.copy()
    for i, foot in enumerate(demand.feet):
        height = demand.base_position[:, 2] + demand.points(path)[:, i, 2]
        upright = demand.foot_rotation[:, i, 2, 2]
        limit = LARGEST_BEND * (foot.edges[0] - foot.edges[1])
        lift = (floor[:, i] - height) / np.maximum(upright, LEAST_UPRIGHT)
        moved[:, i, 2] += np.clip(np.nan_to_num(lift), -limit, limit)
    return moved


def speed_scale(demand: GroundDemand) -> float:
    """Return sqrt(g l), l the leg length, by which walks are alike (Froude) [m/s]."""
    return float(np.sqrt(GRAVITY * demand.leg_length))


def _floor(borne: np.ndarray, speed: np.ndarray, height: np.ndarray, rest: float) -> np.ndarray:
    """Return the height of the ground under one foot: the lower one between two rests."""
    resting = borne & (speed < rest)
    below, above = np.full((2, len(speed)), np.nan)
    samples = np.flatnonzero(resting)
    if not len(samples):
        return below
    for run in np.split(samples, np.flatnonzero(np.diff(samples) > 1) + 1):
        # The foot comes and goes at the ends of a rest, and may be lifted slowly in between.
        below[run[0]:] = np.percentile(height[run], 25.0)
    for run in np.split(samples, np.flatnonzero(np.diff(samples) > 1) + 1)[::-1]:
        above[:run[-1] + 1] = below[run[0]]
    return np.fmin(below, above)


def _roll(demand: GroundDemand, i: int, floor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return about which x one foot rolls over the floor, and how clearly."""
    foot, n = demand.feet[i], len(demand.time)
    if foot.edges[0] == foot.edges[1]:      # without length
        return np.full(n, np.nan), np.zeros(n)
    R = demand.foot_rotation[:, i]
    origin = demand.base_position + demand.foot_arm[:, i]
    turning = np.gradient(R, demand.step, axis=0)
    velocity = np.gradient(origin, demand.step, axis=0) - demand.ground_velocity[:, i]
    # A point at x on the floor is at z = below + slope x in the foot's frame.
    upright = np.where(R[:, 2, 2] > LEAST_UPRIGHT, R[:, 2, 2], np.nan)
    below = np.nan_to_num(floor - origin[:, 2], nan=0.0) / upright
    slope = np.where(np.isfinite(floor), -R[:, 2, 0] / upright, 0.0)
    a = velocity + turning[:, :, 2] * below[:, None] + turning[:, :, 1] * foot.center[1]
    b = turning[:, :, 0] + turning[:, :, 2] * slope[:, None]
    rate = np.nan_to_num(np.linalg.norm(b, axis=1))
    roll = -np.einsum('ni,ni->n', a, b) / np.maximum(rate, 1e-9) ** 2
    return np.where(rate > 1e-6, roll, np.nan), rate
