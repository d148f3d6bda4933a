# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Where compiled kernels are kept between processes, and when they are compiled anew.

Numba's own disk cache checks whether a kernel's file has changed, and not whether anything that
the kernel calls has: after an update old callees would go on running. Here the key of a kernel is
a digest of its module and of every module of this package that it imports, directly or indirectly,
without docstrings and comments: an edit of words compiles nothing. Copies of the package with the
same sources share machine code, whatever folder they are in.

What is not in the user's store may be in that of the wheel (`AHEAD`), compiled for any processor
of the kind (`GENERIC`); kernels round alike on all of them, operation by operation.

Of several processes that lack the same kernel one compiles it and the others wait, so that nodes
which start together do not all compile everything.
"""
from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import logging
import os
import pickle
import re
import shutil
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

import numba
from numba.core import caching, codegen, compiler, config, sigutils, types
from numba.core.serialize import dumps

from legged_dynamics.spatial.generic import GENERIC
from legged_dynamics.spatial.kernel_store import KernelStore, written_by_others

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT.name

# How long a kernel is waited for that another process compiles; a killed one leaves at once, but
# one may have been stopped [s].
PATIENCE = 600.0
# The wheel's own kernels.
AHEAD = ROOT / 'kernels.sqlite'
_STORE = 'kernels.sqlite'

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
            why = written_by_others(folder)
        except OSError:
            continue
        if not why:
            return folder
        _log.warning('compiled kernels are not kept in %s, which %s: they are code that is run. '
                     'chmod go-w on it, or name another with NUMBA_CACHE_DIR', folder, why)
    return None


@functools.cache
def _store_in(folder: Path) -> KernelStore:
    return KernelStore(folder / _STORE)


def _own() -> KernelStore | None:
    """Return the user's store, which is written to; None where nothing can be."""
    folder = cache_directory()
    return None if folder is None else _store_in(folder)


@functools.cache
def _ahead() -> KernelStore | None:
    """Return the store of the wheel, if this processor can run what is in it."""
    try:
        why = written_by_others(AHEAD)
    except OSError:
        return None
    if why:
        _log.warning('kernels compiled ahead are not read from %s, which %s', AHEAD, why)
    elif GENERIC == 'generic' or codegen.ll.get_host_cpu_features().get('sse4.2'):
        return KernelStore(AHEAD, read_only=True)
    return None


@functools.cache
def _processors() -> tuple[str, ...]:
    """Return what kernels may be compiled for, the present processor first."""
    host = config.CPU_NAME or codegen.ll.get_host_cpu_name()
    features = (config.CPU_FEATURES if config.CPU_FEATURES is not None
                else codegen.ll.get_host_cpu_features().flatten())
    generic = f'{codegen.ll.get_process_triple()} {GENERIC} '
    return tuple(dict.fromkeys([f'{codegen.ll.get_process_triple()} {host} {features}', generic]))


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


def _with_imports(paths: Iterable[Path]) -> set[Path]:
    """Return source files, and those that they import in this package."""
    waiting, seen = list(paths), set[Path]()
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += _read(path)[1]
    return seen


@functools.cache
def source_digest(path: Path) -> str:
    """Return a digest (20 hex digits) of a source file and its imports in this package."""
    digest = hashlib.sha256()
    for file in sorted(_with_imports([path])):
        # The names of the package's files, and not where they are: checkouts share kernels.
        name = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
        digest.update(f'{name}\n'.encode())
        digest.update(_read(file)[0])
    return digest.hexdigest()[:20]


# What was loaded or compiled by this process, for `export`: keys, and that of any version.
_used: dict[str, str] = {}
_ANY = 'any signature'
_Result = TypeVar('_Result')
# What machine code depends on besides its text.
_MADE_BY = ' '.join(map(str, (numba.__version__, codegen.ll.llvm_version_info,
                              sysconfig.get_config_var('SOABI'))))


