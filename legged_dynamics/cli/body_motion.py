# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The body's motion in the demo: stands up, crouches, sways, pitches and yaws, as a trajectory."""
from __future__ import annotations

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
NODE = 'body_motion'
ANSWER = f'/{NODE}/answer'
EVER_AFTER = (2**31 - 1) * 10**9      # ns
BEGIN = 1.0     # s of simulated time, when the controller has taken the robot over
ACKNOWLEDGING = 60.0    # s for the controller to have the motion


class Motion:
    """
    Sends the motion at a fixed simulated time: time waits for its answers, too.

    It starts where the controller says the body is wanted.

    Parameters
    ----------
    bus : CycloneBus
        Of a process that spins it.

    """

    def __init__(self, bus: Any):
        from legged_dynamics.middleware.dialect import StandaloneDialect
        from legged_dynamics.nodes.lock_step import BEGIN_NS
        self._dialect = dialect = StandaloneDialect()
        self._begin, self._sent = BEGIN_NS + round(1e9 * BEGIN), False
        self._node = node = bus.create_node(NODE)
        # A simulator in lock-step counts the subscriptions of the robot's topics.
        self._ears = [node.create_raw_subscription(kind, topic, lambda cdr, now: None, 10)
                      for kind, topic in (('sensor_msgs/msg/JointState', 'joint_states'),
                                          ('sensor_msgs/msg/Imu', 'imu/data'))]
        node.create_subscription(dialect.message('geometry_msgs/msg/PoseStamped'),
                                 f'{CONTROLLER}/body_reference', self._on_reference,
                                 dialect.qos.reliable(1000))
        self._trajectory = node.create_publisher(
            dialect.message('trajectory_msgs/msg/MultiDOFJointTrajectory'),
            f'{CONTROLLER}/body_trajectory', dialect.qos.reliable(1))
        self._answers = node.create_publisher(dialect.message('sensor_msgs/msg/JointState'),
                                              ANSWER, dialect.qos.latched)
        self._answer(self._begin - 1)

    def _on_reference(self, message: Any) -> None:
        from legged_dynamics.exceptions import MiddlewareError
        from legged_dynamics.middleware import conversions as convert
        pose = convert.read_pose(message)
        if self._sent or pose.stamp_ns < self._begin:
            return
        self._sent = True
        self._trajectory.publish(trajectory(self._dialect, pose.position, pose.orientation))
        # Time stands still at this sample until the controller has it.
        if not self._trajectory.wait_for_acks(ACKNOWLEDGING):
            raise MiddlewareError(f'{CONTROLLER} does not receive its trajectory; see its log')
        self._answer(EVER_AFTER)
        for ear in self._ears:
            self._node.destroy_subscription(ear)

    def _answer(self, ns: int) -> None:
        from legged_dynamics.nodes.lock_step import answer
        self._answers.publish(answer(self._dialect, ns, None))


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
