# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
import math
from dataclasses import replace

import numpy as np
import pytest
from climbers import WEIGHT, proposed, random_climber
from scipy.integrate import solve_ivp

from legged_dynamics.exceptions import ConfigurationError, MeasurementError, UnknownNameError
from legged_dynamics.reproductions.climbing.equilibrium import (
    find_equilibrium,
    static_sensitivity,
)
from legged_dynamics.reproductions.climbing.mechanics import balance, modes
from legged_dynamics.stickybot import (
    Adhesion,
    ClimbingSimulation,
    FootEventKind,
    ForceSets,
    GaitClock,
    RestPosition,
    StickybotCommand,
    StickybotModel,
    StickybotState,
    accelerations,
    climb,
    nominal_damping,
    simulate_plain_gait,
    unloaded_state,
)
from legged_dynamics.stickybot.model.adhesion import HOLDS, pad_failure
from legged_dynamics.stickybot.model.dynamics import (
    N_FLOWS,
    TOTAL,
    accelerate,
    flow,
    free_coordinates,
    jacobians,
    make_stepper,
)
from legged_dynamics.stickybot.model.limb import FORCE, Coordinates

pytestmark = pytest.mark.slow

ALL = np.ones(4, bool)


@pytest.mark.parametrize('seed, options', [(1, {}), (2, {'detached': (0, 2)}),
                                           (3, {'links': (4, 2), 'detached': (0,)})])
def test_jacobian_by_central_differences(seed, options):
    model, state, rest = random_climber(seed, **options)
    z, v, attached = state.packed(model)
    u, ud = rest.packed(model)
    step, n = make_stepper(model), model.nz

    def rates(z, v):
        zdd, forces = np.zeros(n), np.zeros((model.n_limbs, FORCE.width))
        flows = np.zeros(TOTAL.width)
        accelerate(model.machine, step.work, attached, Coordinates(z, v, u, ud), zdd, forces)
        flow(model.machine, z, forces, flows)
        return np.concatenate([zdd, flows[:N_FLOWS]]), forces

    now, forces = rates(z, v)
    jacobians(model.machine, step, attached, Coordinates(z, v, u, ud), now[:n], forces)
    h = 1e-6
    for j in free_coordinates(model, attached):
        e = h * np.eye(n)[j]
        for found, slope in (
                (step.by_position, rates(z + e, v)[0] - rates(z - e, v)[0]),
                (step.by_velocity, rates(z, v + e)[0] - rates(z, v - e)[0])):
            scale = max(1.0, np.abs(slope / (2 * h)).max(), np.abs(now).max())
            np.testing.assert_allclose(found[:, j], slope / (2 * h), atol=2e-6 * scale)


def reference_motion(model, state, rest, duration):
    """Integrate the public accelerations with scipy."""
    z, v, attached = state.packed(model)
    u, ud = rest.packed(model)
    pinned = model.foot_columns[attached].ravel()

    def rate(t, y):
        y = y.copy()
        y[model.nz + pinned] = 0.0
        now = StickybotState.unpacked(model, y[:model.nz], y[model.nz:], attached)
        moved = u + t * ud
        found = accelerations(model, now, RestPosition(
            moved[model.hip_columns], ud[model.hip_columns], moved[model.inner_columns],
            ud[model.inner_columns]))
        a = np.zeros(model.nz)
        a[:3], a[model.joint_columns], a[model.foot_columns] = found.body, found.joint, found.foot
        return np.concatenate([y[model.nz:], a])

    done = solve_ivp(rate, (0.0, duration), np.concatenate([z, v]), method='LSODA', rtol=1e-9,
                     atol=1e-11)
    return done.y[:model.nz, -1], done.y[model.nz:, -1]


@pytest.mark.parametrize('options', [{}, {'damped': False, 'detached': (1,)}],
                         ids=['damped', 'undamped'])
