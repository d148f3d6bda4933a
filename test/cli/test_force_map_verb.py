# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The verb force-map: what it prints and draws, and errors as one line."""
import pytest
from robots import CONFIG

from legged_dynamics import cli

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
    (['human'], 'human comes without a URDF of its own'),
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
