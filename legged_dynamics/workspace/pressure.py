# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Centre of pressure: the acceleration of the base that puts it where it is wanted.

The wrench W that the ground is to give is linear in the acceleration of the base,
``dW / dVdot = M_b + M_bj N`` with the mass matrix M and the joints' motion N per motion of the
base. First the horizontal acceleration is found with which the force of the ground runs from the
wanted point through the centre of mass, so that the moment about the latter does not matter to
its motion (the enhanced centroidal moment pivot of Englsberger et al. 2015). If the centre of
pressure of that wrench is beyond the edges of the soles, it is moved to the nearest point inside,
and the moment that is then missing changes the horizontal acceleration.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Pressure:
    """Where the ground is to press, in world axes."""

    point: np.ndarray  # (2,) [m]: wanted place
    # (k, 2) [m]: convex polygon, counterclockwise, in which the centre of pressure must lie
    corners: np.ndarray
    center: np.ndarray  # (3,) [m]: centre of mass
    ground: float  # [m]: height of the ground


def _nearest_inside(corners: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Return the point of a convex polygon, corners counterclockwise, that is nearest to one."""
    along = np.roll(corners, -1, axis=0) - corners
    to = point - corners
    if (along[:, 0] * to[:, 1] - along[:, 1] * to[:, 0] >= 0.0).all():
        return point
    part = np.einsum('ki,ki->k', along, to) / np.maximum(
        np.einsum('ki,ki->k', along, along), 1e-12)
    found = corners + np.clip(part, 0.0, 1.0)[:, None] * along
    off = found - point
    return found[np.einsum('ki,ki->k', off, off).argmin()]


def pressing_acceleration(pressure: Pressure, rotation: np.ndarray, position: np.ndarray,
                          wrench: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """
    Return the additional acceleration (2,) [m/s^2] of the base, world horizontal axes.

    ``wrench``: present W, base axes and origin; ``slope``: ``dW / dVdot``.
    """
    turn = rotation.T[:, :2]
    fx, fy, fz = rotation @ wrench[:3]
    mx, my, _ = rotation @ wrench[3:]
    F, M = (rotation @ part @ turn for part in (slope[:3, :3], slope[3:, :3]))
    # The force through the centre of mass: f_xy (c_z - ground) = f_z (c - point).
    high = pressure.center[2] - pressure.ground
    way = pressure.center[:2] - pressure.point
    wanted = np.linalg.solve(high * F[:2] - way[:, None] * F[2],
                             way * fz - high * np.array([fx, fy]))
    # The moment about a place on the ground is T + P a; it vanishes at the centre of pressure.
    high = position[2] - pressure.ground
    fx, fy, fz = np.array([fx, fy, fz]) + F @ wanted
    mx, my = np.array([mx, my]) + M[:2] @ wanted
    place = position[:2] + np.array([-high * fx - my, mx - high * fy]) / fz
    inside = _nearest_inside(pressure.corners, place)
    if inside is place:
        return wanted
    x, y = inside - position[:2]
    T = np.array([mx - high * fy - y * fz, my + high * fx + x * fz])
    P = np.array([M[0] - high * F[1] - y * F[2], M[1] + high * F[0] + x * F[2]])
    return wanted - np.linalg.solve(P, T)
