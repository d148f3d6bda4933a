# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The nodes of the package, each named once: `NODES`.

`setup.py` makes executables of them; `legged-dynamics run` and `warm`, and the launch files, read
the rest. Tests hold the security policy, the diagnostics aggregator, the settings files and the
launch files in `config/` and `launch/` to it. Importing this module imports no node, nor numpy.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

# How long launch waits for a node that was told to stop [s]. A controller may take 20 s to bring
# its robot down (`safety.stop`); the watchdog waits for it, and then brings the robot down itself.
STOP_TIMEOUT = 25
WATCHDOG_STOP_TIMEOUT = 40


@dataclass(frozen=True)
class NodeEntry:
    """One node of the package."""

    # Name of the executable, of the node, and of its module in `legged_dynamics.ros.nodes`
    name: str
    class_name: str  # Its Component in that module
    # Where the diagnostics aggregator shows it: 'Motors', 'Control', 'Estimation', 'Simulation';
    # or '' for nowhere
    group: str = ''
    # Whether it publishes efforts for the motors; the security policy allows it to no other
    commands_efforts: bool = False
    # Whether it needs compiled kernels, which `legged-dynamics warm` compiles ahead
    has_kernels: bool = True
    # Robot of the package that it is tried with, and launched with by default
    robot: str = 'anymal_class'
    rviz: str = 'ground_reactions'  # File in ``config/rviz`` that shows its topics
    # Its parameters that are arguments of its launch file: true or false, false by default; with
    # what they mean
    flags: Mapping[str, str] = field(default_factory=dict)
    stop_timeout: int = STOP_TIMEOUT  # [s]: how long launch waits for it after it was told to stop

    @property
    def module(self) -> str:
        """Dotted name of its module."""
        return f'legged_dynamics.ros.nodes.{self.name}'

    def component(self) -> Any:
        """Import the module and return its subclass of Component."""
        return getattr(import_module(self.module), self.class_name)


NODES: dict[str, NodeEntry] = {entry.name: entry for entry in (
    NodeEntry('simulated_robot', 'SimulatedRobotNode', 'Simulation', has_kernels=False),
    NodeEntry('ground_reaction_estimator', 'GroundReactionNode', 'Estimation'),
    NodeEntry('foot_force_controller', 'FootForceController', 'Control', commands_efforts=True,
              rviz='foot_forces'),
    NodeEntry('workspace_controller', 'WorkspaceControllerNode', 'Control', commands_efforts=True,
              rviz='body'),
    NodeEntry('stickybot_controller', 'StickybotControllerNode', 'Control', commands_efforts=True,
              robot='stickybot', rviz='wall_reactions', flags={
                  'walk': 'Whether to climb as soon as commands are obeyed; else the robot '
                  'hangs.'}),
    NodeEntry('effort_watchdog', 'EffortWatchdogNode', 'Motors', commands_efforts=True,
              stop_timeout=WATCHDOG_STOP_TIMEOUT),
    NodeEntry('unitree', 'UnitreeNode', 'Estimation'),
    NodeEntry('reaction_relay', 'ReactionRelay', has_kernels=False),
)}
