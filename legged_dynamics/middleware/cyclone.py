# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Nodes on Cyclone DDS with ROS 2's topic and type names: they talk to ROS 2 without ROS 2.

One thread waits for data and timers and runs the callbacks one at a time, so a component's code
never runs beside itself. Bytes are packed and unpacked by our own compiled CDR functions and
handed to Cyclone through its public API.
"""
from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication
from cyclonedds.core import (
    DDSException,
    GuardCondition,
    InstanceState,
    ReadCondition,
    SampleState,
    ViewState,
    WaitSet,
)
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.middleware import discovery
from legged_dynamics.middleware.arguments import RosArguments
from legged_dynamics.middleware.bounds import Bounds
from legged_dynamics.middleware.cdr import deserialize, serialize
from legged_dynamics.middleware.cyclone_matching import Matching
from legged_dynamics.middleware.cyclone_qos import policies, profile_of
from legged_dynamics.middleware.idl import envelope
from legged_dynamics.middleware.names import dds_topic, ros_topic, ros_type
from legged_dynamics.middleware.node import StandaloneNode
from legged_dynamics.middleware.qos import QoSProfile

# a C call cannot be interrupted: Ctrl-C is answered when the wait ends
_LONGEST_WAIT_S = 0.05
_BATCH = 256  # messages taken from one reader before the others and the timers have their turn
# Cyclone configures a domain once per process: buses in the same domain share it
_domains: WeakValueDictionary[int, Domain] = WeakValueDictionary()


class TopicInfo(NamedTuple):
    """A topic somebody publishes now, and the QoS that matches all of its publishers."""

    topic: str
    type: str
    qos: QoSProfile


class CyclonePublisher:
    """Publishes on a DDS topic; what nobody would get is not even serialised."""

    def __init__(self, node: StandaloneNode, writer: DataWriter, name: str, latched: bool,
                 matching: Matching):
        self._node, self._name, self._latched = node, name, latched
        self._writer: Any = writer
        self._envelope: Any = envelope(name)
        self._matching = matching
        matching.add(writer)

    def publish(self, msg: Any) -> None:
        """Send a message."""
        if self._latched or self.get_subscription_count():
            self.publish_raw(serialize(msg, self._name))

    def publish_raw(self, cdr: bytes) -> None:
        """Send a message that is CDR bytes already."""
        try:
            self._writer.write(self._envelope(cdr))
        except DDSException as error:
            self._node.get_logger().warning(
                f'a {self._name} was not sent: {error}', throttle_duration_sec=1.0)

    def get_subscription_count(self) -> int:
        """Return how many subscriptions match now."""
        return self._matching.count(self._writer)

    def wait_for_acks(self, seconds: float) -> bool:
        """Wait until all reliable subscriptions have everything; False when time ran out."""
        try:
            return self._writer.wait_for_acks(duration(seconds=seconds))
        except DDSException:        # its spelling of a time-out, in some versions
            return False

    def close(self) -> None:
        """Leave the bus."""
        self._matching.remove(self._writer)
        self._writer = None


class CycloneSubscription:
    """
    Takes messages of one DDS topic to a callback.

    Attributes
    ----------
    source_ns : int
        When the message that the callback is looking at was sent, by its sender's clock [ns].

    """

    def __init__(self, node: StandaloneNode, reader: DataReader, topic: str, name: str,
                 callback: Callable[..., None], raw: bool):
        self.source_ns = 0
        self._node, self._name = node, name
        self._callback, self._raw = callback, raw
        self._bounds = Bounds(name, topic)
        self._reader: Any = reader
        self.condition: Any = ReadCondition(
            reader, SampleState.NotRead | ViewState.Any | InstanceState.Any)

    def get_publisher_count(self) -> int:
        """Return how many publishers match now."""
        return self._reader.get_subscription_matched_status().current_count

    def drain(self) -> int:
        """Call back with everything that has arrived, up to a batch; return how many."""
        samples = self._reader.take(_BATCH)
        for sample in samples:
            if not sample.sample_info.valid_data or self._reader is None:
                continue
            self.source_ns = sample.sample_info.source_timestamp
            if self._raw:
                self._node.call(self._callback, sample.cdr, time.time_ns())
            elif why := self._bounds.refuse(len(sample.cdr)):
                self._node.get_logger().warning(why, throttle_duration_sec=1.0)
            else:
                self._node.call(self._decode_and_call, sample.cdr)
        return len(samples)

    def close(self) -> None:
        """Leave the bus."""
        self.condition = self._reader = None

    def _decode_and_call(self, cdr: bytes) -> None:
        self._callback(deserialize(cdr, self._name))


class CycloneBus:
    """
    A process's place on the DDS bus, its nodes, and the loop that runs them.

    Parameters
    ----------
    environ : mapping, optional
        Environment with ROS_DOMAIN_ID, ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS and
        CYCLONEDDS_URI; the process's own when None.

    Attributes
    ----------
    stopping : bool
        Whether ``stop`` was called.

    Raises
    ------
    MiddlewareError
        When the environment is wrong or Cyclone cannot start with it.

    """

    def __init__(self, environ: Mapping[str, str] | None = None):
        environment = {} if environ is None else {'environ': environ}
        number = discovery.domain_id(**environment)
        configuration = discovery.cyclone_configuration(**environment)
        try:
            self._domain: Any = _domains.get(number) or Domain(number, configuration)
            _domains[number] = self._domain
            self._participant: Any = DomainParticipant(number)
        except DDSException as error:
            raise MiddlewareError(f'Cyclone DDS cannot join domain {number}: {error} '
                                  f'Its configuration was: {configuration}') from error
        self._waitset: Any = WaitSet(self._participant)
        # beside waking the loop: an empty wait set does not wait at all
        self._wake: Any = GuardCondition(self._participant)
        self._waitset.attach(self._wake)
        self._matching: Any = Matching(self._participant)
        self._publications: BuiltinDataReader | None = None
        self._nodes: list[StandaloneNode] = []
        self._subscriptions: list[CycloneSubscription] = []
        self.stopping = False

    def create_node(self, name: str, argv: Sequence[str] = (), namespace: str = '/',
                    parameters: Mapping[str, Any] | None = None) -> StandaloneNode:
        """Return a node on this bus; ``argv`` may hold ``--ros-args`` and what belongs to it."""
        node = StandaloneNode(name, self, RosArguments.parse(argv), namespace,
                              parameters=parameters)
        self._nodes.append(node)
        return node

    def spin(self, duration_s: float = math.inf) -> None:
        """Run callbacks until ``stop`` is called or the time is over."""
        end = time.monotonic() + duration_s
        while not self.stopping and (left := end - time.monotonic()) > 0.0:
            self.spin_once(min(left, _LONGEST_WAIT_S))

    def spin_once(self, timeout_s: float = 0.0) -> int:
        """Wait for something to do, do it, and return how many messages were handled."""
        ready = self._waitset.wait(max(0, min(round(timeout_s * 1e9), self._next_timer_ns())))
        with self._matching:
            return self._handle(ready)

    def stop(self) -> None:
        """Have ``spin`` return after the callback that runs now; from any thread or signal."""
        self.stopping = True
        self._wake.set(True)

    def go_on(self) -> None:
        """Let callbacks run again after ``stop``."""
        self.stopping = False
        self._wake.set(False)

    def close(self) -> None:
        """Take everything off the bus."""
        for node in self._nodes:
            node.destroy_node()
        self._waitset.detach(self._wake)
        self._publications = self._wake = self._waitset = self._matching = None
        self._participant = self._domain = None

    def topics(self) -> list[TopicInfo]:
        """
        Return what ROS topics are published now on the bus, this process's own included.

        Discovery takes some tenths of a second after the start: ask again.
        """
        if self._publications is None:
            self._publications = BuiltinDataReader(self._participant, BuiltinTopicDcpsPublication)
        found: dict[tuple[str, str], QoSProfile] = {}
        for entry in self._publications.read(100_000):
            topic, kind = ros_topic(entry.topic_name or ''), ros_type(entry.type_name or '')
            alive = entry.sample_info.instance_state == InstanceState.Alive
            if topic is None or kind is None or not alive:
                continue
            offered = profile_of(entry.qos)
            known = found.get((topic, kind), offered)
            found[topic, kind] = QoSProfile(max(known.depth, offered.depth),
                                            known.reliable and offered.reliable,
                                            known.latched and offered.latched)
        return [TopicInfo(topic, kind, found[topic, kind]) for topic, kind in sorted(found)]

    def advertise(self, node: StandaloneNode, topic: str, name: str,
                  qos: QoSProfile) -> CyclonePublisher:
        """Return a publisher; see Transport."""
        writer = self._create(DataWriter, topic, name, qos)
        return CyclonePublisher(node, writer, name, qos.latched, self._matching)

    def subscribe(self, node: StandaloneNode, topic: str, name: str,
                  callback: Callable[..., None], qos: QoSProfile,
                  raw: bool) -> CycloneSubscription:
        """Return a subscription; see Transport."""
        reader = self._create(DataReader, topic, name, qos)
        subscription = CycloneSubscription(node, reader, topic, name, callback, raw)
        self._waitset.attach(subscription.condition)
        self._subscriptions.append(subscription)
        return subscription

    def withdraw(self, endpoint: CyclonePublisher | CycloneSubscription) -> None:
        """Take a publisher or subscription off the bus."""
        if isinstance(endpoint, CycloneSubscription):
            self._waitset.detach(endpoint.condition)
            self._subscriptions.remove(endpoint)
        endpoint.close()

    def _create(self, kind: Any, topic: str, name: str, qos: QoSProfile) -> Any:
        made = policies(qos, name)
        try:
            dds = Topic(self._participant, dds_topic(topic), envelope(name))
            return kind(self._participant, dds, made)
        except DDSException as error:
            raise MiddlewareError(f'cannot join topic {topic} with {name}: {error}') from error

    def _handle(self, ready: int) -> int:
        handled = 0
        for subscription in list(self._subscriptions) if ready else ():
            taken = subscription.drain()
            if taken:
                handled += taken
                self._run_timers()
        self._run_timers()
        return handled

    def _run_timers(self) -> None:
        for node in self._nodes:
            node.run_due_timers()

    def _next_timer_ns(self) -> int:
        return min((timer.remaining_ns() for node in self._nodes for timer in node.timers
                    if not timer.cancelled), default=round(_LONGEST_WAIT_S * 1e9))
