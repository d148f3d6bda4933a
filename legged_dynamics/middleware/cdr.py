# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Messages to and from the bytes of the wire: CDR, as every ROS 2 middleware sends it."""
from __future__ import annotations

import struct
from typing import Any

from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.middleware.cdr_compiler import HEADER, field_writer, reader, writer
from legged_dynamics.middleware.messages import Field, definition

_FAULTS = (struct.error, TypeError, ValueError, AttributeError, OverflowError)


def serialize(message: Any, name: str | None = None) -> bytes:
    """
    Return a message as CDR bytes, encapsulation header first.

    Parameters
    ----------
    message : object
        Any object with the message's fields: ours, rclpy's or rosbags'.
    name : str, optional
        The message's ROS name; needed for objects that are not of our classes.

    Raises
    ------
    MiddlewareError
        When a field is missing or its value does not fit, naming the field.

    """
    name = name or type(message).ros_type
    try:
        parts = [HEADER]
        writer(name)(message, parts, 0)
        return b''.join(parts)
    except (struct.error, TypeError, ValueError, AttributeError, OverflowError) as error:
        fault = _find_fault(message, name, '') or str(error)
        raise MiddlewareError(f'cannot serialise a {name}: {fault}') from error


def deserialize(cdr: bytes, name: str) -> Any:
    """
    Return the message in CDR bytes that begin with their encapsulation header.

    Raises
    ------
    MiddlewareError
        When the bytes are not a message of that name.

    """
    if len(cdr) < 4 or cdr[0] != 0 or cdr[1] > 1:
        raise MiddlewareError(f'cannot read a {name}: expected plain CDR (header 00 00 or 00 01), '
                              f'got {bytes(cdr[:4]).hex(" ") or "no bytes"}')
    body = bytes(cdr[4:])
    try:
        message, end = reader(name, '<' if cdr[1] else '>')(body, 0)
    except (struct.error, ValueError) as error:
        raise MiddlewareError(f'cannot read a {name} from {len(cdr)} bytes: {error}') from error
    if end > len(body):
        raise MiddlewareError(f'cannot read a {name}: expected {end + 4} bytes, got {len(cdr)}')
    return message


def _find_fault(message: Any, name: str, path: str) -> str:
    """Say which field of a message cannot be written, or return ''."""
    for entry in definition(name).fields:
        here = f'{path}{entry.name}'
        if not hasattr(message, entry.name):
            return f'{type(message).__name__} has no field {here}'
        value = getattr(message, entry.name)
        if entry.is_message and entry.size is None:
            fault = _find_fault(value, entry.type, f'{here}.')
        elif entry.is_message:
            fault = _find_fault_in_items(value, entry, here)
        else:
            fault = ('' if _fits(message, entry) else
                     f'{here} = {value!r} is not {_expected(entry)}')
        if fault:
            return fault
    return ''


def _find_fault_in_items(values: Any, entry: Field, here: str) -> str:
    try:
        items = list(values)
    except TypeError:
        return f'{here} = {values!r} is not a list of {entry.type}'
    faults = (_find_fault(item, entry.type, f'{here}[{index}].')
              for index, item in enumerate(items))
    return next(filter(None, faults), '')


def _fits(message: Any, entry: Field) -> bool:
    try:
        field_writer(entry)(message, [], 0)
    except _FAULTS:
        return False
    return True


def _expected(entry: Field) -> str:
    if entry.size is None:
        return f'a {entry.type}'
    return f'{entry.size} values of type {entry.type}' if entry.size else f'a list of {entry.type}'
