# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
import pytest
import yaml
from robots import CONFIG, TWO_LEGS

from legged_dynamics.exceptions import ConfigurationError, UnknownNameError
from legged_dynamics.model import FlatFoot, PointFoot, RobotConfig, RobotModel
from legged_dynamics.resources import robot_files

FEET = {'robot.feet': ['l_foot', 'r_foot'], 'robot.foot_radius': 0.02, 'robot.imu_link': 'imu'}


def test_point_and_flat_feet():
    assert RobotConfig.from_parameters(FEET).feet == (PointFoot('l_foot', 0.02),
                                                      PointFoot('r_foot', 0.02))
    flat = RobotConfig.from_parameters({**FEET, 'robot.foot_type': 'flat',
                                        'robot.sole': [0.2, -0.1, 0.05, -0.04]})
    assert flat.feet[0] == FlatFoot('l_foot', 0.2, -0.1, 0.05, -0.04)


@pytest.mark.parametrize(('key', 'value', 'message'), [
    ('robot.fet', [], r'robot.fet is not a setting. Did you mean robot.feet\?'),
    ('robot.foot_type', 'round',
     "foot_type: expected one of point, line, flat, cylinder, got 'round'"),
    ('robot.foot_radius', -1.0, 'robot.foot_radius: expected a value from 0 to 1 m, got -1.0'),
    ('robot.feet', ['l_foot', 'l_foot'], 'expected each foot once'),
    ('robot.armature', [0.1, 0.2], r'robot.armature: expected 0 or 1 values'),
    ('noise.effort', 'much', "noise.effort: expected a number, got 'much'"),
])
def test_wrong_settings_are_refused_with_what_was_expected(key, value, message):
    with pytest.raises(ConfigurationError, match=message):
        RobotConfig.from_parameters({**FEET, key: value})


def test_unknown_foot_lists_the_links():
    config = RobotConfig.from_parameters({**FEET, 'robot.feet': ['left_foot']})
    with pytest.raises(UnknownNameError, match="Did you mean 'l_foot'"):
        config.apply_to(RobotModel.from_urdf(TWO_LEGS))


def test_an_imu_may_be_on_any_link_for_those_who_can_use_it():
    config = RobotConfig.from_parameters({**FEET, 'robot.imu_link': 'l_shank'})
    model = config.apply_to(RobotModel.from_urdf(TWO_LEGS))
    with pytest.raises(ConfigurationError, match='robot.imu_link: odometry expects an IMU fixed'):
        config.require_fixed_imu(model, 'odometry')


def test_an_imu_sits_on_the_base_link_unless_a_link_is_stated():
    model = RobotModel.from_urdf(TWO_LEGS)
    for stated, link in (({'robot.imu_link': 'l_shank'}, 'l_shank'),
                         ({'robot.base_link': 'imu'}, 'imu'), ({}, 'base')):
        assert RobotConfig.from_parameters(stated).imu_link_in(model) == link


@pytest.mark.parametrize('path', sorted((CONFIG / 'robots').glob('*_class.yaml')),
                         ids=lambda p: p.stem)
def test_shipped_robots_fit_their_urdf(path):
    config = RobotConfig.from_yaml(path)
    model = config.apply_to(RobotModel.from_urdf(path.with_suffix('.urdf')))
    assert len(config.feet) == 4
    assert model.warnings == ()
    assert all(joint.armature > 0.0 for joint in model.joints)


def test_a_file_that_is_not_a_parameter_file(tmp_path):
    path = tmp_path / 'robot.yaml'
    path.write_text('robot: {feet: []}\n')
    with pytest.raises(ConfigurationError, match='line 1: expected "ros__parameters:" below'):
        RobotConfig.from_yaml(path)
    path.write_text('[1, 2')
    with pytest.raises(ConfigurationError, match='is not valid YAML'):
        RobotConfig.from_yaml(path)
    path.write_text('/**: {parameters: {}}')
    with pytest.raises(ConfigurationError, match='then "ros__parameters:" below it'):
        RobotConfig.from_yaml(path)


@pytest.mark.parametrize(('key', 'value'), [
    ('imu_link', 'imu'), ('base_link', 'trunk_'), ('feet', ['sole_']), ('joints', ['knee_']),
    ('passive_joints', ['knee_']), ('absent_joints', ['knee_'])])
def test_a_name_that_the_model_lacks_is_said_with_key_and_file(tmp_path, key, value):
    path = tmp_path / 'mine.yaml'
    path.write_text(yaml.safe_dump({'/**': {'ros__parameters': {'robot': {key: value}}}}))
    model = RobotModel.from_urdf(robot_files('anymal_class')[1])
    with pytest.raises(UnknownNameError) as refused:
        RobotConfig.from_yaml(path).apply_to(model)
    name = value if isinstance(value, str) else value[0]
    assert str(refused.value).startswith(f'{path}: robot.{key}: expected ')
    assert refused.value.name == name and repr(name) in str(refused.value)
    assert str(refused.value).count(f'robot.{key}') == 1
