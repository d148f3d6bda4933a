# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a watchdog that was killed leaves for the next one."""
import os
import signal
import subprocess
import sys

import numpy as np

from legged_dynamics.safety.effort_watchdog import LastEfforts, place_of

EFFORTS = np.array([1.5, -2.0, 40.0])


def test_efforts_outlive_a_process_that_is_killed(tmp_path):
    path = tmp_path / 'last'
    code = ('import os, signal, sys, numpy as np\nfrom pathlib import Path\n'
            'from legged_dynamics.safety.effort_watchdog import LastEfforts\n'
            'LastEfforts(Path(sys.argv[1]), 3).note(np.array([1.5, -2.0, 40.0]))\n'
            'os.kill(os.getpid(), signal.SIGKILL)\n')
    killed = subprocess.run([sys.executable, '-c', code, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    found = LastEfforts(path, 3)
    np.testing.assert_array_equal(found.left, EFFORTS)
    found.clear()
    assert found.left is None
    assert LastEfforts(path, 3).left is None


def test_a_new_file_or_one_of_another_robot_says_nothing(tmp_path):
    path = tmp_path / 'last'
    LastEfforts(path, 3).note(EFFORTS)
    assert LastEfforts(path, 4).left is None
    LastEfforts(path, 4).note(np.full(4, np.nan))
    assert LastEfforts(path, 4).left is None


def test_a_folder_that_others_can_write_is_not_used(tmp_path):
    environ = {'XDG_RUNTIME_DIR': str(tmp_path)}
    place = place_of('domain 1 dog', environ)
    assert place.parent.stat().st_mode & 0o077 == 0
    assert place != place_of('domain 2 dog', environ)
    os.chmod(place.parent, 0o777)
    assert place_of('domain 1 dog', environ) is None
    assert place_of('dog', {'XDG_RUNTIME_DIR': str(tmp_path / 'missing')}) is None
