# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What may stand in a URDF, what may not, and how it is told."""
import os

import numpy as np
import pytest
from robots import TWO_LEGS

from legged_dynamics.exceptions import LeggedDynamicsError, ModelError
from legged_dynamics.model import ModelWarning, RobotModel
from legged_dynamics.model.shapes import Looks, read_looks
from legged_dynamics.model.urdf import MAX_SIZE

PLAIN = RobotModel.from_urdf(TWO_LEGS)


def put(text, into='<link name="imu"/>'):
    assert into in TWO_LEGS
    return TWO_LEGS.replace(into, text)


# ---- what cannot refuse a file -------------------------------------------------------------


@pytest.mark.parametrize('text', [
    TWO_LEGS.replace('<robot ', '<robot xmlns:xacro="http://ros.org/wiki/xacro" '),
    '<!-- made by <xacro:include filename="x"/> -- on monday ---->' + TWO_LEGS,
    '\n  <?xml version="1.1" encoding="utf-16"?>\n' + TWO_LEGS,
    '\ufeff<?xml version="1.0"?>' + TWO_LEGS,
    put('<link name="imu"><visual><material><texture/></material><geometry><capsule/></geometry>'
        '</visual><collision><geometry><box size="a b"/></geometry></collision></link>'),
    put('<link name="imu"/><transmission name="t"><joint name="l_knee"/></transmission>'),
    put('<link name="imu"/><gazebo><plugin name="p"><pid>${nothing}</pid></plugin></gazebo>'
        '<ros2_control><param name="x">$(find y)</param></ros2_control>'),
    put('<link name="imu"/><sensor:ray/><material name="m"><color rgba="nan"/></material>'),
    put('<link name="imu"><gazebo><![CDATA[ <!-- <xacro:x> ]]></gazebo></link>'),
], ids=['namespace', 'comment', 'declaration', 'mark', 'shapes', 'transmission', 'gazebo',
        'prefix', 'cdata'])
def test_what_has_nothing_to_do_with_dynamics_cannot_refuse(text):
    found = RobotModel.from_xml(text)
    np.testing.assert_array_equal(found.tree.constants, PLAIN.tree.constants)
    assert found.joint_names == PLAIN.joint_names and not found.warnings


@pytest.mark.parametrize(('encoding', 'declared'), [
    ('utf-8', ''), ('utf-8-sig', ''), ('utf-16', 'UTF-16'), ('utf-16-le', ''), ('utf-16-be', ''),
    ('utf-32', ''), ('latin-1', 'ISO-8859-1'), ('latin-1', ''), ('latin-1', 'utf-8'),
    ('cp1252', 'windows-1252'), ('utf-8', 'utf-16')])
def test_bytes_are_read_in_the_encoding_they_have(tmp_path, encoding, declared):
    head = f'<?xml version="1.0" encoding="{declared}"?>' if declared else '<?xml version="1.0"?>'
    path = tmp_path / 'robot.urdf'
    path.write_bytes((head + TWO_LEGS.replace('imu_mount', 'imu_größe')).encode(encoding))
    model = RobotModel.from_urdf(path)
    assert model.joint_names == PLAIN.joint_names and 'imu' in model.frames


def test_a_robot_without_a_name_and_joints_before_their_links():
    text = TWO_LEGS.replace(' name="two_legs"', '')
    assert RobotModel.from_xml(text).name == 'robot'


# ---- what is refused, and how --------------------------------------------------------------


@pytest.mark.parametrize(('text', 'said'), [
    ('', 'got nothing'),
    ('/dev/zero', "got text that begins with '/dev/zero'"),
    ('\x7fELF\0\0', 'got binary data'),
    ('solid mesh\nfacet', "got text that begins with 'solid mesh"),
    ('<sdf version="1.9"><model/></sdf>', 'got SDF, the format of Gazebo'),
    ('<mujoco model="a"/>', 'got MJCF, the format of MuJoCo'),
    ('<COLLADA/>', 'got a COLLADA mesh'),
    ('<robot><sdf><model/></sdf></robot>', 'got <sdf> inside <robot>'),
    ('<robot/>', 'at least one <link> in <robot>, got none'),
    ('<robot><xacro:macro name="x"/></robot>', 'expected URDF, got xacro'),
    ('<robot xmlns:x="http://www.ros.org/wiki/xacro"><x:leg/></robot>', 'expected URDF, got xac'),
    (put('<link name="${prefix}imu"/>'), 'expected URDF, got xacro'),
    ('<!DOCTYPE a [<!ENTITY b "c">]><robot/>', "declares the entity 'b' .line 1.; write it out"),
    (put('<link name="imu"/><link name="imu"/>'), "each link name once, got 'imu' again .line"),
    (put('<link/>'), r'the <link> in line 5 has no name'),
    (put('<link name="imu"><inertial><mass value="1"/></inertial></link>'), 'has no <inertia>'),
    (TWO_LEGS.replace('value="8"', 'value="nan"'),
     "link 'base': value of <mass> .line 3.: expected a finite number, got 'nan'"),
    (TWO_LEGS.replace('ixx="0.1"', 'ixx="1e999"'), "ixx of <inertia> .*got '1e999'"),
    (TWO_LEGS.replace('effort="30"', 'effort="inf"'), "joint 'l_hip_x': effort of <limit>"),
    (TWO_LEGS.replace('0.05 0.02 0.03', '0.05 0.02'), 'expected three numbers'),
    (TWO_LEGS.replace('damping="0.2"', 'damping="much"'), 'damping of <dynamics>'),
    (TWO_LEGS.replace('0.05 0.02 0.03', '0 0 1e200'), 'expected a magnitude up to 1e.12'),
    (TWO_LEGS.replace('type="continuous"', 'type="hinge"'), "expected a type of .*got 'hinge'"),
    (TWO_LEGS.replace('<child link="imu"/>', ''), "'imu_mount' .line 6. has no <child"),
], ids=lambda value: value[:25].replace('\n', ' ') if isinstance(value, str) else '')
def test_what_is_refused_is_named(text, said):
    with pytest.raises(ModelError, match=said):
        RobotModel.from_xml(text)


