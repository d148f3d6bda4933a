# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""One owner of the motors, a deadline, and what comes after it."""
import gc
import math
import sys
import tracemalloc

import numpy as np
import pytest
from robots import CONFIG

from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.safety import EffortWatchdog, WatchdogState

FILES = CONFIG / 'robots' / 'anymal_class'
CONFIGURED = RobotConfig.from_yaml(FILES.with_suffix('.yaml'))
MODEL = CONFIGURED.apply_to(RobotModel.from_urdf(FILES.with_suffix('.urdf')))
PLACE = np.array(CONFIGURED.nominal_position)
STANDING = np.tile([0.0, 15.0, 25.0], 4)
MS = 1_000_000
A, B = 'body@1.1', 'feet@2.1'


class Bench:
    """A watchdog over a robot at rest that tells its state every 2 ms, and whoever commands."""

    def __init__(self, **settings):
        self.dog = EffortWatchdog(MODEL, CONFIGURED.joints, settings)
        self.ms = self.count = 0
        self.q, self.v = PLACE.copy(), np.zeros(12)
        self.heard = True

    def tick(self, *owners, count=1, effort=STANDING):
        """Let all who are named command; return what the motors get last."""
        for _ in range(count):
            self.ms += 2
            self.count += 1
            self.q = self.q + 2e-3 * self.v
            if self.heard:
                self.dog.joints(self.ms * MS, self.ms * MS, self.q, self.v)
            for owner in owners:
                self.dog.command(self.ms * MS, effort, owner, self.count)
            out = self.dog.output(self.ms * MS)
        return out


def test_one_has_the_motors_and_others_are_named_and_not_passed_on():
    bench = Bench()
    assert bench.tick() is None
    bench.tick(A, count=50)
    for _ in range(500):
        bench.tick(A)
        assert not bench.dog.command(bench.ms * MS, -STANDING, B, 1)
        assert not bench.dog.command(bench.ms * MS, -STANDING)
    np.testing.assert_allclose(bench.tick(A), STANDING)
    assert bench.dog.owner == A and bench.dog.refused == {B: 500, '': 500}
    for k in range(100):        # who gives itself ever new names fills no memory
        bench.dog.command(bench.ms * MS, STANDING, f'{k}', 1)
    assert len(bench.dog.refused) <= 8


def test_silence_is_held_then_the_robot_sits_then_the_motors_are_left_alone():
    bench = Bench(**{'watchdog.sit': 1.0, 'safety.damping_duration': 0.5})
    bench.tick(A, count=100)
    np.testing.assert_allclose(bench.tick(count=25), STANDING)
    assert bench.dog.state is WatchdogState.FORWARDING          # 50 ms
    assert bench.tick() is not None and bench.dog.state is WatchdogState.HOLDING
    bench.v = np.full(12, 0.5)                                  # it is pushed
    held = bench.tick(count=25)
    np.testing.assert_allclose(held, STANDING - 0.025 * 3.0 * 80.0 - 0.5 * 0.15 * 80.0, atol=0.1)
    bench.v = np.full(12, -0.5)
    bench.tick(count=25)
    bench.v = np.zeros(12)
    bench.tick(A, count=5)
    assert bench.dog.state is WatchdogState.FORWARDING          # back in time
    bench.tick(count=26 + 76)
    assert bench.dog.state is WatchdogState.SITTING
    assert f'{A} is silent' in bench.dog.cause
    np.testing.assert_allclose(bench.tick(count=250), 0.5 * STANDING, atol=0.2)
    bench.tick(A, count=10)                                     # too late
    assert bench.dog.state is WatchdogState.SITTING
    bench.tick(count=260)
    assert bench.dog.state is WatchdogState.DAMPING
    bench.tick(count=260)
    assert bench.dog.state is WatchdogState.LATCHED and bench.tick() is None
    assert bench.tick(A, count=10) is None and bench.tick('', count=10) is None
    assert bench.tick('body@1.2') is not None                   # activated anew


def test_who_leaves_lets_the_robot_sit():
    bench = Bench()
    bench.tick(A, count=100)
    bench.dog.command(bench.ms * MS, np.zeros(12), A + ' bye', 1000)
    out = bench.tick()
    assert bench.dog.state is WatchdogState.SITTING and bench.dog.cause == f'{A} has left'
    np.testing.assert_allclose(out, STANDING, atol=0.1)


def test_without_joint_states_the_last_efforts_are_held_and_then_none():
    bench = Bench(**{'watchdog.release': 'damping'})
    bench.tick(A, count=100)
    bench.heard = False
    np.testing.assert_allclose(bench.tick(count=40), STANDING, atol=0.1)
    bench.tick(count=80)
    assert bench.dog.state is WatchdogState.DAMPING
    np.testing.assert_array_equal(bench.tick(), 0.0)


def test_damping_only_brakes():
    bench = Bench(**{'watchdog.release': 'damping'})
    bench.tick(A, count=100)
    bench.v = np.linspace(-2.0, 2.0, 12)
    out = bench.tick(count=140)
    assert bench.dog.state is WatchdogState.DAMPING
    assert (out * bench.v).max() <= 0.0 and (out * bench.v).min() < -10.0


@pytest.mark.parametrize(('effort', 'text'), [
    (np.full(12, math.nan), 'not finite'), (np.zeros(11), 'expected 12 efforts, got 11')])
def test_what_cannot_be_a_command_is_silence(effort, text):
    bench = Bench()
    bench.tick(A, count=100)
    bench.tick(A, count=30, effort=effort)
    assert bench.dog.state is WatchdogState.HOLDING and text in bench.dog.fault


def test_a_message_said_over_and_over_is_no_sign_of_life():
    bench = Bench()
    bench.tick(A, count=100)
    for _ in range(30):
        bench.tick()
        bench.dog.command(bench.ms * MS, STANDING, A, 100)
    assert bench.dog.state is WatchdogState.HOLDING and 'repeats message' in bench.dog.fault


def test_limits_and_slew_hold_for_commands_too():
    bench = Bench()
    last = np.zeros(12)
    for k in range(100):
        out = bench.tick(A, effort=1e3 * np.cos(k + np.arange(12.0))).copy()
        assert (np.abs(out) <= 80.0).all()
        if k:
            assert (np.abs(out - last) <= 16.0 + 1e-9).all()
        last = out


def test_its_loop_allocates_nothing():
    bench = Bench()
    q, v, effort = PLACE.copy(), np.zeros(12), STANDING.copy()

    def loop(count):
        dog, ms = bench.dog, bench.ms
        for k in range(count):
            ms += 2
            dog.joints(ms * MS, ms * MS, q, v)
            if k % 200 < 100:
                dog.command(ms * MS, effort, A, ms)
            dog.output(ms * MS)
        bench.ms = ms
    loop(1000)
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        loop(10)
        before, blocks = tracemalloc.get_traced_memory()[0], sys.getallocatedblocks()
        loop(3000)
        after, more = tracemalloc.get_traced_memory()[0], sys.getallocatedblocks()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert after - before < 2000 and more - blocks < 50     # a few numbers, however long it runs
