# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Force mappings (Corke 2011, 8.3): wrench and twist transforms, efforts that hold a wrench."""
import numpy as np
import pinocchio as pin
import pytest
from robots import golden, random_robot, random_state
from tolerances import GOLDEN

from examples.planar_2r_statics import jacobian, rotation
from legged_dynamics.dynamics import (
    BaseMotion,
    Motion,
    frame_jacobian,
    frame_poses,
    inverse_dynamics,
)
from legged_dynamics.model import Inertia, Joint, RobotModel
from legged_dynamics.spatial.frames import Transform, twist_in_frame, wrench_in_frame
from legged_dynamics.spatial.rotations import rotation_from_vector

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
    assert_golden(T_AB.wrench_matrix @ case['gB_f_m'], case['gA_f_m'])
    assert_golden(T_AB.wrench_matrix.T @ case['vA_v_w'], case['vB_v_w'])


@pytest.mark.parametrize('case', of_kind('static_2R'))
def test_recorded_planar_arm_in_either_axes(case):
    (q, (l1, l2)), g_E = (case['q'], case['l']), np.array(
        case['gE_fx_fy_mz_robot_on_env_in_E_axes'])
    J_0, R_0E = jacobian(np.array(q), l1, l2), rotation(sum(q))
    J_E = R_0E.T @ J_0
    weight = case['gravity_minus_y'] * np.array(case['masses_com_mid'])
    x = [[l1 / 2 * np.cos(q[0]), 0.0],
         [l1 * np.cos(q[0]) + l2 / 2 * np.cos(sum(q)), l2 / 2 * np.cos(sum(q))]]
    G = weight @ np.array(x)
    assert_golden(J_E.T @ g_E, case['JTg_only'])
    assert_golden(G + J_E.T @ g_E, case['Q_expected'])
    assert_golden(G + J_0.T @ R_0E @ g_E, case['Q_expected'])


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
    assert_golden(J.T @ g, case['JTg'])
    assert_golden(G + J.T @ g, case['Q_expected'])
    in_base = frame_jacobian(model, q, hand)
    R_0E = frame_poses(model, q)[hand].R
    assert_golden(G + in_base.T @ np.kron(np.eye(2), R_0E) @ g, case['Q_expected'])


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
    at_B = (T_AB.wrench_matrix.T @ J_A).T @ g_B
    np.testing.assert_allclose(at_B, J_A.T @ wrench_in_frame(g_B, T_AB), atol=1e-14)
