# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forces that feet are asked for: what they get, what the others do, and what is said of it."""
import numpy as np
import pytest
from robots import CONFIG
from standing import body_state

from legged_dynamics.dynamics import BaseMotion, forward_dynamics, frame_poses
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map import FrictionCone
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.spatial.rotations import rotation_from_rpy
from legged_dynamics.workspace import AskedForce, BodyTarget, Ground, WorkspaceController

ROBOT = CONFIG / 'robots' / 'anymal_class.yaml'
CONFIGURATION = RobotConfig.from_yaml(ROBOT)
MODEL = CONFIGURATION.apply_to(RobotModel.from_urdf(ROBOT.with_suffix('.urdf')))
STANCE, STILL = np.tile([0.05, 0.5, -0.9], 4), np.zeros(12)
WEIGHT, MS = MODEL.total_mass * 9.81, 1_000_000
TILTED = rotation_from_rpy([0.08, -0.05, 0.6])
HERE = np.array([0.0, 0.0, 0.5])


class Asked:
    """A robot at rest whose feet are asked for forces."""

    def __init__(self, **settings):
        self.controller = WorkspaceController(MODEL, CONFIGURATION, {
            'division.force_rate': 1000.0, 'division.friction': 0.5,
            **{name.replace('__', '.'): value for name, value in settings.items()}})
        self.stamp = 0

    def step(self, asked, R_WB=TILTED, position=HERE, ground=None):
        """Return the command of one sample."""
        self.stamp += 2 * MS
        return self.controller.update(
            body_state(position, R_WB), Measurement(self.stamp, STANCE, STILL, None),
            BodyTarget.of(HERE, TILTED if R_WB is TILTED else R_WB), asked, ground)

    def settle(self, asked, samples=3, **more):
        for _ in range(samples):
            command = self.step(asked, **more)
        return command

    def forces(self):
        """Return (4, 3) forces in world axes [N]."""
        return np.array([self.controller.forces()[i] for i in range(4)])


def accelerations(made, command, R_WB=TILTED):
    """Return accelerations of base and joints under the efforts and forces of a command."""
    loads = {foot.link: wrench for foot, wrench in zip(CONFIGURATION.feet, command.foot_wrench)}
    found = forward_dynamics(MODEL, STANCE, STILL, command.effort, BaseMotion(), loads)
    return found.base_acceleration, found.joint_acceleration


def test_forces_are_as_asked_and_hold_the_robot_still():
    made, asked = Asked(), {0: AskedForce([5.0, -3.0, 0.35 * WEIGHT])}
    command = made.settle(asked)
    np.testing.assert_allclose(made.forces()[0], asked[0].force, atol=0.2)
    np.testing.assert_allclose(made.forces().sum(axis=0), [0, 0, WEIGHT], atol=1e-6)
    assert not command.clipped and not command.faults
    base, joints = accelerations(made, command)
    np.testing.assert_allclose(base[:3], 9.81 * TILTED[2], atol=1e-6)   # proper: at rest
    np.testing.assert_allclose(base[3:], 0.0, atol=1e-6)
    np.testing.assert_allclose(joints, 0.0, atol=1e-6)


def test_a_force_may_be_given_in_any_of_the_frames():
    in_world = np.array([20.0, 10.0, 0.3 * WEIGHT])
    R_BF = frame_poses(MODEL, STANCE)['RF_FOOT'].R
    for axes, force in (('world', in_world), ('base', TILTED.T @ in_world),
                        ('foot', R_BF.T @ TILTED.T @ in_world)):
        made = Asked()
        made.settle({1: AskedForce(force, axes)})
        np.testing.assert_allclose(made.forces()[1], in_world, atol=0.2)


@pytest.mark.parametrize(('force', 'why'), [
    ([0, 0, -300.0], 'a normal force below 10 N'),
    ([200.0, 0, 130.0], 'outside the friction cone'),
    ([0, 0, 10.0 * WEIGHT], 'beyond the effort limits'),
    ([0, 0, 0.55 * WEIGHT], 'the other feet cannot balance it')])
