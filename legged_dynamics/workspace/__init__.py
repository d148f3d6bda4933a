# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Workspace control: the base is moved, the joints follow (source 002).

A file a stage: ``velocity_propagation`` (3.5)-(3.9); ``workspace_dynamics``, and the paper's
approximation ``big_base`` (3.12)-(3.20); ``workspace_force`` (3.21)-(3.23); ``force_division``
(3.24) and ``force_propagation`` (3.25)-(3.27). The paper's own planar biped is in ``planar``.
"""
from legged_dynamics.workspace.command import BodyTarget, WorkspaceCommand, WorkspaceFault
from legged_dynamics.workspace.controller import AskedForce, WorkspaceController
from legged_dynamics.workspace.ground import Ground
from legged_dynamics.workspace.posture import Phase, Posture
from legged_dynamics.workspace.reach import ReachLimiter
from legged_dynamics.workspace.reference import BodyPose, ReferenceGenerator
from legged_dynamics.workspace.settings import WorkspaceSettings

__all__ = ['AskedForce', 'BodyPose', 'BodyTarget', 'Ground', 'Phase', 'Posture', 'ReachLimiter',
           'ReferenceGenerator', 'WorkspaceCommand', 'WorkspaceController', 'WorkspaceFault',
           'WorkspaceSettings']
