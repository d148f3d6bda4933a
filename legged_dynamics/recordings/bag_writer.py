# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Writing rosbag2 recordings, mcap or sqlite3, that ROS 2 and this package read alike."""
from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from rosbags.interfaces import (
    Connection,
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from legged_dynamics.exceptions import BagError, ConfigurationError
from legged_dynamics.middleware.cdr import serialize

# -------------------------------------------------------------------------------------------------
# An mcap file that is never further behind than its last chunk, and outlives a full disk.


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


# -------------------------------------------------------------------------------------------------

STORAGES = {'mcap': StoragePlugin.MCAP, 'sqlite3': StoragePlugin.SQLITE3}
# Of rosbag2's metadata: 8 is what ROS 2 Jazzy writes, and Humble reads it too.
VERSION = 8
# An mcap bag is at most this far behind [s].
FLUSH_PERIOD = 0.5
_FOREVER = QosTime(2147483647, 4294967295)


@cache
def definition_of(name: str) -> tuple[str, str] | None:
    """Return text and RIHS01 hash of one of ROS 2's own messages, or None for another's."""
    store = get_typestore(Stores.LATEST)
    if name not in store.fielddefs:
        return None
    return store.generate_msgdef(name, ros_version=2)[0], store.hash_rihs01(name)


class BagWriter:
    """
    A new rosbag2 recording; a context manager that closes it properly whatever happens.

    A topic enters the bag with its first message, so an unused one leaves no trace. What an mcap
    bag has been given reaches the disk with :meth:`flush`, which :meth:`write` calls as well when
    the last time is half a second ago: who is killed loses no more. When the disk is full, the bag
    ends with the last whole chunk, and is closed properly.

    Parameters
    ----------
    path : str or Path
        Folder to make.
    storage : {'mcap', 'sqlite3'}

    Raises
    ------
    BagError
        When the folder exists, cannot be made, or the storage is unknown.

    """

    def __init__(self, path: str | Path, storage: str = 'mcap'):
        self.path = Path(path)
        self.count = 0
        if storage not in STORAGES:
            raise BagError(f'expected a storage out of {", ".join(STORAGES)}, got {storage!r}')
        self._writer: Writer | None = None
        self._topics: dict[str, tuple[str, str, str, bool]] = {}
        self._connections: dict[str, Connection] = {}
        try:
            writer = Writer(self.path, version=VERSION, storage_plugin=STORAGES[storage])
            writer.open()
        except Exception as error:
            raise BagError(f'cannot write a bag at {self.path}: {error}') from error
        self._writer = writer
        self._flushed = time.monotonic()
        self._through: WriteThrough | None = None
        if storage == 'mcap':
            try:
                self._through = WriteThrough(writer)
            except OSError as error:
                raise BagError(f'cannot write a bag at {self.path}: {error}') from error

    def __enter__(self) -> BagWriter:
        """Return the writer, which is open already."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the bag: what has been written stays readable after an error, too."""
        self.close()

    def add_topic(self, name: str, kind: str, *, latched: bool = False, definition: str = '',
                  type_hash: str = '') -> None:
        """
        Announce a topic.

        Parameters
        ----------
        name, kind : str
            Topic and full name of its message.
        latched : bool
            Whether its last message is for late subscriptions, too.
        definition, type_hash : str
            Of the message; needed when it is none of ROS 2's own.

        Raises
        ------
        BagError
            When the message's definition is not known.

        """
        if name in self._topics:
            return
        if not (definition and type_hash):
            known = definition_of(kind)
            if known is None:
                raise BagError(f'{name}: no definition of {kind} is known, so the bag could not '
                               'be read again')
            definition, type_hash = known
        self._topics[name] = (kind, definition, type_hash, latched)

    def write(self, topic: str, receipt_ns: int, cdr: bytes | memoryview) -> None:
        """
        Write a message that is CDR bytes already, on an announced topic.

        Raises
        ------
        BagError
            When the disk refuses.

        """
        if self._writer is None:
            raise BagError(f'the bag {self.path} is closed')
        try:
            if topic not in self._connections:
                self._connections[topic] = self._connect(topic)
            self._writer.write(self._connections[topic], receipt_ns, cdr)
            self.count += 1
            if self._through is not None:
                self._through.wrote()
            if time.monotonic() - self._flushed > FLUSH_PERIOD:
                self._flush()
        except Exception as error:
            raise self._refused(error) from error

    def flush(self) -> None:
        """
        Have everything on the disk now.

        Raises
        ------
        BagError
            When the disk refuses.

        """
        if self._writer is None:
            return
        try:
            self._flush()
        except Exception as error:
            raise self._refused(error) from error

    def _flush(self) -> None:
        self._flushed = time.monotonic()
        if self._through is not None:
            self._through.flush()

    def _refused(self, error: Exception) -> BagError:
        """Close the bag with what is on the disk, and say what happened."""
        writer, self._writer = self._writer, None
        if self._through is None or not isinstance(error, OSError) or writer is None:
            self._writer = writer
            return BagError(f'cannot write to the bag {self.path}: {error}')
        try:
            self._through.rescue()
            self.count = sum(writer.counts.values())
            self._finish(writer)
        except Exception as second:
            return BagError(f'cannot write to the bag {self.path}: {error}, nor close it: '
                            f'{second}; "legged-dynamics repair {self.path}" saves what is there')
        return BagError(f'cannot write to the bag {self.path}: {error}; it ends here, with '
                        f'{self.count} messages')

    def write_message(self, topic: str, receipt_ns: int, message: Any) -> None:
        """Write a message object on an announced topic."""
        self.write(topic, receipt_ns, serialize(message, self._topics[topic][0]))

    def _connect(self, topic: str) -> Connection:
        kind, definition, type_hash, latched = self._topics[topic]
        return self._writer.add_connection(         # type: ignore[union-attr]
            topic, kind, msgdef=definition, rihs01=type_hash, offered_qos_profiles=[_qos(latched)])

    def close(self) -> None:
        """
        Write index and metadata.

        Raises
        ------
        BagError
            When the disk refuses.

        """
        if self._writer is None:
            return
        try:
            self._flush()
            if self._through is not None:
                self._through.release()
            self._finish(self._writer)
        except Exception as error:
            raise self._refused(error) from error
        self._writer = None

    def _finish(self, writer: Writer) -> None:
        if not self.count:      # without messages there is no time span to write down
            writer.min_timestamp = 0
        writer.close()


def _qos(latched: bool) -> Qos:
    return Qos(QosHistory.KEEP_LAST, 1 if latched else 10, QosReliability.RELIABLE,
               QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE, _FOREVER,
               _FOREVER, QosLiveliness.AUTOMATIC, _FOREVER, False)


# -------------------------------------------------------------------------------------------------
# Takes undecoded messages from the bus into a bag, whatever the middleware is.


class Recorder:
    """
    Decides which topics to record, and writes what arrives on them.

    Parameters
    ----------
    writer : BagWriter
    topics : iterable of str
        Topics wanted, each '/name' or '/name:package/msg/Type'. With its type, a topic can be
        subscribed to before anybody publishes, and nothing is missed.
    everything : bool
        Whether all other topics are wanted, too.

    Attributes
    ----------
    counts : Counter
        Messages by topic.
    skipped : dict of str to str
        Topics that cannot be recorded, and why.

    """

    def __init__(self, writer: BagWriter, topics: Iterable[str] = (), everything: bool = True):
        self._writer = writer
        self._everything = everything
        self._wanted: dict[str, str] = {}
        for entry in topics:
            name, _, kind = entry.partition(':')
            if not name.strip('/'):
                raise ConfigurationError(f'expected a topic such as /joint_states, got {entry!r}')
            self._wanted[name if name.startswith('/') else f'/{name}'] = kind
        self._taken: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.skipped: dict[str, str] = {}

    @property
    def typed(self) -> list[tuple[str, str]]:
        """Wanted topics whose type is known beforehand."""
        return [(name, kind) for name, kind in self._wanted.items() if kind]

    @property
    def silent(self) -> list[str]:
        """Wanted topics that nothing has come on."""
        return [name for name in self._wanted if not self.counts[name]]

    def accept(self, topic: str, kind: str, latched: bool = False) -> bool:
        """Tell whether a topic is to be subscribed to now; True once for each."""
        if topic in self._taken or topic in self.skipped:
            return False
        if not self._everything and topic not in self._wanted:
            return False
        try:
            self._writer.add_topic(topic, kind, latched=latched)
        except BagError as error:
            self.skipped[topic] = str(error)
            return False
        self._taken.add(topic)
        return True

    def flush(self) -> None:
        """Have everything on the disk, also when nothing more comes."""
        self._writer.flush()

    def take(self, topic: str, cdr: bytes, receipt_ns: int) -> None:
        """Write a message."""
        self._writer.write(topic, receipt_ns, cdr)
        self.counts[topic] += 1
