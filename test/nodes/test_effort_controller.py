# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What goes to the motors when inputs, callbacks or the controller fail, and at the end."""
import numpy as np
import pytest
from loopback_robot import DIALECT, FEET, JOINTS, URDF, LoopbackRobot

from legged_dynamics.middleware import conversions as convert
from legged_dynamics.model import RobotModel
from legged_dynamics.nodes.effort_controller import EffortController
from legged_dynamics.schema import Setting

LIMITS = dict(zip(JOINTS, (RobotModel.from_urdf(URDF).effort_limits[
    [RobotModel.from_urdf(URDF).joint_index(name) for name in JOINTS]])))


class Constant(EffortController):
    """Asks the same of every joint, or whatever the test says."""

    default_name = 'constant'
    settings = (Setting('level', 5.0, 'N m', 'Effort of every joint.', -1e6, 1e6),)
    answer = None

    def build(self, model, config):
        self.feet = [foot.link for foot in config.feet]
        self.order = model.joint_names

    def control(self, measurement):
        if self.answer is not None:
            return self.answer()
        return np.full(len(self.order), self.parameters['level'])


@pytest.fixture
def robot():
    made = LoopbackRobot(component=Constant, **{'safety.ramp': 0.0})
    made.commands = made.watch('std_msgs/msg/Float64MultiArray', '/effort_controller/commands')
    return made


WARN, ERROR = 1, 2


def last(robot):
    robot.bus.spin()
    return np.array(robot.commands[-1].data)


def test_every_measurement_is_answered_once_in_command_order_and_within_limits(robot):
    robot.run(20)
    assert 18 <= len(robot.commands) <= 20
    np.testing.assert_array_equal(last(robot), 5.0)
    assert robot.host.component.feet == list(FEET)
    robot.host.component.parameters['level'] = 1e6
    robot.run(5)
    np.testing.assert_allclose(last(robot), list(LIMITS.values()))


def test_each_joint_gets_its_own_effort(robot):
    component = robot.host.component
    component.answer = lambda: np.array([JOINTS.index(name) + 1.0 for name in component.order])
    robot.run(5)
    np.testing.assert_array_equal(last(robot), np.arange(12) + 1.0)


def test_silent_joints_hold_and_then_go_limp(robot):
    robot.run(20)
    robot.run(20, joints=lambda message: None)          # 40 ms: held
    np.testing.assert_array_equal(last(robot), 5.0)
    robot.run(50, joints=lambda message: None)
    np.testing.assert_array_equal(last(robot), 0.0)     # velocity is not known: no damping
    level, text = robot.status()['control']
    assert level == WARN and 'no joint states for' in text
    robot.run(20)
    np.testing.assert_array_equal(last(robot), 5.0)


def test_what_queued_up_before_the_first_command_makes_no_robot_limp(robot):
    def old(message):
        message.header.stamp = convert.time_message(DIALECT, robot.bus.now_ns - 300_000_000)
        return message
    robot.run(20, imu=old, joints=old)
    assert not robot.commands
    robot.run(20)
    np.testing.assert_array_equal(last(robot), 5.0)


@pytest.mark.parametrize('answer', [lambda: None, lambda: np.full(12, np.nan), lambda: 1 / 0])
def test_a_controller_that_fails_holds_and_then_damps(robot, answer):
    robot.run(20)
    robot.host.component.answer = answer
    robot.run(15)
    np.testing.assert_array_equal(last(robot), 5.0)
    robot.run(100)
    assert np.isfinite(last(robot)).all()
    assert (np.abs(last(robot)) < 1.0).all()            # damping of a robot that stands
    assert robot.status()['control'][0] == WARN
    robot.host.component.answer = None
    robot.run(5)
    np.testing.assert_array_equal(last(robot), 5.0)


def test_nothing_is_commanded_before_the_robot_is_heard_and_zero_is_the_last_word(robot):
    robot.bus.step(0.5)
    assert not robot.commands
    robot.run(20)
    robot.host.component.deactivate()
    np.testing.assert_array_equal(last(robot), 0.0)
    count = len(robot.commands)
    robot.run(50)
    assert len(robot.commands) == count
    robot.host.component.activate()
    robot.run(5)
    np.testing.assert_array_equal(last(robot), 5.0)
    robot.host.stop()
    np.testing.assert_array_equal(last(robot), 0.0)


def test_a_robot_without_effort_limits_is_refused_and_the_node_waits():
    robot = LoopbackRobot(component=Constant, description='none')
    commands = robot.watch('std_msgs/msg/Float64MultiArray', '/effort_controller/commands')
    robot.describe(URDF.read_text().replace('effort="80', 'effort="0'))
    robot.run(100)
    assert not commands
    level, text = robot.status()['control']
    assert level == ERROR and 'effort limit' in text
    robot.describe(URDF.read_text())
    robot.run(20)
    assert commands
