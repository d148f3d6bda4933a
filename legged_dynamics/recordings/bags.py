# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Reading rosbag2 recordings, mcap and sqlite3, without ROS.

A bag may be the folder that ``ros2 bag record`` made, or a single ``.mcap`` or ``.db3`` file of
one. Message definitions are taken from the bag where it has them. Everything that can be wrong
with a bag becomes a BagError that says what to do.
"""
from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from legged_dynamics.exceptions import BagError, reraised
from legged_dynamics.recordings.file_formats import BAG, LARGEST_CHUNK, BagTopic

if TYPE_CHECKING:
    from rosbags.interfaces import Connection

SUFFIXES = BAG.suffixes
METADATA = 'metadata.yaml'
_CHUNK = 6              # opcode
_RECORD = struct.Struct('<BQ')      # opcode, and length of the content


class BagMessage(NamedTuple):
    """One message as it lies in the bag; the receipt is the recorder's clock [ns]."""

    topic: str
    receipt_ns: int
    cdr: bytes


class BagReader:
    """
    A rosbag2 recording, open for reading; a context manager.

    Parameters
    ----------
    path : str or Path
        Folder of a recording, or a single .mcap or .db3 file. A folder without metadata.yaml is
        one that was never closed: what is whole in it is read.

    Attributes
    ----------
    path : Path
    topics : dict of str to BagTopic
    start_ns, end_ns : int
        Receipt of the first and last message [ns].

    Raises
    ------
    BagError
        When there is no bag, it is cut off, or it cannot be understood.

    """

    def __init__(self, path: str | Path):
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore

        self.path = Path(path)
        check_path(self.path)
        self._saved: TemporaryDirectory[str] | None = None
        source = self.path
        if source.is_dir() and not (source / METADATA).is_file():
            from legged_dynamics.recordings.bag_repair import repair

            self._saved = TemporaryDirectory(prefix='legged_dynamics_bag_')
            source = Path(self._saved.name) / 'saved'
            repair(self.path, source)
        for file in [source] if source.is_file() else sorted(source.glob('*.mcap')):
            if file.suffix == '.mcap':
                _check_chunks(file)
        self.topics: dict[str, BagTopic] = {}
        self._connections: dict[str, list[Connection]] = {}
        try:
            self._reader = AnyReader([source],
                                     default_typestore=get_typestore(Stores.LATEST))
            self._reader.open()
        except Exception as error:      # any error of the parser on a file that is no bag
            raise BagError(f'cannot read the bag {self.path}: {_reason(error)}') from error
        self._survey()
        if not any(topic.count for topic in self.topics.values()):
            self.close()
            raise BagError(f'the bag {self.path} holds no messages; was anything published while '
                           'it was recorded?')
        self.start_ns, self.end_ns = self._reader.start_time, self._reader.end_time - 1

    def _survey(self) -> None:
        from legged_dynamics.recordings.bag_repair import is_latched

        for connection in self._reader.connections:
            name, kind = connection.topic, connection.msgtype
            self._connections.setdefault(name, []).append(connection)
            known = self.topics.get(name)
            if known is not None and known.type != kind:
                self.close()
                raise BagError(f'{self.path}: topic {name} has messages of two types, '
                               f'{known.type} and {kind}; record them on topics of their own')
            self.topics[name] = BagTopic(
                name, kind, connection.msgcount + (known.count if known else 0),
                is_latched(connection), connection.msgdef.data, connection.digest)

    def __enter__(self) -> BagReader:
        """Return the reader, which is open already."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the bag."""
        self.close()

    def close(self) -> None:
        """Close the bag."""
        if self._reader.stack is not None:
            self._reader.close()
        if self._saved is not None:
            self._saved.cleanup()

    @property
    def message_count(self) -> int:
        """Messages in the bag."""
        return sum(topic.count for topic in self.topics.values())

    def of_type(self, name: str) -> list[str]:
        """
        Return the topics that have messages of a type.

        Parameters
        ----------
        name : str
            Message type, such as 'sensor_msgs/msg/Imu'.

        Returns
        -------
        list of str
            Names of the topics, sorted.

        """
        return sorted(topic.name for topic in self.topics.values()
                      if topic.type == name and topic.count)

    def messages(self, topics: Collection[str] | None = None, start_ns: int | None = None,
                 stop_ns: int | None = None) -> Iterator[BagMessage]:
        """
        Yield messages in the order of their receipt.

        Parameters
        ----------
        topics : collection of str, optional
            Topics that are read; all of them when None.
        start_ns, stop_ns : int, optional [ns]
            Range of receipts, from the first up to, but not at, the second.

        Yields
        ------
        BagMessage
            Topic, receipt and bytes of a message.

        Raises
        ------
        BagError
            When the bag turns out to be damaged.

        """
        wanted = [connection for name, connections in self._connections.items()
                  for connection in connections if topics is None or name in topics]
        if not wanted:
            return
        try:
            for connection, receipt_ns, data in self._reader.messages(
                    wanted, start=start_ns, stop=stop_ns):
                yield BagMessage(connection.topic, receipt_ns, bytes(data))
        except Exception as error:
            raise BagError(f'the bag {self.path} is damaged: {_reason(error)}') from error

    def decode(self, message: BagMessage) -> Any:
        """
        Return a message as an object with ROS's field names.

        Parameters
        ----------
        message : BagMessage
            A message of this bag.

        Returns
        -------
        object
            Message whose attributes are the fields.

        Raises
        ------
        BagError
            When its bytes do not fit its definition, or it has none.

        """
        kind = self.topics[message.topic].type
        try:
            return self._reader.deserialize(message.cdr, kind)
        except KeyError as error:
            raise BagError(f'{self.path}: no definition of {kind} in the bag, and it is none of '
                           "ROS 2's own; record it with definitions (mcap), or leave out topic "
                           f'{message.topic}') from error
        except Exception as error:
            raise BagError(f'{self.path}: a message on {message.topic} is not a {kind}: '
                           f'{_reason(error)}') from error

    def first(self, topic: str) -> Any:
        """
        Return the first message of a topic.

        Parameters
        ----------
        topic : str
            Name of the topic.

        Returns
        -------
        object or None
            Decoded message; None when the topic has none.

        Raises
        ------
        BagError
            When the bag is damaged, or the message cannot be decoded.

        """
        for message in self.messages([topic]):
            return self.decode(message)
        return None


