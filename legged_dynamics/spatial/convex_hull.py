# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The convex hull of points in the plane, for support polygons: Andrew's monotone chain (1979)."""
from __future__ import annotations

import numpy as np

# Twice the area [m^2] of the triangle with its neighbours below which a point is no corner.
FLAT = 1e-9


def convex_hull(points: np.ndarray) -> np.ndarray:
    """
    Return the corners of the convex hull in the plane, counter-clockwise.

    A third coordinate is kept but ignored; of collinear points the two ends are left, fewer
    than three points are returned unchanged.
    """
    points = np.asarray(points, float)
    if len(points) < 3:
        return points
    ordered = sorted(map(tuple, points.tolist()))
    hull: list[tuple[float, ...]] = []
    for chain in (ordered, ordered[::-1]):
        start = len(hull)
        for corner in chain:
            while len(hull) > start + 1 and _turn(hull[-2], hull[-1], corner) <= FLAT:
                hull.pop()
            hull.append(corner)
        hull.pop()
    return np.array(hull)


def _turn(a: tuple[float, ...], b: tuple[float, ...], c: tuple[float, ...]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
