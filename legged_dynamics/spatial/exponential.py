# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Exponential and logarithm of rotations inside kernels, right from no turn to a half turn.

With ``R = R_0 exp(phi)`` the angular velocity in the axes of R is ``w = J_r(phi) phi_dot``, J_r
being the right Jacobian ``1 - B S + C S^2``, ``B = (1 - cos t) / t^2``, ``C = (t - sin t) / t^3``.
"""

import math

from legged_dynamics.spatial.algebra import IDENTITY, add, add_scaled, cross, dot, scale
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.symmetric import add9, add_outer9, scale9

# Below this angle [rad] series of the angle are exact to the last digit.
SMALL = 1e-4
# Below this angle [rad] series replace differences that would lose digits.
MODERATE = 0.1


@part
def rotation_exp(v):
    """Return exp(v), by rows: the rotation about v by its length [rad] (Rodrigues)."""
    square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    angle = math.sqrt(square)
    if angle < SMALL:
        a, b = 1.0 - square / 6.0, 0.5 - square / 24.0
    else:
        half = math.sin(0.5 * angle) / angle
        a, b = math.sin(angle) / angle, 2.0 * half * half
    R = add_outer9(scale9(1.0 - b * square, IDENTITY), b, v, v)
    return add9(R, (0.0, -a * v[2], a * v[1], a * v[2], 0.0, -a * v[0],
                    -a * v[1], a * v[0], 0.0))


@part
def _quaternion_of_rotation(R):
    """Return the quaternion (x, y, z, w) of a rotation, from its largest component (Shepperd)."""
    trace = R[0] + R[4] + R[8]
    if trace > max(R[0], R[4], R[8]):
        q = (R[7] - R[5], R[2] - R[6], R[3] - R[1], 1.0 + trace)
    elif R[0] > max(R[4], R[8]):
        q = (1.0 + R[0] - R[4] - R[8], R[1] + R[3], R[2] + R[6], R[7] - R[5])
    elif R[4] > R[8]:
        q = (R[1] + R[3], 1.0 + R[4] - R[0] - R[8], R[5] + R[7], R[2] - R[6])
    else:
        q = (R[2] + R[6], R[5] + R[7], 1.0 + R[8] - R[0] - R[4], R[3] - R[1])
    s = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return s * q[0], s * q[1], s * q[2], s * q[3]


@part
def rotation_log(R):
    """Return log(R), axis times angle [rad] up to pi, stable at every angle."""
    x, y, z, w = _quaternion_of_rotation(R)
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    sine = math.sqrt(x * x + y * y + z * z)
    if sine < SMALL:
        return scale(2.0 + sine * sine / 3.0, (x, y, z))
    return scale(2.0 * math.atan2(sine, w) / sine, (x, y, z))


@part
def _right_coefficients(square):
    """Return B, C of the right Jacobian, and their derivatives by the angle over the angle."""
    t = math.sqrt(square)
    if t < MODERATE:
        return (0.5 - square * (1.0 / 24.0 - square * (1.0 / 720.0 - square / 40320.0)),
                1.0 / 6.0 - square * (1.0 / 120.0 - square * (1.0 / 5040.0 - square / 362880.0)),
                -1.0 / 12.0 + square * (1.0 / 180.0 - square * (1.0 / 6720.0 - square / 453600.0)),
                -1.0 / 60.0 + square * (1.0 / 1260.0 - square / 60480.0))
    half = math.sin(0.5 * t)
    versed, excess = 2.0 * half * half, t - math.sin(t)
    b, c = versed / square, excess / (square * t)
    return b, c, (math.sin(t) / t - 2.0 * b) / square, (b - 3.0 * c) / square


@part
def turn_rates(phi, rate, acceleration):
    """Return angular velocity and acceleration of ``R_0 exp(phi)``, in the rotated axes."""
    b, c, db, dc = _right_coefficients(dot(phi, phi))
    growth = dot(phi, rate)
    across = cross(phi, rate)
    twice = cross(phi, across)
    w = add_scaled(add_scaled(rate, -b, across), c, twice)
    across_a = cross(phi, acceleration)
    alpha = add_scaled(add_scaled(acceleration, -b, across_a), c, cross(phi, across_a))
    alpha = add_scaled(add_scaled(alpha, -db * growth, across), dc * growth, twice)
    return w, add(alpha, scale(c, cross(rate, across)))
