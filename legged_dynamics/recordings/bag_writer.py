# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Write rosbag2 recordings, mcap or sqlite3, that ROS 2 and this package read alike.

An mcap file is written by the `mcap` library, a chunk at a time; an sqlite3 file by `rosbags`.
Before a message is added, the file gets room on the disk for the chunk in progress and for the
summary at its end. A full disk therefore refuses the new message only, and the recording can still
be closed properly.
"""
from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter
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
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from legged_dynamics.exceptions import BagError, ConfigurationError
from legged_dynamics.recordings.file_formats import BagTopic
from legged_dynamics.ros.middleware.cdr import serialize
from legged_dynamics.ros.middleware.messages import DEFINITIONS

# Of rosbag2's metadata: 8 is what ROS 2 Jazzy writes, and Humble reads it too.
VERSION = 8
# An mcap bag is at most this far behind [s].
FLUSH_PERIOD = 0.5


# -------------------------------------------------------------------------------------------------
# sqlite3, by rosbags.


class _SqliteStorage:
    """An sqlite3 recording; sqlite itself keeps the file whole."""

    def __init__(self, folder: Path):
        self._writer = Writer(folder, version=VERSION, storage_plugin=StoragePlugin.SQLITE3)
        self._writer.open()
        self._connections: dict[str, Connection] = {}

    def write(self, topic: BagTopic, receipt_ns: int, cdr: bytes | memoryview) -> None:
        if topic.name not in self._connections:
            forever = QosTime(_FOREVER['sec'], _FOREVER['nsec'])
            qos = Qos(QosHistory.KEEP_LAST, _depth(topic), QosReliability.RELIABLE,
                      QosDurability.TRANSIENT_LOCAL if topic.latched else QosDurability.VOLATILE,
                      forever, forever, QosLiveliness.AUTOMATIC, forever, False)
            self._connections[topic.name] = self._writer.add_connection(
                topic.name, topic.type, msgdef=topic.definition, rihs01=topic.type_hash,
                offered_qos_profiles=[qos])
        self._writer.write(self._connections[topic.name], receipt_ns, cdr)

    def flush(self) -> None:
        pass

    def finish(self) -> None:
        if not self._connections:   # without messages there is no time span to write down
            self._writer.min_timestamp = 0
        self._writer.close()


# -------------------------------------------------------------------------------------------------
# mcap, by the library of that name. Sizes are those of https://mcap.dev/spec, rounded up.

# A chunk is closed when its messages are larger; room is taken by as much at a time [bytes].
CHUNK = 2**20
# Kept free for metadata.yaml, until the recording is closed [bytes].
RESERVE = 2_000_000
# Overhead of a message, record and index entry [bytes].
_MESSAGE = 48
# Of a channel in a chunk.
_CHANNEL = 32
# Of a chunk with its entry in the summary.
_CHUNK_RECORDS = 160
# Of a topic in addition to its texts.
_TOPIC = 2048
# Size of an empty summary.
_SUMMARY = 4096
_FOREVER = {'sec': 2147483647, 'nsec': 4294967295}


class _McapStorage:
    """An mcap recording that can be closed properly on a full disk, too."""

    def __init__(self, folder: Path):
        folder.mkdir(mode=0o755, parents=True)
        self._folder, self._reserve = folder, folder / '.reserve'
        self._topics: dict[str, tuple[BagTopic, int]] = {}    # with the number of the channel
        self._schemas: dict[str, int] = {}
        self._counts: Counter[str] = Counter()
        self._span = (0, 0)             # first and last receipt [ns]
        # Free of what is allocated, as far as is known without looking.
        self._pending, self._summary, self._allocated, self._free = 0, _SUMMARY, 0, 0
        self._file = (folder / f'{folder.name}.mcap').open('xb')
        try:
            fd = os.open(self._reserve, os.O_CREAT | os.O_WRONLY, 0o600)
            try:
                os.posix_fallocate(fd, 0, RESERVE)
            finally:
                os.close(fd)
            # Chunks are closed by flush() only, so that the size of the one in progress is known.
            self._writer = McapWriter(self._file, chunk_size=2**62,
                                      compression=CompressionType.NONE)
            self._writer.start('ros2', 'legged_dynamics')
            self._file.flush()
        except OSError:
            self._release()
            self._file.close()
            raise

    def write(self, topic: BagTopic, receipt_ns: int, cdr: bytes | memoryview) -> None:
        new = topic.name not in self._topics
        summary = _topic_size(topic) + 32 * (len(self._topics) + 1) if new else 0
        size = _MESSAGE + _CHANNEL + len(cdr) + (_topic_size(topic) if new else 0)
        self._make_room(size + summary)
        self._summary += summary
        if new:
            self._topics[topic.name] = topic, self._add_channel(topic)
        self._writer.add_message(self._topics[topic.name][1], receipt_ns, cdr,  # type: ignore
                                 receipt_ns)
        self._pending += size
        first, last = self._span if self._counts else (receipt_ns, receipt_ns)
        self._span = min(first, receipt_ns), max(last, receipt_ns)
        self._counts[topic.name] += 1
        if self._pending > CHUNK:
            self.flush()

    def _make_room(self, size: int) -> None:
        """Take room on the disk, or fail before the file is touched."""
        self._free -= size
        if self._free >= 0:
            return
        needed = (self._file.tell() + self._pending + self._summary + _CHUNK_RECORDS
                  + _CHANNEL * len(self._topics) + size)
        fd, missing = self._file.fileno(), needed - self._allocated
        if missing > 0:
            try:
                os.posix_fallocate(fd, self._allocated, missing + CHUNK)
                missing += CHUNK
            except OSError:
                os.posix_fallocate(fd, self._allocated, missing)
            self._allocated += missing
        self._free = self._allocated - needed

    def _add_channel(self, topic: BagTopic) -> int:
        if topic.type not in self._schemas:
            idl = topic.definition.startswith('=' * 80 + '\nIDL: ')
            self._schemas[topic.type] = self._writer.register_schema(
                topic.type, 'ros2idl' if idl else 'ros2msg', topic.definition.encode())
        return self._writer.register_channel(topic.name, 'cdr', self._schemas[topic.type],
                                             {'offered_qos_profiles': _qos_text(topic)})

    def flush(self) -> None:
        self._writer.flush()
        if self._pending:
            self._summary += _CHUNK_RECORDS + _CHANNEL * len(self._topics)
        self._pending = self._free = 0

    def finish(self) -> None:
        self._release()
        self.flush()
        about = self._metadata()
        self._writer.add_metadata('rosbag2', {'serialized_metadata': _yaml(about)})
        self._writer.finish()
        self._file.truncate()           # what was taken from the disk and not needed
        self._file.close()
        part = self._folder / 'metadata.yaml.tmp'
        part.write_text(_yaml({'rosbag2_bagfile_information': about}), encoding='utf-8')
        part.replace(self._folder / 'metadata.yaml')

    def _release(self) -> None:
        """Give back the space that was kept free."""
        with contextlib.suppress(OSError):
            self._reserve.unlink()

    def _metadata(self) -> dict[str, Any]:
        """Return the content of metadata.yaml."""
        first, last = self._span
        span = {'starting_time': {'nanoseconds_since_epoch': first},
                'duration': {'nanoseconds': last - first}, 'message_count': self._counts.total()}
        name = f'{self._folder.name}.mcap'
        topics = [{'topic_metadata': {
            'name': topic.name, 'type': topic.type, 'serialization_format': 'cdr',
            'offered_qos_profiles': _qos_text(topic), 'type_description_hash': topic.type_hash},
            'message_count': self._counts[topic.name]} for topic, _ in self._topics.values()]
        return {'version': VERSION, 'storage_identifier': 'mcap', 'relative_file_paths': [name],
                **span, 'topics_with_message_count': topics, 'compression_format': '',
                'compression_mode': '', 'files': [{'path': name, **span}], 'custom_data': None,
                'ros_distro': 'legged_dynamics'}


def _topic_size(topic: BagTopic) -> int:
    """Return how large a topic is in the file at most, once [bytes]."""
    return _TOPIC + sum(len(text.encode()) for text in (
        topic.name, topic.type, topic.definition, topic.type_hash))


def _depth(topic: BagTopic) -> int:
    return 1 if topic.latched else 10


def _qos_text(topic: BagTopic) -> str:
    """Return the quality of service of a publisher as rosbag2 writes it, by rmw's numbers."""
    return _yaml([{
        'history': 1, 'depth': _depth(topic), 'reliability': 1,
        'durability': 1 if topic.latched else 2, 'deadline': _FOREVER, 'lifespan': _FOREVER,
        'liveliness': 1, 'liveliness_lease_duration': _FOREVER,
        'avoid_ros_namespace_conventions': False}]).strip()


