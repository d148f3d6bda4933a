# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
OpenSimModel: bodies and joints of an .osim file in the package's conventions, and its root's pose.

Link frames are OpenSim's body frames turned to x forward, y left, z up. Joints have the names and
signs of the coordinates. The joint between the ground and the root body becomes the root's pose.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from legged_dynamics.exceptions import ModelError, UnknownNameError, reraised
from legged_dynamics.model.parts import Inertia, Joint
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.people.opensim.document import (
    GROUND,
    TRANSLATIONS,
    Coordinate,
    Document,
    OpenSimJoint,
    joint_pose,
    read_document,
    rotations,
)
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_vector

# -------------------------------------------------------------------------------------------------
# OpenSim's joints as chains of joints with one degree of freedom, named as their coordinates.
#
# Where the one coordinate of a joint moves several axes, as in OpenSim's knees, the joint becomes
# the nearest hinge. Over the range of the coordinate the pose of the child is a curve in SE(3);
# the nearest curve of a hinge,
#
# .. math:: X(q) \approx \mathrm{Trans}(c)\,\mathrm{Rot}(n, s q)\,E,
#
# is found by nonlinear least squares over points of the child; a note states what error remains.


# A joint that turns less than this over its whole range is no hinge [rad].
LEAST_TURN = 0.05
SAMPLES = 31
# Distance from the centre of mass of the points that represent the child's attitude [m].
ARM = 0.1
# OpenSim's ground and bodies: x forward, y up, z right; ours: x forward, y left, z up.
TO_OURS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
# Order of the axes from parent to child: translations, then rotations.
ORDER = (*TRANSLATIONS, 0, 1, 2)
# Range from which on a coordinate counts as unlimited [rad or m].
WIDE = 7.0
# Range of a coordinate without one, or with an unlimited one [rad or m].
ASSUMED = (-1.5, 1.5)


class Hinge(NamedTuple):
    """A hinge instead of a joint of several coupled axes."""

    start: Transform  # Pose of the axis in the joint's parent frame
    axis: np.ndarray  # (3,): unit vector there
    scale: float  # Angle of the hinge for one unit of the coordinate [rad]
    end: Transform  # Pose of the joint's child frame beyond the axis
    # Rms and largest error of the position of points of the child, and of its orientation
    millimetres: tuple[float, float]
    degrees: tuple[float, float]


def nearest_hinge(q: np.ndarray, R: np.ndarray, p: np.ndarray, points: np.ndarray,
                  center: np.ndarray) -> Hinge | None:
    """
    Return the nearest hinge to poses R, p of the child in the parent; None if it hardly turns.

    ``q`` (n,) evenly over its range; ``points`` (k, 3), in the child frame, keep their
    positions; orientation counts about ``center`` [m].
    """
    from scipy.optimize import least_squares  # slow to import
    from scipy.spatial.transform import Rotation

    middle = len(q) // 2
    turn, moved = Rotation.from_matrix(R @ R[middle].T).as_rotvec(), q - q[middle]
    if np.linalg.norm(turn, axis=1).max() < LEAST_TURN:
        return None
    rate = moved @ turn / (moved @ moved)
    scale = float(np.linalg.norm(rate))
    n = rate / scale
    scale = 1.0 if abs(scale - 1.0) < 0.05 else scale   # the coordinate is the angle itself
    every = np.vstack([points, center, *(center + ARM * axis for axis in np.eye(3))])
    truth = np.einsum('nij,kj->nki', R, every) + p[:, None]
    E = Rotation.from_matrix(rotations(n, -scale * q) @ R).mean().as_rotvec()
    first = np.concatenate([n, np.zeros(3), E, np.zeros(3)])

    def hinge(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, Transform, np.ndarray]:
        axis, end = x[:3] / np.linalg.norm(x[:3]), Transform(rotation_from_vector(x[6:9]), x[9:])
        turned = rotations(axis, scale * q)
        return axis, turned, end, x[3:6] + np.einsum('nij,kj->nki', turned,
                                                     every @ end.R.T + end.p)

    # The pivot's position along its axis is free; a small weight keeps it in place.
    x = least_squares(lambda x: np.append((hinge(x)[3] - truth).ravel(), 1e-4 * (x - first)),
                      first).x
    axis, turned, end, at = hinge(x)
    # The point of the axis that is nearest to the child's frame.
    slide = axis * float(axis @ end.p)
    error = np.linalg.norm(at - truth, axis=2)[:, :len(points)]
    angle = Rotation.from_matrix(turned @ end.R @ R.transpose(0, 2, 1)).magnitude()
    return Hinge(Transform(np.eye(3), x[3:6] + slide), axis, scale,
                 Transform(end.R, end.p - slide), _spread(1e3 * error),
                 _spread(np.degrees(angle)))


