# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Settings with a unit, a range and a description: one declaration serves YAML, nodes and documents.

A group of settings is a dataclass derived from `CheckedSettings`, in the module that uses it:

    @dataclass(frozen=True)
    class GaitSettings(CheckedSettings):
        friction: float = setting('friction.coefficient', 1.0, '', 'Of the ground.', 1e-2, 100.0)

`declared` lists the names of all of them for the check for misspelt names.
"""
from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.parameter_file import read_parameters, shown

# Names that nodes and launch files of ROS 2 read, and groups of them.
_ROS_NAMES = frozenset({'use_sim_time', 'autostart', 'start_type_description_service'})
_ROS_GROUPS = frozenset({'qos_overrides'})
DECLARATION = re.compile(r"\b[sS]etting\(\s*'([\w.]+)'")

# Words that YAML and ROS 2 read as a boolean where they are not quoted.
YAML_WORDS = {True: ('on', 'yes', 'y', 'true'), False: ('off', 'no', 'n', 'false')}

S = TypeVar('S', bound='CheckedSettings')

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
        """Return a value in the setting's type; ConfigurationError if wrong."""
        if isinstance(self.default, list):
            if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
                self._refuse(value, 'a list')
            kind = type(self.default[0]) if self.default else float if self.unit else str
            return [self._check_scalar(item, kind) for item in value]
        return self._check_scalar(value, type(self.default))

    def _check_scalar(self, value: Any, kind: type) -> Any:
        if kind is float and isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                value = float(value)
            except OverflowError:
                value = math.inf
        if kind is str and isinstance(value, bool):
            value = next((word for word in YAML_WORDS[value] if word in self.choices), value)
        if type(value) is not kind:
            self._refuse(value, TYPE_NAMES[kind])
        if kind in (int, float):
            low = -math.inf if self.lower is None else self.lower
            high = math.inf if self.upper is None else self.upper
            if not low <= value <= high or not math.isfinite(value):
                span = ('that is finite' if math.isinf(low) and math.isinf(high) else
                        f'at least {low:g}' if high == math.inf else
                        f'at most {high:g}' if low == -math.inf else
                        f'from {low:g} to {high:g}')
                self._refuse(value, f'a value {span} {self.unit}'.rstrip())
        if self.choices and value not in self.choices:
            self._refuse(value, f'one of {", ".join(self.choices)}')
        return value

    def _refuse(self, value: Any, expected: str) -> None:
        raise ConfigurationError(
            f'{self.name}: expected {expected}, got {shown(value)}. {self.description}')


def setting(name: str, default: Any, unit: str, description: str, lower: float | None = None,
            upper: float | None = None, choices: tuple[str, ...] = ()) -> Any:
    """Return a dataclass field of `CheckedSettings`; the arguments are those of `Setting`."""
    metadata = {'setting': Setting(name, default, unit, description, lower, upper, choices)}
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


class CheckedSettings:
    """
    Base of a group of settings: a dataclass whose fields are `setting(...)`.

    Code reads a setting by the name of its field; files, nodes and documents use the dotted name.
    The order of the fields is only the order in which they are shown.
    """

    @classmethod
    def table(cls) -> tuple[Setting, ...]:
        """Return the settings, in the order in which they are shown."""
        return tuple(one.metadata['setting'] for one in fields(cls))      # type: ignore[arg-type]

    @property
    def values(self) -> dict[str, Any]:
        """Return the values by dotted name, as :meth:`from_parameters` takes them."""
        return {one.metadata['setting'].name: getattr(self, one.name)
                for one in fields(self)}      # type: ignore[arg-type]

    @classmethod
    def from_parameters(cls: type[S], values: Mapping[str, Any] | None = None) -> S:
        """Build from values by dotted name, as `checked` takes them; defaults for the rest."""
        return cls.from_checked(checked(values or {}, cls.table()))

    @classmethod
    def from_checked(cls: type[S], values: Mapping[str, Any]) -> S:
        """Build from values that `checked` returned for a table which contains this one."""
        return cls(**{one.name: values[one.metadata['setting'].name]
                      for one in fields(cls)})      # type: ignore[arg-type]


