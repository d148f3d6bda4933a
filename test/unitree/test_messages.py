# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""LowState and LowCmd on the wire and their checksum, against layouts written down by hand."""
import random
import struct

import pytest

from legged_dynamics.ros.middleware.cdr import deserialize, serialize
from legged_dynamics.ros.middleware.messages import definition, message_class
from legged_dynamics.ros.unitree_low_level import checksum

# Of each message: package, the CDR bytes behind the header (every number at a multiple of its own
# size from the beginning; a structure has no alignment of its own), and the C structure that the
# checksum is computed over (a structure begins at a multiple of four).
WIRE = {
    ('unitree_go', 'LowCmd'): '<4B 4I H' + ' B x 5f 3I' + ' B 3x 5f 3I' * 19
    + ' 4B 40B 12B 2B B x 2I',
    ('unitree_hg', 'LowCmd'): '<2B' + ' B x 5f I' + ' B 3x 5f I' * 34 + ' 4I I',
    # 22 bytes, 2 of padding, 13 floats, a temperature at 76, the first motor's mode at 77
    ('unitree_go', 'LowState'): '<4B 4I H 2x 13f B' + ' B 2x 7f B 3x 3I' + ' B 3x 7f B 3x 3I' * 19
    + ' 4B i H 2B 2B 15H 4h 4h I 40B B 3x f 2B 2x 2f 4H 2I',
    ('unitree_hg', 'LowState'): '<2I 2B 2x I 13f h' + ' B x 4f 2h f 2I I 4I'
    + ' B 3x 4f 2h f 2I I 4I' * 34 + ' 40B 4I I',
}
MEMORY = {
    ('unitree_go', 'LowCmd'): '<4B 4I H 2x' + ' B 3x 5f 3I' * 20 + ' 4B 40B 12B 2B B x 2I',
    ('unitree_hg', 'LowCmd'): '<2B 2x' + ' B 3x 5f I' * 35 + ' 5I',
    ('unitree_go', 'LowState'): '<4B 4I H 2x 13f B 3x' + ' B 3x 7f B 3x 3I' * 20
    + ' 4B i H 2B 2B 15H 8h I 40B B 3x f 2B 2x 2f 4H 2I',
    ('unitree_hg', 'LowState'): '<2I 2B 2x I 13f h 2x' + ' B 3x 4f 2h f 2I I 4I' * 35
    + ' 40B 5I',
}
SIZES = {('unitree_go', 'LowCmd'): 812, ('unitree_hg', 'LowCmd'): 1004,
         ('unitree_go', 'LowState'): 1180, ('unitree_hg', 'LowState'): 2092}
RANGES = {'uint8': (0, 255), 'int16': (-2**15, 2**15 - 1), 'uint16': (0, 2**16 - 1),
          'uint32': (0, 2**32 - 1), 'int32': (-2**31, 2**31 - 1)}


def filled(name, draw):
    """Return a message with every field drawn, and its values in the order of the IDL."""
    message, values = message_class(name)(), []
    for field in definition(name).fields:
        if field.is_message:
            made = [filled(field.type, draw) for _ in range(field.size or 1)]
            values += [value for _, inner in made for value in inner]
            setattr(message, field.name, [one for one, _ in made] if field.size else made[0][0])
        else:
            drawn = [draw.randint(-4000, 4000) / 8 if field.type == 'float32' else
                     draw.randint(*RANGES[field.type]) for _ in range(field.size or 1)]
            values += drawn
            setattr(message, field.name, drawn if field.size else drawn[0])
    return message, values


def bitwise_crc(words):
    """Return the CRC with the polynomial 0x04C11DB7, a bit at a time."""
    crc = 0xFFFFFFFF
    for word in words:
        for bit in range(31, -1, -1):
            top = (crc >> 31) ^ (word >> bit & 1)
            crc = (crc << 1) & 0xFFFFFFFF ^ (0x04C11DB7 if top else 0)
    return crc


@pytest.fixture(params=WIRE, ids='/'.join)
def kind(request):
    return request.param


def test_bytes_are_those_of_the_layout_and_back(kind):
    name = '{}/msg/{}'.format(*kind)
    message, values = filled(name, random.Random(4))
    cdr = serialize(message, name)
    assert cdr[:4] == b'\x00\x01\x00\x00'
    assert cdr[4:] == struct.pack(WIRE[kind], *values)
    assert serialize(deserialize(cdr, name), name) == cdr


def test_checksum_is_that_of_the_structure_in_memory(kind):
    message, values = filled('{}/msg/{}'.format(*kind), random.Random(5))
    packed = struct.pack(MEMORY[kind], *values)
    assert len(packed) == SIZES[kind]
    words = struct.unpack(f'<{len(packed) // 4}I', packed)[:-1]
    assert checksum(message, kind[0]) == bitwise_crc(words)
    message.crc ^= 1
    assert checksum(message, kind[0]) == bitwise_crc(words)
