# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Limits of the ground's force on a foot: unilateral, within friction, as linear inequalities.

A friction cone is replaced by a pyramid *inside* it, so that a force that satisfies the
inequalities satisfies the cone. The further limits of a kind of foot, such as centre of pressure
and torsion (Caron 2015), are rows of its class in `model.feet`.
"""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.feet import FORCE, MOMENT, Foot, PointFoot
from legged_dynamics.spatial.rotations import check_normal, rotation_to_z


@dataclass(frozen=True, eq=False)
class FrictionCone:
    """
    Friction and load of one contact.

    Attributes
    ----------
    coefficient : float
        Coulomb friction coefficient, above 0.
    normal : (3,) array
        Unit normal of the ground, in the axes of the forces.
    facets : int
        Number of facets of a point foot's pyramid; 4 or more.
    minimum, maximum : float [N]
        Limits of the normal force.

    Raises
    ------
    ConfigurationError
        When a value is out of range.

    """

    coefficient: float
    normal: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    facets: int = 8
    minimum: float = 0.0
    maximum: float = np.inf

    def __post_init__(self) -> None:
        if not self.coefficient > 0.0:
            raise ConfigurationError('expected a friction coefficient above 0, got '
                                     f'{self.coefficient}')
        if self.facets < 4:
            raise ConfigurationError(f'expected at least 4 facets, got {self.facets}')
        if not 0.0 <= self.minimum < self.maximum:
            raise ConfigurationError('expected 0 <= minimum < maximum normal force, got '
                                     f'{self.minimum} and {self.maximum} N')
        object.__setattr__(self, 'normal', check_normal(self.normal).copy())

    def contains(self, force: np.ndarray, tolerance: float = 1e-9) -> bool:
        """
        Return whether a force is inside the true, round cone and the load limits.

        ``force`` (3,) [N]: of the ground on the foot. ``tolerance``: a part of the force.
        """
        along = float(self.normal @ force)
        sideways = np.linalg.norm(force - along * self.normal)
        slack = tolerance * max(1.0, float(np.linalg.norm(force)))
        return bool(sideways <= self.coefficient * along + slack
                    and self.minimum - slack <= along <= self.maximum + slack)

    def edges(self) -> np.ndarray:
        """
        Compute the edges of the pyramid.

        (facets, 3), unit vectors.
        """
        angles = 2.0 * np.pi * (np.arange(self.facets) + 0.5) / self.facets
        local = np.column_stack([self.coefficient * np.cos(angles),
                                 self.coefficient * np.sin(angles), np.ones(self.facets)])
        edges = local @ rotation_to_z(self.normal).T
        return edges / np.linalg.norm(edges, axis=1, keepdims=True)

    def inequalities(self) -> tuple[np.ndarray, np.ndarray]:
        """Return A (k, 3) and b (k,) [N]: sides of the pyramid, then load limits."""
        return contact_inequalities(self, PointFoot(''), np.eye(3))


def contact_inequalities(cone: FrictionCone, foot: Foot, rotation: np.ndarray
                         ) -> tuple[np.ndarray, np.ndarray]:
    """
    Return A, b of ``A w >= b`` for one foot, a column for each contact coordinate.

    First come the rows about sideways forces, then those about moments, then load limits.

    Parameters
    ----------
    cone : FrictionCone
        Friction and load of the contact.
    foot : Foot
        The kind of contact; moments are about the middle of the contact area.
    rotation : (3, 3) array
        Rotation from the foot's axes to those of the forces; only for a foot with a plane of its
        own.

    Returns
    -------
    (k, n) array, (k,) array
        A and b.

    """
    A = np.vstack([foot.slip_rows(cone.coefficient, cone.facets),
                   foot.press_rows(cone.coefficient)])
    R = np.asarray(rotation, float) if foot.plane else rotation_to_z(cone.normal)
    for kind in (FORCE, MOMENT):        # what is about axes of the foot stays as it is
        turning = [k for k, row in enumerate(foot.rows) if row.kind == kind and not row.in_foot]
        if turning:
            A[:, turning] = A[:, turning] @ R.T
    load = np.zeros(A.shape[1])
    load[:3] = cone.normal
    A, b = np.vstack([A, load]), np.append(np.zeros(len(A)), cone.minimum)
    if np.isfinite(cone.maximum):
        A, b = np.vstack([A, -load]), np.append(b, -cone.maximum)
    return A, b
