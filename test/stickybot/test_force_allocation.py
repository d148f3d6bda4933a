# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
import math
from dataclasses import replace

import numpy as np
import pytest
from climbers import ALLOCATION, WEIGHT, proposed, random_climber, recorded
from scipy.optimize import minimize
from tolerances import GOLDEN

from benchmarks.polygon_program import largest_multiple_of_polygons
from legged_dynamics.exceptions import ConfigurationError, ModelError
from legged_dynamics.reproductions.climbing.equilibrium import (
    find_equilibrium,
    largest_speed,
    recover_rest,
    reduce_static_forces,
)
from legged_dynamics.reproductions.climbing.frozen_allocation import (
    angular_acceleration_range,
    equal_magnitudes,
    frozen_forces,
    frozen_least_maximum,
)
from legged_dynamics.stickybot import (
    Adhesion,
    AllocationStatus,
    ForceSets,
    Load,
    RestPosition,
    StickybotState,
    accelerations,
    largest_acceleration,
    largest_multiple,
    least_maximum,
    least_squares,
    load_of,
    unloaded_state,
)

SOCP = 1e-6
DIRECTIONS = {'+y': [0, 1, 0], '-y': [0, -1, 0], '+x': [1, 0, 0], '+phi': [0, 0, 1]}


def random_load(rng, feet=4):
    places = rng.normal(0, 0.1, (feet, 2))
    grasp = np.zeros((3, 2 * feet))
    grasp[0, ::2] = grasp[1, 1::2] = 1.0
    grasp[2, ::2], grasp[2, 1::2] = -places[:, 1], places[:, 0]
    return Load(grasp, rng.normal(0, [3, 3, 0.3]), np.array([0.3, 0.3, 1e-3]), np.arange(feet))


@pytest.mark.parametrize('case', ALLOCATION, ids=lambda case: case['name'])
def test_recorded_load_sharing(case):
    model, state, _ = recorded(case)
    expect = case['B_force_distribution']
    load = load_of(model, state, case['xdd'], case['qdd'])
    np.testing.assert_allclose(load.grasp, expect['G'], atol=GOLDEN)
    np.testing.assert_allclose(load.wrench, expect['w'], atol=GOLDEN * 10)
    found = least_maximum(load)
    assert found.value == pytest.approx(expect['minmax'], rel=SOCP)
    assert found.gap < 1e-9
    assert found.balance_error < 1e-12
    np.testing.assert_allclose(least_squares(load).forces, expect['F_least_squares'], atol=GOLDEN)
    sets = ForceSets.discs([case['Fmax']] * 4)
    for name, answers in expect['extra_acc'].items():
        up = load.per_acceleration * DIRECTIONS[name]
        for answer, key, tolerance in (
                (largest_acceleration(load, DIRECTIONS[name], sets), 'socp', SOCP),
                (largest_multiple_of_polygons(load, up, sets, 8), 'lp8', GOLDEN),
                (largest_multiple_of_polygons(load, up, sets, 64), 'lp64', GOLDEN)):
            assert answer.value == pytest.approx(answers[key], rel=tolerance)
            assert answer.balance_error < 1e-9
            assert sets.contains(answer.forces, 1e-6).all()


@pytest.mark.parametrize('case', ALLOCATION, ids=lambda case: case['name'])
def test_recorded_frozen_state(case):
    model, state, rest = recorded(case)
    expect, frozen = case['A_rphi_frozen'], frozen_forces(model, state, rest)
    np.testing.assert_allclose(frozen.at(frozen.u), case['F_now'], atol=1e-9)
    np.testing.assert_allclose(frozen.floor, expect['floor'], atol=GOLDEN)
    value, u = frozen_least_maximum(frozen)
    assert value == pytest.approx(expect['minmax'], rel=SOCP)
    assert np.hypot(*frozen.at(u).T).max() == pytest.approx(value, rel=SOCP)
    assert frozen.k @ u == pytest.approx(frozen.k @ frozen.u, rel=1e-9)
    np.testing.assert_allclose(angular_acceleration_range(frozen, case['Fmax']),
                               expect['phidd_range'], rtol=GOLDEN)
    ways = equal_magnitudes(frozen)
    for way, recorded_way in zip(ways, expect['equal_norm'], strict=True):
        assert way.magnitude == pytest.approx(recorded_way['s'], rel=GOLDEN)
        np.testing.assert_allclose(way.u, recorded_way['u'], atol=GOLDEN)
        np.testing.assert_array_equal(way.signs, recorded_way['sigma'])
        # The robot itself says so: equal magnitudes, and the body turns as before.
        hip = np.array(rest.hip)
        hip[:, 2] = way.u
        moved = accelerations(model, state, replace(rest, hip=hip))
        np.testing.assert_allclose(np.hypot(*moved.reaction.T), way.magnitude, rtol=1e-9)
        assert moved.body[2] == pytest.approx(case['xdd'][2], abs=1e-6)


