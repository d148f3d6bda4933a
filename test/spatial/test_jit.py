# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kernels round as IEEE 754 says, operation by operation, however they were compiled."""
import numpy as np
import pytest

from legged_dynamics.dynamics.kinematics import N_BODY_STATE
from legged_dynamics.dynamics.newton_euler import newton_euler
from legged_dynamics.model.parts import N_CONSTANTS, N_TOPOLOGY, Tree
from legged_dynamics.spatial.jit import as_python, kernel, lean_kernel, part


@part
def product(a, b):
    return a * b


def remainder(a, b, c):
    """Return a b - c twice: a product in the text, and one pasted in from a part."""
    return a * b - c, product(a, b) - c


def sum_of_products(a, b):
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@pytest.mark.parametrize('compiled', [kernel, lean_kernel])
def test_a_product_is_rounded_before_it_is_added(compiled):
    # (1 + e)^2 = 1 + 2 e + e^2, whose last term is below a double's precision of 2^-52 for
    # e = 2^-27: a fused multiply-add would keep it. Whether one is made depends on what is pasted
    # into what, and so on whether a kernel was just compiled or read from disk.
    e = 2.0 ** -27
    assert compiled(remainder)(1.0 + e, 1.0 + e, 1.0 + 2.0 * e) == (0.0, 0.0)
    a, b = np.random.default_rng(1).normal(size=(2, 101))
    assert compiled(sum_of_products)(a, b) == sum_of_products(a, b)


def test_what_a_kernel_calls_runs_as_python_too():
    """Compiled, an index beyond the array would write over what lies there."""
    tree = Tree(np.zeros((2, N_TOPOLOGY), np.int64), np.zeros((2, N_CONSTANTS)))
    still, bodies = np.zeros(1), np.zeros((2, N_BODY_STATE))
    with pytest.raises(IndexError):
        as_python(newton_euler)(tree, still, still, still, np.zeros(9), bodies[:1], still)
