# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How the feet share a wrench: what they must respect, and that nothing better exists."""
import numpy as np
import pytest
from scipy.optimize import minimize
from standing import (
    SOLE,
    body_state,
    quadruped,
    random_motion,
    recorded_biped,
    run_stages,
    standing_pose,
)

from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.force_map import solve_quadratic_program
from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.model import LineFoot
from legged_dynamics.spatial.packed import pack
from legged_dynamics.spatial.rotations import rotation_from_quaternion, rotation_from_vector
from legged_dynamics.workspace import BodyTarget, WorkspaceController, WorkspaceFault
from legged_dynamics.workspace.force_division import (
    BALANCED,
    UNBALANCED,
    division_program,
    even_shares,
    friction_cone,
    least_squares,
)


def divide(s, program, wrench, weights, shares):
    """Divide a wrench on a level robot whose joints have no limits."""
    return friction_cone(pack(s), pack(program), np.eye(3).ravel(), wrench, np.zeros(12),
                         np.zeros(12), weights, shares)


GENTLE = {'limits.acceleration.linear': 50.0, 'limits.error.linear': 5.0, 'limits.patience': 5.0}


def command_of(acceleration=(0.0,) * 6, rotation=None, **settings):
    """Return a quadruped's command for an acceleration asked for, its model and feet."""
    model, config = quadruped()
    controller = WorkspaceController(model, config, {
        **GENTLE, **{key.replace('__', '.'): value for key, value in settings.items()}})
    R = np.eye(3) if rotation is None else rotation
    target = BodyTarget.of([0.0, 0.0, 0.5], R, acceleration=acceleration)
    q = standing_pose(model, config)
    return controller.update(body_state(rotation=R), Measurement(0, q, np.zeros(12)), target), \
        controller


def world_forces(command, controller, rotation):
    model, config = quadruped()
    q = np.concatenate([np.zeros(6), np.ones(1), standing_pose(model, config)])
    s = run_stages(model, config.feet, q, np.zeros(18))
    return np.array([rotation @ foot[:9].reshape(3, 3) @ wrench[:3]
                     for foot, wrench in zip(s.states, command.foot_wrench)])


def test_at_rest_the_feet_carry_the_weight():
    command, controller = command_of()
    forces = world_forces(command, controller, np.eye(3))
    np.testing.assert_allclose(forces.sum(axis=0),
                               [0.0, 0.0, 9.81 * controller.model.total_mass], atol=1e-6)
    assert not command.faults


@pytest.mark.parametrize('friction', [0.1, 0.4])
def test_forces_stay_in_their_cones_on_a_slope_of_the_body(friction):
    R = rotation_from_vector(np.array([0.2, -0.15, 0.4]))
    loose, controller = command_of([2.0, 1.0, 0.5, 3.0, -2.0, 1.0], R,
                                   division__method='least_squares')
    tight, controller = command_of([2.0, 1.0, 0.5, 3.0, -2.0, 1.0], R,
                                   division__friction=friction)
    needed = [np.hypot(*force[:2]) / force[2] for force in world_forces(loose, controller, R)]
    used = [np.hypot(*force[:2]) / force[2] for force in world_forces(tight, controller, R)]
    assert max(used) <= friction + 1e-9
    if friction > 0.3:
        assert max(needed) > friction           # without the cones it would have slipped
        assert not tight.faults
        np.testing.assert_allclose(tight.unbalanced, 0.0, atol=1e-6)
    else:
        assert tight.faults & WorkspaceFault.UNBALANCED     # it takes some 0.2 g sideways


def test_a_foot_is_not_pulled_up():
    # Faster down than it falls.
    command, controller = command_of([0.0, 0.0, -12.0, 0.0, 0.0, 0.0])
    forces = world_forces(command, controller, np.eye(3))
    assert command.faults & WorkspaceFault.UNBALANCED
    assert forces[:, 2].min() >= 0.02 * 9.81 * controller.model.total_mass - 1e-6
    assert np.abs(command.unbalanced).max() > 1.0


