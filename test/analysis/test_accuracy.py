# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Errors against the truth, of series made by hand, so that the right answer is known."""
import numpy as np
import pytest

from legged_dynamics.estimation import Mode
from legged_dynamics.recordings.recording import (
    FlagRecord,
    Recording,
    Truth,
    WrenchRecord,
    align_truth,
)
from legged_dynamics.recordings.report.accuracy import (
    CAUTION,
    ON_LINE,
    UNFILTERED,
    ZERO_PHASE,
    Behaviour,
    SlowSums,
    cautions,
    find_behaviours,
    measure_accuracy,
    name_gait,
    score_contacts,
    zero_phase,
)
from legged_dynamics.recordings.series import Column, EstimateSeries, ForceSeries
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.spatial.rotations import rotation_from_vector

DIALECT = StandaloneDialect()
DT = 2_000_000
WEIGHT = 500.0
UPRIGHT = np.eye(3)
CORNERS = np.array([[0.4, 0.3], [0.4, -0.3], [-0.4, 0.3], [-0.4, -0.3]])


def series_of(raw, on_line=None, contact=None, feet=('L', 'R'), R_WB=UPRIGHT):
    """Return an EstimateSeries with given forces (n, nf, 3) in foot axes; feet do not turn."""
    n, nf = raw.shape[:2]
    series = EstimateSeries(feet, ())

    def wrench(force):
        return np.concatenate([force, np.zeros_like(force)], axis=2)
    series.stamp_ns = Column.of(np.arange(n) * DT)
    series.latest_ns = series.stamp_ns
    series.receipt_ns = Column.of(np.arange(n) * DT + 100)
    series.mode = Column.of(np.full(n, int(Mode.FUSED)))
    series.raw_wrench = Column.of(wrench(raw))
    series.wrench = Column.of(wrench(raw if on_line is None else on_line))
    series.contact = Column.of(np.ones((n, nf), bool) if contact is None else contact)
    series.center_of_pressure = Column.of(np.zeros((n, 3)))
    series.base_rotation = Column.of(np.tile(R_WB, (n, 1, 1)))
    series.foot_rotation = Column.of(np.tile(np.eye(3), (n, nf, 1, 1)))
    places = np.array([[0.0, 0.1, -0.9], [0.0, -0.1, -0.9]])[:nf]
    series.foot_position = Column.of(np.tile(places, (n, 1, 1)))
    series.contact_point = Column.of(np.tile(places, (n, 1, 1)))
    return series


def truth_of(force, contact, valid=None):
    n = len(force)
    return Truth(force, contact, np.ones(n, bool) if valid is None else valid,
                 np.full((n, 3), np.nan), [])


def find(rows, treatment, subject, estimate='fused'):
    wanted = (treatment, subject, estimate)
    (row,) = [r for r in rows if (r.treatment, r.subject, r.estimate) == wanted]
    return row


# ---- the filter ----------------------------------------------------------------------------


def test_the_zero_phase_filter_halves_its_cutoff_and_delays_nothing():
    time = np.arange(2000) * 0.002
    for frequency, gain in ((2.0, 1.0), (25.0, 0.5), (100.0, 0.0)):
        wave = np.sin(2 * np.pi * frequency * time)
        smooth = zero_phase(time, wave)[500:1500]
        # Twice the same low-pass, each 1/sqrt(2) at the cut-off.
        assert np.allclose(smooth, gain * wave[500:1500], atol=0.01), frequency


def test_the_filter_does_not_look_across_what_is_missing():
    time = np.concatenate([np.arange(100), np.arange(200, 300)]) * 0.002
    values = np.where(time < 0.3, 1.0, 7.0)
    values[50] = np.nan
    smooth = zero_phase(time, values)
    assert np.isnan(smooth[50]) and np.isfinite(smooth[[49, 51, 99, 100]]).all()
    assert np.allclose(smooth[:50], 1.0) and np.allclose(smooth[100:], 7.0)


def test_a_rate_too_low_for_the_filter_gives_nothing():
    time = np.arange(100) * 0.02
    assert np.isnan(zero_phase(time, np.ones(100))).all()


@pytest.mark.parametrize(('known', 'period', 'said'), [
    (True, DT, False), (False, DT, False), (True, 10 * DT, True)])
