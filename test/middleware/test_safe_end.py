# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""However a node is asked to stop, and how often: its last command is the safe one."""
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from tolerances import PATIENCE

from legged_dynamics.ros.middleware.discovery import DomainLease
from legged_dynamics.ros.middleware.lifecycle import SAME, stopped_by_signals
from legged_dynamics.ros.middleware.parameters import StandaloneDialect

cyclone = pytest.importorskip('legged_dynamics.ros.middleware.cyclone')
pytestmark = pytest.mark.dds

COMMANDER = Path(__file__).parent / 'commander_component.py'
DIALECT = StandaloneDialect()
INT, TERM, HUP, QUIT = signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT
# Signals, each with the time since the one before [s].
SEQUENCES = {
    'INT': [(0.0, INT)], 'TERM': [(0.0, TERM)], 'HUP': [(0.0, HUP)],
    'INT, 1 ms, INT': [(0.0, INT), (0.001, INT)],
    'INT, 5 ms, INT, 50 ms, INT': [(0.0, INT), (0.005, INT), (0.05, INT)],
    'INT, 20 ms, TERM, 20 ms, QUIT, HUP': [(0.0, INT), (0.02, TERM), (0.02, QUIT), (0.0, HUP)],
    'INT every 10 ms': [(0.01, INT)] * 60,
}


@pytest.fixture(params=['cyclonedds', 'rclpy'])
def backend(request):
    if find_spec(request.param) is None:
        pytest.skip(f'{request.param} cannot be imported here')
    return request.param


def heed_signals():
    """Under nohup, or from a shell's background job, a process would inherit deaf ears."""
    for number in (INT, TERM, HUP, QUIT):
        signal.signal(number, signal.SIG_DFL)


class Watch:
    """A commander's process, and the commands that it sends."""

    def __init__(self, environ, backend, *arguments):
        self.bus = cyclone.CycloneBus(environ)
        self.heard = []
        self.bus.create_node('watch').create_subscription(
            DIALECT.message('std_msgs/msg/Float64MultiArray'), '/commands',
            lambda message: self.heard.append(message.data[0]), DIALECT.qos.reliable(1))
        self.process = subprocess.Popen(
            [sys.executable, str(COMMANDER), '--ros-args', *arguments],
            env={**os.environ, **environ, 'LEGGED_DYNAMICS_MIDDLEWARE': backend},
            stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals)

    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end and self.process.poll() is None
            self.bus.spin_once(0.02)

    def end(self):
        """Return exit code and log, having heard the last words: zero, where there are any."""
        _, log = self.process.communicate(timeout=PATIENCE)
        end = time.monotonic() + PATIENCE
        while self.bus.spin_once(0.2) or (self.heard and self.heard[-1] != 0.0
                                          and time.monotonic() < end):
            pass
        return self.process.returncode, log

    def close(self):
        self.process.kill()
        self.process.communicate()
        self.bus.close()


@pytest.fixture
def watch(backend):
    made = []
    with DomainLease() as lease:
        yield lambda *arguments: made.append(Watch(
            lease.environment(), backend, *arguments)) or made[-1]
        for entry in made:
            entry.close()


@pytest.mark.parametrize('sequence', SEQUENCES)
def test_the_last_command_is_the_safe_one(watch, sequence):
    commander = watch()
    commander.until(lambda: len(commander.heard) > 3)
    for pause, number in SEQUENCES[sequence]:
        time.sleep(pause)
        commander.process.send_signal(number)
    code, log = commander.end()
    assert code == 0 and commander.heard[-1] == 0.0, log
    assert log.count('cleaned up') == 1 and 'Traceback' not in log


def test_a_robot_is_brought_down_before_the_last_command(watch):
    commander = watch('-p', 'last_ticks:=3')
    commander.until(lambda: len(commander.heard) > 3)
    commander.process.send_signal(INT)
    code, log = commander.end()
    assert code == 0 and log.count('bringing down') == 3, log
    assert commander.heard[-1] == 0.0


def test_who_asks_again_after_a_while_need_not_wait(watch):
    commander = watch('-p', 'last_ticks:=1000000000')
    commander.until(lambda: len(commander.heard) > 3)
    commander.process.send_signal(INT)
    commander.until(lambda: 1.0 in commander.heard)
    time.sleep(SAME + 0.1)
    commander.process.send_signal(INT)
    code, log = commander.end()
    assert code == 0 and commander.heard[-1] == 0.0, log


def test_who_is_stopped_while_being_configured_never_commands(watch, tmp_path):
    commander = watch('-p', f'configure_until:={tmp_path / "asked"}')
    line = ''
    while 'configuring' not in line:
        line = commander.process.stderr.readline()
        assert line
    commander.process.send_signal(TERM)
    (tmp_path / 'asked').touch()
    code, log = commander.end()
    assert code == 0 and 'activated' not in log and commander.heard == []


def test_who_is_stopped_while_compiling_ends_at_once(backend, tmp_path):
    with DomainLease() as lease:
        node = subprocess.Popen(
            [sys.executable, '-m', 'legged_dynamics', 'run', 'ground_reaction_estimator'],
            env={**os.environ, **lease.environment(), 'LEGGED_DYNAMICS_MIDDLEWARE': backend,
                 'NUMBA_CACHE_DIR': str(tmp_path)}, stderr=subprocess.PIPE, text=True)
        try:
            line = node.stderr.readline()
            assert 'compiling' in line, line
            child = []
            while not child:
                assert node.poll() is None
                with suppress(OSError):     # of a thread that has just ended
                    child = [word for task in Path(f'/proc/{node.pid}/task').iterdir()
                             for word in (task / 'children').read_text().split()]
            node.send_signal(TERM)
            _, rest = node.communicate(timeout=PATIENCE)
            assert node.returncode == 0 and 'compiled' not in rest, rest
            assert child and not Path(f'/proc/{child[-1]}').exists()
        finally:
            node.kill()


def test_handlers_come_back_when_nobody_asked_to_stop():
    before = signal.getsignal(INT)
    with stopped_by_signals(lambda: None):
        assert signal.getsignal(INT) is not before
    assert signal.getsignal(INT) is before
