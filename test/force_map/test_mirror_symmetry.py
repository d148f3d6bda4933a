# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The theorem: where pose and bodies mirror each other, rank D_f <= 2."""
import numpy as np
import pytest
from chains import ball_leg, knee_leg
from robots import CONFIG
from scipy.spatial.transform import Rotation

from legged_dynamics.force_map import FootForceMap, damped_torques, standing_on
from legged_dynamics.model import Inertia, RobotModel


def pitched(angle):
    return Rotation.from_euler('Y', angle).as_quat()


def test_every_sagittal_pose_of_the_leg_is_singular():
    force_map = FootForceMap(ball_leg(), 'hip', ['foot'])
    rng = np.random.default_rng(0)
    poses = [(0.0, 0.0), *rng.uniform(-1.2, 1.2, (50, 2))]
    for foot, hip in poses:
        rates = np.zeros(6)
        rates[[1, 4]] = rng.normal(size=2)      # motion within the plane changes nothing
        force = force_map.compute(np.concatenate([pitched(foot), pitched(hip)]), rates).force
        assert force.rank <= 2
        assert force.condition == np.inf
        # Pitch torque gives force within the plane, roll and yaw torques across it.
        np.testing.assert_allclose(force.matrix[1, 1], 0.0, atol=1e-13)
        np.testing.assert_allclose(force.matrix[[0, 2]][:, [0, 2]], 0.0, atol=1e-13)
        lost = force.unproducible[:, 0]
        np.testing.assert_allclose(lost @ force.matrix, 0.0, atol=1e-12)
        assert abs(lost[1]) < 1e-12
    upright = force_map.compute(np.concatenate([pitched(0.0), pitched(0.0)])).force
    np.testing.assert_allclose(np.abs(upright.weakest_direction), [0.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(upright.offset, [0.0, 0.0, 61.0 * 9.81], atol=1e-10)


def test_with_a_knee_the_plane_has_two_directions():
    """Pitch at hip and at knee are two torques in the plane: the leg can then push upwards."""
    model = knee_leg()
    q = np.zeros(model.nq)
    q[:4], q[4], q[5:9] = pitched(0.3), -0.8, pitched(0.5)
    whole = FootForceMap(model, 'hip', ['foot', 'shoulder', 'rail']).compute(q).force
    hip_only = FootForceMap(model, 'hip', ['foot', 'shoulder', 'rail', 'knee']).compute(q).force
    assert (whole.rank, hip_only.rank) == (3, 2)


def test_a_torso_balanced_at_the_hip_is_singular_in_every_pose():
    torso = Inertia(50.0, np.zeros(3), np.diag([3.0, 2.6, 0.6]))
    force_map = FootForceMap(ball_leg(torso), 'hip', ['foot'])
    rng = np.random.default_rng(1)
    for _ in range(20):
        leg = Rotation.from_rotvec(rng.normal(size=3))
        q = np.concatenate([leg.as_quat(), Rotation.from_rotvec(rng.normal(size=3)).as_quat()])
        force = force_map.compute(q).force
        assert force.rank == 2
        axis = leg.as_matrix()[:, 2]
        assert abs(force.weakest_direction @ axis) == pytest.approx(1.0, abs=1e-9)


def test_a_generic_pose_is_regular_and_next_to_singular():
    force_map = FootForceMap(ball_leg(), 'hip', ['foot'])
    q = np.concatenate([Rotation.from_euler('XYZ', [0.2, 0.2, 0.0]).as_quat(),
                        Rotation.from_euler('XYZ', [-0.1, 0.3, 0.2]).as_quat()])
    force = force_map.compute(q).force
    assert force.rank == 3
    assert 500.0 < force.condition < 1200.0
    # An inverse that insists asks for kilonewton metres; a damped one says what it leaves.
    wish = force.offset + np.array([0.0, 0.0, 20.0])
    exact, damped = (damped_torques(force, wish, damping=d) for d in (0.0, 0.1))
    assert np.abs(exact.torque).max() > 1000.0
    np.testing.assert_allclose(exact.residual, 0.0, atol=1e-8)
    assert np.abs(damped.torque).max() < 15.0
    assert 5.0 < np.linalg.norm(damped.residual) < 20.0
    assert abs(damped.residual @ damped.weakest_direction) > 0.9 * np.linalg.norm(damped.residual)


def test_a_quadruped_standing_square_on_one_foot_is_not_symmetric_about_it():
    model = RobotModel.from_urdf(CONFIG / 'robots' / 'anymal_class.urdf')
    stance = standing_on(model, 'LF_FOOT')
    q, v = stance.state(np.tile([0.1, 0.7, -1.2], 4), np.zeros(12), np.eye(3), np.zeros(3))
    assert FootForceMap(stance.model, passive=['ground_ball']).compute(q, v).force.rank == 3
