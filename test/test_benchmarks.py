# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What benchmarks say at the end is so: nothing measured is no success, no axis is left out."""
import re

import numpy as np
import pytest

from benchmarks import walking
from benchmarks.walking_robots import Run
from benchmarks.zoo.robots import ENVIRONMENT


def run_of(velocity, wanted, cause=''):
    """Return a run of 10 s at 500 Hz that steps twice a second."""
    n = 5000
    time = np.arange(n) / 500.0
    bearing = np.stack([np.sin(4.0 * np.pi * time) > 0.0, np.sin(4.0 * np.pi * time) <= 0.0], 1)
    zero = np.zeros((n, 3))
    return Run(bool(cause), cause, time, zero, zero, np.tile(velocity, (n, 1)),
               np.tile(wanted, (n, 1)), zero, np.zeros(n), np.zeros((n, 2)), bearing, 0.0, 0.5,
               np.zeros((n, 2)))


@pytest.mark.parametrize('velocity, wanted, speed, drift, turning', [
    ((0.0, 0.02, 0.1), (0.0, 0.0, 0.0), np.nan, 20.0, np.degrees(0.1)),      # in place
    ((0.03, 0.0, 0.45), (0.0, 0.0, 0.6), 25.0, 30.0, np.nan),                # turning in place
    ((0.3, 0.0, 0.05), (0.3, 0.0, 0.0), 0.0, 0.0, np.degrees(0.05)),         # heading
    ((0.046, 0.03, 0.0), (0.0, 0.06, 0.0), 50.0, 46.0, 0.0)])                # sideways
@pytest.mark.parametrize('judge', [walking.off_command, walking.off_sequence])
def test_every_axis_is_judged_by_its_own_command_or_by_its_velocity(
        judge, velocity, wanted, speed, drift, turning):
    off = judge(run_of(velocity, wanted))
    assert (off.speed, off.drift, off.turning) == pytest.approx((speed, drift, turning),
                                                                nan_ok=True, abs=1e-9)


@pytest.fixture
def drifting(monkeypatch):
    """Have every robot drift by 50 mm/s, and every second one fall."""
    count = iter(range(10**6))
    monkeypatch.setattr(walking, 'Laboratory', lambda name, **options: name)
    monkeypatch.setattr(walking, 'described', lambda path: path.stem)
    monkeypatch.setattr(walking, 'walk', lambda lab, gait, command, seconds, *rest, **more: run_of(
        (0.0, 0.05, 0.0), command(0.1), 'fell at 2.0 s' * (next(count) % 2)))


@pytest.mark.parametrize('table, figure', [
    ('gaits', 'drift'), ('ground', 'drift'), ('bipeds', 'drift'), ('pushes', 'after a push'),
    ('bipeds', 'after a push'), ('random', 'speed error'), ('urdf', 'drift')])
def test_runs_of_every_table_are_in_the_last_line(drifting, capsys, table, figure):
    asked = ['--urdf', 'one.urdf', 'two.urdf'] if table == 'urdf' else ['--only', table]
    assert walking.main([*asked, '--quick']) == 1       # some fell
    last = capsys.readouterr().out.splitlines()[-1]
    runs, falls = map(int, re.match(r'walking: (\d+) runs, (\d+) falls', last).groups())
    assert falls == runs // 2 > 0
    assert figure in last.partition('worst')[2]


def test_robots_that_are_not_installed_are_named_with_what_to_install(
        monkeypatch, capsys, tmp_path):
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path))
    assert walking.main(['--robots', 'hyq,g1', '--quick']) == 2
    said = capsys.readouterr().out
    assert 'walking: 0 runs' in said and 'left out: hyq: ' in said and 'left out: g1: ' in said
    assert 'example-robot-data' in said
    assert '| hyq |' not in said        # no row of a robot that was not run
