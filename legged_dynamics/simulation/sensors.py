# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a simulated robot's sensors report: what is true, with stated noise and bias."""
from __future__ import annotations

import numpy as np

from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.model.robot_config import SensorNoise


class NoisySensors:
    """
    Adds noise and bias to exact samples; the same seed gives the same errors.

    Parameters
    ----------
    noise : SensorNoise
        How large.
    n_joints : int
        Number of joints.
    seed : int
        Seed of the random numbers.

    """

    def __init__(self, noise: SensorNoise, n_joints: int, seed: int = 0):
        self._random = np.random.default_rng(seed)
        self._n_joints = n_joints
        self._scale = np.concatenate([
            *(_of_joints(noise, quantity, n_joints)
              for quantity in ('position', 'velocity', 'effort')),
            np.repeat([noise.gyro, noise.accelerometer, noise.orientation], 3)])
        self.gyro_bias = noise.gyro_bias * self._random.standard_normal(3)
        self.accelerometer_bias = noise.accelerometer_bias * self._random.standard_normal(3)

    def measure(self, exact: Measurement) -> Measurement:
        """Return the sample as the sensors report it."""
        error = self._scale * self._random.standard_normal(self._scale.size)
        joints = error[:-9].reshape(3, self._n_joints)
        return Measurement(
            stamp_ns=exact.stamp_ns,
            position=exact.position + joints[0],
            velocity=exact.velocity + joints[1],
            effort=exact.effort + joints[2],
            angular_velocity=exact.angular_velocity + error[-9:-6] + self.gyro_bias,
            linear_acceleration=(exact.linear_acceleration + error[-6:-3]
                                 + self.accelerometer_bias),
            orientation=_turned(exact.orientation, error[-3:]))


def _of_joints(noise: SensorNoise, quantity: str, n_joints: int) -> np.ndarray:
    """Return the noise of each joint, in command order."""
    each: tuple[float, ...] = getattr(noise, f'joint_{quantity}')
    return np.array(each) if each else np.full(n_joints, getattr(noise, quantity))


def _turned(quaternion: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Return the xyzw quaternion turned by a small rotation vector about its own axes [rad]."""
    x, y, z, w = quaternion
    a, b, c = 0.5 * rotation
    turned = np.array([x + w * a + y * c - z * b, y + w * b + z * a - x * c,
                       z + w * c + x * b - y * a, w - x * a - y * b - z * c])
    return turned / np.sqrt(turned @ turned)
