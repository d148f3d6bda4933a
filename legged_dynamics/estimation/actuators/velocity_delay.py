# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How late velocities are against the slopes of positions."""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.estimation.actuators.equations import LAG
from legged_dynamics.estimation.actuators.settings import LearnerSettings


class VelocityDelay:
    """Delay [s] that velocities are to be corrected by, and their noise once they are late."""

    def __init__(self, stated: float, rate: float, settings: LearnerSettings):
        self.late = self._stated = stated
        self.least = max(settings.velocity_delay, settings.velocity_delay_samples / rate)
        self.deviation = self.noise = self._count = 0.0
        self._settings, self._period = settings, 1.0 / rate

    def count(self, keep: float, new: int) -> None:
        """Count what the sums rest on: the share of the old that stays, and what is new."""
        self._count = keep * (self._count + new)

    def update(self, sums: np.ndarray) -> bool:
        """Find the delay by the sums of `equations.LAG`; return whether its correction changes."""
        settings = self._settings
        error, motion, noise = sums[[LAG.error, LAG.motion, LAG.noise]]
        if not motion > 0.0:
            return False
        late = float(error / motion)
        if self.late or late > self.least:
            self.noise = settings.velocity_noise_factor * math.sqrt(noise / self._count)
        # Four blocks count as one.
        self.deviation = math.sqrt(4.0 * noise / (self._count * motion))
        least = settings.velocity_delay_share * self.late or self.least
        # Of slow motion the ratio is of small numbers: it counts once known to half a sample.
        if abs(late) < max(least, settings.finding_deviations * self.deviation) or (
                self.deviation > 0.5 * self._period):
            return False
        self.late = max(self.late + late, 0.0)
        if self.late < self.least and not self._stated:
            self.late = self.noise = 0.0
        self._count = 0.0
        return True
