# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A component run as a process by the tests: answers each JointState with a WrenchStamped."""
import sys

from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.protocol import Component
from legged_dynamics.ros.middleware.runner import run
from legged_dynamics.schema import Setting


class Echo(Component):
    """Answers the first six positions, and fails where it is told to."""

    default_name = 'echo'

    def __init__(self, node, dialect):
        super().__init__(node, dialect)
        self.fail_in = node.declare(Setting('fail_in', '', '', 'Where to fail.'))
        node.declare(Setting('gain', 1.0, '', 'Gain.', 0.0, 2.0))

    def configure(self):
        if self.fail_in == 'configure':
            raise LeggedDynamicsError('told to fail in configure')
        if self.fail_in == 'defect':
            raise ZeroDivisionError('told to have a defect')
        message, qos = self.dialect.message, self.dialect.qos
        self.publisher = self.node.create_publisher(
            message('geometry_msgs/msg/WrenchStamped'), '~/wrench', qos.reliable(500))
        self.state = self.node.create_publisher(
            message('std_msgs/msg/String'), '~/state', qos.latched)
        self.read = convert.JointStateReader([f'joint_{i}' for i in range(12)])

    def activate(self):
        self.state.publish(convert.string(self.dialect, 'active'))
        self.subscription = self.node.create_subscription(
            self.dialect.message('sensor_msgs/msg/JointState'), 'joint_states', self.on_joints,
            self.dialect.qos.reliable(500))
        if self.fail_in == 'exit':
            self.node.create_timer(0.05, lambda: sys.exit(7))

    def on_joints(self, msg):
        sample = self.read(msg)
        self.publisher.publish(convert.wrench_stamped(
            self.dialect, sample.stamp_ns, 'base', sample.position[:6]))

    def deactivate(self):
        self.node.get_logger().info('deactivated')

    def cleanup(self):
        self.node.get_logger().info('cleaned up')


if __name__ == '__main__':
    sys.exit(run(Echo))
