# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Sensor noise out of a recording: what the YAML's ``noise.*`` should be.

The third difference of a signal leaves next to nothing of a slow motion and twenty times the
variance of white noise. It is taken in short stretches, and the quieter ones speak; the median
makes a single impact harmless. A signal in steps (an encoder's resolution) has at least the
deviation of a step's width over the root of twelve.
"""
from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from legged_dynamics.identification.sensor_log import SensorLog

STRETCH = 50            # samples
QUIET = 0.3             # part of the stretches that speaks
_THIRD = 20.0           # 1 + 9 + 9 + 1: variance of a third difference of white noise


def white_noise(values: np.ndarray) -> np.ndarray:
    """
    Return the standard deviation of each column's white noise.

    Parameters
    ----------
    values : (n, k) array
        Evenly sampled; columns without numbers give NaN.

    """
    third = np.diff(values, n=3, axis=0)
    count = len(third) // STRETCH
    if count < 1:
        return np.full(values.shape[1], np.nan)
    stretches = third[:count * STRETCH].reshape(count, STRETCH, -1)
    each = np.sqrt(np.mean(stretches ** 2, axis=1) / _THIRD)
    each.sort(axis=0)
    quiet = each[:max(int(QUIET * count), 1)]
    # The quietest of equal stretches are quiet by chance, by a few per cent: the median of all
    # does not, and is taken where the motion leaves it unspoilt.
    found = np.where(each[count // 2] < 1.5 * np.median(quiet, axis=0), each[count // 2],
                     np.median(quiet, axis=0))
    steps = np.abs(np.diff(values, axis=0))
    width = np.array([np.min(column[column > 0.0], initial=np.inf) for column in steps.T])
    repeats = np.mean(steps == 0.0, axis=0) > 0.3       # a coarse signal repeats itself
    return np.where(repeats & np.isfinite(width), np.maximum(found, width / np.sqrt(12.0)), found)


def sensor_noise(log: SensorLog) -> Mapping[str, float]:
    """
    Return the noise settings that a recording gives, by dotted name.

    The largest joint speaks for all: one number serves every joint, and caution is cheap.
    """
    found: dict[str, float] = {}
    parts = [(f'noise.{name}', getattr(log.joints, name)) for name in (
        'position', 'velocity', 'effort')]
    if log.imu is not None:
        parts += [('noise.gyro', log.imu.gyro), ('noise.accelerometer', log.imu.acceleration)]
    for name, values in parts:
        each = white_noise(values)
        if np.isfinite(each).any():
            found[name] = float(np.nanmax(each))
    return found
