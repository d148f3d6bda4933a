# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Double support on walkers whose truth is known, and the parts that it is made of."""
import numpy as np
import pytest
from robots import random_robot
from walkers import (
    BACK,
    DT,
    FRONT,
    GRAVITY,
    HEIGHT,
    MASS,
    SIDE,
    description,
    smooth,
    standing,
    two_footed_walk,
    walk,
)

from benchmarks.double_support import leaving_share, smooth_transition
from legged_dynamics.contact.inverse_dynamics import ContactInverseDynamics
from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion, low_pass
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model import FlatFoot, Inertia, LineFoot, RobotModel
from legged_dynamics.people.gait.double_support import (
    METHODS,
    DoubleSupport,
    travelling_reference,
)
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import runs, soles_of, stances
from legged_dynamics.people.trials.accuracy import balance_notes
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_vector

WEIGHT = MASS * GRAVITY
INNER = slice(5, -5)        # second differences are copied at the ends
WALK = two_footed_walk()


# The walkers' forces meet in their centre of mass, and their feet leave as soon as they move;
# people's toes stay on the ground for longer. Their load passes over along a smooth curve, and
# that of people at a nearly constant rate.
AIM = {'force.pivot_height': 1.0, 'stance.lift_off_speed': 0.3,
       'transfer.step_cutoff': 2.0}


def solve(walker, method='travelling', **more):
    motion = walker.motion(**more)
    return DoubleSupport(walker.model, walker.feet, AIM).solve(motion, method=method)


def load_error(found, walker, where=None):
    """Return the rms error of the vertical force [% of weight]."""
    error = 100.0 * (found.force - walker.force)[INNER, :, 2] / WEIGHT
    return float(np.sqrt(np.mean(error[where] ** 2 if where is not None else error ** 2)))


def test_a_walk_is_told_by_its_motion():
    found = solve(WALK)
    for foot in range(2):
        true, seen = (list(runs(flags[:, foot])) for flags in (WALK.contact, found.contact))
        assert len(true) == len(seen)
        assert np.abs(np.array(true) - seen).max() <= 5
    together = WALK.contact[INNER].all(axis=1)
    assert load_error(found, WALK) < 2.5 and load_error(found, WALK, together) < 4.5
    horizontal = (found.force - WALK.force)[INNER, :, :2] / WEIGHT
    assert np.sqrt((horizontal ** 2).mean()) < 0.01
    assert found.supported.all()


@pytest.mark.parametrize('method', ['sole', 'ankle'])
def test_the_travelling_reference_is_worth_its_while(method):
    assert load_error(solve(WALK, method), WALK) > 2.0 * load_error(solve(WALK), WALK)


@pytest.mark.parametrize('method', sorted(METHODS))
def test_what_all_methods_keep(method):
    """The dynamics is met or its rest reported; feet in the air bear nothing; efforts follow."""
    found = solve(WALK, method)
    motion = WALK.motion()
    dynamics = GaitInverseDynamics.of(WALK.model, WALK.feet, motion)
    arm = found.foot_position - motion.base_position[:, None]
    moment = np.einsum('nfij,nfj->nfi', found.foot_rotation, found.wrench[..., 3:])
    borne = np.hstack([found.force.sum(axis=1),
                       (moment + np.cross(arm, found.force)).sum(axis=1)])
    np.testing.assert_allclose(borne + found.root_residual, dynamics.wrench, atol=1e-9 * WEIGHT)
    assert np.abs(found.root_residual[:, :3]).max() < 1e-3
    assert not found.wrench[~found.contact].any()
    solver = ContactInverseDynamics(WALK.model, WALK.feet)
    for t in (50, 65, 90):
        if np.abs(found.root_residual[t]).max() < 1e-9 * WEIGHT:
            again = solver.solve(motion.instant(t), in_contact=found.contact[t],
                                 guess=found.wrench[t])
            np.testing.assert_allclose(found.joint_effort[t], again.joint_effort,
                                       atol=1e-8 * WEIGHT)


