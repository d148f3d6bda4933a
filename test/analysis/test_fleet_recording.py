# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A recording in the data set: the same numbers as in the report of one bag."""
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from simulated_bag import FEET

from legged_dynamics.recordings.fleet import data_set as schema
from legged_dynamics.recordings.fleet.batch import do
from legged_dynamics.recordings.fleet.data_set import DataSet, arrow_schema
from legged_dynamics.recordings.fleet.summarise import jobs_of, slip_of
from legged_dynamics.recordings.recording import world_force
from legged_dynamics.recordings.replay import AnalysisOptions
from legged_dynamics.recordings.report.accuracy import ON_LINE, UNFILTERED, ZERO_PHASE
from legged_dynamics.recordings.report.analysis import analyse, doubts
from legged_dynamics.recordings.series import EstimateSeries

# Means in another order.
ROUNDING = 1e-9
# Single precision in the files.
SINGLE = 1e-6
DOCUMENT = Path(__file__).resolve().parents[2] / 'docs' / 'fleet_tables.md'


def rows_of(data, table):
    return data.read(table).to_pylist()


@pytest.fixture(scope='module')
def both(walking_bag, tmp_path_factory):
    """The analysis of a bag, and its data set."""
    out = tmp_path_factory.mktemp('fleet')
    (job,) = jobs_of({walking_bag.resolve(): 'rex'}, AnalysisOptions(), out)
    assert not do(job).error
    return analyse(walking_bag), DataSet(out)


def test_the_summary_is_that_of_the_report(both):
    analysis, data = both
    (row,) = rows_of(data, schema.SUMMARY)
    assert row['robot'] == row['model'] == 'anymal_class' and row['day'] == '2023-11-14'
    assert row['samples'] == len(analysis.series.stamp_ns)
    assert row['duration'] == analysis.duration and row['messages'] == analysis.message_count
    assert row['gait'] == 'trotting' and row['estimate'] == 'fused'
    assert row['standing'] == pytest.approx(analysis.behaviours[0].samples.mean(), rel=ROUNDING)
    rest = np.linalg.norm(analysis.series.base_residual.values[:, :3], axis=1)
    assert row['residual_share'] == pytest.approx(
        np.sqrt(np.nanmean(rest ** 2)) / analysis.weight, rel=ROUNDING)
    assert row['trusted'] == (not doubts(analysis)) and row['cpu'] > 0.0
    assert row['joints'] == list(analysis.series.joints)
    assert row['notes'] == analysis.notes
    assert 0.0 <= row['worst_at'] < row['duration'] and row['silent'] == 0.0


def test_errors_are_those_of_the_report(both):
    analysis, data = both
    found = {(row['subject'], row['treatment']): row for row in rows_of(data, schema.ERRORS)}
    wanted = [error for error in (*analysis.accuracy.feet, *analysis.accuracy.sums)
              if error.estimate == 'fused']
    assert {treatment for _, treatment in found} == {ON_LINE, UNFILTERED, ZERO_PHASE}
    assert len(found) == len(wanted) > 6
    for error in wanted:
        row = found[error.subject, error.treatment]
        assert row['samples'] == error.count
        assert row['total'] == pytest.approx(error.total, rel=ROUNDING)
        assert row['vertical'] == pytest.approx(error.vertical, rel=ROUNDING)


def test_feet_joints_and_inputs_are_those_of_the_report(both):
    analysis, data = both
    series = analysis.series
    force = world_force(series, series.foot_to_world, raw=False)[:, :, 2]
    feet = {row['foot']: row for row in rows_of(data, schema.FEET)}
    contact = series.contact.values
    for i, foot in enumerate(FEET):
        row = feet[foot]
        assert row['duty'] == pytest.approx(contact[:, i].mean(), rel=ROUNDING)
        assert row['load'] == pytest.approx(np.nanmean(force[contact[:, i], i]), rel=ROUNDING)
        assert row['peak'] == pytest.approx(np.nanmax(force[:, i]), rel=ROUNDING)
        assert row['steps'] == (contact[1:, i] & ~contact[:-1, i]).sum() > 0
        assert row['agreement'] == pytest.approx(analysis.contacts[i].agreement, rel=ROUNDING)
        # Where it lands it slides and rolls, but it does not travel.
        assert 0.0 < row['slip'] < row['slip_largest'] < 0.02
    assert sum(row['load_share'] for row in feet.values()) == pytest.approx(1.0)
    joints = {row['joint']: row for row in rows_of(data, schema.JOINTS)}
    left = series.external_torque.values
    for j, joint in enumerate(series.joints):
        assert joints[joint]['measured'] == 1.0
        assert joints[joint]['residual'] == pytest.approx(
            np.sqrt(np.nanmean(left[:, j] ** 2)), rel=ROUNDING)
    inputs = {row['topic']: row for row in rows_of(data, schema.INPUTS)}
    for entry in analysis.inputs:
        row = inputs[entry.topic]
        assert (row['messages'], row['gaps'], row['backwards']) == (
            entry.count, entry.gaps, entry.backwards)
        assert row['rate'] == pytest.approx(entry.rate, rel=ROUNDING)
        assert row['interval'] == entry.interval


