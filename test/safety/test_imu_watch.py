# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Up, by which a fall is judged, and repeats that are no frozen sensor."""
import numpy as np
import pytest
from test_plausibility import MS, STEP, Imu

from legged_dynamics.safety.imu_watch import ImuWatch
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_from_vector

UP = np.array([0.0, 0.0, 9.81])


@pytest.mark.parametrize('orientation', [True, False])
@pytest.mark.parametrize('seed', range(4))
def test_up_is_right_however_the_imu_is_turned(seed, orientation):
    watch = ImuWatch(0.03)
    R = rotation_from_vector(np.random.default_rng(seed).normal(size=3))
    for k in range(50):
        assert not watch.check(k * STEP, np.zeros(3), R.T @ UP,
                               quaternion_from_rotation(R) if orientation else None)
    np.testing.assert_allclose(watch.up, R.T @ [0.0, 0.0, 1.0], atol=1e-9)


def test_samples_that_are_read_twice_now_and_then_are_no_frozen_sensor():
    imu = Imu(rate=0.0)
    imu.run(1000)
    for _ in range(40):
        assert not imu.run(60)
        last = imu.reading()
        assert not imu.run(2, lambda *_, last=last: last)
    assert 'frozen' in imu.run(20, lambda *_: last)[-1]     # and one that is, still is found


def test_a_fall_moves_up_and_a_sample_of_the_past_changes_nothing():
    watch = ImuWatch(0.0)
    for k in range(500):        # a quarter turn in a second, by the orientation
        R = rotation_from_vector(np.array([0.5 * np.pi * k * 2e-3, 0.0, 0.0]))
        gyro = np.array([0.5 * np.pi, 0.0, 0.0])
        assert not watch.check(k * STEP, gyro, R.T @ UP, quaternion_from_rotation(R))
    assert watch.up == pytest.approx([0.0, 1.0, 0.0], abs=0.01)
    before = watch.up.copy()
    assert watch.check(100 * MS, np.zeros(3), UP, np.array([0.0, 0.0, 0.0, 1.0])) == ''
    np.testing.assert_array_equal(watch.up, before)
