# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
import math
from dataclasses import replace

import numpy as np
import pytest
from climbers import WEIGHT, proposed, random_climber

from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.stickybot import (
    Adhesion,
    ClimbingSimulation,
    FootEventKind,
    Gait,
    GaitClock,
    Limb,
    RestPosition,
    StickybotController,
    StickybotState,
    accelerations,
    climb,
    load_of,
    simulate_plain_gait,
    unloaded_state,
)
from legged_dynamics.stickybot.control.gait import Footing
from legged_dynamics.stickybot.control.load_sharing import static_load

DT = 0.002


def run(controller, simulation, seconds, watch=None):
    """Close the loop; return the events of both."""
    events = []
    for _ in range(round(seconds / DT)):
        command = controller.update(simulation.measure())
        events += command.events
        events += [event for event in simulation.step(command, DT)
                   if event.kind not in (FootEventKind.TOUCHED_DOWN, FootEventKind.LIFTED_OFF)]
        if watch is not None:
            watch(command, simulation)
    return events


def walking_pair(settings, pads=None):
    """Return a controller and a simulation at the first pose of the gait."""
    model, gait = settings.model(), settings.gait()
    controller = StickybotController(model, gait, settings.control(), pads)
    rest = model.rest
    rest[:, 2] += GaitClock(model, gait).at(0).angle
    return controller, ClimbingSimulation(model, RestPosition(rest), pads=pads)


def misplaced(model, pattern):
    calm = unloaded_state(model)
    return StickybotState(calm.pose, calm.velocity, calm.foot + 0.002 * np.array(pattern),
                          calm.joint, calm.joint_velocity)


@pytest.fixture(scope='module')
def plain():
    settings = proposed(control__reduction='off')
    return climb(settings.model(), settings.gait(), settings.control(), seconds=4.0)


def test_reduction_lowers_the_peak_at_the_same_speed(plain):
    settings = proposed()
    reduced = climb(settings.model(), settings.gait(), settings.control(), seconds=4.0,
                    trace=True)
    assert reduced.speed == pytest.approx(plain.speed, rel=0.02)
    assert reduced.peak <= 0.70 * plain.peak
    # No more can be done: two feet carry the weight between them.
    assert reduced.peak < 1.05 * WEIGHT / 2
    trace = reduced.trace
    settled = trace.time > 1.0
    error = trace.planned[settled] - trace.reaction[settled]
    assert np.sqrt((error ** 2).mean()) < 0.03
    assert abs(reduced.energy.energy_residual) < 1e-5


@pytest.mark.parametrize('pads', ['none', 'directional'])
def test_turning_hips_reduce_the_forces_as_much_and_evenly(plain, pads):
    """Two feet of a stride and a body that yields: no squeeze is left, half the weight each."""
    settings = proposed(control__reduction='turning', adhesion__kind=pads)
    reduced = climb(settings.model(), settings.gait(), settings.control(), settings.pads(),
                    seconds=4.0, trace=True)
    assert reduced.speed == pytest.approx(plain.speed, rel=0.02)
    assert reduced.failures == 0
    late = reduced.trace.time > 2.0
    peaks = np.hypot(*np.moveaxis(reduced.trace.reaction[late], -1, 0)).max(axis=0)
    assert peaks.max() < 0.82 * plain.peak
    assert peaks.max() < 1.05 * WEIGHT / 2
    assert peaks.max() < 1.02 * peaks.min()


@pytest.mark.parametrize('changes', [
    {'gait__pattern': 'wave', 'gait__duty': 0.8, 'gait__amplitude': 0.12},
    {'stickybot__n_limbs': 6}, {'stickybot__inclination': 2.2},
    {'stickybot__link_length': [0.05, 0.05], 'stickybot__link_mass': [0.01, 0.01],
     'stickybot__joint_stiffness': [20.0], 'stickybot__joint_damping': [0.05],
     'stickybot__bends': [0.4]}], ids=['wave', 'six limbs', 'overhang', 'two links, bent'])
