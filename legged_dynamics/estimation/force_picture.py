# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
ForcePicture: what is to be drawn of ground reactions, as plain arrays, for rviz and browser alike.

Arrows, cones and margins are computed here once; `conversions.markers` makes messages of them and
`view.figure` places them in the world. Everything is in base axes B unless its name says W.
"""
from __future__ import annotations

from dataclasses import dataclass

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
    force, moment : (nf, 3) array [N, N m]
        Of the ground on the feet; moments about the origins of the feet's frames.
    deviation : (nf, 3) array [N]
        One standard deviation of the force, in the axes of the feet; NaN where not known.
    R_BF : (nf, 3, 3) array
        Orientation of the feet.
    normal : (nf, 3) array
        Unit normal of the ground under each foot.
    friction_used : (nf,) array
        Part of the friction that each foot uses, 1 where it begins to slip; zero where no friction
        was given.
    standing : (k, 3) array [m]
        Points that the robot stands on: corners of soles, contact points of other feet.
    polygon_W : (m, 3) array [m]
        Corners of the support polygon seen from above, in W axes about B's origin,
        counter-clockwise.
    center_of_pressure : (3,) array [m]
        About B's origin; NaN when the feet carry next to nothing.
    support_margin : float [m]
        Horizontal distance of the centre of pressure from the nearest edge of the support polygon;
        negative outside, NaN where there is none.
    push : (3,) array or None [N]
        External force on the robot; None where it does not differ from zero by `SIGNIFICANT`
        deviations.
    push_point : (3,) array [m]
        Where it acts, about B's origin.

    """

    stamp_ns: int
    feet: tuple[str, ...]
    R_WB: np.ndarray
    contact: np.ndarray
    observable: np.ndarray
    point: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    deviation: np.ndarray
    R_BF: np.ndarray
    normal: np.ndarray
    friction_used: np.ndarray
    standing: np.ndarray
    polygon_W: np.ndarray
    center_of_pressure: np.ndarray
    support_margin: float
    push: np.ndarray | None
    push_point: np.ndarray

    @classmethod
    def of(cls, reaction: GroundReaction, friction: float = 0.6) -> ForcePicture:
        """Return the picture of an estimate's newest sample; ``friction`` 0 for none."""
        contact, known = reaction.latest_contact, reaction.observable
        deviation = np.full((len(contact), 3), np.nan)
        for i in np.flatnonzero(contact & known):
            covariance = reaction.covariance_of(reaction.feet[i], latest=True)
            deviation[i] = np.sqrt(np.diagonal(covariance)[:3].clip(0.0))
        return cls.of_arrays(
            reaction.latest_ns, reaction.feet, reaction.base_rotation, contact, known,
            reaction.contact_point, reaction.wrench, deviation, reaction.foot_rotation,
            reaction.foot_normal, _standing_points(reaction), reaction.center_of_pressure,
            reaction.external_wrench[:3], reaction.external_deviation[:3], reaction.link_point,
            friction)

    @classmethod
    def of_arrays(cls, stamp_ns: int, feet: tuple[str, ...], R_WB: np.ndarray,
                  contact: np.ndarray, observable: np.ndarray, point: np.ndarray,
                  wrench: np.ndarray, deviation: np.ndarray, R_BF: np.ndarray,
                  normal: np.ndarray, standing: np.ndarray, center_of_pressure: np.ndarray,
                  external: np.ndarray, external_deviation: np.ndarray, push_point: np.ndarray,
                  friction: float) -> ForcePicture:
        """
        Return the picture of forces from any source.

        ``wrench`` (nf, 6): ground on foot, in and about the foot's frame; ``external`` and its
        deviation (3,) [N] in base axes; others as the attributes of those names.
        """
        force = np.einsum('fij,fj->fi', R_BF, wrench[:, :3])
        moment = np.einsum('fij,fj->fi', R_BF, wrench[:, 3:])
        polygon = convex_hull(standing @ R_WB.T)
        significant = (np.isfinite(external).all()
                       and (np.abs(external) > SIGNIFICANT * external_deviation).any())
        return cls(
            stamp_ns, feet, R_WB, contact, observable, point, force, moment, deviation, R_BF,
            normal, friction_used(force, normal, friction) if friction else np.zeros(len(feet)),
            standing, polygon, center_of_pressure,
            support_margin(polygon[:, :2], (R_WB @ center_of_pressure)[:2]),
            external if significant else None, push_point)


def _standing_points(reaction: GroundReaction) -> np.ndarray:
    """Return where the feet in contact can touch: (k, 3) [m] in B; corners of soles."""
    table, found = reaction.layout.table, []
    for i in np.flatnonzero(reaction.latest_contact):
        corners = table.touching(i, reaction.foot_rotation[i], reaction.ground_normal)
        found += ([reaction.contact_point[i]] if len(corners) == 1 else
                  list(reaction.foot_position[i] + corners))
    return np.array(found).reshape(-1, 3)
