# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What the ground can give a foot: unilateral, within friction, as linear inequalities.

The friction cone of a point is replaced by a pyramid *inside* it, so that what satisfies the
inequalities satisfies the cone. A line foot has that of a point, and presses somewhere between
its ends. A flat foot carries a wrench, and the set of wrenches that forces under its sole's
corners can add up to has a closed form of sixteen inequalities (Caron, Pham and Nakamura 2015);
the corners' cones are pyramids of four facets there.
"""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.feet import FlatFoot, Foot, LineFoot
from legged_dynamics.spatial.rotations import check_normal, rotation_to_z


@dataclass(frozen=True, eq=False)
class FrictionCone:
    """
    Friction and load of one contact.

    Attributes
    ----------
    coefficient : float
        Of friction.
    normal : (3,) array
        Unit normal of the ground, in the axes of the forces.
    facets : int
        Of a point's pyramid; 4 or more.
    minimum, maximum : float [N]
        Limits of the normal force.

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
        """Return whether a (3,) force [N] is inside the true, round cone and the load limits."""
        along = float(self.normal @ force)
        sideways = np.linalg.norm(force - along * self.normal)
        slack = tolerance * max(1.0, float(np.linalg.norm(force)))
        return bool(sideways <= self.coefficient * along + slack
                    and self.minimum - slack <= along <= self.maximum + slack)

    def edges(self) -> np.ndarray:
        """Return the (facets, 3) unit edges of the pyramid."""
        angles = 2.0 * np.pi * (np.arange(self.facets) + 0.5) / self.facets
        local = np.column_stack([self.coefficient * np.cos(angles),
                                 self.coefficient * np.sin(angles), np.ones(self.facets)])
        edges = local @ rotation_to_z(self.normal).T
        return edges / np.linalg.norm(edges, axis=1, keepdims=True)

    def inequalities(self) -> tuple[np.ndarray, np.ndarray]:
        """Return A (k, 3) and b (k,) of ``A f >= b``: the pyramid, then the load limits."""
        angles = 2.0 * np.pi * np.arange(self.facets) / self.facets
        inner = self.coefficient * np.cos(np.pi / self.facets)
        local = np.column_stack([-np.cos(angles), -np.sin(angles), np.full(self.facets, inner)])
        return self._with_load(local @ rotation_to_z(self.normal).T)

    def sole_inequalities(self, foot: FlatFoot, rotation: np.ndarray
                          ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return A (k, 6) and b (k,) of ``A w >= b`` for the wrench ``[f; m]`` on a sole.

        Parameters
        ----------
        foot : FlatFoot
            Its edges are those of the sole.
        rotation : (3, 3) array
            Of the foot's axes in those of the wrench, which is about the middle of the sole.

        """
        mu, x, y = self.coefficient, (foot.front - foot.back) / 2, (foot.left - foot.right) / 2
        rows = [[sx, 0, mu, 0, 0, 0] for sx in (1, -1)] + [[0, sy, mu, 0, 0, 0] for sy in (1, -1)]
        rows += [[0, 0, y, s, 0, 0] for s in (1, -1)] + [[0, 0, x, 0, s, 0] for s in (1, -1)]
        # |mz| stays within mu (x + y) fz - |y fx +- mu mx| - |x fy +- mu my|, - for mz < 0.
        rows += [[s * y, t * x, mu * (x + y), -s * u * mu, -t * u * mu, u]
                 for u in (1, -1) for s in (1, -1) for t in (1, -1)]
        A = np.array(rows, dtype=float)
        turned = np.hstack([A[:, :3] @ rotation.T, A[:, 3:] @ rotation.T])
        return self._with_load(turned)

    def line_inequalities(self, foot: LineFoot) -> tuple[np.ndarray, np.ndarray]:
        """Return A (k, 4) and b (k,) for force and moment of a line, about its middle."""
        A, b = self.inequalities()
        ends = np.tile(0.5 * (foot.front - foot.back) * self.normal, (2, 1))
        return (np.vstack([np.pad(A, ((0, 0), (0, 1))), np.column_stack([ends, [1.0, -1.0]])]),
                np.append(b, [0.0, 0.0]))

    def _with_load(self, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        b = np.zeros(len(A))
        load = np.zeros(A.shape[1])
        load[:3] = self.normal
        A, b = np.vstack([A, load]), np.append(b, self.minimum)
        if np.isfinite(self.maximum):
            A, b = np.vstack([A, -load]), np.append(b, -self.maximum)
        return A, b


def contact_inequalities(cone: FrictionCone, foot: Foot, rotation: np.ndarray
                         ) -> tuple[np.ndarray, np.ndarray]:
    """
    Return A, b of ``A w >= b`` for one foot, a column for each contact coordinate.

    Parameters
    ----------
    cone : FrictionCone
        Friction and load of the contact.
    foot : PointFoot, LineFoot or FlatFoot
        A ball bears a force, a line that and a moment, a sole a wrench.
    rotation : (3, 3) array
        Of the foot's axes in those of the forces; it matters to a flat foot alone.

    """
    if isinstance(foot, FlatFoot):
        return cone.sole_inequalities(foot, np.asarray(rotation, float))
    if isinstance(foot, LineFoot):
        return cone.line_inequalities(foot)
    return cone.inequalities()
