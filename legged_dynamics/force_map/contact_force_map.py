# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ContactForceMap: ground forces under several feet as a function of torques."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.jacobians import CONTACT, FOOT_POSITION, FOOT_ROTATION
from legged_dynamics.exceptions import UnknownNameError
from legged_dynamics.force_map.affine import AffineMap, ForceMap


@dataclass(frozen=True, eq=False)
class ContactLayout:
    """
    Names and rows of a map, the same while the same feet are in contact.

    Attributes
    ----------
    columns : (m,) tuple of str
        Name of each column's torque.
    feet : (k,) tuple of str
        Links of the feet in contact.
    rows : (k,) tuple of slice
        Each foot's rows of the map.
    vectors : tuple of slice
        Rows by threes that are a vector in base axes: forces, and moments of some feet.

    """

    columns: tuple[str, ...]
    feet: tuple[str, ...]
    rows: tuple[slice, ...]
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
        """
        Return the rows of one foot.

        Parameters
        ----------
        link : str
            Link of the foot.

        Returns
        -------
        slice

        Raises
        ------
        UnknownNameError
            When that foot is not in contact.

        """
        if link not in self.feet:
            raise UnknownNameError('foot in contact', link, self.feet)
        return self.layout.rows[self.feet.index(link)]

    def of_foot(self, link: str) -> ForceMap:
        """
        Return the map of one foot alone.

        Parameters
        ----------
        link : str
            Link of the foot.

        Returns
        -------
        ForceMap

        Raises
        ------
        UnknownNameError
            When that foot is not in contact.

        """
        rows = self.rows(link)
        return ForceMap(self.offset[rows], self.matrix[rows], self.columns)

    def in_axes(self, R: np.ndarray) -> ContactForceMap:
        """
        Return the map in other axes.

        Contact points and feet stay in the base frame, and so does a line foot's moment, which is
        about an axis of its own.

        Parameters
        ----------
        R : (3, 3) array
            Rotation from base axes into the new ones.

        Returns
        -------
        ContactForceMap

        """
        data, R = self.data.copy(), np.asarray(R, float)
        for rows in self.layout.vectors:
            data[rows] = R @ data[rows]
        return ContactForceMap(self.layout, data, self.redundancy)