def _yaml(content: Any) -> str:
    class Plain(yaml.SafeDumper):
        """Writes values that are shared as often as they occur."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    return yaml.dump(content, Dumper=Plain, sort_keys=False, allow_unicode=True)


# -------------------------------------------------------------------------------------------------

STORAGES: dict[str, type[_McapStorage] | type[_SqliteStorage]] = {
    'mcap': _McapStorage, 'sqlite3': _SqliteStorage}


@cache
def definition_of(name: str) -> tuple[str, str] | None:
    """Return text and RIHS01 hash of a definition of ROS 2 or one that nodes send, else None."""
    store = get_typestore(Stores.LATEST)
    if name in DEFINITIONS and name not in store.fielddefs:
        for own in DEFINITIONS:     # of its package, for it may hold others
            if own.partition('/')[0] == name.partition('/')[0]:
                store.register(get_types_from_msg(DEFINITIONS[own], own))
    if name not in store.fielddefs:
        return None
    return store.generate_msgdef(name, ros_version=2)[0], store.hash_rihs01(name)


class BagWriter:
    """
    A new rosbag2 recording; a context manager that closes it properly whatever happens.

    A topic enters the bag with its first message, so an unused one leaves no trace. What an mcap
    bag has been given reaches the disk with :meth:`flush`, which :meth:`write` calls as well when
    the last time is half a second ago: a recorder that is killed loses no more. When the disk is
    full, the bag ends with the last message that found room, and is closed properly.

    Parameters
    ----------
    path : str or Path
        Folder to make.
    storage : {'mcap', 'sqlite3'}
        Format of the file in it.

    Attributes
    ----------
    path : Path
        The folder.
    count : int
        Messages written so far.

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
        self._topics: dict[str, BagTopic] = {}
        self._storage: _McapStorage | _SqliteStorage | None = None
        try:
            self._storage = STORAGES[storage](self.path)
        except FileExistsError:
            raise BagError(f'cannot write a bag at {self.path}: it exists already, not '
                           'overwriting') from None
        except Exception as error:
            raise BagError(f'cannot write a bag at {self.path}: {error}') from error
        self._flushed = time.monotonic()

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
        self._topics[name] = BagTopic(name, kind, 0, latched, definition, type_hash)

    def write(self, topic: str, receipt_ns: int, cdr: bytes | memoryview) -> None:
        """
        Write a message that is CDR bytes already, on an announced topic.

        Parameters
        ----------
        topic : str
            Name of the topic.
        receipt_ns : int
            When the message was received, since 1970 [ns].
        cdr : bytes or memoryview
            The message as it was on the wire, with its four bytes of header.

        Raises
        ------
        BagError
            When the disk refuses.

        """
        if self._storage is None:
            raise BagError(f'the bag {self.path} is closed')
        self._have(self._storage, self._storage.write, self._topics[topic], receipt_ns, cdr)
        self.count += 1
        if time.monotonic() - self._flushed > FLUSH_PERIOD:
            self.flush()

    def flush(self) -> None:
        """Have everything on the disk now; a disk that refuses raises BagError."""
        if self._storage is not None:
            self._flushed = time.monotonic()
            self._have(self._storage, self._storage.flush)

    def _have(self, storage: _McapStorage | _SqliteStorage, step: Callable[..., None],
              *args: Any) -> None:
        """Where the disk refuses, close the bag with what found room, and say what happened."""
        try:
            step(*args)
        except Exception as error:
            said = f'cannot write to the bag {self.path}: {error}'
            if isinstance(storage, _McapStorage) and isinstance(error, OSError):
                self._storage = None
                self._finish(storage, f'{said}, nor close it')
                said += f'; it ends here, with {self.count} messages'
            raise BagError(said) from error

    def _finish(self, storage: _McapStorage | _SqliteStorage, failure: str) -> None:
        try:
            storage.finish()
        except Exception as error:
            raise BagError(f'{failure}: {error}; "legged-dynamics repair {self.path}" saves what '
                           'is there') from error

    def write_message(self, topic: str, receipt_ns: int, message: Any) -> None:
        """
        Write a message object on an announced topic.

        Parameters
        ----------
        topic : str
            Name of the topic.
        receipt_ns : int
            When the message was received, since 1970 [ns].
        message : object
            With the fields of the topic's message: of this package, of rclpy or of rosbags.

        Raises
        ------
        BagError
            When the disk refuses.

        """
        self.write(topic, receipt_ns, serialize(message, self._topics[topic].type))

    def close(self) -> None:
        """Write index and metadata; a disk that refuses raises BagError."""
        storage, self._storage = self._storage, None
        if storage is not None:
            self._finish(storage, f'cannot close the bag {self.path}')


# -------------------------------------------------------------------------------------------------
# Recording what arrives on the bus, without decoding it, whatever the middleware is.


class Recorder:
    """
    Decides which topics to record, and writes what arrives on them.

    ``topics``: '/name' or '/name:package/msg/Type'; with a type nothing is missed, since it
    is subscribed before anybody publishes. `skipped`: why topics cannot be recorded.
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
        """Return True once for each wanted topic that can be recorded."""
        if (topic in self._taken or topic in self.skipped
                or not (self._everything or topic in self._wanted)):
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
        """Write a CDR message of an accepted topic; receipt since 1970 [ns]."""
        self._writer.write(topic, receipt_ns, cdr)
        self.counts[topic] += 1
