# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The node of the backends without rclpy: names, parameters, clock, timers and log.

How bytes travel is the business of its :class:`Transport`: the loopback or Cyclone DDS.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.middleware.arguments import Override, RosArguments
from legged_dynamics.middleware.protocol import stamp_ns
from legged_dynamics.middleware.log import LogRecord, NodeLogger, print_record
from legged_dynamics.middleware.messages import message_class, type_name
from legged_dynamics.middleware.names import remapped_identity, resolve
from legged_dynamics.middleware.parameters import (
    Parameter,
    ParameterDescriptor,
    ParameterStore,
    SetParametersResult,
)
from legged_dynamics.middleware.qos import QoSPresets, QoSProfile, as_profile, overridden
from legged_dynamics.middleware.timing import NodeClock, NodeTimer

RawCallback = Callable[[bytes, int], None]


class Transport(Protocol):
    """Carries messages between nodes."""

    def advertise(self, node: StandaloneNode, topic: str, name: str, qos: QoSProfile) -> Any:
        """Return a publisher of messages of that name on a full topic name."""

    def subscribe(self, node: StandaloneNode, topic: str, name: str, callback: Callable[..., None],
                  qos: QoSProfile, raw: bool) -> Any:
        """Return a subscription; a raw one calls back with CDR bytes and the time of receipt."""

    def withdraw(self, endpoint: Any) -> None:
        """Take a publisher or subscription off the bus."""


