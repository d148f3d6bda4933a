# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ROS 2's discovery variables in Cyclone's terms, domain leases, and the choice of a backend."""
import os
from xml.etree import ElementTree

import pytest

from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.ros.middleware import runner
from legged_dynamics.ros.middleware.discovery import (
    DomainLease,
    _discovery_range,
    cyclone_configuration,
    domain_id,
    fast_dds_environment,
)


def configured(**environ):
    root = ElementTree.fromstring(cyclone_configuration(environ))
    found = {element.tag: element.text for element in root.iter() if element.text}
    found['Interface'] = [e.get('address') for e in root.iter('NetworkInterface')]
    found['Peers'] = [e.get('address') for e in root.iter('Peer')]
    return found


def test_domain():
    assert domain_id({}) == 0
    assert domain_id({'ROS_DOMAIN_ID': '42'}) == 42
    for text in ('-1', '233', 'abc', '1.5'):
        with pytest.raises(MiddlewareError, match='ROS_DOMAIN_ID from 0 to 232'):
            domain_id({'ROS_DOMAIN_ID': text})


def test_range():
    assert _discovery_range({}) == 'SUBNET'
    assert _discovery_range({'ROS_LOCALHOST_ONLY': '1'}) == 'LOCALHOST'
    assert _discovery_range({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'off'}) == 'OFF'
    with pytest.raises(MiddlewareError, match='SUBNET, LOCALHOST, OFF, SYSTEM_DEFAULT, got .ON'):
        _discovery_range({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'ON'})


def test_localhost_stays_on_the_loopback_interface_without_multicast():
    found = configured(ROS_AUTOMATIC_DISCOVERY_RANGE='LOCALHOST', ROS_STATIC_PEERS='10.0.0.1')
    assert found['Interface'] == ['127.0.0.1']
    assert found['AllowMulticast'] == 'false'
    assert found['ParticipantIndex'] == 'auto'
    assert found['Peers'] == ['localhost', '10.0.0.1']


def test_subnet_is_ros_default():
    found = configured(ROS_STATIC_PEERS='robot;10.0.0.2')
    assert 'AllowMulticast' not in found
    assert found['Interface'] == []
    assert found['Peers'] == ['robot', '10.0.0.2']


def test_off_hides_the_process():
    found = configured(ROS_AUTOMATIC_DISCOVERY_RANGE='OFF', ROS_STATIC_PEERS='robot')
    assert found['AllowMulticast'] == 'false'
    assert found['Tag'] == f'ros_discovery_off_{os.getpid()}'
    assert found['Peers'] == []


def test_a_configuration_of_the_users_has_the_last_word():
    text = cyclone_configuration({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
                                  'CYCLONEDDS_URI': 'file:///cyclone.xml'})
    own, _, users = text.partition('</CycloneDDS>,')
    assert users == 'file:///cyclone.xml'
    assert 'NetworkInterface' not in own
    assert cyclone_configuration({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SYSTEM_DEFAULT',
                                  'CYCLONEDDS_URI': 'file:///c.xml'}) == 'file:///c.xml'


def test_leased_domains_differ_until_closed():
    with DomainLease() as first, DomainLease() as second:
        assert first.domain_id != second.domain_id
        environ = first.environment({'CYCLONEDDS_URI': 'x', 'HOME': '/h'})
        assert environ == {'HOME': '/h', 'ROS_DOMAIN_ID': str(first.domain_id),
                           'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
    with DomainLease() as again:
        assert again.domain_id == first.domain_id


def lookup(installed):
    return lambda name: name in installed or None


@pytest.mark.parametrize(('installed', 'wanted', 'chosen'), [
    ({'rclpy', 'cyclonedds'}, '', 'rclpy'), ({'cyclonedds'}, '', 'cyclonedds'),
    ({'rclpy', 'cyclonedds'}, 'cyclonedds', 'cyclonedds'),
])
def test_choice_of_backend(installed, wanted, chosen):
    assert runner.choose_backend({runner.CHOICE: wanted}, lookup(installed)) == chosen


@pytest.mark.parametrize(('installed', 'wanted', 'text'), [
    (set(), '', 'neither rclpy nor cyclonedds can be imported: source a ROS 2 installation, or'),
    ({'cyclonedds'}, 'rclpy', 'rclpy cannot be imported'),
    ({'rclpy'}, 'zenoh', "one of rclpy, cyclonedds, got 'zenoh'"),
])
def test_no_backend_is_explained(installed, wanted, text):
    with pytest.raises(MiddlewareError, match=text):
        runner.choose_backend({runner.CHOICE: wanted}, lookup(installed))


def test_fast_dds_gets_a_profile_of_its_version_unless_the_user_has_one(tmp_path):
    """Version 2 spells the period of heartbeats otherwise than 3, and each reads its own file."""
    found = fast_dds_environment(tmp_path, {})
    assert set(found) == {'FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE'}
    space = '{http://www.eprosima.com}'
    for variable, tag in (('FASTRTPS_DEFAULT_PROFILES_FILE', 'heartbeatPeriod'),
                          ('FASTDDS_DEFAULT_PROFILES_FILE', 'heartbeat_period')):
        root = ElementTree.parse(found[variable]).getroot()
        (period,) = root.iter(f'{space}{tag}')
        assert [int(part.text) for part in period] == [0, 20_000_000]
        assert [entry.text for entry in root.iter(f'{space}address')] == ['127.0.0.1']
    own = {'FASTRTPS_DEFAULT_PROFILES_FILE': '/my.xml'}
    assert set(fast_dds_environment(tmp_path, own)) == {'FASTDDS_DEFAULT_PROFILES_FILE'}
