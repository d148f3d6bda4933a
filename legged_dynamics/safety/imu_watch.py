# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Plausibility of an IMU's readings: gyro, accelerometer and orientation against each other.

An orientation that jumps further than the gyro explains is not believed until a jump back has
taken the difference away. Up by the orientation and up by the accelerometer must agree over some
hundredths of a second. Readings that repeat themselves to the last bit mean a frozen sensor only
where the same sensor was seen to be noisy before.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from legged_dynamics.safety.joint_watch import CHECK


@dataclass(frozen=True)
class ImuCheckSettings:
    """Settings of the comparison of an IMU's readings."""

    turn_rate: float = 60.0  # rad/s: beyond, no legged robot turns
    acceleration: float = 2000.0  # m/s^2, likewise
    jump: float = 0.05  # rad, error of an orientation
    leak: float = 0.1  # s, of the sum of turn less integrated gyro
    drift: float = 0.08  # rad that it may reach
    # s for which gyro and orientation are not believed after they have disagreed: a gyro of the
    # wrong sign is right again whenever the robot is still
    distrust: float = 1.0
    turn_acceleration: float = 100.0  # rad/s^2, the largest between samples
    up_time: float = 0.03  # s over which the accelerometer is averaged
    up_error: float = 1.2  # rad between up by orientation and by accelerometer
    least_up: float = 4.0  # m/s^2: with less, as in free fall, there is no up
    most_up: float = 20.0  # m/s^2 of a reading that count in that average
    up_duration: float = 0.02  # s for which up must differ once it has agreed


IMU = ImuCheckSettings()


class ImuWatch:
    """
    Judges the readings of one IMU; `up`: up in its axes by the last plausible one, or None.

    ``frozen`` [s]: longest repetition, 0: any.
    """

    def __init__(self, frozen: float):
        self._frozen, self._lively = frozen, 0.0
        self.reset()

    def reset(self) -> None:
        """Forget the last reading; the noise learnt of the sensor is kept."""
        self._stamp_ns: int | None = None
        self._offset = self._drift = np.zeros(3)
        self._stuck = self._distrust = self._turned = 0.0
        self._repeated = 0
        self.up: np.ndarray | None = None

    def restamp(self) -> None:
        """Accept the next stamp as it is, because the clock of the stamps was set."""
        self._stamp_ns = None

    def check(self, stamp_ns: int, gyro: np.ndarray, accelerometer: np.ndarray,
              orientation: np.ndarray | None) -> str:
        """Return why a reading (IMU axes, xyzw) is implausible, or ''."""
        if not float(np.abs(gyro).max()) <= IMU.turn_rate:
            return f'the gyro reads {_list(gyro)} rad/s'
        if not float(np.abs(accelerometer).max()) <= IMU.acceleration:
            return f'the accelerometer reads {_list(accelerometer)} m/s^2'
        first = self._stamp_ns is None
        dt = 0.0 if first else (stamp_ns - self._stamp_ns) * 1e-9   # type: ignore[operator]
        if not first and dt <= 0.0:
            return ''
        reading = (*gyro.tolist(), *accelerometer.tolist())
        fault = '' if first else self._judge(dt, reading, gyro, orientation)
        # An impact pushes a light body about by ten times its weight, and is no up.
        size = float(np.linalg.norm(accelerometer))
        felt = accelerometer * min(1.0, IMU.most_up / size) if size > 0.0 else accelerometer
        if self.up is None or first:
            self._mean = felt.copy()
        else:
            self._mean += (1.0 - math.exp(-dt / IMU.up_time)) * (felt - self._mean)
        self._stamp_ns, self._reading = stamp_ns, reading
        self._gyro, self._orientation = gyro, orientation
        fault = fault or self._judge_up(dt, orientation)
        if not fault:
            up = self._mean if orientation is None else _up(orientation)
            length = float(np.linalg.norm(up))
            self.up = up / length if length > 0.0 else self.up
        return fault

    def _judge(self, dt: float, reading: tuple[float, ...], gyro: np.ndarray,
               orientation: np.ndarray | None) -> str:
        if reading == self._reading:
            self._stuck += dt
            self._repeated += 1
            if (0.0 < self._frozen <= self._stuck and self._repeated >= CHECK.repeated
                    and self._lively > CHECK.noisy):
                return 'the IMU is frozen: it repeats itself to the last bit'
        else:
            self._lively *= (1.0 - CHECK.noise_weight) ** self._repeated
            self._lively += CHECK.noise_weight * (1.0 - self._lively)
            self._stuck, self._repeated = 0.0, 0
        if orientation is None or self._orientation is None:
            return ''
        excess = turn_between(self._orientation, orientation) - 0.5 * dt * (self._gyro + gyro)
        allowed = (IMU.jump + 0.5 * dt * float(np.abs(gyro - self._gyro).max())
                   + 0.25 * IMU.turn_acceleration * dt * dt)
        if float(np.linalg.norm(excess)) > allowed:
            self._offset = self._offset + excess
            if float(np.linalg.norm(self._offset)) <= 2.0 * allowed:
                self._offset = np.zeros(3)
        else:
            change = excess if dt <= CHECK.gap else 0.0
            self._drift = (self._drift + change) * math.exp(-dt / IMU.leak)
        if self._offset.any():
            jump = math.degrees(float(np.linalg.norm(self._offset)))
            return f'the orientation jumped by {jump:.0f} deg, further than the gyro explains'
        if float(np.linalg.norm(self._drift)) > IMU.drift:
            self._distrust = IMU.distrust
        if self._distrust > 0.0:
            self._distrust -= dt
            return 'orientation and gyro do not agree: one of them is wrong'
        return ''

    def _judge_up(self, dt: float, orientation: np.ndarray | None) -> str:
        size = float(np.linalg.norm(self._mean))
        self._turned += dt
        if orientation is None or size < IMU.least_up:
            return ''
        angle = math.acos(max(-1.0, min(1.0, float(_up(orientation) @ self._mean) / size)))
        if angle <= IMU.up_error:
            self._turned = 0.0
        elif self.up is None or self._turned > IMU.up_duration:
            return (f'the accelerometer says that up is {math.degrees(angle):.0f} deg from where '
                    'the orientation has it: upside down, or of the wrong sign')
        return ''


def _up(orientation: np.ndarray) -> np.ndarray:
    """Return the world's z in the axes of the IMU."""
    x, y, z, w = orientation.tolist()
    return np.array([2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)])


def turn_between(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the rotation vector from one orientation to another, in the former's axes."""
    a, b, c, d = (-before[0], -before[1], -before[2], before[3])
    x, y, z, w = after.tolist()
    vector = np.array([d * x + a * w + b * z - c * y, d * y - a * z + b * w + c * x,
                       d * z + a * y - b * x + c * w])
    scalar = float(d * w - a * x - b * y - c * z)
    if scalar < 0.0:
        vector, scalar = -vector, -scalar
    sine = float(np.linalg.norm(vector))
    return vector * (2.0 if sine < 1e-9 else 2.0 * math.atan2(sine, scalar) / sine)


def _list(values: np.ndarray) -> str:
    return f'({", ".join(f"{value:.3g}" for value in values.tolist())})'
