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
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from cyclonedds import core
from cyclonedds.builtin import (
    BuiltinDataReader,
    BuiltinTopicDcpsParticipant,
    BuiltinTopicDcpsPublication,
)
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct, make_idl_struct, types
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.ros.middleware import discovery
from legged_dynamics.ros.middleware.arguments import RosArguments
from legged_dynamics.ros.middleware.cdr import serialize
from legged_dynamics.ros.middleware.lifecycle import ComponentHost, Process, stopped_by_signals
from legged_dynamics.ros.middleware.messages import (
    DEFINITIONS,
    TYPE_HASHES,
    Field,
    definition,
    full_name,
)
from legged_dynamics.ros.middleware.node import StandaloneNode, Subscription
from legged_dynamics.ros.middleware.protocol import Component, Publication, QoSProfile

# -------------------------------------------------------------------------------------------------
# ROS 2's names on the DDS bus.


def dds_topic(full_topic: str) -> str:
    """Return the DDS name of a ROS topic: '/imu/data' becomes 'rt/imu/data'."""
    return f'rt{full_topic}'


def ros_topic(dds_name: str) -> str | None:
    """Return the ROS name of a DDS topic, or None when it is not a ROS topic."""
    return dds_name[2:] if dds_name.startswith('rt/') else None


def dds_type(name: str) -> str:
    """Return the DDS name of a message: 'sensor_msgs::msg::dds_::Imu_' for sensor_msgs/msg/Imu."""
    package, _, kind = full_name(name).partition('/msg/')
    return f'{package}::msg::dds_::{kind}_'


def ros_type(dds_name: str) -> str | None:
    """Return the ROS name of a DDS type, or None when it is not a ROS message."""
    found = re.fullmatch(r'(\w+)::(\w+)::dds_::(\w+)_', dds_name)
    return '/'.join(found.groups()) if found else None


# -------------------------------------------------------------------------------------------------


def _matched(writer: DataWriter) -> int:
    # not get_matched_subscriptions: it fails when one joins between its two calls
    return writer.get_publication_matched_status().current_count


_NODES = 'nodes='       # begins what a participant tells of itself: the names of its nodes
_LOOK_S = 2.0           # s from a node's start until it looks for another of its name


def _unread(reader: Any) -> Any:
    """Return the condition that something has come that was not read."""
    return core.ReadCondition(reader, core.SampleState.NotRead | core.ViewState.Any
                              | core.InstanceState.Any)


class _Publications:
    """Publications on the bus by discovery; read again only on changes."""

    def __init__(self, participant: DomainParticipant):
        self._own = participant.guid
        self._writers: Any = BuiltinDataReader(participant, BuiltinTopicDcpsPublication)
        self._processes: Any = BuiltinDataReader(participant, BuiltinTopicDcpsParticipant)
        self._news = _unread(self._writers)
        self._found: list[Any] = []

    def all(self) -> list[Any]:
        """Return the publications that are there."""
        if self._news.triggered:
            self._found = [entry for entry in self._writers.read(100_000) if entry.topic_name
                           and entry.sample_info.instance_state == core.InstanceState.Alive]
        return self._found

    def of(self, topic: str) -> list[Publication]:
        """Return the publishers of other processes on a DDS topic."""
        found = [entry for entry in self.all()
                 if entry.topic_name == topic and entry.participant_key != self._own]
        names = {entry.key: _process(entry.qos)
                 for entry in (self._processes.read(100_000) if found else ())}
        return [Publication(
            names.get(entry.participant_key, f'participant {entry.participant_key}'),
            ros_type(entry.type_name) or entry.type_name, qos.reliable, qos.latched)
            for entry, qos in zip(found, (_profile_of(entry.qos) for entry in found))]

    def nodes(self) -> list[tuple[str, str]]:
        """Return the full names of other processes' nodes on Cyclone, each with its process."""
        found = []
        for entry in self._processes.read(100_000):
            alive = entry.sample_info.instance_state == core.InstanceState.Alive
            data = entry.qos[Policy.Userdata] if alive and entry.key != self._own else None
            told = bytes(data.data).decode(errors='replace') if data is not None else ''
            names = told.removeprefix(_NODES).rstrip(';') if told.startswith(_NODES) else ''
            found += [(name, _process(entry.qos)) for name in names.split(',') if name]
        return found


def _process(qos: Any) -> str:
    """Return what a participant says of its process."""
    said = {entry.key: entry.value for entry in qos
            if isinstance(entry, Policy.Property)}
    return (f'process {said.get("__ProcessName", "of unknown name")} (pid '
            f'{said.get("__Pid", "unknown")}) on {said.get("__Hostname", "an unknown machine")}')


