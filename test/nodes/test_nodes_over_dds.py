# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulator and estimator as processes on a real DDS bus; the simulator is killed, and returns."""
import signal
from collections import Counter
from functools import partial

import numpy as np
import pytest
from dds_bench import DdsBench
from loopback_robot import FEET, NODE, ROBOT, URDF

from legged_dynamics.cli.warm import warm
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.discovery import DomainLease
from legged_dynamics.schema import read_parameter_file

pytest.importorskip('legged_dynamics.ros.middleware.cyclone')
pytestmark = pytest.mark.dds

WEIGHT = 52.13 * 9.81
PERIOD_NS = round(1e9 / read_parameter_file(ROBOT)['simulation.rate'])


class Bench(DdsBench):
    """
    Estimates and truth of all feet by stamp, as far as they were heard.

    Attributes
    ----------
    sampled : list of int
        Stamps of the sensors.
    complete : list of int
        Stamps of which everything was heard of all feet.

    """

    def __init__(self, environ):
        super().__init__(environ, ROBOT)
        self.estimates, self.truths = ({foot: {} for foot in FEET} for _ in range(2))
        self.sampled, self.complete, self._heard = [], [], Counter()
        for kept, topic in ((self.estimates, NODE), (self.truths, '/ground_truth')):
            for foot in FEET:
                self.listen('geometry_msgs/msg/WrenchStamped', f'{topic}/{foot}/wrench',
                            partial(self._take_wrench, kept[foot]))
        self.listen('sensor_msgs/msg/JointState', '/joint_states',
                    lambda m: self.sampled.append(convert.stamp_ns(m.header.stamp)))

    def _take_wrench(self, seen, message):
        stamp, seen[stamp] = convert.read_wrench(message)
        self._heard[stamp] += 1
        if self._heard[stamp] == 2 * len(FEET):
            self.complete.append(stamp)

    def of(self, life, stamps):
        """Return those stamps that lie on the grid of one life's sensors, in order."""
        return sorted(stamp for stamp in stamps if stamp % PERIOD_NS == life)


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

    def says(level, text=''):
        found = bench.status.get('ground_reaction_estimator: joint_states', (-1, ''))
        return found[0] == level and text in found[1]
    assert bench.until(lambda: bench.status)
    robot = bench.start('simulated_robot', *simulator)
    assert bench.until(lambda: says(0) and bench.complete), bench.status
    robot.kill()
    robot.wait()
    assert bench.until(lambda: says(2, 'nothing received for')), bench.status

    # A life's sensors have stamps whole periods apart, however many of them nobody heard.
    (first,) = {stamp % PERIOD_NS for stamp in bench.sampled}
    bench.start('simulated_robot', *simulator)
    assert bench.until(lambda: bench.sampled[-1] % PERIOD_NS != first)
    second = bench.sampled[-1] % PERIOD_NS
    assert bench.until(lambda: says(0) and len(bench.of(second, bench.complete)) > 300), \
        bench.status

    for seen in bench.estimates.values():
        assert {stamp % PERIOD_NS for stamp in seen} == {first, second}
        assert bench.of(first, seen)[-1] < bench.of(second, seen)[0]
        assert np.isfinite(list(seen.values())).all()
    stamps = bench.of(second, bench.complete)[-200:]
    forces, truths = (np.array([[kept[foot][stamp][:3] for foot in FEET] for stamp in stamps])
                      for kept in (bench.estimates, bench.truths))
    assert abs(np.linalg.norm(forces, axis=2).sum(axis=1).mean() - WEIGHT) < 0.15 * WEIGHT
    errors = np.linalg.norm(forces - truths, axis=2)
    assert (np.sqrt(np.mean(errors ** 2, axis=0)) < 0.02 * WEIGHT).all()

    estimator.send_signal(signal.SIGINT)
    assert bench.ends(estimator) == 0
