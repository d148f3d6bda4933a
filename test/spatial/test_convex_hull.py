# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The hull of a few points is Qhull's, once around; points on a line are no corners."""
import numpy as np
from scipy.spatial import ConvexHull

from legged_dynamics.spatial.convex_hull import convex_hull


def test_the_corners_are_qhulls_counter_clockwise():
    rng = np.random.default_rng(4)
    for count in (3, 4, 8, 30):
        points = rng.normal(size=(count, 3))
        ours = convex_hull(points)
        theirs = points[ConvexHull(points[:, :2]).vertices]
        assert {tuple(p) for p in ours} == {tuple(p) for p in theirs}
        x, y = ours[:, 0], ours[:, 1]
        assert np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) > 0.0


def test_points_on_a_line_leave_its_ends():
    line = np.array([[0.0, 0.0, 0.0], [1.0, 1.0 + 1e-12, 0.0], [2.0, 2.0, 0.0]])
    assert len(convex_hull(line)) == 2
    assert len(convex_hull(line[:1])) == 1
