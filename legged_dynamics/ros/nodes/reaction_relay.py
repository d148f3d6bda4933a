# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node reaction_relay: republishes estimates as messages of the type that another node reads."""
from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, MiddlewareError
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.messages import define, definition, message_class
from legged_dynamics.ros.middleware.protocol import Component
from legged_dynamics.ros.middleware.runner import run
from legged_dynamics.ros.nodes.diagnostics import InputMonitor, SilenceWatch
from legged_dynamics.ros.nodes.robot_component import RobotComponent
from legged_dynamics.schema import Setting

# -------------------------------------------------------------------------------------------------
# Values in messages by their place: ``header.stamp``, ``motor_state[3].q``, ``effort[LF_HAA]``.
#
# A name between brackets stands for the item of that name: by its own field `foot` or `name`, as
# in legged_dynamics_msgs/FootReactions, or by the list `name`, `feet` or `joint_names` of the same
# message, as in sensor_msgs/JointState. Messages may be ours, rclpy's or rosbags'.


_STEP = re.compile(r'(?P<dot>\.?)(?P<field>[A-Za-z]\w*)|\[(?P<item>[^\[\]]+)\]')
_LONGEST = 1000     # items that writing may append to a sequence


class _FieldPath:
    """A field in a message, given as text such as 'effort[LF_FOOT/contact]'."""

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
        """Return the value at that place."""
        owner = value = message
        try:
            for step in self._steps:
                if isinstance(step, str):
                    owner, value = value, getattr(value, step)
                else:
                    value = value[self._position(step, owner, value)]
        except (AttributeError, IndexError, TypeError) as error:
            raise MiddlewareError(f'{self.text}: {error}') from error
        return value

    def write(self, message: Any, value: Any) -> None:
        """Write a value at that place; sequences grow as far as needed."""
        try:
            owner, field, here = message, '', message
            for step, last in zip(self._steps, [*[False] * (len(self._steps) - 1), True]):
                if isinstance(step, str):
                    owner, field = here, step
                    here = getattr(owner, field)
                    if last:
                        setattr(owner, field, _fitted(here, value))
                else:
                    position = self._position(step, owner, here)
                    _grow(owner, field, here, position + 1)
                    if last:
                        here[position] = _fitted(here[position], value)
                    here = here[position]
        except (AttributeError, IndexError, TypeError, ValueError, OverflowError,
                AssertionError) as error:
            raise MiddlewareError(f'{self.text}: {error}') from error

    def _position(self, step: int | tuple[str], owner: Any, items: Any) -> int:
        if isinstance(step, int):
            return step
        name, = step
        names, known = _names(owner, items), self._found.get(name, -1)
        if not 0 <= known < len(names) or names[known] != name:
            if name not in names:
                raise MiddlewareError(f'{name} is not among the names of the message')
            known = self._found[name] = list(names).index(name)
        return known


def _names(owner: Any, items: Any) -> Sequence[str]:
    """Return the names of a list's items: their own, or those beside it."""
    first = items[0] if len(items) else None
    for field in ('foot', 'name'):
        if hasattr(first, field):
            return [getattr(item, field) for item in items]
    return next((getattr(owner, field) for field in ('name', 'feet', 'joint_names')
                 if hasattr(owner, field)), ())


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
            _FieldPath(name).write(current, getattr(value, name))
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


# -------------------------------------------------------------------------------------------------


REACTIONS = 'foot_reactions'
# What is relayed, and in which fields.
NODE_SETTINGS = (
    Setting(
        'relay.input', f'ground_reaction_estimator/{REACTIONS}', '',
        'Topic that is handed on, message by message.'),
    Setting(
        'relay.input_type', '', '',
        'Type of that topic; empty: legged_dynamics_msgs/msg/FootReactions for a topic of the '
        'name foot_reactions, else sensor_msgs/msg/JointState.'),
    Setting('relay.output', '~/output', '', 'Topic to hand it on to.'),
    Setting('relay.output_type', 'std_msgs/msg/Float64MultiArray', '', 'Type of that topic.'),
    Setting(
        'relay.onto', '', '',
        'Topic of the type of the output: its newest message is sent on with the fields written '
        'into it; empty: fields are written into a blank one.'),
    Setting(
        'relay.fields', [], '',
        'What stands where: "place in the output = place in the input", or a number, \'text\' or '
        'now; a number and * may stand before a place.'),
    Setting('relay.names', [], '', 'What {0}, {1}, ... stand for in the fields: the feet, say.'),
    Setting(
        'relay.definitions', [], '',
        'Messages of packages that are not installed, where there is no ROS 2: '
        '"my_msgs/msg/Stance: std_msgs/Header header; bool left".'),
)
INPUT_TIMEOUT_NS = 500_000_000
_NUMBER = r'[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?'
_SOURCE = re.compile(rf"(?P<text>'[^']*')|(?P<number>{_NUMBER})|"
                     rf'(?:(?P<scale>{_NUMBER})\s*\*\s*)?(?P<place>[A-Za-z][^\s*]*)')


