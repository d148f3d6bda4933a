# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
ROS 2 parameter files and values: YAML in, typed values with their lines out, and back.

Typed as ROS's own parser types them, which differs from PyYAML: ``1e-4`` is a double, ``yes`` a
boolean, ``010`` eight, and a list holds values of one type only. As there, anchors are not
understood. Read event by event, so that no text can make the reader recurse or grow.
"""
from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from legged_dynamics.exceptions import ConfigurationError

# Node settings and a robot together are 0.01 MB.
MAX_SIZE = 1_000_000
MAX_DEPTH = 20

_TRUE = {'Y', 'y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'}
_FALSE = {'N', 'n', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'}
_INTEGER = re.compile(r'[-+]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)$')
_DOUBLE = re.compile(r'[-+]?((\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|\.?(inf|Inf|INF)|\.?(nan|NaN|NAN))$',
                     re.ASCII)
_NAMES = {bool: 'boolean', int: 'integer', float: 'double', str: 'string'}
_LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
_STRING_TAG = 'tag:yaml.org,2002:str'
_PLAIN_TAGS = {_STRING_TAG, 'tag:yaml.org,2002:int', 'tag:yaml.org,2002:float',
               'tag:yaml.org,2002:bool', 'tag:yaml.org,2002:seq', 'tag:yaml.org,2002:map', '!',
               # launch writes a list of strings so
               'tag:yaml.org,2002:python/tuple'}


class Entry(NamedTuple):
    """A value in a YAML text."""

    value: Any  # What the text holds
    line: int  # From 1


class Parameter(NamedTuple):
    """A parameter in a file."""

    selector: str  # Which nodes it is for: a node's name, or a pattern such as ``/**``
    name: str  # Dotted
    value: Any  # What the file holds
    line: int  # Line of the file, from 1


def parse_value(text: str, source: str) -> Any:
    """Return the value of one parameter given as YAML text, as after ``-p name:=``."""
    entry = _read_yaml(text, source)
    if entry is None:
        raise ConfigurationError(f'{source}: expected a value, got nothing')
    if isinstance(entry.value, dict):
        raise ConfigurationError(f'{source}, line {entry.line}: expected a value or a list of '
                                 'values, got a mapping')
    return entry.value


def read_parameters(path: str | Path) -> list[Parameter]:
    """Return all parameters in a ROS 2 parameter file, in order."""
    try:
        state = Path(path).stat()
        if not stat.S_ISREG(state.st_mode):
            raise ConfigurationError(f'cannot read the parameter file {path}: expected a file, '
                                     'got a folder, a pipe or a device')
        if state.st_size > MAX_SIZE:
            raise ConfigurationError(f'cannot read the parameter file {path}: expected at most '
                                     f'{MAX_SIZE / 1e6:g} MB, got {state.st_size / 1e6:.1f} MB')
        text = Path(path).read_bytes()[:MAX_SIZE].decode('utf-8-sig')
    except (OSError, ValueError) as error:
        raise ConfigurationError(f'cannot read the parameter file {path}: {error}') from error
    root = _read_yaml(text, str(path))
    if root is None or not isinstance(root.value, dict):
        raise _no_node(str(path), root)
    found: list[Parameter] = []
    for selector, below in root.value.items():
        _collect(below, selector, str(path), found)
    return found


def _collect(entry: Entry, selector: str, path: str, found: list[Parameter]) -> None:
    """Gather the parameters below a node name, which may itself be nested in namespaces."""
    if not isinstance(entry.value, dict) or not entry.value:
        raise _no_node(path, entry)
    for key, below in entry.value.items():
        if key == 'ros__parameters':
            if not isinstance(below.value, dict):
                raise _no_node(path, below)
            found += [Parameter(selector, name, value, line)
                      for name, (value, line) in _flat(below.value)]
        elif isinstance(below.value, dict):
            _collect(below, f'{selector.rstrip("/")}/{key.lstrip("/")}', path, found)
        else:
            raise ConfigurationError(f'{path}, line {below.line}: expected "ros__parameters:" '
                                     f'below {selector!r}, got {key!r}')


def _flat(tree: dict[str, Entry], prefix: str = '') -> Iterator[tuple[str, Entry]]:
    for key, entry in tree.items():
        if isinstance(entry.value, dict):
            yield from _flat(entry.value, f'{prefix}{key}.')
        else:
            yield f'{prefix}{key}', entry


def _no_node(path: str, entry: Entry | None) -> ConfigurationError:
    where = f', line {entry.line}' if entry is not None else ''
    return ConfigurationError(f'{path}{where}: expected "/**:" or a node name on top, then '
                              '"ros__parameters:" below it, and "name: value" lines below that')


def _read_yaml(text: str, source: str) -> Entry | None:
    """Return the value, list or mapping that a YAML text holds, or None when it holds nothing."""
    try:
        return _Builder(yaml.parse(text, Loader=_LOADER), source).root()
    except yaml.YAMLError as error:
        detail = ' '.join(str(error).split())
        raise ConfigurationError(f'{source} is not valid YAML: {detail}') from error
    except (UnicodeError, RecursionError) as error:
        raise ConfigurationError(f'{source} is not valid YAML: {error}') from error


class _Builder:
    """Builds entries out of YAML's events."""

    def __init__(self, events: Iterator[Any], source: str):
        self._events, self._source = events, source
        self._names: list[str] = []

    def root(self) -> Entry | None:
        found = None
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                if found is not None:
                    raise self._refusal(event, 'expected one document, got another')
                found = self._entry(next(self._events), 0)
        return None if (found is not None and found.value is None) else found

    def _entry(self, event: Any, depth: int) -> Entry:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise self._refusal(event, 'anchors and aliases are not understood in parameter '
                                       'files; write the value out')
        if event.tag is not None and event.tag not in _PLAIN_TAGS:
            raise self._refusal(event, f'expected a plain value, got one of type {event.tag}')
        if isinstance(event, yaml.ScalarEvent):
            nothing = depth == 0 and event.style is None and not event.value
            return Entry(None if nothing else self._scalar(event), line)
        if isinstance(event, yaml.SequenceStartEvent):
            return Entry(self._list(event), line)
        if depth == MAX_DEPTH:
            raise self._refusal(event, f'expected at most {MAX_DEPTH} levels')
        return Entry(self._mapping(depth + 1), line)

    def _mapping(self, depth: int) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        while not isinstance(key := next(self._events), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                raise self._refusal(key, 'expected a name, got a list or a mapping')
            if key.value in found:
                raise self._refusal(key, f'{key.value!r} stands here twice; the other is in line '
                                         f'{found[key.value].line}')
            self._names.append(key.value)
            found[key.value] = self._entry(next(self._events), depth)
            self._names.pop()
        return found

    def _list(self, start: Any) -> list[Any]:
        values = []
        while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
            if not isinstance(item, yaml.ScalarEvent):
                if isinstance(item, yaml.AliasEvent):
                    self._entry(item, 1)
                raise self._refusal(item, 'a list may hold plain values only; ROS 2 parameters '
                                          'have no nested lists')
            values.append(self._entry(item, 1).value)
        kinds = sorted({_NAMES[type(value)] for value in values})
        if len(kinds) > 1:
            instead = shown(values)
            if kinds == ['double', 'integer']:
                numbers = list(map(float, values))
                instead = 'write ' + (written_line(self._names[-1], numbers) if self._names else
                                      written(numbers))
            raise self._refusal(start, 'a list must hold values of one type, got '
                                       f'{" and ".join(kinds)}: {instead}')
        return values

    def _scalar(self, event: Any) -> bool | int | float | str:
        text = event.value
        if event.style in ("'", '"', '|', '>') or event.tag == _STRING_TAG:
            return text
        if not text:
            raise self._refusal(event, 'expected a value, got nothing')
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        if _INTEGER.match(text):
            digits = text.lstrip('+-')
            base = 16 if digits[:2] in ('0x', '0X') else 8 if digits[0] == '0' else 10
            value = int(text, base) if len(text) < 80 else 1 << 63
            if not -(1 << 63) <= value < 1 << 63:
                raise self._refusal(event, f'expected an integer of 64 bits, got {shown(text)}')
            return value
        if _DOUBLE.match(text):
            return float(re.sub(r'\.(?=[a-zA-Z])', '', text))
        return text

    def _refusal(self, event: Any, why: str) -> ConfigurationError:
        names = self._names
        if 'ros__parameters' in names:
            names = names[names.index('ros__parameters') + 1:]
        name = f'{".".join(names)[:100]}: ' if names else ''
        return ConfigurationError(f'{self._source}, line {event.start_mark.line + 1}: {name}{why}')


def shown(value: Any) -> str:
    """Return a value as error texts show it: one line, shortened if long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):        # thousands of digits; a list inside itself
        text = f'a {type(value).__name__} too long to show'
    return text if len(text) <= 100 else f'{text[:97]}...'


# -------------------------------------------------------------------------------------------------
# Writing: every line of YAML that a command, a node or a page shows is made here, and read back by
# the above as the same values of the same types.


WIDTH = 99


def rounded(value: Any, digits: int = 6) -> Any:
    """Return floats, also in lists, with so many significant digits; other values as they are."""
    if isinstance(value, float):
        return float(f'{value:.{digits}g}')
    if isinstance(value, (list, tuple)):
        return [rounded(item, digits) for item in value]
    return value


def written(value: Any) -> str:
    """Return a value as one line of YAML that is read as that value: a float keeps its point."""
    if hasattr(value, 'tolist'):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return f'[{", ".join(map(written, value))}]'
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, float):
        text = repr(value)
        if 'n' in text:         # inf and nan
            return text.replace('inf', '.inf').replace('nan', '.nan')
        return text if '.' in text else text.replace('e', '.0e')
    if isinstance(value, str):
        plain = re.fullmatch('[A-Za-z_/][A-Za-z0-9_/.-]+', value) and not (
            value in _TRUE or value in _FALSE or value.lower() == 'null' or _DOUBLE.match(value))
        return value if plain else re.sub(      # YAML takes no pairs of surrogates
            '[^ -~]', lambda found: f'\\U{ord(found[0]):08x}',
            json.dumps(value, ensure_ascii=False))
    return str(value)


def written_line(name: str, value: Any) -> str:
    """Return ``name: value`` in one line."""
    return f'{name}: {written(value)}'


def written_lines(name: str, values: Sequence[Any], indent: int = 0) -> list[str]:
    """Return a list as lines of at most `WIDTH` characters; ``indent``: spaces before the name."""
    lines, line = [], f'{" " * indent}{name}: ['
    beside = ' ' * len(line)
    for i, item in enumerate(values):
        word = f'{written(item)}{", " if i < len(values) - 1 else ""}'
        if len(line) + len(word) >= WIDTH and line.strip():
            lines.append(line.rstrip())
            line = beside
        line += word
    return [*lines, f'{line}]']


def written_file(values: Mapping[str, Any]) -> str:
    """Return parameters by dotted name as the YAML of a file for a node of any name."""
    tree: dict[str, Any] = {}
    for name, value in values.items():
        *path, key = name.split('.')
        at = tree
        for part in path:
            at = at.setdefault(part, {})
        at[key] = value
    lines = ['/**:', '  ros__parameters:']

    def add(below: Mapping[str, Any], indent: int) -> None:
        for key, value in below.items():
            if isinstance(value, dict):
                lines.append(f'{" " * indent}{key}:')
                add(value, indent + 2)
            elif isinstance(value, (list, tuple)):
                lines.extend(written_lines(key, value, indent))
            else:
                lines.append(f'{" " * indent}{written_line(key, value)}')
    add(tree, 4)
    return '\n'.join(lines) + '\n'
