# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""One climb in simulation: controller and robot in a loop, and the results of the climb."""
from __future__ import annotations

import itertools
import math
import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError
from legged_dynamics.stickybot.control.controller import StickybotController
from legged_dynamics.stickybot.control.gait import ControlSettings, Gait, GaitClock
from legged_dynamics.stickybot.model.adhesion import Adhesion
from legged_dynamics.stickybot.model.robot import (
    FootEvent,
    FootEventKind,
    RestPosition,
    StickybotCommand,
    StickybotMeasurement,
    StickybotModel,
    StickybotState,
)
from legged_dynamics.stickybot.settings import StickybotSettings
from legged_dynamics.stickybot.simulation import ClimbingSimulation, EnergyBalance

FAILURES = (FootEventKind.SLIPPED, FootEventKind.PEELED)
STANDING = 0.5      # s for which a robot that starts with relaxed springs hangs before it climbs


class Climber(Protocol):
    """A simulated robot that follows commands, such as :class:`ClimbingSimulation`."""

    @property
    def time(self) -> float:
        """Time since the start [s]."""

    @property
    def n_steps(self) -> int:
        """Steps of the integration so far."""

    @property
    def pose(self) -> np.ndarray:
        """Pose of the body, (3,) [m, m, rad]."""

    @property
    def attached(self) -> np.ndarray:
        """Feet on the wall, (N,) array of bool."""

    @property
    def reaction(self) -> np.ndarray:
        """Force of the wall on each foot, (N, 2) [N]."""

    @property
    def normal_loads(self) -> np.ndarray:
        """The wall's push on each foot, (N,) [N]."""

    @property
    def pad_angles(self) -> np.ndarray:
        """Directions of the pads, (N,) [rad]."""

    @property
    def peak(self) -> np.ndarray:
        """Largest reactions since the last reset, (N,) [N]."""

    @property
    def state(self) -> StickybotState:
        """The present state."""

    @property
    def rest(self) -> RestPosition:
        """Rest positions of hips and inner joints."""

    @property
    def energy(self) -> EnergyBalance:
        """Energy and momentum since the start; NaN where not kept."""

    def reset_peak(self) -> None:
        """Forget the largest reactions."""

    def measure(self) -> StickybotMeasurement:
        """Return what the sensors measure now."""

    def step(self, command: StickybotCommand, duration: float) -> list[FootEvent]:
        """Hold a command for some time, as :meth:`.ClimbingSimulation.step`."""


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

    @classmethod
    def _of_samples(cls, samples: Sequence[tuple]) -> ClimbTrace:
        """Return the trace of samples, each a tuple in the order of the attributes."""
        columns = list(zip(*samples))
        return cls(*map(np.array, columns[:-3]), *columns[-3:])


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
          climber: Climber | None = None,
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
    climber : Climber, optional
        Another simulation of the same robot, on all feet with relaxed springs; it hangs for 0.5 s
        before it climbs.
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
    simulation: Climber = (_at_first_pose(model, gait, pads, tolerance) if climber is None
                           else climber)
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
    return Climb(height - begin, speed, float(simulation.peak.max()), total / max(feet, 1),
                 simulation.energy, tuple(events),
                 sum(event.kind in FAILURES for event in events), simulation.n_steps,
                 ClimbTrace._of_samples(samples) if trace else None)


def _at_first_pose(model: StickybotModel, gait: Gait, pads: Sequence[Adhesion] | None,
                   tolerance: float) -> ClimbingSimulation:
    """Return the robot with relaxed springs in the pose in which the gait begins."""
    rest = model.rest
    rest[:, 2] += GaitClock(model, gait).at(0).angle
    return ClimbingSimulation(model, RestPosition(rest), pads=pads, tolerance=tolerance)


def _sample(simulation: Climber, reaction: np.ndarray, planned: np.ndarray | None,
            attached: np.ndarray) -> tuple:
    state = simulation.state
    return (simulation.time, state.pose, state.velocity, state.foot, state.joint, reaction,
            np.zeros_like(reaction) if planned is None else planned, simulation.normal_loads,
            attached, simulation.pad_angles, simulation.energy, state, simulation.rest)


# -------------------------------------------------------------------------------------------------
# Studies: one climb for every combination of parameters, in parallel on the cores.


