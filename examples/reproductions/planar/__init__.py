# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The planar biped of Wendlandt and Sastry (1997) and its recursive workspace controller.

``dynamics`` has velocity propagation (3.5)-(3.9) and workspace dynamics (3.12)-(3.20),
``controller`` has workspace force (3.21)-(3.23) and force propagation (3.24)-(3.27).
"""
from legged_dynamics.reproductions.planar.biped import (
    CROUCH,
    JOINTS,
    Biped,
    biped_urdf,
    start_state,
)
from legged_dynamics.reproductions.planar.controller import (
    PlanarCommand,
    PlanarController,
    PlanarGains,
    force_propagation,
    pose_error,
    velocity_error,
    workspace_force,
)
from legged_dynamics.reproductions.planar.dynamics import (
    BIG_BASE,
    LinkMotion,
    WorkspaceDynamics,
    velocity_propagation,
    workspace_dynamics,
    workspace_dynamics_big_base,
)
from legged_dynamics.reproductions.planar.pinned import PinnedRobot
from legged_dynamics.reproductions.planar.robot import PlanarRobot, PlanarState, PlanarTarget

__all__ = ['BIG_BASE', 'CROUCH', 'JOINTS', 'Biped', 'LinkMotion', 'PinnedRobot', 'PlanarCommand',
           'PlanarController', 'PlanarGains', 'PlanarRobot', 'PlanarState', 'PlanarTarget',
           'WorkspaceDynamics', 'biped_urdf', 'force_propagation', 'pose_error', 'start_state',
           'velocity_error', 'velocity_propagation', 'workspace_dynamics',
           'workspace_dynamics_big_base', 'workspace_force']
