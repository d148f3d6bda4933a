# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The demo's processes over rclpy, to the end."""
import subprocess
import sys

import pytest

pytest.importorskip('rclpy', reason='no ROS 2 here (rclpy cannot be imported)')
from tolerances import PATIENCE

from legged_dynamics.recordings.report.analysis import analyse

pytestmark = pytest.mark.dds


def test_ros2_records_what_the_replay_repeats(tmp_path):
    done = subprocess.run(
        [sys.executable, '-m', 'legged_dynamics', 'demo', '--middleware', 'rclpy',
         '--schedule', 'stand 1.5', '--speed', '0', '-o', str(tmp_path / 'demo')],
        capture_output=True, text=True, timeout=10 * PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    live = analyse(tmp_path / 'demo' / 'bag').live
    assert len(live) == 4
    for entry in live:
        assert entry.missing == 0 and entry.identical == entry.compared == entry.published > 800