def test_no_foot_pulls_slips_or_presses_beside_its_sole():
    found = solve(WALK)
    f = found.force
    assert f[..., 2].min() >= -1e-9 * WEIGHT
    assert (np.linalg.norm(f[..., :2], axis=2) <= f[..., 2] + 1e-6 * WEIGHT).all()
    flat = found.contact & (np.abs(found.foot_rotation[..., 2, 0]) < 1e-9) & (f[..., 2] > 1.0)
    inside = (found.center_of_pressure - found.foot_position)[flat]
    assert flat.sum() > 100
    assert inside[:, 0].max() <= FRONT + 1e-6 and inside[:, 0].min() >= BACK - 1e-6
    assert np.abs(inside[:, 1]).max() <= SIDE + 1e-6


def test_a_walk_on_blades_is_told_as_one_on_soles():
    """The walker presses in the middle of its width, so an edge bears all that its sole does."""
    blades = [LineFoot(foot.link, foot.front, foot.back) for foot in WALK.feet]
    motion = WALK.motion()
    found = DoubleSupport(WALK.model, blades, AIM).solve(motion)
    assert load_error(found, WALK) < 2.5
    dynamics = GaitInverseDynamics.of(WALK.model, blades, motion)
    moment = np.einsum('nfij,nfj->nfi', found.foot_rotation, found.wrench[..., 3:])
    arm = found.foot_position - motion.base_position[:, None]
    borne = np.hstack([found.force.sum(axis=1),
                       (moment + np.cross(arm, found.force)).sum(axis=1)])
    np.testing.assert_allclose(borne + found.root_residual, dynamics.wrench, atol=1e-9 * WEIGHT)
    assert np.abs(found.root_residual[:, :3]).max() < 1e-3
    level = found.contact & (np.abs(found.foot_rotation[..., 2, 0]) < 1e-9)
    level &= found.force[..., 2] > 1.0
    inside = (found.center_of_pressure - found.foot_position)[level]
    assert level.sum() > 100 and np.ptp(inside[:, 0]) > 0.5 * (FRONT - BACK)
    assert inside[:, 0].max() <= FRONT + 1e-6 and inside[:, 0].min() >= BACK - 1e-6
    assert np.abs(inside[:, 1]).max() < 1e-6 < SIDE


def test_nothing_depends_on_where_the_world_is():
    here = solve(WALK)
    there = solve(WALK, yaw=2.0, shift=(100.0, -50.0, 3.0))
    assert (here.contact == there.contact).all()
    np.testing.assert_allclose(there.wrench, here.wrench, atol=1e-6 * WEIGHT)
    np.testing.assert_allclose(there.joint_effort, here.joint_effort, atol=1e-6 * WEIGHT)


def test_the_order_of_feet_does_not_matter():
    motion = WALK.motion()
    here = solve(WALK)
    there = DoubleSupport(WALK.model, WALK.feet[::-1], AIM).solve(motion)
    np.testing.assert_allclose(there.wrench[:, ::-1], here.wrench, atol=1e-6 * WEIGHT)


def test_forces_scale_with_the_mass():
    half = two_footed_walk(mass=0.5 * MASS)
    np.testing.assert_allclose(2.0 * solve(half).force, solve(WALK).force, atol=1e-6 * WEIGHT)


def test_a_mirrored_walk_has_mirrored_forces():
    joints = WALK.position.copy().reshape(len(WALK.time), 2, 4)
    joints[..., 1] *= -1.0
    motion = RecordedMotion.from_poses(
        WALK.model, WALK.time, WALK.base * [1.0, -1.0, 1.0],
        np.tile([0.0, 0.0, 0.0, 1.0], (len(WALK.time), 1)), joints.reshape(len(WALK.time), -1))
    mirrored = DoubleSupport(WALK.model, WALK.feet, AIM).solve(motion)
    np.testing.assert_allclose(mirrored.force * [1.0, -1.0, 1.0], solve(WALK).force,
                               atol=1e-6 * WEIGHT)


