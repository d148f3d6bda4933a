# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Plan of the centre of pressure, and the divergent component of motion that belongs to it.

A centre of mass c at height h over the centre of pressure p obeys ``cdd = omega^2 (c - p)`` with
``omega = sqrt(g / h)``. Its divergent component ``xi = c + cd / omega`` obeys
``xid = omega (xi - p)``, and c follows xi by itself (Englsberger et al. 2015, eq. 8-16). While p
runs straight from p_0 with velocity u for a time T, ``xi - p - u / omega`` grows by
``exp(omega T)``; so the xi from which a walk ends at rest follows backwards from its last step.

Where feet swing one after the other, p is planned to rest at the middle of the feet that bear
while one swings, and to move there while all do.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.workspace.walking.schedule import ContactSchedule

# Steps that are planned ahead.
AHEAD = 3


class Shift(NamedTuple):
    """A straight way of the centre of pressure."""

    start: np.ndarray  # (2,) [m], world axes
    end: np.ndarray  # (2,) [m]
    duration: float  # s


def divergent_start(shifts: Sequence[Shift], omega: float) -> np.ndarray:
    """Return the divergent component (2,) [m] from which the last shift ends at rest."""
    found = np.asarray(shifts[-1].end, dtype=float)
    for start, end, duration in reversed(shifts):
        if duration <= 0.0:
            continue
        lag = (end - start) / (duration * omega)
        found = start + lag + math.exp(-omega * duration) * (found - end - lag)
    return found


class PressurePlan:
    """
    Plans the centre of pressure over the coming steps.

    ``sway``: how far it goes from the middle of all feet to that of those that bear; `start`
    (2,) [m]: where the weight was at the last touch-down, `duration`, `left` [s]: of its shift
    since.
    """

    def __init__(self, sway: float):
        self._sway = sway
        self.start, self.duration, self.left = np.zeros(2), 0.0, 0.0

    def begin(self, start: np.ndarray, duration: float, left: float | None = None) -> None:
        """Shift the weight from a place, within the end of what is left of a time [s]."""
        self.start, self.duration = start, duration
        self.left = duration if left is None else left

    def rest(self, places: np.ndarray, swinging: int) -> np.ndarray:
        """Return where the pressure rests while a foot swings, (2,) [m]."""
        middle = places.mean(axis=0)
        others = np.arange(len(places)) != swinging
        return middle + self._sway * (places[others].mean(axis=0) - middle)

    def shifts(self, schedule: ContactSchedule, places: np.ndarray, goal: np.ndarray | None,
               land: Callable[[int, np.ndarray, float], np.ndarray]) -> list[Shift]:
        """
        Return the planned way of the pressure from now on.

        ``goal`` (2,): where the foot in the air lands; ``land``: where a foot is planned to land
        when the others stand at places, after a wait.
        """
        t, places, swinging = schedule.timing, places.copy(), schedule.swinging
        left = max(self.left, 0.0)
        order = schedule.until_lift()
        if swinging and goal is not None:
            foot, wait = swinging[0], schedule.left(swinging[0])
            here = self.rest(places, foot)
            shifts = [Shift(here, here, wait)]
            places[foot] = goal
            order[foot] = order.max() + 1.0
        else:
            ends = math.isinf(schedule.held)
            foot = int(np.argmin(order))
            end = places.mean(axis=0) if ends else self.rest(places, foot)
            early = max(left - self.duration, 0.0)
            done = 1.0 - (left - early) / self.duration if self.duration else 1.0
            start = self.start + done * (end - self.start)
            shifts = [Shift(start, start, early), Shift(start, end, left - early)]
            if ends:
                return shifts
            shifts.append(Shift(end, end, t.swing_time))
            wait = left + t.swing_time
            places[foot] = land(foot, places, wait)
            order[foot] += t.cycle
        for _ in range(AHEAD):
            foot = int(np.argmin(order))
            end = self.rest(places, foot)
            shifts += [Shift(shifts[-1].end, end, t.shift_time), Shift(end, end, t.swing_time)]
            wait += t.shift_time + t.swing_time
            places[foot] = land(foot, places, wait)
            order[foot] += t.cycle
        return shifts
