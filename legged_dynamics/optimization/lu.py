# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""LU factorisation of small dense matrices, inside kernels and without allocation."""
from __future__ import annotations

from legged_dynamics.spatial.jit import kernel


@kernel
def factorize_lu(a, n, pivots):
    """Replace the leading (n, n) block by its LU factors, rows exchanged as `pivots` says."""
    for k in range(n):
        best, at = abs(a[k, k]), k
        for i in range(k + 1, n):
            if abs(a[i, k]) > best:
                best, at = abs(a[i, k]), i
        pivots[k] = at
        if at != k:
            for j in range(n):
                a[k, j], a[at, j] = a[at, j], a[k, j]
        inverse = 1.0 / a[k, k]
        for i in range(k + 1, n):
            a[i, k] *= inverse
            factor = a[i, k]
            if factor != 0.0:
                for j in range(k + 1, n):
                    a[i, j] -= factor * a[k, j]


@kernel
def solve_lu(a, n, pivots, x):
    """Replace x by the solution, given what :func:`factorize_lu` left."""
    for k in range(n):
        if pivots[k] != k:
            x[k], x[pivots[k]] = x[pivots[k]], x[k]
    for i in range(n):
        s = x[i]
        for j in range(i):
            s -= a[i, j] * x[j]
        x[i] = s
    for i in range(n - 1, -1, -1):
        s = x[i]
        for j in range(i + 1, n):
            s -= a[i, j] * x[j]
        x[i] = s / a[i, i]
