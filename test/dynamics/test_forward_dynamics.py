# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics against Pinocchio, inverse dynamics, and Newton and Euler."""
import numpy as np
import pinocchio as pin
import pytest
from robots import CONFIG, pinocchio_twin, random_robot, random_state

from legged_dynamics.dynamics import (
    ArticulatedBody,
    BaseMotion,
    Motion,
    forward_dynamics,
    frame_jacobian,
    frame_poses,
    inverse_dynamics,
)
from legged_dynamics.exceptions import MeasurementError, UnknownNameError
from legged_dynamics.model import Inertia, Joint, RobotModel
from legged_dynamics.spatial.frames import Transform, wrench_in_frame
from legged_dynamics.spatial.rotations import rotation_from_quaternion

KINDS = ('revolute', 'continuous', 'prismatic', 'spherical')
ROBOTS = [(1, 6, KINDS), (2, 12, ('revolute',)), (3, 9, ('spherical',)), (4, 34, KINDS),
          (5, 7, ('prismatic', 'spherical'))]


def relative(ours, theirs):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())


def random_loads(model, rng, count=3):
    """Return wrenches on a few links, in their frames, and the same for Pinocchio's joints."""
    names = rng.choice(list(model.frames), size=min(count, len(model.frames)), replace=False)
    return {str(name): rng.normal(size=6) * 20.0 for name in names}


def on_pinocchio_joints(model, twin, loads):
    forces = [pin.Force.Zero() for _ in range(twin.njoints)]
    for link, wrench in loads.items():
        frame = twin.frames[twin.getFrameId(link)]
        forces[frame.parentJoint] += frame.placement.act(pin.Force(wrench))
    return pin.StdVec_Force(forces) if hasattr(pin, 'StdVec_Force') else forces


@pytest.mark.parametrize('seed, n_joints, kinds', ROBOTS)
@pytest.mark.parametrize('gravity', [(0.0, 0.0, -9.81), (3.0, -2.0, 5.0), (0.0, 0.0, 0.0)])
def test_floating_robots_accelerate_as_in_pinocchio(seed, n_joints, kinds, gravity):
    model = random_robot(seed, n_joints, kinds)
    twin = pinocchio_twin(model)
    twin.gravity.linear = np.array(gravity)
    q, v, _, xyzw, twist, _ = random_state(model, seed)
    rng = np.random.default_rng(seed)
    effort, loads = rng.normal(size=model.nv) * 10.0, random_loads(model, rng)
    ours = forward_dynamics(model, q, v, effort, BaseMotion(twist[3:]), loads)
    theirs = pin.aba(twin, twin.createData(), np.concatenate([np.zeros(3), xyzw, q]),
                     np.concatenate([twist, v]), np.concatenate([np.zeros(6), effort]),
                     on_pinocchio_joints(model, twin, loads))
    ours = np.concatenate([ours.spatial_acceleration(twist, xyzw, np.array(gravity)),
                           ours.joint_acceleration])
    assert relative(ours, theirs) < 1e-10


@pytest.mark.parametrize('seed, n_joints, kinds', ROBOTS)
def test_fixed_robots_accelerate_as_in_pinocchio(seed, n_joints, kinds):
    model = random_robot(seed, n_joints, kinds, base='fixed')
    twin = pinocchio_twin(model)
    gravity = np.array([1.0, -4.0, -8.0])
    twin.gravity.linear = gravity
    q, v, _, _, _, _ = random_state(model, seed)
    rng = np.random.default_rng(seed)
    effort, loads = rng.normal(size=model.nv) * 10.0, random_loads(model, rng)
    loads.pop('base', None)
    ours = forward_dynamics(model, q, v, effort, BaseMotion.at_rest(gravity=gravity), loads)
    theirs = pin.aba(twin, twin.createData(), q, v, effort,
                     on_pinocchio_joints(model, twin, loads))
    assert relative(ours.joint_acceleration, theirs) < 1e-10


@pytest.mark.parametrize('name', ['anymal_class', 'solo_class'])
def test_quadrupeds_accelerate_as_in_pinocchio(name):
    path = CONFIG / 'robots' / f'{name}.urdf'
    model = RobotModel.from_urdf(path)
    twin = pinocchio_twin(model)
    q, v, _, xyzw, twist, _ = random_state(model, 7)
    effort = np.random.default_rng(7).normal(size=model.nv) * 10.0
    model = model.with_joint_physics(damping=dict.fromkeys(model.joint_names, 0.0),
                                     friction=dict.fromkeys(model.joint_names, 0.0))
    ours = forward_dynamics(model, q, v, effort, BaseMotion(twist[3:]))
    theirs = pin.aba(twin, twin.createData(), np.concatenate([np.zeros(3), xyzw, q]),
                     np.concatenate([twist, v]), np.concatenate([np.zeros(6), effort]))
    assert relative(np.concatenate([ours.spatial_acceleration(twist, xyzw),
                                    ours.joint_acceleration]), theirs) < 1e-10


