# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Style of all figures: colours, sizes and axes, without display and global state."""
from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, FigureBase

from legged_dynamics.pages.page import TRUTH_COLORS, thinned

TRUTH = TRUTH_COLORS[0]
GRID = '#e4e4e4'
TEXT = '#333333'
SHADE = '#f2f5f9'
WIDTH = 10.5
DPI = 110


def new_figure(height: float) -> Figure:
    """Return an empty figure of a report's width; height [inch], no display needed."""
    figure = Figure(figsize=(WIDTH, height), dpi=DPI, layout='constrained')
    FigureCanvasAgg(figure)
    return figure


def png(figure: Figure) -> bytes:
    """Return a figure as PNG bytes."""
    return picture(figure, 'png')


def picture(figure: Figure, kind: str) -> bytes:
    """Return a figure as bytes of a 'png', 'svg' or 'pdf' file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=DPI, facecolor='white')
    return buffer.getvalue()


def dress(axes: Axes, x: str = '', y: str = '', title: str = '') -> None:
    """Add labels, title and a light grid to axes, and remove the frame."""
    axes.set_xlabel(x, color=TEXT)
    axes.set_ylabel(y, color=TEXT)
    if title:
        axes.set_title(title, loc='left', fontsize=10, color=TEXT)
    axes.grid(True, color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(colors=TEXT, labelsize=8.5)
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)
    for side in ('left', 'bottom'):
        axes.spines[side].set_color('#bbbbbb')


def legend(axes: Axes, **more: Any) -> None:
    """Add a legend without a frame, unless no curve has a label."""
    if more.get('handles') or axes.get_legend_handles_labels()[0]:
        axes.legend(**{'frameon': False, 'fontsize': 8.5, 'loc': 'upper right', **more})


def legend_outside(figure: FigureBase, axes: Axes, columns: int = 1, **more: Any) -> None:
    """Add a legend of an axes' curves above all axes of a figure."""
    figure.legend(*axes.get_legend_handles_labels(), **{
        'loc': 'outside upper right', 'ncols': columns, 'frameon': False, 'fontsize': 8.5, **more})


def line(axes: Axes, time: np.ndarray, values: np.ndarray, **more: Any) -> None:
    """Draw a line over time [s], thinned to what a page can show."""
    shown, columns = thinned(time, values[None])
    axes.plot(shown, columns[0], **{'linewidth': 1.0, **more})


def detail_window(time: np.ndarray, behaviours: Sequence[Any],
                  length: float) -> tuple[float, float]:
    """Return begin and end [s] of a window in the middle of the longest motion."""
    moving = [span for behaviour in behaviours if behaviour.name != 'standing'
              for span in behaviour.spans]
    spans = moving or [(0, len(time) - 1)]
    first, last = max(spans, key=lambda span: time[span[1]] - time[span[0]])
    begin = max(time[0], min((time[first] + time[last]) / 2.0 - length / 2.0, time[-1] - length))
    return begin, min(begin + length, time[-1])