def test_efforts_stay_within_their_limits():
    free, controller = command_of([0.0, 0.0, 6.0, 0.0, 0.0, 0.0])
    most = float(np.abs(free.effort).max() / controller.model.effort_limits[0])
    bound, controller = command_of([0.0, 0.0, 6.0, 0.0, 0.0, 0.0],
                                   limits__effort_fraction=round(0.9 * most, 3))
    limit = round(0.9 * most, 3) * controller.model.effort_limits
    assert (np.abs(bound.effort) <= limit * (1.0 + 1e-9)).all()
    # Legs in front and behind bend to opposite sides: both signs of the limits bear.
    assert (free.effort > limit).any() and (free.effort < -limit).any()
    assert not bound.faults & WorkspaceFault.EFFORT_LIMIT       # divided so, not cut
    cut, _ = command_of([0.0, 0.0, 6.0, 0.0, 0.0, 0.0], division__method='least_squares',
                        limits__effort_fraction=round(0.9 * most, 3))
    assert cut.faults & WorkspaceFault.EFFORT_LIMIT
    np.testing.assert_allclose(cut.effort, np.clip(free.effort, -limit, limit), atol=5.0)
    assert np.abs(cut.effort / limit).max() == pytest.approx(1.0)


def biped_scene(seed):
    model, feet = recorded_biped()
    q, v = random_motion(model, seed, 0.1)
    q[7:] = [0.05, 0.1, -0.5, 1.0, -0.5, 0.0, -0.05, -0.1, -0.4, 0.8, -0.4, 0.05]
    q[3:7] = [0.0, 0.0, 0.0, 1.0]
    return model, feet, q, run_stages(model, feet, q, v)


def possible_wrench(s, rng):
    """Return the sum of wrenches that the soles can give, one of them near its edge."""
    total = np.zeros(12)
    for i, share in enumerate(rng.uniform(200.0, 500.0, 2)):
        at = (0.9, -0.3)[i] * (SOLE[0] - SOLE[1]) / 2.0, rng.uniform(-0.04, 0.04)
        force = np.array([*rng.uniform(-0.25, 0.25, 2) * share, share])
        R = s.states[i, :9].reshape(3, 3)
        total[6 * i:6 * i + 3] = R @ force
        total[6 * i + 3:6 * i + 6] = R @ np.cross([*at, 0.0], force)
    return s.grasp @ total


@pytest.mark.parametrize('seed', range(4))
def test_under_flat_feet_the_pressure_stays_in_the_sole(seed):
    model, feet, _, s = biped_scene(seed)
    rng = np.random.default_rng(seed)
    wrench = possible_wrench(s, rng)
    weights = np.tile([1.0] * 3 + [100.0] * 3, 2)
    shares = np.zeros(12)
    even_shares(s.feet, s.states, wrench, shares)
    program = division_program(feet, 12, 12, 0.5, 20.0)
    outcome = divide(s, program, wrench, weights, shares)
    assert outcome == BALANCED
    np.testing.assert_allclose(s.grasp @ shares, wrench, atol=1e-6)
    for foot, (f, m) in zip(s.states, shares.reshape(2, 2, 3)):
        R = foot[:9].reshape(3, 3).T
        (fx, fy, fz), (mx, my, _) = R @ f, R @ m
        assert fz >= 20.0 - 1e-6 and np.hypot(fx, fy) <= 0.5 * np.sqrt(2.0) * fz + 1e-6
        assert abs(-my / fz) <= (SOLE[0] - SOLE[1]) / 2 + 1e-9
        assert abs(mx / fz) <= (SOLE[2] - SOLE[3]) / 2 + 1e-9


@pytest.mark.parametrize('seed', range(3))
def test_under_blades_the_pressure_stays_between_the_ends(seed):
    model, soles, q, _ = biped_scene(seed)
    feet = [LineFoot(foot.link, *SOLE[:2]) for foot in soles]
    s = run_stages(model, feet, q, random_motion(model, seed, 0.1)[1])
    half, rng, shares = (SOLE[0] - SOLE[1]) / 2.0, np.random.default_rng(seed), np.zeros(8)
    for i, share in enumerate(rng.uniform(200.0, 500.0, 2)):
        R = s.states[i, :9].reshape(3, 3)
        shares[4 * i:4 * i + 3] = R @ [*rng.uniform(-0.25, 0.25, 2) * share, share]
        shares[4 * i + 3] = -(0.9, -0.3)[i] * half * share
    wrench, weights = s.grasp @ shares, np.tile([1.0, 1.0, 1.0, 100.0], 2)
    even_shares(s.feet, s.states, wrench, shares)
    program = division_program(feet, 8, 12, 0.5, 20.0)
    assert divide(s, program, wrench, weights, shares) == BALANCED
    np.testing.assert_allclose(s.grasp @ shares, wrench, atol=1e-6)
    cone = FrictionCone(0.5, minimum=20.0)
    assert (np.abs(shares[3::4]) <= half * shares[2::4] + 1e-6).all()
    for i, foot in enumerate(feet):
        A, b = contact_inequalities(cone, foot, np.eye(3))
        assert (A @ shares[4 * i:4 * i + 4] - b).min() > -1e-6


