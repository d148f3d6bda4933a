# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tables of settings as a node's parameters: declared, checked, and followed at run time."""
from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Any

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.middleware.protocol import Dialect, Node
from legged_dynamics.schema import Setting


def declare_settings(node: Node, dialect: Dialect, settings: Iterable[Setting],
                     read_only: bool = False) -> dict[str, Any]:
    """
    Declare a table of settings as parameters and return their checked values by name.

    Parameters
    ----------
    node : Node
        Node whose parameters they become.
    dialect : Dialect
        The node's dialect.
    settings : iterable of Setting
        The table; an empty list as default declares a list without a value.
    read_only : bool
        Whether they may be changed at run time.

    Raises
    ------
    ConfigurationError
        When an override has the wrong type or is out of range.

    """
    values = {}
    for setting in settings:
        default = setting.default
        if default == [] or default == ():
            default = (dialect.parameter_type.DOUBLE_ARRAY if setting.unit else
                       dialect.parameter_type.STRING_ARRAY)
        bounds = (setting.lower, setting.upper)
        descriptor = dialect.parameter_descriptor(
            description=setting.text, range=None if bounds == (None, None) else bounds,
            read_only=read_only)
        value = node.declare_parameter(setting.name, default, descriptor).value
        if isinstance(value, array):
            value = list(value)
        values[setting.name] = setting.check(list(setting.default) if value is None else value)
    return values


def follow_settings(node: Node, dialect: Dialect, settings: Iterable[Setting],
                    values: dict[str, Any],
                    accept: Callable[[dict[str, Any]], object] | None = None,
                    fixed: Callable[[str], str] = lambda name: '') -> None:
    """
    Keep ``values`` up to date with changes at run time, refusing those without sense or effect.

    Parameters
    ----------
    node, dialect : Node, Dialect
        Whose parameters they are.
    settings : iterable of Setting
        The table they were declared from.
    values : dict
        By dotted name; changed in place.
    accept : callable, optional
        Takes all values as they are to be, before they are; refuses by a ConfigurationError.
        Values that did not go together before either are not refused: they come one by one.
    fixed : callable
        Takes a name; returns why it cannot be changed now, or ''.

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
