# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Collision shapes, sensors and transmissions of a URDF, and where links may touch the ground.

Read only to guess feet, motors and IMU, and the balls on which a link lies; malformed elements are
ignored, never refused. A body without shapes is guessed from its joints: a limb reaches from its
own joint to the next ones, a base encloses its joints, as thick as its inertia says.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.model import parts
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.urdf import Element, Wanted, read_elements
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_rpy

_NOTHING: Wanted = {}
_SHAPES = ('sphere', 'box', 'cylinder', 'capsule', 'mesh')
_COLLISION: Wanted = {'origin': _NOTHING, 'geometry': dict.fromkeys(_SHAPES, _NOTHING)}
_WANTED: Wanted = {'link': {'collision': _COLLISION, 'visual': _COLLISION},
                   'gazebo': {'sensor': _NOTHING}, 'transmission': {'joint': _NOTHING}}


class Shape(NamedTuple):
    """
    What a link collides with.

    Attributes
    ----------
    kind : str
        sphere, box, cylinder, capsule or mesh.
    size : (3,) array [m]
        Half lengths of the box around it, in its own axes; zero for a mesh.
    pose : Transform
        In the link.

    """

    kind: str
    size: np.ndarray
    pose: Transform

    @property
    def corners(self) -> np.ndarray:
        """Corners of the box around it in the link's frame, (8, 3) [m]."""
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return np.array([self.pose.point(sign * self.size) for sign in signs])

    @property
    def lowest(self) -> float:
        """Least z in the link's frame [m]."""
        if self.kind == 'sphere':
            return float(self.pose.p[2] - self.size[0])
        return float(self.corners[:, 2].min())


class Looks(NamedTuple):
    """
    Shapes and sensors of a robot.

    Attributes
    ----------
    shapes : dict of str to list of Shape
        By link; of its collisions, or else of its visuals.
    imu_links : list of str
        Links that a simulator's IMU sensor refers to.
    driven : list of str
        Joints with a transmission.
    meshes : list of str
        Names of mesh files, without their folders.

    """

    shapes: dict[str, list[Shape]]
    imu_links: list[str]
    driven: list[str]
    meshes: list[str]


def read_looks(text: str) -> Looks:
    """
    Return the shapes and IMUs that a URDF mentions; nothing where it cannot be read.

    Parameters
    ----------
    text : str
        The URDF.

    Returns
    -------
    Looks

    """
    shapes: dict[str, list[Shape]] = {}
    imus: list[str] = []
    driven: list[str] = []
    meshes: list[str] = []
    try:
        robot = read_elements(text, _WANTED, 'robot description')
    except LeggedDynamicsError:
        return Looks(shapes, imus, driven, meshes)
    for link in robot.all('link'):
        found = [shape for collision in link.all('collision')
                 if (shape := _shape(collision)) is not None]
        found = found or [shape for visual in link.all('visual')
                          if (shape := _shape(visual)) is not None]
        shapes[link.attributes.get('name', '')] = found
        for part in (*link.all('collision'), *link.all('visual')):
            meshes += _mesh_names(part)
    for transmission in robot.all('transmission'):
        driven += [joint.attributes.get('name', '') for joint in transmission.all('joint')]
    for gazebo in robot.all('gazebo'):
        if any('imu' in sensor.attributes.get('type', '').lower()
               for sensor in gazebo.all('sensor')):
            imus.append(gazebo.attributes.get('reference', ''))
    return Looks(shapes, imus, driven, meshes)


def _mesh_names(part: Element) -> list[str]:
    geometry = part.first('geometry')
    if geometry is None:
        return []
    return [mesh.attributes.get('filename', '').rpartition('/')[2]
            for mesh in geometry.children if mesh.tag == 'mesh']


def _shape(collision: Element) -> Shape | None:
    geometry = collision.first('geometry')
    if geometry is None or not geometry.children:
        return None
    shape = geometry.children[0]
    try:
        origin = collision.first('origin')
        pose = Transform.identity()
        if origin is not None:
            pose = Transform(rotation_from_rpy(np.array(origin.vector('rpy', (0, 0, 0), ''))),
                             np.array(origin.vector('xyz', (0, 0, 0), ''), float))
        return Shape(shape.tag, _half_lengths(shape), pose)
    except LeggedDynamicsError:
        return None


def _half_lengths(shape: Element) -> np.ndarray:
    if shape.tag == 'box':
        return 0.5 * np.array(shape.vector('size', (0.0, 0.0, 0.0), ''))
    if shape.tag == 'mesh':
        return np.zeros(3)
    radius = shape.number('radius', None, '')
    half = radius if shape.tag == 'sphere' else 0.5 * shape.number('length', None, '')
    if shape.tag == 'capsule':
        half += radius
    return np.array([radius, radius, half])


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
