# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The live checkup hears a robot, asks for an exercise, and keeps what the sensors said."""
from loopback_robot import LoopbackRobot

from legged_dynamics.nodes.checkup import CheckupNode


def test_it_asks_and_records():
    said = []

    class Node(CheckupNode):
        robot = 'anymal_class'
    Node.say = staticmethod(said.append)
    robot = LoopbackRobot(component=Node)
    assert said == ['Let the robot stand still for 2 s.']
    for _ in range(1300):
        imu, joints = robot.messages()
        robot.imu.publish(imu)
        robot.joints.publish(joints)
        robot.bus.step(0.002)
    assert said[1] == 'Lift the leg of LF_FOOT, and put it down again.'
    log = Node.writer.log()
    assert Node.choice.model.joint_names[0] in log.joints.names
    assert len(log.joints.stamp_ns) == len(log.imu.stamp_ns) == 1300
