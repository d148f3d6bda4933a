# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What goes to the motors when inputs, callbacks or the controller fail, and at the end."""
import numpy as np
import pytest
from loopback_robot import DIALECT, FEET, JOINTS, URDF, LoopbackRobot

from legged_dynamics.model import RobotModel
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.nodes.controller_node import ControllerNode, settings_of
from legged_dynamics.safety import GuardState
from legged_dynamics.schema import Setting

LIMITS = dict(zip(JOINTS, (RobotModel.from_urdf(URDF).effort_limits[
    [RobotModel.from_urdf(URDF).joint_index(name) for name in JOINTS]])))


class Constant(ControllerNode):
    """Asks the same of every joint, or whatever the test says: what a node that commands needs."""

    default_name = 'constant'
    settings = settings_of({}, (Setting('level', 5.0, 'N m', 'Effort of every joint.', -1e6,
                                        1e6),))
    answer = None

    def configure(self):
        self.open()
        self.listen(self.build, self.take)

    def build(self, model):
        self.feet = [foot.link for foot in self.common.config.feet]
        self.order = model.joint_names
        self.efforts.build(model, self.efforts.guard_of(model))

    def take(self, measurement):
        if not self.efforts.ready():
            return None
        command = None if self.efforts.released else self.control()
        self.efforts.send(measurement, command, 'no command')
        return self.efforts.answer()

    def control(self):
        if self.answer is not None:
            return self.answer()
        return np.full(len(self.order), self.parameters['level'])


@pytest.fixture
def robot():
    made = LoopbackRobot(component=Constant, **{'safety.ramp': 0.0})
    made.commands = made.watch('std_msgs/msg/Float64MultiArray', '/effort_controller/commands')
    made.safety = made.watch('diagnostic_msgs/msg/DiagnosticArray', '/constant/safety')
    return made


WARN, ERROR = 1, 2


def drop(message):
    return None


def last(robot):
    robot.bus.spin()
    return np.array(robot.commands[-1].data)


def words(robot):
    """Return level, text and values of the newest status of the guard."""
    robot.bus.spin()
    status = robot.safety[-1].status[0]
    return (convert.diagnostic_level(status), status.message,
            {pair.key: pair.value for pair in status.values})


def test_every_measurement_is_answered_once_in_command_order_and_within_limits(robot):
    robot.run(30)
    assert 28 <= len(robot.commands) <= 30
    np.testing.assert_array_equal(last(robot), 5.0)
    assert robot.host.component.feet == list(FEET)
    robot.host.component.parameters['level'] = 1e6
    robot.run(15)
    np.testing.assert_allclose(last(robot), list(LIMITS.values()))


def test_each_joint_gets_its_own_effort(robot):
    component = robot.host.component
    component.answer = lambda: np.array([JOINTS.index(name) + 1.0 for name in component.order])
    robot.run(10)
    np.testing.assert_array_equal(last(robot), np.arange(12) + 1.0)


def test_silent_joints_are_bridged_and_then_the_robot_is_let_go_until_activated_anew(robot):
    robot.run(1000)
    robot.run(90, joints=drop)                          # 180 ms: held
    np.testing.assert_allclose(last(robot), 5.0, atol=0.03)
    level, text = robot.status()['control']
    assert level == WARN and 'no joint states for' in text
    robot.run(5)
    np.testing.assert_allclose(last(robot), 5.0, atol=0.03)     # no ramp from zero
    robot.run(100)
    robot.run(125, joints=drop)
    np.testing.assert_array_equal(last(robot), 0.0)     # velocity is not known: no damping
    robot.run(300, joints=drop)
    count = len(robot.commands)
    robot.run(300)                                      # they are back
    assert len(robot.commands) == count
    level, text = robot.status()['control']
    assert level == ERROR and 'activate the node again' in text
    robot.host.component.deactivate()
    robot.host.component.activate()
    robot.run(10)
    np.testing.assert_array_equal(last(robot), 5.0)


def test_what_queued_up_before_the_first_command_makes_no_robot_limp(robot):
    def old(message):
        message.header.stamp = convert.time_message(DIALECT, robot.bus.now_ns - 300_000_000)
        return message
    robot.run(60, imu=old, joints=old)
    assert not robot.commands
    assert 'not armed: the joint states are 300' in robot.status()['control'][1]
    robot.run(20)
    np.testing.assert_array_equal(last(robot), 5.0)


@pytest.mark.parametrize('answer', [lambda: None, lambda: np.full(12, np.nan), lambda: 1 / 0])
def test_a_controller_that_fails_holds_and_then_damps(robot, answer):
    robot.run(480)
    robot.host.component.answer = answer
    robot.run(15)
    assert robot.host.component.efforts.state is GuardState.HOLDING
    np.testing.assert_allclose(last(robot), 5.0, atol=3.0)      # and PD on a noisy posture
    robot.host.component.answer = None
    robot.run(40)
    assert robot.host.component.efforts.state is GuardState.ACTIVE
    robot.host.component.answer = answer
    robot.run(150)
    assert robot.host.component.efforts.state is GuardState.DAMPING
    assert (np.abs(last(robot)) < 1.0).all()            # damping of a robot that stands
    assert robot.status()['control'][0] == ERROR


