# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pinocchio as pin
import pytest
from robots import TWO_LEGS, pinocchio_twin, random_robot, random_state
from tolerances import ALGEBRA

from legged_dynamics.dynamics import BaseMotion, Motion, frame_poses, inverse_dynamics
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model import RobotModel
from legged_dynamics.spatial.rotations import rotation_from_vector

KINDS = {'revolute': ('revolute',), 'prismatic': ('prismatic',), 'spherical': ('spherical',),
         'mixed': ('revolute', 'prismatic', 'spherical', 'continuous')}


def motion_of(state, gravity):
    q, v, a, xyzw, twist, acceleration = state
    return Motion(q, v, a, BaseMotion.from_twist(twist, acceleration, xyzw, gravity))


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('n_joints', [1, 12, 35])
def test_agrees_with_pinocchio(kind, n_joints):
    model = random_robot(n_joints, n_joints, KINDS[kind])
    twin = pinocchio_twin(model)
    gravity = np.array([1.0, -2.0, -9.0])
    twin.gravity.linear = gravity
    state = random_state(model, 7)
    q, v, a, xyzw, twist, acceleration = state
    expected = pin.rnea(twin, twin.createData(), np.concatenate([[0.3, 0.1, 2.0], xyzw, q]),
                        np.concatenate([twist, v]), np.concatenate([acceleration, a]))
    found = inverse_dynamics(model, motion_of(state, gravity))
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found.base_wrench, expected[:6], atol=ALGEBRA * scale)
    np.testing.assert_allclose(found.joint_effort, expected[6:], atol=ALGEBRA * scale)


def test_at_rest_the_ground_carries_the_weight_at_the_centre_of_mass():
    model = RobotModel.from_urdf(TWO_LEGS)
    R_WB = rotation_from_vector(np.array([0.2, -0.5, 1.0]))
    zeros = np.zeros(6)
    found = inverse_dynamics(model, Motion(zeros, zeros, zeros, BaseMotion.at_rest(R_WB)))
    weight = model.total_mass * 9.81
    np.testing.assert_allclose(R_WB @ found.base_wrench[:3], [0, 0, weight], atol=1e-12 * weight)
    poses = frame_poses(model, zeros)
    com = sum(part.mass * poses[link].point(part.com)
              for link, part in model.links.items()) / model.total_mass
    np.testing.assert_allclose(found.base_wrench[3:], np.cross(com, found.base_wrench[:3]),
                               atol=1e-12 * weight)


def test_base_wrench_is_the_rate_of_momentum_less_gravity():
    """Newton and Euler of the whole robot, momentum differentiated by finite differences."""
    model = random_robot(3, 8, ('revolute', 'prismatic'))
    q, v, a, _, _, _ = random_state(model, 1)
    omega, alpha = np.array([0.3, -0.7, 0.5]), np.array([1.0, 2.0, -0.5])
    velocity, classical = np.array([0.4, 0.1, -0.2]), np.array([0.5, -1.0, 2.0])

    def momentum(t):
        """Return linear and angular momentum about the world's origin at time t (base at I, 0)."""
        q_t, v_t = q + v * t + a * t * t / 2, v + a * t
        R = rotation_from_vector(omega * t + alpha * t * t / 2)
        p = velocity * t + classical * t * t / 2
        w, u = omega + alpha * t, velocity + classical * t
        step = 1e-6
        before, after = (frame_poses(model, q_t + s * v_t * step) for s in (-1, 1))
        linear, angular = np.zeros(3), np.zeros(3)
        for link, part in model.links.items():
            points = [pose[link].point(part.com) for pose in (before, after)]
            relative = (points[1] - points[0]) / (2 * step)
            spin = (after[link].R @ before[link].R.T - np.eye(3)) / (2 * step)
            spin = np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0],
                             spin[1, 0] - spin[0, 1]]) / 2
            middle = frame_poses(model, q_t)[link]
            at = R @ middle.point(part.com)
            speed = u + np.cross(w, at) + R @ relative
            axes = R @ middle.R
            inertia = axes @ part.about_com @ axes.T
            linear += part.mass * speed
            angular += inertia @ (w + R @ spin) + np.cross(p + at, part.mass * speed)
        return np.concatenate([linear, angular])

    h = 1e-4
    rate = (momentum(h) - momentum(-h)) / (2 * h)
    found = inverse_dynamics(model, Motion(q, v, a, BaseMotion(omega, alpha, classical)))
    np.testing.assert_allclose(found.base_wrench, rate, atol=2e-4 * np.abs(rate).max())


def test_joint_physics_adds_rotor_friction_and_spring():
    plain = RobotModel.from_urdf(TWO_LEGS).with_joint_physics(
        damping={'l_hip_y': 0.0, 'r_hip_y': 0.0}, friction={'l_hip_y': 0.0, 'r_hip_y': 0.0})
    model = plain.with_joint_physics(
        armature={'l_knee': 0.1}, damping={'l_knee': 2.0}, friction={'l_knee': 0.7},
        stiffness={'l_knee': 10.0}, rest={'l_knee': -0.5})
    q, v, a = np.full(6, -0.3), np.full(6, 4.0), np.full(6, 3.0)
    added = (inverse_dynamics(model, Motion(q, v, a)).joint_effort
             - inverse_dynamics(plain, Motion(q, v, a)).joint_effort)
    np.testing.assert_allclose(added, [0, 0, 0.1 * 3 + 2 * 4 + 0.7 + 10 * 0.2, 0, 0, 0],
                               atol=1e-12)


def test_power_balance():
    """Joint and base power equals the rate of kinetic and potential energy."""
    model = random_robot(5, 6, ('revolute', 'prismatic', 'spherical'))
    twin = pinocchio_twin(model)
    q, v, a, xyzw, twist, acceleration = random_state(model, 2)
    data = twin.createData()
    position = np.concatenate([[0, 0, 0], xyzw, q])
    velocity, rate = np.concatenate([twist, v]), np.concatenate([acceleration, a])

    def energy(t):
        at = pin.integrate(twin, position, velocity * t)
        return (pin.computeKineticEnergy(twin, data, at, velocity + rate * t)
                + pin.computePotentialEnergy(twin, data, at))
    found = inverse_dynamics(model, motion_of((q, v, a, xyzw, twist, acceleration),
                                              np.array([0, 0, -9.81])))
    power = found.base_wrench @ twist + found.joint_effort @ v
    assert power == pytest.approx((energy(1e-5) - energy(-1e-5)) / 2e-5, rel=1e-6)


@pytest.mark.parametrize(('field', 'value', 'message'), [
    ('position', np.zeros(5), r'expected 6 joint positions .* got an array of shape \(5,\)'),
    ('velocity', np.full(6, np.nan), 'expected finite joint velocities'),
])
def test_states_that_do_not_fit_are_refused(field, value, message):
    state = {'position': np.zeros(6), 'velocity': np.zeros(6), 'acceleration': np.zeros(6)}
    with pytest.raises(MeasurementError, match=message):
        inverse_dynamics(RobotModel.from_urdf(TWO_LEGS), Motion(**{**state, field: value}))
