# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels are kept by content: what is unchanged is not compiled."""
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from numba.core.errors import TypingError
from tolerances import PATIENCE

from legged_dynamics.spatial import kernel_cache
from legged_dynamics.spatial.jit import kernel

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
from legged_dynamics.spatial.outer import outer
print(outer(2.0), sum(outer.stats.cache_hits.values()))
"""
# Compiles for any processor of the kind, and puts the kernel where a wheel has its own.
AHEAD = """
from legged_dynamics.spatial import kernel_cache
from legged_dynamics.spatial.outer import outer
outer(2.0)
print(kernel_cache.export(kernel_cache.AHEAD, ['node']))
"""
# Says when it waits for a kernel or compiles it; if so it goes on when told to.
SLOW = """
import sys, time
from pathlib import Path
from types import SimpleNamespace
from numba.core import event
folder, name = Path(sys.argv[1]), sys.argv[2]
class Slow(event.Listener):
    def on_start(self, event):
        (folder / f'{name} compiles').touch()
        while not (folder / 'go on').exists():
            time.sleep(0.01)
    def on_end(self, event):
        pass
event.register('numba:compile', Slow())
from legged_dynamics.spatial import kernel_store
def sleep(seconds):
    (folder / f'{name} waits').touch()
    time.sleep(seconds)
kernel_store.time = SimpleNamespace(sleep=sleep, monotonic=time.monotonic, time=time.time)
from legged_dynamics.spatial.outer import outer
print(outer(2.0))
"""
OUTER = """
from legged_dynamics.spatial.inner import inner
from legged_dynamics.spatial import kernel_cache
from legged_dynamics.spatial.jit import kernel
@kernel
def outer(x):
    return inner(x) + 1.0
"""
INNER = """
from legged_dynamics.spatial.jit import part
@part
def inner(x):
    return FACTOR * x
