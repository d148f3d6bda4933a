# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Workspace control: the base follows a desired pose, and the joints follow the base.

After Wendlandt and Sastry, *Recursive workspace control of multibody systems*, section 3.

The stages of the paper in SE(3): ``propagation`` has velocity propagation (3.5)-(3.9) and force
propagation (3.25)-(3.27); ``workspace_dynamics`` has the exact dynamics and the workspace force
(3.21)-(3.23); ``force_division`` has (3.24). ``control_tick`` runs them in order. The planar biped
of the paper, with its big base (3.12)-(3.20), is an example, ``reproductions.planar``.
"""
from legged_dynamics.workspace.command import BodyTarget, WorkspaceCommand, WorkspaceFault
from legged_dynamics.workspace.controller import AskedForce, WorkspaceController
from legged_dynamics.workspace.ground import Ground
from legged_dynamics.workspace.posture import Phase, Posture
from legged_dynamics.workspace.reach import ReachLimiter
from legged_dynamics.workspace.reference import BodyPose, ReferenceGenerator
from legged_dynamics.workspace.settings import WorkspaceSettings

__all__ = ['WorkspaceController', 'WorkspaceSettings', 'BodyTarget', 'BodyPose',
           'WorkspaceCommand', 'AskedForce', 'WorkspaceFault', 'ReferenceGenerator',
           'ReachLimiter', 'Posture', 'Ground', 'Phase']
