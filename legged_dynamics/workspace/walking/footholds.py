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

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY


def pendulum_step(velocity: np.ndarray, wanted: np.ndarray, height: float, step_time: float,
                  capture: float) -> np.ndarray:
    """
    Return where a foot is to land, from the place under its hip at touch-down.

    Parameters
    ----------
    velocity : (2,) array [m/s]
        Of the body at touch-down.
    wanted : (2,) array [m/s]
        Mean velocity of the walk.
    height : float [m]
        Of the body over the ground.
    step_time : float [s]
        From one touch-down to the next.
    capture : float
        Part of an error of the velocity that is taken away.

    Returns
    -------
    (2,) array [m]

    """
    omega = math.sqrt(GRAVITY / height)
    half = 0.5 * omega * step_time
    steady = half / math.tanh(half)
    gain = (1.0 / math.tanh(2.0 * half) - (1.0 - capture) * 1.0 / math.sinh(2.0 * half)
            ) / omega
    return 0.5 * step_time * wanted + gain * (velocity - steady * wanted)


def fall(place: np.ndarray, velocity: np.ndarray, pressure: np.ndarray, height: float,
         time: float) -> tuple[np.ndarray, np.ndarray]:
    """
    Return where a pendulum is after a time, and how fast.

    Parameters
    ----------
    place, velocity : (2,) array [m, m/s]
        Of the body now.
    pressure : (2,) array [m]
        Centre of pressure.
    height : float [m]
        Of the body over the ground.
    time : float [s]
        How far ahead.

    Returns
    -------
    tuple of two (2,) arrays [m, m/s]

    """
    omega = math.sqrt(GRAVITY / height)
    c, s, off = math.cosh(omega * time), math.sinh(omega * time), place - pressure
    return pressure + c * off + s / omega * velocity, omega * s * off + c * velocity


def fit_plane(points: np.ndarray, spread: float) -> tuple[float, float, float]:
    """
    Return ``a, b, c`` of the plane ``z = a x + b y + c`` nearest to places of feet.

    Parameters
    ----------
    points : (n, 3) array [m]
        Last places where feet stood, in world axes.
    spread : float [m]
        Width over which feet define a slope; nearer feet define a height.

    Returns
    -------
    tuple of 3 floats

    """
    middle = points.mean(axis=0)
    x, y, z = (points - middle).T
    damping = 0.05 * len(points) * spread * spread
    xx, yy, xy = float(x @ x) + damping, float(y @ y) + damping, float(x @ y)
    xz, yz = float(x @ z), float(y @ z)
    det = xx * yy - xy * xy
    a, b = (yy * xz - xy * yz) / det, (xx * yz - xy * xz) / det
    return a, b, float(middle[2] - a * middle[0] - b * middle[1])
