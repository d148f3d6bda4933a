# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The pacer on a clock that is moved by hand."""
from __future__ import annotations

import time

from legged_dynamics.simulation import Pacer

PERIOD = 2_000_000


class HandClock:
    """A clock that only moves when told, or slept on."""

    def __init__(self, overshoot=0):
        self.now, self.overshoot, self.sleeps = 1_000, overshoot, []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.sleeps.append(seconds)
        self.now += round(seconds * 1e9) + self.overshoot


def paced(clock, **options):
    pacer = Pacer(PERIOD, clock=clock, sleep=clock.sleep, **options)
    pacer.wait()
    return pacer


def test_work_in_time_sleeps_to_the_deadline():
    clock = HandClock()
    pacer = paced(clock)
    for tick in range(1, 11):
        clock.now += 700_000
        pacer.wait()
        assert clock.now == 1_000 + tick * PERIOD
    assert (pacer.ticks, pacer.missed, pacer.worst_lateness_ns) == (10, 0, 0)
    assert pacer.statement == '0 of 10 deadlines missed (0.00 %), worst lateness 0.00 ms'


def test_late_work_is_counted_and_caught_up():
    clock = HandClock()
    pacer = paced(clock)
    clock.now += 5_000_000
    for _ in range(4):
        pacer.wait()
    # Deadlines at 2 and 4 ms had passed, those at 6 and 8 ms had not.
    assert (pacer.ticks, pacer.missed) == (4, 2)
    assert pacer.worst_lateness_ns == 3_000_000
    assert clock.now == 1_000 + 8_000_000
    assert pacer.statement == '2 of 4 deadlines missed (50.00 %), worst lateness 3.00 ms'


def test_oversleeping_is_lateness_but_no_missed_deadline():
    clock = HandClock(overshoot=150_000)
    pacer = paced(clock)
    for _ in range(5):
        pacer.wait()
    assert (pacer.missed, pacer.worst_lateness_ns) == (0, 150_000)


def test_a_long_stall_is_dropped_instead_of_replayed():
    clock = HandClock()
    pacer = paced(clock)
    clock.now += 500_000_000
    pacer.wait()
    pacer.wait()
    assert pacer.dropped == 1
    assert clock.now == 1_000 + 502_000_000
    assert pacer.statement.endswith('lost time dropped 1 times')


def test_real_clock_never_returns_early():
    start = time.monotonic_ns()
    pacer = Pacer(PERIOD)
    for _ in range(21):     # the first begins
        pacer.wait()
    assert time.monotonic_ns() - start >= 20 * PERIOD