class StandaloneNode:
    """
    A node spelled as rclpy's, on any transport.

    Parameters
    ----------
    name : str
        Name when the arguments give none.
    transport : Transport
        What carries the messages.
    arguments : RosArguments
        Remaps and parameter overrides.
    namespace : str
        Namespace when the arguments give none.
    clock : NodeClock, optional
        Source of time.
    parameters : mapping, optional
        Further overrides by name, as rclpy's ``parameter_overrides``.
    sink : callable
        Where log lines go.

    """

    def __init__(self, name: str, transport: Transport, arguments: RosArguments | None = None,
                 namespace: str = '/', clock: NodeClock | None = None,
                 parameters: Mapping[str, Any] | None = None,
                 sink: Callable[[LogRecord], None] = print_record):
        arguments = arguments or RosArguments()
        self._remaps = arguments.remaps
        self._name, self._namespace = remapped_identity(name, namespace, self._remaps)
        self._logger = NodeLogger(self.full_name.strip('/').replace('/', '.'),
                                  arguments.log_level, sink)
        self._transport = transport
        self._clock = clock or NodeClock()
        overrides = arguments.overrides_for(self.full_name)
        self._strangers = arguments.strangers_to(self.full_name)
        for key, value in (parameters or {}).items():
            overrides[key] = Override(self.full_name, key, value, 'parameters')
        self._store = ParameterStore(overrides)
        self._endpoints: list[Any] = []
        self.timers: list[NodeTimer] = []
        self.fault_handler: Callable[[Exception], None] | None = None
        descriptor = ParameterDescriptor('Take time from /clock.', read_only=True)
        if self.declare_parameter('use_sim_time', False, descriptor).value:
            self._clock.follow(0)
            self.create_subscription(message_class('rosgraph_msgs/msg/Clock'), '/clock',
                                     lambda msg: self._clock.follow(stamp_ns(msg.clock)),
                                     QoSPresets.best_effort(1))

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

    def get_logger(self) -> NodeLogger:
        """Return the node's logger."""
        return self._logger

    def get_clock(self) -> NodeClock:
        """Return the node's clock."""
        return self._clock

    def resolve_topic_name(self, topic: str) -> str:
        """Return the full name of a topic, expanded and remapped."""
        return resolve(topic, self._name, self._namespace, self._remaps)

    def create_publisher(self, msg_type: Any, topic: str, qos_profile: QoSProfile | int) -> Any:
        """
        Return a publisher.

        Raises
        ------
        MiddlewareError
            When the topic's name is malformed or the class is not a message's.

        """
        topic = self.resolve_topic_name(topic)
        return self._keep(self._transport.advertise(
            self, topic, type_name(msg_type), self._profile(topic, 'publisher', qos_profile)))

    def create_subscription(self, msg_type: Any, topic: str, callback: Callable[[Any], None],
                            qos_profile: QoSProfile | int) -> Any:
        """
        Return a subscription whose callback gets each message.

        Raises
        ------
        MiddlewareError
            When the topic's name is malformed or the class is not a message's.

        """
        topic = self.resolve_topic_name(topic)
        return self._keep(self._transport.subscribe(
            self, topic, type_name(msg_type), callback,
            self._profile(topic, 'subscription', qos_profile), False))

    def create_raw_subscription(self, name: str, topic: str, callback: RawCallback,
                                qos_profile: QoSProfile | int) -> Any:
        """
        Return a subscription whose callback gets undecoded messages.

        Parameters
        ----------
        name : str
            The message's ROS name; it need not be in the table of messages.
        topic : str
            Relative, private or absolute name.
        callback : callable
            Called with the CDR bytes, encapsulation header included, and the time of receipt [ns].
        qos_profile : QoSProfile or int
            A depth of 500 or more loses nothing while the process is held up for a moment.

        """
        return self._keep(self._transport.subscribe(
            self, self.resolve_topic_name(topic), name, callback, as_profile(qos_profile), True))

    def create_timer(self, timer_period_sec: float, callback: Callable[[], None]) -> NodeTimer:
        """
        Return a timer.

        Raises
        ------
        MiddlewareError
            When the period is not positive.

        """
        period_ns = round(timer_period_sec * 1e9)
        if period_ns <= 0:
            raise MiddlewareError(f'expected a timer period above 0 s, got {timer_period_sec}')
        timer = NodeTimer(self._clock, period_ns, callback)
        self.timers.append(timer)
        return timer

    def destroy_publisher(self, publisher: Any) -> bool:
        """Take a publisher off the bus."""
        return self._destroy(publisher)

    def destroy_subscription(self, subscription: Any) -> bool:
        """Take a subscription off the bus."""
        return self._destroy(subscription)

    def destroy_timer(self, timer: NodeTimer) -> bool:
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

    def declare_parameter(self, name: str, value: Any = None,
                          descriptor: ParameterDescriptor | None = None) -> Parameter:
        """Declare a parameter with its default (or its type); see ParameterStore.declare."""
        return self._store.declare(name, value, descriptor)

    def has_parameter(self, name: str) -> bool:
        """Tell whether a parameter is declared."""
        return self._store.has(name)

    def get_parameter(self, name: str) -> Parameter:
        """Return a declared parameter."""
        return self._store.get(name)

    def set_parameters_atomically(self, parameters: list[Parameter]) -> SetParametersResult:
        """Change parameters, all or none."""
        return self._store.set(parameters)

    def add_on_set_parameters_callback(
            self, callback: Callable[[list[Parameter]], SetParametersResult]) -> None:
        """Have a callback accept or refuse changes of parameters."""
        self._store.add_callback(callback)

    def warn_of_undeclared_parameters(self) -> None:
        """Warn of overrides meant for this node that no parameter took."""
        for stranger in self._strangers:
            self._logger.warning(stranger)
        self._store.warn_of_undeclared(self._logger)

    def call(self, callback: Callable[..., None], *args: Any) -> None:
        """Run a callback; what it lets through goes to ``fault_handler`` when there is one."""
        try:
            callback(*args)
        except Exception as error:
            if self.fault_handler is None:
                raise
            self.fault_handler(error)

    def run_due_timers(self) -> None:
        """Run every timer that is due."""
        for timer in list(self.timers):
            if not timer.cancelled and timer.remaining_ns() <= 0:
                timer.advance()
                self.call(timer.callback)

    def _profile(self, topic: str, kind: str, qos: QoSProfile | int) -> QoSProfile:
        return overridden(as_profile(qos), f'qos_overrides.{topic}.{kind}.',
                          self._store.take_overrides('qos_overrides.'))

    def _keep(self, endpoint: Any) -> Any:
        self._endpoints.append(endpoint)
        return endpoint

    def _destroy(self, endpoint: Any) -> bool:
        if endpoint not in self._endpoints:
            return False
        self._endpoints.remove(endpoint)
        self._transport.withdraw(endpoint)
        return True
