# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulated time that waits for the nodes that answer it, however busy the machine is."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.protocol import Component
from legged_dynamics.ros.nodes.diagnostics import Endpoints, PreparedByKey
from legged_dynamics.schema import CheckedSettings, setting


@dataclass(frozen=True)
class LockStepSettings(CheckedSettings):
    """Settings of simulated time that waits for answers."""

    answers: Sequence[str] = setting(
        'lock_step.answers', [], '',
        'Topics on which nodes answer each sample (`~/answer` of nodes with use_sim_time); given '
        'any, time is simulated and waits for all of them. A topic with a number behind a colon '
        'has a window of its own.')
    window: int = setting(
        'lock_step.window', 1, 'samples',
        'Samples that may be unanswered. A command is obeyed this many periods after the sample '
        'that it answers.', 1, 10000)
    listeners: int = setting(
        'lock_step.listeners', 0, '',
        'Subscriptions that each topic of sensors and truth must have before time begins.', 0, 100)
    speed: float = setting(
        'lock_step.speed', 1.0, '',
        'Greatest real-time factor; 0: as fast as answered.', 0.0, 1000.0)
    duration: float = setting(
        'lock_step.duration', 0.0, 's', 'When simulated time ends; 0: never.', 0.0, 1e6)


# Runs are to have the same stamps; zero would mean "no time yet" to ROS.
BEGIN_NS = 1_000_000_000
_COMPLAINT_PERIOD = 10.0        # s between complaints about an answer that does not come


class Answers(PreparedByKey):
    """
    Publishes JointStates with a sample's stamp and the commands, if any, as ``effort``.

    Without a publisher it does nothing.
    """

    def __init__(self, publisher: Any = None):
        super().__init__(publisher, lambda names: convert.joint_state(
            StandaloneDialect(), 0, names, effort=[0.0] * len(names)))

    def __call__(self, ns: int, commands: tuple[Sequence[str], Sequence[float]] | None = None
                 ) -> None:
        """Answer a sample."""
        if self.publisher is not None:
            names, values = commands or ((), ())
            self.send(tuple(names), ns, values)


def answers_of(component: Component, endpoints: Endpoints) -> Answers:
    """Return what answers samples on ``~/answer``, where a node's time is simulated."""
    if not component.node.get_parameter('use_sim_time').value:
        return Answers()
    return Answers(endpoints.publisher('sensor_msgs/msg/JointState', '~/answer',
                                       component.dialect.qos.latched))


class LockStep:
    """
    Decides when the next sample may come, and which command it obeys.

    With the same nodes and a window of one, runs are bit-identical. `duration_ns`: end of
    simulated time, 0: never; `speed`: greatest real-time factor, 0: unlimited.
    """

    def __init__(self, component: Component, endpoints: Endpoints, settings: LockStepSettings,
                 answered: Callable[[], None]):
        self._node, self._window = component.node, settings.window
        self._listeners, self.speed = settings.listeners, settings.speed
        self.duration_ns = round(1e9 * settings.duration)
        self._answered = answered
        self._newest: dict[str, int] = {}
        self._windows: dict[str, int] = {}
        for entry in settings.answers:
            topic, _, window = entry.partition(':')
            if window and not (window.isdecimal() and int(window) > 0):
                raise ConfigurationError('lock_step.answers: expected a topic such as /node/answer'
                                         f', or with a window behind it, /node/answer:50; got '
                                         f'{entry!r}')
            self._newest[topic] = 0
            self._windows[topic] = int(window or self._window)
        self._commands: dict[int, dict[str, float]] = {}
        self._complained = time.monotonic()
        self._subscriptions = [
            endpoints.subscription('sensor_msgs/msg/JointState', topic,
                                   partial(self._take, topic),
                                   component.dialect.qos.latched)
            for topic in self._newest]

    def ready(self, sensors: Sequence[Any], others: Sequence[Any]) -> bool:
        """
        Return whether all nodes listen, so that time may begin.

        Every answering node subscribes to ``sensors``; ``others`` need `lock_step.listeners`.
        """
        counts = [(publisher, max(len(self._newest), self._listeners)) for publisher in sensors]
        counts += [(publisher, self._listeners) for publisher in others]
        found = (all(publisher.get_subscription_count() >= count for publisher, count in counts)
                 and all(entry.get_publisher_count() for entry in self._subscriptions))
        if not found:
            self._complain('waiting for the nodes that listen and answer on '
                           + ', '.join(self._newest))
        return found

    def open(self, ns: int, period_ns: int) -> bool:
        """Return whether a sample may be made: no answer in its window is missing."""
        return self._heard(ns, {topic: due for topic, window in self._windows.items()
                                if (due := ns - window * period_ns) > BEGIN_NS})

    def over(self, ns: int) -> bool:
        """Return whether all nodes have answered the last sample."""
        return self._heard(ns, dict.fromkeys(self._newest, ns))

    def _heard(self, ns: int, due: Mapping[str, int]) -> bool:
        silent = [topic for topic, stamp in due.items() if self._newest[topic] < stamp]
        if silent:
            self._complain(f'at {ns * 1e-9:.3f} s, waiting for answers on {", ".join(silent)}')
        else:
            self._complained = time.monotonic()
        return not silent

    def commands(self, ns: int, period_ns: int) -> dict[str, float]:
        """Return efforts and grips by name until the next sample; empty: hold the last."""
        due = ns - self._window * period_ns
        found = self._commands.pop(due, {})
        for stale in [stamp for stamp in self._commands if stamp < due]:
            del self._commands[stale]
        return found

    def _take(self, topic: str, message: Any) -> None:
        stamp = convert.stamp_ns(message.header.stamp)
        self._newest[topic] = max(self._newest[topic], stamp)
        if len(message.name) and len(message.effort) == len(message.name):
            self._commands.setdefault(stamp, {}).update(zip(message.name, message.effort))
        self._answered()

    def _complain(self, text: str) -> None:
        if time.monotonic() - self._complained > _COMPLAINT_PERIOD:
            self._complained = time.monotonic()
            self._node.get_logger().warning(text)
