# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot moved by its workspace controller, node to node on the in-process bus."""
import numpy as np
import pytest
from closed_loop import Cables
from loopback_robot import DIALECT, FEET, ROBOT, URDF

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.protocol import QoSProfile
from legged_dynamics.ros.nodes.simulated_robot import SimulatedRobotNode
from legged_dynamics.ros.nodes.workspace_controller import WorkspaceControllerNode
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.spatial.rotations import (
    quaternion_from_rotation,
    rotation_from_quaternion,
    rotation_from_vector,
    rotation_vector,
)

NODE = '/workspace_controller'
WARN, ERROR = 1, 2
DOWN, ASIDE = np.array([0.0, 0.0, -0.08]), np.array([0.02, 0.0, -0.05])


class Standing:
    """A robot that stands, taken over by the node."""

    def __init__(self, **more):
        self.bus = Cables()
        values = {**read_parameter_file(ROBOT), 'robot_description': str(URDF), **more}
        self.robot = self.bus.host(SimulatedRobotNode, parameters={
            **values, 'schedule': 'stand 100'}).component
        self.run(0.2)
        self.host = self.bus.host(WorkspaceControllerNode, parameters={
            name: value for name, value in values.items() if not name.startswith('simulation')})
        self.node = self.host.component
        self.user = self.bus.create_node('user')
        self.targets = self.publisher('geometry_msgs/msg/PoseStamped', 'body_target')
        self.commands = self.watch('std_msgs/msg/Float64MultiArray',
                                   '/effort_controller/commands')
        self.diagnostics = self.watch('diagnostic_msgs/msg/DiagnosticArray', '/diagnostics')
        self.run(0.6)
        self.home, self.start = self.truth(), self.node.targets.reference.at(self.stamp)

    def publisher(self, kind, name):
        return self.user.create_publisher(DIALECT.message(kind), f'{NODE}/{name}',
                                          DIALECT.qos.reliable(10))

    def watch(self, kind, topic):
        return self.bus.watch(kind, topic, QoSProfile(depth=100000))

    @property
    def stamp(self):
        return self.robot.robot.stamp_ns

    def truth(self):
        return self.robot.robot.truth()

    def run(self, seconds):
        """Step; return how far the true base is from its reference, (n, 6) [m, rad]."""
        errors = []
        for _ in range(round(seconds / 0.002)):
            self.bus.step(0.002)
            if hasattr(self, 'start'):
                errors.append(self.error())
        return np.array(errors)

    def error(self):
        truth, wanted = self.truth(), self.node.targets.reference.at(self.stamp)
        moved = truth.base_position - self.home.base_position
        R = rotation_from_quaternion(truth.base_orientation)
        return np.concatenate([moved - (wanted.position - self.start.position),
                               rotation_vector(R.T @ wanted.rotation)])

    def go(self, offset, turn=(0.0, 0.0, 0.0), frame='odom'):
        rotation = self.start.rotation @ rotation_from_vector(np.array(turn))
        self.targets.publish(convert.pose_stamped(
            DIALECT, 0, frame, self.start.position + offset, quaternion_from_rotation(rotation)))

    def status(self, name):
        """Return level and message as published last."""
        self.run(0.12)
        for array in reversed(self.diagnostics):
            for status in array.status:
                if status.name == f'workspace_controller: {name}':
                    return convert.diagnostic_level(status), status.message
        return None

    def largest_share_of_limits(self):
        efforts = np.array([message.data for message in self.commands])
        return (np.abs(efforts) / self.node.efforts.guard.limits).max()


@pytest.fixture(scope='module')
def standing():
    return Standing()


def test_an_imu_on_a_link_that_turns_holds_the_body_as_well():
    robot = Standing(**{'robot.imu_link': 'LF_THIGH'})
    robot.go(DOWN)          # by which the thigh turns 0.2 rad
    errors = robot.run(1.5)
    assert np.sqrt((errors[:, :3] ** 2).sum(1).mean()) < 0.01
    assert np.degrees(np.sqrt((errors[:, 3:] ** 2).sum(1).mean())) < 1.0
    assert robot.node.efforts.guard.state.obeying


def test_it_takes_over_without_a_jump_and_follows_targets(standing):
    before = len(standing.commands)
    assert np.abs(standing.error()[:3]).max() < 0.01
    standing.go(DOWN)
    errors = standing.run(0.9)
    standing.go(ASIDE, (0.0, 0.1, 0.1))         # still on the way
    errors = np.vstack([errors, standing.run(0.9)])
    assert np.sqrt((errors[:, :3] ** 2).sum(1).mean()) < 0.01
    assert np.degrees(np.sqrt((errors[:, 3:] ** 2).sum(1).mean())) < 1.0
    assert len(standing.commands) - before == 900
    assert standing.largest_share_of_limits() <= 1.0
    assert not standing.robot.robot.fallen
    assert standing.truth().base_position[2] < standing.home.base_position[2] - 0.04


