# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A bag of a simulated robot, analysed from end to end, and what is written."""
import csv
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from simulated_bag import FEET
from test_accuracy import find

from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.recording import BodyTracking
from legged_dynamics.recordings.replay import AnalysisOptions
from legged_dynamics.recordings.report.accuracy import ON_LINE, UNFILTERED, ZERO_PHASE
from legged_dynamics.recordings.report.analysis import analyse, to_pandas, write_csv
from legged_dynamics.recordings.report.report import sections, tables, write_report
from legged_dynamics.ros import conversions as convert

# Of the walking robot's bag: nothing was live, and nobody controlled the body.
FIGURES = {'center_of_pressure'}


@pytest.fixture(scope='module')
def walked(walking_bag, tmp_path_factory):
    """Analysis, folder of the report, and enriched bag of the walking robot."""
    folder = tmp_path_factory.mktemp('report')
    seen = []
    analysis = analyse(walking_bag, enriched=folder / 'enriched', progress=seen.append)
    write_report(analysis, folder)
    write_csv(analysis, folder / 'estimates.csv')
    assert seen[-1] == 1.0 and seen == sorted(seen) and all(0.0 <= part <= 1.0 for part in seen)
    return analysis, folder


# ---- accuracy ------------------------------------------------------------------------------


def test_the_estimate_is_as_accurate_as_promised(walked):
    analysis, _ = walked
    rows = analysis.accuracy.feet
    standing, trotting = (find(rows, ZERO_PHASE, name) for name in ('standing', 'trotting'))
    assert standing.total_percent < 0.5 and standing.vertical_percent < 0.3
    assert trotting.total_percent < 1.5 and trotting.vertical_percent < 1.2
    assert standing.count > 1000 and trotting.count > 1000
    # Delay and impacts cost the causal estimate most while trotting.
    assert find(rows, ON_LINE, 'trotting').total > 2.0 * trotting.total
    assert find(rows, UNFILTERED, 'standing').total > standing.total
    assert analysis.accuracy.center < 0.02


def test_fusing_buys_what_neither_part_has(walked):
    rows = walked[0].accuracy.feet
    fused, base, torque = (find(rows, ZERO_PHASE, 'trotting', name)
                           for name in ('fused', 'base only', 'torque only'))
    assert fused.total < torque.total and 3.0 * fused.total < base.total


def test_behaviours_follow_the_schedule(walked):
    analysis, _ = walked
    time = analysis.series.time
    names = {b.name: [(time[a], time[b]) for a, b in b.spans] for b in analysis.behaviours}
    assert list(names) == ['standing', 'trotting']
    ((first, last),) = names['trotting']
    assert 0.7 < first < 1.3 and last > 2.6


# ---- what is written -----------------------------------------------------------------------


class References(HTMLParser):
    """Gathers what a page loads, and whether its tags are balanced."""

    def __init__(self):
        super().__init__()
        self.loads, self.open, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.loads += [value for name, value in attrs if name in ('src', 'href', 'srcset')]
        if tag not in ('meta', 'img', 'br', 'link'):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_needs_nothing_beside_itself(walked):
    _, folder = walked
    html = (folder / 'report.html').read_text()
    page = References()
    page.feed(html)
    assert not page.open
    loads = [load for load in page.loads if not load.startswith('#')]
    assert len(loads) == len(FIGURES)
    assert all(load.startswith('data:image/png;base64,') for load in loads)
    written = re.sub(r'base64,[A-Za-z0-9+/=]+|<script.*?</script>', '', html, flags=re.DOTALL)
    assert not re.search(r'https?:|//[a-z]|url\(|@import|<link', written)
    # What runs in the page asks nobody for anything.
    assert not re.search(r'fetch\(|XMLHttpRequest|import\(|sendBeacon|WebSocket', html)


def test_the_page_says_what_was_found(walked):
    analysis, folder = walked
    page = References()
    page.feed((folder / 'report.html').read_text())
    text = ' '.join(page.text)
    row = find(analysis.accuracy.feet, ZERO_PHASE, 'trotting')
    assert f'{row.total_percent:.2f} / {row.vertical_percent:.2f}' in text
    assert 'anymal_class, 52.13 kg, 12 joints' in text
    assert 'there is no latency to measure' in text
    for heading in ('Accuracy', 'Forces', 'Contacts', 'Centre of pressure', 'Residuals',
                    'Inputs'):
        assert heading in text


def test_figures_stand_beside_the_page(walked):
    analysis, folder = walked
    assert {figure.name for section in sections(analysis) for figure in section.figures} == FIGURES
    for name in FIGURES:
        assert (folder / f'{name}.png').read_bytes()[:8] == b'\x89PNG\r\n\x1a\n', name


