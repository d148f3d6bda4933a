# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot and the estimator on an in-process bus, and hands to disturb them with."""
from robots import CONFIG

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.protocol import QoSProfile
from legged_dynamics.ros.nodes.ground_reaction_estimator import GroundReactionNode
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.simulation import SimulatedRobot

ROBOT = CONFIG / 'robots' / 'anymal_class.yaml'
URDF = ROBOT.with_suffix('.urdf')
DIALECT = StandaloneDialect()
JOINTS = tuple(read_parameter_file(ROBOT)['robot.joints'])
FEET = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT')
NODE = '/ground_reaction_estimator'


SAMPLES = []


def standing_samples():
    """Return one second of a standing robot's sensors; simulated once for all tests."""
    if not SAMPLES:
        robot = SimulatedRobot.from_files(ROBOT)
        for _ in range(500):
            robot.step()
            SAMPLES.append(robot.read())
    return SAMPLES


class LoopbackRobot:
    """Publishes a standing robot's sensors by hand, so that a test can spoil any message."""

    def __init__(self, description='topic', component=GroundReactionNode, **parameters):
        self.bus = LoopbackBus()
        self.urdf = URDF.read_text()
        self.sent = 0
        node = self.bus.create_node('robot')
        reliable = DIALECT.qos.reliable(1000)
        self.joints = node.create_publisher(DIALECT.message('sensor_msgs/msg/JointState'),
                                            'joint_states', reliable)
        self.imu = node.create_publisher(DIALECT.message('sensor_msgs/msg/Imu'), 'imu/data',
                                         reliable)
        self.description = node.create_publisher(DIALECT.message('std_msgs/msg/String'),
                                                 'robot_description', DIALECT.qos.latched)
        if description == 'topic':
            self.describe(self.urdf)
        values = {**read_parameter_file(ROBOT), **parameters}
        if description == 'parameter':
            values['robot_description'] = str(URDF)
        self.host = self.bus.host(component, parameters=values)
        self.node = component.default_name
        self.bus.spin()
        self.wrenches = [self.watch('geometry_msgs/msg/WrenchStamped', f'{NODE}/{foot}/wrench')
                         for foot in FEET]
        self.diagnostics = self.watch('diagnostic_msgs/msg/DiagnosticArray', '/diagnostics')

    def watch(self, kind, topic):
        return self.bus.watch(kind, topic, QoSProfile(depth=100000))

    def describe(self, text):
        self.description.publish(DIALECT.message('std_msgs/msg/String')(data=text))

    def messages(self):
        """Return the next sample's (imu, joint state) messages, stamped with the present time."""
        # The last second over and over; the robot stands still, so nobody sees the seam.
        s = standing_samples()[self.sent % 500]
        self.sent += 1
        ns = self.bus.now_ns
        return (convert.imu(DIALECT, ns, 'imu_link', s.angular_velocity, s.linear_acceleration,
                            s.orientation, (1e-6, 1e-6, 1e-4)),
                convert.joint_state(DIALECT, ns, JOINTS, s.position, s.velocity, s.effort))

    def run(self, count, imu=lambda m: m, joints=lambda m: m):
        """Send ``count`` samples; a change may return another message, or None to drop it."""
        for _ in range(count):
            for publisher, message in zip((self.imu, self.joints), (m for m in (
                    change(message) for change, message in
                    zip((imu, joints), self.messages())))):
                if message is not None:
                    publisher.publish(message)
            self.bus.step(0.002)

    def status(self):
        """Return {part: (level, message)} of the newest diagnostics of the node."""
        for array in reversed(self.diagnostics):
            found = {s.name.split(': ')[1]: (convert.diagnostic_level(s), s.message)
                     for s in array.status if s.name.startswith(self.node)}
            if found:
                return found
        return {}
