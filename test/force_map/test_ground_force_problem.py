# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The ground-force problem against dense programs, sampling, and the library's own kernel."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from legged_dynamics.dynamics.jacobians import contact_table
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.force_map.ground_force_problem import GroundForceProblem
from legged_dynamics.model import FlatFoot, LineFoot, PointFoot
from legged_dynamics.optimization.quadratic_program import Outcome, solve_quadratic_program

POINTS = np.array([[0.3, 0.2, -0.5], [0.3, -0.2, -0.5], [-0.3, 0.2, -0.4], [-0.3, -0.2, -0.5]])
GRASP = contact_table([PointFoot('foot')] * 4).grasp(np.tile(np.eye(3), (4, 1, 1)), POINTS)
WRENCH = np.array([10.0, -5.0, 300.0, 4.0, -8.0, 1.0])


def test_the_grasp_matrix_of_any_feet_is_the_sum_of_forces_and_moments():
    """Of a sole's moments about base axes, and a line's about two axes of the foot."""
    rng = np.random.default_rng(2)
    feet = [PointFoot('ball'), FlatFoot('sole', 0.1, -0.1, 0.1, -0.1), LineFoot('edge', 0.1, -0.1)]
    R, points = Rotation.from_rotvec(rng.normal(size=(3, 3))).as_matrix(), rng.normal(size=(3, 3))
    wrench, columns = np.zeros(6), contact_table(feet).grasp(R, points)
    w, start = rng.normal(size=columns.shape[1]), 0
    for foot, R_BF, p in zip(feet, R, points):
        force, moment = w[start:start + 3], np.zeros(3)
        for value, row in zip(w[start + 3:], foot.rows[3:]):
            moment += value * (R_BF if row.in_foot else np.eye(3))[:, row.axis]
        wrench += np.concatenate([force, moment + np.cross(p, force)])
        start += len(foot.rows)
    assert start == len(w) and columns @ w == pytest.approx(wrench, abs=1e-12)


def cones(n=4, friction=0.6):
    A, b = contact_inequalities(FrictionCone(friction), PointFoot('foot'), np.eye(3))
    return np.kron(np.eye(n), A), np.tile(b, n)


def torques(rng, true):
    J = np.kron(np.eye(4), rng.normal(size=(3, 3)))
    return J, J @ true + rng.normal(size=12)


@pytest.mark.parametrize('seed', range(5))
def test_all_pieces_are_one_weighted_least_squares(seed):
    """Base, joints and a prior with full covariances: the normal equations by hand."""
    rng = np.random.default_rng(seed)
    J, tau = torques(rng, 50.0 * rng.normal(size=12))
    A = rng.normal(size=(6, 6))
    of_base, guess = A @ A.T + np.eye(6), rng.normal(size=12)
    found = (GroundForceProblem.prior(guess, np.full(12, 300.0 ** 2))
             .with_rows(GRASP, WRENCH, of_base).with_rows(J, tau, 0.5).solve())
    information = (np.eye(12) / 9e4 + GRASP.T @ np.linalg.inv(of_base) @ GRASP + J.T @ J / 0.5)
    mean = np.linalg.solve(information, guess / 9e4 + J.T @ tau / 0.5
                           + GRASP.T @ np.linalg.solve(of_base, WRENCH))
    assert found.mean == pytest.approx(mean, rel=1e-7)
    assert found.covariance == pytest.approx(np.linalg.inv(information), rel=1e-6, abs=1e-9)
    assert found.residual[:6] == pytest.approx(WRENCH - GRASP @ mean, abs=1e-6)


def test_exact_rows_are_met_and_leave_only_squeeze():
    found = GroundForceProblem.prior(np.zeros(12), np.ones(12)).with_rows(GRASP, WRENCH).solve()
    assert found.mean == pytest.approx(np.linalg.pinv(GRASP) @ WRENCH, abs=1e-8)
    assert GRASP @ found.mean == pytest.approx(WRENCH, abs=1e-9)
    assert np.abs(GRASP @ found.covariance).max() < 1e-9
    assert np.trace(found.covariance) == pytest.approx(6.0, abs=1e-6)       # 12 less 6 equations
    assert found.outcome is Outcome.SOLVED


