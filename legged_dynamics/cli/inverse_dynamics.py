# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``inverse-dynamics``: recorded motion in, joint torques and foot wrenches out."""
from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from legged_dynamics.cli.arguments import (
    CLUSTER,
    PART,
    STORAGE,
    TOPICS,
    Verb,
    argument,
    is_there,
    robot_arguments,
    switch,
    truth_of,
)
from legged_dynamics.cli.output import output_folder
from legged_dynamics.recordings.file_formats import LOADS, MODEL, MOTION, readable

if TYPE_CHECKING:
    from legged_dynamics.people.trials.subject import GaitOptions

CSV = 'inverse_dynamics.csv'
BAG = 'inverse_dynamics_bag'
REPORT = 'report.html'
CYCLES = 'gait_cycles.csv'
PARQUET = 'inverse_dynamics.parquet'


def _run(args: argparse.Namespace) -> int:
    """Compute, print the tables, write the files."""
    from legged_dynamics.cli.analyze import fresh
    from legged_dynamics.cli.output import say, show
    from legged_dynamics.people.trials.analysis import ORIGIN, analyse_gait, sample_walk
    from legged_dynamics.people.trials.cycles import gait_cycles, steps_table, write_cycles
    from legged_dynamics.people.trials.export import (
        write_bag,
        write_csv,
        write_opensim,
        write_parquet,
    )
    from legged_dynamics.people.trials.report import (
        doubts,
        errors_table,
        feet_table,
        joints_table,
        verdict,
    )
    from legged_dynamics.recordings.report.analysis import DOUBTFUL, distrust

    options = _options_of(args)
    if _is_batch(args):
        return _many(args, options)
    args.motion = args.motion[0] if args.motion else None
    if args.sample:
        args.motion, options = sample_walk(options)
    silent = (args.no_csv and args.no_bag and args.no_report and not args.opensim
              and not args.parquet)
    out = args.out or Path(f'{args.motion.resolve().stem}_inverse_dynamics')
    with nullcontext() if silent else output_folder(out, (CSV, BAG, REPORT)):
        motion, options, solved = _coordinates(args.motion, options, out)
        result, description = analyse_gait(motion, options)
        result.notes[:0] = solved
        if args.sample:
            result.notes.insert(0, ORIGIN)
        reasons = doubts(result)
        if reasons:
            say(distrust(reasons), 'bold red')
        print(f'{verdict(result)[0]}\n')
        for note in result.notes:
            print(f'- {note}')
        cycles = gait_cycles(result)
        for table in (feet_table(result), steps_table(result, cycles), joints_table(result),
                      errors_table(result)):
            if table.rows:
                print()
                show(table)
        print(end='' if silent else '\n')
        if not args.no_csv:
            write_csv(result, out / CSV)
            print(f'Table:  {(out / CSV).resolve()}')
            if cycles.curves:
                write_cycles(cycles, out / CYCLES)
                print(f'Cycles: {(out / CYCLES).resolve()}')
        if args.parquet:
            print(f'Table:  {write_parquet(result, out / PARQUET).resolve()}')
        if args.opensim:
            print(f'Tables: {", ".join(str(path) for path in write_opensim(result, out))}')
        if not args.no_bag:
            def bag() -> Path:
                write_bag(result, fresh(out / BAG, args.motion), description, args.storage)
                return out / BAG
            _optional('Bag', 'rosbags', bag)
        if not args.no_report:
            def report() -> Path:
                from legged_dynamics.people.trials.report import write_report
                return write_report(result, out, cycles)
            _optional('Report', 'matplotlib', report)
    return DOUBTFUL if reasons else 0


def _coordinates(motion: Path, options: GaitOptions, out: Path
                 ) -> tuple[Path, GaitOptions, list[str]]:
    """Return coordinates of a motion: of markers, by OpenSim's inverse kinematics."""
    from legged_dynamics.exceptions import ConfigurationError
    from legged_dynamics.recordings.file_formats import C3D, OSIM, TRC, format_of

    if format_of(motion) not in (C3D, TRC):
        return motion, options, []
    if format_of(options.urdf) is not OSIM:
        raise ConfigurationError(f'{motion} holds markers: give the scaled OpenSim model that has '
                                 'their names with --model MODEL.osim, got '
                                 f'{options.urdf or "none"}')
    from legged_dynamics.people.trials.c3d import read_c3d
    from legged_dynamics.people.trials.inverse_kinematics import inverse_kinematics

    coordinates, notes = inverse_kinematics(motion, options.urdf, out)
    if not options.loads and format_of(motion) is C3D and read_c3d(motion).loads:
        options = replace(options, loads=str(motion))
    return coordinates, options, notes


