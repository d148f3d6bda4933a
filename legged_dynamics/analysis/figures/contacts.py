# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which feet were down when: true and estimated, over the whole bag and in a short window."""
from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from legged_dynamics.analysis.analysis import Analysis
from legged_dynamics.analysis.plots import style

DETAIL = 3.0        # s


def draw_contacts(analysis: Analysis) -> Figure:
    """Draw the contact timeline, above all of it and below a few steps."""
    time, feet = analysis.series.time, analysis.series.feet
    figure = style.new_figure(1.2 + 0.8 * len(feet))
    whole, part = figure.subplots(2, 1)
    style.shade_behaviours(whole, time, analysis.behaviours, names=True)
    window = style.detail_window(time, analysis.behaviours, DETAIL)
    for axes, limits in ((whole, (time[0], time[-1])), (part, window)):
        shown = (time >= limits[0]) & (time <= limits[1])
        _bars(axes, analysis, shown)
        axes.set_xlim(*limits)
        axes.set_yticks(range(len(feet)), feet)
        axes.set_ylim(len(feet) - 0.5, -0.5)
        axes.grid(False, axis='y')
    whole.set_xlabel('')
    figure.legend(*whole.get_legend_handles_labels(), loc='outside upper right', ncols=2,
                  frameon=False, fontsize=8.5)
    return figure


def _bars(axes: Axes, analysis: Analysis, shown: np.ndarray) -> None:
    series, truth = analysis.series, analysis.truth
    time = series.time[shown]
    style.dress(axes, x='time [s]')
    for i in range(len(series.feet)):
        color = style.FOOT_COLORS[i % len(style.FOOT_COLORS)]
        if truth.known:
            axes.broken_barh(_stretches(time, truth.contact[shown, i]), (i - 0.36, 0.34),
                             color=style.TRUTH, label='true' if i == 0 else None)
            place = (i + 0.02, 0.34)
        else:
            place = (i - 0.3, 0.6)
        axes.broken_barh(_stretches(time, series.contact.values[shown, i]), place, color=color,
                         label='estimated' if i == 0 else None)


def _stretches(time: np.ndarray, down: np.ndarray) -> list[tuple[float, float]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], down.astype(int), [0]])))
    last = len(time) - 1
    return [(float(time[a]), float(time[min(b, last)] - time[a]))
            for a, b in zip(edges[::2], edges[1::2])]
