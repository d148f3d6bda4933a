# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where a package that only tests need is missing (`colcon test`), what needs it is skipped."""
import re
import signal
import sys
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# The longest files, so that no worker is left alone with one at the end. The first of them need
# kernels that the others of them do not: where nothing is compiled yet, each worker compiles some.
LONGEST = (
    'estimation/test_estimator.py', 'stickybot/test_force_allocation.py',
    'contact/test_over_time.py', 'workspace/test_body_control.py',
    'stickybot/test_stickybot_integration.py', 'cli/test_fleet_verb.py',
    'cli/test_recording_over_dds.py', 'test_tutorial.py', 'nodes/test_fault_table.py',
    'zoo/test_zoo_scoring.py', 'zoo/test_zoo_recordings.py', 'gait/test_double_support.py',
    'doctor/test_examination.py', 'cli/test_doctor_verb.py', 'cli/test_command_line.py',
    'nodes/test_watchdog_over_dds.py', 'nodes/test_climbing_over_dds.py',
    'nodes/test_nodes_over_dds.py', 'nodes/test_foot_forces_over_dds.py', 'test_examples.py',
    'simulation/test_climbing_twin.py', 'identification/test_identify.py',
    'nodes/test_postures.py', 'nodes/test_workspace_controller.py')
OPTIONAL = ('hypothesis', 'launch', 'launch_ros', 'mujoco', 'pinocchio',
            'mcap', 'playwright', 'pyarrow', 'quadprog', 'rich', 'rosbags', 'trimesh', 'viser')


# A shell's background job is deaf to Ctrl-C, and what tests start and interrupt would be, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if find_spec('hypothesis'):
    from hypothesis import HealthCheck, settings
    # How long an example takes says how busy the machine is.
    settings.register_profile('untimed', deadline=None,
                              suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile('untimed')


@pytest.fixture(autouse=True, scope='session')
def no_lines_of_progress():
    """How many lines say how far a command is depends on how busy the machine is."""
    from legged_dynamics.cli import output
    output.EVERY = 1e9


def is_there(name):
    """Return whether a package is installed; a folder of ours of that name, launch/, is none."""
    spec = find_spec(name)
    return spec is not None and any(Path(place).resolve().parent != ROOT for place in (
        [spec.origin] if spec.origin else spec.submodule_search_locations or ()))


class Missing:
    """Skips the test module that imports a package which is not there."""

    names = frozenset(name for name in OPTIONAL if not is_there(name))

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in cls.names:
            pytest.skip(f'{name} is not installed', allow_module_level=True)


if Missing.names:
    sys.meta_path.insert(0, Missing)


def pytest_ignore_collect(collection_path, config):
    """Do not import a file whose tests all have the same markers, where these are not wanted."""
    wanted = config.option.markexpr
    if not wanted or not collection_path.match('test_*.py'):
        return None
    text = collection_path.read_text()
    own = re.search(r'^pytestmark = .*?(?=^\S)', text, re.MULTILINE | re.DOTALL)
    if own is None and 'pytestmark' in text:        # another file's
        return None
    markers = {line.split(':')[0] for line in config.getini('markers')}
    of_all, of_any = (markers & set(re.findall(r'\bmark\.(\w+)', part))
                      for part in (own[0] if own else '', text))
    if of_any != of_all:
        return None
    return not eval(wanted, {}, defaultdict(bool, dict.fromkeys(of_all, True))) or None


def pytest_collection_modifyitems(items):
    """Begin with the longest files; within a file nothing changes."""
    order = {HERE / name: place for place, name in enumerate(LONGEST)}
    gone = [path for path in order if not path.exists()]
    if gone:
        raise pytest.UsageError(f'LONGEST in {__file__} names what is not there: {gone}')
    items.sort(key=lambda item: order.get(item.path, len(order)))
