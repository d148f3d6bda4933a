# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Messages to and from the bytes of the wire: CDR, as every ROS 2 middleware sends it."""
from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.ros.middleware.messages import (
    NUMERIC,
    PRIMITIVES,
    Definition,
    Field,
    definition,
    message_class,
)

# -------------------------------------------------------------------------------------------------
# Compiles a message definition into the Python functions that write and read its CDR bytes.
#
# For each message a pair of functions is written out from its definition, compiled once, and kept:
# runs of numbers go through one ``struct`` call, so a wrench costs about 2 us where a general
# serialiser that walks the type costs about 20. Alignment (CDR: every number at a multiple of its
# own size, counted from behind the 4-byte header) depends on the lengths of the strings before, so
# each run is compiled for the eight offsets it can start at.


HEADER = b'\x00\x01\x00\x00'     # plain CDR, little endian, no options
_PADS = tuple(b'\0' * n for n in range(8))
_CACHED_NAME_LISTS = 64


@cache
def _writer(name: str) -> Callable[[Any, list, int], int]:
    """Return ``write(message, parts, offset) -> offset``, which appends bytes to ``parts``."""
    return _compile_writer(definition(name))


@cache
def _field_writer(entry: Field) -> Callable[[Any, list, int], int]:
    """Return the writer of a message that has just this field."""
    return _compile_writer(Definition(entry.name, (entry,), {}))


def _compile_writer(message: Definition) -> Callable[[Any, list, int], int]:
    code = _Code({'_array': _as_array, '_names': _pack_names, '_pads': _PADS})
    code.line('def function(m, parts, n):')
    code.indent = '    '
    _write_fields(code, message, 'm')
    code.flush(True)
    code.line('return n')
    return code.compile(f'writer of {message.name}')


@cache
def _reader(name: str) -> Callable[[bytes, int], tuple[Any, int]]:
    """Return ``read(body, offset) -> (message, offset)``."""
    return _compile_reader(definition(name), message_class(name))


@cache
def item_readers(name: str) -> tuple[Callable[[bytes, int], tuple[Any, int]], ...]:
    """Return readers of what is before a message's last list, its length last, and of items."""
    *before, items = definition(name).fields
    head = Definition(name, (*before, Field('count', 'uint32', None)), {})
    return _compile_reader(head, lambda *values: values), _reader(items.type)


def _compile_reader(message: Definition,
                    make: Callable[..., Any]) -> Callable[[bytes, int], tuple[Any, int]]:
    code = _Code({'_numbers': _read_numbers})
    code.line('def function(d, n):')
    code.indent = '    '
    expression = _read_fields(code, message, make)
    code.flush(False)
    code.line(f'return {expression}, n')
    return code.compile(f'reader of {message.name}')


