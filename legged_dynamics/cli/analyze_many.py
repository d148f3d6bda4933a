# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``analyze`` of many recordings: a batch on Dask, one data set and the fleet's report."""
from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from legged_dynamics.cli.output import output_folder
from legged_dynamics.cli.progress import counting, show

if TYPE_CHECKING:
    from legged_dynamics.analysis.fleet.data_set import DataSet
    from legged_dynamics.analysis.fleet.facts import RobotFacts
    from legged_dynamics.analysis.fleet.job import Job
    from legged_dynamics.analysis.fleet.summarise import Outcome
    from legged_dynamics.analysis.options import AnalysisOptions

INTERRUPTED, SOME_FAILED, ALL_FAILED = 130, 4, 2
FAILED = 'failed.csv'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a batch."""
    many = parser.add_argument_group('many recordings')
    many.add_argument('--workers', type=_count, metavar='N',
                      help='processes on this machine; default: one a processor')
    many.add_argument('--scheduler', default='', metavar='ADDRESS',
                      help='of a running Dask cluster, such as tcp://10.0.0.1:8786, that sees '
                      'recordings and output under the same paths')
    many.add_argument('--robot-folders', action='store_true',
                      help='robots are named by the folders right below DIR; default: by the '
                      'namespace of their joint states, or by their model')
    many.add_argument('--no-series', action='store_true',
                      help='keep no time series in the data set')
    many.add_argument('--reports', type=_count, default=10, metavar='N',
                      help='recordings that get a report of their own, the oddest first '
                      '(default: 10)')


def is_batch(args: argparse.Namespace) -> bool:
    """Return whether the words ask for more than the report of one bag."""
    from legged_dynamics.analysis.fleet.job import find_recordings, is_recording
    from legged_dynamics.exceptions import BagError

    if len(args.bags) > 1 or args.workers is not None or args.scheduler:
        return True
    if not args.bags[0].is_dir() or is_recording(args.bags[0]):
        return False
    try:
        return bool(find_recordings(args.bags))
    except BagError:        # the one bag that was meant is not there, which it says best itself
        return False


def analyse_many(args: argparse.Namespace, options: AnalysisOptions) -> int:
    """Analyse all recordings, write data set and report; return the exit code."""
    from legged_dynamics.analysis.fleet.data_set import FOLDER, DataSet
    from legged_dynamics.analysis.fleet.job import find_recordings, jobs_of, still_to_do
    from legged_dynamics.analysis.fleet.report import REPORTS
    from legged_dynamics.analysis.options import DETECTED
    from legged_dynamics.analysis.report_folder import REPORT
    from legged_dynamics.exceptions import ConfigurationError

    if options.contact != (DETECTED,):
        raise ConfigurationError('--contact: of many recordings, contacts can only be detected; '
                                 'analyse one bag to give them')
    _need('distributed', 'pyarrow')
    out = args.out or Path('fleet_analysis')
    with output_folder(out, (FOLDER, REPORT, REPORTS, FAILED)):
        jobs = jobs_of(find_recordings(args.bags), options, out,
                       robot_folders=args.robot_folders, series=not args.no_series)
        data = DataSet(out.resolve())
        data.clean()
        there = data.there()
        todo = still_to_do(jobs, there)
        kept = len(jobs) - len(todo)
        if kept:
            print(f'{kept} of {len(jobs)} recordings are there already; {len(todo)} to do.')
        for job in todo:
            if job.recording in there:
                data.forget(job.recording)
        outcomes: list[Outcome] = []
        try:
            return _work(args, options, data, (jobs, todo), outcomes)
        except KeyboardInterrupt:
            done = kept + sum(not outcome.error for outcome in outcomes)
            print(f'\nInterrupted. {done} of {len(jobs)} recordings are kept in {out}; the same '
                  'command goes on from there.', file=sys.stderr)
            return INTERRUPTED


def _work(args: argparse.Namespace, options: AnalysisOptions, data: DataSet,
          jobs: tuple[Sequence[Job], Sequence[Job]], outcomes: list[Outcome]) -> int:
    from legged_dynamics.analysis.fleet.batch import check_workers, cluster, run_batch
    from legged_dynamics.analysis.fleet.facts import read_facts

    every, todo = jobs
    out = data.folder.parent
    reports: dict[str, str] = {}
    facts: list[RobotFacts] = []
    if todo or args.reports:
        with cluster(min(args.workers or os.cpu_count() or 1, max(len(todo), 1)),
                     args.scheduler) as client:
            check_workers(client, out, [job.path for job in every])
            with counting('Recordings', len(todo)) as advance:
                def done(outcome: Outcome) -> None:
                    outcomes.append(outcome)
                    advance(bool(outcome.error))

                run_batch(client, todo, done)
            facts = read_facts(data)
            reports = _own_reports(client, facts, options, out, args.reports)
    failed = [outcome for outcome in outcomes if outcome.error]
    _list_failed(failed, out / FAILED)
    return _conclude(facts or read_facts(data), failed, out, reports)


def _own_reports(client: Any, facts: Sequence[RobotFacts], options: AnalysisOptions, out: Path,
                 most: int) -> dict[str, str]:
    """Make the reports of the oddest recordings; return all that are there, by recording."""
    from legged_dynamics.analysis.fleet.batch import each_result
    from legged_dynamics.analysis.fleet.own_report import ReportJob, make_report
    from legged_dynamics.analysis.fleet.report import REPORTS
    from legged_dynamics.analysis.report_folder import REPORT

    odd = sorted((outlier for robot in facts for outlier in robot.outliers()),
                 key=lambda one: -one.far)
    chosen = list(dict.fromkeys(outlier.recording for outlier in odd))[:most]
    rows = {row['recording']: row for robot in facts for row in robot.summary}
    made = {name: f'{REPORTS}/{name}/{REPORT}' for name in chosen}
    jobs = [ReportJob(name, Path(rows[name]['path']), options, rows[name]['worst_at'],
                      rows[name]['duration'], out / REPORTS / name)
            for name in chosen if not _newer(out / made[name], rows[name])]
    with counting('Reports', len(jobs)) as advance:
        for job, result in each_result(client, make_report, jobs):
            advance(isinstance(result, BaseException))
            if isinstance(result, BaseException):
                del made[job.recording]
                print(f'No report of {job.path}: {result}', file=sys.stderr)
    return made


def _newer(report: Path, row: dict[str, Any]) -> bool:
    """Return whether a report was written after the recording's summary was."""
    return report.is_file() and report.stat().st_mtime > row['written'].timestamp()