def test_four_point_feet():
    """A walk of four balls, three or two on the ground at a time."""
    places, intervals = [], []
    for x, y, begin in ((0.3, 0.2, 0.0), (-0.3, -0.2, 0.3), (0.3, -0.2, 0.6), (-0.3, 0.2, 0.9)):
        places.append([(x + 0.3 * k, y) for k in range(4)])
        intervals.append([(1.2 * k - begin - 0.2, 1.2 * k - begin + 0.7) for k in range(4)])
    walker = walk(places, intervals, 3.0, flat=False)
    found = solve(walker)
    assert load_error(found, walker) < 6.0
    assert (found.contact == walker.contact)[INNER].mean() > 0.9
    assert found.force[..., 2].min() >= -1e-9 * WEIGHT
    assert not found.wrench[..., 3:].any()


def test_noise_of_the_body_is_not_taken_for_a_shift_of_load():
    walker = standing()
    rng = np.random.default_rng(1)
    base = walker.base + low_pass(rng.normal(0.0, 1e-3, walker.base.shape), DT, 6.0)
    smoothed, plain = (load_error(solve(walker, method, base=base), walker)
                       for method in ('travelling', 'sole'))
    assert smoothed < 0.6 * plain
    assert load_error(solve(walker), walker) < 1.0


def start_and_walk():
    """Return a walker that stands, takes steps, and stands."""
    places, intervals = [[], []], [[], []]
    for k in range(6):
        places[k % 2].append((0.7 * k, 0.09 if k % 2 == 0 else -0.09))
        intervals[k % 2].append((1.5 + 0.55 * k if k > 1 else -2.5 + 0.5 * k,
                                 2.2 + 0.55 * k + (2.0 if k > 3 else 0.0)))
    return walk(places, intervals, 6.0)


def led(walker, shift):
    """Return the motion with the base elsewhere (3,) or (n, 3) [m], its feet where they are."""
    shift = np.broadcast_to(shift, walker.base.shape)
    joints = walker.position.reshape(len(shift), -1, 4).copy()
    joints[..., :3] -= shift[:, None]
    return RecordedMotion.from_poses(
        walker.model, walker.time, walker.base + shift,
        np.tile([0.0, 0.0, 0.0, 1.0], (len(shift), 1)), joints.reshape(len(shift), -1))


SHORT = {'soles': [FlatFoot(foot.link, -0.08, BACK, SIDE, -SIDE) for foot in WALK.feet],
         'blades': [LineFoot(foot.link, -0.08, BACK) for foot in WALK.feet]}


@pytest.mark.parametrize('wrong', ['base', 'sideways', 'masses', *SHORT])
def test_a_walk_with_a_wrong_model_sits_nowhere(wrong):
    """The centre of pressure leaves the stated soles, and nothing but the feet bears load."""
    walker = start_and_walk()
    motion = led(walker, {'base': [-0.3, 0.0, 0.0], 'sideways': [0.0, 0.25, 0.0]}.get(wrong, 0.0))
    model = RobotModel.from_urdf(description(2, center=0.3 if wrong == 'masses' else 0.0))
    solver = DoubleSupport(model, SHORT.get(wrong, WALK.feet), AIM)
    dynamics = solver.inverse_dynamics(motion)
    found = solver.share(dynamics, walker.contact)
    assert not found.inside_soles.all() and found.supported.all()
    said, = balance_notes(found, dynamics, solver.settings)
    assert 'leaves the stated soles' in said and 'a seat' not in said


def test_a_seat_is_noticed():
    walker = standing()
    found = DoubleSupport(walker.model, walker.feet).solve(led(walker, [-0.4, 0.0, 0.0]))
    assert found.contact.all() and not found.supported.any()
    assert found.force[..., 2].min() >= 0.0
    assert solve(walker).supported.all()


