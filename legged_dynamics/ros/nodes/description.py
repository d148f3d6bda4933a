# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The robot's description: from the parameter, or else from the latched topic."""
from __future__ import annotations

from collections.abc import Callable

from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError
from legged_dynamics.model import RobotModel
from legged_dynamics.model.urdf import read_description_file
from legged_dynamics.ros.middleware.protocol import Component
from legged_dynamics.ros.nodes.diagnostics import Endpoints
from legged_dynamics.schema import Setting

# Where the URDF comes from.
SETTINGS = (
    Setting(
        'robot_description', '', '',
        'URDF of the robot, as XML or as a path; empty: wait for the topic of that name.'),
)


def when_described(component: Component, endpoints: Endpoints, parameter: str,
                   callback: Callable[[str], None]) -> None:
    """
    Pass the URDF to a callback: at once from the parameter, else from the topic.

    The parameter may be a path; what comes over the topic is read as XML only, so no file
    is opened because a message says so.
    """
    if parameter:
        callback(urdf_text(parameter))
        return
    endpoints.subscription('std_msgs/msg/String', 'robot_description',
                           lambda message: callback(message.data), component.dialect.qos.latched)
    component.node.get_logger().info(
        'waiting for the topic robot_description; or give the URDF: -p robot_description:=FILE')


def urdf_text(description: str) -> str:
    """Return the XML of a description that may be a path."""
    if not description:
        raise ConfigurationError('robot_description: expected the URDF of the robot, as XML or as '
                                 'a path, got nothing')
    if '<' in description:
        return description
    return read_description_file(description)


class RobotDescription:
    """
    The robot_description in use, and the fault of the last one received.

    ``described`` takes each readable RobotModel, without mounted joint physics, and may
    raise LeggedDynamicsError. While ``holds()`` is true, another description waits for
    :meth:`take_waiting`.
    """

    def __init__(self, component: Component, described: Callable[[RobotModel], None],
                 holds: Callable[[], bool] | None = None):
        self._component, self._described, self._holds = component, described, holds
        self.model: RobotModel | None = None
        self.fault = self.waiting = self._text = ''
        self._given = False

    def join(self, endpoints: Endpoints, parameter: str) -> None:
        """Use the parameter's description (XML or path), or else subscribe to the topic."""
        self._given = bool(parameter)
        when_described(self._component, endpoints, parameter, self._came)

    def take_waiting(self) -> None:
        """Use the description that waits, if there is one."""
        if self.waiting:
            self._take(self.waiting)

    def state(self) -> tuple[str, str] | None:
        """Return level and message while there is no description, else None."""
        if self.fault:
            return 'ERROR', f'robot_description: {self.fault}'
        return ('WARN', 'waiting for robot_description') if self.model is None else None

    def judge(self) -> dict[str, tuple[str, str]]:
        """Return a warning as `robot_description` while another description waits."""
        return {'robot_description': ('WARN', 'another robot_description came; the one in force '
                                      'stays until the node is deactivated')} \
            if self.waiting else {}

    def _came(self, urdf: str) -> None:
        if self._holds is not None and self.model is not None:
            if urdf == self._text:
                self.waiting = ''
                return
            if self._holds():
                self.waiting = urdf
                return
        self._take(urdf)

    def _take(self, urdf: str) -> None:
        self.waiting = ''
        try:
            model = RobotModel.from_xml(urdf)
            self._described(model)
        except LeggedDynamicsError as error:
            if self._given:
                raise
            self.fault = str(error)     # a better one may still be published
            self._component.node.get_logger().error(f'robot_description: {error}')
            return
        self.fault, self._text, self.model = '', urdf, model
