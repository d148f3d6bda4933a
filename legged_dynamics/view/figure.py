# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What is known of a robot at one instant, and what is drawn of it, in world axes and metres.

Bodies have the shapes of the URDF, its meshes where they are, or capsules.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import trimesh

from legged_dynamics.contact.solution import effort_used
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import GroundReaction
from legged_dynamics.estimation.force_picture import ForcePicture
from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model import parts as tree
from legged_dynamics.model.standing import body_frames
from legged_dynamics.model.urdf import Element, Wanted, read_elements, transform_of
from legged_dynamics.ros.conversions import stamp_ns
from legged_dynamics.spatial.frames import Transform

# -------------------------------------------------------------------------------------------------
# Snapshot: what is known of a robot at one instant, from estimator, message or recording.


_WRENCH = ('force.x', 'force.y', 'force.z', 'torque.x', 'torque.y', 'torque.z')


@dataclass(frozen=True)
class Forces:
    """
    Estimated forces of one instant; feet in the order of the robot's YAML.

    Attributes
    ----------
    stamp_ns : int [ns]
        Stamp of the joint state that they belong to.
    wrench : (nf, 6) array [N, N m]
        ``[f; m]`` of the ground on the robot, in and about the foot's link frame.
    deviation : (nf, 3) array [N]
        One standard deviation of the force, in the foot's axes; NaN where not known.
    contact, observable : (nf,) bool array
        Whether each foot is in contact, and whether its force can be observed.
    center_of_pressure : (3,) array [m]
        Centre of pressure, base link; NaN when the feet carry next to nothing.
    external, external_deviation : (6,) array [N, N m]
        External wrench on the base and its standard deviation, base link; NaN where not known.
    ground_normal : (3,) array
        Normal of the ground, base link; NaN where not known.

    """

    stamp_ns: int
    wrench: np.ndarray
    deviation: np.ndarray
    contact: np.ndarray
    observable: np.ndarray
    center_of_pressure: np.ndarray
    external: np.ndarray
    external_deviation: np.ndarray
    ground_normal: np.ndarray

    @classmethod
    def none(cls, n_feet: int) -> Forces:
        """Return no forces, with all feet in the air; NaN where unknown."""
        return cls(0, np.zeros((n_feet, 6)), np.full((n_feet, 3), np.nan), np.zeros(n_feet, bool),
                   np.zeros(n_feet, bool), np.full(3, np.nan), np.full(6, np.nan),
                   np.full(6, np.nan), np.full(3, np.nan))

    @classmethod
    def of(cls, reaction: GroundReaction) -> Forces:
        """Return an estimate's forces at its newest sample, as :class:`ForcesReader`."""
        deviation = np.sqrt([np.diagonal(reaction.covariance_of(foot, latest=True))[:3].clip(0.0)
                             for foot in reaction.feet])
        return cls(reaction.latest_ns, reaction.wrench, deviation, reaction.latest_contact,
                   reaction.observable, reaction.center_of_pressure, reaction.external_wrench,
                   reaction.external_deviation, reaction.ground_normal)


@dataclass(frozen=True)
class Snapshot:
    """A robot at one instant."""

    stamp_ns: int  # [ns]
    position: np.ndarray  # (nq,) [rad or m]: of the joints, in the model's order
    effort: np.ndarray | None  # (nj,) [N m or N] or None: naN where it is not measured
    rotation: np.ndarray  # (3, 3): R_WB: of the base in the world, z up
    base: np.ndarray | None = None  # (3,) [m] or None: p_WB, where it is known
    forces: Forces | None = None  # None while there is no estimate


