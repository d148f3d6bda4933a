# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulator and estimator as processes on a real DDS bus; the simulator is killed, and returns."""
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from loopback_robot import FEET, NODE, ROBOT, URDF

from legged_dynamics.estimation.estimator import compile_kernels
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.middleware.dialect import StandaloneDialect
from legged_dynamics.middleware.discovery import DomainLease

cyclone = pytest.importorskip('legged_dynamics.middleware.cyclone')
pytestmark = pytest.mark.dds

DIALECT = StandaloneDialect()
WEIGHT = 52.13 * 9.81
PATIENCE = 120.0    # s; only a broken bus needs so long


class Bench:
    """Processes on a domain of their own, and a node that listens."""

    def __init__(self, environ):
        self.environ = {**environ, 'LEGGED_DYNAMICS_MIDDLEWARE': 'cyclonedds'}
        self.bus = cyclone.CycloneBus(self.environ)
        self.processes = []
        self.wrenches = {foot: [] for foot in FEET}
        self.truths = {foot: [] for foot in FEET}
        self.stamps, self.status = [], {}
        node = self.bus.create_node('listener')
        deep = DIALECT.qos.reliable(2000)
        wrench = DIALECT.message('geometry_msgs/msg/WrenchStamped')
        for foot in FEET:
            node.create_subscription(wrench, f'{NODE}/{foot}/wrench',
                                     self.wrenches[foot].append, deep)
            node.create_subscription(wrench, f'/ground_truth/{foot}/wrench',
                                     self.truths[foot].append, deep)
        node.create_subscription(
            DIALECT.message('sensor_msgs/msg/JointState'), '/joint_states',
            lambda m: self.stamps.append(convert.stamp_ns(m.header.stamp)), deep)
        node.create_subscription(DIALECT.message('diagnostic_msgs/msg/DiagnosticArray'),
                                 '/diagnostics', self.take_status, deep)

    def take_status(self, array):
        for status in array.status:
            self.status[status.name] = (convert.diagnostic_level(status), status.message)

    def start(self, node, *arguments):
        process = subprocess.Popen(
            [sys.executable, '-c',
             f'import sys; from legged_dynamics.nodes.{node} import main; sys.exit(main())',
             '--ros-args', '--params-file', str(ROBOT), *arguments],
            env={**os.environ, **self.environ}, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def until(self, condition, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.bus.spin_once(0.05)
            if condition():
                return True
        return False

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()
        self.bus.close()


@pytest.fixture
def bench():
    compile_kernels()       # once, here, and not in every process
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
