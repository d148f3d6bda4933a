# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verbs info and new-robot: a YAML of the package only for a robot of its name."""
import pytest
import stated_robots as stated

from legged_dynamics import cli


def described(folder, robot, name):
    path = folder / 'it.urdf'
    path.write_text(stated.described(robot).replace('name="made_up"', f'name="{name}"', 1))
    return path


@pytest.mark.parametrize('robot', ['go1', 'h1_2'])
def test_another_robot_with_the_same_links_gets_no_yaml_of_the_package(robot, tmp_path, capsys):
    other = described(tmp_path, robot, 'cousin')
    assert cli.main(['info', str(other)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == 'Robot YAML: none of the package is of this name'
    assert not any(line.startswith('Feet (') for line in lines)
    own = described(tmp_path, robot, f'{robot}_description')
    assert cli.main(['info', str(own)]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith(f'{robot}.yaml')


@pytest.mark.parametrize('name', ['h1_2', 'cousin'])
def test_a_new_robot_that_the_package_has_is_told_so(name, tmp_path, capsys):
    urdf = described(tmp_path, 'h1_2', name)
    assert cli.main(['new-robot', str(urdf), '--feet', 'left_ankle_roll_link',
                     'right_ankle_roll_link', '-o', str(tmp_path / 'new.yaml')]) == 0
    assert ('h1_2.yaml' in capsys.readouterr().out) == (name == 'h1_2')


def test_a_description_without_joints_is_odd(tmp_path, capsys):
    path = tmp_path / 'box.urdf'
    path.write_text('<robot name="box"><link name="base"><inertial><mass value="1"/><inertia '
                    'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>')
    assert cli.main(['info', str(path)]) == 0
    assert 'no joint moves' in capsys.readouterr().out
