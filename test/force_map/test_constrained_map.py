# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The map of a floating robot on several feet, against Pinocchio, the chain form and Newton."""
import itertools

import numpy as np
import pinocchio as pin
import pytest
from robots import (
    CONFIG,
    golden,
    pinocchio_twin,
    random_inertia,
    random_pose,
    random_robot,
    random_state,
    robot_of,
)
from tolerances import GOLDEN

from legged_dynamics.dynamics import (
    BaseMotion,
    forward_dynamics,
    frame_bias_acceleration,
    frame_jacobian,
)
from legged_dynamics.exceptions import ConfigurationError, MeasurementError, UnknownNameError
from legged_dynamics.force_map import ConstrainedForceMap, FootForceMap, standing_on
from legged_dynamics.model import FlatFoot, Inertia, Joint, PointFoot, RobotModel
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_quaternion

KINDS = ('revolute', 'prismatic', 'spherical', 'continuous')
FEET = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT')
STANCE = np.tile([0.1, 0.7, -1.2], 4)


def quadruped(name='anymal_class'):
    return RobotModel.from_urdf(CONFIG / 'robots' / f'{name}.urdf')


def feet_of(links, radius=0.0):
    return [PointFoot(link, radius) for link in links]


@pytest.mark.parametrize('case', golden('000_multifoot.json')['cases'], ids=lambda c: c['name'])
def test_recorded_robots_on_several_feet(case):
    model, feet = robot_of(case['model'], case['feet'])
    q, v = np.array(case['q']), np.array(case['v'])
    R_WB, loads = rotation_from_quaternion(q[3:7]), {'root': case['Qext_root_body_f_m']}
    found = ConstrainedForceMap(model, feet).compute(
        q[7:], v[6:], angular_velocity=v[3:6], R_WB=R_WB, external=loads)
    in_world = found.in_axes(R_WB)
    for ours, theirs in ((in_world.offset, case['l0']), (in_world.matrix, case['D']),
                         (in_world.force(case['tau']), case['lambda_world'])):
        np.testing.assert_allclose(ours, theirs, atol=GOLDEN * np.abs(theirs).max())
    for link, R_BF in zip(found.feet, found.foot_rotations):
        force = found.of_foot(link).force(case['tau'])
        loads[link] = np.concatenate([R_BF.T @ force, np.zeros(3)])
    forward = forward_dynamics(model, q[7:], v[6:], case['tau'], BaseMotion(v[3:6]), loads)
    qdd = np.concatenate([forward.spatial_acceleration(v[:6], q[3:7]),
                          forward.joint_acceleration])
    np.testing.assert_allclose(qdd, case['qdd'], atol=GOLDEN * np.abs(case['qdd']).max())


def kkt_by_pinocchio(model, feet, q, v, xyzw, twist, gravity):
    """Return D and l_0 in world axes, from Pinocchio's M, h, J and drift, by a dense solve."""
    twin = pinocchio_twin(model)
    twin.gravity.linear = gravity
    data = twin.createData()
    state, rate = np.concatenate([np.zeros(3), xyzw, q]), np.concatenate([twist, v])
    pin.computeAllTerms(twin, data, state, rate)
    M, h = data.M.copy(), data.nle.copy()
    pin.forwardKinematics(twin, data, state, rate, np.zeros(twin.nv))
    pin.computeJointJacobians(twin, data, state)
    pin.updateFramePlacements(twin, data)
    J, drift = [], []
    for foot in feet:
        frame, rows = twin.getFrameId(foot.link), 6 if isinstance(foot, FlatFoot) else 3
        J.append(pin.getFrameJacobian(twin, data, frame, pin.LOCAL_WORLD_ALIGNED)[:rows])
        drift.append(pin.getFrameClassicalAcceleration(
            twin, data, frame, pin.LOCAL_WORLD_ALIGNED).vector[:rows])
    J, drift, n = np.vstack(J), np.concatenate(drift), len(M)
    system = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    right = np.zeros((n + len(J), model.nv + 1))
    right[6:n, :-1] = np.eye(model.nv)
    right[:n, -1], right[n:, -1] = -h, -drift
    solution = np.linalg.solve(system, right)[n:]
    return solution[:, :-1], solution[:, -1]


