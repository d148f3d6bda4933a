# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The verb force-map: what it prints and draws, and errors as one line."""
import csv
import json

import numpy as np
import pinocchio as pin
import pytest
from robots import CONFIG

from legged_dynamics import cli
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.settings import nominal_position
from legged_dynamics.force_map import ConstrainedForceMap, FootForceMap, standing_on
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_from_rpy

PNG = b'\x89PNG\r\n\x1a\n'


def run(capsys, *arguments):
    code = cli.main(['force-map', *arguments])
    return code, capsys.readouterr()


def test_a_shipped_robot_by_its_name(tmp_path, capsys):
    figure = tmp_path / 'new' / 'map.png'
    code, said = run(capsys, 'anymal_class', '-o', str(figure))
    assert code == 0
    assert figure.read_bytes().startswith(PNG)
    rows = [line.split() for line in said.out.splitlines() if line.startswith(('LF', 'RH'))]
    assert [row[0] for row in rows] == ['LF_FOOT', 'RH_FOOT']
    assert rows[0][1] == '3'                                # rank
    assert 1.0 < float(rows[0][2]) < 10.0                   # condition
    assert 'weight 511.4 N on LF_FOOT, RF_FOOT, LH_FOOT, RH_FOOT' in said.out


def test_a_urdf_without_yaml_needs_feet(tmp_path, capsys):
    urdf = tmp_path / 'walker.urdf'
    text = (CONFIG / 'robots' / 'solo_class.urdf').read_text()
    urdf.write_text(text.replace('FOOT', 'TOE'))
    code, said = run(capsys, str(urdf))
    assert code == 2
    assert said.err.startswith('legged-dynamics force-map: ')
    assert len(said.err.splitlines()) == 1
    figure = tmp_path / 'map.png'
    code, said = run(capsys, str(urdf), '--feet', 'LF_TOE', 'RF_TOE', 'LH_TOE', 'RH_TOE',
                     '--pose', 'LF_KFE=1.0', '--on', 'LF_TOE', '-o', str(figure))
    assert code == 0
    assert 'These feet cannot hold the robot still' in said.out
    assert figure.read_bytes().startswith(PNG)


def test_straight_legs_are_singular_and_said(tmp_path, capsys):
    _, said = run(capsys, 'solo_class', '--pose', 'zero', '--all-motors', '-o',
                  str(tmp_path / 'map.png'))
    assert float(said.out.split('whole map ')[1].split()[0]) > 1e6


@pytest.mark.parametrize(('arguments', 'said'), [
    (['no_such_robot'], 'expected a robot that comes with the package (a2, anymal_class'),
    (['/no/such.urdf'], 'cannot read the URDF'),
    (['human'], 'there is no URDF beside'),
    (['anymal_class', '--pose', 'crouch'], "nominal, zero or JOINT=RAD, got 'crouch'"),
    (['anymal_class', '--pose', 'LF_KFE=far'], "nominal, zero or JOINT=RAD, got 'LF_KFE=far'"),
    (['anymal_class', '--pose', 'LF_KNE=1'], "Did you mean 'LF_KFE'?"),
    (['anymal_class', '--pose', 'LF_HFE=-90'],
     'expected joint LF_HFE within -9.42 to 9.42 rad, got -90; is it in degrees?'),
    (['anymal_class', '--on', 'LF_FOO'], "Did you mean 'LF_FOOT'?"),
    (['anymal_class', '--friction', '0'], 'expected a friction coefficient above 0'),
    (['anymal_class', '-o', '/proc/none/map.png'], 'cannot write the figure')])
def test_errors_are_one_line(capsys, arguments, said):
    code, output = run(capsys, *arguments)
    assert code == 2
    assert said in output.err
    assert len(output.err.splitlines()) == 1


# -------------------------------------------------------------------------------------------------
# The maps as numbers, and what is asked of them.


def printed(text, head):
    """Return the numbers below a line that begins so, by the name before them."""
    lines = text.split(f'\n{head}', 1)[1].splitlines()[1:]
    found = {}
    for line in lines:
        words = line.split()
        if not line.startswith('  ') or len(words) < 2:
            break
        found[words[0]] = [float(word) for word in words[1:]]
    return found


def record(capsys, *arguments):
    code, said = run(capsys, *arguments, '--json')
    assert code == 0
    return json.loads(said.out)


