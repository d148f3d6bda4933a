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

from legged_dynamics.dynamics.jacobians import CONTACT, FOOT_POSITION, FOOT_ROTATION
from legged_dynamics.exceptions import index_of
from legged_dynamics.model.parts import JOINT, SPHERICAL, V_START
from legged_dynamics.model.robot_model import VELOCITY_SIZE, RobotModel

# Singular values below this fraction of the largest are zero.
RANK_TOLERANCE = 1e-10


class AffineMap:
    """Properties of any ``f = offset + matrix @ torque``; :class:`ForceMap` is the plain one."""

    __slots__ = ()
    offset: np.ndarray
    matrix: np.ndarray
    columns: tuple[str, ...]

    def force(self, torque: np.ndarray) -> np.ndarray:
        """Return the ground forces (r,) [N, N m] for torques in the order of `columns`."""
        return self.offset + self.matrix @ np.asarray(torque, float)

    def by(self, columns: Sequence[str], torque: np.ndarray) -> ForceMap:
        """Return the map of some torques, in order; the others are constant in its offset."""
        free = [index_of('column of the map', name, self.columns) for name in columns]
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
    """Return the joint velocity indices of the joints that move some bodies."""
    topology = model.tree.topology
    return np.array([int(topology[b, V_START]) + k for b in bodies
                     for k in range(VELOCITY_SIZE[int(topology[b, JOINT])])], dtype=np.int64)


def column_names(model: RobotModel, bodies: Sequence[int]) -> tuple[str, ...]:
    """Return the names of these joint velocities, with ``.x .y .z`` for spherical joints."""
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


# -------------------------------------------------------------------------------------------------
# ContactForceMap: ground forces under several feet as a function of torques.


@dataclass(frozen=True, eq=False)
class ContactLayout:
    """Names and rows of a map, the same while the same feet are in contact."""

    columns: tuple[str, ...]  # (m,): name of each column's torque
    feet: tuple[str, ...]  # (k,): links of the feet in contact
    rows: tuple[slice, ...]  # (k,): each foot's rows of the map
    # Rows by threes that are a vector in base axes: forces, and moments of some feet
    vectors: tuple[slice, ...]

    @property
    def n_rows(self) -> int:
        """Return the number of rows of the map."""
        return self.rows[-1].stop if self.rows else 0


@dataclass(frozen=True, eq=False)
class Redundancy:
    """
    Contacts that are not independent, and the choice among their forces.

    The robot's motion then does not determine forces that cancel inside it. Of all forces that
    fit best the smallest are given:
    ``min |G lambda - r|^2 + proximal^2 |lambda|^2``.

    Attributes
    ----------
    rank : int
        Rank of the contacts' Jacobian.
    proximal : float [1/kg]
        Weight of the forces' squares relative to that of the fit.

    """

    rank: int
    proximal: float


class ContactForceMap(AffineMap):
    """
    Ground forces on all feet in contact, by torques: ``lambda = offset + matrix @ torque``.

    Rows are, foot after foot, the force [N] and for a flat foot also the moment [N m] about its
    contact point, ground on robot, in base axes (or those given to :meth:`in_axes`).

    Attributes
    ----------
    layout : ContactLayout
        Names, and the rows of each foot.
    data : array
        A row of map and offset for each row of the map, then one for each foot; the properties
        below are views of it.
    redundancy : Redundancy or None
        None when the contacts are independent.

    """

    __slots__ = ('data', 'layout', 'redundancy')

    # By hand: a frozen dataclass takes four times as long to make, at each step of control.
    def __init__(self, layout: ContactLayout, data: np.ndarray, redundancy: Redundancy | None):
        self.layout = layout
        self.data = data
        self.redundancy = redundancy

    @property
    def columns(self) -> tuple[str, ...]:       # type: ignore[override]
        """Return the name of each column's torque."""
        return self.layout.columns

    @property
    def feet(self) -> tuple[str, ...]:
        """Return the links of the k feet in contact."""
        return self.layout.feet

    @property
    def offset(self) -> np.ndarray:             # type: ignore[override]
        """Return the (r,) forces of gravity, motion and loads, without torques [N, N m]."""
        return self.data[:self.layout.n_rows, len(self.columns)]

    @property
    def matrix(self) -> np.ndarray:             # type: ignore[override]
        """Return the (r, m) force per torque [1/m, 1]."""
        return self.data[:self.layout.n_rows, :len(self.columns)]

    @property
    def contact_points(self) -> np.ndarray:
        """Return (k, 3) where the feet touch, in the base frame [m]."""
        return self.data[self.layout.n_rows:, CONTACT:CONTACT + 3]

    @property
    def foot_positions(self) -> np.ndarray:
        """Return the (k, 3) origins of the feet's frames, in the base frame [m]."""
        return self.data[self.layout.n_rows:, FOOT_POSITION:FOOT_POSITION + 3]

    @property
    def foot_rotations(self) -> np.ndarray:
        """Return the (k, 3, 3) ``R_BF`` of each foot."""
        columns = slice(FOOT_ROTATION, FOOT_ROTATION + 9)
        return self.data[self.layout.n_rows:, columns].reshape(-1, 3, 3)

    def rows(self, link: str) -> slice:
        """Return the rows of one foot; UnknownNameError when it is not in contact."""
        return self.layout.rows[index_of('foot in contact', link, self.feet)]

    def of_foot(self, link: str) -> ForceMap:
        """Return the map of one foot alone; UnknownNameError when it is not in contact."""
        rows = self.rows(link)
        return ForceMap(self.offset[rows], self.matrix[rows], self.columns)

    def in_axes(self, R: np.ndarray) -> ContactForceMap:
        """
        Return the map in other axes, ``R`` (3, 3) from base axes.

        Contact points, feet and a line foot's moment stay in the base frame.
        """
        data, R = self.data.copy(), np.asarray(R, float)
        for rows in self.layout.vectors:
            data[rows] = R @ data[rows]
        return ContactForceMap(self.layout, data, self.redundancy)
