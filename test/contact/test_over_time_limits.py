# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from over_time_reference import Reference, balances, parts_of, swing
from robots import CONFIG, crouching_biped
from scipy.optimize import minimize

from legged_dynamics.contact import (
    ContactInverseDynamicsOverTime,
    ContactLimits,
    OverTimeWeights,
    Stretch,
)
from legged_dynamics.dynamics import frame_poses
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map import (
    FrictionCone,
    contact_inequalities,
    solve_quadratic_program,
)
from legged_dynamics.model import FlatFoot, LineFoot, PointFoot, RobotModel
from legged_dynamics.optimization.cone_program import ConeScaling, longest_step, moved_inside

LINKS = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT')
# A constraint counts as kept when it is missed by less, relative to the weight.
KEPT = 1e-9
# Optimality conditions: the method stops at 1e-10, or where rounding stops it, which is earlier
# where many frames cannot be balanced.
OPTIMAL, OPTIMAL_ENOUGH = 1e-8, 1e-7


class Case(NamedTuple):
    """A robot with level soles, lines or balls for feet, and how it sways."""

    model: RobotModel
    feet: list
    pose: np.ndarray

    def motion(self, frames, size=1.0):
        return swing(self.model, frames, 1, pose=self.pose, joints=0.01 * size, base=0.03 * size)

    def solver(self):
        return ContactInverseDynamicsOverTime(self.model, self.feet)

    @property
    def weight(self):
        return self.model.total_mass * GRAVITY


@cache
def case(kind):
    if kind == 'point':
        model = RobotModel.from_urdf(str(CONFIG / 'robots' / 'anymal_class.urdf'))
        return Case(model, [PointFoot(link, 0.03) for link in LINKS],
                    np.tile([0.0, 0.7, -1.4], 4))
    model, q = crouching_biped()
    if kind == 'line':
        return Case(model, [LineFoot(link, 0.12, -0.05) for link in ('l_foot', 'r_foot')], q)
    return Case(model, [FlatFoot(link, 0.12, -0.05, 0.03, -0.02) for link in ('l_foot', 'r_foot')],
                q)


def stepping(kind, frames):
    """Return flags of diagonal pairs of feet, or of a walk."""
    standing = np.ones((frames, len(case(kind).feet)), bool)
    if kind == 'point':
        standing[4:10, 1:3] = standing[14:18, [0, 3]] = False
    else:
        standing[12:16, 1] = False
    return standing


def in_ground(kind, found, motion):
    """Return forces in world axes (points) or wrenches about the middle of the soles (flat)."""
    _, feet, _ = here = case(kind)
    if kind == 'flat':
        w = found.wrench.copy()
        w[..., 3:] -= np.cross([foot.center for foot in feet], w[..., :3])
        return w
    return np.array([[np.linalg.inv(turn[:3, :3]) @ w[:3] for (_, turn), w in zip(maps, wrenches)]
                     for (_, maps), wrenches in zip(balances(here.model, feet, motion),
                                                    found.wrench)])


def least_slack(kind, cone, shape, forces):
    """Return by how much the tightest limit of (n, 3) forces or (n, 6) wrenches is kept [N]."""
    foot = case(kind).feet[0]
    A, b = contact_inequalities(cone, foot, np.eye(3))
    if shape == 'pyramid':
        return (forces @ A.T - b).min()
    sides = 4 if kind == 'flat' else cone.facets
    return min((forces @ A[sides:].T - b[sides:]).min(),
               (cone.coefficient * forces[:, 2] - np.linalg.norm(forces[:, :2], axis=1)).min())


@pytest.mark.parametrize('shape', ['pyramid', 'round'])
@pytest.mark.parametrize(('kind', 'friction'), [('point', 0.3), ('point', 0.05), ('flat', 0.6),
                                                ('flat', 0.05)])
