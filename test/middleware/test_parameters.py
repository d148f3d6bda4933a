# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Declared parameters: types, ranges, overrides, changes at run time."""
import pytest

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.parameters import (
    Parameter,
    declare_settings,
    follow_settings,
)
from legged_dynamics.schema import Setting

GAIN = Setting('gain', 0.5, '', 'How strong.', 0.0, 1.0)


def node_with(**overrides):
    return LoopbackBus().create_node('node', parameters=overrides)


def test_default_and_override():
    node = node_with(gain=0.25, names=['a'])
    assert node.declare(GAIN) == node.get_parameter('gain').value == 0.25
    assert node.declare(Setting('other', 1.0, '', '')) == 1.0
    assert node.declare(Setting('names', [], '', '')) == ['a']
    assert node.declare(Setting('limits', [], 'N', '')) == []


def test_an_integer_is_taken_for_a_number_as_the_tools_take_it():
    node = node_with(gain=1, limits=[1, 2])
    assert type(node.declare(GAIN)) is float
    assert node.declare(Setting('limits', [], 'N', '')) == [1.0, 2.0]


@pytest.mark.parametrize(('default', 'override', 'fault'), [
    (1, 2.0, 'expected an integer, got 2.0'), (1.0, 'fast', 'expected a number'),
    (1.0, True, 'expected a number'), (True, 1, 'expected a boolean, got 1'),
    (['a'], 'a', 'expected a list'), ([1.0], ['a'], 'expected a number'),
    ('a', 3, 'expected a string, got 3'), (1.0, [], 'expected a number')])
def test_a_wrong_type_is_explained(default, override, fault):
    with pytest.raises(ConfigurationError, match=f'gain: {fault}.*How strong.*parameters'):
        node_with(gain=override).declare(Setting('gain', default, '', 'How strong.'))


@pytest.mark.parametrize(('bounds', 'value', 'fits'), [
    ((0.0, 1.0), 1.0, True), ((0.0, 1.0), 0.0, True), ((0.0, 1.0), 1.0000001, False),
    ((0.0, None), 1e300, True), ((None, 0.0), 1e-300, False), ((0.0, 1.0), float('nan'), False),
])
def test_ranges(bounds, value, fits):
    node, gain = node_with(gain=value), Setting('gain', 0.0, '', 'How strong.', *bounds)
    if fits:
        assert node.declare(gain) == value
    else:
        with pytest.raises(ConfigurationError, match='expected a value .* How strong'):
            node.declare(gain)


def test_a_default_out_of_range_is_an_error_too():
    with pytest.raises(ConfigurationError, match=r'got 5.0.*\(default\)'):
        node_with().declare(Setting('gain', 5.0, '', '', 0.0, 1.0))


def test_changes_at_run_time_are_all_or_none():
    node = node_with()
    values = declare_settings(node, (GAIN, Setting('rate', 1, '', '')))

    def accept(wanted):
        if wanted['gain'] > 0.9:
            raise ConfigurationError('too strong today')
    follow_settings(node, (GAIN, Setting('rate', 1, '', '')), values, accept)
    assert node.set_parameters_atomically([Parameter('gain', 0.75)]).successful
    for name, value, reason in (('gain', 0.95, 'too strong today'), ('gain', 2.0, 'from 0 to 1'),
                                ('gain', 'a', 'expected a number'), ('gian', 0.1, 'declared')):
        answer = node.set_parameters_atomically([Parameter('rate', 7), Parameter(name, value)])
        assert not answer.successful and reason in answer.reason
        assert values == {'gain': 0.75, 'rate': 1}


def test_overrides_that_nobody_declared_are_warned_of(tmp_path):
    path = tmp_path / 'all.yaml'
    path.write_text('/**:\n  ros__parameters: {robot.feet: [a]}\n'
                    'node:\n  ros__parameters: {gian: 1.0}\n')
    bus = LoopbackBus()
    node = bus.create_node('node', ['--ros-args', '--params-file', str(path)])
    node.declare(GAIN)
    node.warn_of_undeclared_parameters()
    texts = [record.message for record in bus.logs if record.level == 'warn']
    # what a file gives to all nodes is not this node's fault
    assert len(texts) == 1
    assert f"'gian' from {path} is not one of this node" in texts[0]
    assert "Did you mean 'gain'" in texts[0]
    # what is said on the command line was meant for this node
    slip = bus.create_node('other', ['--ros-args', '-p', 'rtae:=3'])
    slip.declare(Setting('rate', 1, '', ''))
    with pytest.raises(ConfigurationError, match="no parameter 'rtae'. Did you mean 'rate'"):
        slip.warn_of_undeclared_parameters()


SETTINGS = (
    Setting('filter.cutoff', 60.0, 'Hz', 'Cut-off.', 1.0, 500.0),
    Setting('filter.limits', [], 'N', 'Limits.', 0.0, None),
    Setting('robot.feet', [], '', 'Feet.'),
    Setting('robot.foot_type', 'point', '', 'Kind.', choices=('point', 'flat')),
)


def test_a_table_of_settings_becomes_parameters():
    node = node_with(**{'filter.limits': [1.0, 2.0]})
    assert declare_settings(node, SETTINGS) == {
        'filter.cutoff': 60.0, 'filter.limits': [1.0, 2.0], 'robot.feet': [],
        'robot.foot_type': 'point'}


@pytest.mark.parametrize(('name', 'value', 'fault'), [
    ('filter.cutoff', 0.5, 'from 1 to 500'),
    ('filter.limits', [-1.0], 'at least 0 N'),
    ('robot.feet', [1.0], 'expected a string'),
    ('robot.foot_type', 'round', 'expected one of point, flat'),
])
def test_settings_are_checked(name, value, fault):
    with pytest.raises(ConfigurationError, match=fault):
        declare_settings(node_with(**{name: value}), SETTINGS)
