# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The stages in SE(3): recorded cases, Pinocchio, and what the joints then really do."""
import numpy as np
import pytest
from robots import CONFIG
from standing import (
    RECORDED,
    Pinned,
    body_state,
    quadruped,
    random_legs,
    random_motion,
    recorded_biped,
    run_stages,
    standing_pose,
    waisted_robot,
)
from tolerances import ALGEBRA, GOLDEN

from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.force_map import ConstrainedForceMap
from legged_dynamics.model import LineFoot, RobotConfig, RobotModel
from legged_dynamics.spatial.rotations import rotation_from_vector
from legged_dynamics.workspace import BodyTarget, WorkspaceController, WorkspaceFault
from legged_dynamics.workspace.force_division import even_shares
from legged_dynamics.workspace.propagation import propagate_force

METHODS = ('even', 'least_squares', 'friction_cone')


def close(ours, theirs, tolerance=ALGEBRA):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * np.abs(theirs).max())


@pytest.mark.parametrize('case', RECORDED['cases'])
def test_recorded_workspace_dynamics_and_torques(case):
    model, feet = recorded_biped()
    q, v = np.array(case['q']), np.array(case['v'])
    s = run_stages(model, feet, q, v)
    close(s.inertia, np.array(case['Lambda_exact']), GOLDEN)
    close(s.bias, np.array(case['mu_exact']), GOLDEN)
    shares, torque = np.zeros(12), np.zeros(12)
    even_shares(s.feet, s.states, np.array(case['F']), shares)
    propagate_force(s.tree, s.feet, s.bodies, s.states, shares, torque)
    close(torque, np.array(case['tau_half_split']), GOLDEN)


@pytest.mark.parametrize('seed', range(6))
def test_dynamics_of_any_robot_are_those_of_pinocchio(seed):
    model, feet = random_legs(seed)
    q, v = random_motion(model, seed)
    s = run_stages(model, feet, q, v)
    inertia, bias = Pinned(model, feet, q, v).project()
    # A random leg is often folded up: digits go with the square of its condition.
    close(s.inertia, inertia, 1e-8)
    close(s.bias, bias, 1e-8)


@pytest.mark.parametrize('seed', range(3))
def test_a_robot_on_blades_turns_over_them_as_pinocchio_says(seed):
    model, feet = random_legs(seed, (5, 4, 7))
    feet = [LineFoot(feet[0].link, 0.12, -0.06), feet[1], LineFoot(feet[2].link, 0.05, -0.05)]
    q, v = random_motion(model, seed)
    s = run_stages(model, feet, q, v)
    inertia, bias = Pinned(model, feet, q, v).project()
    close(s.inertia, inertia, 1e-8)
    close(s.bias, bias, 1e-8)
    shares, efforts = np.random.default_rng(seed).normal(size=11), np.zeros(model.nv)
    propagate_force(s.tree, s.feet, s.bodies, s.states, shares, efforts)
    close(efforts, -s.jacobian.T @ shares)


def test_legs_that_share_a_joint_are_inverted_together():
    model, feet = waisted_robot()
    q, v = random_motion(model, 3)
    s = run_stages(model, feet, q, v)
    assert len(s.groups) == 3
    close(s.inverse, np.linalg.pinv(s.jacobian), 1e-9)
    inertia, bias = Pinned(model, feet, q, v).project()
    close(s.inertia, inertia, 1e-9)
    close(s.bias, bias, 1e-9)


def test_forces_go_to_the_joints_by_the_transposed_jacobian():
    model, feet = random_legs(1)        # hinges and slides, balls and a sole
    s = run_stages(model, feet, *random_motion(model, 1))
    shares, efforts = np.random.default_rng(0).normal(size=len(s.drift)), np.zeros(model.nv)
    propagate_force(s.tree, s.feet, s.bodies, s.states, shares, efforts)
    close(efforts, -s.jacobian.T @ shares)


def scene(seed, method, radius=0.0, **settings):
    """Return a quadruped in motion, its command, and its q and v."""
    model, config = quadruped(robot__foot_radius=radius)
    model = model.with_joint_physics(effort=dict.fromkeys(model.joint_names, 500.0))
    rng = np.random.default_rng(seed)
    R = rotation_from_vector(0.15 * rng.normal(size=3))
    twist, v = 0.1 * rng.normal(size=6), 0.4 * rng.normal(size=12)
    q = standing_pose(model, config) + 0.15 * rng.normal(size=12)
    controller = WorkspaceController(model, config, {
        'division.method': method, 'division.friction': 2.0,
        'limits.acceleration.linear': 50.0, **settings})
    target = BodyTarget.of([0.01, -0.02, 0.51], R @ rotation_from_vector([0.02, -0.01, 0.03]),
                           0.1 * rng.normal(size=6), 0.5 * rng.normal(size=6))
    command = controller.update(body_state(rotation=R, twist=twist), Measurement(0, q, v), target)
    return model, config, R, twist, q, v, command


