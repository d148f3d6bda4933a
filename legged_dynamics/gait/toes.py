# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The front of a sole that bends: where a model has a toe joint, the toes rest while the heel rises.

A hinge that crosses the foot, inside its sole, with nothing behind it, is a toe joint. What of the
sole is in front of it moves with the toes.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.model.foot import Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.frames import Transform

# A toe joint's axis is this much across the foot (cosine), and it is in the front of the sole.
ACROSS, FRONT_PART = 0.7, 0.3


class Toe(NamedTuple):
    """
    The toes of one foot.

    Attributes
    ----------
    body : int
        That they are.
    pose : Transform
        Of the foot's frame in that body while the joint is at zero.
    start : float [m]
        Where along x of the foot's frame they begin.

    """

    body: int
    pose: Transform
    start: float


def toes_of(model: RobotModel, feet: Sequence[Foot]) -> list[Toe | None]:
    """Return the toes of each foot; None where the sole does not bend."""
    parents = [model.frame(joint.parent).body for joint in model.joints]
    found: list[Toe | None] = []
    for foot in feet:
        body, pose = model.frame(foot.link)
        (front, back, *_), toes = foot.edges, None
        for k, joint in enumerate(model.joints):
            if (front == back or parents[k] != body or k + 1 in parents
                    or joint.kind not in ('revolute', 'continuous')):
                continue
            in_foot = pose.inverse() @ model.frame(joint.parent).pose @ joint.placement
            across = abs(float((in_foot.R @ joint.axis)[1]))
            start = float(in_foot.p[0])
            least = back + (1.0 - FRONT_PART - 0.2) * (front - back)
            if across > ACROSS and least < start < front:
                toes = Toe(k + 1, model.frame(joint.child).pose @ in_foot.inverse(), start)
        found.append(toes)
    return found


def bent(points: np.ndarray, grid: np.ndarray, toe: Toe, R_WT: np.ndarray,
         p_WT: np.ndarray) -> np.ndarray:
    """
    Return the sole's points with those of the toes where the toes are.

    Parameters
    ----------
    points : (n, k, 3) array [m]
        Of the stiff sole, in the world.
    grid : (k, 3) array [m]
        The same in the foot's frame.
    toe : Toe
        The toes.
    R_WT, p_WT : (n, 3, 3), (n, 3) array [m]
        Of the toes' body.

    """
    moved = points.copy()
    front = grid[:, 0] > toe.start
    in_toe = grid[front] @ toe.pose.R.T + toe.pose.p
    moved[:, front] = p_WT[:, None] + np.einsum('nij,kj->nki', R_WT, in_toe)
    return moved
