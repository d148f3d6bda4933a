# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""StickyBot: a planar climbing robot on compliant hips, from model to controller."""
import warnings
from importlib import import_module
from typing import Any

from legged_dynamics.stickybot.allocation.force_allocation import (
    Allocation,
    AllocationStatus,
    ForceSets,
    Infeasibility,
    largest_acceleration,
    largest_multiple,
    least_maximum,
    least_squares,
)
from legged_dynamics.stickybot.climb import Climb, ClimbTrace, climb
from legged_dynamics.stickybot.control.controller import (
    PlainGaitResult,
    StickybotController,
    simulate_plain_gait,
)
from legged_dynamics.stickybot.control.gait import ControlSettings, Gait, GaitClock
from legged_dynamics.stickybot.model.adhesion import Adhesion
from legged_dynamics.stickybot.model.dynamics import (
    Accelerations,
    Load,
    accelerations,
    load_of,
    nominal_damping,
)
from legged_dynamics.stickybot.model.robot import (
    Body,
    FootEvent,
    FootEventKind,
    Limb,
    Link,
    RestPosition,
    StickybotCommand,
    StickybotMeasurement,
    StickybotModel,
    StickybotState,
    Wall,
    unloaded_state,
)
from legged_dynamics.stickybot.settings import StickybotSettings
from legged_dynamics.stickybot.simulation import ClimbingSimulation, EnergyBalance

__all__ = ['StickybotModel', 'StickybotSettings', 'Wall', 'StickybotState', 'accelerations',
           'Accelerations', 'StickybotController', 'StickybotMeasurement', 'StickybotCommand',
           'ControlSettings', 'climb', 'Climb', 'ClimbTrace', 'least_maximum',
           'largest_acceleration', 'Allocation', 'AllocationStatus', 'Adhesion', 'Body',
           'ClimbingSimulation', 'EnergyBalance', 'FootEvent', 'FootEventKind', 'ForceSets',
           'Gait', 'GaitClock', 'Infeasibility', 'Limb', 'Link', 'Load',
           'PlainGaitResult', 'RestPosition', 'largest_multiple', 'least_squares',
           'load_of', 'nominal_damping', 'simulate_plain_gait', 'unloaded_state']

# Names of 0.2.0, which end with 0.4.0: what they are called now, or where they are.
_RENAMED = {'Rehearsal': 'PlainGaitResult', 'rehearse': 'simulate_plain_gait'}
_EXAMPLES = 'legged_dynamics.reproductions.climbing'
_MOVED = {
    'sweep': ('study',),
    'frozen_allocation': ('AffineMaps', 'affine_maps', 'angular_acceleration_range',
                          'equal_magnitudes', 'frozen_forces', 'frozen_least_maximum'),
    'mechanics': ('Balance', 'Modes', 'balance', 'modes'),
    'equilibrium': ('StaticReduction', 'find_equilibrium', 'largest_speed', 'recover_rest',
                    'reduce_static_forces', 'static_sensitivity')}


def __getattr__(name: str) -> Any:
    module = next((module for module, names in _MOVED.items() if name in names), None)
    if module is None and name not in _RENAMED:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    now = f'{_EXAMPLES}.{module}.{name}' if module else f'{__name__}.{_RENAMED[name]}'
    warnings.warn(f'{__name__}.{name} is now {now}', DeprecationWarning, stacklevel=2)
    home, _, new = now.rpartition('.')
    return getattr(import_module(home), new)
