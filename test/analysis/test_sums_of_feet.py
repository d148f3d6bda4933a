# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The verdict's sums of all feet by different equations, and the notes on actuators."""
from collections import Counter

from legged_dynamics.estimation import ActuatorFinding, EstimatorSettings, Fault
from legged_dynamics.pages.section import Report
from legged_dynamics.recordings.report.analysis import FootSum, compare_sums
from legged_dynamics.recordings.series import InputTimes, input_notes, input_statistics


def test_sums_within_their_error_bars_agree():
    text, agree = compare_sums([FootSum('fused', 501.0, 5.0), FootSum('base only', 498.0, 6.0),
                                FootSum('torque only', 510.0, 20.0)], 500.0)
    assert agree
    assert 'base only 498.0 +- 6.0 N' in text and 'differ' not in text


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
