# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Feet with names that a page, a table or a terminal could trip over."""
import io
import re
from contextlib import redirect_stdout
from html import escape

import numpy as np
import pytest
from simulated_bag import ROBOT, messages, walk, write

from legged_dynamics.cli import main
from legged_dynamics.pages.page import Chart, Line, Table
from legged_dynamics.pages.section import (
    Cards,
    Listing,
    Report,
    ReportFigure,
    ReportSection,
)

NAMES = {'LF_FOOT': 'é', 'RF_FOOT': '<!--<script>', 'LH_FOOT': 'a,"b"'}


@pytest.mark.slow
def test_a_whole_report_of_a_robot_with_odd_names(tmp_path):
    """On a terminal that knows ASCII only."""
    urdf, yaml = walk()[0], ROBOT.read_text()
    for name, odd in NAMES.items():
        urdf = urdf.replace(f'"{name}"', f'"{escape(odd)}"')
        yaml = re.sub(rf'\b{name}\b', "'" + odd + "'", yaml)
    (tmp_path / 'odd.urdf').write_text(urdf, encoding='utf-8')
    (tmp_path / 'odd.yaml').write_text(yaml, encoding='utf-8')
    bag = write(tmp_path / 'bag', messages(), without=('/ground_truth', '/robot_description'))
    terminal = io.TextIOWrapper(io.BytesIO(), encoding='ascii')
    with redirect_stdout(terminal):
        assert main(['analyze', str(bag), '--robot', str(tmp_path / 'odd.yaml'), '--urdf',
                     str(tmp_path / 'odd.urdf'), '-o', str(tmp_path / 'out')]) == 0
    terminal.flush()
    page = next((tmp_path / 'out').glob('**/report.html')).read_text(encoding='utf-8')
    assert '<!--' not in page and escape('<!--<script>') in page and 'é' in page
    table = next((tmp_path / 'out').glob('**/*.csv')).read_text(encoding='utf-8')
    assert 'é' in table.splitlines()[0]


@pytest.mark.parametrize('name', ['<!--<script>', '</script><b>', '<script'])
def test_names_in_charts_cannot_end_or_begin_anything(name):
    values = np.array([0.0, 1.0])
    chart = Chart(name, name, values, [Line(name, values)])
    html = chart.html(name)
    inside = html[html.index('>') + 1:html.rindex('</script>')]
    assert '<' not in inside


def test_text_of_every_kind_is_escaped():
    odd = '<x-y>'
    report = Report(odd, odd, [ReportSection(odd, [
        odd, Listing([odd]), ReportFigure('', lambda: b'', odd), Cards([(odd, odd)]),
        Table(odd, [odd], [[odd]])])], odd, odd, warnings=[odd], cautions=[odd], robot=odd)
    assert odd not in report.html()
