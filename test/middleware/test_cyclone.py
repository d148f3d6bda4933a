# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Nodes on a real DDS bus on the loopback interface: within a process and between two."""
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tolerances import PATIENCE

from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.cdr import deserialize, serialize
from legged_dynamics.ros.middleware.discovery import DomainLease
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.protocol import QoSProfile

cyclone = pytest.importorskip('legged_dynamics.ros.middleware.cyclone')
pytestmark = pytest.mark.dds

DIALECT = StandaloneDialect()
QOS = DIALECT.qos
STRING = DIALECT.message('std_msgs/msg/String')
WRENCH = DIALECT.message('geometry_msgs/msg/WrenchStamped')
JOINT_STATE = DIALECT.message('sensor_msgs/msg/JointState')
JOINTS = [f'joint_{i}' for i in range(12)]
ECHO = Path(__file__).parent / 'echo_component.py'


def spin_until(bus, condition):
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        bus.spin_once(0.05)
    assert condition()


@pytest.fixture(scope='module')
def environ():
    with DomainLease() as lease:
        yield lease.environment()


@pytest.fixture
def bus(environ):
    made = cyclone.CycloneBus(environ)
    yield made
    made.close()


@pytest.fixture
def start(environ):
    """Return a function that starts a process running the echo component."""
    started = []

    def run(*argv, **options):
        process = subprocess.Popen(
            [sys.executable, str(ECHO), *argv], stderr=subprocess.PIPE, text=True,
            env={**environ, 'LEGGED_DYNAMICS_MIDDLEWARE': 'cyclonedds'}, **options)
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def test_messages_between_nodes_of_one_process(bus):
    node = bus.create_node('node')
    seen = []
    node.create_subscription(STRING, '~/x', lambda m: seen.append(m.data), 10)
    publisher = node.create_publisher(STRING, '/node/x', 10)
    spin_until(bus, lambda: publisher.get_subscription_count() == 1)
    for text in ('', 'é', 'x' * 100_000):
        publisher.publish(convert.string(DIALECT, text))
    spin_until(bus, lambda: len(seen) == 3)
    assert seen == ['', 'é', 'x' * 100_000]


def test_a_subscription_that_need_not_wake_is_heard_with_others_and_misses_nothing(bus):
    node, seen = bus.create_node('node'), []
    asleep = node.create_subscription(STRING, 'x', lambda m: seen.append(m.data), 10)
    publisher = node.create_publisher(STRING, 'x', 10)
    spin_until(bus, lambda: publisher.get_subscription_count() == 1)
    asleep.wake(False)
    publisher.publish(convert.string(DIALECT, 'came while asleep'))
    assert bus.waitset.wait(0) == 0
    asleep.wake(True)
    assert bus.waitset.wait(round(PATIENCE * 1e9)) == 1      # what has come already wakes, too
    asleep.wake(False)
    spin_until(bus, lambda: seen == ['came while asleep'])


def test_only_what_has_messages_is_read_however_many_wake_at_once(bus, monkeypatch):
    node, heard, read = bus.create_node('node'), [], []
    take = cyclone.DataReader.take
    monkeypatch.setattr(cyclone.DataReader, 'take',
                        lambda self, *args: read.append(0) or take(self, *args))
    many = 70
    for k in range(many):
        node.create_subscription(STRING, 'x', lambda m, k=k: heard.append(k), 10)
    node.create_subscription(STRING, 'silent', heard.append, 10)
    publisher = node.create_publisher(STRING, 'x', 10)
    spin_until(bus, lambda: publisher.get_subscription_count() == many)
    publisher.publish(convert.string(DIALECT, 'to all'))
    spin_until(bus, lambda: len(heard) >= many)
    assert sorted(heard) == list(range(many)) and len(read) == many


