# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings of people on force plates, which are not part of the package."""
import os
import re
from pathlib import Path

import numpy as np
import pytest
from test_accuracy import find

from legged_dynamics.cli import main
from legged_dynamics.estimation import Mode
from legged_dynamics.recordings.replay import AnalysisOptions
from legged_dynamics.recordings.report.accuracy import UNFILTERED, ZERO_PHASE
from legged_dynamics.recordings.report.analysis import analyse

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get('LEGGED_DYNAMICS_DATA', ROOT.parent / 'shared' / 'data'))
PEOPLE = DATA / 'human_gait'
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not PEOPLE.is_dir(), reason=f'there are no recordings at {PEOPLE}; set '
                       'LEGGED_DYNAMICS_DATA to the folder that holds human_gait')]
FEET = ('sole_r', 'sole_l')


@pytest.mark.parametrize('contact', ['detected', 'bag'])
def test_walking_agrees_with_the_plates(contact):
    analysis = analyse(PEOPLE / 'walking1' / 'bag',
                       AnalysisOptions(robot='human', contact=(contact,)))
    assert [b.name for b in analysis.behaviours] == ['walking']
    assert (analysis.series.mode.values == Mode.BASE_ONLY).all()
    sums, support = analysis.accuracy.sums, analysis.accuracy.support
    for treatment in (ZERO_PHASE, UNFILTERED):
        total = find(sums, treatment, 'sum of all feet', 'base only')
        assert total.vertical < 25.0 and total.count == 110
        for foot in FEET:
            alone, both = (find(support, treatment, f'{foot}, {kind} support', 'base only')
                           for kind in ('single', 'double'))
            assert alone.vertical < 22.0 and alone.count >= 38
            # How two feet share the load is a guess by where they are: no more is promised.
            assert both.count == 29 and both.vertical < 70.0
    assert analysis.accuracy.center < 0.03
    if contact == 'detected':
        assert all(score.agreement > 95.0 for score in analysis.contacts)


def test_another_walk():
    analysis = analyse(PEOPLE / 'walkingTS1' / 'bag')
    assert any('recognised by its URDF: human' in note for note in analysis.notes)
    for foot in FEET:
        row = find(analysis.accuracy.support, UNFILTERED, f'{foot}, single support', 'base only')
        assert row.vertical < 25.0


@pytest.mark.parametrize(('trial', 'newtons'), [('static1', 3.0), ('squats1', 15.0)])
def test_standing_people_weigh_what_the_plates_say(trial, newtons):
    analysis = analyse(PEOPLE / trial / 'bag')
    assert analysis.series.contact.values[5:].all()
    total = find(analysis.accuracy.sums, UNFILTERED, 'sum of all feet', 'base only')
    assert total.vertical < newtons


def test_a_jump_has_a_flight():
    analysis = analyse(PEOPLE / 'DJ1' / 'bag')
    flying = ~analysis.truth.contact.any(axis=1) & analysis.truth.valid
    assert flying.sum() > 30
    assert np.isfinite(analysis.series.wrench.values).all()


def test_from_the_command_line(tmp_path, capsys):
    assert main(['analyze', str(PEOPLE / 'walking1' / 'bag_unfiltered'), '--robot', 'human',
                 '-o', str(tmp_path / 'out'), '--truth', 'sole_r=/force_plate/right']) == 0
    out = capsys.readouterr().out
    assert 'break the triangle inequality' in out and 'No joint torque in 131 samples' in out
    assert re.search(r'base only, sole_l, double support +29 ', out)
    assert (tmp_path / 'out' / 'report.html').is_file()