@pytest.mark.parametrize('seed', range(3))
def test_the_division_is_the_best_there_is(seed):
    model, feet, _, s = biped_scene(seed)
    wrench = possible_wrench(s, np.random.default_rng(seed))
    weights = np.tile([1.0] * 3 + [100.0] * 3, 2)
    shares = np.zeros(12)
    even_shares(s.feet, s.states, wrench, shares)
    even = shares.copy()
    program = division_program(feet, 12, 12, 0.4, 20.0)
    assert divide(s, program, wrench, weights, shares) == BALANCED
    cone = FrictionCone(0.4, minimum=20.0)
    A, b = np.zeros((0, 12)), np.zeros(0)
    for i, (foot, state) in enumerate(zip(feet, s.states)):
        a, bound = contact_inequalities(cone, foot, state[:9].reshape(3, 3))
        A = np.vstack([A, np.hstack([a if k == i else np.zeros_like(a) for k in range(2)])])
        b = np.append(b, bound)
    found = solve_quadratic_program(np.diag(weights), -weights * even,
                                    np.vstack([s.grasp, A]), np.append(wrench, b),
                                    n_equalities=6)
    np.testing.assert_allclose(shares, found.x, atol=1e-6)
    best = minimize(lambda x: 0.5 * weights @ (x - even) ** 2, even,
                    jac=lambda x: weights * (x - even), method='SLSQP',
                    constraints=[{'type': 'eq', 'fun': lambda x: s.grasp @ x - wrench},
                                 {'type': 'ineq', 'fun': lambda x: A @ x - b}],
                    options={'ftol': 1e-10, 'maxiter': 300})
    assert 0.5 * weights @ (shares - even) ** 2 <= best.fun * (1.0 + 1e-5) + 1e-6


def test_what_no_forces_give_is_missed_by_little():
    model, feet, _, s = biped_scene(1)
    wrench = np.array([600.0, 0.0, 700.0, 0.0, 0.0, 0.0])      # friction 0.5 gives 350 N at most
    weights, shares = np.tile([1.0] * 3 + [100.0] * 3, 2), np.zeros(12)
    even_shares(s.feet, s.states, wrench, shares)
    program = division_program(feet, 12, 12, 0.5, 20.0)
    assert divide(s, program, wrench, weights, shares) == UNBALANCED
    got = s.grasp @ shares
    assert 250.0 < got[0] < 600.0
    for foot, f in zip(s.states, shares.reshape(2, 2, 3)[:, 0]):
        local = foot[:9].reshape(3, 3).T @ f
        assert np.abs(local[:2]).max() <= 0.5 * local[2] + 1e-6


def test_least_squares_leave_what_two_balls_cannot_give():
    model, config = quadruped()
    q = np.concatenate([np.zeros(6), np.ones(1), standing_pose(model, config)])
    diagonal = [config.feet[0], config.feet[3]]
    s = run_stages(model, diagonal, q, np.zeros(18))
    points = s.states[:, 12:15]
    line = (points[1] - points[0]) / np.linalg.norm(points[1] - points[0])
    wrench, shares = np.array([5.0, -3.0, 500.0, 0.0, 0.0, 0.0]), np.zeros(6)
    wrench[3:] = np.cross(points.mean(axis=0), wrench[:3]) + 7.0 * line
    least_squares(s.grasp, s.spare, wrench, np.ones(6), shares)
    missing = wrench - s.grasp @ shares
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(missing[:3], 0.0, atol=7.0)
    assert abs(missing[3:] @ line) > 3.0


def test_an_orientation_of_the_body_does_not_turn_the_cones():
    quaternion = np.array([0.1, -0.05, 0.3, 0.94])
    R = rotation_from_quaternion(quaternion)
    level, controller = command_of()
    turned, controller = command_of(rotation=R)
    assert world_forces(turned, controller, R)[:, 2].sum() == pytest.approx(
        world_forces(level, controller, np.eye(3))[:, 2].sum())
