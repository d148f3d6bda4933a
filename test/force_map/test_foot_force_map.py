# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The chain form of the force map: recorded cases, identities, gimbal lock, any tree."""
import numpy as np
import pytest
from chains import LINEAR_FIRST, ball_leg, chain_of, knee_leg, ring_leg
from robots import golden, random_robot, random_state
from scipy.spatial.transform import Rotation
from tolerances import GOLDEN

from legged_dynamics.dynamics import (
    BaseMotion,
    Motion,
    forward_dynamics,
    frame_jacobian,
    inverse_dynamics,
)
from legged_dynamics.exceptions import ConfigurationError, MeasurementError, UnknownNameError
from legged_dynamics.force_map import FootForceMap
from legged_dynamics.model import Inertia, Joint, RobotModel
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.jit import as_python

HIP, FOOT = ('j4', 'j5', 'j6'), ('j1', 'j2', 'j3')


def assert_golden(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0.0,
                               atol=GOLDEN * max(1.0, np.abs(expected).max()))


def loads_of(case):
    wrenches = case['fext_body_frames_n_f']
    return {f'b{i}': np.array(w)[LINEAR_FIRST] for i, w in enumerate(wrenches or (), start=1)}


@pytest.mark.parametrize('case', golden('000_force_map.json')['cases'])
def test_recorded_pendulums(case):
    model, expect = chain_of(case['tree'], case['bodies']), case['expect']
    gravity, loads = -np.array(case['a0'][3:]), loads_of(case)
    forward = forward_dynamics(model, case['q'], case['qd'], case['tau'],
                               BaseMotion.at_rest(gravity=gravity), loads)
    assert_golden(forward.joint_acceleration, expect['qdd'])
    assert_golden(forward.base_wrench[LINEAR_FIRST], expect['f1_in_F0_n_f'])
    found = FootForceMap(model, HIP, FOOT).compute(case['q'], case['qd'], gravity=gravity,
                                                   external=loads)
    assert_golden(found.offset[LINEAR_FIRST], expect['k0'])
    assert_golden(found.joint_map[LINEAR_FIRST], expect['D_6x6'])
    assert_golden(found.force.matrix @ np.linalg.inv(found.hip_axes.T), expect['Df_3x3'])
    # The foot's own torques, where there are any, belong to k_0; the hip's go through the map.
    found = FootForceMap(model, HIP, FOOT).compute(case['q'], case['qd'], effort=case['tau'],
                                                   gravity=gravity, external=loads)
    hip_torque = np.linalg.solve(found.hip_axes.T, case['tau'][3:])
    assert_golden(found.force.force(hip_torque), expect['f1_in_F0_n_f'][3:])
    assert_golden(found.moment.force(hip_torque), expect['f1_in_F0_n_f'][:3])
    np.testing.assert_allclose(found.joint_efforts(hip_torque)[3:], case['tau'][3:], atol=1e-10)


@pytest.mark.parametrize('case', golden('000_chain_n.json')['cases'], ids=lambda c: str(c['n']))
def test_recorded_chains_of_any_length(case):
    model, expect = chain_of(case['tree'], case['bodies']), case['expect']
    gravity, loads = np.array(case['gravity']), loads_of(case)
    found = FootForceMap(model).compute(case['q'], case['qd'], gravity=gravity, external=loads)
    assert_golden(found.offset[LINEAR_FIRST], expect['k0'])
    assert_golden(found.joint_map[LINEAR_FIRST], expect['D'])
    assert_golden(found.force.force(case['tau']), expect['f1_in_F0_n_f'][3:])
    forward = forward_dynamics(model, case['q'], case['qd'], case['tau'],
                               BaseMotion.at_rest(gravity=gravity), loads)
    assert_golden(forward.joint_acceleration, expect['qdd'])


@pytest.mark.parametrize('case', golden('000_singular.json')['cases'], ids=lambda c: c['name'])
def test_recorded_singular_poses(case):
    found = FootForceMap(chain_of(case['tree'], case['bodies']), HIP, FOOT).compute(case['q'])
    assert_golden(found.hip_axes, case['hip_axes_E_in_F0'])
    assert_golden(found.force.matrix, case['D_phys'])
    assert_golden(found.offset[LINEAR_FIRST], case['k0'])
    assert_golden(found.force.singular_values, case['singular_values_D_phys'])
    assert found.force.rank == (2 if 'rank 2' in case['name'] else 3)


