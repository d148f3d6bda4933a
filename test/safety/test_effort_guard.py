# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import TWO_LEGS

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotModel
from legged_dynamics.safety import EffortGuard, GuardState

LIMITED = TWO_LEGS.replace(
    'type="continuous">', 'type="continuous"><limit effort="20" velocity="9"/>')
JOINTS = ('r_knee', 'l_hip_x', 'l_hip_y')      # any order: the command's
LIMITS = np.array([40.0, 30.0, 20.0])
MS = 1_000_000


def guard(**settings):
    return EffortGuard(RobotModel.from_urdf(LIMITED), JOINTS,
                       {f'safety.{key}': value for key, value in settings.items()})


def test_limits_are_the_urdf_s_in_command_order():
    made = guard(ramp=0.0)
    out = made.apply(0, [100.0, -100.0, 5.0], np.zeros(3), 0)
    np.testing.assert_array_equal(out.effort, [40.0, -30.0, 5.0])
    assert out.limited == ('r_knee', 'l_hip_x')
    assert out.state is GuardState.OBEY
    half = guard(ramp=0.0, effort_fraction=0.5)
    np.testing.assert_array_equal(half.apply(0, [100.0, -100.0, 5.0], np.zeros(3), 0).effort,
                                  [20.0, -15.0, 5.0])


def test_commands_are_blended_in():
    made = guard(ramp=0.1)
    shares = [made.apply(t * MS, [10.0, 0, 0], np.zeros(3), t * MS).effort[0] / 10.0
              for t in range(0, 151, 50)]
    np.testing.assert_allclose(shares, [0.0, 0.5, 1.0, 1.0])


@pytest.mark.parametrize(('command', 'age_ms', 'message'), [
    (None, 0, 'no command'),
    ([1.0, 2.0], 0, 'expected 3 efforts, one a joint, got shape'),
    ([1.0, math.nan, 2.0], 0, 'the command is not finite for: l_hip_x'),
    ([1.0, 1.0, 1.0], 30, 'the joint states are 30.0 ms old'),
])
def test_what_cannot_be_obeyed_gives_the_safe_output_and_a_new_ramp(command, age_ms, message):
    made = guard(ramp=0.1, damping=3.0, hold=0.0)
    velocity = np.array([1.0, -2.0, 100.0])
    for t in range(0, 200, 2):
        made.apply(t * MS, [5.0, 5.0, 5.0], velocity, t * MS)
    out = made.apply(200 * MS, command, velocity, (200 - age_ms) * MS)
    assert out.state is GuardState.SAFE
    assert message in out.fault
    np.testing.assert_allclose(out.effort, [-3.0, 6.0, -20.0])      # damping, limited too
    after = made.apply(202 * MS, [5.0, 5.0, 5.0], velocity, 202 * MS)
    assert after.state is GuardState.RAMP
    np.testing.assert_allclose(after.effort, out.effort)
    limp = guard(output='zero').apply(0, command, velocity, -age_ms * MS)
    assert limp.effort.tolist() == [0.0] * 3


def test_a_short_fault_is_bridged_by_the_last_good_command():
    made = guard(ramp=0.0, hold=0.05)
    made.apply(0, [5.0, 6.0, 7.0], np.zeros(3), 0)
    held = made.apply(40 * MS, None, np.zeros(3), 40 * MS)
    assert held.state is GuardState.HOLD and held.fault == 'no command'
    np.testing.assert_array_equal(held.effort, [5.0, 6.0, 7.0])
    assert made.apply(42 * MS, [1.0, 1, 1], np.zeros(3), 42 * MS).state is GuardState.OBEY
    assert made.apply(91 * MS, None, np.zeros(3), 91 * MS).state is GuardState.HOLD
    limp = made.apply(92 * MS, None, np.ones(3), 92 * MS)
    assert limp.state is GuardState.SAFE
    np.testing.assert_array_equal(limp.effort, [-2.0, -2.0, -2.0])
    assert made.apply(93 * MS, None, np.ones(3), 93 * MS).state is GuardState.SAFE
    made.apply(94 * MS, [1.0, 1, 1], np.zeros(3), 94 * MS)
    made.last()
    assert made.apply(95 * MS, None, np.zeros(3), 95 * MS).state is GuardState.SAFE


def test_the_ramp_starts_from_what_the_motors_deliver():
    made = guard(ramp=0.1)
    first = made.apply(0, [10.0, 0, 0], np.ones(3), 0, measured=[20.0, -99.0, 1.0])
    np.testing.assert_array_equal(first.effort, [20.0, -30.0, 1.0])
    half = made.apply(50 * MS, [10.0, 0, 0], np.ones(3), 50 * MS, measured=[0.0, 0.0, 0.0])
    np.testing.assert_allclose(half.effort, [15.0, -15.0, 0.5])
    unknown = guard(ramp=0.1).apply(0, [10.0, 0, 0], np.ones(3), 0, [20.0, math.nan, 1.0])
    np.testing.assert_array_equal(unknown.effort, [-2.0, -2.0, -2.0])


def test_slew_rate():
    made = guard(ramp=0.0, slew_rate=1000.0)
    made.apply(0, [0.0, 0, 0], np.zeros(3), 0)
    assert made.apply(2 * MS, [40.0, 0, 0], np.zeros(3), 2 * MS).effort[0] == pytest.approx(2.0)


def test_the_last_message_is_zero():
    made = guard(ramp=0.0)
    made.apply(0, [5.0, 5.0, 5.0], np.ones(3), 0)
    np.testing.assert_array_equal(made.last(), np.zeros(3))


@pytest.mark.parametrize('effort', ['0', None])
def test_a_joint_without_a_usable_limit_is_refused(effort):
    text = TWO_LEGS if effort is None else LIMITED.replace('effort="20"', f'effort="{effort}"')
    with pytest.raises(ConfigurationError, match="joint 'l_hip_y': expected an effort limit"):
        EffortGuard(RobotModel.from_urdf(text), JOINTS)


NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 100),
                          st.lists(NUMBERS, min_size=2, max_size=4),
                          st.lists(NUMBERS, min_size=3, max_size=3)), min_size=1, max_size=30))
def test_whatever_comes_in_what_goes_out_is_finite_and_within_limits(story):
    made = guard(ramp=0.05, slew_rate=500.0)
    for now, age, command, velocity in story:
        out = made.apply(now * MS, command, velocity, (now - age) * MS)
        assert np.isfinite(out.effort).all()
        assert (np.abs(out.effort) <= LIMITS).all()