@pytest.mark.parametrize('name', ['anymal_class', 'stickybot', 'biped'])
def test_csv_json_and_print_are_the_same_maps(name, tmp_path, capsys):
    table = tmp_path / 'maps.csv'
    code, said = run(capsys, name, '-o', str(table))
    assert code == 0
    found = record(capsys, name)
    head, *rows = csv.reader(table.read_text().splitlines())
    assert head == ['foot', 'form', 'component (ground axes)', 'k_0', *found['columns']]
    by_place = {tuple(row[:3]): [float(x) for x in row[3:]] for row in rows}
    for part in found['maps']:
        shown = printed(said.out, f'{part["form"]} map of {part["foot"]}: ')
        assert 'k_0' in shown and len(shown) > 1
        for k, component in enumerate(part['rows']):
            values = by_place[part['foot'], part['form'], component]
            assert values == [part['k_0'][k], *part['D'][k]]
            for column, numbers in shown.items():
                assert numbers[k] == pytest.approx(
                    values[head.index(column) - 3], rel=1e-3, abs=1e-6)


def test_the_maps_are_those_of_both_forms(capsys):
    pose, tilt = ['LF_HAA=0.1', 'RH_KFE=1.2'], ('3', '-5')
    yaml = CONFIG / 'robots' / 'anymal_class.yaml'
    config = RobotConfig.from_yaml(yaml)
    model = config.apply_to(RobotModel.from_urdf(yaml.with_suffix('.urdf')))
    found = record(capsys, 'anymal_class', '--position', *pose, '--tilt', *tilt)
    q = nominal_position(model, config)
    for word in pose:
        joint, value = word.split('=')
        q[model.joint_index(joint)] = float(value)
    R = rotation_from_rpy(np.radians([3.0, -5.0, 0.0]))
    tau = np.random.default_rng(0).normal(size=model.nv) * 20.0
    maps = {(part['foot'], part['form']): part for part in found['maps']}
    together = ConstrainedForceMap(model, config.feet).compute(
        q, np.zeros(model.nv), R_WB=R).in_axes(R)
    for foot in config.feet:
        stance = standing_on(model, foot.link)
        position, _ = stance.state(q, np.zeros(model.nv), R, np.zeros(3))
        alone = FootForceMap(stance.model, passive=['ground_ball']).compute(position).force
        torque = dict(zip(found['columns'], tau))
        expected = {'chain': alone.force([torque[name] for name in alone.columns]),
                    'constrained': together.of_foot(foot.link).force(tau)}
        for form, force in expected.items():
            part = maps[foot.link, form]
            np.testing.assert_allclose(np.array(part['k_0']) + np.array(part['D']) @ tau, force,
                                       rtol=1e-8, atol=1e-8)


def test_a_climber_hangs_on_the_wall_of_its_yaml(tmp_path, capsys):
    yaml = CONFIG / 'robots' / 'stickybot.yaml'
    for degrees in (90, 30, 180):
        slope, own = np.radians(degrees), tmp_path / f'{degrees}.yaml'
        own.write_text(yaml.read_text().replace('inclination: 1.5707963267948966',
                                                f'inclination: {slope:.15g}'))
        found = record(capsys, 'stickybot', '--robot', str(own))
        tau = np.array(found['standing_effort'])
        force = sum(np.array(part['k_0']) + np.array(part['D']) @ tau for part in found['maps']
                    if part['form'] == 'constrained')
        weight = 0.37 * GRAVITY
        np.testing.assert_allclose(
            force, [0.0, weight * np.sin(slope), weight * np.cos(slope)], atol=1e-5)
        world = np.array(found['ground_in_world']) @ force
        np.testing.assert_allclose(world, [0.0, 0.0, weight], atol=1e-5)


def test_efforts_for_a_force_and_forces_for_these_efforts(capsys):
    asked = record(capsys, 'anymal_class', '--at', 'LF_FOOT', '--force', '10', '-5', '150'
                   )['wanted']
    np.testing.assert_allclose(asked['force'], [10.0, -5.0, 150.0], atol=0.2)
    np.testing.assert_allclose(np.add(asked['force'], asked['lost']), [10.0, -5.0, 150.0])
    assert asked['unproducible'] == []
    given = record(capsys, 'anymal_class', '--torque', *(
        f'{joint}={effort!r}' for joint, effort in asked['efforts'].items()))
    np.testing.assert_allclose(given['maps'][0]['force'], asked['force'],
                               atol=1e-9)


def test_a_singular_leg_says_what_it_loses(capsys):
    asked = record(capsys, 'stickybot', '--at', 'left_fore_foot', '--force', '0', '1.5', '1'
                   )['wanted']
    # The hips act in the wall's plane: off the wall the foot gives what balances their tilting.
    (lost,) = np.array(asked['unproducible'])
    assert abs(lost[2]) > 0.9
    missing = np.array(asked['lost'])
    assert np.linalg.norm(missing) > 0.5
    assert abs(missing @ lost) == pytest.approx(np.linalg.norm(missing), rel=1e-3)
    assert 'nearest' in asked['outcome']


