# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""An mcap file that is never further behind than its last chunk, and outlives a full disk."""
from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

# Kept free on the disk, so that index and metadata can be written when it is full [bytes].
RESERVE = 2_000_000


class ThroughFile:
    """Writes to the disk at once, all of it or an error; what mcap storage needs of a file."""

    def __init__(self, path: Path):
        self._fd = os.open(path, os.O_WRONLY)
        self._position = os.lseek(self._fd, 0, os.SEEK_END)

    def write(self, data: Any) -> int:
        """Write all of the data."""
        view = memoryview(data).cast('B')
        while view:
            written = os.write(self._fd, view)
            self._position += written
            view = view[written:]
        return len(memoryview(data).cast('B'))

    def tell(self) -> int:
        """Return where the next byte goes."""
        return self._position

    def cut(self, position: int) -> None:
        """Forget what is behind a position."""
        os.ftruncate(self._fd, position)
        self._position = os.lseek(self._fd, position, os.SEEK_SET)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


class WriteThrough:
    """
    Has the mcap storage of a rosbags Writer write its chunks when told, straight to the disk.

    Parameters
    ----------
    writer : rosbags.rosbag2.Writer
        Open, with mcap storage and nothing written yet.

    """

    def __init__(self, writer: Any):
        self._writer, self._storage = writer, writer.storage
        self._storage.bio.close()
        self._file = self._storage.bio = ThroughFile(self._storage.path)
        self._reserve = self._storage.path.with_name('.reserve')
        try:
            fd = os.open(self._reserve, os.O_CREAT | os.O_WRONLY, 0o600)
            try:
                os.posix_fallocate(fd, 0, RESERVE)
            finally:
                os.close(fd)
        except OSError:
            self.release()
            raise
        self._note()

    def _note(self) -> None:
        writer, storage = self._writer, self._storage
        self._safe = (self._file.tell(), dict(writer.counts), dict(storage.channel_stats),
                      writer.min_timestamp, writer.max_timestamp, storage.message_start_time,
                      storage.message_end_time, len(storage.chunks))

    def wrote(self) -> None:
        """Take note of a message: the storage closes chunks that have become large."""
        if not self._storage.chunk.msgs:
            self._note()

    def flush(self) -> None:
        """Close the chunk, if there is a message in it."""
        if self._storage.chunk.msgs:
            self._storage.close_chunk()
        self._note()

    def rescue(self) -> None:
        """Go back to the last whole chunk: the disk has refused what came after it."""
        self.release()
        writer, storage = self._writer, self._storage
        (end, counts, stats, writer.min_timestamp, writer.max_timestamp,
         storage.message_start_time, storage.message_end_time, chunks) = self._safe
        self._file.cut(end)
        del storage.chunks[chunks:]
        kept = {number: counts.get(number, 0) for number in writer.counts}
        writer.counts.clear()
        writer.counts.update(kept)
        storage.channel_stats = {number: stats.get(number, 0) for number in storage.channel_stats}
        storage.chunk = type(storage.chunk)(2**63 - 1, 0, type(storage.chunk.bio)(),
                                            type(storage.chunk.msgs)(list))

    def release(self) -> None:
        """Give back the space kept free."""
        with contextlib.suppress(OSError):
            self._reserve.unlink()
