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
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s -= a[j, k] * a[j, k]
        if not s > 0.0:
            return False
        a[j, j] = 1.0 / math.sqrt(s)
        i = j + 1
        while i + 2 < n:        # three rows at once: a sum waits for itself, sums beside it do not
            s, t, u = a[i, j], a[i + 1, j], a[i + 2, j]
            for k in range(j):
                h = a[j, k]
                s, t, u = s - a[i, k] * h, t - a[i + 1, k] * h, u - a[i + 2, k] * h
            a[i, j], a[i + 1, j], a[i + 2, j] = s * a[j, j], t * a[j, j], u * a[j, j]
            i += 3
        while i < n:
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            a[i, j] = s * a[j, j]
            i += 1
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
def invert_factorized(a, n):
    """Replace the factor that :func:`factorize` left in ``a`` by the whole of A^-1."""
    for i in range(n):      # L^-1, a row after the other
        j = 0
        while j + 2 < i:
            x, y, z = a[i, j], a[i, j + 1], a[i, j + 2]
            s = x * a[j, j] + y * a[j + 1, j] + z * a[j + 2, j]
            t, u = y * a[j + 1, j + 1] + z * a[j + 2, j + 1], z * a[j + 2, j + 2]
            for k in range(j + 3, i):
                h = a[i, k]
                s, t, u = s + h * a[k, j], t + h * a[k, j + 1], u + h * a[k, j + 2]
            d = -a[i, i]
            a[i, j], a[i, j + 1], a[i, j + 2] = d * s, d * t, d * u
            j += 3
        while j < i:
            s = a[i, j] * a[j, j]
            for k in range(j + 1, i):
                s += a[i, k] * a[k, j]
            a[i, j] = -s * a[i, i]
            j += 1
    for i in range(n):      # A^-1 = L^-T L^-1: what is below a row is all that it needs
        j = 0
        while j + 2 < i:
            s = t = u = 0.0
            for k in range(i, n):
                h = a[k, i]
                s, t, u = s + h * a[k, j], t + h * a[k, j + 1], u + h * a[k, j + 2]
            a[i, j], a[i, j + 1], a[i, j + 2] = s, t, u
            j += 3
        while j <= i:
            s = 0.0
            for k in range(i, n):
                s += a[k, i] * a[k, j]
            a[i, j] = s
            j += 1
        for k in range(i):
            a[k, i] = a[i, k]