"""


@pytest.fixture(scope='module')
def compiled(tmp_path_factory):
    """Return a small package of this name: a kernel, what it calls, and how both are compiled."""
    folder = tmp_path_factory.mktemp('compiled')
    spatial = folder / 'one' / 'legged_dynamics' / 'spatial'
    spatial.mkdir(parents=True)
    for package in (spatial, spatial.parent):
        (package / '__init__.py').touch()
    for name in ('generic', 'jit', 'kernel_cache', 'kernel_store', 'linking'):
        shutil.copy(ROOT / 'legged_dynamics' / 'spatial' / f'{name}.py', spatial)
    (spatial / 'outer.py').write_text(OUTER)
    (spatial / 'inner.py').write_text(INNER.replace('FACTOR', '10.0'))
    assert run(folder / 'one', folder / 'cache') == (21.0, 0)
    return folder


@pytest.fixture
def checkout(compiled, tmp_path):
    """Return a copy of it, and of its kernels in the folder cache."""
    shutil.copytree(compiled / 'cache', tmp_path / 'cache')
    return shutil.copytree(compiled / 'one', tmp_path / 'one')


def said(script, folder, cache, **environment):
    environment = {**os.environ, 'PYTHONPATH': str(folder), 'NUMBA_CACHE_DIR': str(cache),
                   'NUMBA_DISABLE_JIT': '0', **environment}
    return subprocess.run([sys.executable, '-B', '-c', script], env=environment, cwd=folder,
                          check=True, capture_output=True, text=True).stdout


def run(folder, cache, **environment):
    value, hits = said(SCRIPT, folder, cache, **environment).split()
    return float(value), int(hits)


def test_a_changed_callee_is_seen_and_what_is_unchanged_is_kept(checkout, tmp_path):
    cache = tmp_path / 'cache'
    assert run(checkout, cache) == (21.0, 1)        # checkouts of the same sources share
    inner = checkout / 'legged_dynamics' / 'spatial' / 'inner.py'
    before = inner.stat()
    inner.write_text(INNER.replace('FACTOR', '20.0'))
    os.utime(inner, ns=(before.st_atime_ns, before.st_mtime_ns))    # content counts, not its time
    assert run(checkout, cache) == (41.0, 0)
    inner.write_text(INNER.replace('FACTOR', '10.0'))
    assert run(checkout, cache) == (21.0, 1)                        # the old state is still there
    (checkout / 'legged_dynamics' / 'spatial' / 'other.py').write_text('x = 1')
    assert run(checkout, cache) == (21.0, 1)                        # nothing that is imported


def test_an_edit_of_words_compiles_nothing_and_one_of_code_among_them_does(checkout, tmp_path):
    cache = tmp_path / 'cache'
    spatial = checkout / 'legged_dynamics' / 'spatial'
    inner = INNER.replace('FACTOR', '10.0')
    (spatial / 'inner.py').write_text('# A comment.\n"""Words."""\n' + inner.replace(
        'return', '"""\n    More: "words".\n    """\n    # and why\n\n    return'))
    (spatial / 'outer.py').write_text('\n' + OUTER)         # the kernel's own line moves
    assert run(checkout, cache) == (21.0, 1)
    # The end of a string is no beginning of a docstring.
    text = 'WORDS = """a:\n"""\n' + inner + 'MORE = """\n"""\n'
    (spatial / 'inner.py').write_text(text)
    assert run(checkout, cache) == (21.0, 0)
    (spatial / 'inner.py').write_text(text.replace('10.0', '20.0'))
    assert run(checkout, cache) == (41.0, 0)


def test_it_runs_without_home_and_without_a_folder_to_write_to(checkout, tmp_path):
    file = tmp_path / 'file'
    file.touch()                    # below a file no folder can be made, not even by root
    nowhere = str(file / 'cache')
    for _ in range(2):
        assert run(checkout, nowhere, XDG_CACHE_HOME=nowhere, TMPDIR=str(tmp_path))[0] == 21.0
    kept = tmp_path / f'legged_dynamics-{os.getuid()}'
    assert kept.stat().st_mode & 0o777 == 0o700
    shutil.rmtree(kept)
    kept.touch()                    # and now nothing is left
    assert run(checkout, nowhere, XDG_CACHE_HOME=nowhere, TMPDIR=str(tmp_path)) == (21.0, 0)


def test_a_wheel_brings_kernels_that_any_processor_of_the_kind_runs(checkout, tmp_path):
    empty, ahead = tmp_path / 'empty', checkout / 'legged_dynamics' / 'kernels.sqlite'
    generic = {'NUMBA_CPU_NAME': kernel_cache.GENERIC, 'NUMBA_CPU_FEATURES': ''}
    assert said(AHEAD, checkout, tmp_path / 'build', **generic) == '1\n'
    ahead.chmod(0o644)
    assert run(checkout, empty) == (21.0, 1)
    with sqlite3.connect(empty / 'kernels.sqlite') as own:      # it does not take them over
        assert own.execute('SELECT COUNT(*) FROM kernels').fetchone() == (0,)
    ahead.chmod(0o666)              # machine code of anybody is not run
    assert run(checkout, empty) == (21.0, 0)
    ahead.chmod(0o644)
    (checkout / 'legged_dynamics' / 'spatial' / 'inner.py').write_text(
        INNER.replace('FACTOR', '20.0'))
    assert run(checkout, tmp_path / 'other') == (41.0, 0)


def test_a_damaged_store_costs_the_time_to_compile(checkout, tmp_path):
    store = tmp_path / 'cache' / 'kernels.sqlite'
    with sqlite3.connect(store) as database:
        code, = database.execute('SELECT code FROM kernels').fetchone()
        database.execute('UPDATE kernels SET code = ?', (b'\0' + code[1:],))
    assert run(checkout, store.parent) == (21.0, 0) and run(checkout, store.parent) == (21.0, 1)
    store.write_bytes(b'no database')
    assert run(checkout, store.parent) == (21.0, 0) and run(checkout, store.parent) == (21.0, 1)


def wait_for(paths, process):
    end = time.monotonic() + PATIENCE
    while not any(path.exists() for path in paths):
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)


def test_of_two_processes_one_compiles_and_the_other_waits(checkout, tmp_path):
    environment = {**os.environ, 'PYTHONPATH': str(checkout), 'NUMBA_DISABLE_JIT': '0',
                   'NUMBA_CACHE_DIR': str(tmp_path / 'empty')}

    def start(name):
        return subprocess.Popen([sys.executable, '-c', SLOW, str(tmp_path), name], text=True,
                                env=environment, cwd=checkout, stdout=subprocess.PIPE)
    with start('one') as one:
        wait_for([tmp_path / 'one compiles'], one)
        with start('two') as two:
            wait_for([tmp_path / 'two waits', tmp_path / 'two compiles'], two)
            (tmp_path / 'go on').touch()
            assert [process.communicate(timeout=PATIENCE)[0] for process in (one, two)] == [
                '21.0\n', '21.0\n']
    assert not (tmp_path / 'two compiles').exists()


def test_for_what_cannot_be_compiled_nobody_waits():
    @kernel
    def without(x):
        return x.what_no_number_has
    for _ in range(2):
        with pytest.raises(TypingError):
            without(1.0)
        assert without._cache._claimed is None
