# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pinocchio as pin
import pytest
from over_time_reference import Reference, parts_of, swing, swinging
from robots import TWO_LEGS, golden, pinocchio_twin, random_robot
from scipy.spatial.transform import Rotation
from tolerances import ALGEBRA, FINITE_DIFFERENCE, GOLDEN

from legged_dynamics.contact import (
    ContactInverseDynamics,
    ContactInverseDynamicsOverTime,
    GeneralizedMotion,
    OverTimeWeights,
    Stretch,
)
from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.dynamics import frame_poses
from legged_dynamics.exceptions import ConfigurationError, MeasurementError, UnknownNameError
from legged_dynamics.model import FlatFoot, LineFoot, PointFoot, RobotModel

NIMBLE = golden('004_contact_id.json')
# Nimble solves one dense system; its own answers carry that rounding.
NIMBLE_OVER_TIME = 1e-8
FOOT_LINKS = ('link4', 'link5', 'link6', 'link7')


def feet_of(kind):
    """Return four feet: points, flat, two of each, all lines, or lines among others."""
    if 'line' in kind:
        line = [LineFoot(link, 0.1, -0.06) for link in FOOT_LINKS]
        return line if kind == 'lines' else [line[0], PointFoot('link5', 0.02), line[2], FlatFoot(
            'link7', 0.1, -0.06, 0.05, -0.04)]
    flat = {'point': (), 'flat': FOOT_LINKS, 'mixed': FOOT_LINKS[::2]}[kind]
    return [FlatFoot(link, 0.1, -0.06, 0.05, -0.04) if link in flat else PointFoot(link, 0.02)
            for link in FOOT_LINKS]


def coming_and_going(frames, share, seed=1):
    return np.random.default_rng(seed).random((frames, 4)) < share


@pytest.fixture(scope='module')
def robot():
    return random_robot(11, 8)


@pytest.fixture(scope='module')
def nimble():
    model = RobotModel.from_urdf(NIMBLE['urdf'])
    q, v, a = (np.array([state[key] for state in NIMBLE['overtime']['states']]) for key in 'qva')
    feet = [FlatFoot(link, 0.1, -0.1, 0.05, -0.05) for link in ('l_foot', 'r_foot')]
    return model, feet, q, v, a, NIMBLE['v_order'][1:]


# ---- Nimble ------------------------------------------------------------------------------------

@pytest.mark.parametrize('case', NIMBLE['overtime']['results'],
                         ids=lambda case: f'smoothing{case["smoothingWeight"]:g}')
def test_agrees_with_nimble(nimble, case):
    model, feet, q, v, a, names = nimble
    motion = GeneralizedMotion.from_states(model, q, v, a, 0.01, joint_names=names)
    found = ContactInverseDynamicsOverTime.like_nimble(model, feet).solve(
        motion, weights=OverTimeWeights.like_nimble(case['smoothingWeight'],
                                                    case['minTorqueWeight']))
    expected = np.array(case['w_local_f_m']).reshape(found.wrench.shape)
    np.testing.assert_allclose(found.wrench, expected,
                               atol=NIMBLE_OVER_TIME * np.abs(expected).max())
    assert np.abs(found.root_residual).max() < GOLDEN * np.abs(expected).max()


def test_differences_positions_as_nimble_does(nimble):
    model, _, q, v, a, names = nimble
    given = GeneralizedMotion.from_states(model, q, v, a, 0.01, joint_names=names)
    found = GeneralizedMotion.from_positions(model, q, 0.01, scheme='forward', joint_names=names)
    for part in ('position', 'velocity', 'acceleration', 'base_motion', 'base_rotation',
                 'base_velocity'):
        np.testing.assert_allclose(getattr(found, part), getattr(given, part)[:8], atol=GOLDEN)


# ---- motions -----------------------------------------------------------------------------------

