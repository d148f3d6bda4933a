# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The affine map from joint torques to ground forces, and its singular values.

Newton-Euler, the joints and a foot that does not move leave no freedom: at a given state the
ground's force is exactly ``f = k + D tau``. D determines which forces torques can produce.

**Mirror symmetry.** Let pose and bodies be symmetric about a plane through the foot. A torque
normal to that plane (pitch) moves everything within it and so gives a force within it, in one
direction; a torque within the plane (roll, yaw) gives a force normal to it. Hence rank D <= 2 for
the three torques of a hip in *every* pose that is symmetric, upright standing included: along one
direction of the plane the hip cannot change the force. That direction is the last left singular
vector; upright it is the vertical. A knee's pitch torque gives a second direction in the plane.
This is a property of the robot, not of its coordinates, unlike gimbal lock.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import UnknownNameError
from legged_dynamics.model.robot_model import VELOCITY_SIZE, RobotModel
from legged_dynamics.model.tree import JOINT, SPHERICAL, V_START

# Singular values below this fraction of the largest are zero.
RANK_TOLERANCE = 1e-10


class AffineMap:
    """Properties of any ``f = offset + matrix @ torque``; :class:`ForceMap` is the plain one."""

    __slots__ = ()
    offset: np.ndarray
    matrix: np.ndarray
    columns: tuple[str, ...]

    def force(self, torque: np.ndarray) -> np.ndarray:
        """
        Return the ground forces of torques.

        Parameters
        ----------
        torque : (m,) array [N m or N]
            In the order of `columns`.

        Returns
        -------
        (r,) array [N, N m]

        """
        return self.offset + self.matrix @ np.asarray(torque, float)

    def by(self, columns: Sequence[str], torque: np.ndarray) -> ForceMap:
        """
        Return the map of some of the torques, the others being constant.

        Parameters
        ----------
        columns : sequence of str
            The torques that are variable, in the order of the columns of the new map.
        torque : (m,) array [N m or N]
            All torques; the values of the variable ones do not matter.

        Returns
        -------
        ForceMap
            Its offset has the forces of the constant torques.

        Raises
        ------
        UnknownNameError
            When the map has no such column.

        """
        for name in columns:
            if name not in self.columns:
                raise UnknownNameError('column of the map', name, self.columns)
        free = [self.columns.index(name) for name in columns]
        constant = np.array(torque, float)
        constant[free] = 0.0
        return ForceMap(self.force(constant), self.matrix[:, free], tuple(columns))

    @property
    def singular_values(self) -> np.ndarray:
        """Return the singular values of the matrix, largest first."""
        return np.linalg.svd(self.matrix, compute_uv=False)

    @property
    def rank(self) -> int:
        """Return the number of directions of force that the torques can change."""
        s = self.singular_values
        return int((s > RANK_TOLERANCE * s[0]).sum()) if s.size and s[0] > 0.0 else 0

    @property
    def condition(self) -> float:
        """Return the largest over the smallest singular value; infinite when a row has none."""
        s = self.singular_values
        if s.size < len(self.offset) or not s[-1] > RANK_TOLERANCE * s[0]:
            return np.inf
        return float(s[0] / s[-1])

    @property
    def weakest_direction(self) -> np.ndarray:
        """Return the (r,) unit vector along which torques change the force least."""
        return np.linalg.svd(self.matrix)[0][:, -1]

    @property
    def unproducible(self) -> np.ndarray:
        """Return (r, r - rank) orthonormal directions in which no torque changes the force."""
        return np.linalg.svd(self.matrix)[0][:, self.rank:]


@dataclass(frozen=True, eq=False)
class ForceMap(AffineMap):
    """
    Ground forces as a function of torques: ``f = offset + matrix @ torque``.

    Attributes
    ----------
    offset : (r,) array [N, N m]
        Forces when all torques are zero: gravity, motion, external forces.
    matrix : (r, m) array [1/m, 1]
        Force per torque (1/m) or per thrust (1).
    columns : (m,) tuple of str
        Name of each column's torque: of a joint, or an axis of one.

    """

    offset: np.ndarray
    matrix: np.ndarray
    columns: tuple[str, ...]


# -------------------------------------------------------------------------------------------------
# The columns of a force map: joint velocities and names.


def velocity_rows(model: RobotModel, bodies: Sequence[int]) -> np.ndarray:
    """
    Return the indices, among joint velocities, of the joints that move some bodies.

    Parameters
    ----------
    model : RobotModel
        The robot.
    bodies : sequence of int
        Numbers of the bodies.

    Returns
    -------
    int array

    """
    topology = model.tree.topology
    return np.array([int(topology[b, V_START]) + k for b in bodies
                     for k in range(VELOCITY_SIZE[int(topology[b, JOINT])])], dtype=np.int64)


def column_names(model: RobotModel, bodies: Sequence[int]) -> tuple[str, ...]:
    """
    Return a name for each of these joint velocities.

    Parameters
    ----------
    model : RobotModel
        The robot.
    bodies : sequence of int
        Numbers of the bodies.

    Returns
    -------
    tuple of str
        The joints' names, with ``.x .y .z`` for a spherical one.

    """
    names: list[str] = []
    for b in bodies:
        name = model.joints[b - 1].name
        spherical = int(model.tree.topology[b, JOINT]) == SPHERICAL
        names.extend(f'{name}.{axis}' for axis in 'xyz') if spherical else names.append(name)
    return tuple(names)


# -------------------------------------------------------------------------------------------------
# Weights of squared forces where feet cannot meet all requirements at once.


# A newton missing on the whole robot counts as much as a hundred under a foot.
BALANCE_WEIGHT = 1e4
# A newton missing on a foot with a desired force counts as much as a hundred on another foot.
ASKED_WEIGHT = 1e4
