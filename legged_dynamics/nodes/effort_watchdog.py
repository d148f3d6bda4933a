# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node effort_watchdog: passes efforts on to the motors, and acts when commands stop."""
from __future__ import annotations

from typing import Any

import numpy as np

from legged_dynamics.exceptions import (
    ConfigurationError,
    LeggedDynamicsError,
    MeasurementError,
)
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.middleware.protocol import Component
from legged_dynamics.middleware.runner import run
from legged_dynamics.middleware.settings import declare_settings, follow_settings
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.robot_config import SETTINGS as ROBOT_SETTINGS
from legged_dynamics.nodes.description import SETTINGS as DESCRIPTION_SETTINGS
from legged_dynamics.nodes.description import when_described
from legged_dynamics.nodes.diagnostics import DiagnosticsPublisher, InputMonitor
from legged_dynamics.nodes.effort_controller import COMMANDS
from legged_dynamics.nodes.endpoints import Endpoints
from legged_dynamics.nodes.steady import SteadyClock
from legged_dynamics.safety.effort_watchdog import SETTINGS as WATCHDOG_SETTINGS
from legged_dynamics.safety.effort_watchdog import SHARED, EffortWatchdog, WatchdogState
from legged_dynamics.schema import Setting

NODE_SETTINGS = (
    Setting('period', 0.005, 's', 'How often it is looked whether commands still come.', 1e-3,
            0.1),
    *WATCHDOG_SETTINGS, *SHARED,
)
INPUT = '~/commands'
INPUT_TIMEOUT_NS = 500_000_000


