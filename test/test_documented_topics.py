# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""docs/topics.md names what nodes publish and hear; parameters that documents name are there."""
import re
from pathlib import Path

import pytest
import stated_robots as stated

from legged_dynamics import schema
from legged_dynamics.model.sensor_correction import SETTINGS as SENSORS
from legged_dynamics.node_registry import NODES
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.nodes.robot_component import RobotComponent

DOCS = Path(__file__).resolve().parent.parent / 'docs'
TOPICS = (DOCS / 'topics.md').read_text(encoding='utf-8')
# What makes a node open all that it can have open at once, and robots that it needs for that.
EVERYTHING = {
    'ground_reaction_estimator': {'external.point': [0.1, 0.0, 0.0], 'whole_body_state': True,
                                  'map.rate': 10.0},
    'simulated_robot': {'publish_clock': True},
    'unitree': {'unitree.command': True, 'unitree.foot_force': 'estimate',
                'external.point': [0.1, 0.0, 0.0], 'whole_body_state': True, 'map.rate': 10.0},
    'workspace_controller': {'publish_tf': True}}
ROBOTS = {'simulated_robot': ('anymal_class', 'stickybot'), 'unitree': ('go2',)}
# Every node's, told of all of them at the top of the page.
COMMON = {'/clock', '/diagnostics', '~/answer'}
SERVICE = 'std_srvs'


def opened(node):
    """Return (whether it publishes, topic, type) of a node that has everything open."""
    ways = (True,) if node == 'simulated_robot' else (True, False)
    return set().union(*(_opened(node, robot, told)
                         for robot in ROBOTS.get(node, (NODES[node].robot,)) for told in ways))


def _opened(node, robot, told):
    """``told``: whether the node has its robot_description as a parameter, or by topic."""
    values = {key: value for key, value in stated.stated(robot, 'shipped').items()
              if node == 'simulated_robot' or not key.startswith('simulation')}
    feet = values['robot.feet']
    if node != 'simulated_robot':
        values['use_sim_time'] = True
    if told:
        values['robot_description'] = stated.described(robot)
    bus = LoopbackBus()
    bus.host(NODES[node].component(), parameters={**values, **EVERYTHING.get(node, {})})

    def plain(topic):
        for foot in feet:
            topic = topic.replace(f'/{foot}/', '/<foot>/')
        return re.sub(f'^/{NODES[node].component().default_name}/', '~/', topic)
    return {(publish, plain(entry.topic), entry.type.rpartition('/')[2])
            for publish, endpoints in ((True, bus.publishers), (False, bus.subscriptions))
            for entry in endpoints}


def documented(node):
    """Return (publish, topic, cell of the type) of the tables in a node's section."""
    (section,) = [part for part in re.split(r'^## ', TOPICS, flags=re.MULTILINE)
                  if f'`{node}`' in part.partition('\n')[0]]
    found = set()
    for table in re.finditer(r'(?:^\|.*\n)+', section, re.MULTILINE):
        head, _, *rows = table[0].splitlines()
        way, _, of = head.strip('| ').split(' | ')[0].partition(', of ')
        if way not in ('in', 'out') or (of.startswith('`') and of != f'`{node}`'):
            continue
        for row in rows:
            names, kind = row.strip('| ').split(' | ')[:2]
            found |= {(way == 'out', name if name[0] in '~/' else f'/{name}', kind)
                      for name in re.findall(r'`([^`]+)`', names)}
    return found


@pytest.mark.parametrize('node', [name for name in NODES if name != 'reaction_relay'])
def test_topics_of_the_page_are_those_of_the_node(node, monkeypatch):
    monkeypatch.setattr(RobotComponent, 'warm_up', lambda *_: None)    # no kernel is needed
    real = {one for one in opened(node) if one[1] not in COMMON}
    told = {one for one in documented(node) if SERVICE not in one[2] and one[1] not in COMMON}
    if node == 'unitree':       # and all of the estimator's but its inputs
        told |= {one for one in documented('ground_reaction_estimator')
                 if one[1] not in COMMON and (one[0] or one[1] == '/robot_description')}
    assert {one[:2] for one in real} ^ {one[:2] for one in told} == set()
    wrong = [(topic, kind, cell) for publish, topic, kind in real for way, name, cell in told
             if (way, name) == (publish, topic) and kind not in cell
             and not cell.startswith('as ')]
    assert wrong == []


@pytest.fixture(scope='module')
def declared():
    """Return the names of all settings in the source."""
    return {name for path in Path(schema.__file__).parent.rglob('*.py')
            for name in schema.DECLARATION.findall(path.read_text(encoding='utf-8'))}


def test_parameters_that_documents_name_are_there(declared):
    # `force.z` and the like are fields of messages, `gait.*` modules of people too.
    groups = {name.split('.')[0] for name in declared if '.' in name} - {'gait', 'force'}
    unknown = []
    for page in sorted(DOCS.rglob('*.md')):
        for name in re.findall(r'`([a-z_]+(?:\.[a-z_0-9]+)+)(?:: [^`]*)?`', page.read_text()):
            if name.split('.')[0] in groups and not re.search(r'\.(py|md|html|csv)$', name) and (
                    name not in declared
                    and not any(one.startswith(f'{name}.') for one in declared)):
                unknown.append(f'{page.name}: {name}')
    assert unknown == []


def tabled(page, head):
    """Return the settings in the first column of a table; a short name is of the one before it."""
    text = (DOCS / page).read_text(encoding='utf-8')
    prefix, found = 'robot.' * ('robot' in head), set()
    table = re.search(rf'^\| {re.escape(head)} \|.*\n(?:\|.*\n)+', text, re.MULTILINE)[0]
    for row in table.splitlines()[2:]:
        group = prefix
        for name in re.findall('`([^`]+)`', row.split(' | ')[0]):
            full = prefix + name if '.' in name else group + name
            group = full.rpartition('.')[0] + '.'
            found.add(full)
    return found


def test_settings_in_tables_are_there(declared):
    corrections = tabled('doctor.md', 'under `robot.`')
    assert (corrections | tabled('robots.md', 'key')) - declared == set()
    assert {setting.name for setting in SENSORS} - corrections == set()
