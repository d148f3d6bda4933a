# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node effort_watchdog: passes efforts on to the motors, and acts when commands stop."""
from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model import RobotModel
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.protocol import Component
from legged_dynamics.ros.middleware.runner import run
from legged_dynamics.ros.nodes.description import RobotDescription
from legged_dynamics.ros.nodes.diagnostics import InputMonitor, SilenceWatch
from legged_dynamics.ros.nodes.lock_step import answers_of
from legged_dynamics.ros.nodes.robot_component import (
    COMMANDS,
    LONGEST_SHUTDOWN_NS,
    ROBOT,
    STOPPING,
    RobotComponent,
    Shutdown,
    SteadyClock,
)
from legged_dynamics.ros.nodes.safety_report import INACTIVE, EffortPublisher, SafetyReport
from legged_dynamics.safety.effort_watchdog import EffortWatchdog, LastEfforts, place_of
from legged_dynamics.safety.settings import SHARED, WATCHDOG_SETTINGS
from legged_dynamics.schema import Setting

NODE_SETTINGS = (
    *WATCHDOG_SETTINGS, *SHARED,
    Setting(
        'period', 0.005, 's', 'How often it is checked whether commands still come.', 1e-3, 0.1),
)
INPUT = '~/commands'
INPUT_TIMEOUT_NS = 500_000_000
OTHERS_PERIOD = 0.5     # s between looks at who else publishes to the motors
# Longest wait for a controller that is stopped at the same time, with a second for its last
# message [ns].
LONGEST_WAIT_NS = LONGEST_SHUTDOWN_NS + 1_000_000_000


