# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot on any ground under a node that holds its body, on the in-process bus."""
import sys
from pathlib import Path

import numpy as np

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.protocol import QoSProfile
from legged_dynamics.spatial.rotations import (
    quaternion_from_rotation,
    rotation_from_quaternion,
    rotation_from_vector,
    rotation_vector,
)

sys.path.append(str(Path(__file__).parents[1] / 'workspace'))
from grounds import GroundedRobot
from quadruped_runs import Slide

DIALECT = StandaloneDialect()
SAMPLE = 0.002


class GroundedLoop:
    """Sensors of a GroundedRobot out, efforts of a component in, a sample at a time."""

    def __init__(self, component, urdf, parameters, ground=None, **settings):
        self.robot = GroundedRobot(urdf, parameters, **(ground or {}))
        self.bus = LoopbackBus()
        self.node_name = '/' + component.default_name
        self.bus.step(0.1)
        self.hand = self.bus.create_node('hand')
        reliable = DIALECT.qos.reliable(1000)
        self.joints = self.hand.create_publisher(
            DIALECT.message('sensor_msgs/msg/JointState'), 'joint_states', reliable)
        self.imu = self.hand.create_publisher(DIALECT.message('sensor_msgs/msg/Imu'), 'imu/data',
                                              reliable)
        self.commands = self.watch('std_msgs/msg/Float64MultiArray',
                                   '/effort_controller/commands')
        self.host = self.bus.host(component, parameters={
            **{name: value for name, value in parameters.items()
               if name.startswith(('robot.', 'noise.'))},
            'robot_description': urdf, 'safety.ramp': 0.0, **settings})
        self.node = self.host.component
        self.slide, self.efforts = Slide(self.robot), []
        self.weight = 9.81 * self.robot.model.body_subtreemass[self.robot.base]
        self.offset = None

    def watch(self, kind, topic):
        return self.bus.watch(kind, topic, QoSProfile(depth=100000))

    def publisher(self, kind, name):
        return self.hand.create_publisher(DIALECT.message(kind), f'{self.node_name}/{name}',
                                          DIALECT.qos.reliable(10))

    def run(self, seconds, push=None):
        """Let time pass; return how far the true base is from its reference, (n, 6) [m, rad]."""
        robot, errors = self.robot, []
        for _ in range(round(seconds / SAMPLE)):
            sample, ns = robot.read(), self.bus.now_ns
            self.imu.publish(convert.imu(
                DIALECT, ns, robot.plant.imu_link, sample.angular_velocity,
                sample.linear_acceleration, sample.orientation, (1e-6, 1e-6, 1e-4)))
            self.joints.publish(convert.joint_state(
                DIALECT, ns, robot.plant.joints, sample.position, sample.velocity, sample.effort))
            self.bus.spin()
            truth = robot.truth()
            errors.append(self.error(ns, truth))
            if self.commands:
                robot.command_effort(list(self.commands[-1].data))
                self.efforts.append(list(self.commands[-1].data))
            robot.data.xfrc_applied[robot.base, :3] = 0.0 if push is None else push
            self.slide.add(np.where(truth.feet.contact[:, None], truth.feet.point,
                                    robot.data.site_xpos[self.slide.sites]))
            robot.step()
            self.bus.step(SAMPLE)
        return np.array(errors)

    def error(self, ns, truth):
        """Return pose less reference, from where the node has taken the body over."""
        if not self.node._started:
            return np.full(6, np.nan)
        R, target = rotation_from_quaternion(truth.base_orientation), (
            self.node.targets.reference.at(ns))
        if self.offset is None:
            self.offset = truth.base_position - target.position, R @ target.rotation.T
        turned = self.offset[1] @ target.rotation
        return np.array([*(truth.base_position - self.offset[0] - target.position),
                         *rotation_vector(turned.T @ R)])

    def go(self, offset, turn=(0.0, 0.0, 0.0)):
        """Ask for a pose relative to that of the reference."""
        if not hasattr(self, 'targets'):
            self.targets = self.publisher('geometry_msgs/msg/PoseStamped', 'body_target')
        start = self.node.targets.reference.goal
        self.targets.publish(convert.pose_stamped(
            DIALECT, 0, 'odom', start.position + offset, quaternion_from_rotation(
                start.rotation @ rotation_from_vector(np.array(turn)))))

    def true_forces(self):
        """Return (nf, 3) true forces on the feet in world axes [N]."""
        robot = self.robot
        return np.array([robot.data.site(foot).xmat.reshape(3, 3) @ wrench[:3] for foot, wrench
                         in zip(robot.plant.feet, robot.truth().feet.wrench)])

    def largest_effort(self):
        """Return the largest effort as a part of its limit."""
        return (np.abs(self.efforts) / self.node.efforts.guard.limits).max()
