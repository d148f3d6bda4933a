# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Where compiled kernels are kept between processes, and when they are compiled anew.

Numba's own disk cache checks whether a kernel's file has changed, and not whether anything that
the kernel calls has: after an update old callees would go on running. Here the key of a kernel is
a digest of its module and of every module of this package that it imports, directly or indirectly,
without docstrings and comments: an edit of words compiles nothing. Copies of the package with the
same sources share machine code, whatever folder they are in.

Of several processes that lack the same kernel one compiles it and the others wait, so that nodes
which start together do not all compile everything. The lock also protects Numba's index of a
kernel's signatures, which two processes cannot write at the same time.
"""
from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import platform
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

import numba
from numba.core import caching, codegen, config, sigutils, types

try:
    import fcntl
except ImportError:                     # not on POSIX: everybody compiles for themselves
    fcntl = None                        # type: ignore[assignment]

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT.name

# How long a kernel is waited for that another process compiles; a killed one leaves at once, but
# one may have been stopped [s].
PATIENCE = 600.0
_POLL = 0.02

# Called with the name of each kernel that is ready, loaded or compiled.
watchers: list[Callable[[str], object]] = []

_log = logging.getLogger(__name__)

# `from legged_dynamics.a import b, (c, d)` and `import legged_dynamics.a`, at any depth.
_FROM = re.compile(rf'^\s*from\s+({PACKAGE}(?:\.\w+)*)\s+import\s+(\([^)]*\)|[^\n]*)',
                   re.MULTILINE)
_IMPORT = re.compile(rf'^\s*import\s+({PACKAGE}(?:\.\w+)+)', re.MULTILINE)
# A docstring: what stands between three quotes at the top of a file, or below a line that ends
# with a colon.
_DOCSTRING = re.compile(r'(\A(?:#[^\n]*\n)*|:\n)'
                        r'[ \t]*r?"""(?:[^"\\]|\\[\s\S]|"(?!""))*"""[ \t]*\n')
_NO_CODE = re.compile(r'^[ \t]*(?:#.*)?\n', re.MULTILINE)


@functools.cache
def cache_directory() -> Path | None:
    """
    Return the folder of compiled kernels; None where nothing can be written.

    ``NUMBA_CACHE_DIR``, else the user's cache, else a temporary folder (service users have
    no home). Folders writable by others are refused, since kernels are code.
    """
    choices = [Path(config.CACHE_DIR)] if config.CACHE_DIR else []
    home = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    if os.path.isabs(home):
        choices.append(Path(home) / PACKAGE / 'kernels')
    choices.append(Path(tempfile.gettempdir()) / f'{PACKAGE}-{os.getuid()}')
    for folder in choices:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryFile(dir=folder):
                pass
            state = folder.stat()
        except OSError:
            continue
        owned = state.st_uid in (os.getuid(), 0)
        if owned and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return folder
        whose = 'can be written by others' if owned else 'belongs to somebody else'
        _log.warning('compiled kernels are not kept in %s, which %s: they are code that is run. '
                     'chmod go-w on it, or name another with NUMBA_CACHE_DIR', folder, whose)
    return None


def _file_of(module: str) -> Path | None:
    """Return the file of a module of this package."""
    parts = module.split('.')[1:]
    for path in (ROOT.joinpath(*parts).with_suffix('.py'), ROOT.joinpath(*parts, '__init__.py')):
        if path.is_file():
            return path
    return None


def _code_of(text: str) -> str:
    """Return a source without docstrings, comments of whole lines and blank lines."""
    code = _DOCSTRING.sub(r'\1', text)
    # With other long strings one cannot tell a docstring's quotes from theirs.
    return text if '"""' in code or "'''" in code else _NO_CODE.sub('', code)


