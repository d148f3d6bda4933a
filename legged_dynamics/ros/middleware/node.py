# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The node of the backends without rclpy: names, parameters, clock, timers and log.

How bytes travel is the business of its transport: the loopback or Cyclone DDS.
"""
from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.ros.middleware.arguments import (
    LOG_LEVELS,
    Override,
    RosArguments,
    remapped_identity,
    resolve,
)
from legged_dynamics.ros.middleware.cdr import deserialize
from legged_dynamics.ros.middleware.messages import message_class, type_name
from legged_dynamics.ros.middleware.parameters import ParameterStore
from legged_dynamics.ros.middleware.protocol import (
    Bounds,
    Publication,
    QoSProfile,
    as_profile,
    overridden,
    stamp_ns,
)
from legged_dynamics.schema import Setting

# -------------------------------------------------------------------------------------------------
# A node's log for the backends without rclpy, in the form of rclpy's console output.


class LogRecord(NamedTuple):
    """One line of a log."""

    level: str
    node: str
    message: str


def _print_record(record: LogRecord) -> None:
    """Print a log line to stderr as a ROS 2 node does."""
    print(f'[{record.level.upper()}] [{time.time():.9f}] [{record.node}]: {record.message}',
          file=sys.stderr, flush=True)


class _NodeLogger:
    """Logger with rclpy's interface; passes LogRecords of ``level`` or above to ``sink``."""

    def __init__(self, name: str, level: str = 'info',
                 sink: Callable[[LogRecord], None] = _print_record):
        self._name = name
        self._threshold = LOG_LEVELS.index(level)
        self._sink = sink
        self._last: dict[tuple, float] = {}
        self.debug, self.info, self.warning, self.error = (
            partial(self._log, one) for one in ('debug', 'info', 'warn', 'error'))

    def _log(self, level: str, message: str, *, throttle_duration_sec: float = 0.0) -> bool:
        if LOG_LEVELS.index(level) < self._threshold:
            return False
        if throttle_duration_sec:
            caller = sys._getframe(1)  # throttled per place in the code, as rclpy does
            place, now = (caller.f_code, caller.f_lineno), time.monotonic()
            if now - self._last.get(place, -math.inf) < throttle_duration_sec:
                return False
            self._last[place] = now
        self._sink(LogRecord(level, self._name, message))
        return True


# -------------------------------------------------------------------------------------------------
# Clocks and timers of the nodes that run without rclpy.


class _Instant(NamedTuple):
    """A point in time."""

    nanoseconds: int


class NodeClock:
    """A node's clock: the bus's, until simulated time from /clock takes over."""

    def __init__(self, wall_ns: Callable[[], int] = time.time_ns,
                 steady_ns: Callable[[], int] = time.monotonic_ns):
        self.wall_ns = wall_ns
        self.steady_ns = steady_ns

    def now(self) -> _Instant:
        """Return the present time."""
        return _Instant(self.wall_ns())

    def follow(self, ns: int) -> None:
        """Set simulated time [ns]; from the first call on, the clock stops between calls."""
        self.wall_ns = self.steady_ns = lambda: ns


