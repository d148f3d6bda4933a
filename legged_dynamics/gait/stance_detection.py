# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Stance detection: when each foot is on the ground, from the recorded motion alone.

The part of a sole that touches the ground does not slide on it, and a rolling sole always has one
part at rest. So the speed that counts is that of the slowest part of the sole: touch-down is where
it falls below one threshold, toe-off where it rises above another, higher one (hysteresis). Speeds
are given in ``sqrt(g l)`` with the leg length ``l`` (Froude), or in the largest speed of the step
itself where that is less. In addition, a foot on the ground is near the height of the lowest one,
a level sole is near the floor on which it rested, and no foot is on the ground while the motion
requires no vertical force; where it requires some and no foot is slow, the lowest feet are on the
ground. Stance and swing phases shorter than legs can perform are removed.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from legged_dynamics.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.gait.settings import GaitSettings
from legged_dynamics.gait.sole_motion import SoleMotion, sole_motion, speed_scale

# Least speed of a step as a multiple of sqrt(g l), and the part of it below which a foot rests.
SLOWEST_STEP, REST = 0.15, 0.2


@dataclass(frozen=True)
class StancePhase:
    """
    One foot on the ground, from touch-down to toe-off.

    Attributes
    ----------
    foot : int
        Index of the foot.
    first, last : int
        First and last sample on the ground.
    landed, left : bool
        Whether touch-down and toe-off are in the recording, or it begins or ends in stance.

    """

    foot: int
    first: int
    last: int
    landed: bool
    left: bool

    @property
    def samples(self) -> slice:
        """Samples of the stance, as a slice of the recording."""
        return slice(self.first, self.last + 1)


def detect_stance(dynamics: GaitInverseDynamics, settings: GaitSettings,
                  moved: SoleMotion | None = None) -> np.ndarray:
    """
    Return which feet are on the ground.

    Parameters
    ----------
    dynamics : GaitInverseDynamics
        Inverse dynamics of the recording, with the feet's poses.
    settings : GaitSettings
        Those named `stance` are used.
    moved : SoleMotion, optional
        Motion of the soles, where it has been computed already.

    Returns
    -------
    (n, nf) bool array

    """
    moved = moved or soles_of(dynamics, settings)
    scale = speed_scale(dynamics)
    clearance = settings.clearance * dynamics.leg_length
    shortest = round(settings.shortest_phase * dynamics.leg_length / scale / dynamics.step)
    loaded = dynamics.load > settings.flight_load
    unit = np.minimum(scale, _step_speed(moved.speed, SLOWEST_STEP * scale))
    slow = moved.speed < settings.lift_off_speed * unit
    ground = _ground(moved, slow)
    low = moved.height < (ground + clearance)[:, None]
    # A level sole above the floor on which it rested is in the air, however slow it is.
    lifted = moved.height - moved.floor > settings.level_clearance * dynamics.leg_length
    low &= ~(moved.level & lifted)
    contact = np.zeros(slow.shape, bool)
    for i in range(slow.shape[1]):
        candidate = slow[:, i] & low[:, i] & loaded
        landed = candidate & (moved.speed[:, i] < settings.touch_down_speed * unit[:, i])
        for first, end in runs(candidate):
            rest = np.flatnonzero(landed[first:end])
            if len(rest):
                contact[first + (rest[0] if first else 0):end, i] = True
    _stand_on_lowest(contact, moved.height, loaded, clearance)
    for i in range(slow.shape[1]):
        # The impact at touch-down does not lift a foot off again.
        for first, end in runs(~contact[:, i]):
            if first and end < len(contact) and end - first < shortest:
                contact[first:end, i] = loaded[first:end]
        for first, end in runs(contact[:, i]):
            if first and end < len(contact) and end - first < shortest:
                contact[first:end, i] = False
    _stand_on_lowest(contact, moved.height, loaded, clearance)
    return contact


def soles_of(dynamics: GaitInverseDynamics, settings: GaitSettings) -> SoleMotion:
    """
    Return the motion of the soles, by the speeds in the settings.

    Parameters
    ----------
    dynamics : GaitInverseDynamics
        Inverse dynamics of the recording, with the feet's poses.
    settings : GaitSettings
        Those named `stance` are used.

    Returns
    -------
    SoleMotion

    """
    scale = speed_scale(dynamics)
    return sole_motion(dynamics, settings.touch_down_speed * scale,
                       settings.lift_off_speed * scale, settings.flight_load)


def stances(contact: np.ndarray) -> list[StancePhase]:
    """
    Return the stance phases of all feet, foot by foot.

    Parameters
    ----------
    contact : (n, nf) bool array
        Feet on the ground.

    Returns
    -------
    list of StancePhase

    """
    n = len(contact)
    return [StancePhase(i, first, end - 1, first > 0, end < n)
            for i in range(contact.shape[1]) for first, end in runs(contact[:, i])]


def runs(flags: np.ndarray) -> Iterator[tuple[int, int]]:
    """
    Yield the ranges of samples in which a flag is set.

    Parameters
    ----------
    flags : (n,) bool array
        The flag at each sample.

    Yields
    ------
    int
        First sample.
    int
        Sample after the last one.

    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist())


def _ground(moved: SoleMotion, slow: np.ndarray) -> np.ndarray:
    """Return the height of the lowest foot that is slow, or of the lowest one, (n,) [m]."""
    resting = np.where(slow, moved.height, np.inf).min(axis=1)
    return np.where(np.isfinite(resting), resting, moved.height.min(axis=1))


def _stand_on_lowest(contact: np.ndarray, height: np.ndarray, loaded: np.ndarray,
                     clearance: float) -> None:
    """Put the lowest feet on the ground where there is load and no foot is on the ground."""
    alone = loaded & ~contact.any(axis=1)
    contact[alone] = (height < (height.min(axis=1) + clearance)[:, None])[alone]


def _step_speed(speed: np.ndarray, least: float) -> np.ndarray:
    """Return the largest speed of the step that each sample is in, infinite outside steps."""
    found = np.full(speed.shape, np.inf)
    for i in range(speed.shape[1]):
        for first, end in runs(speed[:, i] > REST * least):
            fastest = speed[first:end, i].max()
            if fastest > least:
                found[first:end, i] = fastest
    return found
