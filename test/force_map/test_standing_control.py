# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The standing force controller by itself: what it asks of motors and ground, and what it says."""
import numpy as np
import pytest
from robots import CONFIG

from legged_dynamics.dynamics import BaseMotion, forward_dynamics, frame_poses
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map import AskedForce, StandingForceController
from legged_dynamics.model import FlatFoot, PointFoot, RobotConfig, RobotModel
from legged_dynamics.spatial.rotations import rotation_from_rpy

ROBOT = CONFIG / 'robots' / 'anymal_class.yaml'
CONFIGURATION = RobotConfig.from_yaml(ROBOT)
MODEL = CONFIGURATION.apply_to(RobotModel.from_urdf(ROBOT.with_suffix('.urdf')))
STANCE, STILL, ORIGIN = np.tile([0.05, 0.5, -0.9], 4), np.zeros(12), np.zeros(3)
WEIGHT, MS = MODEL.total_mass * 9.81, 1_000_000
TILTED = rotation_from_rpy([0.08, -0.05, 0.6])


def controller(**settings):
    return StandingForceController(MODEL, CONFIGURATION.feet, {
        'standing.force_rate': 1000.0,
        **{f'standing.{name}': value for name, value in settings.items()}})


def settle(made, asked, R_WB=TILTED, samples=3):
    """Return the command after a few samples of a robot at rest."""
    for k in range(samples):
        command = made.update(k * 2 * MS, STANCE, STILL, ORIGIN, R_WB, np.zeros(6), asked)
    return command


def accelerations(command, R_WB):
    """Return base and joint accelerations under the efforts and forces of a command."""
    poses, loads = frame_poses(MODEL, STANCE), {}
    for i, foot in enumerate(CONFIGURATION.feet):
        R_BF = poses[foot.link].R
        force = R_BF.T @ (R_WB.T @ command.force[i])
        arm = R_BF.T @ (command.terms.contact_points[i] - poses[foot.link].p)
        loads[foot.link] = [*force, *np.cross(arm, force)]
    found = forward_dynamics(MODEL, STANCE, STILL, command.effort, BaseMotion(), loads)
    return found.base_acceleration, found.joint_acceleration


def test_forces_are_as_asked_and_hold_the_robot_still():
    asked = {0: AskedForce([5.0, -3.0, 0.35 * WEIGHT])}
    command = settle(controller(), asked)
    np.testing.assert_allclose(command.force[0], asked[0].force, atol=0.2)
    np.testing.assert_allclose(command.force.sum(axis=0), [0, 0, WEIGHT], atol=1e-6)
    assert not command.clipped
    assert command.balanced
    base, joints = accelerations(command, TILTED)
    np.testing.assert_allclose(base[:3], 9.81 * TILTED[2], atol=1e-6)   # proper: at rest
    np.testing.assert_allclose(base[3:], 0.0, atol=1e-6)
    np.testing.assert_allclose(joints, 0.0, atol=1e-6)


def test_a_force_may_be_given_in_any_of_the_frames():
    in_world = np.array([20.0, 10.0, 0.3 * WEIGHT])
    R_BF = frame_poses(MODEL, STANCE)['RF_FOOT'].R
    forces = [settle(controller(), {1: AskedForce(force, axes)}).force[1]
              for axes, force in (('world', in_world), ('base', TILTED.T @ in_world),
                                  ('foot', R_BF.T @ TILTED.T @ in_world))]
    for force in forces:
        np.testing.assert_allclose(force, in_world, atol=0.2)


@pytest.mark.parametrize(('force', 'why'), [
    ([0, 0, -300.0], 'a normal force below 13 N'),
    ([200.0, 0, 130.0], 'outside the friction cone'),
    ([0, 0, 10.0 * WEIGHT], 'beyond the effort limits'),
    ([0, 0, 0.55 * WEIGHT], 'the other feet cannot balance it')])
def test_the_impossible_is_replaced_by_the_nearest_and_said(force, why):
    made = controller()
    command = settle(made, {0: AskedForce(force)}, samples=40)
    assert command.clipped == {0: why}
    assert command.balanced
    np.testing.assert_allclose(command.force.sum(axis=0), [0, 0, WEIGHT], atol=1e-6)
    for given in command.force:
        assert made.cone.contains(given, 1e-6)
    assert (np.abs(command.effort) <= made.limits + 1e-6).all()
    # It does not depend on how it came about: from another force, the same.
    other = controller()
    settle(other, {0: AskedForce([30.0, 20.0, 100.0])}, samples=20)
    again = settle(other, {0: AskedForce(force)}, samples=60)
    np.testing.assert_allclose(again.force, command.force, atol=0.02 * WEIGHT)


