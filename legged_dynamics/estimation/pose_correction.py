# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Weighted least squares for six unknowns of a rigid body: a twist, or a small correction of a pose.

Both are ``x = [t; r]`` in base axes at the base's origin, and a point at ``c`` of the body sees
``t + r x c``: so a foot that stands says the same of a velocity and of a displacement. Equations
are added one by one to the normal equations ``A x = b``, of which A is kept as lower triangle.
"""
from __future__ import annotations

from legged_dynamics.spatial.algebra import cross
from legged_dynamics.spatial.jit import part


@part
def clear_equations(A, b):
    """Start over."""
    for i in range(6):
        b[i] = 0.0
        for j in range(6):
            A[i, j] = 0.0


@part
def add_point(A, b, c, seen, weight):
    """Add ``t + r x c = seen`` (vectors), each component with that weight."""
    x, y, z = c
    for i in range(3):
        A[i, i] += weight
        b[i] += weight * seen[i]
    # With S(c) the cross-product matrix, the rows are [1, -S(c)].
    A[3, 1] -= weight * z
    A[3, 2] += weight * y
    A[4, 0] += weight * z
    A[4, 2] -= weight * x
    A[5, 0] -= weight * y
    A[5, 1] += weight * x
    A[3, 3] += weight * (y * y + z * z)
    A[4, 4] += weight * (x * x + z * z)
    A[5, 5] += weight * (x * x + y * y)
    A[4, 3] -= weight * x * y
    A[5, 3] -= weight * x * z
    A[5, 4] -= weight * y * z
    moment = cross(c, seen)
    for i in range(3):
        b[3 + i] += weight * moment[i]


@part
def add_turn(A, b, seen, weight, up, about_up):
    """
    Add ``r = seen`` with one weight, and another for the component along ``up``.

    Parameters
    ----------
    A, b : (6, 6), (6,) array
        Normal equations; added to.
    seen : tuple of 3 floats
        What the rotation is seen to be.
    weight, about_up : float
        Inverse variances across ``up`` and along it.
    up : tuple of 3 floats
        Unit vector, base axes.

    """
    along = (about_up - weight) * (up[0] * seen[0] + up[1] * seen[1] + up[2] * seen[2])
    for i in range(3):
        A[3 + i, 3 + i] += weight
        b[3 + i] += weight * seen[i] + along * up[i]
        for j in range(i + 1):
            A[3 + i, 3 + j] += (about_up - weight) * up[i] * up[j]
