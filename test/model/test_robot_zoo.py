# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Every URDF of the PyPI package example-robot-data, where that is installed, and Pinocchio."""
import sys
from pathlib import Path

import pytest

from benchmarks.compare_descriptions import compare

FOLDERS = [path for entry in sys.path
           if (path := Path(entry) / 'cmeel.prefix/share/example-robot-data/robots').is_dir()]
URDFS = sorted(FOLDERS[0].rglob('*.urdf')) if FOLDERS else []
RELATIVE = 1e-12


@pytest.mark.data
@pytest.mark.skipif(not URDFS, reason='needs example-robot-data (pip, 400 MB)')
@pytest.mark.parametrize('path', URDFS, ids=lambda path: path.stem)
def test_it_is_read_as_pinocchio_reads_it(path):
    row = compare(path, path.stem)
    if row.said:
        assert 'Pinocchio refuses it too' in row.said
        return
    assert max(row.effort, row.mass, row.jacobian) < RELATIVE
    assert not row.mimic > RELATIVE     # NaN where Pinocchio cannot read the mimics
