# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Settings as a node's parameters: declared, overridden, checked, and followed at run time.

Checked by the setting itself on every backend, so that each takes and refuses the same values.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.ros.middleware.arguments import Override
from legged_dynamics.ros.middleware.messages import message_class
from legged_dynamics.ros.middleware.protocol import Dialect, QoSPresets
from legged_dynamics.schema import Setting, declared

Change = Callable[[dict[str, Any]], None]


class Parameter(NamedTuple):
    """A parameter's name and value."""

    name: str
    value: Any


class SetParametersResult(NamedTuple):
    """Answer to a request to change parameters."""

    successful: bool
    reason: str = ''


class ParameterStore:
    """The parameters of a node without rclpy, with overrides from files and command line."""

    def __init__(self, overrides: Mapping[str, Override]):
        self._overrides = dict(overrides)
        self._parameters: dict[str, Parameter] = {}
        self._changes: list[Change] = []

    def declare(self, setting: Setting, read_only: bool = False) -> Any:
        """Declare a setting as a parameter; return its value, checked."""
        name = setting.name
        given = self._overrides.get(name, Override('', name, setting.default, 'default'))
        try:
            value = setting.check(given.value)
        except ConfigurationError as error:
            raise ConfigurationError(f'parameter {error} ({given.source})') from None
        self._parameters[name] = Parameter(name, value)
        return value

    def get_parameter(self, name: str) -> Parameter:
        """Return a parameter as it was declared."""
        return self._parameters[name]

    def take_overrides(self, prefix: str) -> dict[str, Any]:
        """Return the overrides with a name prefix; they count as this node's from now on."""
        found = {name: override.value for name, override in self._overrides.items()
                 if name.startswith(prefix)}
        self._parameters.update((name, Parameter(name, value)) for name, value in found.items())
        return found

    def follow(self, change: Change) -> None:
        """Have ``change`` take new values by name; it refuses by a ConfigurationError."""
        self._changes.append(change)

    def set_parameters_atomically(self, parameters: Iterable[Parameter]) -> SetParametersResult:
        """Change parameters, all or none, as a request on ROS 2 does."""
        wanted = {one.name: one.value for one in parameters}
        if unknown := wanted.keys() - self._parameters:
            return SetParametersResult(False, f'{", ".join(unknown)}: not declared')
        try:
            for change in self._changes:
                change(wanted)
        except ConfigurationError as error:
            return SetParametersResult(False, str(error))
        return SetParametersResult(True)

    def warn_of_undeclared(self, logger: Any) -> None:
        """
        Warn of each override for this node that no declaration took.

        Those for all nodes only if this node has their group of settings, or no node has.
        Raises ConfigurationError for one on the command line.
        """
        own = self._parameters.keys()
        own_groups = {name.split('.', 1)[0] for name in own if '.' in name}
        for name, override in self._overrides.items():
            if name in own:
                continue
            close = get_close_matches(name, own, n=1)
            hint = f' Did you mean {close[0]!r}?' if close else ''
            if override.source.startswith('-p'):
                raise ConfigurationError(f'{override.source}: this node has no parameter {name!r}.'
                                         f'{hint}')
            group, dot, _ = name.partition('.')
            groups, names = declared()
            foreign = (group in groups - own_groups) if dot else name in names
            if not (override.is_for_all and foreign):
                logger.warning(f'parameter {name!r} from {override.source} is not one of this '
                               f'node and has no effect.{hint}')


def declare_settings(node: Any, settings: Iterable[Setting]) -> dict[str, Any]:
    """Declare settings as parameters; return the checked values by name."""
    return {setting.name: node.declare(setting) for setting in settings}


def follow_settings(node: Any, settings: Iterable[Setting], values: dict[str, Any],
                    accept: Callable[[dict[str, Any]], object] = lambda values: None,
                    fixed: Callable[[str], str] = lambda name: '') -> None:
    """
    Keep ``values`` up to date with run-time changes, refusing invalid or useless ones.

    ``accept`` takes all new values and refuses by ConfigurationError (ignored if they were
    inconsistent before); ``fixed`` returns why a name cannot be changed now, or ''.
    """
    table = {setting.name: setting for setting in settings}

    def change(given: dict[str, Any]) -> None:
        wanted = {name: table[name].check(value) for name, value in given.items() if name in table}
        for name, value in wanted.items():
            if value != values[name] and (why := fixed(name)):
                raise ConfigurationError(why)
        try:
            if wanted:
                accept(values | wanted)
        except ConfigurationError:
            if _accepted(accept, values):
                raise
        values.update(wanted)
    node.follow(change)


def _accepted(accept: Callable[[dict[str, Any]], object], values: dict[str, Any]) -> bool:
    try:
        accept(values)
    except ConfigurationError:
        return False
    return True


# -------------------------------------------------------------------------------------------------
# The dialect of the backends without rclpy: our message classes and profiles.


class StandaloneDialect(Dialect):
    """The protocol.Dialect of the loopback and of Cyclone DDS."""

    qos = QoSPresets()
    message = staticmethod(message_class)

    def service(self, name: str) -> None:
        """Return None: there are no services here."""
