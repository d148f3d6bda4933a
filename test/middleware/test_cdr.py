# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Messages on the wire, against two independent implementations: rosbags and cyclonedds."""
import random
from array import array

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.ros.middleware.cdr import PreparedMessage, deserialize, serialize
from legged_dynamics.ros.middleware.messages import (
    DEFINITIONS,
    NUMERIC,
    PRIMITIVES,
    TYPE_HASHES,
    definition,
    message_class,
)

STORE = get_typestore(Stores.ROS2_JAZZY)
for _name in sorted(set(DEFINITIONS) - set(STORE.fielddefs)):      # messages of this package
    STORE.register(get_types_from_msg(DEFINITIONS[_name], _name))
JOINT_STATE = 'sensor_msgs/msg/JointState'


def random_value(entry, rng):
    if entry.is_message:
        return random_message(entry.type, rng)
    if entry.type == 'string':
        return rng.choice(['', 'é', 'base_link', 'ü' * rng.randrange(7)])
    if entry.type == 'bool':
        return rng.random() < 0.5
    if entry.type == 'byte':
        return bytes([rng.randrange(256)])
    if entry.type in ('float32', 'float64'):
        return float(np.float32(rng.choice([0.0, -1e30, rng.gauss(0.0, 1.0), float('inf')])))
    return rng.randrange(100)


def random_message(name, rng):
    message = message_class(name)()
    for entry in definition(name).fields:
        if entry.size is None:
            value = random_value(entry, rng)
        else:
            count = entry.size or rng.randrange(4)
            value = [random_value(entry, rng) for _ in range(count)]
            if entry.type in NUMERIC:
                value = array(PRIMITIVES[entry.type][0], value)
        setattr(message, entry.name, value)
    return message


@pytest.mark.parametrize('name', DEFINITIONS)
def test_bytes_are_those_of_rosbags(name):
    rng = random.Random(name)
    for _ in range(25):
        message = random_message(name, rng)
        cdr = serialize(message)
        theirs = STORE.deserialize_cdr(cdr, name)
        assert bytes(STORE.serialize_cdr(theirs, name)) == cdr
        assert deserialize(cdr, name) == message


# rosbags has numbers where ROS 2 has bytes
@pytest.mark.parametrize('name', [name for name in DEFINITIONS if 'Diagnostic' not in name])
def test_a_rosbags_message_can_be_published_as_it_is(name):
    cdr = serialize(random_message(name, random.Random(7)))
    assert serialize(STORE.deserialize_cdr(cdr, name), name) == cdr


@pytest.mark.parametrize('name', DEFINITIONS)
def test_type_hash_and_constants_are_those_of_jazzy(name):
    assert TYPE_HASHES[name] == STORE.hash_rihs01(name)
    theirs = STORE.types[name]
    for key, value in definition(name).constants.items():
        number = value[0] if isinstance(value, bytes) else value
        assert getattr(theirs, key) == number
        assert getattr(message_class(name), key) == value


@pytest.mark.parametrize('name', ['geometry_msgs/msg/WrenchStamped', JOINT_STATE,
                                  'sensor_msgs/msg/Imu', 'visualization_msgs/msg/MarkerArray',
                                  'nav_msgs/msg/Odometry', 'std_msgs/msg/Float64MultiArray'])
def test_bytes_are_those_of_cyclonedds(name):
    idl = pytest.importorskip('legged_dynamics.ros.middleware.cyclone')
    rng = random.Random(name)
    for _ in range(10):
        message = random_message(name, rng)
        assert idl.idl_struct(name).__idl__.serialize(message) == serialize(message)


@pytest.mark.parametrize('values', [
    [1.0, 2.0, -3.0], (1, 2, -3), np.array([1.0, 2.0, -3.0]), np.array([1, 2, -3]),
    np.array([1.0, 2.0, -3.0], np.float32), np.array([1.0, 9.0, 2.0, 9.0, -3.0])[::2],
    array('d', [1.0, 2.0, -3.0]), array('f', [1.0, 2.0, -3.0]),
])
def test_sequences_take_whatever_holds_numbers(values):
    message = message_class(JOINT_STATE)(position=values)
    assert deserialize(serialize(message), JOINT_STATE).position.tolist() == [1.0, 2.0, -3.0]


def test_lists_of_names_are_not_mixed_up():
    kind = message_class(JOINT_STATE)
    # the remembered bytes of one list must not be taken for another's
    for names in (['a', 'b'], ['a', 'c'], ['a', 'b'], ['ab'], [], ['a', 'b', 'c'], ['', '']):
        for frame in ('', 'x', 'xy', 'xyz', 'wxyz'):
            message = kind(name=list(names))
            message.header.frame_id = frame
            read = deserialize(serialize(message), JOINT_STATE)
            assert read.name == names
            read.name[:] = ['changed by the reader' for _ in names]


