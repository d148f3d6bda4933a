# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The table of nodes, and the files beside it that must name the same nodes."""
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from robots import CONFIG

from legged_dynamics.cli.verbs import COMPILED
from legged_dynamics.node_registry import NODES
from legged_dynamics.parameter_file import read_parameters
from legged_dynamics.ros.middleware.protocol import Component

ROOT = CONFIG.parent
COMMANDING = {'foot_force_controller', 'workspace_controller', 'stickybot_controller',
              'effort_watchdog'}


def test_efforts_come_from_few():
    assert {name for name, entry in NODES.items() if entry.commands_efforts} == COMMANDING


@pytest.mark.parametrize('name', NODES)
def test_the_entry_describes_its_component(name):
    component = NODES[name].component()
    assert issubclass(component, Component)
    assert component.default_name == name
    assert component.has_kernels == NODES[name].has_kernels == (name in COMPILED)
    assert callable(sys.modules[NODES[name].module].main)


def test_the_table_imports_no_node():
    done = subprocess.run(
        [sys.executable, '-c', 'import sys, legged_dynamics.node_registry; print(*sys.modules)'],
        capture_output=True, text=True, check=True)
    assert not {'numpy', 'legged_dynamics.ros.nodes'} & set(done.stdout.split())


def test_every_node_is_an_executable():
    done = subprocess.run(
        [sys.executable, '-c', 'import runpy, setuptools\n'
         'setuptools.setup = lambda **given: print(*given["entry_points"]["console_scripts"], '
         'sep="\\n")\nrunpy.run_path("setup.py")'],
        capture_output=True, text=True, check=True, cwd=ROOT)
    scripts = dict(line.split(' = ') for line in done.stdout.splitlines())
    assert scripts.pop('legged-dynamics') == 'legged_dynamics.cli:main'
    assert scripts == {name: f'legged_dynamics.ros.nodes.{name}:main' for name in NODES}


def test_the_security_policy_has_a_profile_of_each_node():
    policy = ElementTree.parse(CONFIG / 'security' / 'legged_dynamics.policy.xml').getroot()
    assert sorted(one.get('node') for one in policy.iter('profile')) == sorted(NODES)
    assert sorted(one.get('path') for one in policy.iter('enclave')) == sorted(
        f'/legged_dynamics/{name}' for name in NODES)


def test_the_diagnostics_aggregator_groups_the_nodes():
    values = {name: value for _, name, value, _ in
              read_parameters(CONFIG / 'diagnostics' / 'aggregator.yaml')}
    groups = {values[name.replace('.contains', '.path')]: set(names)
              for name, names in values.items() if name.endswith('.contains')}
    assert groups == {group: {name for name, entry in NODES.items() if entry.group == group}
                      for group in {entry.group for entry in NODES.values()} - {''}}


def test_settings_and_launch_files_are_of_nodes():
    assert {path.stem for path in (CONFIG / 'nodes').glob('*.yaml')} == set(NODES)
    launched = {path.name.removesuffix('.launch.py') for path in (ROOT / 'launch').glob('*.py')
                if not path.name.startswith(('bringup_', 'demo.'))}
    assert launched == set(NODES)
    for entry in NODES.values():
        assert (CONFIG / 'rviz' / f'{entry.rviz}.rviz').is_file()
        assert (CONFIG / 'robots' / f'{entry.robot}.yaml').is_file()