def _is_batch(args: argparse.Namespace) -> bool:
    """Return whether the arguments name more than one trial."""
    from legged_dynamics.recordings.fleet.summarise import is_recording

    return len(args.motion) > 1 or any(place.is_dir() and not is_recording(place)
                                       for place in args.motion)


def _many(args: argparse.Namespace, options: GaitOptions) -> int:
    """Analyse all trials, write data set and report; return the exit code."""
    import os

    from legged_dynamics.cli.analyze import (
        ALL_FAILED,
        FAILED,
        SOME_FAILED,
        list_failed,
        need_for_many,
    )
    from legged_dynamics.cli.output import counting, show
    from legged_dynamics.people.trials.batch import (
        find_trials,
        jobs_of,
        summarise_trial,
        trials_data,
        trials_table,
        verdict_of,
        write_trials_report,
    )
    from legged_dynamics.recordings.fleet.data_set import FOLDER, TRIALS
    from legged_dynamics.recordings.fleet.summarise import (
        check_workers,
        cluster,
        run_batch,
        still_to_do,
    )
    from legged_dynamics.recordings.report.analysis import DOUBTFUL

    need_for_many('trials')
    out = args.out or Path('inverse_dynamics_of_many')
    with output_folder(out, (FOLDER, REPORT, FAILED)):
        jobs, failed = jobs_of(find_trials(args.motion), options, out, not args.no_series)
        data = trials_data(out.resolve())
        data.clean()
        there = data.there()
        todo = still_to_do(jobs, there)
        if len(todo) < len(jobs):
            print(f'{len(jobs) - len(todo)} of {len(jobs)} trials are there already; '
                  f'{len(todo)} to do.')
        for job in todo:
            data.forget(job.recording)
        if todo:
            with cluster(min(args.workers or os.cpu_count() or 1, len(todo)),
                         args.scheduler) as client, counting('Trials', len(todo)) as advance:
                check_workers(client, out, [job.path for job in todo])

                def done(outcome: Any) -> None:
                    if outcome.error:
                        failed.append(outcome)
                    advance(bool(outcome.error))

                run_batch(client, todo, done, summarise_trial)
        list_failed(failed, out / FAILED)
        print(f'{verdict_of(data, failed)}\n')
        table = trials_table(data)
        if table.rows:
            show(table)
        for outcome in failed:
            print(f'- {outcome.path}: {outcome.error}')
        print(f'\nReport: {write_trials_report(data, failed, out)}')
        if failed:
            return SOME_FAILED if table.rows else ALL_FAILED
        trusted = data.read(TRIALS, ('trusted',)).column('trusted').to_pylist()
        return 0 if all(trusted) else DOUBTFUL


def _optional(what: str, package: str, write: Callable[[], Path]) -> None:
    """Write a file that needs an optional package, or report that the package is missing."""
    try:
        print(f'{what + ":":<7} {write().resolve()}')
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split('.')[0] != package:
            raise
        print(f'{what + ":":<7} not written: the Python package {package!r} is not installed '
              f'(pip install ".[bag]")')


def _options_of(args: argparse.Namespace) -> GaitOptions:
    """Return the options that the arguments give; a ConfigurationError says what contradicts."""
    from legged_dynamics.exceptions import ConfigurationError
    from legged_dynamics.people.trials.subject import CUTOFF, GaitOptions
    from legged_dynamics.ros.middleware.arguments import RosArguments

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
    more = {'sole': tuple(args.sole)} if args.sole else {}
    values = [word for value in args.values for word in ('-p', value)]
    settings = {override.name: override.value for override
                in RosArguments.parse(['--ros-args', *values]).overrides}
    return GaitOptions(
        urdf=args.urdf, robot=args.robot, feet=tuple(args.feet), method=args.method,
        point_radius=args.point_radius, cutoff=cutoff or None, contact=args.contact,
        settings=settings, degrees=args.degrees,
        missing_at_zero=args.missing_at_zero, joint_states=args.joint_states, imu=args.imu,
        odometry=args.odom, base=args.base, truth=args.truth or {}, valid=args.valid,
        start=args.start, end=args.end, compare=not args.no_compare, mass=args.mass,
        loads=args.loads,
        belt_speed=tuple(args.belt_speed), **more)


