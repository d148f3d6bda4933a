# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""One climb in simulation: controller and robot in a loop, and the results of the climb."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.stickybot.control.controller import StickybotController
from legged_dynamics.stickybot.control.gait import ControlSettings, Gait, GaitClock
from legged_dynamics.stickybot.model.adhesion import Adhesion
from legged_dynamics.stickybot.model.robot import (
    FootEvent,
    FootEventKind,
    RestPosition,
    StickybotModel,
    StickybotState,
)
from legged_dynamics.stickybot.simulation import ClimbingSimulation, EnergyBalance

FAILURES = (FootEventKind.SLIPPED, FootEventKind.PEELED)
STANDING = 0.5      # s for which a robot that starts with relaxed springs hangs before it climbs


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
    pad_angle : (n, N) array [rad]
        Direction of each pad in wall axes; NaN for one that holds every way.
    energy : tuple of n EnergyBalance
        Energy and momentum from the start up to each sample.
    states, rests : tuples of n StickybotState and RestPosition
        Everything that the equations of motion need.

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
    pad_angle: np.ndarray
    energy: tuple[EnergyBalance, ...]
    states: tuple[StickybotState, ...]
    rests: tuple[RestPosition, ...]


@dataclass(frozen=True, eq=False)
class Climb:
    """
    Results of a climb.

    Attributes
    ----------
    rise : float [m]
        Distance up the wall, over the whole climb.
    speed : float [m/s]
        Up the wall, over the whole periods of the second half.
    peak, mean : float [N]
        Largest reaction of any foot at any step of the integration, and the mean over feet on the
        wall, over the same time.
    energy : EnergyBalance
        Energy and momentum over the whole climb.
    events : tuple of FootEvent
        Of the robot and of the controller, in order.
    failures : int
        How often a foot let go.
    n_steps : int
        Number of steps of the integration.
    trace : ClimbTrace or None
        Samples of the climb, when they were asked for.

    """

    rise: float
    speed: float
    peak: float
    mean: float
    energy: EnergyBalance
    events: tuple[FootEvent, ...]
    failures: int
    n_steps: int
    trace: ClimbTrace | None


def climb(model: StickybotModel, gait: Gait | None = None,
          control: ControlSettings | None = None, pads: Sequence[Adhesion] | None = None, *,
          seconds: float = 4.0, trace: bool = False, tolerance: float = 1e-7,
          climber: Any = None,
          progress: Callable[[float], None] | None = None) -> Climb:
    """
    Let the robot climb from rest and return the results.

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
        Duration, rounded up to whole periods, at least two.
    trace : bool
        Whether to keep every sample.
    tolerance : float
        Of the integration, see :class:`ClimbingSimulation`.
    climber : optional
        Another simulation of the same robot with the properties and methods of
        :class:`ClimbingSimulation`, on all feet with relaxed springs; it hangs for 0.5 s before
        it climbs.
    progress : callable, optional
        Called with the fraction done, once per period.

    Returns
    -------
    Climb

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
    controller = StickybotController(model, gait, control, pads, walking=climber is None)
    dt = 1.0 / controller.settings.rate
    rest = model.rest       # where the gait begins, with relaxed springs
    rest[:, 2] += GaitClock(model, gait).at(0).angle
    simulation = climber or ClimbingSimulation(model, RestPosition(rest), pads=pads,
                                               tolerance=tolerance)
    if climber is not None:
        for _ in range(round(STANDING / dt)):
            climber.step(controller.update(climber.measure()), dt)
        controller.walking = True
    begin = float(simulation.pose[1])
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
    columns = list(zip(*samples))
    return Climb(height - begin, speed, float(simulation.peak.max()), total / max(feet, 1),
                 simulation.energy, tuple(events),
                 sum(event.kind in FAILURES for event in events), simulation.n_steps,
                 ClimbTrace(*map(np.array, columns[:-3]), *columns[-3:]) if trace else None)


def _sample(simulation: Any, reaction: np.ndarray, planned: np.ndarray | None,
            attached: np.ndarray) -> tuple:
    state = simulation.state
    return (simulation.time, state.pose, state.velocity, state.foot, state.joint, reaction,
            np.zeros_like(reaction) if planned is None else planned, simulation.normal_loads,
            attached, simulation.pad_angles, simulation.energy, state, simulation.rest)