def test_a_callback_may_close_a_subscription_that_has_messages_too(bus):
    node, closed = bus.create_node('node'), []
    node.create_subscription(STRING, 'x', lambda m: node.destroy_subscription(other), 10)
    other = node.create_subscription(STRING, 'x', closed.append, 10)
    publisher = node.create_publisher(STRING, 'x', 10)
    spin_until(bus, lambda: publisher.get_subscription_count() == 2)
    publisher.publish(convert.string(DIALECT, 'to both'))
    spin_until(bus, lambda: publisher.get_subscription_count() == 1)
    assert not closed


def test_a_message_that_is_kept_stays_as_it_was_when_others_come(bus):
    node, kept = bus.create_node('node'), []
    node.create_subscription(JOINT_STATE, 'x', kept.append, 10)
    publisher = node.create_publisher(JOINT_STATE, 'x', 10)
    spin_until(bus, lambda: publisher.get_subscription_count() == 1)
    for k in range(3):
        publisher.publish(convert.joint_state(DIALECT, k, JOINTS, np.full(12, k)))
        spin_until(bus, lambda k=k: len(kept) == k + 1)
    assert [(m.header.stamp.nanosec, set(m.position)) for m in kept] == [
        (k, {float(k)}) for k in range(3)]


def test_a_listener_that_was_stopped_hears_all_that_its_queue_kept(bus):
    node, feet, kept = bus.create_node('node'), range(8), 1000     # of one second at 1000 Hz
    seen = [[] for _ in feet]
    publishers = [node.create_publisher(WRENCH, f'foot_{foot}', QOS.reliable(kept))
                  for foot in feet]
    for foot in feet:
        node.create_subscription(WRENCH, f'foot_{foot}', lambda m, heard=seen[foot]:
                                 heard.append(convert.stamp_ns(m.header.stamp)),
                                 QOS.reliable(kept))
    spin_until(bus, lambda: all(p.get_subscription_count() for p in publishers))
    for k in range(kept):
        for foot, publisher in zip(feet, publishers):
            publisher.publish(convert.wrench_stamped(DIALECT, k, f'foot_{foot}', np.zeros(6)))
    spin_until(bus, lambda: all(heard and heard[-1] == kept - 1 for heard in seen))
    assert seen == [list(range(kept))] * 8


def test_latched_messages_reach_who_comes_late(bus):
    node = bus.create_node('node')
    seen = {}
    for depth in (1, 3):
        qos = QoSProfile(depth=depth, latched=True)
        publisher = node.create_publisher(STRING, f'latched_{depth}', qos)
        for text in 'abcd':
            publisher.publish(convert.string(DIALECT, text))
        seen[depth] = received = []
        node.create_subscription(STRING, f'latched_{depth}',
                                 lambda m, received=received: received.append(m.data),
                                 QoSProfile(depth=10, latched=True))
    spin_until(bus, lambda: seen[1] and len(seen[3]) >= 3)
    bus.spin(0.1)
    assert seen == {1: ['d'], 3: ['b', 'c', 'd']}


@pytest.mark.parametrize(('offered', 'asked', 'matches'), [
    (QOS.reliable(1), QOS.sensor_data, True),
    (QOS.sensor_data, QOS.reliable(1), False),
    (QOS.reliable(1), QOS.latched, False),
    (QOS.latched, QOS.reliable(1), True),
])
def test_who_matches_whom(bus, offered, asked, matches):
    node = bus.create_node('node')
    node.create_subscription(STRING, 'qos', lambda m: None, asked)
    publisher = node.create_publisher(STRING, 'qos', offered)
    if matches:
        spin_until(bus, lambda: publisher.get_subscription_count() == 1)
    else:
        bus.spin(0.2)
        assert publisher.get_subscription_count() == 0


def test_two_buses_in_one_process_and_domain(environ):
    first, second = cyclone.CycloneBus(environ), cyclone.CycloneBus(environ)
    publisher = first.create_node('a').create_publisher(STRING, 'shared', QOS.latched)
    publisher.publish(convert.string(DIALECT, 'hello'))
    seen = []
    second.create_node('b').create_subscription(STRING, 'shared', seen.append, QOS.latched)
    spin_until(second, lambda: seen)
    first.close()
    again = second.create_node('c').create_publisher(STRING, 'shared', QOS.latched)
    again.publish(convert.string(DIALECT, 'still here'))
    spin_until(second, lambda: len(seen) == 2)
    second.close()