def test_equal_magnitudes_where_many_patterns_meet_in_one_root():
    # Six limbs in mirrored pairs: patterns whose sums cancel but for rounding.
    model = proposed(stickybot__n_limbs=6, stickybot__inclination=2.0943951023931953).model()
    rest, calm = RestPosition.nominal(model), unloaded_state(model)
    foot = calm.foot + 0.002 * np.array([[-1, 0], [1, 0], [1, 0], [-1, 0], [-1, 0], [1, 0]])
    moved = StickybotState(calm.pose, calm.velocity, foot, calm.joint, calm.joint_velocity)
    frozen = frozen_forces(model, find_equilibrium(model, moved, rest), rest)
    ways = equal_magnitudes(frozen)
    assert ways
    for way in ways:
        np.testing.assert_allclose(np.hypot(*frozen.at(way.u).T), way.magnitude, rtol=1e-7)
        assert frozen.k @ way.u == pytest.approx(frozen.k @ frozen.u, abs=1e-9)


def test_angular_range_is_reached_and_not_passed():
    model, state, rest = recorded(ALLOCATION[1])
    frozen, limit, rng = frozen_forces(model, state, rest), 9.0, np.random.default_rng(3)
    low, high = angular_acceleration_range(frozen, limit)
    size = np.hypot(*frozen.c.T)
    middle = -(frozen.b * frozen.c).sum(1) / size ** 2
    half = np.sqrt(limit ** 2 - frozen.floor ** 2) / size
    for u in [middle + half, middle - half, *(middle + half * rng.uniform(-1, 1, (200, 4)))]:
        hip = np.array(rest.hip)
        hip[:, 2] = u
        found = accelerations(model, state, replace(rest, hip=hip))
        assert np.hypot(*found.reaction.T).max() < limit * (1 + 1e-9)
        assert low - 1e-6 <= found.body[2] <= high + 1e-6
    assert all(math.isnan(end) for end in angular_acceleration_range(frozen, 1.0))


@pytest.mark.parametrize('seed', range(12))
def test_least_maximum_equals_its_dual(seed):
    # Weak duality: for any direction, lambda . w / sum |G_i^T lambda| is a lower bound.
    rng = np.random.default_rng(seed)
    load = random_load(rng, int(rng.integers(2, 7)))
    weights = rng.uniform(0.2, 2.0, len(load.feet))
    found = least_maximum(load, weights=weights)
    scale = np.array([1.0, 1.0, 10.0])

    def bound(direction):
        pulls = (load.grasp.T @ (scale * direction)).reshape(-1, 2)
        return -(scale * direction) @ load.wrench / (weights @ np.hypot(*pulls.T))

    best = min(minimize(bound, rng.normal(size=3), method='Nelder-Mead',
                         options={'xatol': 1e-10, 'fatol': 1e-13, 'maxiter': 4000}).fun
                for _ in range(6))
    assert found.value == pytest.approx(-best, rel=1e-6)
    sizes = np.hypot(*found.forces.T) / weights
    assert sizes.max() == pytest.approx(found.value, rel=1e-9)
    np.testing.assert_allclose(load.grasp @ found.forces.ravel(), load.wrench, atol=1e-10)


@pytest.mark.parametrize('seed', range(20, 28))
def test_cones_agree_with_fine_polygons(seed):
    rng = np.random.default_rng(seed)
    load = replace(random_load(rng), wrench=np.array([0.0, 1.0, 0.02]))
    pads = [Adhesion(rng.uniform(1, 3), 2.0, 0.3, rng.uniform(0.8, 2.2), rng.uniform(0.5, 1.3))
            if i % 2 else Adhesion(rng.uniform(1, 3)) for i in range(4)]
    sets = ForceSets.of_pads(pads, rng.uniform(-0.1, 0.4, 4), [p.direction or 0.0 for p in pads])
    direction = rng.normal(0, [1, 1, 0.1])
    cone = largest_multiple(load, direction, sets)
    lines = largest_multiple_of_polygons(load, direction, sets, 720)
    assert cone.status is lines.status
    if cone.status is AllocationStatus.OPTIMAL:
        # The polygon lies inside and loses 1 - cos(pi/720) = 1e-5 of the discs.
        span = max(abs(cone.value), 1.0)
        assert -1e-8 * span <= cone.value - lines.value < 2e-4 * span
        assert sets.contains(cone.forces, 1e-6).all()
    else:
        assert cone.certificate.demanded > cone.certificate.available


