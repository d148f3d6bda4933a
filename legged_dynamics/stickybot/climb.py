# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""One climb in simulation: controller and robot in a loop, and what came of it."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.stickybot.adhesion import Adhesion
from legged_dynamics.stickybot.books import Books
from legged_dynamics.stickybot.control_settings import ControlSettings
from legged_dynamics.stickybot.controller import StickybotController
from legged_dynamics.stickybot.exchange import FootEvent, FootEventKind
from legged_dynamics.stickybot.gait import Gait, GaitClock
from legged_dynamics.stickybot.robot import StickybotModel
from legged_dynamics.stickybot.simulation import ClimbingSimulation
from legged_dynamics.stickybot.state import RestPosition

FAILURES = (FootEventKind.SLIPPED, FootEventKind.PEELED)


@dataclass(frozen=True, eq=False)
class ClimbTrace:
    """
    A climb, sample by sample; n samples.

    Attributes
    ----------
    time : (n,) array [s]
    pose, velocity : (n, 3) array [m, m, rad] and rates
    foot : (n, N, 2) array [m]
    joint : (n, nq) array [rad]
    reaction, planned : (n, N, 2) array [N]
        The wall's force on each foot, and what the controller planned; wall axes.
    normal_load : (n, N) array [N]
    attached : (n, N) array of bool

    """

    time: np.ndarray
    pose: np.ndarray
    velocity: np.ndarray
    foot: np.ndarray
    joint: np.ndarray
    reaction: np.ndarray
    planned: np.ndarray
    normal_load: np.ndarray
    attached: np.ndarray


@dataclass(frozen=True, eq=False)
class Climb:
    """
    What came of a climb.

    Attributes
    ----------
    rise : float [m]
        Up the wall, over the whole climb.
    speed : float [m/s]
        Up the wall, over the whole periods of the second half.
    peak, mean : float [N]
        Largest reaction of any foot at any step of the integration, and the mean over feet on the
        wall, over the same time.
    books : Books
        Energy and momentum over the whole climb.
    events : tuple of FootEvent
        Of the robot and of the controller, in order.
    failures : int
        How often a foot let go.
    n_steps : int
        Of the integration.
    trace : ClimbTrace or None

    """

    rise: float
    speed: float
    peak: float
    mean: float
    books: Books
    events: tuple[FootEvent, ...]
    failures: int
    n_steps: int
    trace: ClimbTrace | None


def climb(model: StickybotModel, gait: Gait | None = None,
          control: ControlSettings | None = None, pads: Sequence[Adhesion] | None = None, *,
          seconds: float = 4.0, trace: bool = False, tolerance: float = 1e-7,
          progress: Callable[[float], None] | None = None) -> Climb:
    """
    Let the robot climb from rest and return what came of it.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    gait : Gait, optional
        Which feet hold when; the default gait unless given.
    control : ControlSettings, optional
        The controller's settings; their defaults unless given.
    pads : sequence of Adhesion, optional
        Limits of the feet, known to the controller.
    seconds : float
        Rounded up to whole periods, at least two.
    trace : bool
        Whether to keep every sample.
    tolerance : float
        Of the integration, see :class:`ClimbingSimulation`.
    progress : callable, optional
        Called with the fraction done, once per period.

    Raises
    ------
    ConfigurationError
        When an option is out of range.
    SimulationError
        When the motion cannot be integrated.

    """
    if not (math.isfinite(seconds) and seconds > 0.0):
        raise ConfigurationError(f'expected a duration above 0 s, got {seconds!r}')
    gait = gait or Gait()
    controller = StickybotController(model, gait, control, pads)
    rest = model.rest
    rest[:, 2] += GaitClock(model, gait).at(0).angle
    simulation = ClimbingSimulation(model, RestPosition(rest), pads=pads, tolerance=tolerance)
    dt = 1.0 / controller.settings.rate
    per_period = max(round(gait.period / dt), 1)
    periods = max(math.ceil(seconds / gait.period - 1e-9), 2)
    middle = (periods - periods // 2) * per_period
    events: list[FootEvent] = []
    samples: list[tuple] = []
    start_height = total = 0.0
    feet = 0
    for step in range(periods * per_period):
        if step == middle:
            simulation.reset_peak()
            start_height = float(simulation.pose[1])
        command = controller.update(simulation.measure())
        happened = simulation.step(command, dt)
        events += [*command.events, *(event for event in happened if event.kind in FAILURES)]
        if step >= middle or trace:
            reaction, attached = simulation.reaction, simulation.attached
            if step >= middle:
                total += float(np.hypot(reaction[:, 0], reaction[:, 1]).sum())
                feet += int(attached.sum())
            if trace:
                samples.append(_sample(simulation, reaction, command.planned, attached))
        if progress is not None and (step + 1) % per_period == 0:
            progress((step + 1) / (periods * per_period))
    height = float(simulation.pose[1])
    speed = (height - start_height) / ((periods // 2) * per_period * dt)
    return Climb(height, speed, float(simulation.peak.max()), total / max(feet, 1),
                 simulation.books, tuple(events),
                 sum(event.kind in FAILURES for event in events), simulation.n_steps,
                 ClimbTrace(*map(np.array, zip(*samples))) if trace else None)


def _sample(simulation: ClimbingSimulation, reaction: np.ndarray, planned: np.ndarray | None,
            attached: np.ndarray) -> tuple:
    state = simulation.state
    return (simulation.time, state.pose, state.velocity, state.foot, state.joint, reaction,
            np.zeros_like(reaction) if planned is None else planned, simulation.normal_loads,
            attached)
