# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A component run as a process by the tests: commands a torque, and takes its time to stop."""
import sys
import time
from pathlib import Path

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.protocol import Component
from legged_dynamics.ros.middleware.runner import run
from legged_dynamics.schema import Setting

TORQUE = 24.7


class Commander(Component):
    """Commands a torque every 5 ms while active, and zero on its way out."""

    default_name = 'commander'

    def __init__(self, node, dialect):
        super().__init__(node, dialect)
        self.awaits = node.declare(Setting('configure_until', '', '', 'File to wait for.'))
        self.last_ticks = node.declare(Setting('last_ticks', 0, '', 'Commands on its way out.'))
        self.torque = TORQUE

    def configure(self):
        self.node.get_logger().info('configuring')
        while self.awaits and not Path(self.awaits).exists():
            pass
        self.commands = self.node.create_publisher(
            self.dialect.message('std_msgs/msg/Float64MultiArray'), '/commands',
            self.dialect.qos.reliable(1))

    def activate(self):
        self.node.get_logger().info('activated')
        self.timer = self.node.create_timer(0.005, lambda: self.send(self.torque))

    def send(self, torque):
        self.commands.publish(convert.command(self.dialect, [torque]))

    def leave(self):
        """Command one torque so often more, while callbacks run."""
        if self.last_ticks > 0:
            self.torque, self.last_ticks = 1.0, self.last_ticks - 1
            self.node.get_logger().info('bringing down')
        return self.last_ticks == 0

    def deactivate(self):
        self.node.destroy_timer(self.timer)
        time.sleep(0.2)         # what a second signal would cut short
        self.send(0.0)

    def cleanup(self):
        self.node.destroy_publisher(self.commands)
        time.sleep(0.1)
        self.node.get_logger().info('cleaned up')


if __name__ == '__main__':
    sys.exit(run(Commander))
