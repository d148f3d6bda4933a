# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Where to step: the linear inverted pendulum, and the ground that the feet have felt.

A body of height h on feet at p obeys ``xdd = omega^2 (x - p)`` with ``omega = sqrt(g / h)``
(Kajita 2001). Half a cycle T between steps, walking at a mean velocity v repeats itself when the
feet land half a step, ``v T / 2``, ahead of where the body is then; the body has the speed
``v (omega T / 2) coth(omega T / 2)`` there. An error e of that speed vanishes within one step when
the foot lands ``e coth(omega T) / omega`` further; for a long T that is the capture point
``e / omega`` (Pratt 2006), and the law as a whole is Raibert's (1986) with the gains of the
pendulum (the step adjustment of Englsberger's divergent component of motion, 2015).
"""
from __future__ import annotations

import math
from typing import TypeVar

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.spatial.algebra import add, cross, load3, load9, rotate, rotate_back, store3
from legged_dynamics.spatial.jit import lean_kernel

# A vector across the ground.
Plane = TypeVar('Plane', np.ndarray, complex)
# Standard deviations of the ground that feet have not felt yet: the height of single footholds, in
# widths of the stance, and the slope.
UNEVEN, STEEP = 0.02, 0.35


def pendulum_step(velocity: Plane, wanted: Plane, height: float, step_time: float,
                  capture: float) -> Plane:
    """
    Return the foothold (2,) [m] from the place under the hip at touch-down.

    ``velocity``: at touch-down; ``step_time``: between touch-downs; ``capture``: part of
    the velocity error to remove.
    """
    omega = math.sqrt(GRAVITY / height)
    half = 0.5 * omega * step_time
    steady = half / math.tanh(half)
    gain = (1.0 / math.tanh(2.0 * half) - (1.0 - capture) * 1.0 / math.sinh(2.0 * half)
            ) / omega
    return 0.5 * step_time * wanted + gain * (velocity - steady * wanted)


def fall(place: np.ndarray, velocity: np.ndarray, pressure: np.ndarray, height: float,
         time: float) -> tuple[np.ndarray, np.ndarray]:
    """Return an inverted pendulum's place and velocity after a time."""
    omega = math.sqrt(GRAVITY / height)
    c, s, off = math.cosh(omega * time), math.sinh(omega * time), place - pressure
    return pressure + c * off + s / omega * velocity, omega * s * off + c * velocity


@lean_kernel
def move_center(rotation, position, twist, com, out):
    """Fill ``out`` (6,): CoM from the base, its place and velocity, world x and y."""
    R, c = load9(rotation.reshape(9), 0), load3(com, 0)
    arm, v = rotate(R, c), rotate(R, add(load3(twist, 0), cross(load3(twist, 3), c)))
    for k in range(2):
        out[k], out[2 + k], out[4 + k] = arm[k], position[k] + arm[k], v[k]


@lean_kernel
def fit_plane(points, spread):
    """
    Return ``a, b, c`` of the plane ``z = a x + b y + c`` nearest to foot places.

    ``spread`` [m]: stance width; feet far closer together give a height, and no slope.
    """
    n = points.shape[0]
    x, y, z = 0.0, 0.0, 0.0
    for i in range(n):
        x, y, z = x + points[i, 0] / n, y + points[i, 1] / n, z + points[i, 2] / n
    xx = yy = (UNEVEN / STEEP * spread) ** 2
    xy, xz, yz = 0.0, 0.0, 0.0
    for i in range(n):
        dx, dy, dz = points[i, 0] - x, points[i, 1] - y, points[i, 2] - z
        xx, yy, xy, xz, yz = (xx + dx * dx, yy + dy * dy, xy + dx * dy, xz + dx * dz,
                              yz + dy * dz)
    det = xx * yy - xy * xy
    a, b = (yy * xz - xy * yz) / det, (xx * yz - xy * xz) / det
    return a, b, z - a * x - b * y


@lean_kernel
def stand_on_slope(slope, heading, now, R):
    """
    Fill R with z normal to a slope and x along a heading; return its trace to ``now``.

    ``slope``: along world x, y; ``heading`` (2, 2); trace of the relative rotation, 1 + 2
    cos.
    """
    n = 1.0 / math.sqrt(1.0 + slope[0] * slope[0] + slope[1] * slope[1])
    z = (-slope[0] * n, -slope[1] * n, n)
    c, s, trace = heading[0, 0], heading[1, 0], 0.0
    rise = slope[0] * c + slope[1] * s
    size = 1.0 / math.sqrt(1.0 + rise * rise)
    x = (c * size, s * size, rise * size)
    y = cross(z, x)
    for i in range(3):
        R[i, 0], R[i, 1], R[i, 2] = x[i], y[i], z[i]
        trace += now[i, 0] * x[i] + now[i, 1] * y[i] + now[i, 2] * z[i]
    return trace


@lean_kernel
def fill_target(place, drive, pull, turning, R, com, plane, goal, packed):
    """
    Fill pose, twist and acceleration of a base whose CoM is led over a plane.

    ``plane``: ``a, b, c`` of the ground; ``com`` in base axes; ``goal`` (3,): height above
    ground, part of the way to it now, and world height, which is updated.
    """
    a, b, c = plane
    arm = rotate(load9(R.reshape(9), 0), load3(com, 0))
    x, y = place[0] - arm[0], place[1] - arm[1]
    goal[2] += goal[1] * (goal[0] / R[2, 2] + a * x + b * y + c - goal[2])
    whole = load9(R.reshape(9), 0)
    v = rotate_back(whole, (drive[0] + turning * arm[1], drive[1] - turning * arm[0],
                            a * drive[0] + b * drive[1]))
    for i in range(9):
        packed[i] = whole[i]
    packed[9], packed[10], packed[11] = x, y, goal[2]
    store3(packed, 12, v)
    store3(packed, 15, rotate_back(whole, (0.0, 0.0, turning)))
    store3(packed, 18, rotate_back(whole, (pull[0], pull[1], 0.0)))
