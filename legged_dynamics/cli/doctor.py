# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``doctor``: what is wrong with a robot's description, driver or sensors."""
from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from legged_dynamics.cli.arguments import add_robot_arguments
from legged_dynamics.recordings.file_formats import BAG_PATH

SICK = 1        # exit code when something was found


def add_parser(verbs: Any) -> None:
    """
    Add the verb to the command line.

    Parameters
    ----------
    verbs : argparse subparsers
        Of the command line.

    """
    parser = verbs.add_parser(
        'doctor', help='find what is wrong with URDF, YAML, driver or sensors',
        description='Looks for swapped or flipped joints, wrong units, offsets, a wrong IMU '
        'mount, wrong torques, masses, clocks and dead sensors, in a bag or, without one, live: '
        'then it says what to do (stand, lift each leg, squat and lean). Each finding comes with '
        'how sure it is and the YAML lines that fix it. Exit code 1 when something was found.')
    parser.add_argument('bag', metavar='BAG', nargs='?', type=Path,
                        help=f'{BAG_PATH}; without it, live on the bus')
    add_robot_arguments(parser)
    parser.add_argument('--joint-states', default='', metavar='TOPIC')
    parser.add_argument('--imu', default='', metavar='TOPIC')
    parser.add_argument('--use-sim-time', action='store_true',
                        help='live, of a simulator that publishes /clock')
    parser.add_argument('--start', type=float, metavar='S', help='from the beginning of the bag')
    parser.add_argument('--end', type=float, metavar='S', help='from the beginning of the bag')
    parser.add_argument('--fix', type=Path, metavar='OUT.YAML',
                        help='write the robot YAML with all fixes')
    parser.add_argument('-o', '--out', type=Path, metavar='FILE.HTML',
                        help='write a report with a picture of each finding')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """
    Examine, print the findings, write fixes and report.

    Parameters
    ----------
    args : argparse.Namespace
        What was typed.

    Returns
    -------
    int
        Exit code: 0, or `SICK` when something was found.

    """
    from legged_dynamics.doctor.examination import examine

    if args.bag is None:
        from legged_dynamics.nodes.checkup import live_patient
        choice, log = live_patient(args, print)
    else:
        choice, log = patient(args)
    examined = examine(choice.model, choice.config, log)
    print(told(examined, choice.name, log.duration))
    if args.fix:
        from legged_dynamics.cli.arguments import write_yaml
        fixes: dict[str, Any] = {}
        for finding in examined.findings:
            fixes.update(finding.fix)
        write_yaml(args.fix, choice.parameters, fixes, f'{choice.name}, as legged-dynamics doctor '
                   'fixes it')
        print(f'\nMended YAML: {args.fix}')
    if args.out:
        from legged_dynamics.reports.doctor import write_report
        write_report(args.out, examined, choice.name, log)
        print(f'\nReport: {args.out.resolve()}')
    return SICK if examined.findings else 0


def patient(args: argparse.Namespace) -> tuple[Any, Any]:
    """
    Return robot and sensors of a bag.

    Parameters
    ----------
    args : argparse.Namespace
        With bag, robot, topics and range.

    Returns
    -------
    RobotChoice
        The robot.
    SensorLog
        Its readings.

    Raises
    ------
    LeggedDynamicsError
        When the bag or the robot cannot be read.

    """
    from legged_dynamics.recordings.bags import BagReader
    from legged_dynamics.recordings.robot import choose_robot
    from legged_dynamics.recordings.sensor_log import read_sensor_log
    from legged_dynamics.recordings.topics import input_topics

    with BagReader(args.bag) as bag:
        topic = input_topics(bag, args.joint_states, args.imu)[2]
        choice = choose_robot(bag, topic, args.robot, args.urdf)
        return choice, read_sensor_log(bag, args.joint_states, args.imu, args.start, args.end)


def told(examined: Any, name: str, duration: float) -> str:
    """
    Return the findings as text for the terminal.

    Parameters
    ----------
    examined : Examination
        What the doctor found.
    name : str
        Of the robot.
    duration : float
        Of the readings [s].

    Returns
    -------
    str
        Lines of text.

    """
    from legged_dynamics.cli.arguments import yaml_lines

    found = examined.findings
    count = f'{len(found)} finding{"s" if len(found) != 1 else ""}'
    lines = [f'{name}, {duration:.1f} s: ' + (count if found else 'nothing wrong was found')]
    for i, finding in enumerate(found, start=1):
        lines += ['', f'{i}. {finding.text}  [{finding.kind}; {finding.sure}]']
        lines += [f'   or: {other}' for other in finding.also]
        if finding.advice:
            lines.append(f'   {finding.advice}')
        if finding.fix:
            lines += [f'     {line}' for line in yaml_lines(finding.fix).splitlines()]
    lines += [f'{"" if i else chr(10)}not judged: {said}'
              for i, said in enumerate(examined.unchecked)]
    return '\n'.join(lines)