def test_what_it_says_of_pose_and_forces_is_true(standing):
    odometry = standing.watch('nav_msgs/msg/Odometry', f'{NODE}/odom')
    desired = [standing.watch('geometry_msgs/msg/WrenchStamped', f'{NODE}/{foot}/desired_wrench')
               for foot in FEET]
    estimated = [standing.watch('geometry_msgs/msg/WrenchStamped',
                                f'{NODE}/{foot}/estimated_wrench') for foot in FEET]
    standing.run(0.3)
    weight = 9.81 * 52.0
    truth = standing.truth()
    moved = truth.base_position - standing.home.base_position
    position = odometry[-1].pose.pose.position
    said = np.array([position.x, position.y, position.z]) - standing.start.position
    np.testing.assert_allclose(said, moved, atol=0.005)
    for i in range(4):
        norm = np.linalg.norm(truth.feet.wrench[i][:3])
        for messages in (desired, estimated):
            _, wrench = convert.read_wrench(messages[i][-1])
            assert abs(np.linalg.norm(wrench[:3]) - norm) < 0.05 * weight


def test_a_target_beyond_a_stretched_leg_is_cut_short(standing):
    standing.go(np.array([0.0, 0.0, 0.2]))
    standing.run(1.6)
    goal = standing.node.targets.reference.goal.position
    assert 0.02 < goal[2] - standing.start.position[2] < 0.15
    assert np.abs(standing.error()[:3]).max() < 0.01
    standing.go(DOWN)
    standing.run(1.5)


@pytest.mark.parametrize(('offset', 'frame', 'message'), [
    ([0.0, 0.0, 0.5], 'odom', 'within 0.25 m'),
    ([0.0, 0.0, 0.0], 'map', "in the frame 'odom', got 'map'"),
    ([np.nan, 0.0, 0.0], 'odom', 'not finite'),
])
def test_a_target_that_cannot_be_is_refused_and_the_body_stays(standing, offset, frame, message):
    goal = standing.node.targets.reference.goal.position
    standing.go(np.array(offset), frame=frame)
    standing.run(0.01)
    level, text = standing.node.judge(standing.bus.now_ns)['targets']
    assert level == 'WARN' and message in text
    np.testing.assert_array_equal(standing.node.targets.reference.goal.position, goal)


def test_gains_change_at_run_time_but_only_to_what_goes_together(standing):
    change = standing.node._changing
    values = {**standing.node.parameters, 'gains.linear.integral': [1e4, 0.0, 0.0]}
    with pytest.raises(ConfigurationError, match='below stiffness times damping'):
        change(values)
    change({**standing.node.parameters, 'gains.linear.stiffness': [80.0, 80.0, 80.0]})
    assert standing.node.controller.settings['gains.linear.stiffness'] == [80.0, 80.0, 80.0]
    standing.run(0.1)
    assert np.abs(standing.error()[:3]).max() < 0.01


def test_moments_without_imu_do_not_add_up(standing):
    before = standing.node.lost
    for _ in range(3):
        standing.bus.pulled.add('/imu/data')
        standing.run(0.1)
        assert 'no IMU reading' in standing.status('body')[1]
        standing.bus.pulled.clear()
        standing.run(0.4)
    assert standing.node.lost == before == '' and np.abs(standing.error()[:3]).max() < 0.02


def test_without_imu_it_holds_and_then_lets_go_until_it_is_activated_anew(standing):
    standing.bus.pulled.add('/imu/data')
    standing.run(0.2)
    level, text = standing.status('body')
    assert level == WARN and 'no IMU reading' in text
    assert not standing.robot.robot.fallen
    assert np.abs(standing.error()[:3]).max() < 0.02        # still held
    standing.run(0.5)
    level, text = standing.status('body')
    assert level == ERROR and 'activate the node again' in text
    assert np.isfinite(standing.commands[-1].data).all()
    standing.go(DOWN)
    standing.run(0.01)
    assert 'not under control' in standing.node.judge(standing.bus.now_ns)['targets'][1]
    standing.bus.pulled.clear()
    standing.run(0.1)
    assert standing.status('body')[0] == ERROR
    standing.host.component.deactivate()
    standing.bus.spin()
    assert not np.any(standing.commands[-1].data)


def test_after_a_gap_of_its_sensors_the_body_is_held_where_it_is_found():
    """Where it was before is not known to be right, and nor is what was asked of it there."""
    standing = Standing()
    standing.go(DOWN)
    standing.run(0.3)
    standing.bus.pulled.add('/joint_states')
    standing.run(0.15)
    standing.bus.pulled.clear()
    standing.run(0.1)
    goal = standing.node.targets.reference.goal.position
    assert np.abs(goal - standing.node.state.position).max() < 0.01
