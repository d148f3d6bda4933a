# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""RobotModel: a kinematic tree of rigid bodies, checked once and then read-only."""
from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ModelError, UnknownNameError, index_of
from legged_dynamics.model import parts as layout
from legged_dynamics.model.assembly import (
    POSITION_SIZE,
    VELOCITY_SIZE,
    Frame,
    check_parts,
    drop_world,
    flatten,
    joint_physics,
    moved_mass,
    read_inertia,
    root_of,
    weld,
    write_inertia,
)
from legged_dynamics.model.joint_order import find_mimics, resolve_mimics
from legged_dynamics.model.parts import Inertia, Joint, Tree
from legged_dynamics.model.shapes import Shape, read_looks
from legged_dynamics.spatial.frames import Transform


class ModelWarning(UserWarning):
    """Something in a robot description is physically odd, but can be computed with."""


class RobotModel:
    """
    A robot as a tree of rigid bodies joined by joints.

    Links welded by fixed joints become one body; their frames stay known by name. Positions of
    1-DoF joints are [rad] or [m]; a spherical joint has the quaternion (x, y, z, w) of child in
    parent as position, and the child's angular velocity relative to the parent, in the child's
    axes, as velocity.

    Parameters
    ----------
    name : str
        Name of the robot.
    links : mapping of str to Inertia
        Every link with its inertia; a link without mass has ``Inertia()``.
    joints : sequence of Joint
        Joints in any order. State vectors have them depth first, branches in the order given here:
        see `joint_names`, and match by name.
    base : {'floating', 'fixed'}
        Whether the root moves freely or is bolted to the ground.
    notes : sequence of str
        Oddities of the description, which are warned of together with those of the model.

    Attributes
    ----------
    mimics : Mimics
        The joints that follow others. Each keeps its own coordinate in all arrays.
    massless : tuple of str
        Joints that move no mass at all.

    Raises
    ------
    ModelError
        When the joints do not form one tree, a mass is negative, nothing has mass, or an axis is
        zero.

    """

    def __init__(self, name: str, links: Mapping[str, Inertia], joints: Sequence[Joint],
                 base: str = 'floating', notes: Sequence[str] = ()):
        if base not in ('floating', 'fixed'):
            raise ModelError(f"expected base 'floating' or 'fixed', got {base!r}")
        self.name = name
        self.floating = base == 'floating'
        self.links = dict(links)
        self._urdf = ''
        self.warnings: tuple[str, ...] = ()
        joints = drop_world(self.links, list(joints))
        self._remark([*notes, *check_parts(self.links, joints)])
        self.base_link = root_of(self.links, joints)
        masters, odd_mimics = resolve_mimics(joints)
        moving, inertias, self.frames = weld(
            self.links, [replace(joint, mimic=masters.get(joint.name)) for joint in joints],
            self.base_link)
        self.joints: tuple[Joint, ...] = tuple(moving)
        self.joint_names: tuple[str, ...] = tuple(joint.name for joint in moving)
        self.tree, self.frames = flatten(moving, inertias, self.frames)
        self._remark([*odd_mimics, *self._check_mass()])
        codes = [int(code) for code in self.tree.topology[1:, layout.JOINT]]
        self.nq = sum(POSITION_SIZE[code] for code in codes)
        self.nv = sum(VELOCITY_SIZE[code] for code in codes)
        self.mimics = find_mimics(self.joints, self.tree.topology, self.nv)

    @classmethod
    def from_urdf(cls, source: str | Path, base: str = 'floating') -> RobotModel:
        """
        Read a URDF.

        Parameters
        ----------
        source : str or Path
            A file, or the XML itself.
        base : {'floating', 'fixed'}
            Whether the root moves freely or is bolted to the ground. An explicit floating joint
            at the root of the URDF makes it floating in any case.

        Returns
        -------
        RobotModel
            The tree of bodies; what is odd about the description is in its `warnings`.

        Raises
        ------
        ModelError
            When the file is missing, the XML cannot be parsed, or the robot is not a tree of
            supported joints with sensible masses.

        """
        from legged_dynamics.model.urdf import read_urdf_text
        return cls._parsed(*read_urdf_text(source), base)

    @classmethod
    def from_xml(cls, text: str, base: str = 'floating') -> RobotModel:
        """
        Read the XML of a URDF, as a topic ``robot_description`` carries it; never a path.

        Parameters
        ----------
        text : str
            XML.
        base : {'floating', 'fixed'}
            As in :meth:`from_urdf`.

        Returns
        -------
        RobotModel
            The tree of bodies, as :meth:`from_urdf` gives it.

        Raises
        ------
        ModelError
            When the text is not the URDF of such a robot.

        """
        return cls._parsed(text, 'robot description', base)

    @classmethod
    def _parsed(cls, text: str, origin: str, base: str) -> RobotModel:
        from legged_dynamics.model.urdf import parse_urdf
        name, links, joints, notes = parse_urdf(text, origin)
        model = cls(name, links, joints, base, notes)
        model._urdf = text
        return model

    @property
    def n_bodies(self) -> int:
        """Return the number of rigid bodies, base included."""
        return self.tree.topology.shape[0]

    @property
    def n_joints(self) -> int:
        """Return the number of moving joints (spherical ones count once)."""
        return len(self.joints)

    @property
    def total_mass(self) -> float:
        """Mass of the whole robot [kg]."""
        return float(self.tree.constants[:, layout.MASS].sum())

    @cached_property
    def shapes(self) -> dict[str, list[Shape]]:
        """What each link collides with, or else looks like; nothing without a URDF."""
        return read_looks(self._urdf).shapes if self._urdf else {}

    @property
    def effort_limits(self) -> np.ndarray:
        """Effort limit of each joint [N m or N]; infinite where none is stated."""
        return np.array([joint.effort for joint in self.joints])

    @property
    def position_limits(self) -> np.ndarray:
        """(n_joints, 2) lower and upper position limits [rad or m]."""
        return np.array([[joint.lower, joint.upper] for joint in self.joints])

    def frame(self, link: str) -> Frame:
        """
        Return the body that a link belongs to, and the link's pose on it.

        Parameters
        ----------
        link : str
            Name of the link.

        Returns
        -------
        Frame

        Raises
        ------
        UnknownNameError
            When there is no such link; the message lists the links.

        """
        try:
            return self.frames[link]
        except KeyError:
            raise UnknownNameError('link', link, self.frames) from None

    def joint_index(self, name: str) -> int:
        """
        Return a joint's place in `joint_names`.

        Parameters
        ----------
        name : str
            Name of the joint.

        Returns
        -------
        int

        Raises
        ------
        UnknownNameError
            When there is no such joint; the message lists the joints.

        """
        return index_of('joint', name, self.joint_names)

    def require_inertia(self, what: str) -> None:
        """
        Refuse an algorithm that divides by the inertia of every joint.

        Parameters
        ----------
        what : str
            Name of the algorithm, for the error's text.

        Raises
        ------
        ModelError
            When a joint moves neither mass nor a rotor.

        """
        bare = [name for name in self.massless if not
                self.joints[self.joint_index(name)].armature > 0.0]
        if bare:
            raise ModelError(f'{what}: joint {bare[0]!r} moves no mass and has no armature, so '
                             'its acceleration has no answer. Give what hangs on it an '
                             '<inertial>, the joint an armature, or make it fixed.')

    def chain(self, body: int) -> list[int]:
        """
        Return the bodies on the way from the base to a body.

        Parameters
        ----------
        body : int
            Number of the body.

        Returns
        -------
        list of int
            Without the base, ending with the body itself.

        """
        found: list[int] = []
        while body > 0:
            found.append(body)
            body = int(self.tree.topology[body, layout.PARENT])
        return found[::-1]

    def with_joint_physics(self, **columns: Mapping[str, float]) -> RobotModel:
        """
        Change the physics of joints.

        Parameters
        ----------
        **columns : mapping of joint name to float
            Any of armature, damping, friction, stiffness, rest, effort, lower, upper, velocity.

        Returns
        -------
        RobotModel
            A copy; joints and quantities that are not named keep their values. The model itself
            where nothing changes.

        Raises
        ------
        UnknownNameError
            When a joint is not in the model.

        """
        changed = {joint.name: joint for joint in self.joints}
        for column, values in columns.items():
            for name, value in values.items():
                self.joint_index(name)
                if getattr(changed[name], column) != value:
                    new: dict[str, Any] = {column: float(value)}
                    changed[name] = replace(changed[name], **new)
        if all(joint is changed[joint.name] for joint in self.joints):
            return self
        constants = self.tree.constants.copy()
        for body, joint in enumerate(changed.values(), start=1):
            constants[body, layout.ARMATURE:layout.N_CONSTANTS] = joint_physics(joint)
        copy = self._copy(constants)
        copy.joints = tuple(changed.values())
        return copy

    def with_base(self, base: str) -> RobotModel:
        """
        Return the model with a floating or a fixed base.

        Parameters
        ----------
        base : {'floating', 'fixed'}
            Whether the root moves freely or is fixed to the ground.

        Returns
        -------
        RobotModel

        Raises
        ------
        ModelError
            When the base is neither.

        """
        if base not in ('floating', 'fixed'):
            raise ModelError(f"expected base 'floating' or 'fixed', got {base!r}")
        if self.floating == (base == 'floating'):
            return self
        copy = self._copy()
        copy.floating = not self.floating
        return copy

    def with_frames(self, frames: Mapping[str, tuple[str, Transform]]) -> RobotModel:
        """
        Add named frames, or move those that were added before.

        Parameters
        ----------
        frames : mapping of str to (str, Transform)
            Frames by name, the link a frame is fixed to, and its pose there.

        Returns
        -------
        RobotModel
            A copy with those frames; the model itself where it has them already.

        Raises
        ------
        ModelError
            When a name is that of a link.
        UnknownNameError
            When a link is not in the model.

        """
        found = {}
        for name, (link, pose) in frames.items():
            if name in self.links:
                raise ModelError(f'expected the name of a new frame, got the link {name!r}')
            body, where = self.frame(link)
            found[name] = Frame(body, where @ pose)
        if all(name in self.frames and _same(frame, self.frames[name])
               for name, frame in found.items()):
            return self
        copy = self._copy()
        copy.frames = {**self.frames, **found}
        return copy

    def body_inertia(self, body: int) -> Inertia:
        """
        Return a body's inertia, fixed links included.

        Parameters
        ----------
        body : int
            Number of the body; 0 is the base.

        Returns
        -------
        Inertia
            In the body's frame.

        """
        return read_inertia(self.tree.constants[body])

    def with_body_inertia(self, inertias: Mapping[int, Inertia]) -> RobotModel:
        """
        Return the model with other inertias of some bodies; itself where they are the same.

        Parameters
        ----------
        inertias : mapping of int to Inertia
            Inertias by number of the body, in the body's frame.

        Returns
        -------
        RobotModel

        Raises
        ------
        ModelError
            When a mass is not positive.

        """
        constants = self.tree.constants.copy()
        for body, inertia in inertias.items():
            if not inertia.mass > 0.0:
                raise ModelError(f'body {body}: expected a mass above 0 kg, got {inertia.mass:g}')
            write_inertia(constants[body], inertia)
        if np.array_equal(constants, self.tree.constants):
            return self
        return self._copy(constants)

    def __repr__(self) -> str:
        kind = 'floating' if self.floating else 'fixed'
        return (f'RobotModel({self.name!r}, {kind} base {self.base_link!r}, '
                f'{self.n_joints} joints, {self.total_mass:.3f} kg)')

    def _copy(self, constants: np.ndarray | None = None) -> RobotModel:
        copy = object.__new__(RobotModel)
        copy.__dict__.update(self.__dict__)
        if constants is not None:
            constants.setflags(write=False)
            copy.tree = Tree(self.tree.topology, constants)
        return copy

    def _remark(self, notes: Sequence[str]) -> None:
        self.warnings += tuple(notes)
        for note in notes:
            warnings.warn(f'{self.name}: {note}', ModelWarning, stacklevel=4)

    def _check_mass(self) -> list[str]:
        """Find the joints that move nothing heavy, and say so."""
        moved = moved_mass(self.tree)
        if self.floating and moved[0] <= 0.0:
            raise ModelError(f'{self.name!r}: the whole robot has no mass. Give its links an '
                             '<inertial>.')
        massless = [joint for joint, mass in zip(self.joints, moved[1:]) if mass <= 0.0]
        self.massless = tuple(joint.name for joint in massless)
        return [f'joint {joint.name!r} moves link {joint.child!r} and what hangs on it, and none '
                'of that has mass, so its acceleration has no answer; efforts and forces do. Give '
                'the link an <inertial>, or make the joint fixed' for joint in massless]


def _same(frame: Frame, other: Frame) -> bool:
    """Return whether two frames are one and the same, to the last bit."""
    return (frame.body == other.body and np.array_equal(frame.pose.p, other.pose.p)
            and np.array_equal(frame.pose.R, other.pose.R))
