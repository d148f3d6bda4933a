# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Declared, typed, ranged parameters for the backends that have no rclpy, by rclpy's rules."""
from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import Any

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.ros.middleware.arguments import Override
from legged_dynamics.ros.middleware.messages import message_class
from legged_dynamics.ros.middleware.protocol import Dialect, QoSPresets
from legged_dynamics.schema import Setting, declared


class ParameterType(Enum):
    """The types a parameter can have; the numbers are rcl_interfaces'."""

    NOT_SET = 0
    BOOL = 1
    INTEGER = 2
    DOUBLE = 3
    STRING = 4
    BOOL_ARRAY = 6
    INTEGER_ARRAY = 7
    DOUBLE_ARRAY = 8
    STRING_ARRAY = 9

    @classmethod
    def of(cls, value: Any) -> ParameterType:
        """Return a value's type; raise ConfigurationError if no parameter can hold it."""
        if value is None:
            return cls.NOT_SET
        if isinstance(value, (list, tuple, array)):
            kinds = {cls.of(item) for item in value}
            if len(kinds) == 1 and (kind := kinds.pop()) in _ARRAYS:
                return _ARRAYS[kind]
            raise ConfigurationError(f'expected a non-empty list of values of one type, '
                                     f'got {list(value)!r}')
        for kind, python_type in _SCALARS.items():
            if type(value) is python_type:
                return kind
        raise ConfigurationError(f'expected a bool, int, float, str or a list of one of these, '
                                 f'got {type(value).__name__} {value!r}')

    @property
    def text(self) -> str:
        """Name for people."""
        return self.name.lower().replace('_', ' ')


_SCALARS = {ParameterType.BOOL: bool, ParameterType.INTEGER: int, ParameterType.DOUBLE: float,
            ParameterType.STRING: str}
_ARRAYS = {ParameterType.BOOL: ParameterType.BOOL_ARRAY,
           ParameterType.INTEGER: ParameterType.INTEGER_ARRAY,
           ParameterType.DOUBLE: ParameterType.DOUBLE_ARRAY,
           ParameterType.STRING: ParameterType.STRING_ARRAY}


@dataclass(frozen=True)
class Parameter:
    """A parameter's name and value."""

    name: str
    value: Any = None


@dataclass(frozen=True)
class ParameterDescriptor:
    """What is known of a parameter beside its value."""

    description: str = ''
    lower: float | None = None
    upper: float | None = None
    read_only: bool = False
    dynamic_typing: bool = False


@dataclass(frozen=True)
class SetParametersResult:
    """Answer to a request to change parameters."""

    successful: bool
    reason: str = ''