def test_central_differences_are_of_second_order():
    """Halving the step divides the error of central differences by four, of others by two."""
    model = random_robot(3, 4, kinds=('revolute', 'spherical'))

    def positions(t):
        x = np.sin(t[:, None] + np.arange(3 + 3 + model.nq))
        x[:, 6:] *= 0.3
        for body, joint in enumerate(model.joints, start=1):
            if joint.kind == 'spherical':
                at = 6 + model.tree.topology[body, 2]
                x[:, at:at + 4] = Rotation.from_rotvec(x[:, at:at + 3]).as_quat()
        return np.hstack([x[:, :3], Rotation.from_rotvec(x[:, 3:6]).as_quat(), x[:, 6:]])

    def middle(step, scheme):
        t = step * np.arange(-1, 2) if scheme == 'central' else step * np.arange(3)
        found = GeneralizedMotion.from_positions(model, positions(t), step, scheme=scheme)
        return np.concatenate([found.velocity[0], found.acceleration[0], found.base_motion[0],
                               found.base_velocity[0]])
    exact = (4.0 * middle(0.005, 'central') - middle(0.01, 'central')) / 3.0
    for scheme, ratio in (('central', 4.0), ('forward', 2.0)):
        coarse, fine = (np.abs(middle(step, scheme) - exact).max() for step in (0.02, 0.01))
        assert coarse / fine == pytest.approx(ratio, rel=0.1)


def test_states_and_recordings_say_the_same(robot):
    """A trimmed recording differenced centrally is what central differences here are."""
    rows = swinging(robot, 20, 5)
    found = GeneralizedMotion.from_positions(robot, rows, 0.01)
    other = RecordedMotion.from_poses(robot, 0.01 * np.arange(len(rows)), rows[:, :3],
                                      rows[:, 3:7], rows[:, 7:])
    for part in ('time', 'position', 'velocity', 'acceleration', 'base_motion', 'base_rotation'):
        expected = getattr(other, part)[1:-1]
        np.testing.assert_allclose(getattr(found, part), expected,
                                   atol=1e-9 * max(1.0, np.abs(expected).max()))


# ---- answers -----------------------------------------------------------------------------------

@pytest.mark.parametrize('share', [1.0, 0.7, 0.3])
@pytest.mark.parametrize('axes', ['world', 'foot'])
@pytest.mark.parametrize('kind', ['point', 'flat', 'mixed', 'lines', 'some lines'])
def test_agrees_with_a_sparse_solver(robot, kind, axes, share):
    motion, feet = swing(robot, 15, 3), feet_of(kind)
    standing = coming_and_going(15, share)
    for weights in (OverTimeWeights(), OverTimeWeights(50.0, 0.1, transition=0.3,
                                                       comparison_length=0.5)):
        found = ContactInverseDynamicsOverTime(robot, feet, axes=axes).solve(
            motion, in_contact=standing, weights=weights)
        expected = Reference(robot, feet, motion, standing, weights, axes).answer()
        np.testing.assert_allclose(found.wrench, expected, atol=1e-10 * np.abs(expected).max())
        assert not found.wrench[~standing].any()


@pytest.mark.parametrize('kind', ['point', 'flat', 'lines', 'some lines'])
def test_without_smoothing_every_frame_stands_alone(robot, kind):
    motion, feet = swing(robot, 12, 4), feet_of(kind)
    standing = coming_and_going(12, 0.6)
    found = ContactInverseDynamicsOverTime(robot, feet).solve(
        motion, in_contact=standing, weights=OverTimeWeights(smoothing=0.0))
    alone = ContactInverseDynamics(robot, feet)
    for t in range(12):
        single = alone.solve(motion.instant(t), in_contact=standing[t],
                             ground_normal=motion.base_rotation[t, 2])
        scale = np.abs(single.wrench).max(initial=1.0)
        np.testing.assert_allclose(found.wrench[t], single.wrench, atol=1e-9 * scale)
        np.testing.assert_allclose(found.joint_effort[t], single.joint_effort, atol=1e-9 * scale)
        np.testing.assert_allclose(found.root_residual[t], single.root_residual,
                                   atol=1e-9 * scale)
        assert (found.rank[t], found.nullity[t]) == (single.rank, single.nullity)


