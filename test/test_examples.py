# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The examples run, and say something."""
import re
import runpy
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PICTURE = re.compile(r'writes (\S+\.(?:png|svg))')
EXAMPLES = sorted((Path(__file__).resolve().parent.parent / 'examples').glob('*.py'))


@pytest.mark.parametrize('path', EXAMPLES, ids=lambda p: p.stem)
def test_example_runs(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('MPLBACKEND', 'agg')
    monkeypatch.setattr(sys, 'argv', [str(path)])
    monkeypatch.syspath_prepend(path.parent)
    runpy.run_path(str(path), run_name='__main__')
    assert capsys.readouterr().out.strip()
    for name in PICTURE.findall(path.read_text().split('\n\n')[0]):   # in its first line
        assert (tmp_path / name).stat().st_size > 1000
    assert len(path.read_text().splitlines()) <= 80
