# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Tables of each robot of a data set, and outliers among its recordings.

The tables are pandas' frames: a row a recording (or one a recording and foot, joint or topic), in
the order of time. Groups, medians and extremes over them are pandas'.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from legged_dynamics.reports.fleet import data_set as schema
from legged_dynamics.reports.fleet.data_set import DataSet

# -------------------------------------------------------------------------------------------------
# Outliers among the recordings of a robot.


# Recordings of a robot that a median needs, and robust standard deviations that make an outlier.
FEWEST, FAR = 5, 6.0
# Standard deviation of a normal distribution over its median absolute deviation.
_NORMAL = 1.4826


@dataclass(frozen=True)
class Quantity:
    """
    A quantity by which recordings are compared.

    Attributes
    ----------
    column : str
        Of the summary, or of a foot, joint or input.
    name : str
        For the report.
    unit : str
        Of the report.
    scale : float
        Factor from the column's unit to the report's.
    least : float
        Deviation that is too small to matter, however alike the others are [column's unit].
    digits : int
        Behind the point.
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
        """
        Return a value with its unit.

        Parameters
        ----------
        value : float
            In the column's unit.

        Returns
        -------
        str
            In the unit of the report.

        """
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
    A value of a recording that is far from its usual one.

    Attributes
    ----------
    recording : str
        Its name in the data set.
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


def find_outliers(rows: pd.DataFrame | Sequence[Mapping[str, Any]],
                  quantities: Sequence[Quantity], part: str = '') -> list[Outlier]:
    """
    Return the values far from the robot's median, the farthest first.

    The distance is counted in robust standard deviations: 1.4826 times the median absolute
    deviation, which is the standard deviation of a normal distribution (Hampel 1974).

    Parameters
    ----------
    rows : DataFrame or sequence of mapping
        Of one robot: a row a recording, or one a recording and part.
    quantities : sequence of Quantity
        To compare by.
    part : str
        Column with the name of the foot, joint or topic; empty when there is none.

    Returns
    -------
    list of Outlier
        Values farther than `FAR` deviations, among at least `FEWEST` known ones.

    """
    frame = pd.DataFrame(rows)
    if frame.empty:
        return []
    parts = frame[part] if part else pd.Series('', index=frame.index)
    found = []
    for quantity in quantities:
        values = frame[quantity.column].astype(float)
        median = values.groupby(parts).transform('median')
        apart = values - median
        spread = (_NORMAL * apart.abs().groupby(parts).transform('median')).clip(
            lower=quantity.least / FAR)
        far = (apart if quantity.high_only else apart.abs()) / spread
        odd = (far > FAR) & (values.groupby(parts).transform('count') >= FEWEST)
        found += [Outlier(recording, f'{quantity.name}, {name}' if name else quantity.name,
                          quantity.text(value), quantity.text(usual), distance)
                  for recording, name, value, usual, distance in zip(
                      frame['recording'][odd], parts[odd], values[odd], median[odd], far[odd])]
    return sorted(found, key=lambda outlier: -outlier.far)


# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RobotFacts:
    """
    All recordings of one robot.

    Attributes
    ----------
    robot : str
        Its name in the data set.
    summary : DataFrame
        A row a recording, in the order of time.
    feet, joints, inputs, errors : DataFrame
        By recording in the same order.

    """

    robot: str
    summary: pd.DataFrame
    feet: pd.DataFrame
    joints: pd.DataFrame
    inputs: pd.DataFrame
    errors: pd.DataFrame

    @property
    def foot_names(self) -> list[str]:
        """Feet in the order of the robot's YAML."""
        return self.feet['foot'].unique().tolist()

    def of_foot(self, foot: str, name: str) -> pd.Series:
        """
        Return a column of one foot.

        Parameters
        ----------
        foot : str
            Link.
        name : str
            Column of the table of feet.

        Returns
        -------
        Series
            A value a recording, as the summary has them; NaN where it is unknown.

        """
        return self._by_recording(self.feet[self.feet['foot'] == foot], name)

    def worst_input(self, name: str) -> pd.Series:
        """
        Return the larger value of joint states and IMU.

        Parameters
        ----------
        name : str
            Column of the table of inputs.

        Returns
        -------
        Series
            A value a recording, as the summary has them; NaN where it is unknown.

        """
        return self._by_recording(self.inputs, name)

    def errors_of(self, treatment: str) -> pd.Series:
        """
        Return the vertical errors of a foot in contact, of the worse behaviour.

        Parameters
        ----------
        treatment : str
            'zero-phase 25 Hz', 'on line' or 'unfiltered'.

        Returns
        -------
        Series
            A root mean square a recording, as a part of the weight; NaN without truth.

        """
        rows = self.errors[(self.errors['treatment'] == treatment)
                           & (self.errors['subject'] != 'sum of all feet')]
        return self._by_recording(rows, 'vertical') / self.summary['weight']

    def _by_recording(self, rows: pd.DataFrame, name: str) -> pd.Series:
        largest = rows.groupby('recording')[name].max()
        return self.summary['recording'].map(largest).astype(float)

    def outliers(self) -> list[Outlier]:
        """Return untrusted recordings first, then the outliers, the farthest first."""
        distrusted = self.summary[~self.summary['trusted']]
        doubted = [Outlier(recording, f'not to be trusted: {"; ".join(doubts)}', '', '', np.inf)
                   for recording, doubts in zip(distrusted['recording'], distrusted['doubts'])]
        return [*doubted, *sorted(
            [*find_outliers(self.summary, SUMMARY),
             *find_outliers(self.feet, FEET, 'foot'),
             *find_outliers(self.joints, JOINTS, 'joint'),
             *find_outliers(self.inputs, INPUTS, 'topic')], key=lambda one: -one.far)]


def all_summaries(robots: Sequence[RobotFacts]) -> pd.DataFrame:
    """
    Return the summaries of all robots in one table.

    Parameters
    ----------
    robots : sequence of RobotFacts
        May be empty.

    Returns
    -------
    DataFrame
        A row a recording, robot by robot.

    """
    columns = [field.name for field in schema.SUMMARY.fields] + ['robot', 'day']
    return (pd.concat([robot.summary for robot in robots], ignore_index=True) if robots
            else pd.DataFrame(columns=columns))


def read_facts(data: DataSet) -> list[RobotFacts]:
    """
    Return the facts of each robot of a data set, by name.

    Parameters
    ----------
    data : DataSet
        May be empty.

    Returns
    -------
    list of RobotFacts
        Without the time series, which may be larger than the memory.

    Raises
    ------
    OutputError
        When the data set is damaged.

    """
    columns = [field.name for field in schema.SUMMARY.fields
               if field.name not in ('notes', 'joints')]
    summary = data.read(schema.SUMMARY, [*columns, 'robot', 'day']).to_pandas().sort_values(
        ['start', 'recording'], ignore_index=True)
    place = pd.Series(summary.index, index=summary['recording'])
    parts = []
    for table in (schema.FEET, schema.JOINTS, schema.INPUTS, schema.ERRORS):
        rows = data.read(table).to_pandas()
        rows = rows.assign(place=rows['recording'].map(place)).dropna(subset='place')
        parts.append(rows.sort_values('place', kind='stable').drop(columns='place'))
    return [RobotFacts(robot, own.reset_index(drop=True),
                       *(rows[rows['robot'] == robot] for rows in parts))
            for robot, own in summary.groupby('robot')]
