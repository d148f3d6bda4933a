# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Exponential, logarithm and turning rates inside kernels, against scipy and differences."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from legged_dynamics.spatial.exponential import rotation_exp, rotation_log, turn_rates

AXES = [np.array(axis) / np.linalg.norm(axis) for axis in (
    (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 2, -3), (-1, 1e-3, 0.5))]
ANGLES = (0.0, 1e-12, 1e-7, 0.99e-4, 1.01e-4, 0.0999, 0.1001, 1.0, 3.0, np.pi - 1e-9)


def matrix(nine):
    return np.reshape(nine, (3, 3))


@pytest.mark.parametrize('angle', ANGLES)
@pytest.mark.parametrize('axis', AXES)
def test_exponential_and_logarithm_undo_each_other(axis, angle):
    R = rotation_exp(tuple(angle * axis))
    np.testing.assert_allclose(matrix(R), Rotation.from_rotvec(angle * axis).as_matrix(),
                               atol=1e-14)
    np.testing.assert_allclose(rotation_log(R), angle * axis, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize('axis', AXES)
def test_an_exact_half_turn_is_a_half_turn_about_its_axis(axis):
    phi = np.array(rotation_log(tuple((2.0 * np.outer(axis, axis) - np.eye(3)).ravel())))
    assert np.linalg.norm(phi) == pytest.approx(np.pi, abs=1e-12)
    assert abs(phi @ axis) == pytest.approx(np.pi, abs=1e-12)


def test_a_turn_beyond_half_comes_back_the_short_way():
    np.testing.assert_allclose(rotation_log(rotation_exp((0.0, 0.0, 4.0))),
                               [0.0, 0.0, 4.0 - 2.0 * np.pi], atol=1e-14)


@pytest.mark.parametrize('size', (0.0, 1e-5, 0.0999, 0.1001, 0.5, 2.5))
def test_turning_rates_are_the_derivatives_of_the_rotation(size):
    rng = np.random.default_rng(round(1e6 * size))
    axis = AXES[3]
    phi, rate, bend = size * axis, rng.normal(size=3), rng.normal(size=3)

    def at(t):
        return Rotation.from_rotvec(phi + t * rate + 0.5 * t * t * bend)

    def angular_velocity(t, h=1e-5):
        return (at(t - h).inv() * at(t + h)).as_rotvec() / (2.0 * h)

    w, alpha = turn_rates(tuple(phi), tuple(rate), tuple(bend))
    np.testing.assert_allclose(w, angular_velocity(0.0), atol=1e-8)
    h = 1e-3
    slope = (angular_velocity(h) - angular_velocity(-h)) / (2.0 * h)
    np.testing.assert_allclose(alpha, slope, atol=1e-5)


@pytest.mark.parametrize('size', (0.0995, 0.1005))
def test_series_and_closed_form_meet(size):
    """A wrong coefficient would make a step where one takes over from the other."""
    rate, bend = (0.3, -0.8, 0.5), (1.0, 0.2, -0.4)
    inside, outside = (turn_rates(tuple(s * AXES[3]), rate, bend) for s in (0.09999999, 0.1))
    np.testing.assert_allclose(inside, outside, atol=2e-8)
