# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What workspace control publishes beside efforts: pose, reference, forces on the feet."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from legged_dynamics.estimation import GroundReaction, Mode
from legged_dynamics.estimation.body_state import BodyState
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.middleware.protocol import Component
from legged_dynamics.nodes.endpoints import Endpoints
from legged_dynamics.spatial.rotations import quaternion_from_rotation
from legged_dynamics.workspace.command import WorkspaceCommand
from legged_dynamics.workspace.target import BodyTarget

WRENCH = 'geometry_msgs/msg/WrenchStamped'


class BodyOutput:
    """
    Publishers of a body under control; each publishes only while somebody listens.

    Parameters
    ----------
    component : Component
        On whose node they live.
    endpoints : Endpoints
        Of the component.
    feet : sequence of str
        Links of the feet, which are frames of their wrenches.
    base : str
        Link of the base.
    parameters : mapping
        With odom_frame and publish_tf.

    """

    def __init__(self, component: Component, endpoints: Endpoints, feet: Sequence[str], base: str,
                 parameters: Mapping[str, Any]):
        self._dialect = component.dialect
        self._feet, self._base, self._frame = tuple(feet), base, parameters['odom_frame']
        qos = component.dialect.qos.reliable(100)
        self._desired = [endpoints.publisher(WRENCH, f'~/{foot}/desired_wrench', qos)
                         for foot in feet]
        self._estimated = [endpoints.publisher(WRENCH, f'~/{foot}/estimated_wrench', qos)
                           for foot in feet]
        self._odometry = endpoints.publisher('nav_msgs/msg/Odometry', '~/odom', qos)
        self._reference = endpoints.publisher('geometry_msgs/msg/PoseStamped', '~/body_reference',
                                              qos)
        self._tf = (endpoints.publisher('tf2_msgs/msg/TFMessage', 'tf', qos)
                    if parameters['publish_tf'] else None)

    def publish(self, state: BodyState, command: WorkspaceCommand, reaction: GroundReaction,
                target: BodyTarget) -> None:
        """
        Publish what belongs to one command.

        Parameters
        ----------
        state : BodyState
            Where the body is.
        command : WorkspaceCommand
            With the forces wanted of the ground.
        reaction : GroundReaction
            Newest estimate, `delay` samples older.
        target : BodyTarget
            Where the body was wanted.

        """
        dialect, ns = self._dialect, command.stamp_ns
        for foot, publisher, wrench in zip(self._feet, self._desired, command.foot_wrench):
            if publisher.get_subscription_count():
                publisher.publish(convert.wrench_stamped(dialect, ns, foot, wrench))
        if reaction.mode != Mode.UNAVAILABLE:
            for foot, publisher, wrench in zip(self._feet, self._estimated, reaction.wrench):
                if publisher.get_subscription_count():
                    publisher.publish(convert.wrench_stamped(dialect, reaction.latest_ns, foot,
                                                             wrench))
        if self._reference.get_subscription_count():
            self._reference.publish(convert.pose_stamped(
                dialect, ns, self._frame, target.position,
                quaternion_from_rotation(target.rotation)))
        listened = self._odometry.get_subscription_count()
        if not listened and self._tf is None:
            return
        orientation = quaternion_from_rotation(state.rotation)
        if listened:
            message = convert.odometry(dialect, ns, self._frame, self._base, state.position,
                                       orientation, state.twist[:3], state.twist[3:])
            covariance = np.zeros(36)
            covariance[[0, 7, 14]] = state.position_deviation ** 2
            message.pose.covariance = covariance
            self._odometry.publish(message)
        if self._tf is not None:
            self._tf.publish(convert.transforms(dialect, ns, self._frame, self._base,
                                                state.position, orientation))
