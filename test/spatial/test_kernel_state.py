# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which nodes need not compile any more, and what of the kept kernels is deleted."""
import sqlite3
import subprocess
import sys

import pytest

from legged_dynamics import cli
from legged_dynamics.spatial import kernel_cache
from legged_dynamics.spatial import kernel_cache as kernel_state
from legged_dynamics.spatial.kernel_store import KernelStore

pytestmark = pytest.mark.processes

NODE = 'ground_reaction_estimator'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_state, 'cache_directory', lambda: tmp_path)
    monkeypatch.setattr(kernel_state.numba.config, 'DISABLE_JIT', 0)
    return tmp_path


def test_a_node_is_warm_when_it_was_warmed_from_the_same_sources(folder, monkeypatch):
    assert not kernel_state.is_warm(NODE)
    kernel_state.mark_warm(NODE)
    assert kernel_state.is_warm(NODE) and not kernel_state.is_warm('workspace_controller')
    monkeypatch.setattr(kernel_state, 'kernels_digest', lambda processor=0: 'after an update')
    assert not kernel_state.is_warm(NODE)


@pytest.mark.parametrize('mode', [0o770, 0o720, 0o702])
def test_a_folder_that_others_can_write_to_is_not_taken_and_that_is_said(
        tmp_path, monkeypatch, caplog, mode):
    own, shared = tmp_path / 'own', tmp_path / 'shared'
    shared.mkdir()
    shared.chmod(mode)
    monkeypatch.setattr(kernel_state.config, 'CACHE_DIR', str(shared))
    monkeypatch.setenv('XDG_CACHE_HOME', str(own))
    look = kernel_cache.cache_directory.__wrapped__         # without what it remembers
    assert look() == own / 'legged_dynamics' / 'kernels'
    assert f'not kept in {shared}, which can be written by others' in caplog.text
    caplog.clear()
    shared.chmod(0o755)
    assert look() == shared and not caplog.text


def test_where_nothing_can_be_kept_nothing_is_waited_for(monkeypatch):
    monkeypatch.setattr(kernel_state, 'cache_directory', lambda: None)
    assert kernel_state.is_warm(NODE)
    kernel_state.mark_warm(NODE)
    assert kernel_state.prune(0.0) == 0


def test_the_digest_is_of_the_kernels_and_of_what_they_call(monkeypatch, tmp_path):
    files = {path.relative_to(kernel_cache.ROOT).as_posix() for path in
             kernel_state.kernel_files()}
    assert 'estimation/filter/tick.py' in files
    assert 'ros/nodes/ground_reaction_estimator.py' not in files
    before = kernel_state.kernels_digest.__wrapped__()
    real = kernel_state.source_digest
    monkeypatch.setattr(kernel_state, 'source_digest', lambda path: real(path) + (
        'x' if path.name == 'tick.py' else ''))
    assert kernel_state.kernels_digest.__wrapped__() != before


def test_only_what_nobody_uses_is_pruned(folder):
    store = KernelStore(folder / 'kernels.sqlite')
    store.put('a', 'old', b'0' * 1000)
    with sqlite3.connect(folder / 'kernels.sqlite') as rows:
        rows.execute('UPDATE kernels SET used = used - 31 * 86400')
    store.put('b', 'new', b'0' * 1000)
    for name in ('legged_dynamics.of.another.version-1', 'somebody.else'):
        (folder / name).mkdir()
    kernel_state.mark_warm(NODE)
    assert kernel_state.prune(60.0) == 0 and kernel_state.is_warm(NODE)
    assert kernel_state.prune(30.0) == 1000
    assert store.get(['a', 'b']) == ('b', b'0' * 1000) and store.get(['a']) is None
    assert not kernel_state.is_warm(NODE)       # what was deleted may have been its own
    assert {entry.name for entry in folder.iterdir()} == {'kernels.sqlite', 'somebody.else'}


def test_warm_says_what_is_wrong_and_marks_what_is_done(monkeypatch, capsys):
    assert cli.main(['warm', 'simulated_robot']) == cli.WRONG
    assert 'expected nodes out of ground_reaction_estimator' in capsys.readouterr().err
    done = []
    monkeypatch.setattr(kernel_state, 'mark_warm', done.append)
    assert cli.main(['warm', NODE, '--keep', '100000']) == 0
    assert done == [NODE] and 'The kernels are in' in capsys.readouterr().out


def test_a_warmed_process_loads_and_does_not_compile():
    code = ('import numba.core.event as event\n'
            'class Count(event.Listener):\n'
            '    n = 0\n'
            '    def on_start(self, e): Count.n += 1\n'
            '    def on_end(self, e): pass\n'
            'event.register("numba:compile", Count())\n'
            'from legged_dynamics.cli.warm import warm\n'
            f'warm({NODE!r})\nprint(Count.n)')
    subprocess.run([sys.executable, '-m', 'legged_dynamics', 'warm', NODE], check=True)
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert done.stdout.strip() == '0', done.stdout + done.stderr
