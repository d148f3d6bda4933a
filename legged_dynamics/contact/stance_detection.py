# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
When each foot stands, from a whole recording of motion and nothing else.

What touches the ground does not move over it. A rolling sole has one part that rests, whichever
it is, so the speed that counts is that of the slowest part of the sole: it falls below one
threshold when the foot lands and rises above another, higher one when it leaves. Speeds are
measured in ``sqrt(g l)`` with the leg length ``l``, as all walking is (Froude). Beside that a
standing foot is near the height of the lowest one, and nobody stands while the motion asks the
ground for no force; where it asks for some and no foot is slow, the lowest ones bear it.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from legged_dynamics.contact.gait_settings import GaitSettings
from legged_dynamics.contact.ground_demand import GroundDemand
from legged_dynamics.dynamics.motion import GRAVITY


@dataclass(frozen=True)
class Stance:
    """
    One foot on the ground from landing to leaving.

    Attributes
    ----------
    foot : int
    first, last : int
        Samples; the last one is still on the ground.
    landed, left : bool
        Whether the recording shows it landing and leaving, or begins or ends with it standing.

    """

    foot: int
    first: int
    last: int
    landed: bool
    left: bool

    @property
    def samples(self) -> slice:
        """Of the recording."""
        return slice(self.first, self.last + 1)


def detect_contact(demand: GroundDemand, settings: GaitSettings) -> np.ndarray:
    """
    Return which feet are on the ground, (n, nf) bool.

    Parameters
    ----------
    demand : GroundDemand
        The feet's poses and the load that the motion asks for.
    settings : GaitSettings
        Those named `stance`.

    """
    scale = float(np.sqrt(GRAVITY * demand.leg_length))
    leaving, landing = settings.lift_off_speed * scale, settings.touch_down_speed * scale
    clearance = settings.clearance * demand.leg_length
    speed, height = _sole_motion(demand, leaving)
    slow = speed < leaving
    resting = np.where(slow, height, np.inf).min(axis=1)
    ground = np.where(np.isfinite(resting), resting, height.min(axis=1))
    borne = demand.load > settings.flight_load
    low = height < (ground + clearance)[:, None]
    contact = np.zeros(slow.shape, bool)
    for i in range(slow.shape[1]):
        candidate = slow[:, i] & low[:, i] & borne
        landed = candidate & (speed[:, i] < landing)
        for first, end in runs(candidate):
            rest = np.flatnonzero(landed[first:end])
            if len(rest):
                contact[first + (rest[0] if first else 0):end, i] = True
    unheld = borne & ~contact.any(axis=1)
    lowest = height.min(axis=1)
    contact[unheld] = (height < (lowest + clearance)[:, None])[unheld]
    return contact


def stances(contact: np.ndarray) -> list[Stance]:
    """Return each stretch of (n, nf) flags in which one foot stands, foot by foot."""
    n = len(contact)
    return [Stance(i, first, end - 1, first > 0, end < n)
            for i in range(contact.shape[1]) for first, end in runs(contact[:, i])]


def runs(flags: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield first sample and end, exclusive, of each stretch of (n,) flags that are set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist())


def _sole_motion(demand: GroundDemand, leaving: float) -> tuple[np.ndarray, np.ndarray]:
    """Return speed [m/s] of the slowest part of each sole, and height [m] of its slow parts."""
    speeds, heights = [], []
    for points in demand.sole_points():
        speed = np.linalg.norm(np.gradient(points, demand.step, axis=0), axis=2)
        slowest = speed.min(axis=1)
        # Not the lowest part: toes that bend are under the ground when the model has them stiff.
        parts = speed <= np.maximum(leaving, slowest)[:, None]
        speeds.append(slowest)
        heights.append(np.where(parts, points[..., 2], np.inf).min(axis=1))
    return np.stack(speeds, axis=1), np.stack(heights, axis=1)
