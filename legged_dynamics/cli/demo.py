# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Verb ``demo``: a simulated robot walks, is estimated live, recorded and reported on.

Simulator, estimator, recorder and, without ``--schedule``, the controller are processes of their
own on a real DDS bus, kept on the loopback interface and on a domain that nobody else uses. Time
is simulated and waits for them: what comes out is the same on a busy machine, only later.
"""
from __future__ import annotations

import argparse
import hashlib
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from legged_dynamics.cli.analyze import analyse_into
from legged_dynamics.cli.analyze import show_analysis as show
from legged_dynamics.cli.output import ProgressBar, show_page
from legged_dynamics.cli.processes import ProcessGroup, interrupted_at_once
from legged_dynamics.exceptions import ConfigurationError, MiddlewareError, SimulationError
from legged_dynamics.model import RobotConfig
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.replay import ESTIMATOR, AnalysisOptions
from legged_dynamics.resources import robot_files
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.discovery import DomainLease, fast_dds_environment
from legged_dynamics.ros.middleware.lifecycle import compile_first
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.runner import CHOICE
from legged_dynamics.ros.nodes.lock_step import BEGIN_NS, Answers
from legged_dynamics.simulation import Schedule

# -------------------------------------------------------------------------------------------------
# Outcome of a demo: whether the robot fell, whether the machine kept up, and a digest of its bits.


ENDED = 'real-time factor'
FELL = 3                # exit code
KEPT_UP = 0.95          # of the speed asked for
_STATEMENT = re.compile(r'robot (?:upright|fallen at ([\d.]+) s); .*real-time factor ([\d.]+)')


class Outcome(NamedTuple):
    """What the simulator says at its end."""

    fell: float | None      # when the robot fell [s]
    factor: float           # simulated over real time

    @classmethod
    def from_log(cls, lines: Sequence[str]) -> Outcome:
        """Return the outcome from the simulator's last statement in its log."""
        found = next(filter(None, map(_STATEMENT.search, reversed(lines))), None)
        if found is None:
            raise SimulationError('the simulator ended without saying how it went; it said: '
                                  f'{" | ".join(lines[-3:]) or "nothing"}')
        return cls(None if found[1] is None else float(found[1]), float(found[2]))

    @property
    def exit_code(self) -> int:
        """0, or `FELL`."""
        return 0 if self.fell is None else FELL

    def warnings(self) -> list[str]:
        """Return the sentences that open a report; empty if the robot stayed upright."""
        return [] if self.fell is None else [
            f'The robot fell at {self.fell:.2f} s: what follows is not of a robot that stands or '
            'walks.']

    def remarks(self, speed: float = 1.0) -> list[str]:
        """Return a remark if the machine was slower than ``speed`` x real time (0: any)."""
        if not speed or self.factor >= KEPT_UP * speed:
            return []
        return [f'This machine simulated at {self.factor:.2f} of real time; time waited for the '
                'nodes, so the forces are those of a fast machine, to the last bit.']


def _digest_of(bag: Path) -> str:
    """Return a digest of the bits of sensors, truth and estimated wrenches in a bag, in order."""
    parts: dict[str, Any] = {}
    with BagReader(bag) as reader:
        topics = [name for name in reader.topics
                  if name in ('/joint_states', '/imu/data') or name.startswith('/ground_truth/')
                  or name.endswith('/wrench')]
        for message in reader.messages(topics):
            parts.setdefault(message.topic, hashlib.sha256()).update(message.cdr)
    whole = hashlib.sha256()
    for name in sorted(parts):
        whole.update(name.encode() + parts[name].digest())
    return whole.hexdigest()[:16]


# -------------------------------------------------------------------------------------------------
# The walk of the demo.


# Commands to the walking robot by their time [s], velocities in m/s and rad/s; and when it is
# pushed, for 0.2 s, by which part of its weight.
WALK: tuple[tuple[float, dict[str, Any]], ...] = (
    (2.0, {'gait': 'trot', 'cmd_vel': (0.4, 0.0, 0.0)}),    # ahead
    (7.0, {'cmd_vel': (0.2, 0.0, 0.5)}),                    # turns
    (11.0, {'cmd_vel': (0.0, 0.2, 0.0)}),                   # sideways
    (14.0, {'cmd_vel': (0.2, 0.0, 0.0)}),                   # is pushed on the way
    (17.0, {'gait': 'stand'}),
    (19.5, {'posture': 'sit'}),
)
WALKED = 24.0
PUSHED = 15.0
PUSH = (0.0, 0.3, 0.0)
CONTROLLER = 'workspace_controller'
NODE = 'demo_commands'      # of this process, beside the processes of the nodes
ANSWER = f'/{NODE}/answer'
EVER_AFTER = (2**31 - 1) * 10**9      # ns
ACKNOWLEDGING = 60.0    # s for the controller to have a command


