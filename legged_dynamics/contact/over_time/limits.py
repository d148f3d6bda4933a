# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What the ground can give the feet, as constraints on contact coordinates in world axes.

``G x - d`` must lie in a cone: each linear row at least zero, and the three round rows of a foot
``(mu f_n, f_x, f_y)`` in the second-order cone. The rows are in world axes, those of a foot with a
plane in its own, where the sole stays put.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from legged_dynamics.contact.program import one_cone_a_foot
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.model.foot import Foot, as_wrenches
from legged_dynamics.spatial.rotations import rotation_to_z, skew

SHAPES = {
    'pyramid': "a cone is a pyramid inside the round one, with the cone's facets; a flat foot "
               'carries what pyramids of four facets under the corners of its sole can',
    'round': 'the force of every foot lies in the second-order cone; moments as with the pyramid',
}


@dataclass(frozen=True, eq=False)
class ContactLimits:
    """
    No pull, no slip, no pressure outside the sole.

    Attributes
    ----------
    friction : FrictionCone, or a sequence of one a foot
        Friction and least and greatest load. Normals are those of the ground, for point feet, and
        of the soles; a cone's own is not read.
    shape : {'pyramid', 'round'}
        See :data:`SHAPES`.
    residual_weight : float
        How many times more a newton of root residual costs than one of contact force. Residuals
        are there only where the limits bind: elsewhere they are as small as this is large.

    """

    friction: FrictionCone | Sequence[FrictionCone] = field(
        default_factory=lambda: FrictionCone(0.6))
    shape: str = 'pyramid'
    residual_weight: float = 1e4

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise ConfigurationError(f'expected a shape of {", ".join(SHAPES)}; got '
                                     f'{self.shape!r}')
        if not 1e2 <= self.residual_weight <= 1e10:
            raise ConfigurationError('expected a residual weight from 1e2 to 1e10, got '
                                     f'{self.residual_weight}')

    def rows(self, feet: Sequence[Foot], references: np.ndarray, normal: np.ndarray) -> ConeRows:
        """
        Return the constraints of every foot.

        Parameters
        ----------
        feet : sequence of Foot
            In the solver's order.
        references : (nf, 3) array [m]
            Where a flat foot's moment is taken, in its frame.
        normal : (3,) array
            Unit normal of the ground, in world axes.

        Raises
        ------
        ConfigurationError
            When there are several cones, and not one for each foot, or the moment of a line is
            not about its middle.

        """
        linear, bounds, rounded = [], [], []
        for foot, cone, reference in zip(feet, one_cone_a_foot(self.friction, len(feet)),
                                         references):
            if not foot.plane:
                cone = replace(cone, normal=normal)
            A, b = contact_inequalities(cone, foot, np.eye(3))
            off = reference - foot.center
            if foot.plane:      # and so in one frame with its moments
                A[:, :3] += as_wrenches(foot, A)[:, 3:] @ skew(off)
            elif foot.moments and off.any():
                raise ConfigurationError(
                    f'foot {foot.link!r}: limits over time expect its moment about the middle of '
                    f"what touches, reference='sole'; got {off.tolist()} m from there")
            if self.shape == 'round':
                sides = len(foot.slip_rows(cone.coefficient, cone.facets))
                A, b = A[sides:], b[sides:]
            linear.append(np.pad(A, ((0, 0), (0, 6 - A.shape[1]))))
            bounds.append(b)
            x, y, up = rotation_to_z(cone.normal).T
            rounded.append(np.pad([cone.coefficient * up, x, y], ((0, 0), (0, 3))))
        most = max(len(b) for b in bounds)
        return ConeRows(
            np.array([np.pad(A, ((0, most - len(A)), (0, 0))) for A in linear]),
            np.array([np.pad(b, (0, most - len(b))) for b in bounds]),
            np.array([np.arange(most) < len(b) for b in bounds]),
            np.array(rounded) if self.shape == 'round' else None,
            np.array([foot.plane for foot in feet]))


@dataclass(frozen=True, eq=False)
class ConeRows:
    """
    Constraints of nf feet, padded to k rows and six columns ``[f; m]`` each.

    Attributes
    ----------
    linear : (nf, k, 6) array
        G of the linear rows.
    bound : (nf, k) array
        d.
    present : (nf, k) bool array
        False for rows that only pad.
    rounded : (nf, 3, 6) array, or None
        G of the round rows, whose d is zero.
    own : (nf,) bool array
        Feet whose rows are in their own axes.

    """

    linear: np.ndarray
    bound: np.ndarray
    present: np.ndarray
    rounded: np.ndarray | None
    own: np.ndarray
