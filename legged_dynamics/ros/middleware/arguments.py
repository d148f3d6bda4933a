# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The command line that every ROS 2 node understands: ``--ros-args -p -r --params-file ...``."""
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from legged_dynamics.exceptions import ConfigurationError, MiddlewareError
from legged_dynamics.parameter_file import parse_value, read_parameters

# -------------------------------------------------------------------------------------------------
# ROS 2 names: expansion of topic names, and remapping rules.


_TOKEN = r'[A-Za-z_][A-Za-z0-9_]*'
_TOPIC = re.compile(rf'(/|~/?)?({_TOKEN})?(/{_TOKEN})*$')
_NAMESPACE = re.compile(rf'(/|(/{_TOKEN})+)$')


@dataclass(frozen=True)
class Remap:
    """One rule ``[node:]match:=replacement``; ``match`` may also be '__node' or '__ns'."""

    match: str
    replacement: str
    node: str = ''


def _check_namespace(namespace: str) -> str:
    """Return a namespace with its leading '/', or raise MiddlewareError when it is malformed."""
    namespace = namespace if namespace.startswith('/') else f'/{namespace}'
    if not _NAMESPACE.match(namespace):
        raise MiddlewareError(f'expected a namespace such as "/robot1", got {namespace!r}')
    return namespace


def expand(topic: str, node_name: str, namespace: str) -> str:
    """Expand a relative ('x'), private ('~/x') or absolute ('/x') topic name."""
    if not _TOPIC.match(topic) or not topic.strip('/~'):
        raise MiddlewareError(f'expected a topic name such as "joint_states", "~/wrench" or '
                              f'"/tf", got {topic!r}')
    if topic.startswith('/'):
        return topic
    base = namespace.rstrip('/')
    if topic.startswith('~'):
        return f'{base}/{node_name}/{topic[1:].lstrip("/")}'
    return f'{base}/{topic}'


def resolve(topic: str, node_name: str, namespace: str, remaps: Iterable[Remap] = ()) -> str:
    """Return a topic's full name after the first remapping rule that fits the node."""
    name = expand(topic, node_name, namespace)
    for rule in remaps:
        if rule.match.startswith('__') or rule.node not in ('', node_name):
            continue
        if expand(rule.match, node_name, namespace) == name:
            return expand(rule.replacement, node_name, namespace)
    return name


def remapped_identity(name: str, namespace: str, remaps: Iterable[Remap]) -> tuple[str, str]:
    """Return name and namespace after the rules for '__node', '__name' and '__ns'."""
    rules = list(remaps)
    new_name = next((rule.replacement for rule in rules
                     if rule.match in ('__node', '__name') and rule.node in ('', name)), name)
    new_space = next((rule.replacement for rule in rules
                      if rule.match == '__ns' and rule.node in ('', name, new_name)), namespace)
    if not re.fullmatch(_TOKEN, new_name):
        raise MiddlewareError(f'expected a node name of letters, digits and underscores that does '
                              f'not begin with a digit, got {new_name!r}')
    return new_name, _check_namespace(new_space)


# -------------------------------------------------------------------------------------------------

LOG_LEVELS = ('debug', 'info', 'warn', 'error', 'fatal')
_IGNORED_FLAGS = {'--enable-rosout-logs', '--disable-rosout-logs', '--enable-stdout-logs',
                  '--disable-stdout-logs', '--enable-external-lib-logs',
                  '--disable-external-lib-logs'}
# With an argument behind them; those that are not read are ignored.
_OPTIONS = {'-r', '--remap', '-p', '--param', '--params-file', '--log-level', '-e', '--enclave',
            '--log-config-file', '--log-file-name'}


@dataclass(frozen=True)
class Override:
    """A parameter value given from outside, for the nodes that ``selector`` fits."""

    selector: str
    name: str
    value: Any
    source: str

    @property
    def is_for_all(self) -> bool:
        """Whether the override is for any node, and not for one in particular."""
        return '*' in self.selector and not self.source.startswith('-p')

    def fits(self, full_node_name: str) -> bool:
        """Return whether the selector ('/**', 'node', '/ns/node', '/*/node') fits a node."""
        selector = self.selector if self.selector.startswith('/') else f'/{self.selector}'
        # rclpy's rule: '/*' stands for one level, '/**' for any number of levels
        pattern = ''.join(r'(/\w+)' + part[2:] if part.startswith('/*') else re.escape(part)
                          for part in re.split(r'(/\*\*?)', selector))
        return re.fullmatch(pattern, full_node_name) is not None


@dataclass(frozen=True)
class RosArguments:
    """What a ROS 2 command line says."""

    remaps: tuple[Remap, ...] = ()  # Remapping rules in order
    overrides: tuple[Override, ...] = ()  # Parameter values in order; a later one wins
    log_level: str = 'info'  # Least severe level that is shown
    others: tuple[str, ...] = ()  # Arguments that are not ROS's

    @classmethod
    def parse(cls, argv: Sequence[str] = ()) -> RosArguments:
        """
        Return the parsed command line (without program name); the rest is in `others`.

        Raises ConfigurationError for unknown or malformed arguments after ``--ros-args``, or an
        unreadable parameter file.
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
            elif word not in _IGNORED_FLAGS | _OPTIONS:
                raise ConfigurationError(f'unknown ROS argument {word!r}; expected -p name:=value,'
                                         ' -r from:=to, --params-file FILE or --log-level LEVEL')
            elif word in _OPTIONS:
                text = next(words, None)
                if text is None:
                    raise ConfigurationError(f'{word} needs an argument behind it')
                if word in ('-r', '--remap'):
                    remaps.append(_remap(text))
                elif word in ('-p', '--param'):
                    left, right = _split_rule(text, '-p')
                    node, _, name = left.rpartition(':')
                    overrides.append(Override(node or '/**', name,
                                              parse_value(right, f'-p {name}'), f'-p {name}'))
                elif word == '--params-file':
                    overrides += [Override(*one[:3], text) for one in read_parameters(text)]
                elif word == '--log-level':
                    log_level = text.rpartition(':=')[2].lower()
                    if log_level not in LOG_LEVELS:
                        raise ConfigurationError(
                            f'expected a log level ({", ".join(LOG_LEVELS)}), got {text!r}')
        return cls(tuple(remaps), tuple(overrides), log_level, tuple(others))

    def overrides_for(self, full_node_name: str) -> dict[str, Override]:
        """Return a node's overrides by parameter name; of several the last one holds."""
        return {entry.name: entry for entry in self.overrides if entry.fits(full_node_name)}

    def unused_files(self, full_node_name: str) -> list[str]:
        """Return a sentence for each parameter file that has nothing for a node."""
        selectors: dict[str, set[str]] = {}
        for entry in self.overrides:
            if not entry.source.startswith('-p'):
                selectors.setdefault(entry.source, set()).add(entry.selector)
        return [f'{path} has nothing for this node ({full_node_name}): its parameters are for '
                f'{", ".join(sorted(found)[:5])}' for path, found in selectors.items()
                if not any(Override(one, '', None, path).fits(full_node_name) for one in found)]


def _split_rule(text: str, option: str) -> tuple[str, str]:
    left, separator, right = text.partition(':=')
    if not separator or not left or not right:
        raise ConfigurationError(f'expected {option} name:=value, got {text!r}')
    return left, right


def _remap(text: str) -> Remap:
    left, right = _split_rule(text, '-r')
    node, _, match = left.rpartition(':')
    if match == '__ns':
        right = _check_namespace(right)
    return Remap(match, right, node)
