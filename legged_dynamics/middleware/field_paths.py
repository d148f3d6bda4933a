# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Values in messages by their place: ``header.stamp``, ``motor_state[3].q``, ``effort[LF_HAA]``.

A name between brackets stands for the position of that name in the list ``name`` of the same
message, as in sensor_msgs/JointState. Messages may be ours, rclpy's or rosbags'.
"""
from __future__ import annotations

import re
from array import array
from importlib import import_module
from typing import Any

import numpy as np

from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.middleware.messages import definition, message_class

_STEP = re.compile(r'(?P<dot>\.?)(?P<field>[A-Za-z]\w*)|\[(?P<item>[^\[\]]+)\]')
_LONGEST = 1000     # items that writing may append to a sequence


class FieldPath:
    """
    A place in a message.

    Parameters
    ----------
    text : str
        Such as 'effort[LF_FOOT/contact]'.

    Raises
    ------
    MiddlewareError
        When the text is not a place.

    """

    def __init__(self, text: str):
        self.text = text
        self._steps: list[str | int | tuple[str]] = []
        end = 0
        while end < len(text):
            step = _STEP.match(text, end)
            if step is None or bool(step['dot']) != bool(step['field'] and self._steps):
                raise MiddlewareError(f'expected a place in a message, such as header.stamp or '
                                      f'effort[LF_HAA], got {text!r}')
            item = step['item']
            self._steps.append(step['field'] if item is None else
                               int(item) if item.isdecimal() else (item,))
            end = step.end()
        if not self._steps or not isinstance(self._steps[0], str):
            raise MiddlewareError(f'expected a place in a message, got {text!r}')
        self._found: dict[str, int] = {}

    def read(self, message: Any) -> Any:
        """
        Return what stands there.

        Raises
        ------
        MiddlewareError
            When the message has no such place.

        """
        owner = value = message
        try:
            for step in self._steps:
                if isinstance(step, str):
                    owner, value = value, getattr(value, step)
                else:
                    value = value[self._position(step, owner)]
        except (AttributeError, IndexError, TypeError) as error:
            raise MiddlewareError(f'{self.text}: {error}') from error
        return value

    def write(self, message: Any, value: Any) -> None:
        """
        Put a value there, in the type that the place has; sequences grow as far as needed.

        Raises
        ------
        MiddlewareError
            When the message has no such place, or the value does not fit.

        """
        try:
            owner, field, here = message, '', message
            for step, last in zip(self._steps, [*[False] * (len(self._steps) - 1), True]):
                if isinstance(step, str):
                    owner, field = here, step
                    here = getattr(owner, field)
                    if last:
                        setattr(owner, field, _fitted(here, value))
                else:
                    position = self._position(step, owner)
                    _grow(owner, field, here, position + 1)
                    if last:
                        here[position] = _fitted(here[position], value)
                    here = here[position]
        except (AttributeError, IndexError, TypeError, ValueError, OverflowError,
                AssertionError) as error:
            raise MiddlewareError(f'{self.text}: {error}') from error

    def _position(self, step: int | tuple[str], owner: Any) -> int:
        if isinstance(step, int):
            return step
        name, = step
        known = self._found.get(name, -1)
        if not 0 <= known < len(owner.name) or owner.name[known] != name:
            if name not in owner.name:
                raise MiddlewareError(f'{name} is not among the names of the message')
            known = self._found[name] = list(owner.name).index(name)
        return known


def _fitted(current: Any, value: Any) -> Any:
    """Return a value in the type of what it replaces."""
    if isinstance(current, bool):
        return bool(value > 0.5)
    if isinstance(current, (int, np.integer)):
        return round(value)
    if isinstance(current, (float, np.floating)):
        return float(value)
    if isinstance(current, array):
        return array(current.typecode, value)
    if isinstance(current, np.ndarray):
        return np.asarray(value, dtype=current.dtype)
    if isinstance(current, list):
        return list(value)
    if isinstance(current, (str, bytes)):
        if type(value) is not type(current):
            raise TypeError(f'expected text, got {value!r}')
        return value
    if type(current) is not type(value):
        for name in _fields(current):
            FieldPath(name).write(current, getattr(value, name))
        return current
    return value


def _fields(message: Any) -> list[str]:
    theirs = getattr(message, 'get_fields_and_field_types', None)
    return list(theirs() if theirs else [entry.name for entry in
                                         definition(type(message).ros_type).fields])


def _grow(owner: Any, field: str, sequence: Any, length: int) -> None:
    """Append blank items to a sequence until it has a length."""
    if length <= len(sequence) or not hasattr(sequence, 'append'):
        return
    if length > _LONGEST:
        raise IndexError(f'expected at most {_LONGEST} items, got [{length - 1}]')
    make = (lambda: 0) if isinstance(sequence, array) else _item_class(owner, field)
    while len(sequence) < length:
        sequence.append(make())


def _item_class(owner: Any, field: str) -> Any:
    """Return what makes a blank item of a message's list."""
    theirs = getattr(owner, 'get_fields_and_field_types', None)
    if theirs is None:
        kind = next(entry.type for entry in definition(type(owner).ros_type).fields
                    if entry.name == field)
    else:
        kind = re.sub(r'^sequence<(.*?)(, \d+)?>$|^(.*)\[\d*\]$', r'\1\3', theirs()[field])
    if kind in ('string', 'bool', 'boolean'):
        return str if kind == 'string' else bool
    if theirs is None:
        return message_class(kind)
    package, _, name = kind.partition('/')
    return getattr(import_module(f'{package}.msg'), name)