# Columns of a row of a study in addition to its parameters.
RESULTS = ('speed', 'peak_force', 'mean_force', 'work', 'damped', 'struck', 'energy_residual',
           'cost_of_transport', 'failures', 'error')


def combinations(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every combination of a grid's values, the last parameter changing fastest."""
    for name, values in grid.items():
        if isinstance(values, str) or not len(values):
            raise ConfigurationError(f'{name}: expected a list of at least one value, '
                                     f'got {values!r}')
    return [dict(zip(grid, chosen)) for chosen in itertools.product(*grid.values())]


def _study_row(parameters: Mapping[str, Any], changes: Mapping[str, Any], seconds: float
               ) -> dict[str, Any]:
    """
    Climb once; return the changes and the results as one flat row.

    Results are in SI units; ``cost_of_transport`` is work over weight times distance climbed. A
    climb that fails has NaN results and the reason in ``error``.
    """
    row: dict[str, Any] = {**changes, **dict.fromkeys(RESULTS, math.nan), 'failures': 0,
                           'error': ''}
    try:
        settings = StickybotSettings.from_parameters({**parameters, **changes})
        model = settings.model()
        done = climb(model, settings.gait(), settings.control(), settings.pads(),
                     seconds=seconds)
    except LeggedDynamicsError as error:
        row['error'] = str(error)
        return row
    energy = done.energy
    distance, weight = abs(done.rise), model.mass * model.wall.gravity
    row.update(speed=done.speed, peak_force=done.peak, mean_force=done.mean, work=energy.work,
               damped=energy.damped, struck=energy.struck, energy_residual=energy.energy_residual,
               cost_of_transport=energy.work / (weight * distance)
               if weight * distance > 0.0 else math.nan, failures=done.failures)
    return row


def study(parameters: Mapping[str, Any], grid: Mapping[str, Sequence[Any]], *,
          seconds: float = 4.0, workers: int | None = None,
          progress: Callable[[int, int], None] | None = None) -> list[dict[str, Any]]:
    """
    Climb once for every combination of parameters.

    Parameters
    ----------
    parameters : mapping
        Dotted names of `settings.SETTINGS`, common to all climbs.
    grid : mapping of str to sequence
        Values of each parameter that is varied, for example ``gait.amplitude``,
        ``stickybot.stiffness_scale``, ``stickybot.damping_ratio``, ``stickybot.inclination``,
        ``stickybot.n_limbs``, ``control.reduction``.
    seconds, workers, progress
        As for :func:`climb_each`.

    Returns
    -------
    list of dict
        One row per combination, in the order of :func:`combinations`.

    Raises
    ------
    ConfigurationError
        When a parameter of the grid is unknown or has no value; a value out of range is reported
        in its rows.

    """
    return climb_each(parameters, combinations(grid), seconds=seconds, workers=workers,
                      progress=progress)


def climb_each(parameters: Mapping[str, Any], changes: Sequence[Mapping[str, Any]], *,
               seconds: float = 4.0, workers: int | None = None,
               progress: Callable[[int, int], None] | None = None) -> list[dict[str, Any]]:
    """
    Climb once for each set of changes, in parallel; return a row each, as `_study_row`.

    ``parameters``: dotted names of `settings.SETTINGS`. Raises ConfigurationError for an
    unknown one; a value out of range is reported in its row.
    """
    base = StickybotSettings.from_parameters(parameters)
    for name in dict.fromkeys(name for change in changes for name in change):
        if name not in base.values:
            raise ConfigurationError(f'{name} is not a setting of a climbing robot. '
                                     f'The settings are: {", ".join(base.values)}.')
    count = os.cpu_count() or 1 if workers is None else workers
    if count < 1:
        raise ConfigurationError(f'expected at least one worker, got {workers!r}')
    rows: list[dict[str, Any]] = []
    if count == 1 or len(changes) <= 1:
        for change in changes:
            rows.append(_study_row(parameters, change, seconds))
            if progress is not None:
                progress(len(rows), len(changes))
        return rows
    # A fresh interpreter per worker: a forked one would share the parent's threads and locks.
    context = multiprocessing.get_context('spawn')
    with ProcessPoolExecutor(min(count, len(changes)), mp_context=context) as pool:
        futures = [pool.submit(_study_row, dict(parameters), dict(change), seconds)
                   for change in changes]
        for future in futures:
            rows.append(future.result())
            if progress is not None:
                progress(len(rows), len(changes))
    return rows
