# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shapes of a robot's bodies: those of the URDF, its meshes where they are, or capsules."""
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import trimesh

from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model import parts as tree
from legged_dynamics.model.urdf import Element, Wanted, read_elements
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_rpy

_NOTHING: Wanted = {}
_MATERIAL: Wanted = {'color': _NOTHING}
_VISUAL: Wanted = {'origin': _NOTHING, 'material': _MATERIAL, 'geometry': dict.fromkeys(
    ('sphere', 'box', 'cylinder', 'capsule', 'mesh'), _NOTHING)}
_WANTED: Wanted = {'material': _MATERIAL, 'link': {'visual': _VISUAL, 'collision': _VISUAL}}
_BONE, _FOOT = (0.55, 0.57, 0.6), (0.15, 0.15, 0.17)
# Of a bone's length; and the thinnest and thickest bone [m].
_SLENDERNESS, _THIN, _THICK = 0.12, 0.006, 0.06


class Look(NamedTuple):
    """
    Shapes of a body in one colour.

    Attributes
    ----------
    mesh : trimesh.Trimesh
        In the body's frame [m].
    color : tuple of float
        Red, green, blue from 0 to 1.

    """

    mesh: trimesh.Trimesh
    color: tuple[float, float, float]


def body_looks(model: RobotModel, config: RobotConfig, urdf: str,
               meshes: Path | None = None) -> list[list[Look]]:
    """
    Return the shapes of each body, the base first.

    Parameters
    ----------
    model : RobotModel
        With the configuration applied.
    config : RobotConfig
        Its feet end the capsules.
    urdf : str
        XML. Visuals are drawn, or else collisions; malformed elements are left out.
    meshes : Path, optional
        Folder with the description's mesh files. Files outside of it are never opened, since a
        description may come over the bus; capsules take the place of missing meshes.

    Returns
    -------
    list of list of Look
        By body, then by colour.

    """
    try:
        robot = read_elements(urdf, _WANTED, 'robot description')
    except LeggedDynamicsError:
        robot = Element('robot', {}, 0)
    colors = {material.attributes.get('name', ''): _color(material, {})
              for material in robot.all('material')}
    parts: list[list[Look]] = [[] for _ in range(model.n_bodies)]
    for link in robot.all('link'):
        name = link.attributes.get('name', '')
        if name not in model.frames:
            continue
        body, pose = model.frame(name)
        for kind in ('visual', 'collision'):
            found = [part for shape in link.all(kind)
                     if (part := _shape(shape, pose, colors, meshes)) is not None]
            if found:
                parts[body] += found
                break
    bones = _bones(model, config)
    for body, found in enumerate(parts):
        if not found:
            parts[body] = bones[body]
    return [_by_color(found) for found in parts]


def _by_color(looks: list[Look]) -> list[Look]:
    found: dict[Any, list[trimesh.Trimesh]] = {}
    for look in looks:
        found.setdefault(look.color, []).append(look.mesh)
    made: list[tuple[Any, Any]] = [(trimesh.util.concatenate(parts), color)
                                   for color, parts in found.items()]
    return [Look(*pair) for pair in made]


def _color(material: Element | None, known: Mapping[str, Any]) -> Any:
    if material is None:
        return _BONE
    color = material.first('color')
    words = '' if color is None else color.attributes.get('rgba', '')
    try:
        rgba = tuple(min(max(float(word), 0.0), 1.0) for word in words.split())
    except ValueError:
        rgba = ()
    return rgba[:3] if len(rgba) == 4 else known.get(material.attributes.get('name', ''), _BONE)


def _shape(visual: Element, pose: Transform, colors: Mapping[str, Any],
           meshes: Path | None) -> Look | None:
    geometry, origin = visual.first('geometry'), visual.first('origin')
    if geometry is None or not geometry.children:
        return None
    try:
        made = _made(geometry.children[0], meshes)
        if made is None:
            return None
        if origin is not None:
            pose = pose @ Transform(
                rotation_from_rpy(np.array(origin.vector('rpy', (0, 0, 0), ''))),
                np.array(origin.vector('xyz', (0, 0, 0), ''), float))
    except LeggedDynamicsError:
        return None
    return Look(made.apply_transform(_matrix(pose)), _color(visual.first('material'), colors))


def _made(shape: Element, meshes: Path | None) -> trimesh.Trimesh | None:
    if shape.tag == 'mesh':
        return _mesh(shape, meshes)
    if shape.tag == 'box':
        return trimesh.creation.box(shape.vector('size', (0.0, 0.0, 0.0), ''))
    radius = shape.number('radius', None, '')
    if shape.tag == 'sphere':
        return trimesh.creation.icosphere(subdivisions=2, radius=radius)
    height = shape.number('length', None, '')
    if shape.tag == 'cylinder':
        return trimesh.creation.cylinder(radius, height, sections=24)
    return _capsule(radius, height)


def _mesh(shape: Element, folder: Path | None) -> trimesh.Trimesh | None:
    """Return a mesh from below a folder, or None where it is not there or cannot be read."""
    name = shape.attributes.get('filename', '')
    if folder is None or not name:
        return None
    root, words = folder.resolve(), name.split('://')[-1].split('/')
    for skipped in range(len(words)):       # package://anymal/meshes/x.stl, or what it is below
        path = root.joinpath(*words[skipped:]).resolve()
        if path.is_relative_to(root) and path.is_file():
            try:
                mesh: Any = trimesh.load(path, force='mesh')
            except Exception:               # whatever a loader says of a file it cannot read
                return None
            mesh.apply_scale(shape.vector('scale', (1.0, 1.0, 1.0), ''))
            return mesh
    return None


def _bones(model: RobotModel, config: RobotConfig) -> list[list[Look]]:
    """Return capsules from each body's joint to those that follow, and to its feet."""
    ends: list[list[np.ndarray]] = [[] for _ in range(model.n_bodies)]
    for body in range(1, model.n_bodies):
        place = model.tree.constants[body, tree.P_TREE:tree.P_TREE + 3]
        ends[int(model.tree.topology[body, tree.PARENT])].append(place)
    balls: list[list[Look]] = [[] for _ in range(model.n_bodies)]
    for foot in config.feet:
        body, pose = model.frame(foot.link)
        ends[body].append(pose.p)
        if foot.radius:
            ball = trimesh.creation.icosphere(subdivisions=2, radius=foot.radius)
            balls[body].append(Look(ball.apply_translation(pose.p), _FOOT))
    return [[_bone(end) for end in places if np.linalg.norm(end) > _THIN] + balls[body]
            for body, places in enumerate(ends)]


def _bone(end: np.ndarray) -> Look:
    length = float(np.linalg.norm(end))
    radius = float(np.clip(_SLENDERNESS * length, _THIN, _THICK))
    turn = trimesh.geometry.align_vectors([0.0, 0.0, 1.0], end / length)
    turn[:3, 3] = 0.5 * end
    return Look(_capsule(radius, length).apply_transform(turn), _BONE)


def _capsule(radius: float, height: float) -> trimesh.Trimesh:
    """Return a capsule about its middle, along z; `height` is without the caps."""
    made = trimesh.creation.capsule(height=height, radius=radius, count=[12, 12])
    return made.apply_translation([0.0, 0.0, -made.bounds.mean(axis=0)[2]])


def _matrix(pose: Transform) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose.R, pose.p
    return matrix
