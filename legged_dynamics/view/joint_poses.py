# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""JointPoses: how each body is turned in its parent, all at once; drawing needs no more."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from legged_dynamics.model import RobotModel, tree
from legged_dynamics.spatial.rotations import quaternion_from_rotation


class JointPoses:
    """
    Poses of bodies in their parents, for a drawing that keeps them in a tree.

    Parameters
    ----------
    model : RobotModel
        Of any joints.

    """

    def __init__(self, model: RobotModel):
        topology, constants = model.tree.topology[1:], model.tree.constants[1:]
        self._kind, self._start = topology[:, tree.JOINT], topology[:, tree.Q_START]
        self._rest = np.array([
            quaternion_from_rotation(row[tree.R_TREE:tree.R_TREE + 9].reshape(3, 3))
            for row in constants]).reshape(-1, 4)
        self._place = constants[:, tree.P_TREE:tree.P_TREE + 3]
        self._slide = constants[:, [tree.R_TREE + k for k in (2, 5, 8)]]
        self._turns = self._kind == tree.REVOLUTE

    def orientation(self, position: np.ndarray) -> np.ndarray:
        """
        Return the (nb - 1, 4) quaternions wxyz of all bodies but the base in their parents.

        Parameters
        ----------
        position : (nq,) array [rad or m]
            Joint positions in the model's order.

        """
        half = 0.5 * np.where(self._turns, position[self._start], 0.0)
        about = np.column_stack([np.zeros((len(half), 2)), np.sin(half), np.cos(half)])
        for body in np.flatnonzero((self._kind != tree.REVOLUTE)
                                   & (self._kind != tree.PRISMATIC)):
            start = self._start[body]
            about[body] = position[start:start + 4]
        x, y, z, w = self._rest.T
        a, b, c, d = about.T
        return np.column_stack([w * d - x * a - y * b - z * c, w * a + x * d + y * c - z * b,
                                w * b - x * c + y * d + z * a, w * c + x * b - y * a + z * d])

    def moved(self, position: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield body and (3,) place in its parent [m] of those that slide."""
        for body in np.flatnonzero(self._kind == tree.PRISMATIC):
            yield int(body) + 1, (self._place[body]
                                  + self._slide[body] * position[self._start[body]])
