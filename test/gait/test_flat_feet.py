# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots that walk flat-footed on their own odometry: recognised, levelled, and doubted."""
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation
from walkers import GRAVITY, HEIGHT, two_footed_walk

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.people.gait.contact_timing import contact_timing
from legged_dynamics.people.gait.double_support import DoubleSupport
from legged_dynamics.people.gait.flat_feet import fallen, flat_footed, flat_shares
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import soles_of, steps

SETTINGS = GaitSettings()
ROBOT = two_footed_walk(rolls=False)


def dynamics(walker=ROBOT, tilt=0.0):
    """Return the walk as a base whose attitude is off by `tilt` (n,) [rad] about x reports it."""
    turn = Rotation.from_rotvec(np.outer(np.broadcast_to(tilt, len(walker.time)), [1.0, 0.0, 0.0]))
    place = walker.base - [0.0, 0.0, HEIGHT]
    motion = RecordedMotion.from_poses(
        walker.model, walker.time, place + turn.apply([0.0, 0.0, HEIGHT]), turn.as_quat(),
        walker.position)
    return GaitInverseDynamics.of(walker.model, walker.feet, motion)


def walks_flat(dynamics, contact, settings):
    return flat_footed(dynamics, contact, settings, soles_of(dynamics, settings))


def test_a_robot_that_walks_flat_footed_is_told_from_a_person():
    person = two_footed_walk()
    assert walks_flat(dynamics(), ROBOT.contact, SETTINGS)
    assert not walks_flat(dynamics(person), person.contact, SETTINGS)
    outside = replace(SETTINGS, odometry_error=0.0)     # its pose is measured from outside
    assert not walks_flat(dynamics(), ROBOT.contact, outside)


def test_markers_on_a_robot_are_not_its_odometry():
    walk = dynamics()
    shaken = replace(walk, motion=replace(walk.motion, base_position=walk.base_position
                                          + np.random.default_rng(0).normal(
                                              scale=5e-4, size=walk.base_position.shape)))
    assert not walks_flat(shaken, ROBOT.contact, SETTINGS)


def test_an_attitude_that_is_off_does_not_shift_the_load():
    """The soles lie on the floor, so gravity is along their normals."""
    true = flat_shares(dynamics(), ROBOT.contact, SETTINGS)
    off = flat_shares(dynamics(tilt=0.02), ROBOT.contact, SETTINGS)
    np.testing.assert_allclose(off, true, atol=0.02)


def test_touch_down_and_lift_off_are_those_of_the_soles():
    timing = contact_timing(dynamics(), SETTINGS)
    for change in timing.changes:
        true = ROBOT.time[1:][np.diff(ROBOT.contact[:, change.foot].astype(int)) == (
            1 if change.landing else -1)]
        assert np.abs(true - change.time).min() < 3.0 * change.deviation


def test_a_robot_that_tips_over_has_fallen():
    tilt = np.where(ROBOT.time > 2.2, 2.0 * (ROBOT.time - 2.2), 0.0)
    fell = fallen(dynamics(tilt=tilt), ROBOT.contact, flat=True)
    assert fell[ROBOT.time > 2.4].all() and not fell[ROBOT.time < 2.3].any()
    assert walks_flat(dynamics(tilt=tilt), ROBOT.contact, SETTINGS)


def test_who_lies_has_fallen_and_who_bends_has_not():
    """Whether or not somebody walks flat-footed: the base tilts by more than people bend."""
    tilt = np.where(ROBOT.time > 2.2, 1.4, np.where(ROBOT.time > 1.8, 0.9, 0.0))
    fell = fallen(dynamics(tilt=tilt), ROBOT.contact, flat=False)
    assert fell[ROBOT.time > 2.2].all() and not fell[ROBOT.time < 2.2].any()


def test_bars_are_widest_just_after_a_landing():
    walk = DoubleSupport(ROBOT.model, ROBOT.feet).solve(ROBOT.motion())
    total = np.sqrt(walk.covariance[..., 2, 2].sum(axis=1))
    landed = np.flatnonzero((ROBOT.contact[1:] & ~ROBOT.contact[:-1]).any(axis=1))
    alone = walk.contact.sum(axis=1) == 1
    assert total[landed + 5].min() > 2.0 * total[alone].min()


def test_a_sole_that_skids_along_the_floor_may_bear():
    """It is as fast as one in the air, so nothing but its height tells."""
    up = np.flatnonzero(~ROBOT.contact[:, 1])
    swing = up[(up > 60) & (ROBOT.time[up] < 1.5)]
    skid, high = swing[len(swing) // 2:][:4], swing[len(swing) // 2 - 3:][:3]
    position = ROBOT.position.copy()
    position[skid, 6] = -HEIGHT                     # z of the second foot
    found = DoubleSupport(ROBOT.model, ROBOT.feet).share(
        dynamics(replace(ROBOT, position=position), tilt=0.01))
    assert found.flat and not found.contact[skid, 1].any()
    assert found.probability[skid, 1].min() > 0.3
    # Of the weight, also of what the foot that stands then bears less.
    bars = found.deviation[..., 2] / (ROBOT.model.total_mass * GRAVITY)
    assert bars[skid].min() > 0.1
    assert bars[high, 1].max() < 0.02


def test_a_foot_that_is_about_to_land_is_doubted_as_much_as_one_that_lands():
    """Just before a change of contact the force is zero with 1 - p and a landing's with p."""
    walk = DoubleSupport(ROBOT.model, ROBOT.feet).solve(ROBOT.motion())
    bars = walk.deviation[..., 2] / (ROBOT.model.total_mass * GRAVITY)
    doubted = ~walk.contact & (walk.probability > 0.1)
    assert (bars[doubted] > 0.15 * np.sqrt(walk.probability[doubted])).all()


def test_a_foot_that_touches_and_lifts_again_takes_over_no_load():
    """Neither the share nor its error is then by the law of a step."""
    contact = np.array([[1, 0], [1, 1], [1, 0], [1, 1], [0, 1]], bool)
    assert list(steps(contact)) == [(3, 4)]