class ParameterStore:
    """The parameters of one node, with overrides by name from files and command line."""

    def __init__(self, overrides: Mapping[str, Override]):
        self._overrides = dict(overrides)
        self._parameters: dict[str, Parameter] = {}
        self._types: dict[str, ParameterType] = {}
        self._descriptors: dict[str, ParameterDescriptor] = {}
        self._callbacks: list[Callable[[list[Parameter]], SetParametersResult]] = []

    def declare_parameter(self, name: str, value: Any = None,
                          descriptor: ParameterDescriptor | None = None) -> Parameter:
        """Declare a parameter with its default, or with its type and no value."""
        if name in self._parameters:
            raise ConfigurationError(f'parameter {name!r} is declared already')
        descriptor = descriptor or ParameterDescriptor()
        kind, value = ((value, None) if isinstance(value, ParameterType)
                       else (ParameterType.of(value), value))
        override = self._overrides.get(name)
        source = 'default'
        if override is not None:
            value, source = override.value, override.source
        if value is not None:
            fault = _fault(name, value, kind, descriptor)
            if fault := fault or self._ask_callbacks([Parameter(name, value)]).reason:
                raise ConfigurationError(f'{fault} ({source})')
        self._types[name], self._descriptors[name] = kind, descriptor
        self._parameters[name] = Parameter(name, _plain(value))
        return self._parameters[name]

    def take_overrides(self, prefix: str) -> dict[str, Any]:
        """Return the overrides with a name prefix; they count as this node's from now on."""
        found = {name: override.value for name, override in self._overrides.items()
                 if name.startswith(prefix)}
        for name, value in found.items():
            self._parameters[name] = Parameter(name, value)
            self._types[name] = ParameterType.of(value)
            self._descriptors[name] = ParameterDescriptor('Quality of service.', read_only=True)
        return found

    def has_parameter(self, name: str) -> bool:
        """Return whether a parameter is declared."""
        return name in self._parameters

    def get_parameter(self, name: str) -> Parameter:
        """Return a declared parameter; raise ConfigurationError if it is not declared."""
        if name not in self._parameters:
            raise ConfigurationError(f'parameter {name!r} is not declared.'
                                     f'{_hint(name, self._parameters)}')
        return self._parameters[name]

    def set_parameters_atomically(self, parameters: Iterable[Parameter]) -> SetParametersResult:
        """Change parameters, all or none, after checks of type, range and callbacks."""
        wanted = list(parameters)
        for parameter in wanted:
            name = parameter.name
            if name not in self._parameters:
                return SetParametersResult(False, f'parameter {name!r} is not declared.'
                                                  f'{_hint(name, self._parameters)}')
            if self._descriptors[name].read_only:
                return SetParametersResult(False, f'parameter {name!r} is read-only')
            fault = _fault(name, parameter.value, self._types[name], self._descriptors[name])
            if fault:
                return SetParametersResult(False, fault)
        answer = self._ask_callbacks(wanted)
        if answer.successful:
            for parameter in wanted:
                self._parameters[parameter.name] = Parameter(parameter.name,
                                                             _plain(parameter.value))
        return answer

    def add_on_set_parameters_callback(
            self, callback: Callable[[list[Parameter]], SetParametersResult]) -> None:
        """Have a callback accept or refuse changes at run time."""
        self._callbacks.append(callback)

    def warn_of_undeclared(self, logger: Any) -> None:
        """
        Warn of each override for this node that no declaration took.

        Those for all nodes only if this node has their group of settings, or no node has.
        Raises ConfigurationError for one on the command line.
        """
        own = set(self._parameters)
        own_groups = {name.split('.', 1)[0] for name in own if '.' in name}
        for name, override in self._overrides.items():
            if name in own:
                continue
            if override.source.startswith('-p'):
                raise ConfigurationError(f'{override.source}: this node has no parameter {name!r}.'
                                         f'{_hint(name, own)}')
            group, dot, _ = name.partition('.')
            groups, names = declared()
            foreign = (group in groups - own_groups) if dot else name in names
            if not (override.is_for_all and foreign):
                logger.warning(f'parameter {name!r} from {override.source} is not one of this '
                               f'node and has no effect.{_hint(name, own)}')

    def _ask_callbacks(self, wanted: list[Parameter]) -> SetParametersResult:
        for callback in self._callbacks:
            answer = callback(wanted)
            if not answer.successful:
                return SetParametersResult(False, answer.reason or 'refused by the node')
        return SetParametersResult(True)


def _fault(name: str, value: Any, kind: ParameterType, descriptor: ParameterDescriptor) -> str:
    about = f'. {descriptor.description}' if descriptor.description else ''
    if kind not in _ARRAYS.values() or _has_type(value):
        try:
            got = ParameterType.of(value)
        except ConfigurationError as error:
            return f'parameter {name!r}: {error}'
        if got is not kind and not descriptor.dynamic_typing:
            point = 'DOUBLE' in kind.name and 'INTEGER' in got.name
            return (f'parameter {name!r}: expected {kind.text}, got {got.text} {value!r}'
                    f'{" (write a decimal point: 5.0)" if point else ""}{about}')
    low = -float('inf') if descriptor.lower is None else descriptor.lower
    high = float('inf') if descriptor.upper is None else descriptor.upper
    numbers = value if kind in _ARRAYS.values() else [value]
    if any(type(item) in (int, float) and not low <= item <= high for item in numbers):
        return (f'parameter {name!r}: expected a value from {low:g} to {high:g}, '
                f'got {value!r}{about}')
    return ''