def test_a_second_node_of_the_same_name_is_named_with_its_process(bus, start, capsys):
    process = start()
    heard, said = [], []
    bus.create_node('other').create_subscription(STRING, '/echo/state', heard.append, QOS.latched)
    spin_until(bus, lambda: heard)
    bus.create_node('second', ['--ros-args', '-r', '__node:=echo'])

    def warned():
        said.append(capsys.readouterr().err)
        return re.search(rf'another node is called /echo: process .*pid {process.pid}\b',
                         ''.join(said))
    spin_until(bus, warned)
    assert 'called /other' not in ''.join(said)


def test_a_message_that_is_too_large_is_left_unread(bus):
    node, heard = bus.create_node('node'), []
    node.create_subscription(JOINT_STATE, '/joint_states', heard.append, QoSProfile(10))
    publisher = node.create_publisher(JOINT_STATE, '/joint_states', QoSProfile(10))
    spin_until(bus, publisher.get_subscription_count)
    for size in (10, 100_000, 20):
        publisher.publish(convert.joint_state(DIALECT, 0, ['x' * size], [0.0]))
    spin_until(bus, lambda: heard and len(heard[-1].name[0]) == 20)
    assert len(heard) == 2


def test_destroyed_endpoints_leave_the_bus(bus):
    node = bus.create_node('node')
    seen = []
    subscription = node.create_subscription(STRING, 'gone', seen.append, 10)
    publisher = node.create_publisher(STRING, 'gone', 10)
    spin_until(bus, lambda: publisher.get_subscription_count() == 1)
    publisher.publish(convert.string(DIALECT, 'not taken any more'))
    node.destroy_subscription(subscription)
    spin_until(bus, lambda: publisher.get_subscription_count() == 0)
    assert seen == []
    spin_until(bus, lambda: '/gone' in [info.topic for info in bus.topics()])
    node.destroy_publisher(publisher)
    spin_until(bus, lambda: '/gone' not in [info.topic for info in bus.topics()])


def test_a_callback_may_destroy_its_own_subscription(bus):
    node = bus.create_node('node')
    seen = []

    def once(message):
        seen.append(message.data)
        node.destroy_subscription(subscription)

    subscription = node.create_subscription(STRING, 'once', once, 10)
    publisher = node.create_publisher(STRING, 'once', 10)
    spin_until(bus, lambda: publisher.get_subscription_count() == 1)
    for text in 'abc':
        publisher.publish(convert.string(DIALECT, text))
    spin_until(bus, lambda: seen)
    bus.spin(0.1)
    assert seen == ['a']


def test_timers_fire_without_any_subscription(bus):
    node = bus.create_node('node')
    ticks = []
    node.create_timer(0.01, lambda: ticks.append(1))
    spin_until(bus, lambda: len(ticks) >= 5)


def test_the_loop_sleeps_when_there_is_nothing_to_do(bus):
    bus.create_node('node').create_timer(0.05, lambda: None)
    turns = 0
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        bus.spin_once(0.05)
        turns += 1
    assert turns < 100


def test_simulated_time(bus):
    source = bus.create_node('sim').create_publisher(
        DIALECT.message('rosgraph_msgs/msg/Clock'), '/clock', QOS.reliable(1))
    clock = bus.create_node('node', parameters={'use_sim_time': True}).get_clock()
    spin_until(bus, lambda: source.get_subscription_count() == 1)
    source.publish(convert.clock(DIALECT, 42))
    spin_until(bus, lambda: clock.now().nanoseconds == 42)