def test_a_seat_before_a_walk_is_noticed():
    """It sits on both feet, then walks: the walk shows that soles and pose are right."""
    walker = start_and_walk()
    seated = 1.0 - smooth((walker.time - 0.7) / 1.2)
    motion = led(walker, np.outer(seated, [0.0, -0.4, 0.0]))
    found = DoubleSupport(walker.model, walker.feet, AIM).solve(motion, walker.contact)
    assert not found.supported[5:70].any() and found.supported[200:].all()


@pytest.mark.parametrize('on_one', [0.5, 0.7, 0.9])
def test_rising_on_one_leg_is_never_worse_than_an_even_split(on_one):
    """Both feet stay, and the load passes to one of them within a second, as in a rise on it."""
    time = np.arange(601) * DT
    on_first = 0.5 + (on_one - 0.5) * smooth(time - 2.0) * (1.0 - smooth(time - 4.0))
    walker = standing(share=np.column_stack([on_first, 1.0 - on_first]))
    rng = np.random.default_rng(7)
    base = walker.base + low_pass(rng.normal(0.0, 3e-4, walker.base.shape), DT, 6.0)
    found = DoubleSupport(walker.model, walker.feet).solve(walker.motion(base))
    error, truth = found.force[..., 2] - walker.force[..., 2], walker.force[..., 2]
    even = truth.mean(axis=1, keepdims=True) - truth
    inner = slice(50, -50)
    assert found.contact.all()
    assert np.std(error[inner]) < max(0.35 * np.std(even[inner]), 0.02 * WEIGHT)
    held = np.abs(error) < 1.96 * found.deviation[..., 2]
    assert held[inner].mean() > 0.9


def test_a_jump_has_a_flight():
    walker = standing(seconds=1.5)
    t = walker.time
    height = HEIGHT + np.clip(0.15 - 0.5 * GRAVITY * (t - 0.75) ** 2, 0.0, None)
    flying = height > HEIGHT
    found = solve(walker, base=np.column_stack([walker.base[:, :2], height]))
    inside = np.flatnonzero(flying)[2:-2]
    assert not found.contact[inside].any() and not found.wrench[inside].any()
    assert found.contact[:50].all() and found.contact[-30:].all()


def test_a_model_with_its_mass_in_the_wrong_place_does_little_harm():
    """The path shares the error, and so the split between feet hardly sees it."""
    model = RobotModel.from_urdf(description(2, center=0.05))
    wrong = DoubleSupport(model, WALK.feet, AIM).solve(WALK.motion())
    together = WALK.contact[INNER].all(axis=1)
    # 0.05 m of 0.7 m between the feet would be 7 %.
    assert load_error(wrong, WALK, together) < 5.5


def test_a_foot_held_still_in_the_air_does_not_stand():
    walker = standing()
    joints = walker.position.reshape(len(walker.time), 2, 4).copy()
    joints[:, 0, 2] += 0.15
    base = walker.base * [1.0, 0.0, 1.0] + [0.0, -0.15, 0.0]
    joints[:, :, :3] += (walker.base - base)[:, None]
    motion = RecordedMotion.from_poses(
        walker.model, walker.time, base, np.tile([0.0, 0.0, 0.0, 1.0], (len(base), 1)),
        joints.reshape(len(base), -1))
    found = DoubleSupport(walker.model, walker.feet).solve(motion)
    assert not found.contact[:, 0].any() and found.contact[:, 1].all()


