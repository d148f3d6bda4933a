# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The centre of pressure on the support polygon, seen from above, and over time."""
from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from legged_dynamics.analysis.analysis import Analysis
from legged_dynamics.analysis.behaviour import Behaviour
from legged_dynamics.analysis.plots import style
from legged_dynamics.analysis.truth import leveled
from legged_dynamics.spatial.convex_hull import convex_hull

DETAIL = 3.0        # s
POLYGONS = 60       # drawn of each behaviour
POINTS = 3000


def draw_pressure(analysis: Analysis) -> Figure:
    """Draw the centre of pressure from above, by behaviour, and over time below."""
    figure = style.new_figure(6.6)
    top, bottom = (figure.subfigures(2, 1, height_ratios=(1.6, 1.0))
                   if len(analysis.behaviours) > 1 else
                   figure.subfigures(1, 2, width_ratios=(1.0, 1.3)))
    series = analysis.series
    turned = _Heading(analysis)
    maps = top.subplots(1, len(analysis.behaviours), squeeze=False)[0]
    for axes, behaviour in zip(maps, analysis.behaviours):
        _from_above(axes, analysis, behaviour, turned)
    figure.legend(*maps[0].get_legend_handles_labels(), loc='outside upper right', ncols=2,
                  frameon=False, fontsize=8.5, markerscale=2.0)
    begin, end = style.detail_window(series.time, analysis.behaviours, DETAIL)
    shown = (series.time >= begin) & (series.time <= end)
    axes_of = bottom.subplots(*((1, 2) if len(analysis.behaviours) > 1 else (2, 1)))
    for k, (axes, name) in enumerate(zip(axes_of, ('forward', 'left'))):
        if np.isfinite(turned.true).any():
            style.line(axes, series.time[shown], 1e3 * turned.true[shown, k],
                       color=style.TRUTH, linewidth=2.4)
        style.line(axes, series.time[shown], 1e3 * turned.estimated[shown, k], color='black')
        style.dress(axes, x='time [s]', y=f'{name} of the base [mm]')
        axes.set_xlim(begin, end)
    return figure


class _Heading:
    """Points from the base's origin in level axes that turn with its heading, (n, ..., 2)."""

    def __init__(self, analysis: Analysis):
        series = analysis.series
        forward = series.base_rotation.values[:, :2, 0]
        forward = forward / np.linalg.norm(forward, axis=1, keepdims=True)
        # Rows: forward and left, in world axes.
        self._turn = np.stack([forward, np.stack([-forward[:, 1], forward[:, 0]], axis=1)], axis=1)
        self.estimated = self._to(leveled(series, series.center_of_pressure.values))
        self.true = self._to(analysis.truth.center_of_pressure)
        self.contact = self._to(leveled(series, series.contact_point.values))
        self.corners = self._corners(analysis)

    def _to(self, points: np.ndarray) -> np.ndarray:
        return np.einsum('nij,n...j->n...i', self._turn, points[..., :2])

    def _corners(self, analysis: Analysis) -> list[np.ndarray]:
        """Return for each foot the points it stands on, (n, k, 2)."""
        series, corners = analysis.series, []
        for i, foot in enumerate(analysis.robot.config.feet):
            if len(foot.corners) > 1:
                in_base = (series.foot_position.values[:, i, None]
                           + np.einsum('nij,kj->nki', series.foot_rotation.values[:, i],
                                       foot.corners))
                corners.append(self._to(leveled(series, in_base)))
            else:
                corners.append(self.contact[:, i, None])
        return corners


def _from_above(axes: Axes, analysis: Analysis, behaviour: Behaviour, turned: _Heading) -> None:
    samples = np.flatnonzero(behaviour.samples)
    contact = (analysis.truth.contact if analysis.truth.known
               else analysis.series.contact.values)
    chosen = samples[::-(-len(samples) // POLYGONS)]
    for sample in chosen:
        standing = [corners[sample] for corners, down in zip(turned.corners, contact[sample])
                    if down]
        if not standing:
            continue
        points = np.concatenate(standing)
        hull = convex_hull(points)
        if len(hull) >= 3 and sample == chosen[len(chosen) // 2]:
            axes.fill(-hull[:, 1], hull[:, 0], facecolor='#4477aa', edgecolor='none', alpha=0.12)
        closed = np.vstack([hull, hull[:1]])
        axes.plot(-closed[:, 1], closed[:, 0], color='#4477aa', linewidth=0.6, alpha=0.2)
    few = samples[::-(-len(samples) // POINTS)]
    for i, foot in enumerate(analysis.series.feet):
        down = few[contact[few, i]]
        place = turned.contact[down, i]
        axes.scatter(-place[:, 1], place[:, 0], s=3, alpha=0.25, linewidths=0,
                     color=style.FOOT_COLORS[i % len(style.FOOT_COLORS)])
        if len(down):
            side = -1 if np.median(place[:, 1]) > 0.0 else 1
            axes.annotate(foot, (-np.median(place[:, 1]), np.median(place[:, 0])), fontsize=8,
                          color='#555555', ha='left' if side > 0 else 'right', va='center',
                          xytext=(6 * side, 0), textcoords='offset points')
    if np.isfinite(turned.true[few]).any():
        axes.scatter(-turned.true[few, 1], turned.true[few, 0], s=10, color=style.TRUTH,
                     linewidths=0, alpha=0.5, label='true centre of pressure')
    axes.scatter(-turned.estimated[few, 1], turned.estimated[few, 0], s=3, color='black',
                 linewidths=0, alpha=0.6, label='estimated centre of pressure')
    style.dress(axes, x='right of the base [m]', y='forward of the base [m]',
                title=behaviour.name)
    axes.set_aspect('equal')
    axes.margins(x=0.35)
