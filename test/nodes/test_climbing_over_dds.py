# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Climbing robot and controller as processes on a real DDS bus; one foot fails half way."""
import signal

import numpy as np
import pytest
from dds_bench import BRAKE, DdsBench
from loopback_climber import NODE, WRENCH, YAML, LoopbackClimber

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.discovery import DomainLease

pytest.importorskip('legged_dynamics.ros.middleware.cyclone')
pytestmark = pytest.mark.dds

WEIGHT = 0.37 * 9.81
FOOT = 'right_fore_foot'
# A quarter of the robot's own rate is enough, and as fast as the machine can: time waits.
RATE = 125.0        # Hz
CONTROLLER = {'walk': 'true', 'control.rate': RATE, 'control.speed': 0.04, 'use_sim_time': 'true'}
ROBOT = {'simulation.rate': RATE, 'lock_step.answers': f'[{NODE}/answer, {BRAKE}]',
         'lock_step.speed': 0.0, 'simulation.fault.foot': FOOT, 'simulation.fault.distance': 0.1}


@pytest.fixture
def bench():
    LoopbackClimber(walk=True).run(0.2)     # compile here, and not in every process
    with DomainLease() as lease:
        made = DdsBench(lease.environment(), YAML)
        yield made
        made.close()


def arguments(values):
    return [word for name, value in values.items() for word in ('-p', f'{name}:={value}')]


def test_climbs_recovers_from_a_failed_foot_and_climbs_on(bench):
    poses, truths, wrenches, events, warnings = [], {}, {}, [], []
    bench.listen('nav_msgs/msg/Odometry', '/ground_truth/odom', poses.append)
    bench.listen(WRENCH, f'/ground_truth/{FOOT}/wrench',
                 lambda m: truths.update([convert.read_wrench(m)]))
    bench.listen(WRENCH, f'{NODE}/{FOOT}/wrench',
                 lambda m: wrenches.update([convert.read_wrench(m)]))
    bench.listen('std_msgs/msg/String', f'{NODE}/events', lambda m: events.append(m.data))
    bench.listen('diagnostic_msgs/msg/DiagnosticArray', '/diagnostics', lambda array:
                 warnings.extend(s.message for s in array.status
                                 if s.name == 'stickybot_controller: feet'))

    def height():
        return poses[-1].pose.pose.position.z if poses else 0.0
    controller = bench.start('stickybot_controller', *arguments(CONTROLLER))
    bench.start('simulated_robot', *arguments(ROBOT))
    bench.let_time_go_on(f'{NODE}/answer')      # no event is missed
    assert bench.until(lambda: height() > 0.1), bench.status
    assert bench.until(lambda: any('right_fore no longer holds' in e for e in events))
    lost = next(i for i, e in enumerate(events) if 'right_fore no longer holds' in e)
    assert bench.until(lambda: any('right_fore was planted' in e for e in events[lost:]))
    assert bench.until(lambda: any('right_fore' in text and 'it is planted again' in text
                                   for text in warnings))
    assert bench.until(lambda: height() > 0.2), bench.status
    assert bench.until(lambda: len(truths.keys() & wrenches.keys()) > 300)
    controller.send_signal(signal.SIGTERM)
    assert bench.ends(controller) == 0
    errors = np.array([wrenches[stamp][:2] - truths[stamp][:2]
                       for stamp in truths.keys() & wrenches.keys()])
    assert np.sqrt(np.mean(errors ** 2)) < 0.05 * WEIGHT
