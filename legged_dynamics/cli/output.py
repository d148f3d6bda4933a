# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The folder that a verb writes to: refused before the work, not after it."""
from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

LOCK = '.in_use'


@contextmanager
def output_folder(folder: Path, ours: Sequence[str]) -> Iterator[Path]:
    """
    Make a folder and hold it while a run writes there; say what is kept when it is interrupted.

    Parameters
    ----------
    folder : Path
        Where to write. One that is there may hold an earlier run's results, which are replaced.
    ours : sequence of str
        Names by which such results are known.

    Raises
    ------
    OutputError
        When it cannot be written, holds other things, or another run writes there.

    """
    from legged_dynamics.exceptions import OutputError

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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise OutputError(f'cannot write to the folder {folder}: {error}') from error
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
            with suppress(OSError):     # nothing came of it
                folder.rmdir()


def _held(lock: int) -> bool:
    """Take a lock that ends with the process; where there are none, all is well."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob('*')
            if path.is_file() and path.name != LOCK}
