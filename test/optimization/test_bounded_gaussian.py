# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A Gaussian within limits: the likeliest point, and the truth's departure from it by sampling."""
import numpy as np
import pytest
from scipy.optimize import minimize

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.ground_force_problem import GroundForceProblem
from legged_dynamics.optimization.quadratic_program import Outcome
from legged_dynamics.optimization.within_limits import (
    LimitsMemory,
    variance_at_limit,
    within_limits,
)


def bounded_gaussian(mean, P, C, d):
    return GroundForceProblem.prior(mean, P).with_limits(C, d).solve()


def random_case(rng, n, m):
    A = rng.normal(size=(n, n))
    P = A @ A.T + 0.1 * np.eye(n)
    C = rng.normal(size=(m, n))
    return rng.normal(size=n), P, C, C @ rng.normal(size=n) - rng.uniform(0.0, 1.0, m)


@pytest.mark.parametrize('seed', range(8))
def test_the_mean_is_the_likeliest_point_inside(seed):
    mean, P, C, d = random_case(np.random.default_rng(seed), 5, 7)
    found = bounded_gaussian(mean, P, C, d)
    Q = np.linalg.inv(P)
    best = minimize(lambda x: 0.5 * (x - mean) @ Q @ (x - mean), mean,
                    jac=lambda x: Q @ (x - mean), method='SLSQP', options={'ftol': 1e-14},
                    constraints={'type': 'ineq', 'fun': lambda x: C @ x - d, 'jac': lambda x: C})
    assert found.mean == pytest.approx(best.x, abs=1e-5)
    assert (C @ found.mean - d > -1e-8).all() and (found.multipliers >= -1e-12).all()
    assert Q @ (found.mean - mean) == pytest.approx(C.T @ found.multipliers, abs=1e-8)
    # What is learned from a limit never makes anything less certain, and nothing is ever certain.
    assert np.linalg.eigvalsh(P - found.covariance).min() > -1e-9
    assert np.linalg.eigvalsh(found.covariance).min() > 0.2 * np.linalg.eigvalsh(P).min()


@pytest.mark.parametrize('z', [0.0, -0.4, -1.0, -1.8])
def test_departure_from_a_limit_is_that_of_samples(z):
    """A mean z deviations outside: what is left of the Gaussian, about the limit."""
    rng = np.random.default_rng(3)
    P = np.array([[4.0, 1.2], [1.2, 1.0]])
    mean = np.array([2.0 * z, 0.5])
    found = bounded_gaussian(mean, P, np.array([[1.0, 0.0]]), np.zeros(1))
    samples = rng.multivariate_normal(mean, P, 400000)
    samples = samples[samples[:, 0] >= 0.0] - found.mean
    assert found.covariance == pytest.approx(samples.T @ samples / len(samples), abs=0.06)
    assert found.covariance[0, 0] == pytest.approx(4.0 * variance_at_limit(z))


def test_far_outside_deviations_are_doubted_and_not_the_truth():
    near, far = (bounded_gaussian(np.array([x]), np.eye(1), np.eye(1), np.zeros(1))
                 for x in (-2.0, -50.0))
    assert far.mean == pytest.approx(0.0, abs=1e-9)
    assert far.covariance[0, 0] == near.covariance[0, 0] > 0.2


def test_what_is_known_exactly_stays_so():
    P = np.diag([1.0, 0.0])
    found = bounded_gaussian(np.array([-1.0, 3.0]), P, np.array([[1.0, 1.0], [1.0, 0.0]]),
                             np.array([0.0, -0.5]))
    assert found.mean == pytest.approx([-0.5, 3.0]) and found.covariance[1, 1] == 0.0
    assert found.active == (1,)
    lost = bounded_gaussian(np.array([0.0, -1.0]), P, np.array([[0.0, 1.0]]), np.zeros(1))
    assert lost.outcome is Outcome.INFEASIBLE and lost.mean[1] == -1.0


@pytest.mark.parametrize('seed', range(12))
def test_the_kernel_does_the_same(seed):
    """Also where limits of some unknowns are met, and are not any more once others are."""
    n, m = 6, 9
    mean, P, C, d = random_case(np.random.default_rng(100 + seed), n, m)
    if seed > 5:
        C[:5, 3:], C[5:, :3] = 0.0, 0.0
        d = C @ np.linalg.solve(P, mean) - 0.3
        d[5:] = np.minimum(d[5:], C[5:] @ mean - 0.01)
    room = LimitsMemory.of_size(n, m)
    room.C[:], room.d[:] = C, d
    room.begin[:], room.end[:] = 0, n
    found = bounded_gaussian(mean, P, C, d)
    x, S = mean.copy(), P.copy()
    assert within_limits(x, S, room) == len(found.active)
    assert x == pytest.approx(found.mean, abs=1e-7) and S == pytest.approx(found.covariance,
                                                                          abs=1e-7)
    again = x.copy()
    room.d[:] -= 1e-6       # inside: nothing is done
    assert within_limits(x, S, room) == 0 and np.array_equal(x, again)


def test_wrong_input_is_refused():
    with pytest.raises(ConfigurationError, match='shapes'):
        bounded_gaussian(np.zeros(2), np.eye(3), np.zeros((0, 2)), np.zeros(0))
    with pytest.raises(ConfigurationError, match='eigenvalue'):
        bounded_gaussian(np.zeros(2), np.diag([1.0, 1.0]) - 2.0 * np.ones((2, 2)) + np.eye(2),
                         np.eye(2), np.ones(2))
