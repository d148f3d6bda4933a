# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The hash by which ROS 2 nodes recognise each other's message definitions (RIHS01, REP-2016)."""
from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from typing import Any

from legged_dynamics.middleware.messages import Definition, Field, definition

# type_description_interfaces/msg/FieldType
_TYPE_IDS = {'message': 1, 'int8': 2, 'uint8': 3, 'int16': 4, 'uint16': 5, 'int32': 6, 'uint32': 7,
             'int64': 8, 'uint64': 9, 'float32': 10, 'float64': 11, 'bool': 15, 'byte': 16,
             'string': 17}
_ARRAY, _SEQUENCE = 48, 144


@cache
def type_hash(name: str) -> str:
    """Return 'RIHS01_' and the SHA-256 of a message's type description."""
    message = definition(name)
    referenced = {entry.type: definition(entry.type) for entry in _nested(message)}
    description = {
        'type_description': _describe(message),
        'referenced_type_descriptions': [_describe(referenced[key]) for key in sorted(referenced)],
    }
    return 'RIHS01_' + sha256(json.dumps(description).encode()).hexdigest()


def _nested(message: Definition) -> list[Field]:
    direct = [entry for entry in message.fields if entry.is_message]
    return direct + [inner for entry in direct for inner in _nested(definition(entry.type))]


def _describe(message: Definition) -> dict[str, Any]:
    return {'type_name': message.name,
            'fields': [{'name': entry.name, 'type': _describe_type(entry)}
                       for entry in message.fields]}


def _describe_type(entry: Field) -> dict[str, Any]:
    shift = 0 if entry.size is None else _ARRAY if entry.size else _SEQUENCE
    return {'type_id': _TYPE_IDS['message' if entry.is_message else entry.type] + shift,
            'capacity': entry.size or 0, 'string_capacity': 0,
            'nested_type_name': entry.type if entry.is_message else ''}
