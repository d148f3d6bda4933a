# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Support: which motions of the base the ground allows while the feet stay in place.

All forces of the ground add up to ``F = m (a_com + g)`` through the centre of mass, with the
moment ``dH/dt`` about it. The line of that force meets the plane of the feet in the zero-moment
point, which must lie in the convex hull of the contact points; F must lie in the friction cone
about the plane's normal. Legs count as part of the base, in the posture at construction.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import CONTACT, FOOT_ROTATION, PLANE
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.leg_odometry import BodyState
from legged_dynamics.spatial.algebra import (
    add,
    cross,
    dot,
    load3,
    load9,
    norm,
    rotate,
    scale,
    subtract,
    symmetric_times,
)
from legged_dynamics.spatial.convex_hull import convex_hull
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.layout import offsets
from legged_dynamics.spatial.rotations import rotation_to_z
from legged_dynamics.workspace.stance_arrays import StanceArrays
from legged_dynamics.workspace.workspace_dynamics import POSE


class SupportNumbers(NamedTuple):
    """Places in ``Support.numbers``."""

    origin: int = 3         # m, a point of the plane, world axes
    axes: int = 9           # of the plane by rows, z its normal
    com: int = 3            # m, centre of mass, base axes
    inertia: int = 6        # m^2, about it by mass, base axes: xx, xy, xz, yy, yz, zz
    margin: int = 1         # m, the least
    friction: int = 1       # the largest ratio of tangential to normal force
    width: int = 0


NUMBER = offsets(SupportNumbers())


class Support(NamedTuple):
    """The ground under a stance."""

    numbers: np.ndarray  # (23,): numbers at the places `NUMBER`
    # (k, 3): ``A x <= b`` of the convex hull in the plane, rows ``[A, b]``; none: anything goes
    edges: np.ndarray


ANYTHING = Support(np.zeros(NUMBER.width), np.zeros((0, 3)))


@lean_kernel
def support_excess(support, target, slower):
    """
    Return by how much a motion exceeds what the ground allows, at most 0 if allowed.

    ZMP margin lacking to the hull's edge [m], and friction ratio above the limit;
    ``slower``: factor by which the motion is slowed down first.
    """
    numbers, edges = support
    if edges.shape[0] == 0:
        return -1.0, -1.0
    R, c = load9(target, POSE.rotation), load3(numbers, NUMBER.com)
    v = scale(1.0 / slower, load3(target, POSE.twist))
    w = scale(1.0 / slower, load3(target, POSE.twist + 3))
    square = 1.0 / (slower * slower)
    a = scale(square, load3(target, POSE.acceleration))
    alpha = scale(square, load3(target, POSE.acceleration + 3))
    at = NUMBER.inertia
    J = (numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3], numbers[at + 4],
         numbers[at + 5])
    # Acceleration of the centre of mass: of the origin (v is in turning axes, hence w x v), and of
    # the arm c that turns with the base.
    of_com = add(add(a, cross(w, v)), add(cross(alpha, c), cross(w, cross(w, c))))
    turning = rotate(R, add(symmetric_times(J, alpha), cross(w, symmetric_times(J, w))))
    force = rotate(R, of_com)
    force = (force[0], force[1], force[2] + GRAVITY)
    axes = load9(numbers, NUMBER.axes)
    x, y, n = (axes[0], axes[3], axes[6]), (axes[1], axes[4], axes[7]), (axes[2], axes[5], axes[8])
    arm = subtract(add(load3(target, POSE.position), rotate(R, c)), load3(numbers, NUMBER.origin))
    moment = add(cross(arm, force), turning)
    normal = dot(force, n)
    # Near free fall the zero-moment point is not defined.
    if normal < 0.1 * GRAVITY:
        return 1.0, 1.0
    # Where the line of the force meets the plane: n x m / (n . f), about its origin.
    point = scale(1.0 / normal, cross(n, moment))
    px, py, least = dot(point, x), dot(point, y), 1e9
    for k in range(edges.shape[0]):
        least = min(least, edges[k, 2] - edges[k, 0] * px - edges[k, 1] * py)
    sideways = norm(subtract(force, scale(normal, n)))
    return numbers[NUMBER.margin] - least, sideways / normal - numbers[NUMBER.friction]


def support_of(s: StanceArrays, state: BodyState, contact: np.ndarray, friction: float,
               spare: float) -> Support:
    """
    Return where the feet in contact can hold the body, after a tick.

    ``contact`` (nf, 9): ``R_WG``; ``spare``: part of the hull (middle to edge) and friction
    to keep free, as far as free now. No edges for a hull without area.
    """
    R, points, normals = state.rotation, [], []
    for i, (foot, axes) in enumerate(zip(s.states, contact)):
        R_BF = foot[FOOT_ROTATION:FOOT_ROTATION + 9].reshape(3, 3)
        touching = s.feet.touching(i, R_BF, R[2])
        points.extend(foot[CONTACT:CONTACT + 3] + touching - touching.mean(axis=0))
        normals.append(R @ R_BF[:, 2] if s.feet.index[i, PLANE] else axes.reshape(3, 3)[:, 2])
    placed = np.array(points) @ R.T + state.position
    n = np.mean(normals, axis=0)
    axes, origin = rotation_to_z(n / np.linalg.norm(n)), placed.mean(axis=0)
    edges = hull_edges((placed - origin) @ axes[:, :2])
    mass = s.M[0, 0]
    com = np.array([s.M[5, 1], s.M[3, 2], s.M[4, 0]]) / mass
    about = s.M[3:6, 3:6] / mass - (com @ com * np.eye(3) - np.outer(com, com))
    numbers = np.concatenate([origin, axes.ravel(), com, about[np.triu_indices(3)], [0.0, 0.0]])
    found = Support(numbers, edges)
    if len(edges):
        still = np.zeros(24)
        still[POSE.rotation:POSE.position] = R.ravel()
        still[POSE.position:POSE.twist] = state.position
        missing, ratio = support_excess(found, still, 1.0)
        numbers[NUMBER.margin] = min(spare * edges[:, 2].min(), -missing)
        numbers[NUMBER.friction] = max((1.0 - spare) * friction, ratio)
    return found


def hull_edges(points: np.ndarray) -> np.ndarray:
    """
    Return rows ``[A, b]`` (k, 3) of ``A x <= b`` for the edges of the convex hull.

    Unit outward normals; no rows for a hull without area.
    """
    corners = convex_hull(points)
    if len(corners) < 3:
        return np.zeros((0, 3))
    along = np.roll(corners, -1, axis=0) - corners
    A = np.column_stack([along[:, 1], -along[:, 0]])
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    return np.column_stack([A, (A * corners).sum(axis=1)])
