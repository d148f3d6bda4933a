# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The report of a fleet: outliers among the recordings, and each robot from day to day.

The tables are pandas' frames: a row a recording (or one a recording and foot, joint or topic), in
the order of time. Groups, medians and extremes over them are pandas'.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from legged_dynamics.pages.page import Chart, Line, Link, Table, command_line, shown
from legged_dynamics.pages.section import Listing, Part, Report, ReportSection
from legged_dynamics.recordings.fleet import data_set as schema
from legged_dynamics.recordings.fleet.batch import Outcome
from legged_dynamics.recordings.fleet.data_set import FOLDER, DataSet
from legged_dynamics.recordings.replay import AnalysisOptions
from legged_dynamics.recordings.report.accuracy import ON_LINE
from legged_dynamics.recordings.report.analysis import analyse
from legged_dynamics.recordings.report.report import write_report

# -------------------------------------------------------------------------------------------------
# Outliers among the recordings of a robot.


# Recordings of a robot that a median needs.
FEWEST = 5
# Robust standard deviations from it that make an outlier.
FAR = 6.0
# Standard deviation of a normal distribution over its median absolute deviation.
_NORMAL = 1.4826


@dataclass(frozen=True)
class Quantity:
    """A quantity by which recordings are compared."""

    column: str  # Of the summary, or of a foot, joint or input
    name: str  # For the report
    unit: str  # Of the report
    scale: float  # Factor from the column's unit to the report's
    # Deviation that is too small to matter, however alike the others are [column's unit]
    least: float
    digits: int = 1  # Behind the point
    high_only: bool = False  # Whether only large values are bad

    def text(self, value: float) -> str:
        """Return a value with its unit, in the unit of the report."""
        return f'{self.scale * value:.{self.digits}f} {self.unit}'.strip()


