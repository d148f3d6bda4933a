# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How far torques may be off by what is known of their actuators."""
from __future__ import annotations

import numpy as np

from legged_dynamics.estimation.actuators.equations import N_LOCAL, Learning
from legged_dynamics.estimation.actuators.parameters import Parameters
from legged_dynamics.estimation.actuators.settings import LearnerSettings
from legged_dynamics.model.actuators import DAMPING, GAIN, OFFSET


class TorqueDoubt:
    """
    Variances of torques by parameters that were learned, and by what no parameter explains.

    `typical` (nj, 7): sizes of each parameter's regressor in the motion so far.
    """

    def __init__(self, parameters: Parameters, effort_noise: np.ndarray, limit: np.ndarray,
                 settings: LearnerSettings):
        nj = len(limit)
        self._parameters, self._settings = parameters, settings
        self._usual = effort_noise ** 2 + (settings.usual_residual * limit) ** 2
        self.typical = np.stack([
            np.full(nj, settings.typical_slip), np.full(nj, settings.typical_speed),
            settings.typical_load * limit, np.full(nj, settings.typical_acceleration),
            settings.typical_torque * limit, np.ones(nj), settings.typical_torque_rate * limit], 1)

    def covariance(self, covariance: np.ndarray, learned: np.ndarray, gain: float | None
                   ) -> np.ndarray:
        """
        Return the covariance of parameters for the tick, (nj, 7, 7), with `add_unexplained`.

        ``learned`` (nj, 7): which are in use as learned; ``gain``: variance of gains, None where
        they are among these.
        """
        # Gains and offsets are among the noise that the configuration states.
        doubted = learned.astype(float)
        doubted[:, [GAIN, OFFSET]] = 0.0
        doubt = covariance * doubted[:, :, None] * doubted[:, None]
        if gain is not None:
            doubt[:, GAIN, GAIN] = gain
        return doubt

    def add_unexplained(self, doubt: np.ndarray, x: Learning) -> None:
        """Add what no parameter explains of torques to their offsets' variances."""
        # Beside noise and what no parameter explains: that is in the residuals of a healthy robot.
        # Of so few blocks their mean square varies by its own size.
        noise = 2.0 * np.maximum(self._usual, x.spread[6:])
        left = np.where(x.heard > 0.0, np.maximum(x.misfit - noise, 0.0), np.nan)
        for kind in self._parameters.kinds:     # what shows in one leg is likely so in its like
            known = left[kind][np.isfinite(left[kind])]
            doubt[kind, OFFSET, OFFSET] += known.mean() if len(known) else 0.0

    def torque_variance(self, doubt: np.ndarray, friction: np.ndarray) -> np.ndarray:
        """Return the variance of each joint's torque in typical motion, (nj,) [(N m)^2]."""
        return np.einsum('jk,jkk->j', self.typical ** 2, doubt) + friction ** 2

    def follow_motion(self, x: Learning) -> None:
        """Take the motion of the last block into what is typical."""
        size, settings = self.typical, self._settings
        now = np.abs(x.joint[:, :N_LOCAL])
        moves = np.isfinite(now).all(axis=1) & (np.abs(now[:, DAMPING]) > settings.moving_speed)
        size[moves] += settings.typical_rate * (now[moves] - size[moves])
