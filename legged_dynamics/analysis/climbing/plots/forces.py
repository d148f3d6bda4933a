# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The wall's forces on each foot, with and without their reduction."""
from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from legged_dynamics.analysis.climbing.comparison import Comparison
from legged_dynamics.analysis.plots import style

MOST_FEET = 8
PERIODS = 2
COLORS = {'off': '#D55E00', 'turning': '#E69F00', 'full': '#0072B2'}


def draw_climb_forces(comparison: Comparison) -> Figure | None:
    """Draw |F_r| of each foot over the last two periods of the gait, on feet without limits."""
    found = [attempt for attempt in map(comparison.attempt, COLORS) if attempt is not None]
    traces = [(attempt, attempt.trace) for attempt in found if attempt.trace is not None]
    if not traces:
        return None
    names = comparison.model.limb_names[:MOST_FEET]
    gait = comparison.settings.gait()
    figure = style.new_figure(0.9 + 1.35 * len(names))
    all_axes = figure.subplots(len(names), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    top = 0.0
    for attempt, trace in traces:
        last = trace.time >= trace.time[-1] - PERIODS * gait.period
        size = np.hypot(trace.reaction[last, :, 0], trace.reaction[last, :, 1])
        top = max(top, float(np.quantile(size, 0.998)))
        for i, axes in enumerate(all_axes):
            style.line(axes, trace.time[last], np.where(trace.attached[last, i], size[:, i],
                                                        np.nan),
                       color=COLORS[attempt.reduction], label=attempt.name, linewidth=1.3)
    share = abs(comparison.model.mass * float(comparison.model.wall.in_plane[1]))
    on = traces[0][1].attached
    fewest = max(int(on[len(on) // 2:].sum(axis=1).min()), 1)
    for i, axes in enumerate(all_axes):
        axes.axhline(share / fewest, color=style.TEXT, linewidth=0.9, linestyle=':')
        style.dress(axes, y='|F| [N]', title=names[i].replace('_', ' '),
                    x='time [s]' if i == len(names) - 1 else '')
    all_axes[0].text(1.0, share / fewest, f' weight / {fewest}', fontsize=8.5, va='center',
                     color=style.TEXT, transform=all_axes[0].get_yaxis_transform())
    end = max(trace.time[-1] for _, trace in traces)
    all_axes[0].set(xlim=(end - PERIODS * gait.period, end), ylim=(0.0, max(1.08 * top, 1e-3)))
    figure.legend(*all_axes[0].get_legend_handles_labels(), loc='outside upper right', ncols=3,
                  frameon=False, fontsize=8.5)
    return figure
