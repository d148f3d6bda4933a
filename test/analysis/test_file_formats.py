# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""One table says which files are read for what; readers, help, errors and documents follow it."""
import re
from pathlib import Path

import pytest

from legged_dynamics.cli import main
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.people.trials.loads import READERS
from legged_dynamics.people.trials.subject import refuse_no_motion
from legged_dynamics.recordings.file_formats import (
    CONVERT,
    FORMATS,
    LOADS,
    MODEL,
    MOTION,
    OSIM,
    format_of,
    readable,
)

PAGE = Path(__file__).parents[2] / 'docs' / 'biomechanics.md'


def test_each_suffix_stands_in_one_row():
    suffixes = [suffix for found in FORMATS for suffix in found.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert format_of('Model.OSIM') is OSIM and format_of('walk.txt') is None


def test_a_phrase_names_what_is_read():
    assert readable(LOADS) == ('external loads of OpenSim (.mot, .sto, .xml) or force plates '
                               '(.c3d)')
    assert readable(MODEL) == 'robot model (.urdf) or OpenSim model (.osim)'


def test_loads_have_a_reader_each():
    assert set(READERS) == {found for found in FORMATS if LOADS in found.uses}


@pytest.mark.parametrize('found', FORMATS, ids=lambda found: found.suffixes[0])
def test_what_is_no_motion_comes_with_advice(found):
    path = Path(f'walk{found.suffixes[0]}')
    if MOTION in found.uses:
        refuse_no_motion(path)
    else:
        assert found.advice
        with pytest.raises(MeasurementError, match=re.escape(found.advice)):
            refuse_no_motion(path)


def test_the_page_and_the_help_name_all_of_them(capsys):
    page = PAGE.read_text(encoding='utf-8')
    assert not [suffix for found in FORMATS if found.uses for suffix in found.suffixes
                if f'`{suffix}`' not in page]
    with pytest.raises(SystemExit):
        main(['inverse-dynamics', '-h'])
    text = ' '.join(capsys.readouterr().out.split())
    assert readable(MOTION) in text and readable(LOADS) in text and readable(MODEL) in text


def test_convert_refuses_others(tmp_path, capsys):
    assert main(['convert', str(tmp_path / 'walk.mot')]) != 0
    assert readable(CONVERT) in ' '.join(capsys.readouterr().err.split())
