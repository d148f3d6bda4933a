# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Feet that touch along a line: a force and one moment, in every rank, with friction, torque."""
import numpy as np
import pytest
from contact_oracles import Contacts, expected, four_feet, motion_of
from robots import random_robot
from test_contact_friction import CONE, inequalities

from legged_dynamics.contact import (
    ContactInverseDynamics,
    EquationWeights,
    MotionNoise,
    Support,
)
from legged_dynamics.dynamics import BaseMotion, Motion, inverse_dynamics
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map import (
    FrictionCone,
    Outcome,
    contact_inequalities,
    solve_quadratic_program,
)
from legged_dynamics.model import (
    FlatFoot,
    Inertia,
    Joint,
    LineFoot,
    PointFoot,
    RobotConfig,
    RobotModel,
)
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_rpy


def agrees(model, feet, motion, **conditions):
    """Compare with singular values, and return the solution."""
    found = ContactInverseDynamics(model, feet).solve(
        motion, **{'in_contact' if key == 'down' else key: value
                   for key, value in conditions.items()})
    wrench, effort, residual, rank = expected(model, feet, motion, **conditions)
    size = np.abs(inverse_dynamics(model, motion).base_wrench).max()
    np.testing.assert_allclose(found.wrench, wrench, atol=1e-8 * size)
    np.testing.assert_allclose(found.joint_effort, effort, atol=1e-8 * size)
    np.testing.assert_allclose(found.root_residual, residual, atol=1e-8 * size)
    assert found.rank == rank
    return found


@pytest.mark.parametrize('kinds', ['llll', 'lplp', 'flpl', 'lfff'])
@pytest.mark.parametrize('seed', [1, 2])
@pytest.mark.parametrize('guessed', [False, True])
def test_line_feet_among_others_agree_with_singular_values(kinds, seed, guessed):
    model, feet = four_feet(kinds)
    guess = np.random.default_rng(seed).normal(size=(4, 6)) * 20.0 if guessed else None
    found = agrees(model, feet, motion_of(model, seed), guess=guess)
    assert found.rank == 6


@pytest.mark.parametrize(('down', 'rank', 'support'), [
    ((1, 0, 0, 0), 4, Support.DEFICIENT),
    ((1, 1, 0, 0), 6, Support.REDUNDANT),
    ((0, 0, 1, 1), 6, Support.REDUNDANT)])
def test_ranks_of_few_line_feet(down, rank, support):
    model, feet = four_feet('llpl')
    found = agrees(model, feet, motion_of(model, 3), down=np.array(down, bool))
    assert (found.rank, found.support) == (rank, support)
    assert not found.wrench[~np.array(down, bool)].any()


def test_line_feet_in_one_place_have_rank_four_or_five():
    """Two lines through one point: in one direction 4, crossed 5; and one ahead of the other 5."""
    turned = Transform(rotation_from_rpy(np.array([0.0, 0.0, 0.5])), np.array([0.1, 0.2, -0.4]))
    straight = Transform(np.eye(3), np.array([0.1, 0.2, -0.4]))
    ahead = Transform(np.eye(3), np.array([0.4, 0.2, -0.4]))
    links = {'base': Inertia(5.0, np.zeros(3), 0.1 * np.eye(3))}
    joints = []
    for name, pose in (('a', straight), ('b', straight), ('c', turned), ('d', ahead)):
        links[name] = Inertia()
        joints.append(Joint(name, 'fixed', 'base', name, pose))
    model = RobotModel('frame', links, joints, base='floating')
    motion = Motion(np.zeros(0), np.zeros(0), np.zeros(0), BaseMotion(
        angular_acceleration=np.array([1.0, -2.0, 3.0]),
        proper_acceleration=np.array([0.5, 1.0, 9.81])))
    feet = [LineFoot(name, 0.1, -0.1) for name in 'abcd']
    for down, rank in (((1, 1, 0, 0), 4), ((1, 0, 1, 0), 5), ((1, 0, 0, 1), 5), ((0, 0, 1, 1), 6)):
        assert agrees(model, feet, motion, down=np.array(down, bool)).rank == rank


def test_power_of_motors_and_ground_is_that_of_the_motion():
    """Along any twist, J^T w of the wrenches is what efforts and residual leave of free ones."""
    model, feet = four_feet('lplf')
    motion = motion_of(model, 5)
    found = ContactInverseDynamics(model, feet).solve(motion)
    at = Contacts(model, feet, motion)
    w = at.coordinates(found.wrench)
    np.testing.assert_allclose(at.wrenches(w), found.wrench, atol=1e-9 * np.abs(w).max())
    free = inverse_dynamics(model, motion)
    np.testing.assert_allclose(free.joint_effort - found.joint_effort, at.jacobian.T @ w,
                               atol=1e-9 * np.abs(w).max())
    np.testing.assert_allclose(free.base_wrench, at.grasp @ w, atol=1e-9 * np.abs(w).max())


def test_many_instants_are_those_of_one():
    model, feet = four_feet('llfp')
    solver = ContactInverseDynamics(model, feet, friction=CONE)
    motions = [motion_of(model, seed) for seed in range(5)]
    arrays = [np.array([getattr(motion, name) for motion in motions])
              for name in ('position', 'velocity', 'acceleration')]
    base = np.array([motion.base.packed() for motion in motions])
    for one in (solver, ContactInverseDynamics(model, feet)):
        many = one.batch(*arrays, base)
        for t, motion in enumerate(motions):
            alone = one.solve(motion)
            size = np.abs(alone.wrench).max()
            np.testing.assert_allclose(many.wrench[t], alone.wrench, atol=1e-7 * size)