def test_motion_agrees_with_scipy(options):
    model, state, rest = random_climber(51, links=(1, 2, 1), **options)
    duration = 0.02
    u, ud = rest.packed(model)
    target = u + duration * ud
    simulation = ClimbingSimulation(model, RestPosition(rest.hip, joint=rest.joint), state,
                                    tolerance=1e-10)
    attached = np.isin(np.arange(3), options.get('detached', ()), invert=True)
    simulation.step(StickybotCommand(0, target[model.hip_columns], attached,
                                     target[model.inner_columns]), duration)
    z, v = reference_motion(model, state, rest, duration)
    got_z, got_v, _ = simulation.state.packed(model)
    np.testing.assert_allclose(got_z, z, atol=2e-8)
    np.testing.assert_allclose(got_v, v, atol=2e-5)


def test_error_follows_the_tolerance_at_fourth_order():
    model = proposed(stickybot__damping_ratio=0.3).model()
    ends = []
    for tolerance in (1e-5, 1e-7, 1e-11):
        simulation = ClimbingSimulation(model, tolerance=tolerance)
        simulation.push([0.05, -0.1, 1.0])
        for _ in range(5):
            simulation.step(StickybotCommand(0, model.rest, ALL), 0.01)
        ends.append((simulation.pose, simulation.n_steps))
    coarse, fine = (np.abs(pose - ends[2][0]).max() for pose, _ in ends[:2])
    assert fine < 1e-7
    assert 10.0 < coarse / fine < 1000.0
    # Work for 100 times the accuracy: 100^(1/4) = 3.2 times the steps.
    assert 1.5 < ends[1][1] / ends[0][1] < 5.0


@pytest.mark.parametrize('changes', [
    {'stickybot__damping_ratio': 0.0},
    {'stickybot__damping_ratio': 0.0, 'stickybot__hip_stiffness': [2000.0, 1000.0, 5.0]},
    {}, {'stickybot__hip_stiffness': [2000.0, 1000.0, 5.0]}],
    ids=['undamped', 'undamped anisotropic', 'damped', 'damped anisotropic'])
def test_kick_keeps_the_books(changes):
    model = proposed(**changes).model()
    simulation = ClimbingSimulation(model)
    simulation.push([0.1, 0.05, 2.0])
    for _ in range(25):
        simulation.step(StickybotCommand(0, model.rest, ALL), 0.02)
    energy = simulation.energy
    assert abs(energy.energy_residual) < 1e-6
    assert abs(energy.work) == 0.0
    assert np.abs(energy.momentum_residual).max() < 1e-6
    assert abs(energy.angular_momentum_residual) < 1e-6
    now = balance(model, simulation.state, simulation.rest)
    assert np.abs(now.force_residual).max() < 1e-12
    assert abs(now.moment_residual) < 1e-12


UNDAMPED = {'stickybot__damping_ratio': 0.0}
ANISOTROPIC = {'stickybot__hip_stiffness': [2000.0, 1200.0, 5.0]}
REDUCED = {'control__reduction': 'full', 'control__speed': 0.04}


@pytest.mark.parametrize('changes, limit', [
    ({}, 1e-5), (UNDAMPED, 1e-5), (ANISOTROPIC, 1e-5), ({**UNDAMPED, **ANISOTROPIC}, 1e-5),
    (REDUCED, 1e-5), ({**REDUCED, **ANISOTROPIC}, 1e-5), ({**REDUCED, **UNDAMPED}, 1e-5),
    ({'stickybot__link_length': [0.05, 0.05], 'stickybot__link_mass': [0.01, 0.01],
      'stickybot__joint_stiffness': [20.0], 'stickybot__joint_damping': [0.05]}, 5e-5)],
    ids=['proposed', 'undamped', 'anisotropic', 'undamped anisotropic', 'reduced',
         'reduced anisotropic', 'reduced undamped', 'two links'])
