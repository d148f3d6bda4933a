# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node unitree on the in-process bus: a simulated quadruped that speaks LowState."""
import numpy as np
import pytest
from loopback_robot import DIALECT, ROBOT, standing_samples

from legged_dynamics.cli.run import unitree_arguments
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.protocol import QoSProfile
from legged_dynamics.ros.nodes.unitree import UnitreeNode
from legged_dynamics.ros.unitree_low_level import checksum, low_state, robot_named
from legged_dynamics.schema import read_parameter_file

WEIGHT = 52.13 * 9.81
GO2 = robot_named('go2')
# A quadruped of the package with the joint names of Go2.
NAMES = {'LF': 'FL', 'RF': 'FR', 'LH': 'RL', 'RH': 'RR'}
PARTS = {'HAA': 'hip_joint', 'HFE': 'thigh_joint', 'KFE': 'calf_joint', 'FOOT': 'foot'}


def renamed(text):
    for leg, theirs in NAMES.items():
        for part, named in PARTS.items():
            text = text.replace(f'{leg}_{part}', f'{theirs}_{named}')
    return text


class Robot:
    """A standing robot that publishes LowState, without checksum, or with one that is damaged."""

    damage = None

    def __init__(self, **parameters):
        values = {name: [renamed(one) for one in value] if name in ('robot.feet', 'robot.joints')
                  else value for name, value in read_parameter_file(ROBOT).items()
                  if not name.startswith('simulation')}
        values |= {'robot_description': renamed(ROBOT.with_suffix('.urdf').read_text()),
                   **parameters}
        self.joints = values['robot.joints']
        self.bus, self.sent = LoopbackBus(), 0
        hand = self.bus.create_node('robot')
        self.states = hand.create_publisher(DIALECT.message('unitree_go/msg/LowState'), 'lowstate',
                                            DIALECT.qos.reliable(1000))
        self.efforts = hand.create_publisher(DIALECT.message('std_msgs/msg/Float64MultiArray'),
                                             'effort_controller/commands',
                                             DIALECT.qos.reliable(1000))
        self.host = self.bus.host(UnitreeNode, parameters=values)
        self.bus.spin()
        self.motors = self.watch('unitree_go/msg/LowCmd', '/lowcmd')

    def watch(self, kind, topic):
        return self.bus.watch(kind, topic, QoSProfile(depth=100000))

    def run(self, count):
        for _ in range(count):
            sample = standing_samples()[self.sent % 500]
            self.sent += 1
            message = low_state('unitree_go')
            message.tick = 2 * self.sent
            for name, q, v, tau in zip(self.joints, sample.position, sample.velocity,
                                       sample.effort):
                motor = message.motor_state[GO2.joints.index(name)]
                motor.q, motor.dq, motor.tau_est = q, v, tau
            x, y, z, w = sample.orientation
            imu = message.imu_state
            imu.quaternion, imu.gyroscope = [w, x, y, z], list(sample.angular_velocity)
            imu.accelerometer = list(sample.linear_acceleration)
            if self.damage is not None:
                message.crc = checksum(message, 'unitree_go') ^ self.damage
            self.states.publish(message)
            self.bus.step(0.002)


@pytest.fixture(scope='module')
def standing():
    robot = Robot(**{'unitree.foot_force': 'both'})
    robot.seen = {name: robot.watch(kind, topic) for name, kind, topic in (
        ('force', 'geometry_msgs/msg/WrenchStamped', '/unitree/net_wrench'),
        ('odom', 'nav_msgs/msg/Odometry', '/unitree/odom'),
        ('state', 'unitree_go/msg/LowState', '/unitree/lowstate'),
        ('joints', 'sensor_msgs/msg/JointState', '/joint_states'),
        ('imu', 'sensor_msgs/msg/Imu', '/imu/data'))}
    robot.run(300)
    return robot


def test_the_feet_carry_the_robot_and_stamps_are_ticks(standing):
    forces = standing.seen['force']
    assert abs(convert.read_wrench(forces[-1])[1][2] - WEIGHT) < 0.02 * WEIGHT
    stamps = np.array([convert.stamp_ns(one.header.stamp) for one in forces])
    assert (np.diff(stamps) == 2_000_000).all()
    joints, imu = standing.seen['joints'], standing.seen['imu']
    assert [convert.stamp_ns(one.header.stamp) for one in joints] \
        == [convert.stamp_ns(one.header.stamp) for one in imu]
    assert len(joints) == 300
    # a robot that stands stays where it is
    place = standing.seen['odom'][-1].pose.pose.position
    assert np.hypot(place.x, place.y) < 0.01


