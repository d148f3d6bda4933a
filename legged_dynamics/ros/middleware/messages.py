# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Message classes made from the table of definitions: plain dataclasses, field for field as ROS.

They need no ROS and no DDS. Numeric sequences and arrays default to ``array.array`` (as rclpy's
sequences are) and may be assigned any list, tuple or numpy array; it is converted when published.
"""
from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from typing import Any

from legged_dynamics.exceptions import MiddlewareError

# Message definitions as in Jazzy's .msg files, by full name; `define` adds others.
DEFINITIONS: dict[str, str] = {}
# Hash by which ROS 2 nodes recognise each other's definitions (RIHS01, REP-2016), of those in
# `definitions.msg`.
TYPE_HASHES: dict[str, str] = {}
# ROS primitive -> (struct code, default); the numeric codes are also those of array.array.
PRIMITIVES: dict[str, tuple[str, Any]] = {
    'bool': ('?', False), 'byte': ('c', b'\x00'),
    'int8': ('b', 0), 'uint8': ('B', 0), 'int16': ('h', 0), 'uint16': ('H', 0),
    'int32': ('i', 0), 'uint32': ('I', 0), 'int64': ('q', 0), 'uint64': ('Q', 0),
    'float32': ('f', 0.0), 'float64': ('d', 0.0),
}
NUMERIC = frozenset(PRIMITIVES) - {'bool', 'byte'}
_FIELD = re.compile(r'(?P<type>[\w/]+)(?P<array>\[(?P<size>\d*)\])?\s+(?P<name>\w+)'
                    r'(?:\s*=\s*(?P<constant>\S+)|\s+(?P<default>\S+))?$')


@dataclass(frozen=True)
class Field:
    """One field of a message."""

    name: str  # Name as in the .msg file
    type: str  # A primitive, 'string', or a full name such as 'std_msgs/msg/Header'
    size: int | None  # None for a single value, 0 for a sequence, n for an array of n
    default: str | None = None  # Default value's text

    @property
    def is_message(self) -> bool:
        """Whether the field (or its elements) is a message itself."""
        return '/' in self.type


@dataclass(frozen=True)
class Definition:
    """A parsed message definition: its full name, its fields in order, its constants."""

    name: str
    fields: tuple[Field, ...]
    constants: dict[str, Any]


@cache
def definition(name: str) -> Definition:
    """Return a message's parsed definition; raise MiddlewareError if it is unknown."""
    name = full_name(name)
    if name not in DEFINITIONS:
        close = get_close_matches(name, DEFINITIONS, n=1)
        hint = f' Did you mean {close[0]}?' if close else ''
        raise MiddlewareError(f'{name!r} is not in the table of messages.{hint} The messages are: '
                              f'{", ".join(sorted(DEFINITIONS))}.')
    package = name.split('/', 1)[0]
    fields, constants = [], {}
    for line in DEFINITIONS[name].strip().splitlines():
        part = _FIELD.match(line.strip())
        assert part is not None, line
        kind = part['type']
        if part['constant'] is not None:
            constants[part['name']] = _value(kind, part['constant'])
            continue
        if kind not in PRIMITIVES and kind != 'string':
            kind = _full_type(kind, package)
        size = None if part['array'] is None else int(part['size'] or 0)
        fields.append(Field(part['name'], kind, size, part['default']))
    return Definition(name, tuple(fields), constants)


def full_name(name: str) -> str:
    """Return the three-part message name, 'package/msg/Type'."""
    parts = name.split('/')
    return f'{parts[0]}/msg/{parts[1]}' if len(parts) == 2 else name


def _is_field(line: str, package: str) -> bool:
    part = _FIELD.match(line)
    return part is not None and (part['type'] in PRIMITIVES or part['type'] == 'string'
                                 or _full_type(part['type'], package) in DEFINITIONS)


def _full_type(kind: str, package: str) -> str:
    return full_name(kind if '/' in kind else f'{package}/{kind}')


def define(name: str, text: str) -> None:
    """
    Add a message to the table, for the backends without ROS.

    ``text``: a .msg file without comments; lines may be separated by ';'. Raises
    MiddlewareError if unreadable, or if another message has that name.
    """
    name = full_name(name)
    lines = [line.strip() for line in re.split(r'[;\n]', text) if line.strip()]
    wrong = next((line for line in lines if not _is_field(line, name.split('/')[0])), '')
    if wrong or not lines or not re.fullmatch(r'\w+/msg/\w+', name):
        raise MiddlewareError(f'cannot read the definition of {name!r}: expected a name such as '
                              f'my_msgs/msg/Stance and fields such as "bool left_foot", got '
                              f'{wrong or text!r}')
    text = '\n'.join(lines)
    if DEFINITIONS.setdefault(name, text) != text:
        raise MiddlewareError(f'{name} is defined already, and otherwise')


@cache
def message_class(name: str) -> type:
    """Return a message's dataclass, with ``ros_type``, its full name; made on first use."""
    if full_name(name) != name:
        return message_class(full_name(name))
    message = definition(name)
    members = [(entry.name, Any, _initial(entry)) for entry in message.fields]
    made = make_dataclass(name.rsplit('/', 1)[1], members, slots=True,
                          namespace={**message.constants, 'ros_type': name})
    made.__module__ = __name__
    made.__doc__ = f'{name}: {", ".join(entry.name for entry in message.fields)}.'
    return made


def type_name(message_type: type) -> str:
    """Return the ROS name of a class made by :func:`message_class`."""
    name = getattr(message_type, 'ros_type', None)
    if name is None:
        raise MiddlewareError(f'expected a message class such as '
                              f'message_class("std_msgs/msg/Bool"), got {message_type!r}')
    return name


def _value(kind: str, text: str) -> Any:
    if kind == 'byte':
        return bytes([int(text)])
    return float(text) if kind.startswith('float') else int(text)


def _initial(entry: Field) -> Any:
    if entry.size is None:
        if entry.is_message:
            return field(default_factory=message_class(entry.type))
        if entry.default is not None:
            return field(default=_value(entry.type, entry.default))
        return field(default='' if entry.type == 'string' else PRIMITIVES[entry.type][1])
    if entry.type in NUMERIC:
        code = PRIMITIVES[entry.type][0]
        blank = bytes(array(code).itemsize * entry.size)
        return field(default_factory=partial(array, code, blank))
    if entry.size == 0:
        return field(default_factory=list)
    assert entry.is_message or entry.type == 'bool', f'{entry.name}: {entry.type}[n] is not known'
    make = message_class(entry.type) if entry.is_message else bool
    return field(default_factory=partial(_repeated, make, entry.size))


def _repeated(make: Callable[[], Any], size: int) -> list[Any]:
    return [make() for _ in range(size)]


# Those of ROS 2 that the package uses, as in Jazzy, its own and those of others, each below a rule
# and 'MSG: package/Type' with its hash.
for _section in re.split(r'^={80}\nMSG: ', Path(__file__).with_name('definitions.msg').read_text(
        encoding='utf-8'), flags=re.M)[1:]:
    _head, _fields = _section.split('\n', 1)
    define(_head.split()[0], _fields)
    TYPE_HASHES[full_name(_head.split()[0])] = _head.split()[1]
