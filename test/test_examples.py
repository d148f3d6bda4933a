# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The examples run, and say something."""
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tolerances import PATIENCE

pytestmark = pytest.mark.processes

PICTURE = re.compile(r'writes (\S+\.(?:png|svg))')
EXAMPLES = sorted((Path(__file__).resolve().parent.parent / 'examples').glob('*.py'))


@pytest.mark.parametrize('path', EXAMPLES, ids=lambda p: p.stem)
def test_example_runs(path, tmp_path):
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True,
                          cwd=tmp_path, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    for name in PICTURE.findall(path.read_text().split('\n\n')[0]):   # in its first line
        assert (tmp_path / name).stat().st_size > 1000
    assert len(path.read_text().splitlines()) <= 80
