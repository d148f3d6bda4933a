# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot under its body controller on the in-process bus, and hands that spoil what it hears."""
import copy

import numpy as np
from loopback_robot import DIALECT, ROBOT, URDF

from legged_dynamics.middleware import conversions as convert
from legged_dynamics.middleware.loopback import LoopbackBus
from legged_dynamics.middleware.qos import QoSProfile
from legged_dynamics.nodes.simulated_robot import SimulatedRobotNode
from legged_dynamics.nodes.workspace_controller import WorkspaceControllerNode
from legged_dynamics.schema import read_parameter_file

NODE = 'workspace_controller'
OK, WARN, ERROR, STALE = range(4)
# Motors that hold the last command for longer than any test, as ros2_controllers lets them.
HOLDS_FOR_EVER = {'simulation.command_timeout': 10.0}


class Spoiler:
    """Between the simulator's publisher and the bus: changes, holds back or drops messages."""

    def __init__(self, bus, publisher):
        self._bus, self._publish = bus, publisher.publish
        self.change = lambda message: message
        self.late, self._waiting = 0, []
        self.last = None
        publisher.publish = self.publish

    def publish(self, message):
        self.last = copy.deepcopy(message)
        message = self.change(message)
        if message is not None:
            self._waiting.append((self._bus.now_ns + self.late, message))
        while self._waiting and self._waiting[0][0] <= self._bus.now_ns:
            self._publish(self._waiting.pop(0)[1])


class FaultBench:
    """
    Stands on efforts alone; notes the truth beside everything that was commanded.

    Parameters
    ----------
    component : Component
        Controller.
    standing : float
        How long it stands under control before the test begins [s].

    """

    def __init__(self, component=WorkspaceControllerNode, standing=1.2, **parameters):
        self.bus = LoopbackBus()
        values = {**read_parameter_file(ROBOT), 'robot_description': str(URDF)}
        self.robot_host = self.bus.host(SimulatedRobotNode, parameters={
            **values, 'schedule': 'stand 1000', **HOLDS_FOR_EVER})
        self.robot = self.robot_host.component._robot
        self.joints = Spoiler(self.bus, self.robot_host.component._joint_states)
        self.imu = Spoiler(self.bus, self.robot_host.component._imu)
        self.diagnostics = self.bus.watch('diagnostic_msgs/msg/DiagnosticArray', '/diagnostics')
        self.stranger = self.bus.create_node('stranger')
        values = {name: value for name, value in values.items()
                  if not name.startswith('simulation') and name != 'robot_description'}
        self.host = self.bus.host(component, parameters={**values, **parameters})
        self.node, self.name = self.host.component, component.default_name
        self.efforts, self.times, self.truth = [], [], []
        watcher = self.bus.create_node('watcher')
        watcher.create_subscription(DIALECT.message('std_msgs/msg/Float64MultiArray'),
                                    '/effort_controller/commands', self._note,
                                    QoSProfile(depth=100))
        self.bus.step(standing)
        assert self.node.guard_state.name == 'ACTIVE', self.status()
        assert self.stands()

    def _note(self, message):
        self.efforts.append(np.array(message.data))
        self.times.append(self.bus.now_ns)
        self.truth.append(self.robot.data.qvel[self.robot._dofs].copy())

    def run(self, seconds):
        self.bus.step(seconds)

    def stands(self):
        truth = self.robot.truth()
        tilt = abs(truth.base_orientation[:2]).max()
        return not self.robot.fallen and truth.base_position[2] > 0.35 and tilt < 0.1

    def state(self):
        return self.node.guard_state.name

    def status(self):
        """Return {part: (level, message)} of the newest diagnostics."""
        self.bus.step(0.11)
        found = {}
        for array in self.diagnostics[-20:]:
            for status in array.status:
                node, _, part = status.name.partition(': ')
                if node == self.name:
                    found[part] = (convert.diagnostic_level(status), status.message)
        return found

    def texts(self):
        """Return all messages of diagnostics above OK so far, in one."""
        return ' | '.join(f'{status.name}: {status.message}' for array in self.diagnostics
                          for status in array.status if convert.diagnostic_level(status))

    def largest_step(self, since_ns):
        """Return the largest change of an effort from one message to the next [N m]."""
        efforts = np.array([e for e, t in zip(self.efforts, self.times) if t >= since_ns])
        return np.abs(np.diff(efforts, axis=0)).max() if len(efforts) > 1 else 0.0