def test_the_impossible_is_replaced_by_the_nearest_and_said(force, why):
    made, cone = Asked(), FrictionCone(0.5)
    command = made.settle({0: AskedForce(force)}, samples=40)
    assert command.clipped == {0: why}
    np.testing.assert_allclose(made.forces().sum(axis=0), [0, 0, WEIGHT], atol=1e-6)
    assert all(cone.contains(given, 1e-6) for given in made.forces())
    assert (np.abs(command.effort) <= 0.95 * MODEL.effort_limits + 1e-6).all()
    # It does not depend on how it came about: from another force, the same.
    other = Asked()
    other.settle({0: AskedForce([30.0, 20.0, 100.0])}, samples=20)
    other.settle({0: AskedForce(force)}, samples=60)
    np.testing.assert_allclose(other.forces(), made.forces(), atol=0.02 * WEIGHT)


def test_effort_limits_hold_where_they_are_what_stops_a_force():
    made = Asked(limits__effort_fraction=0.35)
    command = made.settle({0: AskedForce([0.0, 0.0, 0.4 * WEIGHT])}, samples=40)
    assert command.clipped == {0: 'beyond the effort limits'}
    limit = 0.35 * MODEL.effort_limits[0]
    np.testing.assert_allclose(np.abs(command.effort).max() / limit, 1.0, atol=1e-6)
    assert 0.26 * WEIGHT < made.forces()[0, 2] < 0.39 * WEIGHT


def test_a_wish_out_of_reach_is_soon_forgotten():
    made = Asked(division__force_rate=2.0)
    made.settle({})
    even = made.forces()[0]
    for asked, samples in (({0: AskedForce([0.0, 0.0, 10.0 * WEIGHT])}, 500), ({}, 100)):
        made.settle(asked, samples)     # a third of the weight at twice the weight a second
    np.testing.assert_allclose(made.forces()[0], even, atol=0.1)


def test_all_feet_may_ask_for_too_much():
    made = Asked()
    command = made.settle({i: AskedForce([0, 0, 10.0 * WEIGHT]) for i in range(4)}, samples=20)
    assert len(command.clipped) == 4
    np.testing.assert_allclose(made.forces().sum(axis=0), [0, 0, WEIGHT], atol=1e-6)


def test_forces_come_and_go_at_their_rate():
    made = Asked(division__force_rate=2.0)
    made.settle({})
    even = made.forces()[0, 2]
    asked, heights = {0: AskedForce([0.0, 0.0, even + 0.1 * WEIGHT])}, [even]
    for k in range(80):
        made.step(asked if k < 40 else {})
        heights.append(made.forces()[0, 2])
    assert np.abs(np.diff(heights)).max() < 2.0 * WEIGHT * 0.002 * 1.05
    assert heights[40] == pytest.approx(asked[0].force[2], abs=0.2)
    assert heights[-1] == pytest.approx(even, abs=0.1)


def test_a_foot_that_does_not_stand_is_told_so():
    made = Asked()
    state = body_state(HERE, TILTED, contact=(True, True, True, False))
    command = made.controller.update(state, Measurement(1, STANCE, STILL, None), BodyTarget.of(
        HERE, TILTED), {3: AskedForce([0.0, 0.0, 10.0])})
    assert command.clipped == {3: 'it does not stand'}


def test_on_a_slope_the_cone_stands_on_the_slope():
    """A force along the normal of 16 deg: outside a level cone of 0.25, inside the slope's."""
    normal = rotation_from_rpy([0.0, np.radians(16.0), 0.0])[:, 2]
    along = 0.25 * WEIGHT * normal
    level = Asked(division__friction=0.25)
    assert level.settle({0: AskedForce(along)}, 20).clipped == {0: 'outside the friction cone'}
    slope = Asked(division__friction=0.25)
    command = slope.settle({0: AskedForce(along)}, 20, ground=Ground(np.array(
        [normal, *np.tile([0.0, 0.0, 1.0], (3, 1))])))
    assert not command.clipped
    np.testing.assert_allclose(slope.forces()[0], along, atol=0.2)
    # There the ball touches beside its bottom: the foot's wrench has the moment of that arm.
    R = TILTED @ frame_poses(MODEL, STANCE)['LF_FOOT'].R
    np.testing.assert_allclose(R @ command.foot_wrench[0, 3:], 0.0, atol=1e-2)


def test_what_is_no_force_is_refused():
    with pytest.raises(ConfigurationError, match='three finite numbers'):
        AskedForce([0.0, np.nan, 1.0])
    with pytest.raises(ConfigurationError, match='expected axes world, base, foot'):
        AskedForce([0.0, 0.0, 1.0], 'odom')
    with pytest.raises(ConfigurationError, match='expected 4 unit vectors'):
        Asked().step({}, ground=Ground(np.zeros((4, 3))))
