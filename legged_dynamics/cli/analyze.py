# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``analyze``: run the live estimator over a bag and report."""
from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from legged_dynamics.cli import analyze_many
from legged_dynamics.cli.output import output_folder
from legged_dynamics.cli.robot_arguments import add_robot_arguments

if TYPE_CHECKING:
    from legged_dynamics.analysis.analysis import Analysis
    from legged_dynamics.analysis.options import AnalysisOptions

ENRICHED, CSV, REPORT = 'enriched_bag', 'estimates.csv', 'report.html'


def add_parser(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        'analyze', help='run the estimator over a bag and write a report',
        description='Runs the live estimator over a rosbag2 (mcap or sqlite3) faster than real '
        'time, compares with the truth where the bag has it, and writes an HTML report with its '
        'figures, all estimates as CSV, and a copy of the bag with estimates and markers in it, '
        'with layouts for Foxglove and PlotJuggler beside it. Of several bags, or of folders with '
        'bags in them, it makes one data set (Parquet) and a report on all robots; what was done '
        'already is not done again.')
    parser.add_argument('bags', metavar='BAG', type=Path, nargs='+',
                        help='folder, .mcap or .db3 file; or folders of many')
    parser.add_argument('-o', '--out', type=Path, metavar='DIR',
                        help='where to write; default: BAG_analysis in the present folder, '
                        'fleet_analysis of many')
    robot = parser.add_argument_group('robot')
    add_robot_arguments(robot, 'in the bag')
    robot.add_argument('--params-file', action='append', default=[], type=Path, metavar='FILE',
                       help='further parameters that the live estimator had; may be repeated')
    topics = parser.add_argument_group('topics')
    topics.add_argument('--joint-states', default='', metavar='TOPIC')
    topics.add_argument('--imu', default='', metavar='TOPIC')
    topics.add_argument('--truth', action='append', default=[], metavar='FOOT=TOPIC',
                        help='WrenchStamped with the true wrench of a foot, in its frame or, as '
                        'force plates give it, in world axes about the origin; may be repeated')
    topics.add_argument('--valid', default='', metavar='TOPIC',
                        help='Bool that is true where the truth is complete')
    topics.add_argument('--contact', nargs='+', default=['detected'], metavar='SOURCE',
                        help='detected (default); bag: the true contacts; or Bool topics, one a '
                        'foot in the order of the robot YAML')
    part = parser.add_argument_group('part of the bag, and output')
    part.add_argument('--start', type=float, metavar='S', help='from the beginning of the bag [s]')
    part.add_argument('--end', type=float, metavar='S', help='from the beginning of the bag [s]')
    part.add_argument('--no-report', action='store_true', help='tables on the terminal only')
    part.add_argument('--no-csv', action='store_true')
    part.add_argument('--no-enriched-bag', action='store_true')
    part.add_argument('--storage', choices=('mcap', 'sqlite3'), default='mcap',
                      help='of the enriched bag')
    analyze_many.add_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Analyse, print the tables, write the report."""
    from legged_dynamics.analysis.options import AnalysisOptions

    options = AnalysisOptions(
        robot=args.robot, urdf=args.urdf, params_files=tuple(args.params_file),
        contact=tuple(args.contact), truth=truth_of(args.truth), valid=args.valid,
        joint_states=args.joint_states, imu=args.imu, start=args.start, end=args.end,
        report=not args.no_report, csv=not (args.no_report or args.no_csv),
        enriched=not (args.no_report or args.no_enriched_bag), storage=args.storage)
    if analyze_many.is_batch(args):
        return analyze_many.analyse_many(args, options)
    (bag,) = args.bags
    out = args.out or Path(f'{bag.resolve().stem}_analysis')
    if not (options.report or options.csv or options.enriched):
        return show_analysis(*analyse_into(bag, options, out))
    with output_folder(out, (ENRICHED, CSV, REPORT)):
        return show_analysis(*analyse_into(bag, options, out))


def analyse_into(bag: Path, options: AnalysisOptions, out: Path,
                 warnings: Sequence[str] = ()) -> tuple[Analysis, Path | None]:
    """
    Analyse a bag and write what the options ask for; return the analysis and the report.

    Raises
    ------
    LeggedDynamicsError
        When the bag cannot be analysed or the folder cannot be written.

    """
    from legged_dynamics.analysis.analysis import analyse
    from legged_dynamics.analysis.export import write_csv
    from legged_dynamics.analysis.layouts import write_layouts
    from legged_dynamics.analysis.report import write_report
    from legged_dynamics.cli.progress import ProgressBar

    enriched = fresh(out / ENRICHED, bag) if options.enriched else None
    ours = enriched is not None and not enriched.exists()
    bar = ProgressBar(f'Replaying {bag.name}')
    try:
        analysis = analyse(bag, options, enriched=enriched, progress=bar)
    except BaseException:
        if enriched is not None and ours:       # half a bag helps nobody
            shutil.rmtree(enriched, ignore_errors=True)
        raise
    finally:
        bar.close()
    report = write_report(analysis, out, warnings) if options.report else None
    if options.csv:
        write_csv(analysis, out / CSV)
    if enriched is not None:
        write_layouts(out, analysis.series.feet, analysis.robot.model.base_link)
    return analysis, report


def show_analysis(analysis: Analysis, report: Path | None) -> int:
    """Print verdict, notes, tables and the report's path; return the exit code."""
    from legged_dynamics.analysis.tables import tables
    from legged_dynamics.analysis.verdict import DOUBTFUL, distrust, doubts, verdict
    from legged_dynamics.cli.progress import say
    from legged_dynamics.cli.progress import show as show_table

    reasons = doubts(analysis)
    if reasons:
        say(distrust(reasons), 'bold red')
    print(f'{verdict(analysis)[0]}\n')
    for note in analysis.notes:
        print(f'- {note}')
    for table in tables(analysis):
        print()
        show_table(table)
    if report is not None:
        print(f'\nReport: {report.resolve()}')
    return DOUBTFUL if reasons else 0


def truth_of(pairs: list[str]) -> dict[str, str]:
    """
    Return topics by foot from words FOOT=TOPIC.

    Raises
    ------
    ConfigurationError
        When a word is not of that form.

    """
    from legged_dynamics.exceptions import ConfigurationError

    found = {}
    for pair in pairs:
        foot, separator, topic = pair.partition('=')
        if not (foot and separator and topic):
            raise ConfigurationError(f'--truth: expected FOOT=TOPIC, got {pair!r}')
        found[foot] = topic if topic.startswith('/') else f'/{topic}'
    return found


def fresh(path: Path, bag: Path) -> Path:
    """Return a path for a new bag; an older bag there makes room, anything else stays."""
    from legged_dynamics.analysis.bags import SUFFIXES
    from legged_dynamics.exceptions import BagError

    if path.resolve() == bag.resolve() or path.resolve() in bag.resolve().parents:
        raise BagError(f'the enriched bag would take the place of {bag}; choose another --out')
    if path.is_dir() and all(entry.name == 'metadata.yaml' or entry.suffix in SUFFIXES
                             for entry in path.iterdir()):
        shutil.rmtree(path)
    return path
