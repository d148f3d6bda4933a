# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The legs' pseudo-inverse: numpy's where a leg is well, finite where it is not; and reach."""
import numpy as np
import pytest
from standing import body_state, quadruped, random_legs, random_motion, run_stages, standing_pose

from legged_dynamics.dynamics import frame_poses
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.spatial.rotations import rotation_from_vector
from legged_dynamics.workspace import BodyPose, ReachLimiter
from legged_dynamics.workspace.propagation import invert_legs

STRAIGHT = -0.26


def quadruped_at(bend):
    model, config = quadruped()
    q = standing_pose(model, config)
    for leg, sign in (('LF', 1.0), ('RF', 1.0), ('LH', -1.0), ('RH', -1.0)):
        q[model.joint_index(f'{leg}_HFE')] = sign * bend / 2.0
        q[model.joint_index(f'{leg}_KFE')] = -sign * bend
    return model, config, q


def stages_at(bend, threshold):
    model, config, q = quadruped_at(bend)
    full = np.concatenate([np.zeros(6), np.ones(1), q])
    return run_stages(model, config.feet, full, np.zeros(18), threshold)


@pytest.mark.parametrize('seed', range(4))
def test_it_is_the_pseudo_inverse_with_redundant_and_flat_legs(seed):
    model, feet = random_legs(seed, kinds=('revolute',))
    s = run_stages(model, feet, *random_motion(model, seed))
    wanted = np.linalg.pinv(s.jacobian)
    np.testing.assert_allclose(s.inverse, wanted, atol=1e-8 * np.abs(wanted).max())


def test_singular_values_are_those_of_the_leg_in_its_own_length():
    s = stages_at(0.8, 1e-6)
    for i in range(4):
        J = s.jacobian[3 * i:3 * i + 3] / s.reach[3 * i]
        values = np.linalg.svd(J, compute_uv=False)
        np.testing.assert_allclose(s.singular[i], [values[2], values[0]], rtol=1e-12)


def test_a_damped_inverse_is_bounded_and_goes_to_zero_with_the_singular_value():
    gains = []
    for bend in np.linspace(STRAIGHT, 0.2, 60):
        s = stages_at(bend, 0.03)
        gains.append(np.linalg.norm(s.inverse[:3, :3], 2) * s.reach[0])
    assert max(gains) < 1.0 / 0.03 + 1e-6
    undamped = stages_at(STRAIGHT + 1e-3, 1e-9)
    assert np.linalg.norm(undamped.inverse[:3, :3], 2) * undamped.reach[0] > 1e3


def test_damping_touches_nothing_but_the_lost_direction():
    damped, exact = stages_at(-0.15, 0.03), stages_at(-0.15, 1e-9)
    U, values, _ = np.linalg.svd(exact.jacobian[:3, :12])
    assert values[2] / exact.reach[0] < 0.03
    for direction in U.T[:2]:
        np.testing.assert_allclose(damped.inverse[:, :3] @ direction,
                                   exact.inverse[:, :3] @ direction, atol=1e-9)
    lost = np.linalg.norm(damped.inverse[:, :3] @ U[:, 2])
    assert lost == pytest.approx(values[2] / (0.03 * exact.reach[0]) ** 2, rel=1e-9)


def test_a_leg_of_few_joints_is_not_called_singular():
    """Three hinges hold a flat foot only in the plane: three singular values are zero."""
    model, feet = random_legs(3, legs=(7, 3), kinds=('revolute',))
    from legged_dynamics.model import FlatFoot
    flat = [feet[0], FlatFoot(feet[1].link, 0.2, -0.1, 0.05, -0.05)]
    s = run_stages(model, flat, *random_motion(model, 2))
    assert (s.singular[:, 0] > 1e-3).all()
    invert_legs(s, 1e-6)
    wanted = np.linalg.pinv(s.jacobian / s.reach[:, None]) / s.reach
    np.testing.assert_allclose(s.inverse, wanted, atol=1e-9 * np.abs(wanted).max())


def standing():
    """Return model, config, joints and the state of a quadruped with its feet at z = 0."""
    model, config, q = quadruped_at(0.8)
    poses = frame_poses(model, q, tuple(foot.link for foot in config.feet))
    feet = np.array([poses[foot.link].p for foot in config.feet])
    height = -feet[:, 2].mean()
    places = feet + np.array([0.0, 0.0, height])
    return model, config, q, body_state([0.0, 0.0, height], places=places)


def test_a_pose_in_reach_is_left_alone():
    model, config, q, state = standing()
    pose = BodyPose(state.position + np.array([0.03, 0.02, -0.1]),
                    rotation_from_vector([0.1, 0.1, 0.2]))
    found, part = ReachLimiter(model, config, 0.06).furthest(state, q, pose)
    assert part == 1.0 and found is pose


@pytest.mark.parametrize(('offset', 'turn'), [((0.0, 0.0, 0.4), (0.0, 0.0, 0.0)),
                                              ((0.6, 0.0, 0.0), (0.0, 0.0, 0.0)),
                                              ((0.0, 0.0, 0.0), (0.0, 1.2, 0.0))])
def test_a_way_out_of_reach_is_cut_where_a_leg_is_stretched(offset, turn):
    model, config, q, state = standing()
    limiter = ReachLimiter(model, config, 0.06)
    pose = BodyPose(state.position + np.array(offset), rotation_from_vector(np.array(turn)))
    found, part = limiter.furthest(state, q, pose)
    assert 0.02 < part < 1.0
    np.testing.assert_allclose(found.position, state.position + part * np.array(offset))
    again, whole = limiter.furthest(state, q, found)
    assert whole == 1.0
    further = BodyPose(state.position + (part + 0.03) * np.array(offset),
                       rotation_from_vector((part + 0.03) * np.array(turn)))
    assert limiter.furthest(state, q, further)[1] < 1.0


def test_the_more_bent_a_knee_must_stay_the_shorter_is_the_way():
    model, config, q, state = standing()
    pose = BodyPose(state.position + np.array([0.0, 0.0, 0.2]), np.eye(3))
    parts = [ReachLimiter(model, config, stretch).furthest(state, q, pose)[1]
             for stretch in (0.14, 0.06)]
    assert 0.02 < parts[0] < parts[1] - 0.1


def test_joint_limits_bound_the_reach_too():
    model, config, q, state = standing()
    pose = BodyPose(state.position + np.array([0.0, 0.5, -0.1]), np.eye(3))
    _, part = ReachLimiter(model, config, 0.06).furthest(state, q, pose)
    hips = [name for name in model.joint_names if name.endswith('HAA')]
    stiff = model.with_joint_physics(lower=dict.fromkeys(hips, -0.15),
                                     upper=dict.fromkeys(hips, 0.15))
    all_of_it = ReachLimiter(stiff, config, 0.06).furthest(state, q, pose)[1]
    assert 0.05 < all_of_it < 0.8 * part
    # What is left free at either end is taken off the way.
    assert 0.01 < ReachLimiter(stiff, config, 0.06, 0.1).furthest(state, q, pose)[1] < (
        0.9 * all_of_it)


def test_joints_that_do_not_fit_are_refused():
    model, config, _, state = standing()
    with pytest.raises(MeasurementError, match='12 joint positions'):
        ReachLimiter(model, config, 0.06).furthest(state, np.zeros(3),
                                                   BodyPose(np.zeros(3), np.eye(3)))