def test_reduction_of_other_robots_and_gaits(changes):
    settings = proposed(control__rate=250.0, **changes)
    model, gait = settings.model(), settings.gait()
    before = simulate_plain_gait(model, gait)
    after = climb(model, gait, settings.control(), seconds=3.0)
    assert after.speed == pytest.approx(before.speed, rel=0.02)
    assert after.peak < 0.75 * before.peak
    assert not after.failures


@pytest.mark.parametrize('pattern', [[[0, 0]] * 4, [[-1, 0], [1, 0], [1, 0], [-1, 0]],
                                     [[1, 0], [0, 1], [-1, 0], [0, -1]]])
def test_standing_equalises_the_load_and_undoes_squeeze(pattern):
    settings = proposed(control__speed=0.04)
    model = settings.model()
    state = misplaced(model, pattern)
    floor = WEIGHT / 4
    controller = StickybotController(model, settings.gait(), settings.control(), walking=False)
    simulation = ClimbingSimulation(model, state=state)
    squeezed = np.hypot(*accelerations(model, state, RestPosition(model.rest)).reaction.T).max()
    assert squeezed > 2.0 or not np.any(pattern)
    assert run(controller, simulation, 1.0) == []
    sizes = np.hypot(*simulation.reaction.T)
    np.testing.assert_allclose(sizes, floor, rtol=0.01)
    np.testing.assert_allclose(simulation.pose, 0.0, atol=3e-4)


def test_by_angle_alone_the_squeeze_stays():
    settings = proposed(control__speed=0.04, control__reduction='turning')
    model = settings.model()
    controller = StickybotController(model, settings.gait(), settings.control(), walking=False)
    simulation = ClimbingSimulation(model, state=misplaced(model, [[-1, 0], [1, 0], [1, 0],
                                                                   [-1, 0]]))
    run(controller, simulation, 2.0)
    sizes = np.hypot(*simulation.reaction.T)
    assert sizes.max() == pytest.approx(4.10, abs=0.02)
    np.testing.assert_allclose(sizes, sizes.mean(), rtol=0.01)


def test_reaction_estimate_is_the_simulated_one():
    controller, simulation = walking_pair(proposed(control__speed=0.04))
    errors, last = [], [simulation.reaction, np.zeros(4, bool)]

    def watch(command, simulation):
        lasting = command.attach & last[1]
        errors.extend(np.abs(command.reaction - last[0])[lasting].ravel())
        last[:] = simulation.reaction, command.attach

    run(controller, simulation, 1.5, watch)
    # While feet are set and released, the others' springs see what comes within the sample.
    assert len(errors) > 2000
    assert np.median(errors) < 1e-6
    assert np.quantile(errors, 0.95) < 1e-2


def test_odometry_follows_the_robot():
    controller, simulation = walking_pair(proposed(control__speed=0.04))
    ends = []
    run(controller, simulation, 3.0, lambda command, sim: ends.append((command, sim.pose)))
    command, _ = ends[-1]
    risen = simulation.pose[1]
    assert risen > 0.1
    assert command.pose[1] == pytest.approx(risen, abs=0.002)
    assert abs(command.pose[0] - simulation.pose[0]) < 1e-4


def test_reactions_are_those_of_the_springs():
    controller, simulation = walking_pair(proposed(control__speed=0.04))
    run(controller, simulation, 0.3)
    command = controller.update(simulation.measure())
    np.testing.assert_allclose(command.reaction, simulation.reaction, atol=1e-6)


