# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verbs ``doctor`` and ``validate``: what is wrong with a robot, and how right its forces are."""
from __future__ import annotations

import argparse
from typing import Any

from legged_dynamics.cli.arguments import keep_to_this_machine, write_yaml
from legged_dynamics.cli.output import say, show
from legged_dynamics.diagnosis.doctor.examination import examine
from legged_dynamics.diagnosis.validation.validation import validate
from legged_dynamics.estimation.sensor_stream import SensorStream
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.parameter_file import written_file
from legged_dynamics.recordings.bags import BagReader, receipts
from legged_dynamics.recordings.recording import read_sensor_log
from legged_dynamics.recordings.replay import ESTIMATOR
from legged_dynamics.recordings.robot import choose_robot
from legged_dynamics.recordings.topics import input_topics
from legged_dynamics.ros.conversions.reading import SampleReader
from legged_dynamics.ros.middleware.lifecycle import compile_first

SOMETHING_FOUND = 1     # exit code
UNTRUSTED = 3   # exit code when forces are not right within the limit


def run(args: argparse.Namespace) -> int:
    """Examine, print the findings, write fixes and report."""
    if args.bag is None:
        from legged_dynamics.ros.nodes.checkup import live_robot_and_readings
        keep_to_this_machine(args.network)
        choice, log = live_robot_and_readings(args, print)
    else:
        choice, log = robot_and_readings(args)
    examined = examine(choice.model, choice.config, log)
    print(_findings(examined, choice.name, log.extent))
    if args.fix:
        fixes: dict[str, Any] = {}
        for finding in examined.findings:
            fixes.update(finding.fix)
        write_yaml(args.fix, choice.parameters, fixes, f'{choice.name}, as legged-dynamics doctor '
                   'fixes it')
        print(f'\nCorrected YAML: {args.fix}')
    if args.out:
        from legged_dynamics.diagnosis.report import write_report
        write_report(args.out, examined, choice.name, log)
        print(f'\nReport: {args.out.resolve()}')
    return SOMETHING_FOUND if examined.findings else 0


def robot_and_readings(args: argparse.Namespace) -> tuple[Any, Any]:
    """Return the robot and the sensor readings of a bag."""
    with BagReader(args.bag) as bag:
        topic = input_topics(bag, args.joint_states, args.imu)[2]
        choice = choose_robot(bag, topic, args.robot, args.urdf)
        return choice, read_sensor_log(bag, args.joint_states, args.imu, args.start, args.end)


def _findings(examined: Any, name: str, extent: str) -> str:
    """Return the findings as text for the terminal."""
    found = examined.findings
    count = (f'{len(found)} finding{"s" if len(found) != 1 else ""}' if found
             else 'nothing wrong was found')
    lines = [f'{name}, {extent}: {count}']
    for i, finding in enumerate(found, start=1):
        lines += ['', f'{i}. {finding.text}  [{finding.kind}; {finding.sure}]']
        lines += [f'   or: {other}' for other in finding.also]
        if finding.advice:
            lines.append(f'   {finding.advice}')
        if finding.fix:
            lines += [f'     {line}' for line in written_file(finding.fix).splitlines()]
    lines += [f'{"" if i else chr(10)}not judged: {said}'
              for i, said in enumerate(examined.unchecked)]
    return '\n'.join(lines)


# -------------------------------------------------------------------------------------------------
# Verb ``validate``: how far forces can be trusted on a robot, without force sensors.


def run_validate(args: argparse.Namespace) -> int:
    """Validate, print verdict and tables, write the page; exit code 0, or `UNTRUSTED`."""
    from legged_dynamics.diagnosis.report import validation_tables, write_validation
    choice, measurements = _readings(args)
    compile_first(ESTIMATOR)
    found = validate(choice.model, choice.config, measurements, args.scale or {}, limit=args.limit)
    print(f'{found.received}.')
    say(found.verdict, 'green' if found.trusted else 'red')
    for said in found.phases.missing:
        print(f'missing: {said}')
    for table in validation_tables(found):
        print()
        show(table)
    write_validation(args.out, found, choice.name)
    print(f'\nReport: {args.out.resolve()}')
    return 0 if found.trusted else UNTRUSTED


def _readings(args: argparse.Namespace) -> tuple[Any, list[Any]]:
    """Return robot and measurements of a bag, as the estimator takes them."""
    with BagReader(args.bag) as bag:
        joints, imu, description = input_topics(bag, args.joint_states, args.imu)
        choice = choose_robot(bag, description, args.robot, args.urdf)
        read, stream = SampleReader(choice.model, choice.config, joints, imu, ''), SensorStream()
        measurements: list[Any] = []
        for message in bag.messages({joints, imu} - {''}, *receipts(bag, args.start, args.end)):
            try:
                found = stream.push(read(message.topic, bag.decode(message)))
            except MeasurementError as error:
                stream.refuse(str(error))
                continue
            measurements += [one for one in found if not measurements
                             or one.stamp_ns > measurements[-1].stamp_ns]
    return choice, measurements
