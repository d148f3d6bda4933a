# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The dual active-set method against its own optimality conditions and scipy's linear programs."""
import numpy as np
import pytest
from scipy.optimize import linprog

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map import Outcome, solve_quadratic_program

KKT = 1e-8


def random_program(rng):
    n, m = int(rng.integers(1, 14)), int(rng.integers(0, 60))
    A = rng.normal(size=(n, n))
    H = A.T @ A + 10.0 ** rng.uniform(-8, 0) * np.eye(n)
    C, inside = rng.normal(size=(m, n)), rng.normal(size=n)
    n_equal = int(rng.integers(0, min(n, m) + 1)) if rng.random() < 0.3 else 0
    gap = rng.uniform(0.0 if rng.random() < 0.7 else -2.0, 1.0, m)
    gap[:n_equal] = 0.0
    d = C @ inside - gap
    if m > 10 and rng.random() < 0.3:       # one constraint twice, and one that says nothing
        C[7], d[7] = C[5], d[5]
        C[9], d[9] = 0.0, 0.0
    return H, rng.normal(size=n) * 10.0 ** rng.uniform(-2, 2), C, d, n_equal


def test_every_answer_is_optimal_and_every_refusal_true():
    rng, count = np.random.default_rng(0), dict.fromkeys(Outcome, 0)
    for _ in range(400):
        H, g, C, d, n_equal = random_program(rng)
        found = solve_quadratic_program(H, g, C, d, n_equalities=n_equal)
        count[found.outcome] += 1
        if found.outcome is Outcome.SOLVED:
            assert found.kkt_residual < KKT
            again = solve_quadratic_program(H, g, C, d, n_equalities=n_equal,
                                            warm_start=found.active)
            assert again.iterations == 0
            scale = 1.0 + np.abs(found.x).max()
            np.testing.assert_allclose(again.x, found.x, atol=1e-6 * scale)
            wrong = solve_quadratic_program(H, g, C, d, n_equalities=n_equal,
                                            warm_start=rng.integers(0, 60, 8))
            np.testing.assert_allclose(wrong.x, found.x, atol=1e-5 * scale)
        else:
            check = linprog(np.zeros(len(g)), A_ub=-C[n_equal:], b_ub=-d[n_equal:],
                            A_eq=C[:n_equal], b_eq=d[:n_equal], bounds=[(None, None)] * len(g))
            assert check.status == 2
    assert count[Outcome.SOLVED] > 200 and count[Outcome.INFEASIBLE] > 20


def test_a_projection_by_hand():
    """The point of the quadrant x >= 1, y <= 2 nearest to (0, 3), x + y free and then fixed."""
    C, d = np.array([[1.0, 0.0], [0.0, -1.0]]), np.array([1.0, -2.0])
    found = solve_quadratic_program(np.eye(2), np.array([0.0, -3.0]), C, d)
    np.testing.assert_allclose(found.x, [1.0, 2.0])
    np.testing.assert_allclose(found.multipliers, [1.0, 1.0])
    assert set(found.active) == {0, 1}
    C, d = np.vstack([[1.0, 1.0], C]), np.array([2.5, 1.0, -2.0])
    found = solve_quadratic_program(np.eye(2), np.array([0.0, -3.0]), C, d, n_equalities=1)
    np.testing.assert_allclose(found.x, [1.0, 1.5])
    free = solve_quadratic_program(2.0 * np.eye(2), np.array([0.0, -3.0]), np.zeros((0, 2)), [])
    np.testing.assert_allclose(free.x, [0.0, 1.5])


def test_equalities_that_contradict_each_other_are_infeasible():
    C = np.array([[1.0, 0.0], [1.0, 0.0]])
    found = solve_quadratic_program(np.eye(2), np.zeros(2), C, [1.0, 2.0], n_equalities=2)
    assert found.outcome is Outcome.INFEASIBLE
    found = solve_quadratic_program(np.eye(2), np.zeros(2), C, [1.0, 1.0], n_equalities=2)
    assert found.outcome is Outcome.SOLVED
    np.testing.assert_allclose(found.x, [1.0, 0.0])


def test_the_residual_tells_a_wrong_answer():
    from legged_dynamics.optimization.quadratic_program import optimality
    H, g, C, d = np.eye(2), np.array([0.0, -3.0]), np.array([[1.0, 0.0]]), np.array([1.0])
    right = (np.array([1.0, 3.0]), np.array([1.0]))
    assert optimality(H, g, C, d, 0, *right) < 1e-15
    for x, u in [((0.0, 3.0), (0.0,)), ((1.0, 2.0), (1.0,)), ((1.0, 3.0), (-1.0,))]:
        assert optimality(H, g, C, d, 0, np.array(x), np.array(u)) > 0.1


def test_what_is_not_a_program_is_refused():
    with pytest.raises(ConfigurationError, match='positive definite H'):
        solve_quadratic_program(-np.eye(2), np.zeros(2), np.zeros((0, 2)), [])
    with pytest.raises(ConfigurationError, match=r'expected H \(2, 2\) and C \(1, 2\)'):
        solve_quadratic_program(np.eye(3), np.zeros(2), np.zeros((1, 2)), [0.0])
    with pytest.raises(ConfigurationError, match='expected finite H, g, C and d'):
        solve_quadratic_program(np.eye(1), [0.0], [[1.0]], [-np.inf])


def test_a_guess_of_more_constraints_than_unknowns_stays_in_bounds():
    """Rows so nearly alike that rounding hides that the others are sums of them."""
    from legged_dynamics.optimization.quadratic_program import (
        SOLVED,
        QuadraticProgram,
        dual_method,
    )
    from legged_dynamics.spatial.jit import as_python
    rng = np.random.default_rng(0)
    C = np.vstack([[1.0, 0.0, 0.0], [1.0, 2e-5, 0.0], [1.0, 0.0, 2e-5], rng.normal(size=(7, 3))])
    found = []
    for guess in (0, 10):
        program = QuadraticProgram.of_size(3, 10)._replace(
            H=np.eye(3), g=np.array([1.0, -3.0, 2.0]), C=C, d=C @ [1.0, -2.0, 0.5])
        program.active[:10] = np.arange(10)
        # As Python, an index beyond its array is an error, and not somebody else's memory.
        status, k, _ = as_python(dual_method)(program, 0, guess, 100)
        assert status == SOLVED and k <= 3
        found.append(program.x)
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