@pytest.mark.parametrize('when', [1.7, 1.55, 1.02])
@pytest.mark.parametrize('reduction', ['full', 'off'])
def test_lost_foot_is_planted_again_and_the_climb_goes_on(when, reduction):
    controller, simulation = walking_pair(proposed(control__speed=0.04,
                                                   control__reduction=reduction))
    run(controller, simulation, when)
    height = simulation.pose[1]
    simulation.release('right_fore')
    events = run(controller, simulation, 0.6)
    lost = [event for event in events if event.kind is FootEventKind.LOST]
    assert [event.limb for event in lost] == ['right_fore']
    planted = [event for event in events if event.kind is FootEventKind.TOUCHED_DOWN
               and event.limb == 'right_fore' and event.stamp_ns > lost[0].stamp_ns]
    assert planted
    run(controller, simulation, 2.0)
    assert simulation.pose[1] > height + 0.06
    assert abs(simulation.pose[2]) < 0.03


def test_measured_contact_is_believed_at_once():
    controller, simulation = walking_pair(proposed(control__speed=0.04))
    run(controller, simulation, 0.25)
    simulation.release('left_fore')
    told = replace(simulation.measure(), attached=simulation.attached)
    lost = [e for e in controller.update(told).events if e.kind is FootEventKind.LOST]
    assert [event.limb for event in lost] == ['left_fore']


def test_pads_that_fail_the_plain_gait_carry_the_reduced_one():
    weak = {'adhesion__kind': 'disc', 'adhesion__shear': 2.0, 'adhesion__normal': 3.0,
            'adhesion__friction': 0.0, 'control__speed': 0.04}
    settings = proposed(control__reduction='off', **weak)
    fallen = climb(settings.model(), settings.gait(), settings.control(), settings.pads(),
                   seconds=2.0)
    assert fallen.failures > 4
    assert fallen.rise < -0.5
    settings = proposed(**weak)
    climbing = climb(settings.model(), settings.gait(), settings.control(), settings.pads(),
                     seconds=3.0)
    assert climbing.failures == 0
    assert climbing.speed == pytest.approx(0.04, rel=0.01)


def test_reduction_keeps_to_gecko_pads():
    gecko = {'adhesion__kind': 'directional', 'adhesion__shear': 3.0, 'adhesion__normal': 3.0,
             'adhesion__friction': 0.2, 'adhesion__half_angle': 1.2, 'control__speed': 0.04}
    settings = proposed(control__reduction='off', **gecko)
    plain = climb(settings.model(), settings.gait(), settings.control(), settings.pads(),
                  seconds=2.0)
    assert plain.failures > 0
    settings = proposed(**gecko)
    done = climb(settings.model(), settings.gait(), settings.control(), settings.pads(),
                 seconds=3.0, trace=True)
    assert done.failures == 0
    assert done.speed == pytest.approx(0.04, rel=0.01)


@pytest.mark.parametrize('changes', [
    {'gait__pattern': 'wave', 'gait__duty': 0.8}, {'stickybot__inclination': 1.2},
    {'stickybot__inclination': 1.85}, {'stickybot__n_limbs': 8, 'gait__pattern': 'wave',
                                      'gait__duty': 0.9}],
    ids=['wave', 'slope', 'overhang', 'eight limbs'])
def test_gecko_pads_hold_the_reduced_gait_on_other_walls_and_in_other_gaits(changes):
    settings = proposed(adhesion__kind='directional', control__speed=0.03, control__rate=250.0,
                        **changes)
    done = climb(settings.model(), settings.gait(), settings.control(), settings.pads(),
                 seconds=2.0)
    assert done.failures == 0
    assert done.speed == pytest.approx(0.03, rel=0.03)


def test_stands_walks_and_stops():
    settings = proposed(control__speed=0.04)
    model = settings.model()
    controller = StickybotController(model, settings.gait(), settings.control(), walking=False)
    simulation = ClimbingSimulation(model)
    run(controller, simulation, 0.5)
    assert abs(simulation.pose[1]) < 1e-4
    controller.walking = True
    run(controller, simulation, 3.0)
    assert simulation.pose[1] > 0.07
    controller.walking = False
    run(controller, simulation, 0.6)
    height = simulation.pose[1]
    run(controller, simulation, 0.5)
    assert simulation.pose[1] == pytest.approx(height, abs=1e-4)
    assert simulation.attached.all()
    np.testing.assert_allclose(np.hypot(*simulation.reaction.T), WEIGHT / 4, rtol=0.01)


