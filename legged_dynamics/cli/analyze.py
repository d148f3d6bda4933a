# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``analyze``: run the live estimator over a bag and report."""
from __future__ import annotations

import argparse
import csv
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from legged_dynamics.cli import DOUBTFUL, INTERRUPTED
from legged_dynamics.cli.output import ProgressBar, counting, output_folder, say, show, show_page
from legged_dynamics.exceptions import BagError, ConfigurationError
from legged_dynamics.pages.page import command_line
from legged_dynamics.pages.section import REPORT
from legged_dynamics.parameter_file import written_file
from legged_dynamics.people.trials.csv_motion import truth_topic, write_bag_of_csv
from legged_dynamics.recordings.bags import SUFFIXES, BagReader, is_recording
from legged_dynamics.recordings.replay import DETECTED, AnalysisOptions
from legged_dynamics.recordings.report import climb as climbs
from legged_dynamics.recordings.report.analysis import (
    Analysis,
    analyse,
    distrust,
    doubtful,
    doubts,
    verdict,
    write_csv,
)
from legged_dynamics.recordings.report.enriched import write_layouts
from legged_dynamics.recordings.report.report import tables, write_report
from legged_dynamics.recordings.robot import read_model
from legged_dynamics.resources import robot_files
from legged_dynamics.schema import read_parameter_file

if TYPE_CHECKING:
    import pandas

    from legged_dynamics.recordings.fleet.batch import Job, Outcome
    from legged_dynamics.recordings.fleet.data_set import DataSet
    from legged_dynamics.recordings.fleet.report import Fleet


# -------------------------------------------------------------------------------------------------
# Many recordings: a batch of processes, one data set and the report of the fleet.


SOME_FAILED = 4
ALL_FAILED = 2
FAILED = 'failed.csv'


def _is_batch(args: argparse.Namespace) -> bool:
    """Return whether the arguments name more than one bag."""
    from legged_dynamics.recordings.fleet.summarise import find_recordings

    if len(args.bags) > 1 or args.workers is not None:
        return True
    if not args.bags[0].is_dir() or is_recording(args.bags[0]):
        return False
    try:
        return bool(find_recordings(args.bags))
    except BagError:        # the bag does not exist, which its analysis reports
        return False


def _analyse_many(args: argparse.Namespace, options: AnalysisOptions) -> int:
    """Analyse all recordings, write data set and report; return the exit code."""
    need_for_many('recordings')
    from legged_dynamics.recordings.fleet import report as fleet
    from legged_dynamics.recordings.fleet.data_set import FOLDER, DataSet
    from legged_dynamics.recordings.fleet.summarise import find_recordings, jobs_of

    if options.contact != (DETECTED,):
        raise ConfigurationError('--contact: of many recordings, contacts can only be detected; '
                                 'analyse one bag to give them')
    out = args.out or Path('fleet_analysis')
    with output_folder(out, (FOLDER, REPORT, fleet.REPORTS, FAILED)):
        jobs = jobs_of(find_recordings(args.bags), options, out,
                       robot_folders=args.robot_folders, series=not args.no_series)
        data = DataSet(out.resolve())
        failed = do_jobs(args, 'recording', out, data, jobs)
        if failed is None:
            return INTERRUPTED
        found = fleet.read_fleet(data)
        reports = _own_reports(args, found, options, out)
        print(fleet.verdict(found))
        for outlier in found.outliers[:20]:
            usual = f'; usual {outlier.usual}' if outlier.usual else ''
            print(f'- {outlier.recording}: {outlier.what} {outlier.value}{usual}')
        for robot in found.robots[:10]:
            print()
            show(fleet.by_day(found.of(robot)))
        print(f'\nReport: {fleet.write_fleet_report(found, failed, out, reports)}')
        return exit_code(failed, found.summary['trusted'])


