# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""StickyBot: a planar climbing robot on compliant hips, from model to controller."""
from legged_dynamics.stickybot.adhesion import Adhesion
from legged_dynamics.stickybot.affine import AffineMaps, affine_maps
from legged_dynamics.stickybot.allocation import Allocation, AllocationStatus, Infeasibility
from legged_dynamics.stickybot.bookkeeping import Balance, balance
from legged_dynamics.stickybot.books import Books
from legged_dynamics.stickybot.climb import Climb, ClimbTrace, climb
from legged_dynamics.stickybot.control_settings import ControlSettings
from legged_dynamics.stickybot.controller import StickybotController
from legged_dynamics.stickybot.damping import Modes, modes, nominal_damping
from legged_dynamics.stickybot.dynamics import Accelerations, accelerations
from legged_dynamics.stickybot.equilibrium import (
    StaticReduction,
    find_equilibrium,
    reduce_static_forces,
    static_sensitivity,
)
from legged_dynamics.stickybot.exchange import (
    FootEvent,
    FootEventKind,
    StickybotCommand,
    StickybotMeasurement,
)
from legged_dynamics.stickybot.force_allocation import (
    largest_acceleration,
    largest_multiple,
    least_maximum,
    least_squares,
)
from legged_dynamics.stickybot.force_sets import ForceSets
from legged_dynamics.stickybot.frozen_allocation import (
    angular_acceleration_range,
    equal_magnitudes,
    frozen_forces,
    frozen_least_maximum,
)
from legged_dynamics.stickybot.gait import Gait, GaitClock
from legged_dynamics.stickybot.load import Load, load_of
from legged_dynamics.stickybot.parts import Body, Limb, Link, Wall
from legged_dynamics.stickybot.recovery import recover_rest
from legged_dynamics.stickybot.rehearsal import Rehearsal, rehearse
from legged_dynamics.stickybot.robot import StickybotModel
from legged_dynamics.stickybot.settings import StickybotSettings
from legged_dynamics.stickybot.simulation import ClimbingSimulation
from legged_dynamics.stickybot.speed_limit import largest_speed
from legged_dynamics.stickybot.state import RestPosition, StickybotState, unloaded_state
from legged_dynamics.stickybot.study import study

__all__ = [
    'Accelerations', 'Adhesion', 'AffineMaps', 'Allocation', 'AllocationStatus', 'Balance', 'Body',
    'Books', 'Climb', 'ClimbTrace', 'ClimbingSimulation', 'ControlSettings', 'FootEvent',
    'FootEventKind', 'ForceSets', 'Gait', 'GaitClock', 'Infeasibility', 'Limb', 'Link', 'Load',
    'Modes', 'Rehearsal', 'RestPosition', 'StaticReduction', 'StickybotCommand',
    'StickybotController', 'StickybotMeasurement', 'StickybotModel', 'StickybotSettings',
    'StickybotState', 'Wall', 'accelerations', 'affine_maps', 'angular_acceleration_range',
    'balance', 'climb', 'equal_magnitudes', 'find_equilibrium', 'frozen_forces',
    'frozen_least_maximum', 'largest_acceleration', 'largest_multiple', 'largest_speed',
    'least_maximum', 'least_squares', 'load_of', 'modes', 'nominal_damping', 'recover_rest',
    'reduce_static_forces', 'rehearse', 'static_sensitivity', 'study', 'unloaded_state']