@pytest.mark.parametrize('kind', ['point', 'flat', 'mixed', 'some lines'])
def test_wrenches_and_weight_change_the_momentum(robot, kind):
    motion, feet = swing(robot, 10, 6), feet_of(kind)
    found = ContactInverseDynamicsOverTime(robot, feet).solve(motion)
    twin = pinocchio_twin(robot)
    data = twin.createData()
    for t in range(10):
        R, w = motion.base_rotation[t], motion.base_motion[t]
        proper = w[6:9] - np.cross(w[:3], np.zeros(3))
        q = np.concatenate([np.zeros(3), Rotation.from_matrix(R).as_quat(), motion.position[t]])
        # Pinocchio's acceleration is spatial, and at zero base velocity that is the classical one.
        v = np.concatenate([np.zeros(3), w[:3], motion.velocity[t]])
        a = np.concatenate([proper + R.T @ [0.0, 0.0, -9.81], w[3:6], motion.acceleration[t]])
        pin.computeCentroidalMomentumTimeVariation(twin, data, q, v, a)
        poses, total = frame_poses(robot, motion.position[t]), np.zeros(6)
        for foot, wrench in zip(feet, found.wrench[t]):
            pose = poses[foot.link]
            f = R @ pose.R @ wrench[:3]
            total[:3] += f
            total[3:] += R @ pose.R @ wrench[3:] + np.cross(R @ pose.p - data.com[0], f)
        total[2] -= robot.total_mass * 9.81
        np.testing.assert_allclose(total, data.dhg.vector, atol=1e-8 * np.abs(total).max())


def test_a_pose_that_is_held_has_one_answer_in_all_frames():
    model = RobotModel.from_urdf(TWO_LEGS)
    feet = [FlatFoot(f'{side}_foot', 0.1, -0.1, 0.05, -0.05) for side in 'lr']
    rows = np.tile(swinging(model, 0, 2)[0], (40, 1))
    motion = GeneralizedMotion.from_positions(model, rows, 0.01)
    solver = ContactInverseDynamicsOverTime(model, feet)
    least = solver.solve(motion, weights=OverTimeWeights(0.0, 1.0))
    for weights in (OverTimeWeights(), OverTimeWeights(1.0, 0.0), OverTimeWeights(0.0, 0.0)):
        found = solver.solve(motion, weights=weights)
        scale = np.abs(least.wrench).max()
        np.testing.assert_allclose(found.wrench, least.wrench, atol=1e-7 * scale)


def test_smoothing_smooths(robot):
    motion = swing(robot, 30, 8)
    solver = ContactInverseDynamicsOverTime(robot, feet_of('flat'), axes='foot',
                                            reference='frame')
    rough, smooth = (np.square(np.diff(solver.solve(
        motion, weights=OverTimeWeights.like_nimble(weight, 1.0)).wrench, axis=0)).sum()
        for weight in (1.0, 10.0))
    assert smooth < 0.9 * rough


def test_the_order_of_the_feet_does_not_matter(robot):
    motion, feet, standing = swing(robot, 12, 9), feet_of('mixed'), coming_and_going(12, 0.7)
    order = [2, 0, 3, 1]
    found = ContactInverseDynamicsOverTime(robot, feet).solve(motion, in_contact=standing)
    other = ContactInverseDynamicsOverTime(robot, [feet[i] for i in order]).solve(
        motion, in_contact=standing[:, order])
    scale = np.abs(found.wrench).max()
    np.testing.assert_allclose(other.wrench, found.wrench[:, order], atol=ALGEBRA * scale)
    np.testing.assert_allclose(other.joint_effort, found.joint_effort, atol=ALGEBRA * scale)


def test_the_direction_of_north_does_not_matter(robot):
    rows, feet = swinging(robot, 10, 10), feet_of('flat')
    turn = Rotation.from_rotvec([0.0, 0.0, 1.1])
    turned = np.hstack([turn.apply(rows[:, :3]),
                        (turn * Rotation.from_quat(rows[:, 3:7])).as_quat(), rows[:, 7:]])
    solver = ContactInverseDynamicsOverTime(robot, feet)
    found, other = (solver.solve(GeneralizedMotion.from_positions(robot, x, 0.01))
                    for x in (rows, turned))
    np.testing.assert_allclose(other.wrench, found.wrench,
                               atol=1e-9 * np.abs(found.wrench).max())


# ---- terms of the cost, and forces from elsewhere ----------------------------------------------

