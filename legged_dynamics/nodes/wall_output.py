# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the climbing controller publishes beside efforts: grips, rest positions, reactions."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from legged_dynamics.middleware import conversions as convert
from legged_dynamics.nodes.robot_component import RobotComponent
from legged_dynamics.schema import Setting
from legged_dynamics.spatial.rotations import rotation_from_rpy
from legged_dynamics.stickybot import StickybotCommand, StickybotModel
from legged_dynamics.stickybot.model.joints import LimbJoints

GRIPS = 'adhesion_controller/commands'
SETTINGS = (
    Setting('markers.rate', 30.0, 'Hz', 'Rate of the markers; 0 switches them off.', 0.0, 1000.0),
    Setting('markers.newtons_per_meter', 20.0, 'N/m', 'Force drawn as an arrow of 1 m.',
            1e-3, 1e6),
)


class WallOutput:
    """
    Turns the controller's commands into messages.

    Parameters
    ----------
    common : RobotComponent
        Of the node; with the parameters `SETTINGS`.
    climber : StickybotModel
        The robot on its wall.
    base_link : str
        Frame of markers and pose.

    Attributes
    ----------
    grips : list of float
        What the feet were told last: 1 hold, 0 let go.

    """

    def __init__(self, common: RobotComponent, climber: StickybotModel, base_link: str):
        self._dialect, self._parameters = common.dialect, common.parameters
        self._limbs, self._base_link = LimbJoints(climber), base_link
        self._R_WA = rotation_from_rpy(np.array([climber.wall.inclination, 0.0, 0.0]))
        half = climber.wall.inclination / 2.0
        self._lean, self._height = (math.sin(half), math.cos(half)), climber.body.height
        self._next_marker_ns = 0
        reliable = self._dialect.qos.reliable
        wrench, flag = 'geometry_msgs/msg/WrenchStamped', 'std_msgs/msg/Bool'

        def publisher(kind: str, topic: str, depth: int = 500) -> Any:
            return common.endpoints.publisher(kind, topic, reliable(depth))
        feet = self._limbs.feet
        self.grips = [1.0] * len(feet)
        self._grips = publisher('std_msgs/msg/Float64MultiArray', GRIPS, 1)
        self._rest = publisher('sensor_msgs/msg/JointState', '~/rest')
        self._wrenches = [publisher(wrench, f'~/{foot}/wrench') for foot in feet]
        self._contacts = [publisher(flag, f'~/{foot}/contact') for foot in feet]
        self._pose = publisher('nav_msgs/msg/Odometry', '~/odom')
        self._events = publisher('std_msgs/msg/String', '~/events')
        self._markers = publisher('visualization_msgs/msg/MarkerArray', '~/markers')

    def hold_on(self) -> None:
        """Tell every foot to hold."""
        self._send_grips(np.ones(len(self._limbs.feet)))

    def _send_grips(self, grips: np.ndarray) -> None:
        self.grips = grips.tolist()
        self._grips.publish(convert.command(self._dialect, grips))

    def publish(self, ns: int, position: np.ndarray, command: StickybotCommand,
                rest: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        """
        Publish what belongs to one command.

        Parameters
        ----------
        ns : int [ns]
            Stamp of the joint states that it answers.
        position : (nj,) array [m or rad]
            Of the joints, in the order of `LimbJoints.names`.
        command : StickybotCommand
            With reactions and pose.
        rest : tuple of three (nj,) arrays
            Rest positions of the joints, their rates, and the efforts that make them.

        """
        dialect, limbs = self._dialect, self._limbs
        assert command.reaction is not None and command.pose is not None
        assert command.velocity is not None
        self._send_grips(command.attach.astype(float))
        self._rest.publish(convert.joint_state(dialect, ns, limbs.names, *rest))
        angle = float(command.pose[2])
        turned = _turned(command.reaction, limbs.foot_angles(position, angle))
        for i, foot in enumerate(limbs.feet):
            self._wrenches[i].publish(convert.wrench_stamped(
                dialect, ns, foot, np.array([*turned[i], 0.0, 0.0, 0.0, 0.0])))
            self._contacts[i].publish(convert.boolean(dialect, command.attach[i]))
        for event in command.events:
            self._events.publish(convert.string(dialect, str(event)))
        self._publish_pose(ns, command.pose, command.velocity)
        rate = self._parameters['markers.rate']
        # A stamp far below the next one due means that time was set back.
        if rate and not self._next_marker_ns - 2e9 < ns < self._next_marker_ns:
            self._next_marker_ns = ns + round(1e9 / rate)
            self._publish_markers(ns, position, command, 5.0 / rate)

    def _publish_pose(self, ns: int, pose: np.ndarray, velocity: np.ndarray) -> None:
        x, y, angle = pose.tolist()
        along = _turned(velocity[None, :2], np.array([angle]))[0]
        c, s = math.cos(angle / 2.0), math.sin(angle / 2.0)
        lean_s, lean_c = self._lean
        self._pose.publish(convert.odometry(
            self._dialect, ns, 'world', self._base_link,
            self._R_WA @ np.array([x, y, self._height]),
            [lean_s * c, -lean_s * s, lean_c * s, lean_c * c],      # about x, then about z
            [*along, 0.0], [0.0, 0.0, velocity[2]]))

    def _publish_markers(self, ns: int, position: np.ndarray, command: StickybotCommand,
                         lifetime: float) -> None:
        n = len(self._limbs.feet)
        point, force = np.full((n, 3), -self._height), np.zeros((n, 3))
        point[:, :2] = self._limbs.foot_positions(position)
        force[:, :2] = _turned(command.reaction,                # type: ignore[arg-type]
                               np.full(n, command.pose[2]))     # type: ignore[index]
        self._markers.publish(convert.reaction_markers(
            self._dialect, ns, self._base_link, self._limbs.feet, point, force, command.attach,
            newtons_per_meter=self._parameters['markers.newtons_per_meter'], lifetime_s=lifetime,
            observable=np.full(n, command.pads_kept)))


def _turned(vectors: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return (n, 2) vectors in axes that are turned by (n,) angles [rad]."""
    c, s = np.cos(angles), np.sin(angles)
    return np.stack([c * vectors[:, 0] + s * vectors[:, 1],
                     c * vectors[:, 1] - s * vectors[:, 0]], axis=1)
