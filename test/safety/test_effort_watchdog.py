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
from legged_dynamics.safety import EffortGuard, EffortWatchdog, GuardState, WatchdogState
from legged_dynamics.safety.effort_watchdog import END_SUFFIX
from legged_dynamics.safety.settings import SETTINGS, WATCHDOG_SETTINGS

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
    bench.tick(A, count=1000)
    np.testing.assert_allclose(bench.tick(count=10), STANDING)
    assert bench.dog.state is WatchdogState.FORWARDING          # 20 ms
    assert not bench.dog.overdue(bench.ms * MS) and bench.dog.overdue((bench.ms + 1) * MS)
    assert bench.tick() is not None and bench.dog.state is WatchdogState.HOLDING
    bench.v = np.full(12, 0.5)                                  # it is pushed
    held = bench.tick(count=25)
    np.testing.assert_allclose(held, STANDING - 0.025 * 3.0 * 80.0 - 0.5 * 0.15 * 80.0, atol=0.1)
    bench.v = np.full(12, -0.5)
    bench.tick(count=25)
    bench.v = np.zeros(12)
    bench.tick(A, count=5)
    assert bench.dog.state is WatchdogState.FORWARDING          # back in time
    bench.tick(count=11 + 66)
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


@pytest.mark.parametrize('settings', [{}, {'watchdog.hold': 0.15}, {'watchdog.hold': 0.5},
                                      {'safety.hold': 0.06}])
