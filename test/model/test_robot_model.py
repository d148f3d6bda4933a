# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
import math
import warnings

import numpy as np
import pinocchio as pin
import pytest
from robots import TWO_LEGS, pinocchio_twin, random_robot
from tolerances import ALGEBRA

from legged_dynamics.dynamics import ArticulatedBody
from legged_dynamics.exceptions import ModelError, UnknownNameError
from legged_dynamics.model import Inertia, Joint, ModelWarning, RobotModel


def test_fixed_links_are_welded_and_keep_their_frames():
    model = RobotModel.from_urdf(TWO_LEGS)
    assert model.joint_names == ('l_hip_x', 'l_hip_y', 'l_knee', 'r_hip_x', 'r_hip_y', 'r_knee')
    foot, imu = model.frame('l_foot'), model.frame('imu')
    assert foot.body == 3
    assert imu.body == 0
    np.testing.assert_allclose(imu.pose.p, [0.05, 0.02, 0.03])


def test_links_without_inertial_are_massless():
    assert RobotModel.from_urdf(TWO_LEGS).total_mass == pytest.approx(8 + 2 * 1.8)


def test_limits_are_kept():
    model = RobotModel.from_urdf(TWO_LEGS)
    np.testing.assert_array_equal(model.effort_limits, [30, math.inf, 40] * 2)
    assert model.position_limits[1].tolist() == [-math.inf, math.inf]
    assert model.position_limits[2].tolist() == [-2, 0]


def test_a_zero_effort_limit_stays_zero():
    text = TWO_LEGS.replace('effort="30"', 'effort="0"')
    assert RobotModel.from_urdf(text).effort_limits[0] == 0.0


@pytest.mark.parametrize('seed', range(3))
def test_mass_and_centre_agree_with_pinocchio(seed):
    model = random_robot(seed, 9, ('revolute', 'prismatic', 'spherical'))
    twin = pinocchio_twin(model)
    data = twin.createData()
    com = pin.centerOfMass(twin, data, pin.neutral(twin))
    masses = model.tree.constants[:, 12]
    assert masses.sum() == pytest.approx(pin.computeTotalMass(twin), rel=ALGEBRA)
    from legged_dynamics.dynamics import frame_poses
    q = pin.neutral(twin)[7:]
    poses = frame_poses(model, q)
    ours = sum(model.links[link].mass * poses[link].point(model.links[link].com)
               for link in model.links) / masses.sum()
    np.testing.assert_allclose(ours, com, atol=1e-12)


def test_file_and_text_give_the_same_robot(tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_text(TWO_LEGS)
    np.testing.assert_array_equal(RobotModel.from_urdf(path).tree.constants,
                                  RobotModel.from_urdf(TWO_LEGS).tree.constants)


def test_explicit_floating_joint_at_the_root():
    text = TWO_LEGS.replace('<link name="base">', """<link name="world"/>
      <joint name="free" type="floating"><parent link="world"/><child link="base"/></joint>
      <link name="base">""")
    model = RobotModel.from_urdf(text)
    assert model.base_link == 'base'
    assert model.nv == 6


def test_the_model_is_read_only():
    model = RobotModel.from_urdf(TWO_LEGS)
    with pytest.raises(ValueError, match='read-only'):
        model.tree.constants[0, 0] = 1.0


@pytest.mark.parametrize(('broken', 'message'), [
    (lambda s: s[:200], 'this is not a URDF that can be parsed'),
    (lambda s: s.replace('<mass value="1"/>', '<mass value="-1"/>'),
     "link 'l_thigh': expected a mass of at least 0 kg, got -1.0"),
    (lambda s: s.replace('<parent link="base"/><child link="r_hip"/>',
                         '<parent link="pelvis"/><child link="r_hip"/>'),
     "joint 'r_hip_x': its parent link 'pelvis' is not defined"),
    (lambda s: s.replace('<child link="r_foot"/>', '<child link="l_foot"/>'),
     "link 'l_foot' is the child of more than one joint"),
    (lambda s: s.replace('type="continuous"', 'type="planar"'), 'is of type planar'),
    (lambda s: s.replace('<link name="imu"/>', '<xacro:imu/>'), 'expected URDF, got xacro'),
    (lambda s: s.replace('<axis xyz="1 0 0"/>', '<axis xyz="0 0 0"/>'), 'axis of non-zero length'),
    (lambda s: s.replace('name="r_knee"', 'name="l_knee"'), "each joint name once, got 'l_knee'"),
])
def test_what_cannot_be_a_robot_is_refused_with_a_reason(broken, message):
    with pytest.raises(ModelError, match=message):
        RobotModel.from_urdf(broken(TWO_LEGS))


def test_a_moving_subtree_without_mass_is_named():
    links = {'base': Inertia(1.0), 'arm': Inertia(), 'hand': Inertia()}
    joints = [Joint('elbow', 'revolute', 'base', 'arm'), Joint('wrist', 'fixed', 'arm', 'hand')]
    with pytest.warns(ModelWarning, match="joint 'elbow' moves link 'arm'"):
        model = RobotModel('x', links, joints)
    assert model.massless == ('elbow',)
    with pytest.raises(ModelError, match="forward dynamics: joint 'elbow' moves no mass"):
        ArticulatedBody(model)
    ArticulatedBody(model.with_joint_physics(armature={'elbow': 0.1}))


def test_a_loop_is_refused():
    links = {name: Inertia(1.0) for name in 'abc'}
    joints = [Joint('ab', 'revolute', 'a', 'b'), Joint('bc', 'revolute', 'b', 'c'),
              Joint('ca', 'revolute', 'c', 'a')]
    with pytest.raises(ModelError, match='the joints form a loop'):
        RobotModel('loop', links, joints)


def test_missing_file():
    with pytest.raises(ModelError, match='cannot read the URDF no_such'):
        RobotModel.from_urdf('no_such.urdf')


def test_an_impossible_inertia_is_warned_of_by_name():
    text = TWO_LEGS.replace('ixx="0.1" iyy="0.2" izz="0.2"', 'ixx="0.1" iyy="0.2" izz="0.9"')
    with pytest.warns(ModelWarning, match="link 'base'.*triangle inequality"):
        model = RobotModel.from_urdf(text)
    assert len(model.warnings) == 1
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        RobotModel.from_urdf(TWO_LEGS)


def test_unknown_names_list_the_choices():
    model = RobotModel.from_urdf(TWO_LEGS)
    with pytest.raises(UnknownNameError, match="Did you mean 'l_knee'.*l_hip_x, l_hip_y, l_knee"):
        model.joint_index('l_kne')
    with pytest.raises(UnknownNameError, match="expected the name of a link, got 'nose'"):
        model.frame('nose')


def test_joint_physics_is_set_by_name_and_leaves_the_original_alone():
    model = RobotModel.from_urdf(TWO_LEGS)
    changed = model.with_joint_physics(armature={'r_knee': 0.3})
    assert changed.joints[5].armature == 0.3
    assert changed.tree.constants[6, 22] == 0.3
    assert model.tree.constants[6, 22] == 0.0
    assert model.joints[1].damping == 0.2