def _spread(values: np.ndarray) -> tuple[float, float]:
    return float(np.sqrt(np.mean(values ** 2))), float(values.max())


def _ours(pose: Transform) -> Transform:
    """Return a pose of OpenSim's in our axes, for both frames."""
    return Transform(TO_OURS @ pose.R @ TO_OURS.T, TO_OURS @ pose.p)


@dataclass
class _Chain:
    """The joints of one degree of freedom that one joint of OpenSim becomes."""

    # The first is attached to the parent body; the last moves the child body
    joints: list[Joint] = field(default_factory=list)
    # Position of a joint for one unit of its coordinate, where that is not 1
    scale: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # What was approximated, with its error


class _Step(NamedTuple):
    """One moving axis in the joint's frames, in OpenSim's axes."""

    name: str
    kind: str
    before: Transform
    axis: np.ndarray


def chain_of(joint: OpenSimJoint, points: np.ndarray, center: np.ndarray,
             spans: Mapping[str, tuple[float, float]]) -> _Chain:
    """
    Return the 1-DoF joints that an OpenSim joint becomes.

    ``points`` (k, 3) [m] of the child must keep their positions; ``center``: its CoM;
    ``spans``: coordinate ranges of a recording, over which to fit and unlock coordinates.
    """
    coordinates = {found.name: found for found in joint.coordinates}
    chain, still = _Chain(), {}
    for name, found in coordinates.items():
        low, high = spans.get(name, (0.0, 0.0))
        if found.locked and high - low < 1e-6:
            still[name] = low if name in spans else found.default
    moving = [[name for k, name in enumerate(axis.coordinates) if name not in still
               and (axis.function.linear is None or axis.function.linear[k] != 0.0)]
              for axis in joint.axes]
    used = [name for names in moving for name in names]
    straight = all(axis.function.linear is not None or not names
                   for names, axis in zip(moving, joint.axes))
    if straight and len(set(used)) == len(used) == sum(map(bool, moving)):
        steps, end = _axis_by_axis(joint, moving, still, chain)
    elif len(set(used)) == 1:
        steps, end = _one_axis(joint, coordinates[used[0]], still, points, center, spans, chain)
    else:
        raise ModelError(f'joint {joint.name!r}: expected axes that each follow a coordinate of '
                         'their own along a straight line, or all the same one, got functions of '
                         f'{", ".join(dict.fromkeys(used))}: lock all of these but one')
    _assemble(joint, coordinates, steps, end, chain)
    return chain


def _axis_by_axis(joint: OpenSimJoint, moving: list[list[str]], still: Mapping[str, float],
                  chain: _Chain) -> tuple[list[_Step], Transform]:
    """Return a step for each axis that moves, and the pose of the child beyond the last."""
    pending, steps = Transform.identity(), []
    for k in ORDER:
        axis, translation = joint.axes[k], k in TRANSLATIONS
        by = axis.function.evaluate(np.array([[still.get(name, 0.0)
                                               for name in axis.coordinates]]))[0]
        pending = pending @ (Transform(np.eye(3), by * axis.axis) if translation else
                             Transform(rotations(axis.axis, np.array([by]))[0], np.zeros(3)))
        for name in moving[k]:
            slope = cast(tuple[float, ...], axis.function.linear)[axis.coordinates.index(name)]
            if abs(abs(slope) - 1.0) > 1e-9:
                chain.scale[name] = abs(slope)
            steps.append(_Step(name, 'prismatic' if translation else 'revolute', pending,
                               np.sign(slope) * axis.axis))
            pending = Transform.identity()
    return steps, pending


