# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""standing_reach: what forces each foot of a standing robot can be given, in one pose."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.jacobians import contact_rows
from legged_dynamics.dynamics.motion import GRAVITY, UP
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map import (
    ConstrainedForceMap,
    ContactForceMap,
    FootReach,
    ForcePolytope,
    FrictionCone,
    StanceDynamics,
    StanceTerms,
    foot_reach,
)
from legged_dynamics.force_map.ground_force_problem import GroundForceProblem
from legged_dynamics.model import RobotModel
from legged_dynamics.model.foot import Foot

# Error that the balance may have, beside foot forces of one [N^2].
BALANCED = 1e-10
# A robot that lacks less than this part of its weight stands still.
STILL = 1e-3


@dataclass(frozen=True, eq=False)
class StandingReach:
    """
    Forces that the feet of a robot can be given in one pose; in world axes.

    Attributes
    ----------
    model : RobotModel
    map : ContactForceMap
        Of all motors.
    torque : (m,) array [N m or N]
        By the map's columns: what keeps the robot still, with the smallest foot forces.
    limits : (m,) array [N m or N]
        Effort limits of the map's columns.
    lacking : (6,) array [N, N m]
        What the feet cannot give of the wrench that the weight takes of them.
    cone : FrictionCone
    reach : tuple of FootReach
        Of each foot on the ground.
    allowed : tuple of ForcePolytope
        The part of each foot's polytope inside the friction cone.

    """

    model: RobotModel
    map: ContactForceMap
    torque: np.ndarray
    limits: np.ndarray
    lacking: np.ndarray
    cone: FrictionCone
    reach: tuple[FootReach, ...]
    allowed: tuple[ForcePolytope, ...]

    @property
    def weight(self) -> float:
        """Of the robot [N]."""
        return float(self.model.total_mass * GRAVITY)

    @property
    def stands(self) -> bool:
        """Whether the feet on the ground can hold the robot still, friction apart."""
        return bool(np.linalg.norm(self.lacking) < STILL * self.weight)


def standing_reach(model: RobotModel, feet: Sequence[Foot], position: np.ndarray,
                   R_WB: np.ndarray, friction: float = 0.6, all_motors: bool = False
                   ) -> StandingReach:
    """
    Return what forces the feet can be given.

    Parameters
    ----------
    model : RobotModel
        With a floating base.
    feet : sequence of Foot
        Those on the ground.
    position : (nq,) array [rad or m]
        In the model's joint order.
    R_WB : (3, 3) array
        Orientation of the base.
    friction : float
        Coefficient.
    all_motors : bool
        Whether a foot's forces are those of all motors, and not of its leg's alone with the
        others as they are.

    Raises
    ------
    ConfigurationError
        When no joint has a motor, or one has no effort limit.
    UnknownNameError
        When a foot is not in the model.

    """
    motors = [joint.name for joint in model.joints if joint.effort > 0.0]
    endless = [name for name, limit in zip(model.joint_names, model.effort_limits)
               if not np.isfinite(limit)]
    if endless or not motors:
        raise ConfigurationError(
            f'expected effort limits in the URDF (<limit effort="..."/>), got none for '
            f'{", ".join(endless) or "any joint"}; without them every force could be produced')
    still = np.zeros(model.nv)
    found = ConstrainedForceMap(model, feet, motors).compute(position, still, R_WB=R_WB)
    terms = StanceDynamics(model, feet).compute(
        np.ascontiguousarray(position, float), still, np.zeros(3), np.zeros(3),
        GRAVITY * R_WB[2], R_WB[2])
    effort, lacking = _statics(terms, feet)
    where = [model.joint_index(name) for name in found.columns]
    torque, limits = effort[where], model.effort_limits[where]
    cone = FrictionCone(friction, normal=UP, facets=16)
    in_world = found.in_axes(R_WB)
    columns = found.columns if all_motors else None
    reach = tuple(foot_reach(model, in_world, foot.link, torque, limits, columns)
                  for foot in feet)
    return StandingReach(model, in_world, torque, limits, lacking, cone, reach, tuple(
        part.polytope.clipped(*cone.inequalities()) for part in reach))


def _statics(terms: StanceTerms, feet: Sequence[Foot]) -> tuple[np.ndarray, np.ndarray]:
    """Return efforts that hold still with the least contact wrenches, and what is lacking."""
    grasp = contact_rows(feet).wrench_map(terms.foot_rotations, terms.contact_points)
    n = grasp.shape[1]
    found = GroundForceProblem.prior(np.zeros(n), np.ones(n)).with_rows(
        grasp, terms.base_wrench, BALANCED).solve()
    return terms.joint_effort - terms.jacobian.T @ found.mean, found.residual
