# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Cyclone DDS's view of our messages: IDL types made from the table when first asked for.

Cyclone needs a type to announce (its mangled ROS name and its fields) and something to put bytes
in. Its own Python serialiser is slow, so the class on the wire is an :class:`Envelope`: it looks
like the message to Cyclone's type system and carries bytes that are CDR already.
"""
# no `from __future__ import annotations` here: Cyclone reads annotations as objects
from functools import cache
from typing import Any

from cyclonedds.idl import IdlStruct, make_idl_struct, types

from legged_dynamics.middleware.definitions import DEFINITIONS
from legged_dynamics.middleware.messages import Field, definition, full_name
from legged_dynamics.middleware.names import dds_type

_PRIMITIVES = {
    'bool': bool, 'byte': types.byte, 'string': str, 'int8': types.int8, 'uint8': types.uint8,
    'int16': types.int16, 'uint16': types.uint16, 'int32': types.int32, 'uint32': types.uint32,
    'int64': types.int64, 'uint64': types.uint64, 'float32': types.float32,
    'float64': types.float64,
}


@cache
def idl_struct(name: str) -> type[IdlStruct]:
    """Return the IDL dataclass of a message in the table."""
    return make_idl_struct(name.rsplit('/', 1)[1], dds_type(name).replace('::', '.'),
                           {entry.name: _idl_type(entry) for entry in definition(name).fields})


@cache
def envelope(name: str) -> type[IdlStruct]:
    """
    Return the class that carries a message's bytes.

    An instance made from the bytes has them as its ``cdr``: ``envelope(name)(cdr).cdr``.
    A message that is not in the table gets an opaque type of the right name: enough to record it.
    """
    name = full_name(name)
    fields: dict[str, Any] = {'opaque': types.uint8}
    if name in DEFINITIONS:
        fields = {entry.name: _idl_type(entry) for entry in definition(name).fields}
    made = make_idl_struct(name.rsplit('/', 1)[1], dds_type(name).replace('::', '.'), fields,
                           dataclassify=False)
    for method in (_init, _serialize):
        setattr(made, {'_init': '__init__', '_serialize': 'serialize'}[method.__name__], method)
    made.deserialize = classmethod(_deserialize)  # type: ignore[assignment]
    made.deserialize_key = classmethod(_deserialize)  # type: ignore[assignment]
    return made


def _init(self: Any, cdr: bytes) -> None:
    self.cdr = cdr


def _serialize(self: Any, *_: Any, **__: Any) -> bytes:
    return self.cdr


def _deserialize(cls: Any, data: bytes, *_: Any, **__: Any) -> Any:
    return cls(data)


def _idl_type(entry: Field) -> Any:
    element: Any = idl_struct(entry.type) if entry.is_message else _PRIMITIVES[entry.type]
    make: Any = types
    if entry.size is None:
        return element
    return make.array[element, entry.size] if entry.size else make.sequence[element]
