# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The foot force controller in a closed loop with the simulated robot, sensor noise included."""
import numpy as np
import pytest
from closed_loop import ClosedLoop, desired_wrench
from loopback_robot import DIALECT, FEET, ROBOT, URDF

from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.nodes.foot_force_controller import FootForceController
from legged_dynamics.safety import GuardState

NODE = '/foot_force_controller'
OK, WARN, ERROR = range(3)
MODEL = RobotModel.from_urdf(URDF)
WEIGHT = MODEL.total_mass * 9.81
TOLERANCE = 0.05 * WEIGHT       # of each true force, at every sample
LIMITS = MODEL.effort_limits[[MODEL.joint_index(name)
                              for name in RobotConfig.from_yaml(ROBOT).joints]]


class Standing(ClosedLoop):
    """The robot under the foot force controller, and hands that ask feet for forces."""

    def __init__(self, **parameters):
        super().__init__(FootForceController, **parameters)
        kind = DIALECT.message('geometry_msgs/msg/WrenchStamped')
        self.hands = {foot: self.hand.create_publisher(
            kind, f'{NODE}/{foot}/desired_wrench', DIALECT.qos.reliable(10)) for foot in FEET}
        self.given = [self.watch('geometry_msgs/msg/WrenchStamped',
                                 f'{NODE}/{foot}/commanded_wrench') for foot in FEET]

    def ask(self, seconds, forces, frame='world'):
        """Keep asking, ten times a second."""
        self.run(seconds, act=lambda: [self.hands[foot].publish(desired_wrench(
            frame, np.array(force, float))) for foot, force in forces.items()])

    def given_forces(self, last):
        """Return (last, 4, 3) newest forces that the controller says it gives, world axes."""
        turn = [self.robot.data.site(foot).xmat.reshape(3, 3) for foot in FEET]
        return np.stack([[R @ convert.read_wrench(m)[1][:3] for m in topic[-last:]]
                         for R, topic in zip(turn, self.given)], axis=1)

    def stands(self):
        moved = np.abs(self.robot.data.qpos[:2]).max()
        return not self.robot.fallen and moved < 0.05 and self.robot.commanded


@pytest.fixture(scope='module')
def robot():
    """Holds the body, 1.5 s after take-over."""
    made = Standing()
    made.run(1.5)
    return made


def test_holds_the_body_where_it_was(robot):
    assert robot.stands()
    total = robot.true_forces(100).sum(axis=1)
    np.testing.assert_allclose(total.mean(axis=0), [0, 0, WEIGHT], atol=0.01 * WEIGHT)
    assert robot.status()['forces'] == (OK, 'holds the body')
    assert robot.simulator.component.robot.command_timeouts == 0


def test_one_foot_gets_ten_percent_of_the_weight_more_and_the_others_share_the_rest(robot):
    before = robot.true_forces(200).mean(axis=0)
    asked = before[0] + [0.0, 0.0, 0.1 * WEIGHT]
    robot.ask(1.0, {'LF_FOOT': asked})
    forces = robot.true_forces(250)
    assert np.abs(forces[:, 0] - asked).max() < TOLERANCE
    assert np.abs(forces - robot.given_forces(250)).max() < TOLERANCE
    mean = forces.mean(axis=0)
    assert np.abs(mean[0] - asked).max() < 0.005 * WEIGHT
    np.testing.assert_allclose(mean[1:].sum(axis=0), before.sum(axis=0) - asked,
                               atol=0.005 * WEIGHT)
    assert robot.status()['forces'] == (OK, 'as asked: LF_FOOT')
    robot.run(1.2)      # nobody asks any more: back it goes
    np.testing.assert_allclose(robot.true_forces(100).mean(axis=0), before, atol=0.01 * WEIGHT)


@pytest.mark.parametrize('forces', [
    {'RF_FOOT': [0, 0, -0.5 * WEIGHT]}, {'LH_FOOT': [0, 0, 10.0 * WEIGHT]},
    {'LF_FOOT': [WEIGHT, -WEIGHT, 0.25 * WEIGHT], 'RH_FOOT': [-WEIGHT, WEIGHT, 0.25 * WEIGHT]}],
    ids=['pull', 'ten weights', 'outside the cone'])
def test_the_impossible_leaves_it_standing(robot, forces):
    robot.ask(1.0, forces)
    assert robot.stands()
    given, true = robot.given_forces(200), robot.true_forces(200)
    assert np.abs(true - given).max() < TOLERANCE
    for foot in forces:
        level, text = robot.status()['forces']
        assert level == WARN
        assert f'{foot}: ' in text
    robot.run(1.2)
    assert robot.status()['forces'] == (OK, 'holds the body')