def test_a_body_under_control_is_shown_with_what_was_wanted(walked, tmp_path):
    analysis, _ = walked
    series = analysis.series
    n = len(series.time)
    away = np.full(n, 0.004)
    zero = np.zeros((n, 3))
    body = BodyTracking(series.time, zero, 0.004 * np.eye(3)[0] + zero, zero, zero, away,
                        np.full(n, np.radians(0.5)))
    wanted = np.zeros((n, len(FEET), 3))
    report = write_report(replace(analysis, body=body, desired_force=wanted), tmp_path)
    page = References()
    page.feed(report.read_text())
    text = ' '.join(page.text)
    assert '4.0 mm / 0.50 deg' in text and '4.00 mm' in text
    drawn = '\n'.join(report.read_text().split('application/json')[1:])
    assert 'Orientation, yaw' in drawn and 'LF_FOOT, wanted' in drawn
    assert 'LF_FOOT, wanted' not in (walked[1] / 'report.html').read_text()


def test_forces_commanded_are_compared_with_those_produced(walked):
    analysis, _ = walked
    wanted = analysis.truth.force - [3.0, 0.0, 4.0]
    table = next(table for table in tables(replace(analysis, desired_force=wanted))
                 if table.title.startswith('Force commanded'))
    assert [row[0] for row in table.rows] == list(FEET)
    assert table.head[-1] == 'true less commanded'
    assert {row[-1] for row in table.rows} == {'5.0 / 4.0'}
    assert not any('commanded' in table.title for table in tables(analysis))


def test_all_estimates_are_in_the_table_of_values(walked):
    analysis, folder = walked
    with (folder / 'estimates.csv').open() as file:
        rows = list(csv.DictReader(file))
    series = analysis.series
    assert [int(row['stamp_ns']) for row in rows] == series.stamp_ns.values.tolist()
    assert {row['mode'] for row in rows} == {'fused'}
    middle = rows[500]
    assert float(middle['RH_FOOT_fz']) == pytest.approx(series.published[500, 3, 2], rel=1e-6)
    assert float(middle['LF_FOOT_true_fx']) == pytest.approx(
        analysis.truth.force[500, 0, 0], rel=1e-6)
    assert 'external_torque_LF_HAA' in middle and 'base_residual_mz' in middle


def test_the_same_for_pandas(walked):
    pytest.importorskip('pandas')
    analysis, folder = walked
    frame = to_pandas(analysis)
    with (folder / 'estimates.csv').open() as file:
        assert [*next(csv.reader(file))] == ['stamp_ns', 'mode', 'time', *frame.columns[2:]]
    np.testing.assert_array_equal(frame['RH_FOOT_fz'], analysis.series.published[:, 3, 2])
    assert frame.attrs['robot'] == 'anymal_class'


def test_the_enriched_bag_has_the_original_bytes_and_the_estimates(walked, walking_bag):
    analysis, folder = walked
    with BagReader(walking_bag) as original, BagReader(folder / 'enriched') as enriched:
        for topic in original.topics:
            assert list(original.messages([topic])) == list(enriched.messages([topic])), topic
        added = {name: topic for name, topic in enriched.topics.items()
                 if name not in original.topics}
        assert set(added) == {
            '/replay/net_wrench', '/replay/center_of_pressure', '/replay/external_torque',
            '/replay/markers', *(f'/replay/{foot}/{what}' for foot in FEET
                                 for what in ('wrench', 'contact'))}
        wrenches = [enriched.decode(m) for m in enriched.messages(['/replay/LH_FOOT/wrench'])]
        markers = list(enriched.messages(['/replay/markers']))
        marker = enriched.decode(markers[0]).markers[0]
    found = np.array([convert.read_wrench(m)[1] for m in wrenches])
    assert (found == analysis.series.wrench.values[:, 2]).all()
    assert wrenches[0].header.frame_id == 'LH_FOOT'
    assert len(markers) == pytest.approx(30 * analysis.duration, rel=0.05)
    assert (marker.header.frame_id, marker.ns, len(marker.points)) == ('base', 'reaction', 2)


def test_an_enriched_bag_can_be_enriched_again(short_bag, tmp_path):
    analyse(short_bag, enriched=tmp_path / 'once')
    analyse(tmp_path / 'once', enriched=tmp_path / 'twice', options=AnalysisOptions(
        storage='sqlite3'))
    with BagReader(tmp_path / 'once') as once, BagReader(tmp_path / 'twice') as twice:
        assert sorted(once.messages()) == sorted(twice.messages())


def test_tables_read_well_on_a_terminal(walked):
    analysis, _ = walked
    errors, sums, *rest = tables(analysis)
    lines = errors.text.splitlines()
    assert lines[0].startswith('Error per stance foot, 3-D / vertical, rms (weight 511 N)')
    assert lines[3].startswith('fused, zero-phase 25 Hz') and len(lines[1]) == len(lines[3])
    assert len(sums.rows) == 3 and max(map(len, sums.text.splitlines())) < 140
    contact, torques, inputs = rest
    assert (contact.title, inputs.title) == ('Contact against the truth', 'Inputs')
    assert [row[0] for row in torques.rows] == list(analysis.series.joints)
    left = analysis.series.external_torque.values[analysis.behaviours[0].samples, 0]
    assert torques.rows[0][1] == f'{np.sqrt(np.nanmean(left ** 2)):.2f}'
