# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sweeps over a climbing robot's parameters, each point climbed with and without reduction."""
from __future__ import annotations

import csv
import itertools
import math
import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError, OutputError
from legged_dynamics.pages import style
from legged_dynamics.pages.page import Table, shown
from legged_dynamics.reproductions.climbing.comparison import WAYS as NAMES
from legged_dynamics.reproductions.climbing.plots import FORCE_COLORS as COLORS
from legged_dynamics.stickybot import StickybotSettings, climb

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


# -------------------------------------------------------------------------------------------------
# Sweeps: a climb with and without reduction at every point.


REDUCTION = 'control.reduction'
WAYS = ('off', 'full')


@dataclass(frozen=True)
class Axis:
    """A parameter that is swept."""

    setting: str  # Its dotted name
    label: str  # For tables and plots, with its unit
    values: tuple[Any, ...]  # In the label's unit
    factor: float = 1.0  # From that unit to the setting's

    def value(self, index: int) -> Any:
        """Return a value in the setting's unit."""
        chosen = self.values[index]
        return chosen * self.factor if isinstance(chosen, float) else chosen


AXES = (
    Axis('gait.amplitude', 'amplitude [rad]', (0.05, 0.075, 0.1, 0.125, 0.147, 0.165, 0.2)),
    Axis('stickybot.stiffness_scale', 'hip stiffness [nominal]', (0.25, 0.5, 1.0, 2.0, 4.0)),
    Axis('stickybot.damping_ratio', 'nominal damping ratio', (0.0, 0.25, 0.5, 1.0, 1.5, 2.0)),
    Axis('stickybot.inclination', 'inclination [deg]', (0.0, 30.0, 60.0, 90.0, 120.0, 150.0),
         math.pi / 180.0),
    Axis('stickybot.n_limbs', 'limbs', (4, 6, 8, 10)),
)


@dataclass(frozen=True, eq=False)
class SweepPoint:
    """One setting of the parameters."""

    place: Mapping[Axis, Any]  # The parameters that were set, in the units of their labels
    # Results by reduction, see `study.RESULTS`
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Sweep:
    """A sweep that was done."""

    axes: tuple[Axis, ...]
    grid: bool  # Whether all combinations were climbed; otherwise one parameter at a time
    points: tuple[SweepPoint, ...]
    seconds: float  # Of each climb

    def along(self, axis: Axis) -> list[SweepPoint]:
        """Return the points at which a parameter was set, in the order of its values."""
        return [point for point in self.points if axis in point.place]


def sweep(parameters: Mapping[str, Any], axes: Sequence[Axis], *, grid: bool = False,
          seconds: float = 4.0, workers: int | None = None,
          progress: Callable[[float], None] | None = None) -> Sweep:
    """Climb at every point of a sweep, in parallel; ``grid``: all combinations."""
    for axis in axes:
        if not axis.values:
            raise ConfigurationError(f'{axis.label}: expected at least one value')
    steps = [dict(zip(chosen, picks)) for chosen in ([axes] if grid else [[a] for a in axes])
             for picks in itertools.product(*(range(len(axis.values)) for axis in chosen))]
    changes = [{axis.setting: axis.value(k) for axis, k in step.items()} | {REDUCTION: way}
               for step in steps for way in WAYS]
    # The nominal climb, which every parameter has, is made once.
    unique = list({_key(parameters, change): change for change in changes}.values())
    rows = climb_each(parameters, unique, seconds=seconds, workers=workers,
                      progress=None if progress is None else lambda done, of: progress(done / of))
    by_key = {_key(parameters, change): row for change, row in zip(unique, rows)}
    points = []
    for j, step in enumerate(steps):
        found = {way: by_key[_key(parameters, changes[len(WAYS) * j + i])]
                 for i, way in enumerate(WAYS)}
        points.append(SweepPoint({axis: axis.values[k] for axis, k in step.items()}, found))
    return Sweep(tuple(axes), grid, tuple(points), seconds)


