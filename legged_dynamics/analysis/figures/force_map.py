# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Manipulability of force: producible forces as polytope and ellipsoid, and friction cones."""
from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial import ConvexHull, QhullError

from legged_dynamics.analysis.plots import style
from legged_dynamics.analysis.standing_reach import StandingReach
from legged_dynamics.force_map import FootReach, ForcePolytope

PRODUCIBLE, ALLOWED, CONE, ELLIPSOID, NOW = '#56B4E9', '#009E73', '#E69F00', '#0072B2', '#D55E00'
VIEWS = (((0, 2), 'force forward [N]', 'force up [N]'), ((1, 2), 'force left [N]', ''))


def draw_force_map(study: StandingReach) -> Figure:
    """
    Draw each foot's forces in space and seen from the side and from behind; world axes.

    Parameters
    ----------
    study : StandingReach
        Of one pose.

    """
    n = len(study.reach)
    figure = style.new_figure(3.2 + 3.0 * n)
    panels = figure.subfigures(n, 1, squeeze=False)[:, 0]
    for panel, reach, allowed in zip(panels, study.reach, study.allowed):
        height = _drawn_height(study, allowed)
        cone = np.vstack([np.zeros(3), height * study.cone.edges() / study.cone.edges()[:, 2:]])
        space = panel.add_subplot(1, 3, 1, projection='3d')
        _draw_in_space(space, reach, allowed, cone)
        for k, (plane, x, y) in enumerate(VIEWS):
            _draw_projection(panel.add_subplot(1, 3, 2 + k), reach, allowed, cone, plane, x, y)
        panel.suptitle(_title(reach), x=0.01, ha='left', fontsize=10, color=style.TEXT)
    figure.legend(handles=_keys(), loc='outside upper center', ncols=5, frameon=False,
                  fontsize=8.5)
    return figure


def _title(reach: FootReach) -> str:
    x, y, z = reach.map.weakest_direction[:3]
    condition = reach.map.condition
    how = f'condition {condition:.3g}' if np.isfinite(condition) else (
        f'rank {reach.map.rank} of {len(reach.map.offset)}')
    return (f'{reach.foot}   {how}, least producible along ({x:.2f}, {y:.2f}, {z:.2f}); '
            f'now ({", ".join(str(round(value)) for value in reach.force.tolist())}) N')


def _drawn_height(study: StandingReach, allowed: ForcePolytope) -> float:
    highest = float(allowed.vertices[:, 2].max(initial=0.0))
    return max(highest, study.weight / max(len(study.reach), 1))


def _draw_in_space(axes: Any, reach: FootReach, allowed: ForcePolytope, cone: np.ndarray) -> None:
    sides = [np.array([cone[0], *edge]) for edge in pairwise([*cone[1:], cone[1]])]
    axes.add_collection3d(Poly3DCollection(sides, facecolor=CONE, alpha=0.15))
    for shape, color, opacity in ((reach.polytope, PRODUCIBLE, 0.12), (allowed, ALLOWED, 0.35)):
        if len(shape.triangles):
            axes.add_collection3d(Poly3DCollection(
                list(shape.vertices[shape.triangles]), facecolor=color, edgecolor=color,
                linewidth=0.3, alpha=opacity))
        elif len(shape.vertices):
            axes.plot(*shape.vertices.T, color=color)
    surface = reach.ellipsoid.surface(20)
    axes.plot_wireframe(*np.moveaxis(surface, -1, 0), color=ELLIPSOID, linewidth=0.3,
                        rstride=2, cstride=2)
    axes.plot(*np.vstack([np.zeros(3), reach.force]).T, color=NOW, linewidth=2.0)
    everything = np.vstack([reach.polytope.vertices, cone])
    low, high = everything.min(axis=0), everything.max(axis=0)
    middle, half = (low + high) / 2.0, max(float((high - low).max()) / 2.0, 1.0)
    axes.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half),
             zlim=(middle[2] - half, middle[2] + half))
    axes.set_box_aspect((1, 1, 1))
    axes.tick_params(labelsize=6.5, colors=style.TEXT, pad=0)
    axes.locator_params(nbins=5)


def _draw_projection(axes: Axes, reach: FootReach, allowed: ForcePolytope, cone: np.ndarray,
                     plane: tuple[int, int], x: str, y: str) -> None:
    columns = list(plane)
    for points, color, opacity in ((cone, CONE, 0.2), (reach.polytope.vertices, PRODUCIBLE, 0.25),
                                   (allowed.vertices, ALLOWED, 0.45)):
        outline = _hull(points[:, columns])
        if len(outline) > 2:
            axes.fill(*outline.T, facecolor=color, edgecolor=color, alpha=opacity)
        elif len(outline):
            axes.plot(*outline.T, color=color)
    outline = _hull(reach.ellipsoid.surface(32).reshape(-1, 3)[:, columns])
    closed = np.vstack([outline, outline[:1]])
    axes.plot(*closed.T, color=ELLIPSOID, linewidth=1.0)
    now = reach.force[columns]
    axes.plot([0.0, now[0]], [0.0, now[1]], color=NOW, linewidth=2.0)
    axes.plot(*now, marker='o', markersize=4, color=NOW)
    style.dress(axes, x=x, y=y)
    axes.set_aspect('equal', adjustable='datalim')


def _hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of points in a plane in order; the ends, when they are in line."""
    try:
        return points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        if len(points) < 2:
            return points
        along = points - points.mean(axis=0)
        order = np.argsort(along @ np.linalg.svd(along)[2][0])
        return points[order[[0, -1]]]


def _keys() -> list[Any]:
    return [Patch(color=PRODUCIBLE, alpha=0.4, label='within effort limits'),
            Line2D([], [], color=ELLIPSOID, label='within the ellipsoid of efforts'),
            Patch(color=CONE, alpha=0.4, label='friction cone'),
            Patch(color=ALLOWED, alpha=0.6, label='both'),
            Line2D([], [], color=NOW, marker='o', markersize=4, label='standing still')]
