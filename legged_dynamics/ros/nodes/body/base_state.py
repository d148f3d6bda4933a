# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
BaseStateOutput: where the base is, how fast, and which feet slip, for nodes that estimate forces.

Leg odometry runs from the first subscription on, with the feet that are felt to bear for a while.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from legged_dynamics.estimation import GroundReaction, LegOdometry, Mode
from legged_dynamics.estimation.leg_odometry import SETTINGS as ODOMETRY_SETTINGS
from legged_dynamics.estimation.leg_odometry import SETTLED, BodyState
from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError
from legged_dynamics.model import RobotModel
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.protocol import Dialect
from legged_dynamics.ros.nodes.diagnostics import publish_if_heard
from legged_dynamics.ros.nodes.robot_component import RobotComponent
from legged_dynamics.schema import Setting
from legged_dynamics.spatial.rotations import quaternion_from_rotation

SETTINGS = (*ODOMETRY_SETTINGS, Setting('odom_frame', 'odom', '', 'Parent frame of ~/odom.'))


def odometry_of(dialect: Dialect, state: BodyState, frame: str, base: str) -> Any:
    """Return a base state as a nav_msgs/Odometry, with its covariances."""
    message = convert.odometry(dialect, state.stamp_ns, frame, base, state.position,
                               quaternion_from_rotation(state.rotation), state.twist[:3],
                               state.twist[3:])
    pose, twist = np.zeros(36), np.zeros(36)
    pose[[0, 7, 14]] = state.position_deviation ** 2
    pose[[21, 28]], pose[35] = state.tilt_deviation ** 2, state.heading_deviation ** 2
    twist[[0, 7, 14]] = state.velocity_deviation ** 2
    twist[[21, 28, 35]] = state.rate_deviation ** 2
    message.pose.covariance, message.twist.covariance = pose, twist
    return message


class BaseStateOutput:
    """
    Publishes ``~/odom``, ``~/base_velocity``, ``~/<foot>/slip_probability`` on demand.

    Nothing where leg odometry is not possible, as with an IMU off the base; the log says
    why.
    """

    def __init__(self, common: RobotComponent, model: RobotModel):
        self._common = common
        self._odometry: LegOdometry | None = None
        endpoints, qos = common.endpoints, common.dialect.qos.reliable(100)
        self._odom = endpoints.publisher('nav_msgs/msg/Odometry', '~/odom', qos)
        self._velocity = endpoints.publisher('geometry_msgs/msg/TwistWithCovarianceStamped',
                                             '~/base_velocity', qos)
        self._slips = [endpoints.publisher('std_msgs/msg/Float64',
                                           f'~/{foot.link}/slip_probability', qos)
                       for foot in common.config.feet]
        self.build(model)

    def build(self, model: RobotModel) -> None:
        """Use a robot from now on."""
        self._odometry = None
        try:
            odometry = LegOdometry(model, self._common.config,
                                   self._common.values(ODOMETRY_SETTINGS))
        except ConfigurationError as error:
            self._common.node.get_logger().warning(f'no odometry: {error}')
            return
        self._common.warm_up(model, odometry.update)
        self._odometry = odometry
        self.reset()

    def reset(self) -> None:
        """Forget where the base is; it is followed again while somebody listens."""
        self._follows, self._since = False, np.zeros(len(self._slips))
        self._newest = 0
        if self._odometry is not None:
            self._odometry.reset()

    def take(self, measurement: Measurement, reaction: GroundReaction) -> str:
        """Track and publish the base at one sample; return why not, or ''."""
        listened = (self._odom.get_subscription_count()
                    or self._velocity.get_subscription_count()
                    or any(slip.get_subscription_count() for slip in self._slips))
        if self._odometry is None or not (listened or self._follows):
            return ''
        stamp, contact = measurement.stamp_ns, reaction.latest_contact
        if reaction.mode == Mode.UNAVAILABLE:
            return ''
        dt = min(max((stamp - self._newest) * 1e-9, 0.0), 1.0)
        self._newest = stamp
        self._since = np.where(contact, self._since + dt, 0.0)
        try:
            state = self._odometry.update(
                measurement, self._since >= SETTLED if self._follows else contact)
        except LeggedDynamicsError as error:
            return f'odometry: {error}'
        self._follows = True
        if listened:
            self._publish(state, reaction)
        return ''

    def _publish(self, state: BodyState, reaction: GroundReaction) -> None:
        dialect, base = self._common.dialect, self._odometry.model.base_link  # type: ignore
        message = odometry_of(dialect, state, self._common.parameters['odom_frame'], base)
        if self._odom.get_subscription_count():
            self._odom.publish(message)
        if self._velocity.get_subscription_count():
            twist = dialect.message('geometry_msgs/msg/TwistWithCovarianceStamped')(
                header=message.header, twist=message.twist)
            twist.header.frame_id = base
            self._velocity.publish(twist)
        slips = state.slip_probability * reaction.contact_probability
        for publisher, slip in zip(self._slips, slips.tolist()):
            publish_if_heard(publisher, convert.float64, dialect, slip)
