# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The body's motion in the demo: stands up, crouches, sways, pitches and yaws, as a trajectory."""
from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

# Seconds after the last pose, offset of the base [m, of its height] and rotation vector [rad].
POSES = (
    (2.0, (0.0, 0.0, -0.3), (0.0, 0.0, 0.0)),       # down
    (2.0, (0.0, 0.0, 0.02), (0.0, 0.0, 0.0)),       # stands up
    (1.5, (0.0, 0.0, -0.2), (0.0, 0.0, 0.0)),       # crouches
    (1.5, (0.0, 0.08, -0.1), (0.0, 0.0, 0.0)),      # sways
    (1.5, (0.0, -0.08, -0.1), (0.0, 0.0, 0.0)),
    (1.2, (0.0, 0.0, -0.05), (0.0, 0.15, 0.0)),     # pitches
    (1.5, (0.0, 0.0, -0.05), (0.0, -0.15, 0.0)),
    (1.5, (0.0, 0.0, -0.05), (0.0, 0.0, 0.25)),     # yaws
    (1.8, (0.0, 0.0, -0.05), (0.0, 0.0, -0.25)),
    (1.5, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
)
DURATION = sum(seconds for seconds, _, _ in POSES)
CONTROLLER = 'workspace_controller'
WAIT = 20.0     # s for the controller to say where the body is


def send_motion(environment: Mapping[str, str]) -> None:
    """
    Hear from the controller where the body is wanted now, and send it the motion from there.

    Raises
    ------
    MiddlewareError
        When the controller does not say where the body is.

    """
    from legged_dynamics.exceptions import MiddlewareError
    from legged_dynamics.middleware import conversions as convert
    from legged_dynamics.middleware.cyclone import CycloneBus
    from legged_dynamics.middleware.dialect import StandaloneDialect
    dialect = StandaloneDialect()
    bus = CycloneBus(environment)
    try:
        node = bus.create_node('body_motion')
        heard: list[Any] = []
        node.create_subscription(dialect.message('geometry_msgs/msg/PoseStamped'),
                                 f'{CONTROLLER}/body_reference', heard.append,
                                 dialect.qos.reliable(1))
        publisher = node.create_publisher(
            dialect.message('trajectory_msgs/msg/MultiDOFJointTrajectory'),
            f'{CONTROLLER}/body_trajectory', dialect.qos.reliable(1))
        end = time.monotonic() + WAIT
        while not (heard and publisher.get_subscription_count()):
            if time.monotonic() > end:
                raise MiddlewareError(f'{CONTROLLER} did not take the robot over within '
                                      f'{WAIT:.0f} s; see its log')
            bus.spin_once(0.05)
        pose = convert.read_pose(heard[-1])
        publisher.publish(trajectory(dialect, pose.position, pose.orientation))
        bus.spin_once(0.2)      # leaves the message time to go out
    finally:
        bus.close()


def trajectory(dialect: Any, position: np.ndarray, orientation: np.ndarray) -> Any:
    """
    Return the motion as a MultiDOFJointTrajectory.

    Parameters
    ----------
    dialect : Dialect
        Whose message to make.
    position : (3,) array [m]
        Of the base where it starts, above the ground.
    orientation : (4,) array
        Of the base where it starts.

    """
    import numpy as np

    from legged_dynamics.middleware import conversions as convert
    from legged_dynamics.spatial.rotations import (
        quaternion_from_rotation,
        rotation_from_quaternion,
        rotation_from_vector,
    )
    message = dialect.message('trajectory_msgs/msg/MultiDOFJointTrajectory')()
    point = dialect.message('trajectory_msgs/msg/MultiDOFJointTrajectoryPoint')
    R, clock = rotation_from_quaternion(orientation), 0.0
    for seconds, offset, turn in POSES:
        clock += seconds
        where = position + position[2] * R @ np.array(offset)
        pose = dialect.message('geometry_msgs/msg/Transform')()
        pose.translation = convert.vector3(dialect, where)
        pose.rotation = convert.quaternion(
            dialect, quaternion_from_rotation(R @ rotation_from_vector(np.array(turn))))
        message.points.append(point(transforms=[pose], velocities=[], accelerations=[],
                                    time_from_start=convert.duration_message(dialect, clock)))
    return message
