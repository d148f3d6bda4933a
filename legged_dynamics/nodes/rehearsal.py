# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the sensors of a robot that stands still say: kernels are compiled with that."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.estimation.noise import nominal_position
from legged_dynamics.model import RobotConfig, RobotModel

PERIOD_NS = 2_000_000
# More samples than any estimate lags behind what it needs, so that there is one.
SAMPLES = 6


def standing_still(model: RobotModel, config: RobotConfig,
                   samples: int = SAMPLES) -> Iterator[Measurement]:
    """
    Return what a robot's sensors say in its nominal pose, on level ground, without torque.

    Parameters
    ----------
    model : RobotModel
        Whose joints they are.
    config : RobotConfig
        With the nominal pose.
    samples : int
        How many. The first has no orientation, so that tilt from the accelerometer is used too.

    """
    position = nominal_position(model, config)
    still = np.zeros(len(position))
    for k in range(samples):
        yield Measurement(k * PERIOD_NS, position, still, still, np.zeros(3),
                          np.array([0.0, 0.0, GRAVITY]),
                          np.array([0.0, 0.0, 0.0, 1.0]) if k else None)
