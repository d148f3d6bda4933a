# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The force between two ticks, of which only the means over the ticks are known."""
from types import SimpleNamespace

import numpy as np
import pytest

from legged_dynamics.dynamics.jacobians import N_INDEX, SIZE, START
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.filter.equation_errors import jump_share
from legged_dynamics.estimation.filter.forces_by_torque import (
    WALK_SHARE,
    add_variance_within_ticks,
)
from legged_dynamics.estimation.filter.settings import TUNED
from legged_dynamics.estimation.filter.tick import _jump_error
from legged_dynamics.spatial.algebra import ZERO
from legged_dynamics.spatial.jit import as_python

UP, DOWN, WALK = 0.0025, 0.9975, 7.0


def added(before: float, now: float, struck: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return what a tick adds to one foot's variances, and the next tick, in which it is up."""
    index = np.zeros((1, N_INDEX), int)
    index[0, START], index[0, SIZE] = 0, 3
    probability, impact, walk = np.array([now]), np.array([float(struck)]), np.full(3, WALK)
    previous = SimpleNamespace(probability=np.array([before]), variance=np.zeros(3))
    found = []
    for _ in range(2):
        covariance = np.zeros((3, 3))
        as_python(add_variance_within_ticks)(
            SimpleNamespace(index=index), TUNED, walk, probability, impact, previous, covariance)
        found.append(covariance.diagonal())
        probability[0] = previous.probability[0] = UP
    return found[0], found[1]


@pytest.mark.parametrize('before, now', [(DOWN, DOWN), (UP, DOWN), (DOWN, UP)])
def test_of_a_foot_that_stood_in_either_tick(before, now):
    """Also of one that left; and what happened in a tick is doubt of the sample after it, too."""
    first, second = added(before, now)
    np.testing.assert_allclose(first, WALK_SHARE * WALK)
    np.testing.assert_allclose(second, WALK_SHARE * WALK)


def test_a_foot_in_the_air_bears_nothing_in_between():
    """Its deviation stays that of a foot in the air."""
    for values in added(UP, UP):
        np.testing.assert_array_equal(values, 0.0)


def test_a_blow_is_anywhere_in_its_tick():
    """A blow that is over when the tick is: the sample at either end may have had all of it."""
    for values in added(DOWN, UP, struck=True):
        np.testing.assert_allclose(values, TUNED.impact_share * WALK)


def test_the_share_of_a_random_walk():
    """Against a random walk, sampled finely: twice the share, for there are two ticks."""
    steps = np.random.default_rng(3).standard_normal((4000, 2, 200)) / np.sqrt(200)
    from_middle = steps.cumsum(axis=2).mean(axis=2)
    error = from_middle.mean(axis=1)
    assert np.mean(error ** 2) == pytest.approx(2 * WALK_SHARE, rel=0.1)


@pytest.mark.parametrize('soles', [False, True])
def test_the_mean_of_two_readings_is_off_by_when_in_the_tick_a_foot_lands(soles):
    """Acceleration that jumps at any instant of the tick: its mean is anywhere between them."""
    rate, jump, noise = 500.0, np.array([3.0, -4.0, 12.0]), 0.05
    settings = SimpleNamespace(jump_share=jump_share(rate, soles), significant=TUNED.significant,
                               accelerometer_noise=noise)
    rest = np.array([0.1, 0.2, GRAVITY])
    layout = SimpleNamespace(acceleration=0)
    turned = (0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    stated = as_python(_jump_error)(np.array([rest, rest + jump]), layout, settings, turned)
    instant = np.random.default_rng(0).random(4000)
    off = np.outer(1.0 - instant - 0.5, np.reshape(turned, (3, 3)) @ jump)
    if soles:
        least = 1.0 - TUNED.significant * noise / np.linalg.norm(jump)
        deviation = np.sqrt(np.mean(off ** 2, axis=0))
        np.testing.assert_allclose(np.abs(stated), least * deviation, rtol=0.02)
        assert np.dot(stated, off[instant < 0.5].mean(axis=0)) > 0.0
    else:       # a ball's landing is foretold by the mean of both
        assert np.linalg.norm(stated) < 0.05 * np.linalg.norm(jump)
    for quiet in (rest, rest + noise, np.full(3, np.nan)):
        assert as_python(_jump_error)(np.array([rest, quiet]), layout, settings, turned) == ZERO
