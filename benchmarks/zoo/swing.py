# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The path of a foot through the air that lands at a given speed."""
from __future__ import annotations

import numpy as np

from legged_dynamics.simulation.schedule import minimum_jerk


def swing_path(start: np.ndarray, target: np.ndarray, top: float, landing: float, progress: float,
               duration: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Return position, velocity and acceleration between lift-off and touch-down.

    Parameters
    ----------
    start, target : (3,) array
        Lift-off and touch-down [m].
    top : float
        Height of the apex [m].
    landing : float
        Downward speed at touch-down [m/s].
    progress : float
        0 at lift-off, 1 at touch-down.
    duration : float
        Of the swing [s].

    """
    drop = top - target[2]
    down = min(2.2 * drop / max(landing, 1e-3), 0.5 * duration)
    along, rate, curve = minimum_jerk(min(progress / 0.95, 1.0), 0.95 * duration)
    position = start + along * (target - start)
    velocity, acceleration = rate * (target - start), curve * (target - start)
    time = progress * duration
    up = duration - down
    if time < up:
        s, ds, dds = minimum_jerk(time / up, up)
        rise = top - start[2]
        position[2], velocity[2], acceleration[2] = start[2] + s * rise, ds * rise, dds * rise
        return position, velocity, acceleration
    s = (time - up) / down
    # Fifth-order: at rest at the top, -drop with speed `landing` and no acceleration at the end.
    v = landing * down
    a, b, c = -10 * drop + 4 * v, 15 * drop - 7 * v, -6 * drop + 3 * v
    position[2] = top + a * s ** 3 + b * s ** 4 + c * s ** 5
    velocity[2] = (3 * a * s ** 2 + 4 * b * s ** 3 + 5 * c * s ** 4) / down
    acceleration[2] = (6 * a * s + 12 * b * s ** 2 + 20 * c * s ** 3) / down ** 2
    return position, velocity, acceleration
