# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
import pytest

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.parameters import (
    Parameter,
    StandaloneDialect,
    declare_settings,
    follow_settings,
)
from legged_dynamics.ros.middleware.protocol import QoSProfile
from legged_dynamics.schema import Setting

TABLE = (Setting('gain', 1.0, 'N/m', 'Stiffness.', 0.0, 10.0),
         Setting('joints', [], '', 'Names.'))


def test_values_follow_changes_at_run_time_within_their_range():
    node = LoopbackBus().create_node('node', parameters={'gain': 2.0})
    values = declare_settings(node, TABLE)
    follow_settings(node, TABLE, values)
    assert values == {'gain': 2.0, 'joints': []}
    assert node.set_parameters_atomically([Parameter('gain', 5.0)]).successful
    assert values['gain'] == 5.0
    refused = node.set_parameters_atomically([Parameter('gain', 50.0)])
    assert not refused.successful
    assert values['gain'] == 5.0
    assert node.set_parameters_atomically([Parameter('joints', ['a', 'b'])]).successful
    assert values['joints'] == ['a', 'b']


def test_what_is_read_at_configure_is_refused_while_configured():
    node, refused = LoopbackBus().create_node('node'), []
    values = declare_settings(node, TABLE)
    follow_settings(node, TABLE, values,
                    fixed=lambda name: f'{name} is fixed' if refused else '')
    assert node.set_parameters_atomically([Parameter('gain', 5.0)]).successful
    refused.append(True)
    answer = node.set_parameters_atomically([Parameter('gain', 6.0)])
    assert not answer.successful and answer.reason == 'gain is fixed' and values['gain'] == 5.0
    assert node.set_parameters_atomically([Parameter('gain', 5.0)]).successful   # changes nothing


def test_a_change_that_breaks_what_fitted_is_refused_and_one_towards_it_is_not():
    node = LoopbackBus().create_node('node', parameters={'gain': 9.0})
    values = declare_settings(node, TABLE)

    def fits(wanted):
        if (wanted['gain'] > 5.0) != bool(wanted['joints']):
            raise ConfigurationError('much gain needs joints')
    follow_settings(node, TABLE, values, fits)
    assert node.set_parameters_atomically([Parameter('gain', 8.0)]).successful      # still unfit
    assert node.set_parameters_atomically([Parameter('joints', ['a'])]).successful
    assert not node.set_parameters_atomically([Parameter('gain', 1.0)]).successful
    assert values == {'gain': 8.0, 'joints': ['a']}


@pytest.mark.parametrize(('policy', 'value', 'expected'), [
    ('reliability', 'best_effort', QoSProfile(7, False)), ('depth', 3, QoSProfile(3)),
    ('durability', 'transient_local', QoSProfile(7, latched=True)),
    ('history', 'keep_last', QoSProfile(7))])
def test_quality_of_service_is_overridden_as_in_ros2(policy, value, expected):
    node = LoopbackBus().create_node('node', namespace='/robot', parameters={
        f'qos_overrides./robot/imu.subscription.{policy}': value})
    string = StandaloneDialect().message('std_msgs/msg/String')
    assert node.create_subscription(string, 'imu', print, 7).qos == expected
    assert node.create_publisher(string, 'imu', 7).qos == QoSProfile(7)


@pytest.mark.parametrize(('policy', 'value'), [('reliability', 'maybe'), ('depth', 0),
                                               ('history', 'keep_all'), ('colour', 'red')])
def test_an_override_without_sense_is_told(policy, value):
    node = LoopbackBus().create_node('node', parameters={
        f'qos_overrides./imu.publisher.{policy}': value})
    with pytest.raises(ConfigurationError, match=f'{policy}.*expected|expected.*{policy}'):
        node.create_publisher(StandaloneDialect().message('std_msgs/msg/String'), 'imu', 7)
