# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Walking: gaits, footholds by the pendulum, swinging legs by their kinematics, whole walks."""
import math
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from benchmarks.walking import commands
from benchmarks.walking_robots import Laboratory, Push, bumps, walk
from benchmarks.zoo.robots import robot
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import LegOdometry, Measurement
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.standing import body_poses, link_pose
from legged_dynamics.spatial.rotations import rotation_from_vector
from legged_dynamics.workspace import BodyTarget, WorkspaceController
from legged_dynamics.workspace.controller import LegPlan
from legged_dynamics.workspace.prediction import StatePredictor
from legged_dynamics.workspace.walking import Walking, make_walker
from legged_dynamics.workspace.walking.footholds import fall, fit_plane, pendulum_step
from legged_dynamics.workspace.walking.gaits import (
    GAITS,
    fastest,
    offsets_of,
    part_walked,
    rows_of,
)
from legged_dynamics.workspace.walking.supervisor import TRANSITIONS
from legged_dynamics.workspace.walking.swing import (
    SwingLegs,
    SwingPath,
    keep_within,
    learn_friction,
)

FOUR = np.array([[0.3, 0.2], [0.3, -0.2], [-0.3, 0.2], [-0.3, -0.2]])
SIX = np.array([[x, y] for x in (0.2, 0.0, -0.2) for y in (0.15, -0.15)])
TWO = np.array([[0.0, 0.1], [0.0, -0.1]])


def standing(gait, places, phase):
    return (phase + offsets_of(gait, places)) % 1.0 < GAITS[gait].duty


@pytest.mark.parametrize(('gait', 'places', 'least'), [
    ('trot', FOUR, 2), ('tripod', SIX, 3), ('walk', FOUR, 3), ('crawl', FOUR, 3),
    ('wave', SIX, 5), ('steps', TWO, 1)])
def test_a_gait_always_leaves_its_feet_on_the_ground(gait, places, least):
    counts = [standing(gait, places, phase).sum() for phase in np.linspace(0.0, 1.0, 997)]
    assert min(counts) == least
    assert max(counts) == len(places) or gait in ('crawl', 'wave', 'walk')


def test_diagonal_feet_of_a_trot_swing_together_and_every_second_foot_of_a_tripod():
    trot, tripod = offsets_of('trot', FOUR), offsets_of('tripod', SIX)
    assert trot[0] == trot[3] != trot[1] == trot[2]
    row, side = rows_of(SIX).T
    assert len(set(tripod[(row + side) % 2 == 0])) == len(set(tripod[(row + side) % 2 == 1])) == 1


def test_a_crawl_goes_from_rear_to_front_on_each_side():
    # A foot lifts when its phase reaches the duty; sorted by that, rear left, front left, ...
    order = np.argsort((GAITS['crawl'].duty - offsets_of('crawl', FOUR)) % 1.0)
    around = [int(i) for i in np.roll(order, -int(np.flatnonzero(order == 2)[0]))]
    assert around == [2, 0, 3, 1]


def test_gaits_that_a_robot_cannot_use_are_refused():
    with pytest.raises(ConfigurationError, match='expected a gait among'):
        offsets_of('gallop', FOUR)
    with pytest.raises(ConfigurationError, match='2 feet'):
        offsets_of('trot', TWO)


@pytest.mark.parametrize('wanted', [0.0, 0.3, -0.6])
def test_a_pendulum_takes_on_the_wanted_speed_within_one_step(wanted):
    height, time = 0.5, 0.33
    omega = math.sqrt(GRAVITY / height)
    x, v, ends = 0.0, 0.45, [0.0]
    for _ in range(6):
        # Between steps the pendulum of height h above p obeys xdd = omega^2 (x - p).
        p = x + float(pendulum_step(np.array([v, 0.0]), np.array([wanted, 0.0]), omega, time,
                                    1.0)[0])
        c, s = math.cosh(omega * time), math.sinh(omega * time)
        x, v = p + (x - p) * c + v * s / omega, (x - p) * omega * s + v * c
        ends.append(x)
    assert np.diff(ends)[1:] / time == pytest.approx(wanted, abs=1e-9)


def test_a_part_of_the_error_stays_when_less_is_asked_for():
    height, time, capture = 0.5, 0.33, 0.6
    omega = math.sqrt(GRAVITY / height)
    p = float(pendulum_step(np.array([0.4, 0.0]), np.zeros(2), omega, time, capture)[0])
    v = -p * omega * math.sinh(omega * time) + 0.4 * math.cosh(omega * time)
    assert v == pytest.approx((1.0 - capture) * 0.4)