def test_every_foot_keeps_its_limits(kind, shape, friction):
    motion, standing = case(kind).motion(20), stepping(kind, 20)
    cone = FrictionCone(friction, minimum=5.0)
    free = case(kind).solver().solve(motion, in_contact=standing)
    found = case(kind).solver().solve(motion, in_contact=standing,
                                      limits=ContactLimits(cone, shape))
    slack = [least_slack(kind, cone, shape, in_ground(kind, answer, motion)[standing])
             for answer in (free, found)]
    assert slack[0] < -0.1
    assert slack[1] > -KEPT * case(kind).weight
    assert found.kkt_residual < OPTIMAL_ENOUGH
    assert not found.wrench[~standing].any()


@pytest.mark.parametrize(('kind', 'reference'), [('point', 'sole'), ('flat', 'sole'),
                                                 ('flat', 'frame')])
def test_pressure_stays_inside_the_sole_and_above_the_ground(kind, reference):
    here = case(kind)
    motion = here.motion(20, size=3.0)
    found = ContactInverseDynamicsOverTime(here.model, here.feet, reference=reference).solve(
        motion, limits=ContactLimits())
    forces = in_ground(kind, found, motion)
    assert forces[..., 2].min() > 0.0
    if kind == 'flat':
        pressure = np.stack([-forces[..., 4], forces[..., 3]], axis=-1) / forces[..., 2:3]
        assert (np.abs(pressure) <= np.array([0.085, 0.025]) * (1.0 + 1e-9)).all()
        assert np.abs(pressure[..., 1]).max() > 0.0249


def test_what_presses_stays_between_the_ends_of_lines():
    here = case('line')
    motion = here.motion(20)
    solver = here.solver()
    free, found = (solver.solve(motion, limits=limits) for limits in (None, ContactLimits()))
    ahead = []
    for answer in (free, found):
        about = answer.wrench[..., 4] - np.cross([foot.center for foot in here.feet],
                                                 answer.wrench[..., :3])[..., 1]
        up = [[(motion.base_rotation[t] @ frame_poses(here.model, motion.position[t])[
            foot.link].R)[2] @ w[:3] for foot, w in zip(here.feet, answer.wrench[t])]
            for t in range(len(motion))]
        ahead.append(np.abs(about / np.array(up)).max())
    assert ahead[0] > 0.1
    assert ahead[1] == pytest.approx(0.085, rel=1e-6)
    with pytest.raises(ConfigurationError, match='expect its moment about the middle of what'):
        ContactInverseDynamicsOverTime(here.model, here.feet, reference='frame').solve(
            motion, limits=ContactLimits())


def test_limits_that_bind_nowhere_change_nothing():
    motion = case('point').motion(20)
    free = case('point').solver().solve(motion)
    found = case('point').solver().solve(motion, limits=ContactLimits(FrictionCone(2.0)))
    np.testing.assert_array_equal(found.wrench, free.wrench)
    assert found.iterations == 0


@pytest.mark.parametrize('shape', ['pyramid', 'round'])
@pytest.mark.parametrize(('kind', 'friction'), [('point', 0.12), ('flat', 0.05)])
def test_frames_that_can_be_balanced_are(kind, friction, shape):
    motion = case(kind).motion(20, size=1.0 if kind == 'point' else 0.3)
    found = case(kind).solver().solve(motion, limits=ContactLimits(FrictionCone(friction), shape))
    assert found.iterations > 0
    assert found.kkt_residual < OPTIMAL
    assert np.abs(found.root_residual).max() < KEPT * case(kind).weight


@pytest.mark.parametrize('kind', ['point', 'flat', 'line'])
@pytest.mark.parametrize('smoothing', [0.0, 5.0])
def test_agrees_with_a_dense_program(kind, smoothing):
    """All frames in one program: the same cost, balance and inequalities."""
    here, weights = case(kind), OverTimeWeights(smoothing=smoothing)
    cone = FrictionCone(0.05 if kind == 'line' else 0.15)
    motion, standing = here.motion(7, size=1.0 if kind == 'point' else 0.3), np.ones((7, 4), bool)
    if kind == 'point':
        standing[3:5, 1:3] = False
    standing = standing[:, :len(here.feet)]
    found = here.solver().solve(motion, in_contact=standing, weights=weights,
                                limits=ContactLimits(cone))
    expected, tightest = Reference(here.model, here.feet, motion, standing,
                                   weights).answer_within(cone)
    assert abs(tightest) < 1e-9 * here.weight
    np.testing.assert_allclose(found.wrench, expected, atol=1e-6 * here.weight)


