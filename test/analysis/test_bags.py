# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bags: written by one process and read by another, in both storages; and everything wrong."""
import shutil
import sqlite3
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path

import lz4.frame
import numpy as np
import pytest
import zstandard
from mcap.writer import MCAP0_MAGIC
from simulated_bag import DIALECT, START_NS, TYPES, messages, write

from legged_dynamics.exceptions import BagError
from legged_dynamics.recordings.bag_writer import BagWriter, definition_of
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.cdr import serialize
from legged_dynamics.ros.middleware.messages import DEFINITIONS, TYPE_HASHES

WRITER = """
import sys
sys.path[:0] = {paths!r}
from simulated_bag import messages, write
for storage in ('mcap', 'sqlite3'):
    write({path!r} + '/' + storage, messages(steps=50), storage=storage)
"""


@pytest.fixture(scope='module')
def written(tmp_path_factory):
    """Return the folder of two bags that another process has written."""
    here, folder = Path(__file__).parent, tmp_path_factory.mktemp('written')
    subprocess.run([sys.executable, '-c', WRITER.format(
        paths=[str(here), str(here.parent)], path=str(folder))], check=True)
    return folder


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_another_process_reads_what_one_wrote(written, storage):
    path = written / storage
    expected = [(topic, receipt, serialize(message, TYPES[topic]))
                for topic, receipt, message in messages(steps=50)]
    with BagReader(path) as bag:
        assert {name: topic.type for name, topic in bag.topics.items()} == TYPES
        assert bag.topics['/robot_description'].latched
        assert not bag.topics['/joint_states'].latched
        assert bag.message_count == len(expected)
        found = list(bag.messages())
        assert sorted(found) == sorted(expected)
        assert [m.receipt_ns for m in found] == sorted(m.receipt_ns for m in found)
        assert (bag.start_ns, bag.end_ns) == (START_NS, found[-1].receipt_ns)
        names = bag.first('/joint_states').name
    (file,) = path.glob('*.mcap' if storage == 'mcap' else '*.db3')
    with BagReader(file) as bag:        # a single file of a recording will do
        assert sorted(bag.messages()) == sorted(expected)
        assert bag.first('/joint_states').name == names


def test_a_part_is_read_by_receipt(short_bag):
    with BagReader(short_bag) as bag:
        start, stop = START_NS + 100_000_000, START_NS + 200_000_000
        part = list(bag.messages(['/imu/data'], start, stop))
        whole = list(bag.messages(['/imu/data']))
    assert part == [m for m in whole if start <= m.receipt_ns < stop] and len(part) == 50


# Nodes that run in other tests add what their users define, and Unitree's.
OURS = [name for name in DEFINITIONS if not name.startswith('unitree')]


def test_message_definitions_are_those_of_ros():
    for name in OURS:
        text, digest = definition_of(name)
        assert digest == TYPE_HASHES[name], name
        assert text
    assert definition_of('acme_msgs/msg/Gripper') is None


def old_bag(path, version):
    """Write a sqlite3 bag without message definitions, as ROS 2 Foxy to Galactic did."""
    path.mkdir()
    database = sqlite3.connect(path / 'bag_0.db3')
    database.executescript(
        'CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, '
        'serialization_format TEXT, offered_qos_profiles TEXT);'
        'CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, '
        'data BLOB);')
    topics = list(TYPES)
    for number, name in enumerate(topics, 1):
        database.execute('INSERT INTO topics VALUES (?, ?, ?, ?, ?)',
                         (number, name, TYPES[name], 'cdr', ''))
    counts = dict.fromkeys(topics, 0)
    for topic, receipt, message in messages(steps=50):
        counts[topic] += 1
        database.execute('INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)',
                         (topics.index(topic) + 1, receipt, serialize(message, TYPES[topic])))
    database.commit()
    database.close()
    listed = ''.join(
        f'    - topic_metadata: {{name: {name}, type: {TYPES[name]}, serialization_format: cdr, '
        f'offered_qos_profiles: ""}}\n      message_count: {counts[name]}\n' for name in topics)
    (path / 'metadata.yaml').write_text(
        f'rosbag2_bagfile_information:\n  version: {version}\n  storage_identifier: sqlite3\n'
        '  relative_file_paths: [bag_0.db3]\n  duration: {nanoseconds: 98300000}\n'
        f'  starting_time: {{nanoseconds_since_epoch: {START_NS}}}\n'
        f'  message_count: {sum(counts.values())}\n'
        f'  topics_with_message_count:\n{listed}  compression_format: ""\n'
        '  compression_mode: ""\n')
    return path


