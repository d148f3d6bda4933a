# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Walking: gaits, footholds and swinging legs around the tick of workspace control."""
from legged_dynamics.workspace.walking.biped import BipedWalker, make_walker
from legged_dynamics.workspace.walking.gaits import GAITS
from legged_dynamics.workspace.walking.settings import WalkSettings
from legged_dynamics.workspace.walking.walker import Walker, Walking, WalkPlan

__all__ = ['GAITS', 'BipedWalker', 'WalkPlan', 'WalkSettings', 'Walker', 'Walking', 'make_walker']
