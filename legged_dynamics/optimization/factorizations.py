# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Factorizations of small dense matrices, inside kernels and without allocation.

Cholesky and LU (Golub and Van Loan 2013, chapters 3 and 4), and the sweep operator for symmetric
matrices that need not be definite (Goodnight 1979). Loops work on three rows at a time, so that
sums which do not depend on each other overlap.
"""

import math

from legged_dynamics.spatial.algebra import symmetric_times
from legged_dynamics.spatial.jit import kernel, part


@part
def factorize(a, n):
    """
    Replace the lower triangle of a's (n, n) block by L of A = L L^T.

    The diagonal holds the *reciprocals* of L's. Returns False when A is not positive
    definite; the block is then unusable.
    """
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s -= a[j, k] * a[j, k]
        if not s > 0.0:
            return False
        a[j, j] = 1.0 / math.sqrt(s)
        i = j + 1
        while i + 2 < n:        # three rows at once: independent sums overlap
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
    """Replace x by A^-1 x, given the factor of :func:`factorize` in ``a``."""
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
    """Replace the factor of :func:`factorize` in ``a`` by A^-1, both triangles."""
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
    for i in range(n):      # A^-1 = L^-T L^-1: a row uses only the rows below it
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


# -------------------------------------------------------------------------------------------------
# Cholesky factorization of larger matrices, called from Python: loops run along rows and become
# vector instructions. LAPACK would round otherwise with another number of threads.


@kernel
def factorize_upper(a):
    """
    Replace the upper triangle of a (n, n) by U, with A = U^T U.

    The diagonal holds the *reciprocals* of U's. Returns False when A is not positive
    definite; ``a`` is then unusable.
    """
    n = a.shape[0]
    for k in range(n):
        if not a[k, k] > 0.0:
            return False
        a[k, k] = 1.0 / math.sqrt(a[k, k])
        for j in range(k + 1, n):
            a[k, j] *= a[k, k]
        for i in range(k + 1, n):
            factor = a[k, i]
            for j in range(i, n):
                a[i, j] -= factor * a[k, j]
    return True


@kernel
def solve_upper(a, x):
    """Replace x by A^-1 x, given the factor of :func:`factorize_upper` in ``a``."""
    n = a.shape[0]
    for i in range(n):
        x[i] *= a[i, i]
        for j in range(i + 1, n):
            x[j] -= x[i] * a[i, j]
    for i in range(n - 1, -1, -1):
        s = x[i]
        for j in range(i + 1, n):
            s -= a[i, j] * x[j]
        x[i] = s * a[i, i]


@kernel
def invert_upper(a):
    """
    Replace the factor U of :func:`factorize_upper` in ``a`` by its inverse V.

    Then A^-1 = V V^T, whose element (i, j) is the product of two rows of V.
    """
    n = a.shape[0]
    for i in range(n - 1, -1, -1):      # a row uses only the rows below it
        for k in range(n - 1, i, -1):
            factor = -a[i, i] * a[i, k]
            a[i, k] = factor * a[k, k]
            for j in range(k + 1, n):
                a[i, j] += factor * a[k, j]


# -------------------------------------------------------------------------------------------------
# LU factorization with partial pivoting.


@kernel
def factorize_lu(a, n, pivots):
    """Replace a's (n, n) block by its LU factors; fill ``pivots`` with row exchanges."""
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
    """Replace x by A^-1 x, given the factors and pivots of :func:`factorize_lu`."""
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


# -------------------------------------------------------------------------------------------------
# Inversion of symmetric matrices by the sweep operator, three pivots at a time.