def independent_feet(model, q, flat):
    """Return two point feet and perhaps a flat one, on links that can move apart."""
    for links in itertools.combinations(model.frames, 3 if flat else 2):
        feet = feet_of(links[:2]) + [FlatFoot(link, 0.1, -0.1, 0.05, -0.05) for link in links[2:]]
        J = np.vstack([frame_jacobian(model, q, foot.link)[:6 if isinstance(foot, FlatFoot) else 3]
                       for foot in feet])
        if np.linalg.svd(J, compute_uv=False)[-1] > 0.1:
            return feet
    raise AssertionError('no such feet')


@pytest.mark.parametrize('seed, n_joints, flat', [(1, 12, False), (2, 18, True), (3, 34, True)])
def test_random_robots_agree_with_pinocchio(seed, n_joints, flat):
    model = random_robot(seed, n_joints, KINDS)
    q, v, _, xyzw, twist, _ = random_state(model, seed)
    feet = independent_feet(model, q, flat)
    gravity, R_WB = np.array([1.0, -2.0, -9.0]), rotation_from_quaternion(xyzw)
    D, l_0 = kkt_by_pinocchio(model, feet, q, v, xyzw, twist, gravity)
    found = ConstrainedForceMap(model, feet).compute(
        q, v, angular_velocity=twist[3:], R_WB=R_WB, gravity=gravity).in_axes(R_WB)
    assert found.redundancy is None
    np.testing.assert_allclose(found.matrix, D, atol=1e-9 * np.abs(D).max())
    np.testing.assert_allclose(found.offset, l_0, atol=1e-9 * np.abs(l_0).max())


@pytest.mark.parametrize('knee', [-1.2, -1e-7, 0.0])
@pytest.mark.parametrize('name', ['anymal_class', 'solo_class'])
def test_standing_quadrupeds_obey_newton_with_feet_that_stay(name, knee):
    """Fed back as external wrenches, the forces hold the feet: straight knees included."""
    model, rng = quadruped(name), np.random.default_rng(4)
    feet = feet_of(FEET, 0.02)
    q = np.tile([0.1, -knee / 2, knee], 4)
    v, w, torque = rng.normal(size=12), rng.normal(size=3), rng.normal(size=12) * 5.0
    R_WB, loads = rotation_from_quaternion([0.1, -0.1, 0.2, 1.0]), {'base': rng.normal(size=6)}
    map_of = ConstrainedForceMap(model, feet)
    for _ in range(2):      # memory is reused
        found = map_of.compute(q, v, angular_velocity=w, R_WB=R_WB, external=loads)
    wrenches = dict(loads)
    normal = R_WB.T @ [0.0, 0.0, 1.0]
    for i, link in enumerate(FEET):
        force = found.force(torque)[3 * i:3 * i + 3]
        arm, R_BF = found.contact_points[i] - found.foot_positions[i], found.foot_rotations[i]
        np.testing.assert_allclose(arm, -0.02 * normal, atol=1e-12)
        wrenches[link] = np.concatenate([R_BF.T @ force, R_BF.T @ np.cross(arm, force)])
    forward = forward_dynamics(model, q, v, torque, BaseMotion(w), wrenches)
    at_rest = 9.81 * normal        # the proper acceleration of a foot that stays
    for link in FEET:
        J = frame_jacobian(model, q, link)
        a = J @ np.concatenate([forward.base_acceleration, forward.joint_acceleration])
        a += frame_bias_acceleration(model, q, v, link, BaseMotion(w))
        # A ball that rolls: its centre accelerates as a wheel's does.
        np.testing.assert_allclose(a[:3] - np.cross(a[3:], 0.02 * normal), at_rest, atol=1e-8)


