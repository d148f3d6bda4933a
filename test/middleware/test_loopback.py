# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The in-process bus: delivery, QoS, clock and timers, components and their faults."""
import numpy as np
import pytest

from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError, MiddlewareError
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.protocol import Component, QoSProfile
from legged_dynamics.schema import Setting

DIALECT = StandaloneDialect()
QOS = DIALECT.qos
STRING = DIALECT.message('std_msgs/msg/String')


def say(text):
    return convert.string(DIALECT, text)


@pytest.fixture
def bus():
    return LoopbackBus()


def test_messages_arrive_in_the_order_of_publishing(bus):
    node = bus.create_node('node')
    seen = []
    for topic in ('b', 'a'):
        node.create_subscription(STRING, topic, lambda m: seen.append(m.data), 10)
    first = node.create_publisher(STRING, 'a', 10)
    second = node.create_publisher(STRING, 'b', 10)
    for text in '123':
        first.publish(say(f'a{text}'))
        second.publish(say(f'b{text}'))
    assert seen == []
    assert bus.spin() == 6
    assert seen == ['a1', 'b1', 'a2', 'b2', 'a3', 'b3']


def test_what_a_callback_publishes_comes_last(bus):
    node = bus.create_node('node')
    seen = []
    reply = node.create_publisher(STRING, 'reply', 10)
    node.create_subscription(STRING, 'ask', lambda m: reply.publish(say('re ' + m.data)), 10)
    node.create_subscription(STRING, 'ask', lambda m: seen.append(m.data), 10)
    node.create_subscription(STRING, 'reply', lambda m: seen.append(m.data), 10)
    ask = node.create_publisher(STRING, 'ask', 10)
    ask.publish(say('1'))
    ask.publish(say('2'))
    bus.spin()
    assert seen == ['1', '2', 're 1', 're 2']


def test_a_receiver_has_its_own_copy(bus):
    node = bus.create_node('node')
    seen = bus.watch('std_msgs/msg/String', '/x')
    message = say('before')
    node.create_publisher(STRING, '/x', 10).publish(message)
    message.data = 'after'
    bus.spin()
    assert seen[0].data == 'before'
    assert seen[0] is not message


def test_names_namespaces_and_remaps(bus):
    argv = ['--ros-args', '-r', '__ns:=/lab', '-r', '__node:=est', '-r', 'joints:=/all/joints']
    node = bus.create_node('estimator', argv)
    assert (node.get_name(), node.get_namespace()) == ('est', '/lab')
    for topic, full in (('joints', '/all/joints'), ('~/wrench', '/lab/est/wrench'),
                        ('imu', '/lab/imu'), ('/tf', '/tf')):
        seen = bus.watch('std_msgs/msg/String', full)
        node.create_publisher(STRING, topic, 10).publish(say(full))
        bus.spin()
        assert [message.data for message in seen] == [full]
    assert ('/lab/est/wrench', 'std_msgs/msg/String') in bus.topics()


@pytest.mark.parametrize(('offered', 'asked', 'matches'), [
    (QOS.reliable(1), QOS.reliable(1), True),
    (QOS.reliable(1), QOS.sensor_data, True),
    (QOS.sensor_data, QOS.reliable(1), False),
    (QOS.latched, QOS.reliable(1), True),
    (QOS.reliable(1), QOS.latched, False),
    (QOS.latched, QOS.sensor_data, True),
])
def test_who_matches_whom(bus, offered, asked, matches):
    node = bus.create_node('node')
    seen = []
    publisher = node.create_publisher(STRING, 'x', offered)
    node.create_subscription(STRING, 'x', seen.append, asked)
    assert publisher.get_subscription_count() == int(matches)
    publisher.publish(say('now'))
    bus.spin()
    assert len(seen) == int(matches)


def test_latched_messages_reach_who_comes_late(bus):
    node = bus.create_node('node')
    latched = node.create_publisher(STRING, 'x', QOS.latched)
    for text in ('old', 'last'):
        latched.publish(say(text))
    late, volatile = [], []
    node.create_subscription(STRING, 'x', lambda m: late.append(m.data), QOS.latched)
    node.create_subscription(STRING, 'x', volatile.append, QOS.reliable(1))
    bus.spin()
    assert late == ['last']
    assert volatile == []


