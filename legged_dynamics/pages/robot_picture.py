# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Pictures of a robot as SVG: to check a configuration, and with the forces of one instant.

Bodies are drawn as the silhouettes of their collision shapes (the convex hull of their projected
points), the far ones first, or as bones where the URDF has none. Written without a plotting
library, so that `info` does not require one.
"""
from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from legged_dynamics.model import Foot, RobotConfig, RobotModel
from legged_dynamics.model import parts as tree
from legged_dynamics.model.shapes import Shape, read_looks
from legged_dynamics.model.standing import UP, body_poses, center_of_mass, foot_loads, link_pose
from legged_dynamics.pages.page import foot_color
from legged_dynamics.spatial.convex_hull import convex_hull
from legged_dynamics.spatial.frames import GRAVITY, Transform

# Name and axes: to the right, upwards, towards the viewer.
VIEWS = (('from the right: x forward', np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])),
         ('from behind: y to the left', np.array([[0, -1, 0], [0, 0, 1], [-1, 0, 0]])),
         ('from above: x forward', np.eye(3)))
SIZE = 440
# Room at the sides for labels [pixels].
SIDE = 100
# Room above for the title.
TOP = 40
# Room below for the scale bar.
BOTTOM = 50
AXES = (('x', '#d62728'), ('y', '#2ca02c'), ('z', '#1f77b4'))
LINE = 15               # pixels between labels
_STYLE = ('.body{fill:#c9d1da;stroke:#5a6470;stroke-width:0.8;stroke-linejoin:round} '
          '.bone{stroke:#444;stroke-width:2} .leader{stroke:#888;stroke-width:0.7} '
          '.com{fill:none;stroke:#9467bd;stroke-width:2} .bar{stroke:#222;stroke-width:2} '
          '.ground{fill:#eef1f4} .support{fill:#2b62c0;fill-opacity:0.13;stroke:#2b62c0} '
          'text{font:11.5px system-ui,sans-serif;fill:#222} .title{font-size:13px}')


# -------------------------------------------------------------------------------------------------
# Bodies as points whose convex hull is their outline.


def _solids(model: RobotModel, urdf: str, poses: Sequence[Transform]) -> list[np.ndarray]:
    """Return the points (k, 3) [m] of all shapes but meshes, in the axes of the bodies' poses."""
    found = []
    for link, shapes in (read_looks(urdf).shapes if urdf else {}).items():
        if link not in model.frames:
            continue
        body, pose = model.frame(link)
        for shape in shapes:
            points = _points(shape)
            if len(points):
                placed = poses[body] @ pose
                found.append(placed.p + points @ placed.R.T)
    return found


def _points(shape: Shape) -> np.ndarray:
    if shape.kind == 'mesh' or not shape.size.any():
        return np.zeros((0, 3))
    if shape.kind == 'box':
        return shape.corners
    radius, half = float(shape.size[0]), float(shape.size[2])
    around = 2.0 * np.pi * np.arange(24) / 24
    ring = np.column_stack([np.cos(around), np.sin(around)])
    if shape.kind == 'cylinder':
        local = [np.column_stack([radius * ring, np.full(24, z)]) for z in (-half, half)]
    else:       # a sphere, or a capsule: two of them
        straight = 0.0 if shape.kind == 'sphere' else half - radius
        local = [np.column_stack([radius * np.cos(up) * ring,
                                  np.full(24, np.copysign(straight, up) + radius * np.sin(up))])
                 for up in np.radians((-90, -60, -30, -1e-9, 1e-9, 30, 60, 90))]
    return shape.pose.p + np.vstack(local) @ shape.pose.R.T


# -------------------------------------------------------------------------------------------------
# A view: projection, scale, and what is drawn in it.


