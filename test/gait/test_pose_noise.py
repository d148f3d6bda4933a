# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""White noise of poses: drawn on a made walk whose forces are known."""
from dataclasses import replace

import numpy as np
import pytest
from walkers import DT, GRAVITY, MASS, two_footed_walk

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.people.gait.contact_timing import given_timing
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.reactions import force_covariance
from legged_dynamics.people.gait.required_wrench import (
    WrenchSmoother,
    response,
    seen_variance,
    smoothed,
    without_pose_noise,
)
from legged_dynamics.people.gait.settings import GaitSettings

# Feet of the made walk land softly.
SETTINGS = GaitSettings(landing=0.0)
WALK, WEIGHT, CUTOFF = two_footed_walk(), MASS * GRAVITY, 10.0
# The body bobs twice a stride.
RATE, SIZE = 2.0 * np.pi / 0.55, 0.02
LOAD = 1.0 - SIZE * RATE ** 2 / GRAVITY * np.sin(RATE * WALK.time)


def recorded(noise, seed=0):
    """Return the inverse dynamics of the walk, seen with white noise of poses [m and rad]."""
    rng, n = np.random.default_rng(seed), len(WALK.time)
    base, position = WALK.base.copy(), WALK.position.copy()
    bob = SIZE * np.sin(RATE * WALK.time)
    base[:, 2] += bob
    position[:, 2::4] -= bob[:, None]
    xyzw = np.tile([0.0, 0.0, 0.0, 1.0], (n, 1))
    base += rng.normal(0.0, noise, base.shape)
    position += rng.normal(0.0, noise, position.shape)
    return GaitInverseDynamics.of(WALK.model, WALK.feet, RecordedMotion.from_poses(
        WALK.model, WALK.time, base, xyzw, position, CUTOFF))


def test_the_response_is_that_of_inverse_dynamics():
    """An error of one pose, through the low-pass, the differences and Newton's law."""
    clean, noisy = recorded(0.0), recorded(1e-3)
    error = np.random.default_rng(0).normal(0.0, 1e-3, WALK.base.shape)[:, 2]
    A = response(len(error), DT, CUTOFF)
    np.testing.assert_allclose(noisy.load - clean.load, A @ error, atol=1e-6)


@pytest.mark.parametrize('noise', [5e-4, 1e-3, 2e-3])
def test_noise_of_poses_is_recognised_and_goes(noise):
    raw, left, stated, inside, seen = [], [], [], [], []
    for seed in range(6):
        dynamics = recorded(noise, seed)
        A = response(len(LOAD), DT, CUTOFF)
        seen.append(seen_variance(dynamics.load[:, None], DT, A, 3.3)[0])
        found = WrenchSmoother(dynamics, SETTINGS).given(WALK.contact)
        error = found.load - LOAD
        raw.append(np.mean((dynamics.load - LOAD) ** 2))
        left.append(np.mean(error ** 2))
        stated.append(np.mean(found.noise_left[:, 2] ** 2) / WEIGHT ** 2)
        inside.append(np.mean(np.abs(error) < 1.96 * found.noise_left[:, 2] / WEIGHT))
    assert np.sqrt(np.mean(seen)) == pytest.approx(noise, rel=0.15)
    assert np.mean(left) < 0.3 ** 2 * np.mean(raw)
    # The made force is smoother than that of people, so the deviation may be too large.
    assert np.mean(inside) > 0.9
    assert np.mean(stated) < 0.3 ** 2 * np.mean(raw)


def test_poses_without_noise_are_left_to_the_other_smoother():
    dynamics = recorded(0.0)
    other = replace(dynamics, motion=replace(dynamics.motion, cutoff=None))
    found, expected = (WrenchSmoother(each, SETTINGS).given(WALK.contact)
                       for each in (dynamics, other))
    np.testing.assert_array_equal(found.wrench, expected.wrench)
    assert not found.noise_left.any()


def test_what_noise_leaves_is_in_the_error_bars():
    found = WrenchSmoother(recorded(1e-3), SETTINGS).given(WALK.contact)
    timing = given_timing(WALK.contact, found)
    with_noise, without = (force_covariance(each, timing, WALK.force, each.points(each.low_point),
                                            SETTINGS)[..., 2, 2]
                           for each in (found, replace(found, noise_left=np.zeros((1, 3)))))
    alone = WALK.contact.sum(axis=1) == 1
    alone &= np.convolve(alone, np.ones(21), 'same') == 21
    np.testing.assert_allclose((with_noise - without).sum(axis=1)[alone],
                               found.noise_left[alone, 2] ** 2, rtol=1e-6)


def test_a_signal_of_the_stated_kind_has_the_stated_deviation():
    """Drawn third derivatives, drawn noise: errors over their deviations are of size one."""
    rng, n, rate = np.random.default_rng(1), 80, 3.3
    A = 1e-3 * response(n, DT, CUTOFF)
    ratio = []
    for _ in range(20):
        jerk = rng.normal(0.0, np.sqrt(300.0 * rate ** 5 / DT), n)
        signal = np.cumsum(np.cumsum(np.cumsum(jerk))) * DT ** 3
        signal += 1e-3 * np.linspace(0.0, 1.0, n)
        mean, deviation = smoothed(signal + A @ rng.normal(size=n), DT, A @ A.T, rate)
        ratio.append(((mean - signal) / deviation)[1:-1])
    assert np.sqrt(np.mean(np.square(ratio))) == pytest.approx(1.0, abs=0.15)


def test_long_recordings_are_treated_in_blocks():
    load = recorded(1e-3).load
    assert len(LOAD) > 2 * 120
    found, left = without_pose_noise(load[:, None], DT, CUTOFF, 3.3, 0.0, 120)
    assert np.std(found[:, 0] - LOAD) < 0.3 * np.std(load - LOAD)
    assert (left > 0.0).all()