def test_agrees_with_a_general_solver():
    """Four frames coupled by smoothing, in round cones, against SciPy's SLSQP."""
    here, friction, T = case('point'), 0.12, 4
    motion, feet, weights = here.motion(T), here.feet[:3], OverTimeWeights(smoothing=2.0)
    found = ContactInverseDynamicsOverTime(here.model, feet).solve(
        motion, weights=weights, limits=ContactLimits(FrictionCone(friction), 'round'))
    rows = balances(here.model, feet, motion)
    grasp = [np.hstack([A for A, _ in maps]) for _, maps in rows]
    b = np.array([b for b, _ in rows]) / here.weight

    def cost(x):
        x = x.reshape(T, 9)
        return ((weights.minimum_moment + weights.ridge) * np.square(x).sum()
                + weights.smoothing * np.square(np.diff(x, axis=0)).sum())

    def inside(x):
        f = x.reshape(-1, 3)
        return friction * f[:, 2] - np.sqrt(np.square(f[:, :2]).sum(axis=1) + 1e-16)

    def balanced(x):
        return np.concatenate([A @ u for A, u in zip(grasp, x.reshape(T, 9))]) - b.ravel()
    best = minimize(cost, np.tile([0.0, 0.0, 1.0 / 3.0], 3 * T), method='SLSQP',
                    options={'maxiter': 500, 'ftol': 1e-14},
                    constraints=[{'type': 'ineq', 'fun': inside}, {'type': 'eq', 'fun': balanced}])
    ours = np.array([[np.linalg.inv(turn[:3, :3]) @ w[:3] for (_, turn), w in zip(maps, wrenches)]
                     for (_, maps), wrenches in zip(rows, found.wrench)]).ravel() / here.weight
    assert inside(best.x).min() < 1e-6          # a limit binds
    assert np.abs(balanced(best.x)).max() < 1e-8
    assert cost(ours) == pytest.approx(best.fun, rel=1e-6)
    np.testing.assert_allclose(ours, best.x, atol=1e-3)


def test_what_the_ground_cannot_give_is_the_least_root_residual():
    """Feet that bear at most 60 N each, against a dense program for each frame alone."""
    here, cone = case('point'), FrictionCone(0.6, maximum=60.0)
    motion = here.motion(4)
    found = here.solver().solve(motion, limits=ContactLimits(cone))
    C, d = np.kron(np.eye(4), cone.inequalities()[0]), np.tile(cone.inequalities()[1], 4)
    scale = np.array([1.0, 1.0, 1.0, 10.0, 10.0, 10.0])
    for t, (b, maps) in enumerate(balances(here.model, here.feet, motion)):
        A = scale[:, None] * np.hstack([A for A, _ in maps])
        best = solve_quadratic_program(A.T @ A + 1e-6 * np.eye(12), -A.T @ (scale * b), C, d).x
        least = np.linalg.norm(scale * b - A @ best)
        assert least > 100.0
        assert np.linalg.norm(scale * found.root_residual[t]) == pytest.approx(least, rel=1e-3)
    assert found.kkt_residual < OPTIMAL
    assert in_ground('point', found, motion)[..., 2].max() < 60.0 * (1.0 + KEPT)


@pytest.mark.parametrize('shape', ['pyramid', 'round'])
def test_a_fall_does_not_make_feet_pull(shape):
    """To accelerate down by more than gravity would take pull; there is none, and it is said."""
    here = case('flat')
    motion = here.motion(6)
    motion.base_motion[:, 8] = -5.0
    assert here.solver().solve(motion).wrench[..., 2].min() < -10.0
    found = here.solver().solve(motion, limits=ContactLimits(shape=shape))
    assert found.wrench[..., 2].min() > -KEPT * here.weight
    assert (found.root_residual[:, 2] < -4.0 * here.model.total_mass).all()


