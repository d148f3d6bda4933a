# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Symmetric 3x3 matrices as 6-tuples (xx, xy, xz, yy, yz, zz), for inertias inside kernels.

General 3x3 matrices are row-major 9-tuples, as rotations are in
:mod:`~legged_dynamics.spatial.algebra`.
"""

from legged_dynamics.spatial.algebra import rotate, symmetric_times
from legged_dynamics.spatial.jit import part


@part
def add6(a, b):
    """Return a + b of symmetric matrices."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@part
def add9(a, b):
    """Return a + b of general matrices."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5],
            a[6] + b[6], a[7] + b[7], a[8] + b[8])


@part
def scale6(s, m):
    """Return s m of a symmetric matrix."""
    return s * m[0], s * m[1], s * m[2], s * m[3], s * m[4], s * m[5]


@part
def scale9(s, m):
    """Return s m of a general matrix."""
    return (s * m[0], s * m[1], s * m[2], s * m[3], s * m[4], s * m[5], s * m[6], s * m[7],
            s * m[8])


@part
def add_diagonal(m, s):
    """Return m + s 1, m symmetric."""
    return m[0] + s, m[1], m[2], m[3] + s, m[4], m[5] + s


@part
def add_outer(m, s, a):
    """Return m + s a a^T, m symmetric."""
    x, y, z = s * a[0], s * a[1], s * a[2]
    return (m[0] + x * a[0], m[1] + x * a[1], m[2] + x * a[2], m[3] + y * a[1],
            m[4] + y * a[2], m[5] + z * a[2])


@part
def add_mixed_outer(m, s, a, b):
    """Return m + s (a b^T + b a^T), m symmetric."""
    x, y, z = s * a[0], s * a[1], s * a[2]
    return (m[0] + 2.0 * x * b[0], m[1] + x * b[1] + y * b[0], m[2] + x * b[2] + z * b[0],
            m[3] + 2.0 * y * b[1], m[4] + y * b[2] + z * b[1], m[5] + 2.0 * z * b[2])


@part
def add_outer9(m, s, a, b):
    """Return m + s a b^T for a general m, by rows."""
    x, y, z = s * a[0], s * a[1], s * a[2]
    return (m[0] + x * b[0], m[1] + x * b[1], m[2] + x * b[2],
            m[3] + y * b[0], m[4] + y * b[1], m[5] + y * b[2],
            m[6] + z * b[0], m[7] + z * b[1], m[8] + z * b[2])


@part
def full(m):
    """Return a symmetric matrix as a general one, by rows."""
    return m[0], m[1], m[2], m[1], m[3], m[4], m[2], m[4], m[5]


@part
def general_times_symmetric(a, m):
    """Return a m, general times symmetric, as a general matrix by rows."""
    return (symmetric_times(m, (a[0], a[1], a[2])) + symmetric_times(m, (a[3], a[4], a[5]))
            + symmetric_times(m, (a[6], a[7], a[8])))


@part
def product_with_transpose(a, b):
    """Return a b^T of general matrices whose product is known to be symmetric."""
    return (rotate(b, (a[0], a[1], a[2])) + rotate(b, (a[3], a[4], a[5]))[1:]
            + rotate(b, (a[6], a[7], a[8]))[2:])


@part
def rotate_symmetric(R, m):
    """Return R m R^T: the symmetric matrix in the axes that R rotates into."""
    return product_with_transpose(general_times_symmetric(R, m), R)


@part
def adjugate(m):
    """Return the adjugate of m; for rank 2 a multiple of n n^T with m n = 0."""
    return (m[3] * m[5] - m[4] * m[4], m[2] * m[4] - m[1] * m[5], m[1] * m[4] - m[2] * m[3],
            m[0] * m[5] - m[2] * m[2], m[1] * m[2] - m[0] * m[4], m[0] * m[3] - m[1] * m[1])


@part
def determinant(m):
    """Return the determinant of a symmetric matrix."""
    minors = adjugate(m)
    return m[0] * minors[0] + m[1] * minors[1] + m[2] * minors[2]


@part
def inverse_symmetric(m):
    """Return m^-1 of a positive definite m, by cofactors."""
    return scale6(1.0 / determinant(m), adjugate(m))


@part
def about_origin(inertia, mass, com):
    """Return an inertia about the origin from that about the CoM: I - m S(c) S(c)."""
    x, y, z = com
    return (inertia[0] + mass * (y * y + z * z), inertia[1] - mass * x * y,
            inertia[2] - mass * x * z, inertia[3] + mass * (x * x + z * z),
            inertia[4] - mass * y * z, inertia[5] + mass * (x * x + y * y))