class _NodeTimer:
    """Calls back every period on the node's clock; periods missed are skipped, as in rcl."""

    def __init__(self, clock: NodeClock, period_ns: int, callback: Callable[[], None]):
        self._clock = clock
        self.period_ns = period_ns
        self.callback = callback
        self.cancelled = False
        self.due_ns = clock.steady_ns() + period_ns

    def cancel(self) -> None:
        """Stop calling back."""
        self.cancelled = True

    def remaining_ns(self) -> int:
        """Return the time until the next call, not positive when it is due."""
        remaining = self.due_ns - self._clock.steady_ns()
        if remaining > self.period_ns:
            # time jumped back, or simulated time has just begun
            self.due_ns -= remaining - self.period_ns
            remaining = self.period_ns
        return remaining

    def advance(self) -> None:
        """Set the next call, on the grid of the period, behind the present time."""
        late = self._clock.steady_ns() - self.due_ns
        self.due_ns += self.period_ns * (late // self.period_ns + 1)


# -------------------------------------------------------------------------------------------------

RawCallback = Callable[[bytes, int], None]


class Subscription:
    """
    Hands the messages of a topic to a callback, decoded unless ``raw``; `source_ns`: sent when.

    Decoded ones are left unread where they are too large or too frequent.
    """

    source_ns = 0

    def __init__(self, clock: Callable[[], int], node: StandaloneNode, topic: str, name: str,
                 callback: Callable[..., None], raw: bool):
        self._node, self._callback, self._raw = node, callback, raw
        self.topic, self.type = topic, name
        self._bounds = Bounds(name, topic, clock)

    def hand_over(self, cdr: bytes, receipt_ns: int) -> None:
        """Call back with the message in these bytes."""
        if self._raw:
            self._node.call(self._callback, cdr, receipt_ns)
        elif why := self._bounds.refuse(len(cdr)):
            self._node.get_logger().warning(why, throttle_duration_sec=1.0)
        else:
            self._node.call(lambda: self._callback(deserialize(cdr, self.type)))


class StandaloneNode(ParameterStore):
    """
    A node with rclpy's interface, on a loopback or Cyclone bus: what a component may ask of it.

    Topics are relative, private ('~/x') or absolute; message classes are the dialect's; one
    callback of a node runs at a time. ``name`` and ``namespace`` hold when the arguments give
    none; ``parameters`` are further overrides; ``sink`` takes log lines.
    """

    def __init__(self, name: str, transport: Any, arguments: RosArguments | None = None,
                 namespace: str = '/', clock: NodeClock | None = None,
                 parameters: Mapping[str, Any] | None = None,
                 sink: Callable[[LogRecord], None] = _print_record):
        arguments = arguments or RosArguments()
        self._remaps = arguments.remaps
        self._name, self._namespace = remapped_identity(name, namespace, self._remaps)
        self._logger = _NodeLogger(self.full_name.strip('/').replace('/', '.'),
                                   arguments.log_level, sink)
        self._transport = transport
        self._clock = clock or NodeClock()
        overrides = arguments.overrides_for(self.full_name)
        self._unused_files = arguments.unused_files(self.full_name)
        for key, value in (parameters or {}).items():
            overrides[key] = Override(self.full_name, key, value, 'parameters')
        super().__init__(overrides)
        self._endpoints: list[Any] = []
        self.timers: list[_NodeTimer] = []
        self.fault_handler: Callable[[Exception], None] | None = None
        if self.declare(Setting('use_sim_time', False, '', 'Take time from /clock.')):
            self._clock.follow(0)
            self.create_subscription(message_class('rosgraph_msgs/msg/Clock'), '/clock',
                                     lambda msg: self._clock.follow(stamp_ns(msg.clock)),
                                     QoSProfile(1, reliable=False))

    @property
    def full_name(self) -> str:
        """Namespace and name."""
        return f'{self._namespace.rstrip("/")}/{self._name}'

    def get_name(self) -> str:
        """Return the node's name after remapping."""
        return self._name

    def get_namespace(self) -> str:
        """Return the node's namespace, '/' for none."""
        return self._namespace

    @property
    def bus_name(self) -> str:
        """What tells the bus from others of the machine; '' where it ends with the process."""
        return self._transport.name

    def get_logger(self) -> _NodeLogger:
        """Return the node's logger."""
        return self._logger

    def get_clock(self) -> NodeClock:
        """Return the node's clock."""
        return self._clock

    def now_ns(self) -> int:
        """Return the node's time [ns]."""
        return self._clock.now().nanoseconds

    def resolve_topic_name(self, topic: str) -> str:
        """Return the full name of a topic, expanded and remapped."""
        return resolve(topic, self._name, self._namespace, self._remaps)

    def create_publisher(self, msg_type: Any, topic: str, qos_profile: QoSProfile | int) -> Any:
        """Return a publisher; raise MiddlewareError for a malformed topic or wrong class."""
        topic = self.resolve_topic_name(topic)
        return self._keep(self._transport.advertise(
            self, topic, type_name(msg_type), self._profile(topic, 'publisher', qos_profile)))

    def create_subscription(self, msg_type: Any, topic: str, callback: Callable[[Any], None],
                            qos_profile: QoSProfile | int) -> Any:
        """Return a subscription; raise MiddlewareError for a malformed topic or class."""
        topic = self.resolve_topic_name(topic)
        return self._keep(self._transport.subscribe(
            self, topic, type_name(msg_type), callback,
            self._profile(topic, 'subscription', qos_profile), False))

    def create_raw_subscription(self, name: str, topic: str, callback: RawCallback,
                                qos_profile: QoSProfile | int) -> Any:
        """Subscribe to undecoded messages: CDR bytes with header, and receipt [ns]."""
        # A depth of 500 or more loses nothing in a short stall.
        return self._keep(self._transport.subscribe(
            self, self.resolve_topic_name(topic), name, callback, as_profile(qos_profile), True))

    def create_timer(self, timer_period_sec: float, callback: Callable[[], None]) -> _NodeTimer:
        """Return a timer; raise MiddlewareError for a period that is not positive."""
        period_ns = round(timer_period_sec * 1e9)
        if period_ns <= 0:
            raise MiddlewareError(f'expected a timer period above 0 s, got {timer_period_sec}')
        timer = _NodeTimer(self._clock, period_ns, callback)
        self.timers.append(timer)
        return timer

    def publications(self, topic: str) -> list[Publication]:
        """Return the publishers of others on a topic now."""
        return self._transport.others(self, self.resolve_topic_name(topic))

    def destroy_timer(self, timer: _NodeTimer) -> bool:
        """Stop and forget a timer."""
        timer.cancel()
        if timer not in self.timers:
            return False
        self.timers.remove(timer)
        return True

    def destroy_node(self) -> None:
        """Take everything of this node off the bus."""
        for endpoint in list(self._endpoints):
            self._destroy(endpoint)
        for timer in list(self.timers):
            self.destroy_timer(timer)

    def warn_of_undeclared_parameters(self) -> None:
        """Warn of overrides meant for this node that no parameter took."""
        for text in self._unused_files:
            self._logger.warning(text)
        self.warn_of_undeclared(self._logger)

    def call(self, callback: Callable[..., None], *args: Any) -> None:
        """Run a callback, passing exceptions to ``fault_handler`` if there is one."""
        try:
            callback(*args)
        except Exception as error:
            if self.fault_handler is None:
                raise
            self.fault_handler(error)

    def run_due_timers(self) -> int:
        """Run every timer that is due; return the time [ns] until another is, at most an hour."""
        soonest = 3_600_000_000_000
        for timer in list(self.timers):
            left = soonest if timer.cancelled else timer.remaining_ns()
            if left <= 0:
                timer.advance()
                self.call(timer.callback)
                left = timer.remaining_ns()
            soonest = min(soonest, left)
        return soonest

    def _profile(self, topic: str, kind: str, qos: QoSProfile | int) -> QoSProfile:
        return overridden(as_profile(qos), f'qos_overrides.{topic}.{kind}.',
                          self.take_overrides('qos_overrides.'))

    def _keep(self, endpoint: Any) -> Any:
        self._endpoints.append(endpoint)
        return endpoint

    def _destroy(self, endpoint: Any) -> bool:
        """Take a publisher or subscription off the bus."""
        if endpoint not in self._endpoints:
            return False
        self._endpoints.remove(endpoint)
        self._transport.withdraw(endpoint)
        return True

    destroy_publisher = destroy_subscription = _destroy