@pytest.mark.parametrize(('field', 'value', 'text'), [
    ('position', 'abc', "position = 'abc' is not a list of float64"),
    ('position', None, 'position = None is not a list of float64'),
    ('name', [1], 'name = [1] is not a list of string'),
    ('header', None, 'NoneType has no field header.stamp'),
])
def test_a_wrong_value_is_named(field, value, text):
    message = message_class(JOINT_STATE)()
    setattr(message, field, value)
    with pytest.raises(MiddlewareError) as caught:
        serialize(message)
    assert text in str(caught.value)


def test_a_wrong_value_deep_inside_is_named():
    array_kind, marker = (message_class(f'visualization_msgs/msg/{kind}')
                          for kind in ('MarkerArray', 'Marker'))
    bad = marker()
    bad.pose.position.y = 'high'
    with pytest.raises(MiddlewareError, match=r"markers\[1\]\.pose\.position\.y = 'high'"):
        serialize(array_kind(markers=[marker(), bad]))
    with pytest.raises(MiddlewareError, match='orientation_covariance .* is not 9 values'):
        serialize(message_class('sensor_msgs/msg/Imu')(orientation_covariance=[1.0]))
    bad.pose.position.y, bad.id = 0.0, 2**40
    with pytest.raises(MiddlewareError, match='id = 1099511627776 is not a int32'):
        serialize(bad)


@pytest.mark.parametrize('name', [JOINT_STATE, 'sensor_msgs/msg/Imu',
                                  'visualization_msgs/msg/MarkerArray'])
def test_cut_off_bytes_are_refused(name):
    rng = random.Random(3)
    cdr = b''
    while len(cdr) < 100:
        cdr = serialize(random_message(name, rng))
    for length in range(len(cdr)):
        with pytest.raises(MiddlewareError, match='cannot read a'):
            deserialize(cdr[:length], name)


def test_other_encodings_are_refused_and_not_misread():
    cdr = serialize(message_class('std_msgs/msg/Bool')(data=True))
    for begin in (b'\x00\x07', b'\x00\x00'):      # CDR 2, big endian
        with pytest.raises(MiddlewareError, match='expected plain CDR'):
            deserialize(begin + cdr[2:], 'std_msgs/msg/Bool')


def test_unknown_message_and_unknown_field():
    with pytest.raises(MiddlewareError, match='Did you mean sensor_msgs/msg/JointState'):
        message_class('sensor_msgs/msg/JointStates')
    with pytest.raises(AttributeError):
        message_class('std_msgs/msg/Bool')().date = True
    assert message_class('sensor_msgs/Imu') is message_class('sensor_msgs/msg/Imu')


def test_defaults_are_fresh_for_each_message():
    first, second = message_class(JOINT_STATE)(), message_class(JOINT_STATE)()
    first.position.append(1.0)
    first.header.frame_id = 'base'
    assert len(second.position) == 0
    assert second.header.frame_id == ''
    assert message_class('geometry_msgs/msg/Pose')().orientation.w == 1.0


def with_numbers(message, numbers):
    """Fill all numbers of a message, in order, from an iterator."""
    for entry in definition(type(message).ros_type).fields:
        value = getattr(message, entry.name)
        if entry.is_message:
            for item in [value] if entry.size is None else value:
                with_numbers(item, numbers)
        elif entry.size is not None and entry.type != 'string':
            setattr(message, entry.name, [next(numbers) for _ in value])
        elif entry.type != 'string':
            setattr(message, entry.name, next(numbers))
    return message


@pytest.mark.parametrize('name', ['geometry_msgs/msg/WrenchStamped', JOINT_STATE,
                                  'sensor_msgs/msg/Imu', 'nav_msgs/msg/Odometry',
                                  'std_msgs/msg/Float64MultiArray', 'std_msgs/msg/Float64',
                                  'legged_dynamics_msgs/msg/FootReactions',
                                  'legged_dynamics_msgs/msg/FootContacts'])
def test_numbers_written_into_prepared_bytes_are_those_of_the_message(name):
    rng = random.Random(name)
    for _ in range(25):         # strings and sequences of other lengths: other places
        message = random_message(name, rng)
        prepared = PreparedMessage(message)
        stamped = hasattr(message, 'header')
        for ns in (0, 1_500_000_007):
            numbers = [rng.randrange(2) for _ in range(500)]
            whole = [*divmod(ns, 10**9), *numbers] if stamped else numbers
            used = iter(whole)
            expected = serialize(with_numbers(message, used))
            count = len(whole) - len(list(used))
            assert prepared(ns, whole[2 * stamped:count]) == expected
