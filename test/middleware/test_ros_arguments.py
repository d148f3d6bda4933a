# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ROS 2's command line, parameter files and names."""
import math

import pytest

from legged_dynamics.exceptions import ConfigurationError, MiddlewareError
from legged_dynamics.parameter_file import parse_value
from legged_dynamics.ros.middleware import arguments as names
from legged_dynamics.ros.middleware.arguments import Remap, RosArguments


def values(argv, node='/robot/estimator'):
    found = RosArguments.parse(argv).overrides_for(node)
    return {name: override.value for name, override in found.items()}


def from_file(tmp_path, text, node='/robot/estimator'):
    path = tmp_path / 'params.yaml'
    path.write_text(text)
    return values(['--ros-args', '--params-file', str(path)], node)


@pytest.mark.parametrize(('text', 'value'), [
    ('5', 5), ('-3', -3), ('0x1F', 31), ('010', 8), ('5.0', 5.0), ('1e-4', 1e-4), ('.5', 0.5),
    ('1.', 1.0), ('-.inf', -math.inf), ('true', True), ('Yes', True), ('off', False),
    ('"5"', '5'), ("'true'", 'true'), ('!!str 5', '5'), ('base_link', 'base_link'),
    ('1_000', '1_000'), ('2026-01-01', '2026-01-01'), ('null', 'null'), ('12:30', '12:30'),
    ('[1, 2]', [1, 2]), ('[1.0, 2.5]', [1.0, 2.5]), ('[a, b]', ['a', 'b']), ('[]', []),
    ('[true, no]', [True, False]), ("['1', b]", ['1', 'b']),
])
def test_values_are_typed_as_ros_types_them(text, value):
    read = parse_value(text, 'test')
    assert read == value
    assert type(read) is type(value)
    assert parse_value('.nan', 'test') != parse_value('.nan', 'test')


@pytest.mark.parametrize(('text', 'fault'), [
    ('[1, 2.0]', r'values of one type, got double and integer: write .*\[1.0, 2.0\]'),
    ('[a, 1]', 'got integer and string'),
    ('[true, 1]', 'got boolean and integer'),
    ('[[1], [2]]', 'no nested lists'),
    ('{a: 1}', 'got a mapping'),
    ('', 'got nothing'),
    ('~:', 'got nothing'),
    ('[1', 'not valid YAML'),
])
def test_wrong_values_are_explained(text, fault):
    with pytest.raises(ConfigurationError, match=fault):
        parse_value(text, '-p gain')


@pytest.mark.parametrize(('selector', 'fits'), [
    ('/**', True), ('/robot/estimator', True), ('robot/estimator', True), ('/*/estimator', True),
    ('/**/estimator', True), ('/robot/*', True), ('/robot/**', True), ('estimator', False),
    ('/*', False), ('/other/estimator', False), ('/robot', False), ('/**/est', False),
])
def test_which_nodes_a_section_is_for(tmp_path, selector, fits):
    found = from_file(tmp_path, f'{selector}:\n  ros__parameters:\n    gain: 1.5\n')
    assert found == ({'gain': 1.5} if fits else {})


def test_nested_names_and_namespaces(tmp_path):
    text = """
/**:
  ros__parameters:
    noise: {position: 1e-4, bias: {gyro: 0.1}}
    gain: 1.0
robot:
  estimator:
    ros__parameters:
      gain: 2.0
  other:
    ros__parameters:
      gain: 3.0
"""
    assert from_file(tmp_path, text) == {
        'noise.position': 1e-4, 'noise.bias.gyro': 0.1, 'gain': 2.0}
    assert from_file(tmp_path, text, '/estimator')['gain'] == 1.0


@pytest.mark.parametrize('text', ['- 1', 'gain: 1.0', '/**:\n  gain: 1.0', '/**: 3', ''])
def test_a_file_of_another_form_is_refused(tmp_path, text):
    with pytest.raises(ConfigurationError, match='ros__parameters'):
        from_file(tmp_path, text)


