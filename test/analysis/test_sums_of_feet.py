# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The verdict's sums of all feet by different equations, and the notes on actuators."""
from collections import Counter

import pytest

from legged_dynamics.estimation import ActuatorFinding, EstimatorSettings, Fault
from legged_dynamics.pages.section import Report
from legged_dynamics.recordings.report.analysis import FootSum, compare_sums, reasons_for_doubt
from legged_dynamics.recordings.series import InputTimes, input_notes, input_statistics


def test_sums_within_their_error_bars_agree():
    text, agree = compare_sums([FootSum('fused', 501.0, 5.0), FootSum('base only', 498.0, 6.0),
                                FootSum('torque only', 510.0, 20.0)], 500.0)
    assert agree
    assert "base only (the body's motion alone) 498.0 N (492.0 to 504.0)" in text
    assert 'differ' not in text


def test_sums_beyond_their_error_bars_are_said_in_amber():
    """A robot whose motors deliver less than they report: torques carry more than the mass."""
    text, agree = compare_sums([FootSum('fused', 511.0, 5.0), FootSum('base only', 499.0, 6.0),
                                FootSum('torque only', 560.0, 20.0)], 500.0)
    assert not agree
    assert 'Base only and torque only differ by 12.2 % of the weight' in text
    page = Report('title', 'lead', [], 'command', text, caution=not agree).html()
    assert 'class="verdict amber"' in page


def test_a_report_names_actuators_with_the_line_to_write():
    finding = ActuatorFinding(int(Fault.EFFORT_LATE), (), 'delay', 0.003, 3e-4, 's',
                              'noise.effort_age: 0.0030')
    times = InputTimes()
    for k in range(100):
        times.note(2_000_000 * k, 2_000_000 * k)
    notes = input_notes(Counter(), Counter(), EstimatorSettings.from_parameters(),
                        [input_statistics('joint_states', times)], [finding])
    assert notes == ['EFFORT_LATE: delay: 3 +- 0.3 ms; write noise.effort_age: 0.0030.']


def received(picked):
    """Return the statistics of joint states of 500 Hz of which some came."""
    times = InputTimes()
    for k in picked:
        times.note(2_000_000 * k, 2_000_000 * k)
    return input_statistics('/joint_states', times)


@pytest.mark.parametrize('count', [1, 11, 300])
def test_less_than_a_second_is_all_that_is_said(count):
    reason, = reasons_for_doubt([], [], 0.5, 0.0, [received(range(count))])
    assert reason == (f'/joint_states: {count} messages over {0.002 * (count - 1):.2f} s, none '
                      'lost: a verdict needs 1 s of joint states')


def test_what_was_lost_comes_first_and_nothing_else_is_blamed():
    lost, rest = reasons_for_doubt([], [], 0.5, 0.0, [
        received(k for k in range(2000) if k % 100 < 31)])
    assert lost == '68 % of the messages on /joint_states are missing'
    assert 'unexplained' in rest and not any(word in rest for word in ('mass', 'signs'))
    whole, = reasons_for_doubt([], [], 0.5, 0.0, [received(range(2000))])
    assert whole.endswith('mass, signs or contacts are wrong')
