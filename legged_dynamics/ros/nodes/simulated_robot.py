# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node simulated_robot: MuJoCo physics behind the topics of a robot's hardware interface."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from legged_dynamics.exceptions import LeggedDynamicsError, MeasurementError
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.protocol import Component
from legged_dynamics.ros.middleware.runner import run
from legged_dynamics.ros.nodes.description import urdf_text
from legged_dynamics.ros.nodes.diagnostics import InputMonitor, PreparedPublisher
from legged_dynamics.ros.nodes.lock_step import BEGIN_NS, LockStep, LockStepSettings
from legged_dynamics.ros.nodes.robot_component import COMMANDS, ROBOT, RobotComponent, SteadyClock
from legged_dynamics.schema import Setting
from legged_dynamics.simulation.choice import make_plant, make_robot, plant_settings
from legged_dynamics.simulation.hardware import SimulatedHardware
from legged_dynamics.simulation.plant import KIND
from legged_dynamics.simulation.schedule import DEMO_SCHEDULE, Schedule

NODE_SETTINGS = (
    *LockStepSettings.table(),
    Setting(
        'schedule', str(DEMO_SCHEDULE), '',
        'What a walking robot does until effort commands arrive: behaviours with seconds, such '
        'as "stand 4, trot_forward 12, stand 4".'),
    Setting('sensor_noise', True, '', 'Whether sensors have the noise and bias of `noise`.'),
    Setting('seed', 0, '', 'Seed of the sensor noise.', 0, 2**31 - 1),
    Setting('publish_clock', False, '', 'Whether to publish the simulated time on /clock.'),
    Setting('publish_truth', True, '', 'Whether to publish the true foot wrenches and base pose.'),
)
GRIPS = 'adhesion_controller/commands'
# A simulator that is behind by more sensor periods than this drops the lost time.
CATCH_UP = 25
# A change of the machine's clock by more than this is followed by the stamps [ns].
CLOCK_SET_NS = 100_000_000


def _imu_numbers(sample: Any, covariances: Sequence[Sequence[float]]) -> list[float]:
    """Return the numbers of an Imu behind its header."""
    found: list[float] = []
    for values, covariance in zip((sample.orientation, sample.angular_velocity,
                                   sample.linear_acceleration), covariances):
        found += [*values.tolist(), *covariance]
    return found


class _Pace:
    """How many steps were made by the steady clock [ns], and how late; ``period_ns`` of a step."""

    def __init__(self, steady: Callable[[], int], period_ns: int):
        self._steady, self._period = steady, period_ns
        self.begin()

    def begin(self) -> None:
        """Start now."""
        self._start_ns = self._began_ns = self._steady()
        self.ticks = self._late = self._dropped = self._worst_ns = 0

    def elapsed_ns(self) -> int:
        """Return the time since the start, without what was dropped."""
        return self._steady() - self._start_ns

    def drop(self, lost_ns: int) -> None:
        """Drop lost time."""
        self._dropped += 1
        self._start_ns += lost_ns

    def step(self) -> None:
        """Count a step that was made now."""
        self.ticks += 1
        lateness = self.elapsed_ns() - self.ticks * self._period
        self._late += lateness > self._period
        self._worst_ns = max(self._worst_ns, lateness)

    def statement(self, state: str, timeouts: int) -> str:
        """Return how real time was kept, for people."""
        real = 1e-9 * max(self._steady() - self._began_ns, 1)
        simulated = 1e-9 * self.ticks * self._period
        return (f'robot {state}; {simulated:.2f} s in {real:.2f} s, real-time factor '
                f'{simulated / real:.3f}; {self._late} of {self.ticks} deadlines missed, worst '
                f'lateness {self._worst_ns * 1e-6:.1f} ms, lost time dropped {self._dropped} '
                f'times, {timeouts} command time-outs')