class EffortWatchdogNode(Component):
    """
    Hears ``~/commands``, from one controller at a time, and commands the motors.

    Controllers reach it by remapping ``effort_controller/commands`` to
    ``effort_watchdog/commands``; hardware listens to ``effort_controller/commands`` as ever.
    """

    default_name = 'effort_watchdog'
    has_kernels = True      # the model's; compiling them in a callback would leave it deaf

    def __init__(self, node: Any, dialect: Any):
        super().__init__(node, dialect)
        table = (*DESCRIPTION_SETTINGS, *ROBOT_SETTINGS, *NODE_SETTINGS)
        self._values = declare_settings(node, dialect, table)
        follow_settings(node, dialect, table, self._values, self._read_settings, self.fixed)
        self._endpoints = Endpoints(self)
        self.now = SteadyClock(node)
        self.watchdog: EffortWatchdog | None = None

    def configure(self) -> None:
        """Join the topics."""
        values = self._values
        self._config = self._read_settings(values)
        self._joints = InputMonitor('joint_states', INPUT_TIMEOUT_NS)
        self._active, self._text, self._waiting, self._fault = False, '', '', ''
        self._sent, self._refused_ns = 0, -INPUT_TIMEOUT_NS
        qos = self.dialect.qos
        self._commands = self._endpoints.publisher('std_msgs/msg/Float64MultiArray', COMMANDS,
                                                   qos.reliable(1))
        DiagnosticsPublisher(self, self._endpoints, self._judge, self._details, self.now)
        when_described(self, self._endpoints, values['robot_description'], self._on_description)
        self._endpoints.subscription('sensor_msgs/msg/JointState', 'joint_states',
                                     self._on_joints, qos.best_effort(5))
        self._endpoints.subscription('std_msgs/msg/Float64MultiArray', INPUT, self._on_command,
                                     qos.reliable(1))
        self._endpoints.timer(values['period'], self._look)

    @staticmethod
    def _read_settings(values: dict[str, Any]) -> RobotConfig:
        if values['period'] > values['watchdog.deadline']:
            raise ConfigurationError(
                f'period: expected at most watchdog.deadline ({values["watchdog.deadline"]:g} s), '
                f'else silence is seen too late; got {values["period"]:g}')
        return RobotConfig.from_parameters({name: value for name, value in values.items()
                                            if name.startswith(('robot.', 'noise.'))})

    def activate(self) -> None:
        """Pass commands on."""
        if self._waiting:
            self._take_description(self._waiting)
        if self.watchdog is not None:
            self.watchdog.reset()
        self._active = True

    def deactivate(self) -> None:
        """Pass nothing on; the last message is zero."""
        self._active = False
        if self.watchdog is not None and self.watchdog.state not in (
                WatchdogState.IDLE, WatchdogState.LATCHED):
            self._send(np.zeros(len(self.watchdog.names)))

    def cleanup(self) -> None:
        """Leave all topics."""
        self._endpoints.close()
        self.watchdog = None

    # ---- work ------------------------------------------------------------------------------

    def _on_description(self, urdf: str) -> None:
        if self.watchdog is None or (not self._active and urdf != self._text):
            self._take_description(urdf)
        else:
            self._waiting = '' if urdf == self._text else urdf

    def _take_description(self, urdf: str) -> None:
        self._waiting = ''
        try:
            model = self._config.apply_to(RobotModel.from_xml(urdf))
            joints = self._config.joints or model.joint_names
            self.watchdog = EffortWatchdog(model, joints, {
                setting.name: self._values[setting.name]
                for setting in (*WATCHDOG_SETTINGS, *SHARED)})
        except LeggedDynamicsError as error:
            if self._values['robot_description']:
                raise
            self._fault = f'robot_description: {error}'
            self.node.get_logger().error(self._fault)
            return
        self._read = convert.JointStateReader(joints)
        self._fault, self._text = '', urdf

    def _on_joints(self, message: Any) -> None:
        now = self.now()
        self._joints.saw(now)
        if self.watchdog is None:
            return
        try:
            sample = self._read(message)
        except MeasurementError as error:
            self._joints.refused(now, str(error))
            return
        fault = self.watchdog.joints(now, sample.stamp_ns, sample.position, sample.velocity)
        if fault:
            self._joints.refused(now, fault)

    def _on_command(self, message: Any) -> None:
        if self.watchdog is None or not self._active or self._fault:
            return
        now, dimensions = self.now(), message.layout.dim
        owner, count = (dimensions[0].label, dimensions[0].stride) if dimensions else ('', 0)
        if self.watchdog.command(now, message.data, owner, count):
            self._pass_on(now)
        elif self.watchdog.refused:
            self._refused_ns = now

    def _look(self) -> None:
        # Between commands nothing is sent again: hardware holds the last one.
        if self.watchdog is None or not self._active:
            return
        now = self.now()
        if self.watchdog.overdue(now):
            self._pass_on(now)

    def _pass_on(self, now: int) -> None:
        assert self.watchdog is not None
        effort = self.watchdog.output(now)
        if effort is not None:
            self._send(effort)

    def _send(self, effort: np.ndarray) -> None:
        self._sent += 1
        self._commands.publish(convert.command(self.dialect, effort, self.node.get_name(),
                                               self._sent % 2**32))

    # ---- diagnostics -----------------------------------------------------------------------

    def _judge(self, now: int) -> dict[str, tuple[str, str]]:
        found = {'joint_states': self._joints.judge(now), 'commands': self._judge_commands(now)}
        if self._waiting:
            found['robot_description'] = 'WARN', ('another robot_description came; the one in '
                                                  'force stays until the node is deactivated')
        return found

    def _judge_commands(self, now: int) -> tuple[str, str]:
        watchdog = self.watchdog
        if self._fault:
            return 'ERROR', self._fault
        if watchdog is None:
            return 'WARN', 'waiting for robot_description'
        if not self._active:
            return 'OK', 'inactive'
        if watchdog.cause:
            return 'ERROR', f'{watchdog.cause}: {watchdog.state.value}'
        if watchdog.refused and now - self._refused_ns < INPUT_TIMEOUT_NS:
            others = ', '.join(sorted(name or 'one without a name' for name in watchdog.refused))
            return 'WARN', (f'{watchdog.owner or "one without a name"} has the motors; not passed '
                            f'on: {others}')
        if watchdog.fault:
            return 'WARN', f'not passed on: {watchdog.fault}'
        return 'OK', f'{watchdog.state.value}: {watchdog.owner or "no name"}'

    def _details(self, now: int) -> dict[str, dict[str, Any]]:
        values: dict[str, Any] = {'sent': self._sent}
        if self.watchdog is not None:
            values['state'] = self.watchdog.state.name.lower()
            for name, count in self.watchdog.refused.items():
                values[f'not passed on of {name or "no name"}'] = count
        return {'joint_states': self._joints.values(now), 'commands': values}


def main(argv: list[str] | None = None) -> int:
    """Run the node; returns the exit code."""
    return run(EffortWatchdogNode, argv)