@functools.cache
def _read(path: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Return the code of a source file and the files of this package that it imports."""
    text = path.read_bytes().decode('utf-8', 'replace')
    modules = _IMPORT.findall(text)
    for module, names in _FROM.findall(text):
        modules.append(module)
        modules += [f'{module}.{name}' for name in re.findall(r'\w+', names)]
    found = {file for module in modules if (file := _file_of(module)) is not None}
    return _code_of(text).encode(), tuple(sorted(found))


@functools.cache
def source_digest(path: Path) -> str:
    """Return a digest (20 hex digits) of a source file and its imports in this package."""
    waiting, seen = [path], set()
    while waiting:
        file = waiting.pop()
        if file not in seen:
            seen.add(file)
            waiting += _read(file)[1]
    digest = hashlib.sha256()
    for file in sorted(seen):
        # The names of the package's files, and not where they are: checkouts share kernels.
        name = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
        digest.update(f'{name}\n'.encode())
        digest.update(_read(file)[0])
    return digest.hexdigest()[:20]


class _BySources(caching._CacheLocator):
    """Locate a kernel by the content of its sources."""

    def __init__(self, py_func: Any, path: Path, folder: Path) -> None:
        self._digest = source_digest(path)
        # Numba itself compares bytecode, in which numbers do not stand.
        numbers = [value for value in py_func.__code__.co_consts
                   if isinstance(value, (int, float, complex, tuple))]
        self._numbers = hashlib.sha256(repr(numbers).encode()).hexdigest()[:8]
        self._path = folder / f'{py_func.__module__}-{self._digest}'

    def get_cache_path(self) -> str:
        """Return the folder of this kernel."""
        return str(self._path)

    def get_source_stamp(self) -> str:
        """Return what a kept kernel must agree with."""
        return self._digest

    def get_disambiguator(self) -> str:
        """Return what tells kernels of one name apart; no line, for words move it."""
        return self._numbers

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _BySources | None:
        """Return a locator, or None where sources can't be read or nothing can be written."""
        folder = cache_directory()
        try:
            return None if folder is None else cls(py_func, Path(py_file).resolve(), folder)
        except OSError:
            return None


class _Kept(caching.CompileResultCacheImpl):
    _locator_classes = [_BySources]


def _claim(path: Path) -> IO[bytes] | None:
    """Wait for and hold a lock file; None without locks or after `PATIENCE`."""
    if fcntl is None:
        return None
    end = time.monotonic() + PATIENCE
    with contextlib.suppress(OSError), contextlib.ExitStack() as opened:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = opened.enter_context(path.open('ab'))
        while time.monotonic() < end:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_POLL)
            else:
                opened.pop_all()
                return file
    return None


class _KernelCache(caching.FunctionCache):
    _impl_class = _Kept
    _claimed: IO[bytes] | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a kept kernel, or None: then this process compiles it, and others wait."""
        found = super().load_overload(sig, target_context)
        if found is None and self._enabled and self._claimed is None:
            self._claimed = _claim(Path(self.cache_path) / f'{self._impl.filename_base}.lock')
            found = super().load_overload(sig, target_context)
        if found is not None:
            self._tell()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled; a full disk costs the next start its time, and nothing else."""
        self._tell()
        try:
            os.makedirs(self.cache_path, exist_ok=True)
            super().save_overload(sig, data)
        except OSError:
            self.disable()

    def release(self) -> None:
        """Let others compile this kernel."""
        if self._claimed is not None:
            self._claimed.close()
            self._claimed = None

    def _tell(self) -> None:
        for watcher in watchers:
            watcher(self._name)


def keep(dispatcher: Any) -> Any:
    """Enable caching of a compiled function, where there is a folder; return it."""
    if hasattr(dispatcher, 'py_func'):      # with NUMBA_DISABLE_JIT it is plain Python
        try:
            cache = dispatcher._cache = _KernelCache(dispatcher.py_func)
        except RuntimeError:                # no locator
            return dispatcher
        load_or_compile = dispatcher.compile

        def compile(sig: Any) -> Any:
            # A constant in a call is a number like others: it gets no version of its own.
            types_of, result = sigutils.normalize_signature(sig)
            plain = tuple(types.unliteral(kind) for kind in types_of)
            try:
                return load_or_compile(plain if result is None else result(*plain))
            finally:                        # saved, or not to be compiled at all
                cache.release()
        dispatcher.compile = compile
    return dispatcher


# -------------------------------------------------------------------------------------------------
# Records of nodes whose kernels are all compiled, and removal of kernels no longer used.


_STAMPS = 'warm'
_DAY = 86400.0      # s
_KERNEL = re.compile(r'^@(?:lean_)?kernel$', re.MULTILINE)


@functools.cache
def kernels_digest() -> str:
    """Return a digest (20 hex digits) of all kernel sources and what compiles them."""
    digest = hashlib.sha256(' '.join([
        numba.__version__, platform.python_version(), codegen.ll.get_host_cpu_name(),
        str(numba.config.DISABLE_JIT)]).encode())
    for path in kernel_files():
        digest.update(source_digest(path).encode())
    return digest.hexdigest()[:20]


@functools.cache
def kernel_files() -> tuple[Path, ...]:
    """Return the package's source files that define kernels, sorted."""
    return tuple(path for path in sorted(ROOT.rglob('*.py'))
                 if 'legged_dynamics.spatial.jit import' in path.read_text(encoding='utf-8'))


def kernel_count(paths: Iterable[Path]) -> int:
    """Return the number of kernels in source files and the package modules they import."""
    waiting, seen = list(paths), set[Path]()
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += _read(path)[1]
    return sum(len(_KERNEL.findall(path.read_text(encoding='utf-8'))) for path in seen)


def is_warm(name: str) -> bool:
    """
    Return whether a node's kernels are compiled, or compiling ahead gains nothing.

    The latter where machine code cannot be cached, or nothing is compiled.
    """
    stamp = _stamp(name)
    return stamp is None or bool(numba.config.DISABLE_JIT) or stamp.exists()


def mark_warm(name: str) -> None:
    """Record that a node's kernels are compiled, from the present sources."""
    stamp = _stamp(name)
    if stamp is not None:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()


def prune(days: float) -> int:
    """Delete cached kernels not loaded for some days; return the bytes freed."""
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
