# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Measurement update of the Kalman filter by n equations of covariance S = L L^T, inside kernels.

With ``gain = L^-1 H P`` and ``nu = L^-1 (z - H x)``, ``gain^T nu`` is added to the state and
``gain^T gain`` is subtracted from its covariance (the square-root form of Kalman 1960). Each pass
of a loop works on several rows, as the overhead of short loops dominates.
"""

from legged_dynamics.spatial.jit import part


@part
def whiten(S, gain, nu, n):
    """
    Whiten the first n innovations and gain rows in place: L^-1 (z - H x), L^-1 H P.

    ``S``: factor L of the innovation covariance, from :func:`factorize`.
    """
    nx = gain.shape[1]
    for r in range(n):
        t = nu[r]
        for s in range(r):
            t -= S[r, s] * nu[s]
        nu[r] = t * S[r, r]
    done = 0
    while done + 2 < n:     # three rows are finished, and subtracted from two others at once
        s = done
        d, e, f = S[s, s], S[s + 1, s + 1], S[s + 2, s + 2]
        h, g, m = S[s + 1, s], S[s + 2, s], S[s + 2, s + 1]
        for k in range(nx):
            x = gain[s, k] * d
            y = (gain[s + 1, k] - h * x) * e
            gain[s, k], gain[s + 1, k] = x, y
            gain[s + 2, k] = (gain[s + 2, k] - g * x - m * y) * f
        done += 3
        for r in range(done, n - 1, 2):
            a, b, c = S[r, s], S[r, s + 1], S[r, s + 2]
            d, e, f = S[r + 1, s], S[r + 1, s + 1], S[r + 1, s + 2]
            for k in range(nx):
                x, y, z = gain[s, k], gain[s + 1, k], gain[s + 2, k]
                gain[r, k] -= a * x + b * y + c * z
                gain[r + 1, k] -= d * x + e * y + f * z
        if (n - done) % 2 == 1:
            a, b, c, r = S[n - 1, s], S[n - 1, s + 1], S[n - 1, s + 2], n - 1
            for k in range(nx):
                gain[r, k] -= a * gain[s, k] + b * gain[s + 1, k] + c * gain[s + 2, k]
    for r in range(done, n):
        for s in range(done, r):
            h = S[r, s]
            for k in range(nx):
                gain[r, k] -= h * gain[s, k]
        for k in range(nx):
            gain[r, k] *= S[r, r]


@part
def update_state(x, P, gain, nu, n):
    """Add ``gain^T nu`` to x, and subtract ``gain^T gain`` from P, after :func:`whiten`."""
    nx = x.shape[0]
    for r in range(n):
        row, t = gain[r], nu[r]
        for k in range(nx):
            x[k] += t * row[k]
    for i in range(0, nx - nx % 2, 2):
        for r in range(0, n - 2, 3):    # three rows at once: one pass over the state
            a, b, c = gain[r, i], gain[r + 1, i], gain[r + 2, i]
            d, e, f = gain[r, i + 1], gain[r + 1, i + 1], gain[r + 2, i + 1]
            for k in range(i + 2):
                u, v, w = gain[r, k], gain[r + 1, k], gain[r + 2, k]
                P[i, k] -= a * u + b * v + c * w
                P[i + 1, k] -= d * u + e * v + f * w
        for r in range(n - n % 3, n):
            a, d = gain[r, i], gain[r, i + 1]
            for k in range(i + 2):
                P[i, k] -= a * gain[r, k]
                P[i + 1, k] -= d * gain[r, k]
    for i in range(nx - nx % 2, nx):
        for r in range(n):
            h = gain[r, i]
            for k in range(i + 1):
                P[i, k] -= h * gain[r, k]
    for i in range(nx):
        for k in range(i):
            P[k, i] = P[i, k]
