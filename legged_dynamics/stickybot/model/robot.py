# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""StickybotModel: a compliant-hip climbing robot on its wall, checked once and then read-only."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from legged_dynamics.exceptions import ModelError, UnknownNameError
from legged_dynamics.stickybot.model.machine import BODY, HIP, LIMB, LINK, Machine
from legged_dynamics.stickybot.model.parts import Body, Limb, Wall


class StickybotModel:
    """
    A body with N limbs of one or more links each, in the plane of a wall.

    Parameters
    ----------
    body : Body
        The trunk.
    limbs : sequence of Limb
        The limbs, in the order of all results.
    wall : Wall, optional
        A vertical one unless given.

    Attributes
    ----------
    limb_names : tuple of str
    n_limbs, n_joints, n_inner_joints : int
        Joints are counted with the feet, inner joints without them.
    nz : int
        Number of coordinates: 3 for the body, then 2 + links for each limb.
    foot_columns : (N, 2) int array
        Where the feet's positions stand among the coordinates.
    joint_columns : (nq,) int array
        Where the links' angles stand.
    inner_columns : (nq - N,) int array
        Where the inner joints' rest angles stand among the rest positions.
    hip_columns : (N, 3) int array
        Where the hips' rest positions stand among them.
    mass : float [kg]
    machine : Machine

    Raises
    ------
    ModelError
        When there is no limb, or two limbs have one name.

    """

    def __init__(self, body: Body, limbs: Sequence[Limb], wall: Wall | None = None):
        self.body = body
        self.limbs = tuple(limbs)
        self.wall = wall or Wall()
        self.limb_names = tuple(limb.name for limb in self.limbs)
        if not self.limbs:
            raise ModelError('expected at least one limb, got none')
        if len(set(self.limb_names)) != len(self.limbs):
            raise ModelError(f'expected limbs of different names, got {self.limb_names}')
        self.n_limbs = len(self.limbs)
        counts = np.array([len(limb.links) for limb in self.limbs])
        self.n_joints = int(counts.sum())
        self.n_inner_joints = self.n_joints - self.n_limbs
        self.nz = 3 + 2 * self.n_limbs + self.n_joints
        self.mass = body.mass + sum(limb.mass for limb in self.limbs)
        self.machine = self._machine(counts)
        starts = self.machine.index[:, LIMB.start]
        self.foot_columns = starts[:, None] + np.arange(2)
        self.joint_columns = np.concatenate(
            [start + 2 + np.arange(n) for start, n in zip(starts, counts)])
        self.hip_columns = starts[:, None] - 3 + np.arange(3)
        self.inner_columns = np.concatenate(
            [start + np.arange(n - 1) for start, n in zip(starts, counts)])
        self.joint_starts = np.concatenate([[0], np.cumsum(counts)])

    def _machine(self, counts: np.ndarray) -> Machine:
        index = np.zeros((self.n_limbs, LIMB.width), dtype=np.int64)
        ahead = np.concatenate([[0], np.cumsum(counts)[:-1]])
        index[:, LIMB.n_links] = counts
        index[:, LIMB.start] = 3 + ahead + 2 * np.arange(self.n_limbs)
        index[:, LIMB.hip] = BODY.width + HIP.width * np.arange(self.n_limbs)
        index[:, LIMB.links] = BODY.width + HIP.width * self.n_limbs + LINK.width * ahead
        parts = [np.array([self.body.mass, self.body.inertia, *self.wall.in_plane])]
        parts += [matrix.ravel() for limb in self.limbs
                  for matrix in (limb.stiffness, limb.damping)]
        parts += [np.array([link.length, link.center, link.mass, link.inertia, link.stiffness,
                            link.damping]) for limb in self.limbs for link in limb.links]
        constants = np.concatenate(parts)
        for array in (index, constants):
            array.setflags(write=False)
        return Machine(index, constants)

    def limb_index(self, name: str) -> int:
        """
        Return the number of a limb.

        Raises
        ------
        UnknownNameError
            When there is no limb of that name.

        """
        if name not in self.limb_names:
            raise UnknownNameError('limb', name, self.limb_names)
        return self.limb_names.index(name)

    @property
    def rest(self) -> np.ndarray:
        """Nominal rest positions r of the hips, (N, 3)."""
        return np.array([limb.rest for limb in self.limbs])

    @property
    def bends(self) -> np.ndarray:
        """Nominal rest angles of the inner joints, (nq - N,) [rad]."""
        return np.array([bend for limb in self.limbs for bend in limb.bends])

    @property
    def sides(self) -> np.ndarray:
        """+1 for limbs whose feet lie to the left, -1 for the others, (N,)."""
        return np.array([limb.side for limb in self.limbs])

    def on_wall(self, wall: Wall) -> StickybotModel:
        """Return the same robot on another wall."""
        return StickybotModel(self.body, self.limbs, wall)

    def with_hips(self, stiffness: np.ndarray | None = None, damping: np.ndarray | None = None
                  ) -> StickybotModel:
        """
        Return the robot with other hip springs or dampers, the same in every limb.

        Parameters
        ----------
        stiffness, damping : (3,) or (3, 3) array, optional
            Kept as it is when not given.

        """
        limbs = [replace(limb,
                         stiffness=limb.stiffness if stiffness is None else stiffness,
                         damping=limb.damping if damping is None else damping)
                 for limb in self.limbs]
        return StickybotModel(self.body, limbs, self.wall)