def test_efforts_follow_from_wrenches_on_any_link():
    model = random_robot(11, 8)
    links = [link for link, (_, pose) in model.frames.items() if np.abs(pose.p).max() > 0.0][:2]
    assert len(links) == 2
    feet = [FlatFoot(link, 0.1, -0.1, 0.05, -0.05) for link in links]
    rng = np.random.default_rng(4)
    motion = RecordedMotion(
        np.arange(3) * 0.01, *rng.normal(size=(3, 3, model.nv)), np.zeros((3, 3)),
        np.tile(np.eye(3), (3, 1, 1)), rng.normal(size=(3, 9)))
    wrench = rng.normal(size=(3, 2, 6))
    found = GaitInverseDynamics.of(model, feet, motion).joint_efforts(wrench)
    solver = ContactInverseDynamics(model, [])
    for t in range(3):
        expected = solver.solve(motion.instant(t), external=dict(zip(links, wrench[t])))
        np.testing.assert_allclose(found[t], expected.joint_effort, atol=1e-11)


def test_the_path_runs_from_heel_to_toe_inside_the_sole():
    motion = WALK.motion()
    dynamics = GaitInverseDynamics.of(WALK.model, WALK.feet, motion)
    settings = GaitSettings.from_parameters()
    path = travelling_reference(dynamics, WALK.contact, settings, soles_of(dynamics, settings))
    whole = [s for s in stances(WALK.contact) if s.landed and s.left]
    assert len(whole) >= 3
    for stance in whole:
        x = path[stance.samples, stance.foot, 0]
        assert x.min() >= BACK and x.max() <= FRONT
        assert x[0] < BACK + 0.03 and x[-1] > FRONT - 0.03
        truth = (WALK.pressure - motion.base_position[:, None, :2])[stance.samples, stance.foot, 0]
        seen = dynamics.points(path)[stance.samples, stance.foot, 0]
        assert np.sqrt(np.mean((seen - truth) ** 2)) < 0.02


def test_thesmooth_transition_is_that_of_its_authors():
    fore_aft, rest = leaving_share(np.array([0.0, 1.0, 2.0]))
    np.testing.assert_allclose(fore_aft, [1.0, np.exp(4 / 9 - 1 / 9) - 0.5 * np.exp(-12 / 9), 0.0],
                               atol=1e-12)
    np.testing.assert_allclose(rest, [1.0, np.exp(-1.0), np.exp(-8.0)])
    contact = np.array([[1, 0]] * 3 + [[1, 1]] * 4 + [[0, 1]] * 3, bool)
    rng = np.random.default_rng(2)
    arms, total = rng.normal(size=(10, 2, 3)), rng.normal(size=(10, 6))
    forward = np.tile([1.0, 0.0, 0.0], (10, 1))
    wrench, said = smooth_transition(contact, arms, total, forward)
    assert said.all()
    both = np.hstack([wrench[..., :3].sum(axis=1),
                      (wrench[..., 3:] + np.cross(arms, wrench[..., :3])).sum(axis=1)])
    np.testing.assert_allclose(both, total, atol=1e-12)
    kept = wrench[3:7, 0, 2] / wrench[2, 0, 2]
    assert (np.diff(kept) < 0.0).all() and 0.9 < kept[0] < 1.0 and kept[-1] < 0.1
    _, said = smooth_transition(np.ones((10, 2), bool), arms, total, forward)
    assert not said.any()


