# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parameter files: what is wrong is told with its line, and nothing is passed over."""
import os
import pkgutil
from importlib import import_module

import numpy as np
import pytest
from robots import TWO_LEGS

import legged_dynamics
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import FlatFoot, PointFoot, RobotConfig, RobotModel
from legged_dynamics.parameter_file import read_parameters, written_file, written_line
from legged_dynamics.schema import (
    CheckedSettings,
    Setting,
    checked,
    declared,
    read_parameter_file,
)

HEAD = '/**:\n  ros__parameters:\n    robot:\n      feet: [l_foot, r_foot]\n'


def read(tmp_path, text):
    path = tmp_path / 'robot.yaml'
    path.write_text(text)
    return RobotConfig.from_yaml(path)


@pytest.mark.parametrize(('text', 'said'), [
    (HEAD + '      imu_lnk: imu\n', r'robot.yaml, line 5: robot.imu_lnk is not a setting. Did you '
     r'mean robot.imu_link\?'),
    (HEAD + '    divison:\n      method: cones\n', 'line 6: divison.method is not a setting: '
     r"there is no group 'divison' of settings. Did you mean division\?"),
    (HEAD + '    nois.effort: 1.0\n', r'line 5: nois.effort .*Did you mean noise.effort\?'),
    (HEAD + '    imu_timout: 1.0\n', r'line 5: imu_timout is not .*Did you mean imu_timeout\?'),
    (HEAD + '      foot_radius: big\n', "line 5: robot.foot_radius: expected a number, got 'big'"),
    (HEAD + '      foot_radius: .nan\n', 'line 5: robot.foot_radius: expected a value from 0 to'),
    (HEAD + '      armature: [.inf]\n', 'line 5: robot.armature: expected a value at least 0'),
    (HEAD + f'      foot_radius: {"9" * 400}\n', 'line 5: robot.foot_radius: expected an integer '
     'of 64 bits'),
    (HEAD + '      foot_radius: 2026-01-01\n', "expected a number, got '2026-01-01'"),
    (HEAD + '      joints: [a, 1]\n', 'line 5: robot.joints: a list must hold values of one type'),
    (HEAD + '      armature: [0, 0.5, 1e-5]\n', r'line 5: robot.armature: .* double and integer: '
     r'write armature: \[0.0, 0.5, 1.0e-05\]'),
    (HEAD + '      joints: [1, 2]\n', 'line 5: robot.joints: expected a string, got 1'),
    (HEAD + '      joints: [[a]]\n', 'line 5: robot.joints: a list may hold plain values only'),
    (HEAD + '      joints: &a [*a]\n', 'line 5: robot.joints: anchors and aliases'),
    (HEAD + '      joints: &a\n        more: *a\n', 'line 5: robot.joints: anchors and aliases'),
    (HEAD + '      joints: !!python/name:os.system a\n', 'expected a plain value'),
    (HEAD + '      feet: [a]\n', "line 5: robot: 'feet' stands here twice.*in line 4"),
    (HEAD + '      joints:\n', 'line 5: robot.joints: expected a value, got nothing'),
    (HEAD + '---\na: b\n', 'expected one document'),
    (HEAD + '      joints: ' + '[' * 900, 'a list may hold plain values only'),
    # From 1000 levels on PyYAML 6.0.4 refuses them itself.
    (HEAD + '      joints: ' + '[' * 5000, 'line 5.* a list may hold plain values only'
     '|not valid YAML: .* exceeded maximum nesting depth .*line 5'),
    (HEAD + ''.join(f'{" " * k}k{k}:\n' for k in range(6, 40)), 'expected at most 20 levels'),
    ('my_node:\n  ros__parameters:\n    robot.feet: [a]\n', 'has parameters for my_node only, '
     'and what is read here stands below "/..:"'),
    ('robot:\n  feet: [a]\n', 'expected "ros__parameters:" below'),
    ('', 'expected "/..:" or a node name on top'),
    ('[a]', 'line 1: expected "/..:" or a node name on top'),
    ('\0', 'is not valid YAML'),
], ids=lambda value: value[-20:].strip().replace('\n', ' '))
def test_what_is_wrong_is_told_with_its_line(tmp_path, text, said):
    with pytest.raises(ConfigurationError, match=said):
        read(tmp_path, text)