class ParameterValues(dict[str, Any]):
    """Values by dotted name, with the file and line of each in `places`."""

    def __init__(self, values: Mapping[str, Any] | None = None):
        super().__init__(values or {})
        self.places: dict[str, str] = dict(getattr(values, 'places', {}))

    def update(self, other: Mapping[str, Any]) -> None:     # type: ignore[override]
        """Take over the values of another mapping, and their places."""
        super().update(other)
        self.places.update(getattr(other, 'places', {}))


def checked(values: Mapping[str, Any], settings: Iterable[Setting]) -> dict[str, Any]:
    """
    Return the checked value of every setting, defaults included, by dotted name.

    An unknown key in a group of this table, or in one that no module declares, is an error,
    since a misspelt key would have no effect; keys of other groups are ignored.
    """
    table = {setting.name: setting for setting in settings}
    places = getattr(values, 'places', {})
    for key in values:
        if key not in table:
            _check_name(key, table, places)
    found = {}
    for name, setting in table.items():
        if name not in values:
            default = setting.default
            found[name] = list(default) if isinstance(default, list) else default
            continue
        try:
            found[name] = setting.check(values[name])
        except ConfigurationError as error:
            raise ConfigurationError(_placed(str(error), name, places)) from error
    return found


# Settings that an error lists at most: those of the same group.
MOST_LISTED = 12


def _check_name(key: Any, table: Iterable[str], places: Mapping[str, str]) -> None:
    """Refuse a name that no setting has; those of other groups are let be."""
    if not isinstance(key, str):
        raise ConfigurationError(f'expected the name of a setting, got {shown(key)}')
    group, dot, _ = key.partition('.')
    beside = [name for name in table if dot and name.partition('.')[0] == group]
    if any('.' in name for name in beside):
        near = get_close_matches(key[:200], table, n=1)
        rest = len(beside) - MOST_LISTED
        why, more = '', (f' Settings of {group[:40]!r}: {", ".join(beside[:MOST_LISTED])}'
                         f'{f" and {rest} more" if rest > 0 else ""}.')
    else:
        groups, names = declared()
        if group in (groups if dot else names):
            return
        near = get_close_matches(key[:200], table, n=1, cutoff=0.75) or get_close_matches(
            group[:200], sorted(groups if dot else names), n=1)
        why, more = (f': there is no group {_shown_name(group)!r} of settings' if dot else
                     ': nothing reads it'), ''
    hint = f' Did you mean {near[0]}?' if near else ''
    raise ConfigurationError(_placed(
        f'{_shown_name(key)} is not a setting{why}.{hint}{more}', key, places))


@cache
def declared() -> tuple[frozenset[str], frozenset[str]]:
    """
    Return the package's setting groups, and the names without a group.

    Found in the text of its modules (``setting(`` or ``Setting(`` and a quoted name), in 20
    ms: importing them all would take seconds and require MuJoCo.
    """
    found = {name for path in Path(__file__).parent.rglob('*.py')
             for name in DECLARATION.findall(path.read_text(encoding='utf-8'))}
    groups = {name.split('.', 1)[0] for name in found if '.' in name}
    return (frozenset(groups | _ROS_GROUPS),
            frozenset({name for name in found if '.' not in name} | _ROS_NAMES))


def _shown_name(name: str) -> str:
    """Return a name as an error shows it: cut where it is long."""
    return name if len(name) <= 100 else f'{name[:97]}...'


def _placed(text: str, key: str, places: Mapping[str, str]) -> str:
    return f'{places[key]}: {text}' if key in places else text


def read_parameter_file(path: str | Path, node: str = '') -> ParameterValues:
    """
    Return a ROS 2 parameter file's values by dotted name, as seen by ``node``.

    ``/**`` first, then the node's sections in any namespace. Raises ConfigurationError if
    the file is for other nodes only.
    """
    found, own, strangers = ParameterValues(), ParameterValues(), []
    for selector, name, value, line in read_parameters(path):
        if selector == '/**':
            section = found
        elif node and selector.rpartition('/')[2] == node:
            section = own
        else:
            strangers.append(selector)
            continue
        section[name] = value
        section.places[name] = f'{path}, line {line}'
    if strangers and not found and not own:
        whose = ', '.join(sorted(set(map(_shown_name, strangers)))[:5])
        wanted = f'"/**:" or "{node}:"' if node else '"/**:"'
        raise ConfigurationError(f'{path} has parameters for {whose} only, and what is read here '
                                 f'stands below {wanted}. Write "/**:" on top to mean all nodes.')
    found.update(own)
    return found
