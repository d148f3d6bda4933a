# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.signal import savgol_filter
from scipy.stats import multivariate_normal
from scipy.stats import norm as normal

from legged_dynamics.estimation.contact_detection import (
    force_evidence,
    motion_evidence,
    relax,
    weigh,
)
from legged_dynamics.estimation.derivatives import acceleration_noise, slopes
from legged_dynamics.optimization.cholesky import factorize, invert_factor, solve_factorized
from legged_dynamics.spatial.jit import as_python


@pytest.mark.parametrize('n', [1, 3, 12])
def test_cholesky_solves_and_inverts(n):
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n))
    A = root @ root.T + np.eye(n)
    b = rng.normal(size=n)
    work, x = A.copy(), b.copy()
    assert factorize(work, n)
    solve_factorized(work, n, x)
    np.testing.assert_allclose(A @ x, b, atol=1e-12 * np.abs(A).max())
    invert_factor(work, n)
    inverse = np.tril(work).T @ np.tril(work)
    np.testing.assert_allclose(A @ inverse, np.eye(n), atol=1e-11)


def test_cholesky_says_when_a_matrix_is_not_positive():
    assert not factorize(np.array([[1.0, 2.0], [2.0, 1.0]]), 2)
    assert not factorize(np.array([[np.nan]]), 1)


@pytest.mark.parametrize('h', [1, 2, 7])
def test_slopes_are_savitzky_golay_derivatives_for_even_samples(h):
    rng = np.random.default_rng(h)
    window = np.column_stack([np.arange(2 * h + 1) * 0.002, rng.normal(size=(2 * h + 1, 2))])
    out = np.zeros(2)
    slopes(window, 1, 2, out, 0)
    expected = savgol_filter(window[:, 1:], 2 * h + 1, 2, deriv=1, delta=0.002, axis=0)[h]
    np.testing.assert_allclose(out, expected, rtol=1e-9)
    shuffled = window[rng.permutation(2 * h + 1)]
    slopes(shuffled, 1, 2, out, 0)
    np.testing.assert_allclose(out, expected, rtol=1e-9)


def test_acceleration_noise_is_that_of_the_filter():
    rng = np.random.default_rng(0)
    window, out, found = np.zeros((7, 2)), np.zeros(1), []
    window[:, 0] = np.arange(7) / 500.0
    for _ in range(4000):
        window[:, 1] = 0.01 * rng.normal(size=7)
        slopes(window, 1, 1, out, 0)
        found.append(out[0])
    assert np.std(found) == pytest.approx(acceleration_noise(0.01, 500.0, 3), rel=0.05)


def test_force_evidence_is_the_log_likelihood_ratio_of_its_two_normals():
    weight, threshold, s = 500.0, 0.03, 0.05
    for force in (-20.0, 0.0, 10.0, 15.0, 60.0):
        expected = (normal.logpdf(force / weight, 2 * threshold, s)
                    - normal.logpdf(force / weight, 0.0, s))
        found = force_evidence(force, (0.03 * weight) ** 2, weight, threshold, 0.04, 1e9)
        assert found == pytest.approx(expected, abs=1e-12)
    assert force_evidence(100.0, 1e12, weight, threshold, 0.04, 4.0) == pytest.approx(0, abs=1e-3)
    assert force_evidence(500.0, 0.0, weight, threshold, 0.04, 4.0) == 4.0


def test_motion_evidence_tells_a_still_low_foot_from_a_fast_high_one():
    settings = SimpleNamespace(slip_speed=0.15, swing_speed=1.0, clearance=0.01,
                               swing_clearance=0.05,
                               at_rest=3 * math.log(1.0 / 0.15) + math.log(5.0))
    evidence = as_python(motion_evidence)
    for speed, height in ((0.0, 0.0), (1.0, 0.0), (0.0, 0.05), (0.3, 0.02)):
        expected = (multivariate_normal.logpdf([speed, 0, 0], cov=0.15 ** 2 * np.eye(3))
                    - multivariate_normal.logpdf([speed, 0, 0], cov=np.eye(3))
                    + normal.logpdf(height, 0, 0.01) - normal.logpdf(height, 0, 0.05))
        assert evidence(speed, height, settings, 1e9) == pytest.approx(expected)
    assert evidence(0.0, -0.1, settings, 1e9) == evidence(0.0, 0.0, settings, 1e9)
    assert evidence(1.0, 0.0, settings, 2.0) == -2.0


def test_odds_relax_towards_even():
    assert 0.5 < relax(0.99, 5.0, 0.002) < 0.99
    assert relax(0.5, 5.0, 0.002) == pytest.approx(0.5)
    assert relax(0.99, 5.0, 100.0) == pytest.approx(0.5)


def test_evidence_follows_bayes_rule_and_never_makes_certain():
    assert weigh(0.2, math.log(3.0)) == pytest.approx(0.2 * 3 / (0.2 * 3 + 0.8))
    assert 0.99 < weigh(0.999, 50.0) < 1.0
    assert 0.0 < weigh(0.001, -50.0) < 0.01
