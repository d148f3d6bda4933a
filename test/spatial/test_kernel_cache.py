# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels are kept by content: x, an unchanged one is not compiled."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
from legged_dynamics.spatial.outer import outer
print(outer(2.0), sum(outer.stats.cache_hits.values()))
"""
OUTER = """
from legged_dynamics.spatial.inner import inner
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


@pytest.fixture
def checkout(tmp_path):
    """Return a small package of this name: a kernel, what it calls, and how both are compiled."""
    spatial = tmp_path / 'one' / 'legged_dynamics' / 'spatial'
    spatial.mkdir(parents=True)
    for folder in (spatial, spatial.parent):
        (folder / '__init__.py').touch()
    for name in ('jit.py', 'kernel_cache.py'):
        shutil.copy(ROOT / 'legged_dynamics' / 'spatial' / name, spatial)
    (spatial / 'outer.py').write_text(OUTER)
    (spatial / 'inner.py').write_text(INNER.replace('FACTOR', '10.0'))
    return tmp_path / 'one'


def run(folder, cache, **environment):
    environment = {**os.environ, 'PYTHONPATH': str(folder), 'NUMBA_CACHE_DIR': str(cache),
                   'NUMBA_DISABLE_JIT': '0', **environment}
    done = subprocess.run([sys.executable, '-c', SCRIPT], env=environment, cwd=folder,
                          check=True, capture_output=True, text=True)
    value, hits = done.stdout.split()
    return float(value), int(hits)


def test_a_changed_callee_is_seen_and_what_is_unchanged_is_kept(checkout, tmp_path):
    cache = tmp_path / 'cache'
    assert run(checkout, cache) == (21.0, 0)
    assert run(checkout, cache) == (21.0, 1)
    inner = checkout / 'legged_dynamics' / 'spatial' / 'inner.py'
    before = inner.stat()
    inner.write_text(INNER.replace('FACTOR', '20.0'))
    os.utime(inner, ns=(before.st_atime_ns, before.st_mtime_ns))    # content counts, not its time
    assert run(checkout, cache) == (41.0, 0)
    inner.write_text(INNER.replace('FACTOR', '10.0'))
    assert run(checkout, cache) == (21.0, 1)                        # the old state is still there
    (checkout / 'legged_dynamics' / 'spatial' / 'other.py').write_text('x = 1')
    assert run(checkout, cache) == (21.0, 1)                        # nothing that is imported


def test_checkouts_of_the_same_sources_share(checkout, tmp_path):
    cache = tmp_path / 'cache'
    run(checkout, cache)
    other = shutil.copytree(checkout, tmp_path / 'two')
    assert run(other, cache) == (21.0, 1)


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
