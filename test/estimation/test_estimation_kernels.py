# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.signal import savgol_filter
from scipy.stats import multivariate_normal
from scipy.stats import norm as normal

from legged_dynamics.contact.contact_evidence import (
    bayes_update,
    force_evidence,
    motion_evidence,
    relax,
    smooth,
)
from legged_dynamics.estimation.attitude import acceleration_noise, slopes
from legged_dynamics.estimation.filter.memory import EFFORT, SIGNAL
from legged_dynamics.estimation.filter.missing_inputs import drop_frozen_efforts
from legged_dynamics.estimation.filter.settings import TUNED
from legged_dynamics.optimization.factorizations import (
    factorize,
    invert_factorized,
    solve_factorized,
)
from legged_dynamics.optimization.kalman_update import update_state, whiten
from legged_dynamics.spatial.jit import as_python


@pytest.mark.parametrize('n', [1, 3, 5, 10, 12])
def test_cholesky_solves_and_inverts(n):
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n))
    A = root @ root.T + np.eye(n)
    b = rng.normal(size=n)
    work, x = A.copy(), b.copy()
    assert factorize(work, n)
    solve_factorized(work, n, x)
    np.testing.assert_allclose(A @ x, b, atol=1e-12 * np.abs(A).max())
    invert_factorized(work, n)
    np.testing.assert_allclose(A @ work, np.eye(n), atol=1e-11)


def test_cholesky_says_when_a_matrix_is_not_positive():
    assert not factorize(np.array([[1.0, 2.0], [2.0, 1.0]]), 2)
    assert not factorize(np.array([[np.nan]]), 1)


@pytest.mark.parametrize('n, nx', [(1, 4), (5, 7), (6, 9), (10, 18)])
def test_whitened_equations_correct_a_state_as_kalman_does(n, nx):
    rng = np.random.default_rng(n)
    root, H, R, nu = (rng.normal(size=size) for size in ((nx, nx), (n, nx), (n, n), n))
    P, x = root @ root.T + np.eye(nx), rng.normal(size=nx)
    S, gain = H @ P @ H.T + R @ R.T + np.eye(n), H @ P
    K = gain.T @ np.linalg.inv(S)
    wanted, left = x + K @ nu, P - K @ gain
    assert factorize(S, n)
    whiten(S, gain, nu, n)
    update_state(x, P, gain, nu, n)
    np.testing.assert_allclose(x, wanted, atol=1e-10)
    np.testing.assert_allclose(P, left, atol=1e-10 * np.abs(P).max() + 1e-9)


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


def test_motion_evidence_is_the_log_likelihood_ratio_of_its_normals_within_bounds():
    evidence = as_python(motion_evidence)
    drift = 0.04 ** 2       # of the base's velocity, which all feet share
    s, w = np.hypot(0.15, 0.04), np.hypot(1.2, 0.04)
    for speed, height in ((0.5, 0.012), (0.55, 0.015), (0.4, 0.02)):
        fast = (multivariate_normal.logpdf([speed, 0, 0], cov=s * s * np.eye(3))
                - multivariate_normal.logpdf([speed, 0, 0], cov=w * w * np.eye(3)))
        low = normal.logpdf(height, 0, 0.01) - normal.logpdf(height, 0, 0.05)
        found = evidence(speed, height, 0.15, 1.2, drift, 1e9, False, 0.01, 0.05)
        assert found == pytest.approx(fast + np.clip(low, -2.0, 0.5))

    def at(speed, height, rest=2.5, sole=False):
        return evidence(speed, height, 0.15, 1.0, drift, rest, sole, 0.01, 0.05)
    assert at(0.0, -0.1) == at(0.0, 0.0)            # nothing speaks against a foot that is low
    assert at(0.0, 0.0) > at(0.0, 0.02) > 0.0       # height lowers, and has no veto
    assert at(0.0, 10.0) > 0.0 > at(1.0, 0.0) == -4.0
    assert at(0.0, 10.0, sole=True) < 0.0           # of a sole that rises slowly it has
    assert at(1.0, 0.02, sole=True) < at(1.0, 0.0, sole=True) == -4.0 + 0.5
    assert at(0.3, 0.0, sole=True) == at(0.3, 0.0) > -3.0   # one that is low is as a point


def test_odds_relax_towards_even():
    assert 0.5 < relax(0.99, 5.0, 0.002) < 0.99
    assert relax(0.5, 5.0, 0.002) == pytest.approx(0.5)
    assert relax(0.99, 5.0, 100.0) == pytest.approx(0.5)


def test_smoothed_probability_is_that_of_all_sequences_of_contact():
    evidence, rate, dt = np.array([1.2, -0.4, -1.1, 0.3, 0.8, -2.0]), 12.0, 0.01
    weights = {}
    for states in itertools.product((0, 1), repeat=len(evidence)):
        switches = np.count_nonzero(np.diff(states))
        weights[states] = ((rate * dt) ** switches * (1.0 - rate * dt) ** (
            len(evidence) - 1 - switches) * math.exp(float(evidence @ states)))
    exact = sum(w * np.array(s) for s, w in weights.items()) / sum(weights.values())
    found = np.empty(len(evidence))
    as_python(smooth)(evidence, rate, dt, found)
    np.testing.assert_allclose(found, exact, rtol=1e-9)


def test_evidence_follows_bayes_rule_and_never_makes_certain():
    assert bayes_update(0.2, math.log(3.0)) == pytest.approx(0.2 * 3 / (0.2 * 3 + 0.8))
    assert 0.99 < bayes_update(0.999, 50.0) < 1.0
    assert 0.0 < bayes_update(0.001, -50.0) < 0.01


def test_torques_that_are_cut_off_count_as_not_measured_from_the_first_on():
    """A trot's stance is shorter than what tells a dead sensor, and its bound comes each time."""
    t = np.arange(500)[:, None] / 500.0
    torque = 10.0 * np.sin(2.0 * np.pi * (2.0 * t + np.arange(4) / 4.0))
    torque += np.random.default_rng(0).normal(0.0, 0.1, torque.shape)
    torque[:, 0] = np.clip(torque[:, 0], -6.0, 6.0)
    efforts, columns = np.zeros((4, EFFORT.width)), np.ones((4, 2), int)
    signals, found = np.zeros((8, SIGNAL.width)), []        # none repeats itself by chance
    for row in torque.copy():
        as_python(drop_frozen_efforts)(row, SimpleNamespace(effort=0), TUNED, columns, efforts,
                                       signals)
        found.append(row)
    lost = np.isnan(found)
    cut = np.abs(torque[:, 0]) == 6.0
    assert not lost[:, 1:].any() and not lost[~cut, 0].any()
    assert cut.sum() > 200 and (cut & ~lost[:, 0]).sum() == math.ceil(
        TUNED.frozen_evidence / -math.log(TUNED.step))