class _View:
    """An orthographic view; rows of `axes` point right, up and towards the viewer."""

    def __init__(self, left: float, width: float, height: float, axes: np.ndarray,
                 points: np.ndarray):
        seen = points @ axes[:2].T
        low, high = seen.min(axis=0), seen.max(axis=0)
        room = np.array([width - 2 * SIDE, height - TOP - BOTTOM])
        self.scale = float((room / np.maximum(high - low, 1e-3)).min())
        self._axes, self._middle = axes, 0.5 * (low + high)
        self._center = np.array([left + width / 2, TOP + room[1] / 2])
        self._left, self._width, self._height = left, width, height

    def __call__(self, point: np.ndarray) -> tuple[float, float]:
        x, y = (self._axes[:2] @ point - self._middle) * self.scale
        return float(self._center[0] + x), float(self._center[1] - y)

    def polygon(self, points: np.ndarray, style: str) -> str:
        flat = convex_hull(points @ self._axes[:2].T)
        path = ' '.join('{:.1f},{:.1f}'.format(
            *(self._center + (1, -1) * (p - self._middle) * self.scale)) for p in flat)
        return f'<polygon points="{path}" {style}/>'

    def line(self, a: np.ndarray, b: np.ndarray, style: str) -> str:
        (x1, y1), (x2, y2) = self(a), self(b)
        return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'

    def arrow(self, a: np.ndarray, b: np.ndarray, color: str, width: float = 3.0) -> str:
        """Draw an arrow; none where it would be a dot."""
        start, tip = np.array(self(a)), np.array(self(b))
        length = float(np.linalg.norm(tip - start))
        if length < 3.0:
            return ''
        along = (tip - start) / length
        across = np.array([-along[1], along[0]])
        head = min(3.2 * width, 0.6 * length)
        neck = tip - head * along
        corners = ' '.join(f'{x:.1f},{y:.1f}' for x, y in (
            tip, neck + 0.5 * head * across, neck - 0.5 * head * across))
        return (f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{neck[0]:.1f}" '
                f'y2="{neck[1]:.1f}" stroke="{color}" stroke-width="{width}"/>'
                f'<polygon points="{corners}" fill="{color}"/>')

    def bodies(self, model: RobotModel, poses: Sequence[Transform],
               solids: Sequence[np.ndarray]) -> list[str]:
        """Draw bones, and above them the shapes, far ones first."""
        parts = []
        for body, pose in enumerate(poses):
            if body:
                parent = poses[int(model.tree.topology[body, tree.PARENT])]
                parts.append(self.line(parent.p, pose.p, 'class="bone"'))
        near = sorted(solids, key=lambda points: float((points @ self._axes[2]).mean()))
        return parts + [self.polygon(points, 'class="body"') for points in near]

    def labels(self, items: Sequence[tuple[np.ndarray, str, str]]) -> list[str]:
        """Write labels at both sides, one below the other, with a line to what they are of."""
        parts = []
        sides: list[list[tuple[float, float, str, str]]] = [[], []]
        for point, text, color in items:
            x, y = self(point)
            sides[int(x > self._center[0])].append((y, x, text, color))
        for right, found in enumerate(sides):
            edge = self._left + (self._width - 4 if right else 4)
            turn = edge + (-1 if right else 1) * (SIDE - 12)
            after = -np.inf
            # Downwards; those at the bottom are pushed up when there is no room below.
            places = []
            for y, *_ in sorted(found):
                after = max(y, after + 2 * LINE)
                places.append(after)
            over = max((places or [0.0])[-1] - (self._height - BOTTOM), 0.0)
            for place, (y, x, text, color) in zip(places, sorted(found)):
                at = place - over
                parts.append(f'<polyline points="{x:.1f},{y:.1f} {turn:.1f},{at:.1f}" '
                             'class="leader" fill="none"/>')
                lines = text.split('\n')
                parts += [
                    f'<text x="{edge:.1f}" y="{at + 4 + (k - 0.5 * (len(lines) - 1)) * 13:.1f}" '
                    f'text-anchor="{"end" if right else "start"}" style="fill:{color}">'
                    f'{escape(line)}</text>' for k, line in enumerate(lines)]
        return parts

    def scale_bar(self) -> list[str]:
        """Draw a bar of a round length, at most a third of the view."""
        most = (self._width - 2 * SIDE) / 2.5 / self.scale
        step = 10.0 ** np.floor(np.log10(most))
        length = max(step * k for k in (1.0, 2.0, 5.0) if step * k <= most)
        x, y = self._left + 14, self._height - 22
        end = x + length * self.scale
        return [f'<path d="M{x:.1f} {y - 4}v8m0-4H{end:.1f}m0-4v8" class="bar" fill="none"/>',
                f'<text x="{end + 6:.1f}" y="{y + 4}">{length:g} m</text>']


def _svg(width: float, height: float, parts: Sequence[str], label: str) -> str:
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label)}">'
            f'<style>{_STYLE}</style><rect width="{width:g}" height="{height:g}" fill="white"/>\n'
            + '\n'.join(part for part in parts if part) + '\n</svg>\n')


