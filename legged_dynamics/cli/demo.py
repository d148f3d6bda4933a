# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Verb ``demo``: a simulated robot moves, is estimated live, recorded and reported on.

Simulator, estimator, recorder and where asked for the controller are processes of their own on a
real DDS bus, kept on the loopback interface and on a domain that nobody else uses. Time is
simulated and waits for them: what comes out is the same on a busy machine, only later.
"""
from __future__ import annotations

import argparse
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from legged_dynamics.cli import body_motion

if TYPE_CHECKING:
    from legged_dynamics.cli.demo_outcome import Outcome

SCHEDULE = 'stand 4, trot_forward 12, stand 4'
INPUTS = ('/joint_states:sensor_msgs/msg/JointState', '/imu/data:sensor_msgs/msg/Imu')
ESTIMATOR, RECORDER = 'ground_reaction_estimator', 'legged_dynamics_recorder'
MARGIN = 0.2            # s simulated beyond the schedule
STARTING = 300.0        # s for a process to come up
STANDSTILL = 300.0      # s without a step of simulated time after which there is something wrong
SETTLING = 1.0          # s for the last estimates to reach the recorder
# Samples that estimator and recorder may lag behind the robot that walks on its own; a robot under
# control waits for every command.
WINDOW = 50


def add_parser(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        'demo', help='a simulated robot walks, or moves its body; estimate, record and report',
        description='Runs simulator, estimator and recorder as separate processes on a DDS bus on '
        'the loopback interface, then analyses the recording. Needs no ROS and no display. The '
        'exit code is 3 when the robot fell.')
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
    parser.add_argument('--speed', type=float, default=1.0, metavar='X',
                        help='greatest real-time factor; 0: as fast as the machine can '
                        '(default: %(default)g)')
    parser.add_argument('--middleware', choices=('cyclonedds', 'rclpy'), default='cyclonedds',
                        help='of the nodes (default: %(default)s)')
    parser.add_argument('--view', action='store_true',
                        help='in a browser too: live and, as the last word, the recording with a '
                        'slider over its time, until Ctrl-C')
    parser.add_argument('--port', type=int, default=8080, metavar='N',
                        help='of the view (default: %(default)s)')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the demo."""
    from legged_dynamics.analysis.options import AnalysisOptions
    from legged_dynamics.cli.analyze import analyse_into, show_analysis as show
    from legged_dynamics.cli.demo_outcome import digest_of
    from legged_dynamics.cli.processes import interrupted_at_once
    from legged_dynamics.exceptions import ConfigurationError
    from legged_dynamics.middleware.compiling import compile_first
    from legged_dynamics.resources import robot_files
    from legged_dynamics.simulation import Schedule

    begin = time.monotonic()
    if args.view:
        from legged_dynamics.view.show import close_page, open_page
        close_page(open_page('127.0.0.1', args.port))       # says now what is missing or taken
    yaml, urdf = robot_files(args.robot)
    if urdf is None:
        raise ConfigurationError(f'--robot: expected a robot with a URDF beside {yaml}')
    Schedule.from_text(args.schedule)       # says what is wrong with it before all else
    out = args.out or Path('demo') / time.strftime('%Y%m%d_%H%M%S')
    bag = out / 'bag'
    if bag.exists():
        raise ConfigurationError(f'--out: {bag} exists already; choose another folder')
    out.mkdir(parents=True, exist_ok=True)
    with interrupted_at_once():
        compile_first(ESTIMATOR, *((body_motion.CONTROLLER,) if args.motion == 'body' else ()))
    outcome = record_live(yaml, urdf, args, out)
    _say('Analysing the recording')
    warnings = outcome.warnings(args.speed)
    analysis, report = analyse_into(bag, AnalysisOptions(robot=str(yaml)), out / 'report',
                                    warnings)
    show(analysis, report)
    for text in warnings:
        _say(f'\n{"*" * 80}\n{text}\n{"*" * 80}')
    _say(f'Recorded sensors, truth and estimates: {digest_of(bag)}')
    print(f'Demo took {time.monotonic() - begin:.0f} s.')
    if args.view:
        from legged_dynamics.cli.view import show_recording
        show_recording(bag, yaml, args.port)
    return outcome.exit_code


