# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Factorizations along rows against LAPACK."""
import numpy as np
import pytest

from legged_dynamics.optimization.factorizations import (
    factorize_upper,
    invert_upper,
    solve_upper,
)


@pytest.mark.parametrize('n', [1, 2, 7, 90])
def test_a_definite_matrix_is_solved_and_inverted_from_its_upper_triangle(n):
    random = np.random.default_rng(n)
    root = random.normal(size=(n, n + 3))
    A, b = root @ root.T, random.normal(size=n)
    a, x = np.triu(A), b.copy()
    assert factorize_upper(a)
    solve_upper(a, x)
    np.testing.assert_allclose(A @ x, b, atol=1e-8)
    invert_upper(a)
    V = np.triu(a)
    np.testing.assert_allclose(V @ V.T @ A, np.eye(n), atol=1e-8)


@pytest.mark.parametrize('value', [0.0, -1.0, np.nan])
def test_what_is_not_definite_is_said(value):
    assert not factorize_upper(np.diag([2.0, value, 3.0]))
