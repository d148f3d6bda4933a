# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Who looks now and then sees the newest message, and only that, on both middlewares."""
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from tolerances import PATIENCE

from legged_dynamics.ros.middleware.discovery import DomainLease

PROGRAM = Path(__file__).with_name('polled_component.py')


@pytest.mark.dds
@pytest.mark.parametrize('backend', ['cyclonedds', 'rclpy'])
def test_each_look_sees_the_newest_message_alone(backend):
    if find_spec(backend) is None:
        pytest.skip(f'{backend} is not installed')
    with DomainLease() as lease:
        done = subprocess.run(
            [sys.executable, str(PROGRAM)], capture_output=True, text=True, timeout=PATIENCE,
            env={**lease.environment(), 'LEGGED_DYNAMICS_MIDDLEWARE': backend})
    assert done.returncode == 0, done.stderr
    looks = [line.split() for line in done.stdout.splitlines()]
    # Five have arrived between two looks; what is seen is the last of them.
    assert looks == [['1', '0.0']] * 6