def with_physics(model, rng):
    """Return the robot with rotors, friction and springs in every joint."""
    columns = {column: {name: float(rng.uniform(0.0, 0.5)) for name in model.joint_names}
               for column in ('armature', 'damping', 'friction', 'stiffness', 'rest')}
    return model.with_joint_physics(**columns)


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('seed, n_joints, kinds', ROBOTS)
def test_inverse_dynamics_return_the_efforts(seed, n_joints, kinds, base):
    rng = np.random.default_rng(seed)
    model = with_physics(random_robot(seed, n_joints, kinds, base=base), rng)
    q, v, _, _, twist, acceleration = random_state(model, seed)
    effort, loads = rng.normal(size=model.nv) * 10.0, random_loads(model, rng)
    given = BaseMotion(twist[3:], acceleration[3:], acceleration[:3])
    result = forward_dynamics(model, q, v, effort, given, loads)
    back = inverse_dynamics(model, Motion(q, v, result.joint_acceleration,
                                          result.base_motion(twist[3:])))
    # What remains between the two is what the external wrenches do, at each joint and the base.
    poses = frame_poses(model, q)
    joint_effort, base_wrench = effort.copy(), result.base_wrench.copy()
    for link, wrench in loads.items():
        joint_effort += frame_jacobian(model, q, link, 'link')[:, -model.nv:].T @ wrench
        base_wrench += wrench_in_frame(wrench, poses[link])
    assert relative(back.joint_effort, joint_effort) < 1e-10
    assert relative(back.base_wrench, base_wrench) < 1e-10


