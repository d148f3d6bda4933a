# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Charts of the reports, their skeleton, and when they warn."""
import base64
import json
import re
from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

from legged_dynamics.cli import main
from legged_dynamics.pages.page import Chart, Line, _with_gaps, _with_room, thinned
from legged_dynamics.pages.section import Report, ReportSection
from legged_dynamics.pages.style import new_figure, picture
from legged_dynamics.recordings.report import report as bag_report
from legged_dynamics.recordings.report.analysis import analyse
from legged_dynamics.recordings.report.figures import residual_bands


def test_a_gap_is_a_gap():
    time = np.concatenate([np.arange(10), np.arange(30, 40)]) * 0.01
    at, columns = _with_gaps(time, np.ones((2, 20)))
    assert len(at) == 21 and np.isnan(columns[:, 10]).all() and 0.09 < at[10] < 0.30
    assert (np.diff(at) > 0.0).all() and np.isfinite(np.delete(columns, 10, axis=1)).all()


def test_thinning_keeps_peaks_and_gaps():
    time = np.arange(100_000) * 1e-3
    values = np.sin(time)[None].repeat(2, axis=0)
    values[0, 54_321], values[1, 70_000:71_000] = 9.0, np.nan
    at, columns = thinned(time, values, 4000)
    assert len(at) <= 4000 + 2 and (np.diff(at) > 0.0).all()
    assert columns[0].max() == 9.0 and abs(at[columns[0].argmax()] - 54.321) < 0.1
    assert np.isnan(columns[1, (at > 70.1) & (at < 70.9)]).all()
    assert np.isfinite(columns[1, (at < 69.9) | (at > 71.1)]).all()
    short = np.arange(10.0), np.ones((1, 10))
    assert thinned(*short)[0] is short[0]


def test_a_page_needs_nothing_beside_itself():
    values = np.array([1.0, np.nan, 3.0])
    text = Report(
        'Title <1>', 'lead', [ReportSection('One & two'), ReportSection('Two'), ReportSection(
            'Three', [Chart('Force </script>', 'N', np.arange(3.0), [Line('foot', values)],
                            caption='caption')])],
        'legged-dynamics analyze "a b"', 'Error -0.0 % of the weight.',
        warnings=['Not to be trusted: <reason>.'], robot='anymal_class').html()
    assert not re.search(r'(?:src|href)="(?!#|data:)', text) and '@import' not in text
    body = text.split('<body>')[1]
    # The banner is the first thing said, the verdict the second.
    assert 0 < body.index('class="banner"') < body.index('class="verdict"') < body.index('<nav')
    assert 'Error 0.0 % of the weight' in body and '&lt;reason&gt;' in body
    assert body.count('href="#s') == 3 and 'One &amp; two' in body
    for part in ('legged-dynamics analyze &quot;a b&quot;', 'robot anymal_class', 'numpy '):
        assert part in body.split('<footer>')[1]
    data = json.loads(re.search(r'application/json">(.*?)</script>', body)[1])
    assert data['title'] == 'Force </script>'
    seen = np.frombuffer(base64.b64decode(data['series'][0]['values']), '<f4')
    np.testing.assert_array_equal(seen, values.astype('f4'))
    assert 'prefers-color-scheme: dark' in text and '@media print' in text
    assert '<script' not in Report('no', 'charts', [], 'x').html().split('<body>')[1]


@pytest.fixture(scope='module')
def analysis(walking_bag):
    return analyse(walking_bag)


def test_a_report_of_a_bag_says_its_verdict_first_then_inputs(walking_bag, tmp_path, capsys):
    assert main(['analyze', str(walking_bag), '-o', str(tmp_path / 'out'), '--no-csv',
                 '--no-enriched-bag']) == 0
    said, had = capsys.readouterr().out.splitlines()[:2]
    assert had.startswith('/joint_states: 1900 messages over 3.80 s, none lost; /imu/data: ')
    assert said.startswith('Error of the vertical force on a foot in contact')
    text = (tmp_path / 'out' / 'report.html').read_text()
    assert text.count('class="chart"') == 11 and len(text) < 3_000_000
    assert 'class="banner"' not in text and 'of real time, as' not in text
    # The first screen: verdict, robot with its forces, key figures; then contents and charts.
    order = [text.index(part) for part in ('class="verdict"', 'class="opening"', '<svg', '<nav',
                                           'class="chart"')]
    assert order == sorted(order)


def test_charts_open_on_three_strides_below_an_overview_of_everything(analysis):
    begin, end = bag_report._opening(analysis)
    landings = [analysis.series.time[1:][np.diff(down.astype(int)) > 0]
                for down in analysis.truth.contact.T]
    stride = np.median(np.concatenate([np.diff(times) for times in landings]))
    assert end - begin == pytest.approx(3.0 * stride, rel=0.1)
    charts = bag_report._force_charts(analysis)
    assert [chart.overview for chart in charts] == [True, False, False, False]
    assert all(chart.window == (begin, end) for chart in charts)


def test_noise_alone_explains_the_residual_of_a_perfect_robot(analysis):
    """Where nothing but noise is wrong, 95 % of the residuals are inside of the band."""
    bands = residual_bands(analysis)
    residual = analysis.series.base_residual.values
    standing = analysis.behaviours[0].samples
    for band, part in zip(bands, (slice(0, 3), slice(3, 6))):
        length = np.linalg.norm(residual[standing, part], axis=1)
        assert 0.88 < np.mean(length[np.isfinite(length)] <= band) < 0.995


