# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Stance detection: when each foot is on the ground, from the recorded motion alone.

The part of a sole that touches the ground does not slide on it, and a rolling sole always has one
part at rest. So the speed and height that count are those of the slowest part of the sole. Their
evidence is that of `contact_evidence`, as live, smoothed over the whole recording. No foot is on
the ground while the motion requires no vertical force; where it requires some and all feet move,
as in poses that are low-passed over an impact, the slowest counts as at rest, and the others by
comparison.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from legged_dynamics.contact.contact_evidence import (
    CLEARANCE,
    CORRELATION_TIME,
    FLIGHT_NOISE,
    MOVES,
    RESTS,
    SLIP,
    SWING,
    force_evidence,
    motion_evidence,
    smooth,
    speed_levels,
)
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.sole_motion import SoleMotion, sole_motion, speed_scale
from legged_dynamics.spatial.jit import kernel

# Stance and swing last this many times the shortest phase, on average.
USUAL = 2.0


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
    scale, length, dt = speed_scale(dynamics), dynamics.leg_length, dynamics.step
    slow = moved.speed < settings.lift_off_speed * scale
    lowest = np.where(slow | ~slow.any(axis=1, keepdims=True), moved.height, np.inf).min(axis=1)
    # The floor on which a foot rests; one held still in the air is far from the lowest foot.
    clearance, lowest = settings.clearance * length, lowest[:, None]
    floor = np.where(np.abs(moved.floor - lowest) < clearance, moved.floor, lowest)
    levels = speed_levels(float(moved.speed.max()), SLIP * scale, SWING * scale)
    soles = np.array([foot.edges[0] != foot.edges[1] for foot in dynamics.feet])
    rate = scale / (USUAL * settings.shortest_phase * length)
    return _probability(moved.speed, moved.height - floor, dynamics.load, soles, levels,
                        (CLEARANCE * length, clearance), settings.flight_load,
                        rate, dt) > 0.5


@kernel
def _probability(speed, height, load, soles, levels, clearance, flight_load, rate, dt):
    """Return the probability of contact of each foot, (n, nf); see `contact_evidence`."""
    n, nf = speed.shape
    evidence, probability = np.empty((n, nf)), np.empty((n, nf))
    share = min(dt / CORRELATION_TIME, 1.0)
    for k in range(n):
        best, support = -np.inf, force_evidence(load[k], 0.0, 1.0, flight_load, FLIGHT_NOISE,
                                                2.0 * MOVES)
        for i in range(nf):
            evidence[k, i] = motion_evidence(
                speed[k, i], height[k, i], levels[0], levels[1], 0.0, RESTS, soles[i],
                clearance[0], clearance[1])
            best = max(best, evidence[k, i])
        lift = max(min(support, RESTS) - best, 0.0)
        for i in range(nf):
            evidence[k, i] = share * (min(evidence[k, i], support) if support < 0.0
                                      else evidence[k, i] + lift)
    for i in range(nf):
        smooth(evidence[:, i], rate, dt, probability[:, i])
    return probability


def soles_of(dynamics: GaitInverseDynamics, settings: GaitSettings) -> SoleMotion:
    """Return the motion of the soles, by the `stance` speeds of the settings."""
    scale = speed_scale(dynamics)
    return sole_motion(dynamics, settings.touch_down_speed * scale,
                       settings.lift_off_speed * scale, settings.flight_load)


def stances(contact: np.ndarray) -> list[StancePhase]:
    """Return the stance phases of all feet, foot by foot."""
    n = len(contact)
    return [StancePhase(i, first, end - 1, first > 0, end < n)
            for i in range(contact.shape[1]) for first, end in runs(contact[:, i])]


def runs(flags: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield first sample and end (exclusive) of each range in which a flag is set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist())