class ForcesReader:
    """
    Reads the estimator's ``~/foot_reactions``, or its ``~/reactions``.

    The former, a legged_dynamics_msgs/FootReactions, has the feet alone; the latter, a
    sensor_msgs/JointState of named values, has all.
    """

    def __init__(self, feet: tuple[str, ...]):
        self._feet = feet

    def __call__(self, message: Any) -> Forces | None:
        """Return the forces in a message; None for a robot with other feet."""
        return (self._of_feet if hasattr(message, 'feet') else self._of_names)(message)

    def _of_names(self, message: Any) -> Forces | None:
        values = dict(zip(message.name, message.effort))

        def said(names: Iterable[str], whose: str = '', what: str = '') -> np.ndarray:
            return np.array([values.get(f'{whose}{name}{what}', math.nan) for name in names])
        wrench = np.array([said(_WRENCH, f'{foot}/') for foot in self._feet])
        if not np.isfinite(wrench).all():
            return None
        return Forces(
            stamp_ns(message.header.stamp), wrench,
            np.array([said(_WRENCH[:3], f'{foot}/', '.stddev') for foot in self._feet]),
            said(self._feet, what='/contact') > 0.5, ~(said(self._feet, what='/observable') < 0.5),
            said('xyz', 'center_of_pressure.'), said(_WRENCH, 'external/'),
            said(_WRENCH, 'external/', '.stddev'), said('xyz', 'ground_normal.'))

    def _of_feet(self, message: Any) -> Forces | None:
        found = {one.foot: one for one in message.feet}
        if not found.keys() >= set(self._feet):
            return None
        rows = [found[foot] for foot in self._feet]
        wrench, deviation = np.reshape([[getattr(part, axis) for part in (
            one.force, one.torque) for axis in 'xyz'] for row in rows for one in (
                row.wrench, row.deviation)], (len(rows), 2, 6)).transpose(1, 0, 2)
        return replace(Forces.none(len(rows)), stamp_ns=stamp_ns(message.header.stamp),
                       wrench=wrench, deviation=deviation[:, :3],
                       contact=np.array([row.contact for row in rows], bool),
                       observable=np.array([row.observable for row in rows], bool))


# -------------------------------------------------------------------------------------------------
# Placement: where the robot is drawn, by the feet in contact where its base is not measured.


class Placement:
    """
    Position of the base on the ground, from picture to picture, by the feet in contact.

    Feet that stood in the last picture and stand in this one have not moved. Accurate enough for
    a picture; `LegOdometry` is accurate.
    """

    def __init__(self) -> None:
        self._last: tuple[int, np.ndarray, np.ndarray] | None = None
        self._base = np.zeros(3)

    def update(self, stamp_ns: int, rotation: np.ndarray, points: np.ndarray,
               contact: np.ndarray) -> np.ndarray:
        """
        Return p_WB (3,) [m]; the ground is at zero in the first picture.

        ``rotation``: R_WB; ``points`` (nf, 3): contact points, base axes. An earlier stamp
        restarts at the origin.
        """
        turned = points @ rotation.T
        if self._last is None or stamp_ns < self._last[0]:
            low = turned[contact] if contact.any() else turned
            self._base = np.array([0.0, 0.0, -low[:, 2].min() if len(low) else 0.0])
        else:
            _, before, stood = self._last
            both = stood & contact
            if both.any():
                self._base = self._base + (before[both] - turned[both]).mean(axis=0)
        self._last = stamp_ns, turned, contact
        return self._base


# -------------------------------------------------------------------------------------------------
# Figures.


# Part of the weight below which a foot's use of friction is not computed: it is all noise.
LIGHT = 0.05


@dataclass(frozen=True)
class Figure:
    """A robot and its forces, ready to be drawn. Axes: W is the world, z up; B the base link."""

    stamp_ns: int  # [ns]: stamp of the joint state
    base: np.ndarray  # (3,) [m]: p_WB
    rotation: np.ndarray  # (3, 3): R_WB
    body_rotations: np.ndarray  # (nb, 3, 3): of the bodies in W, the base first
    body_places: np.ndarray  # (nb, 3) [m]: origins of the bodies in W
    foot_rotation: np.ndarray  # (nf, 3, 3): R_WF
    contact_point: np.ndarray  # (nf, 3) [m]: points of application of the ground's forces, in W
    forces: Forces | None  # Of the snapshot
    force: np.ndarray  # (nf, 3) [N]: of the ground on the feet, in W
    normal: np.ndarray  # (3,): normal of the ground, in W
    polygon: np.ndarray  # (k, 3) [m]: corners of the support polygon, in W
    center_of_pressure: np.ndarray  # (3,) [m]: in W; NaN where there is none
    # (3,) [N]: external force on the base, in W; None where it does not differ from zero
    push: np.ndarray | None
    # (nf,): part of the friction that each foot uses; NaN for one in the air or hardly loaded
    friction_used: np.ndarray
    # [m]: distance of the centre of pressure from the nearest edge of the support; NaN: unknown
    support_margin: float
    effort_used: float  # of the joint nearest to its limit, as a part of that; NaN: unknown


