# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The command line that every ROS 2 node understands: ``--ros-args -p -r --params-file ...``."""
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.middleware.names import Remap, check_namespace
from legged_dynamics.parameter_file import parse_value, read_parameters

LOG_LEVELS = ('debug', 'info', 'warn', 'error', 'fatal')
_IGNORED_FLAGS = {'--enable-rosout-logs', '--disable-rosout-logs', '--enable-stdout-logs',
                  '--disable-stdout-logs', '--enable-external-lib-logs',
                  '--disable-external-lib-logs'}
_IGNORED_OPTIONS = {'-e', '--enclave', '--log-config-file', '--log-file-name'}


@dataclass(frozen=True)
class Override:
    """A parameter value given from outside, for the nodes that ``selector`` fits."""

    selector: str
    name: str
    value: Any
    source: str

    @property
    def is_for_all(self) -> bool:
        """Whether it was meant for whatever node wants it, not for one in particular."""
        return '*' in self.selector and not self.source.startswith('-p')

    def fits(self, full_node_name: str) -> bool:
        """Tell whether the selector ('/**', 'node', '/ns/node', '/*/node') fits a node."""
        selector = self.selector if self.selector.startswith('/') else f'/{self.selector}'
        # rclpy's rule: '/*' stands for one level, '/**' for any number of levels
        parts = re.split(r'(/\*\*?)', selector)
        pattern = ''.join(r'(/\w+)' + part[2:] if part.startswith('/*') else re.escape(part)
                          for part in parts)
        return re.fullmatch(pattern, full_node_name) is not None


@dataclass(frozen=True)
class RosArguments:
    """
    What a ROS 2 command line says.

    Attributes
    ----------
    remaps : tuple of Remap
        Remapping rules in order.
    overrides : tuple of Override
        Parameter values in order; a later one wins.
    log_level : str
        Least severe level that is shown.
    others : tuple of str
        Arguments that are not ROS's.

    """

    remaps: tuple[Remap, ...] = ()
    overrides: tuple[Override, ...] = ()
    log_level: str = 'info'
    others: tuple[str, ...] = ()

    @classmethod
    def parse(cls, argv: Sequence[str] = ()) -> RosArguments:
        """
        Read a command line (without the program's name).

        Raises
        ------
        ConfigurationError
            When an argument behind ``--ros-args`` is unknown or malformed, or a parameter file
            cannot be read.

        """
        remaps: list[Remap] = []
        overrides: list[Override] = []
        others: list[str] = []
        log_level = 'info'
        words = iter(argv)
        inside = False
        for word in words:
            if word in ('--ros-args', '--'):
                inside = word == '--ros-args'
            elif not inside:
                others.append(word)
            elif word in ('-r', '--remap'):
                remaps.append(_remap(_argument(words, word)))
            elif word in ('-p', '--param'):
                overrides.append(_parameter(_argument(words, word)))
            elif word == '--params-file':
                overrides += read_parameter_overrides(_argument(words, word))
            elif word == '--log-level':
                log_level = _log_level(_argument(words, word))
            elif word in _IGNORED_OPTIONS:
                _argument(words, word)
            elif word not in _IGNORED_FLAGS:
                raise ConfigurationError(f'unknown ROS argument {word!r}; expected -p name:=value,'
                                         ' -r from:=to, --params-file FILE or --log-level LEVEL')
        return cls(tuple(remaps), tuple(overrides), log_level, tuple(others))

    def overrides_for(self, full_node_name: str) -> dict[str, Override]:
        """Return the overrides of one node by parameter name."""
        return {entry.name: entry for entry in self.overrides if entry.fits(full_node_name)}

    def strangers_to(self, full_node_name: str) -> list[str]:
        """Return sentences on parameter files that have nothing for a node."""
        selectors: dict[str, set[str]] = {}
        for entry in self.overrides:
            if not entry.source.startswith('-p'):
                selectors.setdefault(entry.source, set()).add(entry.selector)
        return [f'{path} has nothing for this node ({full_node_name}): its parameters are for '
                f'{", ".join(sorted(found)[:5])}' for path, found in selectors.items()
                if not any(Override(one, '', None, path).fits(full_node_name) for one in found)]


def read_parameter_overrides(path: str | Path) -> list[Override]:
    """
    Read a ROS 2 parameter file.

    Raises
    ------
    ConfigurationError
        When the file is missing, is not YAML, or is not in parameter-file form.

    """
    return [Override(parameter.selector, parameter.name, parameter.value, str(path))
            for parameter in read_parameters(path)]


def _argument(words: Iterator[str], option: str) -> str:
    word = next(words, None)
    if word is None:
        raise ConfigurationError(f'{option} needs an argument behind it')
    return word


def _split_rule(text: str, option: str) -> tuple[str, str]:
    left, separator, right = text.partition(':=')
    if not separator or not left or not right:
        raise ConfigurationError(f'expected {option} name:=value, got {text!r}')
    return left, right


def _remap(text: str) -> Remap:
    left, right = _split_rule(text, '-r')
    node, _, match = left.rpartition(':')
    if match == '__ns':
        right = check_namespace(right)
    return Remap(match, right, node)


def _parameter(text: str) -> Override:
    left, right = _split_rule(text, '-p')
    node, _, name = left.rpartition(':')
    return Override(node or '/**', name, parse_value(right, f'-p {name}'), f'-p {name}')


def _log_level(text: str) -> str:
    level = text.rpartition(':=')[2].lower()
    if level not in LOG_LEVELS:
        raise ConfigurationError(f'expected a log level ({", ".join(LOG_LEVELS)}), got {text!r}')
    return level
