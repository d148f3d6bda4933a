# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a quadruped does to be checked: it squats and leans, and lifts one leg after the other."""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.simulation.gait import TrotClock
from legged_dynamics.simulation.quadruped_controller import JointTargets, QuadrupedController
from legged_dynamics.simulation.schedule import BEHAVIOURS

SQUAT = 0.22            # of the height, how deep
SQUAT_PERIOD = 2.0      # s
LEAN = (0.07, 0.06, 0.08)           # rad, about x, y and z
LEAN_PERIODS = (1.5, 1.9, 2.3)      # s: they never come together, so the axes are told apart
EASE = 0.4              # s, in which an exercise begins
# Times of one leg's lift [s]: the body leans over the other feet, the foot is unloaded, swings,
# and is loaded again while the body comes back.
SHIFT, UNLOAD, SWING, LOAD = 0.7, 0.3, 0.8, 0.3
LIFT = SHIFT + UNLOAD + SWING + LOAD
SHIFTED = 0.8           # of the way from the middle of all feet to that of the others


class LiftClock:
    """
    Loads of feet that are lifted one after the other; read as a `TrotClock` is.

    Parameters
    ----------
    count : int
        Feet.

    Attributes
    ----------
    stance, load, swing : (nf,) array
        As `TrotClock` has them.
    lifted : int
        The foot whose turn it is.

    """

    stepping = False
    stance_time, swing_time = LIFT, SWING

    def __init__(self, count: int):
        self._count, self._time = count, 0.0
        self._update()

    def advance(self, time_step: float, stepping: bool) -> None:
        """Move on [s]."""
        self._time += time_step
        self._update()

    @property
    def resting(self) -> bool:
        """Whether all feet stand."""
        return bool(self.stance.all())

    def _update(self) -> None:
        self.lifted = int(self._time / LIFT) % self._count
        phase = self._time % LIFT
        self.stance, self.load = np.ones(self._count, bool), np.ones(self._count)
        self.swing = np.zeros(self._count)
        air = phase - SHIFT - UNLOAD
        ramp = min(max(-air / UNLOAD, (air - SWING) / LOAD, 0.0), 1.0)
        self.load[self.lifted] = ramp * ramp * (3.0 - 2.0 * ramp)
        if 0.0 <= air < SWING:
            self.stance[self.lifted] = False
            self.swing[self.lifted] = air / SWING


class ExerciseController(QuadrupedController):
    """A quadruped's own controller that can also squat and lift its legs."""

    clock: TrotClock | LiftClock        # type: ignore[assignment]

    def reset(self) -> None:
        """Start over from where the robot is."""
        super().reset()
        self._trot = self.clock
        self._exercise, self._since = '', 0.0
        self._standing_height = self.height

    def update(self, time_step: float, behaviour: str) -> JointTargets:
        """Return the drives' targets for the next ``time_step`` [s]."""
        wanted = BEHAVIOURS[behaviour].exercise
        if wanted != self._exercise and self.clock.stance.all() and not self.clock.stepping:
            self._exercise, self._since = wanted, 0.0
            self.clock = LiftClock(len(self._nominal)) if wanted == 'lift' else self._trot
        self._since += time_step
        return super().update(time_step, behaviour)

    def _move_reference(self, speed: float, time_step: float) -> None:
        super()._move_reference(speed, time_step)
        blend = min(time_step / EASE, 1.0)
        wanted, tilt = self._standing_height, np.zeros(3)
        if self._exercise == 'squat':
            wave = 0.5 - 0.5 * math.cos(2.0 * math.pi * self._since / SQUAT_PERIOD)
            wanted *= 1.0 - SQUAT * wave
            tilt = np.array([a * math.sin(2.0 * math.pi * self._since / T)
                             for a, T in zip(LEAN, LEAN_PERIODS)])
            # The base class eases the reference towards level and full height; this is quicker.
            self._tilt += 4.0 * blend * (tilt - self._tilt)
            self._position[2] += 4.0 * blend * (wanted - self._position[2])
        if isinstance(self.clock, LiftClock):
            middle = self._anchor.mean(axis=0)
            away = SHIFTED * (middle - self._anchor[self.clock.lifted]) / (len(self._anchor) - 1)
            there = middle + away - self._R_yaw @ self._hip.mean(axis=0)
            if self._since % LIFT > SHIFT + UNLOAD + SWING + LOAD / 2.0:
                return
            self._position[:2] += 2.0 * blend * (there - self._position)[:2]

    def _foothold(self, foot: np.intp, speed: np.ndarray) -> np.ndarray:
        if not isinstance(self.clock, LiftClock):
            return super()._foothold(foot, speed)
        foothold = self._lift_off[foot].copy()
        foothold[2] = self._anchor[foot, 2]
        return foothold