@pytest.mark.parametrize('version', [3, 4, 5])
def test_bags_without_definitions_are_read_with_ros_own(tmp_path, version):
    with BagReader(old_bag(tmp_path / 'old', version)) as bag:
        states = [bag.decode(m) for m in bag.messages(['/joint_states'])]
    assert len(states) == 50
    assert np.isfinite(states[-1].position).all() and len(states[-1].name) == 12


def test_a_type_of_ones_own_travels_with_its_definition(tmp_path):
    definition = 'float64 grip\nstring state\n'
    with BagWriter(tmp_path / 'bag') as writer:
        with pytest.raises(BagError, match='no definition of acme_msgs/msg/Gripper'):
            writer.add_topic('/gripper', 'acme_msgs/msg/Gripper')
        writer.add_topic('/gripper', 'acme_msgs/msg/Gripper', definition=definition,
                         type_hash='RIHS01_' + 64 * '0')
        writer.add_topic('/flag', 'std_msgs/msg/Bool')
        writer.write('/gripper', 5, b'\0\1\0\0' + np.float64(0.5).tobytes()
                     + b'\5\0\0\0open\0')
        writer.write_message('/flag', 6, convert.boolean(DIALECT, True))
    file = next((tmp_path / 'bag').glob('*.mcap'))      # a hash of zeros is no hash to check
    with BagReader(file) as bag:
        message = bag.first('/gripper')
    assert (message.grip, message.state) == (0.5, 'open')


def test_an_error_on_the_way_leaves_a_readable_bag(tmp_path):
    with pytest.raises(RuntimeError), BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/flag', 'std_msgs/msg/Bool')
        writer.write_message('/flag', 7, convert.boolean(DIALECT, True))
        raise RuntimeError
    with BagReader(tmp_path / 'bag') as bag:
        assert bag.first('/flag').data is True
    with pytest.raises(BagError, match='is closed'):
        writer.write('/flag', 8, b'')


def damage(path, change):
    """Return a copy of the first file of a bag, changed."""
    copy = path.parent / f'{path.name}_damaged'
    shutil.copytree(path, copy)
    file = next(copy.glob('*.mcap'))
    file.write_bytes(change(file.read_bytes()))
    return copy