def test_the_plane_of_a_slope_is_found():
    points = np.column_stack([FOUR, 0.2 + 0.1 * FOUR[:, 0] - 0.2 * FOUR[:, 1]])
    assert fit_plane(points, 0.0) == pytest.approx((0.1, -0.2, 0.2))
    # Feet of a stance tell a slope as it is, also one that is far from level.
    assert fit_plane(points, 0.034) == pytest.approx((0.1, -0.2, 0.2), rel=0.02)
    on_a_point = np.tile([1.0, 2.0, 0.3], (4, 1))
    assert fit_plane(on_a_point, 0.03) == pytest.approx((0.0, 0.0, 0.3))


def test_a_foot_swings_over_the_ground_to_its_foothold_and_rests_there():
    start, goal, T, dt = np.array([0.1, 0.2, 0.03]), np.array([0.3, 0.15, 0.05]), 0.3, 1e-3
    path, rows = SwingPath(start, 0.08), []
    for k in range(round(T / dt) + 1):
        rows.append(path.advance(goal, k * dt / T, T - k * dt, T, dt))
    x, v, a = np.split(np.array(rows), 3, axis=1)
    assert np.abs(np.diff(x, axis=0) / dt - 0.5 * (v[1:] + v[:-1]))[:-25].max() < 2e-3
    assert np.abs(np.diff(v, axis=0) / dt - 0.5 * (a[1:] + a[:-1]))[:-25].max() < 0.15
    assert x[-1] == pytest.approx(goal, abs=2e-3)
    assert v[-1] == pytest.approx(0.0, abs=1e-9)
    assert x[:, 2].max() == pytest.approx(0.5 * (start[2] + goal[2]) + 0.08, abs=2e-3)


def test_a_foot_that_runs_into_an_edge_rises_and_still_lands_on_its_foothold():
    start, goal, T, dt = np.zeros(3), np.array([0.2, 0.0, 0.0]), 0.3, 1e-3
    path, rows = SwingPath(start, 0.08), []
    for k in range(round(T / dt) + 1):
        if 100 <= k < 140:
            path.rise(2e-3, 0.12)       # as far as it may
        rows.append(path.advance(goal, k * dt / T, T - k * dt, T, dt)[:3].copy())
    assert np.array(rows)[:, 2].max() == pytest.approx(0.12, abs=2e-3)
    assert rows[-1] == pytest.approx(goal, abs=2e-3)


def test_the_moment_of_the_integral_stays_when_a_robot_begins_to_step(anymal):
    model, config = anymal.known, anymal.config
    state = LegOdometry(model, config).update(Measurement(0, q := config.nominal_in(model),
                                                          np.zeros(12)))
    leaning = BodyTarget.of(state.position, rotation_from_vector(np.array(
        [0.02, 0.0, 0.0])) @ state.rotation)
    controller, efforts = WorkspaceController(model, config), []
    for k in range(400):
        plan = LegPlan(np.ones(4, bool), np.full(4, np.inf), np.full(12, np.nan), k >= 398)
        answer = controller.update(state, Measurement(k * 2_000_000, q, np.zeros(12)), leaning,
                                   legs=plan)
        efforts.append(answer.effort)
    early, late = efforts[-3] - efforts[0], efforts[-2] - efforts[-3]
    assert np.abs(early).max() > 1.0
    assert np.abs(late).max() < 0.02 * np.abs(early).max()


def test_the_force_of_the_integral_stays_when_a_body_begins_to_fall_between_footholds(anymal):
    model, config = anymal.known, anymal.config
    state = LegOdometry(model, config).update(Measurement(0, q := config.nominal_in(model),
                                                          np.zeros(12)))
    here = BodyTarget.of(state.position, state.rotation)
    ahead = BodyTarget.of(state.position + np.array([0.03, 0.0, 0.0]), state.rotation)
    controller, forces = WorkspaceController(model, config), []
    for k in range(402):
        plan = LegPlan(np.ones(4, bool), np.full(4, np.inf), np.full(12, np.nan), True,
                       falling=k >= 401)
        controller.update(state, Measurement(k * 2_000_000, q, np.zeros(12)),
                          here if k in (0, 400, 401) else ahead, legs=plan)
        forces.append(sum(controller.forces().values())[0])
    pull = forces[400] - forces[0]
    assert pull > 0.05 * model.total_mass
    assert forces[401] - forces[0] == pytest.approx(pull, rel=0.02)


