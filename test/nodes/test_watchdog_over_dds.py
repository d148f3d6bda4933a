# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robot, controller and watchdog as processes on a real DDS bus: one of them is killed."""
import signal

import pytest
from dds_bench import DdsBench
from fault_bench import FaultBench
from loopback_robot import ROBOT, URDF

from legged_dynamics.middleware.discovery import DomainLease

pytest.importorskip('legged_dynamics.middleware.cyclone')
pytestmark = pytest.mark.dds

COMMANDS = 'effort_controller/commands:=effort_watchdog/commands'
# Motors that hold the last command; a machine that may be busy with other things.
HARDWARE = ('-p', 'schedule:=stand 1000', '-p', 'simulation.command_timeout:=10.0',
            '-p', 'simulation.rate:=125.0', '-p', f'robot_description:={URDF}')
PATIENT = ('-p', 'safety.input_timeout:=0.3', '-p', 'safety.hold:=0.5', '-p', 'imu_timeout:=0.1',
           '-p', 'odometry.max_gap:=0.3', '-p', 'max_gap:=0.3', '-p', 'rate:=125.0')
WATCHFUL = ('-p', 'watchdog.deadline:=0.3', '-p', 'watchdog.hold:=0.5',
            '-p', 'watchdog.input_timeout:=0.3', '-p', 'watchdog.sit:=1.0',
            '-p', 'safety.damping_duration:=0.5')


@pytest.fixture
def bench():
    FaultBench()        # compile here, once
    with DomainLease() as lease:
        made = DdsBench(lease.environment(), ROBOT)
        made.sent = []
        made.listen('std_msgs/msg/Float64MultiArray', '/effort_controller/commands',
                    made.sent.append)
        yield made
        made.close()


def test_a_controller_that_is_killed_or_stopped_leaves_motors_that_come_to_rest(bench):
    def says(level, text):
        found = bench.status.get('effort_watchdog: commands', (-1, ''))
        return found[0] == level and text in found[1]
    bench.start('simulated_robot', *HARDWARE)
    bench.start('effort_watchdog', *WATCHFUL)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        controller = bench.start('workspace_controller', '-r', COMMANDS, *PATIENT)
        assert bench.until(lambda: says(0, 'passed on: workspace_controller@')), bench.status
        count = len(bench.sent)
        assert bench.until(lambda count=count: len(bench.sent) > count + 20)
        assert all(message.layout.dim[0].label == 'effort_watchdog' for message in bench.sent)
        controller.send_signal(number)
        # A machine that falls behind may learn of the death before it notices the silence.
        assert bench.until(lambda: says(2, 'is silent') or says(2, 'has left')), bench.status
        # Left alone at last, and limp: what hardware holds for ever is zero.
        assert bench.until(lambda: says(2, 'is started again')), bench.status
        assert not any(bench.sent[-1].data)
        controller.kill()