def test_a_full_queue_drops_the_oldest(bus):
    node = bus.create_node('node')
    seen = []
    subscription = node.create_subscription(STRING, 'x', lambda m: seen.append(m.data),
                                            QoSProfile(depth=2))
    publisher = node.create_publisher(STRING, 'x', 10)
    for text in 'abcd':
        publisher.publish(say(text))
    assert bus.spin() == 2
    assert seen == ['c', 'd']
    assert subscription.dropped == 2


def test_destroyed_endpoints_are_silent(bus):
    node = bus.create_node('node')
    seen = []
    subscription = node.create_subscription(STRING, 'x', seen.append, 10)
    publisher = node.create_publisher(STRING, 'x', QOS.latched)
    publisher.publish(say('queued, never delivered'))
    assert node.destroy_subscription(subscription)
    assert not node.destroy_subscription(subscription)
    bus.spin()
    assert seen == []
    node.destroy_publisher(publisher)
    node.create_subscription(STRING, 'x', seen.append, QOS.latched)
    bus.spin()
    assert seen == []


def test_a_raw_subscription_gets_the_bytes(bus):
    node = bus.create_node('node')
    seen = []
    node.create_raw_subscription('std_msgs/msg/String', 'x', lambda *a: seen.append(a), 500)
    node.create_publisher(STRING, 'x', 10).publish(say('hi'))
    bus.step(0.5)
    assert seen == [(b'\x00\x01\x00\x00\x03\x00\x00\x00hi\x00', 1_000_000_000)]


def test_what_cannot_be_sent_is_refused_when_published(bus):
    publisher = bus.create_node('node').create_publisher(STRING, 'x', 10)
    with pytest.raises(MiddlewareError, match='data = 3 is not a string'):
        publisher.publish(say(3))


def test_timers_run_on_the_hand_stepped_clock(bus):
    node = bus.create_node('node')
    ticks = []
    clock = node.get_clock()
    node.create_timer(0.01, lambda: ticks.append(('a', clock.now().nanoseconds)))
    slow = node.create_timer(0.02, lambda: ticks.append(('b', clock.now().nanoseconds)))
    bus.step(0.005)
    assert ticks == []
    bus.step(0.035)
    assert ticks == [('a', 1_010_000_000), ('a', 1_020_000_000), ('b', 1_020_000_000),
                     ('a', 1_030_000_000), ('a', 1_040_000_000), ('b', 1_040_000_000)]
    assert bus.now_ns == 1_040_000_000
    slow.cancel()
    del ticks[:]
    bus.step(0.02)
    assert [name for name, _ in ticks] == ['a', 'a']
    with pytest.raises(MiddlewareError, match='above 0 s'):
        node.create_timer(0.0, ticks.clear)


def test_a_timer_may_destroy_itself(bus):
    node = bus.create_node('node')
    ticks = []

    def once():
        ticks.append(1)
        node.destroy_timer(timer)

    timer = node.create_timer(0.01, once)
    bus.step(0.1)
    assert ticks == [1]


