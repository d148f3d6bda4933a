# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a simulated robot does when: behaviours, their schedule, and the gait of its trot."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError


@dataclass(frozen=True)
class Behaviour:
    """One thing the robot can do."""

    stepping: bool  # Whether the legs trot
    speed: float  # Forward speed, as a multiple of the gait's speed
    exercise: str = ''  # What a standing robot does to be checked


BEHAVIOURS = {
    'stand': Behaviour(stepping=False, speed=0.0),
    'squat': Behaviour(stepping=False, speed=0.0, exercise='squat'),
    'lift_legs': Behaviour(stepping=False, speed=0.0, exercise='lift'),
    'trot_in_place': Behaviour(stepping=True, speed=0.0),
    'trot_forward': Behaviour(stepping=True, speed=1.0),
}


class Schedule:
    """
    A sequence of behaviours, each for some time; the last one is kept for ever.

    Parameters
    ----------
    segments : iterable of (str, float)
        Name of the behaviour and its duration [s].

    Raises
    ------
    ConfigurationError
        When there is no segment, a behaviour is unknown or a duration is not positive.

    """

    def __init__(self, segments: Iterable[tuple[str, float]]):
        self.segments = tuple((str(name), float(duration)) for name, duration in segments)
        if not self.segments:
            raise ConfigurationError('expected at least one segment in a schedule, got none')
        for name, duration in self.segments:
            if name not in BEHAVIOURS:
                raise ConfigurationError(f'expected a behaviour, got {name!r}. '
                                         f'The behaviours are: {", ".join(BEHAVIOURS)}')
            if not duration > 0.0:
                raise ConfigurationError(
                    f'{name}: expected a duration above 0 s, got {duration:g}')

    @classmethod
    def from_text(cls, text: str) -> Schedule:
        """
        Read ``'stand 4, trot_forward 12, stand 4'`` (seconds).

        Parameters
        ----------
        text : str
            Schedule, e.g. ``stand 4, trot_forward 12``.

        Returns
        -------
        Schedule
            Behaviours in the order of the text.

        Raises
        ------
        ConfigurationError
            When the text is not of that form.

        """
        segments = []
        for part in text.split(','):
            words = part.split()
            try:
                name, duration = words[0], float(words[1])
            except (IndexError, ValueError) as error:
                raise ConfigurationError(f'expected "<behaviour> <seconds>, ...", got {part!r} '
                                         f'in {text!r}') from error
            segments.append((name, duration))
        return cls(segments)

    def __str__(self) -> str:
        return ', '.join(f'{name} {duration:g}' for name, duration in self.segments)

    @property
    def duration(self) -> float:
        """Sum of all durations [s]."""
        return sum(duration for _, duration in self.segments)

    def at(self, time: float) -> str:
        """
        Return the name of the behaviour at that time [s].

        Parameters
        ----------
        time : float
            Time since the start [s].

        Returns
        -------
        str
            Name of the behaviour.

        """
        for name, duration in self.segments:
            if time < duration:
                return name
            time -= duration
        return self.segments[-1][0]


DEMO_SCHEDULE = Schedule([('stand', 4.0), ('trot_forward', 12.0), ('stand', 4.0)])
STANDING = Schedule([('stand', 1.0)])


# -------------------------------------------------------------------------------------------------
# When each foot is on the ground in a trot, and its path through the air.


@dataclass(frozen=True)
class TrotShape:
    """Shape of a trot beside its parameters; chosen by hand."""

    apex: float = 0.45      # of the swing: a foot rises faster than it comes down
    standing_blend: float = 0.15    # s in which loads are equalised after the last step


SHAPE = TrotShape()


class TrotClock:
    """
    Phases of a trot's feet: two diagonal pairs, half a cycle apart, with overlap.

    A phase runs from 0 at touch-down over ``duty`` (above a half) at lift-off to 1. `load`
    (nf,): share of full load, ramped in the overlap; `swing` (nf,): progress of swinging
    feet, 0 in stance.
    """

    def __init__(self, diagonal: np.ndarray, period: float, duty: float):
        self._pair_of = np.where(diagonal, 0, 1)
        self._period = period
        self._duty = duty
        self._cycle = 0.0
        self._standing = 1.0
        self.stepping = False
        self._update()

    @property
    def stance_time(self) -> float:
        """Duration of a foot's stance [s]."""
        return self._duty * self._period

    @property
    def swing_time(self) -> float:
        """Duration of a foot's swing [s]."""
        return (1.0 - self._duty) * self._period

    def advance(self, time_step: float, stepping: bool) -> None:
        """Advance by ``time_step`` [s]; without ``stepping`` stop when all feet are down."""
        if stepping:
            self.stepping = True
        if self.stepping:
            before = self._cycle
            self._cycle += time_step / self._period
            # A pair touches down at 0 and at one half: the place to stop.
            if (int(2.0 * self._cycle) > int(2.0 * before)) and not stepping:
                self._cycle = 0.5 * int(2.0 * self._cycle)
                self.stepping = False
            self._cycle %= 1.0
        if self.stepping:
            self._standing -= time_step / ((self._duty - 0.5) * self._period)
        else:
            self._standing += time_step / SHAPE.standing_blend
        self._standing = min(max(self._standing, 0.0), 1.0)
        self._update()

    def _update(self) -> None:
        pairs = [self._pair(self._cycle), self._pair((self._cycle + 0.5) % 1.0)]
        self.stance, self.load, self.swing = (np.array(each)[self._pair_of]
                                              for each in zip(*pairs))

    def _pair(self, phase: float) -> tuple[bool, float, float]:
        """Return stance, load and swing of a pair of feet at its phase."""
        if self.stepping and phase >= self._duty:
            return False, 0.0, (phase - self._duty) / (1.0 - self._duty)
        ramp = min(phase, self._duty - phase) / (self._duty - 0.5)
        ramp = min(max(ramp, 0.0), 1.0)
        return True, max(ramp * ramp * (3.0 - 2.0 * ramp), self._standing), 0.0


def swing_position(start: np.ndarray, target: np.ndarray, height: float, progress: float,
                   duration: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Return position, velocity and acceleration (3,) on a foot's swing path, world axes.

    Minimum-jerk: one across, one up and a slower one down, ending at rest for a soft
    touch-down. ``height`` [m]: clearance above the higher end; ``progress``: 0 to 1.
    """
    travel, top = target - start, max(start[2], target[2]) + height
    if progress < SHAPE.apex:
        vertical = minimum_jerk(progress / SHAPE.apex, SHAPE.apex * duration)
        from_height, climb = start[2], top - start[2]
    else:
        vertical = minimum_jerk((progress - SHAPE.apex) / (1.0 - SHAPE.apex),
                                (1.0 - SHAPE.apex) * duration)
        from_height, climb = top, target[2] - top
    (x, y), across = travel[:2].tolist(), minimum_jerk(progress, duration)
    position, velocity, acceleration = (
        np.array([x * along, y * along, climb * up]) for along, up in zip(across, vertical))
    position += [start[0], start[1], from_height]
    return position, velocity, acceleration


def minimum_jerk(progress: float, duration: float) -> tuple[float, float, float]:
    """Return position, rate and acceleration of the minimum-jerk curve from 0 to 1."""
    s, r = progress, 1.0 - progress
    return (s ** 3 * (10.0 - 15.0 * s + 6.0 * s * s),
            30.0 * (s * r) ** 2 / duration,
            60.0 * s * r * (r - s) / duration ** 2)
