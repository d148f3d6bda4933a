# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The planar controller and the one in SE(3) are the same on the biped."""
import numpy as np
import pytest
from bipeds import PLANE, ROBOT, TO_PAPER, coordinates, moving_state
from robots import CONFIG
from tolerances import GOLDEN

from legged_dynamics.estimation.leg_odometry import BodyState, OdometryFault
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.reproductions.planar import CROUCH, PlanarController, PlanarState
from legged_dynamics.spatial.rotations import rotation_from_quaternion
from legged_dynamics.workspace.command import BodyTarget
from legged_dynamics.workspace.controller import WorkspaceController

PAPER_GAINS = {
    'gains.linear.stiffness': [3.0] * 3, 'gains.linear.damping': [2.46] * 3,
    'gains.linear.integral': [0.0] * 3, 'gains.angular.stiffness': [3.0] * 3,
    'gains.angular.damping': [2.46] * 3, 'gains.angular.integral': [0.0] * 3,
    'limits.error.linear': 10.0, 'limits.error.angular': 3.0,
    'limits.acceleration.linear': 100.0, 'limits.acceleration.angular': 1000.0,
    'limits.effort_fraction': 1.0, 'division.method': 'even'}


def body(pose_q, twist):
    return BodyState(0, pose_q[:3], rotation_from_quaternion(pose_q[3:7]), twist,
                     np.ones(2, dtype=bool), np.zeros((2, 3)), np.zeros(2), 0.0, 0, 0,
                     OdometryFault.NONE)


def spatial_command(state, **settings):
    model = RobotModel.from_urdf(CONFIG / 'robots' / 'biped.urdf')
    config = RobotConfig.from_yaml(CONFIG / 'robots' / 'biped.yaml')
    controller = WorkspaceController(model, config, {**PAPER_GAINS, **settings})
    q, v = coordinates(state)
    wanted, _ = coordinates(PlanarState(CROUCH.pose, CROUCH.twist, np.zeros(6), np.zeros(6)))
    target = BodyTarget.of(wanted[:3], rotation_from_quaternion(wanted[3:7]))
    return controller.update(body(q, v[:6]), Measurement(0, q[7:], v[6:]), target)


def symmetric_state(seed):
    """Return a state in which both legs do the same."""
    state = moving_state(seed)
    return PlanarState(state.pose, state.twist, np.tile(state.position[:3], 2),
                       np.tile(state.velocity[:3], 2))


def in_plane(matrix):
    return TO_PAPER[:, None] * matrix[np.ix_(PLANE, PLANE)] * TO_PAPER


def close(actual, wanted):
    np.testing.assert_allclose(actual, wanted, atol=GOLDEN * np.abs(wanted).max())


@pytest.mark.parametrize('seed', range(4))
def test_dynamics_and_wanted_force_agree(seed):
    state = moving_state(seed)
    planar = PlanarController(ROBOT).update(state, CROUCH, 0.01)
    spatial = spatial_command(state)
    close(in_plane(spatial.inertia), planar.dynamics.inertia)
    close(TO_PAPER * spatial.bias[PLANE], planar.dynamics.bias)
    close(TO_PAPER * spatial.error[PLANE], planar.error)
    close(TO_PAPER * spatial.body_force[PLANE], planar.force)


@pytest.mark.parametrize('seed', range(4))
def test_torques_agree_where_the_legs_do_the_same(seed):
    state = symmetric_state(seed)
    planar = PlanarController(ROBOT).update(state, CROUCH, 0.01)
    close(spatial_command(state).effort, planar.torque)
