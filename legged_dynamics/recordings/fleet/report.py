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
from pathlib import Path
from typing import Any, NamedTuple

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
    Return the values of one robot far from its median, the farthest first.

    Beyond `FAR` robust standard deviations (1.4826 times the median absolute deviation,
    Hampel 1974); ``part``: column of foot, joint or topic, or empty.
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
        """Return a foot's column as a value per recording, NaN where unknown."""
        return self._by_recording(self.feet[self.feet['foot'] == foot], name)

    def _worst_input(self, name: str) -> pd.Series:
        """Return the larger value of joint states and IMU."""
        return self._by_recording(self.inputs, name)

    def errors_of(self, treatment: str) -> pd.Series:
        """Return a treatment's vertical RMS error in contact, worse behaviour, over the weight."""
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
    """Return the summaries of all robots in one table, a row per recording."""
    columns = [field.name for field in schema.SUMMARY.fields] + ['robot', 'day']
    return (pd.concat([robot.summary for robot in robots], ignore_index=True) if robots
            else pd.DataFrame(columns=columns))


def read_facts(data: DataSet) -> list[RobotFacts]:
    """Return the facts of each robot of a data set, without time series."""
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


REPORTS = 'reports'
MOST_OUTLIERS = 100
MOST_ROBOTS = 30
# Charts of all robots: column of the summary, title, unit, scale, least span, digits.
TRENDS = (('residual_share', 'Force at the base that the estimate leaves unexplained',
           '% of weight', 100.0, 5.0, 2),
          ('mass_error', 'Mass beyond the model, at the end of each recording', 'kg', 1.0, 1.0, 2),
          ('gravity_error', 'Gravity by the accelerometer, too large, while the robot stands',
           'm/s²', 1.0, 0.1, 3))
EXPLANATION = (
    'A dot is a recording. Outliers are farther than six robust standard deviations from the '
    "median of the same robot's recordings (five or more), and by more than a minimum that "
    'matters. Load is the vertical force as published, share of load that of the vertical '
    'impulse. Slip is how far a foot slides during a stance against the other feet on the ground; '
    'with two on the ground they share it.')