@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('seed', [0, 1, 3])
def test_the_base_accelerates_as_asked_and_feet_bear_what_was_meant(seed, method):
    from scipy.spatial.transform import Rotation
    model, config, R, twist, q, v, command = scene(seed, method)
    assert not command.faults
    full_q = np.concatenate([[0.0, 0.0, 0.5], Rotation.from_matrix(R).as_quat(), q])
    pinned = Pinned(model, config.feet, full_q, np.concatenate([twist, v]))
    acceleration, forces = pinned.accelerate(command.effort)
    close(acceleration[:6], command.acceleration, 1e-9)
    s = run_stages(model, config.feet, full_q, np.concatenate([twist, v]))
    in_base = [foot[:9].reshape(3, 3) @ wrench[:3]
               for foot, wrench in zip(s.states, command.foot_wrench)]
    close(np.concatenate(in_base), forces, 1e-9)


def test_rolling_balls_bear_what_was_meant():
    model, config, R, twist, q, v, command = scene(5, 'least_squares', radius=0.03)
    assert not command.faults
    found = ConstrainedForceMap(model, config.feet).compute(
        q, v, angular_velocity=twist[3:], R_WB=R)
    forces = found.force(command.effort).reshape(4, 3)
    for force, R_BF, wrench in zip(forces, found.foot_rotations, command.foot_wrench):
        np.testing.assert_allclose(R_BF @ wrench[:3], force, atol=1e-8)


def test_the_force_is_the_inertia_times_what_is_asked_and_the_bias():
    *_, command = scene(1, 'even')
    close(command.body_force, command.inertia @ command.acceleration + command.bias)
    assert np.linalg.eigvalsh(command.inertia).min() > 0.0


def test_three_feet_carry_the_body_and_the_fourth_leg_is_held():
    model, config = quadruped()
    q = standing_pose(model, config)
    controller = WorkspaceController(model, config)
    target = BodyTarget.of([0.0, 0.0, 0.5], np.eye(3))
    lifted = np.array([True, True, True, False])
    moved = q.copy()
    command = controller.update(body_state(contact=lifted), Measurement(0, q, np.zeros(12)),
                                target)
    assert command.faults & WorkspaceFault.FOOT_LOST
    assert not command.foot_wrench[3].any()
    assert np.isnan(command.stretch[3])
    assert (command.stretch[:3] > 0.1).all()
    last = [model.joint_index(f'RH_{name}') for name in ('HAA', 'HFE', 'KFE')]
    moved[last] += 0.1
    pulled = controller.update(body_state(contact=lifted), Measurement(0, moved, np.zeros(12)),
                               target)
    assert (pulled.effort[last] < command.effort[last] - 0.3).all()


def test_too_few_feet_give_no_efforts():
    model, config = quadruped()
    command = WorkspaceController(model, config).update(
        body_state(contact=[True, False, False, False]),
        Measurement(0, standing_pose(model, config), np.zeros(12)),
        BodyTarget.of([0.0, 0.0, 0.6], np.eye(3)))
    assert command.faults & WorkspaceFault.NO_STANCE and not command.usable
    assert not command.effort.any()
    np.testing.assert_allclose(command.error[:3], [0.0, 0.0, -0.1], atol=1e-12)


@pytest.mark.parametrize(('bend', 'stretched'), [(0.8, False), (-0.15, True), (-0.26, True)])
def test_a_straight_knee_is_reported_and_damped(bend, stretched):
    # The foot lies beside the shank's axis: hip, knee and foot are in line at -0.26 rad.
    model, config = quadruped()
    q = standing_pose(model, config)
    for leg, sign in (('LF', 1.0), ('RF', 1.0), ('LH', -1.0), ('RH', -1.0)):
        q[model.joint_index(f'{leg}_HFE')] = sign * bend / 2.0
        q[model.joint_index(f'{leg}_KFE')] = -sign * bend
    command = WorkspaceController(model, config).update(
        body_state(), Measurement(0, q, 0.1 * np.ones(12)),
        BodyTarget.of([0.0, 0.0, 0.55], np.eye(3)))
    assert bool(command.faults & WorkspaceFault.SINGULAR) == stretched
    assert (command.stretch < 0.03).all() == stretched
    assert np.isfinite(command.effort).all()
    assert np.abs(command.effort).max() < 60.0
    assert command.usable


def test_what_does_not_fit_is_refused():
    model, config = quadruped()
    controller, target = WorkspaceController(model, config), BodyTarget.of(np.zeros(3), np.eye(3))
    with pytest.raises(MeasurementError, match='12 joint positions'):
        controller.update(body_state(), Measurement(0, np.zeros(11), np.zeros(12)), target)
    with pytest.raises(MeasurementError, match='finite joint velocities'):
        controller.update(body_state(), Measurement(0, np.zeros(12), np.full(12, np.nan)), target)
    with pytest.raises(ConfigurationError, match='unstable'):
        controller.configure({'gains.linear.integral': [3000.0, 0.0, 0.0]})
    with pytest.raises(ConfigurationError, match='orthonormal'):
        BodyTarget.of(np.zeros(3), np.diag([1.0, 1.0, -1.0]))
    with pytest.raises(ConfigurationError, match='floating base'):
        WorkspaceController(RobotModel.from_urdf(CONFIG / 'robots' / 'anymal_class.urdf',
                                                 base='fixed'),
                            RobotConfig.from_yaml(CONFIG / 'robots' / 'anymal_class.yaml'))