def test_four_seconds_of_gait_keep_the_books(changes, limit):
    settings = proposed(**{'control__reduction': 'off', 'control__rate': 250.0, **changes})
    model = settings.model()
    done = climb(model, settings.gait(), settings.control(), seconds=4.0)
    assert abs(done.energy.energy_residual) < limit
    assert np.abs(done.energy.momentum_residual).max() < 1e-5
    assert abs(done.energy.angular_momentum_residual) < 1e-6
    assert done.energy.work > WEIGHT * done.rise
    assert done.speed > 0.03


@pytest.mark.parametrize('ratio, k_y', [(1.0, 2000.0), (1.0, 1000.0), (0.0, 2000.0),
                                        (0.0, 1000.0)])
def test_newton_and_euler_hold_at_every_sample_of_the_gait(ratio, k_y):
    settings = proposed(stickybot__damping_ratio=ratio,
                        stickybot__hip_stiffness=[2000.0, k_y, 5.0])
    model, clock = settings.model(), GaitClock(settings.model(), settings.gait())
    rest = model.rest

    def held(time_ns):
        rest[:, 2] = model.rest[:, 2] + clock.at(time_ns).angle
        return rest.copy()

    simulation = ClimbingSimulation(model, RestPosition(held(0)))
    for stamp in range(0, 1_200_000_000, 10_000_000):
        simulation.step(StickybotCommand(stamp, held(stamp + 10_000_000),
                                         clock.at(stamp).stance), 0.01)
        now = balance(model, simulation.state, simulation.rest)
        assert np.abs(now.force_residual).max() < 1e-9
        assert abs(now.moment_residual) < 1e-9
        assert abs(now.power_residual) < 1e-9
        # And against the reactions that the simulation itself reports.
        found = accelerations(model, simulation.state, simulation.rest)
        np.testing.assert_allclose(found.reaction, simulation.reaction, atol=1e-9)


def test_plain_gait_is_that_of_the_checked_page():
    settings = proposed(control__reduction='off')
    done = climb(settings.model(), settings.gait(), settings.control(), seconds=4.0, trace=True)
    assert done.speed == pytest.approx(0.0400, rel=0.01)
    assert done.peak == pytest.approx(2.82, rel=0.01)
    on = done.trace.attached
    sizes = np.hypot(done.trace.reaction[..., 0], done.trace.reaction[..., 1])
    assert sizes[on].mean() == pytest.approx(1.66, rel=0.01)
    assert np.abs(done.trace.pose[:, 2]).max() <= 0.0090
    assert done.energy.work == pytest.approx(0.716, abs=1e-3)
    assert done.energy.damped == pytest.approx(0.125, abs=1e-3)
    # Feet that hold do not move.
    both = on[1:] & on[:-1]
    assert np.abs(np.diff(done.trace.foot, axis=0)[both]).max() == 0.0


@pytest.mark.parametrize('amplitude, speed', [(0.1, 0.0243), (0.165, 0.0461)])
def test_plain_gait_at_other_amplitudes(amplitude, speed):
    settings = proposed(gait__amplitude=amplitude)
    found = simulate_plain_gait(settings.model(), settings.gait())
    assert found.speed == pytest.approx(speed, rel=0.01)


def test_touchdown_is_a_plastic_impact_of_the_limb_alone():
    model, state, rest = random_climber(61, links=(1, 3), detached=(0, 1))
    simulation = ClimbingSimulation(model, rest, state)
    z, v, _ = state.packed(model)
    held = RestPosition(rest.hip, joint=rest.joint)
    before = balance(model, state, held)
    simulation.step(StickybotCommand(0, rest.hip, np.array([True, True]), rest.joint), 1e-9)
    after = simulation.state
    np.testing.assert_allclose(after.velocity, state.velocity, atol=1e-5)
    # A qd+ = m r x v- + I qd- about the foot of the one-link limb.
    rod, q, start = model.limbs[0].links[0], state.joint[0], model.foot_columns[0]
    arm = rod.center * np.array([math.cos(q), math.sin(q)])
    v_c = v[start] + state.joint_velocity[0] * np.array([-arm[1], arm[0]])
    spin = rod.mass * (arm[0] * v_c[1] - arm[1] * v_c[0]) + rod.inertia * state.joint_velocity[0]
    inertia = rod.mass * rod.center ** 2 + rod.inertia
    assert after.joint_velocity[0] == pytest.approx(spin / inertia, rel=1e-4)
    assert not after.foot_velocity.any()
    lost = before.kinetic - balance(model, after, held).kinetic
    assert simulation.energy.struck == pytest.approx(lost, rel=1e-3)
    assert simulation.energy.struck > 0.0
    # The wall's impulses explain the change of momentum, linear and angular.
    assert np.abs(simulation.energy.momentum_residual).max() < 1e-9
    assert abs(simulation.energy.angular_momentum_residual) < 1e-9