VERBS = (Verb(
    'inverse-dynamics', _run, 'joint torques and foot wrenches of a recorded motion',
    'Computes joint torques and the wrench on each foot from motion alone, for people in '
    f'motion capture and for legged robots. Reads a {readable(MOTION)}, or markers (.c3d, .trc) '
    'by inverse kinematics of OpenSim (extra `opensim`). A bag has joint states and odometry '
    'or an IMU; coordinates come from inverse kinematics, and with the model (--model); a CSV '
    'file has the columns time, base_x, base_y, base_z, base_qx, base_qy, base_qz, base_qw and '
    'one for each joint, named as in the URDF. Writes CSV, a bag, and an HTML report with '
    'figures, and the errors where there are force plates. Of folders (as a laboratory, '
    'OpenCap or Pose2Sim leaves them), or of several motions, it makes one data set (Parquet) '
    'and one report; models and forces are found beside the motions, and what was done already '
    'is not done again (extra `tables`).', (
        argument('motion', 'BAG|MOT|CSV|C3D|DIR', '', Path, is_there, nargs='*'),
        switch('--sample', 'a recording that comes with the package, to try it: a made-up walker '
               'with its true forces'),
        argument('-o --out', 'DIR', 'where to write; default: NAME_inverse_dynamics in the '
                 'present folder', Path),
        'robot or person',
        argument('--urdf --model', 'FILE', f'{readable(MODEL)}; default: robot_description in the '
                 'bag', dest='urdf'),
        argument('--feet', 'LINK', 'links that touch the ground; default: those of the robot YAML',
                 nargs='+', default=[]),
        argument('--sole', ('FRONT', 'BACK', 'LEFT', 'RIGHT'), 'edges of the sole of the feet '
                 'given, in their frames [m]; default: 0.13 -0.10 0.04 -0.04, or for an OpenSim '
                 'model what its bones say', float, nargs=4),
        argument('--point-radius', 'M', 'the feet given are balls of this radius', float),
        robot_arguments(otherwise='the one that fits the URDF, unless feet are given')[0],
        argument('--mass', 'KG', "total mass, from a scale; 'plates' for what force plates alone "
                 "say, 'model' for the model's alone; default: that of the model, and of a person "
                 'corrected by force plates where there are any'),
        argument('--belt-speed', 'SPEED', 'of the belt of a treadmill [m/s], positive backward; a '
                 'topic or column that holds it; or FOOT=SPEED for each foot of a split belt; 0 '
                 'for the floor; default: found by the soles that lie flat', nargs='+',
                 default=['auto']),
        argument('--loads', 'FILE', f'measured forces to compare with: {readable(LOADS)}'),
        'method',
        argument('--method', 'NAME', 'travelling (default), sole or ankle; '
                 'docs/double_support.md compares them', default='travelling'),
        argument('--cutoff', 'HZ', 'low-pass of the recorded poses before they are '
                 'differentiated, zero phase; 0 for none; default: 10', float),
        argument('--contact', 'FILE', 'CSV with the columns time and one a foot, 1 on the ground; '
                 'default: detected from the motion', default='detected'),
        argument('-p', 'NAME:=VALUE', 'a setting of contact detection and load transfer, for '
                 'example -p stance.flight_load:=0.1; may be repeated', action='append',
                 default=[], dest='values'),
        'CSV', switch('--degrees', 'joint angles are in degrees'),
        switch('--missing-at-zero', 'joints without a column stay at zero'),
        'bag', *TOPICS, argument('--odom', 'TOPIC'),
        argument('--base', help="source of the base's motion; default: the pose by odometry, the "
                 'acceleration by the IMU where that has less noise',
                 choices=('both', 'odometry', 'imu'), default=''),
        argument('--truth', 'FOOT=TOPIC', 'WrenchStamped with the true wrench of a foot; may be '
                 'repeated', check=lambda pairs, args: truth_of(pairs), action='append',
                 default=[]),
        argument('--valid', 'TOPIC', 'Bool that is true where the truth is complete'), *PART,
        'many trials', *CLUSTER,
        'output', switch('--no-report'), switch('--no-csv'), switch('--no-bag'),
        switch('--opensim', 'external loads (.mot and .xml) and joint moments (.sto) for OpenSim, '
               'too'),
        switch('--parquet', 'the table as Parquet, too (pip install ".[tables]")'),
        switch('--no-compare', 'do not measure the other methods against the truth'), STORAGE)),)