def test_efforts_were_within_the_limits_at_all_times(robot):
    commands = np.array([list(m.data) for m in robot.commands])
    assert len(commands) > 4000
    assert (np.abs(commands) <= LIMITS).all()


def test_without_the_imu_the_legs_hold_the_body_for_a_while(robot):
    robot.bus.pulled.add('/imu/data')
    robot.run(0.4)
    level, text = robot.status()['forces']
    assert level == WARN
    assert 'no IMU reading: the body is held by the legs alone' in text
    assert robot.stands()
    robot.bus.pulled.clear()
    robot.run(0.8)
    assert robot.stands()
    assert robot.status()['forces'] == (OK, 'holds the body')


def test_wishes_that_make_no_sense_are_refused_and_said(robot):
    robot.ask(1.2, {'LF_FOOT': [0, 0, 100.0]}, frame='odom')
    level, text = robot.status()['forces']
    assert level == WARN
    assert "frames LF_FOOT, base, world; got 'odom'" in text
    robot.ask(1.2, {'LF_FOOT': [0, np.nan, 100.0]})
    assert 'the desired force is not finite' in robot.status()['forces'][1]
    np.testing.assert_allclose(robot.true_forces(1).sum(axis=1)[0], [0, 0, WEIGHT],
                               atol=TOLERANCE)


def test_the_map_is_published_while_somebody_listens(robot):
    array, prefix = 'std_msgs/msg/Float64MultiArray', f'{NODE}/force_map'
    matrices, offsets = robot.watch(array, f'{prefix}/matrix'), robot.watch(
        array, f'{prefix}/offset')
    conditions = robot.watch('std_msgs/msg/Float64', f'{prefix}/condition')
    pictures = robot.watch('visualization_msgs/msg/MarkerArray', f'{NODE}/markers')
    robot.ask(1.0, {'LF_FOOT': [0, 0, 0.3 * WEIGHT]})
    assert 8 <= len(matrices) <= 12
    rows, columns = (dim.label.split() for dim in matrices[-1].layout.dim)
    assert rows[:4] == ['LF_FOOT.x', 'LF_FOOT.y', 'LF_FOOT.z', 'RF_FOOT.x']
    D = np.array(matrices[-1].data).reshape(len(rows), len(columns))
    # The map explains the forces by the efforts, both as they are.
    efforts = dict(zip(RobotConfig.from_yaml(ROBOT).joints, robot.robot.exact().effort))
    forces = np.array(offsets[-1].data) + D @ [efforts[name] for name in columns]
    np.testing.assert_allclose(forces.reshape(4, 3), robot.true_forces(1)[0], atol=TOLERANCE)
    assert conditions[-1].data == pytest.approx(np.linalg.cond(D), rel=1e-6)
    kinds = {(m.ns, m.id) for picture in pictures for m in picture.markers}
    assert {('producible', 3), ('friction_cone', 0), ('given', 1), ('asked', 0)} <= kinds
    arrow = next(m for m in pictures[-4].markers if m.ns == 'given')
    assert arrow.points[1].z - arrow.points[0].z == pytest.approx(0.3 * WEIGHT / 1000.0, rel=0.05)


def test_activated_anew_it_holds_the_pose_it_then_has(robot):
    robot.host.component.deactivate()
    robot.run(0.3)
    assert not robot.robot.commanded
    np.testing.assert_array_equal(robot.commands[-1].data, np.zeros(12))
    robot.host.component.activate()
    robot.run(0.8)
    assert robot.stands()
    assert robot.status()['forces'] == (OK, 'holds the body')


def test_a_pushed_robot_comes_back_and_one_that_falls_is_let_go(robot):
    robot.robot.data.qvel[:2] = 0.2, -0.1
    robot.run(1.0)
    assert robot.stands()
    assert robot.status()['forces'][0] == OK
    robot.bus.pulled.add('/imu/data')
    robot.run(0.7)
    assert robot.status()['forces'] == (
        ERROR, 'let go: no IMU reading for too long; activate the node again')
    robot.run(0.2)
    assert robot.host.component.efforts.state is GuardState.DAMPING
    robot.bus.pulled.clear()        # too late: who has fallen is set up by somebody
    robot.run(2.0)
    assert robot.status()['forces'][0] == ERROR
    level, text = robot.status()['control']
    assert level == ERROR and 'activate the node again' in text
    assert robot.host.component.efforts.state is GuardState.LATCHED
    np.testing.assert_array_equal(robot.commands[-1].data, np.zeros(12))
