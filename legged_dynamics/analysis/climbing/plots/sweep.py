# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sweeps of a climbing robot: speed, forces and cost over each parameter, or over two of them."""
from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from legged_dynamics.analysis.climbing.comparison import WAYS as NAMES
from legged_dynamics.analysis.climbing.plots.forces import COLORS
from legged_dynamics.analysis.climbing.sweep import WAYS, Axis, Sweep
from legged_dynamics.analysis.plots import style

QUANTITIES = (('speed', 'speed [cm/s]', 100.0), ('peak_force', 'peak |F| [N]', 1.0),
              ('cost_of_transport', 'cost of transport', 1.0))
MARKERS: dict[str, dict[str, Any]] = {
    'off': {'marker': 's', 'markersize': 7.0, 'markerfacecolor': 'white'},
    'full': {'marker': 'o', 'markersize': 4.0}}
TICKS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
LARGEST_COST = 5.0      # beyond it, the distance climbed is next to nothing
COLOR_MAP = 'cividis'


def draw_sweep(done: Sweep) -> Figure | None:
    """Draw lines over each parameter, or maps over two; None over more than two at once."""
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
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc='outside upper right', ncols=2,
                  frameon=False, fontsize=8.5)
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