def test_efforts_of_a_walk_stay_below_their_part_of_the_limits(anymal):
    model, config = anymal.known, anymal.config
    state = LegOdometry(model, config).update(Measurement(0, q := config.nominal_in(model),
                                                          np.zeros(12)))
    faster = BodyTarget.of(state.position, state.rotation, acceleration=np.array(
        [0.0, 0.0, 6.0, 0.0, 0.0, 0.0]))
    used = []
    for fraction in (1.0, 0.3, 1.0):
        plan = LegPlan(np.ones(4, bool), np.full(4, np.inf), np.full(12, np.nan),
                       effort_fraction=fraction)
        answer = WorkspaceController(model, config).update(
            state, Measurement(0, q, np.zeros(12)), faster, legs=plan)
        used.append(np.abs(answer.effort / model.effort_limits).max())
    assert used[0] == used[2] > 0.35
    assert used[1] == pytest.approx(0.3, abs=1e-6)


@pytest.mark.parametrize('gait', [name for name in GAITS if name != 'stand'])
def test_only_mean_velocities_of_those_tried_are_walked(gait):
    most = np.array(fastest(gait))
    signs = np.array(list(product((1.0, -1.0), repeat=3)))
    tried = (np.array(GAITS[gait].tried)[:, None] * signs).reshape(-1, 3) / most

    def among(velocity):
        n = len(tried)
        return linprog(np.zeros(n), A_eq=np.vstack([tried.T, np.ones(n)]),
                       b_eq=[*velocity, 1.0], bounds=(0.0, None)).success
    for velocity in tried:      # to the last bit
        assert part_walked(gait, tuple(velocity)) == 1.0
    rng = np.random.default_rng(1)
    for velocity in [np.array([0.6, 0.3, 0.6]) / most, *rng.normal(0.0, 1.5, (60, 3))]:
        part = part_walked(gait, tuple(velocity))
        assert among(velocity * part * (1.0 - 1e-6))
        assert part == 1.0 or not among(velocity * part * 1.001)


@pytest.mark.parametrize(('fast', 'turning'), [(0.0, 0.0), (0.3, 0.0), (0.0, 1.2)])
def test_a_walker_is_as_fast_as_its_settings_say_and_tells_which_part_it_walks(
        anymal, fast, turning):
    walker = make_walker(anymal.known, anymal.config, {
        'gait': 'trot', 'walking.speed': fast, 'walking.turning': turning})
    assert walker.fastest == pytest.approx((fast or 0.9, fast / 3 or 0.3, turning or 0.6))
    for axis, most in enumerate(walker.fastest):
        assert walker.command(*(4.0 * most * np.eye(3)[axis])) == pytest.approx(0.25)
        assert walker.command(*(0.9 * most * np.eye(3)[axis])) == 1.0


def test_the_benchmark_walks_all_that_gaits_are_tried_with():
    for gait in set(GAITS) - {'stand'}:
        asked = commands(gait, 10.0)
        assert {asked(t) for t in np.linspace(0.0, 10.0, 101)} == set(GAITS[gait].tried)


def test_a_command_that_takes_a_foot_out_of_its_reach_is_slowed_down(anymal):
    model, config = anymal.known, anymal.config
    measurement = Measurement(0, config.nominal_in(model), np.zeros(12))
    state = LegOdometry(model, config).update(measurement)
    walker = make_walker(model, config, {'gait': 'crawl', 'walking.cycle': 2.0,
                                         'walking.duty': 0.9, 'walking.speed': 2.0,
                                         'walking.turning': 4.0})
    for k in range(1000):
        walker.command(0.4, 0.0, 0.8)
        plan = walker.update(state, replace(measurement, stamp_ns=k * 2_000_000),
                             np.ones(4, bool), np.zeros((4, 3)))
    feet = state.foot_position[:, :2] - state.foot_position[:, :2].mean(axis=0)
    turning = plan.target.twist[5]
    # Both parts of the command are as much smaller: the speed is half of the turning rate.
    way = (0.5 * turning + turning * np.linalg.norm(feet, axis=1).max()) * 2.0 * 0.9
    assert way == pytest.approx(walker.height, rel=0.02)