def test_simulated_time_comes_from_the_clock_topic(bus):
    source = bus.create_node('sim').create_publisher(
        DIALECT.message('rosgraph_msgs/msg/Clock'), '/clock', 10)
    node = bus.create_node('node', parameters={'use_sim_time': True})
    ticks = []
    node.create_timer(0.5, lambda: ticks.append(node.get_clock().now().nanoseconds))
    assert node.get_clock().now().nanoseconds == 0
    # the simulation starts again behind 10; behind 8 it skips some periods
    for tenths in (1, 4, 5, 9, 10, 2, 6, 7, 8, 31, 32, 36, 37):
        source.publish(convert.clock(DIALECT, tenths * 100_000_000))
        bus.step(0.001)
        bus.step(0.001)
    assert [tick // 100_000_000 for tick in ticks] == [5, 10, 7, 31, 32, 37]


class Echo(Component):
    """Answers joint states with wrenches, and can be told to fail."""

    default_name = 'echo'

    def __init__(self, node, dialect):
        super().__init__(node, dialect)
        self.steps, self.faults = [], []
        self.fail_in = node.declare(Setting('fail_in', '', '', 'Where to fail.'))

    def configure(self):
        self._step('configure')
        message = self.dialect.message
        self.publisher = self.node.create_publisher(
            message('geometry_msgs/msg/WrenchStamped'), '~/wrench', self.dialect.qos.reliable(10))
        self.read = convert.JointStateReader(('a', 'b'))

    def activate(self):
        self._step('activate')
        self.subscription = self.node.create_subscription(
            self.dialect.message('sensor_msgs/msg/JointState'), 'joint_states', self.on_joints,
            self.dialect.qos.sensor_data)

    def on_joints(self, msg):
        sample = self.read(msg)
        if self.fail_in == 'callback':
            raise ZeroDivisionError('by hand')
        self.publisher.publish(convert.wrench_stamped(
            self.dialect, sample.stamp_ns, 'base', [*sample.position, 0, 0, 0, 0]))

    def deactivate(self):
        self._step('deactivate')
        self.node.destroy_subscription(self.subscription)

    def cleanup(self):
        self._step('cleanup')
        self.node.destroy_publisher(self.publisher)

    def on_fault(self, error):
        self.faults.append(error)

    def _step(self, name):
        self.steps.append(name)
        if self.fail_in == name:
            raise LeggedDynamicsError(f'{name} failed')


@pytest.fixture
def joints(bus):
    return bus.create_node('robot').create_publisher(
        DIALECT.message('sensor_msgs/msg/JointState'), 'joint_states', QOS.sensor_data)


def test_a_component_runs_on_the_loopback(bus, joints):
    wrenches = bus.watch('geometry_msgs/msg/WrenchStamped', '/echo/wrench')
    host = bus.host(Echo)
    joints.publish(convert.joint_state(DIALECT, 7, 'ba', np.array([2.0, 1.0]), [0.0, 0.0]))
    bus.spin()
    stamp, wrench = convert.read_wrench(wrenches[0])
    assert (stamp, wrench.tolist()) == (7, [1.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    host.stop()
    host.stop()
    assert host.component.steps == ['configure', 'activate', 'deactivate', 'cleanup']
    joints.publish(convert.joint_state(DIALECT, 8, 'ab', [1.0, 2.0], [0.0, 0.0]))
    assert bus.spin() == 0


def test_a_faulty_message_does_not_stop_a_component(bus, joints):
    wrenches = bus.watch('geometry_msgs/msg/WrenchStamped', '/echo/wrench')
    host = bus.host(Echo)
    joints.publish(convert.joint_state(DIALECT, 7, 'a', [1.0], [0.0]))
    joints.publish(convert.joint_state(DIALECT, 8, 'ab', [1.0, 2.0], [0.0, 0.0]))
    bus.spin()
    assert len(wrenches) == 1
    assert 'b is missing' in str(host.component.faults[0])
    errors = [record.message for record in bus.logs if record.level == 'error']
    assert errors == ['joint_states: b is missing; the message has a']


def test_a_defect_is_logged_with_its_place(bus, joints):
    host = bus.host(Echo, parameters={'fail_in': 'callback'})
    joints.publish(convert.joint_state(DIALECT, 8, 'ab', [1.0, 2.0], [0.0, 0.0]))
    bus.spin()
    assert isinstance(host.component.faults[0], ZeroDivisionError)
    assert 'on_joints' in bus.logs[-1].message
    assert 'by hand' in bus.logs[-1].message


def test_without_a_host_a_fault_is_the_callers(bus):
    node = bus.create_node('node')
    node.create_timer(0.1, lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        bus.step(0.2)


@pytest.mark.parametrize('step', ['configure', 'activate'])
def test_a_component_that_cannot_start_says_so(bus, step):
    with pytest.raises(LeggedDynamicsError, match=f'{step} failed'):
        bus.host(Echo, parameters={'fail_in': step})
    with pytest.raises(ConfigurationError, match='expected a string, got 1.0'):
        bus.host(Echo, parameters={'fail_in': 1.0})


def test_stopping_goes_on_when_deactivation_fails(bus):
    host = bus.host(Echo, parameters={'fail_in': 'deactivate'})
    host.stop()
    assert host.component.steps[-1] == 'cleanup'
    assert 'deactivate failed' in bus.logs[-1].message


def test_throttled_log_lines(bus):
    logger = bus.create_node('node').get_logger()
    for count in range(5):
        logger.warning(f'late {count}', throttle_duration_sec=60.0)
        logger.info(f'seen {count}')
        logger.debug('not shown')
        logger.error(f'lost {count}', throttle_duration_sec=60.0)
    throttled = [record.message for record in bus.logs if record.level != 'info']
    assert throttled == ['late 0', 'lost 0']
    assert len(bus.logs) == 7
