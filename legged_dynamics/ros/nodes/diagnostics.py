# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Diagnostics of a node: age, rate and jitter of its inputs, and faults.

`InputMonitor` watches one topic, `DiagnosticsPublisher` publishes the node's status,
`SilenceWatch` tells in the log of an input that gets nothing, and
`Endpoints` keeps all that a node has opened on the bus, so that it can be closed again.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from legged_dynamics.ros.conversions import diagnostic_status, diagnostics
from legged_dynamics.ros.middleware.cdr import PreparedMessage
from legged_dynamics.ros.middleware.discovery import reach
from legged_dynamics.ros.middleware.protocol import Component, Publication

# -------------------------------------------------------------------------------------------------
# Endpoints: all that a component has opened on its node, so that cleanup closes exactly that.


def publish_if_heard(publisher: Any, make: Callable[..., Any], *args: Any) -> None:
    """Publish ``make(*args)``; without subscriptions the message is not built."""
    if publisher.get_subscription_count():
        publisher.publish(make(*args))


class PreparedPublisher:
    """Publishes messages that differ in stamp and numbers only, while somebody listens."""

    def __init__(self, publisher: Any, message: Any):
        self._publisher, self._message = publisher, PreparedMessage(message)
        self.get_subscription_count = publisher.get_subscription_count

    def send(self, ns: int, make: Callable[..., Sequence[float]], *args: Any) -> None:
        """Publish the numbers ``make(*args)``, if there are any, with a stamp [ns]."""
        if self.get_subscription_count() and (numbers := make(*args)):
            self._publisher.publish_raw(self._message(ns, numbers))


class PreparedByKey:
    """Publishes messages that differ from others of their key in stamp and numbers only."""

    def __init__(self, publisher: Any, make: Callable[[Any], Any]):
        self.publisher, self._make = publisher, make
        self._messages: dict[Any, PreparedMessage] = {}

    def send(self, key: Any, ns: int, numbers: Sequence[float]) -> None:
        """Publish the numbers with a stamp [ns], where the message has one."""
        message = self._messages.get(key)
        if message is None:
            message = self._messages[key] = PreparedMessage(self._make(key))
        self.publisher.publish_raw(message(ns, numbers))


class Pace:
    """When something is due at a rate [Hz], 0 for never, by stamps that may be set back."""

    _next_ns = 0

    def due(self, ns: int, rate: float) -> bool:
        """Return whether it is due at a stamp; then not again for a period."""
        # A stamp far below the next one due means that time was set back.
        if not rate or self._next_ns - 2_000_000_000 < ns < self._next_ns:
            return False
        self._next_ns = ns + round(1e9 / rate)
        return True


class Endpoints:
    """Opens publishers, subscriptions and timers by message name, and closes them again."""

    def __init__(self, component: Component):
        self._component = component
        self._closing: list[Callable[[], Any]] = []

    def publisher(self, kind: str, topic: str, qos: Any) -> Any:
        """Open a publisher on a relative, private ('~/x') or absolute topic."""
        node, message = self._component.node, self._component.dialect.message(kind)
        return self._keep(node.create_publisher(message, topic, qos), node.destroy_publisher)

    def prepared(self, topic: str, message: Any, qos: Any) -> PreparedPublisher:
        """Open a publisher of messages like this one of ours, but for stamp and numbers."""
        return PreparedPublisher(self.publisher(message.ros_type, topic, qos), message)

    def subscription(self, kind: str, topic: str, callback: Callable[[Any], object],
                     qos: Any) -> Any:
        """Open a subscription on a relative, private ('~/x') or absolute topic."""
        node, message = self._component.node, self._component.dialect.message(kind)
        return self._keep(node.create_subscription(message, topic, callback, qos),
                          node.destroy_subscription)

    def raw_subscription(self, kind: str, topic: str, callback: Callable[[bytes, int], None],
                         qos: Any) -> Any:
        """Open a subscription whose callback gets CDR bytes and receipt time [ns]."""
        node: Any = self._component.node
        return self._keep(node.create_raw_subscription(kind, topic, callback, qos),
                          node.destroy_subscription)

    def service(self, kind: str, name: str, answer: Callable[[Any, Any], Any]) -> Any:
        """Open a service; return None where the middleware has none."""
        node: Any = self._component.node
        service = self._component.dialect.service(kind)
        if service is None:
            return None
        return self._keep(node.create_service(service, name, answer), node.destroy_service)

    def timer(self, period: float, callback: Callable[[], None]) -> Any:
        """Start a timer that runs until :meth:`close`."""
        node = self._component.node
        return self._keep(node.create_timer(period, callback), node.destroy_timer)

    def _keep(self, made: Any, destroy: Callable[[Any], Any]) -> Any:
        self._closing.append(lambda: destroy(made))
        return made

    def close(self) -> None:
        """Close everything, last opened first."""
        while self._closing:
            self._closing.pop()()


# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DiagnosticsSettings:
    """Times of a node's diagnostics, and of what its log says of an input without messages."""

    check_period: float = 0.1  # s between looks at the levels
    publish_period_ns: int = 1_000_000_000
    # A fault is shown for this long after it was last seen, so that a short one is not missed.
    fault_memory_ns: int = 2_000_000_000
    silent_ns: int = 5_000_000_000  # silence of an input that is logged
    again_ns: int = 60_000_000_000  # after which it is logged again
    look_period: float = 1.0  # s between looks for silent inputs
    most_intervals: int = 10_000  # of one input that its rate is of


DIAGNOSTICS = DiagnosticsSettings()


@dataclass
class InputMonitor:
    """Age, rate and jitter of one input topic, and its last fault."""

    name: str
    timeout_ns: int  # Age from which the input counts as stopped
    received: int = 0
    rejected: int = 0
    last_ns: int = 0
    fault: str = ''
    fault_ns: int = -DIAGNOSTICS.fault_memory_ns
    _intervals: deque[int] = field(     # ns, since `values` were asked for
        default_factory=lambda: deque(maxlen=DIAGNOSTICS.most_intervals))

    def saw(self, now_ns: int) -> None:
        """Count a message."""
        if self.received and now_ns > self.last_ns:
            self._intervals.append(now_ns - self.last_ns)
        self.received += 1
        self.last_ns = now_ns

    def refused(self, now_ns: int, why: str) -> None:
        """Count a message that was unusable or doubtful."""
        self.rejected += 1
        self.fault, self.fault_ns = why, now_ns

    def fault_of(self, now_ns: int, error: Exception) -> None:
        """Count a failed callback."""
        self.refused(now_ns, f'{type(error).__name__}: {error}')

    def judge(self, now_ns: int) -> tuple[str, str]:
        """Return level and message of the input, for the diagnostics."""
        if not self.received:
            return 'STALE', 'nothing received yet'
        age = now_ns - self.last_ns
        if age > self.timeout_ns:
            return 'ERROR', f'nothing received for {age * 1e-9:.2f} s'
        if self.recent(now_ns):
            return 'WARN', self.fault
        return 'OK', 'ok'

    def recent(self, now_ns: int) -> bool:
        """Return whether the last fault is at most `DiagnosticsSettings.fault_memory_ns` old."""
        return now_ns - self.fault_ns < DIAGNOSTICS.fault_memory_ns

    def values(self, now_ns: int) -> dict[str, Any]:
        """Return counts, age [s], rate [Hz], jitter and worst interval [ms]; start anew."""
        intervals = np.array(self._intervals) * 1e-6
        self._intervals.clear()
        found: dict[str, Any] = {'received': self.received, 'rejected': self.rejected}
        if self.received:
            found['age [s]'] = (now_ns - self.last_ns) * 1e-9
        if len(intervals):
            found |= {'rate [Hz]': 1e3 / float(intervals.mean()),
                      'worst interval [ms]': float(intervals.max()),
                      'jitter [ms]': float(intervals.std())}
        return found