def test_a_fast_trot_steps_quicker_so_that_no_foot_goes_further_than_the_body_is_high(anymal):
    model, config = anymal.known, anymal.config
    measurement = Measurement(0, config.nominal_in(model), np.zeros(12))
    state = LegOdometry(model, config).update(measurement)
    walker = make_walker(model, config, {'gait': 'trot', 'walking.speed': 2.0, 'walking.duty': 0.6,
                                         'walking.acceleration': 2.0})
    bearing, speed = [], []
    for k in range(2000):
        walker.command(1.7 if k > 600 else 0.5, 0.0, 0.0)
        plan = walker.update(state, replace(measurement, stamp_ns=k * 2_000_000),
                             np.ones(4, bool), np.zeros((4, 3)))
        bearing.append(plan.legs.bearing[0])
        speed.append(plan.target.twist[0])
    lifts = np.flatnonzero(np.diff(np.array(bearing, int)) < 0)
    cycles = np.diff(lifts) * 0.002
    slow, fast = cycles[lifts[1:] < 600].mean(), cycles[lifts[:-1] > 1200].mean()
    assert speed[-1] == pytest.approx(1.7, abs=1e-6)
    assert fast < 0.95 * slow
    assert 1.7 * 0.6 * fast == pytest.approx(walker.height, rel=0.02)


@pytest.fixture(scope='module')
def anymal():
    return Laboratory('anymal_class')


def test_a_robot_with_a_joint_that_follows_another_stands_in_the_laboratory():
    """A tail that is in no list of the YAML is held where it starts, as the robot stands."""
    zoo = robot('anymal_class')
    leg = zoo.config.joints[1]
    tail = (f'<link name="tail"><inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" '
            'izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="tail" '
            f'type="revolute"><parent link="{zoo.model.base_link}"/><child link="tail"/>'
            '<origin xyz="-0.4 0 0.1"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" '
            f'effort="20" velocity="9"/><mimic joint="{leg}" multiplier="0.5"/></joint></robot>')
    tailed = Laboratory(replace(zoo, urdf=zoo.urdf.replace('</robot>', tail)))
    start = tailed.config.nominal_in(tailed.known)
    assert start[tailed.joints.index('tail')] == pytest.approx(
        0.5 * start[tailed.joints.index(leg)])
    found = walk(tailed, 'trot', lambda t: (0.0, 0.0, 0.0), 1.0, stop=0.5)
    assert not found.fallen and not tailed.fallen
    position = tailed.data.qpos[tailed._qpos][tailed.joints.index('tail')]
    assert position == pytest.approx(start[tailed.joints.index('tail')], abs=0.05)


def test_swinging_legs_accelerate_their_feet_as_wanted(anymal):
    """Of joints so accelerated the feet have that acceleration, by differences of positions."""
    rng, model, config = np.random.default_rng(4), anymal.known, anymal.config
    q = np.array([0.1, 0.5, -0.9, -0.1, 0.4, -0.8, 0.05, -0.4, 0.8, 0.0, -0.5, 0.9])
    q = q[[config.joints.index(name) for name in model.joint_names]]
    v, twist = rng.normal(0.0, 1.0, 12), rng.normal(0.0, 0.5, 6)
    R, p = rotation_from_vector(np.array([0.1, -0.2, 0.4])), np.array([0.2, 0.1, 0.5])
    legs = SwingLegs(model, config.feet, [0, 3])
    motions = [rng.normal(0.0, 0.3, 9) for _ in legs.members]
    moved = np.full(12, np.nan)
    gains = (900.0, 60.0)
    goals = np.array([[*motion, *R.ravel()] for motion in motions])
    legs.accelerations(np.concatenate([R.ravel(), p, twist]), q, v, goals, 30.0, moved)
    assert np.isnan(moved).sum() == 6

    def places(t):
        # The base moves with a constant classical velocity of its origin and a constant rate.
        turned = R @ rotation_from_vector(t * twist[3:])
        bodies = body_poses(model, q + t * v + 0.5 * t * t * np.nan_to_num(moved))
        here = np.array([link_pose(model, bodies, config.feet[i].link).p for i in legs.members])
        return p + t * (R @ twist[:3]) + here @ turned.T
    h = 1e-4
    velocity = (places(h) - places(-h)) / (2.0 * h)
    acceleration = (places(h) - 2.0 * places(0.0) + places(-h)) / h ** 2
    for i, motion in enumerate(motions):
        wanted = (motion[6:] + gains[1] * (motion[3:6] - velocity[i])
                  + gains[0] * (motion[:3] - places(0.0)[i]))
        assert acceleration[i] == pytest.approx(wanted, abs=1e-3 * np.abs(wanted).max())


