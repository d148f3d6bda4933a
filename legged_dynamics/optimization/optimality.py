# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How far a point and multipliers are from being a quadratic program's answer."""
from __future__ import annotations

from legged_dynamics.spatial.jit import lean_kernel


@lean_kernel
def optimality(H, g, C, d, n_equal, x, u):
    """
    Return the largest violation of the optimality conditions, relative to their terms.

    Stationarity ``|H x + g - C^T u|``, constraints ``d - C x``, and sign and complementarity of
    the (m,) multipliers u.

    Parameters
    ----------
    H, g : (n, n), (n,) array
        Cost ``x^T H x / 2 + g^T x``.
    C, d : (m, n), (m,) array
        Constraints ``C x >= d``, of which the first n_equal are equalities.
    n_equal : int
        How many of them.
    x, u : (n,), (m,) array
        Solution and multipliers.

    """
    n, m = x.shape[0], d.shape[0]
    worst, terms, largest = 0.0, 1e-300, 1e-300
    for j in range(n):
        s, size = g[j], abs(g[j])
        for c in range(n):
            s += H[j, c] * x[c]
            size += abs(H[j, c] * x[c])
        for i in range(m):
            if u[i] != 0.0:
                s -= C[i, j] * u[i]
                size += abs(C[i, j] * u[i])
        worst, terms = max(worst, abs(s)), max(terms, size)
    worst /= terms
    for i in range(m):
        largest = max(largest, abs(u[i]))
    # A constraint's own terms vanish at a cone's apex: its size is that of all unknowns, where
    # they are and where the cost alone would have them.
    reach = 0.0
    for j in range(n):
        reach = max(reach, abs(x[j]), abs(g[j]) / max(abs(H[j, j]), 1e-300))
    for i in range(m):
        slack, size = -d[i], abs(d[i]) + 1e-300
        for c in range(n):
            slack += C[i, c] * x[c]
            size += abs(C[i, c]) * reach
        slack, own = slack / size, u[i] / largest
        worst = max(worst, abs(slack) if i < n_equal else -slack, abs(own * slack))
        if i >= n_equal:
            worst = max(worst, -own)
    return worst