def _conclude(facts: Sequence[RobotFacts], failed: Sequence[Outcome], out: Path,
              reports: dict[str, str]) -> int:
    """Write the report, print what came out, and return the exit code."""
    from legged_dynamics.analysis.fleet.report import by_day, counted, verdict, write_fleet_report
    from legged_dynamics.analysis.verdict import DOUBTFUL

    odd = [outlier for robot in facts for outlier in robot.outliers()]
    rows = [row for robot in facts for row in robot.summary]
    if failed:
        print(f'{counted(len(failed), "recording")} could not be analysed:')
        for outcome in failed:
            print(f'- {outcome.path}: {outcome.error}')
    print(verdict(facts, odd))
    for outlier in odd[:20]:
        usual = f'; usual {outlier.usual}' if outlier.usual else ''
        print(f'- {outlier.recording}: {outlier.what} {outlier.value}{usual}')
    for robot in facts[:10]:
        print()
        show(by_day(robot))
    print(f'\nReport: {write_fleet_report(facts, failed, out, reports)}')
    if failed:
        return SOME_FAILED if rows else ALL_FAILED
    return 0 if all(row['trusted'] for row in rows) else DOUBTFUL


def _list_failed(failed: Sequence[Outcome], path: Path) -> None:
    """Write down what failed; no file when nothing did."""
    import csv

    if not failed:
        path.unlink(missing_ok=True)
        return
    with path.open('w', encoding='utf-8', newline='') as file:
        writer = csv.writer(file)
        writer.writerow(('recording', 'path', 'error'))
        writer.writerows((outcome.recording, outcome.path, outcome.error) for outcome in failed)


def _need(*packages: str) -> None:
    from importlib.util import find_spec

    from legged_dynamics.exceptions import ConfigurationError

    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise ConfigurationError(f'many recordings need {", ".join(missing)}, which is not '
                                 'installed: pip install "legged_dynamics[fleet]"')


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f'expected a count from 0 on, got {value}')
    return value
