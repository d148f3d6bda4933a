# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""An IMU with joints between it and the base says the same as one on the base."""
from dataclasses import replace

import numpy as np
import pytest
from motions import QUIET, RATE, Scene, quadruped

from legged_dynamics.dynamics import frame_poses
from legged_dynamics.estimation import GroundReactionEstimator, LegOdometry
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_vector

# A five-point slope of a gyro whose axes turn at 1 rad/s bends over its window of 8 ms: 1e-5 of
# the forces; the derivative below is a difference of steps of 1e-4 s and errs by less.
BENDING = 1e-4


def reading(scene, link, k):
    """Return the measurement with the IMU on a link, by differences of its pose in the base."""
    step, time = 1e-4, k / RATE

    def pose(t):
        found = frame_poses(scene.model, scene.truth(t)[0].position, (link,))[link]
        return found.R, found.p
    (R0, p0), (R, p), (R1, p1) = (pose(time + s) for s in (-step, 0.0, step))
    v, a = (p1 - p0) / (2 * step), (p1 - 2 * p + p0) / step ** 2
    w_r = rotation_vector(R1 @ R0.T) / (2 * step)
    motion, rotation, _ = scene.truth(time)
    w, alpha = motion.base.angular_velocity, motion.base.angular_acceleration
    at_imu = (motion.base.proper_acceleration + np.cross(alpha, p) + np.cross(w, np.cross(w, p))
              + 2.0 * np.cross(w, v) + a)
    return replace(scene.measurement(k), angular_velocity=R.T @ (w + w_r),
                   linear_acceleration=R.T @ at_imu,
                   orientation=quaternion_from_rotation(rotation @ R))


@pytest.mark.parametrize('link', ['LF_THIGH', 'RH_SHANK'])
def test_joints_between_base_and_imu_are_taken_through(link):
    model, config = quadruped(**QUIET)
    scene = Scene(model, config, seed=3)
    on_base = GroundReactionEstimator(model, config)
    moving = GroundReactionEstimator(model, replace(config, imu_link=link))
    down = [True] * 4
    for k in range(2 * on_base.delay + 3):
        a = on_base.update(scene.measurement(k), down)
        b = moving.update(reading(scene, link, k), down)
    weight = 9.81 * model.total_mass
    np.testing.assert_allclose(b.raw_wrench, a.raw_wrench, atol=BENDING * weight)
    # Of the middle of a tick, by the mean of two orientations: of second order in what it turns.
    np.testing.assert_allclose(b.base_rotation, a.base_rotation, atol=1e-6)
    np.testing.assert_allclose(b.base_residual, a.base_residual, atol=BENDING * weight)
    # and were they left out, it would show
    scene.R_BI, scene.p_BI = np.eye(3), np.zeros(3)
    wrong = replace(config, imu_link='')
    naive = GroundReactionEstimator(model, wrong)
    for k in range(2 * on_base.delay + 3):
        c = naive.update(reading(scene, link, k), down)
    assert np.abs(c.raw_wrench - a.raw_wrench).max() > 0.01 * weight


@pytest.mark.parametrize('link', ['LF_THIGH', 'RH_SHANK'])
def test_leg_odometry_takes_an_imu_through_joints(link):
    model, config = quadruped(**QUIET)
    scene = Scene(model, config, seed=3)
    there = replace(config, imu_link=link)
    on_base, moving, naive = (LegOdometry(model, of) for of in (config, there, config))
    up, change = [False] * 4, []
    for k in range(100):
        sample = reading(scene, link, k)
        a = on_base.update(scene.measurement(k), up)
        b, c = moving.update(sample, up), naive.update(sample, up)
        change.append([each.rotation @ each.twist[:3] for each in (a, b)])
    np.testing.assert_allclose(b.rotation, a.rotation, atol=1e-6)
    np.testing.assert_allclose(b.twist[3:], a.twist[3:], atol=1e-4)
    assert np.abs(c.twist[3:] - a.twist[3:]).max() > 0.1
    # By the accelerometer alone, which the joints' motion accelerates as well.
    change = np.array(change) - change[0]
    assert np.abs(change[:, 0]).max() > 0.05
    np.testing.assert_allclose(change[:, 1], change[:, 0], atol=0.01)
