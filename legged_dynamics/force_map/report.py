# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Manipulability of force: producible forces as polytope and ellipsoid, and friction cones."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from legged_dynamics.contact import ContactInverseDynamics
from legged_dynamics.dynamics.motion import GRAVITY, UP, BaseMotion, Motion
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map import (
    ConstrainedForceMap,
    ContactForceMap,
    FootForceMap,
    FootReach,
    ForceMap,
    ForcePolytope,
    FrictionCone,
    foot_reach,
    standing_on,
)
from legged_dynamics.force_map.producible import polytope_of
from legged_dynamics.model import RobotModel
from legged_dynamics.model.feet import Foot
from legged_dynamics.pages import style

# -------------------------------------------------------------------------------------------------
# Forces that each foot of a standing robot can produce in one pose.


# A robot stands still when less than this part of its weight is missing in the balance.
STILL = 1e-3
LEVEL = np.eye(3)


@dataclass(frozen=True, eq=False)
class StandingReach:
    """
    Forces that the feet of a robot can be given in one pose, ground on robot.

    In ground axes: z away from the ground, x and y along it; on level ground, the world's.
    """

    model: RobotModel
    feet: tuple[Foot, ...]  # On the ground
    map: ContactForceMap  # Of all motors
    # (m,) [N m or N]: by the map's columns: what keeps the robot still, with the smallest foot
    # forces
    torque: np.ndarray
    limits: np.ndarray  # (m,) [N m or N]: effort limits of the map's columns
    # (6,) [N, N m]: what the feet cannot give of the wrench that the weight takes of them
    lacking: np.ndarray
    cone: FrictionCone
    reach: tuple[FootReach, ...]  # Of each foot on the ground
    allowed: tuple[ForcePolytope, ...]  # The part of each foot's polytope inside the friction cone
    # Of each foot, were the robot to stand on it alone, a ball at its link's origin
    chain: tuple[ForceMap, ...]

    @property
    def weight(self) -> float:
        """Of the robot [N]."""
        return float(self.model.total_mass * GRAVITY)

    @property
    def stands(self) -> bool:
        """Whether the feet on the ground can hold the robot still, friction apart."""
        return bool(np.linalg.norm(self.lacking) < STILL * self.weight)


def standing_reach(model: RobotModel, feet: Sequence[Foot], position: np.ndarray,
                   R_WB: np.ndarray, friction: float = 0.6, all_motors: bool = False,
                   R_WG: np.ndarray = LEVEL) -> StandingReach:
    """Return the forces that each foot can be given on a ground whose axes are ``R_WG``."""
    motors = [joint.name for joint in model.joints if joint.effort > 0.0]
    endless = [name for name, limit in zip(model.joint_names, model.effort_limits)
               if not np.isfinite(limit)]
    if endless or not motors:
        raise ConfigurationError(
            f'expected effort limits in the URDF (<limit effort="..."/>), got none for '
            f'{", ".join(endless) or "any joint"}; without them every force could be produced')
    still = np.zeros(model.nv)
    of_all, R_GB, normal = ConstrainedForceMap(model, feet, motors), R_WG.T @ R_WB, R_WG[:, 2]
    found = of_all.compute(position, still, R_WB=R_WB, ground_normal=normal)
    # Of all wrenches on the feet that balance the weight, the least.
    statics = ContactInverseDynamics(model, feet, length_scale=1.0).solve(
        Motion(position, still, still, BaseMotion.at_rest(R_WB)), ground_normal=normal @ R_WB)
    where = of_all.velocity_rows
    torque, limits = statics.joint_effort[where], model.effort_limits[where]
    cone = FrictionCone(friction, normal=UP, facets=16)
    in_ground = found.in_axes(R_GB)
    columns = found.columns if all_motors else None
    reach = tuple(foot_reach(model, in_ground, foot.link, torque, limits, columns)
                  for foot in feet)
    return StandingReach(
        model, tuple(feet), in_ground, torque, limits, statics.root_residual, cone, reach,
        tuple(part.polytope.clipped(*cone.inequalities()) for part in reach),
        tuple(_chain_map(model, foot.link, position, R_GB, -GRAVITY * R_WG[2],
                         np.eye(model.nv)[where], found.columns) for foot in feet))