# -------------------------------------------------------------------------------------------------
# Cyclone DDS's view of our messages: IDL types made from the table when first asked for.
#
# Cyclone needs a type to announce (its mangled ROS name and its fields) and something to put bytes
# in. Its own serialiser in Python is slow: the class on the wire carries bytes that are CDR.


# no `from __future__ import annotations` here: Cyclone reads annotations as objects


_PLAIN = {'bool': bool, 'string': str}      # all others are Cyclone's, under ROS 2's names


@cache
def idl_struct(name: str) -> type[IdlStruct]:
    """Return the class that carries a message's bytes (opaque if unknown) as its ``cdr``."""
    name = full_name(name)
    fields = ({entry.name: _idl_type(entry) for entry in definition(name).fields}
              if name in DEFINITIONS else {'opaque': types.uint8})
    made = make_idl_struct(name.rsplit('/', 1)[1], dds_type(name).replace('::', '.'), fields,
                           dataclassify=False)
    read = classmethod(lambda cls, data, *_, **__: cls(data))
    for method, does in (('__init__', _carry), ('serialize', lambda self, *_, **__: self.cdr),
                         ('deserialize', read), ('deserialize_key', read)):
        setattr(made, method, does)
    return made


def _carry(self: Any, cdr: bytes) -> None:
    self.cdr = cdr


def _idl_type(entry: Field) -> Any:
    element: Any = (idl_struct(entry.type) if entry.is_message else
                    _PLAIN.get(entry.type) or getattr(types, entry.type))
    make: Any = types
    if entry.size is None:
        return element
    return make.array[element, entry.size] if entry.size else make.sequence[element]


# -------------------------------------------------------------------------------------------------
# Quality of service between ROS 2's profiles and Cyclone DDS's policies.


# ROS 2 blocks for ever on a reader that hangs; a robot's node rather loses a message
_LONGEST_WRITE_MS = 20


def _policies(qos: QoSProfile, name: str) -> Qos:
    """Return a profile as rmw_cyclonedds spells it in DDS policies."""
    found = [
        Policy.WriterDataLifecycle(autodispose=False),
        Policy.History.KeepLast(qos.depth),
        Policy.Reliability.Reliable(duration(milliseconds=_LONGEST_WRITE_MS)) if qos.reliable
        else Policy.Reliability.BestEffort,
        Policy.Durability.Volatile,
    ]
    if qos.latched:
        found[-1] = Policy.Durability.TransientLocal
        found.append(Policy.DurabilityService(0, Policy.History.KeepLast(qos.depth), -1, -1, -1))
    if name in TYPE_HASHES:
        found.append(Policy.Userdata(f'typehash={TYPE_HASHES[name]};'.encode()))
    return Qos(*found)


def _profile_of(offered: Qos) -> QoSProfile:
    """Return what a discovered publisher offers; its depth is not announced."""
    return QoSProfile(1, isinstance(offered[Policy.Reliability], Policy.Reliability.Reliable),
                      offered[Policy.Durability] not in (None, Policy.Durability.Volatile))


# -------------------------------------------------------------------------------------------------


# a C call cannot be interrupted: Ctrl-C is answered when the wait ends
_LONGEST_WAIT_S = 0.05
_BURST = 8  # messages of one reader after which timers have their turn before others
_BATCH = 256  # messages taken from one reader before the others and the timers have their turn
# Cyclone configures a domain once per process: buses in the same domain share it
_domains: WeakValueDictionary[int, Domain] = WeakValueDictionary()


class _TopicInfo(NamedTuple):
    """A topic somebody publishes now, and the QoS that matches all of its publishers."""

    topic: str
    type: str
    qos: QoSProfile


class _CyclonePublisher:
    """A publisher on DDS; while callbacks run, its subscriptions are those at their beginning."""

    def __init__(self, bus: CycloneBus, node: StandaloneNode, writer: DataWriter, name: str,
                 latched: bool):
        self._bus, self._node, self._name, self._latched = bus, node, name, latched
        self._writer: Any = writer
        self._envelope: Any = idl_struct(name)
        writer.set_status_mask(core.DDSStatus.PublicationMatched)
        bus.waitset.attach(writer)
        bus.publishers.append(self)
        self.count()

    def count(self) -> None:
        """Ask Cyclone how many subscriptions match."""
        self._subscriptions = _matched(self._writer)

    def publish(self, msg: Any) -> None:
        """Send a message; without subscribers it is not serialized."""
        if self._latched or self.get_subscription_count():
            self.publish_raw(serialize(msg, self._name))

    def publish_raw(self, cdr: bytes | bytearray) -> None:
        """Send a message that is CDR bytes already."""
        try:
            self._writer.write(self._envelope(cdr))
        except core.DDSException as error:
            self._node.get_logger().warning(
                f'a {self._name} was not sent: {error}', throttle_duration_sec=1.0)

    def get_subscription_count(self) -> int:
        """Return how many subscriptions match now."""
        if not self._bus.handles:
            self.count()
        return self._subscriptions

    def wait_for_acks(self, seconds: float) -> bool:
        """Wait until all reliable subscriptions have everything; False when time ran out."""
        try:
            return self._writer.wait_for_acks(duration(seconds=seconds))
        except core.DDSException:        # its spelling of a time-out, in some versions
            return False

    def close(self) -> None:
        """Leave the bus."""
        self._bus.waitset.detach(self._writer)
        self._bus.publishers.remove(self)
        self._writer = None