def test_a_ball_hip_equals_gimbal_rings():
    rings, balls = ring_leg(), ball_leg()
    q, v = np.array([0.3, -0.2, 0.1, 0.4, 0.25, -0.3]), np.array([1.0, -0.5, 0.3, 2.0, 0.7, -1.0])
    by_rings = FootForceMap(rings, rings.joint_names[3:], rings.joint_names[:3]).compute(q, v)

    def spin(q, v):     # rates of rings x, y, z to angular velocity in the last body's axes
        R = Rotation.from_euler('XYZ', q).as_matrix()
        x, xy = Rotation.from_euler('X', q[0]).as_matrix(), Rotation.from_euler(
            'XY', q[:2]).as_matrix()
        return R.T @ np.column_stack([np.eye(3)[0], x[:, 1], xy[:, 2]]) @ v
    turned = np.concatenate([Rotation.from_euler('XYZ', part).as_quat()
                             for part in (q[:3], q[3:])])
    rates = np.concatenate([spin(q[:3], v[:3]), spin(q[3:], v[3:])])
    by_balls = FootForceMap(balls, 'hip', ['foot']).compute(turned, rates)
    np.testing.assert_allclose(by_balls.force.matrix, by_rings.force.matrix, atol=1e-12)
    np.testing.assert_allclose(by_balls.offset, by_rings.offset, atol=1e-11)
    np.testing.assert_allclose(by_balls.moment.matrix, 0.0, atol=1e-13)
    np.testing.assert_allclose(by_balls.moment.offset, 0.0, atol=1e-11)


def test_gimbal_lock_is_no_matter_to_a_ball_and_is_to_rings():
    balls = FootForceMap(ball_leg(), 'hip', ['foot'])
    ring_model = ring_leg()
    rings = FootForceMap(ring_model, ring_model.joint_names[3:], ring_model.joint_names[:3])
    foot, worst = [0.2, -0.1, 0.3], {}
    for delta in (1e-2, 1e-4, 1e-6):
        hip = [0.4, np.pi / 2 - delta, -0.2]
        turned = np.concatenate([Rotation.from_euler('XYZ', part).as_quat()
                                 for part in (foot, hip)])
        exact = balls.compute(turned).force.matrix
        found = rings.compute(np.array([*foot, *hip])).force.matrix
        worst[delta] = np.abs(found - exact).max()
    assert worst[1e-2] < 1e-9
    assert worst[1e-6] > 1e-7       # what rings lose, silently, next to their lock
    locked = np.concatenate([Rotation.from_euler('XYZ', part).as_quat()
                             for part in (foot, [0.4, np.pi / 2, -0.2])])
    near = np.concatenate([Rotation.from_euler('XYZ', part).as_quat()
                           for part in (foot, [0.4, np.pi / 2 - 1e-9, -0.2])])
    np.testing.assert_allclose(balls.compute(locked).force.matrix,
                               balls.compute(near).force.matrix, atol=1e-7)


@pytest.mark.parametrize('knee', [0.0, 1e-8, 0.7])
def test_a_tree_with_knee_arm_and_rail_obeys_newton_and_euler(knee):
    model = knee_leg()
    rng = np.random.default_rng(3)
    q = np.zeros(model.nq)
    q[:4], q[4], q[5:9] = Rotation.from_rotvec([0.1, -0.2, 0.3]).as_quat(), knee, \
        Rotation.from_rotvec([-0.2, 0.3, 0.1]).as_quat()
    q[9:] = 0.4, 0.1
    v, torque = rng.normal(size=model.nv), rng.normal(size=6) * 20.0
    gravity, loads = np.array([1.0, 0.5, -9.0]), {'torso': rng.normal(size=6) * 30.0}
    physics = {name: 0.3 for name in model.joint_names if name != 'foot'}
    model = model.with_joint_physics(damping=physics, armature={'knee': 0.2, 'hip': 0.1})
    force_map = FootForceMap(model, 'hip', ['foot'])
    assert force_map.columns == ('hip.x', 'hip.y', 'hip.z', 'knee', 'shoulder', 'rail')
    found = force_map.compute(q, v, gravity=gravity, external=loads)
    effort = found.joint_efforts(torque)
    forward = forward_dynamics(model, q, v, effort, BaseMotion.at_rest(gravity=gravity), loads)
    # f_1 = k_0 + D tau, by the recursion and by the accelerations it causes.
    np.testing.assert_allclose(found.force.force(torque), forward.base_wrench[:3], atol=1e-9)
    np.testing.assert_allclose(found.offset + found.joint_map @ effort, forward.base_wrench,
                               atol=1e-9)
    # S^T f_1 = tau_1: a passive ball carries no moment.
    np.testing.assert_allclose(forward.base_wrench[3:], 0.0, atol=1e-10)
    # RNEA(ABA(tau)) = tau, with the load as the joints and the ground feel it.
    back = inverse_dynamics(model, Motion(q, v, forward.joint_acceleration,
                                          BaseMotion.at_rest(gravity=gravity)))
    J = frame_jacobian(model, q, 'torso', 'link')
    np.testing.assert_allclose(back.joint_effort, effort + J.T @ loads['torso'], atol=1e-9)