@pytest.mark.parametrize('seed', range(40, 52))
def test_infeasible_loads_come_with_a_proof(seed):
    rng = np.random.default_rng(seed)
    load = random_load(rng)
    radius = least_maximum(load).value
    assert least_maximum(load, ForceSets.discs([radius * (1 + 1e-5)] * 4)).value < 1.0
    found = least_maximum(load, ForceSets.discs([radius * (1 - 1e-5)] * 4))
    assert found.status is AllocationStatus.INFEASIBLE
    proof = found.certificate
    # By hand: no forces within the limits make more of that combination.
    most = radius * (1 - 1e-5) * np.hypot(
        *(load.grasp.T @ proof.direction).reshape(-1, 2).T).sum()
    assert proof.available == pytest.approx(most, rel=1e-12)
    assert proof.demanded == pytest.approx(proof.direction @ load.wrench, rel=1e-12)
    assert proof.demanded > proof.available
    assert 'N beyond the limits of feet' in proof.message
    assert np.isnan(found.forces).all()


def test_directional_pads_refuse_a_push():
    model = proposed().model()
    load = load_of(model, unloaded_state(model), np.array([0.0, -15.0, 0.0]))
    pads = [Adhesion(5.0, direction=math.pi / 2)] * 4
    sets = ForceSets.of_pads(pads, [0.0] * 4, [math.pi / 2] * 4)
    found = least_maximum(load, sets)
    assert found.status is AllocationStatus.INFEASIBLE
    # Pulled down harder than gravity, the feet would have to be pushed down the wall.
    assert found.certificate.direction[1] == pytest.approx(-1.0, abs=0.1)
    assert least_maximum(load, ForceSets.discs([5.0] * 4)).status is AllocationStatus.OPTIMAL
    assert least_maximum(load_of(model, unloaded_state(model), np.zeros(3)),
                         sets).status is AllocationStatus.OPTIMAL


def test_feet_in_line_cannot_turn_the_body():
    state = replace(unloaded_state(proposed().model()), attached=np.array([True, False] * 2))
    model = proposed().model()
    one = replace(state, attached=np.array([True, False, False, False]))
    found = least_maximum(load_of(model, one, np.zeros(3)))
    assert found.status is AllocationStatus.INFEASIBLE
    assert found.certificate.available == 0.0
    assert found.certificate.demanded > 0.0
    assert 'Set another foot' in found.certificate.message
    assert least_maximum(load_of(model, state, np.zeros(3))).status is AllocationStatus.OPTIMAL
    none = replace(state, attached=np.zeros(4, bool))
    assert least_squares(load_of(model, none, np.zeros(3))).status is AllocationStatus.INFEASIBLE


def test_equal_static_load_is_the_weight_over_the_feet():
    model = proposed().model()
    found = least_maximum(load_of(model, unloaded_state(model), np.zeros(3)))
    np.testing.assert_allclose(np.hypot(*found.forces.T), WEIGHT / 4, rtol=1e-6)


def test_smoothness_makes_the_answer_unique_and_costs_little():
    rng = np.random.default_rng(9)
    load = random_load(rng, 6)
    sharp, smooth = least_maximum(load), least_maximum(load, smoothness=1e-4)
    assert smooth.value >= sharp.value - 1e-9
    assert smooth.value < sharp.value * 1.001
    nearby = replace(load, wrench=load.wrench * (1 + 1e-7))
    assert np.abs(least_maximum(nearby, smoothness=1e-4).forces - smooth.forces).max() < 1e-4


@pytest.mark.parametrize('seed, options', [(1, {}), (2, {'links': (1, 1, 1)}),
                                           (3, {'detached': (0,)}), (4, {'damped': False})])
def test_recovered_rest_positions_make_the_forces_real(seed, options):
    model, state, rest = random_climber(seed, **options)
    rng = np.random.default_rng(seed)
    wanted, qdd = rng.normal(0, 1.0, 3), np.zeros(model.n_joints)
    _, _, attached = state.packed(model)
    # A limb off the wall accelerates as its nominal rest position makes it.
    now = accelerations(model, state, RestPosition.nominal(model))
    free = np.repeat(~attached, [len(limb.links) for limb in model.limbs])
    qdd[free] = now.joint[free]
    load = load_of(model, state, wanted, qdd, now.foot)
    forces = least_maximum(load).forces
    slip = rng.normal(0, 0.1, (model.n_limbs, 3))
    held = recover_rest(model, state, forces, qdd, slip)
    found = accelerations(model, state, held)
    np.testing.assert_allclose(found.body, wanted, atol=1e-7)
    np.testing.assert_allclose(found.joint, qdd, atol=1e-6)
    np.testing.assert_allclose(found.reaction[attached], forces, atol=1e-9)


