# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The guard's states, and the envelope that holds in each of them."""
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from robots import CONFIG, TWO_LEGS

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.safety import EffortGuard, GuardState
from legged_dynamics.safety.joint_watch import BRAKE, LOWER, UPPER
from legged_dynamics.safety.motor_output import STILL, brake

LIMITED = TWO_LEGS.replace(
    'type="continuous">', 'type="continuous"><limit effort="20" velocity="9"/>')
JOINTS = ('r_knee', 'l_hip_x', 'l_hip_y')      # any order: the command's
LIMITS = np.array([40.0, 30.0, 20.0])
MS = 1_000_000
ZERO = np.zeros(3)
PLACE = np.array([-1.0, 0.0, 0.0])              # in the middle of all ranges
# Every effort is reached at once: what is looked at is something else.
FREE = {'ramp': 0.0, 'slew_rate': 1e6}


class Bench:
    """A guard, time, and a robot at rest that tells its state every 2 ms."""

    def __init__(self, active=True, **settings):
        self.guard = EffortGuard(RobotModel.from_urdf(LIMITED), JOINTS, {
            f'safety.{key}': value for key, value in settings.items()})
        self.ms, self.q, self.v = 0, PLACE, ZERO
        if active:
            self.guard.activate()

    def tick(self, command=(5.0, 6.0, 7.0), count=1, heard=True, **more):
        """Let samples come (or not) and commands go; return what goes out last."""
        for _ in range(count):
            self.ms += 2
            if heard:
                self.q = self.q + np.where(np.abs(self.v) < 50.0, 2e-3 * self.v, 0.0)
                self.guard.sample(self.ms * MS, self.ms * MS, self.q, self.v)
            out = self.guard.apply(self.ms * MS, command, **more)
        return out


def test_limits_are_the_urdf_s_in_command_order():
    out = Bench(**FREE).tick([100.0, -100.0, 5.0], 2)
    np.testing.assert_array_equal(out.effort, [40.0, -30.0, 5.0])
    assert out.limited == ('r_knee', 'l_hip_x')
    assert out.state is GuardState.ACTIVE
    half = Bench(effort_fraction=0.5, **FREE).tick([100.0, -100.0, 5.0], 2)
    np.testing.assert_array_equal(half.effort, [20.0, -15.0, 5.0])


def test_nothing_goes_out_before_activation_and_before_the_first_good_command():
    bench = Bench(active=False)
    assert bench.tick().state is GuardState.LIMP and bench.tick().state.silent
    bench.guard.activate()
    assert bench.tick(None).state is GuardState.ARMED
    assert bench.tick([1.0, math.nan, 2.0]).state is GuardState.ARMED
    assert bench.tick().state is GuardState.RAMPING
    assert bench.tick(count=260).state is GuardState.ACTIVE


def test_commands_are_blended_in_from_what_the_motors_deliver():
    bench = Bench(ramp=0.1, slew_rate=1e6)
    first = bench.tick([10.0, 0, 0], measured=[20.0, -99.0, 1.0])
    np.testing.assert_array_equal(first.effort, [20.0, -30.0, 1.0])
    half = bench.tick([10.0, 0, 0], 25, measured=ZERO)
    np.testing.assert_allclose(half.effort, [15.0, -15.0, 0.5])
    assert half.state is GuardState.RAMPING
    unknown = Bench(ramp=0.1, slew_rate=1e6).tick([10.0, 0, 0], measured=[20.0, math.nan, 1.0])
    np.testing.assert_array_equal(unknown.effort, ZERO)


