# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Figure: what is to be drawn of a snapshot, in world axes and metres, whoever draws it."""
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
# Placement: where the robot is drawn, by the feet in contact where nothing else says it.


class Placement:
    """
    Follows the base over the ground from picture to picture.

    Feet that stood in the last picture and stand in this one have not moved. It is for the eye:
    `LegOdometry` is for whom centimetres matter.
    """

    def __init__(self) -> None:
        self._last: tuple[int, np.ndarray, np.ndarray] | None = None
        self._base = np.zeros(3)

    def update(self, stamp_ns: int, rotation: np.ndarray, points: np.ndarray,
               contact: np.ndarray) -> np.ndarray:
        """
        Return p_WB, (3,) [m]; the ground is at zero where the robot is first seen.

        Parameters
        ----------
        stamp_ns : int [ns]
            Earlier than the last one: the robot is seen for the first time again.
        rotation : (3, 3) array
            R_WB.
        points : (nf, 3) array [m]
            Where the feet touch, or would touch, in the base.
        contact : (nf,) bool array
            Feet that stand.

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


# Part of the weight below which a foot's use of friction is noise over noise.
LIGHT = 0.05


@dataclass(frozen=True)
class Margins:
    """
    What is left before something slips, tips or saturates; NaN where it is not known.

    Attributes
    ----------
    friction : (nf,) array
        Part of the friction that each foot uses; NaN for one in the air, or that bears next to
        nothing.
    support : float [m]
        From the centre of pressure to the nearest edge of the support polygon.
    effort : float
        Largest part of its limit that a joint's effort is.

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
    base : (3,) array [m]
        p_WB.
    rotation : (3, 3) array
        R_WB.
    position : (nq,) array [rad or m]
        Of the joints, in the model's order.
    foot_rotation : (nf, 3, 3) array
        R_WF.
    contact_point : (nf, 3) array [m]
        In W: where the ground pushes.
    forces : Forces or None
        As the estimate says them.
    force : (nf, 3) array [N]
        In W.
    normal : (3,) array
        Of the ground, in W.
    polygon : (k, 3) array [m]
        Corners of the support, in W.
    center_of_pressure : (3,) array [m]
        In W; NaN where there is none.
    push : (3,) array or None [N]
        Force on the base that is not the feet's, in W; None where it may as well be zero.
    margins : Margins

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
    config : RobotConfig
        Of the robot: feet and soles.
    friction : float
        Coefficient that margins are reckoned with.

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
        """Return how far the robot reaches from its base when it stands [m]."""
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
        """Return the points that a foot can touch with, in B."""
        foot = self.config.feet[i]
        return p_BF + foot.corners @ R_BF.T - foot.radius * up

    @staticmethod
    def _push(forces: Forces, R_WB: np.ndarray) -> np.ndarray | None:
        force, deviation = forces.external[:3], forces.external_deviation[:3]
        if not np.isfinite(force).all() or not (np.abs(force) > SURE * deviation).any():
            return None
        return R_WB @ force