@pytest.mark.parametrize(('change', 'said'), [
    (lambda data: data[:len(data) // 2], 'cut off before it was closed'),
    (lambda data: b'', 'cut off before it was closed'),
    (lambda data: b'no bag at all' + data[13:], 'cannot read the bag'),
    (lambda data: data[:60000] + 3000 * b'\xff' + data[63000:], 'is damaged'),
], ids=['half', 'empty', 'other', 'scratched'])
def test_damage_is_told(tmp_path, change, said):
    bag = damage(write(tmp_path / 'bag', messages(steps=60)), change)
    with pytest.raises(BagError, match=said), BagReader(bag) as reader:
        list(reader.messages())


def test_what_is_no_bag_is_told(tmp_path, short_bag):
    for path, said in [
            (tmp_path / 'nowhere', 'there is no bag at'),
            (tmp_path, 'nothing in it looks like a recording'),
            (short_bag.parent, f'did you mean {short_bag}')]:
        with pytest.raises(BagError, match=said):
            BagReader(path)
    for name, said in [('ros1.bag', 'rosbags-convert'), ('notes.txt', 'ending in .mcap or .db3')]:
        (tmp_path / name).write_text('text')
        with pytest.raises(BagError, match=said):
            BagReader(tmp_path / name)


def test_an_unfinished_folder_is_read_and_a_broken_one_told(tmp_path, short_bag):
    copy = shutil.copytree(short_bag, tmp_path / 'copy')
    (copy / 'metadata.yaml').unlink()
    with BagReader(copy) as bag, BagReader(short_bag) as whole:
        assert list(bag.messages()) == list(whole.messages())
    (copy / 'metadata.yaml').write_text('rosbag2: [')
    with pytest.raises(BagError, match='cannot read the bag'):
        BagReader(copy)


def test_an_empty_bag_is_told(tmp_path):
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/flag', 'std_msgs/msg/Bool')
    with pytest.raises(BagError, match='holds no messages'):
        BagReader(tmp_path / 'bag')


def test_bytes_that_are_no_such_message_are_told(tmp_path):
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add_topic('/imu/data', 'sensor_msgs/msg/Imu')
        writer.write('/imu/data', 5, b'\0\1\0\0\1\2\3')
    with BagReader(tmp_path / 'bag') as bag, pytest.raises(BagError, match='not a sensor_msgs'):
        bag.first('/imu/data')


def test_nothing_is_overwritten(short_bag):
    with pytest.raises(BagError, match='exists already'):
        BagWriter(short_bag)
    with pytest.raises(BagError, match='out of mcap, sqlite3'):
        BagWriter(short_bag.parent / 'other', 'rocksdb')


def test_two_types_on_one_topic_are_told(tmp_path):
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore
    store = get_typestore(Stores.LATEST)
    with Writer(tmp_path / 'bag', version=8, storage_plugin=StoragePlugin.MCAP) as writer:
        for kind, message in (('std_msgs/msg/Bool', convert.boolean(DIALECT, True)),
                              ('std_msgs/msg/Float64', convert.float64(DIALECT, 1.0))):
            connection = writer.add_connection('/x', kind, typestore=store)
            writer.write(connection, 5, serialize(message, kind))
    with pytest.raises(BagError, match='messages of two types'):
        BagReader(tmp_path / 'bag')


def test_messages_of_the_package_itself_are_recorded_with_their_definitions(tmp_path):
    from legged_dynamics.ros.conversions.markers import REACTIONS
    from legged_dynamics.ros.middleware.messages import message_class
    message = message_class(REACTIONS)()
    message.net_wrench.force.z = 511.0
    with BagWriter(tmp_path / 'bag') as bag:
        bag.add_topic('/reactions', REACTIONS)
        bag.write_message('/reactions', 1, message)
    with BagReader(tmp_path / 'bag') as bag:
        assert bag.topics['/reactions'].type == REACTIONS
        assert bag.first('/reactions').net_wrench.force.z == 511.0


@pytest.mark.parametrize('compression', ['zstd', 'lz4'])
def test_a_chunk_that_understates_its_unpacked_size_does_not_fill_the_memory(tmp_path,
                                                                             compression):
    content = bytes(200_000_000)
    packed = (zstandard.compress(content) if compression == 'zstd'
              else lz4.frame.compress(content))
    name = compression.encode()
    chunk = struct.pack('<QQQII', 1, 2, 1000, 0, len(name)) + name
    chunk += struct.pack('<Q', len(packed)) + packed
    path = tmp_path / 'lies.mcap'
    with path.open('wb') as file:
        file.write(MCAP0_MAGIC)
        for opcode, record in ((1, struct.pack('<II', 0, 0)), (6, chunk)):
            file.write(struct.pack('<BQ', opcode, len(record)) + record)
    del content
    tracemalloc.start()
    try:
        with pytest.raises(BagError, match='unpacks to more than the 1,000 bytes that it states'):
            BagReader(path)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
