# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forces per foot over time, with the truth behind them."""
from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from legged_dynamics.analysis.analysis import Analysis
from legged_dynamics.analysis.plots import style
from legged_dynamics.analysis.truth import world_force

DETAIL = 2.0        # s


def draw_forces(analysis: Analysis) -> Figure:
    """Draw each foot's vertical force over the whole bag."""
    series, truth = analysis.series, analysis.truth
    time, feet = series.time, series.feet
    force = world_force(series, series.foot_to_world, raw=False)
    figure = style.new_figure(1.0 + 1.55 * (len(feet) + 1))
    all_axes = figure.subplots(len(feet) + 1, 1, sharex=True)
    for i, (foot, axes) in enumerate(zip(feet, all_axes)):
        style.shade_behaviours(axes, time, analysis.behaviours, names=i == 0)
        if truth.known:
            style.line(axes, time, truth.force[:, i, 2], color=style.TRUTH, linewidth=2.0,
                       label='truth')
        style.line(axes, time, force[:, i, 2], color=_color(i), label='on-line estimate')
        _draw_desired(axes, analysis, time, i, 2)
        style.dress(axes, y=f'{foot}\n$f_z$ [N]')
    total = all_axes[-1]
    style.shade_behaviours(total, time, analysis.behaviours)
    if truth.known:
        style.line(total, time, truth.force[:, :, 2].sum(axis=1), color=style.TRUTH,
                   linewidth=2.0)
    style.line(total, time, force[:, :, 2].sum(axis=1), color='black', linewidth=0.8)
    total.axhline(analysis.weight, color='#bb4444', linewidth=0.8, linestyle=':')
    total.text(time[-1], analysis.weight, ' weight', color='#bb4444', fontsize=8.5, va='center')
    style.dress(total, x='time [s]', y='all feet\n$f_z$ [N]')
    total.set_xlim(time[0], time[-1])
    figure.legend(*all_axes[0].get_legend_handles_labels(), loc='outside upper right', ncols=3,
                  frameon=False, fontsize=8.5)
    return figure


def _draw_desired(axes: Axes, analysis: Analysis, time: np.ndarray, foot: int, axis: int,
                  shown: np.ndarray | slice = slice(None)) -> None:
    if analysis.desired_force is not None:
        style.line(axes, time, analysis.desired_force[shown, foot, axis], color='black',
                   linewidth=0.9, linestyle=(0, (4, 3)), label='wanted by the controller')


def draw_force_details(analysis: Analysis) -> Figure:
    """Draw all three components of each foot's force in a short window."""
    series, truth = analysis.series, analysis.truth
    begin, end = style.detail_window(series.time, analysis.behaviours, DETAIL)
    shown = (series.time >= begin) & (series.time <= end)
    time, rotation = series.time[shown], series.foot_to_world
    on_line = world_force(series, rotation, raw=False)[shown]
    raw = world_force(series, rotation, raw=True)[shown]
    figure = style.new_figure(0.9 + 1.7 * len(series.feet))
    grid = figure.subplots(len(series.feet), 3, sharex=True, sharey='col', squeeze=False)
    for i, foot in enumerate(series.feet):
        for k, axis in enumerate('xyz'):
            axes = grid[i, k]
            style.line(axes, time, raw[:, i, k], color=_color(i), alpha=0.35, linewidth=0.7,
                       label='at full bandwidth')
            if truth.known:
                style.line(axes, time, truth.force[shown, i, k], color=style.TRUTH,
                           linewidth=2.0, zorder=1.5, label='truth')
            style.line(axes, time, on_line[:, i, k], color=_color(i), label='on-line estimate')
            _draw_desired(axes, analysis, time, i, k, shown)
            style.dress(axes, x='time [s]' if i == len(series.feet) - 1 else '',
                        y=f'{foot}\n[N]' if k == 0 else '',
                        title=f'$f_{axis}$, world' if i == 0 else '')
    grid[0, 2].set_xlim(begin, end)
    # The axes are scaled to the forces, not to the peaks of impacts.
    for k in range(3):
        both = np.concatenate([on_line[:, :, k], truth.force[shown, :, k]])
        low, high = np.nanpercentile(both, (0.5, 99.5))
        margin = 0.15 * (high - low) + 1.0
        grid[0, k].set_ylim(low - margin, high + margin)
    figure.legend(*grid[0, 2].get_legend_handles_labels(), loc='outside upper right', ncols=4,
                  frameon=False, fontsize=8.5)
    return figure


def _color(index: int) -> str:
    return style.FOOT_COLORS[index % len(style.FOOT_COLORS)]
