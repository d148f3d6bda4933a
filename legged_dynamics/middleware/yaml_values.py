# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Values of ROS 2 parameters as text: the typing rules of ROS's own YAML parser.

They differ from PyYAML's: ``1e-4`` is a double, ``yes`` a boolean, ``010`` eight, and a list holds
values of one type only.
"""
from __future__ import annotations

import re
from typing import Any

import yaml

from legged_dynamics.exceptions import ConfigurationError

_TRUE = {'Y', 'y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'}
_FALSE = {'N', 'n', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'}
_INTEGER = re.compile(r'[-+]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)$')
_DOUBLE = re.compile(r'[-+]?((\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|\.?(inf|Inf|INF)|\.?(nan|NaN|NAN))$')
_NAMES = {bool: 'boolean', int: 'integer', float: 'double', str: 'string'}


def parse_value(text: str, source: str) -> Any:
    """
    Return the value of one parameter given as YAML text, as after ``-p name:=``.

    Parameters
    ----------
    text : str
        A scalar, or a list in brackets.
    source : str
        Where it stands, for the error's text.

    Raises
    ------
    ConfigurationError
        When the text is not a value, or mixes types in a list.

    """
    try:
        node = yaml.compose(text)
    except yaml.YAMLError as error:
        raise ConfigurationError(f'{source}: {text!r} is not valid YAML: {error}') from error
    if node is None:
        raise ConfigurationError(f'{source}: expected a value, got nothing')
    return value_of(node, source)


def value_of(node: yaml.Node, source: str) -> Any:
    """
    Return the value of a YAML scalar or list as ROS types it.

    Raises
    ------
    ConfigurationError
        When the node is a mapping, is empty, or is a list of mixed types.

    """
    where = f'{source}, line {node.start_mark.line + 1}'
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, where)
    if not isinstance(node, yaml.SequenceNode):
        raise ConfigurationError(f'{where}: expected a value or a list of values, got a mapping')
    values = []
    for item in node.value:
        if not isinstance(item, yaml.ScalarNode):
            raise ConfigurationError(f'{where}: a list may hold plain values only; ROS 2 '
                                     'parameters have no nested lists')
        values.append(_scalar(item, where))
    kinds = sorted({_NAMES[type(value)] for value in values})
    if len(kinds) > 1:
        hint = ' (write 1.0 rather than 1)' if kinds == ['double', 'integer'] else ''
        raise ConfigurationError(f'{where}: a list must hold values of one type{hint}, '
                                 f'got {" and ".join(kinds)}: {values}')
    return values


def _scalar(node: yaml.ScalarNode, where: str) -> bool | int | float | str:
    text = node.value
    if node.style in ("'", '"') or _tagged_string(node):
        return text
    if not text:
        raise ConfigurationError(f'{where}: expected a value, got nothing')
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _INTEGER.match(text):
        digits = text.lstrip('+-')
        base = 16 if digits[:2] in ('0x', '0X') else 8 if digits[0] == '0' else 10
        return int(text, base)
    if _DOUBLE.match(text):
        return float(re.sub(r'\.(?=[a-zA-Z])', '', text))
    return text


def _tagged_string(node: yaml.ScalarNode) -> bool:
    # an explicit !!str keeps plain style but resolves to a tag the plain text would not have
    plain = yaml.resolver.Resolver().resolve(yaml.ScalarNode, node.value, (True, False))
    return node.tag == 'tag:yaml.org,2002:str' and plain != node.tag
