# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reports made of sections: everything that a section has is on the page, in its order."""
import re
from collections import Counter
from contextlib import chdir

import numpy as np
import pytest

from legged_dynamics.estimation import Mode
from legged_dynamics.exceptions import OutputError
from legged_dynamics.pages import style
from legged_dynamics.pages.page import Chart, Line, Link, Table
from legged_dynamics.pages.section import (
    Cards,
    ChartRow,
    Listing,
    Report,
    ReportFigure,
    ReportSection,
    titled,
)
from legged_dynamics.recordings.report import report as bag_report
from legged_dynamics.recordings.report.analysis import analyse

TIME = np.linspace(0.0, 1.0, 50)


def picture():
    figure = style.new_figure(2.0)
    style.line(figure.subplots(), TIME, TIME)
    return figure


def chart(title):
    return Chart(title, 'N', TIME, [Line('force', TIME)], caption=f'{title}, drawn')


def made_up():
    table = Table('Paws', ('paw', 'load'), [('left', '-0.0'), (Link('right', 'x/y.html'), '3')])
    return ReportSection('Paws & claws', [
        'Two of them.', *titled(table), chart('Load'),
        ChartRow([chart('Left'), chart('Right')], 'paws'), Listing(['one', 'two']),
        Cards([('-0.0 N', 'grip')]), ReportFigure('paws', picture, 'Seen from below.'),
        ReportFigure('claws', picture), ReportFigure('none', lambda: None, 'Nothing to draw.')])


def report(*sections):
    return Report('Cat', 'A made-up one.', sections, 'made by hand', verdict='It stands.',
                  warnings=['Do not touch.', 'It bites.'], robot='cat.yaml')


def test_a_section_is_on_the_page_in_its_order(tmp_path):
    path = report(ReportSection('', ['Before all headings.']), made_up()).write(tmp_path / 'out')
    html = path.read_text()
    found = [html.index(text) for text in (
        'Do not touch.', 'It bites.', 'It stands.', 'Before all headings.',
        '<h2 id="s1">Paws &amp; claws', 'Two of them.', '<p>Paws:</p>', '<td>0.0</td>',
        '<a href="x/y.html">right</a>', 'Load, drawn', 'class="row"', '<li>one</li>',
        '<b>0.0 N</b>', 'Seen from below.', 'made by hand', 'cat.yaml')]
    assert found == sorted(found)
    assert html.count('class="chart"') == 3 and html.count('<img') == 1
    assert 'Nothing to draw' not in html
    assert {entry.name for entry in path.parent.iterdir()} == {
        'report.html', 'paws.png', 'claws.png'}


def test_what_a_section_holds_is_found_by_its_kind():
    section = made_up()
    assert [table.title for table in section.tables] == ['Paws'] == [
        table.title for table in report(section, ReportSection('no more')).tables]
    assert [one.title for one in section.charts] == ['Load', 'Left', 'Right']
    assert [figure.name for figure in section.figures] == ['paws', 'claws', 'none']


def test_a_page_alone_writes_no_other_file(tmp_path):
    with chdir(tmp_path):
        assert 'Seen from below.' in report(made_up()).html()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(OutputError, match='cannot write the report to'):
        report(made_up()).write(tmp_path / 'file')


def test_a_panel_of_the_bag_report_is_on_the_page_and_on_the_terminal(short_bag, tmp_path):
    """One function in the list of sections is all that a new panel takes."""
    def modes(analysis):
        counts = Counter(map(Mode, analysis.series.mode.values.tolist()))
        return ReportSection('Modes', [Table('Estimates by mode', ('mode', 'count'), [
            (mode.name, str(count)) for mode, count in counts.items()])])

    analysis, makers = analyse(short_bag), (*bag_report.SECTIONS, modes)
    html = bag_report.write_report(analysis, tmp_path, makers=makers).read_text()
    assert re.search(r'<h2 id="s\d+">Modes</h2>\n<div class="wide"[^>]*><table>', html)
    assert bag_report.tables(analysis, makers)[-1].title == 'Estimates by mode'
