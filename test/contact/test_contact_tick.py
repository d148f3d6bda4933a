# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The closed form and its calls, against singular values of dense matrices."""
import numpy as np
import pytest
from contact_oracles import UP, Contacts, expected, four_feet, motion_of
from robots import TWO_LEGS, random_robot

from legged_dynamics.contact import ContactInverseDynamics, Support
from legged_dynamics.dynamics import BaseMotion, Motion, inverse_dynamics
from legged_dynamics.dynamics.jacobians import frame_jacobian
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model import FlatFoot, PointFoot, RobotModel
from legged_dynamics.spatial.algebra import sine_cosine
from legged_dynamics.spatial.frames import wrench_in_frame

# Singular values resolve what the feet can carry to half the digits that the closed form does.
DENSE = 1e-8


def agree(found, wanted):
    wrench, effort, residual, rank = wanted
    size = max(1.0, np.abs(wrench).max(), np.abs(effort).max(), np.abs(residual).max())
    np.testing.assert_allclose(found.wrench, wrench, atol=DENSE * size)
    np.testing.assert_allclose(found.joint_effort, effort, atol=DENSE * size)
    np.testing.assert_allclose(found.root_residual, residual, atol=DENSE * size)
    assert found.rank == rank


@pytest.mark.parametrize('kinds', ['pppp', 'ffff', 'pfpf'])
@pytest.mark.parametrize('guessed', [False, True])
def test_every_stance_and_selection(kinds, guessed):
    model, feet = four_feet(kinds)
    solver, rng = ContactInverseDynamics(model, feet), np.random.default_rng(0)
    normal = np.array([0.0, 0.6, 0.8])
    for stance in range(16):
        down = [bool(stance >> k & 1) for k in range(4)]
        motion = motion_of(model, stance)
        guess = 50.0 * rng.normal(size=(4, 6)) if guessed else None
        found = solver.solve(motion, in_contact=down, guess=guess, ground_normal=normal)
        agree(found, expected(model, feet, motion, down, normal, guess=guess))
        assert not found.wrench[~np.array(down)].any()


def test_feet_on_a_line_and_in_one_place():
    model = RobotModel.from_urdf(TWO_LEGS)
    motion = motion_of(model, 0)
    line = [PointFoot(link) for link in ('l_hip', 'r_hip', 'base')]
    agree(ContactInverseDynamics(model, line).solve(motion), expected(model, line, motion))
    place = [PointFoot('l_hip'), PointFoot('l_thigh'), PointFoot('l_hip')]
    found = ContactInverseDynamics(model, place).solve(motion)
    assert found.rank == 3 and found.support is Support.DEFICIENT_REDUNDANT
    agree(found, expected(model, place, motion))


def test_reference_points_of_any_kind():
    model, feet = four_feet('pfpf')
    motion, rng = motion_of(model, 1), np.random.default_rng(1)
    points = 0.1 * rng.normal(size=(4, 3))
    wanted = expected(model, feet, motion, references=points)
    agree(ContactInverseDynamics(model, feet, reference=points).solve(motion), wanted)
    solver = ContactInverseDynamics(model, feet)
    agree(solver.solve(motion, center_of_pressure=points), wanted)
    points[[0, 2]] = np.nan     # balls have a contact point of their own
    agree(solver.solve(motion, center_of_pressure=points), wanted)
    agree(solver.solve(motion), expected(model, feet, motion))


def test_centers_of_pressure_come_near_what_is_asked():
    """Two feet have freedom enough for both centres, as far as the whole moment allows."""
    model = RobotModel.from_urdf(TWO_LEGS)
    feet = [FlatFoot(f'{side}_foot', 0.1, -0.1, 0.05, -0.05) for side in 'lr']
    motion = Motion(np.zeros(6), np.zeros(6), np.zeros(6))
    whole = inverse_dynamics(model, motion).base_wrench
    x = -whole[4] / whole[2]
    asked = np.array([[x + 0.03, 0.0, 0.0], [x - 0.03, 0.0, 0.0]])
    found = ContactInverseDynamics(model, feet).solve(motion, center_of_pressure=asked)
    centers = -found.wrench[:, 4] / found.wrench[:, 2]
    np.testing.assert_allclose(centers, asked[:, 0], atol=2e-3)
    forces = np.array([[0, 0, 30.0, 0, 0, 0], [0, 0, 70.0, 0, 0, 0]])
    solver = ContactInverseDynamics(model, feet)
    near = solver.solve(motion, center_of_pressure=asked, guess=forces)
    assert near.wrench[0, 2] < found.wrench[0, 2]
    forces[:, 3:] = [[5.0, -3.0, 2.0], [1.0, 9.0, -4.0]]     # moments say another centre
    other = solver.solve(motion, center_of_pressure=asked, guess=forces)
    np.testing.assert_array_equal(other.wrench, near.wrench)


