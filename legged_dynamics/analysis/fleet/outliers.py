# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which recordings are unlike the others of their robot, and in what."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# From so many of a robot on one can say what is usual; so many robust deviations are not.
FEWEST, FAR = 5, 6.0
# Makes the median absolute deviation the standard deviation of a normal distribution.
_NORMAL = 1.4826


@dataclass(frozen=True)
class Quantity:
    """
    Something a recording is compared by.

    Attributes
    ----------
    column : str
        Of the summary, or of a foot, joint or input.
    name : str
    unit : str
    scale : float
        From the column to the unit.
    least : float
        Deviation [column's unit] that is not worth a word, however alike the others are.
    digits : int
    high_only : bool
        Whether only large values are bad.

    """

    column: str
    name: str
    unit: str
    scale: float
    least: float
    digits: int = 1
    high_only: bool = False

    def text(self, value: float) -> str:
        """Return a value with its unit."""
        return f'{self.scale * value:.{self.digits}f} {self.unit}'.strip()


SUMMARY = (
    Quantity('residual_share', 'unexplained force at the base', '% of weight', 100.0, 0.02,
             high_only=True),
    Quantity('mass_error', 'mass beyond the model', 'kg', 1.0, 0.2, 2),
    Quantity('gravity_error', 'gravity by the accelerometer, too large', 'm/s²', 1.0, 0.05, 3),
    Quantity('gyro_bias_x', 'gyro bias, x', 'deg/s', float(np.degrees(1.0)), 0.003, 2),
    Quantity('gyro_bias_y', 'gyro bias, y', 'deg/s', float(np.degrees(1.0)), 0.003, 2),
    Quantity('gyro_bias_z', 'gyro bias, z', 'deg/s', float(np.degrees(1.0)), 0.003, 2),
    Quantity('silent', 'time without estimate', '%', 100.0, 0.01, high_only=True),
)
FEET = (
    Quantity('load_share', 'share of the load', '%', 100.0, 0.03),
    Quantity('duty', 'duty', '%', 100.0, 0.05),
    Quantity('slip', 'slip a stance', 'mm', 1e3, 0.01, high_only=True),
)
JOINTS = (
    Quantity('residual', 'unexplained effort', 'N m', 1.0, 0.5, high_only=True),
    Quantity('measured', 'samples with effort', '%', 100.0, 0.01),
)
INPUTS = (
    Quantity('lost', 'messages lost', '%', 100.0, 0.01, high_only=True),
    Quantity('interval', 'usual interval', 'ms', 1.0, 0.1, 2),
    Quantity('stamp_jitter', 'jitter of stamps', 'ms', 1.0, 0.5, 2, high_only=True),
)


@dataclass(frozen=True)
class Outlier:
    """
    What is odd about a recording.

    Attributes
    ----------
    recording : str
    what : str
        Quantity, and of which foot, joint or topic.
    value, usual : str
        With unit; usual is the median of the robot's recordings.
    far : float
        Robust standard deviations from it; infinite for what is not to be trusted.

    """

    recording: str
    what: str
    value: str
    usual: str
    far: float


def find_outliers(rows: Sequence[Mapping[str, Any]], quantities: Sequence[Quantity],
                  part: str = '') -> list[Outlier]:
    """
    Return what is far from a robot's median, the farthest first.

    Parameters
    ----------
    rows : sequence of mapping
        Of one robot: a row a recording, or one a recording and part.
    quantities : sequence of Quantity
        To compare by.
    part : str
        Column with the name of the foot, joint or topic; empty when there is none.

    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row[part] if part else '', []).append(row)
    found = []
    for name, group in groups.items():
        for quantity in quantities:
            values = np.array([np.nan if row[quantity.column] is None else row[quantity.column]
                               for row in group], float)
            for k, far in _far(values, quantity):
                found.append(Outlier(
                    group[k]['recording'], f'{quantity.name}, {name}' if name else quantity.name,
                    quantity.text(values[k]), quantity.text(float(np.nanmedian(values))), far))
    return sorted(found, key=lambda outlier: -outlier.far)


def _far(values: np.ndarray, quantity: Quantity) -> list[tuple[int, float]]:
    """Return which values are far from the median, and how far."""
    if np.isfinite(values).sum() < FEWEST:
        return []
    apart = values - np.nanmedian(values)
    spread = max(_NORMAL * float(np.nanmedian(np.abs(apart))), quantity.least / FAR)
    far = (apart if quantity.high_only else np.abs(apart)) / spread
    return [(int(k), float(far[k])) for k in np.flatnonzero(far > FAR)]
