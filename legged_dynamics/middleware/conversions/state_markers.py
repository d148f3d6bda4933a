# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What rviz shows of a body under control: forces given, support, and how far from the margins."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from legged_dynamics.middleware.conversions.building import duration_message, header
from legged_dynamics.middleware.conversions.marker_maker import MarkerMaker
from legged_dynamics.middleware.protocol import Dialect
from legged_dynamics.spatial.convex_hull import convex_hull

# Margins from these on are green; below they turn to red: parts, and metres or radians.
AMPLE = {'friction': 0.3, 'effort': 0.3, 'sole': 0.02, 'support': 0.05, 'joint': 0.1}
TEXT_HEIGHT = 0.3       # above the base [m]


def state_markers(dialect: Dialect, ns: int, frame_id: str, points: np.ndarray,
                  forces: np.ndarray, standing: Sequence[bool], mode: str,
                  margins: Mapping[str, float], *, newtons_per_meter: float,
                  lifetime_s: float = 0.5) -> Any:
    """
    Return a visualization_msgs/MarkerArray of a body under control.

    Parameters
    ----------
    dialect : Dialect
        Whose messages to make.
    ns : int
        Stamp [ns].
    frame_id : str
        Frame of everything below: the base.
    points, forces : (n, 3) array [m, N]
        Where feet touch, and the forces given to them.
    standing : sequence of n bool
        Which feet stand.
    mode : str
        What the body does.
    margins : mapping of str to float
        As of WorkspaceController.margins; the worst one gives the colour.
    newtons_per_meter : float
        Force drawn as an arrow of one metre [N/m].
    lifetime_s : float
        After this, rviz lets a marker vanish by itself [s].

    """
    make = MarkerMaker(dialect, header(dialect, ns, frame_id),
                       duration_message(dialect, lifetime_s))
    free = {name: min(max(margins[name] / ample, 0.0), 1.0)
            for name, ample in AMPLE.items() if name in margins}
    worst = min(free, key=lambda name: free[name], default='')
    color = _color(free.get(worst, 1.0))
    markers = [make.arrow('given', i, point, point + force / newtons_per_meter,
                          _color(free.get('friction', 1.0))) if down else make.deletion('given', i)
               for i, (point, force, down) in enumerate(zip(points, forces, standing))]
    polygon = convex_hull(np.asarray(points)[np.asarray(standing, bool)])
    markers.append(make.line('support', 0, np.vstack((polygon, polygon[:1])),
                             _color(free.get('support', 1.0))) if len(polygon) > 1
                   else make.deletion('support', 0))
    lines = [mode, *(f'{name} {margins[name]:.3g}' for name in free)]
    markers.append(make.label('margins', 0, (0.0, 0.0, TEXT_HEIGHT), '\n'.join(lines)))
    markers.append(make.sphere('worst_margin', 0, (0.0, 0.0, TEXT_HEIGHT - 0.06), color))
    return dialect.message('visualization_msgs/msg/MarkerArray')(markers=markers)


def _color(free: float) -> tuple[float, float, float]:
    """Return red for nothing left, green for plenty."""
    return (1.0 - 0.9 * free, 0.1 + 0.7 * free, 0.1)
