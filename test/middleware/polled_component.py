# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A process that talks to itself faster than it looks: prints what it heard at each look."""
import sys

from legged_dynamics.ros.middleware.protocol import Component
from legged_dynamics.ros.middleware.runner import run_polled

BURST, LOOKS, PATIENCE = 5, 6, 300.0


class Talker(Component):
    default_name = 'talker'

    def configure(self):
        self.said, self.heard = 0, []
        kind = self.dialect.message('std_msgs/msg/Float64')
        self.publisher = self.node.create_publisher(kind, '~/numbers',
                                                    self.dialect.qos.reliable(100))
        self.node.create_subscription(kind, '~/numbers',
                                      lambda message: self.heard.append(message.data),
                                      self.dialect.qos.reliable(1))
        self.kind, self.met = kind, 0


def work(node):
    if node.heard:
        node.met += 1
        print(len(node.heard), node.said - node.heard[-1], flush=True)
        node.heard.clear()
    if node.met >= LOOKS:
        raise SystemExit(0)
    for _ in range(BURST):
        node.said += 1
        node.publisher.publish(node.kind(data=float(node.said)))
    node.publisher.wait_for_acks(PATIENCE)      # all has arrived, and nobody has looked


if __name__ == '__main__':
    sys.exit(run_polled(Talker, sys.argv[1:], work))
