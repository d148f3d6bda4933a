# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Saving a recording that was never closed: a killed recorder, a machine that lost its power.

An mcap file is a row of records; what was written before the end is whole. Everything up to the
last complete message goes into a new bag, with an index. (An sqlite3 file is whole up to its last
transaction, and only lacks metadata.yaml.)
"""
from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rosbags.highlevel import AnyReader
from rosbags.interfaces import ConnectionExtRosbag2, QosDurability
from rosbags.rosbag2.storage_mcap import decompress
from rosbags.typesys import Stores, get_typestore

from legged_dynamics.exceptions import BagError
from legged_dynamics.recordings.bag_writer import BagWriter, definition_of
from legged_dynamics.recordings.file_formats import BAG

MAGIC = b'\x89MCAP0\r\n'
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK = 3, 4, 5, 6
_LONGEST = 2**32        # bytes of a record: longer is no record
_UNKNOWN_HASH = 'RIHS01_' + 64 * '0'


class SavedTopic(NamedTuple):
    """A topic as the file describes it."""

    name: str
    type: str
    definition: str
    latched: bool


class SavedMessage(NamedTuple):
    """A message that was whole."""

    topic: SavedTopic
    receipt_ns: int
    cdr: bytes


def saved_messages(path: Path) -> Iterator[SavedMessage]:
    """
    Yield what is whole in an mcap file, in the order of writing.

    Raises
    ------
    BagError
        When it is not an mcap file, or cannot be read.

    """
    try:
        data = memoryview(path.read_bytes())
    except OSError as error:
        raise BagError(f'cannot read {path}: {error}') from error
    if bytes(data[:8]) != MAGIC:
        raise BagError(f'{path} is not an mcap file: it does not begin like one')
    schemas: dict[int, tuple[str, str]] = {}
    channels: dict[int, SavedTopic] = {}
    yield from _messages(data[8:], schemas, channels)


def _records(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield opcode and content of each record; the last one may be cut off."""
    at = 0
    while at + 9 <= len(data):
        size, = struct.unpack_from('<Q', data, at + 1)
        if size > _LONGEST or (at + 9 + size > len(data) and data[at] != _CHUNK):
            return
        yield data[at], data[at + 9:at + 9 + size]
        at += 9 + size


def _messages(data: memoryview, schemas: dict[int, tuple[str, str]],
              channels: dict[int, SavedTopic]) -> Iterator[SavedMessage]:
    for code, content in _records(data):
        try:
            if code == _SCHEMA:
                number, = struct.unpack_from('<H', content)
                name, at = _string(content, 2)
                _, at = _string(content, at)
                schemas[number] = name, _string(content, at)[0]
            elif code == _CHANNEL:
                number, schema = struct.unpack_from('<HH', content)
                name, at = _string(content, 4)
                kind, definition = schemas[schema]
                latched = re.search(rb'durability: .?(1|transient_local)', bytes(content))
                channels[number] = SavedTopic(name, kind, definition, latched is not None)
            elif code == _MESSAGE:
                number, _, receipt_ns = struct.unpack_from('<HIQ', content)
                if number in channels:
                    yield SavedMessage(channels[number], receipt_ns, bytes(content[22:]))
            elif code == _CHUNK:
                yield from _messages(_unpacked(content), schemas, channels)
        except (struct.error, KeyError, UnicodeDecodeError):
            return      # the tail of the file is not what it was to be


def _unpacked(chunk: memoryview) -> memoryview:
    """Return the records in a chunk; of one that was cut off, what there is of it."""
    size, _ = struct.unpack_from('<QI', chunk, 16)
    compression, at = _string(chunk, 28)
    length, = struct.unpack_from('<Q', chunk, at)
    content = chunk[at + 8:at + 8 + length]
    if not compression:
        return content
    try:
        return memoryview(decompress(bytes(content), compression, size, 0))
    except Exception as error:      # whatever an unpacker says of half a chunk
        raise KeyError(str(error)) from error


def _string(data: memoryview, at: int) -> tuple[str, int]:
    length, = struct.unpack_from('<I', data, at)
    if at + 4 + length > len(data):
        raise struct.error('cut off')
    return bytes(data[at + 4:at + 4 + length]).decode(), at + 4 + length


def storage_files(path: Path) -> list[Path]:
    """Return the files with messages of a bag: of a folder, or the file itself."""
    if path.is_file():
        return [path]
    return sorted(entry for entry in path.glob('*') if entry.suffix in BAG.suffixes)


def repair(path: str | Path, out: str | Path) -> int:
    """
    Write what can be saved of a bag into a new one; return how many messages that are.

    Parameters
    ----------
    path : str or Path
        Folder of a recording, or a single .mcap or .db3 file; it stays as it is.
    out : str or Path
        Folder to make.

    Raises
    ------
    BagError
        When there is nothing to be saved, or the new bag cannot be written.

    """
    path = Path(path)
    files = storage_files(path)
    if not files:
        raise BagError(f'there is no {" or ".join(BAG.suffixes)} file at {path}')
    with BagWriter(out) as writer:
        for file in files:
            if file.suffix == '.mcap':
                for message in saved_messages(file):
                    _add(writer, message.topic)
                    writer.write(message.topic.name, message.receipt_ns, message.cdr)
            else:
                _copy(writer, file)
    if not writer.count:
        raise BagError(f'no message in {path} is whole: nothing could be saved')
    return writer.count


def _add(writer: BagWriter, topic: SavedTopic) -> None:
    known = definition_of(topic.type)
    definition, type_hash = known or (topic.definition, _UNKNOWN_HASH)
    writer.add_topic(topic.name, topic.type, latched=topic.latched, definition=definition,
                     type_hash=type_hash)


def is_latched(connection: Any) -> bool:
    """Return whether a publisher keeps its last message for late subscriptions."""
    extension = connection.ext
    return (isinstance(extension, ConnectionExtRosbag2)
            and any(qos.durability == QosDurability.TRANSIENT_LOCAL
                    for qos in extension.offered_qos_profiles))


def _copy(writer: BagWriter, file: Path) -> None:
    """Copy an sqlite3 file."""
    try:
        bag = AnyReader([file], default_typestore=get_typestore(Stores.LATEST))
        bag.open()
    except Exception as error:      # whatever a parser says of a file it did not expect
        raise BagError(f'cannot read {file}: {error}') from error
    with bag:
        for one in bag.connections:
            _add(writer, SavedTopic(one.topic, one.msgtype, one.msgdef.data, is_latched(one)))
        messages = bag.messages()
        while True:
            try:
                one, receipt_ns, data = next(messages)
            except StopIteration:
                return
            except Exception as error:
                raise BagError(f'{file} is damaged: {error}') from error
            writer.write(one.topic, receipt_ns, bytes(data))
