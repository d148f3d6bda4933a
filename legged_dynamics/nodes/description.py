# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The robot's description: from the parameter, or else from the latched topic."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from legged_dynamics.middleware.protocol import Component
from legged_dynamics.schema import Setting

SETTINGS = (
    Setting('robot_description', '', '',
            'URDF of the robot, as XML or as a path; empty: wait for the topic of that name.'),
)


class DescriptionSource:
    """Hands the URDF to a component as soon as it is known, once.

    Parameters
    ----------
    component : Component
    parameter : str
        Value of the parameter `robot_description`.
    callback : callable
        Gets the URDF.
    """

    def __init__(self, component: Component, parameter: str, callback: Callable[[str], None]):
        self._component = component
        self._callback = callback
        self._subscription: Any = None
        if parameter:
            callback(parameter)
            return
        dialect = component.dialect
        self._subscription = component.node.create_subscription(
            dialect.message('std_msgs/msg/String'), 'robot_description', self._received,
            dialect.qos.latched)
        component.node.get_logger().info('waiting for the topic robot_description')

    def _received(self, message: Any) -> None:
        if self._subscription is not None:
            self._callback(message.data)

    def close(self) -> None:
        """Stop listening."""
        if self._subscription is not None:
            self._component.node.destroy_subscription(self._subscription)
            self._subscription = None
