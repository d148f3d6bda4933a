# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The zoo's scoring, on errors that are known."""
import math

import numpy as np
import pytest
from scipy.signal import butter, freqz
from zoo_runs import made_up

from benchmarks.zoo.contact_events import closed, longest_run
from benchmarks.zoo.estimators import Output
from benchmarks.zoo.scoring import CUTOFF, score, score_output
from benchmarks.zoo.tables import markdown

pytestmark = pytest.mark.slow

TINY = 1e-9


def outputs(recording, force=None, late=0, honest=True, contact=None, covariance=None,
            external=None, external_sigma=None):
    """
    Return what an estimator says that gives `force` (the truth if None), `late` ticks late.

    With `honest` stamps say so; without, they claim to be of now.
    """
    force = recording.force_B if force is None else force
    contact = recording.contact if contact is None else contact
    rows = [None] * late
    for k in range(late, len(recording)):
        i = k - late
        rows.append(Output(
            float(recording.stamp_ns[i if honest else k]), force[i], contact[i],
            None if covariance is None else covariance[i],
            None if external is None else external[i], external_sigma))
    return rows


def scored(recording, **what):
    return score_output(recording, 'out', outputs(recording, **what))


def percent(recording, vector):
    return 100.0 * np.linalg.norm(vector) / recording.weight


def test_the_truth_scores_nothing():
    found = scored(made_up())
    assert found.zero_phase < TINY and found.raw < TINY and found.on_line < TINY
    assert found.delay_ms == 0.0 and found.contact.agreement == 100.0
    assert found.contact.touch_down_ms == 0.0 == found.contact.lift_off_ms
    assert found.contact.unseen == 0.0 == found.contact.false == found.contact.longest_up_ms
    # Two feet land once a second each; the half seconds at the ends are not scored.
    assert 12 <= found.contact.steps <= 14


@pytest.mark.parametrize('ticks', [1, 4])
def test_late_and_honest_about_it(ticks):
    recording = made_up()
    found = scored(recording, late=ticks)
    assert found.delay_ms == pytest.approx(2.0 * ticks) and found.raw < TINY
    assert found.zero_phase < TINY and found.contact.agreement == 100.0
    assert found.contact.touch_down_ms == 0.0
    # When it comes out it is old: the truth against itself, shifted.
    truth = recording.force_B
    inside = slice(251, round(recording.scored[1] * recording.rate))
    change = (truth - np.roll(truth, ticks, axis=0))[inside][recording.contact[inside]]
    expected = 100.0 * np.sqrt((change ** 2).sum(axis=1).mean()) / recording.weight
    assert found.on_line == pytest.approx(expected, rel=1e-6) and expected > 1.0
    assert found.contact.agreement_on_line < 99.9


@pytest.mark.parametrize('ticks', [3, 10])
def test_late_without_saying_so_is_seen_as_late(ticks):
    found = scored(made_up(), late=ticks, honest=False)
    assert found.contact.touch_down_ms == pytest.approx(2.0 * ticks)
    assert found.contact.lift_off_ms == pytest.approx(2.0 * ticks)
    assert found.delay_ms == 0.0 and found.raw == pytest.approx(found.on_line) and found.raw > 1.0
    assert found.contact.longest_up_ms == pytest.approx(2.0 * ticks)


def test_early_contacts_have_a_negative_delay():
    recording = made_up()
    found = scored(recording, contact=np.roll(recording.contact, -4, axis=0))
    assert found.contact.touch_down_ms == pytest.approx(-8.0)


def test_a_constant_error_is_its_length_in_percent_of_the_weight():
    recording = made_up()
    offset = recording.weight * np.array([0.01, 0.02, -0.02])
    found = scored(recording, force=recording.force_B + offset)
    assert found.raw == pytest.approx(3.0) == found.on_line
    assert found.zero_phase == pytest.approx(3.0)


def test_a_slow_error_of_one_foot_counts_only_while_that_foot_stands():
    recording = made_up()
    wrong = recording.force_B.copy()
    wrong[:, 0] += np.where(recording.contact[:, :1], 0.0, recording.weight)
    found = scored(recording, force=wrong)
    assert found.raw < TINY and found.on_line < TINY


def test_white_noise_is_cut_as_the_filter_says():
    recording = made_up(seconds=60.0)
    rng = np.random.default_rng(0)
    noise = 0.02 * recording.weight * rng.standard_normal(recording.force_B.shape)
    found = scored(recording, force=recording.force_B + noise)
    assert found.raw == pytest.approx(2.0 * math.sqrt(3.0), rel=0.02)
    w, h = freqz(*butter(2, CUTOFF, fs=recording.rate), worN=8192)
    passed = math.sqrt(np.mean(np.abs(h) ** 4))     # forwards and backwards
    assert found.zero_phase == pytest.approx(found.raw * passed, rel=0.05)


