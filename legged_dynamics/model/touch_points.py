# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Places where a link may touch the ground: balls that its collision shapes lie on.

A body without shapes is guessed from its joints: a limb reaches from its own joint to the next
ones, a base encloses its joints, as thick as its inertia says.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from legged_dynamics.model import parts
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.shapes import Shape
from legged_dynamics.spatial.frames import Transform

# Radius of a limb whose shape is not known, as a share of its length.
SLENDER = 0.1


class TouchPoints(NamedTuple):
    """
    Balls that enclose the shapes of a body.

    Attributes
    ----------
    link : str
        Name of the body's first link.
    body : int
        Its number.
    points : (n, 3) array [m]
        Centres, in the body's frame.
    radius : (n,) array [m]
    guessed : bool
        Whether the description has no shape of it.

    """

    link: str
    body: int
    points: np.ndarray
    radius: np.ndarray
    guessed: bool


def touch_points(model: RobotModel, left_out: Callable[[int, np.ndarray], bool]
                 ) -> list[TouchPoints]:
    """
    Return where each body may touch the ground.

    Parameters
    ----------
    model : RobotModel
        The robot.
    left_out : callable
        Returns whether a point of a body, given in the body's frame [m], is part of a foot.

    Returns
    -------
    list of TouchPoints
        One a body that has any, the base first.

    """
    found = []
    for body in range(model.n_bodies):
        link = model.joints[body - 1].child if body else model.base_link
        balls = [ball for name, frame in model.frames.items() if frame.body == body
                 for shape in model.shapes.get(name, ()) for ball in _balls(shape, frame.pose)]
        for guessed in (False, True):
            balls = [ball for ball in (_guessed_balls(model, body) if guessed else balls)
                     if not left_out(body, ball[0])]
            if balls:
                found.append(TouchPoints(link, body, np.array([p for p, _ in balls]),
                                         np.array([r for _, r in balls]), guessed))
                break
    return found


def _balls(shape: Shape, pose: Transform) -> list[tuple[np.ndarray, float]]:
    """Return centres and radii of balls that a shape lies on, in the frame that `pose` is in."""
    if not shape.size.any():
        return []
    if shape.kind == 'box':
        return [(pose.point(corner), 0.0) for corner in shape.corners]
    radius, half = float(shape.size[0]), float(shape.size[2])
    reach = 0.0 if shape.kind == 'sphere' else max(half - radius, 0.0)
    return [(pose.point(shape.pose.point(np.array([0.0, 0.0, side]))), radius)
            for side in {-reach, reach}]


def _guessed_balls(model: RobotModel, body: int) -> list[tuple[np.ndarray, float]]:
    next_joints = model.tree.constants[1:][model.tree.topology[1:, parts.PARENT] == body,
                                           parts.P_TREE:parts.P_TREE + 3]
    if body:
        places = [np.zeros(3), *next_joints]
        length = max(float(np.linalg.norm(place)) for place in places)
        return [(place, SLENDER * length) for place in places]
    if not len(next_joints):
        return []
    inertia = model.body_inertia(0)
    half = _half_height(inertia)
    low, high = np.min(next_joints, axis=0), np.max(next_joints, axis=0)
    return [(np.array([x, y, inertia.com[2] + side]), 0.0) for x in (low[0], high[0])
            for y in (low[1], high[1]) for side in (-half, half)]


def _half_height(inertia: parts.Inertia) -> float:
    """Return half the height of the box of even density that has this inertia [m]."""
    xx, yy, zz = np.diag(inertia.about_com)
    return float(np.sqrt(max(1.5 * (xx + yy - zz) / max(inertia.mass, 1e-9), 0.0)))
