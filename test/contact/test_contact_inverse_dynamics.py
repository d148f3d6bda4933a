# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pinocchio as pin
import pytest
from robots import TWO_LEGS, golden, pinocchio_twin, random_robot, random_state
from tolerances import ALGEBRA, GOLDEN

from legged_dynamics.contact import ContactInverseDynamics, Support
from legged_dynamics.dynamics import BaseMotion, Motion, frame_poses, inverse_dynamics
from legged_dynamics.exceptions import ConfigurationError, MeasurementError, UnknownNameError
from legged_dynamics.model import FlatFoot, PointFoot, RobotModel

NIMBLE = golden('004_contact_id.json')
SELECTIONS = {'single_left': {'in_contact': [True, False]}, 'nearest_guess': {},
              'min_torque_eps0p01': {}}


@pytest.mark.parametrize('case', NIMBLE['cases'], ids=lambda case: case['name'])
@pytest.mark.parametrize('selection', SELECTIONS)
def test_agrees_with_nimble(case, selection):
    model = RobotModel.from_urdf(NIMBLE['urdf'])
    order = [NIMBLE['v_order'][1:].index(name) for name in model.joint_names]
    q, v, a = (np.array(case[key]) for key in 'qva')
    motion = Motion(q[7:][order], v[6:][order], a[6:][order],
                    BaseMotion.from_twist(v[:6], a[:6], q[3:7]))
    feet = [FlatFoot(link, 0.1, -0.1, 0.05, -0.05) for link in ('l_foot', 'r_foot')]
    options = dict(SELECTIONS[selection])
    if selection == 'nearest_guess':
        options['guess'] = np.reshape(case['guess_local_f_m'], (2, 6))
    found = ContactInverseDynamics(model, feet, reference='frame').solve(motion, **options)
    expected = case['expect'][selection]
    wrench, tau = np.array(expected['w_local_f_m']), np.array(expected['tau'])[order]
    np.testing.assert_allclose(found.wrench.ravel()[:wrench.size], wrench,
                               atol=GOLDEN * np.abs(wrench).max())
    np.testing.assert_allclose(found.joint_effort, tau, atol=GOLDEN * np.abs(tau).max())
    assert found.rank == 6
    assert np.abs(found.root_residual).max() < GOLDEN * np.abs(wrench).max()


def quadruped():
    """Return a random robot with eight joints and point feet on its four last links."""
    model = random_robot(11, 8)
    return model, [PointFoot(f'link{i}', 0.02) for i in (4, 5, 6, 7)]


def random_motion(model, seed):
    q, v, a, xyzw, twist, acceleration = random_state(model, seed)
    return Motion(q, v, a, BaseMotion.from_twist(twist, acceleration, xyzw)), xyzw


