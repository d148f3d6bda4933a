# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A controller's node and the simulated robot's node on one in-process bus: a closed loop."""
import numpy as np
from loopback_robot import DIALECT, FEET, ROBOT, URDF

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.protocol import QoSProfile
from legged_dynamics.ros.nodes.simulated_robot import SimulatedRobotNode
from legged_dynamics.schema import read_parameter_file


class Cables(LoopbackBus):
    """A bus on which nothing arrives of topics whose cable is pulled."""

    def __init__(self, *args):
        super().__init__(*args)
        self.pulled = set()

    def matches(self, publisher):
        return [] if publisher.topic in self.pulled else super().matches(publisher)


class ClosedLoop:
    """The simulated robot under a controller, with sensor noise, and what came of it."""

    def __init__(self, component, seed=0, standing=0.5, robot=None, **parameters):
        self.bus = Cables()
        values = robot or read_parameter_file(ROBOT) | {'robot_description': str(URDF)}
        self.simulator = self.bus.host(SimulatedRobotNode, parameters={
            **values, 'schedule': 'stand 100', 'seed': seed})
        self.robot = self.simulator.component.robot
        self.wrenches = [self.watch('geometry_msgs/msg/WrenchStamped',
                                    f'/ground_truth/{foot}/wrench')
                         for foot in values['robot.feet']]
        self.commands = self.watch('std_msgs/msg/Float64MultiArray',
                                   '/effort_controller/commands')
        self.diagnostics = self.watch('diagnostic_msgs/msg/DiagnosticArray', '/diagnostics')
        self.bus.step(standing)
        self.hand = self.bus.create_node('hand')
        self.host = self.bus.host(component, parameters={**values, **parameters})
        self.name = component.default_name

    def watch(self, kind, topic):
        return self.bus.watch(kind, topic, QoSProfile(depth=100000))

    def run(self, seconds, each=0.1, act=lambda: None):
        """Let time pass, doing something ever so often."""
        for _ in range(round(seconds / each)):
            act()
            self.bus.step(each)

    def true_forces(self, last):
        """Return (last, 4, 3) newest true forces in the world's axes [N]; the feet are at rest."""
        turn = [self.robot.data.site(foot).xmat.reshape(3, 3) for foot in FEET]
        return np.stack([[R @ convert.read_wrench(m)[1][:3] for m in topic[-last:]]
                         for R, topic in zip(turn, self.wrenches)], axis=1)

    def status(self):
        """Return {part: (level, message)} of the controller's newest diagnostics."""
        found = {}
        for array in self.diagnostics:
            for status in array.status:
                node, _, part = status.name.partition(': ')
                if node == self.name:
                    found[part] = (convert.diagnostic_level(status), status.message)
        return found


def desired_wrench(frame, force):
    """Return a WrenchStamped of a force."""
    return convert.wrench_stamped(DIALECT, 0, frame, np.concatenate([force, np.zeros(3)]))
