# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot walks on cmd_vel under its controller's node, on the in-process bus."""
import math
from types import SimpleNamespace

import numpy as np
import pytest
from closed_loop import ClosedLoop
from loopback_robot import DIALECT

from benchmarks.zoo.robots import biped
from legged_dynamics.resources import robot_files
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import Parameter
from legged_dynamics.ros.nodes.body.controller import WALK_SETTINGS
from legged_dynamics.ros.nodes.workspace_controller import WorkspaceControllerNode
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.workspace.settings import SETTINGS as WORKSPACE_SETTINGS

TWIST = 'geometry_msgs/msg/TwistStamped'


class Walk(ClosedLoop):
    """A robot that is told where to go."""

    def __init__(self, **parameters):
        super().__init__(WorkspaceControllerNode, **parameters)
        qos = DIALECT.qos.reliable(10)
        self.velocity = self.hand.create_publisher(DIALECT.message(TWIST), '/cmd_vel', qos)
        self.node = self.host.component

    def go(self, seconds, ahead=0.0, left=0.0, turning=0.0, late=None, each=0.1):
        def say():
            message = DIALECT.message(TWIST)()
            if late is not None:
                message.header.stamp = convert.time_message(
                    DIALECT, self.bus.now_ns - round(late * 1e9))
            message.twist.linear.x, message.twist.linear.y = ahead, left
            message.twist.angular.z = turning
            self.velocity.publish(message)
        self.run(seconds, each, say)

    def change(self, **values):
        return self.host.node.set_parameters_atomically([
            Parameter(name.replace('__', '.'), value) for name, value in values.items()])

    def place(self):
        return self.robot.truth().base_position[:2].copy()


@pytest.fixture(scope='module')
def walk():
    loop = Walk(gait='trot')
    loop.run(0.6)
    return loop


def test_it_stands_until_a_velocity_comes_then_walks_and_stops_in_silence(walk):
    start = walk.place()
    assert walk.node.mode() == 'holds'
    walk.go(3.0, ahead=0.3)
    assert walk.node.mode() == 'walks'
    assert 0.5 < (walk.place() - start)[0] < 1.0
    assert walk.status()['walking'] == (0, 'walks')
    walk.run(1.5)                       # silence: it steps in place
    there = walk.place()
    assert walk.node.mode() == 'walks'
    walk.run(2.5)                       # and then stands
    assert walk.node.mode() == 'holds'
    assert walk.place() == pytest.approx(there, abs=0.03)
    assert not walk.robot.fallen


def test_a_velocity_that_is_not_finite_is_ignored_and_said(walk):
    walk.go(0.2, ahead=math.nan)
    assert walk.node.mode() == 'holds'
    level, text = walk.status()['walking']
    assert level == 1 and 'finite' in text


def test_a_robot_that_stands_does_not_set_off_without_its_imu(walk):
    walk.bus.pulled.add('/imu/data')
    walk.go(0.3, ahead=0.3)
    assert walk.node.mode() == 'holds'
    walk.node.walk.request('stand')
    walk.bus.pulled.clear()
    walk.run(0.1)
    assert walk.node.mode() == 'holds'


def test_a_sample_is_as_old_as_its_stamp_says_but_not_by_another_clock(walk):
    now, walking = walk.node.common.now.wall(), walk.node.walk
    for late, age in ((0.02, 0.02), (3600.0, 0.0), (0.03, 0.03), (-3600.0, 0.0)):
        for _ in range(500):
            found = walking.age(now - round(1e9 * late), 0)
        assert found == pytest.approx(age, abs=1e-5)


@pytest.mark.parametrize(('late', 'obeyed'), [
    (None, True), (0.0, True), (0.4, True), (-0.4, True), (0.6, False), (10.0, False),
    (-10.0, False)])
def test_stamped_commands_are_obeyed_for_half_a_second(walk, late, obeyed):
    walking = walk.node.walk
    walking.request('stand')
    walking._velocity = (0.0, 0.0, 0.0)
    walk.go(0.1, ahead=0.05, late=late)
    assert (walking._velocity[0] == 0.05) == obeyed
    level, text = walking.judge(walk.node.common.now())
    assert (level == 'WARN' and 'cmd_vel.max_age' in text) != obeyed
    walking.monitor.fault_ns = -10**18


def test_commands_beyond_what_was_tried_are_slowed_down_and_said(walk):
    velocity = walk.node.walk.walker.velocity
    walk.node.walk.request('trot')
    walk.go(1.5, ahead=3.0, left=1.5, turning=3.0)
    level, text = walk.status()['walking']
    assert level == 1 and 'trot has not been tried at (3.00 m/s, 1.50 m/s, 3.00 rad/s)' in text
    assert velocity == pytest.approx([0.3, 0.15, 0.3], abs=1e-6)      # 10 %
    assert not walk.robot.fallen


