# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The launch files, read by launch itself: who is started, with which names and topics."""
import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')
import yaml
from launch.actions import ExecuteLocal, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.utilities import perform_substitutions
from launch_ros.actions import Node

import launch
from legged_dynamics.resources import share_directory
from legged_dynamics.ros.middleware.arguments import RosArguments
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.nodes.effort_watchdog import EffortWatchdogNode
from legged_dynamics.ros.nodes.ground_reaction_estimator import GroundReactionNode
from legged_dynamics.ros.nodes.reaction_relay import ReactionRelay
from legged_dynamics.ros.nodes.simulated_robot import SimulatedRobotNode
from legged_dynamics.ros.nodes.workspace_controller import WorkspaceControllerNode

LAUNCH = share_directory() / 'launch'
OURS = {component.default_name: component for component in (
    EffortWatchdogNode, GroundReactionNode, ReactionRelay, SimulatedRobotNode,
    WorkspaceControllerNode)}
COMMANDS = '/effort_controller/commands'


class Started:
    """A process that a launch file would start, with what launch makes of it."""

    def __init__(self, action, context):
        self.executable = ''
        if not isinstance(action, Node):
            self.command = [perform_substitutions(context, word) for word in action.cmd]
            return
        action._perform_substitutions(context)
        self.package, self.executable = (
            text if isinstance(text, str) else perform_substitutions(context, text)
            for text in (action.node_package, action.node_executable))
        self.namespace = f'/{(action.expanded_node_namespace or "").strip("/")}'
        self.namespace = '/' if 'unspecified' in self.namespace else self.namespace
        self.remaps = list(action.expanded_remapping_rules or [])
        self.argv = ['--ros-args']
        given = action._Node__expanded_node_name
        if given and 'unspecified' not in given:
            self.argv += ['-r', f'__node:={given}']
        self.argv += ['-r', f'__ns:={self.namespace}']
        for source, target in self.remaps:
            self.argv += ['-r', f'{source}:={target}']
        self.files = [str(entry) for entry, is_file in
                      action._Node__expanded_parameter_arguments or [] if is_file]
        for file in self.files:
            self.argv += ['--params-file', file]
        self.words = [word if isinstance(word, str) else perform_substitutions(
            context, word if isinstance(word, list) else [word])
            for word in action._Node__arguments or []]

    def parameter(self, name):
        found = None
        for file in self.files:
            for section in yaml.safe_load(open(file)).values():
                found = section['ros__parameters'].get(name, found)
        return found


def started(name, **arguments):
    """Return what a launch file starts, by executable; timers and events are not waited for."""
    context = launch.LaunchContext()
    found = []

    def walk(entity):
        if isinstance(entity, ExecuteLocal):
            if entity.condition is None or entity.condition.evaluate(context):
                found.append(Started(entity, context))
            return
        for child in entity.visit(context) or []:
            walk(child)
    walk(IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH / f'{name}.launch.py')),
        launch_arguments=list(arguments.items())))
    return found


def one(found, executable):
    (entry,) = [entry for entry in found if entry.executable == executable]
    return entry


def topics(found):
    """Host our nodes as they would be started; return who publishes and who hears each topic."""
    bus, wires = LoopbackBus(), {}
    for entry in found:
        if entry.executable in OURS:
            component = OURS[entry.executable]
            node = bus.create_node(component.default_name, entry.argv)
            from legged_dynamics.ros.middleware.lifecycle import ComponentHost
            ComponentHost(component, node).start()
            for kind, ends in (('says', bus.publishers), ('hears', bus.subscriptions)):
                for end in ends:
                    if end in node._endpoints:
                        wires.setdefault(end.topic, {}).setdefault(kind, set()).add(
                            entry.executable)
    return wires


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Have ament find the package's command, as after an installation."""
    command = tmp_path / 'lib' / 'legged_dynamics' / 'legged-dynamics'
    marker = tmp_path / 'share/ament_index/resource_index/packages/legged_dynamics'
    for path in (command, marker):
        path.parent.mkdir(parents=True)
        path.touch(mode=0o755)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))


@pytest.mark.parametrize('path', sorted(LAUNCH.glob('*.launch.py')), ids=lambda p: p.stem)
def test_every_launch_file_can_be_started(path, installed):
    name = path.name.removesuffix('.launch.py')
    more = {'hardware': 'mock'} if name == 'bringup_real' else {}
    found = started(name, **({'bag': 'b'} if name == 'bringup_replay' else more))
    assert found
    for entry in found:
        if entry.executable in OURS:
            RosArguments.parse(entry.argv)


@pytest.mark.parametrize('hardware', ['mock', 'topic'])
def test_a_real_robot_is_one_chain_from_sensors_to_motors(hardware):
    found = started('bringup_real', hardware=hardware, controller='workspace_controller')
    assert [entry.executable for entry in found] == [
        'robot_state_publisher', 'ros2_control_node', 'spawner', 'ground_reaction_estimator',
        'effort_watchdog', 'workspace_controller']
    spawner, manager = one(found, 'spawner'), one(found, 'ros2_control_node')
    assert {'joint_state_broadcaster', 'effort_controller'} < set(spawner.words)
    assert ('imu_sensor_broadcaster' in spawner.words) == (hardware == 'mock')
    assert manager.files[0] in spawner.words and not any(
        '__node' in word for word in manager.argv)
    wires = topics(found)
    imu = '/imu_sensor_broadcaster/imu' if hardware == 'mock' else '/imu/data'
    assert wires[imu]['hears'] == {'ground_reaction_estimator', 'workspace_controller'}
    assert wires['/joint_states']['hears'] >= {'ground_reaction_estimator', 'effort_watchdog'}
    assert wires['/effort_watchdog/commands'] == {'says': {'workspace_controller'},
                                                  'hears': {'effort_watchdog'}}
    assert wires[COMMANDS] == {'says': {'effort_watchdog'}}
    description = one(found, 'robot_state_publisher').parameter('robot_description')
    assert '<ros2_control' in description
    controller = one(found, 'workspace_controller')
    assert controller.parameter('safety.controllers_file') == manager.files[0]


