# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The report of a fleet: outliers among the recordings, and each robot from day to day."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from legged_dynamics.recordings.replay import AnalysisOptions
from legged_dynamics.reports.bag.accuracy import ON_LINE
from legged_dynamics.reports.fleet.data_set import FOLDER
from legged_dynamics.reports.fleet.facts import Outlier, RobotFacts, all_summaries
from legged_dynamics.reports.fleet.summarise import Outcome
from legged_dynamics.reports.page import Chart, Line, Link, Table, command_line
from legged_dynamics.reports.section import Listing, Part, Report, ReportSection

REPORTS = 'reports'
MOST_OUTLIERS, MOST_ROBOTS = 100, 30
# Charts of all robots: column of the summary, title, unit, scale, least span, digits.
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
    Write the page.

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

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    OutputError
        When it cannot be written.

    """
    rows = all_summaries(robots)
    odd = [(robot.robot, outlier) for robot in robots for outlier in robot.outliers()]
    sections = []
    if odd:
        sections.append(_outlier_section(odd, rows, reports))
    if failed:
        sections.append(ReportSection('Recordings that could not be analysed', [
            Listing([f'{outcome.path}: {outcome.error}' for outcome in failed])]))
    if len(rows):
        sections.append(ReportSection('All robots', [*_all_robots(robots), EXPLANATION]))
    sections += [ReportSection(robot.robot, [*_one_robot(robot), by_day(robot)])
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
        f'{rows["duration"].sum() / 3600.0:.2f} h, '
        f'{counted(rows["day"].nunique(), "day")}.', sections,
        command_line('legged-dynamics analyze DIR'),
        verdict(robots, [outlier for _, outlier in odd]), judged=False,
        warnings=[f'{counted(len(failed), "recording")} could not be analysed: see below.']
        if failed else ()).write(out)


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
    """
    Return what came out, in a sentence or two.

    Parameters
    ----------
    robots : sequence of RobotFacts
        What the data set says of each.
    odd : sequence of Outlier
        Of all of them.

    Returns
    -------
    str
        How many recordings deserve trust, residual and error.

    """
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
            'lost': 100.0 * robot.worst_input('lost')}))
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
    """
    Return the medians of each day.

    Parameters
    ----------
    robot : RobotFacts
        What the data set says of it.

    Returns
    -------
    Table
        A row a day with recordings.

    """
    feet, summary = robot.foot_names, robot.summary
    by_foot = [(name, scale, digits) for name, scale, digits in (
        ('load_share', 100.0, 0), ('duty', 100.0, 0), ('slip', 1e3, 1))]
    values = pd.DataFrame({
        **{f'{name} {foot}': scale * robot.of_foot(foot, name)
           for name, scale, _ in by_foot for foot in feet},
        'residual': 100.0 * summary['residual_share'], 'mass': summary['mass_error'],
        'lost': 100.0 * robot.worst_input('lost'), 'error': 100.0 * robot.errors_of(ON_LINE)})
    days = summary.groupby('day', sort=False)['duration'].agg(['size', 'sum'])
    medians = values.groupby(summary['day'], sort=False).median()
    rows = [(day, str(count), f'{seconds / 60.0:.1f}',
             *(' / '.join(_number(medians.at[day, f'{name} {foot}'], digits) for foot in feet)
               for name, _, digits in by_foot),
             *(_number(medians.at[day, name], digits) for name, digits in (
                 ('residual', 1), ('mass', 2), ('lost', 1), ('error', 1))))
            for day, count, seconds in days.itertuples()]
    named = ' / '.join(feet)
    return Table(robot.robot, (
        'day', 'recordings', 'minutes', f'share of load [%] {named}', 'duty [%]',
        'slip a stance [mm]', 'unexplained [% of weight]', 'mass beyond the model [kg]',
        'lost [%]', 'error on line [% of weight]'), rows)


def counted(count: int, thing: str) -> str:
    """
    Return a count with its noun: '1 robot', '2 robots'.

    Parameters
    ----------
    count : int
        How many there are.
    thing : str
        The noun in the singular.

    Returns
    -------
    str
        For a sentence.

    """
    return f'{count} {thing}{"" if count == 1 else "s"}'


def _number(value: float, digits: int) -> str:
    return f'{value:.{digits}f}' if np.isfinite(value) else '-'


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
    """
    Write the report of a recording.

    Parameters
    ----------
    job : ReportJob
        The recording; of a long one, the worst part is shown.

    Returns
    -------
    str
        Path of the page.

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