def _key(parameters: Mapping[str, Any], change: Mapping[str, Any]) -> frozenset:
    return frozenset((name, value) for name, value in change.items()
                     if parameters.get(name) != value or name == REDUCTION)


def sweep_table(done: Sweep) -> Table:
    """Return a table with a row per point: speed, forces and cost, plain against reduced."""
    rows: list[tuple[str, ...]] = []
    first = []
    last = None
    for point in done.points:
        axes = tuple(point.place)
        if axes != last:
            first.append(len(rows))
            last = axes
        off, full = (point.rows[way] for way in WAYS)
        change = 100.0 * (full['peak_force'] / off['peak_force'] - 1.0)
        residual = max(abs(off['energy_residual']), abs(full['energy_residual']))
        rows.append((', '.join(f'{axis.label.partition(" [")[0]} {_brief(value)}{_unit(axis)}'
                               for axis, value in point.place.items()),
                     _pair(off, full, 'speed', 100.0, '.2f'), _pair(off, full, 'peak_force', 1.0,
                                                                   '.2f'),
                     shown(change, '+.0f'), _pair(off, full, 'mean_force', 1.0, '.2f'),
                     _pair(off, full, 'cost_of_transport', 1.0, '.2f'),
                     shown(residual, '.0e'), off['error'] or full['error']))
    if not any(row[-1] for row in rows):
        rows = [row[:-1] for row in rows]
    head = ('point', 'speed [cm/s]', 'peak F [N]', 'change [%]', 'mean F [N]',
            'cost of transport', 'energy residual [J]', 'remark')
    return Table(f'Plain gait / reduced, {done.seconds:g} s each', head[:len(rows[0])], rows, (),
                 first)


def _brief(value: Any) -> str:
    return f'{value:g}' if isinstance(value, float) else str(value)


def _unit(axis: Axis) -> str:
    unit = axis.label.partition(' [')[2].rstrip(']')
    return {'': '', 'deg': '°', 'nominal': ' x'}.get(unit, f' {unit}')


def _pair(off: Mapping[str, Any], full: Mapping[str, Any], name: str, factor: float, form: str
          ) -> str:
    return ' / '.join(shown(factor * row[name], form) for row in (off, full))


def write_sweep(done: Sweep, folder: Path, command: str) -> list[Path]:
    """Write the table as Markdown and all numbers as CSV; return both paths."""
    table = sweep_table(done)
    names = [axis.setting for axis in done.axes]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / 'sweep.md').write_text(f'# {table.title}\n\n`{command}`\n\n{table.markdown}',
                                         encoding='utf-8')
        with (folder / 'sweep.csv').open('w', encoding='utf-8', newline='') as file:
            writer = csv.writer(file)
            writer.writerow([*names, REDUCTION, *RESULTS])
            for point in done.points:
                values = {axis.setting: value for axis, value in point.place.items()}
                for way, row in point.rows.items():
                    writer.writerow([*(values.get(name, '') for name in names), way,
                                     *(row[name] for name in RESULTS)])
    except OSError as error:
        raise OutputError(f'cannot write the sweep to {folder}: {error}') from error
    return [folder / 'sweep.md', folder / 'sweep.csv']


# -------------------------------------------------------------------------------------------------
# Figures of a sweep: speed, forces and cost over each parameter, or over two of them.


QUANTITIES = (('speed', 'speed [cm/s]', 100.0), ('peak_force', 'peak |F| [N]', 1.0),
              ('cost_of_transport', 'cost of transport', 1.0))
MARKERS: dict[str, dict[str, Any]] = {
    'off': {'marker': 's', 'markersize': 7.0, 'markerfacecolor': 'white'},
    'full': {'marker': 'o', 'markersize': 4.0}}
TICKS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
LARGEST_COST = 5.0      # beyond it, the distance climbed is next to nothing
COLOR_MAP = 'cividis'


