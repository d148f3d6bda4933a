# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A node's inputs from the robot: description, joint states, IMU, contact switches, and their faults.

Messages become samples (`conversions.reading`), and those measurements
(`estimation.sensor_stream`), exactly as in the replay of a bag.
"""
from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial
from typing import Any

from legged_dynamics.estimation.measurement import IMU_TIMEOUT, Measurement
from legged_dynamics.estimation.sensor_stream import SensorStream
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model import RobotModel
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.conversions.reading import SampleReader
from legged_dynamics.ros.middleware.protocol import Diagnosed
from legged_dynamics.ros.nodes.description import RobotDescription
from legged_dynamics.ros.nodes.diagnostics import InputMonitor, SilenceWatch
from legged_dynamics.ros.nodes.input_screen import InputScreen
from legged_dynamics.ros.nodes.lock_step import Answers, answers_of
from legged_dynamics.ros.nodes.robot_component import RobotComponent
from legged_dynamics.schema import Setting

JOINTS = 'joint_states'
IMU = 'imu/data'
SWITCHES = 'foot_switches'
Commands = tuple[Sequence[str], Sequence[float]]
SETTINGS = (
    Setting('imu_timeout', IMU_TIMEOUT, 's',
            'How long joint states wait for an IMU reading of their time.', 1e-3, 1.0),
    Setting('input_timeout', 0.5, 's', 'Age at which an input counts as stopped.', 0.01, 60.0),
    Setting('input_depth', 100, 'messages', 'Queue of each input.', 1, 100000),
)
# Of nodes that detect contact.
SWITCH_SETTINGS = (
    Setting(
        'contacts.topics', [], '',
        'Topics of ros_gz_interfaces/Contacts, of contact sensors in Gazebo: read as switches.'),
    Setting(
        'contacts.memory', 0.02, 's',
        'How long a foot is in contact that they no longer name.', 1e-3, 1.0),
)


class RobotInput(Diagnosed):
    """
    Turns a robot's messages into measurements, in the model's joint order.

    With ``use_sim_time`` each is answered on ``~/answer``. ``measured`` may return the sent
    command; its MeasurementErrors count as refused joint states. ``screen`` may refuse
    samples; ``answered`` is called behind the answer, with what need not be waited for;
    ``needed`` returns joints not to be assumed at rest.
    """

    def __init__(self, common: RobotComponent, described: Callable[[RobotModel], None],
                 measured: Callable[[Measurement], Commands | None],
                 screen: InputScreen | None = None,
                 answered: Callable[[Measurement], object] = lambda measurement: None,
                 needed: Callable[[RobotModel], Container[str]] = lambda model: ()):
        component, parameters, config = common.component, common.parameters, common.config
        self._component, self._endpoints = component, common.endpoints
        self._parameters, self._config, self._now = parameters, config, common.now
        self._answer = Answers()
        self._described, self._measured, self._needed = described, measured, needed
        self._after_answer = answered
        self._known_absent = set(config.absent)
        timeout = round(parameters['input_timeout'] * 1e9)
        self.joints = InputMonitor('joint_states', timeout)
        self.imu = InputMonitor('imu', timeout)
        self.listening = False
        self._commanding = screen is not None   # of a node that moves motors, not of a listener
        self.description = RobotDescription(
            component, self._take_model, (lambda: self.listening) if self._commanding else None)
        # Contact switches are read by nodes that detect contact.
        self._has_switches = bool(config.feet) and 'contact.switch_missed' in parameters
        self.switches = InputMonitor(SWITCHES, timeout)
        self._monitors = {JOINTS: self.joints, IMU: self.imu}
        self._stream = SensorStream(parameters['imu_timeout'], screen)
        self._read: SampleReader | None = None      # once the robot is known
        self._assumed_at: dict[str, float] = {}
        self._sources: list[tuple[InputMonitor, Any]] = []
        # Where the middleware can: IMU readings are awaited only while a joint state lacks one.
        self._wake_for_imu: Callable[[bool], None] = lambda wanted: None

    def join(self) -> None:
        """Join the topics; a description by parameter is read at once."""
        self.description.join(self._endpoints, self._parameters['robot_description'])
        self._silence = SilenceWatch(self._component, self._endpoints, self._now)
        self._sources = self._subscribe(self._component.dialect.qos.best_effort(
            self._parameters['input_depth']))

    def _subscribe(self, qos: Any) -> list[tuple[InputMonitor, Any]]:
        """Subscribe to the sensors; return what each is watched with, and its subscription."""
        sources = []
        # The IMU first: a joint state that comes with its reading need not wait for it.
        for topic, kind in ((IMU, 'sensor_msgs/msg/Imu'), (JOINTS, 'sensor_msgs/msg/JointState')):
            source = self._endpoints.subscription(kind, topic, partial(self._take, topic), qos)
            self._silence.expect(self._monitors[topic], topic, kind, source)
            sources.append((self._monitors[topic], source))
            if topic == IMU and not self._commanding:
                self._wake_for_imu = getattr(source, 'wake', self._wake_for_imu)
        if self._has_switches:
            kinds = {SWITCHES: 'sensor_msgs/msg/JointState', **dict.fromkeys(
                self._parameters['contacts.topics'], 'ros_gz_interfaces/msg/Contacts')}
            for topic, kind in kinds.items():
                self._monitors[topic] = self.switches
                self._endpoints.subscription(kind, topic, partial(self._take, topic), qos)
        return sources

    def start(self) -> None:
        """Make measurements from now on, with an empty memory."""
        self.description.take_waiting()
        self._stream.reset()
        self.listening = True
        self._offer_answers()

    def stop(self) -> None:
        """Make no more measurements."""
        self.listening = False

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Judge the inputs by their rates, faults and numbers of publishers."""
        return {monitor.name: self._judge_source(monitor, source, now)
                for monitor, source in self._sources} | (
            {SWITCHES: self.switches.judge(now)} if self.switches.received else {}
        ) | self.description.judge()

    def _judge_source(self, monitor: InputMonitor, source: Any, now: int) -> tuple[str, str]:
        level, text = monitor.judge(now)
        count = getattr(source, 'get_publisher_count', lambda: 1)()
        if self._commanding and count > 1 and level in ('OK', 'WARN'):
            return 'WARN', f'{count} publishers where one is expected; {text}'
        return level, text

    def state(self) -> tuple[str, str] | None:
        """Return level and message of what keeps the node from working, or None."""
        return self.description.state() or (None if self.listening else ('OK', 'inactive'))

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return rate, age and jitter of each input."""
        found = {'joint_states': self.joints.values(now), 'imu': self.imu.values(now)}
        return found | ({SWITCHES: self.switches.values(now)} if self.switches.received else {})

    def _take_model(self, model: RobotModel) -> None:
        self._described(model)
        needed = self._needed(model)
        spare = {name: where
                 for name, where in self._config.spare(self._config.apply_to(model)).items()
                 if name not in needed}
        # A screen names the joint that is not finite, and has the others used.
        self._read = SampleReader(model, self._config, JOINTS, IMU, SWITCHES, spare,
                                  finite=not self._commanding)
        self._read.contacts.memory = self._parameters.get('contacts.memory', 0.0)
        self._assumed_at = spare
        self._stream.reset()
        self._offer_answers()

    def _offer_answers(self) -> None:
        """Be there to answer, from when joint states are no longer left out."""
        if self._answer.publisher is None and self.listening and self._read is not None:
            self._answer = answers_of(self._component, self._endpoints)

    def _take(self, topic: str, message: Any) -> None:
        """Make measurements of a message, and hand them on."""
        now, monitor = self._now(), self._monitors[topic]
        monitor.saw(now)
        if not self.listening or self._read is None:
            return
        stream, is_joints = self._stream, topic == JOINTS
        try:
            sample = self._read(topic, message)
        except MeasurementError as error:
            stream.refuse(str(error), is_joints)
            monitor.refused(now, str(error))
            if topic in (JOINTS, IMU):
                self._answer(convert.stamp_ns(message.header.stamp), None)
            return
        if is_joints and not self._known_absent.issuperset(self._read.assumed):
            self._warn_of(self._read.assumed)
        measurements = stream.push(sample)
        if stream.verdict.fault:
            monitor.refused(now, stream.verdict.fault)
        if not stream.verdict.usable:
            self._answer(sample.stamp_ns, None)
        if is_joints or measurements:
            self._wake_for_imu(not measurements)
        self._hand_on(measurements)

    def _warn_of(self, assumed: Sequence[str]) -> None:
        """Say once which joints are guessed."""
        news = [f'{name} at {self._assumed_at[name]:g}' for name in assumed
                if name not in self._known_absent]
        self._known_absent.update(assumed)
        self._component.node.get_logger().warning(
            f'joint_states lacks joints that carry neither a foot nor the IMU; taken as standing: '
            f'{", ".join(news)} (rad or m; state them in robot.absent_joints and '
            'robot.absent_positions)')

    def _hand_on(self, measurements: list[Measurement]) -> None:
        for measurement in measurements:
            commands = None
            try:
                commands = self._measured(measurement)
            except MeasurementError as error:
                self.joints.refused(self._now(), str(error))
            finally:
                self._answer(measurement.stamp_ns, commands)
            try:
                self._after_answer(measurement)     # a fault in what is only told commands nothing
            except MeasurementError as error:
                self.joints.refused(self._now(), str(error))
