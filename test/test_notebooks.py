# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The notebooks of the site run from their first cell to their last, as a reader runs them."""
import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / 'docs' / 'notebooks').glob('*.md'))
CELL = re.compile(r'^```\{code-cell\}[^\n]*\n(.*?)^```', re.DOTALL | re.MULTILINE)


def test_there_are_notebooks():
    assert {path.stem for path in NOTEBOOKS} == {'first_forces', 'force_map', 'a_bag', 'a_person',
                                                 'stickybot'}


@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    cells = CELL.findall(path.read_text())
    assert cells
    script = tmp_path / f'{path.stem}.py'
    script.write_text('\n\n'.join(cells))
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv('MPLBACKEND', 'agg')
    monkeypatch.syspath_prepend(ROOT)
    runpy.run_path(str(script), run_name='__main__')
