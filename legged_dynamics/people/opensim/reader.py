# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
OpenSimModel: bodies and joints of an .osim file in the package's conventions, and its root's pose.

Link frames are OpenSim's body frames turned to x forward, y left, z up. Joints have the names and
signs of the coordinates. The joint between the ground and the root body becomes the root's pose.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from legged_dynamics.exceptions import ModelError, UnknownNameError
from legged_dynamics.model.parts import Inertia, Joint, Mimic
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.people.opensim.document import (
    GROUND,
    Coordinate,
    Coupling,
    Document,
    OpenSimJoint,
    joint_pose,
    read_document,
)
from legged_dynamics.people.opensim.joints import TO_OURS, chain_of
from legged_dynamics.spatial.frames import Transform


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
        values = coupling.function.evaluate(q[:, None])
        slope, offset = np.polyfit(q, values, 1)
        error = float(np.abs(slope * q + offset - values).max())
        if error > 1e-9:
            notes.append(f'{name} follows {master.name} along a straight line, off by up to '
                         f'{error:.2g} (rad or m).')
        own, his = scale.get(name, 1.0), scale.get(master.name, 1.0)
        found[name] = replace(found[name], mimic=Mimic(master.name, float(own * slope / his),
                                                       float(own * offset)))
    return list(found.values())