def test_a_low_rate_is_told_and_a_bag_without_truth_has_none(known, period, said):
    force = np.zeros((100, 2, 3))
    series = series_of(force)
    series.stamp_ns = Column.of(np.arange(100) * period)
    truth = truth_of(force if known else np.full_like(force, np.nan), np.ones((100, 2), bool),
                     np.full(100, known))
    notes = measure_accuracy(series, {}, truth, [Behaviour('standing', np.ones(100, bool))],
                             WEIGHT).notes
    assert any('too low for a low-pass' in note for note in notes) == said


# ---- errors --------------------------------------------------------------------------------


def test_errors_are_those_put_in_and_only_of_standing_feet():
    n = 400
    force = np.zeros((n, 2, 3))
    contact = np.ones((n, 2), bool)
    contact[:, 1] = False               # the right foot swings, and its error does not count
    raw = force + np.array([[3.0, 0.0, 4.0], [100.0, 0.0, 0.0]])
    on_line = force + np.array([[0.0, 0.0, 6.0], [0.0, 0.0, 0.0]])
    accuracy = measure_accuracy(series_of(raw, on_line), {}, truth_of(force, contact),
                                [Behaviour('walking', np.ones(n, bool))], WEIGHT)
    for treatment, total, vertical in ((ZERO_PHASE, 5.0, 4.0), (UNFILTERED, 5.0, 4.0),
                                       (ON_LINE, 6.0, 6.0)):
        row = find(accuracy.feet, treatment, 'walking')
        assert (row.total, row.vertical) == pytest.approx((total, vertical), rel=1e-9)
        assert (row.total_percent, row.vertical_percent) == pytest.approx(
            (total / 5.0, vertical / 5.0), rel=1e-9)
        assert row.count == n
    assert find(accuracy.sums, UNFILTERED, 'sum of all feet').total == pytest.approx(
        np.hypot(103.0, 4.0))
    assert find(accuracy.support, UNFILTERED, 'L, single support').vertical == 4.0
    assert not [r for r in accuracy.support if 'double' in r.subject or r.subject[0] == 'R']


def test_errors_are_measured_in_world_axes():
    force = np.zeros((100, 1, 3))
    tilted = rotation_from_vector(np.array([np.pi / 2, 0.0, 0.0]))       # base y points up
    series = series_of(force + np.array([0.0, 7.0, 0.0]), feet=('L',), R_WB=tilted)
    accuracy = measure_accuracy(series, {}, truth_of(force, np.ones((100, 1), bool)),
                                [Behaviour('standing', np.ones(100, bool))], WEIGHT)
    assert find(accuracy.feet, UNFILTERED, 'standing').vertical == pytest.approx(7.0)


def test_what_is_not_valid_or_not_estimated_does_not_count():
    n = 200
    force = np.zeros((n, 2, 3))
    raw = force.copy()
    raw[:50] += 1000.0
    series = series_of(raw)
    series.mode.values[150:] = int(Mode.UNAVAILABLE)
    series.raw_wrench.values[150:] = 1000.0
    valid = np.arange(n) >= 50
    accuracy = measure_accuracy(series, {}, truth_of(force, np.ones((n, 2), bool), valid),
                                [Behaviour('standing', np.ones(n, bool))], WEIGHT)
    row = find(accuracy.feet, UNFILTERED, 'standing')
    assert (row.count, row.total) == (200, 0.0)     # 100 samples of two feet


def test_other_estimates_are_matched_by_stamp():
    n = 100
    force = np.arange(n, dtype=float)[:, None, None] * np.ones((n, 2, 3))
    other = ForceSeries(2)
    part = series_of(force[3:90])
    other.stamp_ns = Column.of(np.arange(3, 90) * DT)
    other.mode, other.wrench, other.latest_ns = part.mode, part.wrench, other.stamp_ns
    other.raw_wrench, other.contact = part.raw_wrench, part.contact
    accuracy = measure_accuracy(series_of(force), {'base only': other},
                                truth_of(force, np.ones((n, 2), bool)),
                                [Behaviour('standing', np.ones(n, bool))], WEIGHT)
    row = find(accuracy.feet, UNFILTERED, 'standing', 'base only')
    assert (row.count, row.total) == (2 * 87, 0.0)


# ---- truth ---------------------------------------------------------------------------------