def test_same_measurements_give_the_same_bits():
    commands = []
    for _ in range(2):
        controller, simulation = walking_pair(proposed(control__speed=0.04))
        rests = []
        run(controller, simulation, 0.4, lambda command, sim, rests=rests: rests.append(
            command.rest))
        commands.append(np.array(rests))
    np.testing.assert_array_equal(*commands)


def test_gait_stands_still_over_a_gap_and_a_jump_back_is_refused():
    controller, simulation = walking_pair(proposed(control__speed=0.04))
    run(controller, simulation, 0.35)
    last = simulation.measure()
    before = controller.update(last)
    with pytest.raises(MeasurementError, match=r'got one of 350000000 ns. Call reset'):
        controller.update(last)
    after = controller.update(replace(last, stamp_ns=last.stamp_ns + 10 * 10 ** 9))
    assert np.abs(after.rest - before.rest).max() < 0.005
    assert not before.attach.all()
    assert after.attach.all()       # until the gait goes on
    controller.reset()
    assert controller.update(last).attach.all()


@pytest.mark.parametrize('kind', ['disc', 'directional'])
def test_late_measurements_slow_a_climb_by_their_own_time(kind):
    """Ten gaps a second of 12 to 60 ms, in which the springs keep the last command."""
    settings = proposed(control__speed=0.05, adhesion__kind=kind)
    controller, simulation = walking_pair(settings, settings.pads())
    rng, late, lost, begin = np.random.default_rng(0), 0.0, [], 1.0
    while simulation.time < 4.0:
        if simulation.time < begin:
            height, late = simulation.pose[1], 0.0
        command = controller.update(simulation.measure())
        lost += [event for event in command.events if event.kind is FootEventKind.LOST]
        happened = simulation.step(command, DT)
        if rng.random() < 10.0 * DT:
            gap = rng.uniform(0.012, 0.06)
            happened += simulation.step(command, gap)
            late += gap
        lost += [event for event in happened
                 if event.kind in (FootEventKind.SLIPPED, FootEventKind.PEELED)]
    assert not lost
    assert late > 0.5
    going = simulation.time - begin - late
    assert simulation.pose[1] - height > 0.9 * 0.05 * going


def test_bad_measurements_are_told_and_change_nothing():
    controller, simulation = walking_pair(proposed(control__speed=0.04))
    run(controller, simulation, 0.1)
    good = simulation.measure()
    with pytest.raises(MeasurementError, match='expected finite joint states'):
        controller.update(replace(good, hip=np.full((4, 3), np.nan)))
    with pytest.raises(MeasurementError, match=r'hip of shape \(4, 3\), got \(3, 3\)'):
        controller.update(replace(good, hip=np.zeros((3, 3))))
    with pytest.raises(MeasurementError, match=r'attached of shape \(4,\)'):
        controller.update(replace(good, attached=np.ones(3, bool)))
    twin, other = walking_pair(proposed(control__speed=0.04))
    run(twin, other, 0.1)
    np.testing.assert_array_equal(controller.update(good).rest, twin.update(good).rest)


def test_feet_take_up_and_give_away_their_load_slowly():
    settings = proposed(control__speed=0.04)
    footing = Footing(settings.model(), settings.gait(), settings.control(), walking=True)
    period, shares, wanted = 2_000_000, [], []
    for k in range(600):
        footing.update(k * period, period if k else 0, period, np.zeros(4, bool))
        shares.append(footing.share.copy())
        wanted.append(footing.wanted)
    shares, wanted = np.array(shares), np.array(wanted)
    # Limb 2 is lifted at 0.1 s and set at 0.5 s, limb 1 lifted at 0.6 s; each over 0.1 s.
    np.testing.assert_allclose(shares[[0, 25, 49], 1], [1.0, 0.5, 0.02], atol=1e-9)
    np.testing.assert_allclose(shares[[250, 275, 300], 1], [0.02, 0.5, 1.0], atol=1e-9)
    np.testing.assert_allclose(shares[[250, 275, 299], 0], [1.0, 0.5, 0.02], atol=1e-9)
    assert wanted[:50].all()
    assert not wanted[50:250, 1].any()


