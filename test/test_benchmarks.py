# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What benchmarks say at the end is so: nothing measured is no success, no axis is left out."""
import re
import warnings
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest

from benchmarks import faults, walking
from benchmarks.digest_cases import Skipped
from benchmarks.walking_robots import Run
from benchmarks.zoo.robots import ENVIRONMENT, MissingRobot


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


def drifting():
    """Return a world where every robot drifts by 50 mm/s, and every second one falls."""
    count = iter(range(10**6))
    return walking.World(
        lambda name, **options: name,
        lambda lab, gait, command, seconds, *rest, **more: run_of(
            (0.0, 0.05, 0.0), command(0.1), 'fell at 2.0 s' * (next(count) % 2)),
        MagicMock(), lambda *robot: MagicMock(usual='trot'))


@pytest.mark.parametrize('table, figure', [
    ('gaits', 'drift'), ('ground', 'drift'), ('bipeds', 'drift'), ('pushes', 'after a push'),
    ('soles', 'after a push'), ('random', 'speed error'), ('urdf', 'drift')])
def test_runs_of_every_table_are_in_the_last_line(capsys, table, figure):
    asked = ['--urdf', 'one.urdf', 'two.urdf'] if table == 'urdf' else ['--only', table]
    assert walking.main([*asked, '--quick'], drifting()) == 1       # some fell
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


@pytest.mark.parametrize('row', faults.rows(), ids=lambda row: f'{row.name}, {row.phase}')
def test_a_fall_is_as_wanted_only_where_the_row_says_why(row):
    end, allowed = faults.outcome(row, False, True, True, False)
    assert end.startswith('dropped')
    if allowed and row.end != 'stands':
        assert len(row.falls.split()) > 4 and row.falls in end
    assert not faults.outcome(replace(row, falls=''), True, True, True, True)[1]


def test_falls_on_the_bus_are_in_the_last_line(capsys):
    bus = MagicMock(state=lambda node: '', largest=lambda ticks: 0.3, states=[], began=0,
                    words=[(0, 'no joint states'), (0, '100 ms old')], fastest=2.3, height=0.1,
                    tilt=0.0, sent=[(0, np.zeros(1), '')], rate=500.0)
    rows = 'joint states stopped standing|late by 0.1 s standing'
    assert faults.main(['--rows', rows], lambda environment: bus) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[-1] == 'faults: 2 rows, 0 not as wanted, 2 falls'
    assert said.count(f'dropped, no torque: {faults.BLIND}') == 2
    assert faults.main(['--rows', 'joint states missing for 0.1 s standing'],
                       lambda environment: bus) == 1
    assert capsys.readouterr().out.endswith('faults: 1 rows, 1 not as wanted, 1 falls\n')


def missing(*_, **__):
    raise MissingRobot('not installed')


def skipped():
    raise Skipped('not installed')


# Of each benchmark that measures what it is given: arguments, and names in it that are replaced,
# for which there is nothing to measure. FOLDER is an empty folder.
NOTHING = {
    'actuators': (['--quick', 'hyq-trot'], {'made_run': missing}),
    'compare_descriptions': (['FOLDER'], {}),
    'digests': (['robots'], {'digest_cases.CASES': {'robots': skipped}}),
    'double_support': (['FOLDER'], {}),
    'faults': (['--rows', 'no such row'], {}),
    'faults --in-process': (['--in-process', '--rows', 'no such row'], {}),
    'faults_joint': (['--robots', 'go2'], {'Guarded': missing}),
    'fuzz_files': (['--count', '0', '--kind', 'node YAML'], {}),
    'motion_only': (['FOLDER'], {}),
    'motion_only --simulated': (['--simulated', 'talos-stand'], {'recording': missing}),
    'people': (['walks=FOLDER'], {}),
    'sensitivity': (['--only', 'no such number'], {}),
    'walking_bullet': (['go2'], {'BulletLaboratory': missing}),
    'walking_horizon': (['go2'], {'Laboratory': missing}),
    'walking_sensitivity': (['--only', 'no such number'], {}),
    'zoo.sensitivity': (['biped-steps', '--only', 'no such number'], {}),
    'tables': (['--only', 'no such table'], {'version': lambda root: '01234567'}),
    'soak': (['--minutes', '0'], {'Soak': lambda *_: MagicMock(
        times=[], processes={}, exercise=None, elapsed=lambda: 0.0)}),
    'update_times': ([], {'recording': missing}),
    'validation': (['--cases', '0'], {}),
    'walking': (['--only', 'random', '--sequences', '0'], {}),
    'zoo.__main__': (['go2-stand'], {'recording': missing}),
}
# What always has something: our own robots, the package's source, a program for one call.
ALWAYS = {'__main__', 'bench_contact', 'climbing', 'doctor_table', 'identify_table', 'made_walk',
          'nimble_tick', 'structure'}
# What ends with an error where a bag or a process that it needs is not there.
NEEDY = {'fleet_batch', 'node_load', 'view_cost'}


@pytest.mark.parametrize('name', NOTHING)
def test_nothing_measured_is_no_success(name, monkeypatch, tmp_path, capsys):
    arguments, replaced = NOTHING[name]
    module = import_module(f'benchmarks.{name.split()[0]}')
    for attribute, value in replaced.items():
        where, _, own = attribute.rpartition('.')
        home = import_module(f'benchmarks.{where}') if where else module
        monkeypatch.setattr(home, own, value)
    try:
        with warnings.catch_warnings():
            code = module.main([word.replace('FOLDER', str(tmp_path)) for word in arguments])
    except (SystemExit, OSError) as error:
        code = getattr(error, 'code', 1)
    assert code not in (0, None), capsys.readouterr().out


def test_every_benchmark_is_asked_what_it_says_of_nothing():
    folder = Path(walking.__file__).parent
    runs = {'.'.join(path.relative_to(folder).with_suffix('').parts)
            for path in folder.rglob('*.py') if "__name__ == '__main__'" in path.read_text()}
    assert runs == {name.split()[0] for name in NOTHING} | ALWAYS | NEEDY
