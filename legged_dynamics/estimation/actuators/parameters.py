# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Theta, the vector of all actuator parameters and errors of the base: what stands where."""
from __future__ import annotations

import numpy as np

from legged_dynamics.dynamics.jacobians import FeetTable
from legged_dynamics.estimation.actuators.equations import N_BASE, N_LOCAL
from legged_dynamics.model.actuators import (
    ARMATURE,
    DAMPING,
    DELAY,
    FRICTION,
    LOAD_FRICTION,
    PARAMETERS,
)
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
        self.first_words = [name.split()[0] for name in self.names]
        # Friction and damping explain each other: they are rejected together.
        groups = [word.replace('damping', 'friction') for word in self.first_words]
        self.group = np.array([sorted(set(groups)).index(group) for group in groups])
        self.gains = np.array([k for k, name in enumerate(self.names)
                               if name.startswith('gain') and name != 'gain others'])
        self.base = slice(n - 1 - N_BASE, n - 1)
        self.base_force = [self.names.index(f'base {axis}') for axis in 'xyz']
        self.of_torques = np.concatenate([self.gains, n - 1 - N_BASE + np.arange(N_BASE)])
        self.frictions = np.isin(np.arange(n),
                                 self.place[:, [FRICTION, DAMPING, LOAD_FRICTION]])
        self.offsets = np.array([name.startswith('offset') for name in self.names])
        self.effort_delay, self.imu_delay = int(self.place[0, DELAY]), n - 1
        self.in_legs = np.isin(np.arange(nj), [j for own in self.legs for j in own])
        in_legs = self.place[self.in_legs]
        self.leg_frictions = np.unique(in_legs[:, [FRICTION, DAMPING]])
        self.leg_armatures = np.unique(in_legs[:, ARMATURE])
        self.kinds = [np.flatnonzero(self.place[:, 0] == at)
                      for at in np.unique(self.place[:, 0])]
        # What friction at rest pulls along when it is more than stated.
        self.beside_friction = self.group != self.group[self.place[0, FRICTION]]
        self.beside_friction[self.effort_delay] = False

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
