# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""StickyBot: a planar climbing robot on compliant hips, from model to controller."""
import warnings
from typing import Any

from legged_dynamics.stickybot.allocation.equilibrium import (
    StaticReduction,
    find_equilibrium,
    largest_speed,
    recover_rest,
    reduce_static_forces,
    static_sensitivity,
)
from legged_dynamics.stickybot.allocation.force_allocation import (
    Allocation,
    AllocationStatus,
    Infeasibility,
    largest_acceleration,
    largest_multiple,
    least_maximum,
    least_squares,
)
from legged_dynamics.stickybot.allocation.force_program import ForceSets
from legged_dynamics.stickybot.allocation.frozen_allocation import (
    AffineMaps,
    affine_maps,
    angular_acceleration_range,
    equal_magnitudes,
    frozen_forces,
    frozen_least_maximum,
)
from legged_dynamics.stickybot.climb import Climb, ClimbTrace, climb, study
from legged_dynamics.stickybot.control.controller import (
    PlainGaitResult,
    StickybotController,
    simulate_plain_gait,
)
from legged_dynamics.stickybot.control.gait import ControlSettings, Gait, GaitClock
from legged_dynamics.stickybot.model.adhesion import Adhesion
from legged_dynamics.stickybot.model.bookkeeping import Balance, Load, balance, load_of
from legged_dynamics.stickybot.model.dynamics import Accelerations, accelerations
from legged_dynamics.stickybot.model.jacobian import Modes, modes, nominal_damping
from legged_dynamics.stickybot.model.parts import Body, Limb, Link, Wall
from legged_dynamics.stickybot.model.robot import (
    FootEvent,
    FootEventKind,
    RestPosition,
    StickybotCommand,
    StickybotMeasurement,
    StickybotModel,
    StickybotState,
    unloaded_state,
)
from legged_dynamics.stickybot.settings import StickybotSettings
from legged_dynamics.stickybot.simulation import ClimbingSimulation, EnergyBalance

__all__ = ['StickybotModel', 'StickybotSettings', 'Wall', 'StickybotState', 'accelerations',
           'Accelerations', 'affine_maps', 'AffineMaps', 'StickybotController',
           'StickybotMeasurement', 'StickybotCommand', 'ControlSettings', 'climb', 'Climb',
           'ClimbTrace', 'find_equilibrium', 'least_maximum', 'largest_acceleration', 'Allocation',
           'AllocationStatus', 'Adhesion', 'Balance', 'Body', 'ClimbingSimulation',
           'EnergyBalance', 'FootEvent', 'FootEventKind', 'ForceSets', 'Gait', 'GaitClock',
           'Infeasibility', 'Limb', 'Link', 'Load', 'Modes', 'PlainGaitResult', 'RestPosition',
           'StaticReduction', 'angular_acceleration_range', 'balance', 'equal_magnitudes',
           'frozen_forces', 'frozen_least_maximum', 'largest_multiple', 'largest_speed',
           'least_squares', 'load_of', 'modes', 'nominal_damping', 'recover_rest',
           'reduce_static_forces', 'simulate_plain_gait', 'static_sensitivity', 'study',
           'unloaded_state']

# Names of 0.2.0, which end with 0.4.0.
_RENAMED = {'Rehearsal': 'PlainGaitResult', 'rehearse': 'simulate_plain_gait'}


def __getattr__(name: str) -> Any:
    if name not in _RENAMED:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    warnings.warn(f'{__name__}.{name} is now {_RENAMED[name]}', DeprecationWarning, stacklevel=2)
    return globals()[_RENAMED[name]]