# -------------------------------------------------------------------------------------------------
# The picture to check a configuration with.


def robot_picture(model: RobotModel, config: RobotConfig, position: np.ndarray,
                  urdf: str = '') -> str:
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
    urdf : str
        XML of the description, for the shapes of the bodies; bones without it.

    Returns
    -------
    str
        Text of an SVG file.

    """
    poses = body_poses(model, position)
    solids = _solids(model, urdf, poses)
    loads, fall = foot_loads(model, config.feet, poses) if config.feet else (np.zeros(0), 0.0)
    imu = link_pose(model, poses, config.imu_link_in(model))
    center, weight = center_of_mass(model, poses), model.total_mass * GRAVITY
    outlines = [_outline(model, poses, foot) for foot in config.feet]
    points = [np.array([pose.p for pose in poses] + [center]), *solids, *outlines]
    size = float(np.ptp(np.vstack(points), axis=0).max())
    tips = imu.p + 0.22 * size * imu.R.T
    middles = [outline.mean(axis=0) for outline in outlines]
    tails = [middle - [0.0, 0.0, 0.25 * size * float(load)]
             for middle, load in zip(middles, loads)]
    everything = np.vstack([*points, imu.p, tips, *tails])
    views = [_View(i * SIZE, SIZE, SIZE, axes, everything)
             for i, (_, axes) in enumerate(VIEWS)]
    scale = min(view.scale for view in views)
    parts = []
    for i, (view, (name, _)) in enumerate(zip(views, VIEWS)):
        view.scale = scale
        parts.append(f'<text x="{i * SIZE + 10}" y="20" class="title">{name}</text>')
        parts += view.bodies(model, poses, solids)
        labels = []
        for k, (foot, load) in enumerate(zip(config.feet, loads)):
            middle = middles[k]
            parts += _foot(view, model, poses, foot, outlines[k], foot_color(k))
            parts.append(view.arrow(tails[k], middle, foot_color(k)))
            labels.append((middle, f'{foot.link}\n{100 * load:.0f} %, {load * weight:.0f} N',
                           foot_color(k)))
        for (axis, color), tip in zip(AXES, tips):
            parts.append(view.arrow(imu.p, tip, color, 2.0))
            x, y = view(tip)
            if np.hypot(*(np.array((x, y)) - view(imu.p))) > 8.0:
                parts.append(f'<text x="{x + 4:.1f}" y="{y - 3:.1f}" style="fill:{color}">'
                             f'{axis}</text>')
        x, y = view(center)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="com"/>')
        parts += view.labels(labels)
    parts += views[0].scale_bar()
    stands = ('feet: none are known' if not config.feet else
              'load of each foot with the base level' if fall < 1e-3 else
              f'IT CANNOT STAND SO: the centre of mass is {fall:.3f} m outside of its feet')
    text = (f'{model.name}: {model.total_mass:.2f} kg; {stands}; x, y, z: axes of the IMU '
            f'({config.imu_link_in(model)}); ring: centre of mass')
    parts.append(f'<text x="200" y="{SIZE - 18}" class="title">{escape(text)}</text>')
    return _svg(len(VIEWS) * SIZE, SIZE, parts, text)


def _outline(model: RobotModel, poses: Sequence[Transform], foot: Foot) -> np.ndarray:
    """Return the corners of a sole, or the middle of a ball, in the base, (k, 3)."""
    pose = link_pose(model, poses, foot.link)
    return pose.p + foot.touching(pose.R, UP, foot.outline)


def _foot(view: _View, model: RobotModel, poses: Sequence[Transform], foot: Foot,
          corners: np.ndarray, color: str) -> list[str]:
    body = poses[model.frame(foot.link).body]
    parts = [view.line(body.p, link_pose(model, poses, foot.link).p, 'class="bone"')]
    style = f'fill="{color}" fill-opacity="0.6" stroke="{color}"'
    if len(corners) > 1:
        return [*parts, view.polygon(corners, style)]
    x, y = view(corners[0])
    radius = max(foot.radius * view.scale, 3.0)
    return [*parts, f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" {style}/>']


# -------------------------------------------------------------------------------------------------
# The picture of one instant, with the forces on the feet.


class FootLoad(NamedTuple):
    """
    The force of the ground on a foot at one instant.

    Attributes
    ----------
    foot : str
        Link of the foot.
    force : (3,) array [N]
        World axes.
    point : (3,) array [m]
        Contact point, base axes.
    contact : bool
        Whether the foot is in contact.

    """

    foot: str
    force: np.ndarray
    point: np.ndarray
    contact: bool


_WIDE = 620
_HIGH = 400
_PLACES = 0.42      # of the robot's size: an arrow of the weight
# From the front left and above; rows: right, up, towards the viewer.
_TURN = np.radians(-52.0)
_TILT = np.radians(20.0)
_OBLIQUE = np.array([
    [-np.sin(_TURN), np.cos(_TURN), 0.0],
    [-np.cos(_TURN) * np.sin(_TILT), -np.sin(_TURN) * np.sin(_TILT), np.cos(_TILT)],
    [np.cos(_TURN) * np.cos(_TILT), np.sin(_TURN) * np.cos(_TILT), np.sin(_TILT)]])


def force_picture(model: RobotModel, config: RobotConfig, position: np.ndarray,
                  rotation: np.ndarray, loads: Sequence[FootLoad], urdf: str = '',
                  title: str = '') -> str:
    """
    Return the text of an SVG of a robot and the forces on its feet at one instant.

    Parameters
    ----------
    model : RobotModel
        With the config applied.
    config : RobotConfig
        Feet and soles.
    position : (nq,) array [rad or m]
        Joint positions in the model's order.
    rotation : (3, 3) array
        R_WB.
    loads : sequence of FootLoad
        Of each foot, in the order of the configuration.
    urdf : str
        XML of the description, for the shapes of the bodies; bones without it.
    title : str
        Line above the picture.

    Returns
    -------
    str
        Text of an SVG file.

    """
    heading = np.arctan2(rotation[1, 0], rotation[0, 0])
    c, s = np.cos(heading), np.sin(heading)
    level = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])      # forward, left, up
    turn = level @ rotation
    base = Transform(turn, np.zeros(3))
    poses = [base @ pose for pose in body_poses(model, position)]
    solids = _solids(model, urdf, poses)
    weight = model.total_mass * GRAVITY
    points = [np.array([pose.p for pose in poses]), *solids]
    size = float(np.ptp(np.vstack(points), axis=0).max())
    reach = 2.0 * _PLACES * size / weight
    contact = [turn @ load.point for load in loads]
    tips = [place + reach * (level @ load.force) for place, load in zip(contact, loads)]
    drawn = [i for i, load in enumerate(loads) if load.contact]
    everything = np.vstack([*points, *contact, *(tips[i] for i in drawn)])
    view = _View(0.0, _WIDE, _HIGH, _OBLIQUE, everything)
    ground = float(np.min([contact[i][2] for i in drawn])) if drawn else everything[:, 2].min()
    low, high = everything.min(axis=0) - 0.1 * size, everything.max(axis=0) + 0.1 * size
    floor = np.array([[x, y, ground] for x in (low[0], high[0]) for y in (low[1], high[1])])
    parts = [f'<text x="10" y="20" class="title">{escape(title)}</text>',
             view.polygon(floor, 'class="ground"')]
    parts += _support(view, config, model, poses, [bool(load.contact) for load in loads], contact)
    parts += view.bodies(model, poses, solids)
    labels = []
    for i, (load, place, tip) in enumerate(zip(loads, contact, tips)):
        color = foot_color(i)
        x, y = view(place)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>')
        if load.contact:
            parts.append(view.arrow(place, tip, color, 4.0))
        labels.append((place, f'{load.foot}\n' + (
            f'{np.linalg.norm(load.force):.0f} N' if load.contact else 'in the air'), color))
    parts += [*view.labels(labels), *view.scale_bar()]
    return _svg(_WIDE, _HIGH, parts, f'{model.name} and the forces of the ground on its feet')


def _support(view: _View, config: RobotConfig, model: RobotModel, poses: Sequence[Transform],
             contact: Sequence[bool], points: Sequence[np.ndarray]) -> list[str]:
    """Draw the support polygon: of soles by their corners, of balls by their contact points."""
    corners = []
    for foot, down, point in zip(config.feet, contact, points):
        if down:
            pose = link_pose(model, poses, foot.link)
            corners += ([*(pose.p + foot.touching(pose.R, UP))]
                        if len(foot.corners) > 1 else [point])
    return [view.polygon(np.array(corners), 'class="support"')] if len(corners) > 1 else []
