# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Source 001: wrench and twist transforms, and efforts that hold a wrench at rest."""
import numpy as np
import pinocchio as pin
import pytest
from robots import golden, random_robot, random_state
from tolerances import GOLDEN

from legged_dynamics.dynamics import (
    BaseMotion,
    Motion,
    frame_jacobian,
    frame_poses,
    inverse_dynamics,
)
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import Inertia, Joint, RobotModel
from legged_dynamics.spatial.frames import Transform, twist_in_frame, wrench_in_frame
from legged_dynamics.spatial.rotations import rotation_from_vector
from legged_dynamics.spatial.statics import (
    J_v,
    efforts_for_wrench_on_environment,
    efforts_for_wrench_on_robot,
    jacobian_at_frame,
    jacobian_in_axes,
)

CASES = golden('001_force_mappings.json')['cases']


def of_kind(kind):
    return [case for case in CASES if case['kind'] == kind]


def assert_golden(found, expected):
    np.testing.assert_allclose(found, expected, atol=GOLDEN * np.abs(expected).max())


@pytest.mark.parametrize('case', of_kind('wrench_transform'))
def test_recorded_transforms(case):
    T_AB = Transform(case['R_AB'], case['t_AB_in_A'])
    assert_golden(wrench_in_frame(np.array(case['gB_f_m']), T_AB), case['gA_f_m'])
    assert_golden(twist_in_frame(np.array(case['vA_v_w']), T_AB), case['vB_v_w'])
    assert_golden(J_v(T_AB).T @ case['gB_f_m'], case['gA_f_m'])
    assert_golden(J_v(T_AB) @ case['vA_v_w'], case['vB_v_w'])


def planar_arm(q, l1, l2):
    """Return the planar Jacobian in base axes, and R_0E."""
    s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(sum(q)), np.cos(sum(q))
    J = np.array([[-l1 * s1 - l2 * s12, -l2 * s12], [l1 * c1 + l2 * c12, l2 * c12], [1.0, 1.0]])
    return J, np.array([[c12, -s12, 0.0], [s12, c12, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize('case', of_kind('static_2R'))
def test_recorded_planar_arm_in_either_axes(case):
    (q, (l1, l2)), g_E = (case['q'], case['l']), np.array(
        case['gE_fx_fy_mz_robot_on_env_in_E_axes'])
    J_0, R_0E = planar_arm(q, l1, l2)
    J_E = jacobian_in_axes(J_0, R_0E.T)
    weight = case['gravity_minus_y'] * np.array(case['masses_com_mid'])
    x = [[l1 / 2 * np.cos(q[0]), 0.0],
         [l1 * np.cos(q[0]) + l2 / 2 * np.cos(sum(q)), l2 / 2 * np.cos(sum(q))]]
    G = weight @ np.array(x)
    assert_golden(efforts_for_wrench_on_environment(J_E, g_E), case['JTg_only'])
    assert_golden(efforts_for_wrench_on_environment(J_E, g_E, G), case['Q_expected'])
    assert_golden(efforts_for_wrench_on_environment(J_0, g_E, G, R=R_0E), case['Q_expected'])
    assert_golden(efforts_for_wrench_on_robot(J_0, -R_0E @ g_E, G), case['Q_expected'])


AXES = {'RX': (1.0, 0, 0), 'RY': (0, 1.0, 0), 'RZ': (0, 0, 1.0)}


@pytest.mark.parametrize('case', of_kind('static_6dof_arm'))
def test_recorded_spatial_arm_under_gravity(case):
    links, joints = {'base': Inertia()}, []
    names = ['base', *(part['name'] for part in case['model'])]
    for part in case['model']:
        links[part['name']] = Inertia(part['mass'], np.array(part['com']), np.array(part['Icom']))
        joints.append(Joint(f"{part['name']}_joint", 'revolute', names[part['parent']],
                            part['name'], Transform(part['R'], part['p']),
                            np.array(AXES[part['type'][-2:]])))
    model, q = RobotModel('arm', links, joints, 'fixed'), np.array(case['q'])
    hand, zero = names[-1], np.zeros(len(case['q']))
    base = BaseMotion.at_rest(gravity=np.array(case['gravity'], float))
    G = inverse_dynamics(model, Motion(q, zero, zero, base)).joint_effort
    J, g = frame_jacobian(model, q, hand, 'link'), np.array(case['g_local_f_m'])
    assert_golden(G, case['G'])
    assert_golden(J, case['J_local'])
    assert_golden(efforts_for_wrench_on_environment(J, g), case['JTg'])
    assert_golden(efforts_for_wrench_on_environment(J, g, G), case['Q_expected'])
    in_base = frame_jacobian(model, q, hand)
    R_0E = frame_poses(model, q)[hand].R
    assert_golden(efforts_for_wrench_on_environment(in_base, g, G, R=R_0E), case['Q_expected'])


def test_power_is_the_same_in_every_frame():
    rng = np.random.default_rng(0)
    for angle in (0.0, 1e-9, 1.0, np.pi - 1e-9, np.pi):
        axis = rng.normal(size=3)
        T_AB = Transform(rotation_from_vector(angle * axis / np.linalg.norm(axis)),
                         rng.normal(size=3))
        g_B, v_A = rng.normal(size=(2, 6))
        power = wrench_in_frame(g_B, T_AB) @ v_A
        np.testing.assert_allclose(g_B @ twist_in_frame(v_A, T_AB), power, atol=1e-14)
        twin = pin.SE3(T_AB.R, T_AB.p)
        np.testing.assert_allclose(wrench_in_frame(g_B, T_AB), twin.act(pin.Force(g_B)).vector,
                                   atol=1e-14)
        np.testing.assert_allclose(twist_in_frame(v_A, T_AB),
                                   twin.actInv(pin.Motion(v_A)).vector, atol=1e-14)


def test_the_same_wrench_at_another_point_takes_the_same_efforts():
    model = random_robot(9, 6, ('revolute', 'prismatic'), base='fixed')
    q, *_ = random_state(model, 9)
    rng = np.random.default_rng(9)
    T_AB = Transform(rotation_from_vector(rng.normal(size=3)), rng.normal(size=3))
    J_A, g_B = frame_jacobian(model, q, 'link5', 'link'), rng.normal(size=6)
    at_B = efforts_for_wrench_on_environment(jacobian_at_frame(J_A, T_AB), g_B)
    at_A = efforts_for_wrench_on_environment(J_A, wrench_in_frame(g_B, T_AB))
    np.testing.assert_allclose(at_B, at_A, atol=1e-14)


def test_shapes_are_checked():
    with pytest.raises(ConfigurationError, match=r'wrench of 6 components.*got shape \(3,\)'):
        efforts_for_wrench_on_environment(np.zeros((6, 2)), np.zeros(3))
    with pytest.raises(ConfigurationError, match=r'Jacobian of 3 or 6 rows, got shape \(2, 6\)'):
        efforts_for_wrench_on_robot(np.zeros((2, 6)), np.zeros(6))
    with pytest.raises(ConfigurationError, match='expected 2 gravity efforts'):
        efforts_for_wrench_on_robot(np.zeros((6, 2)), np.zeros(6), np.zeros(3))
