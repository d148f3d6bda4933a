# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The package's face: every name is found, and none is loaded before it is used."""
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

import legged_dynamics as ld

README = Path(__file__).resolve().parent.parent / 'README.md'


@pytest.mark.parametrize('name', ld.__all__)
def test_every_name_is_what_its_home_has(name):
    found = getattr(ld, name)
    if name == '__version__':
        assert isinstance(found, str)
    else:
        assert found.__name__ == name and found.__module__.startswith('legged_dynamics.')
    assert name in dir(ld)


def test_dir_shows_the_face_only():
    code = 'import legged_dynamics as ld; ld.dynamics; print(*dir(ld))'
    said = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          check=True).stdout
    assert said.split() == sorted(ld.__all__)


@pytest.mark.parametrize('module', ['legged_dynamics', 'legged_dynamics.cli'])
def test_python_m_runs_the_command(module):
    said = subprocess.run([sys.executable, '-m', module, '--version'],
                          capture_output=True, text=True, check=True).stdout
    assert said.startswith('legged-dynamics ')


def test_every_folder_is_found():
    folders = {path.parent.name for path in Path(ld.__file__).parent.glob('*/__init__.py')}
    for folder in folders - {'cli'}:
        assert getattr(ld, folder).__name__ == f'legged_dynamics.{folder}'


def test_what_there_is_not_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Estimator'"):
        ld.Estimator        # noqa: B018


def test_importing_loads_nothing():
    said = subprocess.run([sys.executable, '-c', 'import sys; import legged_dynamics\n'
                           'print(sorted({m.split(".")[0] for m in sys.modules}))'],
                          capture_output=True, text=True, check=True).stdout
    for heavy in ('numpy', 'numba', 'scipy', 'yaml'):
        assert repr(heavy) not in said


def code_of_readme():
    return README.read_text().partition('```python\n')[2].partition('```')[0]


def test_the_first_example_of_the_readme_runs():
    names = set(re.findall(r'\bld\.(\w+)', code_of_readme()))
    assert {'RobotModel', 'GroundReactionEstimator'} <= names <= set(ld.__all__)
    exec(code_of_readme(), {})


@pytest.mark.slow
def test_the_first_example_of_the_readme_has_the_right_types(tmp_path):
    (tmp_path / 'example.py').write_text(code_of_readme())
    done = subprocess.run(
        [sys.executable, '-m', 'mypy', '--strict', '--config-file=', '--follow-imports=silent',
         '--ignore-missing-imports', '--cache-dir', str(tmp_path / 'cache'), 'example.py'],
        cwd=tmp_path, env={**os.environ, 'MYPYPATH': str(README.parent)}, capture_output=True,
        text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# -------------------------------------------------------------------------------------------------
# What package.xml states, and other files repeat.


ROOT = README.parent
MANIFEST = ElementTree.parse(ROOT / 'package.xml').getroot()


def test_version_and_repository_are_the_same_everywhere():
    version, urls = MANIFEST.findtext('version'), {url.get('type'): url.text
                                                   for url in MANIFEST.findall('url')}
    citation = yaml.safe_load((ROOT / 'CITATION.cff').read_text())
    assert citation['version'] == version and citation['repository-code'] == urls['repository']
    recipe = yaml.safe_load((ROOT / 'conda/recipe.yaml').read_text())
    assert recipe['context']['version'] == version
    messages = ElementTree.parse(ROOT / 'legged_dynamics_msgs/package.xml').getroot()
    assert messages.findtext('version') == version
    assert re.search(rf'^{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$|^Forthcoming$',
                     (ROOT / 'CHANGELOG.rst').read_text(), re.M)


def test_a_robot_needs_neither_simulator_nor_controllers_nor_plots():
    hard = {found.text for found in MANIFEST.findall('exec_depend') if not found.get('condition')}
    assert {'rclpy', 'python3-numba'} <= hard
    assert not hard & {'controller_manager', 'forward_command_controller', 'python3-mujoco-pip',
                       'python3-matplotlib', 'python3-rosbags-pip', 'ros2bag'}


def test_recipe_and_setup_require_the_same():
    recipe = yaml.safe_load((ROOT / 'conda/recipe.yaml').read_text())
    stated = runpy.run_path(str(ROOT / 'build_backend.py'))['NEEDS']
    wanted = {name.replace('>=', ' >=') for name in stated}
    assert wanted == set(recipe['requirements']['run']) - {'python >=3.10'}
