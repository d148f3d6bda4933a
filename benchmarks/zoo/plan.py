# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where and when feet stand in a gait, and where the centre of mass must be for that."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_banded
from scipy.ndimage import gaussian_filter1d

# Share of the cycle on the ground; groups of feet that swing together; period in sqrt(h/g).
GAITS = {'trot': (0.58, 2, 2.9), 'walk': (0.79, 4, 4.6), 'tripod': (0.58, 2, 3.6),
         'wave': (0.87, 6, 7.0), 'step': (0.68, 2, 5.0)}


@dataclass(frozen=True)
class Stance:
    """A foot on the ground from `start` to `end` [s], at `place` (xy) [m]."""

    start: float
    end: float
    place: np.ndarray


def groups(motion: str, places: np.ndarray) -> np.ndarray:
    """Return when in the cycle each foot lands, 0 to 1, from where the feet are."""
    x, y = (places - places.mean(axis=0))[:, :2].T
    if motion == 'walk':     # left hind, left fore, right hind, right fore
        return np.where(y > 0, np.where(x > 0, 0.25, 0.0), np.where(x > 0, 0.75, 0.5))
    if motion == 'trot':
        return np.where(x * y > 0, 0.0, 0.5)
    order = np.argsort(np.argsort(np.arctan2(y, x)))
    return order / len(places) if motion == 'wave' else 0.5 * (order % 2)


class Plan:
    """
    The stances of all feet and the path of the centre of mass that they allow.

    Parameters
    ----------
    places : (nf, 2) array
        Where the feet stand at the start [m].
    motion : str
        A gait, or anything else to stand.
    seconds : float
        Length of the run.
    speed : float
        Forwards [m/s].
    height : float
        Of the centre of mass above the ground [m].
    gravity : (3,) array
        In the axes of the ground [m/s^2].
    time_step : float
        Of the path [s].
    period : float
        Of the gait [s]; zero for the gait's own.
    calm : float
        Standing before and after [s].

    """

    def __init__(self, places: np.ndarray, motion: str, seconds: float, speed: float,
                 height: float, gravity: np.ndarray, time_step: float, period: float = 0.0,
                 calm: float = 1.2):
        self.time_step, self.places, self.calm = time_step, places, calm
        self.time = np.arange(round(seconds / time_step) + 2) * time_step
        self.stances = [[Stance(-1.0, seconds + 9.0, place)] for place in places]
        self.swing_time = self._ramp = 0.0
        if motion in GAITS:
            duty, count, unit = GAITS[motion]
            period = period or unit * np.sqrt(height / 9.81)
            self.swing_time = (1.0 - duty) * period
            self._ramp = (duty - 1.0 + 1.0 / count) * period
            self._step(groups(motion, places), duty, period, speed, seconds)
        self.load = np.stack([self._load(foot) for foot in self.stances], axis=1)
        share = self.load / self.load.sum(axis=1, keepdims=True)
        where = np.stack([self._where(foot) for foot in self.stances], axis=1)
        pressure = np.einsum('nf,nfi->ni', share, where)
        down = -gravity[2]
        k = height / down / time_step ** 2
        n = len(self.time)
        band = np.zeros((3, n))
        band[0, 2:] = band[2, :-2] = -k
        band[1] = 1.0 + 2.0 * k
        band[1, 0] = band[1, -1] = 1.0
        # Gravity along the ground: the centre of mass keeps uphill of where the feet press.
        self.centre = solve_banded((1, 1), band, pressure - height / down * gravity[:2])
        self.rate = np.gradient(self.centre, time_step, axis=0)
        self.acceleration = np.gradient(self.rate, time_step, axis=0)
        self.where = where

    def _step(self, landing: np.ndarray, duty: float, period: float, speed: float,
              seconds: float) -> None:
        start, last = self.calm, seconds - self.calm

        def travelled(t: float) -> float:
            t = min(max(t - start, 0.0), last - start)
            return speed * max(t - 0.5 * period * (1.0 - np.exp(-t / (0.5 * period))), 0.0)
        for i, offset in enumerate(landing):
            stances, begin, place = [], -1.0, self.places[i]
            lift = start + period * (duty - offset)
            while lift < start:
                lift += period
            while lift + self.swing_time < last:
                stances.append(Stance(begin, lift, place))
                begin = lift + self.swing_time
                place = self.places[i] + [travelled(begin + 0.5 * duty * period), 0.0]
                lift += period
            self.stances[i] = [*stances, Stance(begin, seconds + 9.0, place)]

    def _load(self, stances: list[Stance]) -> np.ndarray:
        load = np.zeros(len(self.time))
        for stance in stances:
            inside = np.minimum(self.time - stance.start, stance.end - self.time)
            ramp = np.clip(inside / self._ramp, 0.0, 1.0) if self._ramp else 1.0 * (inside > 0)
            load = np.maximum(load, ramp * ramp * (3.0 - 2.0 * ramp))
        return load

    def _where(self, stances: list[Stance]) -> np.ndarray:
        where = np.empty((len(self.time), 2))
        for stance in stances:
            where[self.time >= stance.start] = stance.place
        return where

    def heights(self, height_of, sigma: float) -> np.ndarray:
        """Return the ground's height below the robot along its path, smoothed over `sigma` s."""
        each = np.array([[height_of(*place) for place in row] for row in self.where[::10]])
        mean = np.repeat(each.mean(axis=1), 10)[:len(self.time)]
        return gaussian_filter1d(mean, sigma / self.time_step)

    def index(self, time: float) -> int:
        """Return the row of the path at a time [s]."""
        return min(int(round(time / self.time_step)), len(self.time) - 1)

    def phase(self, foot: int, time: float) -> tuple[bool, Stance, float]:
        """
        Return whether a foot stands, that stance or the next one, and the swing's progress.

        The progress is 0 at lift-off and 1 at touch-down; 0 in stance.
        """
        for stance in self.stances[foot]:
            if time < stance.start:
                return False, stance, 1.0 - (stance.start - time) / self.swing_time
            if time < stance.end:
                return True, stance, 0.0
        return True, self.stances[foot][-1], 0.0
