# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The folder that a verb writes to: refused before the work, not after it."""
from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from legged_dynamics.pages.page import Table

LOCK = '.in_use'
EVERY = 5.0     # s between lines of progress where there is no terminal


@contextmanager
def output_folder(folder: Path, ours: Sequence[str]) -> Iterator[Path]:
    """
    Create and lock an output folder for a run; on interruption, report what is kept.

    Files named in ``ours`` are replaced. Raises OutputError when the folder is not
    writable, holds other files, or is in use by another run.
    """
    from legged_dynamics.exceptions import OutputError, reraised

    new = not folder.exists()
    if not new:
        if not folder.is_dir():
            raise OutputError(f'expected a folder to write to, got the file {folder}; give '
                              'another with -o')
        held = {path.name for path in folder.iterdir()} - {LOCK}
        if held and not held & set(ours):
            raise OutputError(f'the folder {folder} holds other things '
                              f'({", ".join(sorted(held)[:3])}): results would be mixed with '
                              'them; give a new or an empty one with -o')
    with reraised(OutputError, f'cannot write to the folder {folder}'):
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _held(lock):
            raise OutputError(f'another run is writing to {folder}; wait for it, or give another '
                              'folder with -o')
        before = _files(folder)
        try:
            yield folder
        except BaseException as error:
            kept = sorted(str(path.relative_to(folder)) for path, when in _files(folder).items()
                          if before.get(path) != when)
            if isinstance(error, KeyboardInterrupt):
                print(f'\nInterrupted. Kept in {folder}: {", ".join(kept) or "nothing"}.',
                      file=sys.stderr)
            raise
        finally:
            (folder / LOCK).unlink(missing_ok=True)
    finally:
        os.close(lock)
        if new:
            with suppress(OSError):     # it is not empty
                folder.rmdir()


def _held(lock: int) -> bool:
    """Take a lock that ends with the process."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob('*')
            if path.is_file() and path.name != LOCK}


# -------------------------------------------------------------------------------------------------
# What is shown only on a terminal: progress with the time left, tables, colour.


def _console(stream: TextIO | None = None) -> Any:
    """Return rich's console for a terminal; None without a terminal or without rich."""
    stream = sys.stdout if stream is None else stream
    if not stream.isatty():
        return None
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        return None
    return Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)


def say(text: str, style: str = '', stream: TextIO | None = None) -> None:
    """Print a line, on a terminal in a rich style such as 'bold red'; default: stdout."""
    terminal = _console(stream)
    if terminal is None:
        print(text, file=stream)
    else:
        terminal.print(text, style=style or None)


def show(table: Table) -> None:
    """Print a table, on a terminal with its title in bold."""
    title, _, rest = table.text.partition('\n')
    say(title, 'bold')
    print(rest)


def show_page(address: str | Path) -> None:
    """Open an address or file in the default browser, or say that there is none."""
    import webbrowser

    where = address.resolve().as_uri() if isinstance(address, Path) else address
    if not webbrowser.open(where):
        print(f'--open: no browser was found on this machine; the page is {where}',
              file=sys.stderr)


class ProgressBar:
    """
    Progress bar as context manager, called with the fraction done.

    Where there is no terminal, a line each ``every`` seconds on stderr, unless `quiet`.
    """

    quiet = False       # of the whole command

    def __init__(self, title: str, stream: TextIO | None = None, every: float = EVERY):
        self._stream = sys.stderr if stream is None else stream
        terminal = _console(self._stream)
        self._progress: Any = None
        self._every = every
        self._title, self._part, self._note, self._over = title, 0.0, '', Event()
        if terminal is None:
            if not self.quiet:
                Thread(target=self._print_lines, name='progress', daemon=True).start()
            return
        from rich.progress import Progress
        self._progress = Progress(console=terminal, transient=True)
        self._task = self._progress.add_task(title, total=1.0)
        self._progress.start()

    def __call__(self, part: float, note: str = '') -> None:
        """Show the part done, from 0 to 1, and a few words on it."""
        self._part, self._note = min(max(part, 0.0), 1.0), f', {note}' if note else ''
        if self._progress is not None:
            self._progress.update(self._task, completed=self._part,
                                  description=f'{self._title}{self._note}')

    def _print_lines(self) -> None:
        begin = time.monotonic()
        while not self._over.wait(self._every):
            print(f'{self._title}: {100.0 * self._part:.0f} %, {time.monotonic() - begin:.0f} s'
                  f'{self._note}', file=self._stream, flush=True)

    def __enter__(self) -> ProgressBar:
        """Return the bar."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Wipe the bar off."""
        self._over.set()
        if self._progress is not None:
            self._progress.stop()


@contextmanager
def counting(title: str, count: int) -> Iterator[Callable[[bool], None]]:
    """Show a progress bar; yield a callable for each step, taking whether it failed."""
    done = failed = 0
    with ProgressBar(title) as bar:
        def advance(failure: bool) -> None:
            nonlocal done, failed
            done, failed = done + 1, failed + failure
            bar(done / max(count, 1), f'{done} of {count}, {failed} failed')
        yield advance
