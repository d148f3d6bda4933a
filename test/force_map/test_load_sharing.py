# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The deprecated shorthand for the ground-force problem of point feet still gives its forces."""
import numpy as np
import pytest
from robots import CONFIG

from legged_dynamics.dynamics import (
    BaseMotion,
    Motion,
    forward_dynamics,
    frame_poses,
    inverse_dynamics,
)
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map import (
    ConstrainedForceMap,
    FrictionCone,
    TorqueProgram,
    share_load,
    stacked_inequalities,
)
from legged_dynamics.model import PointFoot, RobotModel

pytestmark = pytest.mark.filterwarnings('ignore:share_load:DeprecationWarning')

SQUARE = np.array([[0.3, 0.2, -0.5], [0.3, -0.2, -0.5], [-0.3, 0.2, -0.5], [-0.3, -0.2, -0.5]])
WEIGHT = np.array([0.0, 0.0, 400.0, 0.0, 0.0, 0.0])
CONES = stacked_inequalities([FrictionCone(0.6).inequalities()] * 4)


def add_up(points, forces):
    return np.concatenate([forces.sum(axis=0), np.cross(points, forces).sum(axis=0)])


def test_a_symmetric_stance_shares_evenly():
    shares = share_load(SQUARE, WEIGHT, inequalities=CONES)
    np.testing.assert_allclose(shares.force, np.tile([0, 0, 100.0], (4, 1)), atol=1e-9)
    assert shares.balanced


def test_a_foot_gets_what_it_asks_and_the_others_carry_the_rest():
    asked = {0: np.array([5.0, 0.0, 140.0])}
    shares = share_load(SQUARE, WEIGHT, asked, CONES)
    np.testing.assert_allclose(shares.force[0], asked[0], atol=0.1)
    np.testing.assert_allclose(add_up(SQUARE, shares.force), WEIGHT, atol=1e-6)
    np.testing.assert_allclose(shares.missing[1:], 0.0)
    A, b = CONES
    assert (A @ shares.force.ravel() >= b - 1e-6).all()


@pytest.mark.parametrize('ask', [(0, 0, -200.0), (0, 0, 4000.0), (900.0, 0, 100.0)])
def test_the_impossible_is_given_as_far_as_the_robot_stays_up(ask):
    shares = share_load(SQUARE, WEIGHT, {0: np.array(ask)}, CONES)
    assert shares.balanced
    np.testing.assert_allclose(add_up(SQUARE, shares.force), WEIGHT, atol=1e-6)
    A, b = CONES
    assert (A @ shares.force.ravel() >= b - 1e-6).all()
    assert np.linalg.norm(shares.missing[0]) > 50.0


def test_feet_that_cannot_carry_the_robot_say_so():
    two = SQUARE[[0, 3]]
    lifted = np.array([0.0, 0.0, 400.0, 100.0, 80.0, 0.0])
    shares = share_load(two, lifted, inequalities=stacked_inequalities(
        [FrictionCone(0.6).inequalities()] * 2))
    assert not shares.balanced
    np.testing.assert_allclose(shares.unbalanced, lifted - add_up(two, shares.force), atol=1e-9)
    assert np.linalg.norm(shares.unbalanced) > 1.0


def test_the_whole_way_from_an_asked_force_to_torques_that_keep_the_robot_still():
    model = RobotModel.from_urdf(CONFIG / 'robots' / 'anymal_class.urdf')
    feet, q = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT'), np.tile([0.1, 0.7, -1.2], 4)
    zero = np.zeros(12)
    found = ConstrainedForceMap(model, [PointFoot(foot) for foot in feet]).compute(q, zero)
    needed = inverse_dynamics(model, Motion(q, zero, zero, BaseMotion())).base_wrench
    asked = {0: np.array([0.0, 0.0, needed[2] * 0.35])}
    shares = share_load(found.contact_points, needed, asked, CONES)
    solution = TorqueProgram(model.effort_limits, CONES).solve(found, shares.force.ravel())
    np.testing.assert_allclose(solution.force[:3], asked[0], atol=1.0)
    poses = frame_poses(model, q)
    loads = {foot: [*(poses[foot].R.T @ force), 0, 0, 0]
             for foot, force in zip(feet, solution.force.reshape(4, 3))}
    forward = forward_dynamics(model, q, zero, solution.torque, external=loads)
    np.testing.assert_allclose(forward.base_acceleration, [0, 0, 9.81, 0, 0, 0], atol=1e-2)
    np.testing.assert_allclose(forward.joint_acceleration, 0.0, atol=5e-2)


def test_it_says_what_to_use_instead():
    with pytest.warns(DeprecationWarning, match='use GroundForceProblem'):
        share_load(SQUARE, WEIGHT)


def test_shapes_are_checked():
    with pytest.raises(ConfigurationError, match=r'\(k, 3\) contact points'):
        share_load(np.zeros((4, 2)), WEIGHT)
    with pytest.raises(ConfigurationError, match='one of the feet 0 to 3'):
        share_load(SQUARE, WEIGHT, {4: np.zeros(3)})
    with pytest.raises(ConfigurationError, match='inequalities of 12 columns'):
        share_load(SQUARE, WEIGHT, inequalities=FrictionCone(0.6).inequalities())
