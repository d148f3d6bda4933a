# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Theta, all actuator parameters and errors of the base: what stands where, what is believed."""
from __future__ import annotations

import numpy as np

from legged_dynamics.dynamics.composite_body import mass_matrix
from legged_dynamics.dynamics.jacobians import FeetTable
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.actuators.equations import N_BASE, N_LOCAL
from legged_dynamics.estimation.actuators.settings import LearnerSettings
from legged_dynamics.model.actuators import (
    ARMATURE,
    DAMPING,
    DELAY,
    FRICTION,
    GAIN,
    LOAD_FRICTION,
    OFFSET,
    PARAMETERS,
    STATED_DELAY,
    STATED_SHARE,
    UNKNOWN,
    ActuatorModel,
)
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel


class Parameters:
    """
    Places in theta, by joint and by kind.

    Joints of legs share friction, damping, load friction and armature with those at the same place
    in legs alike (`kinds`); gains and offsets are their own, and the delay of torques is of all.
    """

    def __init__(self, model: RobotModel, table: FeetTable):
        self.table, self.legs = table, _leg_joints(model, table)
        self.place, self.names = self._places(model)        # (nj, 7); (n,)
        n, nj = len(self.names), model.n_joints
        # Friction and damping explain each other: they are rejected together.
        groups = [name.split()[0].replace('damping', 'friction') for name in self.names]
        self.group = np.array([sorted(set(groups)).index(group) for group in groups])
        self.gains = np.array([k for k, name in enumerate(self.names)
                               if name.startswith('gain') and name != 'gain others'])
        self.base = slice(n - 1 - N_BASE, n - 1)
        self.base_force = [self.names.index(f'base {axis}') for axis in 'xyz']
        self.of_torques = np.concatenate([self.gains, n - 1 - N_BASE + np.arange(N_BASE)])
        self.frictions = np.isin(np.arange(n), self.place[:, [FRICTION, DAMPING, LOAD_FRICTION]])
        self.offsets = np.array([name.startswith('offset') for name in self.names])
        self.compliance = n - 2 - N_BASE
        self.effort_delay, self.imu_delay = int(self.place[0, DELAY]), n - 1
        self.in_legs = np.isin(np.arange(nj), [j for own in self.legs for j in own])
        in_legs = self.place[self.in_legs]
        self.leg_frictions = np.unique(in_legs[:, [FRICTION, DAMPING]])
        self.leg_armatures = np.unique(in_legs[:, ARMATURE])
        self.kinds = [np.flatnonzero(self.place[:, 0] == at) for at in np.unique(self.place[:, 0])]
        self.friction_of_kinds = np.unique(self.place[:, FRICTION], return_inverse=True)
        self.offsets_of_kinds = [self.place[kind, OFFSET] for kind in self.kinds]

    def _places(self, model: RobotModel) -> tuple[np.ndarray, list[str]]:
        """Return where each joint's parameters are in theta, and names of theta's elements."""
        nj = model.n_joints
        limits = model.effort_limits
        kind: list[tuple] = [('none',)] * nj        # of joints that move no foot
        gain_of = np.zeros(nj, np.int64)
        for own in self.legs:
            for n, j in enumerate(own):
                kind[j] = (n, len(own), float(limits[j]), model.joints[j].kind)
        moving = [j for j in range(nj) if kind[j] != ('none',)]
        gain_of[moving] = 1 + np.arange(len(moving))
        kinds = list(dict.fromkeys(kind))
        place = np.zeros((nj, N_LOCAL), np.int64)
        names: list[str] = []
        for k, name in enumerate(PARAMETERS):
            if name == 'delay':
                place[:, k] = len(names)
                names.append(name)
            elif name in ('gain', 'offset'):
                place[:, k] = len(names) + gain_of
                names += [f'{name} others', *(f'{name} {model.joint_names[j]}' for j in moving)]
            else:
                place[:, k] = [len(names) + kinds.index(one) for one in kind]
                names += [f'{name} {one}' for one in kinds]
        names.append('compliance')
        names += [f'base {axis}' for axis in 'xyz']
        names += ['mass', *(f'moment {axis}' for axis in 'xyz')]
        names.append('imu_delay')
        return place, names


