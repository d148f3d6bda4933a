# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from legged_dynamics.spatial.symmetric import full, inverse_symmetric


def test_inverse():
    root = np.random.default_rng(0).normal(size=(3, 3))
    A = root @ root.T + 0.1 * np.eye(3)
    inverse = full(inverse_symmetric(tuple(A[np.triu_indices(3)])))
    np.testing.assert_allclose(np.reshape(inverse, (3, 3)), np.linalg.inv(A), rtol=1e-10)