def test_foot_lets_go_when_its_pad_does_not_hold():
    model = proposed().model()
    pads = [Adhesion(shear=0.95), *[Adhesion(shear=5.0)] * 3]
    simulation = ClimbingSimulation(model, state=find_equilibrium(model, unloaded_state(model)),
                                    pads=pads)
    command = StickybotCommand(0, model.rest, ALL)
    assert simulation.step(command, 0.01) == []
    simulation.push([0.0, -0.02, 0.0])
    events = [event for _ in range(20) for event in simulation.step(command, 0.01)]
    assert [(event.limb, event.kind) for event in events] == [
        ('left_fore', FootEventKind.SLIPPED)]
    assert 'let go: its shear force' in str(events[0])
    assert not simulation.attached[0]
    # It stays off until it is released and set again.
    released = replace(command, attach=np.array([False, True, True, True]))
    assert simulation.step(released, 0.01) == []
    assert [event.kind for event in simulation.step(command, 0.01)] == [
        FootEventKind.TOUCHED_DOWN]


def test_overloaded_robot_falls_foot_after_foot():
    model = proposed().model()
    simulation = ClimbingSimulation(model, pads=Adhesion(shear=0.8))
    events = [event for _ in range(30)
              for event in simulation.step(StickybotCommand(0, model.rest, ALL), 0.01)]
    assert sorted(event.limb for event in events) == sorted(model.limb_names)
    stamps = [event.stamp_ns for event in events]
    assert stamps == sorted(stamps)
    assert simulation.pose[1] < -0.1


def test_normal_loads_balance_the_tipping_moment():
    model = proposed(stickybot__inclination=2.0).model()
    simulation = ClimbingSimulation(model, state=find_equilibrium(model, unloaded_state(model)))
    push, state = simulation.normal_loads, simulation.state
    assert push.sum() == pytest.approx(-model.mass * model.wall.normal)
    assert (push[:2] < push[2:]).all()
    center = balance(model, state, RestPosition.nominal(model)).center_of_mass
    moment = push @ (state.foot - center)
    shear = simulation.reaction.sum(0)
    np.testing.assert_allclose(moment, -model.body.height * shear, atol=1e-9)
    # Of all loads that do so, the least: no part of it along the one way to squeeze.
    arms = np.column_stack([np.ones(4), state.foot])
    squeeze = np.linalg.svd(arms.T)[2][3]
    assert abs(squeeze @ push) < 1e-8


def test_feet_off_duty_rest_on_the_wall_and_push_only():
    model = proposed().model()
    state = find_equilibrium(model, unloaded_state(model))
    simulation = ClimbingSimulation(model, state=state)
    before = simulation.normal_loads
    for held in (np.array([True, False, False, True]), np.array([True, False, True, False]),
                 np.array([True, True, False, False])):
        fresh = ClimbingSimulation(model, state=state)
        fresh.step(StickybotCommand(0, model.rest, held), 0.001)
        push, found = fresh.normal_loads, fresh.state
        tipping = model.body.height * fresh.reaction.sum(0)
        center = balance(model, found, fresh.rest).center_of_mass
        assert (push[~held] >= 0.0).all()
        assert push.sum() == pytest.approx(0.0, abs=1e-6)
        np.testing.assert_allclose(push @ (found.foot - center), -tipping, atol=1e-6)
        # The pull of all fore feet has only the distance of the rows for a lever.
        rows = found.foot[0, 1] - found.foot[2, 1]
        assert -push[:2].sum() == pytest.approx(tipping[1] / rows, rel=0.05)
    # A foot that is set bears what it bore at rest, until loads change.
    held = np.array([True, False, False, True])
    simulation.step(StickybotCommand(0, model.rest, held), 0.3)
    alone = simulation.normal_loads
    assert alone[0] < 1.7 * before[0]
    simulation.step(StickybotCommand(0, model.rest, ALL), 0.3)
    now = simulation.normal_loads
    assert now[0] - now[1] == pytest.approx(alone[0] - alone[1], abs=0.1)