def test_poses_are_differentiated():
    """A base that turns and moves in known ways, and the same from its own IMU."""
    model = RobotModel('ball', {'ball': Inertia(1.0, np.zeros(3), np.eye(3))}, [])
    t = np.arange(400) * 0.005
    w = np.array([0.5, -1.0, 2.0])
    R = np.array([rotation_from_vector(w * s) for s in t])
    p = np.column_stack([np.sin(3 * t), np.cos(2 * t), 0.5 * t ** 2])
    a = np.column_stack([-9 * np.sin(3 * t), -4 * np.cos(2 * t), np.ones(400)])
    xyzw = np.array([np.append(np.sin(np.linalg.norm(w) * s / 2) * w / np.linalg.norm(w),
                               np.cos(np.linalg.norm(w) * s / 2)) for s in t])
    xyzw[::7] *= -1.0
    none = np.zeros((400, 0))
    found = RecordedMotion.from_poses(model, t, p, xyzw, none)
    proper = np.einsum('nji,nj->ni', R, np.add(a, [0.0, 0.0, GRAVITY]))
    np.testing.assert_allclose(found.base_motion[5:-5, :3], np.tile(w, (390, 1)), atol=1e-9)
    np.testing.assert_allclose(found.base_motion[5:-5, 3:6], 0.0, atol=1e-7)
    np.testing.assert_allclose(found.base_motion[5:-5, 6:], proper[5:-5], atol=1e-3)
    filtered = RecordedMotion.from_poses(model, t, p, xyzw, none, cutoff=20.0)
    np.testing.assert_allclose(filtered.base_rotation[50:-50], R[50:-50], atol=1e-3)
    mount = Transform(rotation_from_vector(np.array([0.3, 0.2, -1.0])), np.array([0.1, 0.2, -0.3]))
    at_imu = proper + np.cross(w, np.cross(w, mount.p))
    turned = np.array([np.append(*np.split(_product(q, mount.R), [3])) for q in xyzw])
    sensed = RecordedMotion.from_inertial(model, t, p, turned, np.tile(w, (400, 1)) @ mount.R,
                                          at_imu @ mount.R, mount, none)
    np.testing.assert_allclose(sensed.base_motion[5:-5], found.base_motion[5:-5], atol=1e-3)
    np.testing.assert_allclose(sensed.base_rotation, R, atol=1e-9)


def _product(xyzw, R):
    from scipy.spatial.transform import Rotation
    return (Rotation.from_quat(xyzw) * Rotation.from_matrix(R)).as_quat()


def test_the_low_pass_keeps_the_acceleration_at_the_ends():
    """A cubic has no high frequencies, so its acceleration stays, to the last sample."""
    t = np.arange(0, 0.6, 0.01)
    path = np.column_stack([0.3 * t ** 2, 1.0 + t - 2.0 * t ** 3])
    before = np.diff(path, 2, axis=0)
    error = np.diff(low_pass(path, 0.01, 8.0), 2, axis=0) - before
    assert (np.abs(error).max(axis=0) < 0.01 * np.abs(before).max(axis=0)).all()


def test_the_low_pass_has_its_corner_where_it_says():
    t = np.arange(2000) * 0.01
    for frequency, gain in ((1.0, 1.0), (6.0, np.sqrt(0.5)), (20.0, 0.0)):
        wave = low_pass(np.sin(2 * np.pi * frequency * t), 0.01, 6.0)
        assert np.sqrt(2.0 * np.mean(wave[200:-200] ** 2)) == pytest.approx(gain, abs=0.015)


def test_clear_words():
    motion = WALK.motion()
    solver = DoubleSupport(WALK.model, WALK.feet)
    with pytest.raises(ConfigurationError, match="method out of travelling, .* got 'best'"):
        solver.solve(motion, method='best')
    with pytest.raises(MeasurementError, match=r'contact flags of shape \(261, 2\), got \(261,\)'):
        solver.solve(motion, np.ones(261))
    with pytest.raises(ConfigurationError, match='at least one foot'):
        DoubleSupport(WALK.model, [])
    with pytest.raises(ConfigurationError, match='Did you mean stance.clearance'):
        DoubleSupport(WALK.model, WALK.feet, {'stance.clearence': 0.1})
    time = WALK.time.copy()
    time[100:] += 0.5
    with pytest.raises(MeasurementError, match=r'odd step after 0.99 s \(1 in all\)'):
        RecordedMotion.from_poses(WALK.model, time, WALK.base, np.tile(
            [0.0, 0.0, 0.0, 1.0], (261, 1)), WALK.position)
    with pytest.raises(MeasurementError, match='above 0 and below'):
        low_pass(WALK.base, DT, 60.0)
