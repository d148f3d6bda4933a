# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulated time that waits for its answers, on an in-process bus."""
import hashlib

import numpy as np
import pytest
from loopback_robot import DIALECT, FEET, ROBOT, URDF

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.protocol import QoSProfile
from legged_dynamics.ros.nodes.ground_reaction_estimator import GroundReactionNode
from legged_dynamics.ros.nodes.lock_step import BEGIN_NS
from legged_dynamics.ros.nodes.simulated_robot import SimulatedRobotNode
from legged_dynamics.ros.nodes.workspace_controller import WorkspaceControllerNode
from legged_dynamics.schema import read_parameter_file

PERIOD = 2_000_000
ANSWER = 'sensor_msgs/msg/JointState'


class Bench:
    """A simulator in lock-step, and hands that answer it."""

    def __init__(self, answers=('/hand/answer',), noise=True, **parameters):
        self.bus = LoopbackBus()
        self.values = read_parameter_file(ROBOT)
        self.simulator = self.bus.host(SimulatedRobotNode, parameters={
            **self.values, 'robot_description': str(URDF), 'schedule': 'stand 100',
            'lock_step.answers': list(answers), 'sensor_noise': noise,
            **{f'lock_step.{name}': value for name, value in parameters.items()}})
        self.robot = self.simulator.component.robot
        self.node = self.bus.create_node('hand')
        self.answers = self.node.create_publisher(DIALECT.message(ANSWER), '/hand/answer',
                                                  DIALECT.qos.latched)
        self.seen = self.watch(ANSWER, '/joint_states')
        self.watch('sensor_msgs/msg/Imu', '/imu/data')
        self.clock = self.watch('rosgraph_msgs/msg/Clock', '/clock')

    def watch(self, kind, topic):
        return self.bus.watch(kind, topic, QoSProfile(depth=100_000, reliable=False))

    def answer(self, ns, names=(), efforts=()):
        self.answers.publish(convert.joint_state(DIALECT, ns, names, effort=efforts))
        self.bus.spin()

    @property
    def stamps(self):
        return [convert.stamp_ns(message.header.stamp) for message in self.seen]

    def log(self):
        return '\n'.join(record.message for record in self.bus.logs)


@pytest.mark.parametrize('window', [1, 3])
def test_no_more_samples_than_the_window_are_unanswered(window):
    bench = Bench(window=window)
    bench.bus.step(1.0)
    assert bench.stamps == [BEGIN_NS + (k + 1) * PERIOD for k in range(window)]
    bench.answer(bench.stamps[0])
    bench.bus.step(1.0)
    assert len(bench.stamps) == window + 1
    bench.answer(bench.stamps[-1])      # stands for all before it
    bench.bus.step(1.0)
    assert len(bench.stamps) == 2 * window + 1
    assert np.diff(bench.stamps).tolist() == [PERIOD] * (2 * window)
    assert [convert.stamp_ns(message.clock) for message in bench.clock] == bench.stamps


def test_time_does_not_begin_before_those_who_answer_are_there():
    bench = Bench(answers=('/hand/answer', '/late/answer'))
    bench.bus.step(30.0)
    assert bench.stamps == []
    late = bench.bus.create_node('late').create_publisher(
        DIALECT.message(ANSWER), '/late/answer', DIALECT.qos.latched)
    bench.bus.step(0.1)
    assert bench.stamps == []           # two answer, and only one listens
    bench.watch(ANSWER, '/joint_states')
    bench.watch('sensor_msgs/msg/Imu', '/imu/data')
    bench.bus.step(0.1)
    assert len(bench.stamps) == 1
    bench.answer(bench.stamps[0])
    bench.bus.step(0.1)
    assert len(bench.stamps) == 1
    late.publish(convert.joint_state(DIALECT, bench.stamps[0], ()))
    bench.bus.spin()
    assert len(bench.stamps) == 2


@pytest.mark.parametrize('window', [1, 4])
def test_a_command_is_obeyed_so_many_samples_after_the_one_it_answers(window):
    bench = Bench(window=window, noise=False)
    joints, wanted = bench.robot.plant.joints, np.zeros(12)
    bench.bus.step(0.1)
    while len(bench.stamps) < 20:
        number = len(bench.stamps)
        oldest = bench.stamps[number - window]
        wanted = wanted + 1.0 if number == 12 else wanted
        bench.answer(oldest, joints, wanted)
        bench.bus.step(0.002)
    # Efforts are those of the step that led to a sample.
    efforts = [message.effort[0] for message in bench.seen]
    changed = int(np.argmax(np.isclose(efforts, 1.0)))
    assert changed == 12 and np.isclose(efforts[changed:], 1.0).all()
    assert bench.robot.commanded


@pytest.mark.parametrize(('speed', 'samples'), [(1.0, 100), (3.0, 300), (0.0, 400)])
def test_it_is_not_faster_than_the_wall_unless_asked_and_ends_where_it_is_to(speed, samples):
    bench = Bench(speed=speed, duration=0.8, window=10_000)
    for _ in range(10):
        bench.bus.step(0.02)
    assert bench.simulator.component._pace.ticks == pytest.approx(samples, abs=25)
    bench.bus.step(3.0)
    assert bench.robot.stamp_ns == BEGIN_NS + 400 * PERIOD
    assert 'robot upright' not in bench.log()       # who works on the last sample is waited for
    bench.answer(bench.stamps[-1])
    assert 'robot upright; 0.80 s in' in bench.log()
    bench.bus.step(1.0)
    assert bench.robot.stamp_ns == BEGIN_NS + 400 * PERIOD


def digest(messages):
    made = hashlib.sha256()
    for message in messages:
        made.update(repr(message).encode())
    return made.hexdigest()


def run_with(component, stalls, answers):
    """Return a digest of the truth with a node beside the robot, while the machine stalls."""
    bench = Bench(answers=answers, duration=1.0)
    odometry = bench.watch('nav_msgs/msg/Odometry', '/ground_truth/odom')
    wrench = bench.watch('geometry_msgs/msg/WrenchStamped', f'/ground_truth/{FEET[0]}/wrench')
    bench.bus.host(component, parameters={**bench.values, 'use_sim_time': True,
                                          'robot_description': str(URDF)})
    random = np.random.default_rng(stalls)
    while 'robot upright; 1.00 s' not in bench.log():
        bench.bus.step(float(random.exponential(0.02 * stalls)) if stalls else 0.002)
        assert bench.bus.now_ns < 100e9, bench.log()
    return bench, digest(odometry), digest(wrench)


def test_a_closed_loop_is_the_same_bit_for_bit_however_time_passes():
    answers = ('/workspace_controller/answer',)
    runs = [run_with(WorkspaceControllerNode, stalls, answers) for stalls in (0, 1, 20)]
    assert runs[0][0].robot.commanded
    assert runs[0][1:] == runs[1][1:] == runs[2][1:]


def test_the_estimator_answers_every_sample_in_simulated_time_only():
    bench, _, _ = run_with(GroundReactionNode, 0, ('/ground_reaction_estimator/answer',))
    assert len(bench.stamps) == 500
    bus = LoopbackBus()
    bus.host(GroundReactionNode, parameters={**bench.values, 'robot_description': str(URDF)})
    assert not any(topic.endswith('answer') for topic, _ in bus.topics())
