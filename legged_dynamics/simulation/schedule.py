# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the simulated robot does when: behaviours and their schedule."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
