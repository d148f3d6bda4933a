# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Collision shapes, sensors and transmissions of a URDF, which dynamics does not use.

Read only to guess feet, motors and IMU, and where links touch the ground; malformed elements are
ignored, never refused.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.model.urdf import Element, Wanted, read_elements, transform_of
from legged_dynamics.spatial.frames import Transform

_NOTHING: Wanted = {}
_SHAPES = ('sphere', 'box', 'cylinder', 'capsule', 'mesh')
_COLLISION: Wanted = {'origin': _NOTHING, 'geometry': dict.fromkeys(_SHAPES, _NOTHING)}
_WANTED: Wanted = {'link': {'collision': _COLLISION, 'visual': _COLLISION},
                   'gazebo': {'sensor': _NOTHING}, 'transmission': {'joint': _NOTHING}}


class Shape(NamedTuple):
    """What a link collides with."""

    kind: str  # sphere, box, cylinder, capsule or mesh
    # (3,) [m]: half lengths of the box around it, in its own axes; zero for a mesh
    size: np.ndarray
    pose: Transform  # Pose in the link

    @property
    def corners(self) -> np.ndarray:
        """Corners of the box around it in the link's frame, (8, 3) [m]."""
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return np.array([self.pose.point(sign * self.size) for sign in signs])

    def lowest(self, up: np.ndarray) -> float:
        """Return the least height along ``up``, which is in the link's axes [m]."""
        if self.kind == 'sphere':
            return float(self.pose.p @ up - self.size[0])
        return float((self.corners @ up).min())


class Looks(NamedTuple):
    """Shapes and sensors of a robot."""

    shapes: dict[str, list[Shape]]  # Shapes by link; of its collisions, or else of its visuals
    imu_links: list[str]  # Links that a simulator's IMU sensor refers to
    driven: list[str]  # Joints with a transmission
    meshes: list[str]  # Names of mesh files, without their folders


def read_looks(text: str) -> Looks:
    """Return the shapes and IMUs in a URDF; nothing if it cannot be read."""
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
        return Shape(shape.tag, _half_lengths(shape), transform_of(collision, ''))
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
