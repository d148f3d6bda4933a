# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What lies between a controller and a motor: guard, plausibility checks, watchdog."""
from legged_dynamics.safety.effort_guard import EffortGuard, GuardedEffort, GuardState
from legged_dynamics.safety.effort_watchdog import EffortWatchdog, WatchdogState

__all__ = ['EffortGuard', 'GuardedEffort', 'GuardState', 'EffortWatchdog', 'WatchdogState']