def test_external_wrenches_springs_and_damping():
    model, feet = four_feet('pfpf')
    names = model.joint_names
    model = model.with_joint_physics(stiffness=dict.fromkeys(names, 3.0),
                                     rest=dict.fromkeys(names, 0.2),
                                     damping=dict.fromkeys(names, 0.7))
    motion, rng = motion_of(model, 2), np.random.default_rng(2)
    push = {'link3': rng.normal(size=6), 'base': rng.normal(size=6)}
    at = {link: Contacts(model, [PointFoot(link)], motion).pose[0] for link in push}
    found = ContactInverseDynamics(model, feet).solve(motion, external=push)
    bare = inverse_dynamics(model, motion).base_wrench
    pushed = sum(wrench_in_frame(wrench, at[link]) for link, wrench in push.items())
    wrench, effort, residual, rank = expected(model, feet, motion, base_wrench=bare - pushed)
    for link, values in push.items():
        J = frame_jacobian(model, motion.position, link, 'link')[:, 6:]
        effort = effort - J.T @ values
    agree(found, (wrench, effort, residual, rank))


def test_a_fixed_base_carries_what_its_mount_does():
    model = random_robot(11, 8, base='fixed')
    motion = motion_of(model, 3)
    free = inverse_dynamics(model, motion)
    solver = ContactInverseDynamics(model, [])
    found = solver.solve(motion)
    assert found.support is Support.BOLTED
    np.testing.assert_allclose(found.root_residual, free.base_wrench, rtol=1e-12)
    np.testing.assert_allclose(found.joint_effort, free.joint_effort, rtol=1e-12)
    push = solver.solve(motion, external={'link7': [0.0, 0.0, 50.0, 0.0, 0.0, 0.0]})
    assert np.abs(push.joint_effort - found.joint_effort).max() > 0.1


