# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a data set says, by robot: rows of the summaries joined and in the order of time."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from legged_dynamics.reports.fleet import data_set as schema
from legged_dynamics.reports.fleet.data_set import DataSet

# -------------------------------------------------------------------------------------------------
# Which recordings are unlike the others of their robot, and in what.


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


# -------------------------------------------------------------------------------------------------

Row = dict[str, Any]


@dataclass(frozen=True)
class RobotFacts:
    """
    All recordings of one robot.

    Attributes
    ----------
    robot : str
    summary : list of Row
        In the order of time.
    feet, joints, inputs, errors : list of Row
        By recording in the same order.

    """

    robot: str
    summary: list[Row]
    feet: list[Row]
    joints: list[Row]
    inputs: list[Row]
    errors: list[Row]

    @property
    def foot_names(self) -> list[str]:
        """Feet in the order of the robot's YAML."""
        return list(dict.fromkeys(row['foot'] for row in self.feet))

    @property
    def days(self) -> list[str]:
        """Days with recordings, in order."""
        return list(dict.fromkeys(row['day'] for row in self.summary))

    def column(self, name: str) -> np.ndarray:
        """(n,) array of a column of the summary; NaN where it is null."""
        return numbers(self.summary, name)

    def of_foot(self, foot: str, name: str) -> np.ndarray:
        """(n,) array of a foot's column, a value a recording."""
        return self._by_recording([row for row in self.feet if row['foot'] == foot], name)

    def worst_input(self, name: str) -> np.ndarray:
        """(n,) array of the largest value over joint states and IMU, a value a recording."""
        return self._by_recording(self.inputs, name)

    def errors_of(self, treatment: str) -> np.ndarray:
        """(n,) vertical errors of a foot in contact, of the worse behaviour, by weight."""
        found = self._by_recording([row for row in self.errors if row['treatment'] == treatment
                                    and row['subject'] != 'sum of all feet'], 'vertical')
        return found / self.column('weight')

    def _by_recording(self, rows: Sequence[Row], name: str) -> np.ndarray:
        largest: dict[str, float] = {}
        for row, value in zip(rows, numbers(rows, name)):
            known = largest.get(row['recording'], np.nan)
            largest[row['recording']] = float(np.fmax(known, value))
        return np.array([largest.get(row['recording'], np.nan) for row in self.summary])

    def outliers(self) -> list[Outlier]:
        """Return what is unlike the robot's other recordings, or not to be trusted."""
        doubted = [Outlier(row['recording'], f'not to be trusted: {"; ".join(row["doubts"])}', '',
                           '', np.inf) for row in self.summary if not row['trusted']]
        return [*doubted, *sorted(
            [*find_outliers(self.summary, SUMMARY),
             *find_outliers(self.feet, FEET, 'foot'),
             *find_outliers(self.joints, JOINTS, 'joint'),
             *find_outliers(self.inputs, INPUTS, 'topic')], key=lambda one: -one.far)]


def numbers(rows: Sequence[Row], name: str) -> np.ndarray:
    """Return a column of rows; NaN where it is null."""
    return np.array([np.nan if row[name] is None else row[name] for row in rows], float)


def read_facts(data: DataSet) -> list[RobotFacts]:
    """
    Return the facts of each robot of a data set, by name.

    Raises
    ------
    OutputError
        When the data set is damaged.

    """
    columns = [field.name for field in schema.SUMMARY.fields
               if field.name not in ('notes', 'joints')]
    summary = data.read(schema.SUMMARY, [*columns, 'robot', 'day']).sort_by(
        [('start', 'ascending'), ('recording', 'ascending')]).to_pylist()
    place = {row['recording']: k for k, row in enumerate(summary)}
    parts: dict[str, dict[str, list[Row]]] = {}
    for table in (schema.FEET, schema.JOINTS, schema.INPUTS, schema.ERRORS):
        rows = [row for row in data.read(table).to_pylist() if row['recording'] in place]
        for row in sorted(rows, key=lambda row: place[row['recording']]):
            parts.setdefault(row['robot'], {}).setdefault(table.name, []).append(row)
    found = []
    for robot in sorted({row['robot'] for row in summary}):
        of = parts.get(robot, {})
        found.append(RobotFacts(
            robot, [row for row in summary if row['robot'] == robot],
            *(of.get(table.name, []) for table in (schema.FEET, schema.JOINTS, schema.INPUTS,
                                                   schema.ERRORS))))
    return found