def _leg_joints(model: RobotModel, table: FeetTable) -> list[list[int]]:
    """Return the joints that move each foot and no other, and are no masters of others."""
    chains = [[b - 1 for b in model.chain(int(body))] for body in table.index[:, 0]]
    shared = {j for j in range(model.n_joints) if sum(j in chain for chain in chains) > 1}
    shared |= set(model.mimics.follower_v) | set(model.mimics.master_v)
    return [[j for j in chain if j not in shared] for chain in chains]


class Prior:
    """
    Mean of theta, deviation of what is stated (`tight`) and of what is not known (`wide`).

    ``free``: parameters of which nothing is stated, so that there is no value to stay with.
    """

    def __init__(self, model: RobotModel, config: RobotConfig, parameters: Parameters,
                 leg_length: float, settings: LearnerSettings):
        self.stated, self.leg_length = ActuatorModel.of(model, config), leg_length
        stated = self.stated
        place, n = parameters.place, len(parameters.names)
        mean, tight, wide = np.zeros(n), np.full(n, np.inf), np.zeros(n)
        value = stated.value.copy()
        value[GAIN] = 0.0           # theta has what is missing of it
        for (j, k), at in np.ndenumerate(place):
            mean[at] = value[k, j]
            tight[at] = min(tight[at], stated.deviation[k, j])
            # Of gains that are stated to be bad no worse ones are asked for.
            wide[at] = max(wide[at], stated.unknown[k, j] if k != GAIN else UNKNOWN[GAIN])
        looser = np.ones(n)
        looser[place] = settings.unknown_factor
        looser[place[:, [GAIN, OFFSET]]] = settings.unknown_reading_factor
        wide *= looser
        # An inertia of links that is wrong reads as an armature.
        at = place[:, ARMATURE]
        self.inertia = np.diag(mass_matrix(model, config.nominal_in(model)))[-model.n_joints:]
        np.maximum.at(tight, at, np.minimum(settings.link_inertia * self.inertia, wide[at]))
        at = parameters.compliance
        mean[at] = 1.0 / (config.actuators.joint_stiffness or np.inf)
        tight[at] = STATED_SHARE * mean[at] or settings.stiff / np.median(stated.limit)
        # A compliance is an angle by a torque: drives of legs that slide count as stiff.
        turns = all(model.joints[j].kind != 'prismatic' for own in parameters.legs for j in own)
        wide[at] = turns * settings.elastic / np.median(stated.limit)
        mean[[parameters.effort_delay, -1]] -= settings.read_delay
        tight[-1], wide[-1] = STATED_DELAY, UNKNOWN[DELAY]
        # A force that stays, of the accelerometer; mass and first moment of a load.
        errors, mass = config.noise, model.total_mass
        share = max(errors.mass, settings.base_share)
        bias = max(errors.accelerometer_bias, settings.base_share * GRAVITY)
        mean[parameters.base] = 0.0
        tight[parameters.base] = mass * np.array(
            [2.0 * np.hypot(share * GRAVITY, bias)] * 2 + [2.0 * bias, 2.0 * share]
            + [max(3.0 * errors.center_of_mass, settings.center_of_mass)] * 3)
        wide[parameters.base] = mass * np.array(
            [settings.imu_tilt * GRAVITY] * 2 + [0.0, settings.load_mass]
            + [settings.load_moment * leg_length] * 3)
        tight = np.where(np.isfinite(tight), tight, 1.0)    # where no joint has it
        self.mean, self.tight, self.wide = mean, tight, np.maximum(wide, tight)
        self.free = self.wide <= looser * self.tight
        self.free[parameters.offsets] = False       # used as learned in any case
        self.mass_variance = share ** 2
        # Of gains nothing is a value, unless they are said to be worse than usual.
        gains = parameters.gains
        self.free[gains] = self.tight[gains] > 1.5 * UNKNOWN[GAIN]
