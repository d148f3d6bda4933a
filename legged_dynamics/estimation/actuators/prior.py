# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What is believed of theta before there are data, and how far that may be off."""
from __future__ import annotations

import numpy as np

from legged_dynamics.dynamics.composite_body import mass_matrix
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.actuators.parameters import Parameters
from legged_dynamics.estimation.actuators.settings import LearnerSettings
from legged_dynamics.model.actuators import (
    ARMATURE,
    GAIN,
    OFFSET,
    PARAMETERS,
    UNKNOWN,
    ActuatorModel,
)
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel


class Prior:
    """
    Mean of theta, deviation of what is stated (`tight`) and of what is not known (`wide`).

    ``free``: parameters of which nothing is stated, so that there is no value to stay with.
    """

    def __init__(self, model: RobotModel, config: RobotConfig, parameters: Parameters,
                 leg_length: float, settings: LearnerSettings):
        self.stated = stated = ActuatorModel.of(model, config)
        place, n = parameters.place, len(parameters.names)
        mean, tight, wide = np.zeros(n), np.full(n, np.inf), np.zeros(n)
        value = stated.value.copy()
        value[GAIN] = 0.0           # theta has what is missing of it
        looser = np.full(len(PARAMETERS), settings.unknown_factor)
        looser[[GAIN, OFFSET]] = settings.unknown_reading_factor
        for (j, k), at in np.ndenumerate(place):
            mean[at] = value[k, j]
            tight[at] = min(tight[at], stated.deviation[k, j])
            # Of gains that are stated to be bad no worse ones are asked for.
            unknown = stated.unknown[k, j] if k != GAIN else UNKNOWN[GAIN]
            wide[at] = max(wide[at], unknown * looser[k])
        # An inertia of links that is wrong reads as an armature.
        at = place[:, ARMATURE]
        inertia = np.diag(mass_matrix(model, config.nominal_in(model)))[-model.n_joints:]
        np.maximum.at(tight, at, np.minimum(settings.link_inertia * inertia, wide[at]))
        mean[parameters.effort_delay] -= settings.effort_delay
        mean[-1] = -settings.imu_delay
        tight[-1], wide[-1] = settings.imu_delay_deviation, settings.unknown_imu_delay
        # A force that stays, of the accelerometer; mass and first moment of a load.
        errors, mass = config.noise, model.total_mass
        share = max(errors.mass, settings.base_share)
        bias = max(errors.accelerometer_bias, settings.base_share * GRAVITY)
        mean[parameters.base] = 0.0
        tight[parameters.base] = mass * np.array(
            [2.0 * np.hypot(share * GRAVITY, bias)] * 2 + [2.0 * bias, 2.0 * share]
            + [max(3.0 * errors.center_of_mass, settings.center_of_mass)] * 3)
        wide[parameters.base] = mass * np.array(
            [settings.imu_tilt * GRAVITY] * 2 + [0.0, settings.load_mass]
            + [settings.load_moment * leg_length] * 3)
        tight = np.where(np.isfinite(tight), tight, 1.0)    # where no joint has it
        self.mean, self.tight, self.wide = mean, tight, np.maximum(wide, tight)
        self.mass_variance = share ** 2
        self.free = self.wide <= 1.5 * self.tight
        # Of gains nothing is a value, unless they are said to be worse than usual.
        gains = parameters.gains
        self.free[gains] = self.tight[gains] > 1.5 * UNKNOWN[GAIN]
