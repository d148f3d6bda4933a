# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""One robot, one gait, climbed with and without the reduction of reaction forces."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import LeggedDynamicsError, SimulationError
from legged_dynamics.stickybot import (
    Adhesion,
    Climb,
    ClimbTrace,
    StickybotModel,
    StickybotSettings,
    balance,
    climb,
    rehearse,
)
from legged_dynamics.stickybot.climb import FAILURES, Climber

OWN, MUJOCO = 'own', 'mujoco'
WAYS = {'off': 'plain gait', 'turning': 'reduced by turning', 'full': 'reduced'}


@dataclass(frozen=True, eq=False)
class Attempt:
    """
    One climb of a comparison.

    Attributes
    ----------
    reduction : {'off', 'turning', 'full'}
    pads : tuple of Adhesion or None
        Limits of the feet; None for feet that hold anything.
    climb : Climb or None
        With its trace; None when it could not be made.
    error : str
        Why not.
    plant : {'own', 'mujoco'}
        Whose physics it was.

    """

    reduction: str
    pads: tuple[Adhesion, ...] | None
    climb: Climb | None
    error: str = ''
    plant: str = OWN

    @property
    def name(self) -> str:
        """Return what the attempt is called in tables."""
        return WAYS[self.reduction]

    @property
    def trace(self) -> ClimbTrace | None:
        """Return the samples."""
        return self.climb.trace if self.climb is not None else None

    @property
    def first_failure(self) -> float:
        """Return when the first foot lets go by itself [s]; NaN when none does."""
        events = self.climb.events if self.climb is not None else ()
        return next((event.stamp_ns * 1e-9 for event in events if event.kind in FAILURES),
                    np.nan)

    @property
    def fell(self) -> bool:
        """Whether the robot has come off its wall for good."""
        trace = self.trace
        return trace is not None and not trace.attached[-len(trace.time) // 4:].any()


@dataclass(frozen=True)
class Residuals:
    """
    How far the motion misses the balances, the largest of all samples.

    Attributes
    ----------
    force : float [N]
        Newton: rate of momentum less wall reactions and weight.
    moment : float [N m]
        The same for angular momentum.
    power : float [W]
        Rate of the stored energy less actuator power, plus losses.

    """

    force: float
    moment: float
    power: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """
    The climbs of one robot.

    Attributes
    ----------
    settings : StickybotSettings
    model : StickybotModel
    seconds : float
    speed : float [m/s]
        Asked of the reduced climbs.
    asked : bool
        Whether the settings name it; otherwise it is what the plain gait reaches.
    attempts : tuple of Attempt
        On feet without limits, then on pads where there are some; then by MuJoCo, if asked for.
    shown : Attempt
        The one that is to be seen in motion.

    """

    settings: StickybotSettings
    model: StickybotModel
    seconds: float
    speed: float
    asked: bool
    attempts: tuple[Attempt, ...]
    shown: Attempt

    def attempt(self, reduction: str, limited: bool = False) -> Attempt | None:
        """
        Return a climb by the package's own physics.

        Parameters
        ----------
        reduction : str
            How reaction forces are reduced: 'off', 'turning' or 'full'.
        limited : bool
            Whether pads limit the forces.

        Returns
        -------
        Attempt or None
            None when there was no such climb, or it was not possible.

        """
        return next((attempt for attempt in self.attempts if attempt.reduction == reduction
                     and (attempt.pads is not None) == limited and attempt.climb is not None
                     and attempt.plant == OWN), None)


def compare(settings: StickybotSettings, seconds: float,
            progress: Callable[[float], None] | None = None, *, plant: str = OWN) -> Comparison:
    """
    Climb in every way, with the limits of the pads and without.

    Parameters
    ----------
    settings : StickybotSettings
        ``control.reduction`` names the climb that is shown.
    seconds : float
        Of each climb; rounded up to whole periods of the gait, at least two.
    progress : callable, optional
        Called with the part done.
    plant : {'own', 'mujoco'}
        Whose physics is shown; with MuJoCo's, the same climbs are made by both.

    Raises
    ------
    LeggedDynamicsError
        When the climb that is to be shown cannot be made.

    """
    model, gait, pads = settings.model(), settings.gait(), settings.pads()
    asked = settings.values['control.speed'] != 0.0
    speed = settings.values['control.speed'] if asked else rehearse(model, gait).speed
    settings = settings.changed({'control.speed': speed})
    chosen = settings.values['control.reduction']
    plans: list[tuple[str, tuple[Adhesion, ...] | None, str]] = [(way, None, OWN) for way in WAYS]
    if pads is not None:
        plans += [(way, pads, OWN) for way in dict.fromkeys(('off', chosen))]
    if plant == MUJOCO:
        plans += dict.fromkeys([('off', None, MUJOCO), (chosen, None, MUJOCO),
                                (chosen, pads, MUJOCO)])
    attempts: list[Attempt] = []
    for index, (way, limits, physics) in enumerate(plans):
        def share(part: float, done: int = index) -> None:
            if progress is not None:
                progress((done + part) / len(plans))

        attempts.append(_attempt(settings.changed({'control.reduction': way}), limits, physics,
                                 seconds, share))
    shown = next(attempt for attempt in attempts if attempt.reduction == chosen
                 and attempt.pads is pads and attempt.plant == plant)
    if shown.climb is None:
        raise SimulationError(f'the climb that was to be shown is not possible: {shown.error}')
    return Comparison(settings, model, seconds, speed, asked, tuple(attempts), shown)


def _attempt(settings: StickybotSettings, pads: tuple[Adhesion, ...] | None, plant: str,
             seconds: float, progress: Callable[[float], None]) -> Attempt:
    reduction = settings.values['control.reduction']
    try:
        climber: Climber | None = None
        if plant == MUJOCO:
            from legged_dynamics.simulation.climbing_twin import ClimbingTwin

            climber = ClimbingTwin(settings if pads else
                                   settings.changed({'adhesion.kind': 'none'}))
        done = climb(settings.model(), settings.gait(), settings.control(), pads, seconds=seconds,
                     trace=True, climber=climber, progress=progress)
        return Attempt(reduction, pads, done, plant=plant)
    except LeggedDynamicsError as error:
        return Attempt(reduction, pads, None, str(error), plant)


def residuals_of(model: StickybotModel, trace: ClimbTrace) -> Residuals:
    """
    Return the largest residuals of the balances over all samples of a climb.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    trace : ClimbTrace
        Its motion and its rest positions.

    """
    found = [balance(model, state, rest) for state, rest in zip(trace.states, trace.rests)]
    return Residuals(float(max(np.abs(now.force_residual).max() for now in found)),
                     float(max(abs(now.moment_residual) for now in found)),
                     float(max(abs(now.power_residual) for now in found)))