def do_jobs(args: argparse.Namespace, thing: str, out: Path, data: DataSet, jobs: Sequence[Job],
            failed: Sequence[Outcome] = ()) -> list[Outcome] | None:
    """Do the jobs that the data set lacks; list and return what failed, None after Ctrl-C."""
    from legged_dynamics.recordings.fleet.batch import run_batch

    data.clean()
    there = data.there()
    todo = [job for job in jobs if there.get(job.recording) != job.source]
    if len(todo) < len(jobs):
        print(f'{len(jobs) - len(todo)} of {len(jobs)} {thing}s are there already; '
              f'{len(todo)} to do.')
    for job in todo:
        if job.recording in there:
            data.forget(job.recording)
    failed = list(failed)
    try:
        with counting(f'{thing.capitalize()}s', len(todo)) as advance:
            for outcome in run_batch(todo, _workers(args, todo)):
                failed.extend([outcome] if outcome.error else [])
                advance(bool(outcome.error))
    except KeyboardInterrupt:
        there = data.there()
        done = sum(job.recording in there for job in jobs)
        print(f'\nInterrupted. {done} of {len(jobs)} {thing}s are kept in {out}; the same '
              'command goes on from there.', file=sys.stderr)
        return None
    (out / FAILED).unlink(missing_ok=True)
    if failed:
        with (out / FAILED).open('w', encoding='utf-8', newline='') as file:
            csv.writer(file).writerows([('recording', 'path', 'error'), *failed])
        print(f'{len(failed)} {thing}{"s" * (len(failed) != 1)} could not be analysed:')
        for outcome in failed:
            print(f'- {outcome.path}: {outcome.error}')
    return failed


def _workers(args: argparse.Namespace, jobs: Sequence[Any]) -> int:
    return min(args.workers or os.cpu_count() or 1, max(len(jobs), 1))


def exit_code(failed: Sequence[Outcome], trusted: pandas.Series) -> int:
    """Return the exit code of a batch, by what failed and what deserves trust."""
    if failed:
        return SOME_FAILED if len(trusted) else ALL_FAILED
    return 0 if trusted.all() else DOUBTFUL


def _own_reports(args: argparse.Namespace, found: Fleet, options: AnalysisOptions,
                 out: Path) -> dict[str, str]:
    """Make the reports of the oddest recordings; return all that are there, by recording."""
    from legged_dynamics.recordings.fleet import report as fleet
    from legged_dynamics.recordings.fleet.batch import each_result

    chosen = list(dict.fromkeys(one.recording for one in found.outliers))[:args.reports]
    made = {name: f'{fleet.REPORTS}/{name}/{REPORT}' for name in chosen}
    jobs = []
    for name, row in found.summary.set_index('recording').loc[chosen].iterrows():
        page = out / made[name]
        if not (page.is_file() and page.stat().st_mtime > row['written'].timestamp()):
            jobs.append(fleet.ReportJob(name, Path(row['path']), options, row['worst_at'],
                                        row['duration'], page.parent))
    with counting('Reports', len(jobs)) as advance:
        for job, result in each_result(fleet.make_report, jobs, _workers(args, jobs)):
            advance(isinstance(result, BaseException))
            if isinstance(result, BaseException):
                del made[job.recording]
                print(f'No report of {job.path}: {result}', file=sys.stderr)
    return made


def need_for_many(what: str) -> None:
    """Raise ConfigurationError when packages of the extra `fleet` are missing."""
    missing = [name for name in ('pandas', 'pyarrow') if find_spec(name) is None]
    if missing:
        raise ConfigurationError(f'many {what} need {", ".join(missing)}, which is not '
                                 'installed: pip install ".[fleet]"')


# -------------------------------------------------------------------------------------------------

ENRICHED = 'enriched_bag'
CSV = 'estimates.csv'
# Of a CSV log: the bag made of it.
LOG_BAG = 'log_bag'
# Its rate as a parameter file.
LOG_RATE = 'log_rate.yaml'


def run(args: argparse.Namespace) -> int:
    """Analyse, print the tables, write the report."""
    options = AnalysisOptions(
        robot=args.robot, urdf=args.urdf, params_files=tuple(args.params_file),
        contact=tuple(args.contact), truth=args.truth or {}, valid=args.valid,
        joint_states=args.joint_states, imu=args.imu, start=args.start, end=args.end,
        report=not args.no_report, csv=not (args.no_report or args.no_csv),
        enriched=not (args.no_report or args.no_enriched_bag), storage=args.storage)
    if _is_batch(args):
        return _analyse_many(args, options)
    (bag,) = args.bags
    if bag.suffix.lower() == '.csv':
        return _analyse_csv(args, options)
    out = args.out or Path(f'{bag.resolve().stem}_analysis')
    writes = options.report or options.csv or options.enriched
    with output_folder(out, (ENRICHED, CSV, REPORT)) if writes else nullcontext():
        if _analyse_climb(bag, options, out, args.open):
            return 0
        analysis, report = analyse_into(bag, options, out)
    code = show_analysis(analysis, report)
    if args.rrd is not None:
        from legged_dynamics.view.rerun_file import write_rrd
        from legged_dynamics.view.sources import read_view
        print(f'Rerun: {write_rrd(read_view(bag, args.robot, args.urdf), args.rrd).resolve()}')
    if args.open and report is not None:
        show_page(report)
    return code


