# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torques for a desired force: exact where possible, nearest where not, and honest about it."""
import numpy as np
import pytest
from robots import CONFIG

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map import (
    ConstrainedForceMap,
    ForceMap,
    FrictionCone,
    Reach,
    TorqueProgram,
    damped_torques,
    stacked_inequalities,
)
from legged_dynamics.model import PointFoot, RobotModel

FEET = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT')
STANCE = np.tile([0.1, 0.7, -1.2], 4)


@pytest.fixture(scope='module')
def standing():
    model = RobotModel.from_urdf(CONFIG / 'robots' / 'anymal_class.urdf')
    found = ConstrainedForceMap(model, [PointFoot(foot) for foot in FEET]).compute(
        STANCE, np.zeros(12))
    return model, found


def shares(model, *extra):
    """Return a quarter of the weight on each foot, and what is added to the first."""
    forces = np.tile([0.0, 0.0, model.total_mass * 9.81 / 4.0], 4)
    forces[:len(extra)] += extra
    return forces


def cones(coefficient=0.6):
    return stacked_inequalities([FrictionCone(coefficient).inequalities()] * 4)


def test_a_reachable_force_is_reached_and_torques_within_limits_are_untouched(standing):
    model, found = standing
    program = TorqueProgram(model.effort_limits, cones())
    wish = shares(model, 5.0, -3.0, 0.1 * model.total_mass * 9.81)
    solution = program.solve(found, wish)
    assert solution.reach is Reach.REACHED
    np.testing.assert_allclose(solution.force, wish, atol=1e-3)
    np.testing.assert_allclose(found.force(solution.torque), solution.force, atol=1e-10)
    assert not solution.saturated.any()
    assert solution.kkt_residual < 1e-8
    assert solution.condition < 1e3
    assert solution.unproducible.shape == (12, 0)
    by_inverse = damped_torques(found, wish, damping=0.0)
    np.testing.assert_allclose(by_inverse.residual, 0.0, atol=1e-8)
    np.testing.assert_allclose(solution.torque, by_inverse.torque, atol=1e-2)


@pytest.mark.parametrize('wish', [(0.0, 0.0, -500.0), (400.0, 0.0, 0.0), (0.0, 0.0, 5000.0)],
                         ids=['pull', 'outside the cone', '10 x the weight'])
def test_the_impossible_becomes_the_nearest_allowed(standing, wish):
    model, found = standing
    A, b = cones()
    program = TorqueProgram(model.effort_limits, (A, b))
    desired = shares(model, *wish)
    solution = program.solve(found, desired)
    assert solution.reach is Reach.NEAREST
    assert (np.abs(solution.torque) <= model.effort_limits).all()
    assert (A @ solution.force >= b - 1e-6).all()
    assert solution.cone_violation < 1e-6
    assert solution.kkt_residual < 1e-8
    # Nothing allowed is nearer: try ways towards the wish.
    rng = np.random.default_rng(0)
    best = np.linalg.norm(desired - solution.force)
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(200):
            torque = np.clip(solution.torque + size * rng.normal(size=12), -model.effort_limits,
                             model.effort_limits)
            force = found.force(torque)
            if (A @ force >= b).all():
                assert np.linalg.norm(desired - force) > best - 1e-4


def test_limits_that_leave_no_force_inside_the_cones_are_said(standing):
    model, found = standing
    tight = TorqueProgram(np.full(12, 0.5), cones(0.01))
    solution = tight.solve(found, shares(model))
    assert solution.reach is Reach.OUTSIDE_CONE
    assert (np.abs(solution.torque) <= 0.5).all()
    assert solution.saturated.any()
    A, b = tight.A, tight.b
    assert solution.cone_violation == pytest.approx((b - A @ solution.force).max())
    assert solution.cone_violation > 1.0
    # The violation is as small as the limits allow: a linear program agrees.
    from scipy.optimize import linprog
    best = linprog([*np.zeros(12), 1.0],
                   A_ub=np.hstack([-A @ found.matrix, -np.ones((len(b), 1))]),
                   b_ub=A @ found.offset - b, bounds=[(-0.5, 0.5)] * 12 + [(0, None)])
    assert solution.cone_violation == pytest.approx(best.fun, rel=1e-3)