def test_recovery_refuses_a_joint_without_stiffness():
    model, state, _ = random_climber(1, links=(2, 1))
    limb = model.limbs[0]
    loose = replace(limb, links=(limb.links[0], replace(limb.links[1], stiffness=0.0)))
    weak = type(model)(model.body, [loose, model.limbs[1]], model.wall)
    with pytest.raises(ModelError, match='inner joint 1 would have to bear'):
        recover_rest(weak, state, np.ones((2, 2)))


def test_largest_speed_is_where_the_forces_reach_their_limit():
    model, state, _ = recorded(ALLOCATION[0])
    sets, up = ForceSets.discs([1.5] * 4), np.array([0.0, 1.0, 0.0])
    found = largest_speed(model, state, up, sets)
    assert found.status is AllocationStatus.OPTIMAL
    assert np.hypot(*found.forces.T).max() == pytest.approx(1.5, rel=1e-6)
    half = largest_speed(model, state, 2.0 * up, sets)
    assert half.value == pytest.approx(found.value / 2, rel=1e-6)
    weak = largest_speed(model, state, up, ForceSets.discs([0.9] * 4))
    assert weak.status is AllocationStatus.INFEASIBLE
    # Limbs that mirror each other carry each other's centripetal force through the body.
    mirrored = proposed().model()
    assert largest_speed(mirrored, unloaded_state(mirrored), up, sets).value == 100.0


@pytest.mark.parametrize('pattern, fixable', [([[-1, 0], [1, 0], [1, 0], [-1, 0]], False),
                                              ([[0, 1], [0, -1], [0, -1], [0, 1]], True),
                                              ([[0, 1], [1, 0], [0, -1], [-1, 0]], False)])
def test_misplaced_feet_at_rest(pattern, fixable):
    model = proposed().model()
    calm = unloaded_state(model)
    state = StickybotState(calm.pose, calm.velocity, calm.foot + 0.002 * np.array(pattern),
                           calm.joint, calm.joint_velocity)
    floor = WEIGHT / 4
    full = reduce_static_forces(model, state)
    assert full.before > 1.5 * floor
    assert full.peak <= 1.05 * floor
    np.testing.assert_allclose(full.shift, 0.0, atol=1e-12)
    settled = find_equilibrium(model, full.state, full.rest)
    np.testing.assert_allclose(settled.pose, full.state.pose, atol=1e-9)
    reaction = accelerations(model, settled, full.rest).reaction
    np.testing.assert_allclose(np.hypot(*reaction.T), full.peak, rtol=1e-6)
    turned = reduce_static_forces(model, state, authority='turning')
    assert floor * (1 - 1e-6) <= turned.peak < turned.before
    assert turned.remaining == pytest.approx(turned.peak - turned.floor)
    assert (turned.peak < 1.01 * floor) == fixable
    assert ('takes r_x and r_y to undo' in turned.message) != fixable
    moved = accelerations(model, find_equilibrium(model, turned.state, turned.rest), turned.rest)
    assert np.hypot(*moved.reaction.T).max() == pytest.approx(turned.peak, rel=1e-6)
    np.testing.assert_array_equal(turned.rest.hip[:, :2], model.rest[:, :2])
    held = reduce_static_forces(model, state, authority='turning', hold_pose=True)
    np.testing.assert_allclose(held.shift, 0.0, atol=1e-6)
    assert turned.peak <= held.peak + 1e-9 <= held.before + 1e-6


def test_wrong_questions_are_told():
    load = random_load(np.random.default_rng(1))
    with pytest.raises(ConfigurationError, match='expected sets of 4 feet'):
        least_maximum(load, ForceSets.discs([1.0] * 3))
    with pytest.raises(ConfigurationError, match='sets or weights, got both'):
        least_maximum(load, ForceSets.discs([1.0] * 4), np.ones(4))
    with pytest.raises(ConfigurationError, match='4 weights or radii above 0'):
        least_maximum(load, weights=[1.0, 1.0, 1.0, 0.0])
    with pytest.raises(ConfigurationError, match='not all 0'):
        largest_multiple(load, np.zeros(3), ForceSets.discs([1.0] * 4))
    with pytest.raises(ConfigurationError, match='finite radius'):
        ForceSets.discs([-1.0])
    with pytest.raises(ConfigurationError, match='pads of finite shear'):
        ForceSets.of_pads([Adhesion()], [0.0], [0.0])
    model = proposed().model()
    airborne = replace(unloaded_state(model), attached=np.zeros(4, bool))
    with pytest.raises(ConfigurationError, match='feet on the wall whose rest angles'):
        frozen_forces(model, airborne, RestPosition.nominal(model))
    with pytest.raises(ConfigurationError, match="'full' or 'turning'"):
        reduce_static_forces(model, airborne, authority='none')
