# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings of real robots go through the estimator and are scored against their sensors."""
import pytest

from benchmarks.zoo.__main__ import main
from benchmarks.zoo.real import BAGS, folder, real_scores
from legged_dynamics.exceptions import BagError

pytestmark = pytest.mark.slow


@pytest.mark.data
@pytest.mark.parametrize('name', BAGS)
def test_real_robots(name):
    if not (folder() / name).is_dir():
        pytest.skip(f'no recordings of real robots in {folder()}')
    found = {score.method: score for score in real_scores(name)}
    given = found['true contacts']
    assert given.agreement == 100.0 and given.unseen == 0 and given.changes >= 2
    assert given.total == pytest.approx(given.weight, rel=0.05)
    assert 80.0 < found['detected'].agreement < 100.0


def test_absent_recordings_are_skipped(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv('LEGGED_DYNAMICS_DATA', str(tmp_path))
    with pytest.raises(BagError, match='LEGGED_DYNAMICS_DATA'):
        real_scores('icub')
    assert main(['--real']) == 0 and 'skipped' in capsys.readouterr().err
