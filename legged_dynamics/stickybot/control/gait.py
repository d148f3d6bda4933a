# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Gaits: when each foot holds, and where its hip's rest angle sweeps.

With s the limb's phase, a foot holds while ``s < duty`` and its rest angle sweeps evenly from
``-amplitude`` to ``+amplitude``; it is then off the wall and returns along half a cosine. Limbs on
the right are the mirror image.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.stickybot.model.robot import StickybotModel

PATTERNS = ('diagonal', 'wave')


@dataclass(frozen=True)
class Gait:
    """
    A periodic gait.

    Attributes
    ----------
    pattern : {'diagonal', 'wave'}
        Diagonal: neighbours along the body and across it step in opposite phase. Wave: one limb
        after another, from hind to fore on the left, then on the right.
    period : float [s]
    duty : float
        Part of the period that a foot is on the wall. Above 0.5 (diagonal) or 1 - 1/N (wave) the
        feet overlap.
    amplitude : float [rad]
        Half of the sweep of a hip's rest angle.

    """

    pattern: str = 'diagonal'
    period: float = 1.0
    duty: float = 0.6
    amplitude: float = 0.147

    def __post_init__(self) -> None:
        if self.pattern not in PATTERNS:
            raise ConfigurationError(f'expected a gait pattern of {", ".join(PATTERNS)}, '
                                     f'got {self.pattern!r}')
        if not (math.isfinite(self.period) and self.period >= 1e-3):
            raise ConfigurationError(f'expected a gait period of at least 1 ms, '
                                     f'got {self.period!r} s')
        if not 0.0 < self.duty < 1.0:
            raise ConfigurationError(f'expected a duty between 0 and 1, got {self.duty!r}')
        if not abs(self.amplitude) < math.pi / 2.0:
            raise ConfigurationError('expected a gait amplitude below pi/2 rad, got '
                                     f'{self.amplitude!r}')

    @property
    def period_ns(self) -> int:
        """Period [ns]."""
        return round(self.period * 1e9)

    @property
    def stance_ns(self) -> int:
        """Time on the wall [ns]."""
        return round(self.duty * self.period * 1e9)

    def offsets(self, model: StickybotModel) -> np.ndarray:
        """Return how far each limb is ahead of the first phase, (N,) from 0 to 1."""
        along = np.array([limb.hip[1] for limb in model.limbs])
        rows = np.unique(np.round(along, 9))[::-1]
        row = np.array([int(np.argmin(abs(rows - y))) for y in along])
        right = (model.sides < 0.0).astype(int)
        if self.pattern == 'diagonal':
            return ((row + right) % 2) / 2.0
        return -(right + (len(rows) - 1 - row) / len(rows)) / 2.0 % 1.0

    def overlap(self, model: StickybotModel) -> float:
        """Return the shortest time from a foot's touchdown to another foot's lift-off [s]."""
        touch = -self.offsets(model) * self.period
        lift = touch + self.duty * self.period
        waits = [(lift[j] - touch[i]) % self.period
                 for i in range(model.n_limbs) for j in range(model.n_limbs)
                 if abs((lift[j] - lift[i]) / self.period - round((lift[j] - lift[i])
                                                                  / self.period)) > 1e-9]
        return min(waits, default=self.duty * self.period)


@dataclass(frozen=True, eq=False)
class GaitPhase:
    """
    A gait at one instant, for all limbs.

    Attributes
    ----------
    angle, rate : (N,) array [rad, rad/s]
        Rest angle of each hip less its nominal one, and its rate.
    stance : (N,) array of bool
        Feet that are to hold.
    until_lift : (N,) array [s]
        Time until the foot is to let go; 0 for a foot that swings.

    """

    angle: np.ndarray
    rate: np.ndarray
    stance: np.ndarray
    until_lift: np.ndarray


class GaitClock:
    """
    A gait of one robot: phases at any time, by whole nanoseconds.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    gait : Gait
        Which feet hold when.

    """

    def __init__(self, model: StickybotModel, gait: Gait):
        self.gait = gait
        self._sides = model.sides
        self._period, self._stance = gait.period_ns, gait.stance_ns
        self._offsets = np.round(gait.offsets(model) * self._period).astype(np.int64)

    def at(self, time_ns: int) -> GaitPhase:
        """Return the phase of every limb at that time of the gait."""
        out = np.empty((3, self._sides.size))
        stance = np.empty(self._sides.size, bool)
        _fill_phase(self._offsets, self._sides, self._period, self._stance, self.gait.amplitude,
                    time_ns, out, stance)
        return GaitPhase(out[0], out[1], stance, out[2])


@kernel
def _fill_phase(offsets, sides, period, on_wall, amplitude, time_ns, out, stance):
    """
    Fill angle, rate and time until lift-off of every limb, and which are on the wall.

    Parameters
    ----------
    offsets : (N,) int array [ns]
        By which each limb is ahead.
    sides : (N,) array
        +1 for limbs whose feet lie to the left, -1 for the others.
    period, on_wall : int [ns]
        Of a cycle, and of its part on the wall.
    amplitude : float [rad]
        Half of the sweep of the rest angle.
    time_ns : int [ns]
        The instant.
    out : (3, N) array [rad, rad/s, s]
        Filled.
    stance : (N,) array of bool
        Filled.

    """
    swing = period - on_wall
    for i in range(offsets.shape[0]):
        passed = (time_ns + offsets[i]) % period
        stance[i] = passed < on_wall
        if stance[i]:
            out[0, i] = sides[i] * amplitude * (2.0 * passed / on_wall - 1.0)
            out[1, i] = sides[i] * 2.0 * amplitude / (on_wall * 1e-9)
            out[2, i] = (on_wall - passed) * 1e-9
        else:
            u = math.pi * (passed - on_wall) / swing
            out[0, i] = sides[i] * amplitude * math.cos(u)
            out[1, i] = -sides[i] * amplitude * math.pi / (swing * 1e-9) * math.sin(u)
            out[2, i] = 0.0
