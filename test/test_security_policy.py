# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The SROS2 policy lets each node say and hear what it does, and efforts come from few."""
from fnmatch import fnmatch
from xml.etree import ElementTree

import pytest
from robots import CONFIG

from legged_dynamics.node_registry import NODES
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.safety.joint_watch import check_controllers
from legged_dynamics.schema import read_parameter_file

POLICY = ElementTree.parse(CONFIG / 'security' / 'legged_dynamics.policy.xml').getroot()
COMMANDS = '/effort_controller/commands'


def allowed(node, what):
    (profile,) = [entry for entry in POLICY.iter('profile') if entry.get('node') == node]
    names = [topic.text for group in profile.findall('topics') if group.get(what) == 'ALLOW'
             for topic in group]
    return [f'/{node}{name[1:]}' if name.startswith('~') else
            name if name.startswith('/') else f'/{name}' for name in names]


@pytest.mark.parametrize('node', NODES)
def test_what_a_node_does_is_allowed(node):
    yaml = CONFIG / 'robots' / f'{NODES[node].robot}.yaml'
    values = {key: value for key, value in read_parameter_file(yaml).items()
              if node == 'simulated_robot' or not key.startswith('simulation')}
    if node == 'reaction_relay':
        values = {'relay.fields': ['data[0] = effort[LF_FOOT/contact]']}
    elif node == 'effort_watchdog':
        values = {key: value for key, value in values.items() if key.startswith('robot.')}
    if node != 'simulated_robot':
        values['use_sim_time'] = True       # has a topic of its own
    bus = LoopbackBus()
    if node != 'reaction_relay':
        values['robot_description'] = str(yaml.with_suffix('.urdf'))
    bus.host(NODES[node].component(), parameters=values)
    for endpoints, what in ((bus.publishers, 'publish'), (bus.subscriptions, 'subscribe')):
        assert endpoints
        patterns = allowed(node, what)
        for entry in endpoints:
            assert any(fnmatch(entry.topic, pattern) for pattern in patterns), entry.topic
    says = any(fnmatch(COMMANDS, pattern) for pattern in allowed(node, 'publish'))
    assert says == NODES[node].commands_efforts


def test_the_effort_chain_for_ros2_control_has_the_robot_s_joints():
    joints = read_parameter_file(CONFIG / 'robots' / 'anymal_class.yaml')['robot.joints']
    check_controllers(CONFIG / 'ros2_control' / 'effort_chain.yaml', joints)
