# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Arrays that cannot be what they are taken for are refused by our own errors."""
import numpy as np
import pytest
from robots import TWO_LEGS

from legged_dynamics.dynamics import BaseMotion
from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.force_map import (
    ConstrainedForceMap,
    FrictionCone,
    Outcome,
    solve_quadratic_program,
)
from legged_dynamics.model import PointFoot, RobotModel
from legged_dynamics.reproductions.planar import (
    JOINTS,
    Biped,
    PinnedRobot,
    PlanarController,
    PlanarState,
    PlanarTarget,
    force_propagation,
    start_state,
    velocity_propagation,
)
from legged_dynamics.spatial.frames import Transform, twist_in_frame, wrench_in_frame
from legged_dynamics.spatial.rotations import (
    quaternion_from_rotation,
    rotation_from_quaternion,
    rotation_from_vector,
    rotation_vector,
)
from legged_dynamics.workspace import WorkspaceFault

SHEAR = np.array([[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
MIRROR = np.diag([1.0, 1.0, -1.0])
HERE = Transform.identity()


def stance(R_WB=None, **more):
    model = RobotModel.from_urdf(TWO_LEGS)
    feet = [PointFoot('l_foot'), PointFoot('r_foot')]
    return ConstrainedForceMap(model, feet).compute(np.full(6, 0.3), np.zeros(6), R_WB=R_WB,
                                                    **more)


@pytest.mark.parametrize('R', [SHEAR, MIRROR, 2.0 * np.eye(3), np.full((3, 3), np.nan),
                               np.eye(2), 'north', None],
                         ids=['shear', 'mirror', 'scaled', 'nan', 'flat', 'text', 'none'])
def test_what_is_no_rotation(R):
    for takes in (quaternion_from_rotation, rotation_vector, lambda R: Transform(R, np.zeros(3)),
                  lambda R: BaseMotion.at_rest(0 if R is None else R),
                  lambda R: stance(0 if R is None else R)):
        with pytest.raises(LeggedDynamicsError, match='rotation|R_WB'):
            takes(R)


@pytest.mark.parametrize('normal', [[0.0, 0.0, 2.0], [0.0, 0.0], [np.nan] * 3, 'up', 1.0])
def test_what_is_no_unit_normal(normal):
    with pytest.raises(LeggedDynamicsError, match='normal'):
        stance(ground_normal=normal)
    with pytest.raises(LeggedDynamicsError, match='normal'):
        FrictionCone(0.5, normal=normal)


@pytest.mark.parametrize('vector', [np.zeros(5), np.zeros((6, 1)), np.full(6, np.inf), 'abc'])
def test_what_is_no_wrench_or_twist(vector):
    for takes in (wrench_in_frame, twist_in_frame):
        with pytest.raises(LeggedDynamicsError, match=r'expected a (wrench|twist)'):
            takes(vector, HERE)


@pytest.mark.parametrize('changed', [
    {'n_equalities': 3}, {'n_equalities': -1}, {'n_equalities': 1.5}, {'n_equalities': None},
    {'g': np.zeros((2, 2))}, {'H': 'none'}, {'C': np.zeros((2, 3))}, {'warm_start': ['a']},
    {'g': np.zeros(0)}, {'d': [np.nan, 0.0]}])
def test_what_is_no_quadratic_program(changed):
    arguments = {'H': np.eye(2), 'g': np.zeros(2), 'C': np.eye(2), 'd': np.zeros(2)} | changed
    with pytest.raises(LeggedDynamicsError, match='expected'):
        solve_quadratic_program(**arguments)


def test_warm_starts_out_of_range_are_left_out():
    found = solve_quadratic_program(np.eye(2), np.ones(2), np.eye(2), np.zeros(2),
                                    warm_start=[-5, 99, 1])
    assert found.outcome is Outcome.SOLVED
    np.testing.assert_allclose(found.x, 0.0, atol=1e-15)


def test_a_force_at_the_apex_of_its_cone_has_a_small_residual():
    # Pulled down, a foot gives nothing: x = 0, where every constraint's own terms vanish.
    C = np.array([[1.0, 0.0, 0.5], [-1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [0.0, -1.0, 0.5]])
    for turn in range(20):
        rng = np.random.default_rng(turn)
        g = np.array([*rng.normal(size=2), 30.0])
        found = solve_quadratic_program(np.diag([1.0, 2.0, 3.0]), g, C, np.zeros(4))
        assert found.outcome is Outcome.SOLVED and found.kkt_residual < 1e-12


def test_programs_of_condition_1e8_are_solved():
    """What can be met is met: the point that the constraints were built around meets them."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 16))
        m, n_equal = int(rng.integers(n, 4 * n)), int(rng.integers(0, n // 2 + 1))
        Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
        H = Q @ np.diag(np.logspace(0, -8, n)) @ Q.T
        C, inside = rng.normal(size=(m, n)), rng.normal(size=n)
        gap = np.abs(rng.normal(size=m)) * rng.integers(0, 2, m)
        gap[:n_equal] = 0.0
        found = solve_quadratic_program((H + H.T) / 2, rng.normal(size=n), C, C @ inside - gap,
                                        n_equalities=n_equal)
        assert found.outcome is Outcome.SOLVED, seed
        assert found.kkt_residual < 1e-8, seed


def planar():
    robot, state = Biped().planar(), start_state()
    return robot, state


@pytest.mark.parametrize(('torque', 'duration', 'push'), [
    (np.zeros(5), 0.01, None), (np.zeros(6), 0.01, np.zeros(2)), (np.full(6, np.nan), 0.01, None),
    (np.zeros(6), 0.0, None), (np.zeros(6), np.inf, None), (np.zeros((6, 1)), 0.01, None)])
def test_what_a_pinned_robot_cannot_be_advanced_by(torque, duration, push):
    robot, state = planar()
    with pytest.raises(LeggedDynamicsError, match='expected'):
        PinnedRobot(robot, state).advance(torque, duration, push)


@pytest.mark.parametrize('force', [np.zeros(2), np.zeros((3, 1)), 'up'])
def test_what_is_no_planar_force(force):
    robot, state = planar()
    motion = velocity_propagation(robot, state)
    with pytest.raises(LeggedDynamicsError, match='expected'):
        force_propagation(robot, motion, force, [0.5, 0.5])


@pytest.mark.parametrize('big_base', [None, 1e6])
@pytest.mark.parametrize('bend', [0.0, -0.0, 1e-12])
def test_a_straight_knee_is_a_flag_and_never_a_torque_of_nan(bend, big_base):
    robot, state = planar()
    position = state.position.copy()
    for foot in robot.feet:
        position[robot.leg(foot)[1] - 1] = bend
    straight = PlanarState(state.pose, state.twist, position, state.velocity)
    command = PlanarController(robot, big_base=big_base).update(
        straight, PlanarTarget(state.pose), 0.01)
    assert np.isfinite(command.torque).all() and np.isfinite(command.wrenches).all()
    if big_base is None:
        assert command.faults == WorkspaceFault.SINGULAR
    usual = PlanarController(robot, big_base=big_base).update(state, PlanarTarget(state.pose),
                                                              0.01)
    assert usual.faults == WorkspaceFault.NONE
    assert len(JOINTS) == robot.n_joints


def test_the_quaternion_of_every_rotation_is_found_half_turns_too():
    turns = np.random.default_rng(5).normal(size=(50, 3))
    halves = np.pi * np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.8, 0], [0, -0.6, 0.8]])
    for turn in [*turns, *halves, np.zeros(3)]:
        R = rotation_from_vector(turn)
        xyzw = quaternion_from_rotation(R)
        assert xyzw[3] >= 0.0 and abs(np.linalg.norm(xyzw) - 1.0) < 1e-15
        assert np.allclose(rotation_from_quaternion(xyzw), R, atol=1e-14)