class SimulatedRobotNode(Component):
    """
    A simulated robot: publishes sensors and ground truth, obeys effort commands.

    Obeys ``effort_controller/commands`` while they keep coming, in the order of
    ``robot.joints``, and ``adhesion_controller/commands``. Wall time, or with
    ``lock_step.answers`` simulated time, which waits for the answering nodes.
    """

    default_name = 'simulated_robot'

    def __init__(self, node: Any, dialect: Any):
        super().__init__(node, dialect)
        kind = node.declare(KIND, read_only=True)
        self.common = RobotComponent(
            self, (*ROBOT, *plant_settings(kind), *NODE_SETTINGS),
            lambda values: Schedule.from_text(values['schedule']))
        self.parameters = self.common.parameters
        self.parameters[KIND.name] = kind
        self._steady = SteadyClock(node)
        self._timer: Any = None

    # ---- lifecycle -------------------------------------------------------------------------

    def configure(self) -> None:
        """Build the physics and join the topics."""
        values = self.parameters
        description = values['robot_description']
        self._plant = make_plant(values, urdf_text(description) if description else '')
        self._schedule = Schedule.from_text(values['schedule'])
        self._commands = InputMonitor('commands', round(1e9 * self._plant.command_timeout))
        self._mishaps = InputMonitor('mishaps', 0)
        self.common.configure()
        lock_step = LockStepSettings.from_parameters(
            self.common.values(LockStepSettings.table()))
        self._lock_step = (LockStep(self, self.common.endpoints, lock_step, self._go_on)
                           if lock_step.answers else None)
        self.robot = self._new_robot()
        self._make_endpoints()
        self.node.get_logger().info(self.robot.describe())

    def activate(self) -> None:
        """Start moving, from the beginning of the schedule, at the present time."""
        self.robot = self._new_robot()
        self._pace = _Pace(self._steady, self.robot.period_ns)
        if self._lock_step is None:
            # Building it took a while.
            self.robot.delay(self.common.now() - self.robot.stamp_ns)
            self._wall_ahead = self.common.now() - self._steady()
        self.ended = self._begun = False
        self._fell: float | None = None
        self._description.publish(convert.string(self.dialect, self._plant.urdf))
        self._timer = self.node.create_timer(self.robot.period_ns * 1e-9, self._go_on)

    def deactivate(self) -> None:
        """Stop time."""
        if self._timer is not None:
            self.node.destroy_timer(self._timer)
            self._timer = None
            if not self.ended:
                self.node.get_logger().info(self._statement())

    def cleanup(self) -> None:
        """Leave all topics."""
        self.common.close()

    def _new_robot(self) -> SimulatedHardware:
        start = self.common.now() if self._lock_step is None else BEGIN_NS
        return make_robot(self._plant, schedule=self._schedule, start_ns=start,
                          noise=self.parameters['sensor_noise'], seed=self.parameters['seed'])

    def _make_endpoints(self) -> None:
        qos, publisher = self.dialect.qos, self.common.endpoints.publisher
        feet, zeros = self._plant.feet, [0.0] * 6
        ours = StandaloneDialect()      # of prepared messages, on every bus

        def prepared(topic: str, message: Any) -> PreparedPublisher:
            return self.common.endpoints.prepared(topic, message, qos.reliable(500))
        at_rest, noise = [0.0] * len(self._plant.joints), self._plant.noise
        variances = ((noise.orientation ** 2, noise.gyro ** 2, noise.accelerometer ** 2)
                     if self.parameters['sensor_noise'] else (1e-12, 1e-12, 1e-12))
        self._covariances = [(value * np.eye(3)).ravel().tolist() for value in variances]
        self.joint_states = prepared('joint_states', convert.joint_state(
            ours, 0, self._plant.joints, at_rest, at_rest, at_rest))
        self.imu = prepared('imu/data', convert.imu(ours, 0, self._plant.imu_link, zeros[:3],
                                                    zeros[:3], (0.0, 0.0, 0.0, 1.0)))
        self._description = publisher('std_msgs/msg/String', 'robot_description', qos.latched)
        self._clock = (self.common.endpoints.prepared('/clock', convert.clock(ours, 0),
                                                      qos.best_effort(1))
                       if self.parameters['publish_clock'] or self._lock_step else None)
        self._true: list[Any] = []
        if self.parameters['publish_truth']:
            self._wrenches = [prepared(f'ground_truth/{foot}/wrench',
                                       convert.wrench_stamped(ours, 0, foot, zeros))
                              for foot in feet]
            self._contacts = [prepared(f'ground_truth/{foot}/contact',
                                       convert.boolean(ours, False)) for foot in feet]
            self._odometry = prepared('ground_truth/odom', convert.odometry(
                ours, 0, 'world', self._plant.base_link))
            self._true = [*self._wrenches, *self._contacts, self._odometry]
        if self._lock_step is not None:
            return      # commands come with the answers, which have the stamp of their sample
        array_type = 'std_msgs/msg/Float64MultiArray'
        self.common.endpoints.subscription(
            array_type, COMMANDS, lambda message: self._take(
                message, self._plant.joints, self.robot.command_effort), qos.reliable(1))
        if self.robot.grips:
            self.common.endpoints.subscription(
                array_type, GRIPS, lambda message: self._take(
                    message, self._plant.feet, self.robot.command_grips), qos.reliable(1))

    # ---- time ------------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Step as often as real time requires, and in lock-step as the answers allow."""
        lock, pace, period = self._lock_step, self._pace, self.robot.period_ns
        if self._timer is None or self.ended:
            return
        if lock is None:
            wall_ahead = self.common.now() - self._steady()
            if abs(wall_ahead - self._wall_ahead) > CLOCK_SET_NS:
                self.robot.delay(wall_ahead - self._wall_ahead)
                self._wall_ahead = wall_ahead
        elif not self._begun:
            if not lock.ready([self.joint_states, self.imu], self._true):
                return
            self._begun = True
            pace.begin()
        speed = 1.0 if lock is None else lock.speed or math.inf
        # Where no answers are waited for, a slow machine has to take messages in between.
        last_tick = pace.ticks + CATCH_UP if lock is None else math.inf
        while not self.ended and pace.ticks < last_tick:
            next_stamp = self.robot.stamp_ns + period
            if lock is not None and 0 < lock.duration_ns <= pace.ticks * period:
                self.ended = lock.over(self.robot.stamp_ns)
                if self.ended:
                    self.node.get_logger().info(self._statement())
                return
            steps_due = max(pace.elapsed_ns(), 1) * speed / period - pace.ticks
            if steps_due < 1.0 or (lock is not None and not lock.open(next_stamp, period)):
                return
            if CATCH_UP < steps_due < math.inf:
                lost = pace.elapsed_ns() - round((pace.ticks + 1) * period / speed)
                pace.drop(lost)
                if lock is None:
                    self.robot.delay(lost)     # else all later stamps would look old
            if lock is not None:
                self._obey(lock.commands(next_stamp, period))
            self._step()

    def _obey(self, commands: dict[str, float]) -> None:
        """Obey commands by name; without any, the last ones are held."""
        for names, obey in ((self._plant.joints, self.robot.command_effort),
                            (self._plant.feet, self.robot.command_grips)):
            wanted = [commands[name] for name in names if name in commands]
            if len(wanted) == len(names):
                try:
                    obey(wanted)
                    self._commands.saw(self.common.now())
                except LeggedDynamicsError as error:
                    self._commands.refused(self.common.now(), str(error))

    def _step(self) -> None:
        self.robot.step()
        for note in self.robot.take_notes():
            self._mishaps.refused(self.common.now(), note)
            self.node.get_logger().warning(note)
        if self._fell is None and self.robot.fallen:
            self._fell = self.robot.time
        self._pace.step()
        self._publish()

    def _statement(self) -> str:
        state = 'upright' if self._fell is None else f'fallen at {self._fell:.2f} s'
        return self._pace.statement(state, self.robot.command_timeouts)

    # ---- topics ----------------------------------------------------------------------------

    def _publish(self) -> None:
        sample = self.robot.read()
        ns = sample.stamp_ns
        if self._clock is not None:
            self._clock.send(ns, divmod, ns, 1_000_000_000)
        self.imu.send(ns, _imu_numbers, sample, self._covariances)
        self.joint_states.send(ns, lambda: np.concatenate(
            [sample.position, sample.velocity, sample.effort]).tolist())  # type: ignore[list-item]
        if self.parameters['publish_truth']:
            truth, unknown = self.robot.truth(), [0.0] * 36
            for wrench, contact, force, down in zip(self._wrenches, self._contacts,
                                                    truth.feet.wrench, truth.feet.contact):
                wrench.send(ns, force.tolist)
                contact.send(ns, lambda down=down: [bool(down)])
            self._odometry.send(ns, lambda: [
                *truth.base_position.tolist(), *truth.base_orientation.tolist(), *unknown,
                *truth.base_velocity.tolist(), *unknown])

    def _take(self, message: Any, names: Sequence[str], obey: Callable[[Any], None]) -> None:
        now = self.common.now()
        try:
            obey(convert.read_command(message, names))
            self._commands.saw(now)
        except MeasurementError as error:
            self._commands.refused(now, str(error))

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Judge the robot and the commands that it obeys."""
        robot = self.robot
        level, message = 'OK', f'{robot.behaviour} under its own controller'
        if robot.commanded:
            message = 'obeys effort commands'
        if robot.fallen:
            level, message = 'WARN', 'has fallen'
        elif self._mishaps.recent(now):
            level, message = 'WARN', self._mishaps.fault
        commands = self._commands.judge(now)
        if commands[0] != 'WARN':       # only a refused command is worth a warning
            commands = ('OK', 'none' if commands[0] == 'STALE' else commands[1])
        return {'robot': (level, message), 'commands': commands}

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return deadlines and commands."""
        return {'robot': {'deadlines': self._statement()} if self._timer is not None else {},
                'commands': self._commands.values(now)}


main = partial(run, SimulatedRobotNode)   # the executable; returns its exit code
