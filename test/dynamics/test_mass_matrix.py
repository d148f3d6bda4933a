# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The mass matrix against Pinocchio and against inverse dynamics; elimination with it."""
import numpy as np
import pinocchio as pin
import pytest
from robots import CONFIG, pinocchio_twin, random_robot, random_state
from tolerances import ALGEBRA

from legged_dynamics.dynamics import (
    BaseMotion,
    CompositeBody,
    Motion,
    inverse_dynamics,
    mass_matrix,
)
from legged_dynamics.dynamics.composite_body import branch_ends, eliminate_branches
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model import Inertia, Joint, RobotModel

KINDS = ('revolute', 'continuous', 'prismatic', 'spherical')
ROBOTS = [(1, 6, KINDS), (2, 12, ('revolute',)), (3, 9, ('spherical',)), (4, 34, KINDS),
          (5, 7, ('prismatic', 'spherical'))]


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('seed, n_joints, kinds', ROBOTS)
def test_agrees_with_pinocchio(seed, n_joints, kinds, base):
    model = random_robot(seed, n_joints, kinds, base=base)
    q, _, _, xyzw, _, _ = random_state(model, seed)
    twin = pinocchio_twin(model)
    theirs = pin.crba(twin, twin.createData(),
                      np.concatenate([np.zeros(3), xyzw, q]) if model.floating else q)
    np.testing.assert_allclose(mass_matrix(model, q), theirs, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize('straight', [0.0, 1e-7, 0.8])
def test_a_quadruped_with_straight_knees_agrees_with_pinocchio(straight):
    model = RobotModel.from_urdf(CONFIG / 'robots' / 'anymal_class.urdf')
    twin, q = pinocchio_twin(model), np.tile([0.0, straight, -2.0 * straight], 4)
    theirs = pin.crba(twin, twin.createData(), np.concatenate([np.zeros(6), [1.0], q]))
    np.testing.assert_allclose(mass_matrix(model, q), theirs, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_is_what_inverse_dynamics_take_per_acceleration(base):
    model = random_robot(6, 9, KINDS, base=base)
    model = model.with_joint_physics(armature=dict.fromkeys(model.joint_names, 0.1))
    q, v, a, _, twist, acceleration = random_state(model, 6)
    M = mass_matrix(model, q)

    def efforts(joints, base_acceleration):
        found = inverse_dynamics(model, Motion(q, v, joints, BaseMotion(
            twist[3:], base_acceleration[3:], base_acceleration[:3])))
        return np.concatenate([found.base_wrench, found.joint_effort])
    change = efforts(a, acceleration) - efforts(np.zeros(model.nv), np.zeros(6))
    if base == 'fixed':
        change = efforts(a, np.zeros(6)) - efforts(np.zeros(model.nv), np.zeros(6))
        np.testing.assert_allclose(M @ a, change[6:], atol=ALGEBRA * np.abs(change).max())
        return
    np.testing.assert_allclose(M @ np.concatenate([acceleration, a]), change,
                               atol=ALGEBRA * np.abs(change).max())
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0.0
    assert M[0, 0] == pytest.approx(model.total_mass)


def test_memory_is_reused_and_read_only():
    model = random_robot(2, 4)
    body, rng = CompositeBody(model), np.random.default_rng(0)
    first, second = rng.normal(size=(2, model.nq))
    M = body.mass_matrix(first)
    kept = M.copy()
    body.mass_matrix(second)
    assert np.abs(M - kept).max() > 1e-3
    np.testing.assert_array_equal(body.mass_matrix(first.tolist()), kept)
    with pytest.raises(ValueError, match='read-only'):
        M[0, 0] = 1.0


def test_positions_that_do_not_fit_are_refused():
    model = random_robot(2, 4)
    with pytest.raises(MeasurementError, match=r'expected 4 joint positions, got an array of sh'):
        mass_matrix(model, np.zeros(5))
    with pytest.raises(MeasurementError, match='expected 4 joint positions'):
        mass_matrix(model, 'four')
    with pytest.raises(MeasurementError, match='expected finite joint positions'):
        mass_matrix(model, np.full(4, np.inf))


def test_a_pendulum_weighs_what_the_book_says():
    rod = Inertia(2.0, np.array([0.0, 0.0, -0.5]), np.diag([0.3, 0.3, 0.01]))
    model = RobotModel('pendulum', {'ground': Inertia(), 'rod': rod},
                       [Joint('pivot', 'revolute', 'ground', 'rod', axis=np.array([0, 1.0, 0]))],
                       base='fixed')
    np.testing.assert_allclose(mass_matrix(model, [0.7]), [[0.3 + 2.0 * 0.25]], atol=1e-15)


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('seed, n_joints, kinds', ROBOTS)
def test_elimination_gives_the_inverse_and_keeps_zeros(seed, n_joints, kinds, base):
    model = random_robot(seed, n_joints, kinds, base=base)
    q, *_ = random_state(model, seed)
    M = mass_matrix(model, q)
    n, X = len(M), np.random.default_rng(seed).normal(size=(len(M), 3))
    rows = np.hstack([X, M])
    assert eliminate_branches(rows, branch_ends(model), 3, 0.0)
    DL, Y = np.tril(rows[:, 3:]), rows[:, :3]
    D = np.diag(1.0 / np.diag(DL))
    np.fill_diagonal(DL, np.diag(D))
    L = np.linalg.solve(D, DL)
    np.testing.assert_allclose(L.T @ D @ L, M, atol=ALGEBRA * np.abs(M).max())
    np.testing.assert_allclose(Y.T @ np.linalg.solve(D, Y), X.T @ np.linalg.solve(M, X),
                               rtol=1e-8)
    joints = slice(n - model.nv, n)
    np.testing.assert_array_equal(L[joints, joints][np.tril(M)[joints, joints] == 0.0], 0.0)
    assert not eliminate_branches(np.hstack([X, -M]), branch_ends(model), 3, 0.0)
    # The rows beyond a row are those it shares an entry with.
    for i, end in enumerate(branch_ends(model)):
        for j in range(max(i + 1, n - model.nv), n):
            assert (M[i, j] != 0.0) == (j < end)
