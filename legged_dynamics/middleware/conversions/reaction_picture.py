# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
All that rviz shows of an estimate: forces, how sure they are, cones, support, push, margins.

Namespaces, to be switched one by one: reaction, deviation (an ellipsoid about an arrow's tip, one
standard deviation), friction_cone (red where the force leaves it), support_polygon,
center_of_pressure, external_force, margins.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from legged_dynamics.contact.margins import friction_used, support_margin
from legged_dynamics.estimation import GroundReaction
from legged_dynamics.middleware.conversions.building import duration_message, header
from legged_dynamics.middleware.conversions.force_markers import CONE, fan
from legged_dynamics.middleware.conversions.marker_maker import MarkerMaker
from legged_dynamics.middleware.conversions.markers import FIRM, reaction_markers
from legged_dynamics.middleware.protocol import Dialect
from legged_dynamics.spatial.convex_hull import convex_hull
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_to_z

_SLIPPING, _PUSH = (0.9, 0.1, 0.1), (0.63, 0.24, 0.78)
_CONE_HEIGHT, _SIDES, _SEEN = 0.12, 12, 0.25
# Standard deviations from zero at which a push is worth an arrow.
SURE = 3.0
_ANGLES = 2.0 * np.pi * np.arange(_SIDES) / _SIDES


def reaction_picture(dialect: Dialect, reaction: GroundReaction, base: str, *,
                     newtons_per_meter: float = 500.0, friction: float = 0.6,
                     lifetime_s: float = 0.2, text: bool = False) -> Any:
    """
    Return a visualization_msgs/MarkerArray of an estimate.

    Parameters
    ----------
    dialect : Dialect
        Whose messages to make.
    reaction : GroundReaction
        The estimate; its newest sample is drawn.
    base : str
        Base link, the frame of all markers.
    newtons_per_meter : float
        Force drawn as an arrow of one metre [N/m].
    friction : float
        Coefficient of the cones and margins; 0: none are drawn.
    lifetime_s : float
        After this, rviz lets a marker vanish by itself [s].
    text : bool
        Whether to write the newtons beside each arrow.

    """
    contact, points = reaction.latest_contact, reaction.contact_point
    force = np.einsum('fij,fj->fi', reaction.foot_rotation, reaction.wrench[:, :3])
    standing = standing_points(reaction)
    message = reaction_markers(
        dialect, reaction.latest_ns, base, reaction.feet, points, force, contact,
        newtons_per_meter=newtons_per_meter, lifetime_s=lifetime_s, text=text,
        observable=reaction.observable, center_of_pressure=reaction.center_of_pressure,
        standing=standing)
    make = MarkerMaker(dialect, header(dialect, reaction.latest_ns, base),
                       duration_message(dialect, lifetime_s))
    markers, normals = message.markers, reaction.foot_normal
    used = friction_used(force, normals, friction) if friction else np.zeros(len(contact))
    rim = np.column_stack([friction * np.cos(_ANGLES), friction * np.sin(_ANGLES),
                           np.ones(_SIDES)])
    for i, foot in enumerate(reaction.feet):
        if contact[i] and reaction.observable[i]:
            sigma = np.sqrt(np.diagonal(reaction.covariance_of(foot, latest=True))[:3].clip(0.0))
            markers.append(make.ellipsoid(
                'deviation', i, points[i] + force[i] / newtons_per_meter,
                quaternion_from_rotation(reaction.foot_rotation[i]),
                2.0 * sigma / newtons_per_meter, FIRM, _SEEN))
        else:
            markers.append(make.deletion('deviation', i))
        if friction:
            cone = _CONE_HEIGHT * fan(rim @ rotation_to_z(normals[i]).T)
            markers.append(
                make.triangles('friction_cone', i, points[i] + cone,
                               CONE if used[i] < 1.0 else _SLIPPING, _SEEN)
                if contact[i] else make.deletion('friction_cone', i))
    push, sure = reaction.external_wrench[:3], SURE * reaction.external_deviation[:3]
    at = reaction.link_point
    markers.append(make.arrow('external_force', 0, at - push / newtons_per_meter, at, _PUSH)
                   if (np.abs(push) > sure).any() else make.deletion('external_force', 0))
    margin = _support(reaction, standing)
    markers.append(
        make.label('margins', 0, 0.3 * reaction.base_rotation[2],
                   f'{_told("inside of support", 100.0 * margin, "cm")}, '
                   f'{_told("friction used", 100.0 * used[contact].max(), "%")}')
        if friction and contact.any() else make.deletion('margins', 0))
    return message


def standing_points(reaction: GroundReaction) -> np.ndarray:
    """Return where the feet in contact can touch: (k, 3) [m] in the base; corners of soles."""
    table, found = reaction.layout.table, []
    for i in np.flatnonzero(reaction.latest_contact):
        corners = table.corners(i)
        if len(corners) > 1:
            found += list(reaction.foot_position[i] + corners @ reaction.foot_rotation[i].T)
        else:
            found.append(reaction.contact_point[i])
    return np.array(found).reshape(-1, 3)


def _support(reaction: GroundReaction, standing: np.ndarray) -> float:
    """Return how far the centre of pressure is inside of the support, seen from above [m]."""
    R = reaction.base_rotation
    polygon = convex_hull(standing @ R.T)
    return support_margin(polygon[:, :2], (R @ reaction.center_of_pressure)[:2])


def _told(what: str, value: float, unit: str) -> str:
    return f'{what} {value:.0f} {unit}' if np.isfinite(value) else f'{what} -'
