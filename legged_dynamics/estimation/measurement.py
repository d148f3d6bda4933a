# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the sensors say at one instant."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, slots=True)
class Measurement:
    """
    Joint states, and the IMU's reading at the same instant.

    Attributes
    ----------
    stamp_ns : int [ns]
    position, velocity : (nj,) array [rad, rad/s or m, m/s]
        In the model's joint order.
    effort : (nj,) array [N m or N] or None
        What the joints deliver; NaN for a joint whose effort is not known.
    angular_velocity : (3,) array [rad/s] or None
        Gyro, in the IMU's axes.
    linear_acceleration : (3,) array [m/s^2] or None
        Accelerometer, in the IMU's axes: proper acceleration, +9.81 along up at rest.
    orientation : (4,) array or None
        Quaternion (x, y, z, w) of the IMU in a gravity-aligned world.

    """

    stamp_ns: int
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray | None = None
    angular_velocity: np.ndarray | None = None
    linear_acceleration: np.ndarray | None = None
    orientation: np.ndarray | None = None