def test_low_state_goes_on_with_the_forces_in_it(standing):
    message = standing.seen['state'][-1]
    assert abs(sum(message.foot_force_est) - WEIGHT) < 0.03 * WEIGHT
    assert list(message.foot_force) == list(message.foot_force_est)
    assert message.crc == checksum(message, 'unitree_go')
    assert message.tick == 2 * standing.sent


def test_damaged_messages_are_dropped_counted_and_said(standing):
    node, seen = standing.host.component, standing.seen['force']
    standing.damage = 0
    standing.run(20)
    count, before = len(seen), node.input.joints.rejected
    standing.damage = 1
    standing.run(20)
    assert len(seen) <= count + 1
    assert node.input.joints.rejected == before + 20
    level, text = node.judge(node.common.now())['joint_states']
    assert level == 'WARN' and 'checksum' in text
    standing.damage = 0
    standing.run(20)
    assert len(seen) > count + 10


def test_reading_creates_no_way_to_the_motors(standing):
    publisher = standing.bus.publishers
    assert not [entry for entry in publisher if 'lowcmd' in entry.topic]
    standing.efforts.publish(convert.command(DIALECT, [1.0] * 12, 'controller', 1))
    standing.bus.spin()
    assert not standing.motors


def test_efforts_become_torque_and_silence_ends_in_damping():
    robot = Robot(**{'unitree.command': True, 'watchdog.release': 'damping',
                     'unitree.resting_kd': 2.5, 'watchdog.hold': 0.02,
                     'safety.damping_duration': 0.1})
    robot.run(50)
    assert not robot.motors                 # nobody commands: nothing is sent
    for count in range(1, 31):
        robot.efforts.publish(convert.command(DIALECT, [0.5] * 12, 'controller', count))
        robot.run(1)
    last = robot.motors[-1]
    assert last.crc == checksum(last, 'unitree_go')
    assert [motor.tau for motor in last.motor_cmd[:12]] == pytest.approx([0.5] * 12)
    assert all(motor.kp == 0.0 for motor in last.motor_cmd)
    robot.run(300)
    last = robot.motors[-1]
    assert all(motor.tau == 0.0 for motor in last.motor_cmd)
    assert [motor.kd for motor in last.motor_cmd] == [2.5] * 12 + [0.0] * 8
    count = len(robot.motors)
    robot.run(50)
    assert len(robot.motors) == count       # once damped, the motors are left alone


def test_a_node_that_stops_leaves_damping_behind():
    robot = Robot(**{'unitree.command': True})
    robot.run(50)
    for count in range(1, 11):
        robot.efforts.publish(convert.command(DIALECT, [0.5] * 12, 'controller', count))
        robot.run(1)
    assert robot.motors[-1].motor_cmd[0].tau != 0.0
    robot.host.component.deactivate()
    robot.bus.step(0.5)
    last = robot.motors[-1]
    assert all(motor.tau == 0.0 for motor in last.motor_cmd)
    assert last.motor_cmd[0].kd == 2.0


def test_options_become_parameters(tmp_path):
    urdf, environ = tmp_path / 'go2.urdf', {'CYCLONEDDS_URI': 'x'}
    urdf.write_text('<robot/>')
    options = ['--robot', 'go2', '--interface', 'lo', '--domain', '1', '--urdf', str(urdf)]
    made = unitree_arguments(options, ['--ros-args', '-p', 'rate:=200.0'], environ)
    assert made[-2:] == ['-p', 'rate:=200.0']
    assert 'unitree.command:=false' in made
    assert '__node:=ground_reaction_estimator' in made
    assert environ['ROS_DOMAIN_ID'] == '1'
    assert 'name="lo"' in environ['CYCLONEDDS_URI']
    with pytest.raises(ConfigurationError, match='nobody is there'):
        unitree_arguments([*options, '--command'], [], {})
    assert 'unitree.command:=true' in unitree_arguments([*options, '--command', '--yes'], [], {})
    with pytest.raises(ConfigurationError, match='--interface'):
        unitree_arguments(['--robot', 'go2', '--interface', 'none7', '--urdf', str(urdf)], [], {})