def test_agrees_with_the_chain_form_on_one_ball_foot():
    for seed, n_joints, kinds in [(1, 6, KINDS), (2, 12, ('revolute',)), (4, 20, KINDS)]:
        robot = random_robot(seed, n_joints, kinds)
        names = robot.joint_names
        robot = robot.with_joint_physics(armature=dict.fromkeys(names, 0.1),
                                         damping=dict.fromkeys(names, 0.3),
                                         stiffness=dict.fromkeys(names, 0.5))
        foot, load = list(robot.frames)[-1], {list(robot.frames)[1]: np.arange(6.0)}
        q, v, _, xyzw, twist, _ = random_state(robot, seed)
        R_WB, torque = rotation_from_quaternion(xyzw), np.arange(1.0, robot.nv + 1.0)
        kkt = ConstrainedForceMap(robot, [PointFoot(foot)]).compute(
            q, v, angular_velocity=twist[3:], R_WB=R_WB, external=load).in_axes(R_WB)
        stance = standing_on(robot, foot)
        state = stance.state(q, v, R_WB, twist[3:])
        chain = FootForceMap(stance.model, passive=['ground_ball']).compute(*state, external=load)
        effort = stance.efforts(q, torque)
        expected = kkt.force(torque)
        np.testing.assert_allclose(chain.offset[:3] + chain.joint_map[:3] @ effort, expected,
                                   atol=1e-10 * np.abs(expected).max())
        np.testing.assert_allclose(stance.robot_efforts(q, effort), torque, atol=1e-12)


def test_any_subset_of_feet_and_motors():
    model = quadruped()
    motors = ['LF_KFE', 'RH_HAA', 'LF_HAA']
    part = ConstrainedForceMap(model, feet_of(FEET), motors)
    whole = ConstrainedForceMap(model, feet_of(FEET))
    assert part.columns == tuple(n for n in model.joint_names if n in motors)
    on = [True, False, False, True]
    a, b = (m.compute(STANCE, np.zeros(12), in_contact=on) for m in (part, whole))
    assert a.feet == b.feet == ('LF_FOOT', 'RH_FOOT')
    columns = [whole.columns.index(name) for name in part.columns]
    np.testing.assert_allclose(a.matrix, b.matrix[:, columns], atol=1e-12)
    two = ConstrainedForceMap(model, feet_of(['LF_FOOT', 'RH_FOOT'])).compute(STANCE, np.zeros(12))
    np.testing.assert_allclose(b.matrix, two.matrix, atol=1e-13)
    with pytest.raises(UnknownNameError, match='foot in contact'):
        b.of_foot('RF_FOOT')
    airborne = whole.compute(STANCE, np.zeros(12), in_contact=[False] * 4)
    assert airborne.offset.shape == (0,) and airborne.matrix.shape == (0, 12)
    # Standing still, with torques from statics, the feet together carry the weight.
    f = whole.compute(STANCE, np.zeros(12))
    torque = np.linalg.lstsq(f.matrix, np.tile([0, 0, model.total_mass * 9.81 / 4], 4) - f.offset,
                             rcond=None)[0]
    np.testing.assert_allclose(f.force(torque)[2::3].sum(), model.total_mass * 9.81, rtol=1e-9)


def test_redundant_contacts_are_said_and_give_the_smallest_forces():
    """Two points of one rigid shank cannot both be free: their squeeze is not determined."""
    part = Inertia(1.0, np.zeros(3), 0.1 * np.eye(3))
    links = {'base': Inertia(10.0, np.zeros(3), np.eye(3)), 'shank': part}
    joints = [Joint('hip', 'spherical', 'base', 'shank', Transform(np.eye(3), [0, 0, -0.5]))]
    for i, x in enumerate((-0.1, 0.1)):
        links[f'toe{i}'] = Inertia()
        joints.append(Joint(f'weld{i}', 'fixed', 'shank', f'toe{i}',
                            Transform(np.eye(3), [x, 0.0, -0.3])))
    model = RobotModel('two toes', links, joints)
    q, v = np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3)
    one = ConstrainedForceMap(model, feet_of(['toe0'])).compute(q, v)
    assert one.redundancy is None
    found = ConstrainedForceMap(model, feet_of(['toe0', 'toe1'])).compute(q, v)
    assert found.redundancy.rank == 5
    assert found.redundancy.proximal > 0.0
    torque = np.array([2.0, -1.0, 3.0])
    forces = found.force(torque).reshape(2, 3)
    assert abs(forces[0, 0] - forces[1, 0]) < 1e-4       # no squeeze along the toes' line
    wrenches = {f'toe{i}': [*forces[i], 0, 0, 0] for i in range(2)}
    forward = forward_dynamics(model, q, v, torque, external=wrenches)
    for toe in wrenches:
        a = frame_jacobian(model, q, toe) @ np.concatenate([forward.base_acceleration,
                                                            forward.joint_acceleration])
        np.testing.assert_allclose(a[:3], [0.0, 0.0, 9.81], atol=1e-5)
    # A spinning shank contradicts two fixed toes: the answer stays finite.
    spun = ConstrainedForceMap(model, feet_of(['toe0', 'toe1'])).compute(q, [0.0, 3.0, 2.0])
    assert np.abs(spun.offset).max() < 1e4


