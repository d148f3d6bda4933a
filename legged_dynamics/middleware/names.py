# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ROS 2 names: expansion of topic names, remapping rules, and their spelling on the DDS bus."""
from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.middleware.messages import full_name

_TOKEN = r'[A-Za-z_][A-Za-z0-9_]*'
_TOPIC = re.compile(rf'(/|~/?)?({_TOKEN})?(/{_TOKEN})*$')
_NAMESPACE = re.compile(rf'(/|(/{_TOKEN})+)$')


@dataclass(frozen=True)
class Remap:
    """One rule ``[node:]match:=replacement``; ``match`` may also be '__node' or '__ns'."""

    match: str
    replacement: str
    node: str = ''


def check_node_name(name: str) -> str:
    """Return a node's name, or raise MiddlewareError when ROS would refuse it."""
    if not re.fullmatch(_TOKEN, name):
        raise MiddlewareError(f'expected a node name of letters, digits and underscores that does '
                              f'not begin with a digit, got {name!r}')
    return name


def check_namespace(namespace: str) -> str:
    """Return a namespace with its leading '/', or raise MiddlewareError when it is malformed."""
    namespace = namespace if namespace.startswith('/') else f'/{namespace}'
    if not _NAMESPACE.match(namespace):
        raise MiddlewareError(f'expected a namespace such as "/robot1", got {namespace!r}')
    return namespace


def expand(topic: str, node_name: str, namespace: str) -> str:
    """
    Return the full name of a relative ('x'), private ('~/x') or absolute ('/x') topic.

    Raises
    ------
    MiddlewareError
        When the name is malformed.

    """
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
    """Return the full name of a topic after remapping: the first rule that fits decides."""
    name = expand(topic, node_name, namespace)
    for rule in remaps:
        if rule.match.startswith('__') or rule.node not in ('', node_name):
            continue
        if expand(rule.match, node_name, namespace) == name:
            return expand(rule.replacement, node_name, namespace)
    return name


def remapped_identity(name: str, namespace: str, remaps: Iterable[Remap]) -> tuple[str, str]:
    """Return a node's name and namespace after the rules for '__node', '__name' and '__ns'."""
    rules = list(remaps)
    new_name = next((rule.replacement for rule in rules
                     if rule.match in ('__node', '__name') and rule.node in ('', name)), name)
    new_space = next((rule.replacement for rule in rules
                      if rule.match == '__ns' and rule.node in ('', name, new_name)), namespace)
    return check_node_name(new_name), check_namespace(new_space)


def dds_topic(full_topic: str) -> str:
    """Return the DDS name of a ROS topic: '/imu/data' becomes 'rt/imu/data'."""
    return f'rt{full_topic}'


def ros_topic(dds_name: str) -> str | None:
    """Return the ROS name of a DDS topic, or None when it is not a ROS topic."""
    return dds_name[2:] if dds_name.startswith('rt/') else None


def dds_type(name: str) -> str:
    """Return the DDS name of a message: 'sensor_msgs::msg::dds_::Imu_' for sensor_msgs/msg/Imu."""
    package, _, kind = full_name(name).partition('/msg/')
    return f'{package}::msg::dds_::{kind}_'


def ros_type(dds_name: str) -> str | None:
    """Return the ROS name of a DDS type, or None when it is not a ROS message."""
    found = re.fullmatch(r'(\w+)::(\w+)::dds_::(\w+)_', dds_name)
    return '/'.join(found.groups()) if found else None
