# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How far a robot is from slipping, from tipping over and from its motors' limits."""
from __future__ import annotations

import numpy as np


def friction_used(force: np.ndarray, normal: np.ndarray, friction: float) -> np.ndarray:
    """
    Return how much of the friction each foot uses: 1 where it would begin to slip.

    Parameters
    ----------
    force : (n, 3) array [N]
        Of the ground on the feet.
    normal : (3,) or (n, 3) array
        Of the ground, under all feet or under each: unit length, in the same axes.
    friction : float
        Coefficient.

    Returns
    -------
    (n,) array
        |tangential| / (friction * normal force); infinite for a foot that is pulled.

    """
    along = (force * normal).sum(axis=1)
    across = np.linalg.norm(force - along[:, None] * normal, axis=1)
    return np.where(along > 0.0, across / np.maximum(friction * along, 1e-12), np.inf)


def support_margin(corners: np.ndarray, center: np.ndarray) -> float:
    """
    Return how far a point is inside of a convex polygon [m]; negative outside.

    Parameters
    ----------
    corners : (n, 2) array [m]
        Counter-clockwise; of two, the line between them, where nothing is inside; NaN for none.
    center : (2,) array [m]
        Centre of pressure, say.

    """
    if not len(corners) or not np.isfinite(center).all():
        return np.nan
    start, end = corners, np.roll(corners, -1, axis=0)
    edge, arm = end - start, center - start
    length = np.maximum(np.einsum('ij,ij->i', edge, edge), 1e-18)
    share = np.clip(np.einsum('ij,ij->i', edge, arm) / length, 0.0, 1.0)
    distance = float(np.linalg.norm(arm - share[:, None] * edge, axis=1).min())
    inside = len(corners) > 2 and bool(
        (edge[:, 0] * arm[:, 1] - edge[:, 1] * arm[:, 0] >= 0.0).all())
    return distance if inside else -distance


def effort_used(effort: np.ndarray, limits: np.ndarray) -> float:
    """
    Return the largest part of its limit that a joint's effort is; NaN where none is known.

    Parameters
    ----------
    effort, limits : (nj,) array [N m or N]
        NaN where an effort is not measured, infinite where there is no limit.

    """
    part = np.abs(effort) / np.where(limits > 0.0, limits, np.inf)
    return float(np.nanmax(part)) if np.isfinite(part).any() else np.nan
