# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The set of forces that torques within their limits can produce under a foot, as shapes to draw.

With torques within their limits the force ``f = k + D tau`` fills a zonotope, the sum of one
segment per torque, centred at k. With ``sum (tau_i / limit_i)^2 <= 1`` it fills an ellipsoid
inside it, whose axes are the left singular vectors. In a mirror-symmetric pose both are flat.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.affine import AffineMap, ContactForceMap, ForceMap
from legged_dynamics.model.robot_model import RobotModel

# A set thinner than this fraction of its length is flat.
FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class ForceEllipsoid:
    """
    Forces ``center + axes @ (radii * y)``, ``|y| <= 1``.

    Attributes
    ----------
    center : (3,) array [N]
        Force without torques.
    axes : (3, 3) array
        Principal directions as columns, longest first.
    radii : (3,) array [N]
        Zero along a direction that no torque changes.

    """

    center: np.ndarray
    axes: np.ndarray
    radii: np.ndarray

    def surface(self, n: int = 24) -> np.ndarray:
        """
        Return a grid of points on the surface, by polar angle and azimuth.

        ``n``: number of points along each. Returns (n, n, 3) array [N].
        """
        polar = np.linspace(0.0, np.pi, n)[:, None]
        azimuth = np.linspace(0.0, 2.0 * np.pi, n)[None, :]
        ball = np.stack([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth),
                         np.cos(polar) * np.ones_like(azimuth)], axis=-1)
        return self.center + (ball * self.radii) @ self.axes.T


@dataclass(frozen=True, eq=False)
class ForcePolytope:
    """
    A convex set of forces.

    Attributes
    ----------
    vertices : (n, 3) array [N]
        None when the set is empty.
    triangles : (k, 3) int array
        Triangles of the surface, as indices of vertices; of the area when the set is flat; none
        when it is a segment or a point.
    dimension : int
        3, or less when it is flat; -1 when it is empty.

    """

    vertices: np.ndarray
    triangles: np.ndarray
    dimension: int

    def clipped(self, A: np.ndarray, b: np.ndarray) -> ForcePolytope:
        """
        Return the part of the set within ``A f >= b``, such as a friction cone.

        ``A`` (k, 3): one inequality a row. ``b`` (k,) [N]: least values.
        """
        piece = self
        for row, bound in zip(np.atleast_2d(A), np.atleast_1d(b)):
            height = piece.vertices @ row - bound
            inside = height >= -FLAT * max(1.0, np.abs(height).max(initial=0.0))
            if inside.all():
                continue
            # Every segment that crosses: those inside the set do not change the hull.
            start, end = np.flatnonzero(inside)[:, None], np.flatnonzero(~inside)[None, :]
            share = (height[start] / (height[start] - height[end]))[..., None]
            cut = (1.0 - share) * piece.vertices[start] + share * piece.vertices[end]
            cut = cut.reshape(-1, 3)
            piece = polytope_of(np.vstack([piece.vertices[inside], cut]))
        return piece


def force_ellipsoid(force_map: AffineMap, limits: np.ndarray) -> ForceEllipsoid:
    """
    Return the forces of torques with ``sum (tau_i / limit_i)^2 <= 1``.

    Parameters
    ----------
    force_map : ForceMap
        Force map of one foot; the moment of a flat one is ignored.
    limits : (m,) array [N m or N]
        Torque limits of the map's columns.

    Returns
    -------
    ForceEllipsoid

    Raises
    ------
    ConfigurationError
        When a limit is not finite and positive.

    """
    U, s, _ = np.linalg.svd(_generators(force_map, limits))
    return ForceEllipsoid(np.array(force_map.offset[:3]), U, np.append(s, np.zeros(3))[:3])


def force_polytope(force_map: AffineMap, limits: np.ndarray) -> ForcePolytope:
    """
    Return the forces of torques with ``|tau_i| <= limit_i``, exactly.

    Parameters
    ----------
    force_map : ForceMap
        Force map of one foot; the moment of a flat one is ignored.
    limits : (m,) array [N m or N]
        Torque limits of the map's columns.

    Returns
    -------
    ForcePolytope

    Raises
    ------
    ConfigurationError
        When a limit is not finite and positive.

    """
    generators = _generators(force_map, limits).T
    longest = np.linalg.norm(generators, axis=1).max(initial=0.0)
    points = np.zeros((1, 3))
    for g in generators:
        if np.linalg.norm(g) > FLAT * longest:
            points = polytope_of(np.vstack([points - g, points + g])).vertices
    return polytope_of(points + force_map.offset[:3])


def polytope_of(points: np.ndarray) -> ForcePolytope:
    """Return the convex hull of points (n, 3) or (n, 2) [N], flat sets included."""
    none = np.zeros((0, 3), dtype=int)
    if not len(points):
        return ForcePolytope(points.reshape(0, 3), none, -1)
    center = points.mean(axis=0)
    _, s, Vt = np.linalg.svd(points - center, full_matrices=False)
    dimension = int((s > FLAT * max(s[0], np.linalg.norm(center))).sum())
    if dimension == 0:
        return ForcePolytope(points[:1].copy(), none, 0)
    # Along its principal axes and scaled to equal widths, no set is too thin for a hull.
    local = (points - center) @ (Vt[:dimension] / s[:dimension, None]).T
    if dimension == 1:
        return ForcePolytope(points[[int(np.argmin(local)), int(np.argmax(local))]], none, 1)
    from scipy.spatial import ConvexHull  # slow to import
    hull = ConvexHull(local)
    if dimension == 2:
        fan = [[0, i, i + 1] for i in range(1, len(hull.vertices) - 1)]
        return ForcePolytope(points[hull.vertices], np.array(fan, dtype=int), 2)
    triangles = np.searchsorted(hull.vertices, hull.simplices)      # vertices are in order
    return ForcePolytope(points[hull.vertices], triangles, 3)


def _generators(force_map: AffineMap, limits: np.ndarray) -> np.ndarray:
    limits = np.asarray(limits, float)
    if limits.shape != (force_map.matrix.shape[1],) or not (
            np.isfinite(limits).all() and (limits > 0.0).all()):
        raise ConfigurationError(f'expected {force_map.matrix.shape[1]} finite torque limits '
                                 f'above 0, got {limits.tolist()}')
    return force_map.matrix[:3] * limits


# -------------------------------------------------------------------------------------------------
# foot_reach: the forces that a leg's own motors can give its foot at this instant.


@dataclass(frozen=True, eq=False)
class FootReach:
    """
    Forces on one foot by some of the motors, the others being constant; in the map's axes.

    Attributes
    ----------
    foot : str
        Its link.
    map : ForceMap
        Force map of those motors.
    force : (3,) array [N]
        Force at the present torques.
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
    """
    Return the columns of a map that belong to joints between the base and a foot.

    Parameters
    ----------
    model : RobotModel
        The robot.
    found : ContactForceMap
        Its map.
    foot : str
        Link of the foot.

    Returns
    -------
    tuple of str

    """
    chain = {model.joints[body - 1].name for body in model.chain(model.frame(foot).body)}
    return tuple(name for name in found.columns
                 if name in chain or name.rpartition('.')[0] in chain)


def foot_reach(model: RobotModel, found: ContactForceMap, foot: str, torque: np.ndarray,
               limits: np.ndarray, columns: Sequence[str] | None = None) -> FootReach:
    """
    Return the forces that motors can produce under a foot.

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
        Motors that are used; those between base and foot by default.

    Returns
    -------
    FootReach

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
