# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
From stated sensor and model noise to the variances of the estimator's equations.

Inverse dynamics is linear in the accelerations, so its response to each one, taken at the robot's
nominal pose, carries the noise of the accelerometer and of the differentiated gyro and joint
velocities into the six equations of the base and the equation of each joint. Correlation between
equations is neglected.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.kinematics import FORCE, body_workspace
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import newton_euler
from legged_dynamics.estimation.derivatives import acceleration_noise
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel

# Without an IMU the base's motion is guessed to be rest: standard deviations of that guess.
UNKNOWN_ACCELERATION = 1.0          # m/s^2
UNKNOWN_ANGULAR_ACCELERATION = 5.0  # rad/s^2


class EquationNoise(NamedTuple):
    """
    Variances of the equations.

    Attributes
    ----------
    base : (6,) array [N^2, (N m)^2]
    joint : (nv,) array [(N m)^2 or N^2]
        With the base's motion measured.
    joint_blind : (nv,) array [(N m)^2 or N^2]
        With the base's motion unknown.

    """

    base: np.ndarray
    joint: np.ndarray
    joint_blind: np.ndarray


def nominal_position(model: RobotModel, config: RobotConfig) -> np.ndarray:
    """Return the standing pose in the model's joint order, (nq,) [rad or m]."""
    return config.nominal_in(model)


def equation_noise(model: RobotModel, config: RobotConfig, rate: float,
                   half_window: int) -> EquationNoise:
    """
    Return the variances of the base's and the joints' equations.

    Parameters
    ----------
    model : RobotModel
        With the joint physics of the config.
    config : RobotConfig
        Its sensor and model noise, and its nominal pose.
    rate : float [Hz]
        Of the measurements.
    half_window : int
        Of the derivative filter, in samples.

    """
    noise, q, nv = config.noise, nominal_position(model, config), model.nv
    at_rest = np.array([0, 0, 0, 0, 0, 0, 0, 0, GRAVITY], float)

    def response(a: np.ndarray, base: np.ndarray) -> np.ndarray:
        bodies, tau = body_workspace(model), np.zeros(nv)
        newton_euler(model.tree, q, np.zeros(nv), a, base, bodies, tau)
        return np.concatenate([bodies[0, FORCE:FORCE + 6], tau])

    static = response(np.zeros(nv), at_rest)
    from_joints = np.array([response(a, at_rest) - static for a in np.eye(nv)])
    from_base = np.array([response(np.zeros(nv), at_rest + step) - static
                          for step in np.eye(9)[3:]])
    joint = acceleration_noise(1.0, rate, half_window) * noise.of_joints(
        'velocity', model, config.joints)
    angular = acceleration_noise(noise.gyro, rate, half_window)
    linear = np.hypot(noise.accelerometer, noise.accelerometer_bias)
    motion = (joint[:, None] * from_joints) ** 2
    sensed = (np.array([angular] * 3 + [linear] * 3)[:, None] * from_base) ** 2
    guessed = (np.array([UNKNOWN_ANGULAR_ACCELERATION] * 3 + [UNKNOWN_ACCELERATION] * 3)[:, None]
               * from_base) ** 2
    model_error = (noise.mass * static) ** 2
    model_error[3:6] += (model.total_mass * GRAVITY * noise.center_of_mass) ** 2
    total = motion.sum(axis=0) + sensed.sum(axis=0) + model_error
    blind = motion.sum(axis=0) + guessed.sum(axis=0) + model_error
    floor = 1e-6 * model.total_mass * GRAVITY       # exact sensors still meet a finite precision
    effort = noise.of_joints('effort', model, config.joints) ** 2 + floor ** 2
    return EquationNoise(total[:6] + floor ** 2, total[6:] + effort, blind[6:] + effort)


def variance_ratio(lasting: float, brief: float) -> float:
    """Return by how much the variance of a lasting error is larger than that of a brief one."""
    return (lasting / brief) ** 2 if brief > 0.0 else 1.0