def test_files_that_are_none(tmp_path):
    os.mkfifo(tmp_path / 'pipe.yaml')
    with (tmp_path / 'large.yaml').open('wb') as file:
        file.truncate(2_000_000)
    (tmp_path / 'binary.yaml').write_bytes(b'\xff\xfe\xff')
    for name, said in (('pipe', 'expected a file, got'), ('large', 'expected at most 1 MB'),
                       ('binary', 'cannot read'), ('none', 'cannot read')):
        with pytest.raises(ConfigurationError, match=said):
            read_parameter_file(tmp_path / f'{name}.yaml')


def test_numbers_as_ros_reads_them_and_a_node_in_any_namespace(tmp_path):
    path = tmp_path / 'a.yaml'
    path.write_text('/**:\n  ros__parameters: {rate: 1e-4, seed: 010}\n'
                    '/robot/walker:\n  ros__parameters: {rate: 2.0}\n')
    assert read_parameter_file(path) == {'rate': 1e-4, 'seed': 8}
    found = read_parameter_file(path, 'walker')
    assert found == {'rate': 2.0, 'seed': 8}
    assert found.places == {'rate': f'{path}, line 4', 'seed': f'{path}, line 2'}


def test_all_declarations_of_settings_are_found_in_the_text_of_the_modules():
    groups, names = set(), set()
    for module in pkgutil.walk_packages(legged_dynamics.__path__, 'legged_dynamics.'):
        if module.name.endswith('__main__') or '.middleware.ros2' in module.name:   # needs rclpy
            continue
        for value in vars(import_module(module.name)).values():
            kind = isinstance(value, type) and issubclass(value, CheckedSettings)
            if kind and value is not CheckedSettings:
                value = value.table()
            for setting in value if isinstance(value, tuple) else (value,):
                if isinstance(setting, Setting):
                    group, dot, _ = setting.name.partition('.')
                    (groups if dot else names).add(group)
    found_groups, found_names = declared()
    assert found_groups >= groups | {'qos_overrides'}
    assert found_names >= names | {'use_sim_time', 'autostart', 'start_type_description_service'}


@pytest.mark.parametrize('value', [10 ** 400, -10 ** 400, True, None, {}, [[]], float('nan'),
                                   b'a'])
def test_values_from_code_are_refused_by_name(value):
    with pytest.raises(ConfigurationError, match=r'robot.foot_radius: expected|noise.effort'):
        checked({'robot.foot_radius': value}, (Setting('robot.foot_radius', 0.0, 'm', 'Radius.'),))
    with pytest.raises(ConfigurationError):
        checked({7: value}, (Setting('robot.foot_radius', 0.0, 'm', 'Radius.'),))


# ---- what the robot's YAML can say ---------------------------------------------------------


MODEL = RobotModel.from_urdf(TWO_LEGS)


def test_feet_of_mixed_kinds_with_frames_of_their_own(tmp_path):
    config = read(tmp_path, HEAD.replace('[l_foot, r_foot]', '[l_foot, r_sole]') + """
      foot_types: [point, flat]
      foot_radii: [0.02, 0.0]
      soles: [0.0, 0.0, 0.0, 0.0, 0.1, -0.05, 0.03, -0.03]
      foot_parents: [l_foot, r_shank]
      foot_frames: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.01, 0.0, -0.25, 0.0, 0.1, 0.0]
""")
    assert config.feet == (PointFoot('l_foot', 0.02), FlatFoot('r_sole', 0.1, -0.05, 0.03, -0.03))
    model = config.apply_to(MODEL)
    assert model.frame('r_sole').body == model.frame('r_shank').body
    offset = (model.frame('r_shank').pose.inverse() @ model.frame('r_sole').pose)
    assert offset.p.tolist() == pytest.approx([0.01, 0.0, -0.25])
    assert 'r_sole' not in MODEL.frames


@pytest.mark.parametrize(('lines', 'said'), [
    ('foot_types: [point]', 'robot.foot_types: expected 2 values'),
    ('foot_types: [point, round]', 'robot.foot_types: expected one of point, line, flat'),
    ('soles: [0.1, -0.1]', 'robot.soles: expected 8 values, 4 each'),
    ('foot_parents: [base, base]', 'foot_parents and robot.foot_frames: expected both'),
    ('absent_positions: [1.0]', 'robot.absent_positions: expected 0 values'),
    ('joints: [l_knee, l_knee]', 'robot.joints: expected each joint once'),
])
def test_lists_that_do_not_fit(tmp_path, lines, said):
    with pytest.raises(ConfigurationError, match=said):
        read(tmp_path, f'{HEAD}      {lines}\n')