def test_no_foot_gets_more_than_its_limit_and_the_others_bear_the_rest(anymal):
    model, config = anymal.known, anymal.config
    controller, odometry = WorkspaceController(model, config), LegOdometry(model, config)
    q = np.array([dict(zip(config.joints, config.nominal_position))[name]
                  for name in model.joint_names])
    measurement = Measurement(0, q, np.zeros(12), None, np.zeros(3), np.array([0.0, 0.0, GRAVITY]),
                              np.array([0.0, 0.0, 0.0, 1.0]))
    state = odometry.update(measurement)
    weight = model.total_mass * GRAVITY
    target = BodyTarget.of(state.position, state.rotation)
    free = controller.update(state, measurement, target)
    most = np.full(4, np.inf)
    most[2] = 0.1 * weight
    plan = LegPlan(np.ones(4, bool), most, np.full(12, np.nan))
    answer = controller.update(state, measurement, target, legs=plan)
    up = np.array([f[2] for f in controller.forces().values()])
    assert np.linalg.norm(free.foot_wrench[2, :3]) > 0.2 * weight
    assert up[2] == pytest.approx(0.1 * weight, rel=1e-6)
    assert up.sum() == pytest.approx(weight, rel=1e-3)
    assert answer.unbalanced == pytest.approx(0.0, abs=1e-3 * weight)


@pytest.mark.parametrize('dry', [0.0, 0.6])
def test_friction_that_a_swinging_joint_feels_is_learned_and_compensated_where_it_bears(dry):
    """A mass slides on a rough floor (Coulomb) by feedback and by what it learns."""
    dt, mass, w, x, v = 0.002, 0.3, 30.0, 0.0, 0.0
    friction, seen, effort = np.zeros(1), np.zeros(1), np.zeros(1)
    inertia, most = np.array([mass]), np.array([2.0])

    def tick(learnt, moved, speed):
        learn_friction(np.array(learnt)[:, None], np.array([moved]), np.array([speed]), dt,
                       (6.0, 0.15, 0.8), (inertia, most, seen, friction), effort)
        return effort[0]
    for k in range(1000):
        t = k * dt
        goal, pace = 0.5 * math.sin(6.0 * t), 3.0 * math.cos(6.0 * t)
        pull = -36.0 * goal
        correction = 2.0 * w * (pace - v) + w * w * (goal - x)
        pushed = mass * (pull + correction) + tick([correction, pace], pull + correction, v)
        after = v + dt * pushed / mass
        v = math.copysign(max(abs(after) - dt * dry / mass, 0.0), after)
        x += dt * v
        if k == 150:
            assert friction[0] == pytest.approx(dry, abs=0.2)
    assert friction[0] == pytest.approx(dry, abs=0.06)
    # In a leg that bears: against the friction, never more than there is, and nothing is learned.
    known = friction[0]
    for speed in (-2.0, -0.02, 0.0, 0.02, 2.0):
        against = tick([5.0, 1.0], np.nan, speed)
        assert against * speed >= 0.0
        assert abs(against) <= 0.8 * known + 1e-12
    assert against == pytest.approx(0.8 * known)
    assert friction[0] == known


# -------------------------------------------------------------------------------------------------


def judge(found, wanted, first=2.5, last=4.5):
    assert not found.cause
    here = found.between(first, last)
    assert found.velocity[here].mean(axis=0) == pytest.approx(wanted, abs=0.05)
    assert np.abs(found.position[here, 2] - found.height).max() < 0.02
    assert np.degrees(np.hypot(*found.rpy[here, :2].T)).max() < 5.0
    way = found.position[here][-1, :2] - found.position[here][0, :2]
    seen = found.estimated[here][-1, :2] - found.estimated[here][0, :2]
    length = np.linalg.norm(np.diff(found.position[here, :2], axis=0), axis=1).sum()
    assert np.linalg.norm(seen - way) < max(0.02 * length, 0.005)


def test_it_trots_with_the_commanded_velocity():
    wanted = (0.4, 0.1, 0.3)
    judge(walk(Laboratory('anymal_class'), 'trot', lambda t: wanted, 6.0), wanted)


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'gait', 'wanted'), [
    ('solo_class', 'trot', (0.3, 0.0, -0.4)), ('solo_class', 'crawl', (0.08, 0.0, 0.1)),
    ('anymal_class', 'walk', (0.15, 0.0, 0.0)), ('quadruped', 'trot', (0.2, 0.0, 0.0))])
