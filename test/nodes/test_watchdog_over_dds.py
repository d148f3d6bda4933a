# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robot, controller and watchdog as processes on a real DDS bus: one of them is killed."""
import re
import signal

import pytest
from dds_bench import STATUS, DdsBench
from fault_bench import FaultBench
from loopback_robot import ROBOT, URDF

from legged_dynamics.ros.middleware.discovery import DomainLease

pytest.importorskip('legged_dynamics.ros.middleware.cyclone')
pytestmark = pytest.mark.dds

COMMANDS = 'effort_controller/commands:=effort_watchdog/commands'
# Motors that hold the last command; a machine that may be busy with other things.
HARDWARE = ('-p', 'schedule:=stand 1000', '-p', 'simulation.command_timeout:=10.0',
            '-p', 'simulation.rate:=125.0', '-p', f'robot_description:={URDF}')
PATIENT = ('-p', 'safety.input_timeout:=1.0', '-p', 'safety.hold:=0.5', '-p', 'imu_timeout:=0.1',
           '-p', 'odometry.max_gap:=0.3', '-p', 'max_gap:=0.3', '-p', 'rate:=125.0')
WATCHFUL = ('-p', 'watchdog.deadline:=1.0', '-p', 'watchdog.hold:=0.5',
            '-p', 'watchdog.input_timeout:=1.0', '-p', 'watchdog.sit:=1.0',
            '-p', 'safety.damping_duration:=0.5')


class Bench(DdsBench):
    """What the watchdog has said of commands, and what it has sent."""

    def __init__(self, environ):
        super().__init__(environ, ROBOT)
        self.said, self.sent = [], []
        self.listen(STATUS, '/diagnostics', self._take_words)
        self.listen('std_msgs/msg/Float64MultiArray', '/effort_controller/commands',
                    self.sent.append)

    def _take_words(self, array):
        self.said += [status.message for status in array.status
                      if status.name == 'effort_watchdog: commands']

    def owners(self):
        """Return the controllers that have had the motors."""
        return set(re.findall(r'workspace_controller@[\w.]+', ' '.join(self.said)))

    def over(self, owner):
        """Whether a controller has lost them for good, and why."""
        return re.fullmatch(
            f'{re.escape(owner)} (is silent|has left): .* is started again', self.said[-1])


@pytest.fixture(scope='module')
def compiled():
    """Compile here, once, what the processes need."""
    FaultBench()


@pytest.fixture
def bench(compiled):
    with DomainLease() as lease:
        made = Bench(lease.environment())
        yield made
        made.close()


def in_command(bench, *parameters):
    """
    Return a controller's process and name while its commands are passed on.

    On a machine that stops it, or the robot, for longer than the deadline it has lost the motors
    before, as it should, and the robot may have fallen: then all begin anew.
    """
    while True:
        if not bench.processes:
            bench.start('simulated_robot', *HARDWARE)
            bench.watchdog = bench.start('effort_watchdog', *WATCHFUL)
            bench.watchdog_log = bench.logs[-1]
        known, count = bench.owners(), len(bench.sent)
        bench.status.clear()
        controller = bench.start('workspace_controller', '-r', COMMANDS, *PATIENT, *parameters)
        assert bench.until(lambda known=known: bench.owners() - known or 'not armed' in
                           bench.status.get('workspace_controller: control', ('', ''))[1]), \
            bench.status
        owner = ''.join(bench.owners() - known)
        if owner:
            assert bench.until(lambda owner=owner, count=count: len(bench.sent) > count + 20
                               or bench.over(owner)), bench.said
            if not bench.over(owner):
                return controller, owner
        bench.end()


def test_a_controller_that_is_killed_or_stopped_leaves_motors_that_come_to_rest(bench):
    for number in (signal.SIGSTOP, signal.SIGKILL):
        controller, owner = in_command(bench)
        assert all(message.layout.dim[0].label == 'effort_watchdog' for message in bench.sent)
        controller.send_signal(number)
        # Left alone at last, and limp: what hardware holds for ever is zero.
        assert bench.until(lambda owner=owner: bench.over(owner)), bench.said
        assert bench.until(lambda: not any(bench.sent[-1].data))
        controller.kill()


@pytest.mark.parametrize('way', ['zero', 'sit'])
def test_an_interrupted_launch_lets_the_robot_down_before_the_motors_go_limp(bench, way):
    words = ''
    while 'stopping: ' not in words:
        controller, owner = in_command(bench, '-p', f'safety.stop:={way}')
        for process in (bench.watchdog, controller):    # as launch and terminals do it
            process.send_signal(signal.SIGINT)
        assert bench.ends(controller) == 0 and bench.ends(bench.watchdog) == 0
        bench.watchdog_log.seek(0)
        words = bench.watchdog_log.read()
        if 'stopping: ' not in words:       # a busy machine had the robot let down before
            assert bench.over(owner), words
            bench.end()
    # Where the machine stops the controller for a second, its silence has the same end.
    assert re.search(f'stopping: when {owner} has left.*the robot is down: {owner} '
                     '(has left|is silent)', words, re.DOTALL), words
    assert bench.until(lambda: not any(bench.sent[-1].data))
