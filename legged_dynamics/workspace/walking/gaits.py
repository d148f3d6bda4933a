# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Gaits as a table: the part of a cycle in which a foot stands (duty), and its shift (offset).

A foot stands while its own phase, the phase of the cycle plus its offset, is below the duty, and
swings from there to one (Hildebrand 1965). Offsets follow from where the feet are: their row from
front to rear and their side. Diagonal gaits alternate rows and sides, so four legs trot, six go in
tripods and two walk; the wave of a crawl runs from the rear to the front of one side, then of the
other.
"""
from __future__ import annotations

import math
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from legged_dynamics.exceptions import ConfigurationError


class Gait(NamedTuple):
    """One row of the table."""

    order: str  # Rule by which the feet get their offsets
    duty: float  # Part of the cycle in which a foot stands
    # Duration of a cycle, in ``sqrt(height / g)``, the time unit of an inverted pendulum
    cycle: float
    # Feet that the gait must always leave on the ground, as a check that a robot can use it
    least: int
    # (3,) [m/s, m/s, rad/s]: velocities ahead, to the left and of turning that
    # ``benchmarks.walking`` walks, every robot of the gait each of them; the first is the fastest
    # ahead
    tried: tuple[tuple[float, float, float], ...]
    clearance: float = math.inf  # Largest height of a swing, in heights of the body
    # s from a sensor's stamp to its effort at the motor, at which robots of the gait still walk
    delay: float = 0.035


def _tried(ahead: float, left: float, turning: float) -> tuple[tuple[float, float, float], ...]:
    return ((ahead, 0.0, 0.0), (0.5 * ahead, 0.0, turning), (0.0, left, 0.0),
            (0.0, 0.0, -turning), (0.7 * ahead, -0.5 * left, 0.5 * turning))


GAITS = {
    'stand': Gait('all', 1.0, 1.0, 0, ()),
    'trot': Gait('diagonal', 0.6, 2.8, 2, _tried(0.9, 0.3, 0.6)),
    'walk': Gait('wave', 0.8, 5.0, 3, _tried(0.25, 0.15, 0.2)),
    'crawl': Gait('wave', 0.85, 9.0, 3, _tried(0.1, 0.1, 0.2)),
    'tripod': Gait('diagonal', 0.58, 4.0, 3, _tried(0.3, 0.2, 0.6)),
    # A wave takes a second: its feet reach no further than turning at 0.2 rad/s.
    'wave': Gait('wave', 0.85, 9.0, 4, _tried(0.08, 0.08, 0.2)),
    'steps': Gait('diagonal', 0.62, 4.0, 1, ((0.15, 0.0, 0.0), (0.1, 0.0, 0.2), (0.0, 0.06, 0.0)),
                  clearance=0.06),
}


@cache
def fastest(gait: str) -> tuple[float, float, float]:
    """Return the largest tried velocities: ahead, sideways [m/s], turning [rad/s]."""
    ahead, left, turning = np.abs(GAITS[gait].tried).max(axis=0).tolist()
    return ahead, left, turning


def part_walked(gait: str, velocity: tuple[float, float, float]) -> float:
    """Return the part of a velocity, in units of `fastest`, in the convex hull of those tried."""
    ahead, left, turning = map(abs, velocity)
    return 1.0 / max(1.0, *(a * ahead + b * left + c * turning for a, b, c in _faces(gait)))


@cache
def _faces(gait: str) -> tuple[tuple[float, float, float], ...]:
    """Return the convex hull's faces a, b, c, with a x + b y + c z = 1, of positive velocities."""
    tried = np.array(GAITS[gait].tried) / fastest(gait)
    signs = np.array(list(product((1.0, -1.0), repeat=3)))
    hull = ConvexHull((tried[:, None] * signs).reshape(-1, 3)).equations
    # Rounded down, so that what was tried itself is not slowed down.
    faces = np.unique(np.round(np.abs(hull[:, :3] / hull[:, 3:]), 9), axis=0) - 2e-9
    return tuple(map(tuple, faces.tolist()))


def rows_of(places: np.ndarray) -> np.ndarray:
    """
    Return row (from the front, 0) and side (left 0, right 1) of each foot.

    ``places`` (nf, 2) [m]: standing pose, base axes, x forward, y left.
    """
    found = np.zeros((len(places), 2), int)
    found[:, 1] = places[:, 1] < np.median(places[:, 1])
    for side in (0, 1):
        here = np.flatnonzero(found[:, 1] == side)
        found[here[np.argsort(-places[here, 0])], 0] = np.arange(len(here))
    return found


def offsets_of(gait: str, places: np.ndarray) -> np.ndarray:
    """
    Return the offsets (nf,) of a gait's feet, as parts of a cycle.

    ``places`` (nf, 2) [m]: standing pose, base axes. ConfigurationError for too few feet.
    """
    if gait not in GAITS:
        raise ConfigurationError(f'expected a gait among {", ".join(GAITS)}; got {gait!r}')
    order, duty, least = GAITS[gait].order, GAITS[gait].duty, GAITS[gait].least
    found = rows_of(places)
    row, side, rows = found[:, 0], found[:, 1], found[:, 0].max() + 1
    if order == 'diagonal':
        offsets = 0.5 * ((row + side) % 2)
    elif order == 'wave':
        # A foot whose offset is larger lifts earlier.
        offsets = -((rows - 1 - row) / (2.0 * rows) + 0.5 * side) % 1.0
    else:
        offsets = np.zeros(len(places))
    # At any time the fewest feet stand just before one lands.
    phases = (-offsets[:, None] + offsets[None, :] + 1.0 - 1e-9) % 1.0
    standing = (phases < duty).sum(axis=1).min() if duty < 1.0 else len(places)
    if standing < least:
        raise ConfigurationError(f'{gait}: expected a robot on which {least} feet always stand, '
                                 f'got one of {len(places)} feet on which {standing} would')
    return offsets


class Timing(NamedTuple):
    """A gait as one robot walks it."""

    gait: str
    offsets: np.ndarray  # (nf,), parts of a cycle
    duty: float
    cycle: float  # s
    hips: np.ndarray  # (nf, 2) [m]: places of the feet under the body, level base axes
    clearance: float  # m
    single: bool  # Whether feet swing one after the other, and the body is led over the others
    beats: int  # of a cycle: instants at which feet touch down

    @property
    def swing_time(self) -> float:
        """Time of a foot in the air [s]."""
        return (1.0 - self.duty) * self.cycle

    @property
    def stance_time(self) -> float:
        """Time of a foot on the ground [s]."""
        return self.duty * self.cycle

    @property
    def step_time(self) -> float:
        """Time from one touch-down to the next [s]."""
        return self.cycle / self.beats

    @property
    def shift_time(self) -> float:
        """Time between a touch-down and the next lift-off [s]."""
        return max(self.step_time - self.swing_time, 0.0)