def test_it_walks_in_other_gaits(name, gait, wanted):
    friction = 0.005 if name == 'quadruped' else 0.03
    judge(walk(Laboratory(name, friction=friction), gait, lambda t: wanted, 6.5), wanted)


@pytest.mark.slow
def test_feet_that_swing_alone_set_off_without_haste():
    found = walk(Laboratory('anymal_class'), 'walk', lambda t: (0.25, 0.0, 0.0), 5.5)
    assert not found.cause
    # A body that outran its feet would catch up at twice the commanded speed, and stumble.
    assert np.hypot(*found.rpy[:, :2].T).max() < np.radians(4.0)
    assert found.velocity[:, 0].max() < 2.2 * 0.25
    # What it has not gone in its first cycle it does not make up for in the next.
    first, second, third = (np.flatnonzero(found.bearing[:-1, 0] & ~found.bearing[1:, 0]) + 1)[:3]
    assert found.velocity[first:second, 0].mean() < 0.25
    assert found.velocity[second:third, 0].mean() == pytest.approx(0.25, rel=0.05)


@pytest.mark.slow
def test_it_walks_over_steps_that_it_does_not_know():
    found = walk(Laboratory('anymal_class', scenery=bumps(0.04)), 'trot',
                 lambda t: (0.35, 0.0, 0.0), 6.5)
    assert not found.cause
    assert found.position[:, 2].max() > found.height + 0.02
    # Within the limits of a walk, also where it comes to a stand.
    assert found.effort[found.between(1.5, 6.5)].max() < 0.801


@pytest.mark.slow
@pytest.mark.parametrize('side', [(0.4, 0.0, 0.0), (0.0, -0.4, 0.0)])
def test_a_push_while_it_trots_does_not_fell_it(side):
    found = walk(Laboratory('anymal_class'), 'trot', lambda t: (0.2, 0.0, 0.0), 6.0,
                 [Push(2.5, 0.2, side)])
    assert not found.cause
    late = found.between(3.79, 4.5)     # a cycle
    assert found.velocity[late].mean(axis=0) == pytest.approx((0.2, 0.0, 0.0), abs=0.05)


def test_a_standing_robot_keeps_all_its_feet_when_it_is_pushed():
    found = walk(Laboratory('anymal_class'), 'stand', lambda t: (0.0, 0.0, 0.0), 3.5,
                 [Push(1.2, 0.3, (0.4, 0.0, 0.0))])
    assert not found.cause
    assert found.bearing.all()
    away = found.position - found.position[found.between(1.0, 1.2)].mean(axis=0)
    assert 0.01 < np.linalg.norm(away, axis=1).max() < 0.06
    assert np.linalg.norm(away[-50:], axis=1).max() < 0.03


@pytest.mark.slow
def test_a_push_that_leaves_the_support_is_recovered_by_steps():
    push = [Push(1.2, 0.3, (0.0, 0.6, 0.0))]
    stays = walk(Laboratory('solo_class'), 'stand', lambda t: (0.0, 0.0, 0.0), 3.0, push,
                 {'walking.recovery': False})
    assert stays.cause
    steps = walk(Laboratory('solo_class'), 'stand', lambda t: (0.0, 0.0, 0.0), 4.0, push)
    assert not steps.cause
    assert not steps.bearing.all()
    # At rest again, on all feet, where the steps have brought it.
    last = steps.between(3.8, 4.0)
    assert steps.bearing[last].all()
    assert np.abs(steps.velocity[last]).max() < 0.1
    assert np.linalg.norm(steps.position[-1, :2] - steps.position[0, :2]) > 0.1


@pytest.mark.parametrize('time', [0.05, 0.3])
def test_a_falling_pendulum_is_where_its_equation_brings_it(time):
    place, velocity = np.array([0.02, -0.01]), np.array([0.3, 0.1])
    pressure = np.array([0.0, 0.03])
    x, v, dt = place.copy(), velocity.copy(), 1e-5
    for _ in range(round(time / dt)):
        v += dt * GRAVITY / 0.4 * (x - pressure)
        x += dt * v
    then, fast = fall(place, velocity, pressure, math.sqrt(GRAVITY / 0.4), time)
    assert then == pytest.approx(x, abs=1e-4)
    assert fast == pytest.approx(v, abs=1e-3)


