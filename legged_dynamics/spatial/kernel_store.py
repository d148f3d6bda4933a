# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One file of compiled kernels, a SQLite database: machine code by the digest of what it is made of.

The user's store grows as kernels are compiled; a wheel brings one of its own, which is only read.
Machine code is run, so that a file that others can write is not opened.
"""
from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import stat
import threading
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

_TABLES = ('CREATE TABLE IF NOT EXISTS kernels (key TEXT PRIMARY KEY, name TEXT, used INTEGER, '
           'sum INTEGER, code BLOB)', 'CREATE TABLE IF NOT EXISTS warm (name TEXT PRIMARY KEY)')
_DAY = 86400        # s
_BUSY = 30.0        # s that another process may be writing
_POLL = 0.02        # s
_LOCKS = 1 << 30    # bytes of the lock file that kernels are told apart by


def written_by_others(path: Path) -> str:
    """Return how others could change a file or folder, or nothing if they cannot."""
    state = path.stat()
    if state.st_uid not in (os.getuid(), 0):
        return 'belongs to somebody else'
    return 'can be written by others' if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else ''


class KernelStore:
    """Kernels in a file; without the right to write, or where it is damaged, it is empty."""

    def __init__(self, path: Path, read_only: bool = False):
        self.path, self._read_only = path, read_only
        self._opened: tuple[int, sqlite3.Connection] | None = None
        self._lock = threading.RLock()
        self._locks: tuple[int, int] | None = None      # process, and its lock file

    @contextlib.contextmanager
    def _database(self) -> Iterator[sqlite3.Connection | None]:
        """Give the database, each process its own; None where there is none."""
        with self._lock:
            try:
                database = self._connection()
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)
                yield None
                return
            try:
                with database:          # one transaction
                    yield database
            except sqlite3.Error as error:
                self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        """Close; remove a file that is damaged."""
        if self._opened is not None and self._opened[0] == os.getpid():
            self._opened[1].close()
        self._opened = None
        damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, sqlite3.OperationalError)
        if damaged and not self._read_only:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None or self._opened[0] != os.getpid():
            how = '?mode=ro&immutable=1' if self._read_only else ''
            source = f'{self.path.resolve().as_uri()}{how}'
            database = sqlite3.connect(source, timeout=_BUSY, uri=True, check_same_thread=False)
            if not self._read_only:
                self.path.chmod(0o600)
                for table in _TABLES:
                    database.execute(table)
            self._opened = os.getpid(), database
        return self._opened[1]

    def get(self, keys: Iterable[str]) -> tuple[str, bytes] | None:
        """Return the first of these kernels that is there, with its key."""
        with self._database() as database:
            if database is None:
                return None
            for key in keys:
                row = database.execute('SELECT code, sum, used FROM kernels WHERE key = ?',
                                       (key,)).fetchone()
                if row is None or zlib.crc32(row[0]) != row[1]:
                    continue
                now = int(time.time())
                if not self._read_only and abs(now - row[2]) > _DAY:
                    database.execute('UPDATE kernels SET used = ? WHERE key = ?', (now, key))
                return key, row[0]
        return None

    def put(self, key: str, name: str, code: bytes) -> None:
        """Keep a kernel; a full disk costs the next start its time, and nothing else."""
        with self._database() as database:
            if database:
                database.execute('INSERT OR REPLACE INTO kernels VALUES (?, ?, ?, ?, ?)', (
                    key, name, int(time.time()), zlib.crc32(code), code))

    def is_warm(self, name: str) -> bool:
        """Return whether `mark_warm` was called with this name."""
        with self._database() as database:
            return bool(database and database.execute('SELECT 1 FROM warm WHERE name = ?',
                                                      (name,)).fetchone())
        return False

    def mark_warm(self, name: str) -> None:
        """Record that all that goes by this name is compiled."""
        with self._database() as database:
            if database:
                database.execute('INSERT OR REPLACE INTO warm VALUES (?)', (name,))

    def prune(self, days: float) -> int:
        """Delete kernels not loaded for some days; return the bytes freed."""
        oldest = time.time() - days * _DAY
        with self._database() as database:
            if database:
                freed = database.execute('SELECT COALESCE(SUM(LENGTH(code)), 0) FROM kernels '
                                         'WHERE used < ?', (oldest,)).fetchone()[0]
                if freed:
                    database.execute('DELETE FROM kernels WHERE used < ?', (oldest,))
                    database.execute('DELETE FROM warm')    # what was deleted may be theirs
                    database.commit()
                    database.execute('VACUUM')
                return int(freed)
        return 0

    def copy(self, keys: Iterable[str], other: KernelStore) -> int:
        """Copy kernels into another store, and what is warm; return how many."""
        count = 0
        with self._database() as database, other._database() as into:
            if database and into:
                for key in keys:
                    for row in database.execute('SELECT * FROM kernels WHERE key = ?', (key,)):
                        into.execute('INSERT OR REPLACE INTO kernels VALUES (?, ?, ?, ?, ?)', row)
                        count += 1
        return count

    def claim(self, key: str, patience: float) -> int | None:
        """
        Wait until no other process compiles a kernel; return what `release` takes.

        None where no lock can be had, or after ``patience`` [s].
        """
        place, end = int(key[:16], 16) % _LOCKS, time.monotonic() + patience
        with contextlib.suppress(OSError):
            if self._locks is None or self._locks[0] != os.getpid():
                path = self.path.with_suffix('.lock')
                self._locks = os.getpid(), os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            while time.monotonic() < end:
                try:
                    fcntl.lockf(self._locks[1], fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
                except (BlockingIOError, PermissionError):
                    time.sleep(_POLL)
                else:
                    return place
        return None

    def release(self, place: int) -> None:
        """Let others compile a kernel."""
        if self._locks is not None and self._locks[0] == os.getpid():
            fcntl.lockf(self._locks[1], fcntl.LOCK_UN, 1, place)
