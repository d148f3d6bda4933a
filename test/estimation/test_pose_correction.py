# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The normal equations of a twist or a small correction, against numpy's least squares."""
import numpy as np

from legged_dynamics.estimation.odometry_tick import add_point, add_turn, clear_equations
from legged_dynamics.spatial.rotations import skew


def test_points_and_turns_give_the_weighted_least_squares():
    rng = np.random.default_rng(0)
    A, b, rows, right = np.ones((6, 6)), np.ones(6), [], []
    clear_equations(A, b)
    for weight in (1.0, 4.0, 0.3):
        point, seen = rng.normal(size=3), rng.normal(size=3)
        add_point(A, b, tuple(point), tuple(seen), weight)
        rows.append(np.sqrt(weight) * np.hstack([np.eye(3), -skew(point)]))
        right.append(np.sqrt(weight) * seen)
    up, seen = np.array([0.36, 0.48, 0.8]), rng.normal(size=3)
    add_turn(A, b, tuple(seen), 2.0, tuple(up), 0.5)
    root = np.sqrt(2.0) * (np.eye(3) - np.outer(up, up)) + np.sqrt(0.5) * np.outer(up, up)
    rows.append(np.hstack([np.zeros((3, 3)), root]))
    right.append(root @ seen)
    wanted = np.linalg.lstsq(np.vstack(rows), np.concatenate(right), rcond=None)[0]
    lower = np.tril(A)
    np.testing.assert_allclose(np.linalg.solve(lower + np.tril(A, -1).T, b), wanted, atol=1e-12)
