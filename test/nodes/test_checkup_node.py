# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The live checkup hears a robot, asks for an exercise, and keeps what the sensors said."""
from dataclasses import replace

import pytest
from loopback_robot import DIALECT, LoopbackRobot
from recorded_robots import healthy

from legged_dynamics.diagnosis.doctor.examination import examine
from legged_dynamics.diagnosis.doctor.hypotheses import changes
from legged_dynamics.resources import robot_files
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.nodes.checkup import CheckupNode

pytestmark = pytest.mark.slow


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


def test_a_whole_checkup_on_the_bus_finds_what_is_wrong():
    """A robot does all that is asked; its accelerometer has the other sign, and it is found."""
    recorded, said = healthy(), []
    yaml, urdf = robot_files('solo_class')

    class Node(CheckupNode):
        robot = str(yaml)
    Node.say = staticmethod(said.append)
    bus = LoopbackBus()
    node = bus.create_node('driver')
    reliable = DIALECT.qos.reliable(1000)
    description = node.create_publisher(DIALECT.message('std_msgs/msg/String'),
                                        'robot_description', DIALECT.qos.latched)
    description.publish(DIALECT.message('std_msgs/msg/String')(data=urdf.read_text()))
    imu = node.create_publisher(DIALECT.message('sensor_msgs/msg/Imu'), 'imu/data', reliable)
    joints = node.create_publisher(DIALECT.message('sensor_msgs/msg/JointState'),
                                   'joint_states', reliable)
    bus.host(Node, parameters={})
    j, i = recorded.log.joints, recorded.log.imu
    # It stands a while, lifts its legs, and squats and leans until that is enough.
    order = [*range(750), *range(750), *range(750, 4950), *(4 * [*range(4950, 6700)])]
    with pytest.raises(SystemExit):
        for k in order:
            ns = bus.now_ns
            imu.publish(convert.imu(DIALECT, ns, 'imu_link', i.gyro[k], -i.acceleration[k],
                                    i.orientation[k]))
            joints.publish(convert.joint_state(DIALECT, ns, j.names, j.position[k],
                                               j.velocity[k], j.effort[k]))
            bus.step(0.002)
    assert said[-1] == 'Done.' and not any('moved' in line for line in said)
    choice = Node.choice
    (found,) = examine(choice.model, choice.config, Node.writer.log()).findings
    assert found.kind == 'accelerometer_sign'
    # A YAML that has the wrong sign is corrected by saying the right one.
    wrong = replace(choice.config, sensors=replace(choice.config.sensors,
                                                   accelerometer_scale=-1.0))
    assert changes(wrong, choice.config, choice.model.joint_names) == {
        'robot.sensors.accelerometer_scale': 1.0}