def test_a_trot_brings_feet_nearer_to_their_hips_where_efforts_are_large(anymal):
    """The part is what the legs' own statics say: half the weight on a foot, by Jacobians."""
    model, config = anymal.known, anymal.config
    q = anymal.data.qpos[anymal._qpos].copy()
    poses = body_poses(model, q)
    places = np.array([link_pose(model, poses, foot.link).p for foot in config.feet])
    legs, weight = SwingLegs(model, config.feet, range(4)), model.total_mass * GRAVITY
    scale = np.array([0.8, 1.0, 1.0])
    here, _ = legs.effort_at(q, places, 0.5 * weight, model.effort_limits)
    nearer, there = legs.effort_at(q, places.mean(axis=0) + (places - places.mean(axis=0)) * scale,
                                   0.5 * weight, model.effort_limits)
    assert nearer < here < 1.0
    found = np.array([link_pose(model, body_poses(model, there), foot.link).p
                      for foot in config.feet])
    assert found[:, 0] == pytest.approx(places[:, 0].mean() + 0.8 * (
        places[:, 0] - places[:, 0].mean()), abs=2e-3)
    # Virtual work: the effort is the change of the foot's height with the joint, times the force.
    step, efforts = 1e-5, np.zeros(len(q))
    for j in range(len(q)):
        moved = q.copy()
        moved[j] += step
        up = [link_pose(model, body_poses(model, moved), foot.link).p[2] for foot in config.feet]
        efforts[j] = np.abs(np.array(up) - places[:, 2]).max() / step * 0.5 * weight
    worst = max(np.linalg.norm(efforts[leg] / model.effort_limits[leg], 4)
                for leg in np.arange(12).reshape(4, 3))
    assert here == pytest.approx(worst, rel=1e-3)
    far, _ = legs.effort_at(q, places * [3.0, 3.0, 1.0], 0.5 * weight, model.effort_limits)
    assert far == np.inf


@dataclass
class SimpleState:
    """What a predictor moves."""

    stamp_ns: int
    position: np.ndarray
    rotation: np.ndarray
    twist: np.ndarray


@pytest.mark.parametrize('age', [0.004, 0.02])
def test_a_state_is_carried_over_the_time_to_the_motors_by_the_commands_before(age):
    """Base and joints that get known accelerations are where their integral brings them."""
    rng, dt = np.random.default_rng(5), 0.002
    commands, predictor = rng.normal(0.0, 3.0, (40, 8)), StatePredictor()
    late, fine = round(age / dt), 200
    position, speed, v = np.zeros(3), np.array([0.3, -0.1, 0.05]), np.array([0.5, -0.4])
    q, states = np.zeros(2), []
    for k in range(40):
        state = SimpleState(k * 2_000_000, position.copy(), np.eye(3), np.append(speed, [0.0] * 3))
        states.append((state, Measurement(k * 2_000_000, q.copy(), v.copy())))
        a = np.zeros(8) if k < late else commands[k - late]
        for _ in range(fine):
            h = dt / fine
            position, q = position + h * speed, q + h * v
            speed, v = speed + h * a[:3], v + h * a[6:]
    for k in range(40 - late):
        if k:
            predictor.note((k - 1 + late) * 2_000_000, np.concatenate(
                [commands[k - 1][:3], np.zeros(3), commands[k - 1][6:]]))
        if k > late:
            state, measurement = predictor.predict(*states[k], age)
            then, later = states[k + late]
            assert state.position == pytest.approx(then.position, abs=2e-5)
            assert state.twist[:3] == pytest.approx(then.twist[:3], abs=1e-9)
            assert measurement.position == pytest.approx(later.position, abs=2e-5)
            assert measurement.velocity == pytest.approx(later.velocity, abs=1e-9)


def test_a_loop_that_is_too_old_slows_a_trot_down_and_halts_it(anymal):
    model, config = anymal.known, anymal.config
    measurement = Measurement(0, config.nominal_in(model), np.zeros(12))
    state = LegOdometry(model, config).update(measurement)
    walker = make_walker(model, config, {'gait': 'trot', 'walking.acceleration': 5.0})
    bears, stamp = GAITS['trot'].delay, 0
    for part, wanted in ((0.4, 0.4), (0.625, 0.2), (0.8, 0.0), (0.6, 0.0), (0.4, 0.4)):
        walker.age = part * bears
        for _ in range(300):
            stamp += 2_000_000
            walker.command(0.4, 0.0, 0.0)
            walker.update(state, replace(measurement, stamp_ns=stamp), np.ones(4, bool),
                          np.zeros((4, 3)))
        assert walker.velocity[0] == pytest.approx(wanted, abs=1e-6)
        assert ('bears 35 ms' in walker.troubles) == (part > 0.5)