class Walk:
    """Sends the commands of `WALK` at their simulated times; time waits for the controller."""

    def __init__(self, bus: Any):
        self._dialect = dialect = StandaloneDialect()
        self._events = [(BEGIN_NS + round(1e9 * time), told) for time, told in WALK]
        self._node = node = bus.create_node(NODE)
        # A simulator in lock-step counts the subscriptions of the robot's topics.
        self._ears = [node.create_raw_subscription(kind, topic, lambda cdr, now: None, 10)
                      for kind, topic in (('sensor_msgs/msg/JointState', 'joint_states'),
                                          ('sensor_msgs/msg/Imu', 'imu/data'))]
        node.create_subscription(dialect.message('geometry_msgs/msg/PoseStamped'),
                                 f'{CONTROLLER}/body_reference', self._on_reference,
                                 dialect.qos.reliable(1000))
        self._publishers = {
            name: node.create_publisher(dialect.message(kind), topic, dialect.qos.reliable(1))
            for name, kind, topic in (
                ('cmd_vel', 'geometry_msgs/msg/TwistStamped', 'cmd_vel'),
                ('gait', 'std_msgs/msg/String', f'{CONTROLLER}/gait'),
                ('posture', 'std_msgs/msg/String', f'{CONTROLLER}/posture'))}
        self._answer = Answers(node.create_publisher(
            dialect.message('sensor_msgs/msg/JointState'), ANSWER, dialect.qos.latched))
        self._answer(self._events[0][0] - 1)

    def _on_reference(self, message: Any) -> None:
        if not self._events or convert.read_pose(message).stamp_ns < self._events[0][0]:
            return
        told = self._events.pop(0)[1]
        for name, publisher in self._publishers.items():
            if name not in told:
                continue
            publisher.publish(self._message(told[name]))
            # Time stands still at this sample until the controller has it.
            if not publisher.wait_for_acks(ACKNOWLEDGING):
                raise MiddlewareError(f'{CONTROLLER} does not receive {name}; see its log')
        if self._events:
            self._answer(self._events[0][0] - 1)
            return
        self._answer(EVER_AFTER)
        for ear in self._ears:
            self._node.destroy_subscription(ear)

    def _message(self, value: Any) -> Any:
        if isinstance(value, str):
            return convert.string(self._dialect, value)
        made = self._dialect.message('geometry_msgs/msg/TwistStamped')()
        made.twist.linear.x, made.twist.linear.y, made.twist.angular.z = value
        return made


# -------------------------------------------------------------------------------------------------

# The recorder listens to these before anybody publishes. The true odometry is among them since the
# view listens to it as well: the simulator, which counts listeners, cannot tell who they are.
INPUTS = ('/joint_states:sensor_msgs/msg/JointState', '/imu/data:sensor_msgs/msg/Imu',
          '/ground_truth/odom:nav_msgs/msg/Odometry')
RECORDER = 'legged_dynamics_recorder'
MARGIN = 0.2            # s simulated beyond the schedule
STARTING = 300.0        # s for a process to come up
STANDSTILL = 300.0      # s without a step of simulated time after which there is something wrong
SETTLING = 1.0          # s for the last estimates to reach the recorder
# Samples that estimator and recorder may lag behind the robot that walks on its own; a robot under
# control waits for every command. It bounds how far joint states and IMU are apart, live and in
# the bag: far less than the time after which joint states no longer wait for an IMU sample.
WINDOW = 25


def run(args: argparse.Namespace) -> int:
    """Run the demo."""
    begin = time.monotonic()
    if args.view:
        from legged_dynamics.view.show import close_page, open_page
        close_page(open_page('127.0.0.1', args.port))       # says now what is missing or taken
    yaml, urdf = robot_files(args.robot)
    if urdf is None:
        raise ConfigurationError(f'--robot: expected a robot with a URDF beside {yaml}')
    if args.schedule:
        Schedule.from_text(args.schedule)       # says what is wrong with it before all else
    out = args.out or Path('demo') / time.strftime('%Y%m%d_%H%M%S')
    bag = out / 'bag'
    if bag.exists():
        raise ConfigurationError(f'--out: {bag} exists already; choose another folder')
    out.mkdir(parents=True, exist_ok=True)
    with interrupted_at_once():
        compile_first(ESTIMATOR, *(() if args.schedule else (CONTROLLER,)))
    outcome = _record_live(yaml, urdf, args, out)
    _say('Analysing the recording')
    warnings, remarks = outcome.warnings(), outcome.remarks(args.speed)
    analysis, report = analyse_into(bag, AnalysisOptions(robot=str(yaml)), out / 'report',
                                    warnings)
    show(analysis, report, 1)       # `analyze` prints them all
    for text in [*warnings, *remarks]:
        _say(text)
    _say(f'Recorded sensors, truth and estimates: {_digest_of(bag)}')
    print(f'Demo took {time.monotonic() - begin:.0f} s.')
    if args.open and report is not None:
        show_page(report)
    if args.view:
        from legged_dynamics.cli import main
        shown = main(['view', str(bag), '--robot', str(yaml), '--port', str(args.port)])
        return outcome.exit_code or shown
    return outcome.exit_code