def test_momentum_and_power_balance():
    """Newton, Euler and energy of a falling, flailing, pushed robot, by central differences."""
    model = random_robot(11, 8, KINDS)
    q, v, _, xyzw, twist, _ = random_state(model, 11)
    rng = np.random.default_rng(11)
    effort, loads = rng.normal(size=model.nv) * 10.0, random_loads(model, rng)
    gravity = np.array([1.0, 2.0, -9.0])
    result = forward_dynamics(model, q, v, effort, BaseMotion(twist[3:]), loads)
    twin, h = pinocchio_twin(model), 1e-5
    twin.gravity.linear = gravity
    data = twin.createData()
    state = np.concatenate([np.zeros(3), xyzw, q])
    rate = np.concatenate([twist, v])
    change = np.concatenate([result.spatial_acceleration(twist, xyzw, gravity),
                             result.joint_acceleration])

    def at(t):
        here = pin.integrate(twin, state, rate * t + 0.5 * t * t * change)
        speed = rate + t * change
        pin.computeCentroidalMomentum(twin, data, here, speed)
        momentum = data.hg.vector.copy()
        pin.computeMechanicalEnergy(twin, data, here, speed)
        return momentum, data.mechanical_energy
    (before, energy_before), (after, energy_after) = at(-h), at(h)
    pin.forwardKinematics(twin, data, state, rate)
    pin.updateFramePlacements(twin, data)
    pin.centerOfMass(twin, data, state)
    total, power = np.zeros(6), effort @ v
    for link, wrench in loads.items():
        frame = twin.getFrameId(link)
        pose = data.oMf[frame]
        force = pose.rotation @ wrench[:3]
        total[:3] += force
        total[3:] += pose.rotation @ wrench[3:] + np.cross(pose.translation - data.com[0], force)
        power += wrench @ pin.getFrameVelocity(twin, data, frame).vector
    total[:3] += model.total_mass * gravity
    np.testing.assert_allclose((after - before) / (2.0 * h), total, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose((energy_after - energy_before) / (2.0 * h), power, rtol=1e-6)


def test_a_ball_joint_equals_three_massless_rings_and_has_no_gimbal_lock():
    body = Inertia(3.0, np.array([0.1, 0.05, 0.3]), np.diag([0.05, 0.06, 0.02]))
    rings = RobotModel('rings', {'ground': Inertia(), 'a': Inertia(), 'b': Inertia(), 'leg': body},
                       [Joint('x', 'revolute', 'ground', 'a', axis=np.array([1.0, 0.0, 0.0])),
                        Joint('y', 'revolute', 'a', 'b', axis=np.array([0.0, 1.0, 0.0])),
                        Joint('z', 'revolute', 'b', 'leg')], base='fixed')
    ball = RobotModel('ball', {'ground': Inertia(), 'leg': body},
                      [Joint('ball', 'spherical', 'ground', 'leg')], base='fixed')
    from scipy.spatial.transform import Rotation
    q, v = np.array([0.3, 0.5, -0.7]), np.array([1.0, -2.0, 0.5])

    def spin(q, v):
        E = np.array([[1.0, 0.0, np.sin(q[1])],
                      [0.0, np.cos(q[0]), -np.sin(q[0]) * np.cos(q[1])],
                      [0.0, np.sin(q[0]), np.cos(q[0]) * np.cos(q[1])]])
        return E @ v
    a = forward_dynamics(rings, q, v, np.zeros(3)).joint_acceleration
    h = 1e-6
    expected = (spin(q + h * v, v + h * a) - spin(q - h * v, v - h * a)) / (2 * h)
    R = Rotation.from_euler('XYZ', q)
    got = forward_dynamics(ball, R.as_quat(), R.as_matrix().T @ spin(q, v), np.zeros(3))
    np.testing.assert_allclose(R.as_matrix() @ got.joint_acceleration, expected, atol=1e-6)
    locked = Rotation.from_euler('XYZ', [0.3, np.pi / 2, 0.0])
    got = forward_dynamics(ball, locked.as_quat(), np.ones(3), np.zeros(3))
    back = inverse_dynamics(ball, Motion(locked.as_quat(), np.ones(3), got.joint_acceleration))
    np.testing.assert_allclose(back.joint_effort, 0.0, atol=1e-13)


def test_a_free_body_and_the_base_reaction():
    lone = RobotModel('lone', {'base': Inertia(2.0, np.zeros(3), np.eye(3))}, [])
    result = forward_dynamics(lone, [], [], [], external={'base': [2.0, 0, 0, 0, 3.0, 0]})
    np.testing.assert_allclose(result.base_acceleration, [1.0, 0, 0, 0, 3.0, 0], atol=1e-15)
    bolted = RobotModel('bolted', {'base': Inertia(2.0, np.zeros(3), np.eye(3))}, [], 'fixed')
    result = forward_dynamics(bolted, [], [], [])
    np.testing.assert_allclose(result.base_wrench, [0, 0, 2 * 9.81, 0, 0, 0], atol=1e-14)
    np.testing.assert_allclose(result.base_acceleration, [0, 0, 9.81, 0, 0, 0])


def test_results_are_not_overwritten_and_loads_are_not_remembered():
    model = random_robot(3, 4)
    body = ArticulatedBody(model)
    q, v, effort, _, _, _ = random_state(model, 3)
    first = body.forward_dynamics(q, v, effort, external={'link0': np.ones(6)})
    kept = first.joint_acceleration.copy()
    second = body.forward_dynamics(q, v, effort)
    np.testing.assert_array_equal(first.joint_acceleration, kept)
    np.testing.assert_array_equal(second.joint_acceleration,
                                  forward_dynamics(model, q, v, effort).joint_acceleration)
    assert np.abs(second.joint_acceleration - kept).max() > 1e-3


def test_what_does_not_fit_is_refused():
    model = random_robot(3, 4)
    q, v, effort, _, _, _ = random_state(model, 3)
    with pytest.raises(MeasurementError, match=r'expected 4 joint velocities.*shape \(3,\)'):
        forward_dynamics(model, q, v[:3], effort)
    with pytest.raises(MeasurementError, match=r'expected 4 joint efforts.*shape \(\)'):
        forward_dynamics(model, q, v, 1.0)
    with pytest.raises(MeasurementError, match='expected finite joint efforts'):
        forward_dynamics(model, q, v, effort * np.nan)
    with pytest.raises(MeasurementError, match='angular velocity'):
        forward_dynamics(model, q, v, effort, BaseMotion(np.zeros(2)))
    with pytest.raises(MeasurementError, match="base's motion"):
        forward_dynamics(model, q, v, effort, BaseMotion(np.array([0.0, np.inf, 0.0])))
    with pytest.raises(UnknownNameError, match='tail'):
        forward_dynamics(model, q, v, effort, external={'tail': np.ones(6)})
    with pytest.raises(MeasurementError, match="wrench on link 'link1'"):
        forward_dynamics(model, q, v, effort, external={'link1': np.ones(3)})


def test_transform_helpers_are_used_as_stated():
    """An external wrench at a welded link equals the same wrench on its body."""
    model = random_robot(8, 5, fixed=3)
    q, v, effort, _, _, _ = random_state(model, 8)
    welded = next(link for link in model.frames
                  if link not in {j.child for j in model.joints} and link != 'base')
    body, pose = model.frame(welded)
    head = 'base' if body == 0 else model.joints[body - 1].child
    wrench = np.arange(6.0)
    to_head = Transform.identity() if body == 0 else model.frames[head].pose.inverse() @ pose
    a = forward_dynamics(model, q, v, effort, external={welded: wrench})
    b = forward_dynamics(model, q, v, effort,
                         external={head: wrench_in_frame(wrench, to_head)})
    np.testing.assert_allclose(a.joint_acceleration, b.joint_acceleration, atol=1e-11)
    assert np.isfinite(rotation_from_quaternion([0, 0, 0, 1.0])).all()
