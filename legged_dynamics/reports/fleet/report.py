# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The fleet's report: which recordings to look at, and how each robot does from day to day."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from legged_dynamics.recordings.replay import AnalysisOptions
from legged_dynamics.reports.bag.accuracy import ON_LINE
from legged_dynamics.reports.fleet.data_set import FOLDER
from legged_dynamics.reports.fleet.facts import Outlier, RobotFacts
from legged_dynamics.reports.fleet.summarise import Outcome
from legged_dynamics.reports.page import Chart, Line, Link, Table, command_line
from legged_dynamics.reports.section import Listing, Part, Report, ReportSection

REPORTS = 'reports'
MOST_OUTLIERS, MOST_ROBOTS = 100, 30
# Of the summaries: what a chart of all robots shows, its scale and the least span of its axis.
TRENDS = (('residual_share', 'Force at the base that the estimate leaves unexplained',
           '% of weight', 100.0, 5.0, 2),
          ('mass_error', 'Mass beyond the model, at the end of each recording', 'kg', 1.0, 1.0, 2),
          ('gravity_error', 'Gravity by the accelerometer, too large, while the robot stands',
           'm/s²', 1.0, 0.1, 3))
EXPLANATION = (
    'A dot is a recording. Outliers are farther than six robust standard deviations from the '
    "median of the same robot's recordings (five or more), and by more than is worth a word. Load "
    'is the vertical force as published, share of load that of the vertical impulse. Slip is how '
    'far a foot slides during a stance against the other feet on the ground; with two on the '
    'ground they share it.')


def write_fleet_report(robots: Sequence[RobotFacts], failed: Sequence[Outcome], out: Path,
                       reports: Mapping[str, str]) -> Path:
    """
    Write the page and return its path.

    Parameters
    ----------
    robots : sequence of RobotFacts
        What the data set says of each.
    failed : sequence of Outcome
        Recordings that could not be analysed.
    out : Path
        Folder of the batch's results.
    reports : mapping of str to str
        The reports that recordings have of their own, from that folder.

    Raises
    ------
    OutputError
        When it cannot be written.

    """
    rows = [row for robot in robots for row in robot.summary]
    odd = [(robot.robot, outlier) for robot in robots for outlier in robot.outliers()]
    sections = []
    if odd:
        sections.append(_outlier_section(odd, rows, reports))
    if failed:
        sections.append(ReportSection('Recordings that could not be analysed', [
            Listing([f'{outcome.path}: {outcome.error}' for outcome in failed])]))
    if rows:
        sections.append(ReportSection('All robots', [*all_robots(robots), EXPLANATION]))
    sections += [ReportSection(robot.robot, [*one_robot(robot), by_day(robot)])
                 for robot in robots[:MOST_ROBOTS]]
    if len(robots) > MOST_ROBOTS:
        sections.append(ReportSection('', [
            f'{len(robots) - MOST_ROBOTS} more robots are in the data set only.']))
    sections.append(ReportSection('Data', [
        f'All summaries and time series are a Parquet data set in {FOLDER}/ beside '
        'this page, a folder a table, partitioned by robot and day; for example '
        f"pandas.read_parquet('{FOLDER}/feet')."]))
    return Report(
        'Ground reactions of a fleet',
        f'{counted(len(rows), "recording")} of {counted(len(robots), "robot")}, '
        f'{sum(row["duration"] for row in rows) / 3600.0:.2f} h, '
        f'{counted(len({row["day"] for row in rows}), "day")}.', sections,
        command_line('legged-dynamics analyze DIR'),
        verdict(robots, [outlier for _, outlier in odd]), judged=False,
        warnings=[f'{counted(len(failed), "recording")} could not be analysed: see below.']
        if failed else ()).write(out)


def _outlier_section(odd: Sequence[tuple[str, Outlier]], rows: Sequence[Mapping[str, Any]],
                     reports: Mapping[str, str]) -> ReportSection:
    days = {row['recording']: row['day'] for row in rows}
    parts: list[Part] = [Table(
        '', ('recording', 'robot', 'day', 'what', 'is', 'usual for the robot'), [
            (_link(outlier.recording, reports), robot, days[outlier.recording], outlier.what,
             outlier.value, outlier.usual) for robot, outlier in odd[:MOST_OUTLIERS]])]
    if len(odd) > MOST_OUTLIERS:
        parts.append(f'{len(odd) - MOST_OUTLIERS} more are left out.')
    return ReportSection('Recordings to look at', parts)


def verdict(robots: Sequence[RobotFacts], odd: Sequence[Outlier]) -> str:
    """Return what came out, in a sentence or two."""
    rows = [row for robot in robots for row in robot.summary]
    if not rows:
        return 'No recording could be analysed.'
    doubted = sum(not row['trusted'] for row in rows)
    unlike = len({outlier.recording for outlier in odd if np.isfinite(outlier.far)})
    share = float(np.nanmedian([row['residual_share'] for row in rows]))
    errors = np.concatenate([robot.errors_of(ON_LINE) for robot in robots])
    said = (f'{len(rows) - doubted} of {counted(len(rows), "recording")} deserve trust; '
            f'{unlike} {"is" if unlike == 1 else "are"} unlike the others of the robot. Half of '
            f'them leave less than {100.0 * share:.1f} % of the weight unexplained at the base.')
    if np.isfinite(errors).any():
        said += (' Where a recording has the truth, the vertical force on a foot in contact was '
                 f'off by {100.0 * float(np.nanmedian(errors)):.1f} % of the weight on line '
                 '(median).')
    return said


