# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The climbing robot on its MuJoCo wall and its controller's node, on an in-process bus."""
import numpy as np
from robots import CONFIG

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.protocol import QoSProfile
from legged_dynamics.ros.nodes.stickybot_controller import StickybotControllerNode
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.simulation import ClimbingRobot
from legged_dynamics.simulation.climbing_plant import ClimbingPlant

YAML = CONFIG / 'robots' / 'stickybot.yaml'
DIALECT = StandaloneDialect()
FEET = ('left_fore_foot', 'right_fore_foot', 'left_hind_foot', 'right_hind_foot')
NODE = '/stickybot_controller'
# Half the robot's own rate, and a speed that need not be simulated first, to save time.
RATES = {'control.rate': 250.0, 'simulation.rate': 250.0, 'control.speed': 0.04}
NUMBERS, WRENCH = 'std_msgs/msg/Float64MultiArray', 'geometry_msgs/msg/WrenchStamped'


class LoopbackClimber:
    """Carries every message between robot and node by hand, so that a test can spoil any."""

    def __init__(self, urdf=None, noise=True, pads='none', **changes):
        values = {**read_parameter_file(YAML), **RATES, 'adhesion.kind': pads}
        self.robot = ClimbingRobot(ClimbingPlant.from_parameters(values), noise=noise)
        self.robot.delay(1_000_000_000)
        self.bus = LoopbackBus()
        node, reliable = self.bus.create_node('robot'), DIALECT.qos.reliable(1000)
        self.joints = node.create_publisher(DIALECT.message('sensor_msgs/msg/JointState'),
                                            'joint_states', reliable)
        self.imu = node.create_publisher(DIALECT.message('sensor_msgs/msg/Imu'), 'imu/data',
                                         reliable)
        self.description = node.create_publisher(DIALECT.message('std_msgs/msg/String'),
                                                 'robot_description', DIALECT.qos.latched)
        self.describe(self.robot.urdf if urdf is None else urdf)
        self.efforts = self.watch(NUMBERS, '/effort_controller/commands')
        self.grips = self.watch(NUMBERS, '/adhesion_controller/commands')
        self.host = self.bus.host(StickybotControllerNode, parameters={**values, **changes})
        self.bus.spin()
        self.diagnostics = self.watch('diagnostic_msgs/msg/DiagnosticArray', '/diagnostics')
        self.events = self.watch('std_msgs/msg/String', f'{NODE}/events')
        self.truths = []

    def watch(self, kind, topic):
        return self.bus.watch(kind, topic, QoSProfile(depth=100_000))

    def describe(self, text):
        self.description.publish(DIALECT.message('std_msgs/msg/String')(data=text))

    def set(self, name, value):
        """Change a parameter of the node."""
        self.host.component.parameters[name] = value

    def run(self, seconds, imu=lambda m: m, joints=lambda m: m):
        """Let time pass; a change may return another message, or None to drop it."""
        for _ in range(round(seconds * 1e9 / self.robot.period_ns)):
            s = self.robot.read()
            self.truths.append(self.robot.truth())
            heard = (imu(convert.imu(DIALECT, s.stamp_ns, 'imu_link', s.angular_velocity,
                                     s.linear_acceleration, s.orientation, (1e-6, 1e-6, 1e-4))),
                     joints(convert.joint_state(DIALECT, s.stamp_ns, self.robot.plant.joints,
                                                s.position, s.velocity, s.effort)))
            for publisher, message in zip((self.imu, self.joints), heard):
                if message is not None:
                    publisher.publish(message)
            before = len(self.efforts), len(self.grips)
            self.bus.step(self.robot.period_ns * 1e-9)
            if len(self.efforts) > before[0]:
                self.robot.command_effort(self.efforts[-1].data)
            if len(self.grips) > before[1]:
                self.robot.command_grips(self.grips[-1].data)
            self.robot.step()

    @property
    def height(self):
        return self.robot.climbed

    def status(self, part):
        """Return (level, message) of the newest diagnostics of one part of the node."""
        for array in reversed(self.diagnostics):
            for status in array.status:
                if status.name == f'stickybot_controller: {part}':
                    return convert.diagnostic_level(status), status.message
        return None

    def last(self):
        """Return the last efforts and grips."""
        self.bus.spin()
        return np.array(self.efforts[-1].data), np.array(self.grips[-1].data)