def _has_type(value: Any) -> bool:
    return not (isinstance(value, (list, tuple, array)) and len(value) == 0)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (tuple, array)) else value


def _hint(name: str, declared: Iterable[str]) -> str:
    close = get_close_matches(name, list(declared), n=1)
    return f' Did you mean {close[0]!r}?' if close else ''


# -------------------------------------------------------------------------------------------------
# Tables of settings as a node's parameters: declared, checked, and followed at run time.


def declare_settings(node: Any, dialect: Dialect, settings: Iterable[Setting],
                     read_only: bool = False) -> dict[str, Any]:
    """Declare settings as parameters; return the checked values by name."""
    values = {}
    for setting in settings:
        default = setting.default
        if default == [] or default == ():
            default = (dialect.parameter_type.DOUBLE_ARRAY if setting.unit else
                       dialect.parameter_type.STRING_ARRAY)
        bounds = (setting.lower, setting.upper)
        descriptor = dialect.parameter_descriptor(
            description=setting.text, range=None if bounds == (None, None) else bounds,
            read_only=read_only, dynamic_typing=setting.word_like)
        value = node.declare_parameter(setting.name, default, descriptor).value
        if isinstance(value, array):
            value = list(value)
        values[setting.name] = setting.check(list(setting.default) if value is None else value)
    return values


def follow_settings(node: Any, dialect: Dialect, settings: Iterable[Setting],
                    values: dict[str, Any],
                    accept: Callable[[dict[str, Any]], object] | None = None,
                    fixed: Callable[[str], str] = lambda name: '') -> None:
    """
    Keep ``values`` up to date with run-time changes, refusing invalid or useless ones.

    ``accept`` takes all new values and refuses by ConfigurationError (ignored if they were
    inconsistent before); ``fixed`` returns why a name cannot be changed now, or ''.
    """
    table = {setting.name: setting for setting in settings}

    def check(wanted: dict[str, Any]) -> None:
        why = next(filter(None, (fixed(name) for name in wanted if wanted[name] != values[name])),
                   '')
        if why:
            raise ConfigurationError(why)
        if accept is None or not wanted:
            return
        try:
            accept(values | wanted)
        except ConfigurationError:
            try:
                accept(values)
            except ConfigurationError:
                return
            raise

    def change(parameters: list[Any]) -> Any:
        try:
            wanted = {parameter.name: table[parameter.name].check(
                list(parameter.value) if isinstance(parameter.value, array) else parameter.value)
                for parameter in parameters if parameter.name in table}
            check(wanted)
        except ConfigurationError as error:
            return dialect.set_parameters_result(False, str(error))
        values.update(wanted)
        return dialect.set_parameters_result(True)
    node.add_on_set_parameters_callback(change)


# -------------------------------------------------------------------------------------------------
# The dialect of the backends without rclpy: our message classes, profiles and descriptors.


class StandaloneDialect(Dialect):
    """The protocol.Dialect of the loopback and of Cyclone DDS."""

    qos = QoSPresets()
    parameter_type = ParameterType
    message = staticmethod(message_class)

    def service(self, name: str) -> None:
        """Return None: there are no services here but those of parameters."""

    def parameter_descriptor(self, description: str = '',
                             range: tuple[float | None, float | None] | None = None,
                             read_only: bool = False,
                             dynamic_typing: bool = False) -> ParameterDescriptor:
        """Return a descriptor for ``declare_parameter``."""
        lower, upper = range or (None, None)
        return ParameterDescriptor(description, lower, upper, read_only, dynamic_typing)

    def set_parameters_result(self, successful: bool, reason: str = '') -> SetParametersResult:
        """Return the answer of an on-set-parameters callback."""
        return SetParametersResult(successful, reason)
