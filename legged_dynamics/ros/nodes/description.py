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
    Pass the URDF to a callback: at once when the parameter has it, else when the topic does.

    The parameter, set by the person who started the node, may be a path. What comes over the topic
    is read as XML only: no file is opened because a message says so.

    Parameters
    ----------
    component : Component
        Node that needs the URDF.
    endpoints : Endpoints
        Endpoints of the component.
    parameter : str
        Its parameter robot_description: XML, a path, or empty.
    callback : callable
        Takes the URDF as XML.

    """
    if parameter:
        callback(urdf_text(parameter))
        return
    endpoints.subscription('std_msgs/msg/String', 'robot_description',
                           lambda message: callback(message.data), component.dialect.qos.latched)
    component.node.get_logger().info(
        'waiting for the topic robot_description; or give the URDF: -p robot_description:=FILE')


def urdf_text(description: str) -> str:
    """
    Return the XML of a description that may be a path.

    Parameters
    ----------
    description : str
        XML, or the path of a URDF.

    Returns
    -------
    str
        XML.

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


class RobotDescription:
    """
    The robot_description in use, and the fault of the last one that came.

    Parameters
    ----------
    component : Component
        Node that needs the description.
    described : callable
        Takes the RobotModel of each description that can be read, mounted joints' physics not
        applied; raises LeggedDynamicsError when the node cannot work with it.
    holds : callable
        Returns whether the description in use must be kept: another then waits for
        :meth:`take_waiting`, and the same text again changes nothing. None: every description is
        taken when it comes.

    Attributes
    ----------
    model : RobotModel or None
        Once a description was accepted.
    fault : str
        Why the last one was refused, or empty.
    waiting : str
        One that has come and is not in force, or empty.

    """

    def __init__(self, component: Component, described: Callable[[RobotModel], None],
                 holds: Callable[[], bool] | None = None):
        self._component, self._described, self._holds = component, described, holds
        self.model: RobotModel | None = None
        self.fault = self.waiting = self._text = ''
        self._given = False

    def join(self, endpoints: Endpoints, parameter: str) -> None:
        """
        Use the description of the parameter, or else subscribe to the topic.

        Parameters
        ----------
        endpoints : Endpoints
            Endpoints of the component.
        parameter : str
            Parameter robot_description: XML, a path, or empty.

        Raises
        ------
        LeggedDynamicsError
            When that of the parameter cannot be used: no other will come.

        """
        self._given = bool(parameter)
        when_described(self._component, endpoints, parameter, self._came)

    def take_waiting(self) -> None:
        """Use the description that waits, if there is one."""
        if self.waiting:
            self._take(self.waiting)

    def state(self) -> tuple[str, str] | None:
        """
        Tell what is wrong when there is no description to work with.

        Returns
        -------
        tuple of str, or None
            Level and message; None when there is a description.

        """
        if self.fault:
            return 'ERROR', f'robot_description: {self.fault}'
        return ('WARN', 'waiting for robot_description') if self.model is None else None

    def judge(self) -> dict[str, tuple[str, str]]:
        """
        Warn in the diagnostics while another description waits.

        Returns
        -------
        dict
            Level and message of `robot_description`, or nothing.

        """
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