def _span(coordinate: Coordinate,
          spans: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """Return the range over which an approximation is fitted."""
    least, most = spans.get(coordinate.name, (0.0, 0.0))
    if most - least > 0.05:
        # A little beyond the recording, so that the next step is within the range, too.
        margin = 0.1 * (most - least)
        return least - margin, most + margin
    low, high = max(coordinate.lower, -WIDE), min(coordinate.upper, WIDE)
    return ASSUMED if high - low > 2.0 * np.pi or high - low < 1e-3 else (low, high)


def _one_axis(joint: OpenSimJoint, coordinate: Coordinate, still: Mapping[str, float],
              points: np.ndarray, center: np.ndarray,
              spans: Mapping[str, tuple[float, float]],
              chain: _Chain) -> tuple[list[_Step], Transform]:
    """Return the nearest hinge to a joint whose coordinate moves several axes."""
    q = np.linspace(*_span(coordinate, spans), SAMPLES)
    values = {name: np.full(len(q), value) for name, value in still.items()}
    R, p = joint_pose(joint.axes, {**values, coordinate.name: q})
    into = joint.in_child.inverse()
    found = nearest_hinge(q, R, p, points @ into.R.T + into.p, into.point(center))
    if found is None:
        raise ModelError(f'joint {joint.name!r}: expected a coordinate that turns it where it '
                         f'moves several axes; {coordinate.name!r} only shifts it')
    if found.scale != 1.0:
        chain.scale[coordinate.name] = found.scale
    low, high = np.degrees(q[[0, -1]])
    chain.notes.append(
        f'{coordinate.name}: {joint.name!r} also moves along other axes, as functions of it. '
        f'Taken as one hinge, fitted from {low:.3g} to {high:.3g} deg: off by '
        f'{found.millimetres[0]:.1f} mm rms, {found.millimetres[1]:.1f} mm at most, and '
        f'{found.degrees[0]:.1f} deg rms, {found.degrees[1]:.1f} deg at most.')
    return [_Step(coordinate.name, 'revolute', found.start, found.axis)], found.end


def _assemble(joint: OpenSimJoint, coordinates: Mapping[str, Coordinate], steps: list[_Step],
              end: Transform, chain: _Chain) -> None:
    """Turn steps into joints in our axes, the last one carrying the child body."""
    tail = _ours(end @ joint.in_child.inverse())
    parent, lead = joint.parent, _ours(joint.in_parent)
    if not steps:
        chain.joints.append(Joint(joint.name, 'fixed', parent, joint.child, lead @ tail))
        return
    for step in steps:
        last = step is steps[-1]
        # A frame on the axis; the child body's own, when that is on it.
        direct = last and float(np.abs(tail.p).max()) < 1e-12
        link = joint.child if direct else f'{step.name}_link'
        placement, axis = lead @ _ours(step.before), TO_OURS @ step.axis
        if direct:
            placement, axis = placement @ tail, tail.R.T @ axis
        known, factor = coordinates[step.name], chain.scale.get(step.name, 1.0)
        limits: dict[str, Any] = {} if known.upper <= known.lower else {
            'lower': factor * known.lower, 'upper': factor * known.upper}
        chain.joints.append(Joint(step.name, step.kind, parent, link, placement, axis, **limits))
        parent, lead = link, Transform.identity()
        if last and not direct:
            chain.joints.append(Joint(f'{joint.name}_fixed', 'fixed', link, joint.child, tail))


# -------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class OpenSimModel:
    """A model of OpenSim."""

    name: str  # In its file
    links: dict[str, Inertia]  # Every body with its inertia, in the axes of the package
    joints: list[Joint]  # Between the bodies, without that of the root
    root: OpenSimJoint  # Between the ground and the root body
    coordinates: dict[str, Coordinate]  # All of them, including the root's
    scale: dict[str, float]  # Position of a joint for one unit of its coordinate, where not 1
    notes: list[str]  # What was approximated or left out
    document: Document  # Content of the file

    def fitted(self, spans: Mapping[str, tuple[float, float]]) -> OpenSimModel:
        """Return the model, its approximations fitted over ranges [rad or m] of a recording."""
        return _model_of(self.document, spans)

    def robot(self, frames: Mapping[str, tuple[str, Transform]] | None = None) -> RobotModel:
        """Return the model as a RobotModel; ``frames`` as in `parts`."""
        links, joints = self.parts(frames)
        return RobotModel(self.name, links, joints)

    def parts(self, frames: Mapping[str, tuple[str, Transform]] | None = None
              ) -> tuple[dict[str, Inertia], list[Joint]]:
        """
        Return links and joints, in the form of a URDF's.

        ``frames``: further links without mass, by name, the body they are fixed to and their
        pose there; UnknownNameError for a body that the model lacks.
        """
        links, joints = dict(self.links), list(self.joints)
        for name, (link, pose) in (frames or {}).items():
            if link not in links:
                raise UnknownNameError('body', link, links)
            links[name] = Inertia()
            joints.append(Joint(f'{name}_fixed', 'fixed', link, name, pose))
        return links, joints

    @property
    def root_coordinates(self) -> tuple[str, ...]:
        """Coordinates that move the root body against the ground."""
        return tuple(found.name for found in self.root.coordinates)

    def base_pose(self, values: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the root body's pose in the world, R_WB (n, 3, 3) and p_WB (n, 3) [m].

        ``values`` (n,) [rad or m] by coordinate of the root; those missing have their default.
        """
        n = len(next(iter(values.values()))) if values else 1
        every = {found.name: np.asarray(values.get(found.name, np.full(n, found.default)), float)
                 for found in self.root.coordinates}
        R, p = joint_pose(self.root.axes, every or {'': np.zeros(n)})
        lead, tail = self.root.in_parent, self.root.in_child.inverse()
        R_GB = np.broadcast_to(lead.R @ R @ tail.R, (n, 3, 3))
        p_GB = np.broadcast_to(lead.p + (p + R @ tail.p) @ lead.R.T, (n, 3))
        return TO_OURS @ R_GB @ TO_OURS.T, p_GB @ TO_OURS.T

    def rotational(self, coordinate: str) -> bool:
        """Return whether a coordinate turns a joint, and is an angle."""
        for joint in self.joints:
            if joint.name == coordinate:
                return joint.kind == 'revolute'
        return any(coordinate in axis.coordinates for axis in self.root.axes[:3])


def read_osim(path: str | Path,
              spans: Mapping[str, tuple[float, float]] | None = None) -> OpenSimModel:
    """
    Return an OpenSim model, of version 3 or 4, approximated over ``spans`` as in `fitted`.

    Notes state the error of joints whose one coordinate moves several axes. Locked coordinates are
    fixed; muscles, markers and geometry are ignored. ModelError where bodies are no such tree.
    """
    try:
        return _model_of(read_document(path), spans or {})
    except RecursionError as error:
        raise ModelError(f'{path}: its bodies or functions nest too deeply') from error


def _model_of(document: Document, spans: Mapping[str, tuple[float, float]]) -> OpenSimModel:
    """Return the model that a document describes; see :func:`read_osim`."""
    # numpy's and scipy's errors about numbers whose squares or differences overflow
    with reraised(ModelError, f'{document.path}: a joint has numbers that cannot be computed with',
                  (ArithmeticError, ValueError, np.linalg.LinAlgError)):
        return _assembled(document, spans)


def _assembled(document: Document, spans: Mapping[str, tuple[float, float]]) -> OpenSimModel:
    notes = list(document.notes)
    root, kept = _root(document, notes)
    links = {name: _turned(document.bodies[name]) for name in kept}
    joints: list[Joint] = []
    scale: dict[str, float] = {}
    for joint in document.joints:
        if joint is root or joint.child not in kept:
            continue
        below = [other.in_parent.p for other in document.joints if other.parent == joint.child]
        center = document.bodies[joint.child].com
        chain = chain_of(joint, np.array([np.zeros(3), *below]), center, spans)
        for link in (one.child for one in chain.joints if one.child != joint.child):
            if link in links:
                raise ModelError(f'{document.path}: the name {link!r} is needed for a link '
                                 'between joints; call the body otherwise')
            links[link] = Inertia()
        joints += chain.joints
        scale |= chain.scale
        notes += chain.notes
    coordinates = {found.name: found for joint in document.joints if joint.child in kept
                   for found in joint.coordinates}
    locked = [name for name, found in coordinates.items() if found.locked
              and name not in {joint.name for joint in joints}
              and name not in {found.name for found in root.coordinates}]
    if locked:
        notes.append(f'Locked, and so fixed at their default: {", ".join(locked)}.')
    return OpenSimModel(document.name, links, joints, root, coordinates, scale, notes, document)


def _root(document: Document, notes: list[str]) -> tuple[OpenSimJoint, list[str]]:
    """Return the joint to the ground that carries most mass, and the bodies of its tree."""
    below: dict[str, list[OpenSimJoint]] = {}
    for joint in document.joints:
        if joint.child not in document.bodies or joint.parent not in {GROUND, *document.bodies}:
            odd = joint.child if joint.child not in document.bodies else joint.parent
            raise ModelError(f'joint {joint.name!r}: there is no body {odd!r}; the bodies are: '
                             f'{", ".join(document.bodies)}')
        below.setdefault(joint.parent, []).append(joint)

    def bodies(joint: OpenSimJoint, seen: frozenset[str] = frozenset()) -> list[str]:
        if joint.child in seen:
            raise ModelError(f'body {joint.child!r} hangs on itself over its joints: no tree')
        found = [joint.child]
        for other in below.get(joint.child, []):
            found += bodies(other, seen | {joint.child})
        return found

    to_ground = below.get(GROUND, [])
    if not to_ground:
        raise ModelError('expected a joint whose parent is the ground, got none')
    trees = {joint.name: bodies(joint) for joint in to_ground}
    root = max(to_ground, key=lambda joint: sum(document.bodies[name].mass
                                                for name in trees[joint.name]))
    others = [name for joint in to_ground if joint is not root for name in trees[joint.name]]
    if others:
        notes.append('Left out, because they are attached to the ground on their own: '
                     f'{", ".join(others)}.')
    return root, trees[root.name]


def _turned(inertia: Inertia) -> Inertia:
    return Inertia(inertia.mass, TO_OURS @ inertia.com, TO_OURS @ inertia.about_com @ TO_OURS.T)
