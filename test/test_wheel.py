# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A wheel brings its kernels: the first forces of a fresh environment compile nothing."""
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.processes]

ROOT = Path(__file__).resolve().parent.parent
FIRST = """
import numpy as np
from numba.core import event
class Count(event.Listener):
    n = 0
    def on_start(self, event): Count.n += 1
    def on_end(self, event): pass
event.register('numba:compile', Count())
import legged_dynamics
from legged_dynamics.estimation import GroundReactionEstimator
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.resources import robot_files
yaml, urdf = robot_files('anymal_class')
model, config = RobotModel.from_urdf(urdf), RobotConfig.from_yaml(yaml)
estimator, still = GroundReactionEstimator(model, config), np.zeros(model.nv)
for k in range(50):
    found = estimator.update(Measurement(
        10 ** 9 + 2_000_000 * k, config.nominal_in(model), still, still, np.zeros(3),
        np.array([0.0, 0.0, 9.81])))
print(legged_dynamics.__file__, Count.n, np.isfinite(found.wrench).all())
"""


def test_first_forces_compile_nothing(tmp_path):
    source = shutil.copytree(ROOT, tmp_path / 'source', ignore=shutil.ignore_patterns(
        '.*', '__pycache__', 'build', 'dist', '*.egg-info', 'site'))
    subprocess.run([sys.executable, '-m', 'pip', 'wheel', '--no-deps', '--no-build-isolation',
                    '--wheel-dir', str(tmp_path / 'dist'), str(source)], check=True,
                   capture_output=True,
                   env={**os.environ, 'LEGGED_DYNAMICS_COMPILE': 'ground_reaction_estimator'})
    wheel, = (tmp_path / 'dist').glob('*.whl')
    assert 'none-any' not in wheel.name         # it is of this platform and Python
    site = tmp_path / 'site'
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    data, = site.glob('*.data/data')            # where pip would put it
    shutil.copytree(data / 'share', site / 'share')
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(('NUMBA_', 'XDG_'))}
    home = tmp_path / 'home'
    home.mkdir()
    done = subprocess.run([sys.executable, '-c', FIRST], cwd=home, capture_output=True, text=True,
                          env={**environment, 'PYTHONPATH': str(site), 'HOME': str(home)})
    assert done.stdout.split() == [str(site / 'legged_dynamics/__init__.py'), '0', 'True'], (
        done.stdout + done.stderr)