def test_the_four_calls_agree_and_conditions_last_for_one():
    model, feet = four_feet('pfpf')
    solver, rng = ContactInverseDynamics(model, feet), np.random.default_rng(3)
    motions = [motion_of(model, seed) for seed in range(21)]
    q, v, a = (np.array([getattr(m, name) for m in motions]) for name in (
        'position', 'velocity', 'acceleration'))
    base = np.array([m.base.packed() for m in motions])
    down, guess = rng.random((21, 4)) < 0.6, rng.normal(size=(21, 4, 6))
    normal = UP + 0.1 * rng.normal(size=(21, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    push = {'link3': rng.normal(size=6)}
    plain = solver.solve(motions[0])
    batch = solver.batch(q, v, a, base, in_contact=down, guess=guess, ground_normal=normal,
                         external=push)
    np.testing.assert_array_equal(solver.solve(motions[0]).wrench, plain.wrench)
    for k, motion in enumerate(motions):
        given = {'in_contact': down[k], 'guess': guess[k], 'ground_normal': normal[k],
                 'external': push}
        one = solver.solve(motion, **given)
        tick = solver.tick(q[k], v[k], a[k], base[k], **given)
        for other in (tick, batch[k]):
            size = np.abs(one.wrench).max(initial=1.0)
            np.testing.assert_allclose(other.wrench, one.wrench, atol=1e-12 * size)
            np.testing.assert_allclose(other.joint_effort, one.joint_effort, atol=1e-11 * size)
            np.testing.assert_allclose(other.root_residual, one.root_residual,
                                       atol=1e-11 * size)
            assert other.rank == one.rank
    np.testing.assert_array_equal(solver.solve(motions[0]).wrench, plain.wrench)


def test_a_solution_keeps_what_it_was():
    model, feet = four_feet('pppp')
    solver = ContactInverseDynamics(model, feet)
    first = solver.solve(motion_of(model, 0))
    kept = first.wrench.copy()
    solver.solve(motion_of(model, 1))
    np.testing.assert_array_equal(first.wrench, kept)


def test_batch_of_every_kind_of_joint():
    model = random_robot(4, 9, ('revolute', 'prismatic', 'spherical'))
    feet = [PointFoot(f'link{i}', 0.01) for i in (5, 6, 7, 8)]
    solver, motion = ContactInverseDynamics(model, feet), motion_of(model, 0)
    batch = solver.batch(*(x[None] for x in (motion.position, motion.velocity,
                                             motion.acceleration, motion.base.packed())))
    one = solver.solve(motion)
    np.testing.assert_allclose(batch.wrench[0], one.wrench, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(batch.joint_effort[0], one.joint_effort, rtol=1e-11, atol=1e-11)
    agree(one, expected(model, feet, motion))


def test_inputs_of_other_kinds_are_converted():
    model, feet = four_feet('pppp')
    solver = ContactInverseDynamics(model, feet)
    ones, base = np.ones(8), BaseMotion()
    one = solver.tick(ones, ones, ones, base.packed())
    wide = np.ones((8, 2))
    frozen = ones.copy()
    frozen.setflags(write=False)
    for q in ([1] * 8, np.ones(8, int), np.ones(8, np.float32), wide[:, 0], frozen):
        np.testing.assert_array_equal(solver.tick(q, q, q, base).wrench, one.wrench)


@pytest.mark.parametrize(('change', 'message'), [
    ({'position': np.zeros(7)}, 'expected 8 joint positions'),
    ({'velocity': [0.0] * 9}, 'expected 8 joint velocities'),
    ({'acceleration': np.full(8, np.nan)}, 'expected finite joint accelerations'),
    ({'acceleration': np.full(8, np.inf)}, 'expected finite joint accelerations'),
    ({'base': np.zeros(6)}, 'expected 9 components'),
    ({'ground_normal': (0.0, 0.0, np.nan)}, 'unit ground normal'),
    ({'ground_normal': (0.0, 1.0)}, 'unit ground normal'),
    ({'in_contact': True}, 'expected 4 contact flags'),
    ({'guess': np.full((4, 6), np.nan)}, 'finite guess'),
    ({'external': {'link3': [1.0]}}, 'wrench on link'),
])
def test_bad_input_is_refused_and_the_next_is_not(change, message):
    model, feet = four_feet('pppp')
    solver = ContactInverseDynamics(model, feet)
    inputs = {'position': np.zeros(8), 'velocity': np.zeros(8), 'acceleration': np.zeros(8),
              'base': BaseMotion().packed()}
    with pytest.raises(MeasurementError, match=message):
        solver.tick(**{**inputs, **change})
    agree(solver.tick(**inputs), expected(model, feet, Motion(*list(inputs.values())[:3])))


def test_a_bad_sample_of_a_batch_is_named():
    model, feet = four_feet('pppp')
    solver = ContactInverseDynamics(model, feet)
    q = np.zeros((30, 8))
    q[17, 3] = np.nan
    with pytest.raises(MeasurementError, match='sample 17'):
        solver.batch(q, np.zeros((30, 8)), np.zeros((30, 8)), np.zeros((30, 9)))
    with pytest.raises(MeasurementError, match=r'joint velocities of shape \(30, 8\)'):
        solver.batch(q, np.zeros((29, 8)), np.zeros((30, 8)), np.zeros((30, 9)))


def test_options_are_refused():
    model, feet = four_feet('pppp')
    with pytest.raises(ConfigurationError, match=r'finite points of shape \(4, 3\)'):
        ContactInverseDynamics(model, feet, reference=np.zeros((3, 3)))
    with pytest.raises(ConfigurationError, match='needs weights'):
        ContactInverseDynamics(model, feet).solve(motion_of(model, 0), effort=np.zeros(8))


def test_sine_and_cosine():
    for angle in (*np.linspace(-7.0, 7.0, 57), 1e-9, -1e4, 12345.678, np.pi / 2, np.pi):
        found = sine_cosine(float(angle))
        np.testing.assert_allclose(found, (np.sin(angle), np.cos(angle)), atol=5e-16, rtol=0)
    assert np.isnan(sine_cosine(np.nan)).all() and np.isnan(sine_cosine(np.inf)).all()