SUMMARY = (
    Quantity('residual_share', 'unexplained force at the base', '% of weight', 100.0, 0.02,
             high_only=True),
    Quantity('mass_error', 'mass beyond the model', 'kg', 1.0, 0.2, 2),
    Quantity('gravity_error', 'gravity by the accelerometer, too large', 'm/s²', 1.0, 0.05, 3),
    *(Quantity(f'gyro_bias_{axis}', f'gyro bias, {axis}', 'deg/s', float(np.degrees(1.0)), 0.003,
               2) for axis in 'xyz'),
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


def find_outliers(frame: pd.DataFrame, quantities: Sequence[Quantity],
                  part: str = '') -> list[Outlier]:
    """
    Return the values that are far from the median of their robot.

    Beyond `FAR` robust standard deviations (1.4826 times the median absolute deviation,
    Hampel 1974); ``part``: column of foot, joint or topic, or empty.
    """
    found = []
    keys = [frame[key] for key in ('robot', part) if key]
    for quantity in quantities:
        values = frame[quantity.column].astype(float)
        usual = values.groupby(keys).transform('median')
        apart = values - usual
        spread = (_NORMAL * apart.abs().groupby(keys).transform('median')).clip(
            lower=quantity.least / FAR)
        far = (apart if quantity.high_only else apart.abs()) / spread
        odd = (far > FAR) & (values.groupby(keys).transform('count') >= FEWEST)
        found += [Outlier(row['recording'], f'{quantity.name}, {row[part]}' if part else
                          quantity.name, quantity.text(values[at]), quantity.text(usual[at]),
                          far[at]) for at, row in frame[odd].iterrows()]
    return found


# -------------------------------------------------------------------------------------------------


class _Tables(NamedTuple):
    """Tables of a fleet in the order of time: a row a recording, or a foot, joint, ... of it."""

    summary: pd.DataFrame
    feet: pd.DataFrame
    joints: pd.DataFrame
    inputs: pd.DataFrame
    errors: pd.DataFrame


class Fleet(_Tables):
    """Tables of a fleet, and what follows from them."""

    @property
    def robots(self) -> list[str]:
        """Return the names of the robots."""
        return sorted(self.summary['robot'].unique())

    def of(self, robot: str) -> Fleet:
        """Return the tables of one robot."""
        return Fleet(*(rows[rows['robot'] == robot] for rows in self))

    @cached_property
    def outliers(self) -> list[Outlier]:
        """Return untrusted recordings first, then the outliers, the farthest first."""
        doubted = self.summary[~self.summary['trusted'].astype(bool)]
        found = [Outlier(row['recording'], f'not to be trusted: {"; ".join(row["doubts"])}',
                         '', '', np.inf) for _, row in doubted.iterrows()]
        return sorted([*found, *find_outliers(self.summary, SUMMARY),
                       *find_outliers(self.feet, FEET, 'foot'),
                       *find_outliers(self.joints, JOINTS, 'joint'),
                       *find_outliers(self.inputs, INPUTS, 'topic')], key=lambda one: -one.far)

    @property
    def error(self) -> pd.Series:
        """Vertical error on line in contact, over the weight, by recording with a truth."""
        rows = self.errors[(self.errors['treatment'] == ON_LINE)
                           & (self.errors['subject'] != 'sum of all feet')]
        weight = self.summary.set_index('recording')['weight']
        return (rows.groupby('recording')['vertical'].max() / weight).dropna()


def read_fleet(data: DataSet) -> Fleet:
    """Return the tables of a data set, without time series."""
    summary = data.read(schema.SUMMARY).to_pandas()
    start = summary[['recording', 'start']]
    return Fleet(*(
        rows.sort_values(['start', 'recording'], kind='stable', ignore_index=True)
        for rows in (summary, *(data.read(table).to_pandas().merge(start, on='recording')
                                for table in (schema.FEET, schema.JOINTS, schema.INPUTS,
                                              schema.ERRORS)))))


REPORTS = 'reports'
MOST_OUTLIERS = 100
MOST_ROBOTS = 30
EXPLANATION = (
    'A dot is a recording. Outliers are farther than six robust standard deviations from the '
    "median of the same robot's recordings (five or more), and by more than a minimum that "
    'matters. The share of the load is that of the vertical impulse, as published. Slip is how '
    'far a foot slides during a stance against the other feet on the ground; with two on the '
    'ground they share it.')


def write_fleet_report(fleet: Fleet, failed: Sequence[Outcome], out: Path,
                       reports: Mapping[str, str]) -> Path:
    """Write the page and return its path; ``reports``: those of recordings, from ``out``."""
    rows, odd, robots = fleet.summary, fleet.outliers, fleet.robots
    sections = [_outlier_section(odd, rows, reports)] if odd else []
    sections += failed_sections(failed, 'recording')
    if robots:
        sections.append(ReportSection('All robots', [
            *_trends(rows, SUMMARY, 'robot'), EXPLANATION]))
    for robot in robots[:MOST_ROBOTS]:
        own = fleet.of(robot)
        sections.append(ReportSection(robot, [
            *_trends(own.feet, FEET, 'foot'), *_trends(own.inputs, INPUTS, 'topic'),
            by_day(own)]))
    if len(robots) > MOST_ROBOTS:
        sections.append(ReportSection('', [
            f'{len(robots) - MOST_ROBOTS} more robots are in the data set only.']))
    sections.append(data_section('All summaries and time series', 'robot and day', 'feet'))
    return Report(
        'Ground reactions of a fleet',
        f'{counted(len(rows), "recording")} of {counted(len(robots), "robot")}, '
        f'{rows["duration"].sum() / 3600.0:.2f} h, '
        f'{counted(rows["day"].nunique(), "day")}.', sections,
        command_line('legged-dynamics analyze DIR'), verdict(fleet), judged=False,
        warnings=warned(failed, 'recording')).write(out)


def failed_sections(failed: Sequence[Outcome], thing: str) -> list[ReportSection]:
    """Return the section on what could not be analysed, if there is any."""
    return [ReportSection(f'{thing.capitalize()}s that could not be analysed', [
        Listing([f'{outcome.path}: {outcome.error}' for outcome in failed])])] if failed else []


def warned(failed: Sequence[Outcome], thing: str) -> list[str]:
    """Return what a page says first when something could not be analysed."""
    return [f'{counted(len(failed), thing)} could not be analysed: see below.'] if failed else []


def data_section(what: str, keys: str, example: str) -> ReportSection:
    """Return where the tables are, and how one is read."""
    return ReportSection('Data', [
        f'{what} are a Parquet data set in {FOLDER}/ beside this page, a folder a table, '
        f"partitioned by {keys}; for example pandas.read_parquet('{FOLDER}/{example}')."])


def _outlier_section(odd: Sequence[Outlier], rows: pd.DataFrame,
                     reports: Mapping[str, str]) -> ReportSection:
    about = rows.set_index('recording')
    parts: list[Part] = [Table(
        '', ('recording', 'robot', 'day', 'what', 'is', 'usual for the robot'), [
            (Link(one.recording, reports[one.recording]) if one.recording in reports else
             one.recording, *about.loc[one.recording, ['robot', 'day']], one.what, one.value,
             one.usual) for one in odd[:MOST_OUTLIERS]])]
    if len(odd) > MOST_OUTLIERS:
        parts.append(f'{len(odd) - MOST_OUTLIERS} more are left out.')
    return ReportSection('Recordings to look at', parts)


def verdict(fleet: Fleet) -> str:
    """Return the outcome in a sentence or two: trusted recordings, residual, error."""
    rows, error = fleet.summary, fleet.error.median()
    if rows.empty:
        return 'No recording could be analysed.'
    unlike = len({outlier.recording for outlier in fleet.outliers if np.isfinite(outlier.far)})
    said = (f'{rows["trusted"].sum()} of {counted(len(rows), "recording")} deserve trust; '
            f'{unlike} {"is" if unlike == 1 else "are"} unlike the others of the robot. Half of '
            f'them leave less than {100.0 * rows["residual_share"].median():.1f} % of the weight '
            'unexplained at the base.')
    if np.isfinite(error):
        said += (' Where a recording has the truth, the vertical force on a foot in contact was '
                 f'off by {100.0 * error:.1f} % of the weight on line (median).')
    return said


def _trends(rows: pd.DataFrame, quantities: Sequence[Quantity], by: str) -> list[Chart]:
    """Return a chart a quantity over the date, with dots of each robot, foot or topic."""
    time = np.array([start.timestamp() for start in rows['start']])
    return [Chart(quantity.name.capitalize(), quantity.unit, time, [
        Line(name, (quantity.scale * rows[quantity.column]).where(rows[by] == name).to_numpy(), k)
        for k, name in enumerate(rows[by].unique())], quantity.scale * quantity.least,
        quantity.digits, height=230, dates=True) for quantity in quantities]


def by_day(robot: Fleet) -> Table:
    """Return the medians of each day with recordings of one robot."""
    summary, feet = robot.summary, robot.feet['foot'].unique()
    lost = robot.inputs.groupby('recording')['lost'].max()
    values = pd.DataFrame({
        'residual': 100.0 * summary['residual_share'], 'mass': summary['mass_error'],
        'lost': 100.0 * summary['recording'].map(lost),
        'error': 100.0 * summary['recording'].map(robot.error)})
    rows = []
    for day, own in summary.groupby('day', sort=False):
        medians = values.loc[own.index].median()
        of_feet = robot.feet[robot.feet['day'] == day].groupby('foot')[
            ['load_share', 'duty', 'slip']].median().reindex(feet)
        rows.append((
            str(day), str(len(own)), f'{own["duration"].sum() / 60.0:.1f}',
            *(' / '.join(shown(scale * value, f'.{digits}f') for value in of_feet[name])
              for name, scale, digits in (('load_share', 100.0, 0), ('duty', 100.0, 0),
                                          ('slip', 1e3, 1))),
            *(shown(medians[name], f'.{digits}f') for name, digits in (
                ('residual', 1), ('mass', 2), ('lost', 1), ('error', 1)))))
    return Table(''.join(robot.robots), (
        'day', 'recordings', 'minutes', f'share of load [%] {" / ".join(feet)}', 'duty [%]',
        'slip a stance [mm]', 'unexplained [% of weight]', 'mass beyond the model [kg]',
        'lost [%]', 'error on line [% of weight]'), rows)


def counted(count: int, thing: str) -> str:
    """Return a count with its noun: '1 robot', '2 robots'."""
    return f'{count} {thing}{"" if count == 1 else "s"}'


# -------------------------------------------------------------------------------------------------
# A report of one recording of the fleet; of a long one, the part with the largest residual.


# Longest part of a recording in its report, which holds all data that it shows [s].
LONGEST = 120.0


class ReportJob(NamedTuple):
    """A recording to write a report of: its path, options, worst second, duration, and where."""

    recording: str
    path: Path
    options: AnalysisOptions
    worst_at: float
    duration: float
    folder: Path


def make_report(job: ReportJob) -> str:
    """Write a recording's report, of a long one the worst part; return the page's path."""
    options, warnings = job.options, []
    if job.duration > LONGEST:
        worst = job.worst_at if job.worst_at == job.worst_at else 0.0
        begin = min(max(worst - LONGEST / 2.0, 0.0), job.duration - LONGEST)
        first = (options.start or 0.0) + begin
        options = replace(options, start=first or None, end=first + LONGEST)
        warnings = [f'{LONGEST:.0f} of {job.duration:.0f} s, around the second with the largest '
                    'residual.']
    return str(write_report(analyse(job.path, options), job.folder, warnings))
