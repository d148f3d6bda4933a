# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Log-Cholesky inertias: the described one at zero, and physically possible everywhere."""
import numpy as np
import pytest
from robots import random_inertia

from legged_dynamics.diagnosis.identification.problem import LogCholesky

ROUND_OFF, DIFFERENCE = 1e-9, 1e-6


@pytest.mark.parametrize('seed', range(4))
def test_zero_is_the_described_body(seed):
    described = random_inertia(np.random.default_rng(seed))
    found = LogCholesky(described).inertia(np.zeros(10))
    assert found.mass == pytest.approx(described.mass, rel=ROUND_OFF)
    np.testing.assert_allclose(found.com, described.com, atol=ROUND_OFF)
    np.testing.assert_allclose(found.about_com, described.about_com, atol=ROUND_OFF)


@pytest.mark.parametrize('seed', range(4))
def test_any_parameters_are_a_possible_body(seed):
    rng = np.random.default_rng(seed)
    body = LogCholesky(random_inertia(rng))
    for _ in range(20):
        found = body.inertia(2.0 * rng.normal(size=10))
        assert found.mass > 0.0 and found.flaw() is None


def test_the_first_parameter_is_half_the_log_of_the_mass():
    described = random_inertia(np.random.default_rng(1))
    theta = np.zeros(10)
    theta[0] = 0.5 * np.log(1.08)
    found = LogCholesky(described).inertia(theta)
    assert found.mass == pytest.approx(1.08 * described.mass)
    np.testing.assert_allclose(found.com, described.com, atol=ROUND_OFF)


def test_gradient_is_the_derivative():
    rng = np.random.default_rng(2)
    body, theta = LogCholesky(random_inertia(rng)), 0.3 * rng.normal(size=10)
    step = 1e-4 * rng.normal(size=10)
    predicted = body.gradient(theta) @ step
    known = 0.5 * (body.parameters(theta + step) - body.parameters(theta - step))
    np.testing.assert_allclose(predicted, known, atol=DIFFERENCE * np.abs(known).max())
