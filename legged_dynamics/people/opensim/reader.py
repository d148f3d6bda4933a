# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
OpenSimModel: bodies and joints of an .osim file in the package's conventions, and its root's pose.

Link frames are OpenSim's body frames turned to x forward, y left, z up. Joints have the names and
signs of the coordinates. The joint between the ground and the root body becomes the root's pose.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import ModelError, UnknownNameError
from legged_dynamics.model.parts import Inertia, Joint, Mimic
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.people.opensim.document import (
    GROUND,
    TRANSLATIONS,
    Coordinate,
    Coupling,
    Document,
    OpenSimJoint,
    TransformAxis,
    joint_pose,
    read_document,
    rotations,
)
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_vector, rotation_vector

# -------------------------------------------------------------------------------------------------
# OpenSim's joints as chains of joints with one degree of freedom, named as their coordinates.
#
# Where one coordinate moves several axes, the joint becomes the nearest hinge or slider by
# nonlinear least squares, and a note states its error.
#
# The hinge or slider that best approximates a joint whose one coordinate moves several axes.
#
# OpenSim's knees turn about one axis and at the same time shift and turn a little about the
# others, all functions of the flexion angle. Over the range of that angle the pose of the child is
# a curve in SE(3); the nearest curve of a hinge,
#
# .. math:: X(q) \approx \mathrm{Trans}(c)\,\mathrm{Rot}(n, s q)\,E,
#
# is found by least squares over points of the child; the remaining error is reported.


# A joint that turns less than this over its whole range is a slider [rad].
LEAST_TURN = 0.05
SAMPLES = 31
# Distance from the centre of mass of the points that represent the child's attitude [m].
ARM = 0.1


class _OneAxis(NamedTuple):
    """A joint of one axis instead of several coupled ones."""

    kind: str  # 'revolute' or 'prismatic'
    start: Transform  # Pose of the axis in the joint's parent frame
    axis: np.ndarray  # (3,): unit vector there
    scale: float  # Movement of the joint for one unit of the coordinate [rad or m]
    end: Transform  # Pose of the joint's child frame beyond the axis
    # Rms and largest error of the position of points of the child, and of its orientation
    millimetres: tuple[float, float]
    degrees: tuple[float, float]


def nearest_axis(q: np.ndarray, R: np.ndarray, p: np.ndarray, points: np.ndarray,
                 center: np.ndarray) -> _OneAxis:
    """
    Return the nearest joint of one axis to poses R, p of the child in the parent.

    ``q`` (n,) evenly over its range; ``points`` (k, 3), in the child frame, keep their
    positions; orientation counts about ``center`` [m].
    """
    middle = len(q) // 2
    turn = np.array([rotation_vector(part @ R[middle].T) for part in R])
    if np.linalg.norm(turn, axis=1).max() < LEAST_TURN:
        return _slider(q, R, p, points)
    moved = q - q[middle]
    rate = (turn * moved[:, None]).sum(axis=0) / (moved ** 2).sum()
    scale = float(np.linalg.norm(rate))
    n = rate / scale
    scale = 1.0 if abs(scale - 1.0) < 0.05 else scale   # the coordinate is the angle itself
    every = np.vstack([points, center, *(center + ARM * axis for axis in np.eye(3))])
    truth = np.einsum('nij,kj->nki', R, every) + p[:, None]
    turned = rotations(n, scale * q)
    E = _mean_rotation(np.einsum('nji,njk->nik', turned, R))
    behind = np.einsum('nij,kj->nki', turned @ E, every)
    c, e = _pivot(turned, truth - behind)

    from scipy.optimize import least_squares  # slow to import

    basis = np.linalg.svd(n[None])[2][1:]

    def model(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, Transform, np.ndarray]:
        axis = n + x[0] * basis[0] + x[1] * basis[1]
        axis = axis / np.linalg.norm(axis)
        end = Transform(E @ rotation_from_vector(x[2:5]), e + x[5:8])
        where = rotations(axis, scale * q)
        at = (c + x[8:11] + np.einsum('nij,kj->nki', where, every @ end.R.T + end.p))
        return axis, c + x[8:11], end, at

    def misfit(x: np.ndarray) -> np.ndarray:
        # The pivot's position along its axis is free; a small weight keeps it in place.
        return np.append((model(x)[3] - truth).ravel(), 1e-3 * x)

    best = least_squares(misfit, np.zeros(11)).x
    axis, c, end, at = model(best)
    # The point of the axis that is nearest to the child's frame.
    slide = axis * float(axis @ end.p)
    start, end = Transform(np.eye(3), c + slide), Transform(end.R, end.p - slide)
    error = np.linalg.norm(at - truth, axis=2)[:, :len(points)]
    angle = [np.linalg.norm(rotation_vector(a @ b.T))
             for a, b in zip(rotations(axis, scale * q) @ end.R, R)]
    return _OneAxis('revolute', start, axis, scale, end, _spread(1e3 * error),
                    _spread(np.degrees(angle)))


