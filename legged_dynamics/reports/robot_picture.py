# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The check picture of a robot, as SVG: skeleton, feet, soles, IMU axes, load per foot.

Written without a plotting library, so that `info` does not require one.
"""
from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from legged_dynamics.model import Foot, RobotConfig, RobotModel
from legged_dynamics.model.standing import body_poses, center_of_mass, foot_loads, link_pose
from legged_dynamics.spatial.frames import Transform

# Name, axis to the right, axis upwards.
VIEWS = (('from the right: x forward', 0, 2), ('from behind: y to the left', 1, 2),
         ('from above: x forward', 0, 1))
SIZE, MARGIN = 420, 45
AXES = ('#d62728', '#2ca02c', '#1f77b4')


def robot_picture(model: RobotModel, config: RobotConfig, position: np.ndarray) -> str:
    """
    Return the text of an SVG of a robot in a pose, seen from three sides.

    Parameters
    ----------
    model : RobotModel
        With the config applied.
    config : RobotConfig
        Feet and IMU.
    position : (nq,) array [rad or m]
        Joint positions in the model's order.

    """
    bodies = body_poses(model, position)
    loads, fall = foot_loads(model, config.feet, bodies) if config.feet else (np.zeros(0), 0.0)
    imu = link_pose(model, bodies, config.imu_link or model.base_link)
    outline = [pose.p for pose in bodies] + [imu.p] + [
        point for foot in config.feet for point in _outline(model, bodies, foot)]
    center = center_of_mass(model, bodies)
    points = np.array([*outline, center])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    scale = (SIZE - 2 * MARGIN) / max(float(np.ptp(points, axis=0).max()), 1e-3)
    parts = []
    for i, (name, right, up) in enumerate(VIEWS):
        view = _View(i * SIZE, middle, scale, right, up)
        parts.append(f'<text x="{i * SIZE + 10}" y="20" class="title">{name}</text>')
        parts += view.skeleton(model, bodies)
        for foot, load in zip(config.feet, loads):
            parts += view.foot(model, bodies, foot, float(load))
        parts += view.axes(imu, 0.25 * (SIZE - 2 * MARGIN) / scale)
        x, y = view(center)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="com"/>')
    stands = ('feet: none are known' if not config.feet else
              'load: part of the weight on each foot, base level' if fall < 1e-3 else
              f'IT CANNOT STAND SO: the centre of mass is {fall:.3f} m outside of its feet')
    parts.append(f'<text x="10" y="{SIZE - 8}" class="title">{escape(model.name)}: '
                 f'{model.total_mass:.2f} kg; {stands}; IMU axes x red, y green, z blue; ring: '
                 'centre of mass</text>')
    style = ('.bone{stroke:#444;stroke-width:2} .joint{fill:#444} .foot{fill:#ff7f0e;'
             'fill-opacity:0.5;stroke:#ff7f0e} .com{fill:none;stroke:#9467bd;stroke-width:2} '
             'text{font:11px sans-serif} .title{font:13px sans-serif}')
    width = len(VIEWS) * SIZE
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{SIZE}" '
            f'viewBox="0 0 {width} {SIZE}"><style>{style}</style>'
            f'<rect width="{width}" height="{SIZE}" fill="white"/>\n' + '\n'.join(parts)
            + '\n</svg>\n')


def _outline(model: RobotModel, bodies: Sequence[Transform], foot: Foot) -> list[np.ndarray]:
    """Return the corners of a sole, or the middle of a ball, in the base."""
    pose = link_pose(model, bodies, foot.link)
    return [pose.point(corner) for corner in foot.outline]


class _View:
    """Draws on one of the views."""

    def __init__(self, left: float, middle: np.ndarray, scale: float, right: int, up: int):
        self._left, self._middle, self._scale = left, middle, scale
        self._axes = [right, up]
        # From behind, y points to the left.
        self._sign = -1.0 if right == 1 else 1.0

    def __call__(self, point: np.ndarray) -> tuple[float, float]:
        x, y = (point - self._middle)[self._axes] * self._scale
        return self._left + SIZE / 2 + self._sign * x, SIZE / 2 - y

    def line(self, a: np.ndarray, b: np.ndarray, style: str) -> str:
        (x1, y1), (x2, y2) = self(a), self(b)
        return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'

    def skeleton(self, model: RobotModel, bodies: Sequence[Transform]) -> list[str]:
        parts = []
        for body, pose in enumerate(bodies):
            if body:
                parent = bodies[int(model.tree.topology[body, 0])]
                parts.append(self.line(parent.p, pose.p, 'class="bone"'))
            x, y = self(pose.p)
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" class="joint"/>')
        return parts

    def foot(self, model: RobotModel, bodies: Sequence[Transform], foot: Foot,
             load: float) -> list[str]:
        link = foot.link
        body = bodies[model.frame(link).body]
        corners = _outline(model, bodies, foot)
        parts = [self.line(body.p, link_pose(model, bodies, link).p, 'class="bone"')]
        if len(corners) > 1:
            path = ' '.join(f'{x:.1f},{y:.1f}' for x, y in map(self, corners))
            parts.append(f'<polygon points="{path}" class="foot"/>')
        else:
            radius = max(foot.radius * self._scale, 3.0)
            x, y = self(corners[0])
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" class="foot"/>')
        x, y = self(np.mean(corners, axis=0))
        parts.append(f'<text x="{x + 6:.1f}" y="{y + 14:.1f}">{escape(link)} {100 * load:.0f} %'
                     '</text>')
        return parts

    def axes(self, pose: Transform, length: float) -> list[str]:
        return [self.line(pose.p, pose.p + length * pose.R[:, k],
                          f'stroke="{color}" stroke-width="2.5"')
                for k, color in enumerate(AXES)]
