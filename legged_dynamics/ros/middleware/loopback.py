# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
An in-process bus with a hand-stepped clock: components run on it as they do on DDS.

Nothing moves by itself. ``spin`` delivers what was published, in the order of publishing;
``step`` moves the clock and runs the timers that fall due on the way. Messages travel as CDR
bytes, so that what cannot be sent over DDS cannot be sent here either.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from legged_dynamics.ros.middleware.arguments import RosArguments
from legged_dynamics.ros.middleware.cdr import serialize
from legged_dynamics.ros.middleware.lifecycle import ComponentHost
from legged_dynamics.ros.middleware.messages import message_class
from legged_dynamics.ros.middleware.node import LogRecord, NodeClock, StandaloneNode, Subscription
from legged_dynamics.ros.middleware.protocol import Component, Publication, QoSProfile


class _LoopbackPublisher:
    """A publisher on the loopback; keeps the last messages when latched."""

    def __init__(self, bus: LoopbackBus, node: StandaloneNode, topic: str, name: str,
                 qos: QoSProfile):
        self._bus, self.node = bus, node
        self.topic, self.type, self.qos = topic, name, qos
        self.kept: deque[bytes] = deque(maxlen=qos.depth if qos.latched else 0)

    def publish(self, msg: Any) -> None:
        """Queue a message for every matching subscription."""
        self.publish_raw(serialize(msg, self.type))

    def publish_raw(self, cdr: bytes) -> None:
        """Queue a message that is CDR bytes already."""
        self.kept.append(cdr)
        for subscription in self._bus.matches(self):
            subscription.offer(cdr)

    def get_subscription_count(self) -> int:
        """Return how many subscriptions match."""
        return len(self._bus.matches(self))


class _LoopbackSubscription(Subscription):
    """Waits for messages of one topic; the queue keeps the last ``depth``."""

    def __init__(self, bus: LoopbackBus, qos: QoSProfile, *what: Any):
        super().__init__(lambda: bus.now_ns, *what)
        self._bus, self.qos, self.dropped = bus, qos, 0
        self._pending: deque[tuple[bytes, int]] = deque(maxlen=qos.depth)

    def get_publisher_count(self) -> int:
        """Return how many publishers match now."""
        return sum(self in self._bus.matches(entry) for entry in self._bus.publishers)

    def offer(self, cdr: bytes) -> None:
        """Take a message in; the oldest makes room when the queue is full."""
        self.dropped += len(self._pending) == self.qos.depth
        self._pending.append((cdr, self._bus.now_ns))
        self._bus.queue.append(self)

    def deliver(self) -> bool:
        """Hand the oldest message to the callback; False when there is none."""
        if not self._pending:
            return False
        cdr, self.source_ns = self._pending.popleft()
        self.hand_over(cdr, self._bus.now_ns)
        return True

    def close(self) -> None:
        """Forget what has not been delivered."""
        self._pending.clear()