@pytest.mark.parametrize('side', ['environment', 'robot'])
@pytest.mark.parametrize('axes', ['base', 'link', 'world'])
def test_efforts_of_a_wrench_agree_with_pinocchio(side, axes, tmp_path, capsys):
    urdf = CONFIG / 'robots' / 'anymal_class.urdf'
    wrench = np.array([12.0, -7.0, 30.0, 1.5, -0.5, 0.8])
    out = tmp_path / 'efforts.csv'
    found = record(capsys, 'anymal_class', '--at', 'LF_FOOT', '--wrench', *map(str, wrench),
                   '--axes', axes, '--side', side, '--tilt', '10', '-20', '--velocity', 'LF_HFE=2',
                   'LF_KFE=-3', '-o', str(out))
    twin = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
    data = twin.createData()
    R = rotation_from_rpy(np.radians([10.0, -20.0, 0.0]))
    config = RobotConfig.from_yaml(urdf.with_suffix('.yaml'))
    model = config.apply_to(RobotModel.from_urdf(urdf))
    q = np.concatenate([np.zeros(3), quaternion_from_rotation(R), np.zeros(model.nv)])
    v = np.zeros(twin.nv)
    for name, value in zip(model.joint_names, nominal_position(model, config)):
        q[twin.joints[twin.getJointId(name)].idx_q] = value
    for name, value in (('LF_HFE', 2.0), ('LF_KFE', -3.0)):
        v[twin.joints[twin.getJointId(name)].idx_v] = value
    frame = twin.getFrameId('LF_FOOT')
    local = pin.computeFrameJacobian(twin, data, q, frame, pin.LOCAL)
    pin.framesForwardKinematics(twin, data, q)
    into = {'link': np.eye(3), 'world': data.oMf[frame].rotation.T,
            'base': data.oMf[frame].rotation.T @ R}[axes]
    sign = 1.0 if side == 'environment' else -1.0
    in_link = sign * np.concatenate([into @ wrench[:3], into @ wrench[3:]])
    expected = local.T @ in_link
    rnea = pin.rnea(twin, data, q, v, np.zeros(twin.nv))
    for k, name in enumerate(found['joints']):
        at = twin.joints[twin.getJointId(name)].idx_v
        assert found['efforts']['J^T g'][k] == pytest.approx(expected[at], abs=1e-9)
        joint = model.joints[model.joint_index(name)]
        friction = found['efforts']['own'][k] - rnea[at]
        if not joint.damping and not joint.friction:
            assert friction == pytest.approx(0.0, abs=1e-6)
    # What the joints give is what the link gives to the environment.
    power = sum(effort * v[twin.joints[twin.getJointId(name)].idx_v] for name, effort in
                zip(found['joints'], found['efforts']['J^T g']))
    assert power == pytest.approx(in_link @ (local @ v), abs=1e-9)
    head, *rows = csv.reader(out.read_text().splitlines())
    assert head == ['joint', 'J^T g', 'own', 'sum']
    assert [row[0] for row in rows] == found['joints']
    np.testing.assert_array_equal(np.array([row[1:] for row in rows], float).T,
                                  list(found['efforts'].values()))


def test_axes_and_side_are_said(capsys):
    code, said = run(capsys, 'anymal_class', '--at', 'LF_FOOT', '--wrench', *'007000',
                     '--side', 'robot', '--axes', 'world')
    assert code == 0
    assert 'on the robot about the origin of LF_FOOT, in world axes' in said.out


@pytest.mark.parametrize(('arguments', 'said'), [
    (['--at', 'LF_FOO', '--force', *'123'], "'LF_FOO'"),
    (['--force', *'123'], 'expected --at LINK together with --force or --wrench'),
    (['--at', 'LF_FOOT', '--force', '1', '2', 'nan'], 'expected finite desired forces'),
    (['--at', 'LF_FOOT', '--wrench', *'12345', 'inf'], 'components of the wrench'),
    (['--torque', 'LF_KFE'], "--torque: expected JOINT=NM, got 'LF_KFE'"),
    (['--torque', 'LF_KNE=1'], "Did you mean 'LF_KFE'?"),
    (['--velocity', 'LF_KFE=1'], '--velocity only with --wrench'),
    (['--at', 'LF_FOOT', '--wrench', *'123456', '-o', 'map.png'], 'ends in .csv, got map.png'),
    (['--at', 'LF_FOOT', '--wrench', *'123456', '--torque', 'LF_KFE=1'], '--torque only without'),
    (['-o', '/proc/none/map.csv'], 'cannot write the table')])
def test_errors_of_what_is_asked_are_one_line(capsys, arguments, said):
    code, output = run(capsys, 'anymal_class', *arguments)
    assert code == 2
    assert said in output.err
    assert len(output.err.splitlines()) == 1
