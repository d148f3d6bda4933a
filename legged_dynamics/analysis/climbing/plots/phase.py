# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The gait's phases: which feet hold when, and the body's orbit in its phase planes."""
from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from legged_dynamics.analysis.climbing.comparison import Attempt, Comparison
from legged_dynamics.analysis.climbing.plots.climber import foot_color
from legged_dynamics.analysis.climbing.plots.forces import COLORS
from legged_dynamics.analysis.plots import style
from legged_dynamics.stickybot import ClimbTrace

# What is drawn over what: column of the pose, unit and factor.
PLANES = ((0, 'x about its mean', 'mm', 1e3), (1, 'y ahead of an even climb', 'mm', 1e3),
          (2, 'angle', 'mrad', 1e3))


def draw_climb_phase(comparison: Comparison) -> Figure | None:
    """Draw the shown climb's contacts, and the last period's orbits of plain and reduced gait."""
    shown = comparison.shown
    if shown.trace is None:
        return None
    model = comparison.model
    figure = style.new_figure(3.9 + 0.27 * model.n_limbs)
    rows = figure.subfigures(2, 1, height_ratios=(0.9 + 0.27 * model.n_limbs, 3.0))
    _draw_contacts(rows[0].subplots(), comparison, shown.trace)
    axes = rows[1].subplots(1, len(PLANES))
    for way in ('off', 'full'):
        attempt = comparison.attempt(way)
        if attempt is not None and attempt.trace is not None:
            _draw_orbits(axes, comparison, attempt, attempt.trace)
    for plane, (_, name, unit, _) in zip(axes, PLANES):
        style.dress(plane, x=f'{name} [{unit}]', y=f'rate [{unit}/s]')
        plane.margins(0.08)
    rows[1].legend(*axes[0].get_legend_handles_labels(), loc='outside upper right', ncols=3,
                   frameon=False, fontsize=8.5)
    return figure


def _draw_contacts(axes: Axes, comparison: Comparison, trace: ClimbTrace) -> None:
    """Draw bars where a foot holds, and the gait's own phases as a line over each."""
    step = float(trace.time[1] - trace.time[0])
    for i in range(comparison.model.n_limbs):
        on = trace.attached[:, i].astype(int)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], on, [0]])))
        bars = [(trace.time[begin] - step, (end - begin) * step)
                for begin, end in edges.reshape(-1, 2)]
        axes.broken_barh(bars, (i - 0.36, 0.72), facecolors=foot_color(i))
    for k in np.arange(0.0, trace.time[-1], comparison.settings.gait().period):
        axes.axvline(k, color='#888888', linewidth=0.7, linestyle=':')
    style.dress(axes, x='time [s]', title=f'Feet on the wall, {comparison.shown.name}; dotted: '
                                          'periods of the gait')
    names = [name.replace('_', ' ') for name in comparison.model.limb_names]
    axes.set_yticks(range(len(names)), names)
    axes.set(xlim=(0.0, trace.time[-1]), ylim=(len(names) - 0.4, -0.6))


def _draw_orbits(all_axes: np.ndarray, comparison: Comparison, attempt: Attempt,
                 trace: ClimbTrace) -> None:
    speed = attempt.climb.speed if attempt.climb is not None else 0.0
    last = trace.time >= trace.time[-1] - comparison.settings.gait().period
    time = trace.time[last]
    for axes, (column, _, _, factor) in zip(all_axes, PLANES):
        place, rate = trace.pose[last, column], trace.velocity[last, column]
        if column == 1:
            place, rate = place - speed * time, rate - speed
        if column < 2:
            place = place - place.mean()
        axes.plot(factor * place, factor * rate, color=COLORS[attempt.reduction], linewidth=1.1,
                  label=attempt.name)