class EffortWatchdogNode(Component):
    """
    Takes ``~/commands``, from one controller at a time, and commands the motors.

    It ends when the robot is down; a controller that keeps commanding loses the motors
    after `LONGEST_WAIT_NS`. After a kill, the next one holds the posture of `LastEfforts`,
    and lets the robot down without a controller.
    """

    default_name = 'effort_watchdog'
    has_kernels = True      # of the model; they must not be compiled in a callback

    def __init__(self, node: Any, dialect: Any):
        super().__init__(node, dialect)
        self.common = RobotComponent(self, (*ROBOT, *NODE_SETTINGS), _check, steady=True)
        self.watchdog: EffortWatchdog | None = None
        assert isinstance(self.common.now, SteadyClock)
        self._steady = self.common.now
        self._shutdown = Shutdown(self.common.now, LONGEST_WAIT_NS)

    def configure(self) -> None:
        """Join the topics."""
        values, qos = self.common.parameters, self.dialect.qos
        self._joints = InputMonitor('joint_states', INPUT_TIMEOUT_NS)
        self._active = False
        self._sent, self._refused_ns = 0, -INPUT_TIMEOUT_NS
        self._others: list[str] = []
        self._last = LastEfforts(None, 0)
        self._description = RobotDescription(self, self._described, lambda: self._active)
        self.common.configure()
        endpoints = self.common.endpoints
        self._command = EffortPublisher(self.common)
        self._description.join(endpoints, values['robot_description'])
        kind = 'sensor_msgs/msg/JointState'
        SilenceWatch(self, endpoints, self.common.now).expect(
            self._joints, 'joint_states', kind,
            endpoints.subscription(kind, 'joint_states', self._on_joints, qos.best_effort(5)))
        endpoints.subscription('std_msgs/msg/Float64MultiArray', INPUT, self._on_command,
                               qos.reliable(1))
        self._answer = answers_of(self, endpoints)
        self._report = SafetyReport(self.common, 'watchdog')
        endpoints.timer(values['period'], self._look)
        endpoints.timer(OTHERS_PERIOD, self._look_for_others)

    def activate(self) -> None:
        """Pass commands on."""
        self._description.take_waiting()
        if self.watchdog is not None:
            self.watchdog.reset()
            self._take_over(self.watchdog)
        self._shutdown.reset()
        self._active = True

    def leave(self) -> bool:
        """Go on until the robot is let down; return whether it is, or never will be."""
        watchdog, shutdown, log = self.watchdog, self._shutdown, self.node.get_logger()
        if watchdog is None or not self._active:
            return True
        if watchdog.at_rest or (watchdog.motors.keeps and watchdog.owner is None):
            if shutdown.begun:
                log.info(f'the robot is down: {watchdog.cause}')
            return True
        if shutdown.begin():
            log.info(f'stopping: when {watchdog.owner or "who commands"} has left')
        if shutdown.late():
            watchdog.release(self.common.now(), STOPPING)
        return shutdown.clock_stopped()

    def deactivate(self) -> None:
        """Pass nothing on; the last message is zero, or what a climber is to keep."""
        self._active = False
        if self.watchdog is not None and not self.watchdog.at_rest:
            self._send(self.watchdog.motors.parting())
        self._last.clear()
        self._tell(self.common.now(), INACTIVE)

    def cleanup(self) -> None:
        """Leave all topics."""
        self.common.close()
        self.watchdog = None

    # ---- work ------------------------------------------------------------------------------

    def _described(self, model: RobotModel) -> None:
        config = self.common.config
        joints = config.joints or model.joint_names
        self.watchdog = EffortWatchdog(config.apply_to(model), joints,
                                       self.common.values((*WATCHDOG_SETTINGS, *SHARED)),
                                       [foot.link for foot in config.feet])
        # The watchdog works without a joint whose reading cannot be used.
        self._read = convert.JointStateReader(joints, dict.fromkeys(joints, math.nan),
                                              finite=False)
        bus, topic = self.node.bus_name, self.node.resolve_topic_name(COMMANDS)
        place = place_of(' '.join((bus, topic, *joints))) if bus else None
        self._last = LastEfforts(place, self.watchdog.memory.size)
        if self._active:
            self._take_over(self.watchdog)

    def _take_over(self, watchdog: EffortWatchdog) -> None:
        """Take over motors that another watchdog has left with torque."""
        way, left = self.common.parameters['watchdog.take_over'], self._last.left
        if way == 'always' or (way == 'after_crash' and left is not None):
            self.node.get_logger().warning(
                'motors may have torque that nobody commands: the posture is held, and the robot '
                'let down if no controller is there')
            watchdog.take_over(self.common.now(), left if way == 'after_crash' else None)

    def _on_joints(self, message: Any) -> None:
        self._take_joints(message)
        self._look()        # a posture is held by the newest joint states
        self._answer(convert.stamp_ns(message.header.stamp))

    def _take_joints(self, message: Any) -> None:
        self._joints.saw(self.common.now())
        if self.watchdog is None:
            return
        try:
            sample = self._read(message)
        except MeasurementError as error:
            self._joints.refused(self.common.now(), str(error))
            return
        self._steady.heard(sample.stamp_ns)
        now = self.common.now()
        if fault := self.watchdog.joints(now, sample.stamp_ns, sample.position, sample.velocity,
                                         sample.effort):
            self._joints.refused(now, fault)

    def _on_command(self, message: Any) -> None:
        if self.watchdog is None or not self._active or self._description.fault:
            return
        now, dimensions = self.common.now(), message.layout.dim
        owner, count = (dimensions[0].label, dimensions[0].stride) if dimensions else ('', 0)
        if self.watchdog.command(now, message.data, owner, count):
            self._pass_on(now)
        elif self.watchdog.refused:
            self._refused_ns = now

    def _look(self) -> None:
        # Between commands nothing is sent again: hardware holds the last one.
        now = self.common.now()
        if self.watchdog is not None and self._active and self.watchdog.overdue(now):
            self._pass_on(now)
        self._tell(now, '' if self._active else INACTIVE)

    def _look_for_others(self) -> None:
        self._others = self.common.others_at_motors()

    def _pass_on(self, now: int) -> None:
        assert self.watchdog is not None
        effort = self.watchdog.output(now)
        if effort is not None:
            self._send(effort)
        if self.watchdog.at_rest:
            self._last.clear()
        self._tell(now)

    def _tell(self, now: int, state: str = '') -> None:
        """Publish the watchdog's status when it has changed, or is due."""
        watchdog = self.watchdog
        name = state or (watchdog.state.name.lower() if watchdog else INACTIVE)
        if not self._report.due(now, name, watchdog.cause or watchdog.fault if watchdog else ''):
            return
        if watchdog is None:
            self._report.publish('OK', INACTIVE, {'state': INACTIVE})
            return
        text = state or watchdog.state.value
        self._report.publish(
            'ERROR' if watchdog.cause or self._others else 'WARN' if watchdog.fault else 'OK',
            f'{text}: {watchdog.cause}' if watchdog.cause else text, {
                'state': name, 'cause': watchdog.cause, 'not passed on': watchdog.fault,
                'joint_states': watchdog.doubt, 'owner': watchdog.owner or '',
                'other senders': ', '.join(watchdog.refused),
                'others at the motors': ', '.join(self._others), 'sent': self._sent})

    def _send(self, effort: np.ndarray) -> None:
        assert self.watchdog is not None
        self._sent += 1
        self._last.note(self.watchdog.memory)
        self._command(effort, self.node.get_name(), self._sent % 2**32)

    # ---- diagnostics -----------------------------------------------------------------------

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Judge joint states, commands and who else commands the motors."""
        motors = {'motors': ('ERROR', 'others publish past the watchdog to the motors: '
                             + ', '.join(self._others))} if self._others else {}
        return {'joint_states': self._joints.judge(now),
                'commands': self._judge_commands(now)} | motors | self._description.judge()

    def _judge_commands(self, now: int) -> tuple[str, str]:
        watchdog = self.watchdog
        if watchdog is None or self._description.fault or not self._active:
            return self._description.state() or ('OK', INACTIVE)
        if watchdog.cause:
            return 'ERROR', f'{watchdog.cause}: {watchdog.state.value}'
        if self._shutdown.begun:
            return 'WARN', f'{STOPPING}: {watchdog.state.value}'
        if watchdog.refused and now - self._refused_ns < INPUT_TIMEOUT_NS:
            others = ', '.join(sorted(name or 'one without a name' for name in watchdog.refused))
            return 'WARN', (f'{watchdog.owner or "one without a name"} has the motors; not passed '
                            f'on: {others}')
        if watchdog.fault:
            return 'WARN', f'not passed on: {watchdog.fault}'
        return 'OK', f'{watchdog.state.value}: {watchdog.owner or "no name"}'

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return counts and rates of inputs."""
        values: dict[str, Any] = {'sent': self._sent}
        if self.watchdog is not None:
            values['state'] = self.watchdog.state.name.lower()
            for name, count in self.watchdog.refused.items():
                values[f'not passed on of {name or "no name"}'] = count
        return {'joint_states': self._joints.values(now), 'commands': values}


def _check(values: dict[str, Any]) -> None:
    if values['period'] > values['watchdog.deadline']:
        raise ConfigurationError(
            f'period: expected at most watchdog.deadline ({values["watchdog.deadline"]:g} s), '
            f'else silence is seen too late; got {values["period"]:g}')


main = partial(run, EffortWatchdogNode)   # the executable; returns its exit code
