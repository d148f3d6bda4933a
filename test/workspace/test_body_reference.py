# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The base's reference: what it says of velocity is the derivative of what it says of pose."""
import numpy as np
import pytest

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.rotations import rotation_from_vector, rotation_vector
from legged_dynamics.workspace.reference import BodyPose, ReferenceGenerator
from legged_dynamics.workspace.settings import WorkspaceSettings

S = 1_000_000_000
HOME = np.array([0.1, -0.2, 0.5])
HEADING = rotation_from_vector([0.0, 0.0, 2.8])


def started(**settings):
    made = ReferenceGenerator(WorkspaceSettings.from_parameters(
        {f'reference.{name}': value for name, value in settings.items()}))
    made.rest(5 * S, BodyPose(HOME, HEADING))
    return made


def pose(x, y, z, *turn):
    rotation = HEADING @ rotation_from_vector(np.array(turn, float)) if turn else HEADING
    return BodyPose(HOME + np.array([x, y, z]), rotation)


def check_derivatives(reference, begin, end, h=1e-5):
    """Compare twist and acceleration with central differences of the pose."""
    for t in np.linspace(begin + 0.01, end - 0.01, 23):
        before, here, after = (reference.at(round((t + d) * S)) for d in (-h, 0.0, h))
        R = here.rotation
        v = R.T @ (after.position - before.position) / (2 * h)
        w = rotation_vector(before.rotation.T @ after.rotation) / (2 * h)
        np.testing.assert_allclose(here.twist, [*v, *w], atol=1e-6)
        np.testing.assert_allclose(here.acceleration, (after.twist - before.twist) / (2 * h),
                                   atol=1e-5)


def test_it_stands_where_it_started_and_is_a_minimum_jerk_curve_to_a_pose():
    reference = started()
    still = reference.at(99 * S)
    np.testing.assert_allclose(still.position, HOME, atol=1e-12)
    assert not still.twist.any()
    goal = pose(0.0, 0.0, -0.15, 0.0, 0.1, 0.2)
    duration = reference.move_to(10 * S, goal)
    assert reference.end_ns == round((10 + duration) * S)
    middle = reference.at(round((10 + duration / 2) * S))
    np.testing.assert_allclose(middle.position, pose(0.0, 0.0, -0.075).position, atol=1e-9)
    assert np.linalg.norm(middle.twist[:3]) == pytest.approx(1.875 * 0.15 / duration)
    check_derivatives(reference, 10, 10 + duration)
    end = reference.at(20 * S)
    np.testing.assert_allclose(end.position, goal.position, atol=1e-12)
    np.testing.assert_allclose(end.rotation, goal.rotation, atol=1e-12)
    assert not end.twist.any()


def test_it_is_as_fast_as_the_limits_allow_and_no_faster():
    reference = started(velocity=0.2, angular_velocity=0.3, acceleration=0.5,
                        angular_acceleration=1.0)
    duration = reference.move_to(6 * S, pose(0.2, 0.1, 0.0, 0.3, 0.0, -0.4))
    targets = [reference.at(round((6 + t) * S)) for t in np.linspace(0, duration, 400)]
    peaks = [max(np.linalg.norm(t.twist[:3]) for t in targets),
             max(np.linalg.norm(t.twist[3:]) for t in targets)]
    # In world axes: the base's own turning is no acceleration of its origin.
    accelerations = [t.rotation @ (t.acceleration[:3] + np.cross(t.twist[3:], t.twist[:3]))
                     for t in targets]
    assert max(map(np.linalg.norm, accelerations)) <= 0.5 * 1.01
    assert peaks[0] <= 0.2 * 1.01 and peaks[1] <= 0.3 * 1.01
    assert max(peaks[0] / 0.2, peaks[1] / 0.3) > 0.85


def test_a_new_wish_on_the_way_makes_no_jump():
    reference = started()
    reference.move_to(6 * S, pose(0.2, 0.0, 0.0, 0.0, 0.3, 0.0))
    stamp = round(6.37 * S)
    before = reference.at(stamp)
    assert np.linalg.norm(before.twist) > 0.1
    duration = reference.move_to(stamp, pose(0.0, -0.1, -0.1, 0.2, 0.0, 0.4))
    after = reference.at(stamp)
    np.testing.assert_allclose(after.packed, before.packed, atol=1e-9)
    check_derivatives(reference, 6.37, 6.37 + duration)
    reference.hold(round(6.8 * S))
    check_derivatives(reference, 6.8, reference.end_ns / S)


def test_a_trajectory_passes_its_poses_at_their_times():
    reference = started()
    poses = [pose(0.03, 0.0, 0.02, 0.0, 0.0, 0.05), pose(0.06, 0.02, 0.0, 0.0, 0.1, 0.1)]
    assert reference.follow(7 * S, [1.0, 2.5], poses) == 1.0
    passed = reference.at(8 * S)
    np.testing.assert_allclose(passed.position, poses[0].position, atol=1e-9)
    np.testing.assert_allclose(passed.rotation, poses[0].rotation, atol=1e-9)
    assert np.linalg.norm(passed.twist[:3]) > 0.01      # no stop on the way
    check_derivatives(reference, 7, 8)
    check_derivatives(reference, 8, 9.5)
    step = [reference.at(8 * S + d).packed for d in (-1, 1)]
    np.testing.assert_allclose(step[0][:18], step[1][:18], atol=1e-7)
    np.testing.assert_allclose(reference.at(20 * S).position, poses[1].position, atol=1e-12)


def test_a_trajectory_that_is_too_fast_is_stretched_and_says_so():
    reference = started(velocity=0.1)
    assert reference.follow(7 * S, [0.5], [pose(0.1, 0.0, 0.0)]) > 3.7      # 1.875 * 0.2 / 0.1


def test_wishes_that_cannot_be_are_refused_and_change_nothing():
    reference = started()
    reference.move_to(6 * S, pose(0.1, 0.0, 0.0))
    stamp = round(6.2 * S)
    before = reference.at(stamp)
    for wish, message in (
            (lambda: reference.move_to(stamp, pose(0, 0, np.nan)), 'finite'),
            (lambda: reference.move_to(stamp, BodyPose(HOME, 2.0 * HEADING)), 'orthonormal'),
            (lambda: reference.follow(stamp, [1.0, 1.0], [pose(0, 0, 0)] * 2), 'rising times'),
            (lambda: reference.follow(stamp, [1.0], []), 'one at least')):
        with pytest.raises(ConfigurationError, match=message):
            wish()
    np.testing.assert_array_equal(reference.at(stamp).packed, before.packed)
