# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Children end with their parent, whatever ends that; nodes stay on this machine unless asked."""
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tolerances import PATIENCE

from legged_dynamics.cli.arguments import keep_to_this_machine

pytestmark = pytest.mark.processes

CHILD = """
import os, sys, time
from legged_dynamics.cli.processes import end_with_parent
end_with_parent()
print(os.getpid(), flush=True)
time.sleep(3600)
"""
PARENT = f"""
import os, sys, time
from pathlib import Path
from legged_dynamics.cli.processes import ProcessGroup
folder = Path(sys.argv[1])
with ProcessGroup(folder, os.environ) as group:
    for name in ('one', 'two', 'three'):
        group.start(name, [sys.executable, '-c', {CHILD!r}])
    group.wait_until(lambda: all(group.log(n) for n in ('one', 'two', 'three')), {PATIENCE})
    print('up', flush=True)
    time.sleep(3600)
"""


def lives(pid):
    try:
        state = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0]
        return state not in 'ZX'
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(sys.platform != 'linux', reason='looks into /proc')
@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_children_end_with_their_parent(tmp_path, number):
    parent = subprocess.Popen([sys.executable, '-c', PARENT, str(tmp_path)],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert parent.stdout.readline() == 'up\n'
        children = [int((tmp_path / f'{name}.log').read_text().split()[0])
                    for name in ('one', 'two', 'three')]
        assert all(map(lives, children))
        parent.send_signal(number)
        assert parent.wait(PATIENCE) != 0
        end = time.monotonic() + PATIENCE
        while any(map(lives, children)):
            assert time.monotonic() < end
            time.sleep(0.05)
    finally:
        parent.kill()


def test_a_child_whose_parent_has_gone_does_not_come_up():
    done = subprocess.run([sys.executable, '-c', CHILD], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, 'LEGGED_DYNAMICS_PARENT': '1' + '0' * 6})
    assert done.returncode == 128 + signal.SIGTERM and not done.stdout


def test_nodes_stay_on_this_machine_unless_the_user_has_decided():
    environ = {}
    keep_to_this_machine(False, environ)
    assert environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'
    for decided, network in (({}, True), ({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET'}, False),
                             ({'CYCLONEDDS_URI': 'file:///x'}, False)):
        environ = dict(decided)
        keep_to_this_machine(network, environ)
        assert environ == decided