def write_fleet_report(robots: Sequence[RobotFacts], failed: Sequence[Outcome], out: Path,
                       reports: Mapping[str, str]) -> Path:
    """Write the page and return its path; ``reports``: those of recordings, from ``out``."""
    rows = all_summaries(robots)
    odd = [(robot.robot, outlier) for robot in robots for outlier in robot.outliers()]
    sections = []
    if odd:
        sections.append(_outlier_section(odd, rows, reports))
    sections += failed_sections(failed, 'recording')
    if len(rows):
        sections.append(ReportSection('All robots', [*_all_robots(robots), EXPLANATION]))
    sections += [ReportSection(robot.robot, [*_one_robot(robot), by_day(robot)])
                 for robot in robots[:MOST_ROBOTS]]
    if len(robots) > MOST_ROBOTS:
        sections.append(ReportSection('', [
            f'{len(robots) - MOST_ROBOTS} more robots are in the data set only.']))
    sections.append(data_section('All summaries and time series', 'robot and day', 'feet'))
    return Report(
        'Ground reactions of a fleet',
        f'{counted(len(rows), "recording")} of {counted(len(robots), "robot")}, '
        f'{rows["duration"].sum() / 3600.0:.2f} h, '
        f'{counted(rows["day"].nunique(), "day")}.', sections,
        command_line('legged-dynamics analyze DIR'),
        verdict(robots, [outlier for _, outlier in odd]), judged=False,
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


def _outlier_section(odd: Sequence[tuple[str, Outlier]], rows: pd.DataFrame,
                     reports: Mapping[str, str]) -> ReportSection:
    days = dict(zip(rows['recording'], rows['day']))
    parts: list[Part] = [Table(
        '', ('recording', 'robot', 'day', 'what', 'is', 'usual for the robot'), [
            (_link(outlier.recording, reports), robot, days[outlier.recording], outlier.what,
             outlier.value, outlier.usual) for robot, outlier in odd[:MOST_OUTLIERS]])]
    if len(odd) > MOST_OUTLIERS:
        parts.append(f'{len(odd) - MOST_OUTLIERS} more are left out.')
    return ReportSection('Recordings to look at', parts)


def verdict(robots: Sequence[RobotFacts], odd: Sequence[Outlier]) -> str:
    """Return the outcome in a sentence or two: trusted recordings, residual, error."""
    rows = all_summaries(robots)
    if rows.empty:
        return 'No recording could be analysed.'
    unlike = len({outlier.recording for outlier in odd if np.isfinite(outlier.far)})
    error = pd.concat([robot.errors_of(ON_LINE) for robot in robots]).median()
    said = (f'{rows["trusted"].sum()} of {counted(len(rows), "recording")} deserve trust; '
            f'{unlike} {"is" if unlike == 1 else "are"} unlike the others of the robot. Half of '
            f'them leave less than {100.0 * rows["residual_share"].median():.1f} % of the weight '
            'unexplained at the base.')
    if np.isfinite(error):
        said += (' Where a recording has the truth, the vertical force on a foot in contact was '
                 f'off by {100.0 * error:.1f} % of the weight on line (median).')
    return said


def _all_robots(robots: Sequence[RobotFacts]) -> list[Chart]:
    """Return charts over the date with a curve a robot: residual, mass, gravity, gyro, losses."""
    frames = []
    for robot in robots:
        own = robot.summary
        frames.append(pd.DataFrame({
            'robot': robot.robot, 'time': _seconds(robot),
            **{name: scale * own[name] for name, _, _, scale, _, _ in TRENDS},
            'gyro': np.degrees(np.sqrt(sum(own[f'gyro_bias_{axis}'] ** 2 for axis in 'xyz'))),
            'lost': 100.0 * robot._worst_input('lost')}))
    every = pd.concat(frames).sort_values('time', kind='stable')
    return [Chart(title, unit, every['time'].to_numpy(), [
        Line(robot.robot, every[name].where(every['robot'] == robot.robot).to_numpy(), k)
        for k, robot in enumerate(robots)], least, digits, height=230, dates=True)
        for name, title, unit, least, digits in (
            *((name, title, unit, least, digits)
              for name, title, unit, _, least, digits in TRENDS),
            ('gyro', 'Gyro bias while the robot stands', 'deg/s', 0.2, 2),
            ('lost', 'Messages lost, the worse of joint states and IMU', '%', 2.0, 2))]


def _one_robot(robot: RobotFacts) -> list[Chart]:
    """Return charts over the date with a curve a foot: load, duty, slip."""
    time, weight = _seconds(robot), robot.summary['weight']
    return [Chart(f'{robot.robot}: {title}', unit, time, [
        Line(foot, (scale * robot.of_foot(foot, name)
                    / (weight if name == 'load' else 1.0)).to_numpy(), k)
        for k, foot in enumerate(robot.foot_names)], least, height=230, dates=True)
        for name, title, unit, scale, least in (
            ('load', 'load of a foot while it is down', '% of weight', 100.0, 10.0),
            ('duty', 'duty of each foot', '%', 100.0, 10.0),
            ('slip', 'slip a stance', 'mm', 1e3, 5.0))]


def by_day(robot: RobotFacts) -> Table:
    """Return the medians of each day with recordings."""
    feet, summary = robot.foot_names, robot.summary
    by_foot = [(name, scale, digits) for name, scale, digits in (
        ('load_share', 100.0, 0), ('duty', 100.0, 0), ('slip', 1e3, 1))]
    values = pd.DataFrame({
        **{f'{name} {foot}': scale * robot.of_foot(foot, name)
           for name, scale, _ in by_foot for foot in feet},
        'residual': 100.0 * summary['residual_share'], 'mass': summary['mass_error'],
        'lost': 100.0 * robot._worst_input('lost'), 'error': 100.0 * robot.errors_of(ON_LINE)})
    days = summary.groupby('day', sort=False)['duration'].agg(['size', 'sum'])
    medians = values.groupby(summary['day'], sort=False).median()
    rows = [(day, str(count), f'{seconds / 60.0:.1f}',
             *(' / '.join(shown(medians.at[day, f'{name} {foot}'], f'.{digits}f') for foot in feet)
               for name, _, digits in by_foot),
             *(shown(medians.at[day, name], f'.{digits}f') for name, digits in (
                 ('residual', 1), ('mass', 2), ('lost', 1), ('error', 1))))
            for day, count, seconds in days.itertuples()]
    named = ' / '.join(feet)
    return Table(robot.robot, (
        'day', 'recordings', 'minutes', f'share of load [%] {named}', 'duty [%]',
        'slip a stance [mm]', 'unexplained [% of weight]', 'mass beyond the model [kg]',
        'lost [%]', 'error on line [% of weight]'), rows)


def counted(count: int, thing: str) -> str:
    """Return a count with its noun: '1 robot', '2 robots'."""
    return f'{count} {thing}{"" if count == 1 else "s"}'


def _seconds(robot: RobotFacts) -> np.ndarray:
    """Return when each recording began, since 1970 [s]."""
    return np.array([start.timestamp() for start in robot.summary['start']])


def _link(recording: str, reports: Mapping[str, str]) -> str | Link:
    return Link(recording, reports[recording]) if recording in reports else recording


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
