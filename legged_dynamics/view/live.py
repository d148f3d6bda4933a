# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot as it is now: the newest of what the bus says of it, picture after picture."""
from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.analysis.robot import RobotChoice, choose_live_robot
from legged_dynamics.exceptions import LeggedDynamicsError, MeasurementError
from legged_dynamics.middleware.conversions import SensorReader
from legged_dynamics.middleware.polling import run_polled
from legged_dynamics.middleware.protocol import Component
from legged_dynamics.nodes.description import when_described
from legged_dynamics.nodes.endpoints import Endpoints
from legged_dynamics.spatial.rotations import rotation_from_quaternion
from legged_dynamics.view.recorded import pose_of
from legged_dynamics.view.show import Pace, Show
from legged_dynamics.view.snapshot import Forces, ForcesReader, Snapshot

REACTIONS = 'ground_reaction_estimator/reactions'
# Estimates that are older than the joints by more than this belong to another time.
_STALE_NS = 500_000_000


@dataclass(frozen=True)
class LiveOptions:
    """
    What is to be shown live.

    Attributes
    ----------
    robot : str
        As `analysis.robot.choose_robot` has it.
    urdf : str
        Path or XML; empty: the topic ``robot_description``.
    joint_states, imu, reactions : str
        Topics; the usual ones when empty.
    odometry : str
        Topic with the pose of the base; empty: the robot stays on the feet in contact.

    """

    robot: str = ''
    urdf: str = ''
    joint_states: str = ''
    imu: str = ''
    reactions: str = ''
    odometry: str = ''


class ViewNode(Component):
    """
    Keeps the newest joint state, IMU reading, estimate and odometry.

    Its subscriptions keep one message: see `middleware.polling`. Nothing of its own is published.

    Attributes
    ----------
    robot : RobotChoice or None
        Once the description has come.
    wrong : str
        Why there is no picture.

    """

    default_name = 'legged_dynamics_view'
    options = LiveOptions()

    def configure(self) -> None:
        """Join the topics."""
        options, qos = type(self).options, self.dialect.qos.best_effort(1)
        self.robot: RobotChoice | None = None
        self.wrong = 'waiting for robot_description'
        self._newest: dict[str, Any] = {}
        self._endpoints = Endpoints(self)
        when_described(self, self._endpoints, options.urdf, self._described)

        def keep(kind: str, topic: str, name: str) -> None:
            self._endpoints.subscription(
                kind, topic, lambda message: self._newest.__setitem__(name, message), qos)
        keep('sensor_msgs/msg/JointState', options.joint_states or 'joint_states', 'joints')
        keep('sensor_msgs/msg/Imu', options.imu or 'imu/data', 'imu')
        keep('sensor_msgs/msg/JointState', options.reactions or REACTIONS, 'reactions')
        if options.odometry:
            keep('nav_msgs/msg/Odometry', options.odometry, 'odometry')

    def cleanup(self) -> None:
        """Leave all topics."""
        self._endpoints.close()

    def _described(self, urdf: str) -> None:
        try:
            robot = choose_live_robot(urdf, type(self).options.robot)
        except LeggedDynamicsError as error:
            self.wrong = f'robot_description: {error}'
            return
        self.robot, config = robot, robot.config
        self._model = model = config.apply_to(robot.model)
        self._read = SensorReader(model.joint_names, config.sensors, config.spare(model),
                                  model.mimics)
        self._forces = ForcesReader(tuple(foot.link for foot in config.feet))
        self._mount = model.frame(config.imu_link or model.base_link)
        self._rotation = np.eye(3)
        self.wrong = 'waiting for joint_states'

    def snapshot(self) -> Snapshot | None:
        """Return what is known now; None, and `wrong`, where that is not enough for a picture."""
        newest = self._newest
        if self.robot is None or 'joints' not in newest:
            return None
        try:
            joints = self._read.joints(newest['joints'])
            if 'imu' in newest:
                self._turn(self._read.imu(newest['imu']).orientation)
        except MeasurementError as error:
            self.wrong = str(error)
            return None
        self.wrong, base = '', None
        if 'odometry' in newest:
            self._rotation, base = pose_of(newest['odometry'])
        return Snapshot(joints.stamp_ns, joints.position, joints.effort, self._rotation, base,
                        self._young(joints.stamp_ns))

    def _turn(self, orientation: np.ndarray | None) -> None:
        # An IMU on a leg, or one without orientation, says nothing of the base by itself.
        if orientation is not None and self._mount.body == 0:
            self._rotation = rotation_from_quaternion(orientation) @ self._mount.pose.R.T

    def _young(self, stamp_ns: int) -> Forces | None:
        message = self._newest.get('reactions')
        forces = None if message is None else self._forces(message)
        if forces is None or abs(forces.stamp_ns - stamp_ns) > _STALE_NS:
            return None
        return forces


def follow(options: LiveOptions, open_show: Callable[[RobotChoice], Show], rate: float,
           say: Callable[[str], None] = print) -> int:
    """
    Show the robot on the bus until Ctrl-C, and return the exit code.

    Parameters
    ----------
    options : LiveOptions
        Robot and topics.
    open_show : callable
        Makes the show of a robot, once its description has come.
    rate : float [Hz]
        Pictures a second, at most.
    say : callable
        Gets what is missing, each time that changes.

    """
    class Node(ViewNode):
        pass
    Node.options = options
    pace, said = Pace(rate, time.monotonic, time.sleep), ['']
    shows: list[Show] = []

    def work(node: ViewNode) -> None:
        snapshot = node.snapshot()
        if snapshot is not None:
            if not shows and node.robot is not None:
                shows.append(open_show(node.robot))
            shows[0].draw(snapshot)
        elif node.wrong != said[0]:
            said[0] = node.wrong
            say(node.wrong)
        pace.wait()
    return run_polled(Node, [], work)


def urdf_path(urdf: str) -> str:
    """Return a path that a node may open, from what stands on the command line."""
    return str(Path(urdf).resolve()) if urdf else ''