def draw_sweep(done: Sweep) -> Figure | None:
    """Draw lines over each parameter, or maps over two; None for grids of more than two."""
    if not done.grid or len(done.axes) == 1:
        return _draw_lines(done)
    return _draw_maps(done) if len(done.axes) == 2 else None


def _draw_lines(done: Sweep) -> Figure:
    figure = style.new_figure(6.4)
    grid = figure.subplots(len(QUANTITIES), len(done.axes), sharey='row', sharex='col',
                           squeeze=False)
    for column, axis in zip(grid.T, done.axes):
        points = done.along(axis)
        values = [point.place[axis] for point in points]
        named = any(isinstance(value, str) for value in values)
        x = np.arange(len(values)) if named else np.array(values, dtype=float)
        order = np.argsort(x)
        for axes, (name, label, factor) in zip(column, QUANTITIES):
            for way in WAYS:
                y = factor * np.array([point.rows[way][name] for point in points],
                                      dtype=float)
                if name == 'cost_of_transport':
                    y = np.where(np.abs(y) < LARGEST_COST, y, np.nan)
                axes.plot(x[order], y[order], color=COLORS[way], linewidth=1.3,
                          label=NAMES[way], **MARKERS[way])
            last = axes is column[-1]
            style.dress(axes, x=axis.label if last else '',
                        y=label if axes in grid[:, 0] else '')
            if named:
                axes.set_xticks(x, values)
            elif x.size > 1 and x.min() > 0.0 and x.max() >= 8.0 * x.min():
                axes.set_xscale('log', base=2)
                axes.set_xticks(x, [f'{value:g}' for value in x])
    for row, (name, _, _) in zip(grid, QUANTITIES):
        if name == 'peak_force':
            _logarithmic(row[0])
        else:
            row[0].set_ylim(bottom=min(0.0, row[0].get_ylim()[0]))
    style.legend_outside(figure, grid[0, 0], 2)
    return figure


def _logarithmic(axes: Axes) -> None:
    axes.set_yscale('log')
    low, high = axes.get_ylim()
    shown = [tick for tick in TICKS if low <= tick <= high]
    axes.set_yticks(shown, [f'{tick:g}' for tick in shown])
    axes.minorticks_off()


def _draw_maps(done: Sweep) -> Figure:
    across, up = done.axes
    figure = style.new_figure(6.8)
    grid = figure.subplots(2, len(WAYS), sharex=True, sharey=True)
    for row, (name, label, factor) in zip(grid, QUANTITIES):
        values = [factor * _map(done, across, up, way, name) for way in WAYS]
        low, high = np.nanmin(values), np.nanmax(values)
        for axes, way, value in zip(row, WAYS, values):
            image = axes.imshow(value, origin='lower', aspect='auto', cmap=COLOR_MAP, vmin=low,
                                vmax=high)
            for (i, j), number in np.ndenumerate(value):
                bright = number > 0.5 * (low + high)
                axes.text(j, i, f'{number:.2f}' if np.isfinite(number) else '-', ha='center',
                          va='center', fontsize=8, color='black' if bright else 'white')
            axes.set_title(f'{label}, {NAMES[way]}', loc='left', fontsize=10, color=style.TEXT)
            axes.set_xticks(range(len(across.values)), list(map(_text, across.values)))
            axes.set_yticks(range(len(up.values)), list(map(_text, up.values)))
            axes.tick_params(colors=style.TEXT, labelsize=8.5, length=0)
        figure.colorbar(image, ax=list(row), shrink=0.9)
    for axes in grid[-1]:
        axes.set_xlabel(across.label, color=style.TEXT)
    for axes in grid[:, 0]:
        axes.set_ylabel(up.label, color=style.TEXT)
    return figure


def _map(done: Sweep, across: Axis, up: Axis, way: str, name: str) -> np.ndarray:
    found = np.full((len(up.values), len(across.values)), np.nan)
    for point in done.points:
        found[up.values.index(point.place[up]), across.values.index(point.place[across])] = \
            point.rows[way][name]
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else f'{value:g}'
