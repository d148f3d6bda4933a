# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The age of joint states that their stamps hide: loops with a known dead time."""
import numpy as np
import pytest

from legged_dynamics.safety.sample_age import EffortEcho

LIMITS = np.array([80.0, 80.0, 40.0])
TICK_NS = 2_000_000


def gait(k):
    """Efforts of a trot: each joint has its own rhythm and edges."""
    t = k * TICK_NS * 1e-9
    return 0.3 * LIMITS * np.sin(2.0 * np.pi * np.array([2.0, 3.1, 4.7]) * t + [0.0, 1.0, 2.0])


def run(echo, efforts, late, first=0, last=1000, noise=0.01, filtered=0.0):
    """Run a loop whose readings are ``late(k)`` ticks old and stamped anew; return its ages."""
    random, ages, low = np.random.default_rng(0), [], np.zeros(3)
    for k in range(first, last):
        now = k * TICK_NS
        echo.commanded(now, efforts(k))
        now_at_motor = efforts(k - 1 - late(k))
        low = now_at_motor if not filtered else low + 0.002 / (filtered + 0.002) * (
            now_at_motor - low)
        echo.measured(now, low + noise * LIMITS * random.normal(size=3))
        ages.append(echo.late_ns)
    return np.array(ages)


@pytest.mark.parametrize('late', (10, 20))
def test_a_delay_that_begins_is_told_and_one_that_ends(late):
    echo = EffortEcho(LIMITS)
    ages = run(echo, gait, lambda k: late if 300 <= k < 700 else 0)
    assert not ages[:300].any()
    told = int(np.argmax(ages > 0.8 * late * TICK_NS))
    assert 300 <= told < 350        # 0.1 s
    assert np.abs(ages[400:700] - late * TICK_NS).max() <= 2 * TICK_NS
    assert not ages[-200:].any()


def test_a_delay_is_named():
    echo = EffortEcho(LIMITS)
    run(echo, gait, lambda k: 10 if k >= 300 else 0)
    assert f'{echo.late_ns // 10**6} ms older than their stamps' in echo.note


@pytest.mark.parametrize('gain', (0.8, 1.2))
def test_readings_that_are_a_fifth_off_are_not_old(gain):
    """While all efforts grow together, readings that are too small look like older ones."""
    echo = EffortEcho(LIMITS)
    for k in range(1500):
        now = k * TICK_NS
        echo.commanded(now, 0.2 * LIMITS + 0.5 * gait(k))
        echo.measured(now, gain * (0.2 * LIMITS + 0.5 * gait(k - 1)))
        assert not echo.late_ns


@pytest.mark.parametrize('filtered', (0.003, 0.01))
def test_motors_that_always_answer_late_are_usual(filtered):
    """Torque sensors behind a low pass are late for good, and positions are not."""
    assert not run(EffortEcho(LIMITS), gait, lambda k: 3, filtered=filtered).any()


@pytest.mark.parametrize('seed', range(6))
def test_efforts_that_grow_together_and_stay_tell_nothing(seed):
    """A robot that is taken over: sensors 2 % off make no dead time look better than others."""
    random, echo = np.random.default_rng(seed), EffortEcho(np.repeat(LIMITS, 4))
    wanted, gain, off = random.normal(size=(3, 12)) * np.reshape([0.4, 0.02, 0.003], (3, 1))

    def sent(k):
        return min(max(k, 0) / 100.0, 1.0) * wanted * np.repeat(LIMITS, 4)
    for k in range(700):
        echo.commanded(k * TICK_NS, sent(k) + 0.003 * echo._limits * random.normal(size=12))
        echo.measured(k * TICK_NS, (1.0 + gain) * sent(k - 1) + echo._limits * (
            off + 0.01 * random.normal(size=12)))
        assert not echo.late_ns


def test_a_robot_that_stands_says_nothing():
    assert not run(EffortEcho(LIMITS), lambda k: 0.4 * LIMITS, lambda k: 20 * (k > 300)).any()


def test_what_was_told_is_forgotten_where_nothing_tells_it_any_more():
    """Within seconds, so that a robot that has been stopped may walk again."""
    echo = EffortEcho(LIMITS)
    run(echo, gait, lambda k: 15 if k >= 300 else 0, last=600)
    ages = run(echo, lambda k: gait(min(k, 600)), lambda k: 0, first=600, last=2400)
    assert ages[0] > 0 and not ages[-1]