def receipts(bag: BagReader, start: float | None, end: float | None
             ) -> tuple[int | None, int | None]:
    """Return a range of a bag [s] as `BagReader.messages` takes it [ns]; None: no bound."""
    first, last = (None if at is None else bag.start_ns + round(at * 1e9) for at in (start, end))
    return first, last


def _check_chunks(path: Path) -> None:
    """Refuse an mcap file with a chunk that would fill the memory, whatever size it states."""
    with reraised(BagError, f'cannot read {path}'), path.open('rb') as file:
        at, end = 8, path.stat().st_size        # behind the magic
        while at < end:
            file.seek(at)
            head = file.read(_RECORD.size)
            if len(head) < _RECORD.size:
                return
            opcode, length = _RECORD.unpack(head)
            if opcode == _CHUNK:
                _check_chunk(path, file.read(min(length, LARGEST_CHUNK)))
            if not opcode:
                return
            at += _RECORD.size + length


def _check_chunk(path: Path, content: bytes) -> None:
    from mcap.data_stream import ReadDataStream
    from mcap.records import Chunk

    from legged_dynamics.recordings.bag_repair import unpacked

    try:
        chunk = Chunk.read(ReadDataStream(BytesIO(content)))
        stated = chunk.uncompressed_size
        size = stated if stated > LARGEST_CHUNK else len(unpacked(chunk, stated + 1))
    except Exception:       # a damaged chunk; its reader will say so
        return
    if size > LARGEST_CHUNK:
        raise BagError(f'{path}: a chunk would unpack to {size:,} bytes; expected '
                       f'{LARGEST_CHUNK:,} at most. It is damaged, or was made with '
                       'unusual settings: record it with smaller chunks')
    if size > stated:
        raise BagError(f'{path}: a chunk unpacks to more than the {stated:,} bytes that it '
                       'states: it is damaged; "legged-dynamics repair" can save the others')


def is_recording(path: Path) -> bool:
    """Return whether a path is a bag's file, or a folder with such a file in it."""
    if path.is_file():
        return path.suffix in SUFFIXES
    return path.is_dir() and ((path / METADATA).is_file() or any(
        entry.suffix in SUFFIXES for entry in path.iterdir()))


def check_path(path: Path) -> None:
    """Raise a BagError that says what to give instead where a path is no recording."""
    if not path.exists():
        known = path.suffix in ('', '.bag', *SUFFIXES)
        raise BagError(f'there is no {"bag at" if known else "file"} {path}')
    if path.suffix == '.bag':
        raise BagError(f'{path} is a ROS 1 bag; turn it into a ROS 2 one with '
                       f'"rosbags-convert --src {path} --dst {path.stem}"')
    if path.is_file() and path.suffix not in SUFFIXES:
        raise BagError(f'expected the folder of a rosbag2 recording, or a file ending in '
                       f'{" or ".join(SUFFIXES)}, got {path}')
    if not is_recording(path):
        inside = sorted(entry.parent.name for entry in path.glob(f'*/{METADATA}'))
        hint = (f'did you mean {path / inside[0]}?' if inside else
                'nothing in it looks like a recording')
        raise BagError(f'{path} has no {METADATA}, so it is not a complete rosbag2 recording; '
                       f'{hint}')


def _reason(error: Exception) -> str:
    text = str(error) or type(error).__name__
    if any(word in text for word in ('magic', 'empty', 'Truncated', 'footer', 'ord()')):
        return (f'{text} The recording was probably cut off before it was closed; '
                '"legged-dynamics repair" can save what reached the disk')
    return text