@pytest.mark.parametrize('stated', [1.0, 0.5, 2.0])
def test_sigma_is_judged_by_errors_of_known_size(stated):
    recording = made_up(seconds=30.0)
    rng = np.random.default_rng(1)
    sigma = recording.weight * np.array([0.01, 0.02, 0.05])
    force = recording.force_B + sigma * rng.standard_normal(recording.force_B.shape)
    covariance = np.broadcast_to(np.diag((stated * sigma) ** 2), (len(recording), 2, 3, 3))
    found = scored(recording, force=force, covariance=covariance)
    assert found.normalised == pytest.approx(1.0 / stated, rel=0.02)
    inside = 100.0 * math.erf(1.96 * stated / math.sqrt(2.0))
    assert found.inside == pytest.approx(inside, abs=0.8) and found.sigma_zero == 0.0


def test_a_sigma_of_zero_is_counted_and_not_divided_by():
    recording = made_up()
    covariance = np.tile(1e-4 * recording.weight ** 2 * np.eye(3), (len(recording), 2, 1, 1))
    covariance[:, 0] = 0.0
    wrong = recording.force_B.copy()
    wrong[:, 0] = 0.0
    found = scored(recording, force=wrong, covariance=covariance)
    assert found.sigma_zero == pytest.approx(50.0, abs=2.0)
    assert found.normalised < TINY and found.inside == pytest.approx(50.0, abs=2.0)


def test_stamps_between_samples_meet_the_truth_half_way():
    recording = made_up()
    truth = recording.force_B
    rows = [None] + [Output(0.5 * (recording.stamp_ns[k - 1] + recording.stamp_ns[k]),
                            0.5 * (truth[k - 1] + truth[k]), recording.contact[k])
                     for k in range(1, len(recording))]
    found = score_output(recording, 'late', rows)
    assert found.delay_ms == pytest.approx(1.0) and found.raw < 1e-6
    assert found.zero_phase < 1e-6 and found.on_line > 0.1


def test_missing_and_made_up_contacts():
    recording = made_up()
    flags = recording.contact.copy()
    flags[1050:1190, 0] = False         # called up from 2.1 to 2.38 s, in mid stance
    blind = scored(recording, contact=flags)
    assert blind.contact.false == pytest.approx(2.0 / blind.contact.steps)
    assert blind.contact.longest_up_ms == pytest.approx(280.0)
    stuck = scored(recording, contact=np.ones_like(flags))
    assert stuck.contact.unseen == pytest.approx(2.0, abs=0.2) and stuck.contact.false == 0.0
    assert math.isnan(stuck.contact.touch_down_ms) and stuck.contact.longest_up_ms == 0.0


def test_bounces_are_one_landing():
    flags = np.ones(200, bool)
    flags[50:100] = False
    flags[103:106] = False
    flags[110] = False
    assert np.array_equal(np.flatnonzero(np.diff(closed(flags, 10).astype(int))), [49, 99])
    assert longest_run(~flags) == 50 and longest_run(np.zeros(5, bool)) == 0


def test_pushes():
    recording = made_up()
    truth = recording.external_wrench
    blind = scored(recording, external=np.zeros_like(truth))
    assert blind.push == pytest.approx(100.0)
    share = truth.copy()
    share[:, 1] *= 0.9
    found = scored(recording, external=share, external_sigma=np.full(6, 0.01 * recording.weight))
    assert found.push == pytest.approx(10.0, rel=0.01)
    pushed = (0.9 - 1.0) * 0.2 / 0.01
    begin, end = recording.scored
    assert found.external_normalised == pytest.approx(
        abs(pushed) * math.sqrt(1.0 / (end - begin) / 3.0), rel=0.01)


def test_outputs_are_scored_apart_and_rest_while_warming_up():
    recording = made_up()

    def estimator(recording, measurements):
        for k, measurement in enumerate(measurements):
            assert measurement.stamp_ns == recording.stamp_ns[k]
            now = Output(float(recording.stamp_ns[k]), recording.force_B[k])
            yield {} if k < 20 else {'now': now, 'zero': Output(
                now.stamp_ns, np.zeros((2, 3)), recording.contact[k])}
    found = score(recording, estimator)
    assert found['now'].raw < TINY and found['now'].contact is None
    stance = recording.contact.copy()
    stance[:251] = stance[round(recording.scored[1] * recording.rate):] = False
    size = np.linalg.norm(recording.force_B, axis=2)[stance]
    assert found['zero'].raw == pytest.approx(
        100.0 * np.sqrt((size ** 2).mean()) / recording.weight)
    text = markdown([{'scenario': 'x', 'estimator': 'y', **found['zero'].as_dict()}])
    assert text.count('\n') == 2 and 'nan' not in text


def test_an_estimator_that_stops_answering_is_wrong_from_then_on():
    recording = made_up()
    rows = outputs(recording)
    rows[2000:] = [None] * (len(rows) - 2000)
    found = score_output(recording, 'out', rows)
    assert found.raw > 10.0
    assert math.isnan(score_output(recording, 'none', [None] * len(rows)).raw)