class FigureMaker:
    """Converts the snapshots of one robot to figures."""

    def __init__(self, model: RobotModel, config: RobotConfig, friction: float = 0.6):
        self.model, self.config, self.friction = config.apply_to(model), config, friction
        self.feet = tuple(foot.link for foot in config.feet)
        self._frames = [self.model.frame(foot) for foot in self.feet]
        self._placement = Placement()
        self._light = LIGHT * self.model.total_mass * GRAVITY
        self._limits = self.model.effort_limits

    @property
    def size(self) -> float:
        """Largest distance of a body from the base when the robot stands [m]."""
        _, places = body_frames(self.model, self.config.nominal_in(self.model))
        return max(float(np.linalg.norm(places, axis=1).max()), 0.1)

    def __call__(self, snapshot: Snapshot) -> Figure:
        """Return the figure of a snapshot, world axes."""
        R_WB, nf = snapshot.rotation, len(self.feet)
        forces = snapshot.forces or Forces.none(nf)
        rotations, places = body_frames(self.model, snapshot.position)
        up = forces.ground_normal if np.isfinite(forces.ground_normal).all() else R_WB[2]
        R_BF = np.array([rotations[body] @ pose.R
                         for body, pose in self._frames]).reshape(nf, 3, 3)
        soles = [rotations[body] @ pose.p + places[body] + foot.touching(R, up)
                 for foot, R, (body, pose) in zip(self.config.feet, R_BF, self._frames)]
        points = np.array([sole.mean(axis=0) for sole in soles]).reshape(nf, 3)
        standing = np.vstack([np.zeros((0, 3)), *(sole for sole, down in zip(
            soles, forces.contact) if down)])
        picture = ForcePicture(
            snapshot.stamp_ns, self.feet, R_WB, forces.contact, forces.observable, points,
            forces.wrench, forces.deviation, R_BF, np.tile(up, (nf, 1)), standing,
            forces.center_of_pressure, forces.external[:3], forces.external_deviation[:3],
            np.zeros(3), self.friction)
        placed = self._placement.update(snapshot.stamp_ns, R_WB, points, forces.contact)
        base = placed if snapshot.base is None else snapshot.base
        loaded = forces.contact & (picture.force @ up > self._light)
        return Figure(snapshot.stamp_ns, base, R_WB, R_WB @ rotations, places @ R_WB.T + base,
                      R_WB @ R_BF, points @ R_WB.T + base, snapshot.forces,
                      picture.force @ R_WB.T, R_WB @ up, picture.polygon_W + base,
                      R_WB @ picture.center_of_pressure + base,
                      None if picture.push is None else R_WB @ picture.push,
                      np.where(loaded, picture.friction_used, np.nan), picture.support_margin,
                      np.nan if snapshot.effort is None else effort_used(
                          snapshot.effort, self._limits))


_NOTHING: Wanted = {}
_MATERIAL: Wanted = {'color': _NOTHING}
_VISUAL: Wanted = {'origin': _NOTHING, 'material': _MATERIAL, 'geometry': dict.fromkeys(
    ('sphere', 'box', 'cylinder', 'capsule', 'mesh'), _NOTHING)}
_WANTED: Wanted = {'material': _MATERIAL, 'link': {'visual': _VISUAL, 'collision': _VISUAL}}
_BONE = (0.55, 0.57, 0.6)
_FOOT = (0.15, 0.15, 0.17)
# Thickness of a bone, as a part of its length.
_SLENDERNESS = 0.12
# Thinnest and thickest bone [m].
_THIN = 0.006
_THICK = 0.06


class Look(NamedTuple):
    """A shape of a body."""

    mesh: trimesh.Trimesh  # In the body's frame [m]
    color: tuple[float, float, float]  # Red, green, blue from 0 to 1


def body_looks(model: RobotModel, config: RobotConfig, urdf: str,
               meshes: Path | None = None) -> list[list[Look]]:
    """
    Return the shapes of each body, the base first.

    Visuals, else collisions. Mesh files outside ``meshes`` are never opened, since a
    description may come over the bus; capsules replace missing ones.
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
    return [found or bones for found, bones in zip(parts, _bones(model, config))]


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
    geometry = visual.first('geometry')
    if geometry is None or not geometry.children:
        return None
    try:
        made = _made(geometry.children[0], meshes)
        if made is None:
            return None
        pose = pose @ transform_of(visual, '')
    except LeggedDynamicsError:
        return None
    turn = np.vstack([np.column_stack([pose.R, pose.p]), [0.0, 0.0, 0.0, 1.0]])
    return Look(made.apply_transform(turn), _color(visual.first('material'), colors))


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
            except Exception:               # any error of the loader
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
            balls[body] += [Look(ball.copy().apply_translation(pose.point(corner)), _FOOT)
                            for corner in foot.corners]
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
