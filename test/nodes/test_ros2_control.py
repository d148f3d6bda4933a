# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What ros2_control is told of a robot: read back, and held against robot, nodes and file."""
from xml.etree import ElementTree

import pytest
import yaml
from robots import CONFIG

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.ros.nodes.bringup import broadcasters, controllers_text, with_ros2_control
from legged_dynamics.ros.nodes.robot_component import COMMANDS
from legged_dynamics.safety.joint_watch import check_controllers

ROBOTS = ('anymal_class', 'solo_class', 'biped')


def read(robot):
    path, urdf = robot_files(robot)
    text = urdf.read_text()
    return RobotConfig.from_yaml(path), RobotModel.from_urdf(text), text


def element(text):
    (found,) = ElementTree.fromstring(text).findall('ros2_control')
    return found


def states(parent):
    return {state.get('name'): float(state.find('param').text)
            for state in parent.findall('state_interface')}


@pytest.mark.parametrize('hardware', ['mock', 'topic'])
@pytest.mark.parametrize('robot', ROBOTS)
def test_every_commanded_joint_takes_effort_and_says_where_it_is(robot, hardware):
    config, model, urdf = read(robot)
    made = element(with_ros2_control(urdf, config, hardware))
    joints = made.findall('joint')
    names = list(config.joints or model.joint_names)
    assert [joint.get('name') for joint in joints] == names
    for joint, position in zip(joints, config.nominal_position or [0.0] * len(names)):
        assert [c.get('name') for c in joint.findall('command_interface')] == ['effort']
        assert states(joint) == {'position': position, 'velocity': 0.0, 'effort': 0.0}


def test_the_robot_is_the_same_with_its_hardware_named():
    config, model, urdf = read('anymal_class')
    again = RobotModel.from_urdf(with_ros2_control(urdf, config, 'mock'))
    assert again.joint_names == model.joint_names
    assert again.total_mass == model.total_mass


def test_a_mock_imu_reads_what_one_at_rest_does_and_has_all_that_the_broadcaster_claims():
    config, _, urdf = read('anymal_class')
    (sensor,) = element(with_ros2_control(urdf, config, 'mock')).findall('sensor')
    found = states(sensor)
    assert len(found) == 10
    assert {name: value for name, value in found.items() if value} == {
        'orientation.w': 1.0, 'linear_acceleration.z': 9.81}
    assert 'imu_sensor_broadcaster' in broadcasters('mock')


def test_topic_based_hardware_is_in_the_robot_s_namespace_and_sends_every_command():
    config, _, urdf = read('solo_class')
    made = element(with_ros2_control(urdf, config, 'topic', '/left'))
    parameters = {p.get('name'): p.text for p in made.find('hardware').findall('param')}
    assert parameters == {'joint_states_topic': '/left/hardware/joint_states',
                          'joint_commands_topic': '/left/hardware/joint_commands',
                          'trigger_joint_command_threshold': '-1'}
    assert made.findall('sensor') == []
    assert broadcasters('topic') == ('joint_state_broadcaster',)


def test_the_hardware_of_the_urdf_itself_is_left_as_it_is_or_missed():
    config, _, urdf = read('solo_class')
    own = with_ros2_control(urdf, config, 'mock')
    assert with_ros2_control(own, config, 'own') == own
    assert len(ElementTree.fromstring(
        with_ros2_control(own, config, 'topic')).findall('ros2_control')) == 1
    with pytest.raises(ConfigurationError, match='hardware:=mock'):
        with_ros2_control(urdf, config, 'own')
    with pytest.raises(ConfigurationError, match='one of own, mock, topic'):
        with_ros2_control(urdf, config, 'fake')


@pytest.mark.parametrize('robot', ROBOTS)
def test_controllers_have_the_robot_s_joints_in_its_order(robot, tmp_path):
    config, model, _ = read(robot)
    path = tmp_path / 'controllers.yaml'
    path.write_text(controllers_text(config, model))
    joints = config.joints or model.joint_names
    check_controllers(path, joints)
    with pytest.raises(ConfigurationError, match='joint 1'):
        check_controllers(path, joints[::-1])
    found = yaml.safe_load(path.read_text())
    manager = found['/**/controller_manager']['ros__parameters']
    # whoever is spawned has a type, and commands arrive where our nodes send them
    spawned = {*broadcasters('mock'), COMMANDS.split('/')[0]}
    assert spawned == {name for name, value in manager.items() if isinstance(value, dict)}
    assert manager['update_rate'] >= 200


def test_the_shipped_file_is_what_is_made_for_its_robot():
    config, model, _ = read('anymal_class')
    shipped = yaml.safe_load((CONFIG / 'ros2_control' / 'effort_chain.yaml').read_text())
    assert yaml.safe_load(controllers_text(config, model)) == shipped