def test_static_load_is_the_whole_robots_weight_and_the_bodys_acceleration():
    model, state, _ = random_climber(81)
    z, _, _ = state.packed(model)
    wanted, w = np.array([1.0, -2.0, 30.0]), np.zeros(3)
    static_load(model.machine, z, wanted, w)
    resting = StickybotState.unpacked(model, z, np.zeros(model.nz), np.ones(4, bool))
    np.testing.assert_allclose(w, load_of(model, resting, wanted).wrench, atol=1e-12)


def test_gait_clock():
    model = proposed().model()
    clock = GaitClock(model, Gait())
    # Limbs 1 and 4 together, 2 and 3 half a period apart.
    at = clock.at(0)
    np.testing.assert_allclose(at.angle[[0, 3]], [-0.147, 0.147])
    np.testing.assert_allclose(at.angle[[1, 2]], [-0.098, 0.098], atol=1e-12)
    assert at.stance.all()
    np.testing.assert_allclose(at.until_lift, [0.6, 0.1, 0.1, 0.6])
    assert clock.at(600_000_000).stance.tolist() == [False, True, True, False]
    assert clock.at(599_999_999).stance.all()
    middle = clock.at(800_000_000)
    np.testing.assert_allclose(middle.angle[[0, 3]], 0.0, atol=1e-12)
    np.testing.assert_allclose(middle.rate[0], -0.147 * math.pi / 0.4)
    h = 1000
    for time in (123_456_789, 711_000_000):
        slope = (clock.at(time + h).angle - clock.at(time - h).angle) / (2 * h * 1e-9)
        np.testing.assert_allclose(clock.at(time).rate, slope, rtol=1e-5)
    wave = Gait('wave', 1.0, 0.8, 0.1)
    np.testing.assert_allclose(wave.offsets(model), [0.75, 0.25, 0.0, 0.5])
    assert wave.overlap(model) == pytest.approx(0.05)
    assert Gait().overlap(model) == pytest.approx(0.1)
    one_off = [GaitClock(model, wave).at(t * 10 ** 6).stance.sum() for t in range(0, 1000, 7)]
    assert min(one_off) == 3
    with pytest.raises(ConfigurationError, match='gait.pattern: .*diagonal, wave'):
        Gait('trot')
    with pytest.raises(ConfigurationError, match='gait.duty: '):
        Gait(duty=1.0)


def test_wrong_controllers_are_told():
    model = proposed().model()
    with pytest.raises(ConfigurationError, match='expected 4 pads'):
        StickybotController(model, settings={'control.speed': 0.04}, pads=[Adhesion()])
    with pytest.raises(ConfigurationError, match=r'control.reduction: expected one of'):
        StickybotController(model, settings={'control.reduction': 'none'})
    coupled = np.diag([2000.0, 2000.0, 5.0])
    coupled[0, 2] = coupled[2, 0] = 10.0
    limbs = [Limb(limb.name, limb.links, limb.hip, limb.rest_angle, coupled)
             for limb in model.limbs]
    with pytest.raises(ConfigurationError, match='not coupled with x and y'):
        StickybotController(type(model)(model.body, limbs),
                            settings={'control.reduction': 'turning', 'control.speed': 0.04})


@pytest.mark.parametrize('old, new', [('rehearse', 'simulate_plain_gait'),
                                      ('Rehearsal', 'PlainGaitResult')])
def test_a_name_of_the_version_before_works_and_warns(old, new):
    from legged_dynamics import stickybot
    with pytest.warns(DeprecationWarning, match=new):
        assert getattr(stickybot, old) is getattr(stickybot, new)