def test_a_warm_start_takes_fewer_steps_to_the_same_answer(standing):
    model, found = standing
    program = TorqueProgram(model.effort_limits, cones())
    wish = shares(model, 300.0, 200.0, -500.0)
    cold = program.solve(found, wish)
    warm = program.solve(found, wish + 0.1, warm_start=cold.active)
    assert cold.active
    np.testing.assert_allclose(warm.torque, program.solve(found, wish + 0.1).torque, atol=1e-6)


def test_reference_and_weights_decide_where_force_leaves_a_choice():
    force_map = ForceMap(np.zeros(3), np.hstack([np.eye(3), np.eye(3)]), tuple('abcdef'))
    program = TorqueProgram(np.full(6, 10.0))
    even = program.solve(force_map, np.array([2.0, 0.0, 0.0]))
    np.testing.assert_allclose(even.torque[[0, 3]], 1.0, atol=1e-3)
    biased = program.solve(force_map, np.array([2.0, 0.0, 0.0]),
                           reference=np.array([2.0, 0, 0, 0, 0, 0]))
    np.testing.assert_allclose(biased.torque[[0, 3]], [2.0, 0.0], atol=1e-3)
    damped = damped_torques(force_map, np.array([2.0, 0.0, 0.0]), damping=0.0,
                            reference=np.array([2.0, 0, 0, 0, 0, 0]))
    np.testing.assert_allclose(damped.torque, [2.0, 0, 0, 0, 0, 0], atol=1e-12)
    narrow = ForceMap(np.zeros(2), np.array([[1.0], [1.0]]), ('a',))
    one = TorqueProgram(np.array([10.0])).solve(narrow, np.array([1.0, 3.0]), weights=[1.0, 3.0])
    np.testing.assert_allclose(one.torque, [2.5], atol=1e-4)
    assert one.condition == np.inf
    np.testing.assert_allclose(np.abs(one.unproducible[:, 0]), np.sqrt(0.5))
    assert one.reach is Reach.NEAREST


def test_unlimited_joints_and_rank_deficient_maps():
    force_map = ForceMap(np.zeros(3), np.diag([2.0, 1.0, 0.0]), tuple('abc'))
    free = TorqueProgram(np.array([np.inf, 1.0, np.inf])).solve(force_map, [8.0, 4.0, 2.0])
    np.testing.assert_allclose(free.torque, [4.0, 1.0, 0.0], atol=1e-4)
    np.testing.assert_array_equal(free.saturated, [False, True, False])
    np.testing.assert_allclose(free.residual, [0.0, 3.0, 2.0], atol=1e-4)
    np.testing.assert_allclose(np.abs(free.unproducible), [[0.0], [0.0], [1.0]])
    damped = damped_torques(force_map, [8.0, 4.0, 2.0], damping=0.1)
    gain = np.array([2.0, 1.0]) / (np.array([4.0, 1.0]) + 0.04)
    np.testing.assert_allclose(damped.torque, [8.0 * gain[0], 4.0 * gain[1], 0.0])


def test_what_does_not_fit_is_refused(standing):
    model, found = standing
    with pytest.raises(ConfigurationError, match='torque limits above 0'):
        TorqueProgram(np.zeros(12))
    with pytest.raises(ConfigurationError, match='damping above 0'):
        TorqueProgram(np.ones(12), damping=0.0)
    with pytest.raises(ConfigurationError, match='damping of at least 0'):
        damped_torques(found, shares(model), damping=-1.0)
    with pytest.raises(ConfigurationError, match='map of 3 columns, one a torque limit; got 12'):
        TorqueProgram(np.ones(3)).solve(found, shares(model))
    with pytest.raises(ConfigurationError, match='map of 3 rows, as the inequalities'):
        TorqueProgram(np.ones(12), FrictionCone(0.5).inequalities()).solve(found, shares(model))
    with pytest.raises(ConfigurationError, match='expected 12 desired force components'):
        TorqueProgram(np.ones(12)).solve(found, np.zeros(3))
    with pytest.raises(ConfigurationError, match='expected finite desired forces'):
        damped_torques(found, np.full(12, np.nan))
