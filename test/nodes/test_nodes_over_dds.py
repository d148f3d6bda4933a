# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulator and estimator as processes on a real DDS bus; the simulator is killed, and returns."""
import signal

import numpy as np
import pytest
from dds_bench import DdsBench
from loopback_robot import FEET, NODE, ROBOT, URDF

from legged_dynamics.cli.warm import warm
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.middleware.discovery import DomainLease

pytest.importorskip('legged_dynamics.middleware.cyclone')
pytestmark = pytest.mark.dds

WEIGHT = 52.13 * 9.81


class Bench(DdsBench):
    """Estimates and truth of all feet."""

    def __init__(self, environ):
        super().__init__(environ, ROBOT)
        self.wrenches = {foot: [] for foot in FEET}
        self.truths = {foot: [] for foot in FEET}
        self.stamps = []
        wrench = 'geometry_msgs/msg/WrenchStamped'
        for foot in FEET:
            self.listen(wrench, f'{NODE}/{foot}/wrench', self.wrenches[foot].append)
            self.listen(wrench, f'/ground_truth/{foot}/wrench', self.truths[foot].append)
        self.listen('sensor_msgs/msg/JointState', '/joint_states',
                    lambda m: self.stamps.append(convert.stamp_ns(m.header.stamp)))


@pytest.fixture
def bench():
    warm('ground_reaction_estimator')       # once, here, and not in every process
    with DomainLease() as lease:
        made = Bench(lease.environment())
        yield made
        made.close()


def test_a_killed_simulator_is_noticed_and_its_successor_is_estimated(bench):
    simulator = ('-p', f'robot_description:={URDF}', '-p', 'schedule:=stand 100')
    estimator = bench.start('ground_reaction_estimator')
    name = 'ground_reaction_estimator: '
    assert bench.until(lambda: name + 'estimate' in bench.status)
    first = bench.start('simulated_robot', *simulator)
    assert bench.until(lambda: len(bench.wrenches['LF_FOOT']) > 300), bench.status
    first.kill()
    assert bench.until(lambda: bench.status[name + 'joint_states'][0] == 2), bench.status
    assert 'nothing received for' in bench.status[name + 'joint_states'][1]

    before = len(bench.wrenches['LF_FOOT'])
    bench.start('simulated_robot', *simulator)
    assert bench.until(lambda: len(bench.wrenches['LF_FOOT']) > before + 500)
    assert bench.until(lambda: bench.status[name + 'joint_states'][0] == 0), bench.status

    forces = {foot: np.array([convert.read_wrench(m)[1] for m in bench.wrenches[foot]])
              for foot in FEET}
    assert all(np.isfinite(found).all() for found in forces.values())
    total = sum(np.linalg.norm(forces[foot][-100:, :3], axis=1) for foot in FEET)
    assert abs(total.mean() - WEIGHT) < 0.15 * WEIGHT
    stamps = {convert.stamp_ns(m.header.stamp) for m in bench.wrenches['LF_FOOT']}
    assert len(stamps - set(bench.stamps)) <= 0.02 * len(stamps)

    truth = {convert.stamp_ns(m.header.stamp): convert.read_wrench(m)[1]
             for m in bench.truths['LF_FOOT']}
    errors = [convert.read_wrench(m)[1][:3] - truth[convert.stamp_ns(m.header.stamp)][:3]
              for m in bench.wrenches['LF_FOOT'][-200:]
              if convert.stamp_ns(m.header.stamp) in truth]
    assert len(errors) > 100
    assert np.sqrt(np.mean(np.square(errors).sum(axis=1))) < 0.02 * WEIGHT

    estimator.send_signal(signal.SIGINT)
    assert estimator.wait(timeout=10) == 0
