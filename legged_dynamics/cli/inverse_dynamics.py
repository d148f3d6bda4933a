# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``inverse-dynamics``: recorded motion in, joint torques and foot wrenches out."""
from __future__ import annotations

import argparse
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from legged_dynamics.cli import DOUBTFUL, INTERRUPTED, analyze
from legged_dynamics.cli.output import output_folder, say, show
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.pages.section import REPORT
from legged_dynamics.people.trials import export, report
from legged_dynamics.people.trials.analysis import ORIGIN, analyse_gait, sample_walk
from legged_dynamics.people.trials.c3d import read_c3d
from legged_dynamics.people.trials.cycles import gait_cycles, steps_table, write_cycles
from legged_dynamics.people.trials.inverse_kinematics import inverse_kinematics
from legged_dynamics.people.trials.subject import CUTOFF, GaitOptions
from legged_dynamics.recordings.bags import is_recording
from legged_dynamics.recordings.file_formats import C3D, OSIM, TRC, format_of
from legged_dynamics.recordings.report.analysis import distrust
from legged_dynamics.ros.middleware.arguments import RosArguments

CSV = 'inverse_dynamics.csv'
BAG = 'inverse_dynamics_bag'
CYCLES = 'gait_cycles.csv'


def run(args: argparse.Namespace) -> int:
    """Compute, print the tables, write the files."""
    options = _options_of(args)
    if _is_batch(args):
        return _many(args, options)
    args.motion = args.motion[0] if args.motion else None
    if args.sample:
        args.motion, options = sample_walk(options)
    silent = args.no_csv and args.no_bag and args.no_report and not args.opensim
    out = args.out or Path(f'{args.motion.resolve().stem}_inverse_dynamics')
    with nullcontext() if silent else output_folder(out, (CSV, BAG, REPORT)):
        motion, options, solved = _coordinates(args.motion, options, out)
        result, description = analyse_gait(motion, options)
        result.notes[:0] = solved
        if args.sample:
            result.notes.insert(0, ORIGIN)
        reasons = report.doubts(result)
        if reasons:
            say(distrust(reasons), 'bold red')
        print(f'{report.verdict(result)[0]}\n')
        for note in result.notes:
            print(f'- {note}')
        cycles = gait_cycles(result)
        for table in (report.feet_table(result), steps_table(result, cycles),
                      report.joints_table(result), report.errors_table(result)):
            if table.rows:
                print()
                show(table)
        print(end='' if silent else '\n')
        if not args.no_csv:
            export.write_csv(result, out / CSV)
            print(f'Table:  {(out / CSV).resolve()}')
            if cycles.curves:
                write_cycles(cycles, out / CYCLES)
                print(f'Cycles: {(out / CYCLES).resolve()}')
        if args.opensim:
            print(f'Tables: {", ".join(str(path) for path in export.write_opensim(result, out))}')
        if not args.no_bag:
            bag = analyze.fresh(out / BAG, args.motion)
            export.write_bag(result, bag, description, args.storage)
            print(f'Bag:    {bag.resolve()}')
        if not args.no_report:
            print(f'Report: {report.write_report(result, out, cycles).resolve()}')
    return DOUBTFUL if reasons else 0


def _coordinates(motion: Path, options: GaitOptions, out: Path
                 ) -> tuple[Path, GaitOptions, list[str]]:
    """Return coordinates of a motion: of markers, by OpenSim's inverse kinematics."""
    if format_of(motion) not in (C3D, TRC):
        return motion, options, []
    if format_of(options.urdf) is not OSIM:
        raise ConfigurationError(f'{motion} holds markers: give the scaled OpenSim model that has '
                                 'their names with --model MODEL.osim, got '
                                 f'{options.urdf or "none"}')
    coordinates, notes = inverse_kinematics(motion, options.urdf, out)
    if not options.loads and format_of(motion) is C3D and read_c3d(motion).loads:
        options = replace(options, loads=str(motion))
    return coordinates, options, notes


def _is_batch(args: argparse.Namespace) -> bool:
    """Return whether the arguments name more than one trial."""
    return len(args.motion) > 1 or any(place.is_dir() and not is_recording(place)
                                       for place in args.motion)


def _many(args: argparse.Namespace, options: GaitOptions) -> int:
    """Analyse all trials, write data set and report; return the exit code."""
    analyze.need_for_many('trials')
    from legged_dynamics.people.trials import batch  # these need pandas
    from legged_dynamics.recordings.fleet.data_set import FOLDER
    out = args.out or Path('inverse_dynamics_of_many')
    with output_folder(out, (FOLDER, REPORT, analyze.FAILED)):
        jobs, without = batch.jobs_of(batch.find_trials(args.motion), options, out,
                                      not args.no_series)
        data = batch.trials_data(out.resolve())
        failed = analyze.do_jobs(args, 'trial', out, data, jobs, without)
        if failed is None:
            return INTERRUPTED
        trials = batch.read_trials(data)
        print(f'{batch.verdict_of(trials, failed)}\n')
        if len(trials):
            show(batch.trials_table(trials))
        print(f'\nReport: {batch.write_trials_report(trials, failed, out)}')
        return analyze.exit_code(failed, trials['trusted'])


def _options_of(args: argparse.Namespace) -> GaitOptions:
    """Return the options that the arguments give; a ConfigurationError says what contradicts."""
    if args.sample == bool(args.motion):
        raise ConfigurationError('expected a recording, or --sample for the one that comes with '
                                 'the package' + (', got both' if args.sample else ''))
    if (args.sole or args.point_radius is not None) and not args.feet:
        raise ConfigurationError('--sole and --point-radius describe the feet named with --feet; '
                                 'without it the feet are those of the robot YAML')
    if args.sole and args.point_radius is not None:
        raise ConfigurationError('expected --sole or --point-radius, got both: a foot is a sole '
                                 'or a ball')
    cutoff = CUTOFF if args.cutoff is None else args.cutoff
    if cutoff < 0.0:
        raise ConfigurationError(f'--cutoff: expected 0 Hz (none) or more, got {cutoff:g}')
    more: dict[str, Any] = {'sole': tuple(args.sole)} if args.sole else {}
    values = [word for value in args.values for word in ('-p', value)]
    settings = {override.name: override.value for override
                in RosArguments.parse(['--ros-args', *values]).overrides}
    alike = {name: getattr(args, name) for name in (
        'urdf', 'robot', 'method', 'point_radius', 'contact', 'degrees', 'missing_at_zero',
        'joint_states', 'imu', 'base', 'valid', 'start', 'end', 'mass', 'loads')}
    return GaitOptions(
        **alike, **more, feet=tuple(args.feet), cutoff=cutoff or None, settings=settings,
        odometry=args.odom, truth=args.truth or {}, compare=not args.no_compare,
        belt_speed=tuple(args.belt_speed))
