# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The figure to be drawn of a snapshot, in world axes and metres."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.contact.solution import effort_used, friction_used, support_margin
from legged_dynamics.conversions.markers import SURE
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.standing import body_frames
from legged_dynamics.spatial.convex_hull import convex_hull
from legged_dynamics.view.snapshot import Forces, Snapshot

# -------------------------------------------------------------------------------------------------
# Placement of a robot without odometry.


class Placement:
    """
    Position of the base on the ground, from picture to picture, by the feet in contact.

    Feet in contact in the last picture and in this one have not moved. This is good enough to look
    at; `LegOdometry` is accurate.

    """

    def __init__(self) -> None:
        self._last: tuple[int, np.ndarray, np.ndarray] | None = None
        self._base = np.zeros(3)

    def update(self, stamp_ns: int, rotation: np.ndarray, points: np.ndarray,
               contact: np.ndarray) -> np.ndarray:
        """
        Return the position of the base; the ground is at zero where the robot is first seen.

        Parameters
        ----------
        stamp_ns : int [ns]
            Stamp; where it is earlier than the last one, placement starts again.
        rotation : (3, 3) array
            R_WB.
        points : (nf, 3) array [m]
            Contact points of the feet, or where they would be, in base axes.
        contact : (nf,) bool array
            Feet in contact.

        Returns
        -------
        (3,) array [m]
            p_WB.

        """
        turned = points @ rotation.T
        if self._last is None or stamp_ns < self._last[0]:
            low = turned[contact] if contact.any() else turned
            self._base = np.array([0.0, 0.0, -low[:, 2].min() if len(low) else 0.0])
        else:
            _, before, stood = self._last
            both = stood & contact
            if both.any():
                self._base = self._base + (before[both] - turned[both]).mean(axis=0)
        self._last = stamp_ns, turned, contact
        return self._base


# -------------------------------------------------------------------------------------------------
# Figures.


# Part of the weight below which the ratio of a foot's forces is nothing but noise.
LIGHT = 0.05


@dataclass(frozen=True)
class Margins:
    """
    Margins against slipping, tipping and saturation; NaN where they are not known.

    Attributes
    ----------
    friction : (nf,) array
        Part of the friction that each foot uses; NaN for one in the air, or hardly loaded.
    support : float [m]
        Distance of the centre of pressure from the nearest edge of the support polygon.
    effort : float
        Largest joint effort as a part of its limit.

    """

    friction: np.ndarray
    support: float
    effort: float


@dataclass(frozen=True)
class Figure:
    """
    A robot and its forces, ready to be drawn. Axes: W is the world, z up; B the base link.

    Attributes
    ----------
    stamp_ns : int [ns]
        Stamp of the joint state.
    base : (3,) array [m]
        p_WB.
    rotation : (3, 3) array
        R_WB.
    position : (nq,) array [rad or m]
        Joint positions in the model's order.
    foot_rotation : (nf, 3, 3) array
        R_WF.
    contact_point : (nf, 3) array [m]
        Points of application of the ground's forces, in W.
    forces : Forces or None
        The estimate; None without.
    force : (nf, 3) array [N]
        Forces of the ground, in W.
    normal : (3,) array
        Normal of the ground, in W.
    polygon : (k, 3) array [m]
        Corners of the support polygon, in W.
    center_of_pressure : (3,) array [m]
        In W; NaN where there is none.
    push : (3,) array or None [N]
        Force on the base that is not the feet's, in W; None where it is not significant.
    margins : Margins
        Margins at this instant.

    """

    stamp_ns: int
    base: np.ndarray
    rotation: np.ndarray
    position: np.ndarray
    foot_rotation: np.ndarray
    contact_point: np.ndarray
    forces: Forces | None
    force: np.ndarray
    normal: np.ndarray
    polygon: np.ndarray
    center_of_pressure: np.ndarray
    push: np.ndarray | None
    margins: Margins


class FigureMaker:
    """
    Turns the snapshots of one robot into figures.

    Parameters
    ----------
    model : RobotModel
        As described.
    config : RobotConfig
        Feet and soles.
    friction : float
        Coulomb friction coefficient of the margins.

    """

    def __init__(self, model: RobotModel, config: RobotConfig, friction: float = 0.6):
        self.model, self.config, self.friction = config.apply_to(model), config, friction
        self.feet = tuple(foot.link for foot in config.feet)
        self._frames = [self.model.frame(foot) for foot in self.feet]
        self._placement = Placement()
        self._light = LIGHT * self.model.total_mass * GRAVITY
        self._limits = self.model.effort_limits

    @property
    def size(self) -> float:
        """Largest distance of a body from the base when the robot stands [m]."""
        _, places = body_frames(self.model, self.config.nominal_in(self.model))
        return max(float(np.linalg.norm(places, axis=1).max()), 0.1)

    def __call__(self, snapshot: Snapshot) -> Figure:
        """Return the figure of a snapshot."""
        bodies = body_frames(self.model, snapshot.position)
        R_WB, forces, nf = snapshot.rotation, snapshot.forces, len(self.feet)
        R_BF = np.array([bodies[0][body] @ pose.R for body, pose in self._frames])
        p_BF = np.array([bodies[0][body] @ pose.p + bodies[1][body]
                         for body, pose in self._frames])
        up = R_WB[2] if forces is None or not np.isfinite(forces.ground_normal).all() \
            else forces.ground_normal
        soles = [self._sole(i, R_BF[i], p_BF[i], up) for i in range(nf)]
        points = np.array([sole.mean(axis=0) for sole in soles]).reshape(nf, 3)
        contact = np.zeros(nf, bool) if forces is None else forces.contact
        placed = self._placement.update(snapshot.stamp_ns, R_WB, points, contact)
        base = placed if snapshot.base is None else snapshot.base
        force, normal = np.zeros((nf, 3)), R_WB @ up
        center, push = np.full(3, np.nan), None
        if forces is not None:
            force = np.einsum('ij,fjk,fk->fi', R_WB, R_BF, forces.wrench[:, :3])
            center = R_WB @ forces.center_of_pressure + base
            push = self._push(forces, R_WB)
        standing = [R_WB @ corner + base for sole, down in zip(soles, contact) if down
                    for corner in sole]
        polygon = convex_hull(np.array(standing).reshape(-1, 3))
        used = friction_used(force, normal, self.friction)
        loaded = contact & (force @ normal > self._light)
        margins = Margins(
            np.where(loaded, used, np.nan), support_margin(polygon[:, :2], center[:2]),
            np.nan if snapshot.effort is None else effort_used(snapshot.effort, self._limits))
        return Figure(snapshot.stamp_ns, base, R_WB, snapshot.position,
                      R_WB @ R_BF.reshape(nf, 3, 3), points @ R_WB.T + base, forces, force,
                      normal, polygon, center, push, margins)

    def _sole(self, i: int, R_BF: np.ndarray, p_BF: np.ndarray, up: np.ndarray) -> np.ndarray:
        """Return the possible contact points of a foot, in B."""
        foot = self.config.feet[i]
        return p_BF + foot.corners @ R_BF.T - foot.radius * up

    @staticmethod
    def _push(forces: Forces, R_WB: np.ndarray) -> np.ndarray | None:
        force, deviation = forces.external[:3], forces.external_deviation[:3]
        if not np.isfinite(force).all() or not (np.abs(force) > SURE * deviation).any():
            return None
        return R_WB @ force
