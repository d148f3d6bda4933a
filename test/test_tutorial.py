# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The tutorial, word by word: from an empty environment to a wrench that is true."""
import csv
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.processes, pytest.mark.slow]

ROOT = Path(__file__).resolve().parent.parent
PARTS = ('legged_dynamics', 'config', 'launch', 'resource')
FILES = ('build_backend.py', 'setup.py', 'setup.cfg', 'pyproject.toml', 'package.xml', 'README.md',
         'LICENSE')
MOST = 10
PATIENCE = 900.0


def commands():
    """Return the lines that a reader is told to type."""
    text = (ROOT / 'docs' / 'tutorial.md').read_text(encoding='utf-8')
    return [line for block in re.findall(r'^```sh\n(.*?)^```', text, re.MULTILINE | re.DOTALL)
            for line in block.splitlines()]


@pytest.fixture(scope='module')
def checkout(tmp_path_factory):
    """Return a copy of the package, with the robot that it has never seen in it."""
    pytest.importorskip('mujoco')
    folder = tmp_path_factory.mktemp('new') / 'legged_dynamics'
    folder.mkdir()
    for name in PARTS:
        shutil.copytree(ROOT / name, folder / name,
                        ignore=shutil.ignore_patterns('__pycache__', '*.nb?'))
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    subprocess.run([sys.executable, str(ROOT / 'examples' / 'robot_never_seen.py'), str(folder)],
                   check=True, capture_output=True, timeout=PATIENCE)
    return folder


@pytest.fixture(scope='module')
def done(checkout):
    """
    Type everything into one shell and return what it said.

    The package is built and installed as the tutorial says; what it depends on, pip would have to
    download, so that is lent from the environment of the tests.
    """
    lent = sysconfig.get_path('purelib')
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(('PYTHON', 'PIP_', 'VIRTUAL_ENV'))}
    # pip reads the second of these the other way round: 0 is what leaves isolation away.
    environment |= {'PYTHONPATH': lent, 'PIP_NO_DEPS': '1', 'PIP_NO_BUILD_ISOLATION': '0',
                    'PIP_NO_INDEX': '1', 'PIP_DISABLE_PIP_VERSION_CHECK': '1',
                    'LEGGED_DYNAMICS_COMPILE': '0',
                    'PATH': f'{Path(sys.executable).parent}:{os.environ["PATH"]}'}
    return subprocess.run(['bash', '-ec', '\n'.join(commands())], cwd=checkout, env=environment,
                          capture_output=True, text=True, timeout=PATIENCE)


def test_it_takes_at_most_ten_commands():
    typed = commands()
    assert 6 <= len(typed) <= MOST
    assert any(line.startswith('pip install') for line in typed)


def test_every_command_succeeds_and_says_what_the_text_promises(done, checkout):
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert (checkout / 'robots' / 'bin' / 'legged-dynamics').exists()
    assert 'nothing wrong was found' in done.stdout
    for name in ('mule.yaml', 'mule.svg', 'result/report.html', 'result/estimates.csv',
                 'result/enriched_bag', 'result/foxglove_layout.json'):
        assert (checkout / name).exists(), name


def test_the_installed_package_was_used_and_not_the_checkout(done, checkout):
    found = list((checkout / 'robots').rglob('legged_dynamics/view/show.py'))
    assert len(found) == 1 and 'site-packages' in found[0].parts
    assert list((checkout / 'robots').rglob('share/legged_dynamics/package.xml'))


def test_the_wrenches_are_true(done, checkout):
    with (checkout / 'result' / 'estimates.csv').open() as file:
        rows = list(csv.DictReader(file))
    feet = [name.removesuffix('_world_fz') for name in rows[0] if name.endswith('_world_fz')]
    assert len(feet) == 4

    def column(name):
        return np.array([float(row[name] or 'nan') for row in rows])
    estimated = np.array([column(f'{foot}_world_fz') for foot in feet])
    true = np.array([column(f'{foot}_true_fz') for foot in feet])
    standing = (column('time') > 0.5) & (column('time') < 1.8)
    weight = np.nanmean(true[:, standing].sum(axis=0))
    error = np.sqrt(np.nanmean((estimated - true)[:, standing] ** 2)) / weight
    assert weight == pytest.approx(31.279 * 9.81, rel=0.01)
    assert error < 0.01
    verdict = re.search(r'([\d.]+) % of the weight while standing.*?([\d.]+) % of the weight '
                        r'while trotting', done.stdout)
    assert float(verdict[1]) < 1.0 and float(verdict[2]) < 3.0