class ReactionRelay(Component):
    """
    Fills a message of any type from each message of another, field by field.

    So contact flags and forces reach other state estimators; see config/works_with. With
    unknown values nothing is published, and ``/diagnostics`` names what is missing.
    """

    default_name = 'reaction_relay'

    def __init__(self, node: Any, dialect: Any):
        super().__init__(node, dialect)
        self.common = RobotComponent(self, NODE_SETTINGS, self._read)
        self.parameters = self.common.parameters
        self._active = False

    def configure(self) -> None:
        """Read the fields and join the topics."""
        values = self.parameters
        self._assignments = self._read(values)
        if not self._assignments:
            raise ConfigurationError('relay.fields: expected what stands where, such as "left = '
                                     'feet[LF_FOOT].contact", got nothing; config/works_with '
                                     'has examples')
        for entry in values['relay.definitions']:
            self._define(entry)
        kind, qos = values['relay.output_type'], self.dialect.qos
        self._make = self.dialect.message(kind)
        self._monitor = InputMonitor('input', INPUT_TIMEOUT_NS)
        self._base: Any = None
        self.common.configure()
        endpoints = self.common.endpoints
        self._publisher = endpoints.publisher(kind, values['relay.output'], qos.reliable(100))
        if values['relay.onto']:
            endpoints.subscription(kind, values['relay.onto'], self._keep, qos.best_effort(1))
        topic = values['relay.input']
        kind = values['relay.input_type'] or (
            'legged_dynamics_msgs/msg/FootReactions' if topic.rpartition('/')[2] == REACTIONS
            else 'sensor_msgs/msg/JointState')
        SilenceWatch(self, endpoints, self.common.now).expect(
            self._monitor, topic, kind,
            endpoints.subscription(kind, topic, self._take, qos.best_effort(100)))

    def activate(self) -> None:
        """Start handing on."""
        self._active = True

    def deactivate(self) -> None:
        """Stop handing on."""
        self._active = False

    def cleanup(self) -> None:
        """Leave all topics."""
        self.common.close()

    def _read(self, values: dict[str, Any]) -> list[tuple[_FieldPath, Callable[[Any], Any]]]:
        return [self._assignment(text, values['relay.names']) for text in values['relay.fields']]

    def _assignment(self, text: str, names: list[str]) -> tuple[_FieldPath, Callable[[Any], Any]]:
        """Return where a value goes, and what takes it from the input."""
        try:
            target, equals, source = text.format(*names).partition('=')
            found = _SOURCE.fullmatch(source.strip())
            if not equals or found is None:
                raise ConfigurationError('expected "place in the output = place in the input"')
            return _FieldPath(target.strip()), self._source(found)
        except (IndexError, KeyError, ValueError) as error:
            raise ConfigurationError(f'relay.fields: {text!r}: relay.names has {len(names)} '
                                     f'names: {error!r}') from error
        except (ConfigurationError, MiddlewareError) as error:
            raise ConfigurationError(f'relay.fields: {text!r}: {error}') from error

    def _source(self, found: re.Match[str]) -> Callable[[Any], Any]:
        if found['text'] is not None:
            text = found['text'][1:-1]
            return lambda message: text
        if found['number'] is not None:
            number = float(found['number'])
            return lambda message: number
        if found['place'] == 'now':
            return lambda message: convert.time_message(self.dialect, self.common.now())
        read = _FieldPath(found['place']).read
        if found['scale'] is None:
            return read
        scale = float(found['scale'])
        return lambda message: scale * read(message)

    def _define(self, entry: str) -> None:
        name, _, fields = entry.partition(':')
        try:
            self.dialect.message(name.strip())      # what is installed holds
        except MiddlewareError:
            define(name.strip(), fields)

    # ---- work --------------------------------------------------------------------------------

    def _keep(self, message: Any) -> None:
        self._base = message

    def _take(self, message: Any) -> None:
        now = self.common.now()
        self._monitor.saw(now)
        if not self._active or not self._publisher.get_subscription_count():
            return
        output = self._base if self.parameters['relay.onto'] else self._make()
        if output is None:
            self._monitor.refused(now, f'nothing on {self.parameters["relay.onto"]} to write into')
            return
        try:
            for place, source in self._assignments:
                place.write(output, source(message))
            self._publisher.publish(output)
        except (MiddlewareError, TypeError) as error:
            self._monitor.refused(now, str(error))

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Judge the input."""
        return {'input': self._monitor.judge(now)}

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return rate and age of the input."""
        return {'input': self._monitor.values(now)}

    def on_fault(self, error: Exception) -> None:
        """Show an unexpected failure of a callback in the diagnostics."""
        self._monitor.fault_of(self.common.now(), error)


main = partial(run, ReactionRelay)   # the executable; returns its exit code
