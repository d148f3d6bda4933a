# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What rviz shows of a ground reaction: an arrow per foot, support polygon, centre of pressure.

Everything is in one frame, usually the robot's base. A foot in the air has its arrow deleted.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from legged_dynamics.middleware.conversions.building import duration_message, header
from legged_dynamics.middleware.conversions.marker_maker import MarkerMaker
from legged_dynamics.middleware.protocol import Dialect
from legged_dynamics.spatial.convex_hull import convex_hull

FIRM, UNSURE = (0.1, 0.8, 0.2), (1.0, 0.6, 0.0)
_POLYGON, _PRESSURE = (0.3, 0.5, 1.0), (1.0, 0.1, 0.1)


def reaction_markers(dialect: Dialect, ns: int, frame_id: str, feet: Sequence[str],
                     contact_point: np.ndarray, force: np.ndarray, contact: Sequence[bool], *,
                     newtons_per_meter: float = 500.0, lifetime_s: float = 0.2,
                     observable: Sequence[bool] | None = None, text: bool = False,
                     center_of_pressure: np.ndarray | None = None,
                     standing: np.ndarray | None = None) -> Any:
    """
    Return a visualization_msgs/MarkerArray of one ground reaction.

    Parameters
    ----------
    dialect : Dialect
        Whose messages to make.
    ns : int
        Stamp [ns].
    frame_id : str
        Frame of everything below.
    feet : sequence of str
        Names of the n feet.
    contact_point, force : (n, 3) array [m, N]
        Where the ground pushes, and how.
    contact : sequence of n bool
        Which feet are on the ground.
    newtons_per_meter : float
        Force drawn as an arrow of one metre [N/m].
    lifetime_s : float
        After this, rviz lets a marker vanish by itself [s].
    observable : sequence of n bool, optional
        Feet whose force is only a guess have their arrow in orange.
    text : bool
        Whether to write the newtons beside each arrow.
    center_of_pressure : (3,) array, optional [m]
        Drawn as a sphere; NaN or None when there is none.
    standing : (k, 3) array, optional [m]
        Points that the robot stands on, corners of soles for example; by default the contact
        points of the feet on the ground.

    """
    make = MarkerMaker(dialect, header(dialect, ns, frame_id),
                       duration_message(dialect, lifetime_s))
    sure = [True] * len(feet) if observable is None else observable
    markers = []
    for index, name in enumerate(feet):
        start = contact_point[index]
        end = start + force[index] / newtons_per_meter
        shown = bool(contact[index]) and bool(np.isfinite(end).all())
        color = FIRM if sure[index] else UNSURE
        markers.append(make.arrow('reaction', index, start, end, color) if shown else
                       make.deletion('reaction', index))
        if text:
            newtons = float(np.linalg.norm(force[index]))
            markers.append(make.label('reaction_text', index, end, f'{name} {newtons:.0f} N')
                           if shown else make.deletion('reaction_text', index))
    if standing is None:
        standing = np.asarray(contact_point, float)[np.asarray(contact, bool)]
    polygon = convex_hull(standing)
    markers.append(make.line('support_polygon', 0, np.vstack((polygon, polygon[:1])), _POLYGON)
                   if len(polygon) > 1 else make.deletion('support_polygon', 0))
    has_pressure = center_of_pressure is not None and bool(np.isfinite(center_of_pressure).all())
    markers.append(
        make.sphere('center_of_pressure', 0, center_of_pressure, _PRESSURE) if has_pressure else
        make.deletion('center_of_pressure', 0))
    return dialect.message('visualization_msgs/msg/MarkerArray')(markers=markers)