class LoopbackBus:
    """
    The bus, its clock and its nodes.

    It is the transport of its nodes.

    Parameters
    ----------
    start_ns : int
        Time at the beginning [ns].

    Attributes
    ----------
    now_ns : int
        The time [ns].
    logs : list of LogRecord
        Every line that a node has logged.

    """

    name = ''       # it ends with the process

    def __init__(self, start_ns: int = 1_000_000_000):
        self.now_ns = start_ns
        self.logs: list[LogRecord] = []
        self.queue: deque[_LoopbackSubscription] = deque()
        self._nodes: list[StandaloneNode] = []
        self.publishers: list[_LoopbackPublisher] = []
        self.subscriptions: list[_LoopbackSubscription] = []

    def create_node(self, name: str, argv: Sequence[str] = (), namespace: str = '/',
                    parameters: Mapping[str, Any] | None = None) -> StandaloneNode:
        """Return a node whose clock is the bus's, and whose log is kept in `logs`."""
        node = StandaloneNode(name, self, RosArguments.parse(argv), namespace,
                              NodeClock(lambda: self.now_ns, lambda: self.now_ns), parameters,
                              self.logs.append)
        self._nodes.append(node)
        return node

    def host(self, component_class: type[Component], argv: Sequence[str] = (),
             namespace: str = '/', parameters: Mapping[str, Any] | None = None) -> ComponentHost:
        """
        Run a component on a node of its own; return its host, active.

        ``parameters`` win over those of the command line ``argv``. Raises LeggedDynamicsError
        when the component cannot be configured or activated.
        """
        host = ComponentHost(component_class, self.create_node(
            component_class.default_name, argv, namespace, parameters))
        host.start()
        return host

    def watch(self, name: str, topic: str, qos: QoSProfile | None = None) -> list[Any]:
        """Return a list that collects every message of a topic; best effort by default."""
        seen: list[Any] = []
        watcher = self.create_node('watcher')
        watcher.create_subscription(message_class(name), topic, seen.append,
                                    qos or QoSProfile(depth=100_000, reliable=False))
        return seen

    def spin(self) -> int:
        """Deliver everything that is queued, and what that causes; return how many."""
        delivered = 0
        while self.queue:
            delivered += self.queue.popleft().deliver()
        return delivered

    def step(self, duration_s: float) -> int:
        """
        Move the clock by a time [s], running timers and delivering messages on the way.

        Returns the number of messages delivered.
        """
        target = self.now_ns + round(duration_s * 1e9)
        delivered = self.spin()
        while True:
            timers = [timer for node in self._nodes for timer in node.timers
                      if not timer.cancelled]
            wait = min((timer.remaining_ns() for timer in timers),
                       default=target - self.now_ns + 1)
            if self.now_ns + wait > target:
                break
            self.now_ns += max(wait, 0)
            for node in self._nodes:
                node.run_due_timers()
            delivered += self.spin()
        self.now_ns = target
        return delivered

    def topics(self) -> list[tuple[str, str]]:
        """Return topic and ROS type of all publishers, sorted."""
        return sorted({(entry.topic, entry.type) for entry in self.publishers})

    def matches(self, publisher: _LoopbackPublisher) -> list[_LoopbackSubscription]:
        """Return the subscriptions that a publisher reaches, in the order of their creation."""
        return [entry for entry in self.subscriptions
                if entry.topic == publisher.topic and entry.type == publisher.type
                and publisher.qos.serves(entry.qos)]

    def advertise(self, node: StandaloneNode, topic: str, name: str,
                  qos: QoSProfile) -> _LoopbackPublisher:
        """Return a publisher; as StandaloneNode asks."""
        publisher = _LoopbackPublisher(self, node, topic, name, qos)
        self.publishers.append(publisher)
        return publisher

    def subscribe(self, node: StandaloneNode, topic: str, name: str,
                  callback: Callable[..., None], qos: QoSProfile,
                  raw: bool) -> _LoopbackSubscription:
        """Return a subscription, with what latched publishers have kept already queued."""
        subscription = _LoopbackSubscription(self, qos, node, topic, name, callback, raw)
        self.subscriptions.append(subscription)
        for publisher in self.publishers:
            if qos.latched and subscription in self.matches(publisher):
                for cdr in publisher.kept:
                    subscription.offer(cdr)
        return subscription

    def others(self, node: StandaloneNode, topic: str) -> list[Publication]:
        """Return the publishers of other nodes on a topic; as StandaloneNode asks."""
        return [Publication(entry.node.full_name, entry.type, entry.qos.reliable,
                            entry.qos.latched) for entry in self.publishers
                if entry.topic == topic and entry.node is not node]

    def withdraw(self, endpoint: _LoopbackPublisher | _LoopbackSubscription) -> None:
        """Take a publisher or subscription off the bus."""
        if isinstance(endpoint, _LoopbackSubscription):
            endpoint.close()
            self.subscriptions.remove(endpoint)
        else:
            self.publishers.remove(endpoint)
