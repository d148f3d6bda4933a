# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Layouts for Foxglove and PlotJuggler: all that they name is in the bag beside them."""
import json
from functools import reduce
from xml.etree import ElementTree

import pytest

from legged_dynamics.cli.analyze import ENRICHED, analyse_into
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.replay import AnalysisOptions
from legged_dynamics.recordings.report.enriched import FOXGLOVE, PLOTJUGGLER


@pytest.fixture(scope='module')
def analysed(short_bag, tmp_path_factory):
    out = tmp_path_factory.mktemp('layouts')
    analyse_into(short_bag, AnalysisOptions(report=False, csv=False), out)
    return out


def number(bag, topic, fields):
    """Return a field of the first message of a topic."""
    return float(reduce(getattr, fields, bag.first(topic)))


def test_foxglove_finds_every_curve_the_markers_and_the_robot(analysed):
    layout = json.loads((analysed / FOXGLOVE).read_text())
    panels = layout['configById']

    def named(part):
        return [part] if isinstance(part, str) else named(part['first']) + named(part['second'])
    assert sorted(named(layout['layout'])) == sorted(panels)
    scene = panels['3D!scene']
    with BagReader(analysed / ENRICHED) as bag:
        for topic in (*scene['topics'], scene['layers']['urdf']['topic']):
            assert bag.topics[topic].count > 0
        paths = [path['value'] for panel in panels.values() for path in panel.get('paths', ())]
        assert len(paths) == 4 + 4 + 4 + 3
        for path in paths:
            topic, *fields = path.split('.')
            number(bag, topic, fields)


def test_plotjuggler_finds_every_curve(analysed):
    root = ElementTree.parse(analysed / PLOTJUGGLER).getroot()
    curves = [curve.get('name') for curve in root.iter('curve')]
    assert len(curves) == 15
    with BagReader(analysed / ENRICHED) as bag:
        for curve in curves:
            topic = max((name for name in bag.topics if curve.startswith(f'{name}/')), key=len)
            number(bag, topic, curve.removeprefix(f'{topic}/').split('/'))
