# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the estimate leaves unexplained: of the base's wrench, and of each joint's torque."""
from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from legged_dynamics.analysis.analysis import Analysis
from legged_dynamics.analysis.plots import style


def draw_residuals(analysis: Analysis) -> Figure:
    """Draw the base's residuals over time, and the joints' as bars."""
    series = analysis.series
    torque = series.external_torque.values
    known = np.isfinite(torque).any(axis=0)
    figure = style.new_figure(5.6 if known.any() else 3.6)
    if known.any():
        top, bottom = figure.subfigures(2, 1, height_ratios=(1.6, 1.0))
    else:
        top = figure
    force, moment = top.subplots(2, 1, sharex=True)
    residual = series.base_residual.values
    for axes, part, unit in ((force, residual[:, :3], 'force [N]'),
                             (moment, residual[:, 3:], 'moment [N m]')):
        style.shade_behaviours(axes, series.time, analysis.behaviours, names=axes is force)
        style.line(axes, series.time, np.linalg.norm(part, axis=1), color='#44546a',
                   linewidth=0.6)
        style.dress(axes, y=f'base {unit}')
        axes.set_ylim(bottom=0.0)
    moment.set_xlabel('time [s]')
    moment.set_xlim(series.time[0], series.time[-1])
    if known.any():
        axes = bottom.subplots()
        width = 0.8 / max(len(analysis.behaviours), 1)
        names = [name for name, there in zip(series.joints, known) if there]
        for index, behaviour in enumerate(analysis.behaviours):
            values = torque[behaviour.samples][:, known]
            values = values[np.isfinite(values).all(axis=1)]
            if len(values):
                shift = (index - (len(analysis.behaviours) - 1) / 2) * width
                axes.bar(np.arange(len(names)) + shift, np.sqrt((values ** 2).mean(axis=0)),
                         width, color=('#44546a', '#d9915a')[index % 2], label=behaviour.name)
        style.dress(axes, y='joint torque, rms [N m]')
        axes.set_xticks(range(len(names)), names, rotation=45, ha='right')
        axes.grid(False, axis='x')
        style.legend(axes, ncols=2)
    return figure