class _KernelCache(caching.NullCache):
    """The kept versions of one kernel, one for each signature."""

    def __init__(self, function: Any):
        self._name, self._function = repr(function), function
        code = function.__code__
        try:
            sources = source_digest(Path(code.co_filename).resolve())
        except OSError:
            raise RuntimeError(f'the source of {function} cannot be read') from None
        # The text in an interactive session is in no file; and files hold numbers, not bytecode.
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        constants = [value for value in code.co_consts
                     if isinstance(value, (int, float, complex, tuple))]
        self._made_of = ' '.join([
            function.__module__, function.__qualname__, sources, repr(constants),
            hashlib.sha256(code.co_code + (dumps(cells) if cells else b'')).hexdigest(), _MADE_BY])
        self._claimed: int | None = None
        self.enable()

    @property
    def cache_path(self) -> str:
        """Return the folder of the user's kernels."""
        return str(cache_directory())

    def enable(self) -> None:
        """Load and keep from now on."""
        self._enabled = True

    def disable(self) -> None:
        """Neither load nor keep."""
        self._enabled = False

    def _keys(self, signature: Any) -> list[str]:
        return [hashlib.sha256(f'{self._made_of} {signature} {processor}'.encode()).hexdigest()
                for processor in _processors()]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a kept kernel, or None: then this process compiles it, and others wait."""
        if not self._enabled:
            return None
        target_context.refresh()
        keys, own = self._keys(sig), _own()
        stores = [store for store in (own, _ahead()) if store is not None]
        found = next((row for store in stores if (row := store.get(keys))), None)
        if found is None and own is not None and self._claimed is None:
            self._claimed = own.claim(keys[0], PATIENCE)
            found = own.get(keys)
        if found is None:
            return None
        key, code = found
        self._tell(key)
        return compiler.CompileResult._rebuild(target_context, *pickle.loads(code))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled."""
        own, key = _own(), self._keys(sig)[0]
        self._tell(key)
        if self._enabled and own is not None and not data.library.has_dynamic_globals and all(
                lifted.can_cache for lifted in data.lifted):
            own.put(key, self._name, dumps(data._reduce()))
            own.mark_warm(_used[key])

    def is_kept(self) -> bool:
        """Return whether some version is kept."""
        return any(store.is_warm(key) for store in (_own(), _ahead()) if store
                   for key in self._keys(_ANY))

    def release(self) -> None:
        """Let others compile this kernel."""
        own = _own()
        if self._claimed is not None and own is not None:
            own.release(self._claimed)
        self._claimed = None

    def _tell(self, key: str) -> None:
        _used[key] = self._keys(_ANY)[0]
        for watcher in watchers:
            watcher(self._name)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Leave garbage for later: a compiler's many live objects are searched over and over."""
    enabled = gc.isenabled()    # if not: another thread's, or the user's choice
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def keep(dispatcher: Any) -> Any:
    """Enable caching of a compiled function, where there is a folder; return it."""
    if hasattr(dispatcher, 'py_func'):      # with NUMBA_DISABLE_JIT it is plain Python
        once(dispatcher)
        try:
            cache = dispatcher._cache = _KernelCache(dispatcher.py_func)
        except RuntimeError:
            return dispatcher
        load_or_compile = dispatcher.compile

        def compile(sig: Any) -> Any:
            try:
                with _no_collection():
                    return load_or_compile(sig)
            finally:                        # saved, or not to be compiled at all
                cache.release()
        dispatcher.compile = compile
    return dispatcher


def is_kept(dispatcher: Any) -> bool:
    """Return whether a kernel need not be compiled: some version of it is kept."""
    cache = getattr(dispatcher, '_cache', None)
    return not hasattr(dispatcher, 'py_func') or (
        isinstance(cache, _KernelCache) and cache.is_kept())


_unfinished: WeakSet[Future[Any]] = WeakSet()     # what is made is not kept for it


def in_background(work: Callable[[], _Result]) -> Future[_Result]:
    """Do work that compiles kernels beside the caller."""
    with_one_thread = ThreadPoolExecutor(1)
    _unfinished.add(found := with_one_thread.submit(work))
    with_one_thread.shutdown(wait=False)
    return found


def finish_background() -> None:
    """Wait until all kernels are compiled that are compiled in the background."""
    for work in list(_unfinished):
        work.result()


def once(dispatcher: Any) -> Any:
    """Give a constant in a call no version of its own: it is a number like others."""
    compile_for = dispatcher.compile

    def compile(sig: Any) -> Any:
        types_of, result = sigutils.normalize_signature(sig)
        plain = tuple(types.unliteral(kind) for kind in types_of)
        return compile_for(plain if result is None else result(*plain))
    dispatcher.compile = compile
    return dispatcher


# -------------------------------------------------------------------------------------------------
# Records of nodes whose kernels are all compiled, and removal of kernels no longer used.


_KERNEL = re.compile(r'^@(?:lean_)?kernel$', re.MULTILINE)


@functools.cache
def kernels_digest(processor: int = 0) -> str:
    """Return a digest (20 hex digits) of all kernel sources and what compiles them, for whom."""
    digest = hashlib.sha256(' '.join([
        _MADE_BY, _processors()[processor], str(numba.config.DISABLE_JIT)]).encode())
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
    return sum(len(_KERNEL.findall(path.read_text(encoding='utf-8')))
               for path in _with_imports(paths))


def is_warm(name: str) -> bool:
    """Return whether a node's kernels are compiled, or compiling ahead gains nothing."""
    own = _own()
    if own is None or bool(numba.config.DISABLE_JIT):
        return True
    names = [f'{name}-{kernels_digest(k)}' for k in range(len(_processors()))]
    return any(store.is_warm(one) for store in (own, _ahead()) if store for one in names)


def mark_warm(name: str) -> None:
    """Record that a node's kernels are compiled, from the present sources."""
    own = _own()
    if own is not None:
        own.mark_warm(f'{name}-{kernels_digest()}')


def prune(days: float) -> int:
    """Delete kept kernels not loaded for some days; return the bytes freed."""
    folder, own = cache_directory(), _own()
    if folder is None or own is None:
        return 0
    for entry in (*folder.glob(f'{PACKAGE}.*'), folder / 'warm'):      # of earlier versions
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
    return own.prune(days)


def export(path: Path, names: Sequence[str]) -> int:
    """
    Write all kernels that this process has used into a file for a wheel; return how many.

    ``names``: nodes that are then compiled.
    """
    own, made = _own(), KernelStore(path)
    if own is None:
        return 0
    count = own.copy(_used, made)
    for mark in (*dict.fromkeys(_used.values()), *(f'{name}-{kernels_digest()}'
                                                    for name in names)):
        made.mark_warm(mark)
    return count
