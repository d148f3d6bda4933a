# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Ground reactions within friction, load and soles, against dense programs and by themselves."""
import numpy as np
import pytest
from contact_oracles import LENGTH, UP, Contacts, four_feet, motion_of
from robots import CONFIG, TWO_LEGS, random_robot

from legged_dynamics.contact import ContactInverseDynamics, EquationWeights
from legged_dynamics.dynamics import BaseMotion, Motion, frame_poses, inverse_dynamics
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map import FrictionCone, Outcome, solve_quadratic_program
from legged_dynamics.force_map.friction_cone import contact_inequalities
from legged_dynamics.model import FlatFoot, PointFoot, RobotConfig, RobotModel
from legged_dynamics.spatial.rotations import skew

CONE = FrictionCone(0.6)


def inequalities(at, feet, cones, normal=UP):
    """Return C and d of ``C w >= d`` on contact coordinates in base axes."""
    C, d = [np.zeros((0, at.n))], [np.zeros(0)]
    for foot, cone, pose, arm, columns in zip(feet, cones, at.pose, at.arm, at.columns):
        size = columns.stop - columns.start
        if not size:
            continue
        flat = isinstance(foot, FlatFoot)
        own = FrictionCone(cone.coefficient, pose.R[:, 2] if flat else normal, cone.facets,
                           cone.minimum, cone.maximum)
        A, b = contact_inequalities(own, foot, pose.R)
        if flat:        # those of a sole are about its middle
            A = A @ np.block([[np.eye(3), np.zeros((3, 3))],
                              [skew(arm - pose.R @ foot.center), np.eye(3)]])
        rows = np.zeros((len(A), at.n))
        rows[:, columns] = A
        C.append(rows)
        d.append(b)
    return np.vstack(C), np.concatenate(d)


def standing(model, tilt=(0.0, 0.0)):
    """Return a slow motion of a robot that stands, on ground tilted by the given slopes."""
    up = np.array([*tilt, 1.0])
    base = BaseMotion(proper_acceleration=9.81 * up)
    zeros = np.zeros(model.nv)
    return Motion(NOMINAL, zeros, zeros, base)


CONFIGURED = RobotConfig.from_yaml(CONFIG / 'robots' / 'anymal_class.yaml')
QUADRUPED = RobotModel.from_urdf(CONFIG / 'robots' / 'anymal_class.urdf')
NOMINAL = np.array([dict(zip(CONFIGURED.joints, CONFIGURED.nominal_position))[name]
                    for name in QUADRUPED.joint_names])


@pytest.mark.parametrize('tilt', [(0.0, 0.0), (0.3, 0.0), (0.4, -0.2), (-0.2, 0.45)])
@pytest.mark.parametrize('guessed', [False, True])
def test_point_feet_agree_with_the_dense_program(tilt, guessed):
    solver = ContactInverseDynamics(QUADRUPED, CONFIGURED.feet, friction=CONE)
    motion = standing(QUADRUPED, tilt)
    guess = np.random.default_rng(0).normal(size=(4, 6)) * 20.0 if guessed else None
    found = solver.solve(motion, guess=guess)
    at = Contacts(QUADRUPED, CONFIGURED.feet, motion)
    b = inverse_dynamics(QUADRUPED, motion).base_wrench
    C, d = inequalities(at, CONFIGURED.feet, [CONE] * 4)
    H = np.eye(12) * (1.0 if guessed else LENGTH ** 2)
    near = np.zeros(12) if guess is None else at.coordinates(guess)
    dense = solve_quadratic_program(H, -H @ near, np.vstack([at.grasp, C]),
                                    np.concatenate([b, d]), n_equalities=6)
    assert dense.outcome is Outcome.SOLVED and found.feasible
    np.testing.assert_allclose(found.wrench, at.wrenches(dense.x), atol=1e-6 * np.abs(b).max())
    assert np.abs(found.root_residual).max() < 1e-9 * np.abs(b).max()
    assert (found.kkt_residual > 0.0) == (C @ near_free(at, b, H, near) < d - 1e-9).any()


