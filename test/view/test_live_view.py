# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The live view on the in-process bus: what the estimator said is what is shown."""
from dataclasses import replace

import numpy as np
import pytest
from loopback_robot import DIALECT, FEET, NODE, ROBOT, LoopbackRobot

from legged_dynamics.estimation import GroundReactionEstimator
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.nodes.ground_reaction_estimator import all_of
from legged_dynamics.view.figure import Forces, ForcesReader
from legged_dynamics.view.sources import LiveOptions, ViewNode


def viewer(robot, **options):
    """Return the view on a robot's bus."""
    class Node(ViewNode):
        pass
    Node.options = LiveOptions(robot=str(ROBOT), **options)
    view = robot.bus.host(Node).component
    robot.bus.spin()
    return view


def test_what_the_estimator_says_is_what_is_shown():
    robot = LoopbackRobot()
    view, sent = viewer(robot), []
    robot.run(60, joints=lambda message: sent.append(message) or message)
    shown = view.snapshot()
    assert view.wrong == ''
    assert shown.stamp_ns == convert.stamp_ns(sent[-1].header.stamp)
    assert shown.position == pytest.approx(sent[-1].position)
    said = [convert.read_wrench(topic[-1])[1] for topic in robot.wrenches]
    assert shown.forces.wrench == pytest.approx(np.array(said))
    assert shown.forces.contact.all() and shown.forces.observable.all()
    assert abs(np.linalg.norm(shown.rotation[2] - [0.0, 0.0, 1.0])) < 0.05


def test_it_waits_and_says_for_what():
    robot = LoopbackRobot(description='none')
    view = viewer(robot)
    assert view.snapshot() is None and 'robot_description' in view.wrong
    robot.describe('<robot name="x"><link name="a"/></robot>')
    robot.bus.spin()
    assert view.snapshot() is None and 'robot_description: ' in view.wrong
    robot.describe(robot.urdf)
    robot.bus.spin()
    assert view.snapshot() is None and 'joint_states' in view.wrong
    robot.run(1, joints=lambda message: replace(message, name=['no', *message.name[1:]]))
    assert view.snapshot() is None and 'missing' in view.wrong
    robot.run(30)
    assert view.snapshot() is not None and view.wrong == ''


def test_a_robot_without_estimates_is_shown_without_forces():
    robot = LoopbackRobot()
    view = viewer(robot, reactions='/nobody/reactions')
    robot.run(20)
    assert view.snapshot().forces is None


def test_estimates_of_another_time_are_not_shown():
    robot = LoopbackRobot()
    view = viewer(robot)
    robot.run(30)
    assert view.snapshot().forces is not None
    robot.bus.step(0.6)
    robot.run(1, imu=lambda message: None)      # the estimator waits for it, and says nothing
    assert view.snapshot().forces is None


def test_the_view_costs_nothing_while_it_is_not_there():
    robot = LoopbackRobot()
    robot.run(20)
    names = [topic for topic, _ in robot.bus.topics()]
    assert f'{NODE}/foot_reactions' in names
    publisher = next(entry for entry in robot.bus.publishers
                     if entry.topic == f'{NODE}/foot_reactions')
    assert publisher.get_subscription_count() == 0
    view = viewer(robot)
    assert publisher.get_subscription_count() == 1
    view.cleanup()
    assert publisher.get_subscription_count() == 0


def reaction(**without):
    """Return a standing robot's estimate."""
    from loopback_robot import standing_samples

    from legged_dynamics.estimation import Measurement
    from legged_dynamics.model import RobotConfig
    from legged_dynamics.recordings.robot import read_model
    model = read_model(ROBOT.with_suffix('.urdf'))[0]
    estimator = GroundReactionEstimator(model, RobotConfig.from_yaml(ROBOT))
    for sample in standing_samples()[:60]:
        values = {'stamp_ns': sample.stamp_ns, 'position': sample.position,
                  'velocity': sample.velocity, 'effort': sample.effort,
                  'angular_velocity': sample.angular_velocity,
                  'linear_acceleration': sample.linear_acceleration,
                  'orientation': sample.orientation, **without}
        found = estimator.update(Measurement(**values))
    return found


def test_the_topic_of_numbers_by_name_is_read_where_it_is_stated():
    robot = LoopbackRobot()
    usual, stated = viewer(robot), viewer(robot, reactions=f'{NODE}/reactions')
    robot.run(60)
    said = [line.message for line in robot.bus.logs if 'ends with 0.4' in line.message]
    shown, whole = usual.snapshot().forces, stated.snapshot().forces
    for name in ('stamp_ns', 'wrench', 'deviation', 'contact', 'observable',
                 'center_of_pressure', 'external', 'external_deviation'):
        assert getattr(shown, name) == pytest.approx(getattr(whole, name)), name
    assert len(said) == 1       # for the one that states it
    assert np.isfinite(whole.ground_normal).all()


@pytest.mark.parametrize('without', [{}, {'effort': None}], ids=['whole', 'without torque'])
def test_a_message_says_the_same_as_the_estimate(without):
    made = reaction(**without)
    read, direct = ForcesReader(FEET)(all_of(DIALECT, made)), Forces.of(made)
    for name in ('wrench', 'deviation', 'contact', 'observable', 'center_of_pressure',
                 'external', 'external_deviation', 'ground_normal'):
        assert getattr(read, name) == pytest.approx(getattr(direct, name)), name
    assert read.observable.all() == (not without)
    assert ForcesReader(('LF_FOOT', 'OTHER'))(all_of(DIALECT, made)) is None
