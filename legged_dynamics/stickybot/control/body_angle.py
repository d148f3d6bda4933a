# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The body's angle in the plane of the wall, from the IMU.

With the wall leaning by l and the body turned by phi, up in body axes is

    u = (sin l sin phi, sin l cos phi, cos l)

so that phi = atan2(u_x, u_y) wherever gravity has a part in the wall's plane. On a floor it has
none, and the gyro's rates are summed instead.
"""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.attitude import STEADY, advance_tilt
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.spatial.algebra import rotation_of_quaternion

# Part of gravity in the wall's plane from which its direction tells the angle.
LEAST_PART = 0.1


class BodyAngle:
    """
    Keeps the body's angle.

    Parameters
    ----------
    R_BI : (3, 3) array
        The IMU's axes in the body's (x right, y to the head, z off the wall).

    Attributes
    ----------
    angle, rate : float [rad, rad/s]
        By the last measurement; 0 with the head up the slope.
    inclination : float [rad]
        Of the wall, by the last measurement.

    """

    def __init__(self, R_BI: np.ndarray):
        self._R_BI = np.array(R_BI, float)
        self._memory = np.zeros(4)      # up in body axes, and whether it is known
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._memory[:] = 0.0
        self._last_ns: int | None = None
        self.angle = self.rate = self.inclination = 0.0

    def update(self, measurement: Measurement) -> bool:
        """
        Take a measurement in; return False when the angle is not known.

        That is without an IMU reading, and without an orientation as long as the accelerometer
        has not shown gravity yet.
        """
        if measurement.angular_velocity is None or measurement.linear_acceleration is None:
            return False
        stamp = measurement.stamp_ns
        dt = 0.0 if self._last_ns is None else max(stamp - self._last_ns, 0) * 1e-9
        self._last_ns = stamp
        w = self._R_BI @ measurement.angular_velocity
        memory = self._memory
        if measurement.orientation is not None:
            # Up in the IMU's axes is the last row of its rotation.
            memory[:3] = self._R_BI @ rotation_of_quaternion(
                *measurement.orientation.tolist())[6:]
            memory[3] = 1.0
        else:
            a = self._R_BI @ measurement.linear_acceleration
            if memory[3] == 0.0 and abs(np.linalg.norm(a) - GRAVITY) > STEADY * GRAVITY:
                return False
            advance_tilt(memory, 0, 3, tuple(w.tolist()), tuple(a.tolist()), dt)
        x, y, z = memory[:3].tolist()
        self.rate = float(w[2])
        self.inclination = math.atan2(math.hypot(x, y), z)
        if math.hypot(x, y) > LEAST_PART:
            self.angle = math.atan2(x, y)
        else:
            self.angle += dt * self.rate
        return True