def load_of(model, feet, seed):
    """Return a motion that asks for about the weight, along the ground's normal."""
    motion = motion_of(model, seed, 0.0)
    up = np.array([0.1, -0.05, 1.0])
    return Motion(motion.position, 0.0 * motion.velocity, motion.acceleration,
                  BaseMotion(proper_acceleration=9.81 * up / np.linalg.norm(up)))


@pytest.mark.parametrize('kinds', ['llll', 'lplf'])
def test_within_friction_and_ends_it_agrees_with_the_dense_program(kinds):
    checked = 0
    for seed in range(12):
        model, feet = four_feet(kinds)
        motion = load_of(model, feet, seed)
        found = ContactInverseDynamics(model, feet, friction=CONE).solve(motion)
        at = Contacts(model, feet, motion)
        b = inverse_dynamics(model, motion).base_wrench
        C, d = inequalities(at, feet, [CONE] * 4)
        H = np.diag(np.where(at.moments, 1.0, 0.01))
        dense = solve_quadratic_program(H, np.zeros(at.n), np.vstack([at.grasp, C]),
                                        np.concatenate([b, d]), n_equalities=6)
        assert found.feasible == (dense.outcome is Outcome.SOLVED)
        w = at.coordinates(found.wrench)
        assert (C @ w - d).min() > -1e-7 * np.abs(b).max()
        if found.feasible:
            checked += 1
            np.testing.assert_allclose(found.wrench, at.wrenches(dense.x),
                                       atol=1e-6 * np.abs(b).max())
    assert checked > 2


def test_what_presses_stays_between_the_ends():
    foot = LineFoot('foot', 0.12, -0.04)
    A, b = contact_inequalities(FrictionCone(0.5), foot, np.eye(3))
    assert A.shape[1] == 4
    for place, inside in ((0.079, True), (-0.079, True), (0.081, False), (-0.081, False)):
        force = np.array([0.0, 0.0, 100.0])     # at a place ahead of the middle
        moment = np.cross([place, 0.0, 0.0], force)[1]
        assert ((A @ np.append(force, moment) >= b - 1e-12).all()) == inside
    assert not (A @ [60.0, 0.0, 100.0, 0.0] >= b).all()


def test_with_measured_torque_all_equations_are_weighed():
    model, feet = four_feet('llfp')
    motion, rng = motion_of(model, 7), np.random.default_rng(7)
    weights = EquationWeights(np.full(6, 4.0), np.full(model.nv, 0.25), 500.0, 50.0)
    effort = rng.normal(size=model.nv) * 10.0
    found = ContactInverseDynamics(model, feet, weights=weights).solve(motion, effort=effort)
    at, free = Contacts(model, feet, motion), inverse_dynamics(model, motion)
    A = np.vstack([at.grasp / 2.0, at.jacobian.T / 0.5,
                   np.diag(1.0 / np.where(at.moments, 50.0, 500.0))])
    b = np.concatenate([free.base_wrench / 2.0, (free.joint_effort - effort) / 0.5,
                        np.zeros(at.n)])
    w = np.linalg.lstsq(A, b, rcond=None)[0]
    np.testing.assert_allclose(found.wrench, at.wrenches(w), atol=1e-7 * np.abs(w).max())


def test_error_bars_know_what_a_line_cannot_carry():
    model, feet = four_feet('llpp')
    motion = motion_of(model, 2)
    solver = ContactInverseDynamics(model, feet)
    noise = MotionNoise(proper_acceleration=0.1)
    told = solver.uncertainty(motion, noise, in_contact=[1, 0, 0, 0])
    # About the line's middle no moment but that across it: the other two have no variance.
    arm = feet[0].center
    shift = np.block([[np.eye(3), np.zeros((3, 3))],
                      [-np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]],
                                  [-arm[1], arm[0], 0]]), np.eye(3)]])
    about_middle = shift @ told.covariance_of(feet[0].link) @ shift.T
    size = np.abs(about_middle).max()
    assert size > 0.0
    assert np.abs(about_middle[[3, 5]]).max() < 1e-9 * size
    assert about_middle[4, 4] > 1e-9 * size


def test_a_line_foot_is_the_limit_of_neither_a_point_nor_a_sole():
    model = random_robot(11, 8)
    motion = motion_of(model, 4)
    wrenches = [ContactInverseDynamics(model, [kind]).solve(motion).root_residual for kind in (
        PointFoot('link4'), LineFoot('link4', 0.1, -0.1), FlatFoot('link4', 0.1, -0.1, 0.1, -0.1))]
    left = [np.linalg.norm(residual * [1, 1, 1, 10, 10, 10]) for residual in wrenches]
    assert left[0] > left[1] > left[2] and left[2] < 1e-9 * left[0]


def test_a_robot_with_line_feet_has_them_from_its_yaml():
    config = RobotConfig.from_parameters({
        'robot.feet': ['a', 'b', 'c'], 'robot.foot_types': ['line', 'point', 'flat'],
        'robot.foot_radius': 0.02,
        'robot.soles': [0.1, -0.06, 0.0, 0.0] + [0.2, -0.1, 0.1, -0.1] * 2})
    assert config.feet == (LineFoot('a', 0.1, -0.06), PointFoot('b', 0.02),
                           FlatFoot('c', 0.2, -0.1, 0.1, -0.1))


def test_a_line_without_length_is_refused():
    with pytest.raises(ConfigurationError, match='a line with front > back'):
        LineFoot('foot', 0.1, 0.1)
