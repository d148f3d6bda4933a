# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sweeps over a climbing robot's parameters, each point climbed with and without reduction."""
from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from legged_dynamics.analysis.table import Table
from legged_dynamics.exceptions import ConfigurationError, OutputError
from legged_dynamics.stickybot.study import RESULTS, climb_each

REDUCTION = 'control.reduction'
WAYS = ('off', 'full')


@dataclass(frozen=True)
class Axis:
    """
    A parameter that is swept.

    Attributes
    ----------
    setting : str
        Its dotted name.
    label : str
        For tables and plots, with its unit.
    values : tuple
        In the label's unit.
    factor : float
        From that unit to the setting's.

    """

    setting: str
    label: str
    values: tuple[Any, ...]
    factor: float = 1.0

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
    """
    One setting of the parameters.

    Attributes
    ----------
    place : dict of Axis to value
        The parameters that were set, in the units of their labels.
    rows : dict of str to dict
        Results by reduction, see `study.RESULTS`.

    """

    place: Mapping[Axis, Any]
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Sweep:
    """
    A sweep that was done.

    Attributes
    ----------
    axes : tuple of Axis
    grid : bool
        Whether all combinations were climbed; otherwise one parameter at a time.
    points : tuple of SweepPoint
    seconds : float
        Of each climb.

    """

    axes: tuple[Axis, ...]
    grid: bool
    points: tuple[SweepPoint, ...]
    seconds: float

    def along(self, axis: Axis) -> list[SweepPoint]:
        """Return the points at which that parameter was set."""
        return [point for point in self.points if axis in point.place]


def sweep(parameters: Mapping[str, Any], axes: Sequence[Axis], *, grid: bool = False,
          seconds: float = 4.0, workers: int | None = None,
          progress: Callable[[float], None] | None = None) -> Sweep:
    """
    Climb at every point of a sweep, in parallel on the cores.

    Parameters
    ----------
    parameters : mapping
        Settings that all climbs have in common.
    axes : sequence of Axis
        What is swept.
    grid : bool
        All combinations; otherwise one parameter at a time, the others as they are.
    seconds : float
        Of each climb.
    workers : int, optional
        Processes; as many as there are cores unless given.
    progress : callable, optional
        Called with the part done.

    Raises
    ------
    ConfigurationError
        When a parameter is unknown or has no value.

    """
    for axis in axes:
        if not axis.values:
            raise ConfigurationError(f'{axis.label}: expected at least one value')
    steps = [dict(zip(chosen, picks)) for chosen in ([axes] if grid else [[a] for a in axes])
             for picks in itertools.product(*(range(len(axis.values)) for axis in chosen))]
    changes = [{axis.setting: axis.value(k) for axis, k in step.items()} | {REDUCTION: way}
               for step in steps for way in WAYS]
    # The same climb asked for twice, as the nominal one of every parameter, is made once.
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
    """Return one row a point: plain gait against reduced."""
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
                     _number(change, '+.0f'), _pair(off, full, 'mean_force', 1.0, '.2f'),
                     _pair(off, full, 'cost_of_transport', 1.0, '.2f'),
                     _number(residual, '.0e'), off['error'] or full['error']))
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
    return ' / '.join(_number(factor * row[name], form) for row in (off, full))


def _number(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else '-'


def write_sweep(done: Sweep, folder: Path, command: str) -> list[Path]:
    """
    Write the table as Markdown and all numbers as CSV; return both paths.

    Parameters
    ----------
    done : Sweep
        What was climbed.
    folder : Path
        Made if need be.
    command : str
        What made it, for the head of the table.

    Raises
    ------
    OutputError
        When the folder cannot be written.

    """
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