def test_the_description_in_force_stays_in_force_while_commands_go_out(robot):
    robot.run(20)
    guard = robot.host.component.efforts.guard
    stronger = robot.urdf.replace('effort="80', 'effort="800')
    for text in (robot.urdf, stronger, '<robot'):
        robot.describe(text)
        robot.run(20)
        assert robot.host.component.efforts.guard is guard
        assert robot.host.component.efforts.state is GuardState.ACTIVE
    assert 'another robot_description came' in robot.status()['robot_description'][1]
    robot.describe(stronger)
    robot.run(5)
    robot.host.component.deactivate()
    robot.host.component.activate()
    robot.run(20)
    assert robot.host.component.efforts.guard.limits.max() == 800.0
    robot.describe('<robot')
    robot.run(5)
    robot.host.component.deactivate()
    robot.bus.spin()
    count = len(robot.commands)
    robot.host.component.activate()
    robot.run(60)
    assert len(robot.commands) == count                 # whose robot is this?
    assert robot.status()['control'][0] == ERROR


def test_a_robot_that_is_another_one_is_not_commanded_and_the_joint_is_named(robot):
    def more(message):
        message.name, message.position = [*message.name, 'gripper'], [*message.position, 0.0]
        message.velocity, message.effort = [*message.velocity, 0.0], [*message.effort, 0.0]
        return message

    def off(message):
        message.position[0] = -1.2
        return message
    for spoil, text in ((more, "has 'gripper', which"),
                        (off, f'{JOINTS[0]} is at -1.200, outside its range')):
        robot.run(600, joints=spoil)        # texts are published once a second
        assert not robot.commands
        level, message = robot.status()['control']
        assert level == WARN and message.startswith('not armed') and text in message
    robot.run(10)
    assert robot.commands


def test_the_controller_of_the_motors_must_have_the_same_order(tmp_path):
    path = tmp_path / 'controllers.yaml'
    path.write_text('effort_controller:\n  ros__parameters:\n    joints: '
                    f'{[JOINTS[1], JOINTS[0], *JOINTS[2:]]}\n')
    robot = LoopbackRobot(component=Constant, **{'safety.controllers_file': str(path)})
    commands = robot.watch('std_msgs/msg/Float64MultiArray', '/effort_controller/commands')
    robot.run(50)
    assert not commands
    level, text = robot.status()['control']
    assert level == ERROR and f'joint 1 of effort_controller in {path} is' in text


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
    robot.run(10)
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


def test_the_status_of_the_guard_says_what_goes_out_and_why_not(robot):
    component = robot.host.component
    component.answer = lambda: np.linspace(1.0, 40.0, 12)
    robot.run(500)
    level, text, values = words(robot)
    assert (level, text, values['fault']) == (0, GuardState.ACTIVE.value, '')
    assert float(values['largest effort']) == pytest.approx(0.5)        # of 80 N m
    count = len(robot.safety)
    robot.run(250)
    assert len(robot.safety) - count in range(4, 7)         # ten times a second
    component.answer = lambda: None
    robot.run(5)
    level, text, values = words(robot)
    assert level == WARN and values['state'] == 'holding'
    assert text == f'{GuardState.HOLDING.value}: no command' and values['fault'] == 'no command'
    robot.run(130)
    level, text, values = words(robot)
    assert level == ERROR and 'no command' in text and values['state'] == 'damping'


@pytest.mark.parametrize('way', ['zero', 'damping'])
def test_a_node_that_has_left_commands_nothing_and_says_so_and_leaves_again(robot, way):
    component = robot.host.component
    component.parameters['safety.stop'] = way
    component.parameters['safety.damping_duration'] = 0.1
    assert component.leave()                                # before the first command
    for _ in range(2):
        robot.run(40)
        np.testing.assert_allclose(last(robot), 5.0)
        assert component.leave() is (way == 'zero')
        robot.run(3)
        assert (component.efforts.state is GuardState.ACTIVE) is (way == 'zero')
        component.deactivate()
        assert words(robot)[2]['state'] == 'limp' and not component.efforts.input.listening
        np.testing.assert_array_equal(last(robot), 0.0)
        component.activate()
        # Why nothing went out last is still said; but no longer of now.
        assert component.judge(robot.bus.now_ns)['control'][1] != 'the node is being stopped'


def test_a_node_that_is_cleaned_up_is_on_no_topic(robot):
    robot.run(20)
    robot.host.component.deactivate()
    robot.host.component.cleanup()
    robot.bus.spin()
    count = len(robot.commands)
    robot.run(50)
    assert len(robot.commands) == count
    assert not robot.joints.get_subscription_count()
    assert robot.host.component.efforts.guard is None
