# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How near to slipping, tipping and saturation: from the definitions."""
import numpy as np
import pytest

from legged_dynamics.contact.solution import effort_used, friction_used, support_margin
from legged_dynamics.spatial.rotations import rotation_from_vector


def test_friction_is_used_up_on_the_cone_whatever_the_slope():
    rng = np.random.default_rng(1)
    for _ in range(20):
        R = rotation_from_vector(rng.normal(size=3))
        friction, load, angle = *rng.uniform(0.2, 900.0, 2), rng.uniform(0.0, 6.3)
        edge = R @ (load * np.array([friction * np.cos(angle), friction * np.sin(angle), 1.0]))
        inside = edge + R[:, 2] * load
        used = friction_used(np.array([edge, inside, -edge]), R[:, 2], friction)
        assert used[0] == pytest.approx(1.0, rel=1e-9)
        assert used[1] == pytest.approx(0.5, rel=1e-9)
        assert used[2] == np.inf


def test_a_point_is_as_far_inside_as_the_largest_circle_about_it():
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    assert support_margin(square, np.array([1.0, 1.0])) == pytest.approx(1.0)
    assert support_margin(square, np.array([1.5, 1.9])) == pytest.approx(0.1)
    assert support_margin(square, np.array([2.5, 1.0])) == pytest.approx(-0.5)
    assert support_margin(square, np.array([5.0, 6.0])) == pytest.approx(-5.0)     # of a corner


def test_on_a_line_nothing_is_inside_and_without_support_nothing_is_known():
    line = np.array([[0.0, 0.0], [1.0, 0.0]])
    assert support_margin(line, np.array([0.5, 0.2])) == pytest.approx(-0.2)
    assert support_margin(line, np.array([3.0, 0.0])) == pytest.approx(-2.0)    # beyond its end
    assert support_margin(line[:1], np.array([0.0, 3.0])) == pytest.approx(-3.0)
    assert np.isnan(support_margin(np.zeros((0, 2)), np.zeros(2)))
    assert np.isnan(support_margin(line, np.full(2, np.nan)))


def test_the_joint_nearest_to_its_limit_counts():
    limits = np.array([10.0, 40.0, np.inf, 0.0])
    assert effort_used(np.array([-4.0, 20.0, 1e3, 5.0]), limits) == pytest.approx(0.5)
    assert effort_used(np.array([np.nan, -36.0, 0.0, 0.0]), limits) == pytest.approx(0.9)
    assert np.isnan(effort_used(np.full(4, np.nan), limits))