def all_robots(robots: Sequence[RobotFacts]) -> list[Chart]:
    """Return charts with a curve a robot: residual and sensors' health."""
    counts = [len(robot.summary) for robot in robots]
    time = np.concatenate([_seconds(robot) for robot in robots])
    order = np.argsort(time, kind='stable')

    def lines(values: Sequence[np.ndarray]) -> list[Line]:
        found, before = [], 0
        for k, (robot, own) in enumerate(zip(robots, values)):
            column = np.full(len(time), np.nan)
            column[before:before + counts[k]] = own
            found.append(Line(robot.robot, column[order], k))
            before += counts[k]
        return found

    charts = [Chart(title, unit, time[order],
                    lines([scale * robot.column(name) for robot in robots]), least, digits,
                    height=230, dates=True)
              for name, title, unit, scale, least, digits in TRENDS]
    charts.append(Chart(
        'Gyro bias while the robot stands', 'deg/s', time[order], lines([np.degrees(np.sqrt(sum(
            robot.column(f'gyro_bias_{axis}') ** 2 for axis in 'xyz'))) for robot in robots]),
        0.2, 2, height=230, dates=True))
    charts.append(Chart(
        'Messages lost, the worse of joint states and IMU', '%', time[order],
        lines([100.0 * robot.worst_input('lost') for robot in robots]), 2.0, 2, height=230,
        dates=True))
    return charts


def one_robot(robot: RobotFacts) -> list[Chart]:
    """Return charts with a curve a foot."""
    time = _seconds(robot)
    weight = robot.column('weight')
    return [Chart(f'{robot.robot}: {title}', unit, time, [
        Line(foot, scale * robot.of_foot(foot, name) / (weight if name == 'load' else 1.0), k)
        for k, foot in enumerate(robot.foot_names)], least, height=230, dates=True)
        for name, title, unit, scale, least in (
            ('load', 'load of a foot while it is down', '% of weight', 100.0, 10.0),
            ('duty', 'duty of each foot', '%', 100.0, 10.0),
            ('slip', 'slip a stance', 'mm', 1e3, 5.0))]


def by_day(robot: RobotFacts) -> Table:
    """Return a row a day: medians over its recordings."""
    feet = robot.foot_names
    days = np.array([row['day'] for row in robot.summary])
    columns = [100.0 * robot.column('residual_share'), robot.column('mass_error'),
               100.0 * robot.worst_input('lost'), 100.0 * robot.errors_of(ON_LINE)]
    by_foot = [[scale * robot.of_foot(foot, name) for foot in feet]
               for name, scale in (('load_share', 100.0), ('duty', 100.0), ('slip', 1e3))]
    rows = []
    for day in robot.days:
        own = days == day
        rows.append((day, str(own.sum()), f'{robot.column("duration")[own].sum() / 60.0:.1f}',
                     *(' / '.join(_median(values[own], digits) for values in columns_of)
                       for columns_of, digits in zip(by_foot, (0, 0, 1))),
                     *(_median(values[own], digits) for values, digits in zip(columns,
                                                                              (1, 2, 1, 1)))))
    named = ' / '.join(feet)
    return Table(robot.robot, (
        'day', 'recordings', 'minutes', f'share of load [%] {named}', 'duty [%]',
        'slip a stance [mm]', 'unexplained [% of weight]', 'mass beyond the model [kg]',
        'lost [%]', 'error on line [% of weight]'), rows)


def counted(count: int, thing: str) -> str:
    """Return '1 robot', '2 robots'."""
    return f'{count} {thing}{"" if count == 1 else "s"}'


def _median(values: np.ndarray, digits: int) -> str:
    values = values[np.isfinite(values)]
    return f'{float(np.median(values)):.{digits}f}' if len(values) else '-'


def _seconds(robot: RobotFacts) -> np.ndarray:
    return np.array([row['start'].timestamp() for row in robot.summary])


def _link(recording: str, reports: Mapping[str, str]) -> str | Link:
    return Link(recording, reports[recording]) if recording in reports else recording


# -------------------------------------------------------------------------------------------------
# A report of its own for a recording of a batch: of the worst of it where it is long.


# A longer recording's report shows so much of it [s], for a report holds all that it shows.
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
    """
    Write the report of a recording; return its path.

    Raises
    ------
    LeggedDynamicsError
        When the recording cannot be read or the report not be written.

    """
    from legged_dynamics.reports.bag.analysis import analyse
    from legged_dynamics.reports.bag.report import write_report

    options, warnings = job.options, []
    if job.duration > LONGEST:
        worst = job.worst_at if job.worst_at == job.worst_at else 0.0
        begin = min(max(worst - LONGEST / 2.0, 0.0), job.duration - LONGEST)
        first = (options.start or 0.0) + begin
        options = replace(options, start=first or None, end=first + LONGEST)
        warnings = [f'{LONGEST:.0f} of {job.duration:.0f} s, around the second with the largest '
                    'residual.']
    return str(write_report(analyse(job.path, options), job.folder, warnings))