def _chain_map(model: RobotModel, foot: str, position: np.ndarray, R_GB: np.ndarray,
               gravity: np.ndarray, units: np.ndarray, columns: tuple[str, ...]) -> ForceMap:
    """Return the map by some efforts, rows of ``units``, of a robot on one foot alone."""
    stance = standing_on(model, foot)
    q, _ = stance.state(position, np.zeros(model.nv), R_GB, np.zeros(3))
    found = FootForceMap(stance.model).compute(q, gravity=gravity)
    efforts = np.column_stack([stance.efforts(position, unit) for unit in units])
    return ForceMap(found.offset[:3], found.joint_map[:3] @ efforts, columns)


# -------------------------------------------------------------------------------------------------

PRODUCIBLE = '#56B4E9'
ALLOWED = '#009E73'
CONE = '#E69F00'
ELLIPSOID = '#0072B2'
NOW = '#D55E00'
FORCES = ('force along x [N]', 'force along y [N]', 'force off the ground [N]')


def draw_force_map(study: StandingReach) -> Figure:
    """Draw each foot's forces from the side, from behind and from above, ground axes."""
    n = len(study.reach)
    figure = style.new_figure(1.0 + 3.0 * n)
    figure.suptitle(f'{study.model.name}: forces of the ground on its feet, ground axes',
                    x=0.01, ha='left', fontsize=11, color=style.TEXT)
    panels = figure.subfigures(n, 1, squeeze=False)[:, 0]
    for panel, reach, allowed in zip(panels, study.reach, study.allowed):
        height = max(float(allowed.vertices[:, 2].max(initial=0.0)), study.weight / n)
        cone = np.vstack([np.zeros(3), height * study.cone.edges() / study.cone.edges()[:, 2:]])
        for axes, (x, y) in zip(panel.subplots(1, 3), ((0, 2), (1, 2), (0, 1))):
            _draw_projection(axes, reach, allowed, cone, [x, y])
            style.dress(axes, x=FORCES[x], y=FORCES[y])
        panel.suptitle(_title(reach), x=0.01, ha='left', fontsize=10, color=style.TEXT)
    keys = [Patch(color=PRODUCIBLE, alpha=0.4, label='within effort limits'),
            Line2D([], [], color=ELLIPSOID, label='within the ellipsoid of efforts'),
            Patch(color=CONE, alpha=0.4, label='friction cone'),
            Patch(color=ALLOWED, alpha=0.6, label='both'),
            Line2D([], [], color=NOW, marker='o', markersize=4, label='standing still')]
    figure.legend(handles=keys, loc='outside lower center', ncols=5, frameon=False, fontsize=8.5)
    return figure


def _title(reach: FootReach) -> str:
    condition = reach.map.condition
    how = f'condition {condition:.3g}' if np.isfinite(condition) else (
        f'rank {reach.map.rank} of {len(reach.map.offset)}')
    return (f'{reach.foot}   {how}, least producible {weakest(reach)}; '
            f'now ({", ".join(str(round(value)) for value in reach.force.tolist())}) N')


def weakest(reach: FootReach) -> str:
    """Return the direction that motors change least; a sole's is of force [N] and moment [N m]."""
    values = [f'{value:+.2f}' for value in reach.map.weakest_direction]
    force, moment = ', '.join(values[:3]), ', '.join(values[3:])
    return f'force ({force})' + (f', moment ({moment})' if moment else '')


def _draw_projection(axes: Axes, reach: FootReach, allowed: ForcePolytope, cone: np.ndarray,
                     plane: list[int]) -> None:
    for points, color, opacity in ((cone, CONE, 0.2), (reach.polytope.vertices, PRODUCIBLE, 0.25),
                                   (allowed.vertices, ALLOWED, 0.45)):
        outline = polytope_of(points[:, plane]).vertices
        if len(outline) > 2:
            axes.fill(*outline.T, facecolor=color, edgecolor=color, alpha=opacity)
        elif len(outline):
            axes.plot(*outline.T, color=color)
    outline = polytope_of(reach.ellipsoid.surface(32).reshape(-1, 3)[:, plane]).vertices
    axes.plot(*np.vstack([outline, outline[:1]]).T, color=ELLIPSOID, linewidth=1.0)
    # All forces in one plane, and the view within a tenth of a radian along it.
    if reach.map.rank == 2 and abs(np.delete(reach.map.weakest_direction[:3], plane)[0]) < 0.1:
        axes.set_title('all in one plane, seen edge-on', fontsize=8.5, color=style.TEXT)
    now = reach.force[plane]
    axes.plot([0.0, now[0]], [0.0, now[1]], color=NOW, linewidth=2.0)
    axes.plot(*now, marker='o', markersize=4, color=NOW)
    axes.set_aspect('equal', adjustable='datalim')