def test_a_robot_without_a_controller_is_not_commanded():
    assert {entry.executable for entry in started('bringup_real', hardware='mock')} == {
        'robot_state_publisher', 'ros2_control_node', 'spawner', 'ground_reaction_estimator'}


def test_the_urdf_of_a_real_robot_has_to_name_its_hardware():
    with pytest.raises(Exception, match='hardware:=mock'):
        started('bringup_real')


def test_a_simulated_robot_hears_the_watchdog():
    wires = topics(started('bringup_simulated', controller='workspace_controller'))
    assert wires[COMMANDS] == {'says': {'effort_watchdog'}, 'hears': {'simulated_robot'}}
    assert wires['/joint_states']['says'] == {'simulated_robot'}
    assert wires['/imu/data']['says'] == {'simulated_robot'}
    assert 'says' not in wires['/robot_description']    # robot_state_publisher's alone


def test_the_climber_is_brought_up_with_its_controller_and_no_other_estimator():
    found = started('bringup_simulated', robot='stickybot', controller='stickybot_controller')
    assert {entry.executable for entry in found} == {
        'robot_state_publisher', 'simulated_robot', 'effort_watchdog', 'stickybot_controller'}
    assert topics(found)[COMMANDS] == {'says': {'effort_watchdog'}, 'hears': {'simulated_robot'}}


def test_a_simulated_robot_behind_ros2_control_is_reached_through_it_alone():
    found = started('bringup_simulated', ros2_control='true', controller='workspace_controller')
    wires = topics(found)
    assert wires[COMMANDS] == {'says': {'effort_watchdog'}}
    assert wires['/hardware/joint_states'] == {'says': {'simulated_robot'}}
    assert wires['/hardware/joint_commands'] == {'hears': {'reaction_relay'}}
    assert wires['/hardware/effort_commands'] == {'says': {'reaction_relay'},
                                                  'hears': {'simulated_robot'}}
    assert 'says' not in wires['/joint_states']         # joint_state_broadcaster's
    description = one(found, 'robot_state_publisher').parameter('robot_description')
    assert '/hardware/joint_commands' in description


@pytest.mark.parametrize(('name', 'more'), [
    ('bringup_simulated', {}), ('bringup_simulated', {'ros2_control': 'true'}),
    ('bringup_real', {'hardware': 'topic'}), ('bringup_real', {'hardware': 'mock'})])
def test_two_robots_share_nothing_but_the_diagnostics(name, more):
    of = {space: started(name, namespace=space, controller='workspace_controller', **more)
          for space in ('left', 'right')}
    wires = {space: set(topics(found)) for space, found in of.items()}
    assert wires['left'] & wires['right'] == {'/diagnostics'}
    for space, found in of.items():
        assert all(entry.namespace == f'/{space}' for entry in found)
        assert ('/tf', 'tf') in one(found, 'robot_state_publisher').remaps
        if more.get('hardware') == 'topic' or 'ros2_control' in more:
            text = one(found, 'robot_state_publisher').parameter('robot_description')
            assert f'/{space}/hardware/joint_commands' in text


def test_a_replay_plays_sensors_only_in_the_time_of_the_bag():
    found = started('bringup_replay', bag='some/bag', namespace='lab', rate='2.0')
    (play,) = [entry.command for entry in found if not entry.executable]
    assert play[:4] == ['ros2', 'bag', 'play', 'some/bag'] and '--clock' in play
    assert play[play.index('--topics') + 1:play.index('--remap')] == ['/joint_states', '/imu/data']
    assert play[-2:] == ['/joint_states:=/lab/joint_states', '/imu/data:=/lab/imu/data']
    estimator = one(found, 'ground_reaction_estimator')
    assert estimator.parameter('use_sim_time') is True
    assert one(found, 'robot_state_publisher').parameter('use_sim_time') is True
    assert '/lab/joint_states' in topics(found)


@pytest.mark.parametrize(('controller', 'robot', 'shown'), [
    ('none', 'anymal_class', 'ground_reactions'), ('workspace_controller', 'anymal_class', 'body'),
    ('foot_force_controller', 'anymal_class', 'foot_forces'),
    ('stickybot_controller', 'stickybot', 'wall_reactions')])
def test_rviz_is_started_once_with_what_the_controller_shows(controller, robot, shown):
    found = started('bringup_simulated', rviz='true', controller=controller, robot=robot)
    (rviz,) = [entry for entry in found if entry.executable == 'rviz2']
    assert any(word.endswith(f'/{shown}.rviz') for word in rviz.words)
    assert [entry.executable for entry in found].count('robot_state_publisher') == 1
