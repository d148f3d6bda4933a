# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""foot_reach: the forces that a leg's own motors can give its foot at this instant."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.force_map.affine import ForceMap
from legged_dynamics.force_map.contact_force_map import ContactForceMap
from legged_dynamics.force_map.producible import (
    ForceEllipsoid,
    ForcePolytope,
    force_ellipsoid,
    force_polytope,
)
from legged_dynamics.model.robot_model import RobotModel


@dataclass(frozen=True, eq=False)
class FootReach:
    """
    Forces on one foot by some of the motors, the others being held; in the map's axes.

    Attributes
    ----------
    foot : str
    map : ForceMap
        By those motors.
    force : (3,) array [N]
        At the present torques.
    polytope : ForcePolytope
        Forces of torques within their limits.
    ellipsoid : ForceEllipsoid
        Forces of torques whose squares, in units of their limits, add up to one at most.

    """

    foot: str
    map: ForceMap
    force: np.ndarray
    polytope: ForcePolytope
    ellipsoid: ForceEllipsoid


def leg_columns(model: RobotModel, found: ContactForceMap, foot: str) -> tuple[str, ...]:
    """Return the map's columns that belong to joints between the base and a foot."""
    chain = {model.joints[body - 1].name for body in model.chain(model.frame(foot).body)}
    return tuple(name for name in found.columns
                 if name in chain or name.rpartition('.')[0] in chain)


def foot_reach(model: RobotModel, found: ContactForceMap, foot: str, torque: np.ndarray,
               limits: np.ndarray, columns: Sequence[str] | None = None) -> FootReach:
    """
    Return what motors can do for a foot.

    Parameters
    ----------
    model : RobotModel
        The robot.
    found : ContactForceMap
        Its map at the present state.
    foot : str
        A foot in contact.
    torque, limits : (m,) array [N m or N]
        Present torques and their limits, by the map's columns.
    columns : sequence of str, optional
        Motors that act; those between base and foot by default.

    Raises
    ------
    UnknownNameError
        When that foot is not in contact.
    ConfigurationError
        When a limit is not finite and positive.

    """
    if columns is None:
        columns = leg_columns(model, found, foot)
    of_foot = found.of_foot(foot)
    own = of_foot.by(columns, torque)
    most = np.asarray(limits, float)[[found.columns.index(name) for name in columns]]
    return FootReach(foot, own, of_foot.force(torque)[:3], force_polytope(own, most),
                     force_ellipsoid(own, most))
