# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The robot's description: from the parameter, or else from the latched topic."""
from __future__ import annotations

from collections.abc import Callable

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.middleware.protocol import Component
from legged_dynamics.model.description_text import read_description_file
from legged_dynamics.nodes.endpoints import Endpoints
from legged_dynamics.schema import Setting

SETTINGS = (
    Setting('robot_description', '', '',
            'URDF of the robot, as XML or as a path; empty: wait for the topic of that name.'),
)


def when_described(component: Component, endpoints: Endpoints, parameter: str,
                   callback: Callable[[str], None]) -> None:
    """
    Hand the URDF to a callback: at once when the parameter has it, else from the topic.

    The parameter, set by who started the node, may be a path. What comes over the topic is handed
    on as it is, to be read as XML only: a stranger is not to have files opened here.
    """
    if parameter:
        callback(urdf_text(parameter))
        return
    endpoints.subscription('std_msgs/msg/String', 'robot_description',
                           lambda message: callback(message.data), component.dialect.qos.latched)
    component.node.get_logger().info('waiting for the topic robot_description')


def urdf_text(description: str) -> str:
    """
    Return the XML of a description that may be a path.

    Raises
    ------
    ConfigurationError
        When it is empty.
    ModelError
        When the file cannot be read.

    """
    if not description:
        raise ConfigurationError('robot_description: expected the URDF of the robot, as XML or as '
                                 'a path, got nothing')
    if '<' in description:
        return description
    return read_description_file(description)