def near_free(at, b, H, near):
    """Return what is nearest without inequalities."""
    spread = np.linalg.solve(H, at.grasp.T)
    return near + spread @ np.linalg.solve(at.grasp @ spread, b - at.grasp @ near)


def test_soles_and_balls_agree_with_the_dense_program():
    model, feet = four_feet('pfpf', seed=21)
    solver = ContactInverseDynamics(model, feet, friction=FrictionCone(1.0))
    active = 0
    for seed in range(60):
        motion = motion_of(model, seed, 0.3)
        found = solver.solve(motion)
        at = Contacts(model, feet, motion)
        b = inverse_dynamics(model, motion).base_wrench
        C, d = inequalities(at, feet, [FrictionCone(1.0)] * 4)
        H = np.diag(np.where(at.moments, 1.0, LENGTH ** 2))
        dense = solve_quadratic_program(H, np.zeros(at.n), np.vstack([at.grasp, C]),
                                        np.concatenate([b, d]), n_equalities=6)
        assert found.feasible == (dense.outcome is Outcome.SOLVED)
        if not found.feasible:      # then the equations are wishes
            rows = np.diag([1.0, 1.0, 1.0, *[LENGTH ** -2] * 3]) * LENGTH ** 2 * 1e4
            dense = solve_quadratic_program(H + at.grasp.T @ rows @ at.grasp,
                                            -at.grasp.T @ rows @ b, C, d)
            np.testing.assert_allclose(found.root_residual, b - at.grasp @ dense.x,
                                       atol=1e-5 * np.abs(b).max())
        active += found.feasible and found.kkt_residual > 0.0
        size = max(np.abs(b).max(), np.abs(found.wrench).max())
        np.testing.assert_allclose(found.wrench, at.wrenches(dense.x), atol=1e-5 * size)
    assert active > 5


MIXED = random_robot(5, 12)
ROBOTS = {
    'balls': (QUADRUPED, CONFIGURED.feet, CONE, NOMINAL),
    'loads': (QUADRUPED, CONFIGURED.feet,
              FrictionCone(0.3, facets=4, minimum=10.0, maximum=200.0), NOMINAL),
    'soles': (RobotModel.from_urdf(TWO_LEGS),
              [FlatFoot(f'{side}_foot', 0.15, -0.05, 0.05, -0.03) for side in 'lr'], CONE,
              np.zeros(6)),
    'mixed': (MIXED, [FlatFoot('link8', 0.15, -0.05, 0.05, -0.03), PointFoot('link9', 0.02),
                      PointFoot('link10'), FlatFoot('link11', 0.1, -0.1, 0.1, -0.1)], CONE,
              np.zeros(12))}