def record_live(yaml: Path, urdf: Path, args: argparse.Namespace, out: Path) -> Outcome:
    """
    Have the robot move and be estimated while everything is recorded into ``out / 'bag'``.

    Raises
    ------
    LeggedDynamicsError
        When a process does not come up or stops by itself.

    """
    from legged_dynamics.cli.demo_outcome import ENDED, Outcome
    from legged_dynamics.cli.processes import ProcessGroup
    from legged_dynamics.middleware.cyclone import CycloneBus
    from legged_dynamics.middleware.discovery import DomainLease
    from legged_dynamics.middleware.runner import CHOICE
    from legged_dynamics.model import RobotConfig
    from legged_dynamics.simulation import Schedule

    body = args.motion == 'body'
    command = [sys.executable, '-m', 'legged_dynamics.cli']
    parameters = ['--ros-args', '--params-file', str(yaml),
                  '-p', f'robot_description:={urdf.resolve()}']
    reliable = [word for topic in ('/joint_states', '/imu/data') for word in (
        '-p', f'qos_overrides.{topic}.subscription.reliability:=reliable',
        '-p', f'qos_overrides.{topic}.subscription.depth:={10 * WINDOW}')]
    answering = [*parameters, '-p', 'use_sim_time:=true', *reliable]
    duration = MARGIN + (body_motion.DURATION if body else
                         Schedule.from_text(args.schedule).duration)
    outputs = [f'/{ESTIMATOR}/{foot.link}/{name}' for foot in RobotConfig.from_yaml(yaml).feet
               for name in ('wrench', 'contact')] + [f'/{ESTIMATOR}/external_torque']
    answers = [f'/{name}/answer:{WINDOW}' for name in (ESTIMATOR, RECORDER)]
    with DomainLease() as lease:
        environment = {**lease.environment(), CHOICE: args.middleware}
        _say(f'Robot, nodes and recorder on DDS domain {lease.domain_id}, loopback only')
        bus = CycloneBus(environment)
        with ProcessGroup(out, environment) as processes:
            try:
                # The first to come up is the last to be stopped, and the robot moves only when
                # all others listen: nothing is missed at either end.
                processes.start('recorder', [
                    *command, 'record', '--all', *INPUTS, '--answer', '/joint_states',
                    '--answer', '/imu/data', '-o', str(out / 'bag')])
                processes.start('estimator', [*command, 'run', ESTIMATOR, *answering])
                processes.wait_until(lambda: all(processes.said('recorder', f' {topic} ')
                                                 for topic in outputs), STARTING)
                if args.view:
                    processes.start('view', [*command, 'view', '--robot', str(yaml), '--odom',
                                             '/ground_truth/odom', '--port', str(args.port)])
                    processes.wait_until(lambda: processes.said('view', 'View:'), STARTING)
                    _say(processes.log('view')[0])
                schedule, motion = args.schedule, None
                if body:
                    processes.start('controller', [*command, 'run', body_motion.CONTROLLER,
                                                   *answering])
                    motion = body_motion.Motion(bus)
                    schedule = 'stand 1'
                    answers += [f'/{body_motion.CONTROLLER}/answer', body_motion.ANSWER]
                    duration += body_motion.BEGIN
                processes.start('simulator', [
                    *command, 'run', 'simulated_robot', *parameters,
                    '-p', f"schedule:='{schedule}'", '-p', f'lock_step.answers:={answers}',
                    '-p', 'lock_step.listeners:=1',
                    '-p', f'lock_step.speed:={args.speed}',
                    '-p', f'lock_step.duration:={duration}'])
                _follow(bus, processes, motion, duration, ENDED)
            finally:
                bus.close()
            time.sleep(SETTLING)
            processes.stop()
    for line in (processes.log('simulator') + processes.log('recorder'))[-1:]:
        _say(line)
    return Outcome.from_log(processes.log('simulator'))


def _follow(bus: Any, processes: Any, motion: body_motion.Motion | None, duration: float,
            ended: str) -> None:
    """Show how far simulated time is, and take part where a motion is to be sent."""
    from legged_dynamics.cli.progress import ProgressBar
    from legged_dynamics.exceptions import MiddlewareError
    from legged_dynamics.middleware import conversions as convert
    from legged_dynamics.middleware.dialect import StandaloneDialect
    from legged_dynamics.nodes.lock_step import BEGIN_NS

    dialect, heard = StandaloneDialect(), [BEGIN_NS]
    bus.create_node('demo').create_subscription(
        dialect.message('rosgraph_msgs/msg/Clock'), '/clock',
        lambda message: heard.append(convert.stamp_ns(message.clock)), dialect.qos.best_effort(1))
    title = 'Walking' if motion is None else 'Moving the body'
    moved = looked = time.monotonic()
    with closing(ProgressBar(title)) as bar:        # also when it fails: the cursor is hidden
        while True:
            bus.spin_once(0.1)
            now = time.monotonic()
            if len(heard) > 1:
                moved = now
                del heard[:-1]
                bar((heard[0] - BEGIN_NS) * 1e-9 / duration)
            if now - looked < 0.2:
                continue
            looked = now
            processes.check()
            if processes.said('simulator', ended):
                break
            if now - moved > STANDSTILL:
                raise MiddlewareError(f'simulated time stood still for {STANDSTILL:.0f} s; see '
                                      'the logs')


def _say(text: str) -> None:
    print(text, flush=True)
