# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Writing rosbag2 recordings, mcap or sqlite3, that ROS 2 and this package read alike."""
from __future__ import annotations

import time
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

from legged_dynamics.analysis.write_through import WriteThrough
from legged_dynamics.exceptions import BagError
from legged_dynamics.middleware.cdr import serialize

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