def test_pad_sets_are_what_pads_hold():
    rng = np.random.default_rng(5)
    pads = [Adhesion(2.0, 1.0, 0.4), Adhesion(3.0, 2.0, 0.3, 1.2, 0.8, 0.5),
            Adhesion(3.0, 2.0, 0.3, 1.2, 0.8, 0.5, tack=0.4)]
    for normal in (-1.5, -0.4, 0.0, 0.7):
        angle = rng.uniform(-3, 3)
        for pad in pads:
            sets = ForceSets.of_pads([pad], [normal], [angle])
            for force in rng.normal(0, 2.0, (200, 2)):
                holds = pad_failure(pad.packed(), angle, *force, normal) == HOLDS
                assert holds == sets.contains(force[None])[0]
            # The support is the largest that any sampled force of the set reaches, from above.
            inside = [f for f in rng.normal(0, 2.0, (4000, 2)) if sets.contains(f[None])[0]]
            d = rng.normal(size=2)
            if inside:
                best = max(f @ d for f in inside)
                assert best <= sets.support(d[None])[0] <= best + 0.35 * np.hypot(*d)
            else:
                assert not math.isfinite(sets.support(d[None])[0])


def test_gecko_pad_holds_one_way():
    pad = Adhesion(3.0, 2.0, 0.0, math.pi / 2, math.radians(50), math.radians(30))
    hold = [pad_failure(pad.packed(), math.pi / 2, *force, normal) == HOLDS
            for force, normal in (((0.0, 2.0), -1.0), ((0.0, 2.0), -1.3), ((0.0, -0.1), 0.0),
                                  ((1.0, 1.0), 0.0), ((1.0, 0.8), 0.0), ((0.0, 3.1), 0.0))]
    assert hold == [True, False, False, True, False, False]


def test_tack_holds_a_gecko_pad_that_nobody_pulls():
    bare = Adhesion(3.0, 2.0, 0.0, math.pi / 2, math.radians(45), math.radians(30))
    tacky = replace(bare, tack=0.3)
    for force, normal, without, held in (
            ((0.1, 0.0), 0.0, False, True), ((0.31, 0.0), 0.0, False, False),
            ((0.0, -0.29), 0.0, False, True), ((0.0, -0.31), 0.0, False, False),
            ((0.0, 0.0), -0.17, False, True), ((0.0, 0.0), -0.18, False, False),
            # Nor does it add to the largest shear.
            ((0.0, 3.01), 0.0, False, False), ((0.0, 2.99), 0.0, True, True)):
        for pad, expected in ((bare, without), (tacky, held)):
            assert (pad_failure(pad.packed(), math.pi / 2, *force, normal) == HOLDS) == expected