def test_a_stream_keeps_the_limits():
    here, cone = case('point'), FrictionCone(0.12)
    motion, standing, limits = here.motion(24), stepping('point', 24), ContactLimits(cone, 'round')
    stretches = [Stretch(part, standing[a:a + 8])
                 for a, part in zip((0, 8, 16), parts_of(motion, [8, 16]))]
    weights = OverTimeWeights(smoothing=30.0)
    whole = here.solver().solve(motion, in_contact=standing, limits=limits, weights=weights)
    found = list(here.solver().stream(stretches, lag=8, limits=limits, weights=weights))
    assert max(part.kkt_residual for part in found) < OPTIMAL_ENOUGH
    joined = np.concatenate([part.wrench for part in found])
    assert np.abs(joined - whole.wrench).max() < 3e-5 * np.abs(whole.wrench).max()
    for part, stretch in zip(found, stretches):
        forces = in_ground('point', part, stretch.motion)[stretch.in_contact]
        assert least_slack('point', cone, 'round', forces) > -KEPT * here.weight


@pytest.mark.parametrize(('lines', 'cones'), [(150, 0), (0, 50), (30, 40)])
def test_scaling_takes_both_to_one_point(lines, cones):
    """Nesterov and Todd: ``W z = W^-1 s``; then products, their inverse, and steps."""
    rng = np.random.default_rng(0)
    s, z, v = (rng.normal(size=150) for _ in range(3))
    s, z = moved_inside(lines, s, 0.01), moved_inside(lines, z, 0.01)
    scaling = ConeScaling((lines, cones), s, z)
    np.testing.assert_allclose(scaling.to(z), scaling.back(s), rtol=1e-9)
    np.testing.assert_allclose(scaling.back(scaling.to(v)), v, atol=1e-9)
    np.testing.assert_allclose(scaling.back(scaling.back(s)), z, rtol=1e-8, atol=1e-10)

    def product(a, b):      # of Jordan
        x, y = a[lines:].reshape(-1, 3), b[lines:].reshape(-1, 3)
        return np.concatenate([a[:lines] * b[:lines], np.column_stack([
            (x * y).sum(axis=1), x[:, :1] * y[:, 1:] + y[:, :1] * x[:, 1:]]).ravel()])
    # lambda o v = e mu - lambda o lambda is solved by v = -lambda and more.
    unit = np.append(np.ones(lines), np.tile([1.0, 0.0, 0.0], cones))
    aim = scaling.target(0.0 * s, z, 2.0)
    np.testing.assert_allclose(product(scaling.scaled, aim), 2.0 * unit, atol=1e-8)
    # A step to the boundary ends on it.
    length = longest_step(lines, cones, s, v)
    ends, beyond = s + length * v, s + 1.01 * length * v
    np.testing.assert_allclose(moved_inside(lines, ends, 0.0), ends, atol=1e-9)
    assert np.abs(moved_inside(lines, beyond, 0.0) - beyond).max() > 0.0


@pytest.mark.parametrize(('call', 'message'), [
    (lambda s, x: s.solve(x, limits=ContactLimits([FrictionCone(0.5)] * 3)), 'each of 4 feet'),
    (lambda s, x: ContactLimits(shape='octagon'), 'pyramid, round'),
    (lambda s, x: ContactLimits(residual_weight=1.0), 'from 1e2'),
    (lambda s, x: ContactInverseDynamicsOverTime.like_nimble(s.model, s.feet).solve(
        x, limits=ContactLimits()), "axes 'world'"),
])
def test_limits_that_are_none_are_refused(call, message):
    here = case('point')
    with pytest.raises(ConfigurationError, match=message):
        call(here.solver(), here.motion(3))
