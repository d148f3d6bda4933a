# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Real robots without joint torque: forces and contact against their own sensors."""
import pytest

from benchmarks.motion_only import BAGS, HEAD, folder, main, measured

pytestmark = pytest.mark.slow


@pytest.mark.data
def test_real_robots():
    if not all((folder() / name).is_dir() for name in BAGS):
        pytest.skip(f'no recordings of real robots in {folder()}')
    rows = {(row[0], row[1], row[2]): dict(zip(HEAD, row)) for row in measured(folder())}
    walk = rows['icub', 'on line', 'whole walk']
    assert float(walk['N a foot']) < 40.0 and float(walk['contact']) > 90.0
    # The deviation is that of a sample at full bandwidth.
    assert 0.6 < float(walk['unfiltered']) < 1.4 and float(walk['in bars']) >= 92.0
    assert int(walk['made up']) <= 0.1 * int(walk['changes'])
    given = rows['icub', 'on line, contacts given', 'whole walk']
    assert float(given['contact']) > float(walk['contact'])
    assert float(rows['go1', 'on line', 'trot']['contact']) > 90.0


def test_absent_recordings_are_skipped(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2 and 'skipped' in capsys.readouterr().err