def test_an_external_wrench_is_an_error_that_rows_share():
    """As an unknown of its own that is then looked away from."""
    rng = np.random.default_rng(1)
    J, tau = torques(rng, np.tile([0.0, 0.0, 75.0], 4))
    E, P = np.vstack([np.eye(6), rng.normal(size=(12, 6))]), np.array([400.0] * 3 + [25.0] * 3)
    noise = np.array([4.0] * 6 + [0.5] * 12)
    rows, right = np.vstack([GRASP, J]), np.concatenate([WRENCH, tau])
    whole = (GroundForceProblem.prior(np.zeros(18), np.append(np.full(12, 1e4), P))
             .with_rows(np.hstack([rows, E]), right, noise).solve())
    found = (GroundForceProblem.prior(np.zeros(12), np.full(12, 1e4))
             .with_rows(rows, right, np.diag(noise) + E @ np.diag(P) @ E.T).solve())
    assert found.mean == pytest.approx(whole.mean[:12], rel=1e-6, abs=1e-6)
    assert found.covariance == pytest.approx(whole.covariance[:12, :12], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize('seed', range(6))
def test_limits_are_a_quadratic_program(seed):
    rng = np.random.default_rng(seed)
    J, tau = torques(rng, 60.0 * rng.normal(size=12))
    C, d = cones()
    problem = (GroundForceProblem.prior(np.zeros(12), np.full(12, 300.0 ** 2))
               .with_rows(GRASP, WRENCH, 4.0).with_rows(J, tau, 0.5).with_limits(C, d))
    found = problem.solve()
    H = np.eye(12) / 9e4 + GRASP.T @ GRASP / 4.0 + J.T @ J / 0.5
    g = -(J.T @ tau / 0.5 + GRASP.T @ WRENCH / 4.0)
    dense = solve_quadratic_program(H, g, C, d)
    assert len(found.active) > 2 and found.outcome is Outcome.SOLVED
    assert found.mean == pytest.approx(dense.x, rel=1e-6, abs=1e-6)
    # At the tip of a cone there are many multipliers; all of them balance the pull.
    assert C.T @ found.multipliers == pytest.approx(H @ found.mean + g, rel=1e-6, abs=1e-5)
    assert (found.multipliers >= 0.0).all()
    assert (C @ found.mean >= d - 1e-7).all()


def test_balance_that_the_ground_cannot_give_is_met_as_nearly_as_it_can():
    """A pull at the ground: no force is nearest, and the outcome says it is not met."""
    pull = np.array([0.0, 0.0, -100.0, 0.0, 0.0, 0.0])
    problem = GroundForceProblem.prior(np.zeros(12), np.ones(12)).with_rows(GRASP, pull)
    assert problem.solve().outcome is Outcome.SOLVED
    found = problem.with_limits(*cones()).solve()
    assert found.outcome is Outcome.INFEASIBLE
    assert np.abs(found.mean).max() < 1e-3 and found.residual[2] == pytest.approx(-100.0, abs=1e-2)


def test_wrong_shapes_are_refused():
    problem = GroundForceProblem.prior(np.zeros(12), np.ones(12))
    with pytest.raises(ConfigurationError, match='expected 6 rows of 12'):
        problem.with_rows(np.zeros((6, 11)), np.zeros(6))
    with pytest.raises(ConfigurationError, match='expected 6 rows of 12'):
        problem.with_rows(np.zeros((6, 12)), np.zeros(6), np.ones(5))
    # One bound would be spread over all limits without a word.
    with pytest.raises(ConfigurationError, match=r'limits \(m, 12\)'):
        problem.with_limits(np.eye(12), np.zeros(1))
    with pytest.raises(ConfigurationError, match='guess'):
        GroundForceProblem.prior(np.zeros(12), np.ones(11))