@pytest.mark.parametrize(('command', 'more', 'message'), [
    (None, {}, 'no command'),
    (None, {'why': 'lost'}, 'lost'),
    ([1.0, 2.0], {}, 'expected 3 efforts, one a joint, got shape'),
    ([1.0, math.nan, 2.0], {}, 'the command is not finite for: l_hip_x'),
    ([1.0, 1.0, 1.0], {'age_ns': 30 * MS}, 'the joint states are 30.0 ms old'),
])
def test_what_cannot_be_obeyed_is_bridged_then_damped_then_left_alone(command, more, message):
    bench = Bench(**FREE, hold=0.1, damping=3.0, damping_effort=0.2, damping_duration=0.3)
    bench.tick(count=1000)
    out = bench.tick(command, **more)
    assert out.state is GuardState.HOLDING and out.fault == bench.guard.cause
    assert message in out.fault
    np.testing.assert_allclose(out.effort, [5.0, 6.0, 7.0], atol=1e-3)
    assert bench.tick(command, 48, **more).state is GuardState.HOLDING
    bench.v = np.array([1.0, -2.0, 5.0])
    out = bench.tick(command, 30, **more)
    assert out.state is GuardState.DAMPING
    # Damping, less the threshold of stillness, and the last at its limit: 0.2 of 20 N m.
    # What the knee's little inertia allows is less.
    knee = bench.guard.table[0, BRAKE]
    assert knee < 3.0
    np.testing.assert_allclose(out.effort, [-knee * 0.95, 3.0 * 1.95, -4.0], rtol=0.02)
    out = bench.tick(count=200)
    assert out.state is GuardState.LATCHED and message in bench.guard.cause
    np.testing.assert_array_equal(out.effort, ZERO)
    assert bench.tick(count=1000).state is GuardState.LATCHED      # however good what comes
    bench.guard.activate()
    assert bench.tick(count=2).state is GuardState.ACTIVE


def test_what_comes_back_in_time_is_obeyed_again_without_a_ramp_from_zero():
    bench = Bench(**FREE, resume=0.1)
    bench.tick(count=1000)
    for silence in (20, 95):
        held = bench.tick(None, silence, heard=False)
        assert held.state is GuardState.HOLDING and 'no joint states for' in held.fault
        np.testing.assert_allclose(held.effort, [5.0, 6.0, 7.0], atol=1e-2)
        assert bench.tick(None, 40).state is GuardState.HOLDING     # the controller looks round
        back = bench.tick()
        assert back.state is GuardState.RAMPING
        np.testing.assert_allclose(back.effort, [5.0, 6.0, 7.0], atol=1e-2)
        assert bench.tick(count=51).state is GuardState.ACTIVE
    assert bench.tick(None, 130, heard=False).state is GuardState.DAMPING


def test_the_posture_of_the_last_good_command_is_held_against_who_sags():
    bench = Bench(**FREE, posture_stiffness=2.0, posture_damping=0.0)
    bench.tick(count=1000)
    bench.v = np.array([0.1, 0.0, 0.0])
    out = bench.tick(None, 10)
    np.testing.assert_allclose(out.effort, [5.0 - 2.0 * 40.0 * 0.002, 6.0, 7.0], atol=1e-2)


@pytest.mark.parametrize('state', [GuardState.HOLDING, GuardState.DAMPING])
def test_nothing_reacts_to_joint_states_older_than_20_ms_however_long_silence_is_waited_for(state):
    bench = Bench(**FREE, hold=0.05 if state is GuardState.DAMPING else 1.0, input_timeout=0.5)
    bench.tick(count=1000)
    held = bench.tick(None, 2).effort
    bench.v = np.array([0.3, -0.3, 0.3])
    bench.tick(None, 30)
    for old_ms in range(2, 50, 2):
        out = bench.tick(None, heard=False)
        assert out.state is state
        # Braked, or pushed back to the posture; and after 20 ms as if nothing were known.
        blind = held if state is GuardState.HOLDING else ZERO
        assert (np.abs(out.effort - blind).max() > 0.1) == (old_ms <= 20)


def test_what_a_model_foresees_goes_out_while_joint_states_are_silent_for_as_long_as_a_hold():
    bench = Bench(hold=0.1, **FREE)
    bench.tick([5.0, 6.0, 7.0], 2)
    bench.tick([1.0, -2.0, 3.0], 30, heard=False, foreseen=True)
    out = bench.tick([1.0, -2.0, 300.0], heard=False, foreseen=True)
    assert out.state is GuardState.HOLDING and 'no joint states for' in out.fault
    np.testing.assert_array_equal(out.effort, [1.0, -2.0, 20.0])
    assert np.isfinite(bench.tick([1.0, math.nan, 3.0], heard=False, foreseen=True).effort).all()
    late = bench.tick([1.0, -2.0, 3.0], 60, heard=False, foreseen=True)
    assert late.state.released and not late.effort.any()