def test_a_fault_in_a_callback_goes_to_the_handler(bus):
    node = bus.create_node('node')
    faults = []
    node.fault_handler = faults.append
    node.create_timer(0.01, lambda: 1 / 0)
    spin_until(bus, lambda: len(faults) >= 2)
    assert isinstance(faults[0], ZeroDivisionError)


def test_wrong_environments_are_explained(environ):
    with pytest.raises(MiddlewareError, match='ROS_DOMAIN_ID from 0 to 232'):
        cyclone.CycloneBus({**environ, 'ROS_DOMAIN_ID': '1000'})
    # a domain of its own: Cyclone keeps the configuration of a domain that a process has joined
    with DomainLease() as other, pytest.raises(MiddlewareError, match='cannot join domain'):
        cyclone.CycloneBus({**other.environment(), 'CYCLONEDDS_URI': '<CycloneDDS><Doma'})


def greeted(publisher, *heard):
    """
    Return a condition that holds when neither side is deaf, and nothing is on its way.

    It speaks until everybody has heard an echo, and then waits for that of the last word; each
    ``heard`` returns stamps of echoes.
    """
    said = []

    def condition():
        if not said or not all(stamps() for stamps in heard):
            said.append(100 + len(said))
            publisher.publish(convert.joint_state(DIALECT, said[-1], JOINTS, np.zeros(12),
                                                  np.zeros(12)))
        return all(said[-1] in stamps() for stamps in heard)
    return condition


def test_500_hz_between_processes_without_loss_and_a_clean_end(bus, start):
    process = start('--ros-args', '-r', '__ns:=/lab', '-r', 'joint_states:=/robot/joints')
    node = bus.create_node('robot', namespace='/robot')
    sent, echoed, raw, states = [], [], [], []
    publisher = node.create_publisher(JOINT_STATE, 'joints', QOS.reliable(500))
    answers = node.create_subscription(
        WRENCH, '/lab/echo/wrench', lambda m: echoed.append(convert.read_wrench(m)),
        QOS.reliable(500))

    def stamp_of(cdr):
        return convert.stamp_ns(deserialize(cdr, 'geometry_msgs/msg/WrenchStamped').header.stamp)
    recorder = node.create_raw_subscription(
        'geometry_msgs/msg/WrenchStamped', '/lab/echo/wrench',
        lambda cdr, ns: raw.append((cdr, ns, recorder.source_ns)), QOS.reliable(500))
    node.create_subscription(STRING, '/lab/echo/state', lambda m: states.append(m.data),
                             QOS.latched)
    spin_until(bus, greeted(publisher, lambda: [stamp for stamp, _ in echoed],
                            lambda: [stamp_of(cdr) for cdr, *_ in raw]))
    spin_until(bus, lambda: states)
    echoed.clear()
    raw.clear()

    def tick():
        # no more on their way than every queue can keep
        if len(sent) < 1500 and len(sent) - min(len(echoed), len(raw)) < 200:
            position = np.arange(12.0) + len(sent)
            message = convert.joint_state(DIALECT, time.time_ns(), JOINTS[::-1], position[::-1],
                                          np.zeros(12))
            sent.append((convert.stamp_ns(message.header.stamp), position[:6].tolist()))
            publisher.publish(message)

    node.create_timer(0.002, tick)
    spin_until(bus, lambda: len(echoed) == len(raw) == 1500)
    assert [(stamp, wrench.tolist()) for stamp, wrench in echoed] == sent
    assert states == ['active']

    for (cdr, received_ns, source_ns), (stamp, _) in zip(raw, sent):
        message = deserialize(cdr, 'geometry_msgs/msg/WrenchStamped')
        assert convert.stamp_ns(message.header.stamp) == stamp
        assert serialize(message) == cdr
        assert stamp < source_ns < received_ns

    found = {info.topic: info for info in bus.topics()}
    assert found['/lab/echo/state'] == ('/lab/echo/state', 'std_msgs/msg/String',
                                        QoSProfile(1, True, True))
    assert found['/robot/joints'].type == 'sensor_msgs/msg/JointState'
    assert found['/lab/echo/wrench'].qos.reliable

    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    log = process.stderr.read()
    assert '[lab.echo]: deactivated' in log
    assert '[lab.echo]: cleaned up' in log
    assert 'Traceback' not in log
    spin_until(bus, lambda: answers.get_publisher_count() == 0)