@dataclass
class _Code:
    """Source text being written, and the run of fixed-size numbers not yet flushed into it."""

    names: dict[str, Any]
    lines: list[str] = field(default_factory=list)
    indent: str = ''
    run: list[tuple[str, int, str]] = field(default_factory=list)
    count: int = 0

    def line(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f'{stem}{self.count}'

    def name(self, value: Any, stem: str) -> str:
        name = self.fresh(stem)
        self.names[name] = value
        return name

    def number(self, code: str, expression: str, length: int = 1) -> None:
        self.run.append((code, length, expression))

    def flush(self, writes: bool) -> None:
        if not self.run:
            return
        structs = _run_structs(self.run)
        sizes = self.name(tuple(entry.size for entry in structs), 'size')
        work = self.name(tuple(entry.pack if writes else entry.unpack_from for entry in structs),
                         'struct')
        if writes:
            values = ', '.join(('*' if length > 1 else '') + expression
                               for _, length, expression in self.run)
            self.line(f'parts.append({work}[n & 7]({values}))')
        else:
            targets = [target for _, length, expression in self.run for target in (
                [expression] if length == 1 else [f'{expression}_{i}' for i in range(length)])]
            self.line(f'{", ".join(targets)}, = {work}[n & 7](d, n)')
        self.line(f'n += {sizes}[n & 7]')
        self.run.clear()

    def compile(self, title: str) -> Any:
        exec(compile('\n'.join(self.lines), f'<{title}>', 'exec'), self.names)
        return self.names['function']


def _run_structs(run: Sequence[tuple[str, int, str]]) -> list[struct.Struct]:
    made = []
    for start in range(8):
        text, offset = '<', start
        for code, length, _ in run:
            size = struct.calcsize('<' + code)
            pad = -offset % size
            text += f'{pad}x{length}{code}'
            offset += pad + size * length
        made.append(struct.Struct(text))
    return made


def _write_fields(code: _Code, message: Definition, owner: str) -> None:
    for entry in message.fields:
        value = f'{owner}.{entry.name}'
        if entry.size is None and entry.is_message:
            local = code.fresh('m')
            code.line(f'{local} = {value}')
            _write_fields(code, definition(entry.type), local)
        elif entry.size is None and entry.type == 'string':
            text = code.fresh('s')
            code.line(f'{text} = {value}.encode()')
            code.number('I', f'len({text}) + 1')
            code.flush(True)
            code.line(f'parts.append({text}); parts.append(_pads[1]); n += len({text}) + 1')
        elif entry.size is None:
            code.number(PRIMITIVES[entry.type][0], value)
        elif entry.size > 0 and entry.is_message:
            _write_messages(code, entry, value)
        elif entry.size > 0:
            code.number(PRIMITIVES[entry.type][0], value, entry.size)
        else:
            _write_sequence(code, entry, value)


def _write_messages(code: _Code, entry: Field, value: str) -> None:
    code.flush(True)
    items, write = code.fresh('q'), code.name(_writer(entry.type), 'write')
    code.line(f'{items} = {value}')
    code.line(f'if len({items}) != {entry.size}: raise ValueError(len({items}))')
    code.line(f'for item in {items}: n = {write}(item, parts, n)')


def _write_sequence(code: _Code, entry: Field, value: str) -> None:
    items = code.fresh('q')
    number = PRIMITIVES[entry.type][0] if entry.type in NUMERIC else None
    code.line(f'{items} = _array({value}, {number!r})' if number else f'{items} = {value}')
    code.number('I', f'len({items})')
    code.flush(True)
    if number:
        size = struct.calcsize('<' + number)
        code.line(f'if len({items}):')
        code.line(f'    parts.append(_pads[-n & {size - 1}]); parts.append({items}.tobytes())')
        code.line(f'    n += (-n & {size - 1}) + {size} * len({items})')
    elif entry.type == 'bool':
        code.line(f'parts.append(bytes(map(bool, {items}))); n += len({items})')
    elif entry.type == 'string':
        code.line(f'parts.append(_names({items})); n += len(parts[-1])')
    else:
        write = code.name(_writer(entry.type), 'write')
        code.line(f'for item in {items}: n = {write}(item, parts, n)')


def _read_fields(code: _Code, message: Definition, make: Callable[..., Any]) -> str:
    """Write the reads of a message's fields; return the expression that makes the message."""
    arguments = []
    for entry in message.fields:
        local = code.fresh('v')
        if entry.size is None and entry.is_message:
            local = _read_fields(code, definition(entry.type), message_class(entry.type))
        elif entry.size is None and entry.type == 'string':
            length = code.fresh('k')
            code.number('I', length)
            code.flush(False)
            code.line(f"{local} = d[n:n + {length} - 1].decode() if {length} else ''")
            code.line(f'n += {length}')
        elif entry.size is None:
            code.number(PRIMITIVES[entry.type][0], local)
        elif entry.size > 0 and entry.is_message:
            code.flush(False)
            _read_messages(code, entry, local, str(entry.size))
        elif entry.size > 0:
            number = PRIMITIVES[entry.type][0]
            code.number(number, local, entry.size)
            items = f'({", ".join(f"{local}_{i}" for i in range(entry.size))},)'
            local = (f'{code.name(array, "array")}({number!r}, {items})' if entry.type in NUMERIC
                     else f'list({items})')
        else:
            _read_sequence(code, entry, local)
        arguments.append(local)
    return f'{code.name(make, "make")}({", ".join(arguments)})'


def _read_sequence(code: _Code, entry: Field, local: str) -> None:
    length = code.fresh('k')
    code.number('I', length)
    code.flush(False)
    if entry.type in NUMERIC:
        code.line(f'{local}, n = _numbers(d, n, {length}, {PRIMITIVES[entry.type][0]!r})')
    elif entry.type == 'bool':
        code.line(f'{local} = list(map(bool, d[n:n + {length}])); n += {length}')
    elif entry.type == 'string':
        code.line(f'{local}, n = {code.name(_NameReader(), "names")}(d, n, {length})')
    else:
        _read_messages(code, entry, local, length)


def _read_messages(code: _Code, entry: Field, local: str, count: str) -> None:
    read = code.name(_reader(entry.type), 'read')
    code.line(f'{local} = []')
    code.line(f'for _ in range({count}):')
    code.line(f'    item, n = {read}(d, n)')
    code.line(f'    {local}.append(item)')


def _as_array(values: Any, code: str) -> array:
    if type(values) is array and values.typecode == code:
        return values
    if isinstance(values, np.ndarray):
        return array(code, np.ascontiguousarray(values, dtype=code).tobytes())
    if isinstance(values, str):
        raise TypeError(f'expected numbers, got {values!r}')
    return array(code, values)


def _read_numbers(d: bytes, n: int, length: int, code: str) -> tuple[array, int]:
    if not length:
        return array(code), n
    size = struct.calcsize('<' + code)
    n += -n & (size - 1)
    end = n + size * length
    return array(code, d[n:end]), end


def _pack_names(names: Sequence[str]) -> bytes:
    """Return a list of strings as bytes, cached, at an offset that is a multiple of 4."""
    key = tuple(names)
    packed = _packed_names.get(key)
    if packed is None:
        parts, n = [], 0
        for text in names:
            data = text.encode()
            parts.append(_PADS[-n & 3] + struct.pack('<I', len(data) + 1) + data + b'\0')
            n += len(parts[-1])
        packed = b''.join(parts)
        if len(_packed_names) >= _CACHED_NAME_LISTS:
            _packed_names.clear()
        _packed_names[key] = packed
    return packed


_packed_names: dict[tuple, bytes] = {}


class _NameReader:
    """Reads a list of strings; the same bytes as the last time give the same list, unparsed."""

    def __init__(self) -> None:
        self._length = struct.Struct('<I')
        self._block, self._names = b'', ['']

    def __call__(self, d: bytes, n: int, count: int) -> tuple[list[str], int]:
        if self._block and count == len(self._names) and d.startswith(self._block, n):
            return list(self._names), n + len(self._block)
        start, names = n, []
        for _ in range(count):
            n += -n & 3
            length, = self._length.unpack_from(d, n)
            names.append(d[n + 4:n + 3 + length].decode() if length else '')
            n += 4 + length
        if n > len(d):
            raise ValueError('the list of names is cut off')
        self._block, self._names = d[start:n], names
        return list(names), n


# -------------------------------------------------------------------------------------------------

_FAULTS = (struct.error, TypeError, ValueError, AttributeError, OverflowError)


def serialize(message: Any, name: str | None = None) -> bytes:
    """
    Return a message as CDR with its header, little endian.

    ``name`` is needed for objects that are not of our classes. Raises MiddlewareError,
    naming the field, for a missing or unfit value.
    """
    name = name or type(message).ros_type
    try:
        parts = [HEADER]
        _writer(name)(message, parts, 0)
        return b''.join(parts)
    except _FAULTS as error:
        fault = _find_fault(message, name, '') or str(error)
        raise MiddlewareError(f'cannot serialise a {name}: {fault}') from error


def deserialize(cdr: bytes, name: str) -> Any:
    """Return the message in CDR bytes that begin with the encapsulation header."""
    if len(cdr) < 4 or bytes(cdr[:2]) != HEADER[:2]:
        raise MiddlewareError(f'cannot read a {name}: expected plain CDR (header 00 01), '
                              f'got {bytes(cdr[:4]).hex(" ") or "no bytes"}')
    body = bytes(cdr[4:])
    try:
        message, end = _reader(name)(body, 0)
    except (struct.error, ValueError) as error:
        raise MiddlewareError(f'cannot read a {name} from {len(cdr)} bytes: {error}') from error
    if end > len(body):
        raise MiddlewareError(f'cannot read a {name}: expected {end + 4} bytes, got {len(cdr)}')
    return message


class PreparedMessage:
    """
    CDR bytes of a message whose strings and lengths stay; a call writes its numbers in place.

    ``message`` is of our own classes. In a tenth of the time of building and serialising.
    """

    def __init__(self, message: Any):
        self._bytes = bytearray(serialize(message))
        self._stamped = hasattr(message, 'header')
        self._runs = []
        for run in _runs_of_numbers(message):
            text, end = '<', run[0][1]
            for code, at in run:
                text, end = f'{text}{at - end}x{code}', at + struct.calcsize('<' + code)
            self._runs.append((struct.Struct(text).pack_into, len(HEADER) + run[0][1], len(run)))

    def __call__(self, ns: int, numbers: Sequence[float]) -> bytes:
        """Return the bytes with a stamp [ns], where there is a header, and all other numbers."""
        values = (*divmod(ns, 1_000_000_000), *numbers) if self._stamped else numbers
        first, buffer = 0, self._bytes
        for pack, at, count in self._runs:
            pack(buffer, at, *values[first:first + count])
            first += count
        return bytes(buffer)


def _runs_of_numbers(message: Any) -> list[list[tuple[str, int]]]:
    """Return struct code and place of a message's numbers; strings and counts part the runs."""
    runs: list[list[tuple[str, int]]] = [[]]

    def walk(owner: Any, name: str, n: int) -> int:
        for entry in definition(name).fields:
            value = getattr(owner, entry.name)
            if entry.size == 0:
                n += -n % 4 + 4
                runs.append([])
            for item in [value] if entry.size is None else value:
                if entry.is_message:
                    n = walk(item, entry.type, n)
                elif entry.type == 'string':
                    n += -n % 4 + 5 + len(item.encode())
                    runs.append([])
                else:
                    code = PRIMITIVES[entry.type][0]
                    n += -n % struct.calcsize('<' + code)
                    runs[-1].append((code, n))
                    n += struct.calcsize('<' + code)
        return n
    walk(message, type(message).ros_type, 0)
    return [run for run in runs if run]


def _find_fault(message: Any, name: str, path: str) -> str:
    """Say which field of a message cannot be written, or return ''."""
    for entry in definition(name).fields:
        here = f'{path}{entry.name}'
        if not hasattr(message, entry.name):
            return f'{type(message).__name__} has no field {here}'
        value = getattr(message, entry.name)
        expected = (f'a {entry.type}' if entry.size is None else f'a list of {entry.type}'
                    if not entry.size or entry.is_message else
                    f'{entry.size} values of type {entry.type}')
        unfit = f'{here} = {value!r} is not {expected}'
        if entry.is_message:
            if entry.size is not None and not isinstance(value, Iterable):
                return unfit
            items = {'.': value} if entry.size is None else {
                f'[{index}].': item for index, item in enumerate(value)}
            fault = next(filter(None, (_find_fault(item, entry.type, here + place)
                                       for place, item in items.items())), '')
        else:
            try:
                _field_writer(entry)(message, [], 0)
                fault = ''
            except _FAULTS:
                fault = unfit
        if fault:
            return fault
    return ''
