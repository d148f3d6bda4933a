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
from legged_dynamics.ros.middleware.protocol import Component
from legged_dynamics.ros.nodes.diagnostics import Endpoints
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
_PATIENCE = 10.0        # s between complaints about an answer that does not come


def answer(dialect: Any, ns: int, commands: tuple[Sequence[str], Sequence[float]] | None) -> Any:
    """
    Return the answer to a sample.

    Parameters
    ----------
    dialect : Dialect
        Whose message to make.
    ns : int
        The sample's stamp [ns].
    commands : tuple of names and values, or None
        Joints with their efforts, feet with their grips; None when nothing was commanded.

    Returns
    -------
    JointState
        With the sample's stamp, and the commands as ``effort``.

    """
    names, values = commands or ((), ())
    return convert.joint_state(dialect, ns, names, effort=values)


class LockStep:
    """
    Decides when the next sample may come, and which command it obeys.

    With the same nodes and a window of one, runs are the same bit for bit, since every node always
    works on the newest sample.

    Parameters
    ----------
    component : Component
        The simulator.
    endpoints : Endpoints
        Endpoints of the component.
    settings : LockStepSettings
        Topics of the answers, window, listeners, speed and duration.
    answered : callable
        Called whenever an answer has come.

    Attributes
    ----------
    duration_ns : int
        When simulated time ends; 0: never.
    speed : float
        Greatest real-time factor; 0: as fast as answered.

    Raises
    ------
    ConfigurationError
        When an entry of `lock_step.answers` is malformed.

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
        Tell whether everybody listens and is there to answer.

        Parameters
        ----------
        sensors, others : sequence of Publisher
            Every answering node subscribes to the first; the second need `lock_step.listeners`.

        Returns
        -------
        bool
            Whether time may begin.

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
        """
        Return whether a sample may be made.

        Parameters
        ----------
        ns : int [ns]
            Stamp of the sample.
        period_ns : int [ns]
            Between samples.

        Returns
        -------
        bool
            False while an answer within its window is missing.

        """
        return self._heard(ns, {topic: due for topic, window in self._windows.items()
                                if (due := ns - window * period_ns) > BEGIN_NS})

    def over(self, ns: int) -> bool:
        """
        Return whether the last sample has been answered.

        Parameters
        ----------
        ns : int [ns]
            Stamp of the last sample.

        Returns
        -------
        bool
            True when all nodes have answered it.

        """
        return self._heard(ns, dict.fromkeys(self._newest, ns))

    def _heard(self, ns: int, due: Mapping[str, int]) -> bool:
        silent = [topic for topic, stamp in due.items() if self._newest[topic] < stamp]
        if silent:
            self._complain(f'at {ns * 1e-9:.3f} s, waiting for answers on {", ".join(silent)}')
        else:
            self._complained = time.monotonic()
        return not silent

    def commands(self, ns: int, period_ns: int) -> dict[str, float]:
        """
        Return the commands that are obeyed on the way to the next sample.

        Parameters
        ----------
        ns : int [ns]
            Stamp of the next sample.
        period_ns : int [ns]
            Between samples.

        Returns
        -------
        dict of str to float
            Efforts [N m or N] and grips by name; empty when the last ones are held.

        """
        due = ns - self._window * period_ns
        found = self._commands.pop(due, {})
        for stale in [stamp for stamp in self._commands if stamp < due]:
            del self._commands[stale]
        return found

    def due(self, elapsed_s: float, period_ns: int) -> float:
        """
        Return how many samples there may have been after a time.

        Parameters
        ----------
        elapsed_s : float [s]
            Wall time since the beginning.
        period_ns : int [ns]
            Between samples.

        Returns
        -------
        float
            Samples; infinite when `lock_step.speed` is 0.

        """
        return elapsed_s * self.speed * 1e9 / period_ns if self.speed else float('inf')

    def _take(self, topic: str, message: Any) -> None:
        stamp = convert.stamp_ns(message.header.stamp)
        self._newest[topic] = max(self._newest[topic], stamp)
        if len(message.name) and len(message.effort) == len(message.name):
            self._commands.setdefault(stamp, {}).update(zip(message.name, message.effort))
        self._answered()

    def _complain(self, text: str) -> None:
        if time.monotonic() - self._complained > _PATIENCE:
            self._complained = time.monotonic()
            self._node.get_logger().warning(text)