@pytest.mark.parametrize('axes', ['world', 'foot'])
def test_the_first_frame_is_drawn_to_previous_wrenches(robot, axes):
    motion = swing(robot, 10, 12)
    solver = ContactInverseDynamicsOverTime(robot, feet_of('mixed'), axes=axes)
    rng = np.random.default_rng(0)
    elsewhere = solver.solve(motion, weights=OverTimeWeights(
        magnitude=rng.uniform(0.0, 5.0, (10, 4)))).wrench[0]
    free = solver.solve(motion)
    drawn = solver.solve(motion, previous=elsewhere, weights=OverTimeWeights(previous=1e8))
    assert np.abs(free.wrench[0] - elsewhere).max() > 1.0
    np.testing.assert_allclose(drawn.wrench[0], elsewhere, atol=1e-4)


def test_magnitude_takes_load_off_a_foot(robot):
    motion = swing(robot, 10, 13)
    solver = ContactInverseDynamicsOverTime(robot, feet_of('flat'))
    even = solver.solve(motion)
    spared = solver.solve(motion, weights=OverTimeWeights(magnitude=[100.0, 0.0, 0.0, 0.0]))
    norm = np.linalg.norm(even.wrench[..., :3], axis=2), np.linalg.norm(spared.wrench[..., :3],
                                                                        axis=2)
    assert (norm[1][:, 0] < 0.2 * norm[0][:, 0]).all()


@pytest.mark.parametrize('kind', ['point', 'flat'])
def test_velocity_penalty_sees_the_contact_points_speeds(robot, kind):
    feet, step = feet_of(kind), 1e-4
    rows = swinging(robot, 9, 14, step=step)
    motion = GeneralizedMotion.from_positions(robot, rows, step)
    seen = []
    ContactInverseDynamicsOverTime(robot, feet, reference='frame').solve(
        motion, weights=OverTimeWeights(velocity_penalty=lambda v: seen.append(v) or 0.0))
    # A ball's contact point moves along with the ball: take it as fixed to it for a moment.
    R, p = motion.base_rotation, rows[1:-1, :3]
    for i, foot in enumerate(feet):
        poses = [frame_poses(robot, q)[foot.link] for q in motion.position]
        low = poses[4].R.T @ R[4].T @ [0.0, 0.0, -foot.radius if kind == 'point' else 0.0]
        track = np.array([p[t] + R[t] @ (poses[t].p + poses[t].R @ low) for t in range(9)])
        speed = (track[5] - track[3]) / (2.0 * step)
        assert seen[0][4, i] == pytest.approx(speed @ speed, rel=FINITE_DIFFERENCE)


def test_a_push_is_taken_by_the_feet(robot):
    motion, feet = swing(robot, 10, 15), feet_of('flat')
    solver = ContactInverseDynamicsOverTime(robot, feet)
    push = np.zeros((10, 6))
    push[:, 0] = np.linspace(0.0, 50.0, 10)
    free, pushed = (solver.solve(motion, external=external)
                    for external in (None, {'base': push}))
    for t in range(10):
        poses = frame_poses(robot, motion.position[t])
        more = sum(poses[foot.link].R @ wrench[:3]
                   for foot, wrench in zip(feet, pushed.wrench[t] - free.wrench[t]))
        np.testing.assert_allclose(more, -push[t, :3], atol=1e-9)
    steady = solver.solve(motion, external={'base': [0, 0, 10.0, 0, 0, 0]})
    assert not np.allclose(steady.joint_effort, free.joint_effort)


# ---- stretches ---------------------------------------------------------------------------------

def cut(motion, standing, places):
    """Return the motion in stretches."""
    return [Stretch(part, flags) for part, flags in zip(parts_of(motion, places),
                                                        np.split(standing, places))]


def test_a_stream_comes_nearer_the_more_it_waits(robot):
    motion, standing = swing(robot, 60, 17), coming_and_going(60, 0.9)
    solver = ContactInverseDynamicsOverTime(robot, feet_of('flat'))
    whole, errors = solver.solve(motion, in_contact=standing), []
    for lag in (1, 5, 20):
        found = list(solver.stream(cut(motion, standing, [20, 40]), lag=lag))
        assert [len(part) for part in found] == [20, 20, 20]
        joined = np.concatenate([part.wrench for part in found])
        errors.append(np.abs(joined - whole.wrench).max() / np.abs(whole.wrench).max())
    assert errors[0] > 100.0 * errors[1] > 1e4 * errors[2]


# ---- what is refused ---------------------------------------------------------------------------

