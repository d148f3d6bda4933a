# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recorders that are killed, files that are cut off, disks that are full."""
import resource
import struct
import subprocess
import sys

import pytest

from legged_dynamics.cli import main
from legged_dynamics.exceptions import BagError
from legged_dynamics.recordings.bag_repair import repair
from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect

DIALECT = StandaloneDialect()
# Writes 100 messages and has them on the disk, then more, and is killed, or hits its limit.
WRITER = """
import os, resource, sys
from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
writer = BagWriter(sys.argv[1], sys.argv[3])
writer.add_topic('/words', 'std_msgs/msg/String', latched=True)
dialect = StandaloneDialect()
def write(first, count):
    for k in range(first, first + count):
        writer.write_message('/words', k, convert.string(dialect, f'{k} ' + 'x' * 2000))
write(1, 100)
writer.flush()
if sys.argv[2] == 'killed':
    write(101, 50)
    os.kill(os.getpid(), 9)
resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))
write(101, 5000)
"""


def run_writer(bag, end, storage='mcap'):
    return subprocess.run([sys.executable, '-c', WRITER, str(bag), end, storage],
                          capture_output=True, text=True)


def words(bag):
    with BagReader(bag) as reader:
        return [int(reader.decode(message).data.split()[0]) for message in reader.messages()]


def test_what_a_killed_recorder_had_flushed_is_read_as_it_is_and_repaired_for_others(tmp_path):
    bag = tmp_path / 'bag'
    assert run_writer(bag, 'killed').returncode == -9
    assert not (bag / 'metadata.yaml').exists()
    assert words(bag) == list(range(1, 101))
    assert main(['repair', str(bag)]) == 0
    repaired = tmp_path / 'bag_repaired'
    assert words(repaired) == list(range(1, 101))
    with BagReader(repaired) as reader:
        assert reader.topics['/words'].latched
        assert (repaired / 'metadata.yaml').exists()
    assert main(['repair', str(bag)]) == 2              # never over what is there


def test_a_full_disk_leaves_a_bag_that_was_closed(tmp_path):
    bag = tmp_path / 'bag'
    done = run_writer(bag, 'full')
    assert done.returncode == 1 and 'it ends here, with' in done.stderr
    assert (bag / 'metadata.yaml').exists() and not (bag / '.reserve').exists()
    found = words(bag)
    assert found == list(range(1, len(found) + 1)) and len(found) > 100
    assert f'it ends here, with {len(found)} messages' in done.stderr      # all that was accepted
    assert (bag / 'bag.mcap').stat().st_size > 2_000_000


@pytest.fixture
def recorded(tmp_path):
    """A bag of three chunks of ten messages."""
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/words', 'std_msgs/msg/String')
        for k in range(30):
            writer.write_message('/words', 1 + k, convert.string(DIALECT, f'{k} {"x" * 100}'))
            if k % 10 == 9:
                writer.flush()
    return tmp_path / 'bag' / 'bag.mcap'


def test_wherever_a_file_is_cut_off_all_whole_messages_are_saved(recorded, tmp_path):
    data = recorded.read_bytes()
    before = 0
    for k, end in enumerate(range(200, len(data), 311)):
        cut = tmp_path / f'cut{k}.mcap'
        cut.write_bytes(data[:end])
        try:
            count = repair(cut, tmp_path / f'out{k}')
        except BagError as error:
            assert 'no message' in str(error)
            count = 0
        assert count >= before
        before = count
        if count:
            assert words(tmp_path / f'out{k}') == list(range(count))
    assert before == 30


@pytest.mark.parametrize('spoil', [
    lambda data: b'', lambda data: b'nothing of the kind', lambda data: data[:8] + data[40:60],
    lambda data: data[:8] + b'\x06' + b'\xff' * 300])
def test_what_is_no_recording_is_refused(recorded, tmp_path, spoil):
    bad = tmp_path / 'bad.mcap'
    bad.write_bytes(spoil(recorded.read_bytes()))
    with pytest.raises(BagError):
        repair(bad, tmp_path / 'out')
    with pytest.raises(BagError, match='no .mcap or .db3'):
        repair(tmp_path / 'nowhere', tmp_path / 'out2')


def test_damage_in_the_middle_is_survived(recorded, tmp_path):
    data = bytearray(recorded.read_bytes())
    for at in range(300, len(data) - 40, 97):
        hurt = tmp_path / 'hurt.mcap'
        spoilt = data.copy()
        spoilt[at] ^= 0xff
        hurt.write_bytes(spoilt)
        try:
            assert 0 < repair(hurt, tmp_path / f'out{at}') <= 30
        except BagError:
            pass


def test_a_chunk_that_was_cut_off_is_saved_up_to_its_last_whole_message(tmp_path):
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/words', 'std_msgs/msg/String')
        for k in range(30):
            writer.write_message('/words', 1 + k, convert.string(DIALECT, f'{k} {"x" * 100}'))
    data = (tmp_path / 'bag' / 'bag.mcap').read_bytes()
    cut = tmp_path / 'cut.mcap'
    cut.write_bytes(data[:data.index(b'20 xxx') + 50])      # in the middle of message 20
    assert repair(cut, tmp_path / 'out') == 20
    assert words(tmp_path / 'out') == list(range(20))


def test_an_sqlite_file_without_metadata_is_read_and_repaired(tmp_path):
    with BagWriter(tmp_path / 'bag', 'sqlite3') as writer:
        writer.add_topic('/words', 'std_msgs/msg/String', latched=True)
        for k in range(30):
            writer.write_message('/words', 1 + k, convert.string(DIALECT, f'{k} said'))
    (tmp_path / 'bag' / 'metadata.yaml').unlink()
    assert words(tmp_path / 'bag') == list(range(30))
    assert repair(tmp_path / 'bag', tmp_path / 'out') == 30
    assert words(tmp_path / 'out') == list(range(30))


@pytest.mark.parametrize('compression', ['zstd', 'lz4'])
def test_a_small_file_with_a_gigabyte_of_zeros_ends_soon_and_fills_no_memory(tmp_path,
                                                                             compression):
    """Unpacked, they are a hundred million empty records."""
    import lz4.frame
    import zstandard
    size = 1_000_000_000
    if compression == 'zstd':
        packer = zstandard.ZstdCompressor().compressobj(size=size)
    else:
        packer = lz4.frame.LZ4FrameCompressor()
    block, parts = bytes(10_000_000), []
    if compression == 'lz4':
        parts.append(packer.begin(size))
    parts += [packer.compress(block) for _ in range(size // len(block))]
    packed = b''.join([*parts, packer.flush()])
    name = compression.encode()
    content = (struct.pack('<QQQII', 0, 1, size, 0, len(name)) + name
               + struct.pack('<Q', len(packed)) + packed)
    bomb = tmp_path / 'bomb.mcap'
    bomb.write_bytes(b'\x89MCAP0\r\n' + struct.pack('<BQ', 6, len(content)) + content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BagError, match='no message .* is whole'):
        repair(bomb, tmp_path / 'out')
    with pytest.raises(BagError, match='unpack to 1,000,000,000 bytes'):
        BagReader(bomb)
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    assert grown < 200_000_000
