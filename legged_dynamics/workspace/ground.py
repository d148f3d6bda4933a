# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Ground under each foot: estimates of its normal and its friction.

Given normals are trusted. Without them, the plane through three or more point feet is evidence of
a slope, but level steps would look the same. The friction cone about the middle between that
plane's normal and the vertical, narrower by half the angle between the two, lies in the cones of
both, so forces within it are feasible on the slope and on the steps. The contact point on a
spherical foot has no such compromise: four or more coplanar feet are taken to touch a slope,
others half that slope. A sole lies flat on its ground, so its own axes give the normal.

Friction starts at the setting and is lowered when a foot is seen to slide, to a fraction of the
ratio of tangential to normal force at which it slid.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.estimation.ground_reaction import GroundReaction
from legged_dynamics.estimation.leg_odometry import BodyState
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.feet import Foot
from legged_dynamics.spatial.rotations import rotation_to_z


@dataclass(frozen=True)
class GroundSettings:
    """Evidence of slope and friction; chosen by hand on slopes and steps in simulation."""

    slide: float = 0.004        # m from which a foot counts as sliding
    # Of the ratio of forces at which a foot slid: the new friction; no slide reduces it by more.
    friction_ratio: float = 0.8
    least_friction: float = 0.1     # that is ever used
    # m that feet are apart in the narrower direction to define a plane.
    least_width: float = 0.05
    least_slope: float = 1e-3   # horizontal part of a normal from which the ground slopes
    # Of its rise: distance of feet from a plane that they lie in.
    coplanar: float = 0.05
    update_period: int = 100    # samples between updates of the plane


SETTINGS = GroundSettings()


@dataclass(frozen=True, eq=False)
class Ground:
    """
    Prior knowledge of the ground.

    Attributes
    ----------
    normal : (nf, 3) array, optional
        Unit normal of the ground at each foot, in world axes; NaN where it is not known.

    """

    normal: np.ndarray | None = None

    @classmethod
    def of_reaction(cls, reaction: GroundReaction, state: BodyState) -> Ground | None:
        """
        Return the common normal under all feet that an estimator has found, or None.

        Parameters
        ----------
        reaction : GroundReaction
            Result of the estimator.
        state : BodyState
            Orientation of the base at that instant.

        Returns
        -------
        Ground or None
            None when the ground counts as level or its normal is not known.

        """
        normal = state.rotation @ reaction.ground_normal
        # Where the ground is not known its normal is taken to be vertical.
        if not SETTINGS.least_slope < math.hypot(normal[0], normal[1]) < 1.0:
            return None
        return cls(np.tile(normal / np.linalg.norm(normal), (len(reaction.feet), 1)))


UNKNOWN = Ground()


class GroundReading:
    """
    Ground normals and friction under all feet, given or from where the feet stand.

    `axes` (nf, 9): ``R_WG`` by rows, z the normal, level for a sole; `touch` (nf, 3):
    normal, world axes, of a ball's contact point; `friction` about the normal in `axes`;
    `seen`, `version`: update counters of normals and friction.
    """

    def __init__(self, feet: Sequence[Foot], friction: float):
        self._unsaid = np.array([not foot.plane for foot in feet])
        self._start = friction
        self.axes = np.tile(np.eye(3).ravel(), (len(feet), 1))
        self.touch = np.tile([0.0, 0.0, 1.0], (len(feet), 1))
        self.seen = self.version = 0
        self.reset()

    def reset(self) -> None:
        """Forget that feet have slid, and where they stood."""
        self.axes[:], self.touch[:] = np.eye(3).ravel(), [0.0, 0.0, 1.0]
        self._coefficient = np.full(len(self._unsaid), self._start)
        self._slack = np.zeros(len(self._unsaid))     # of the plane's doubt [rad]
        self._kept = np.zeros(len(self._unsaid))
        self._contact, self._given = b'', UNKNOWN
        self._looks = 0
        self.seen += 1
        self._narrow()

    def look(self, state: BodyState, given: Ground | None = None) -> None:
        """Update the normals by stance feet and given ones, on change or each 100 samples."""
        key = state.contact.tobytes()
        self._looks += 1
        given = given or UNKNOWN
        if given is self._given and key == self._contact and self._looks % SETTINGS.update_period:
            return
        self._contact, self._given = key, given
        self.seen += 1
        standing = self._unsaid & state.contact
        normal, slack = np.tile([0.0, 0.0, 1.0], (len(standing), 1)), np.zeros(len(standing))
        touch = normal.copy()
        if standing.sum() > 2:
            points = state.foot_position[standing]
            points = points - points.mean(axis=0)
            _, widths, axes = np.linalg.svd(points)
            up = axes[2] * np.copysign(1.0, axes[2, 2])
            if widths[1] > SETTINGS.least_width and up[2] > 0.5:
                middle = up + np.array([0.0, 0.0, 1.0])
                normal[self._unsaid] = middle / np.linalg.norm(middle)
                slack[self._unsaid] = 0.5 * math.acos(min(up[2], 1.0))
                coplanar = len(points) > 3 and (np.abs(points @ up).max()
                                                < SETTINGS.coplanar * np.ptp(points[:, 2]))
                touch[self._unsaid] = up if coplanar else normal[self._unsaid]
        if given.normal is not None:
            theirs = np.asarray(given.normal, float)
            known = np.isfinite(theirs).all(axis=-1)
            if theirs.shape != normal.shape or not np.allclose(
                    np.linalg.norm(theirs[known], axis=1), 1.0, atol=1e-3):
                raise ConfigurationError(f'normal: expected {len(normal)} unit vectors, got '
                                         f'{theirs.tolist()}')
            known &= self._unsaid
            normal[known], touch[known], slack[known] = theirs[known], theirs[known], 0.0
        self.touch[:] = touch
        self.axes[:] = rotation_to_z(normal[0]).ravel()
        for k in np.flatnonzero((normal != normal[0]).any(axis=1)):
            self.axes[k] = rotation_to_z(normal[k]).ravel()
        if (slack != self._slack).any():
            self._slack = slack
            self._narrow()

    def feel(self, offset: np.ndarray, force: np.ndarray) -> list[int]:
        """
        Lower the friction of sliding feet; return their numbers.

        ``offset`` [m]: distance of contact feet from their places; ``force``: commanded, world
        axes.
        """
        self._kept = np.minimum(self._kept, offset)
        sliding = np.flatnonzero(offset > self._kept + SETTINGS.slide).tolist()
        for i in sliding:
            self._kept[i] = offset[i]
            x, y, z = force[i] @ self.axes[i].reshape(3, 3)
            if z > 0.0:
                most = self._coefficient[i]
                slid = max(SETTINGS.friction_ratio * math.hypot(x, y) / z,
                           SETTINGS.friction_ratio * most)
                self._coefficient[i] = max(SETTINGS.least_friction, min(most, slid))
        if sliding:
            self._narrow()
        return sliding

    def _narrow(self) -> None:
        angle = np.arctan(self._coefficient) - self._slack
        self.friction = np.tan(np.maximum(angle, math.atan(SETTINGS.least_friction)))
        self.version += 1