def test_a_fixed_arm_that_touches_a_wall():
    rng = np.random.default_rng(31)
    links = {'base': Inertia(), **{f'link{i}': random_inertia(rng) for i in range(6)}}
    names = list(links)
    model = RobotModel('arm', links, [
        Joint(f'joint{i}', 'revolute', names[i], names[i + 1], random_pose(rng))
        for i in range(6)], base='fixed')
    q, v, *_ = random_state(model, 31)
    tip, gravity = names[-1], np.array([0.5, 0.0, -9.0])
    found = ConstrainedForceMap(model, feet_of([tip])).compute(q, v, gravity=gravity)
    torque = np.arange(6.0)
    R = found.foot_rotations[0]
    wrench = np.concatenate([R.T @ found.force(torque), np.zeros(3)])
    forward = forward_dynamics(model, q, v, torque, BaseMotion.at_rest(gravity=gravity),
                               {tip: wrench})
    a = frame_jacobian(model, q, tip) @ forward.joint_acceleration
    a += frame_bias_acceleration(model, q, v, tip)
    np.testing.assert_allclose(a[:3], 0.0, atol=1e-9)
    on_base = ConstrainedForceMap(model, feet_of(['base'])).compute(q, v)
    assert on_base.redundancy.rank == 0
    np.testing.assert_array_equal(on_base.matrix, 0.0)


def test_the_smallest_robot_there_is():
    """A rod on a hinge that leans on a stop: the torque is the only thing the stop feels."""
    rod = Inertia(2.0, np.array([0.5, 0.0, 0.0]), np.diag([0.01, 0.2, 0.2]))
    model = RobotModel('rod', {'wall': Inertia(), 'rod': rod, 'tip': Inertia()},
                       [Joint('hinge', 'prismatic', 'wall', 'rod', axis=np.array([0, 0, 1.0])),
                        Joint('weld', 'fixed', 'rod', 'tip')], base='fixed')
    found = ConstrainedForceMap(model, feet_of(['tip'])).compute([0.2], [0.0])
    assert found.redundancy.rank == 1       # a slider moves one way only
    np.testing.assert_allclose(found.matrix, [[0.0], [0.0], [-1.0]], atol=1e-12)
    np.testing.assert_allclose(found.offset, [0.0, 0.0, 2.0 * 9.81], atol=1e-9)


def test_what_does_not_fit_is_refused():
    model = quadruped()
    with pytest.raises(ConfigurationError, match='at least one foot'):
        ConstrainedForceMap(model, [])
    with pytest.raises(UnknownNameError, match='MID_FOOT'):
        ConstrainedForceMap(model, feet_of(['MID_FOOT']))
    with pytest.raises(UnknownNameError, match='TAIL'):
        ConstrainedForceMap(model, feet_of(FEET), ['TAIL'])
    ready = ConstrainedForceMap(model, feet_of(FEET))
    with pytest.raises(MeasurementError, match=r'expected 12 joint positions.*\(11,\)'):
        ready.compute(np.zeros(11), np.zeros(12))
    with pytest.raises(MeasurementError, match='expected 4 contact flags, got 3'):
        ready.compute(STANCE, np.zeros(12), in_contact=[True] * 3)
    with pytest.raises(MeasurementError, match='expected finite joint velocities'):
        ready.compute(STANCE, np.full(12, np.nan))
    with pytest.raises(MeasurementError, match='R_WB'):
        ready.compute(STANCE, np.zeros(12), R_WB=np.full((3, 3), np.nan))
    with pytest.raises(MeasurementError, match='R_WB of shape'):
        ready.compute(STANCE, np.zeros(12), R_WB=np.eye(2))
    found = ready.compute(STANCE.tolist(), [0] * 12, R_WB=np.eye(3).tolist())
    np.testing.assert_array_equal(found.matrix, ready.compute(STANCE, np.zeros(12)).matrix)