@pytest.mark.parametrize('name', ROBOTS)
def test_ten_thousand_programs_are_optimal_and_admissible(name):
    """Falling, flying, pulled and pushed robots on any feet; two and a half thousand each."""
    model, feet, cone, pose = ROBOTS[name]
    n, nf, nv = 2500, len(feet), model.nv
    rng = np.random.default_rng(7)
    q, v, a = pose + 0.3 * rng.normal(size=(n, nv)), rng.normal(size=(n, nv)), rng.normal(
        size=(n, nv)) * 3.0
    base = np.hstack([rng.normal(size=(n, 3)), 3.0 * rng.normal(size=(n, 3)),
                      [0.0, 0.0, 9.81] + 4.0 * rng.normal(size=(n, 3))])
    still = rng.integers(0, 6, n)
    v[still == 0], a[still == 0], base[still == 0] = 0.0, 0.0, [0.0] * 8 + [9.81]
    base[still == 1, 6:] *= -1.0                                    # hangs from its feet
    v[still == 2], a[still == 2], base[still == 2] = 0.0, 0.0, 0.0  # falls freely
    down = rng.random((n, nf)) < 0.7
    normal = UP + 0.2 * rng.normal(size=(n, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    solver = ContactInverseDynamics(model, feet, friction=cone)
    found = solver.batch(q, v, a, base, in_contact=down, ground_normal=normal)
    assert found.kkt_residual.max() < 1e-8
    assert (found.kkt_residual > 0.0).sum() > n / 4
    assert 0.02 < found.feasible.mean() < 0.9
    assert not found.wrench[~down].any()
    for k in range(0, n, 25):
        poses = frame_poses(model, q[k], tuple(foot.link for foot in feet))
        for foot, wrench, on in zip(feet, found.wrench[k], down[k]):
            pose = poses[foot.link]
            if not on:
                continue
            if isinstance(foot, FlatFoot):
                A, b = contact_inequalities(cone, foot, np.eye(3))
                w = np.concatenate([wrench[:3], wrench[3:] - np.cross(foot.center, wrench[:3])])
            else:
                A, b = FrictionCone(cone.coefficient, normal[k], cone.facets, cone.minimum,
                                    cone.maximum).inequalities()
                w = pose.R @ wrench[:3]
                force = np.linalg.norm(w - (w @ normal[k]) * normal[k])
                assert force <= cone.coefficient * (w @ normal[k]) + 1e-9   # the round cone
            assert (A @ w - b).min() > -1e-9


def test_two_feet_carry_what_they_can_exactly():
    """Squeeze between two balls is moved within their cones; what they leave stays the least."""
    free = ContactInverseDynamics(QUADRUPED, CONFIGURED.feet)
    cone = ContactInverseDynamics(QUADRUPED, CONFIGURED.feet, friction=CONE)
    rng, down = np.random.default_rng(0), [True, False, False, True]
    # A guess that pulls the feet apart, out of their cones.
    guess = np.zeros((4, 6))
    guess[0, :2], guess[3, :2] = (300.0, 200.0), (-300.0, -200.0)
    for _ in range(20):
        motion = Motion(NOMINAL + 0.05 * rng.normal(size=12), np.zeros(12), np.zeros(12))
        exact = free.solve(motion, in_contact=down, guess=guess)
        found = cone.solve(motion, in_contact=down, guess=guess)
        assert found.rank == exact.rank == 5
        assert found.feasible and found.kkt_residual > 0.0
        np.testing.assert_allclose(found.root_residual, exact.root_residual, atol=1e-9 * 500.0)


def test_feet_never_pull_and_what_they_cannot_do_is_said():
    """A base drawn down at 15 m/s^2 asks feet to pull: none does, and the residual is that."""
    motion = Motion(NOMINAL, np.zeros(12), np.zeros(12),
                    BaseMotion(proper_acceleration=np.array([0.0, 0.0, -5.19])))
    free = ContactInverseDynamics(QUADRUPED, CONFIGURED.feet).solve(motion)
    assert free.wrench[:, 2].sum() < -200.0
    found = ContactInverseDynamics(QUADRUPED, CONFIGURED.feet, friction=CONE).solve(motion)
    assert not found.feasible
    poses = frame_poses(QUADRUPED, NOMINAL)
    up = [(poses[foot.link].R @ wrench[:3])[2] for foot, wrench in zip(CONFIGURED.feet,
                                                                       found.wrench)]
    np.testing.assert_allclose(up, 0.0, atol=1e-8)
    asked = inverse_dynamics(QUADRUPED, motion).base_wrench
    np.testing.assert_allclose(found.root_residual, asked, atol=1e-6)


def test_the_limits_of_load_hold():
    """Least moments load one foot most; squeeze along the diagonals takes some of it off."""
    motion = Motion(NOMINAL, np.zeros(12), np.zeros(12),
                    BaseMotion(angular_acceleration=np.array([30.0, 8.0, 0.0])))
    poses = frame_poses(QUADRUPED, NOMINAL)

    def loads(**options):
        found = ContactInverseDynamics(QUADRUPED, CONFIGURED.feet, **options).solve(motion)
        assert found.feasible
        return np.array([(poses[foot.link].R @ wrench[:3])[2]
                         for foot, wrench in zip(CONFIGURED.feet, found.wrench)])
    free = loads()
    maximum = 0.97 * free.max()
    limited = loads(friction=FrictionCone(0.6, maximum=maximum))
    assert limited.max() <= maximum + 1e-9 and np.isclose(limited.max(), maximum)
    minimum = 1.02 * free.min()
    lifted = loads(friction=FrictionCone(0.6, minimum=minimum))
    assert lifted.min() >= minimum - 1e-9 and np.isclose(lifted.min(), minimum)
    np.testing.assert_allclose([limited.sum(), lifted.sum()], free.sum(), rtol=1e-9)


def test_a_warm_start_never_changes_the_answer():
    warm = ContactInverseDynamics(QUADRUPED, CONFIGURED.feet, friction=CONE)
    rng = np.random.default_rng(3)
    for k in range(40):
        slope = 0.35 * np.sin(0.3 * k), 0.3 * np.cos(0.2 * k)
        motion = standing(QUADRUPED, slope)
        if k % 10 == 9:     # something entirely different in between
            warm.solve(motion_of(QUADRUPED, k), in_contact=rng.random(4) < 0.5)
        cold = ContactInverseDynamics(QUADRUPED, CONFIGURED.feet, friction=CONE).solve(motion)
        found = warm.solve(motion)
        np.testing.assert_allclose(found.wrench, cold.wrench, atol=1e-8 * 500.0)
        assert found.feasible == cold.feasible


def test_measured_torque_within_cones():
    """The most probable forces within the cones, by a dense program of all equations."""
    model, feet = four_feet('pfpf', seed=21)
    weights = EquationWeights(np.full(6, 9.0), np.full(8, 0.3), prior_force=200.0,
                              prior_moment=20.0)
    solver = ContactInverseDynamics(model, feet, friction=CONE, weights=weights)
    rng, active = np.random.default_rng(1), 0
    for seed in range(20):
        motion, effort = motion_of(model, seed, 0.3), 5.0 * rng.normal(size=8)
        found = solver.solve(motion, effort=effort)
        at, free = Contacts(model, feet, motion), inverse_dynamics(model, motion)
        prior = np.where(at.moments, 20.0, 200.0) ** -2
        H = at.grasp.T @ at.grasp / 9.0 + at.jacobian @ at.jacobian.T / 0.3 + np.diag(prior)
        g = -(at.grasp.T @ free.base_wrench / 9.0
              + at.jacobian @ (free.joint_effort - effort) / 0.3)
        C, d = inequalities(at, feet, [CONE] * 4)
        dense = solve_quadratic_program(H, g, C, d)
        active += len(dense.active) > 0
        size = np.abs(found.wrench).max(initial=1.0)
        np.testing.assert_allclose(found.wrench, at.wrenches(dense.x), atol=1e-6 * size)
        assert found.kkt_residual < 1e-8
    assert active > 10


def test_cones_are_for_all_feet_or_for_each():
    with pytest.raises(ConfigurationError, match='one for each of 4 feet, got 3'):
        ContactInverseDynamics(QUADRUPED, CONFIGURED.feet, friction=[CONE] * 3)
    one = ContactInverseDynamics(QUADRUPED, CONFIGURED.feet, friction=CONE)
    each = ContactInverseDynamics(QUADRUPED, CONFIGURED.feet, friction=[CONE] * 4)
    motion = standing(QUADRUPED, (0.4, 0.1))
    np.testing.assert_array_equal(one.solve(motion).wrench, each.solve(motion).wrench)