@pytest.mark.slow
def test_a_walking_robot_takes_another_gait_once_it_stands(walk):
    walker = walk.node.walk.walker
    walk.go(1.0, ahead=0.4)
    assert walk.change(gait='crawl').successful and walk.change(walking__speed=0.09).successful
    assert walk.change(walking__clearance=0.2).successful
    assert walker.settings.gait == 'trot' and walker.settings.clearance == 0.17
    assert walker.settings.speed == 0.09        # at once
    assert 'crawl: the robot stops first' in walk.node.walk._waiting
    for _ in range(2000):       # to the sample that brings it
        before = walker.walking
        walk.go(0.002, ahead=0.4, each=0.002)
        if walker.settings.gait == 'crawl':
            break
    assert not before
    walk.go(2.0, ahead=0.4)
    assert not walk.robot.fallen and walk.node.mode() == 'walks'
    assert walker.settings.gait == 'crawl'
    assert walker.settings.clearance == 0.2
    assert np.hypot(*walker.velocity[:2]) == pytest.approx(0.09)
    walk.change(gait='trot', walking__speed=0.0, walking__clearance=0.17)
    walk.run(5.0)
    assert walk.node.mode() == 'holds' and walker.settings.gait == 'trot'
    assert not walk.change(gait='tripod').successful and walker.settings.gait == 'trot'


def test_a_gait_that_the_robot_cannot_use_is_refused(walk):
    assert walk.node.walk.request('gallop')[0] is False
    assert walk.node.walk.request('tripod') == (
        False, 'tripod: expected a robot on which 3 feet always stand, got one of 4 feet on which '
        '2 would')
    done, said = walk.node.walk.request('trot')
    assert done and '0.90 m/s ahead, 0.30 m/s to the side or turns at 0.60 rad/s' in said


def test_a_body_that_walks_takes_no_targets(walk):
    walk.go(1.0, ahead=0.1)
    assert 'walks' in walk.node.targets._why_not()
    assert walk.node.postures.request('sit') == (False, 'the robot walks; halt it first')
    assert walk.node.walk.request('stand') == (True, 'standing')
    walk.run(1.5)
    assert walk.node.mode() == 'holds'
    assert np.abs(walk.node.command.error[:3]).max() < 0.02


def test_who_is_stopped_while_it_walks_halts_first_and_then_sits_down(walk):
    walk.node.walk.request('trot')
    walk.go(1.0, ahead=0.3)
    assert walk.node.mode() == 'walks' and not walk.host.leave()
    modes = []
    while not walk.host.leave():
        walk.go(0.1, ahead=0.3)         # whoever commands has not noticed
        modes.append(walk.node.mode())
        assert walk.robot.data.qvel[2] > -1.0 and len(modes) < 150
    assert modes.index('stops') < modes.index('sinks')
    assert not walk.node.lost


# -------------------------------------------------------------------------------------------------


def test_a_biped_walks_on_velocity_commands_and_stands_in_silence():
    zoo, like = biped(), read_parameter_file(robot_files('biped')[0])
    robot = {**{name: value for name, value in like.items() if name.startswith('simulation.')},
             **zoo.parameters, 'robot_description': zoo.urdf}
    walk = Walk(robot=robot, standing=0.6)
    walk.run(0.6)
    assert walk.node.walk._serve(True, None, SimpleNamespace()).success
    start = walk.place()
    walk.go(4.5, ahead=0.12)
    assert walk.node.mode() == 'walks'
    assert 0.2 < (walk.place() - start)[0] < 0.6
    walk.run(4.5)
    assert walk.node.mode() == 'holds'
    assert not walk.robot.fallen


def test_live_changes_do_not_throw_a_walking_robot():
    random, loop = np.random.default_rng(4), Walk(gait='trot')
    loop.run(0.6)
    loop.go(1.5, ahead=0.3)
    # Another gait, or silence, is a stand in between, after which everything is taken.
    apart = ('walking.command_timeout', 'walking.delay')
    settings = [one for one in (*WORKSPACE_SETTINGS, *WALK_SETTINGS)
                if isinstance(one.default, float) and one.name not in apart
                and not one.name.startswith('cmd_vel')]
    taken = 0
    for one in random.choice(len(settings), 50):
        one = settings[one]
        value = (loop.node.parameters[one.name] or 1.0) * math.exp(random.uniform(-1.5, 1.5))
        taken += loop.change(**{one.name: float(np.clip(value, one.lower, one.upper))}).successful
        loop.go(0.1, ahead=0.3)
        assert loop.node.mode() == 'walks' and not loop.robot.fallen, one.name
    assert taken > 40
    assert loop.node.controller.settings != loop.node._wanted
