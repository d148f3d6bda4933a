# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Our bytes against rclpy's own classes, over a real bus; and Cyclone DDS nodes beside rclpy's."""
import math
from array import array

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='no ROS 2 here (rclpy cannot be imported)')
from ros_bench import NATIVE

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.cyclone import CycloneBus
from legged_dynamics.ros.middleware.messages import (
    DEFINITIONS,
    PRIMITIVES,
    definition,
    message_class,
)
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.protocol import Component

pytestmark = pytest.mark.dds
OURS = StandaloneDialect()
# What PyPI's ROS 2 does not carry, and our own package, which nobody has built there.
MISSING = ('tf2_msgs/', 'legged_dynamics_msgs/', 'control_msgs/', 'ros_gz_interfaces/',
           'whole_body_state_msgs/', 'unitree_go/', 'unitree_hg/')
NAMES = sorted(name for name in DEFINITIONS if not name.startswith(MISSING))


def value(kind, seed):
    """Return a value of a primitive type that differs from its neighbours'."""
    if kind == 'string':
        return f'wört {seed}' * (seed % 3)
    if kind == 'bool':
        return bool(seed % 2)
    if kind == 'byte':
        return bytes([seed % 4])
    if kind == 'float32':
        return float(np.float32(seed * 1.1))
    return seed * 1.1 if kind == 'float64' else seed % 100


def filled(name, make, seed=1):
    """Return a message with something in every field, of the class that ``make`` gives."""
    message = make(name)()
    for k, entry in enumerate(definition(name).fields):
        at = 7 * seed + k

        def item(i, entry=entry, at=at):
            return (filled(entry.type, make, at + i) if entry.is_message
                    else value(entry.type, at + i))
        if entry.size is None:
            setattr(message, entry.name, item(0))
        else:
            found = [item(i) for i in range(entry.size or at % 4)]
            code = PRIMITIVES[entry.type][0] if entry.type in PRIMITIVES else ''
            if entry.type in ('float64', 'float32', 'uint8') and entry.size == 0:
                found = array(code, found)
            setattr(message, entry.name, found)
    return message


def plain(message, name):
    """Return a message of either kind as nested lists."""
    rows = []
    for entry in definition(name).fields:
        found = getattr(message, entry.name)
        if entry.is_message:
            rows.append(plain(found, entry.type) if entry.size is None else
                        [plain(item, entry.type) for item in found])
        elif entry.size is None or entry.type == 'string':
            rows.append(found)
        else:
            rows.append(np.asarray(found).tolist())
    return rows


class Mirror(Component):
    """Sends back what it hears."""

    default_name = 'mirror'
    kind = ''

    def configure(self):
        cls, qos = self.dialect.message(self.kind), self.dialect.qos.reliable(10)
        self.seen = []
        self.publisher = self.node.create_publisher(cls, '~/out', qos)
        self.node.create_subscription(cls, '~/in', self.take, qos)

    def take(self, message):
        self.seen.append(message)
        self.publisher.publish(message)


@pytest.mark.parametrize('name', NAMES)
def test_a_message_comes_back_from_our_node_as_it_went(bench, name):
    node = bench.host(type('Mirror', (Mirror,), {'kind': name}))
    sent = filled(name, NATIVE.message)
    back, hand = bench.listen(name, '/mirror/out'), bench.publisher(name, '/mirror/in')
    bench.until(lambda: hand.get_subscription_count() == 1
                and node.component.publisher.get_subscription_count() == 1)
    hand.publish(sent)
    bench.until(lambda: back)
    ours = node.component.seen[0]
    assert type(ours) is message_class(name)
    assert plain(ours, name) == plain(sent, name) == plain(filled(name, message_class), name)
    assert back[0] == sent


@pytest.mark.parametrize('name', ['sensor_msgs/msg/JointState', 'sensor_msgs/msg/Imu',
                                  'visualization_msgs/msg/MarkerArray',
                                  'geometry_msgs/msg/WrenchStamped',
                                  'diagnostic_msgs/msg/DiagnosticArray'])
def test_cyclone_and_rclpy_understand_each_other(bench, environ, name):
    bus = CycloneBus(environ)
    try:
        node, seen = bus.create_node('stranger'), []
        # A name for each type: discovery remembers the type of a topic for a while.
        there, again = (f'/{way}/{name.split("/")[-1]}' for way in ('there', 'back'))
        node.create_subscription(OURS.message(name), there, seen.append, 10)
        publisher = node.create_publisher(OURS.message(name), again, 10)
        back, hand = bench.listen(name, again), bench.publisher(name, there)

        def both(condition, send=lambda: None):
            # Each side finds the other in its own time: what comes too early is sent again.
            def turn():
                send()
                return (bus.spin_once(0.05) and False) or condition()
            bench.until(turn)
        both(lambda: hand.get_subscription_count() and publisher.get_subscription_count())
        sent = filled(name, NATIVE.message)
        both(lambda: seen, lambda: hand.publish(sent))
        both(lambda: back, lambda: publisher.publish(seen[0]))
        assert back[0] == sent
    finally:
        bus.close()


def test_who_publishes_is_named_by_node_or_by_participant(bench, environ):
    kind, topic = 'std_msgs/msg/Float64MultiArray', '/motors/commands'
    node, bus = bench.host(type('Mirror', (Mirror,), {'kind': kind})), CycloneBus(environ)
    kept = [bus.create_node('stranger').create_publisher(OURS.message(kind), topic, 10),
            bench.publisher(kind, topic)]
    try:
        bench.until(lambda: len(node.publications(topic)) == len(kept))
        found = sorted(one.who for one in node.publications(topic))
        # Fast DDS passes on nothing of a participant without ROS's nodes but its identity.
        assert found == ['/tester', 'a DDS application without a node, participant '
                         f'{bus._participant.guid}']
    finally:
        bus.close()


def test_nothing_is_sent_while_nobody_listens_but_what_is_latched(bench, monkeypatch):
    node = bench.host(type('Mirror', (Mirror,), {'kind': 'std_msgs/msg/Float64'}))
    written = []
    monkeypatch.setattr('legged_dynamics.ros.middleware.ros2_node.serialize',
                        lambda message, name: written.append(name) or b'')
    node.component.publisher.publish(convert.float64(OURS, math.pi))
    assert written == []
    text = node.create_publisher(OURS.message('std_msgs/msg/String'), '~/text',
                                 node.component.dialect.qos.latched)
    monkeypatch.undo()
    text.publish(convert.string(OURS, 'said before anybody listened'))
    heard = bench.listen('std_msgs/msg/String', '/mirror/text', NATIVE.qos.latched)
    bench.until(lambda: heard)
    assert heard[0].data == 'said before anybody listened'