@part
def inverse_pivot(m):
    """
    Return the inverse of a symmetric 3x3 matrix, and its least and greatest pivot.

    Matrices as (xx, xy, xz, yy, yz, zz). By elimination, not cofactors, since entries may
    differ by many orders of magnitude.
    """
    l10, l20 = m[1] / m[0], m[2] / m[0]
    d1 = m[3] - l10 * m[1]
    l21 = (m[4] - l20 * m[1]) / d1
    d2 = m[5] - l20 * m[2] - l21 * l21 * d1
    i0, i1, i2 = 1.0 / m[0], 1.0 / d1, 1.0 / d2
    l20 = l10 * l21 - l20
    return ((i0 + l10 * l10 * i1 + l20 * l20 * i2, -l10 * i1 - l20 * l21 * i2, l20 * i2,
             i1 + l21 * l21 * i2, -l21 * i2, i2),
            min(m[0], min(d1, d2)), max(m[0], max(d1, d2)))


@part
def sweep(W, rows, k, n, sign):
    """
    Sweep pivots k to k + 2 of a symmetric W (lower triangle); return whether valid.

    Sweeping all of them turns W into -W^-1. ``sign``: required sign of the pivots.
    """
    p, least, greatest = inverse_pivot((W[k, k], W[k + 1, k], W[k + 2, k], W[k + 1, k + 1],
                                        W[k + 2, k + 1], W[k + 2, k + 2]))
    if not (least > 0.0 if sign > 0.0 else greatest < 0.0):
        return False
    # The whole pivot rows out of the lower triangle, before it is overwritten.
    for j in range(k):
        rows[0, j], rows[1, j], rows[2, j] = W[k, j], W[k + 1, j], W[k + 2, j]
    for j in range(k, k + 3):
        rows[0, j], rows[1, j], rows[2, j] = 0.0, 0.0, 0.0
    for j in range(k + 3, n):
        rows[0, j], rows[1, j], rows[2, j] = W[j, k], W[j, k + 1], W[j, k + 2]
    # W <- W - R^T P^-1 R, three rows at a time: the inner loop is a vector of columns.
    for i in range(0, n, 3):
        if i == k:
            continue
        a, b, c = _factors(p, rows, i)
        d, e, f = _factors(p, rows, i + 1)
        g, h, m = _factors(p, rows, i + 2)
        for j in range(i + 3):
            x, y, z = rows[0, j], rows[1, j], rows[2, j]
            W[i, j] -= a * x + b * y + c * z
            W[i + 1, j] -= d * x + e * y + f * z
            W[i + 2, j] -= g * x + h * y + m * z
    for j in range(k):
        W[k, j], W[k + 1, j], W[k + 2, j] = _factors(p, rows, j)
    for j in range(k + 3, n):
        W[j, k], W[j, k + 1], W[j, k + 2] = _factors(p, rows, j)
    W[k, k], W[k + 1, k], W[k + 2, k] = -p[0], -p[1], -p[2]
    W[k + 1, k + 1], W[k + 2, k + 1], W[k + 2, k + 2] = -p[3], -p[4], -p[5]
    return True


@part
def _factors(p, rows, j):
    """Return the pivot's inverse times a column of its rows."""
    return symmetric_times(p, (rows[0, j], rows[1, j], rows[2, j]))


@part
def times_symmetric(gain, u, out):
    """Add the product of a symmetric matrix (lower triangle by rows) and u to ``out``."""
    at = 0
    for i in range(0, u.shape[0], 3):
        b, c = at + i + 1, at + 2 * i + 3
        x, y, z = u[i], u[i + 1], u[i + 2]
        p, q, r = 0.0, 0.0, 0.0
        for j in range(i):
            out[j] += gain[at + j] * x + gain[b + j] * y + gain[c + j] * z
            p += gain[at + j] * u[j]
            q += gain[b + j] * u[j]
            r += gain[c + j] * u[j]
        xy, xz, yz = gain[b + i], gain[c + i], gain[c + i + 1]
        out[i] += p + gain[at + i] * x + xy * y + xz * z
        out[i + 1] += q + xy * x + gain[b + i + 1] * y + yz * z
        out[i + 2] += r + xz * x + yz * y + gain[c + i + 2] * z
        at = c + i + 3