def test_time_series_are_those_of_the_report(both):
    analysis, data = both
    series, truth = analysis.series, analysis.truth
    table = data.read(schema.FOOT_SERIES)
    assert table.num_rows == 4 * len(series.stamp_ns)
    force = world_force(series, series.foot_to_world, raw=False)
    for i, foot in enumerate(FEET):
        own = table.filter(np.array(table['foot'].to_pylist()) == foot)
        assert np.array_equal(own['stamp_ns'].to_numpy(), series.stamp_ns.values)
        assert np.array_equal(own['contact'].to_numpy(), series.contact.values[:, i])
        for name, wanted in (('world_fz', force[:, i, 2]), ('raw_mx', series.raw_wrench.values[
                :, i, 3]), ('fy', series.published[:, i, 1]), ('true_fz', truth.force[:, i, 2])):
            np.testing.assert_allclose(own[name].to_numpy(), wanted, rtol=SINGLE, atol=1e-4)
    base = data.read(schema.BASE_SERIES)
    np.testing.assert_allclose(base['residual_fz'].to_numpy(),
                               series.base_residual.values[:, 2], rtol=SINGLE, atol=1e-4)
    np.testing.assert_allclose(np.stack(base['external_torque'].to_pylist()),
                               series.external_torque.values, rtol=SINGLE, atol=1e-5)


def test_the_schema_is_in_the_document():
    text = DOCUMENT.read_text(encoding='utf-8')
    for table in (*schema.TABLES, *schema.TRIAL_TABLES):
        columns = ''.join(f'| `{one.name}` | {one.kind} | {one.unit} | {one.meaning} |\n'
                          for one in table.fields)
        assert f'{table.row} a row' in text and columns in text, (
            f'docs/fleet_tables.md lacks the table {table.name}')
        assert isinstance(arrow_schema(table), pa.Schema)
        for field, column in zip(arrow_schema(table), table.fields):
            assert field.metadata[b'unit'].decode() == column.unit


# ---- slip ----------------------------------------------------------------------------------


def sliding(travel, rows=101):
    """A robot that walks on past four feet on the ground, one of which slides; base axes turn."""
    series = EstimateSeries(('a', 'b', 'c', 'd'), ())
    corners = np.array([[0.3, 0.2], [0.3, -0.2], [-0.3, 0.2], [-0.3, -0.2]])
    for k in range(rows):
        yaw, base = 0.3 * k / rows, np.array([0.5 * k / rows, 0.1, 0.4])
        R = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1.0]])
        feet = np.column_stack([corners, np.zeros(4)])
        feet[0, 0] += travel * k / (rows - 1)
        # Legs turn over their feet, which are balls of 2 cm that roll.
        turn = 0.4 * k / rows
        tilt = np.array([[np.cos(turn), 0, np.sin(turn)], [0, 1, 0],
                         [-np.sin(turn), 0, np.cos(turn)]])
        center = feet + np.array([0.02 * turn, 0.0, 0.02])
        series.stamp_ns.append(k)
        series.base_rotation.append(R)
        series.foot_rotation.append(np.array([R.T @ tilt] * 4))
        series.foot_position.append((center - base) @ R)
        series.contact_point.append((center - [0, 0, 0.02] - base) @ R)
        series.contact.append([True, True, True, k < 60])
    return series


def test_a_foot_that_slides_is_seen_and_one_that_rolls_is_not():
    """Of four feet one slides 3 cm: the others' mean takes a quarter of it, until one lifts."""
    for travel, tolerance in ((0.0, 1e-4), (0.03, 2e-3)):
        mean, largest = slip_of(sliding(travel))
        assert np.array_equal(mean, largest)        # of one stance each
        expected = travel * (0.59 * 3 / 4 + 0.41 * 2 / 3)
        assert mean[0] == pytest.approx(expected, abs=tolerance)
        assert mean[1] == pytest.approx(travel * (0.59 / 4 + 0.41 / 3), abs=tolerance)
        assert mean[3] == pytest.approx(travel * 0.59 / 4, abs=tolerance)


def test_a_foot_alone_on_the_ground_has_no_slip():
    series = sliding(0.03)
    series.contact.values[:, 1:] = False
    assert np.isnan(slip_of(series)).all()