def test_unreadable_files_are_named(tmp_path):
    with pytest.raises(ConfigurationError, match='missing.yaml'):
        values(['--ros-args', '--params-file', str(tmp_path / 'missing.yaml')])
    with pytest.raises(ConfigurationError, match='not valid YAML'):
        from_file(tmp_path, 'a: [1')
    with pytest.raises(ConfigurationError, match=r'line 3: .*one type'):
        from_file(tmp_path, '/**:\n  ros__parameters:\n    limits: [1, 2.5]\n')


def test_the_later_argument_wins(tmp_path):
    path = tmp_path / 'params.yaml'
    path.write_text('estimator:\n  ros__parameters: {gain: 2.0}\n')
    file = ['--params-file', str(path)]
    one = ['-p', 'gain:=1.0']
    assert values(['--ros-args', *file, *one], '/estimator') == {'gain': 1.0}
    assert values(['--ros-args', *one, *file], '/estimator') == {'gain': 2.0}
    assert values(['--ros-args', *one, '-p', 'other:gain:=9.0'], '/estimator') == {'gain': 1.0}


def test_ros_arguments_end_where_they_end():
    read = RosArguments.parse(['a', '--ros-args', '-p', 'x:=1', '--log-level', 'DEBUG', '-r',
                               'b:=c', '--disable-rosout-logs', '--', '--ours', '-p',
                               '--ros-args', '-r', 'n:__ns:=deep/er'])
    assert read.others == ('a', '--ours', '-p')
    assert read.log_level == 'debug'
    assert read.remaps == (Remap('b', 'c'), Remap('__ns', '/deep/er', 'n'))


@pytest.mark.parametrize(('argv', 'fault'), [
    (['-p', 'gain'], 'expected -p name:=value'), (['-p', 'gain:='], 'expected -p name:=value'),
    (['-p'], '-p needs an argument'), (['--parm', 'x'], "unknown ROS argument '--parm'"),
    (['-r', ':=x'], 'expected -r'), (['--log-level', 'loud'], 'expected a log level'),
])
def test_malformed_arguments_are_explained(argv, fault):
    with pytest.raises(ConfigurationError, match=fault):
        RosArguments.parse(['--ros-args', *argv])


@pytest.mark.parametrize(('topic', 'full'), [
    ('joint_states', '/robot/joint_states'), ('imu/data', '/robot/imu/data'),
    ('~/wrench', '/robot/est/wrench'), ('/tf', '/tf'),
])
def test_topic_names_are_expanded(topic, full):
    assert names.expand(topic, 'est', '/robot') == full
    assert names.expand('x', 'est', '/') == '/x'


@pytest.mark.parametrize('topic', ['', '~', '/', 'a//b', 'a/', '2a', 'a b', 'a-b', '~a/b~',
                                   'a/~/b'])
def test_malformed_topics_are_refused(topic):
    with pytest.raises(MiddlewareError, match='expected a topic name'):
        names.expand(topic, 'est', '/')


@pytest.mark.parametrize(('rule', 'full'), [
    (Remap('joint_states', 'js'), '/robot/js'),
    (Remap('joint_states', '/js'), '/js'),
    (Remap('/robot/joint_states', '~/js'), '/robot/est/js'),
    (Remap('/joint_states', 'js'), '/robot/joint_states'),
    (Remap('joint_states', 'js', 'est'), '/robot/js'),
    (Remap('joint_states', 'js', 'other'), '/robot/joint_states'),
])
def test_remapping(rule, full):
    rules = [rule, Remap('joint_states', 'second')] if full == '/robot/js' else [rule]
    assert names.resolve('joint_states', 'est', '/robot', rules) == full


def test_a_node_can_be_renamed():
    rules = [Remap('__node', 'est2', 'est'), Remap('__ns', '/lab')]
    assert names.remapped_identity('est', '/', rules) == ('est2', '/lab')
    assert names.remapped_identity('sim', '/', rules) == ('sim', '/lab')
    with pytest.raises(MiddlewareError, match='expected a node name'):
        names.remapped_identity('est', '/', [Remap('__name', '2b')])
    with pytest.raises(MiddlewareError, match='expected a namespace'):
        names.remapped_identity('est', '/a//b', [])
