# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What rviz shows of a foot's force map: producible forces, friction cone, the force given."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from legged_dynamics.middleware.conversions.building import duration_message, header
from legged_dynamics.middleware.conversions.marker_maker import MarkerMaker
from legged_dynamics.middleware.protocol import Dialect

GIVEN, ASKED, PRODUCIBLE, CONE = (0.1, 0.8, 0.2), (1.0, 0.6, 0.0), (0.3, 0.5, 1.0), (0.9, 0.9, 0.2)


def force_markers(dialect: Dialect, ns: int, frame_id: str, number: int, place: np.ndarray,
                  triangles: np.ndarray, edges: np.ndarray, given: np.ndarray,
                  asked: np.ndarray | None = None, *, newtons_per_meter: float = 1000.0,
                  lifetime_s: float = 2.0) -> list[Any]:
    """
    Return the markers of one foot, for a visualization_msgs/MarkerArray.

    Parameters
    ----------
    dialect : Dialect
        Whose messages to make.
    ns : int
        Stamp [ns].
    frame_id : str
        Frame of everything below.
    number : int
        Of the foot: markers of several feet do not replace each other.
    place : (3,) array [m]
        Where the foot touches, and all is drawn.
    triangles : (n, 3, 3) array [N]
        Surface of the set of producible forces, as corners.
    edges : (k, 3) array [N]
        Edges of the friction cone, from zero.
    given, asked : (3,) array [N]
        The force that the foot gets, and the one asked for, if any.
    newtons_per_meter : float
        Force drawn one metre long [N/m].
    lifetime_s : float
        After this, rviz lets a marker vanish by itself [s].

    """
    make = MarkerMaker(dialect, header(dialect, ns, frame_id),
                       duration_message(dialect, lifetime_s))

    def at(forces: np.ndarray) -> np.ndarray:
        return place + np.asarray(forces, float) / newtons_per_meter
    sides = fan(edges)
    return [
        make.triangles('producible', number, at(triangles.reshape(-1, 3)), PRODUCIBLE, 0.25),
        make.triangles('friction_cone', number, at(sides), CONE, 0.25),
        make.arrow('given', number, place, at(given), GIVEN),
        make.deletion('asked', number) if asked is None else
        make.arrow('asked', number, place, at(asked), ASKED)]


def fan(edges: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Return the sides of a cone as triangles, corner after corner, from the tip."""
    rim = np.asarray(edges, float)
    tip = np.zeros_like(rim)
    return np.stack([tip, rim, np.roll(rim, -1, axis=0)], axis=1).reshape(-1, 3)
