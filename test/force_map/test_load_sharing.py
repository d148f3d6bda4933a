# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sharing a load between point feet as a ground-force problem: even, but for what is asked."""
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
from legged_dynamics.dynamics.jacobians import contact_table
from legged_dynamics.force_map import (
    ConstrainedForceMap,
    FrictionCone,
    GroundForceProblem,
    Outcome,
    TorqueProgram,
    stacked_inequalities,
)
from legged_dynamics.model import PointFoot, RobotModel

SQUARE = np.array([[0.3, 0.2, -0.5], [0.3, -0.2, -0.5], [-0.3, 0.2, -0.5], [-0.3, -0.2, -0.5]])
WEIGHT = np.array([0.0, 0.0, 400.0, 0.0, 0.0, 0.0])
CONES = stacked_inequalities([FrictionCone(0.6).inequalities()] * 4)


def add_up(points, forces):
    return np.concatenate([forces.sum(axis=0), np.cross(points, forces).sum(axis=0)])


def shared(points, wrench, cones, asked=None):
    """Return forces (k, 3) that make a wrench, foot 0 as near to what it asks as it can be."""
    k = len(points)
    prior, variance = np.tile(wrench[:3] / k, (k, 1)), np.ones((k, 3))
    if asked is not None:
        prior[0], variance[0] = asked, 1e-4
        prior[1:] = (wrench[:3] - asked) / (k - 1)
    grasp = contact_table([PointFoot('')] * k).grasp(np.tile(np.eye(3), (k, 1, 1)), points)
    found = GroundForceProblem.prior(prior.ravel(), variance.ravel()).with_limits(
        *cones).with_rows(grasp, wrench).solve()
    return found.mean.reshape(k, 3), found.outcome


def test_a_symmetric_stance_shares_evenly():
    force, outcome = shared(SQUARE, WEIGHT, CONES)
    np.testing.assert_allclose(force, np.tile([0, 0, 100.0], (4, 1)), atol=1e-9)
    assert outcome is Outcome.SOLVED


def test_a_foot_gets_what_it_asks_and_the_others_carry_the_rest():
    asked = np.array([5.0, 0.0, 140.0])
    force, _ = shared(SQUARE, WEIGHT, CONES, asked)
    np.testing.assert_allclose(force[0], asked, atol=0.1)
    np.testing.assert_allclose(add_up(SQUARE, force), WEIGHT, atol=1e-4)
    assert (CONES[0] @ force.ravel() >= CONES[1] - 1e-6).all()


@pytest.mark.parametrize('ask', [(0, 0, -200.0), (0, 0, 4000.0), (900.0, 0, 100.0)])
def test_the_impossible_is_given_as_far_as_the_robot_stays_up(ask):
    force, outcome = shared(SQUARE, WEIGHT, CONES, np.array(ask))
    assert outcome is Outcome.SOLVED
    np.testing.assert_allclose(add_up(SQUARE, force), WEIGHT, atol=1e-2)
    assert (CONES[0] @ force.ravel() >= CONES[1] - 1e-6).all()
    assert np.linalg.norm(force[0] - ask) > 50.0


def test_feet_that_cannot_carry_the_robot_say_so():
    two = SQUARE[[0, 3]]
    lifted = np.array([0.0, 0.0, 400.0, 100.0, 80.0, 0.0])
    force, outcome = shared(two, lifted, stacked_inequalities(
        [FrictionCone(0.6).inequalities()] * 2))
    assert outcome is Outcome.INFEASIBLE
    assert np.linalg.norm(lifted - add_up(two, force)) > 1.0


def test_the_whole_way_from_an_asked_force_to_torques_that_keep_the_robot_still():
    model = RobotModel.from_urdf(CONFIG / 'robots' / 'anymal_class.urdf')
    feet, q = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT'), np.tile([0.1, 0.7, -1.2], 4)
    zero = np.zeros(12)
    found = ConstrainedForceMap(model, [PointFoot(foot) for foot in feet]).compute(q, zero)
    needed = inverse_dynamics(model, Motion(q, zero, zero, BaseMotion())).base_wrench
    asked = np.array([0.0, 0.0, needed[2] * 0.35])
    force, _ = shared(found.contact_points, needed, CONES, asked)
    solution = TorqueProgram(model.effort_limits, CONES).solve(found, force.ravel())
    np.testing.assert_allclose(solution.force[:3], asked, atol=1.0)
    poses = frame_poses(model, q)
    loads = {foot: [*(poses[foot].R.T @ force), 0, 0, 0]
             for foot, force in zip(feet, solution.force.reshape(4, 3))}
    forward = forward_dynamics(model, q, zero, solution.torque, external=loads)
    np.testing.assert_allclose(forward.base_acceleration, [0, 0, 9.81, 0, 0, 0], atol=1e-2)
    np.testing.assert_allclose(forward.joint_acceleration, 0.0, atol=5e-2)