def test_sigterm_and_a_faulty_message_between_processes(bus, start):
    process = start()
    node = bus.create_node('robot')
    echoed = []
    publisher = node.create_publisher(JOINT_STATE, 'joint_states', 10)
    node.create_subscription(
        WRENCH, '/echo/wrench', lambda m: echoed.append(convert.stamp_ns(m.header.stamp)), 10)
    spin_until(bus, greeted(publisher, lambda: echoed))
    echoed.clear()
    publisher.publish(convert.joint_state(DIALECT, 1, JOINTS[1:], np.zeros(11), np.zeros(11)))
    publisher.publish(convert.joint_state(DIALECT, 2, JOINTS, np.zeros(12), np.zeros(12)))
    spin_until(bus, lambda: echoed)
    assert echoed == [2]
    process.terminate()
    assert process.wait(PATIENCE) == 0
    assert 'joint_states: joint_0 is missing' in process.stderr.read()


@pytest.mark.parametrize(('argv', 'code', 'text'), [
    (['-p', 'fail_in:=configure'], 1, 'told to fail in configure'),
    (['-p', 'gain:=3.0'], 2, 'gain: expected a value from 0 to 2, got 3.0'),
    (['-p', 'gain:=high'], 2, 'gain: expected a number, got'),
    (['-p', 'gain'], 2, 'expected -p name:=value'),
    (['--params-file', 'nope.yaml'], 2, 'cannot read the parameter file nope.yaml'),
    (['-p', 'gian:=1.0', '-p', 'fail_in:=exit'], 2, "Did you mean 'gain'?"),
])
def test_a_process_that_cannot_start_says_why(start, argv, code, text):
    process = start('--ros-args', *argv)
    assert process.wait(PATIENCE) == code
    log = process.stderr.read()
    assert text in log
    assert 'Traceback' not in log


def test_a_defect_in_configure_is_shown_with_its_place(start):
    process = start('--ros-args', '-p', 'fail_in:=defect')
    assert process.wait(PATIENCE) == 1
    log = process.stderr.read()
    assert 'ZeroDivisionError: told to have a defect' in log
    assert 'in configure' in log


def test_who_listens_is_known_in_callbacks_after_it_was_asked_outside(bus):
    node, counts = bus.create_node('node'), []
    publisher = node.create_publisher(STRING, '/words', QOS.reliable(10))
    node.create_timer(0.001, lambda: counts.append(publisher.get_subscription_count()))
    spin_until(bus, lambda: counts)
    assert set(counts) == {0}
    heard = node.create_subscription(STRING, '/words', print, QOS.reliable(10))
    end = time.monotonic() + PATIENCE
    while not publisher.get_subscription_count():       # takes the change from the wait set
        assert time.monotonic() < end
        time.sleep(0.01)
    counts.clear()
    spin_until(bus, lambda: counts)
    assert set(counts) == {1}
    node.destroy_subscription(heard)
    spin_until(bus, lambda: counts[-1] == 0)


def test_names_on_the_dds_bus():
    assert cyclone.dds_topic('/imu/data') == 'rt/imu/data'
    assert cyclone.ros_topic('rt/imu/data') == '/imu/data'
    assert cyclone.ros_topic('rq/x/_service_eventRequest') is None
    assert cyclone.dds_type('sensor_msgs/Imu') == 'sensor_msgs::msg::dds_::Imu_'
    assert cyclone.ros_type('sensor_msgs::msg::dds_::Imu_') == 'sensor_msgs/msg/Imu'
    assert cyclone.ros_type('HelloWorld') is None