@pytest.mark.parametrize('gap', range(10, 320, 10))
def test_a_controller_that_is_back_holds_or_does_not_get_the_motors(settings, gap):
    guard = EffortGuard(MODEL, CONFIGURED.joints, {'safety.ramp': 0.0} | {
        name: value for name, value in settings.items() if name.startswith('safety')})
    guard.activate()
    bench = Bench(**{name: value for name, value in settings.items()
                     if name.startswith('watchdog')})

    def command(effort):
        now = bench.ms * MS + 1
        guard.sample(now, now, bench.q, bench.v)
        out = guard.apply(now, effort)
        bench.tick(A + guard.identity_suffix, effort=out.effort)
        return guard.state.obeying

    while bench.ms < 200:
        command(STANDING)
    bench.tick(count=gap // 2)                                  # stopped: guard and controller
    watched = bench.dog.state
    command(None)                                               # its timer is first to run
    brakes = guard.state is GuardState.DAMPING
    obeyed = bench.dog.state is WatchdogState.FORWARDING
    assert not (obeyed and brakes) or watched is WatchdogState.FORWARDING
    # Where the watchdog has waited, it is the one that lets the robot down.
    if watched is not WatchdogState.FORWARDING and not obeyed:
        assert bench.dog.state is WatchdogState.SITTING
    if not settings and obeyed:
        assert command(STANDING)


def test_the_guard_waits_longer_than_the_watchdog():
    own = {one.name: one.default for one in (*SETTINGS, *WATCHDOG_SETTINGS)}
    assert own['watchdog.deadline'] + own['watchdog.hold'] < own['safety.hold']


def test_a_watchdog_that_is_reset_has_no_owner_and_no_fault():
    bench = Bench()
    bench.tick(A, count=1000)
    bench.tick(A, count=40, effort=np.zeros(11))
    assert bench.dog.cause and bench.dog.fault
    bench.dog.reset()
    assert (bench.dog.cause, bench.dog.fault, bench.dog.doubt) == ('', '', '')
    assert bench.dog.owner is None and bench.tick() is None


def test_what_is_held_is_a_mean_and_not_the_last_spike():
    bench = Bench()
    bench.tick(A, count=1000)
    bench.tick(A, effort=STANDING + 10.0)
    while not bench.dog.overdue(bench.ms * MS):     # between commands it is asked for nothing
        bench.ms += 2
        bench.dog.joints(bench.ms * MS, bench.ms * MS, bench.q, bench.v)
    # 2 ms of an average of 10 ms, of which after 24 ms as many hundredths are gone.
    spike = 0.76 * 10.0 * (1.0 - math.exp(-2.0 / 10.0))
    np.testing.assert_allclose(bench.tick(), STANDING + spike, atol=0.05)
    assert bench.dog.state is WatchdogState.HOLDING


def test_who_leaves_lets_the_robot_sit():
    bench = Bench()
    bench.tick(A, count=1000)
    bench.dog.command(bench.ms * MS, np.zeros(12), A + ' bye', 2000)
    out = bench.tick()
    assert bench.dog.state is WatchdogState.SITTING and bench.dog.cause == f'{A} has left'
    np.testing.assert_allclose(out, STANDING, atol=0.1)


def test_without_joint_states_the_last_efforts_are_held_and_then_none():
    bench = Bench(**{'watchdog.release': 'damping'})
    bench.tick(A, count=1000)
    bench.heard = False
    np.testing.assert_allclose(bench.tick(count=40), STANDING, atol=0.1)
    bench.tick(count=80)
    assert bench.dog.state is WatchdogState.DAMPING
    np.testing.assert_array_equal(bench.tick(), 0.0)


def test_damping_only_brakes():
    bench = Bench(**{'watchdog.release': 'damping'})
    bench.tick(A, count=1000)
    bench.v = np.linspace(-2.0, 2.0, 12)
    out = bench.tick(count=140)
    assert bench.dog.state is WatchdogState.DAMPING
    assert (out * bench.v).max() <= 0.0 and (out * bench.v).min() < -10.0


@pytest.mark.parametrize(('effort', 'text'), [
    (np.full(12, math.nan), 'not finite'), (np.zeros(11), 'expected 12 efforts, got 11')])
def test_what_cannot_be_a_command_is_silence(effort, text):
    bench = Bench()
    bench.tick(A, count=1000)
    bench.tick(A, count=30, effort=effort)
    assert bench.dog.state is WatchdogState.HOLDING and text in bench.dog.fault


def test_a_message_said_over_and_over_is_no_sign_of_life():
    bench = Bench()
    bench.tick(A, count=1000)
    for _ in range(30):
        bench.tick()
        bench.dog.command(bench.ms * MS, STANDING, A, 1000)
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


@pytest.mark.parametrize('wrong', [np.zeros(13), np.zeros(5000), np.zeros((12, 1)), 0.0, None,
                                   ['a'] * 12, [[1.0], [2.0, 3.0]]])
def test_arrays_of_another_shape_are_named_and_not_used(wrong):
    bench = Bench()
    bench.tick(A, count=50)
    now = bench.ms * MS
    assert 'expected 12 positions' in bench.dog.joints(now + 1, now + 1, wrong, np.zeros(12))
    assert 'expected 12 velocities' in bench.dog.joints(now + 2, now + 2, PLACE, wrong)
    bench.dog.joints(now + 3, now + 3, PLACE, np.zeros(12), wrong)
    assert 'expected 12' in bench.dog.doubt or wrong is None
    np.testing.assert_allclose(bench.tick(A, count=20), STANDING)
    assert not bench.dog.doubt


def test_stamps_that_jump_do_not_blind_it():
    for jump, count in ((365 * 24 * 3600 * 10**9, 1), (-3600 * 10**9, 10**9)):
        bench = Bench()
        bench.tick(A, count=1000)
        bench.heard = False
        q, v = PLACE.copy(), np.full(12, 0.3)       # it moves, then it is pushed
        for k in range(160):
            out = bench.tick(*(A,) * (k < 100))
            q = q + 2e-3 * v
            bench.dog.joints(bench.ms * MS, bench.ms * MS + jump * (k < count), q, v)
            assert k < 40 or not bench.dog.doubt
        assert bench.dog.state is WatchdogState.HOLDING
        assert (out < STANDING - 5.0).all()         # seen, and resisted


def test_joint_states_that_are_old_by_their_stamp_are_not_reacted_to():
    bench = Bench()
    bench.tick(A, count=1000)
    bench.heard, q = False, PLACE.copy()
    for k in range(75):         # they come as often as before, 30 ms late
        bench.tick()
        if k >= 15:
            q = q + 2e-3
            bench.dog.joints(bench.ms * MS, (bench.ms - 30) * MS, q, np.ones(12))
            assert not bench.dog.doubt
    assert bench.dog.state is WatchdogState.HOLDING
    np.testing.assert_allclose(bench.tick(), STANDING, atol=0.1)


def test_joint_states_that_have_stopped_brake_nothing():
    bench = Bench(**{'watchdog.release': 'damping'})
    bench.tick(A, count=1000)
    bench.v = np.linspace(-2.0, 2.0, 12)
    bench.tick(A, count=20)
    bench.heard = False
    bench.tick(count=140)
    assert bench.dog.state is WatchdogState.DAMPING
    np.testing.assert_array_equal(bench.tick(count=20), 0.0)


def test_a_second_sender_with_the_owners_identity_is_a_fault_that_holds():
    bench = Bench()
    bench.tick(A, count=1000)
    limit = np.full(12, 80.0)
    for count in (10**6, 2000, 50, 1000):    # ahead; gone back; the same one with other efforts
        bench = Bench()
        bench.tick(A, count=1000)
        assert not bench.dog.command(bench.ms * MS, limit, A, count)
        assert bench.dog.state is WatchdogState.HOLDING
        assert f'a second sender has the identity of {A}' in bench.dog.cause
        np.testing.assert_allclose(bench.tick(A, count=45), STANDING, atol=0.1)   # held
        bench.tick(A, count=30)
        assert bench.dog.state is WatchdogState.SITTING and 'second sender' in bench.dog.cause
    bench.tick(A, count=2000)
    assert bench.dog.state is WatchdogState.LATCHED and bench.dog.refused[A] > 100
    assert bench.tick('body@2') is not None


def test_a_short_gap_in_joint_states_does_not_end_a_sit():
    bench = Bench()
    bench.tick(A, count=1000)
    bench.tick(count=300)
    assert bench.dog.state is WatchdogState.SITTING
    for gap in (15, 150):       # 30 ms, bridged; 300 ms, without efforts
        bench.heard = False
        before = bench.tick().copy()
        out = bench.tick(count=gap)
        assert bench.dog.state is WatchdogState.SITTING
        if gap == 15:
            np.testing.assert_allclose(out, before, rtol=0.05)
        else:
            np.testing.assert_array_equal(out, 0.0)
        bench.heard, bench.q = True, bench.q - 0.05 * (gap == 150)
        assert bench.tick(count=30).any() and bench.dog.state is WatchdogState.SITTING


def test_after_blindness_the_robot_sits_from_where_it_is_and_not_from_where_it_was():
    bench = Bench()
    bench.tick(A, count=1000)
    bench.tick(count=300)
    assert bench.dog.state is WatchdogState.SITTING
    bench.heard = False
    bench.tick(count=150)
    bench.heard, bench.q = True, bench.q - 0.05         # a spring to there: 3.0 * 80 * 0.05 N m
    out, share = bench.tick(count=30), 1.0 - (600 - 225) / 1000
    np.testing.assert_allclose(out, share * STANDING, atol=1.0)
    bench.v = np.full(12, -0.5)                         # and from here on it is held
    assert (bench.tick(count=25) > (share - 0.05) * STANDING + 8.0).all()


def test_one_bad_joint_lets_the_others_be_held_and_braked():
    bench = Bench(**{'watchdog.release': 'damping'})
    bench.tick(A, count=1000)
    bench.q, bench.v = bench.q.copy(), np.full(12, 0.4)
    bench.q[2] = bench.v[2] = math.nan
    held = bench.tick(count=60)
    assert 'LF_KFE' in bench.dog.doubt and bench.dog.state is WatchdogState.HOLDING
    assert held[2] == pytest.approx(STANDING[2], abs=0.1)       # blind: what it had
    others = np.arange(12) != 2
    assert (held[others] < STANDING[others] - 5.0).all()        # pushed back and damped
    out = bench.tick(count=120)
    assert bench.dog.state is WatchdogState.DAMPING
    assert out[2] == 0.0 and (out[others] < -1.0).all()


def taken_over(load, left=None, **settings):
    """Return a bench whose motors have torque, just taken over, and the torques."""
    bench = Bench(**settings)
    bench.dog.take_over(0, left)
    joints = bench.dog.joints
    bench.dog.joints = lambda now, stamp, q, v: joints(now, stamp, q, v, load)
    return bench


def test_a_joint_that_could_not_be_read_when_motors_were_taken_over_keeps_its_torque():
    bench = taken_over(STANDING)
    q = bench.q
    bench.q = np.where(np.arange(12) == 2, math.nan, q)
    bench.tick()
    bench.q = q                     # read again
    np.testing.assert_allclose(bench.tick(count=20), STANDING, atol=0.1)


def test_motors_with_torque_that_nobody_commands_are_held_and_let_down():
    bench = taken_over(STANDING)
    out = bench.tick()
    assert bench.dog.state is WatchdogState.HOLDING
    np.testing.assert_allclose(out, STANDING, atol=0.1)
    bench.tick(count=270)
    assert bench.dog.state is WatchdogState.SITTING and 'nobody commands' in bench.dog.cause
    bench.tick(count=2200)
    assert bench.dog.state is WatchdogState.LATCHED
    # A controller that is still there goes on, without a jump.
    bench = taken_over(STANDING)
    bench.tick(count=20)
    np.testing.assert_allclose(bench.tick(A), STANDING, atol=0.1)
    assert bench.dog.state is WatchdogState.FORWARDING and bench.dog.owner == A
    # Limp motors, and those that deliver something else than what was left, are left alone.
    for load, left in ((0.01 * STANDING, None), (STANDING, -STANDING)):
        bench = taken_over(load, left)
        assert bench.tick(count=5) is None and bench.dog.state is WatchdogState.IDLE
    # Without joint states at least the torque ends.
    bench = Bench()
    bench.dog.take_over(0)
    bench.heard = False
    bench.tick(count=1600)
    np.testing.assert_array_equal(bench.tick(), 0.0)


def test_motors_that_are_left_alone_get_zero_last():
    bench = Bench(**{'watchdog.release': 'damping', 'safety.damping_duration': 0.1})
    bench.tick(A, count=100)
    bench.v = np.full(12, -0.5)
    sent = [out.copy() for out in (bench.tick() for _ in range(200)) if out is not None]
    assert bench.dog.state is WatchdogState.LATCHED
    assert np.abs(sent[-2]).min() > 1.0 and not sent[-1].any()


def test_the_next_watchdog_goes_to_the_mean_posture_that_the_dead_one_had_seen():
    dead = Bench()
    mean, swing = dead.q.copy(), np.zeros(12)
    swing[2] = 0.2      # a knee that swings, a third of a second each way
    for k in range(2000):
        dead.q = mean + swing * math.sin(2e-3 * math.pi * 3.0 * k)
        dead.tick(A, effort=STANDING)
    bench = Bench()
    bench.q = dead.q + swing
    bench.dog.take_over(0, np.array(dead.dog.memory).ravel())
    bench.tick()
    first, later = bench.tick()[2], bench.tick(count=100)[2]
    assert first == pytest.approx(STANDING[2], abs=1.0)
    stiffness = 3.0 * 80.0
    assert later - first == pytest.approx(-stiffness * (bench.q[2] - mean[2]), rel=0.25)
    bench.tick(count=100)       # who is alone waits for a controller, half a second
    assert bench.dog.state is WatchdogState.HOLDING


def test_the_first_command_goes_on_from_what_the_motors_deliver():
    bench = Bench()
    for ms in range(0, 20, 2):
        bench.dog.joints(ms * MS, ms * MS, bench.q, bench.v, STANDING)
    bench.ms, bench.heard = 20, False
    bench.dog.command(20 * MS, -STANDING, A, 1)
    np.testing.assert_allclose(bench.dog.output(20 * MS), STANDING)
    bench.dog.command(22 * MS, -STANDING, A, 2)
    np.testing.assert_allclose(bench.dog.output(22 * MS), np.maximum(STANDING - 16.0, -STANDING))


def test_who_takes_over_holds_for_half_a_second_from_the_first_joint_states_on():
    bench = Bench()
    bench.dog.take_over(0)
    bench.heard = False
    assert bench.tick(count=750) is None        # 1.5 s without joint states: nothing to hold
    for _ in range(240):
        bench.ms += 2
        bench.dog.joints(bench.ms * MS, bench.ms * MS, bench.q, bench.v, STANDING)
        out = bench.dog.output(bench.ms * MS)
        np.testing.assert_allclose(out, STANDING, atol=0.1)
        assert bench.dog.state is WatchdogState.HOLDING


def test_a_climbers_efforts_are_kept_until_somebody_commands_and_when_the_watchdog_leaves():
    bench = Bench(**{'safety.output': 'keep', 'watchdog.hold': 0.05})
    bench.tick(A, count=1000)
    bench.heard = False
    for _ in range(3000):       # 6 s without commands and joint states
        np.testing.assert_allclose(bench.tick(), STANDING, rtol=1e-6)
    np.testing.assert_allclose(bench.dog.motors.parting(), STANDING, rtol=1e-6)
    assert bench.dog.motors.keeps and bench.dog.owner is None
    bench.heard = True
    bench.tick(B, count=100, effort=0.5 * STANDING)
    assert bench.dog.state is WatchdogState.FORWARDING and bench.dog.owner == B
    bench.dog.command(bench.ms * MS, STANDING, B + END_SUFFIX, 0)
    np.testing.assert_allclose(bench.tick(count=3000), 0.5 * STANDING, rtol=1e-6)