class DiagnosticsPublisher:
    """
    Publishes a component's status once a second, and at once on a level change.

    Its `judge` and `details`, called with ``clock()`` [ns] (default: the node's), below its
    full name.
    """

    def __init__(self, component: Component, endpoints: Endpoints,
                 clock: Callable[[], int] | None = None):
        self._component = component
        # All robots publish their statuses on the same topic.
        self._name = f'{component.node.get_namespace()}/{component.node.get_name()}'.strip('/')
        self._hardware = component.node.get_namespace().strip('/')
        self._stamp = component.node.now_ns
        self._now = clock or self._stamp
        self._last_ns = 0
        self._levels: dict[str, str] = {}
        self._publisher = endpoints.publisher('diagnostic_msgs/msg/DiagnosticArray',
                                              '/diagnostics', component.dialect.qos.reliable(10))
        endpoints.timer(DIAGNOSTICS.check_period, self.check)

    def check(self) -> None:
        """Publish when it is time, or when a level has changed."""
        dialect = self._component.dialect
        now = self._now()
        status = self._component.judge(now)
        levels = {name: level for name, (level, _) in status.items()}
        if levels == self._levels and 0 <= now - self._last_ns < DIAGNOSTICS.publish_period_ns:
            return
        self._log_changes(status)
        self._levels, self._last_ns = levels, now
        details = self._component.details(now)
        self._publisher.publish(diagnostics(dialect, self._stamp(), [
            diagnostic_status(dialect, level, f'{self._name}: {name}', message,
                              details.get(name, {}), self._hardware)
            for name, (level, message) in status.items()]))

    def _log_changes(self, status: dict[str, tuple[str, str]]) -> None:
        logger = self._component.node.get_logger()
        for name, (level, message) in status.items():
            before = self._levels.get(name)
            if level != before and level in ('WARN', 'ERROR'):
                logger.warning(f'{name}: {message}')
            elif level == 'OK' and before in ('WARN', 'ERROR'):
                logger.info(f'{name}: ok again')


# -------------------------------------------------------------------------------------------------
# An input that gets nothing: what a person at the terminal has to know.


@dataclass
class _Awaited:
    """An input; times in ns, None before there is one."""

    monitor: InputMonitor
    topic: str
    kind: str
    subscription: Any
    since: int | None = None
    said: int | None = None


class SilenceWatch:
    """
    Logs which input gets nothing, who publishes it, and what to try.

    Parameters
    ----------
    component : Component
        The node.
    endpoints : Endpoints
        Endpoints of the component.
    clock : callable
        Returns the time of its monitors [ns].

    """

    def __init__(self, component: Component, endpoints: Endpoints, clock: Callable[[], int]):
        self._node, self._now = component.node, clock
        self._inputs: list[_Awaited] = []
        endpoints.timer(DIAGNOSTICS.look_period, self._look)

    def expect(self, monitor: InputMonitor, topic: str, kind: str, subscription: Any) -> None:
        """Watch an input from now on; ``kind`` is its ROS type."""
        self._inputs.append(_Awaited(monitor, topic, kind, subscription))

    def _look(self) -> None:
        now = self._now()
        for one in self._inputs:
            if one.since is None or not one.monitor.last_ns <= one.since <= now:
                one.since, one.said = one.monitor.last_ns or now, None
            if now >= (one.since + DIAGNOSTICS.silent_ns if one.said is None
                       else one.said + DIAGNOSTICS.again_ns):
                one.said = now
                self._node.get_logger().warning(self._line(one, (now - one.since) * 1e-9))

    def _line(self, one: _Awaited, age: float) -> str:
        node, topic = self._node, self._node.resolve_topic_name(one.topic)
        where = f'{node.bus_name}, {reach()}' if node.bus_name else 'the bus of this process'
        return (f'nothing received for {age:.0f} s on {topic} ({one.kind}; {where}): '
                + _cause(one, node.publications(one.topic), topic))


def _cause(one: _Awaited, found: list[Publication], topic: str) -> str:
    """Say who publishes what an input lacks, and what to try."""
    alike = [other for other in found if other.kind == one.kind]
    if not found:
        return ('nobody publishes it there. Is the driver running, on this domain '
                '(ROS_DOMAIN_ID), reachable by this interface, under this name '
                f'(-r {one.topic}:=NAME)?')
    if not alike:
        others = ', '.join(f'{other.who} as {other.kind}' for other in found)
        return (f'published with another type, by {others}. Rename one of them '
                f'(-r {one.topic}:=NAME)')
    who = ', '.join(other.who for other in alike)
    if not getattr(one.subscription, 'get_publisher_count', lambda: 1)():
        offers = ' and '.join(sorted({
            f'{"reliable" if other.reliable else "best effort"}, '
            f'{"transient local" if other.latched else "volatile"}' for other in alike}))
        return (f'{who} offers it as {offers}, and this node asks for more. Change '
                f'qos_overrides.{topic}.subscription.reliability or .durability, or the publisher')
    return (f'{who} publishes it, and no message comes. Is it sending? If it is on another '
            'machine, look for a firewall between')
