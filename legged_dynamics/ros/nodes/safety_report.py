# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Status messages of guard and watchdog: what goes to the motors, and why.

Each publishes a stamped diagnostic_msgs/DiagnosticArray on `~/safety`, at every change of state
and ten times a second: a bag keeps what was done. A controller reports when its watchdog falls
silent, since nothing else would.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.protocol import Diagnosed
from legged_dynamics.ros.nodes.diagnostics import PreparedByKey
from legged_dynamics.ros.nodes.robot_component import COMMANDS, RobotComponent

TOPIC = '~/safety'
KIND = 'diagnostic_msgs/msg/DiagnosticArray'
PERIOD_NS = 100_000_000
# Silence after which a watchdog that was heard counts as gone [ns].
SILENT_NS = 500_000_000
# State of a watchdog that passes nothing on.
INACTIVE = 'inactive'


class SafetyReport:
    """Publishes the status of a guard or watchdog, named after the node and ``part``."""

    def __init__(self, common: RobotComponent, part: str):
        self._common = common
        node = common.node
        self._name = f'{node.get_namespace()}/{node.get_name()}: {part}'.strip('/')
        self._hardware = node.get_namespace().strip('/')
        self._publisher = common.endpoints.publisher(KIND, TOPIC, common.dialect.qos.reliable(100))
        self._said: tuple[str, bool] = '', False
        self._said_ns = -PERIOD_NS

    def due(self, now: int, state: str, why: str) -> bool:
        """Return whether the state is new or the last message old."""
        if (state, bool(why)) == self._said and 0 <= now - self._said_ns < PERIOD_NS:
            return False
        self._said, self._said_ns = (state, bool(why)), now
        return True

    def publish(self, level: str, message: str, values: dict[str, Any]) -> None:
        """Publish a status of level 'OK', 'WARN' or 'ERROR', with key figures."""
        dialect = self._common.dialect
        stamp = self._common.node.now_ns()
        self._publisher.publish(convert.diagnostics(dialect, stamp, [convert.diagnostic_status(
            dialect, level, self._name, message, values, self._hardware)]))


class EffortPublisher(PreparedByKey):
    """Publishes efforts for the motors, with their sender and a number (`convert.command`)."""

    def __init__(self, common: RobotComponent):
        super().__init__(common.endpoints.publisher(
            'std_msgs/msg/Float64MultiArray', COMMANDS, common.dialect.qos.reliable(1)),
            lambda key: convert.command(StandaloneDialect(), [0.0] * key[1], key[0]))

    def __call__(self, effort: np.ndarray, owner: str, count: int) -> None:
        """Publish."""
        self.send((owner, len(effort)), 0, (len(effort), count, 0, *effort.tolist()))


class WatchdogMonitor(Diagnosed):
    """
    Monitors published efforts: whether the watchdog lives, and other publishers.

    Efforts to `effort_controller/commands` go straight to the motors (`watchdog` is empty),
    remapped ones to `<watchdog>/commands`, whose watchdog reports on `<watchdog>/safety`.
    """

    def __init__(self, common: RobotComponent):
        self._common = common
        topic = common.node.resolve_topic_name(COMMANDS)
        base = topic.rpartition('/')[0]
        direct = base.endswith(COMMANDS.rpartition('/')[0]) or not topic.endswith('/commands')
        self.watchdog = '' if direct else base
        self._heard_ns: int | None = None
        self._state = ''
        if self.watchdog:
            common.endpoints.subscription(KIND, f'{base}/safety', self._hear,
                                          common.dialect.qos.reliable(10))

    def _hear(self, array: Any) -> None:
        self._heard_ns = self._common.now()
        said = {pair.key: pair.value for status in array.status for pair in status.values}
        self._state = said.get('state', self._state)

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Judge the `watchdog`, or the `motors` where others command them too."""
        if not self.watchdog:
            others = self._common.others_at_motors()
            return {'motors': ('WARN', 'others publish to the motors too: '
                               + ', '.join(others))} if others else {}
        if self._heard_ns is None:
            return {'watchdog': ('WARN', f'nothing heard of a watchdog {self.watchdog} yet')}
        silent = now - self._heard_ns
        if silent > SILENT_NS:
            return {'watchdog': ('ERROR', f'{self.watchdog} has been silent for '
                                 f'{silent * 1e-9:.1f} s: killed, stopped or cut off; the motors '
                                 'hold its last command')}
        if self._state == INACTIVE:
            return {'watchdog': ('ERROR', f'{self.watchdog} is not active: nothing reaches the '
                                 'motors')}
        return {'watchdog': ('OK', f'{self.watchdog}: {self._state}')}