@pytest.mark.parametrize('flat', [False, True])
def test_ground_and_motors_together_move_the_robot(flat):
    """Forward dynamics of Pinocchio under the found efforts and wrenches gives the motion back."""
    model, feet = quadruped()
    if flat:
        feet = [FlatFoot(foot.link, 0.1, -0.1, 0.05, -0.05) for foot in feet]
    twin = pinocchio_twin(model)
    q, v, a, xyzw, twist, acceleration = random_state(model, 3)
    motion = Motion(q, v, a, BaseMotion.from_twist(twist, acceleration, xyzw))
    found = ContactInverseDynamics(model, feet).solve(motion)
    forces = [pin.Force.Zero() for _ in range(twin.njoints)]
    for foot, wrench in zip(feet, found.wrench):
        frame = twin.frames[twin.getFrameId(foot.link)]
        forces[frame.parentJoint] += frame.placement.act(pin.Force(wrench))
    vector = pin.StdVec_Force()
    vector.extend(forces)
    rate = pin.aba(twin, twin.createData(), np.concatenate([[0, 0, 0], xyzw, q]),
                   np.concatenate([twist, v]), np.concatenate([np.zeros(6), found.joint_effort]),
                   vector)
    expected = np.concatenate([acceleration, a])
    assert found.support is Support.REDUNDANT
    np.testing.assert_allclose(rate, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize(('down', 'rank', 'nullity', 'support'), [
    ((0, 0, 0, 0), 0, 0, Support.AIRBORNE),
    ((1, 0, 0, 0), 3, 0, Support.DEFICIENT),
    ((1, 1, 0, 0), 5, 1, Support.DEFICIENT_REDUNDANT),
    ((1, 1, 1, 0), 6, 3, Support.REDUNDANT),
    ((1, 1, 1, 1), 6, 6, Support.REDUNDANT),
])
def test_every_number_of_point_feet_is_said(down, rank, nullity, support):
    model, feet = quadruped()
    motion, _ = random_motion(model, 4)
    found = ContactInverseDynamics(model, feet).solve(motion, in_contact=down)
    assert (found.rank, found.nullity, found.support) == (rank, nullity, support)
    assert not found.wrench[~np.array(down, bool)].any()
    carried = np.abs(found.root_residual).max() < 1e-9 * np.abs(found.wrench).max(initial=1.0)
    assert carried == (rank == 6)


def test_airborne_leaves_the_whole_wrench_as_residual():
    model, feet = quadruped()
    motion, _ = random_motion(model, 4)
    found = ContactInverseDynamics(model, feet).solve(motion, in_contact=[0, 0, 0, 0])
    free = inverse_dynamics(model, motion)
    np.testing.assert_array_equal(found.root_residual, free.base_wrench)
    np.testing.assert_array_equal(found.joint_effort, free.joint_effort)


def test_collinear_points_have_rank_five():
    model = RobotModel.from_urdf(TWO_LEGS)
    zeros = np.zeros(6)
    # Thigh origins and base lie on one line through the hips.
    feet = [PointFoot('l_hip'), PointFoot('r_hip'), PointFoot('base')]
    found = ContactInverseDynamics(model, feet).solve(Motion(zeros, zeros, zeros))
    assert found.rank == 5
    assert found.support is Support.DEFICIENT_REDUNDANT


def test_one_flat_foot_is_unique_with_straight_legs_too():
    model = RobotModel.from_urdf(TWO_LEGS)
    zeros = np.zeros(6)
    feet = [FlatFoot(link, 0.1, -0.05, 0.04, -0.04) for link in ('l_foot', 'r_foot')]
    found = ContactInverseDynamics(model, feet).solve(Motion(zeros, zeros, zeros),
                                                      in_contact=[True, False])
    assert found.support is Support.UNIQUE
    np.testing.assert_allclose(found.wrench[0, :3], [0, 0, model.total_mass * 9.81], atol=1e-9)


def test_a_ball_is_touched_at_its_bottom():
    """The moment about the ball's centre is that of the force at the contact point."""
    model, feet = quadruped()
    motion, _ = random_motion(model, 5)
    normal = np.array([0.6, 0.0, 0.8])
    found = ContactInverseDynamics(model, feet).solve(motion, ground_normal=normal)
    poses = frame_poses(model, motion.position)
    for foot, wrench in zip(feet, found.wrench):
        arm = poses[foot.link].R.T @ (-0.02 * normal)
        np.testing.assert_allclose(wrench[3:], np.cross(arm, wrench[:3]), atol=1e-9)


def test_weights_scale_with_equal_moments_at_all_feet():
    """With equal weights every flat foot carries the same couple in common axes (5.2)."""
    model = RobotModel.from_urdf(TWO_LEGS)
    feet = [FlatFoot(link, 0.1, -0.1, 0.05, -0.05) for link in ('l_foot', 'r_foot')]
    rng = np.random.default_rng(0)
    q = rng.uniform(-0.5, 0.5, 6)
    motion = Motion(q, rng.normal(size=6), rng.normal(size=6))
    found = ContactInverseDynamics(model, feet, reference='frame').solve(motion)
    poses = frame_poses(model, q)
    left, right = (poses[foot.link].R @ wrench[3:] for foot, wrench in zip(feet, found.wrench))
    np.testing.assert_allclose(left, right, atol=ALGEBRA * np.abs(found.wrench).max())


@pytest.mark.parametrize(('call', 'error', 'message'), [
    (lambda m, f: ContactInverseDynamics(m, [PointFoot('tail')]), UnknownNameError, 'of a link'),
    (lambda m, f: ContactInverseDynamics(m, f, length_scale=0.0), ConfigurationError,
     'length scale above 0'),
    (lambda m, f: ContactInverseDynamics(m, f, reference='heel'), ConfigurationError, "'sole' or"),
    (lambda m, f: ContactInverseDynamics(m, f).solve(
        Motion(np.zeros(6), np.zeros(6), np.zeros(6)), in_contact=[True]), MeasurementError,
     'expected 2 contact flags'),
    (lambda m, f: ContactInverseDynamics(m, f).solve(
        Motion(np.zeros(6), np.zeros(6), np.zeros(6)), guess=np.zeros(6)), MeasurementError,
     r'guess of shape \(2, 6\)'),
    (lambda m, f: ContactInverseDynamics(m, f).solve(
        Motion(np.zeros(6), np.zeros(6), np.zeros(6)), ground_normal=(0, 0, 2)), MeasurementError,
     'unit ground normal'),
])
def test_bad_input_is_refused(call, error, message):
    model = RobotModel.from_urdf(TWO_LEGS)
    with pytest.raises(error, match=message):
        call(model, [PointFoot('l_foot'), PointFoot('r_foot')])


def test_a_fixed_base_is_refused():
    model = RobotModel.from_urdf(TWO_LEGS, base='fixed')
    with pytest.raises(ConfigurationError, match='needs a floating base'):
        ContactInverseDynamics(model, [PointFoot('l_foot')])