def test_identities_of_the_articulated_quantities():
    """S^T b = 1, A A = A, and S^T Phi^-1 of column and map, without rotors."""
    from legged_dynamics.dynamics.composite_body import joint_axis
    from legged_dynamics.dynamics.forward_dynamics import (
        D_INVERSE,
        U_FORCE,
        U_MOMENT,
        articulate,
        bias,
        carve,
    )
    from legged_dynamics.spatial.layout import length_of
    model = random_robot(5, 8, ('revolute', 'prismatic'), base='fixed')
    q, v, *_ = random_state(model, 5)
    sizes = model.n_bodies, model.nq, model.nv
    s = as_python(carve)(np.zeros(length_of(carve, *sizes)), *sizes)
    s.q[:], s.v[:] = q, v
    bias(model.tree, s)
    articulate(model.tree, s)
    for i in range(1, model.n_bodies):
        kind = int(model.tree.topology[i, 1])
        S = np.zeros(6)
        S[slice(0, 3) if kind == 1 else slice(3, 6)] = joint_axis(s.bodies, i, kind, 0)
        b = s.bodies[i, [*range(U_FORCE, U_FORCE + 3), *range(U_MOMENT, U_MOMENT + 3)]]
        b = b * s.bodies[i, D_INVERSE]
        A = np.eye(6) - np.outer(b, S)
        assert S @ b == pytest.approx(1.0, abs=1e-13)
        np.testing.assert_allclose(A @ A, A, atol=1e-12)
        np.testing.assert_allclose(S @ A, 0.0, atol=1e-12)
        np.testing.assert_allclose(A @ b, 0.0, atol=1e-12)


def test_what_is_not_a_robot_on_one_foot_is_refused():
    floating = random_robot(1, 3)
    with pytest.raises(ConfigurationError, match=r'standing_on\(model, foot\)'):
        FootForceMap(floating)
    body = Inertia(1.0, np.zeros(3), np.eye(3))
    two = RobotModel('two', {'ground': Inertia(), 'a': body, 'b': body},
                     [Joint('a', 'revolute', 'ground', 'a'),
                      Joint('b', 'revolute', 'ground', 'b')], base='fixed')
    with pytest.raises(ConfigurationError, match='one joint on the ground .*, got 2'):
        FootForceMap(two)
    model = knee_leg()
    with pytest.raises(ConfigurationError, match='one spherical joint, or three revolute'):
        FootForceMap(model, ['knee'])
    with pytest.raises(ConfigurationError, match="joint 'hip' cannot be both hip and passive"):
        FootForceMap(model, 'hip', ['hip'])
    with pytest.raises(UnknownNameError, match='ankle'):
        FootForceMap(model, 'hip', ['ankle'])
    apart = [Joint('x', 'revolute', 'ground', 'a'),
             Joint('y', 'revolute', 'a', 'b', Transform(np.eye(3), np.array([0.1, 0, 0]))),
             Joint('z', 'revolute', 'b', 'c')]
    offset_hip = RobotModel('offset', {'ground': Inertia(), 'a': body, 'b': body, 'c': body},
                            apart, base='fixed')
    with pytest.raises(ConfigurationError, match='meet in one point, and they do not'):
        FootForceMap(offset_hip, ['x', 'y', 'z'])
    ready = FootForceMap(model, 'hip', ['foot'])
    with pytest.raises(MeasurementError, match='expected 11 joint positions'):
        ready.compute(np.zeros(3))
    with pytest.raises(MeasurementError, match='expected finite joint velocities'):
        ready.compute(np.ones(model.nq), np.full(model.nv, np.nan))
    with pytest.raises(MeasurementError, match='expected finite components of gravity'):
        ready.compute(np.ones(model.nq), gravity=np.array([0, 0, np.nan]))