def _record_live(yaml: Path, urdf: Path, args: argparse.Namespace, out: Path) -> Outcome:
    """Have the robot move and be estimated while everything is recorded into ``out / 'bag'``."""
    from legged_dynamics.ros.middleware.cyclone import CycloneBus
    command = [sys.executable, '-m', 'legged_dynamics']
    parameters = ['--ros-args', '--params-file', str(yaml),
                  '-p', f'robot_description:={urdf.resolve()}']
    reliable = [word for topic in ('/joint_states', '/imu/data') for word in (
        '-p', f'qos_overrides.{topic}.subscription.reliability:=reliable',
        '-p', f'qos_overrides.{topic}.subscription.depth:={10 * WINDOW}')]
    answering = [*parameters, '-p', 'use_sim_time:=true', *reliable]
    duration = MARGIN + (Schedule.from_text(args.schedule).duration if args.schedule else WALKED)
    feet = [foot.link for foot in RobotConfig.from_yaml(yaml).feet]
    outputs = [f'/{ESTIMATOR}/{foot}/{name}' for foot in feet
               for name in ('wrench', 'contact')] + [f'/{ESTIMATOR}/external_torque']
    # What foot_reactions has, too; a message costs the estimator as much as an estimate.
    twice = ['reactions', 'contacts', *(f'{foot}/{name}' for foot in feet
                                        for name in ('wrench_stddev', 'contact_probability'))]
    answers = [f'/{name}/answer:{WINDOW}' for name in (ESTIMATOR, RECORDER)]
    with DomainLease() as lease:
        environment = {**lease.environment(), CHOICE: args.middleware}
        if args.middleware == 'rclpy':
            environment.update(fast_dds_environment(out))
        _say(f'Robot, nodes and recorder on DDS domain {lease.domain_id}, loopback only')
        bus = CycloneBus(environment)
        with ProcessGroup(out, environment) as processes:
            try:
                # The first to be started is the last to be stopped, and the robot moves only when
                # all others listen: nothing is missed at either end.
                processes.start('recorder', [
                    *command, 'record', '--all', *INPUTS, '--answer', '/joint_states',
                    '--answer', '/imu/data', '-o', str(out / 'bag'),
                    *(word for name in twice for word in ('--exclude', f'/{ESTIMATOR}/{name}'))])
                processes.start('estimator', [*command, 'run', ESTIMATOR, *answering])
                with ProgressBar('Starting the nodes'):
                    processes.wait_until(lambda: all(processes.said('recorder', f' {topic} ')
                                                     for topic in outputs), STARTING)
                if args.view:
                    processes.start('view', [*command, 'view', '--robot', str(yaml), '--odom',
                                             '/ground_truth/odom', '--port', str(args.port)])
                    processes.wait_until(lambda: processes.said('view', 'View:'), STARTING)
                    _say(processes.log('view')[0])
                moving = ['-p', f"schedule:='{args.schedule or 'stand 1'}'"]
                if not args.schedule:
                    processes.start('controller', [
                        *command, 'run', CONTROLLER, *answering,
                        '-p', f'walking.command_timeout:={WALKED}'])
                    Walk(bus)
                    answers += [f'/{CONTROLLER}/answer', ANSWER]
                    moving += ['-p', f'simulation.push.time:={PUSHED}',
                               '-p', f'simulation.push.force:={list(PUSH)}']
                processes.start('simulator', [
                    *command, 'run', 'simulated_robot', *parameters,
                    *moving, '-p', f'lock_step.answers:={answers}',
                    '-p', 'lock_step.listeners:=1',
                    '-p', f'lock_step.speed:={args.speed}',
                    '-p', f'lock_step.duration:={duration}'])
                _follow(bus, processes, duration)
            finally:
                bus.close()
            time.sleep(SETTLING)
            processes.stop()
    for line in (processes.log('simulator') + processes.log('recorder'))[-1:]:
        _say(line)
    return Outcome.from_log(processes.log('simulator'))


def _follow(bus: Any, processes: ProcessGroup, duration: float) -> None:
    """Show how far simulated time is, until its end, and let the walk be commanded."""
    dialect, heard = StandaloneDialect(), [BEGIN_NS]
    bus.create_node('demo').create_subscription(
        dialect.message('rosgraph_msgs/msg/Clock'), '/clock',
        lambda message: heard.append(convert.stamp_ns(message.clock)), dialect.qos.best_effort(1))
    moved = looked = time.monotonic()
    with ProgressBar('Moving') as bar:
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
            if processes.said('simulator', ENDED):
                break
            if now - moved > STANDSTILL:
                raise MiddlewareError(f'simulated time stood still for {STANDSTILL:.0f} s; see '
                                      'the logs')


def _say(text: str) -> None:
    print(text, flush=True)
