# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Declared parameters: types, ranges, overrides, changes at run time."""
import pytest

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.parameters import (
    Parameter,
    StandaloneDialect,
    declare_settings,
)
from legged_dynamics.schema import Setting

DIALECT = StandaloneDialect()
TYPES = DIALECT.parameter_type


def node_with(**overrides):
    return LoopbackBus().create_node('node', parameters=overrides)


def descriptor(**options):
    return DIALECT.parameter_descriptor('How strong.', **options)


def test_default_and_override():
    node = node_with(gain=2.5, names=['a'])
    assert node.declare_parameter('gain', 1.0).value == 2.5
    assert node.declare_parameter('other', 1.0).value == 1.0
    assert node.get_parameter('gain').value == 2.5
    assert node.declare_parameter('names', TYPES.STRING_ARRAY).value == ['a']
    assert node.declare_parameter('limits', TYPES.DOUBLE_ARRAY).value is None
    assert node.has_parameter('limits')
    assert not node.has_parameter('absent')


@pytest.mark.parametrize(('default', 'override', 'fault'), [
    (1.0, 2, r'expected double, got integer 2 \(write a decimal point: 5.0\). How strong.'),
    (1, 2.0, 'expected integer, got double 2.0'),
    (1.0, 'fast', "expected double, got string 'fast'"),
    (1.0, True, 'expected double, got bool True'),
    (True, 1, 'expected bool, got integer 1'),
    ([1.0], [1, 2], r'expected double array, got integer array \[1, 2\] \(write'),
    (['a'], 'a', 'expected string array, got string'),
    (TYPES.DOUBLE_ARRAY, ['a'], 'expected double array, got string array'),
    (TYPES.STRING, 3, 'expected string, got integer 3'),
    (1.0, [], 'a non-empty list'),
])
def test_a_wrong_type_is_explained(default, override, fault):
    with pytest.raises(ConfigurationError, match=fault):
        node_with(gain=override).declare_parameter('gain', default, descriptor())


@pytest.mark.parametrize(('bounds', 'value', 'fits'), [
    ((0.0, 1.0), 1.0, True), ((0.0, 1.0), 0.0, True), ((0.0, 1.0), 1.0000001, False),
    ((0.0, None), 1e300, True), ((None, 0.0), 1e-300, False), ((0.0, 1.0), float('nan'), False),
])
def test_ranges(bounds, value, fits):
    node = node_with(gain=value)
    if fits:
        assert node.declare_parameter('gain', 0.5, descriptor(range=bounds)).value == value
    else:
        with pytest.raises(ConfigurationError, match='expected a value from .* How strong'):
            node.declare_parameter('gain', 0.5, descriptor(range=bounds))
        assert not node.has_parameter('gain')


def test_a_default_out_of_range_is_an_error_too():
    with pytest.raises(ConfigurationError, match=r'got 5.0.*\(default\)'):
        node_with().declare_parameter('gain', 5.0, descriptor(range=(0.0, 1.0)))


def test_declaring_twice_and_asking_for_the_undeclared():
    node = node_with()
    node.declare_parameter('gain', 1.0)
    with pytest.raises(ConfigurationError, match='declared already'):
        node.declare_parameter('gain', 1.0)
    with pytest.raises(ConfigurationError, match="'gian' is not declared. Did you mean 'gain'"):
        node.get_parameter('gian')


def test_changes_at_run_time_are_checked():
    node = node_with()
    node.declare_parameter('gain', 0.5, descriptor(range=(0.0, 1.0)))
    node.declare_parameter('fixed', 0.5, descriptor(read_only=True))
    asked = []

    def accept_below_nine_tenths(parameters):
        asked.append([(p.name, p.value) for p in parameters])
        fits = all(p.value < 0.9 for p in parameters)
        return DIALECT.set_parameters_result(fits, '' if fits else 'too strong today')

    node.add_on_set_parameters_callback(accept_below_nine_tenths)
    assert node.set_parameters_atomically([Parameter('gain', 0.75)]).successful
    assert node.get_parameter('gain').value == 0.75
    for name, value, reason in (('gain', 0.95, 'too strong today'), ('gain', 2.0, 'from 0 to 1'),
                                ('gain', 1, 'expected double'), ('fixed', 0.1, 'read-only'),
                                ('gian', 0.1, 'not declared')):
        answer = node.set_parameters_atomically([Parameter('gain', 0.1), Parameter(name, value)])
        assert not answer.successful
        assert reason in answer.reason
        assert node.get_parameter('gain').value == 0.75
    assert asked == [[('gain', 0.75)], [('gain', 0.1), ('gain', 0.95)]]


def test_overrides_that_nobody_declared_are_warned_of(tmp_path):
    path = tmp_path / 'all.yaml'
    path.write_text('/**:\n  ros__parameters: {robot.feet: [a]}\n'
                    'node:\n  ros__parameters: {gian: 1.0}\n')
    bus = LoopbackBus()
    node = bus.create_node('node', ['--ros-args', '--params-file', str(path)])
    node.declare_parameter('gain', 1.0)
    node.declare_parameter('rate', 1)
    node.warn_of_undeclared_parameters()
    texts = [record.message for record in bus.logs if record.level == 'warn']
    # what a file gives to all nodes is not this node's fault
    assert len(texts) == 1
    assert f"'gian' from {path} is not one of this node" in texts[0]
    assert "Did you mean 'gain'" in texts[0]
    # what is said on the command line was meant for this node
    slip = bus.create_node('other', ['--ros-args', '-p', 'rtae:=3'])
    slip.declare_parameter('rate', 1)
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
    assert declare_settings(node, DIALECT, SETTINGS) == {
        'filter.cutoff': 60.0, 'filter.limits': [1.0, 2.0], 'robot.feet': [],
        'robot.foot_type': 'point'}


@pytest.mark.parametrize(('name', 'value', 'fault'), [
    ('filter.cutoff', 0.5, 'from 1 to 500'),
    ('filter.limits', [-1.0], 'from 0 to inf'),
    ('robot.feet', [1.0], 'expected string array'),
    ('robot.foot_type', 'round', 'expected one of point, flat'),
])
def test_settings_are_checked(name, value, fault):
    with pytest.raises(ConfigurationError, match=fault):
        declare_settings(node_with(**{name: value}), DIALECT, SETTINGS)
