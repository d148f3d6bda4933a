# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Feet, soles and IMU guessed from several kinds of robot; and what is not known, said."""
from dataclasses import replace

import numpy as np
import pytest
from robots import CONFIG

from legged_dynamics.exceptions import UnknownNameError
from legged_dynamics.model import FlatFoot, LineFoot, PointFoot, RobotConfig, RobotModel
from legged_dynamics.model.robot_guess import guess_robot, robot_yaml
from legged_dynamics.model.shapes import read_looks
from legged_dynamics.model.standing import (
    body_poses,
    center_of_mass,
    foot_loads,
    half_bent_position,
    link_pose,
)

BALL = '<collision><origin xyz="{at}"/><geometry><sphere radius="{r}"/></geometry></collision>'
BOX = '<collision><origin xyz="{at}"/><geometry><box size="{size}"/></geometry></collision>'


def link(name, inside='', mass=1.0):
    inertia = ' '.join(f'{key}="{0.01 if key[1] == key[2] else 0.0}"'
                       for key in ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz'))
    body = f'<inertial><mass value="{mass}"/><inertia {inertia}/></inertial>' if mass else ''
    return f'<link name="{name}">{body}{inside}</link>'


def joint(parent, child, at, axis='0 1 0', kind='revolute', limit='lower="-1" upper="1"'):
    return (f'<joint name="{child}_joint" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{at}"/><axis xyz="{axis}"/>'
            f'<limit {limit} effort="50" velocity="10"/></joint>')


def limb(prefix, at, names, length=0.3, foot=''):
    """Return a chain of links below a place on the base; the last one has `foot` inside."""
    parts, parent = [], 'base'
    for i, name in enumerate(names):
        last = i == len(names) - 1
        parts.append(link(f'{prefix}{name}', foot if last else ''))
        parts.append(joint(parent, f'{prefix}{name}', at if i == 0 else f'0 0 {-length}'))
        parent = f'{prefix}{name}'
    return ''.join(parts)


def robot(*parts):
    return f'<robot name="r">{link("base", mass=10.0)}{"".join(parts)}</robot>'


def guessed(text, **known):
    model = RobotModel.from_xml(text)
    return model, guess_robot(model, read_looks(text), **known)


def hexapod(foot):
    return robot(*(limb(f'leg{i}_', f'{0.2 * (i // 2 - 1)} {0.2 if i % 2 else -0.2} 0',
                        ('coxa', 'femur', 'tibia'), foot=foot) for i in range(6)))


def test_a_hexapod_without_foot_links_stands_on_the_ends_of_its_legs():
    model, guess = guessed(hexapod(BALL.format(at='0 0 -0.2', r=0.015)))
    assert len(guess.feet) == 6 and not guess.imu_link
    one = guess.feet[0]
    assert one.foot == PointFoot('leg0_tibia_ball', 0.015)
    assert one.frame.parent == 'leg0_tibia' and one.frame.pose.p.tolist() == [0.0, 0.0, -0.2]
    assert any('no link is named like one' in text for text in guess.measure)


def test_a_hexapod_whose_tips_have_no_shape_says_that_radii_are_not_known():
    _, guess = guessed(hexapod(''))
    assert [one.foot for one in guess.feet] == [PointFoot(f'leg{i}_tibia', 0.02) for i in range(6)]
    assert sum('the URDF does not say' in text for text in guess.measure) == 6


@pytest.mark.parametrize(('shape', 'at', 'radius', 'by'), [
    ('<capsule radius="0.01" length="0.2"/>', [0.2, 0.0, 0.0], 0.01, 'capsule'),
    ('<cylinder radius="0.01" length="0.2"/>', [0.19, 0.0, 0.0], 0.01, 'cylinder'),
    ('<box size="0.02 0.03 0.2"/>', [0.19, 0.0, 0.0], 0.01, 'box')])
def test_a_sprawling_hexapod_stands_on_the_far_ends_of_its_shins(shape, at, radius, by):
    shin = f'<collision><origin xyz="0.1 0 0" rpy="0 1.5707963 0"/><geometry>{shape}</geometry>'
    text = hexapod(f'{shin}</collision>').replace('0 0 -0.3', '0.1 0 0')     # held straight out
    _, guess = guessed(text)
    assert len(guess.feet) == 6
    assert guess.feet[0].measured_by == f'the end of its collision {by}'
    assert guess.feet[0].foot.radius == radius
    np.testing.assert_allclose(guess.feet[0].frame.pose.p, at, atol=1e-6)


LEG = ('hip_yaw', 'hip_roll', 'hip_pitch', 'knee', 'ankle_pitch', 'ankle_roll')
ARM = ('shoulder', 'elbow', 'wrist', 'hand')


def humanoid(foot, extra=''):
    return robot(*(limb(f'{side}_', f'0 {y} 0', LEG, foot=foot)
                   + limb(f'{side}_', f'0 {2 * y} 0.4', ARM)
                   for side, y in (('left', 0.1), ('right', -0.1))), extra)


def test_a_humanoid_stands_on_soles_and_not_on_its_hands():
    model, guess = guessed(humanoid(BOX.format(at='0.03 0 -0.05', size='0.2 0.1 0.02')))
    assert [one.frame.parent for one in guess.feet] == ['left_ankle_roll', 'right_ankle_roll']
    foot = guess.feet[0]
    assert foot.foot == FlatFoot('left_ankle_roll_sole', 0.13, -0.07, 0.05, -0.05)
    assert foot.frame.pose.p.tolist() == [0.0, 0.0, -0.06]


def test_four_small_balls_are_a_sole():
    corners = ''.join(BALL.format(at=f'{x} {y} -0.03', r=0.005)
                      for x in (-0.05, 0.12) for y in (-0.03, 0.03))
    _, guess = guessed(humanoid(corners))
    foot = guess.feet[0].foot
    assert (foot.front, foot.back, foot.left, foot.right) == (0.12, -0.05, 0.03, -0.03)


@pytest.mark.parametrize('shapes, edges', [
    # A toe and a heel; two rods that lie along a foot.
    ([('0.09 0 -0.05', '<box size="0.08 0.1 0.02"/>', ''),
      ('-0.04 0 -0.05', '<box size="0.06 0.06 0.02"/>', '')], (0.13, -0.07, 0.05, -0.05)),
    ([(f'0.03 {y} -0.04', '<cylinder radius="0.02" length="0.24"/>', 'rpy="0 1.5708 0"')
      for y in (0.02, -0.02)], (0.15, -0.09, 0.04, -0.04))])
def test_a_sole_of_several_parts_is_as_large_as_all_of_them(shapes, edges):
    _, guess = guessed(humanoid(''.join(
        f'<collision><origin xyz="{at}" {turned}/><geometry>{shape}</geometry></collision>'
        for at, shape, turned in shapes)))
    for one in guess.feet:
        foot = one.foot
        assert (foot.front, foot.back, foot.left, foot.right) == pytest.approx(edges, abs=1e-3)
        assert one.frame.pose.p == pytest.approx([0.0, 0.0, -0.06], abs=1e-3)


@pytest.mark.parametrize('last, sole', [('ankle', True), ('foot', False)])
def test_two_short_legs_stand_on_soles_where_the_last_joint_is_an_ankle(last, sole):
    legs = [limb(f'{side}_', f'0 {y} 0', ('hip_roll', 'hip_pitch', 'knee', last))
            for side, y in (('left', 0.1), ('right', -0.1))]
    _, guess = guessed(robot(*legs))
    assert [isinstance(one.foot, FlatFoot) for one in guess.feet] == [sole, sole]
    assert sole or guess.feet[0].foot.radius > 0.0      # a simulator needs one


def test_a_foot_named_so_is_preferred_and_the_imu_nearest_the_base():
    extra = (link('left_foot', BALL.format(at='0 0 0', r=0.02), mass=0)
             + joint('left_ankle_roll', 'left_foot', '0 0 -0.05', kind='fixed')
             + link('right_foot', BALL.format(at='0 0 0', r=0.02), mass=0)
             + joint('right_ankle_roll', 'right_foot', '0 0 -0.05', kind='fixed')
             + ''.join(link(f'{where}_imu_link', mass=0)
                       + joint(where, f'{where}_imu_link', '0 0 0', kind='fixed')
                       for where in ('left_ankle_roll', 'base')))
    _, guess = guessed(humanoid('', extra))
    assert [one.foot.link for one in guess.feet] == ['left_foot', 'right_foot']
    assert guess.imu_link == 'base_imu_link'
    assert any('others are left_ankle_roll_imu_link' in text for text in guess.said)


def test_an_arm_alone_has_no_feet_and_the_yaml_says_so(tmp_path):
    text = robot(limb('left_', '0 0 0', ARM))
    model, guess = guessed(text)
    assert guess.feet == [] and any('name them with --feet' in note for note in guess.doubts)
    path = tmp_path / 'a.yaml'
    path.write_text(robot_yaml(model, guess, 'a.urdf'))
    assert RobotConfig.from_yaml(path).feet == ()


def test_names_that_are_given_are_taken_and_must_be_there():
    _, guess = guessed(humanoid(''), feet=['left_knee', 'right_knee'], imu_link='left_hand')
    assert [one.foot.link for one in guess.feet] == ['left_knee', 'right_knee']
    assert guess.imu_link == 'left_hand'
    with pytest.raises(UnknownNameError, match='left_kne'):
        guessed(humanoid(''), feet=['left_kne'])


@pytest.mark.parametrize('text', [
    hexapod(BALL.format(at='0 0 -0.2', r=0.015)), hexapod(''),
    humanoid(BOX.format(at='0.03 0 -0.05', size='0.2 0.1 0.02')),
    robot(limb('yes', '0.2 0 0', ('', '_foot: "x"'), foot=BALL.format(at='0 0 0', r=0.02)),
          limb('b', '-0.2 0 0', ('', '_foot'), foot=BOX.format(at='0 0 0', size='.2 .1 .01')))],
    ids=['balls', 'unknown', 'soles', 'mixed and odd names'])
def test_what_is_written_is_read_back(tmp_path, text):
    text = text.replace('_foot: "x"', '_foot: x')
    model, guess = guessed(text)
    path = tmp_path / 'robot.yaml'
    path.write_text(robot_yaml(model, guess, 'robot.urdf'))
    config = RobotConfig.from_yaml(path)
    assert config.feet == tuple(one.foot for one in guess.feet)
    assert config.joints == model.joint_names
    applied = config.apply_to(model)
    for one in guess.feet:
        if one.frame is not None:
            found = (applied.frame(one.frame.parent).pose.inverse()
                     @ applied.frame(one.frame.name).pose)
            np.testing.assert_allclose(found.p, one.frame.pose.p, atol=1e-6)
    assert config.noise.of_joints('effort', model).tolist() == [0.5] * model.n_joints


@pytest.mark.parametrize('name', ['anymal_class', 'solo_class', 'biped'])
def test_the_robots_that_come_with_the_package_are_guessed_right(name):
    text = (CONFIG / 'robots' / f'{name}.urdf').read_text()
    model, guess = guessed(text)
    truth = RobotConfig.from_yaml(CONFIG / 'robots' / f'{name}.yaml')
    assert {one.foot.link for one in guess.feet} == {foot.link for foot in truth.feet}
    assert guess.imu_link == truth.imu_link


# ---- standing, without compiling -----------------------------------------------------------


def test_links_stand_where_the_compiled_kinematics_have_them():
    from robots import random_robot, random_state

    from legged_dynamics.dynamics import frame_poses
    model = random_robot(5, 9, ('revolute', 'prismatic', 'spherical'))
    q = random_state(model, 2)[0]
    bodies, poses = body_poses(model, q), frame_poses(model, q)
    for name in model.links:
        found = link_pose(model, bodies, name)
        np.testing.assert_allclose(found.p, poses[name].p, atol=1e-12)
        np.testing.assert_allclose(found.R, poses[name].R, atol=1e-12)
    com = sum(part.mass * poses[name].point(part.com) for name, part in model.links.items())
    np.testing.assert_allclose(center_of_mass(model, bodies), com / model.total_mass, atol=1e-12)


def test_loads_balance_the_weight_and_nobody_pulls():
    path = CONFIG / 'robots' / 'anymal_class.yaml'
    config = RobotConfig.from_yaml(path)
    model = config.apply_to(RobotModel.from_urdf(path.with_suffix('.urdf')))
    bodies = body_poses(model, config.nominal_in(model))
    com = center_of_mass(model, bodies)[:2]
    for feet in (config.feet, config.feet[:3], config.feet[1:]):
        loads, fall = foot_loads(model, feet, bodies)
        points = np.array([link_pose(model, bodies, foot.link).p[:2] for foot in feet])
        if fall < 1e-9:
            np.testing.assert_allclose(loads @ points, com, atol=1e-9)
        assert loads.min() >= 0.0 and loads.sum() == pytest.approx(1.0, abs=0.05)
    _, fall = foot_loads(model, config.feet[:2], bodies)
    assert fall > 0.1


LEGS = {'fl': (0.25, 0.1), 'fr': (0.25, -0.1), 'hl': (-0.25, 0.14), 'hr': (-0.25, -0.14)}


def uneven_quadruped(head, hind):
    """Return a quadruped's URDF: centre of mass of the base ahead by `head`, longer hind legs."""
    def link(name, mass, at, more=''):
        return (f'<link name="{name}"><inertial><origin xyz="{at}"/><mass value="{mass}"/>'
                '<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>'
                f'{more}</link>')

    def joint(name, parent, child, at, axis, low, high):
        return (f'<joint name="{name}" type="revolute"><parent link="{parent}"/>'
                f'<child link="{child}"/><origin xyz="{at}"/><axis xyz="{axis}"/>'
                f'<limit lower="{low}" upper="{high}" effort="40" velocity="20"/></joint>')
    parts = [link('base', 12.0, f'{head} 0 0.02')]
    for leg, (x, y) in LEGS.items():
        length = 0.22 * (hind if leg[0] == 'h' else 1.0)
        out = 0.06 if y > 0.0 else -0.06
        ball = ('<collision><origin xyz="0 0 {}"/><geometry><sphere radius="0.02"/></geometry>'
                '</collision>')
        parts += [
            joint(f'{leg}_haa', 'base', f'{leg}_hip', f'{x} {y} 0', '1 0 0', -0.5, 0.5),
            link(f'{leg}_hip', 0.6, '0 0 0'),
            joint(f'{leg}_hfe', f'{leg}_hip', f'{leg}_thigh', f'0 {out} 0', '0 1 0', -0.3, 1.6),
            link(f'{leg}_thigh', 0.8, f'0 0 {-0.5 * length}'),
            joint(f'{leg}_kfe', f'{leg}_thigh', f'{leg}_shank', f'0 0 {-length}', '0 1 0', -2.6,
                  -0.3),
            link(f'{leg}_shank', 0.25, f'0 0 {-0.5 * length}'),
            f'<joint name="{leg}_end" type="fixed"><parent link="{leg}_shank"/>'
            f'<child link="{leg}_foot"/><origin xyz="0 0 {-length}"/></joint>'
            f'<link name="{leg}_foot">{ball.format(0)}</link>']
    return f'<robot name="uneven">{"".join(parts)}</robot>'


# ---- test stands, blades, motors and standing poses ------------------------------------------


def test_a_long_narrow_box_below_an_ankle_is_a_blade_and_carries_along_its_length():
    box = BOX.format(at='0.05 0 -0.05', size='0.28 0.03 0.024')
    _, guess = guessed(humanoid(box))
    for one in guess.feet:
        assert isinstance(one.foot, LineFoot)
        assert (one.foot.front, one.foot.back) == pytest.approx((0.19, -0.09))
        assert one.frame.pose.p.tolist() == pytest.approx([0.0, 0.0, -0.062])


def test_legs_are_bent_and_carry_alike():
    model, guess = guessed((CONFIG / 'robots' / 'anymal_class.urdf').read_text())
    feet = [one.foot for one in guess.feet]
    bodies = body_poses(model, guess.position)
    loads, fall = foot_loads(model, feet, bodies)
    assert fall < 1e-3
    np.testing.assert_allclose(loads, 0.25, atol=0.01)
    assert np.ptp([link_pose(model, bodies, foot.link).p[2] for foot in feet]) < 2e-3


@pytest.mark.parametrize('head, hind', [(0.09, 1.0), (0.0, 1.25), (-0.06, 0.8)])
def test_uneven_quadrupeds_stand_symmetric_with_legs_that_do_not_spread(head, hind):
    """With a heavy head or hindquarters, and with hind legs of another length than the front's."""
    model, guess = guessed(uneven_quadruped(head, hind))
    feet = [one.foot for one in guess.feet]
    bodies = body_poses(model, guess.position)
    np.testing.assert_allclose(foot_loads(model, feet, bodies)[0], 0.25, atol=0.005)
    q = dict(zip(model.joint_names, guess.position))
    for leg in LEGS:
        assert abs(q[f'{leg}_haa']) < 0.02      # the foot below the thigh, not below the base
        assert 0.6 < abs(q[f'{leg}_kfe']) < 2.0
        assert q[f'{leg}_kfe'] == pytest.approx(q[f'{leg[0]}l_kfe'], abs=0.02)
    limits = model.position_limits
    assert np.minimum(guess.position - limits[:, 0], limits[:, 1] - guess.position).min() > 0.1


def test_feet_that_cannot_carry_the_robot_are_said_to_be_the_cause():
    far = ''.join(limb(f'{side}_', f'0.2 {y} 0', ('hip', 'foot'), length=0.05, foot=BALL.format(
        at='0 0 0', r=0.01)) for side, y in (('left', 0.1), ('right', -0.1)))
    _, guess = guessed(robot(far))
    assert any('cannot stand' in text and '--feet' in text for text in guess.doubts)


QUADRUPED = robot(*(limb(f'{leg}_', f'{x} {y} 0', ('thigh', 'toe'), foot=BALL.format(
    at='0 0 0', r=0.02)) for leg, x, y in (('fl', 0.2, 0.1), ('fr', 0.2, -0.1), ('hl', -0.2, 0.1),
                                           ('hr', -0.2, -0.1))))


def test_wheels_of_a_chassis_and_fingers_are_no_feet():
    assert len(guessed(QUADRUPED)[1].feet) == 4
    for text in (QUADRUPED.replace('_toe', '_wheel'), QUADRUPED.replace('"base"', '"palm"'),
                 QUADRUPED.replace('_toe', '_finger_toe')):
        assert guessed(text)[1].feet == []


def test_a_leg_whose_joint_names_the_torso_is_no_arm():
    text = QUADRUPED
    for leg in ('fl', 'fr', 'hl', 'hr'):
        text = text.replace(f'"{leg}_thigh_joint"', f'"torso_to_{leg}_thigh"')
    assert [one.foot.link for one in guessed(text)[1].feet] == [
        'fl_toe', 'fr_toe', 'hl_toe', 'hr_toe']


def test_a_base_whose_z_is_not_up_and_legs_that_close_a_loop_are_said():
    lying = QUADRUPED.replace('0 0 -0.3', '0 -0.3 0').replace('"0 1 0"', '"0 0 1"')
    assert any('feet are -y of the hips' in text for text in guessed(lying)[1].doubts)
    loop = robot(*(limb(f'{side}{half}_', f'0 {y} 0', ('thigh', 'toe'), foot=BALL.format(
        at='0 0 0', r=0.02)) for side, y in (('l', 0.1), ('r', -0.1)) for half in 'ab'))
    assert any('la_toe and lb_toe are at one place' in text for text in guessed(loop)[1].doubts)
    assert not guessed(QUADRUPED)[1].doubts


STAND = ('<robot name="rig"><link name="ground"/><joint name="rail" type="prismatic">'
         '<parent link="ground"/><child link="base"/><axis xyz="0 0 1"/>'
         '<limit lower="-9" upper="9" effort="1000" velocity="9"/></joint>'
         f'{link("base", mass=2.0)}'
         + limb('a_', '0 0 0', ('thigh', 'shin', 'tip'), length=0.2) + '</robot>')


def test_a_leg_on_a_rail_is_a_stand_with_a_passive_rail(tmp_path):
    model, guess = guessed(STAND)
    assert guess.rails == guess.passive == ('rail',)
    assert [one.foot.link for one in guess.feet] == ['a_tip']
    path = tmp_path / 'rig.yaml'
    path.write_text(robot_yaml(model, guess, 'rig.urdf'))
    config = RobotConfig.from_yaml(path)
    applied = config.apply_to(model)
    assert not applied.floating and config.rails(applied) == ('rail',)
    assert 'rail' not in config.joints and config.unknown_efforts == ('rail',)


def test_a_joint_without_an_effort_limit_among_others_that_have_one_is_passive():
    text = robot(limb('left_', '0 0.1 0', ('hip', 'knee', 'foot')),
                 limb('right_', '0 -0.1 0', ('hip', 'knee', 'foot')))
    assert guessed(text)[1].passive == ()
    spring = text.replace('effort="50"', 'effort="0"', 1)
    assert guessed(spring)[1].passive == ('left_hip_joint',)


def test_known_motors_are_written_with_their_source_and_others_are_to_be_checked(tmp_path):
    known = robot(limb('FL_', '0.2 0.1 0', ('hip', 'thigh', 'calf', 'foot')),
                  limb('FR_', '0.2 -0.1 0', ('hip', 'thigh', 'calf', 'foot')))
    model, guess = guessed(known.replace('name="r"', 'name="go2_description"'))
    assert any('unitree_mujoco' in text for text in guess.said)
    path = tmp_path / 'go2.yaml'
    path.write_text(robot_yaml(model, guess, 'go2.urdf'))
    assert RobotConfig.from_yaml(path).armature == (0.01,)
    _, other = guessed(known)
    assert not other.motors and any('until it is known or learned' in text
                                    for text in other.measure)


@pytest.mark.parametrize('foot', [LineFoot('{}foot', 0.1, -0.1),
                                  FlatFoot('{}foot', 0.1, -0.1, 0.05, -0.05)])
def test_bent_legs_level_what_a_foot_rests_on(foot):
    """A line may be turned about itself and touches the ground as before; a sole may not."""
    legs = ''
    for prefix, y in (('l', 0.1), ('r', -0.1)):
        legs += (limb(prefix, f'0 {y} 0', ['thigh', 'shank'])
                 + link(f'{prefix}pitch') + joint(f'{prefix}shank', f'{prefix}pitch', '0 0 -0.3')
                 + link(f'{prefix}roll')
                 + joint(f'{prefix}pitch', f'{prefix}roll', '0 0 0', axis='1 0 0')
                 + link(f'{prefix}foot')
                 + f'<joint name="{prefix}mount" type="fixed"><parent link="{prefix}roll"/>'
                 f'<child link="{prefix}foot"/><origin rpy="{3 * y} 0.2 0"/></joint>')
    model = RobotModel.from_urdf(f'<robot name="r">{link("base", mass=5.0)}{legs}</robot>')
    feet = [replace(foot, link=foot.link.format(prefix)) for prefix in 'lr']
    q = half_bent_position(model, feet, np.zeros(model.nq))
    poses = body_poses(model, q)
    for one in feet:
        up = link_pose(model, poses, one.link).R[2]
        assert abs(up[0]) < 0.02                # level along the foot's x
        roll = abs(q[model.joint_index(f'{one.link[0]}roll_joint')])
        assert roll < 0.02 if isinstance(foot, LineFoot) else abs(up[1]) < 0.02 < roll


BALLS = ''.join(BALL.format(at=f'{x} {y} -0.04', r=0.01)
                for x in (-0.05, 0.04, 0.12) for y in (-0.03, 0.03))


def six_joints(own, fixed='', limit='lower="-1" upper="1"'):
    """Two legs of six joints; `fixed` is in a link that is fixed to the last one, the foot."""
    names = ('yaw', 'roll', 'pitch', 'knee', 'bend', 'foot')
    return robot(*(limb(f'{side}_', f'0 {y} 0', names, length=0.1, foot=own)
                   + link(f'{side}_corners', fixed, mass=0.0)
                   + joint(f'{side}_foot', f'{side}_corners', '0 0 0', kind='fixed', limit=limit)
                   for side, y in (('left', 0.1), ('right', -0.1))))


@pytest.mark.parametrize('own, fixed', [(BALLS, ''), (BALL.format(at='0.12 0.03 -0.04', r=0.01),
                                                     BALLS)])
def test_balls_at_the_corners_of_a_humanoids_foot_are_its_sole(own, fixed):
    """Also where its own link holds but one of them."""
    _, guess = guessed(six_joints(own, fixed))
    for one in guess.feet:
        assert isinstance(one.foot, FlatFoot) and one.measured_by
        assert (one.foot.front, one.foot.back, one.foot.left) == (0.12, -0.05, 0.03)
        assert one.frame.pose.p[2] == -0.05


def test_one_ball_below_an_ankle_does_not_tell_the_sole():
    _, guess = guessed(six_joints(BALL.format(at='0 0 -0.04', r=0.01)))
    assert all(isinstance(one.foot, FlatFoot) and not one.measured_by for one in guess.feet)
    assert any('foot left_foot: ' in text for text in guess.measure)


def test_feet_on_the_base_are_no_legs_with_ankles():
    pads = ''.join(link(name, mass=0.0) + joint('base', name, '0 0 0', kind='fixed')
                   for name in 'ab')
    text = QUADRUPED.replace('</robot>', f'{pads}</robot>')
    assert all(isinstance(one.foot, PointFoot) for one in guessed(text, feet=['a', 'b'])[1].feet)


def test_joints_that_follow_others_need_no_effort_limit(tmp_path):
    """They have no motor, so the percentage of a limit is none of theirs."""
    text = QUADRUPED.replace('</robot>', link('tail') + joint('base', 'tail', '0 0 0').replace(
        ' effort="50"', '').replace('</joint>', '<mimic joint="fl_thigh_joint"/></joint>')
        + '</robot>')
    model, guess = guessed(text)
    path = tmp_path / 'tail.yaml'
    path.write_text(robot_yaml(model, guess, 'a.urdf'))
    noise = RobotConfig.from_yaml(path).noise
    assert noise.effort_percent > 0.0
    found = dict(zip(model.joint_names, noise.of_joints('effort', model)))
    assert found['tail_joint'] == 0.0 and found['fl_thigh_joint'] == pytest.approx(0.5)