def test_design_rule_and_true_modes():
    settings = proposed()
    model, body = settings.model(), settings.body()
    expected = [2 * math.sqrt(0.29 * 2000 / 4)] * 2 + [2 * math.sqrt(body.inertia * 5 / 4)]
    np.testing.assert_allclose(nominal_damping(body, [2000, 2000, 5], 4), expected, rtol=1e-12)
    np.testing.assert_allclose(np.diag(model.limbs[0].damping), expected, rtol=1e-12)
    rest = RestPosition.nominal(model)
    state = find_equilibrium(model, unloaded_state(model))
    found = modes(model, state, rest)
    assert found.nominal == pytest.approx(1.0)
    assert found.stable
    # What the rule calls critical is not: the k_phi / L mode.
    worst = np.argmin(found.damping_ratio)
    assert found.eigenvalues[worst] == pytest.approx(-36.8 + 62.5j, rel=0.01)
    assert found.damping_ratio[worst] == pytest.approx(0.51, abs=0.01)
    # Each pair is an eigenpair of the accelerations' own central differences.
    z, _, attached = state.packed(model)
    shape, value, h = found.shape[worst], found.eigenvalues[worst], 1e-6

    def acceleration(step, rate):
        moved = accelerations(model, StickybotState.unpacked(model, z + step, rate, attached),
                              rest)
        return np.concatenate([moved.body, moved.joint])

    columns = np.concatenate([np.arange(3), model.joint_columns])
    slope = sum(factor * (acceleration(h * part, np.zeros(model.nz))
                          - acceleration(-h * part, np.zeros(model.nz))) / (2 * h)
                for factor, part in ((1, shape.real), (1j, shape.imag)))
    rate = value * shape
    slope = slope + sum(factor * (acceleration(np.zeros(model.nz), h * part)
                                  - acceleration(np.zeros(model.nz), -h * part)) / (2 * h)
                        for factor, part in ((1, rate.real), (1j, rate.imag)))
    np.testing.assert_allclose(slope, value ** 2 * shape[columns], atol=1e-4 * abs(value) ** 2)
    with pytest.raises(ConfigurationError, match='at least one limb'):
        nominal_damping(body, [1.0, 1.0, 1.0], 0)


def test_settled_sensitivity_by_differences():
    model, _, rest = random_climber(71, links=(1, 2, 1), inclination=1.0)
    model = StickybotModel(model.body, [replace(limb, stiffness=[2000.0, 1500.0, 5.0])
                                        for limb in model.limbs], model.wall)
    rest = RestPosition(model.rest)
    state = find_equilibrium(model, unloaded_state(model, rest=rest), rest)
    slopes, h = static_sensitivity(model, state, rest), 1e-4
    for j in range(3):
        forces = []
        for side in (h, -h):
            hip = np.array(rest.hip)
            hip[j, 2] += side
            moved = RestPosition(hip)
            forces.append(accelerations(model, find_equilibrium(model, state, moved),
                                        moved).reaction)
        np.testing.assert_allclose(slopes[:, :, j], (forces[0] - forces[1]) / (2 * h), atol=1e-4)
    # The wall's forces together carry the weight, whatever the rest angles.
    assert np.abs(slopes.sum(axis=0)).max() < 1e-5


def test_simulation_refuses_what_it_cannot_do():
    model = proposed().model()
    simulation = ClimbingSimulation(model)
    with pytest.raises(MeasurementError, match=r'rest positions of shape \(4, 3\)'):
        simulation.step(StickybotCommand(0, np.zeros((3, 3)), ALL), 0.01)
    with pytest.raises(MeasurementError, match='expected 4 flags of feet'):
        simulation.step(StickybotCommand(0, model.rest, ALL[:2]), 0.01)
    with pytest.raises(MeasurementError, match='duration above 0'):
        simulation.step(StickybotCommand(0, model.rest, ALL), 0.0)
    with pytest.raises(ConfigurationError, match='expected one pad, or 4'):
        ClimbingSimulation(model, pads=[Adhesion()] * 3)
    with pytest.raises(ConfigurationError, match='tolerance up to'):
        ClimbingSimulation(model, tolerance=0.0)
    with pytest.raises(UnknownNameError, match=r"'left_for'. Did you mean 'left_fore'\?"):
        simulation.release('left_for')
    with pytest.raises(ConfigurationError, match='half_angle between 0 and pi/2'):
        Adhesion(direction=0.0, half_angle=2.0)
