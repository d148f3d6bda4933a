# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulator and foot force controller as processes on a real DDS bus."""
import signal
import time
from collections import deque

import numpy as np
import pytest
from closed_loop import ClosedLoop
from dds_bench import DIALECT, DdsBench
from loopback_robot import FEET, ROBOT, URDF

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.discovery import DomainLease
from legged_dynamics.ros.nodes.foot_force_controller import FootForceController

pytest.importorskip('legged_dynamics.ros.middleware.cyclone')
pytestmark = pytest.mark.dds

NODE = '/foot_force_controller'
WEIGHT = 52.13 * 9.81
SAMPLES = 100
# Time waits for the controller, and is not to run away from the hand that asks.
ROBOT_SIDE = ('-p', f'robot_description:={URDF}', '-p', 'simulation.rate:=125.0',
              '-p', f'lock_step.answers:=[{NODE}/answer]')
CONTROL_SIDE = ('-p', f'robot_description:={URDF}', '-p', 'use_sim_time:=true',
                '-p', 'odometry.max_gap:=0.3', '-p', 'desired_timeout:=100.0')


class Standing(DdsBench):
    """True and commanded forces of all feet, in the feet's axes, and a hand to ask with."""

    def __init__(self, environ):
        super().__init__(environ, ROBOT)
        kind = 'geometry_msgs/msg/WrenchStamped'
        self.true, self.given = ([{} for _ in FEET] for _ in range(2))     # by stamp
        for i, foot in enumerate(FEET):
            for kept, topic in ((self.true, f'/ground_truth/{foot}/wrench'),
                                (self.given, f'{NODE}/{foot}/commanded_wrench')):
                self.listen(kind, topic, lambda m, kept=kept[i]: kept.update(
                    [convert.read_wrench(m)]))
        self.commands = deque(maxlen=1)
        self.listen('std_msgs/msg/Float64MultiArray', '/effort_controller/commands',
                    self.commands.append)
        self.hand = self.node.create_publisher(
            DIALECT.message(kind), f'{NODE}/LF_FOOT/desired_wrench', DIALECT.qos.reliable(10))
        self.asked, self._since, self._next = None, 0, 0.0

    def mean(self, topics):
        """Return means (4, 3) over the newest stamps of which everything was heard."""
        return np.mean([[topic[stamp][:3] for topic in topics] for stamp in self._stamps()],
                       axis=0)

    def _stamps(self):
        heard = set.intersection(*(set(topic) for topic in (*self.true, *self.given)))
        return sorted(stamp for stamp in heard if stamp > self._since)[-SAMPLES:]

    def steady(self):
        """Whether the feet have got, over many samples, what the controller says it gives."""
        # Looked at ten times a second: more often, and this process would fall behind.
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + 0.1
        if self.asked is not None:
            self.hand.publish(convert.wrench_stamped(DIALECT, 0, 'LF_FOOT',
                                                     [*self.asked, 0.0, 0.0, 0.0]))
        if len(self._stamps()) < SAMPLES:
            return False
        error = np.abs(self.mean(self.true) - self.mean(self.given)).max()
        return error < 0.05 * WEIGHT

    def anew(self):
        """Forget what was before the controller last said what it does."""
        self._since = self.stamps['foot_force_controller: forces']
        for topic in (*self.true, *self.given):
            for stamp in [stamp for stamp in topic if stamp <= self._since]:
                del topic[stamp]

    def says(self, level, text):
        found = self.status.get('foot_force_controller: forces', (-1, ''))
        return found[0] == level and text in found[1]


@pytest.fixture
def bench():
    ClosedLoop(FootForceController, standing=0.1).run(0.1)     # compile here, once
    with DomainLease() as lease:
        made = Standing(lease.environment())
        yield made
        made.close()


def test_true_forces_follow_what_is_asked_over_dds(bench):
    bench.start('simulated_robot', '-p', 'schedule:=stand 1000', *ROBOT_SIDE)
    controller = bench.start('foot_force_controller', *CONTROL_SIDE)
    assert bench.until(lambda: bench.says(0, 'holds the body') and bench.commands), bench.status
    bench.anew()
    assert bench.until(bench.steady)
    before = bench.mean(bench.true)[0]

    bench.asked = before * (1.0 + 0.1 * WEIGHT / np.linalg.norm(before))
    assert bench.until(lambda: bench.steady() and bench.says(0, 'as asked: LF_FOOT'))
    bench.anew()
    assert bench.until(bench.steady)
    assert np.abs(bench.mean(bench.true)[0] - bench.asked).max() < 0.05 * WEIGHT

    bench.asked = before * (10.0 * WEIGHT / np.linalg.norm(before))
    assert bench.until(lambda: bench.steady() and bench.says(1, 'beyond the effort limits'))
    bench.anew()
    assert bench.until(bench.steady)
    assert bench.until(
        lambda: bench.status['simulated_robot: robot'] == (0, 'obeys effort commands'))

    controller.send_signal(signal.SIGTERM)
    assert bench.ends(controller) == 0
    assert bench.until(lambda: not np.any(bench.commands[-1].data))     # zero, last of all
