# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The trot's clock and the feet's paths through the air."""
from __future__ import annotations

import numpy as np
import pytest

from legged_dynamics.simulation.schedule import TrotClock, swing_position

DIAGONAL = np.array([True, False, False, True])
PERIOD, DUTY, STEP = 0.6, 0.6, 0.001


def history(seconds, stepping):
    clock = TrotClock(DIAGONAL, PERIOD, DUTY)
    rows = []
    for index in range(round(seconds / STEP)):
        clock.advance(STEP, stepping(index * STEP))
        rows.append((clock.stance, clock.load, clock.swing, clock.stepping))
    stance, load, swing, moving = map(np.array, zip(*rows))
    return stance, load, swing, moving


def test_pairs_alternate_with_a_short_overlap():
    stance, load, _, _ = history(7.0, lambda t: True)
    stance, load = stance[1000:], load[1000:]
    assert (stance[:, 0] == stance[:, 3]).all() and (stance[:, 1] == stance[:, 2]).all()
    np.testing.assert_allclose(stance.mean(axis=0), DUTY, atol=2e-3)
    assert stance.sum(axis=1).min() == 2
    assert (stance.sum(axis=1) == 4).mean() == pytest.approx(2.0 * DUTY - 1.0, abs=4e-3)
    assert (load[~stance] == 0.0).all()
    # Weight passes from pair to pair: the shares of both add up to one foot of each diagonal.
    np.testing.assert_allclose(load[:, 0] + load[:, 1], 1.0, atol=1e-6)


def test_loads_change_smoothly_through_start_and_stop():
    stance, load, _, moving = history(4.0, lambda t: 0.5 < t < 2.5)
    overlap = (DUTY - 0.5) * PERIOD
    assert np.abs(np.diff(load, axis=0)).max() < 2.0 * STEP / overlap
    assert not moving[:500].any() and moving[600:2500].all() and not moving[-500:].any()
    assert stance[-500:].all() and (load[-500:] == 1.0).all()


def test_swing_starts_and_ends_at_rest_on_its_ends():
    start, target = np.array([0.1, 0.2, 0.03]), np.array([0.3, 0.15, 0.028])
    for progress, end in ((0.0, start), (1.0, target)):
        position, velocity, acceleration = swing_position(start, target, 0.06, progress, 0.25)
        np.testing.assert_allclose(position, end, atol=1e-12)
        np.testing.assert_allclose(velocity, 0.0, atol=1e-12)
        np.testing.assert_allclose(acceleration, 0.0, atol=1e-9)


def test_swing_derivatives_are_those_of_its_position():
    start, target, duration = np.array([0.1, 0.2, 0.03]), np.array([0.3, 0.15, 0.028]), 0.25
    for progress in (0.05, 0.3, 0.449, 0.451, 0.7, 0.97):
        h = 1e-4
        points = [swing_position(start, target, 0.06, progress + k * h / duration, duration)
                  for k in (-1, 0, 1)]
        np.testing.assert_allclose((points[2][0] - points[0][0]) / (2 * h), points[1][1],
                                   atol=1e-4)
        np.testing.assert_allclose((points[2][1] - points[0][1]) / (2 * h), points[1][2],
                                   atol=2e-2)


def test_swing_clears_the_ground_by_its_height():
    heights = [swing_position(np.array([0.0, 0.0, 0.03]), np.array([0.2, 0.0, 0.02]), 0.06, s,
                              0.25)[0][2] for s in np.linspace(0.0, 1.0, 201)]
    assert max(heights) == pytest.approx(0.09, abs=1e-4)
    assert min(heights) >= 0.02