def test_forces_and_robot_agree_in_the_picture(analysis):
    """Every foot in contact has an arrow, and no other has one."""
    text, _ = bag_report._picture(analysis)
    at = bag_report.telling_moment(analysis)
    contact = analysis.series.contact.values[at]
    assert 0 < contact.sum() < len(contact)
    labels = [node.text for node in ElementTree.fromstring(text).iter() if node.text
              and node.tag.endswith('text')]
    assert labels.count('in the air') == (~contact).sum()
    assert text.count('stroke-width="4.0"') == contact.sum()


def test_time_that_waited_is_a_remark_without_a_latency_tile(analysis, tmp_path):
    waited = replace(analysis, inputs=[replace(entry, received=0.4 * entry.rate)
                                       for entry in analysis.inputs])
    slow = bag_report.write_report(waited, tmp_path / 'slow').read_text()
    assert 'Recorded at 0.40 of real time' in slow and 'median latency' not in slow


def test_results_that_deserve_no_trust():
    from legged_dynamics.people.trials import report as gait
    from legged_dynamics.people.trials.accuracy import BodyMass
    from legged_dynamics.people.trials.analysis import ROBOT

    n = 100
    reactions = SimpleNamespace(
        time=np.arange(n) * 0.01, contact=np.ones((n, 2), bool),
        root_residual=np.zeros((n, 6)), feet=('a', 'b'),
        supported=np.ones(n, bool), inside_soles=np.ones(n, bool), force=np.full((n, 2, 3), 300.0),
        deviation=np.full((n, 2, 3), 20.0), flat=False)
    turn = np.tile(np.eye(3), (n, 1, 1))
    result = SimpleNamespace(reactions=reactions, dynamics=SimpleNamespace(
        noise=np.zeros((1, 6)), motion=SimpleNamespace(base_rotation=turn),
        foot_rotation=np.tile(np.eye(3), (n, 2, 1, 1))), errors={},
                             method='travelling', weight=600.0, together=None, alignment=None,
                             mass=None, model=SimpleNamespace(joints=()),
                             motion=SimpleNamespace(position=np.zeros((n, 0))))
    assert not gait.doubts(result)
    text, judged = gait.verdict(result)
    assert not judged and 'a 300 N, b 300 N' in text and 'people' in text
    result.mass = BodyMass(60.0, 3.0, 60.0, ROBOT)
    assert "the robot's YAML" in gait.verdict(result)[0]
    result.mass, reactions.flat = None, True
    assert 'people' not in gait.verdict(result)[0]      # no person was in it
    reactions.flat = False
    turn[90:] = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
    assert ['lies, from 0.9 s on' in reason for reason in gait.doubts(result)] == [True]
    turn[90:] = np.eye(3)
    reactions.root_residual[:, 0] = 90.0
    assert ['15 % of the weight' in reason for reason in gait.doubts(result)] == [True]
    reactions.inside_soles[:60] = False
    assert 'leaves the stated soles' in gait.doubts(result)[1]
    reactions.supported[:60] = False
    reactions.contact[:] = False
    said = gait.doubts(result)
    assert len(said) == 3 and 'something else than the feet' in said[2]


def test_the_first_line_says_the_error_with_the_clocks_put_together():
    from legged_dynamics.people.trials import report as gait
    from legged_dynamics.people.trials.accuracy import Alignment, FootErrors

    def errors(vertical):
        return FootErrors(vertical, 20.0, 50.0, 9.0, 8.0, 7.0, 0.0, 0.9, 100)

    result = SimpleNamespace(errors={'travelling': errors(40.0)}, method='travelling',
                             weight=800.0, as_recorded=errors(80.0), mass=None,
                             aligned_plates=None,
                             alignment=Alignment(0.014, 1.0, 0.002))
    text, judged = gait.verdict(result)
    assert judged and 'plates: 40 N' in text and '5.0 %' in text and '80 N' not in text
    assert text.startswith('With the clocks put together (the plates are 14 ± 4 ms (95 %) behind')
    rows = gait.errors_table(result).rows
    assert [(row[0], row[1]) for row in rows] == [('travelling', '40.0'),
                                                  ('travelling, as recorded', '80.0')]
    result.as_recorded = None
    assert 'clocks' not in gait.verdict(result)[0] and '40 N' in gait.verdict(result)[0]


def test_a_figure_is_what_its_name_says(tmp_path):
    path = tmp_path / 'map.pdf'
    assert main(['force-map', 'anymal_class', '-o', str(path)]) == 0
    assert path.read_bytes().startswith(b'%PDF')
    for kind, begins in (('svg', b'<?xml'), ('png', b'\x89PNG')):
        assert picture(new_figure(1.0), kind).startswith(begins)


def test_a_figure_of_no_known_kind_is_refused(tmp_path, capsys):
    assert main(['force-map', 'anymal_class', '-o', str(tmp_path / 'map.docx')]) == 2
    assert '.png, .svg, .pdf' in capsys.readouterr().err


def test_dots_by_date_all_stay_and_a_lone_one_has_an_axis():
    time, columns = _with_room(np.array([1e9]), np.array([[3.0]]))
    assert time.tolist() == [1e9 - 3600.0, 1e9, 1e9 + 3600.0]
    assert np.isnan(columns[0, [0, 2]]).all() and columns[0, 1] == 3.0
    many = np.linspace(0.0, 1e7, 20_000)
    assert _with_room(many, np.array([many]))[1].shape == (1, 20_002)
    page = Chart('c', 'N', many[:3], [Line('a', many[:3])], dates=True).html()
    assert '"dates": true' in page
