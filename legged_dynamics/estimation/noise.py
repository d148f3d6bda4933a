# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What of the equations' errors does not depend on the pose: of the model, and guesses of motion.

What noise of sensors does to the equations: see `equation_errors` and `momentum_noise`.
"""
from __future__ import annotations

import numpy as np

from legged_dynamics.dynamics.kinematics import FORCE, body_workspace
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import newton_euler
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel

# Without an IMU the base's motion is guessed to be rest: standard deviations of that guess.
UNKNOWN_ACCELERATION = 1.0          # m/s^2
UNKNOWN_ANGULAR_ACCELERATION = 5.0  # rad/s^2


def nominal_position(model: RobotModel, config: RobotConfig) -> np.ndarray:
    """Return the standing pose in the model's joint order, (nq,) [rad or m]."""
    return config.nominal_in(model)


def base_model_error(model: RobotModel, config: RobotConfig) -> np.ndarray:
    """
    Return the variances of the base's equations by the stated errors of mass and its centre.

    Parameters
    ----------
    model : RobotModel
        With the joint physics of the config.
    config : RobotConfig
        Its model noise, and its nominal pose.

    Returns
    -------
    (6,) array [N^2, (N m)^2]

    """
    noise, bodies, tau = config.noise, body_workspace(model), np.zeros(model.nv)
    at_rest = np.array([0, 0, 0, 0, 0, 0, 0, 0, GRAVITY], float)
    newton_euler(model.tree, nominal_position(model, config), np.zeros(model.nv),
                 np.zeros(model.nv), at_rest, bodies, tau)
    weight = model.total_mass * GRAVITY
    error = (noise.mass * bodies[0, FORCE:FORCE + 6]) ** 2
    error[3:] += (weight * noise.center_of_mass) ** 2
    return error + (1e-6 * weight) ** 2     # exact sensors still meet a finite precision


def variance_ratio(lasting: float, brief: float) -> float:
    """Return by how much the variance of a lasting error is larger than that of a brief one."""
    return (lasting / brief) ** 2 if brief > 0.0 else 1.0
