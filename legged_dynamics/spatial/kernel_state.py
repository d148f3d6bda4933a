# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which nodes' kernels are compiled already, and which kept kernels are of no use any more."""
from __future__ import annotations

import functools
import hashlib
import platform
import re
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

import numba
from numba.core import codegen

from legged_dynamics.spatial import kernel_cache
from legged_dynamics.spatial.kernel_cache import ROOT, cache_directory, source_digest

_STAMPS = 'warm'
_DAY = 86400.0      # s
_KERNEL = re.compile(r'^@(?:lean_)?kernel$', re.MULTILINE)


@functools.cache
def kernels_digest() -> str:
    """Return a digest of the sources of all kernels of the package, and of what compiles them."""
    digest = hashlib.sha256(' '.join([
        numba.__version__, platform.python_version(), codegen.ll.get_host_cpu_name(),
        str(numba.config.DISABLE_JIT)]).encode())
    for path in kernel_files():
        digest.update(source_digest(path).encode())
    return digest.hexdigest()[:20]


@functools.cache
def kernel_files() -> tuple[Path, ...]:
    """Return the package's source files that define kernels."""
    return tuple(path for path in sorted(ROOT.rglob('*.py'))
                 if 'legged_dynamics.spatial.jit import' in path.read_text(encoding='utf-8'))


def kernel_count(paths: Iterable[Path]) -> int:
    """Return how many kernels there are in source files and in all of this package they import."""
    waiting, seen = list(paths), set[Path]()
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += kernel_cache._read(path)[1]
    return sum(len(_KERNEL.findall(path.read_text(encoding='utf-8'))) for path in seen)


def is_warm(name: str) -> bool:
    """
    Return whether the kernels of a node need not be compiled any more.

    Also true where nothing can be kept, or nothing is compiled: nothing is gained beforehand then.
    """
    stamp = _stamp(name)
    return stamp is None or bool(numba.config.DISABLE_JIT) or stamp.exists()


def mark_warm(name: str) -> None:
    """Note that the kernels of a node are compiled, from the present sources."""
    stamp = _stamp(name)
    if stamp is not None:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()


def prune(days: float) -> int:
    """
    Delete kept kernels that nobody has loaded or made for some days; return how many bytes.

    Those that a process has loaded are in its memory: deleting them harms nobody.
    """
    folder = cache_directory()
    if folder is None:
        return 0
    freed, oldest = 0, time.time() - days * _DAY
    for entry in folder.iterdir():
        if not entry.is_dir() or not entry.name.startswith(f'{ROOT.name}.'):
            continue
        files = [file.stat() for file in entry.rglob('*') if file.is_file()]
        if all(max(state.st_atime, state.st_mtime) < oldest for state in files):
            freed += sum(state.st_size for state in files)
            shutil.rmtree(entry, ignore_errors=True)
    for stamp in folder.glob(f'{_STAMPS}/*'):
        if stamp.stat().st_mtime < oldest or freed:
            stamp.unlink(missing_ok=True)
    return freed


def _stamp(name: str) -> Path | None:
    folder = cache_directory()
    return None if folder is None else folder / _STAMPS / f'{name}-{kernels_digest()}'