@pytest.mark.parametrize(('speed', 'age', 'lifts'), [
    (0.4, 0.03, False), (0.4, 0.0, True), (2.0, 0.03, True), (0.05, 0.0, False)])
def test_a_late_loop_halts_without_a_step_where_its_feet_hold_the_body(anymal, speed, age, lifts):
    """Its capture point, v / omega ahead, is within the feet, or beyond them."""
    model, config = anymal.known, anymal.config
    measurement = Measurement(0, config.nominal_in(model), np.zeros(12))
    state = LegOdometry(model, config).update(measurement)
    walker = make_walker(model, config, {'gait': 'trot'})
    walker.update(state, measurement, np.ones(4, bool), np.zeros((4, 3)))
    walker._supervisor.state, walker.age = Walking.HALT, age
    state = replace(state, twist=np.array([speed, 0.0, 0.0, 0.0, 0.0, 0.0]))
    assert walker._lifting(state, walker._stance.pendulum(state)) == lifts


def test_a_state_is_carried_over_a_time_that_has_just_changed():
    """What acted until now is known by when it began to act, not by how old its sample was."""
    predictor, state = StatePredictor(), SimpleState(0, np.zeros(3), np.eye(3), np.zeros(6))
    for ms in range(0, 40, 2):      # of samples that were not late
        for a in (7.0, 1.0 if ms < 10 else 3.0):    # two samples came at once
            predictor.note(ms * 1_000_000, a * np.eye(8)[0])
    state, _ = predictor.predict(state, Measurement(0, np.zeros(2), np.zeros(2)), 0.03)
    assert state.twist[0] == pytest.approx(0.01 + 3.0 * 0.02)


@pytest.mark.parametrize('side', [1.0, -1.0, 1j, -1j])
def test_a_foothold_beyond_the_reach_of_a_leg_is_shortened_to_it_and_said(anymal, side):
    model, config = anymal.known, anymal.config
    measurement = Measurement(0, config.nominal_in(model), np.zeros(12))
    state = LegOdometry(model, config).update(measurement)
    walker = make_walker(model, config, {'gait': 'trot'})
    walker.update(state, measurement, np.ones(4, bool), np.zeros((4, 3)))
    steps, feet = walker._footholds, walker._stance.feet
    hip = complex(*feet[0, :2])
    assert steps.reachable(0, hip + 0.02 * side, 0j, 0.0) == hip + 0.02 * side
    assert not steps.shortened
    place = steps.reachable(0, hip + side, 0j, 0.0)
    assert steps.shortened == {0}
    assert abs(place - hip) < 0.6 * walker.height
    # There the leg can stand, within its joints' limits.
    places = feet.copy()
    places[0, :2] = place.real, place.imag
    q, reached = walker._swing.legs(range(4)).standing_at(measurement.position, places)
    assert reached[0]
    leg = np.arange(12)[[name.startswith(config.feet[0].link[:2]) for name in model.joint_names]]
    low, high = model.position_limits[leg].T
    assert ((q[leg] >= low) & (q[leg] <= high)).all()


def test_a_swinging_joint_stops_before_its_limit():
    ends, dt, w = np.array([[-1.0, 1.0]]), 0.002, 72.0
    q, v = np.zeros(1), np.array([8.0])
    for _ in range(1000):
        moved = np.array([500.0])       # on and on
        keep_within(moved, q, v, ends, w)
        v = v + dt * moved
        q = q + dt * v
        assert q[0] < 1.0
    assert q[0] == pytest.approx(1.0, abs=0.1)
    free = np.array([np.nan])
    keep_within(free, q, v, ends, w)
    assert np.isnan(free[0])


def test_the_page_shows_the_table_of_transitions():
    page = (Path(__file__).parents[2] / 'docs' / 'walking.md').read_text(encoding='utf-8')
    rows = '\n'.join(f'| {start.value} | {sign} | {end.value} |'
                     for start, sign, end in TRANSITIONS)
    assert f'|---|---|---|\n{rows}\n' in page
    assert {start for start, _, _ in TRANSITIONS} == set(Walking)
