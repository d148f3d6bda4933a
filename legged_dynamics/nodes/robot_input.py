# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What every node hears of the robot: its description, joint states and IMU, and their faults."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.estimation.synchronizer import IMU_TIMEOUT, MeasurementSynchronizer
from legged_dynamics.exceptions import LeggedDynamicsError, MeasurementError
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.middleware.protocol import Component
from legged_dynamics.model import RobotModel
from legged_dynamics.model.sensor_correction import SensorCorrection
from legged_dynamics.nodes.description import when_described
from legged_dynamics.nodes.diagnostics import InputMonitor
from legged_dynamics.nodes.endpoints import Endpoints
from legged_dynamics.nodes.input_screen import InputScreen, NoScreen
from legged_dynamics.nodes.lock_step import answer
from legged_dynamics.schema import Setting

Commands = tuple[Sequence[str], Sequence[float]]
SETTINGS = (
    Setting('imu_timeout', IMU_TIMEOUT, 's',
            'How long joint states wait for an IMU reading of their time.', 1e-3, 1.0),
    Setting('input_timeout', 0.5, 's', 'Age at which an input counts as stopped.', 0.01, 60.0),
    Setting('input_depth', 100, 'messages', 'Queue of each input.', 1, 100000),
)


class RobotInput:
    """
    Turns the robot's topics into measurements, in the model's joint order.

    Where time is simulated (``use_sim_time``) it answers every measurement on ``~/answer``: a
    simulator in lock-step waits for that.

    Parameters
    ----------
    component : Component
        On whose node the subscriptions live.
    endpoints : Endpoints
        Of the component.
    values : dict
        Its parameters: `SETTINGS` and robot_description.
    described : callable
        Takes a new RobotModel; raises LeggedDynamicsError when it cannot work with it. Called
        once for each description that can be read.
    measured : callable
        Takes a Measurement; its MeasurementErrors are shown as refused joint states. It may return
        what it has commanded, as names and values.
    screen : InputScreen, optional
        Of a node that commands. What it does not believe makes no measurement; and a description
        that comes while measurements are made waits for the next :meth:`start`.
    clock : callable, optional
        Time for ages and diagnostics [ns]; the node's.
    spare : callable, optional
        Takes a new RobotModel and returns the joints that joint states may lack, and where they
        then stand [rad or m]. None by default.
    stated : sequence of str
        Spare joints that are known to be lacking, and are not warned of.

    Attributes
    ----------
    model : RobotModel or None
        Once a description was accepted.
    listening : bool
        Whether measurements are made; the age of the inputs is watched in any case.
    joints, imu : InputMonitor
    description_fault : str
        Why the last description was refused, or empty.
    waiting : str
        A description that has come and is not in force, or empty.

    """

    def __init__(self, component: Component, endpoints: Endpoints, values: dict[str, Any],
                 described: Callable[[RobotModel], None],
                 measured: Callable[[Measurement], Commands | None],
                 screen: InputScreen | None = None, clock: Callable[[], int] | None = None,
                 spare: Callable[[RobotModel], dict[str, float]] | None = None,
                 stated: Iterable[str] = ()):
        self._component, self._endpoints = component, endpoints
        self._simulated = bool(component.node.get_parameter('use_sim_time').value)
        self._answers: Any = None
        self._screen = screen or NoScreen()
        self._keeps = screen is not None
        self._now = clock or (lambda: component.node.get_clock().now().nanoseconds)
        self._text = self.waiting = ''
        self._sensors = SensorCorrection.from_parameters(values)
        self._given = bool(values['robot_description'])
        self._described, self._measured = described, measured
        self._find_spare, self._quiet = spare, set(stated)
        self._spare: dict[str, float] = {}
        timeout = round(values['input_timeout'] * 1e9)
        self.joints = InputMonitor('joint_states', timeout)
        self.imu = InputMonitor('imu', timeout)
        self.model: RobotModel | None = None
        self.listening = False
        self.description_fault = ''
        self._synchronizer = MeasurementSynchronizer(values['imu_timeout'])
        when_described(component, endpoints, values['robot_description'], self._on_description)
        qos = component.dialect.qos.best_effort(values['input_depth'])
        self._sources = [
            (self.joints, endpoints.subscription('sensor_msgs/msg/JointState', 'joint_states',
                                                 self._on_joints, qos)),
            (self.imu, endpoints.subscription('sensor_msgs/msg/Imu', 'imu/data', self._on_imu,
                                              qos))]

    def start(self) -> None:
        """Make measurements from now on, with an empty memory."""
        if self.waiting:
            self._take_description(self.waiting)
        self._synchronizer.reset()
        self.listening = True
        self._offer_answers()

    def stop(self) -> None:
        """Make no more measurements."""
        self.listening = False

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Return level and message of each input."""
        found = {monitor.name: self._judge_source(monitor, source, now)
                 for monitor, source in self._sources}
        if self.waiting:
            found['robot_description'] = 'WARN', ('another robot_description came; the one in '
                                                  'force stays until the node is deactivated')
        return found

    def _judge_source(self, monitor: InputMonitor, source: Any, now: int) -> tuple[str, str]:
        level, text = monitor.judge(now)
        count = getattr(source, 'get_publisher_count', lambda: 1)()
        if self._keeps and count > 1 and level in ('OK', 'WARN'):
            return 'WARN', f'{count} publishers where one is expected; {text}'
        return level, text

    def state(self) -> tuple[str, str] | None:
        """Return level and message of what keeps a node from working, or None."""
        if self.description_fault:
            return 'ERROR', f'robot_description: {self.description_fault}'
        if self.model is None:
            return 'WARN', 'waiting for robot_description'
        if not self.listening:
            return 'OK', 'inactive'
        return None

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return rate, age and jitter of each input."""
        return {'joint_states': self.joints.values(now), 'imu': self.imu.values(now)}

    def _on_description(self, urdf: str) -> None:
        if self._keeps and self.model is not None:
            if urdf == self._text:
                self.waiting = ''
                return
            if self.listening:
                self.waiting = urdf
                return
        self._take_description(urdf)

    def _take_description(self, urdf: str) -> None:
        self.waiting = ''
        try:
            model = RobotModel.from_xml(urdf)
            self._described(model)
            self._spare = self._find_spare(model) if self._find_spare is not None else {}
        except LeggedDynamicsError as error:
            if self._given:
                raise
            self.description_fault = str(error)     # a better one may still be published
            self._component.node.get_logger().error(f'robot_description: {error}')
            return
        self.description_fault, self._text = '', urdf
        self._read = convert.SensorReader(model.joint_names, self._sensors, self._spare,
                                          model.mimics)
        self._synchronizer.reset()
        self.model = model
        self._offer_answers()

    def _offer_answers(self) -> None:
        """Be there to answer, from when joint states are no longer left out."""
        if self._simulated and self._answers is None and self.listening and self.model is not None:
            self._answers = self._endpoints.publisher(
                'sensor_msgs/msg/JointState', '~/answer', self._component.dialect.qos.latched)

    def _answer(self, ns: int, commands: Commands | None) -> None:
        if self._answers is not None:
            self._answers.publish(answer(self._component.dialect, ns, commands))

    def _on_joints(self, message: Any) -> None:
        now = self._now()
        self.joints.saw(now)
        if not self.listening or self.model is None:
            return
        try:
            sample = self._read.joints(message)
        except MeasurementError as error:
            self._screen.refused(str(error))
            self.joints.refused(now, str(error))
            self._answer(convert.stamp_ns(message.header.stamp), None)
            return
        if not self._quiet.issuperset(self._read.assumed):
            self._warn_of(self._read.assumed)
        fault = self._screen.joints(sample, message.name)
        odd = fault or self._screen.effort(sample)
        if odd:
            self.joints.refused(now, odd)
        if fault:
            self._answer(sample.stamp_ns, None)
            return
        self._pass(self._synchronizer.push_joints(sample.stamp_ns, sample.position,
                                                  sample.velocity, sample.effort))

    def _warn_of(self, assumed: Sequence[str]) -> None:
        """Say once which joints are guessed."""
        news = [f'{name} at {self._spare[name]:g}' for name in assumed if name not in self._quiet]
        self._quiet.update(assumed)
        self._component.node.get_logger().warning(
            f'joint_states lacks joints that carry neither a foot nor the IMU; taken as standing: '
            f'{", ".join(news)} (rad or m; state them in robot.absent_joints and '
            'robot.absent_positions)')

    def _on_imu(self, message: Any) -> None:
        now = self._now()
        self.imu.saw(now)
        if not self.listening or self.model is None:
            return
        try:
            sample = self._read.imu(message)
        except MeasurementError as error:
            self.imu.refused(now, str(error))
            self._answer(convert.stamp_ns(message.header.stamp), None)
            return
        fault = self._screen.imu(sample)
        if fault:
            self.imu.refused(now, fault)
            self._answer(sample.stamp_ns, None)
            return
        self._pass(self._synchronizer.push_imu(
            sample.stamp_ns, sample.angular_velocity, sample.linear_acceleration,
            sample.orientation))

    def _pass(self, measurements: list[Measurement]) -> None:
        for measurement in measurements:
            commands = None
            try:
                commands = self._measured(measurement)
            except MeasurementError as error:
                self.joints.refused(self._now(), str(error))
            finally:
                self._answer(measurement.stamp_ns, commands)
