# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Save a recording that was never closed: a killed recorder, a machine that lost its power.

An mcap file is a sequence of records; what was written before the end is whole. The `mcap`
library reads it record by record, without the index that the file lacks, and everything up to the
last complete message goes into a new bag. Chunks are unpacked up to a bound: a small file cannot
fill the memory. (An sqlite3 file is whole up to its last transaction,
and only lacks metadata.yaml.)
"""
from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, McapRecord, Message, Schema
from mcap.stream_reader import StreamReader
from mcap.writer import MCAP0_MAGIC as MAGIC
from rosbags.highlevel import AnyReader
from rosbags.interfaces import ConnectionExtRosbag2, QosDurability
from rosbags.typesys import Stores, get_typestore

from legged_dynamics.exceptions import BagError, reraised
from legged_dynamics.recordings.bag_writer import BagWriter, definition_of
from legged_dynamics.recordings.file_formats import BAG, LARGEST_CHUNK, BagTopic

_HEADER = struct.Struct('<BQ')      # of a record: opcode, and length of its content
_IN_CHUNKS: dict[int, Any] = {Opcode.SCHEMA: Schema, Opcode.CHANNEL: Channel,
                              Opcode.MESSAGE: Message}
_UNKNOWN_HASH = 'RIHS01_' + 64 * '0'


def _saved_messages(path: Path) -> Iterator[tuple[BagTopic, Message]]:
    """Yield what is whole in a damaged or cut off mcap file, in the order of writing."""
    with reraised(BagError, f'cannot read {path}'), path.open('rb') as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise BagError(f'{path} is not an mcap file: it does not begin like one')
        yield from _messages(file, path.stat().st_size)


def _messages(file: BinaryIO, size: int) -> Iterator[tuple[BagTopic, Message]]:
    schemas: dict[int, Schema] = {}
    topics: dict[int, BagTopic] = {}
    for record in _records(file, size):
        if isinstance(record, Schema):
            schemas[record.id] = record
        elif isinstance(record, Channel):
            schema = schemas.get(record.schema_id)
            with suppress(UnicodeDecodeError):
                if schema is not None:
                    qos = record.metadata.get('offered_qos_profiles', '')
                    latched = re.search('durability: .?(1|transient_local)', qos) is not None
                    topics[record.id] = BagTopic(record.topic, schema.name, 0, latched,
                                                 schema.data.decode())
        elif isinstance(record, Message) and record.channel_id in topics:
            yield topics[record.channel_id], record


def _records(file: BinaryIO, size: int) -> Iterator[McapRecord]:
    """Yield all records, those in chunks as well; of the chunk that was cut off, what is there."""
    whole = file.tell()
    reader = StreamReader(file, skip_magic=True, emit_chunks=True, record_size_limit=size)
    with suppress(Exception):           # the end, or a damaged tail
        for record in reader.records:
            whole = file.tell()
            yield from _unpacked(record) if isinstance(record, Chunk) else (record,)
    file.seek(whole)
    head = file.read(_HEADER.size)
    if len(head) == _HEADER.size and head[0] == Opcode.CHUNK:
        with suppress(Exception):       # any error of the reader on half a chunk
            yield from _unpacked(Chunk.read(ReadDataStream(BytesIO(file.read(LARGEST_CHUNK)))))


def _unpacked(chunk: Chunk) -> Iterator[McapRecord]:
    """Yield the records in a chunk up to the first that is damaged, cut off, or out of place."""
    try:
        data = unpacked(chunk, LARGEST_CHUNK)
    except Exception:       # any error of the unpacker on half a chunk
        return
    at = 0
    while at + _HEADER.size <= len(data):
        opcode, length = _HEADER.unpack_from(data, at)
        at += _HEADER.size
        if opcode not in _IN_CHUNKS or length > len(data) - at:
            return
        stream = ReadDataStream(BytesIO(data[at:at + length]))
        try:
            yield (Message.read(stream, length) if opcode == Opcode.MESSAGE
                   else _IN_CHUNKS[opcode].read(stream))
        except Exception:   # a damaged record
            return
        at += length


def unpacked(chunk: Chunk, most: int) -> bytes:
    """Return the content of an mcap chunk, its first ``most`` bytes where it is compressed."""
    if chunk.compression == 'zstd':
        import zstandard
        packed = zstandard.ZstdDecompressor().stream_reader(chunk.data, read_across_frames=True)
        return packed.read(most)
    if chunk.compression == 'lz4':
        import lz4.frame
        return lz4.frame.LZ4FrameDecompressor().decompress(chunk.data, most)
    return chunk.data


def repair(path: str | Path, out: str | Path) -> int:
    """Write what can be saved of a bag into a new one; return the number of messages."""
    path = Path(path)
    files = [path] if path.is_file() else sorted(
        entry for entry in path.glob('*') if entry.suffix in BAG.suffixes)
    if not files:
        raise BagError(f'there is no {" or ".join(BAG.suffixes)} file at {path}')
    with BagWriter(out) as writer:
        for file in files:
            if file.suffix == '.mcap':
                for topic, record in _saved_messages(file):
                    _add(writer, topic)
                    writer.write(topic.name, record.log_time, record.data)
            else:
                _copy(writer, file)
    if not writer.count:
        raise BagError(f'no message in {path} is whole: nothing could be saved')
    return writer.count


def _add(writer: BagWriter, topic: BagTopic) -> None:
    definition, type_hash = definition_of(topic.type) or (topic.definition, _UNKNOWN_HASH)
    writer.add_topic(topic.name, topic.type, latched=topic.latched, definition=definition,
                     type_hash=type_hash)


def is_latched(connection: Any) -> bool:
    """Return whether a publisher's durability is transient local."""
    return isinstance(connection.ext, ConnectionExtRosbag2) and any(
        qos.durability == QosDurability.TRANSIENT_LOCAL
        for qos in connection.ext.offered_qos_profiles)


def _copy(writer: BagWriter, file: Path) -> None:
    """Copy an sqlite3 file."""
    # Any error of the parser on a file that is no bag.
    with (reraised(BagError, f'cannot read {file}', Exception),
          AnyReader([file], default_typestore=get_typestore(Stores.LATEST)) as bag):
        for one in bag.connections:
            _add(writer, BagTopic(one.topic, one.msgtype, 0, is_latched(one), one.msgdef.data))
        for one, receipt_ns, data in bag.messages():
            writer.write(one.topic, receipt_ns, bytes(data))
