# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What ``new-robot`` says of arms and cars, of joints that slide, of odd URDFs."""
import pytest

from legged_dynamics.cli import DOUBTFUL, WRONG, main
from legged_dynamics.model import RobotConfig

BALL, WHEEL = '<sphere radius="0.02"/>', '<cylinder radius="0.1" length="0.05"/>'


def link(name, mass=1.0, shape='', inertia=0.01):
    body = (f'<inertial><mass value="{mass}"/><inertia ixx="{inertia}" iyy="{inertia}" '
            f'izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial>') * (mass > 0.0)
    solid = f'<collision><geometry>{shape}</geometry></collision>' * bool(shape)
    return f'<link name="{name}">{body}{solid}</link>'


def joint(name, kind, parent, child, xyz, axis='0 1 0', limit='lower="-2" upper="2"', more=''):
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}"/><axis xyz="{axis}"/><limit {limit} effort="80" velocity="9"/>'
            f'{more}</joint>')


def quadruped(root='', knee='revolute', axis='0 -1 0', limit='lower="0" upper="2.5"', **thigh):
    parts = [root, link('trunk', 20.0)]
    for leg, (x, y) in {'LF': (0.3, 0.2), 'RF': (0.3, -0.2), 'LH': (-0.3, 0.2),
                        'RH': (-0.3, -0.2)}.items():
        parts += [link(f'{leg}_HIP'), link(f'{leg}_THIGH', **thigh), link(f'{leg}_SHANK'),
                  link(f'{leg}_FOOT', 0.1, BALL),
                  joint(f'{leg}_HAA', 'revolute', 'trunk', f'{leg}_HIP', f'{x} {y} 0', '1 0 0'),
                  joint(f'{leg}_HFE', 'revolute', f'{leg}_HIP', f'{leg}_THIGH', '0 0 0'),
                  joint(f'{leg}_KFE', knee, f'{leg}_THIGH', f'{leg}_SHANK', '0 0 -0.2', axis,
                        limit),
                  joint(f'{leg}_END', 'fixed', f'{leg}_SHANK', f'{leg}_FOOT', '0 0 -0.2')]
    return f'<robot name="made">{"".join(parts)}</robot>'


CAR = link('chassis', 30.0) + ''.join(
    link(f'{name}_wheel', 1.0, WHEEL) + joint(f'{name}_axle', 'continuous', 'chassis',
                                              f'{name}_wheel', f'{x} {y} -0.1')
    for name, x, y in (('fl', 0.2, 0.2), ('fr', 0.2, -0.2), ('rl', -0.2, 0.2), ('rr', -0.2, -0.2)))
ARM = link('base_link', 4.0) + ''.join(
    link(f'link_{k}') + joint(f'joint_{k}', 'revolute', f'link_{k - 1}' if k > 1 else 'base_link',
                              f'link_{k}', '0 0 0.2', '0 1 0') for k in range(1, 7))


@pytest.fixture
def made(tmp_path, capsys):
    """Return what makes a YAML of a URDF: exit code, what was said, and the configuration."""
    def make(text, *options):
        path, out = tmp_path / 'made.urdf', tmp_path / 'made.yaml'
        path.write_text(text)
        code = main(['new-robot', str(path), '-o', str(out), '--force', *options])
        return code, ''.join(capsys.readouterr()), out
    return make


@pytest.mark.parametrize('parts', [CAR, ARM])
def test_without_feet_the_first_line_says_so_and_the_exit_code(made, parts):
    code, said, out = made(f'<robot name="none">{parts}</robot>')
    assert code == DOUBTFUL and said.startswith('Not to be trusted: feet: ') and '--feet' in said
    assert not RobotConfig.from_yaml(out).feet


def test_feet_without_a_body_above_them_are_doubtful(made):
    code, said, _ = made(quadruped().replace('xyz="0.3 ', 'xyz="1.3 ').replace(
        'xyz="-0.3 ', 'xyz="0.9 '))
    assert code == DOUBTFUL and 'the guess of the feet is' in said.splitlines()[0]


def test_sliding_joints_of_legs_are_named(made):
    code, said, _ = made(quadruped(knee='prismatic', axis='0 0 -1',
                                   limit='lower="0" upper="0.3"'))
    assert code == 0 and '4 sliding joints, all in m, N and kg: LF_KFE, RF_KFE' in said
    assert 'sliding joints' not in made(quadruped())[1]


def test_a_root_on_the_ground_is_a_base_as_others_are(made):
    """``base_footprint`` is below the feet of a robot that bends its legs."""
    root = link('base_footprint', 0.0) + joint('fixed', 'fixed', 'base_footprint', 'trunk',
                                               '0 0 0.45')
    code, said, _ = made(quadruped(root))
    plain = made(quadruped())
    assert (code, plain[0]) == (0, 0) and 'must point up' not in said

    def friction(text):
        return next(line for line in text.splitlines() if 'N a foot' in line)
    assert friction(said) == friction(plain[1])     # legs are as long as before


@pytest.mark.parametrize('text, said', [
    ('<robot name="a" xmlns:xacro="x"><xacro:property name="m" value="1"/></robot>', 'got xacro'),
    ('<mujoco model="a"><worldbody/></mujoco>', 'got MJCF')])
def test_other_formats_are_refused_by_the_name_of_the_file(made, text, said):
    code, error, _ = made(text)
    assert code == WRONG and said in error and 'made.urdf: ' in error
