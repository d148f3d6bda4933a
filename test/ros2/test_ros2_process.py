# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A component as a lifecycle node on real ROS 2; runs where rclpy can be imported."""
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest
from tolerances import PATIENCE

from legged_dynamics.ros import conversions as convert

rclpy = pytest.importorskip('rclpy')
lifecycle = pytest.importorskip('lifecycle_msgs.srv')
ros_bench = pytest.importorskip('ros_bench')
pytestmark = pytest.mark.dds

DIALECT = ros_bench.NATIVE
JOINTS = [f'joint_{i}' for i in range(12)]
ECHO = Path(__file__).parent.parent / 'middleware' / 'echo_component.py'
NUMBERS = count()


@pytest.fixture
def node(context):
    made = rclpy.create_node('tester', context=context)
    yield made
    made.destroy_node()


@pytest.fixture
def spin_until(node, context):
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def spin(condition):
        end = time.monotonic() + PATIENCE
        while not condition() and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.05)
        assert condition()

    yield spin
    executor.shutdown()


@pytest.fixture
def space():
    """Return a namespace of this test's own: processes that were killed stay known for a while."""
    return f'/test_{next(NUMBERS)}'


@pytest.fixture
def start(environ, space):
    started = []

    def run(*argv):
        process = subprocess.Popen(
            [sys.executable, str(ECHO), '--ros-args', '-r', f'__ns:={space}', *argv],
            stderr=subprocess.PIPE, text=True,
            env={**environ, 'LEGGED_DYNAMICS_MIDDLEWARE': 'rclpy'})
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def echo_topics(node, space):
    seen = []
    publisher = node.create_publisher(DIALECT.message('sensor_msgs/msg/JointState'),
                                      f'{space}/joint_states', DIALECT.qos.reliable(500))
    node.create_subscription(DIALECT.message('geometry_msgs/msg/WrenchStamped'),
                             f'{space}/echo/wrench', lambda m: seen.append(convert.read_wrench(m)),
                             DIALECT.qos.reliable(500))
    return publisher, seen


def test_it_starts_itself_survives_a_fault_and_ends_cleanly(start, echo_topics, spin_until):
    process = start()
    publisher, seen = echo_topics
    position = [float(i) for i in range(12)]

    def answered():     # by who has met us, and whom we have met
        publisher.publish(convert.joint_state(DIALECT, 1, JOINTS[1:], [0.0] * 11, [0.0] * 11))
        publisher.publish(convert.joint_state(DIALECT, 2, JOINTS, position, [0.0] * 12))
        return seen
    spin_until(answered)
    assert (seen[0][0], seen[0][1].tolist()) == (2, position[:6])
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    log = process.stderr.read()
    for text in ('joint_0 is missing', 'deactivated', 'cleaned up'):
        assert text in log
    assert 'Traceback' not in log


def test_a_manager_may_walk_it_through_its_life(start, node, echo_topics, spin_until, space):
    start('-p', 'autostart:=false')
    publisher, _ = echo_topics
    ask = ros_bench.Asker(node, spin_until)

    def state():
        return ask(lifecycle.GetState, f'{space}/echo/get_state').current_state.label

    def goes_to(label, transition):
        request = lifecycle.ChangeState.Request().transition
        request.label = transition
        assert ask(lifecycle.ChangeState, f'{space}/echo/change_state', transition=request).success
        assert state() == label

    assert state() == 'unconfigured'
    assert publisher.get_subscription_count() == 0
    for label, transition in (('inactive', 'configure'), ('active', 'activate'),
                              ('inactive', 'deactivate'), ('active', 'activate')):
        goes_to(label, transition)
    spin_until(lambda: publisher.get_subscription_count() >= 1)


@pytest.mark.parametrize(('argv', 'code', 'text'), [
    (['-p', 'fail_in:=configure'], 1, 'told to fail in configure'),
    (['-p', 'gain:=3.0'], 2, "parameter 'gain'"),
    (['-p', 'gain:=high'], 2, 'gain: expected a number, got'),
    (['-p', 'gain'], 2, 'expected -p name:=value'),
    (['--params-file', 'nope.yaml'], 2, 'cannot read the parameter file nope.yaml'),
])
def test_a_process_that_cannot_start_says_why(start, argv, code, text):
    process = start(*argv)
    assert process.wait(PATIENCE) == code
    log = process.stderr.read()
    assert text in log
    assert 'Traceback' not in log


def test_quality_of_service_may_be_given_on_the_command_line(start, node, spin_until, space):
    topic = f'qos_overrides.{space}/joint_states.subscription'
    process = start('-p', f'{topic}.reliability:=best_effort',
                    '-p', 'qos_overrides./joint_stats.subscription.depth:=7')

    def reliabilities():
        return [entry.qos_profile.reliability.name
                for entry in node.get_subscriptions_info_by_topic(f'{space}/joint_states')]
    spin_until(lambda: process.poll() is not None or reliabilities())
    assert reliabilities() == ['BEST_EFFORT']
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    told = [line for line in process.stderr if 'qos_overrides.' in line]
    assert len(told) == 1 and '/joint_stats.subscription.depth' in told[0]