@pytest.fixture(scope='module')
def small():
    model = RobotModel.from_urdf(TWO_LEGS)
    return model, [PointFoot('l_foot'), PointFoot('r_foot')], swing(model, 5)


@pytest.mark.parametrize(('call', 'error', 'message'), [
    (lambda m, f, x: ContactInverseDynamicsOverTime(m, [PointFoot('tail')]), UnknownNameError,
     'of a link'),
    (lambda m, f, x: ContactInverseDynamicsOverTime(m, []), ConfigurationError, 'one foot'),
    (lambda m, f, x: ContactInverseDynamicsOverTime(m, f, axes='base'), ConfigurationError,
     "axes 'world' or 'foot'"),
    (lambda m, f, x: ContactInverseDynamicsOverTime(m, f).solve(x, in_contact=[True]),
     MeasurementError, r'contact flags of shape \(2,\) or \(5, 2\)'),
    (lambda m, f, x: ContactInverseDynamicsOverTime(m, f).solve(x, previous=np.zeros(6)),
     MeasurementError, r'previous wrenches of shape \(2, 6\)'),
    (lambda m, f, x: ContactInverseDynamicsOverTime(m, f).solve(x, ground_normal=(0, 0, 2)),
     MeasurementError, 'unit normal'),
    (lambda m, f, x: ContactInverseDynamicsOverTime(m, f).solve(
        x, weights=OverTimeWeights(magnitude=np.zeros((4, 2)))), MeasurementError,
     'magnitude weights to fit 5 frames'),
    (lambda m, f, x: ContactInverseDynamicsOverTime(m, f).solve(
        x, external={'base': np.zeros((4, 6))}), MeasurementError, r'\(6,\) or \(5, 6\)'),
    (lambda m, f, x: ContactInverseDynamicsOverTime(m, f).stream([], lag=0), ConfigurationError,
     'lag of 1'),
    (lambda m, f, x: OverTimeWeights(ridge=0.0), ConfigurationError, 'ridge above 0'),
    (lambda m, f, x: OverTimeWeights(smoothing=-1.0), ConfigurationError, 'smoothing of 0'),
    (lambda m, f, x: GeneralizedMotion.from_positions(m, swinging(m, 0), 0.01),
     MeasurementError, '3 frames or more, got 2'),
    (lambda m, f, x: GeneralizedMotion.from_positions(m, swinging(m, 1)[:, 1:], 0.01),
     MeasurementError, r'shape \(n, 13\)'),
    (lambda m, f, x: GeneralizedMotion.from_positions(m, swinging(m, 1), 0.0),
     ConfigurationError, 'time step above 0'),
    (lambda m, f, x: GeneralizedMotion.from_positions(m, swinging(m, 1), 0.1, scheme='spline'),
     ConfigurationError, 'central, forward'),
    (lambda m, f, x: GeneralizedMotion.from_positions(m, swinging(m, 1), 0.1,
                                                      joint_names=m.joint_names[1:]),
     MeasurementError, 'each joint once'),
    (lambda m, f, x: GeneralizedMotion.from_positions(m, np.full((3, 13), np.nan), 0.1),
     MeasurementError, 'in frame 0'),
])
def test_bad_input_is_refused(small, call, error, message):
    with pytest.raises(error, match=message):
        call(*small)


def test_motions_that_are_not_one_are_refused(small):
    model, feet, motion = small
    solver = ContactInverseDynamicsOverTime(model, feet)
    broken = motion.velocity.copy()
    broken[3, 1] = np.inf
    for name, values, message in (('velocity', broken, 'joint velocities.*frame 3'),
                                  ('position', motion.position[:, 1:], r'shape \(5, 6\)'),
                                  ('time', np.array([0, 1, 2, 3, 9.0]), 'evenly spaced')):
        parts = {part: getattr(motion, part) for part in motion.__dataclass_fields__}
        with pytest.raises(MeasurementError, match=message):
            solver.solve(GeneralizedMotion(**{**parts, name: values}))


def test_a_fixed_base_is_refused():
    model = RobotModel.from_urdf(TWO_LEGS, base='fixed')
    with pytest.raises(ConfigurationError, match='needs a floating base'):
        ContactInverseDynamicsOverTime(model, [PointFoot('l_foot')])