def _slider(q: np.ndarray, R: np.ndarray, p: np.ndarray, points: np.ndarray) -> _OneAxis:
    moved = q - q.mean()
    rate = (p * moved[:, None]).sum(axis=0) / max((moved ** 2).sum(), 1e-30)
    scale = float(np.linalg.norm(rate))
    axis = rate / scale if scale > 0.0 else np.array([1.0, 0.0, 0.0])
    E, start = _mean_rotation(R), p.mean(axis=0) - scale * axis * q.mean()
    at = start + scale * q[:, None] * axis
    truth = np.einsum('nij,kj->nki', R, points) + p[:, None]
    error = np.linalg.norm(at[:, None] + points @ E.T - truth, axis=2)
    angle = [np.linalg.norm(rotation_vector(E @ part.T)) for part in R]
    return _OneAxis('prismatic', Transform(np.eye(3), start), axis, scale,
                    Transform(E, np.zeros(3)), _spread(1e3 * error), _spread(np.degrees(angle)))


def _pivot(turned: np.ndarray, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve ``offset = c + R e`` for all instants and points."""
    n, k = offset.shape[:2]
    A = np.concatenate([np.broadcast_to(np.eye(3), (n, 3, 3)), turned], axis=2)
    A = np.repeat(A, k, axis=0).reshape(-1, 6)
    found = np.linalg.lstsq(A, offset.reshape(-1), rcond=None)[0]
    return found[:3], found[3:]


def _mean_rotation(R: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation  # slow to import

    return Rotation.from_matrix(R).mean().as_matrix()


def _spread(values: object) -> tuple[float, float]:
    array = np.asarray(values, float)
    return float(np.sqrt(np.mean(array ** 2))), float(array.max())


# -------------------------------------------------------------------------------------------------


# OpenSim's ground and bodies: x forward, y up, z right; ours: x forward, y left, z up.
TO_OURS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
# Order of the axes from parent to child: translations, then rotations.
ORDER = (*TRANSLATIONS, 0, 1, 2)
# Range from which on a coordinate counts as unlimited [rad or m].
WIDE = 7.0
# Range of a coordinate without one, or with an unlimited one [rad or m].
ASSUMED = (-1.5, 1.5)


def _ours(pose: Transform) -> Transform:
    """Return a pose of OpenSim's in our axes, for both frames."""
    return Transform(TO_OURS @ pose.R @ TO_OURS.T, TO_OURS @ pose.p)


@dataclass
class _Chain:
    """The joints of one degree of freedom that one joint of OpenSim becomes."""

    # The first is attached to the parent body; the last moves the child body
    joints: list[Joint] = field(default_factory=list)
    links: list[str] = field(default_factory=list)  # Links without mass in between
    # Position of a joint for one unit of its coordinate, where that is not 1
    scale: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # What was approximated, with its error


class _Step(NamedTuple):
    """One moving axis in the joint's frames, in OpenSim's axes."""

    name: str
    kind: str
    before: Transform
    axis: np.ndarray
    mimic: Mimic | None = None


def chain_of(joint: OpenSimJoint, points: np.ndarray, center: np.ndarray,
             spans: Mapping[str, tuple[float, float]] | None) -> _Chain:
    """
    Return the 1-DoF joints that an OpenSim joint becomes.

    ``points`` (k, 3) [m] of the child must keep their positions; ``center``: its CoM;
    ``spans``: coordinate ranges of a recording, over which to fit and unlock coordinates.
    """
    spans = spans or {}
    coordinates = {found.name: found for found in joint.coordinates}
    chain, still = _Chain(), {}
    for name, found in coordinates.items():
        low, high = spans.get(name, (0.0, 0.0))
        if found.locked and high - low < 1e-6:
            still[name] = low if name in spans else found.default
    moving = [_driven(joint, axis, still) for axis in joint.axes]
    used = [name for name in moving if name]
    coupled = len(set(used)) < len(used) or any(
        name and axis.function.linear is None for name, axis in zip(moving, joint.axes))
    if coupled and len(set(used)) == 1:
        steps, end = _one_axis(joint, coordinates[used[0]], still, points, center, spans, chain)
    else:
        steps, end = _axis_by_axis(joint, coordinates, moving, still, spans, chain)
    _assemble(joint, coordinates, steps, end, chain)
    return chain


def _driven(joint: OpenSimJoint, axis: TransformAxis, still: Mapping[str, float]) -> str:
    """Return the one coordinate that moves an axis; empty when none does."""
    names = [name for k, name in enumerate(axis.coordinates) if name not in still
             and (axis.function.linear is None or axis.function.linear[k] != 0.0)]
    if len(names) > 1:
        raise ModelError(f'joint {joint.name!r}: expected axes that are functions of one '
                         f'coordinate, got one of {", ".join(names)}')
    return names[0] if names else ''


def _value(axis: TransformAxis, values: Mapping[str, float], name: str = '',
           at: float | np.ndarray = 0.0) -> np.ndarray:
    """Return the displacement along or about an axis at given values of one coordinate."""
    at = np.atleast_1d(np.asarray(at, float))
    table = np.array([at if other == name else np.full(len(at), values.get(other, 0.0))
                      for other in axis.coordinates]).reshape(len(axis.coordinates), len(at)).T
    return axis.function.evaluate(table) * np.ones(len(at))


def _moved(axis: np.ndarray, translation: bool, by: float) -> Transform:
    if translation:
        return Transform(np.eye(3), by * axis)
    return Transform(rotations(axis, np.array([by]))[0], np.zeros(3))


def _axis_by_axis(joint: OpenSimJoint, coordinates: Mapping[str, Coordinate], moving: list[str],
                  still: Mapping[str, float], spans: Mapping[str, tuple[float, float]],
                  chain: _Chain) -> tuple[list[_Step], Transform]:
    """Return a step an axis; one that is no straight line of its coordinate becomes one."""
    pending, steps = Transform.identity(), []
    # The axis that moves most is the coordinate's own; the others follow it.
    lines = {k: _line(joint.axes[k], moving[k], coordinates, still, spans)
             for k in ORDER if moving[k]}
    own: dict[str, int] = {}
    for k in sorted(lines, key=lambda k: (k in TRANSLATIONS, -abs(lines[k][0]))):
        own.setdefault(moving[k], k)
    for k in ORDER:
        axis, name = joint.axes[k], moving[k]
        if not name:
            pending = pending @ _moved(axis.axis, k in TRANSLATIONS, float(_value(axis, still)[0]))
            continue
        slope, offset, error = lines[k]
        pending = pending @ _moved(axis.axis, k in TRANSLATIONS, offset)
        kind = 'prismatic' if k in TRANSLATIONS else 'revolute'
        if own[name] == k:
            if abs(abs(slope) - 1.0) > 1e-9:
                chain.scale[name] = abs(slope)
            steps.append(_Step(name, kind, pending, np.sign(slope) * axis.axis))
        else:
            label = f'{name}_{"translation" if k in TRANSLATIONS else "rotation"}{k % 3 + 1}'
            steps.append(_Step(label, kind, pending, axis.axis,
                               Mimic(name, slope / abs(lines[own[name]][0]))))
        if error > 1e-9:
            unit, factor = ('mm', 1e3) if k in TRANSLATIONS else ('deg', np.degrees(1.0))
            chain.notes.append(f'{name}: an axis of {joint.name!r} that follows it along a curve '
                               f'follows it along a straight line here, off by up to '
                               f'{factor * error:.2g} {unit}.')
        pending = Transform.identity()
    return steps, pending


def _line(axis: TransformAxis, name: str, coordinates: Mapping[str, Coordinate],
          still: Mapping[str, float], spans: Mapping[str, tuple[float, float]]
          ) -> tuple[float, float, float]:
    """Return slope and offset of the line nearest to an axis' function, and its largest error."""
    q = np.linspace(*_span(coordinates[name], spans), SAMPLES)
    values = _value(axis, still, name, q)
    if axis.function.linear is not None:
        slope = axis.function.linear[axis.coordinates.index(name)]
        return slope, float(values[0] - slope * q[0]), 0.0
    return _straight(q, values)


def _straight(q: np.ndarray, values: np.ndarray) -> tuple[float, float, float]:
    """Return slope and offset of the line nearest to some values, and its largest error."""
    slope, offset = np.polyfit(q, values, 1)
    return float(slope), float(offset), float(np.abs(slope * q + offset - values).max())


def _span(coordinate: Coordinate,
          spans: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """Return the range over which an approximation is fitted."""
    low, high = max(coordinate.lower, -WIDE), min(coordinate.upper, WIDE)
    if high - low > 2.0 * np.pi or high - low < 1e-3:
        low, high = ASSUMED
    if coordinate.name in spans:
        least, most = spans[coordinate.name]
        if most - least > 0.05:
            # A little beyond the recording, so that the next step is within the range, too.
            margin = 0.1 * (most - least)
            return least - margin, most + margin
    return low, high


def _one_axis(joint: OpenSimJoint, coordinate: Coordinate, still: Mapping[str, float],
              points: np.ndarray, center: np.ndarray,
              spans: Mapping[str, tuple[float, float]],
              chain: _Chain) -> tuple[list[_Step], Transform]:
    """Return the nearest single axis to a joint whose coordinate moves several axes."""
    q = np.linspace(*_span(coordinate, spans), SAMPLES)
    values = {name: np.full(len(q), value) for name, value in still.items()}
    R, p = joint_pose(joint.axes, {**values, coordinate.name: q})
    into = joint.in_child.inverse()
    found = nearest_axis(q, R, p, points @ into.R.T + into.p, into.point(center))
    if abs(found.scale - 1.0) > 1e-9:
        chain.scale[coordinate.name] = found.scale
    turning = found.kind == 'revolute'
    low, high = np.degrees(q[[0, -1]]) if turning else q[[0, -1]]
    chain.notes.append(
        f'{coordinate.name}: {joint.name!r} also moves along other axes, as functions of it. '
        f'Taken as one {"hinge" if turning else "slider"}, fitted from {low:.3g} to {high:.3g} '
        f'{"deg" if turning else "m"}: off by {found.millimetres[0]:.1f} mm rms, '
        f'{found.millimetres[1]:.1f} mm at most, and {found.degrees[0]:.1f} deg rms, '
        f'{found.degrees[1]:.1f} deg at most.')
    return [_Step(coordinate.name, found.kind, found.start, found.axis)], found.end


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
        elif link not in chain.links:
            chain.links.append(link)
        known = coordinates.get(step.name)
        factor = chain.scale.get(step.name, 1.0)
        limits = {} if known is None or known.upper <= known.lower else {
            'lower': factor * known.lower, 'upper': factor * known.upper}
        chain.joints.append(Joint(step.name, step.kind, parent, link, placement, axis,
                                  mimic=step.mimic, **limits))
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
    try:
        return _assembled(document, spans)
    except ModelError:
        raise
    # numpy's and scipy's errors about numbers whose squares or differences overflow
    except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
        raise ModelError(f'{document.path}: a joint has numbers that cannot be computed with: '
                         f'{error}') from error


def _assembled(document: Document, spans: Mapping[str, tuple[float, float]]) -> OpenSimModel:
    notes = list(document.notes)
    root, kept = _root(document, notes)
    links = {name: _turned(document.bodies[name]) for name in kept}
    joints: list[Joint] = []
    scale: dict[str, float] = {}
    spans = _with_followers(document, spans)
    for joint in document.joints:
        if joint is root or joint.child not in kept:
            continue
        below = [other.in_parent.p for other in document.joints if other.parent == joint.child]
        center = document.bodies[joint.child].com
        chain = chain_of(joint, np.array([np.zeros(3), *below]), center, spans)
        for link in chain.links:
            if link in links:
                raise ModelError(f'{document.path}: the name {link!r} is needed for a link '
                                 'between joints; call the body otherwise')
            links[link] = Inertia()
        joints += chain.joints
        scale |= chain.scale
        notes += chain.notes
    coordinates = {found.name: found for joint in document.joints if joint.child in kept
                   for found in joint.coordinates}
    joints = _followers(document.couplings, joints, coordinates, scale, notes)
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


def _with_followers(document: Document,
                    spans: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Return the spans, with those of coordinates tied to others by a constraint."""
    ranges = {found.name: (found.lower, found.upper) for joint in document.joints
              for found in joint.coordinates}
    every = dict(spans)
    for coupling in document.couplings:
        if len(coupling.independent) == 1 and coupling.dependent not in every:
            low, high = spans.get(coupling.independent[0],
                                  ranges.get(coupling.independent[0], (-np.inf, np.inf)))
            if np.isfinite(low) and np.isfinite(high):
                values = coupling.function.evaluate(np.linspace(low, high, 31)[:, None])
                every[coupling.dependent] = (float(values.min()), float(values.max()))
    return every


def _followers(couplings: list[Coupling], joints: list[Joint],
               coordinates: Mapping[str, Coordinate], scale: Mapping[str, float],
               notes: list[str]) -> list[Joint]:
    """Return the joints, with those tied to others by a constraint following them."""
    found = {joint.name: joint for joint in joints}
    for coupling in couplings:
        name, masters = coupling.dependent, coupling.independent
        if name not in found or len(masters) != 1 or masters[0] not in found:
            notes.append(f'{name} depends on {", ".join(masters)} by a constraint that is left '
                         'out: it is taken as the recording has it.')
            continue
        master = coordinates[masters[0]]
        low, high = max(master.lower, -3.0), min(master.upper, 3.0)
        q = np.linspace(low, high, 31) if high > low else np.linspace(-1.0, 1.0, 31)
        slope, offset, error = _straight(q, coupling.function.evaluate(q[:, None]))
        if error > 1e-9:
            notes.append(f'{name} follows {master.name} along a straight line, off by up to '
                         f'{error:.2g} (rad or m).')
        own, his = scale.get(name, 1.0), scale.get(master.name, 1.0)
        found[name] = replace(found[name], mimic=Mimic(master.name, own * slope / his,
                                                       own * offset))
    return list(found.values())
