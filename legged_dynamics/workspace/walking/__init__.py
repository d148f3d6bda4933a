# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Walking: gaits, footholds and swinging legs around the tick of workspace control."""
from legged_dynamics.workspace.walking.gaits import GAITS
from legged_dynamics.workspace.walking.settings import WalkSettings
from legged_dynamics.workspace.walking.supervisor import Walking
from legged_dynamics.workspace.walking.walker import Walker, WalkPlan, make_walker

__all__ = ['GAITS', 'WalkPlan', 'WalkSettings', 'Walker', 'Walking', 'make_walker']
