# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings with a unit, a range and a reason: one table serves YAML, nodes and documentation."""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from legged_dynamics.exceptions import ConfigurationError

TYPE_NAMES = {bool: 'a boolean', int: 'an integer', float: 'a number', str: 'a string',
              list: 'a list'}


@dataclass(frozen=True)
class Setting:
    """
    One setting of a robot, an estimator or a controller.

    Attributes
    ----------
    name : str
        Dotted name, as in a ROS 2 parameter file.
    default : bool, int, float, str or list
        Value when nothing is given; its type is the setting's type.
    unit : str
        SI unit, or '' for none.
    description : str
        What it does, for people.
    lower, upper : float or None
        Closed range of a number (of each element of a list of numbers).
    choices : tuple of str
        The strings allowed, or empty for any.

    """

    name: str
    default: Any
    unit: str
    description: str
    lower: float | None = None
    upper: float | None = None
    choices: tuple[str, ...] = field(default=())

    @property
    def text(self) -> str:
        """Return the description with unit and range, as a parameter descriptor shows it."""
        unit = f' [{self.unit}]' if self.unit else ''
        allowed = f' One of: {", ".join(self.choices)}.' if self.choices else ''
        return f'{self.description}{unit}{allowed}'

    def check(self, value: Any) -> Any:
        """
        Return the value in the setting's type.

        Raises
        ------
        ConfigurationError
            When the type is wrong or the value is outside range or choices.

        """
        if isinstance(self.default, list):
            if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
                self._refuse(value, 'a list')
            return [self._check_element(item) for item in value]
        return self._check_scalar(value, type(self.default))

    def _check_element(self, value: Any) -> Any:
        return self._check_scalar(value, float if self.unit else type(value))

    def _check_scalar(self, value: Any, kind: type) -> Any:
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not kind:
            self._refuse(value, TYPE_NAMES[kind])
        if kind in (int, float):
            low = -math.inf if self.lower is None else self.lower
            high = math.inf if self.upper is None else self.upper
            if not low <= value <= high:
                span = (f'at least {low:g}' if high == math.inf else
                        f'at most {high:g}' if low == -math.inf else f'from {low:g} to {high:g}')
                self._refuse(value, f'a value {span} {self.unit}'.rstrip())
        if self.choices and value not in self.choices:
            self._refuse(value, f'one of {", ".join(self.choices)}')
        return value

    def _refuse(self, value: Any, expected: str) -> None:
        raise ConfigurationError(
            f'{self.name}: expected {expected}, got {value!r}. {self.description}')


def checked(values: Mapping[str, Any], settings: Iterable[Setting]) -> dict[str, Any]:
    """
    Return every setting's value, checked, with defaults for those not given.

    Keys outside the first name's namespaces are other people's and are left alone; an unknown
    key inside one of them is an error, for a misspelt key would silently have no effect.

    Raises
    ------
    ConfigurationError
        When a key is unknown, or a value has the wrong type or is out of range.

    """
    table = {setting.name: setting for setting in settings}
    spaces = {name.split('.', 1)[0] for name in table if '.' in name}
    for key in values:
        if key not in table and '.' in key and key.split('.', 1)[0] in spaces:
            close = get_close_matches(key, table, n=1)
            hint = f' Did you mean {close[0]}?' if close else ''
            raise ConfigurationError(f'{key} is not a setting.{hint} '
                                     f'The settings are: {", ".join(table)}.')
    return {name: setting.check(values[name]) if name in values else
            (list(setting.default) if isinstance(setting.default, list) else setting.default)
            for name, setting in table.items()}


def read_parameter_file(path: str | Path, node: str = '') -> dict[str, Any]:
    """
    Read a ROS 2 parameter file into dotted names, as seen by the node of that name.

    Parameters
    ----------
    path : str or Path
        YAML with ``/**`` or node names on top and ``ros__parameters`` below them.
    node : str
        Node whose own section is read too, after ``/**``.

    Raises
    ------
    ConfigurationError
        When the file is missing, is not YAML or is not in parameter-file form.

    """
    path = Path(path)
    try:
        content = yaml.safe_load(path.read_text(encoding='utf-8'))
    except OSError as error:
        raise ConfigurationError(f'cannot read the parameter file {path}: {error}') from error
    except yaml.YAMLError as error:
        raise ConfigurationError(f'{path} is not valid YAML: {error}') from error
    if not isinstance(content, dict):
        raise ConfigurationError(f'{path}: expected "/**:" or a node name on top with '
                                 f'"ros__parameters:" below it, got {type(content).__name__}')
    found: dict[str, Any] = {}
    for selector in ('/**', node, f'/{node}', f'/**/{node}'):
        section = content.get(selector) if selector.strip('/') or selector == '/**' else None
        if section is None:
            continue
        if not isinstance(section, dict) or not isinstance(section.get('ros__parameters'), dict):
            raise ConfigurationError(f'{path}: expected "ros__parameters:" below {selector!r}')
        found.update(flatten(section['ros__parameters']))
    return found


def flatten(tree: Mapping[str, Any], prefix: str = '') -> dict[str, Any]:
    """Return nested mappings as one mapping of dotted names."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping):
            flat.update(flatten(value, f'{prefix}{key}.'))
        else:
            flat[f'{prefix}{key}'] = value
    return flat