@pytest.mark.parametrize(('change', 'said', 'kept'), [
    (lambda s: s.replace('<limit lower="-1" upper="1" effort="30" velocity="10"/>', ''),
     'l_hip_x.* is revolute and has no <limit>', ('effort', np.inf)),
    (lambda s: s.replace(' effort="30"', ''), 'l_hip_x.*its <limit> has no effort',
     ('effort', np.inf)),
])
def test_what_urdfdom_refuses_and_has_one_sensible_meaning_is_warned_of(change, said, kept):
    with pytest.warns(ModelWarning, match=said):
        model = RobotModel.from_xml(change(TWO_LEGS))
    assert getattr(model.joints[0], kept[0]) == kept[1]


def test_a_dummy_inertia_that_cannot_matter_is_not_warned_of():
    dummy = ('<link name="imu"><inertial><mass value="1e-6"/><inertia ixx="1e-6" iyy="1e-6" '
             'izz="9e-6" ixy="0" ixz="0" iyz="0"/></inertial></link>')
    assert RobotModel.from_xml(put(dummy)).warnings == ()


def test_only_regular_files_of_sane_size_are_opened(tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    large = tmp_path / 'large.urdf'
    with large.open('wb') as file:
        file.truncate(MAX_SIZE + 1)
    for path, said in ((tmp_path / 'pipe', 'got a pipe or a device'), (tmp_path, 'got a folder'),
                       ('/dev/zero', 'got a pipe or a device'), (large, 'expected at most 16 MB'),
                       ('a\0b', 'cannot read')):
        with pytest.raises(ModelError, match=said):
            RobotModel.from_urdf(path)


def test_shapes_are_read_as_far_as_they_go():
    text = put('<link name="imu"><collision><origin xyz="0 0 1"/><geometry><sphere radius="0.2"/>'
               '</geometry></collision><collision><geometry><box size="1 b"/></geometry>'
               '</collision></link><gazebo reference="imu"><sensor type="imu"/></gazebo>')
    looks = read_looks(text)
    (ball,) = looks.shapes['imu']
    assert ball.kind == 'sphere' and ball.lowest(np.array([0.0, 0.0, 1.0])) == pytest.approx(0.8)
    assert looks.imu_links == ['imu'] and read_looks('<a') == Looks({}, [], [], [])


def test_thousands_of_links_are_refused_before_they_are_built():
    links = ''.join(f'<link name="l{i}"/><joint name="j{i}"/>' for i in range(2500))
    with pytest.raises(ModelError, match='expected at most 2000 links'):
        RobotModel.from_xml(f'<robot>{links}</robot>')


# ---- mimic ---------------------------------------------------------------------------------


MIMIC = '<joint name="l_knee" type="revolute">'


def following(*attributes):
    text = TWO_LEGS
    for name, mimic in attributes:
        head = f'<joint name="{name}" type="'
        at = text.index('>', text.index(head)) + 1
        text = text[:at] + f'<mimic {mimic}/>' + text[at:]
    return text


def test_a_mimic_follows_through_others_to_a_free_joint():
    model = RobotModel.from_xml(following(
        ('l_knee', 'joint="l_hip_y" multiplier="-2" offset="0.1"'),
        ('l_hip_y', 'joint="r_hip_y" multiplier="0.5" offset="1"')))
    assert set(model.mimics.joints) == {'l_hip_y', 'l_knee'}
    q = model.mimics.positions(np.arange(6.0))
    assert q[1] == 0.5 * q[4] + 1.0 and q[2] == pytest.approx(-2.0 * q[1] + 0.1)
    assert model.mimics.rates(np.ones(6)).tolist() == [1, 0.5, -1, 1, 1, 1]
    G = model.mimics.matrix()
    assert G.shape == (6, 4)
    np.testing.assert_array_equal(G @ np.ones(4), model.mimics.rates(np.ones(6)))
    assert model.mimics.matrix(6).shape == (12, 10)


@pytest.mark.parametrize(('mimics', 'why'), [
    ([('l_knee', 'joint="nobody"')], 'there is no joint of that name'),
    ([('l_knee', 'joint="l_knee"')], 'in the end itself'),
    ([('l_knee', 'joint="r_knee"'), ('r_knee', 'joint="l_knee"')], 'in the end itself'),
    ([('l_knee', 'joint="imu_mount"')], "'imu_mount' is fixed")])
def test_a_mimic_without_a_master_is_a_joint_of_its_own(mimics, why):
    with pytest.warns(ModelWarning, match=f'{why}; taken as a joint of its own'):
        model = RobotModel.from_xml(following(*mimics))
    assert model.mimics.joints == () and model.nv == 6


def test_a_mimic_that_names_nobody_is_refused():
    with pytest.raises(LeggedDynamicsError, match='names no joint'):
        RobotModel.from_xml(following(('l_knee', '')))