def record(frame_id, wrenches, stamps):
    found = WrenchRecord()
    for ns, wrench in zip(stamps, wrenches):
        found.append(convert.wrench_stamped(DIALECT, int(ns), frame_id, wrench), int(ns) + 50)
    return found


def flags(values):
    found = FlagRecord()
    for index, value in enumerate(values):
        found.append(convert.boolean(DIALECT, value), index)
    return found


def test_truth_in_foot_axes_is_turned_into_the_world():
    n = 20
    R_WB = rotation_from_vector(np.array([0.3, -0.2, 0.5]))
    series = series_of(np.zeros((n, 2, 3)), R_WB=R_WB)
    stamps = series.stamp_ns.values
    weight_in_base = R_WB.T @ [0.0, 0.0, WEIGHT / 2]
    wrench = np.concatenate([weight_in_base, np.zeros(3)])
    truth = align_truth(series, Recording({foot: record(foot, n * [wrench], stamps)
                                           for foot in ('L', 'R')}), WEIGHT)
    assert np.allclose(truth.force, [[[0.0, 0.0, WEIGHT / 2]] * 2] * n, atol=1e-9)
    assert truth.valid.all() and truth.contact.all()
    # Equal loads: half way between the feet.
    assert np.allclose(truth.center_of_pressure, R_WB @ [0.0, 0.0, -0.9], atol=1e-9)


def test_plates_give_forces_in_world_axes_about_the_worlds_origin():
    n = 20
    series = series_of(np.zeros((n, 2, 3)))
    stamps = series.stamp_ns.values
    # Base at (2, 0, 0.9): the left foot at (2, 0.1, 0) carries everything.
    at, force = np.array([2.0, 0.1, 0.0]), np.array([0.0, 0.0, WEIGHT])
    base = type('Base', (), {'at': lambda self, s: np.tile([2.0, 0.0, 0.9], (len(s), 1))})()
    truth = align_truth(series, Recording(
        {'L': record('world', n * [np.concatenate([force, np.cross(at, force)])], stamps),
         'R': record('world', n * [np.zeros(6)], stamps)}, base=base), WEIGHT, 20.0)
    assert (truth.contact == [True, False]).all()
    assert np.allclose(truth.force[:, 0], force)
    assert np.allclose(truth.center_of_pressure, [0.0, 0.1, -0.9])
    assert any('down above 20 N' in note for note in truth.notes)


