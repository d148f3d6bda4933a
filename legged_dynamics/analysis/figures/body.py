# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The base under control: where it was wanted, and where it truly was."""
from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from legged_dynamics.analysis.analysis import Analysis
from legged_dynamics.analysis.plots import style


def draw_body(analysis: Analysis) -> Figure | None:
    """Draw position and rotation of the base since the controller took over, or nothing."""
    body = analysis.body
    if body is None:
        return None
    figure = style.new_figure(6.0)
    grid = figure.subplots(3, 2, sharex=True, sharey='col')
    for column, (unit, factor, wanted, true, names) in enumerate((
            ('mm', 1e3, body.wanted, body.moved, 'xyz'),
            ('deg', np.degrees(1.0), body.wanted_turn, body.turned, ('roll', 'pitch', 'yaw')))):
        for k, name in enumerate(names):
            axes = grid[k, column]
            style.line(axes, body.time, factor * wanted[:, k], color=style.TRUTH, linewidth=2.4,
                       label='wanted')
            style.line(axes, body.time, factor * true[:, k], color=style.FOOT_COLORS[column],
                       label='true')
            style.dress(axes, x='time under control [s]' if k == 2 else '', y=f'{name} [{unit}]',
                        title=('position', 'rotation')[column] if k == 0 else '')
    grid[0, 0].set_xlim(body.time[0], body.time[-1])
    for axes in grid[0]:
        style.legend(axes)
    return figure