def _analyse_climb(bag: Path, options: AnalysisOptions, out: Path, opened: bool) -> bool:
    """Report a climb by the forces of its wall; False for a recording on the ground."""
    with BagReader(bag) as reader:
        if not climbs.is_climb(reader):
            return False
        climb = climbs.read_climb(reader)
    print(f'{climbs.verdict(climb)}\n')
    show(climbs.climb_table(climb))
    if options.report:
        page = climbs.write_recorded_climb(climb, out, command_line(f'analyze {bag}'))
        print(f'\nReport: {page.resolve()}')
        if opened:
            show_page(page)
    return True


def _analyse_csv(args: argparse.Namespace, options: AnalysisOptions) -> int:
    """Make a bag of a CSV log, and analyse that at the rate of the log."""
    (log,) = args.bags
    if not options.urdf or not options.robot:
        raise ConfigurationError(f'{log}: a CSV log has no robot_description; give --urdf, and '
                                 "--robot with the YAML that 'legged-dynamics new-robot' writes")
    out = args.out or Path(f'{log.resolve().stem}_analysis')
    with output_folder(out, (ENRICHED, CSV, REPORT, LOG_BAG, LOG_RATE)):
        bag = fresh(out / LOG_BAG, log)
        joints = read_model(Path(options.urdf))[0].joint_names
        forces = {foot: columns.removeprefix('/').split(',')
                  for foot, columns in options.truth.items()}
        rate = write_bag_of_csv(log, bag, joints, forces)
        options = replace(options, truth={foot: truth_topic(foot) for foot in forces})
        if 'rate' not in read_parameter_file(robot_files(options.robot)[0]):
            path = out / LOG_RATE
            path.write_text(written_file({'rate': round(rate, 1)}), encoding='utf-8')
            options = replace(options, params_files=(path, *options.params_files))
        return show_analysis(*analyse_into(bag, options, out))


def analyse_into(bag: Path, options: AnalysisOptions, out: Path,
                 warnings: Sequence[str] = ()) -> tuple[Analysis, Path | None]:
    """Analyse a bag, write the requested files; return the analysis and page path or None."""
    enriched = fresh(out / ENRICHED, bag) if options.enriched else None
    ours = enriched is not None and not enriched.exists()
    try:
        with ProgressBar(f'Replaying {bag.name}') as bar:
            analysis = analyse(bag, options, enriched=enriched, progress=bar)
    except BaseException:
        if enriched is not None and ours:       # half a bag helps nobody
            shutil.rmtree(enriched, ignore_errors=True)
        raise
    report = write_report(analysis, out, warnings) if options.report else None
    if options.csv:
        write_csv(analysis, out / CSV)
    if enriched is not None:
        write_layouts(out, analysis.series.feet, analysis.robot.model.base_link)
    return analysis, report


def show_analysis(analysis: Analysis, report: Path | None, most: int | None = None) -> int:
    """
    Print verdict and analysis; return the exit code: 0, or `DOUBTFUL` if not trustworthy.

    At most ``most`` tables are printed; the report has all.
    """
    reasons = doubts(analysis)
    if reasons:
        say(distrust(reasons), 'bold red')
    unsure = doubtful(analysis)
    for sentence in unsure:
        say(sentence, 'bold yellow')
    print(f'{verdict(analysis)[0]}\n{"; ".join(map(str, analysis.inputs))}.\n')
    for note in analysis.notes:
        print(f'- {note}')
    for table in tables(analysis)[:most]:
        print()
        show(table)
    if report is not None:
        print(f'\nReport: {report.resolve()}')
    return DOUBTFUL if reasons or unsure else 0


def fresh(path: Path, bag: Path) -> Path:
    """Return the path for a new bag after removing an older bag (only) at that place."""
    if path.resolve() == bag.resolve() or path.resolve() in bag.resolve().parents:
        raise BagError(f'the enriched bag would take the place of {bag}; choose another --out')
    if path.is_dir() and all(entry.name == 'metadata.yaml' or entry.suffix in SUFFIXES
                             for entry in path.iterdir()):
        shutil.rmtree(path)
    return path
