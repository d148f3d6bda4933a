# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Jacobians and bias accelerations of links and contacts."""
import numpy as np
import pinocchio as pin
import pytest
from robots import pinocchio_twin, random_robot, random_state

from legged_dynamics.dynamics import BaseMotion, frame_bias_acceleration, frame_jacobian
from legged_dynamics.dynamics.jacobians import (
    N_FOOT_STATE,
    contact_bias,
    contact_points,
    feet_table,
)
from legged_dynamics.dynamics.kinematics import body_workspace, forward_kinematics
from legged_dynamics.exceptions import ConfigurationError, UnknownNameError
from legged_dynamics.model import Inertia, Joint, PointFoot, RobotModel
from legged_dynamics.spatial.rotations import rotation_from_quaternion

KINDS = ('revolute', 'prismatic', 'spherical')


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('axes', ['base', 'link'])
def test_agree_with_pinocchio_in_every_joint_type(base, axes):
    model = random_robot(21, 9, KINDS, base=base)
    q, v, _, xyzw, twist, _ = random_state(model, 21)
    twin = pinocchio_twin(model)
    data = twin.createData()
    turning = None
    if model.floating:
        state, rate = np.concatenate([np.zeros(3), xyzw, q]), np.concatenate([twist, v])
        R_WB, turning = rotation_from_quaternion(xyzw), BaseMotion(twist[3:])
    else:
        state, rate, R_WB = q, v, np.eye(3)
    pin.forwardKinematics(twin, data, state, rate, np.zeros(twin.nv))
    pin.computeJointJacobians(twin, data, state)
    pin.updateFramePlacements(twin, data)
    reference = pin.LOCAL if axes == 'link' else pin.LOCAL_WORLD_ALIGNED
    turn = np.eye(3) if axes == 'link' else R_WB.T
    for link in model.frames:
        frame = twin.getFrameId(link)
        J = pin.getFrameJacobian(twin, data, frame, reference)
        theirs = np.vstack([turn @ J[:3], turn @ J[3:]])
        np.testing.assert_allclose(frame_jacobian(model, q, link, axes), theirs, atol=1e-12)
        a = pin.getFrameClassicalAcceleration(twin, data, frame, reference)
        if model.floating:
            # Pinocchio's base has no spatial acceleration; ours no classical one.
            a.linear -= (R_WB if axes == 'base' else data.oMf[frame].rotation.T @ R_WB) @ np.cross(
                twist[3:], twist[:3])
        theirs = np.concatenate([turn @ a.linear, turn @ a.angular])
        np.testing.assert_allclose(frame_bias_acceleration(model, q, v, link, turning, axes),
                                   theirs, atol=1e-11)


def test_bias_is_the_change_of_the_jacobian():
    model = random_robot(22, 6, ('revolute', 'prismatic'), base='fixed')
    q, v, *_ = random_state(model, 22)
    h = 1e-6
    for link in model.frames:
        before, after = (frame_jacobian(model, q + s * h * v, link) @ v for s in (-1.0, 1.0))
        np.testing.assert_allclose(frame_bias_acceleration(model, q, v, link),
                                   (after - before) / (2.0 * h), atol=1e-7)


def test_a_rolling_ball_needs_no_force_to_go_on_rolling():
    """A wheel that rolls steadily: its centre does not accelerate, its contact point does."""
    radius, rate = 0.3, 2.0
    wheel = RobotModel('wheel', {'cart': Inertia(1.0, np.zeros(3), np.eye(3)),
                                 'wheel': Inertia(1.0, np.zeros(3), np.eye(3))},
                       [Joint('axle', 'revolute', 'cart', 'wheel', axis=np.array([0, 1.0, 0]))])
    up = (0.0, 0.0, 1.0)
    found = {}
    for foot in (PointFoot('wheel', radius), PointFoot('wheel', 0.0)):
        feet, bodies = feet_table(wheel, [foot]), body_workspace(wheel)
        states, bias = np.zeros((1, N_FOOT_STATE)), np.zeros(3)
        forward_kinematics(wheel.tree, np.zeros(1), np.array([rate]), np.zeros(1), np.zeros(9),
                           bodies)
        contact_points(feet, bodies, up, states)
        contact_bias(feet, bodies, states, up, bias)
        found[foot.radius] = bias
    np.testing.assert_allclose(found[radius], 0.0, atol=1e-15)
    np.testing.assert_allclose(found[0.0], 0.0, atol=1e-15)
    # A point fixed to the rim has the centripetal acceleration that a ball's contact has not.
    rim = RobotModel('rim', {**wheel.links, 'rim': Inertia()}, [
        *wheel.joints, Joint('weld', 'fixed', 'wheel', 'rim')])
    pose = np.array([0.0, 0.0, -radius])
    rim.frames['rim'] = rim.frames['rim']._replace(pose=type(rim.frames['rim'].pose)(
        rim.frames['wheel'].pose.R, rim.frames['wheel'].pose.R @ pose))
    a = frame_bias_acceleration(rim, np.zeros(1), np.array([rate]), 'rim')
    np.testing.assert_allclose(np.linalg.norm(a[:3]), radius * rate ** 2, rtol=1e-12)


def test_unknown_axes_and_links_are_refused():
    model = random_robot(1, 3)
    with pytest.raises(ConfigurationError, match="axes 'base' or 'link', got 'world'"):
        frame_jacobian(model, np.zeros(3), 'link0', 'world')
    with pytest.raises(UnknownNameError, match='hand'):
        frame_jacobian(model, np.zeros(3), 'hand')