class _CycloneSubscription(Subscription):
    """`wakes`: whether the process wakes for its messages; else they come with others."""

    def __init__(self, reader: DataReader, waitset: core.WaitSet, *what: Any):
        super().__init__(time.monotonic_ns, *what)
        self.wakes, self._waitset = False, waitset
        self._reader: Any = reader
        self.condition: Any = _unread(reader)
        self.wake(True)

    def wake(self, wanted: bool) -> None:
        """Have the process wake for each message, or take them when it wakes anyway."""
        if wanted != self.wakes:
            (self._waitset.attach if wanted else self._waitset.detach)(self.condition)
            self.wakes = wanted

    def get_publisher_count(self) -> int:
        """Return how many publishers match now."""
        return self._reader.get_subscription_matched_status().current_count

    def drain(self) -> int:
        """Call back with everything that has arrived, up to a batch; return how many."""
        if self._reader is None:        # closed by a callback before it
            return 0
        samples = self._reader.take(_BATCH)
        for sample in samples:
            if sample.sample_info.valid_data and self._reader is not None:
                self.source_ns = sample.sample_info.source_timestamp
                self.hand_over(sample.cdr, time.time_ns())
        return len(samples)

    def close(self) -> None:
        """Leave the bus."""
        self.wake(False)
        self.condition = self._reader = None


