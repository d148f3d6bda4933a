# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
ForcePicture: what is to be drawn of ground reactions, as plain arrays, for rviz and browser alike.

Arrows, cones and margins are computed here once; `conversions.markers` makes messages of them and
`view.figure` places them in the world. Everything is in base axes B unless its name says W.
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from legged_dynamics.contact.solution import friction_used, support_margin
from legged_dynamics.estimation.ground_reaction import GroundReaction
from legged_dynamics.spatial.convex_hull import convex_hull

# Standard deviations from zero at which an external force is drawn.
SIGNIFICANT = 3.0


@dataclass(frozen=True, eq=False)
class ForcePicture:
    """
    Ground reactions of one instant, ready to be drawn.

    Derived figures are properties. `friction` is the coefficient that `friction_used` refers to;
    0 for none.

    Attributes
    ----------
    stamp_ns : int [ns]
        Stamp of the joint state that they belong to.
    feet : tuple of str
        Links of the nf feet, in the order of the arrays.
    R_WB : (3, 3) array
        Orientation of the base; it turns vectors from B to W axes, z up.
    contact, observable : (nf,) bool array
        Feet on the ground; feet whose force the measurements determine.
    point : (nf, 3) array [m]
        Where the ground acts on the feet, about B's origin.
    wrench : (nf, 6) array [N, N m]
        Of the ground on the feet, in and about the feet's frames.
    deviation : (nf, 3) array [N]
        One standard deviation of the force, in the axes of the feet; NaN where not known.
    R_BF : (nf, 3, 3) array
        Orientation of the feet.
    normal : (nf, 3) array
        Unit normal of the ground under each foot.
    standing : (k, 3) array [m]
        Points that the robot stands on: corners of soles, contact points of other feet.
    center_of_pressure : (3,) array [m]
        About B's origin; NaN when the feet carry next to nothing.
    external, external_deviation : (3,) array [N]
        External force on the robot, and one standard deviation.
    push_point : (3,) array [m]
        Where it acts, about B's origin.

    """

    stamp_ns: int
    feet: tuple[str, ...]
    R_WB: np.ndarray
    contact: np.ndarray
    observable: np.ndarray
    point: np.ndarray
    wrench: np.ndarray
    deviation: np.ndarray
    R_BF: np.ndarray
    normal: np.ndarray
    standing: np.ndarray
    center_of_pressure: np.ndarray
    external: np.ndarray
    external_deviation: np.ndarray
    push_point: np.ndarray
    friction: float = 0.6

    @classmethod
    def of(cls, reaction: GroundReaction, friction: float = 0.6) -> ForcePicture:
        """Return the picture of an estimate's newest sample."""
        contact, known = reaction.latest_contact, reaction.observable
        deviation = np.full((len(contact), 3), np.nan)
        for i in np.flatnonzero(contact & known):
            covariance = reaction.covariance_of(reaction.feet[i], latest=True)
            deviation[i] = np.sqrt(np.diagonal(covariance)[:3].clip(0.0))
        return cls(
            reaction.latest_ns, reaction.feet, reaction.base_rotation, contact, known,
            reaction.contact_point, reaction.wrench, deviation, reaction.foot_rotation,
            reaction.foot_normal, _standing_points(reaction), reaction.center_of_pressure,
            reaction.external_wrench[:3], reaction.external_deviation[:3], reaction.link_point,
            friction)

    @cached_property
    def force(self) -> np.ndarray:
        """(nf, 3) of the ground on the feet [N]."""
        return np.einsum('fij,fj->fi', self.R_BF, self.wrench[:, :3])

    @cached_property
    def moment(self) -> np.ndarray:
        """(nf, 3) about the origins of the feet's frames [N m]."""
        return np.einsum('fij,fj->fi', self.R_BF, self.wrench[:, 3:])

    @cached_property
    def friction_used(self) -> np.ndarray:
        """(nf,) part of the friction that each foot uses, 1 where it begins to slip."""
        if not self.friction:
            return np.zeros(len(self.feet))
        return friction_used(self.force, self.normal, self.friction)

    @cached_property
    def polygon_W(self) -> np.ndarray:
        """(m, 3) support polygon from above, W axes about B's origin, counter-clockwise [m]."""
        return convex_hull(self.standing @ self.R_WB.T)

    @cached_property
    def support_margin(self) -> float:
        """Distance of the centre of pressure from the polygon's edge [m]; negative outside."""
        return support_margin(self.polygon_W[:, :2], (self.R_WB @ self.center_of_pressure)[:2])

    @property
    def push(self) -> np.ndarray | None:
        """External force; None where it is not `SIGNIFICANT` deviations from zero [N]."""
        significant = (np.isfinite(self.external).all() and (
            np.abs(self.external) > SIGNIFICANT * self.external_deviation).any())
        return self.external if significant else None


def _standing_points(reaction: GroundReaction) -> np.ndarray:
    """Return where the feet in contact can touch: (k, 3) [m] in B; corners of soles."""
    table, found = reaction.layout.table, []
    for i in np.flatnonzero(reaction.latest_contact):
        corners = table.touching(i, reaction.foot_rotation[i], reaction.ground_normal)
        found += ([reaction.contact_point[i]] if len(corners) == 1 else
                  list(reaction.foot_position[i] + corners))
    return np.array(found).reshape(-1, 3)