def test_a_hold_counts_from_the_last_good_command_however_late_its_end_is_noticed():
    bench = Bench(**FREE, hold=0.1)
    bench.tick(count=1000)
    for _ in range(40):         # who computes the command takes 80 ms, and then has none
        bench.ms += 2
        bench.guard.sample(bench.ms * MS, bench.ms * MS, bench.q, bench.v)
    assert bench.tick(None, 9).state is GuardState.HOLDING
    assert bench.tick(None, 2).state is GuardState.DAMPING


def test_joint_states_that_come_late_are_held_through_and_said_to_be_as_old_as_they_are():
    bench = Bench(**FREE)
    bench.tick(count=1000)
    for _ in range(40):
        bench.ms += 2
        bench.guard.sample(bench.ms * MS, bench.ms * MS, bench.q, bench.v, 60 * MS)
        out = bench.guard.apply(bench.ms * MS, (5.0, 6.0, 7.0))
    assert out.state is GuardState.HOLDING
    assert 'the joint states are 60.0 ms old' in out.fault


def test_a_silence_is_blended_over_for_as_long_as_it_took():
    bench = Bench(**FREE, resume=0.1)
    bench.tick(count=1000)
    bench.tick(None, 10)                                        # 20 ms
    assert bench.tick((15.0, 6.0, 7.0), 6).effort[0] == pytest.approx(10.0, abs=1.0)
    assert bench.tick((15.0, 6.0, 7.0), 6).state is GuardState.ACTIVE


def test_a_command_beyond_the_limits_is_blended_in_as_the_limit():
    bench = Bench(ramp=0.1, slew_rate=1e6)
    bench.tick([1000.0, 0, 0])
    np.testing.assert_allclose(bench.tick([1000.0, 0, 0], 25).effort, [20.0, 0.0, 0.0])


def test_what_is_held_is_a_mean_and_not_the_last_spike():
    bench = Bench(**FREE)
    bench.tick(count=1000)
    bench.tick((15.0, 6.0, 7.0))
    # 2 ms of an average of 10 ms, of which a 50th is gone after as long.
    spike = 0.98 * 10.0 * (1.0 - math.exp(-2.0 / 10.0))
    assert bench.tick(None).effort[0] == pytest.approx(5.0 + spike, abs=1e-2)


def test_activation_forgets_joint_states_and_efforts():
    bench = Bench(**FREE)
    bench.tick(count=50)
    bench.guard.doubt('it has jumped')
    bench.guard.activate()
    out = bench.tick(heard=False)
    assert out.state is GuardState.ARMED and out.fault == 'no joint states yet'
    slow = Bench(ramp=0.1)
    slow.tick(count=100)
    slow.guard.activate()
    np.testing.assert_array_equal(slow.tick().effort, ZERO)


class Sitting(Bench):
    """A quadruped whose guard has begun to let it down, for the reading of one joint is bad."""

    command = np.tile([0.0, 15.0, 25.0], 4)

    def __init__(self, **settings):
        super().__init__()
        files = CONFIG / 'robots' / 'anymal_class'
        config = RobotConfig.from_yaml(files.with_suffix('.yaml'))
        model = config.apply_to(RobotModel.from_urdf(files.with_suffix('.urdf')))
        self.guard = EffortGuard(model, config.joints, {
            'safety.ramp': 0.0, 'safety.hold': 0.05, 'safety.damping_duration': 1.0,
            'safety.tilt': 1.0, 'safety.input_timeout': 0.045, **settings})
        self.guard.activate()
        self.q, self.v = np.array(config.nominal_position), np.zeros(12)
        self.tick(self.command, 1000)
        self.q[2] = self.v[2] = math.nan
        self.tick(None, 28)


def test_with_one_bad_joint_the_robot_is_let_down_on_fading_efforts():
    bench = Sitting()
    assert bench.guard.state is GuardState.SITTING
    for count, share in ((248, 0.5), (200, 0.1)):
        np.testing.assert_allclose(bench.tick(None, count).effort, share * bench.command, atol=0.4)
    assert bench.tick(None, 60).state is GuardState.DAMPING