def test_noise_per_joint_and_in_percent_of_the_limit(tmp_path):
    text = TWO_LEGS.replace('<axis xyz="0 1 0"/><dynamics', '<axis xyz="0 1 0"/><limit effort="20"'
                            ' velocity="1"/><dynamics')
    model = RobotModel.from_urdf(text)
    names = ', '.join(model.joint_names[::-1])
    config = read(tmp_path, f"""{HEAD}
      joints: [{names}]
    noise:
      effort: 0.3
      effort_percent: 1.0
      joint_velocity: [0.06, 0.05, 0.04, 0.03, 0.02, 0.01]
""")
    effort = config.noise.of_joints('effort', model, config.joints)
    assert effort[:3] == pytest.approx([(0.09 + (0.01 * limit) ** 2) ** 0.5
                                        for limit in (30, 20, 40)])
    assert config.noise.of_joints('velocity', model, config.joints).tolist() == [
        0.01, 0.02, 0.03, 0.04, 0.05, 0.06]
    assert config.noise.of_joints('position', model).tolist() == [1e-4] * 6
    with pytest.raises(ConfigurationError, match="'l_hip_y' has none in the URDF"):
        config.noise.of_joints('effort', MODEL, config.joints)


def test_joints_far_from_feet_may_be_absent():
    config = RobotConfig.from_parameters({'robot.feet': ['l_foot'], 'robot.imu_link': 'imu',
                                          'robot.absent_joints': ['r_knee'],
                                          'robot.absent_positions': [-0.4]})
    model = config.apply_to(MODEL)
    assert config.spare(model) == {'r_hip_x': 0.0, 'r_hip_y': 0.0, 'r_knee': -0.4}
    assert config.nominal_in(model).tolist() == [0, 0, 0, 0, 0, -0.4]
    wrong = RobotConfig.from_parameters({'robot.feet': ['l_foot'],
                                         'robot.absent_joints': ['l_knee']})
    with pytest.raises(ConfigurationError, match="'l_knee' carries the foot 'l_foot'"):
        wrong.apply_to(MODEL)


def test_a_list_of_strings_as_launch_writes_it(tmp_path):
    path = tmp_path / 'launched.yaml'
    path.write_text('/**:\n  ros__parameters:\n    names: !!python/tuple\n    - a\n    - b\n')
    assert [found.value for found in read_parameters(path)] == [['a', 'b']]


# ---- what is written is read -----------------------------------------------------------------


WORDS = ['knee', 'y', 'NO', 'null', '~', '1e5', '010', '.inf', '-1', '', 'a b', 'a: b', '[a]', '#',
         '&a', '/imu/data', "it's", 'a"b', 'é', '\u2028', '\U0001f600', '2026-01-01', 'a,b']
VALUES = [0.0, -0.0, 1.0, 1e-05, 1e-300, 123456789.0, 1e22, -1e30, 0.1 + 0.2, float('inf'), 0, -3,
          2 ** 63 - 1, True, False, [0.297, 0.0, 0.017], [1, 2], [True], [], np.float64(2.0),
          np.array([0.0, 5e-7]), (1.0, 2.0), WORDS, *WORDS, [float(k) for k in range(300)]]


@pytest.mark.parametrize('value', VALUES, ids=lambda value: str(value)[:20].encode().hex())
def test_a_value_that_is_written_is_read_with_its_type(tmp_path, value):
    path = tmp_path / 'a.yaml'
    path.write_text(f'{written_file({"group.deep.name": value, "other": 1.0})}    '
                    f'{written_line("dotted.name", value)}\n')
    wanted = value.tolist() if hasattr(value, 'tolist') else value
    wanted = list(wanted) if isinstance(wanted, tuple) else wanted
    found = read_parameter_file(path)
    assert max(map(len, path.read_text().splitlines()[:-1])) <= 99 or wanted == WORDS
    for name in ('group.deep.name', 'dotted.name'):
        assert found[name] == wanted
        first = [one[0] if isinstance(one, list) and one else one for one in (found[name], wanted)]
        assert type(first[0]) is type(first[1])
