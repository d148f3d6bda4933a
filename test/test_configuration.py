# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The shipped node settings are the defaults, all of them, and nothing else."""
import pytest
from robots import CONFIG

from legged_dynamics.estimation.settings import SETTINGS as ESTIMATOR
from legged_dynamics.parameter_file import read_parameters
from legged_dynamics.ros.nodes.effort_watchdog import NODE_SETTINGS as WATCHDOG_NODE
from legged_dynamics.ros.nodes.foot_force_controller import FootForceController
from legged_dynamics.ros.nodes.ground_reaction_estimator import NODE_SETTINGS as ESTIMATOR_NODE
from legged_dynamics.ros.nodes.reaction_relay import NODE_SETTINGS as RELAY_NODE
from legged_dynamics.ros.nodes.robot_component import ROBOT
from legged_dynamics.ros.nodes.simulated_robot import NODE_SETTINGS as SIMULATOR_NODE
from legged_dynamics.ros.nodes.stickybot_controller import StickybotControllerNode
from legged_dynamics.ros.nodes.unitree import UNITREE_SETTINGS
from legged_dynamics.ros.nodes.workspace_controller import WorkspaceControllerNode
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.stickybot.settings import SETTINGS as STICKYBOT


def without(settings, *tables):
    """Return a node's parameters but for those that the robot's own YAML has."""
    others = {setting.name for table in tables for setting in table}
    return [setting for setting in settings if setting.name not in others]


TABLES = {'effort_watchdog': WATCHDOG_NODE,
          'foot_force_controller': without(FootForceController.settings, ROBOT),
          'ground_reaction_estimator': (*ESTIMATOR, *ESTIMATOR_NODE),
          'reaction_relay': RELAY_NODE,
          'simulated_robot': SIMULATOR_NODE,
          'stickybot_controller': without(StickybotControllerNode.settings, ROBOT, STICKYBOT),
          'unitree': UNITREE_SETTINGS,
          'workspace_controller': without(WorkspaceControllerNode.settings, ROBOT)}


@pytest.mark.parametrize('node', TABLES)
def test_shipped_settings_are_the_defaults(node):
    values = read_parameter_file(CONFIG / 'nodes' / f'{node}.yaml', node)
    assert values == {setting.name: setting.default for setting in TABLES[node]
                      if setting.default != []}


@pytest.mark.parametrize('path', sorted(CONFIG.rglob('*.yaml')), ids=lambda p: p.stem)
def test_every_number_in_a_shipped_file_has_a_comment(path):
    for line in path.read_text().splitlines():
        key, _, value = line.partition(':')
        if value.strip()[:1].isdigit():
            assert '#' in value, f'{key.strip()} has no unit beside it'


@pytest.mark.parametrize('path', sorted(CONFIG.rglob('*.yaml')), ids=lambda p: p.stem)
def test_no_shipped_file_has_an_empty_list(path):
    # ROS 2's parser gives it no type, and the node then refuses it.
    assert not any(value == [] for _, _, value, _ in read_parameters(path))
