# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Cholesky factorisation of small dense matrices, inside kernels and without allocation."""
from __future__ import annotations

import math

from legged_dynamics.spatial.jit import part


@part
def factorize(a, n):
    """
    Replace the lower triangle of the leading (n, n) block by L, with A = L L^T.

    The diagonal holds the *reciprocals* of L's, so that what follows divides no more.

    Returns
    -------
    bool
        False when the matrix is not positive definite; the block is then unusable.

    """
    for i in range(n):
        for j in range(i):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            a[i, j] = s * a[j, j]
        s = a[i, i]
        for k in range(i):
            s -= a[i, k] * a[i, k]
        if not s > 0.0:
            return False
        a[i, i] = 1.0 / math.sqrt(s)
    return True


@part
def solve_factorized(a, n, x):
    """Replace x by A^-1 x, given the factor that :func:`factorize` left in ``a``."""
    for i in range(n):
        s = x[i]
        for k in range(i):
            s -= a[i, k] * x[k]
        x[i] = s * a[i, i]
    for i in range(n - 1, -1, -1):
        s = x[i]
        for k in range(i + 1, n):
            s -= a[k, i] * x[k]
        x[i] = s * a[i, i]


@part
def invert_factor(a, n):
    """Replace L by L^-1, lower triangular; then A^-1 = L^-T L^-1."""
    for i in range(n):
        for j in range(i):
            s = a[i, j] * a[j, j]
            for k in range(j + 1, i):
                s += a[i, k] * a[k, j]
            a[i, j] = -s * a[i, i]