class CycloneBus:
    """
    A process's participant on the DDS bus, its nodes, and their event loop.

    The transport of its nodes. ``environ`` has ROS_DOMAIN_ID,
    ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS and CYCLONEDDS_URI; default: the
    process's.
    """

    def __init__(self, environ: Mapping[str, str] | None = None):
        environment = {} if environ is None else {'environ': environ}
        number = discovery.domain_id(**environment)
        self.name = f'domain {number}'
        configuration = discovery.cyclone_configuration(**environment)
        try:
            self._domain: Any = _domains.get(number) or Domain(number, configuration)
            _domains[number] = self._domain
            self._participant: Any = DomainParticipant(number)
        except core.DDSException as error:
            raise MiddlewareError(f'Cyclone DDS cannot join domain {number}: {error} '
                                  f'Its configuration was: {configuration}') from error
        self.waitset: Any = core.WaitSet(self._participant)
        # beside waking the loop: an empty wait set does not wait at all
        self._wake: Any = core.GuardCondition(self._participant)
        self.waitset.attach(self._wake)
        self._publications: Any = _Publications(self._participant)
        self._nodes: list[StandaloneNode] = []
        self._subscriptions: list[_CycloneSubscription] = []
        self.publishers: list[_CyclonePublisher] = []
        self._listed: tuple[list[Any], list[_TopicInfo]] = [], []
        self._next_ns = 0       # until a timer is due
        self.stopping = self.handles = False

    def create_node(self, name: str, argv: Sequence[str] = (), namespace: str = '/',
                    parameters: Mapping[str, Any] | None = None) -> StandaloneNode:
        """Return a node on this bus; the log names another process with a node of this name."""
        node = StandaloneNode(name, self, RosArguments.parse(argv), namespace,
                              parameters=parameters)
        self._nodes.append(node)
        self._participant.set_qos(Qos(Policy.Userdata(
            f'{_NODES}{",".join(one.full_name for one in self._nodes)};'.encode())))
        looking = node.create_timer(_LOOK_S, lambda: self._look_for_same_name(node, looking))
        return node

    def _look_for_same_name(self, node: StandaloneNode, timer: Any) -> None:
        """Say once when another node has this node's name."""
        node.destroy_timer(timer)
        others = self._publications.nodes()
        processes = [process for name, process in others if name == node.full_name]
        if processes:
            node.get_logger().warning(
                f'another node is called {node.full_name}: {", ".join(processes)}. Their messages '
                'get mixed up: end it, or give this one a name or namespace of its own '
                '(-r __node:=, -r __ns:=)')

    def spin(self, duration_s: float = math.inf) -> None:
        """Run callbacks until ``stop`` is called or the time [s] is over."""
        end = time.monotonic() + duration_s
        while not self.stopping and (left := end - time.monotonic()) > 0.0:
            self.spin_once(min(left, _LONGEST_WAIT_S))

    def spin_once(self, timeout_s: float = 0.0) -> int:
        """Wait up to ``timeout_s`` and handle messages; return how many."""
        # A timer that was made since is waited for from the next time on.
        triggered = self.waitset.wait(max(0, min(round(timeout_s * 1e9), self._next_ns)))
        self.handles = True
        try:
            return self._handle(triggered)
        finally:
            self.handles = False

    def stop(self) -> None:
        """Have ``spin`` return after the callback that runs now; from any thread or signal."""
        self.stopping = True
        self._wake.set(True)

    def close(self) -> None:
        """Take everything off the bus."""
        for node in self._nodes:
            node.destroy_node()
        self.waitset.detach(self._wake)
        self._publications = self._wake = self.waitset = None
        self._participant = self._domain = None

    def topics(self) -> list[_TopicInfo]:
        """List the ROS topics published on the bus, also by this process."""
        entries, found = self._publications.all(), dict[tuple[str, str], QoSProfile]()
        if entries is self._listed[0]:
            return self._listed[1]
        for entry in entries:
            topic, kind = ros_topic(entry.topic_name), ros_type(entry.type_name)
            if topic is None or kind is None:
                continue
            offered = _profile_of(entry.qos)
            known = found.get((topic, kind), offered)
            found[topic, kind] = QoSProfile(1, known.reliable and offered.reliable,
                                            known.latched and offered.latched)
        self._listed = entries, [_TopicInfo(*names, found[names]) for names in sorted(found)]
        return self._listed[1]

    def advertise(self, node: StandaloneNode, topic: str, name: str,
                  qos: QoSProfile) -> _CyclonePublisher:
        """Return a publisher; as StandaloneNode asks."""
        writer = self._create(DataWriter, topic, name, qos)
        return _CyclonePublisher(self, node, writer, name, qos.latched)

    def subscribe(self, node: StandaloneNode, topic: str, name: str,
                  callback: Callable[..., None], qos: QoSProfile,
                  raw: bool) -> _CycloneSubscription:
        """Return a subscription; as StandaloneNode asks."""
        reader = self._create(DataReader, topic, name, qos)
        subscription = _CycloneSubscription(reader, self.waitset, node, topic, name, callback, raw)
        self._subscriptions.append(subscription)
        return subscription

    def others(self, node: StandaloneNode, topic: str) -> list[Publication]:
        """Return the publishers of other processes on a topic; as StandaloneNode asks."""
        return self._publications.of(dds_topic(topic))

    def withdraw(self, endpoint: _CyclonePublisher | _CycloneSubscription) -> None:
        """Take a publisher or subscription off the bus."""
        if isinstance(endpoint, _CycloneSubscription):
            self._subscriptions.remove(endpoint)
        endpoint.close()

    def _create(self, kind: Any, topic: str, name: str, qos: QoSProfile) -> Any:
        made = _policies(qos, name)
        try:
            dds = Topic(self._participant, dds_topic(topic), idl_struct(name))
            return kind(self._participant, dds, made)
        except core.DDSException as error:
            raise MiddlewareError(f'cannot join topic {topic} with {name}: {error}') from error

    def _handle(self, triggered: int) -> int:
        handled = 0
        ready = [one for one in self._subscriptions if one.wakes and one.condition.triggered
                 ] if triggered else []
        if triggered > len(ready):      # not by data alone: subscriptions came or went
            for publisher in self.publishers:
                publisher.count()
        for subscription in ready + [one for one in self._subscriptions if not one.wakes]:
            taken = subscription.drain()
            handled += taken
            if taken > _BURST:
                self._run_timers()
        self._run_timers()
        return handled

    def _run_timers(self) -> None:
        self._next_ns = min((node.run_due_timers() for node in self._nodes), default=1_000_000)


@contextmanager
def cyclone_process(component_class: type[Component], argv: Sequence[str]) -> Iterator[Process]:
    """Yield a component's host; it is stopped, and the bus closed, at the end."""
    bus, signals, host = CycloneBus(), list[bool](), None
    with stopped_by_signals(lambda: signals.append(True)):
        try:
            host = ComponentHost(component_class, bus.create_node(component_class.default_name,
                                                                  argv))
            yield Process(host, signals, bus.spin_once)
        finally:
            if host is not None:
                host.stop()
            bus.close()