@pytest.mark.parametrize('end', ['tilted', 'silent'])
def test_a_robot_that_sits_and_falls_or_is_not_seen_is_braked_at_once(end):
    bench = Sitting()
    if end == 'tilted':
        bench.guard.tilted(1.1)
    out = bench.tick(None, 12, heard=end == 'tilted')
    assert out.state is GuardState.DAMPING
    np.testing.assert_array_equal(out.effort, np.zeros(12))


def test_a_brake_takes_energy_out_whichever_of_two_velocities_is_true():
    table, effort, rng = Bench().guard.table, np.zeros(3), np.random.default_rng(0)
    for velocity, seen in rng.uniform(-2.0, 2.0, (200, 2, 3)):
        brake(table, velocity, seen, effort)
        assert (effort * velocity <= 0.0).all() and (effort * seen <= 0.0).all()
        agree = (velocity * seen > 0.0) & (np.minimum(abs(velocity), abs(seen)) > STILL)
        np.testing.assert_array_equal(effort != 0.0, agree)


def test_who_wants_no_damping_gets_no_posture_that_fades():
    bench = Sitting(**{'safety.output': 'zero'})
    assert bench.guard.state is GuardState.DAMPING
    np.testing.assert_array_equal(bench.tick(None, 12).effort, np.zeros(12))


def test_only_who_lets_go_for_good_says_so():
    for latch in (True, False):
        bench = Bench(**FREE, latch=latch, hold=0.0)
        bench.tick(count=5)
        assert bench.guard.identity_suffix == ''
        bench.tick(None, 2)
        assert bench.guard.state is GuardState.DAMPING
        assert bool(bench.guard.identity_suffix) is latch


def test_a_fall_lets_go_at_once():
    bench = Bench(**FREE, tilt=1.0)
    bench.guard.tilted(0.9)
    assert bench.tick(count=5).state is GuardState.ACTIVE
    bench.guard.tilted(1.1)
    assert bench.tick().state is GuardState.DAMPING
    assert 'tilted by 63 deg' in bench.guard.cause
    bench.guard.activate()
    bench.guard.tilted(1.1)
    assert bench.tick().state is GuardState.ARMED       # not on a robot that lies
    off = Bench(**FREE, tilt=0.0)
    off.guard.tilted(3.0)
    assert off.tick().state is GuardState.ACTIVE


def test_without_a_latch_it_goes_on_by_itself():
    bench = Bench(**FREE, latch=False, hold=0.0, output='zero')
    bench.tick(count=5)
    assert bench.tick(None, 1000).state is GuardState.DAMPING
    np.testing.assert_array_equal(bench.tick(None).effort, ZERO)
    assert bench.tick().state is GuardState.ACTIVE


def test_silence_ends_what_the_safe_output_says_so_that_another_controller_may_have_the_motors():
    bench = Bench(**FREE, hold=0.05)
    bench.tick(count=5)
    assert bench.tick(None, 30, heard=False).state is GuardState.DAMPING
    assert bench.tick(None, 300, heard=False).state is GuardState.LATCHED


def test_efforts_change_no_faster_than_the_slew_rate():
    bench = Bench(ramp=0.0)                 # by default from zero to the limit in 10 ms
    for k in range(1, 5):
        effort = bench.tick(LIMITS).effort
        np.testing.assert_allclose(effort, 0.2 * (k - 1) * LIMITS, atol=1e-9)
    own = Bench(ramp=0.0, slew_rate=1000.0)
    assert own.tick([40.0, 0, 0], 2).effort[0] == pytest.approx(2.0)


def test_efforts_that_accelerate_fade_at_the_velocity_limit_and_power_is_bounded():
    bench = Bench(**FREE, power_fraction=0.25)
    bench.v = np.array([0.0, 0.0, 8.55])            # the limit is 9 rad/s
    np.testing.assert_allclose(bench.tick([0, 0, 15.0], 3).effort[2], 0.25 * 20.0 * 9.0 / 8.55)
    np.testing.assert_allclose(bench.tick([0, 0, -15.0], 3).effort[2], -15.0)
    bench.v = np.array([0.0, 0.0, 8.955])
    np.testing.assert_allclose(bench.tick([0, 0, 15.0], 3).effort[2], 0.05 * 15.0)