def test_effort_limits_hold_where_they_are_what_stops_a_force():
    made = controller(torque_fraction=0.35)
    command = settle(made, {0: AskedForce([0.0, 0.0, 0.4 * WEIGHT])}, samples=40)
    assert command.clipped == {0: 'beyond the effort limits'}
    assert command.balanced
    np.testing.assert_allclose(np.abs(command.effort).max() / made.limits[0], 1.0, atol=1e-6)
    assert 0.26 * WEIGHT < command.force[0, 2] < 0.39 * WEIGHT


def test_a_wish_out_of_reach_is_soon_forgotten():
    made = controller(force_rate=2.0)
    even = settle(made, {}).force[0]
    for k in range(1000):       # two seconds
        made.update((k + 3) * 2 * MS, STANCE, STILL, ORIGIN, TILTED, np.zeros(6),
                    {0: AskedForce([0.0, 0.0, 10.0 * WEIGHT])})
    for k in range(100):        # a third of the weight at twice the weight a second
        command = made.update((k + 1003) * 2 * MS, STANCE, STILL, ORIGIN, TILTED, np.zeros(6))
    np.testing.assert_allclose(command.force[0], even, atol=0.1)


def test_all_feet_may_ask_for_too_much():
    asked = {i: AskedForce([0, 0, 10.0 * WEIGHT]) for i in range(4)}
    command = settle(controller(), asked, samples=20)
    assert command.balanced
    assert len(command.clipped) == 4
    np.testing.assert_allclose(command.force.sum(axis=0), [0, 0, WEIGHT], atol=1e-6)


def test_a_body_off_its_place_is_pulled_back():
    made = controller()
    settle(made, {})
    moved = np.array([0.01, -0.02, 0.005])
    command = made.update(6 * MS, STANCE, STILL, moved, TILTED, np.zeros(6))
    pull = command.force.sum(axis=0) - [0, 0, WEIGHT]
    np.testing.assert_allclose(pull, -MODEL.total_mass * 12.0 ** 2 * moved, rtol=1e-6)
    twist = np.concatenate([TILTED.T @ moved, np.zeros(3)])
    command = made.update(8 * MS, STANCE, STILL, ORIGIN, TILTED, twist)
    brake = command.force.sum(axis=0) - [0, 0, WEIGHT]
    np.testing.assert_allclose(brake, -MODEL.total_mass * 2.0 * 0.9 * 12.0 * moved, rtol=1e-6)
    turned = rotation_from_rpy([0.0, 0.03, 0.0]) @ TILTED
    command = made.update(10 * MS, STANCE, STILL, ORIGIN, turned, np.zeros(6))
    base, _ = accelerations(command, turned)
    np.testing.assert_allclose(turned @ base[3:], [0.0, -0.03 * 144.0, 0.0], atol=0.15)


def test_a_robot_far_from_its_place_is_let_go_for_good():
    made = controller()
    settle(made, {})
    far = made.update(6 * MS, STANCE, STILL, np.array([0.0, 0.0, -0.2]), TILTED, np.zeros(6))
    assert far.effort is None
    assert 'let go: the body is 0.200 m from its place' in far.fault
    back = made.update(8 * MS, STANCE, STILL, ORIGIN, TILTED, np.zeros(6))
    assert back.effort is None
    made.reset()
    assert settle(made, {}).effort is not None
    turned = rotation_from_rpy([0.4, 0.0, 0.0]) @ TILTED
    assert 'turned by 0.40' in made.update(9 * MS, STANCE, STILL, ORIGIN, turned,
                                           np.zeros(6)).fault


def test_forces_come_and_go_at_their_rate():
    made = controller(force_rate=2.0)
    even = settle(made, {}).force[0, 2]
    asked = {0: AskedForce([0.0, 0.0, even + 0.1 * WEIGHT])}
    heights = [made.update((k + 3) * 2 * MS, STANCE, STILL, ORIGIN, TILTED, np.zeros(6),
                           asked if k < 40 else {}).force[0, 2] for k in range(80)]
    steps = np.diff([even, *heights])
    assert np.abs(steps).max() < 2.0 * WEIGHT * 0.002 * 1.05
    assert heights[39] == pytest.approx(asked[0].force[2], abs=0.2)
    assert heights[-1] == pytest.approx(even, abs=0.1)


def test_what_cannot_stand_is_refused():
    feet = CONFIGURATION.feet
    with pytest.raises(ConfigurationError, match='three or more point feet'):
        StandingForceController(MODEL, feet[:2])
    with pytest.raises(ConfigurationError, match='three or more point feet'):
        StandingForceController(MODEL, [FlatFoot(foot.link, 0.1, -0.1, 0.1, -0.1)
                                        for foot in feet])
    with pytest.raises(ConfigurationError, match='Did you mean standing.friction'):
        StandingForceController(MODEL, [PointFoot(foot.link) for foot in feet],
                                {'standing.fricton': 0.5})
    with pytest.raises(ConfigurationError, match='three finite numbers'):
        AskedForce([0.0, np.nan, 1.0])
    with pytest.raises(ConfigurationError, match='expected axes world, base, foot'):
        AskedForce([0.0, 0.0, 1.0], 'odom')
