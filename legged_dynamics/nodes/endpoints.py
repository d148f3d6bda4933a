# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Everything a component opened on its node, so that cleanup closes exactly that."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from legged_dynamics.middleware.protocol import Component


class Endpoints:
    """
    Opens publishers, subscriptions and timers by message name, and closes them again.

    Parameters
    ----------
    component : Component
        On whose node they live.

    """

    def __init__(self, component: Component):
        self._component = component
        self._closing: list[Callable[[], Any]] = []

    def publisher(self, kind: str, topic: str, qos: Any) -> Any:
        """Open a publisher of messages such as 'sensor_msgs/msg/JointState'."""
        node = self._component.node
        made = node.create_publisher(self._component.dialect.message(kind), topic, qos)
        self._closing.append(lambda: node.destroy_publisher(made))
        return made

    def subscription(self, kind: str, topic: str, callback: Callable[[Any], None],
                     qos: Any) -> Any:
        """Open a subscription."""
        node = self._component.node
        made = node.create_subscription(self._component.dialect.message(kind), topic, callback,
                                        qos)
        self._closing.append(lambda: node.destroy_subscription(made))
        return made

    def raw_subscription(self, kind: str, topic: str, callback: Callable[[bytes, int], None],
                         qos: Any) -> Any:
        """Open a subscription whose callback gets a message's bytes and when they came [ns]."""
        node: Any = self._component.node
        made = node.create_raw_subscription(kind, topic, callback, qos)
        self._closing.append(lambda: node.destroy_subscription(made))
        return made

    def service(self, kind: str, name: str, answer: Callable[[Any, Any], Any]) -> Any:
        """Open a service such as 'std_srvs/srv/Trigger', where the middleware has any."""
        node: Any = self._component.node
        service = self._component.dialect.service(kind)
        if service is None:
            return None
        made = node.create_service(service, name, answer)
        self._closing.append(lambda: node.destroy_service(made))
        return made

    def timer(self, period: float, callback: Callable[[], None]) -> Any:
        """Start a timer [s]."""
        node = self._component.node
        made = node.create_timer(period, callback)
        self._closing.append(lambda: node.destroy_timer(made))
        return made

    def close(self) -> None:
        """Close everything, last opened first."""
        while self._closing:
            self._closing.pop()()
