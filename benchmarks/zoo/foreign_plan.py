# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Stances of gaits with flight, turns and side steps, of feet that are lifted, tapped and held."""
from __future__ import annotations

import numpy as np
from scipy.linalg import solve_banded, solveh_banded

from benchmarks.zoo.plan import Plan, Stance, groups

# Share of the cycle on the ground, period in sqrt(h/g), and which feet land when.
PATTERNS = {'pace': (0.6, 2.0), 'bound': (0.62, 1.9), 'pronk': (0.62, 2.6), 'run': (0.42, 2.3),
            'crawl': (0.92, 11.0), 'turn': (0.6, 2.7), 'trot': (0.58, 2.9), 'walk': (0.79, 4.6),
            'slow trot': (0.55, 4.0), 'step': (0.56, 2.2)}
LIFTED = {'lift': (1.6, 1.0, (2.0,)), 'tap': (0.25, 0.8, (0.3, 0.12, 0.08, 0.2, 0.5, 0.15))}


def landings(pattern: str, places: np.ndarray) -> np.ndarray:
    """Return when in the cycle each foot lands, 0 to 1."""
    x, y = (places - places.mean(axis=0))[:, :2].T
    if pattern in ('pace', 'step'):
        return np.where(y > 0, 0.0, 0.5)
    if pattern == 'bound':
        return np.where(x > 0, 0.0, 0.5)
    if pattern == 'pronk':
        return np.zeros(len(places))
    return groups('walk' if pattern in ('walk', 'crawl') else 'trot', places)


class ForeignPlan(Plan):
    """
    A plan that may leave the ground.

    Parameters as of `Plan`; ``velocity`` is (forwards, to the left, turning) [m/s, rad/s].
    Attributes ``height`` and ``yaw`` (n,) and their derivatives join those of `Plan`.
    """

    def __init__(self, places: np.ndarray, pattern: str, seconds: float,
                 velocity: tuple[float, float, float], height: float, gravity: np.ndarray,
                 time_step: float, period: float, calm: float):
        self.time_step, self.places, self.calm = time_step, places, calm
        self.time = np.arange(round(seconds / time_step) + 2) * time_step
        self.stances = [[Stance(-1.0, seconds + 9.0, place)] for place in places]
        self.swing_time = self._ramp = 0.0
        self.velocity, self.middle = np.array(velocity), places.mean(axis=0)
        if pattern in PATTERNS:
            duty, unit = PATTERNS[pattern]
            period = period or unit * np.sqrt(height / 9.81)
            self.swing_time = (1.0 - duty) * period
            offsets = landings(pattern, places)
            # Feet share load as long as others are on the ground with them.
            self._ramp = max((duty - 1.0 + 1.0 / max(len(np.unique(offsets)), 2)) * period, 0.02)
            self._step(offsets, duty, period, 0.0, seconds)
        elif pattern in LIFTED:
            self._lift(*LIFTED[pattern], seconds)
        self.load = np.stack([self._load(foot) for foot in self.stances], axis=1)
        total = self.load.sum(axis=1)
        where = np.stack([self._where(foot) for foot in self.stances], axis=1)
        share = np.where(total[:, None] > 0.0, self.load / np.maximum(total, 1e-9)[:, None],
                         1.0 / len(places))
        pressure = np.einsum('nf,nfi->ni', share, where)
        self._heights(total <= 0.0, height, -gravity[2])
        lift = np.where(total > 0.0, 1.0 + self.height_acceleration / -gravity[2], 0.0)
        k = lift * height / -gravity[2] / time_step ** 2
        k = np.where(lift > 1e-3, height / -gravity[2] / time_step ** 2 / np.maximum(lift, 1e-3),
                     1e6)
        n = len(self.time)
        band = np.zeros((3, n))
        band[0, 2:], band[2, :-2] = -k[1:-1], -k[1:-1]
        band[1] = 1.0 + 2.0 * k
        band[1, 0] = band[1, -1] = 1.0
        band[0, 1] = band[2, -2] = 0.0
        self.centre = solve_banded((1, 1), band, pressure - height / -gravity[2] * gravity[:2])
        self.rate = np.gradient(self.centre, time_step, axis=0)
        self.acceleration = np.gradient(self.rate, time_step, axis=0)
        self.where = where
        self.yaw = np.array([self._gone(t) * self.velocity[2] for t in self.time])
        self.yaw_rate = np.gradient(self.yaw, time_step)

    def _gone(self, t: float) -> float:
        """Return for how long the robot has moved at its speed [s]."""
        return min(max(t - self.calm, 0.0), max(self._last - self.calm, 0.0)) if hasattr(
            self, '_last') else 0.0

    def _step(self, landing: np.ndarray, duty: float, period: float, speed: float,
              seconds: float) -> None:
        start, self._last = self.calm, seconds - self.calm
        for i, offset in enumerate(landing):
            stances, begin, place = [], -1.0, self.places[i]
            lift = start + period * (duty - offset)
            while lift < start:
                lift += period
            while lift + self.swing_time < self._last:
                stances.append(Stance(begin, lift, place))
                begin = lift + self.swing_time
                gone = self._gone(begin + 0.5 * duty * period - 0.5 * period)
                c, s = np.cos(gone * self.velocity[2]), np.sin(gone * self.velocity[2])
                place = (self.middle + np.array([[c, -s], [s, c]]) @ (self.places[i] - self.middle)
                         + gone * self.velocity[:2])
                lift += period
            self.stances[i] = [*stances, Stance(begin, seconds + 9.0, place)]

    def _lift(self, swing: float, ramp: float, stays: tuple[float, ...], seconds: float) -> None:
        """Lift one foot after the other; each comes down for as long as `stays` says."""
        self.swing_time, self._ramp = swing, ramp
        t = self.calm + ramp
        for i, place in enumerate(self.places):
            stances, begin = [], -1.0
            for stay in stays:
                if t + swing > seconds - self.calm:
                    break
                stances.append(Stance(begin, t, place))
                begin = t + swing
                t = begin + stay
            self.stances[i] = [*stances, Stance(begin, seconds + 9.0, place)]
            t += 2.0 * ramp

    def _heights(self, flying: np.ndarray, height: float, down: float) -> None:
        """Fill the height: falling where no foot stands, else accelerating little."""
        n, h2 = len(self.time), self.time_step ** 2
        weight = np.where(flying, 1e4, 1.0) / h2 ** 2
        goal = np.where(flying, -down * h2, 0.0)
        keep = 0.5 * (9.81 / height) ** 2
        # sum of weight (z'' h^2 - goal)^2 + keep z^2, z'' from three samples.
        main, one, two, right = np.full(n, keep), np.zeros(n), np.zeros(n), np.zeros(n)
        w, g = weight[1:-1], goal[1:-1]
        main[:-2] += w
        main[1:-1] += 4.0 * w
        main[2:] += w
        one[:-2] -= 2.0 * w
        one[1:-1] -= 2.0 * w
        two[:-2] += w
        right[:-2] += w * g
        right[1:-1] -= 2.0 * w * g
        right[2:] += w * g
        self.height = solveh_banded(np.stack([main, one, two]), right, lower=True)
        self.height_rate = np.gradient(self.height, self.time_step)
        self.height_acceleration = np.zeros(n)
        self.height_acceleration[1:-1] = np.diff(self.height, 2) / h2
