# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Studies: one climb for every combination of parameters, in parallel on the cores."""
from __future__ import annotations

import itertools
import math
import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError
from legged_dynamics.stickybot.climb import climb
from legged_dynamics.stickybot.settings import StickybotSettings

# Columns of a row of a study in addition to its parameters.
RESULTS = ('speed', 'peak_force', 'mean_force', 'work', 'damped', 'struck', 'energy_residual',
           'cost_of_transport', 'failures', 'error')


def combinations(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """
    Return every combination of a grid's values, the last parameter changing fastest.

    Parameters
    ----------
    grid : mapping of str to sequence
        Values of each parameter.

    Returns
    -------
    list of dict
        One value of each parameter.

    Raises
    ------
    ConfigurationError
        When a parameter has no value.

    """
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
    Climb once for each set of changes, in parallel on the cores.

    Parameters
    ----------
    parameters : mapping
        Dotted names of `settings.SETTINGS`, common to all climbs.
    changes : sequence of mapping
        Settings that differ in each climb.
    seconds : float
        Duration of each climb.
    workers : int, optional
        Number of processes; as many as there are cores unless given. With 1, this process does
        everything.
    progress : callable, optional
        Called with the number of climbs done and of all.

    Returns
    -------
    list of dict
        One row per set of changes: the changes, and the results in SI units; ``cost_of_transport``
        is work over weight times distance climbed. A climb that fails has NaN results and the
        reason in ``error``.

    Raises
    ------
    ConfigurationError
        When a parameter is unknown; a value out of range is reported in its row.

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
