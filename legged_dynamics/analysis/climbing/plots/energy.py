# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where a climb's energy goes, and how far its balance is off."""
from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from legged_dynamics.analysis.climbing.comparison import Comparison
from legged_dynamics.analysis.plots import style
from legged_dynamics.stickybot import ClimbTrace, StickybotModel, balance

PARTS = (('lifted weight', '#0072B2'), ('springs and motion', '#56B4E9'),
         ('lost in dampers', '#E69F00'), ('lost at touchdown', '#D55E00'))
LIMIT = 1e-4        # J


def draw_climb_energy(comparison: Comparison) -> Figure | None:
    """Draw the energy of plain and reduced climb over time, and the residual of both."""
    found = [attempt for attempt in map(comparison.attempt, ('off', 'full'))
             if attempt is not None and attempt.trace is not None]
    if not found:
        return None
    figure = style.new_figure(5.4)
    grid = figure.add_gridspec(2, len(found), height_ratios=(2.2, 1.0))
    first = below = None
    for column, attempt in enumerate(found):
        trace = attempt.trace
        assert trace is not None
        parts = _parts(comparison.model, trace)
        first = axes = figure.add_subplot(grid[0, column], sharey=first)
        axes.stackplot(trace.time, *parts, labels=[name for name, _ in PARTS],
                       colors=[color for _, color in PARTS], linewidth=0.0)
        axes.plot(trace.time, [energy.work for energy in trace.energy], color=style.TEXT,
                  linewidth=1.6, label='work of the actuators')
        style.dress(axes, y='energy [J]' if not column else '', title=attempt.name)
        axes.set_xlim(trace.time[0], trace.time[-1])
        axes.tick_params(labelbottom=False)
        below = axes = figure.add_subplot(grid[1, column], sharey=below)
        residual = np.array([energy.energy_residual for energy in trace.energy])
        axes.semilogy(trace.time, np.maximum(np.abs(residual), 1e-12), color=style.TEXT,
                      linewidth=0.9)
        axes.axhline(LIMIT, color='#D55E00', linewidth=1.0, linestyle='--')
        style.dress(axes, x='time [s]', y='|residual| [J]' if not column else '')
        axes.set(xlim=(trace.time[0], trace.time[-1]), ylim=(1e-10, 1e-3))
    figure.legend(*first.get_legend_handles_labels(), loc='outside upper center',   # type: ignore
                  ncols=5, frameon=False, fontsize=8.5)
    return figure


def _parts(model: StickybotModel, trace: ClimbTrace) -> list[np.ndarray]:
    height = np.array([balance(model, state, rest).center_of_mass[1]
                       for state, rest in zip(trace.states, trace.rests)])
    lifted = -model.mass * float(model.wall.in_plane[1]) * (height - height[0])
    stored = np.array([energy.stored for energy in trace.energy])
    return [lifted, stored - lifted, np.array([energy.damped for energy in trace.energy]),
            np.array([energy.struck for energy in trace.energy])]
