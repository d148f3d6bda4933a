# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Verb ``demo``: a simulated robot moves, is estimated live, recorded and reported on.

Simulator, estimator, recorder and where asked for the controller are processes of their own on a
real DDS bus, kept on the loopback interface and on a domain that nobody else uses.
"""
from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from legged_dynamics.cli import body_motion

SCHEDULE = 'stand 4, trot_forward 12, stand 4'
INPUTS = ('/joint_states:sensor_msgs/msg/JointState', '/imu/data:sensor_msgs/msg/Imu')
OUTPUT = '/ground_reaction_estimator/external_torque'
DEPTH = 2000            # messages: a busy machine delays the live estimator, but loses it nothing
MARGIN = 0.2            # s recorded beyond the schedule
STARTING = 60.0         # s for a process to come up
# A busy machine may hand the controller old joint states; it then goes on for this long [s].
PATIENCE = 0.1


def add_parser(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        'demo', help='a simulated robot walks, or moves its body; estimate, record and report',
        description='Runs simulator, estimator and recorder as separate processes on a DDS bus on '
        'the loopback interface, then analyses the recording. Needs no ROS and no display.')
    parser.add_argument('--motion', choices=('walk', 'body'), default='walk',
                        help="walk: by the robot's own controller; body: stands up, crouches, "
                        'sways, pitches and yaws under workspace_controller '
                        '(default: %(default)s)')
    parser.add_argument('-o', '--out', type=Path, metavar='DIR',
                        help='where bag, logs and report go; default: demo/<date and time>')
    parser.add_argument('--robot', default='anymal_class', metavar='NAME',
                        help='robot with a URDF beside its YAML (default: %(default)s)')
    parser.add_argument('--schedule', default=SCHEDULE, metavar='TEXT',
                        help='of a walk: behaviours with seconds (default: %(default)s)')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the demo."""
    from legged_dynamics.analysis.options import AnalysisOptions
    from legged_dynamics.cli.analyze import analyse_into, show
    from legged_dynamics.estimation.estimator import compile_kernels
    from legged_dynamics.exceptions import ConfigurationError
    from legged_dynamics.resources import robot_files
    from legged_dynamics.simulation import Schedule

    begin = time.monotonic()
    yaml, urdf = robot_files(args.robot)
    if urdf is None:
        raise ConfigurationError(f'--robot: expected a robot with a URDF beside {yaml}')
    Schedule.from_text(args.schedule)       # says what is wrong with it before all else
    out = args.out or Path('demo') / time.strftime('%Y%m%d_%H%M%S')
    bag = out / 'bag'
    if bag.exists():
        raise ConfigurationError(f'--out: {bag} exists already; choose another folder')
    out.mkdir(parents=True, exist_ok=True)
    _say('Compiling (once; a minute or two the first time)')
    # Here, so that the live processes find it all on the disk.
    compile_kernels()
    if args.motion == 'body':
        _compile_control(yaml, urdf)
    record_live(yaml, urdf, args.motion, args.schedule, out)
    _say('Analysing the recording')
    analysis, report = analyse_into(bag, AnalysisOptions(robot=str(yaml)), out / 'report')
    show(analysis, report)
    print(f'Demo took {time.monotonic() - begin:.0f} s.')
    return 0


def record_live(yaml: Path, urdf: Path, motion: str, schedule: str, out: Path) -> None:
    """
    Have the robot move and be estimated while everything is recorded into ``out / 'bag'``.

    Raises
    ------
    LeggedDynamicsError
        When a process does not come up or stops by itself.

    """
    from legged_dynamics.cli.processes import ProcessGroup
    from legged_dynamics.middleware.cyclone import CycloneBus
    from legged_dynamics.middleware.discovery import DomainLease
    from legged_dynamics.middleware.runner import CHOICE
    from legged_dynamics.simulation import Schedule

    body, late = motion == 'body', []
    command = [sys.executable, '-m', 'legged_dynamics.cli']
    parameters = ['--ros-args', '--params-file', str(yaml),
                  '-p', f'robot_description:={urdf.resolve()}']
    duration = body_motion.DURATION if body else Schedule.from_text(schedule).duration
    with DomainLease() as lease:
        environment = {**lease.environment(), CHOICE: 'cyclonedds'}
        _say(f'Robot, nodes and recorder on DDS domain {lease.domain_id}, loopback only')
        bus = CycloneBus(environment)

        def on_the_bus(topic: str) -> bool:
            return any(entry.topic == topic for entry in bus.topics())
        with ProcessGroup(out, environment) as processes:
            try:
                # The first to come up is the last to be stopped, and the robot moves only when
                # all others listen: nothing is missed at either end.
                processes.start('recorder', [*command, 'record', '--all', *INPUTS,
                                             '-o', str(out / 'bag')])
                processes.start('estimator', [*command, 'run', 'ground_reaction_estimator',
                                              *parameters,
                                              '-p', f'input_depth:={DEPTH}'])
                processes.wait_until(lambda: processes.said('recorder', OUTPUT), STARTING)
                if body:
                    processes.start('controller', [
                        *command, 'run', body_motion.CONTROLLER, *parameters,
                        '-p', f'safety.input_timeout:={PATIENCE}',
                        '-p', f'safety.hold:={PATIENCE}'])
                    processes.wait_until(lambda: on_the_bus('/effort_controller/commands'),
                                         STARTING)
                    schedule, late = 'stand 1', [
                        '-p', f'simulation.command_timeout:={PATIENCE}']
                processes.start('simulator', [*command, 'run', 'simulated_robot', *parameters,
                                              '-p', f"schedule:='{schedule}'",
                                              *late])
                processes.wait_until(lambda: on_the_bus('/joint_states'), STARTING)
            finally:
                bus.close()
            if body:
                body_motion.send_motion(environment)
            _wait(processes, 'Moving the body' if body else 'Walking', duration + MARGIN)
            processes.stop()
    for name in ('simulator', 'recorder'):
        for line in processes.log(name)[-1:]:
            _say(f'{name}: {line}')


def _wait(processes: Any, title: str, duration: float) -> None:
    from legged_dynamics.cli.progress import ProgressBar
    first = time.monotonic()
    bar = ProgressBar(title)
    while (passed := time.monotonic() - first) < duration:
        processes.check()
        bar(passed / duration)
        time.sleep(0.1)
    bar.close()


def _compile_control(yaml: Path, urdf: Path) -> None:
    from legged_dynamics.estimation.estimator import GroundReactionEstimator
    from legged_dynamics.estimation.leg_odometry import LegOdometry
    from legged_dynamics.estimation.noise import nominal_position
    from legged_dynamics.model import RobotConfig, RobotModel
    from legged_dynamics.nodes.body_controller import rehearse
    from legged_dynamics.workspace import WorkspaceController
    model, config = RobotModel.from_urdf(urdf), RobotConfig.from_yaml(yaml)
    rehearse(WorkspaceController(model, config), GroundReactionEstimator(model, config),
             LegOdometry(model, config), None, nominal_position(model, config))


def _say(text: str) -> None:
    print(text, flush=True)
