# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
When each foot stands, from a whole recording of motion and nothing else.

What touches the ground does not move over it. A rolling sole has one part that rests, whichever
it is, so the speed that counts is that of the slowest part of the sole: it falls below one
threshold when the foot lands and rises above another, higher one when it leaves. Speeds are
measured in ``sqrt(g l)`` with the leg length ``l``, as all walking is (Froude), or in the largest
speed of the step itself where that is less. Beside that a standing foot is near the height of the
lowest one, a level sole is near the floor on which it rested, and nobody stands while the motion
asks the ground for no force; where it asks for some and no foot is slow, the lowest ones bear it.
No foot stands, or swings, for less time than legs take for it.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from legged_dynamics.gait.ground_demand import GroundDemand
from legged_dynamics.gait.settings import GaitSettings
from legged_dynamics.gait.sole_motion import SoleMotion, sole_motion, speed_scale

# What is slower than this is no step, as a multiple of sqrt(g l); and at rest is this part of it.
SLOWEST_STEP, REST = 0.15, 0.2


@dataclass(frozen=True)
class StancePhase:
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


def detect_stance(demand: GroundDemand, settings: GaitSettings,
                  moved: SoleMotion | None = None) -> np.ndarray:
    """
    Return which feet are on the ground, (n, nf) bool.

    Parameters
    ----------
    demand : GroundDemand
        The feet's poses and the load that the motion asks for.
    settings : GaitSettings
        Those named `stance`.
    moved : SoleMotion, optional
        How the soles move, if known.

    """
    moved = moved or soles_of(demand, settings)
    scale = speed_scale(demand)
    clearance = settings.clearance * demand.leg_length
    shortest = round(settings.shortest_phase * demand.leg_length / scale / demand.step)
    borne = demand.load > settings.flight_load
    pace = np.minimum(scale, _pace(moved.speed, SLOWEST_STEP * scale))
    slow = moved.speed < settings.lift_off_speed * pace
    ground = _ground(moved, slow)
    low = moved.height < (ground + clearance)[:, None]
    # Above the place where it rested, a level sole touches nothing, however slow it is.
    lifted = moved.height - moved.floor > settings.level_clearance * demand.leg_length
    low &= ~(moved.level & lifted)
    contact = np.zeros(slow.shape, bool)
    for i in range(slow.shape[1]):
        candidate = slow[:, i] & low[:, i] & borne
        landed = candidate & (moved.speed[:, i] < settings.touch_down_speed * pace[:, i])
        for first, end in runs(candidate):
            rest = np.flatnonzero(landed[first:end])
            if len(rest):
                contact[first + (rest[0] if first else 0):end, i] = True
    _bear(contact, moved.height, borne, clearance)
    for i in range(slow.shape[1]):
        # A foot that has just landed does not let go at the impact.
        for first, end in runs(~contact[:, i]):
            if first and end < len(contact) and end - first < shortest:
                contact[first:end, i] = borne[first:end]
        for first, end in runs(contact[:, i]):
            if first and end < len(contact) and end - first < shortest:
                contact[first:end, i] = False
    _bear(contact, moved.height, borne, clearance)
    return contact


def soles_of(demand: GroundDemand, settings: GaitSettings) -> SoleMotion:
    """Return how the soles move, by the speeds in the settings."""
    scale = speed_scale(demand)
    return sole_motion(demand, settings.touch_down_speed * scale, settings.lift_off_speed * scale,
                       settings.flight_load)


def stances(contact: np.ndarray) -> list[StancePhase]:
    """Return each stretch of (n, nf) flags in which one foot stands, foot by foot."""
    n = len(contact)
    return [StancePhase(i, first, end - 1, first > 0, end < n)
            for i in range(contact.shape[1]) for first, end in runs(contact[:, i])]


def runs(flags: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield first sample and end, exclusive, of each stretch of (n,) flags that are set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist())


def _ground(moved: SoleMotion, slow: np.ndarray) -> np.ndarray:
    """Return the height of the lowest foot that is slow, or of the lowest one, (n,) [m]."""
    resting = np.where(slow, moved.height, np.inf).min(axis=1)
    return np.where(np.isfinite(resting), resting, moved.height.min(axis=1))


def _bear(contact: np.ndarray, height: np.ndarray, borne: np.ndarray, clearance: float) -> None:
    """Put the lowest feet on the ground where it bears something and no foot is there."""
    unheld = borne & ~contact.any(axis=1)
    contact[unheld] = (height < (height.min(axis=1) + clearance)[:, None])[unheld]


def _pace(speed: np.ndarray, least: float) -> np.ndarray:
    """Return the largest speed of the step that each sample is in, infinite outside steps."""
    pace = np.full(speed.shape, np.inf)
    for i in range(speed.shape[1]):
        for first, end in runs(speed[:, i] > REST * least):
            fastest = speed[first:end, i].max()
            if fastest > least:
                pace[first:end, i] = fastest
    return pace