def test_a_wall_stands_at_the_ends_of_a_joint():
    bench = Bench(**FREE)
    guard = bench.guard
    knee = JOINTS.index('r_knee')
    low, high = guard.table[knee, [LOWER, UPPER]]
    assert low < high
    bench.q = np.array([high, 0.0, 0.0])
    np.testing.assert_array_equal(bench.tick([10.0, 0, 0], 2).effort[knee], 0.0)
    np.testing.assert_array_equal(bench.tick([-10.0, 0, 0], 2).effort[knee], -10.0)
    bench.guard.activate()
    bench.q = np.array([high - 0.02, 0.0, 0.0])
    bench.v = np.array([1.0, 0.0, 0.0])
    assert bench.tick([0.0, 0, 0], 3).effort[knee] < -0.5       # braked before it gets there


def test_an_absurd_velocity_never_becomes_an_effort():
    bench = Bench(**FREE, hold=0.05)
    bench.tick(count=20)
    for absurd in (1e300, -1000.0, math.inf, math.nan):
        bench.v = np.array([absurd, 0.0, 0.0])
        bench.q = PLACE
        out = bench.tick(None, 60)
        assert np.abs(out.effort).max() <= 7.01
        assert 'r_knee is said to move' in bench.guard.cause
    np.testing.assert_array_equal(out.effort, ZERO)


def test_the_last_message_is_zero():
    bench = Bench(**FREE)
    bench.tick(count=2)
    np.testing.assert_array_equal(bench.guard.last(), ZERO)
    assert bench.guard.state is GuardState.LIMP


@pytest.mark.parametrize('effort', ['0', None])
def test_a_joint_without_a_usable_limit_is_refused(effort):
    text = TWO_LEGS if effort is None else LIMITED.replace('effort="20"', f'effort="{effort}"')
    with pytest.raises(ConfigurationError, match="joint 'l_hip_y': expected an effort limit"):
        EffortGuard(RobotModel.from_urdf(text), JOINTS)


NUMBERS = st.floats(allow_nan=True, allow_infinity=True)
GUARD = EffortGuard(RobotModel.from_urdf(LIMITED), JOINTS, {
    'safety.ramp': 0.05, 'safety.damping_duration': 0.1})


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 100),
                          st.none() | st.lists(NUMBERS, min_size=2, max_size=4),
                          st.lists(NUMBERS, min_size=3, max_size=3),
                          st.lists(NUMBERS, min_size=3, max_size=3),
                          st.booleans()), min_size=1, max_size=30))
def test_whatever_comes_in_what_goes_out_is_finite_within_limits_and_slew(story):
    GUARD.activate()
    now, last, stamp = 0, ZERO, 0
    for wait, age, command, position, velocity, heard in story:
        now += wait * MS
        if heard:
            GUARD.sample(now, now - age * MS, np.array(position), np.array(velocity))
        out = GUARD.apply(now, command, age * MS)
        assert np.isfinite(out.effort).all()
        assert (np.abs(out.effort) <= LIMITS).all()
        if not out.state.silent and stamp:
            step = LIMITS / 0.01 * min((now - stamp) * 1e-9, 0.02)
            assert (np.abs(out.effort - last) <= step + 1e-9).all()
        last, stamp = out.effort, 0 if out.state.silent else now


@pytest.mark.parametrize('wrong', [np.zeros(13), np.zeros(5000), np.zeros((3, 1)), None, 'abc'])
def test_arrays_of_another_shape_never_reach_a_kernel(wrong):
    guard = Bench().guard
    assert 'expected 3 positions' in guard.sample(MS, MS, wrong, ZERO)
    assert 'expected 3 velocities' in guard.sample(2 * MS, 2 * MS, PLACE, wrong)
    out = guard.apply(3 * MS, ZERO)
    assert out.state is GuardState.ARMED and 'expected 3 velocities' in out.fault
