# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A node that gets nothing says so: what, where, who publishes it, and what to try."""
import numpy as np
import pytest
from loopback_robot import DIALECT

from legged_dynamics.node_registry import NODES
from legged_dynamics.resources import robot_files
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.discovery import reach
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.schema import read_parameter_file

READING = sorted(set(NODES) - {'simulated_robot', 'reaction_relay'})
JOINTS, IMU = 'sensor_msgs/msg/JointState', 'sensor_msgs/msg/Imu'


def started(name, **parameters):
    bus, (yaml, urdf) = LoopbackBus(), robot_files(NODES[name].robot)
    values = {'robot_description': str(urdf), **read_parameter_file(yaml)}
    host = bus.host(NODES[name].component(), parameters={**values, **parameters})
    return bus, host.component


def said(bus):
    return [record.message for record in bus.logs
            if record.level == 'warn' and record.message.startswith('nothing received')]


def joint_state(node, bus):
    names = node.common.config.joints
    zero = np.zeros(len(names))
    return convert.joint_state(DIALECT, bus.now_ns, names, zero, zero, zero)


@pytest.mark.parametrize('name', READING)
def test_a_node_without_data_says_it_after_five_seconds_and_then_rarely(name):
    bus, _ = started(name)
    bus.step(4.5)
    assert not said(bus)
    bus.step(2.0)
    lines = said(bus)
    topics = {'unitree': {'/lowstate'}, 'effort_watchdog': {'/joint_states'}}.get(
        name, {'/joint_states', '/imu/data'})
    assert {line.split(' on ')[1].split()[0] for line in lines} == topics
    assert len(lines) == len(topics) and all('nobody publishes it' in line for line in lines)
    bus.step(50.0)
    assert len(said(bus)) == len(topics)
    bus.step(15.0)
    assert len(said(bus)) == 2 * len(topics)


CASES = {
    'another type': ((IMU, DIALECT.qos.reliable(1)), {}, 'another type, by /driver as ' + IMU),
    'another quality': ((JOINTS, DIALECT.qos.best_effort(1)), {
        'qos_overrides./joint_states.subscription.reliability': 'reliable'},
        '/driver offers it as best effort, volatile'),
    'nothing sent': ((JOINTS, DIALECT.qos.reliable(1)), {},
                     '/driver publishes it, and no message'),
}


@pytest.mark.parametrize('case', CASES)
def test_it_says_who_publishes_what_it_does_not_get(case):
    (kind, qos), overrides, text = CASES[case]
    bus, _ = started('effort_watchdog', **overrides)
    bus.create_node('driver').create_publisher(DIALECT.message(kind), 'joint_states', qos)
    bus.step(6.5)
    line, = (line for line in said(bus) if '/joint_states' in line)
    assert text in line and JOINTS in line


def test_silence_in_the_middle_is_told_again_and_data_are_not():
    bus, node = started('effort_watchdog')
    send = bus.create_node('driver').create_publisher(DIALECT.message(JOINTS), 'joint_states',
                                                      DIALECT.qos.reliable(1))
    for _ in range(80):
        send.publish(joint_state(node, bus))
        bus.step(0.1)
    assert not said(bus)
    bus.step(7.0)
    assert len(said(bus)) == 1
    send.publish(joint_state(node, bus))
    bus.step(4.0)
    assert len(said(bus)) == 1
    bus.step(3.0)
    assert len(said(bus)) == 2


@pytest.mark.parametrize(('environ', 'text'), [
    ({}, 'the interface that DDS chose'), ({'ROS_LOCALHOST_ONLY': '1'}, 'this machine only'),
    ({'CYCLONEDDS_URI': '<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="eth0"/>'
      '</Interfaces></General></Domain></CycloneDDS>'}, 'interface eth0')])
def test_the_interface_is_named(environ, text):
    assert reach(environ) == text