def test_truth_at_another_rate_is_interpolated_but_not_across_gaps():
    series = series_of(np.zeros((50, 1, 3)), feet=('L',))
    stamps = np.concatenate([np.arange(0, 40 * DT, DT // 4), [49 * DT]]) + DT // 8
    record_ = record('L', [(0, 0, ns / DT, 0, 0, 0) for ns in stamps], stamps)
    truth = align_truth(series, Recording({'L': record_}), WEIGHT)
    # 39.875 is the last before a gap to 49.125.
    assert np.allclose(truth.force[1:40, 0, 2], np.arange(1, 40))
    assert np.isnan(truth.force[40:49, 0, 2]).all() and not truth.valid[45]


@pytest.mark.parametrize('lost', [0, 1, 30])
def test_flags_pair_with_wrenches_even_when_the_recorder_missed_some(lost):
    n = 300
    down = (np.arange(n) // 40) % 2 == 0
    series = series_of(np.zeros((n, 1, 3)), feet=('L',))
    # A swinging foot is never touched, but a standing one is at times nearly unloaded.
    wrenches = [(0, 0, 1.0 if d else 0.0, 0, 0, 0) for d in down]
    truth = align_truth(series, Recording(
        {'L': record('L', wrenches, series.stamp_ns.values)},
        contact={'L': flags(down[lost:])}), WEIGHT)
    assert (truth.contact[:, 0] == down).all() and not truth.notes


def test_flags_that_contradict_the_forces_are_not_used():
    n = 300
    down = (np.arange(n) // 40) % 2 == 0
    series = series_of(np.zeros((n, 1, 3)), feet=('L',))
    wrenches = [(0, 0, 200.0 if d else 0.0, 0, 0, 0) for d in down]
    truth = align_truth(series, Recording(
        {'L': record('L', wrenches, series.stamp_ns.values)},
        contact={'L': flags(np.random.default_rng(0).random(n) > 0.5)}), WEIGHT)
    assert (truth.contact[:, 0] == down).all()
    assert any('taken from the true vertical force' in note for note in truth.notes)


def test_the_truth_counts_only_where_it_is_flagged_as_complete():
    n = 20
    series = series_of(np.zeros((n, 1, 3)), feet=('L',))
    valid = FlagRecord()
    for sample, value in ((5, True), (15, False)):
        valid.append(convert.boolean(DIALECT, value), sample * DT)
    truth = align_truth(series, Recording(
        {'L': record('L', n * [np.zeros(6)], series.stamp_ns.values)}, valid=valid), WEIGHT)
    assert truth.valid.tolist() == [5 <= k < 15 for k in range(n)]
    assert any('10 of 20 samples' in note for note in truth.notes)


def test_a_foot_without_truth_is_said():
    series = series_of(np.zeros((20, 2, 3)))
    truth = align_truth(series, Recording(
        {'L': record('L', 20 * [np.zeros(6)], series.stamp_ns.values)}), WEIGHT)
    assert not truth.known
    assert any('no true wrench of R' in note for note in truth.notes)


# ---- behaviour and contact -----------------------------------------------------------------


def pattern(*groups, n=400, step=20):
    """Return contacts of four feet that step in turn, group by group."""
    contact = np.ones((n, 4), bool)
    for k in range(n):
        contact[k, groups[(k // step) % len(groups)]] = False
    return contact


@pytest.mark.parametrize(('groups', 'name'), [
    (([0, 3], [1, 2]), 'trotting'), (([0, 2], [1, 3]), 'pacing'), (([0, 1], [2, 3]), 'bounding'),
    (([0], [3], [1], [2]), 'walking')])
def test_gaits_are_named_by_who_steps_with_whom(groups, name):
    assert name_gait(pattern(*groups), CORNERS) == name


@pytest.mark.parametrize(('rows', 'name'), [
    ([[1, 0], [1, 1], [0, 1]], 'walking'), ([[1, 0], [0, 0], [0, 1]], 'running'),
    ([[1, 1], [0, 0]], 'hopping')])
def test_gaits_of_two_feet(rows, name):
    contact = np.repeat(np.array(rows, bool), 30, axis=0)
    assert name_gait(contact, CORNERS[:2]) == name


def test_standing_begins_and_ends_clear_of_steps():
    time = np.arange(2000) * 0.002
    contact = np.ones((2000, 4), bool)
    contact[1000:1200] = pattern([0, 3], [1, 2], n=200)
    standing, trotting = find_behaviours(time, contact, CORNERS)
    assert (standing.name, trotting.name) == ('standing', 'trotting')
    assert standing.spans == [(0, 824), (1375, 1999)]       # 0.35 s on either side
    assert (standing.samples ^ trotting.samples).all()


def test_contact_scores_count_late_early_and_unseen_changes():
    time = np.arange(1000) * 0.002
    true, seen = np.zeros((1000, 1), bool), np.zeros((1000, 1), bool)
    true[100:200] = true[400:500] = true[800:820] = True
    seen[105:195] = seen[405:495] = True            # 10 ms late down, 10 ms early up; one unseen
    (score,) = score_contacts(time, ('L',), seen, true, np.ones(1000, bool))
    assert score.touchdown_delay == pytest.approx(10.0)
    assert score.liftoff_delay == pytest.approx(-10.0)
    assert (score.changes, score.unseen) == (6, 2)
    assert score.agreement == pytest.approx(100.0 * (1000 - 20 - 20) / 1000)


def test_force_that_nothing_explains_is_doubtful_and_the_next_command_is_named():
    agree, apart = SlowSums(0.01, 0.03), SlowSums(0.05, 0.03)
    assert cautions(0.9 * CAUTION.unexplained, agree, 'bag') == []
    following, = cautions(0.9 * CAUTION.unexplained, agree, 'bag', wrong=True)
    assert 'Next: legged-dynamics doctor bag' in following
    for residual, sums, said in ((1.1 * CAUTION.unexplained, agree,
                                  'remain unexplained at the base'),
                                 (0.0, apart, 'by motion and by torque differ by 5.0 %')):
        reason, following = cautions(residual, sums, 'walk.mcap')
        assert said in reason
        assert 'Next: legged-dynamics doctor walk.mcap' in following
