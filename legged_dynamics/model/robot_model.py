# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""RobotModel: a kinematic tree of rigid bodies, checked once and then read-only."""
from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ModelError, UnknownNameError
from legged_dynamics.model import tree as layout
from legged_dynamics.model.assembly import Frame, drop_world, root_of, weld
from legged_dynamics.model.parts import JOINT_KINDS, Inertia, Joint
from legged_dynamics.model.tree import Tree
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_to_z

JOINT_CODES = {'revolute': layout.REVOLUTE, 'continuous': layout.REVOLUTE,
               'prismatic': layout.PRISMATIC, 'spherical': layout.SPHERICAL}
POSITION_SIZE = {layout.REVOLUTE: 1, layout.PRISMATIC: 1, layout.SPHERICAL: 4}
VELOCITY_SIZE = {layout.REVOLUTE: 1, layout.PRISMATIC: 1, layout.SPHERICAL: 3}


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
    links : mapping of str to Inertia
        Every link with its inertia; a link without mass has ``Inertia()``.
    joints : sequence of Joint
        In any order. State vectors have them depth first, branches in the order given here:
        see `joint_names`, and match by name.
    base : {'floating', 'fixed'}
        Whether the root moves freely or is bolted to the ground.

    Raises
    ------
    ModelError
        When the joints do not form one tree, a mass is negative, a moving subtree has no mass,
        or an axis is zero.

    """

    def __init__(self, name: str, links: Mapping[str, Inertia], joints: Sequence[Joint],
                 base: str = 'floating'):
        if base not in ('floating', 'fixed'):
            raise ModelError(f"expected base 'floating' or 'fixed', got {base!r}")
        self.name = name
        self.floating = base == 'floating'
        self.links = dict(links)
        self.warnings: tuple[str, ...] = ()
        joints = drop_world(self.links, list(joints))
        self._check_parts(joints)
        self.base_link = root_of(self.links, joints)
        moving, inertias, self.frames = weld(self.links, joints, self.base_link)
        self.joints: tuple[Joint, ...] = tuple(moving)
        self.joint_names: tuple[str, ...] = tuple(joint.name for joint in moving)
        self.tree = self._flatten(moving, inertias)
        self._check_mass()
        codes = [int(code) for code in self.tree.topology[1:, layout.JOINT]]
        self.nq = sum(POSITION_SIZE[code] for code in codes)
        self.nv = sum(VELOCITY_SIZE[code] for code in codes)

    @classmethod
    def from_urdf(cls, source: str | Path, base: str = 'floating') -> RobotModel:
        """
        Read a URDF.

        Parameters
        ----------
        source : str or Path
            A file, or the XML itself (what ``robot_description`` carries).
        base : {'floating', 'fixed'}
            Whether the root moves freely or is bolted to the ground. An explicit floating joint
            at the root of the URDF makes it floating in any case.

        Raises
        ------
        ModelError
            When the file is missing, the XML cannot be parsed, or the robot is not a tree of
            supported joints with sensible masses.

        """
        from legged_dynamics.model.urdf import read_urdf
        name, links, joints = read_urdf(source)
        return cls(name, links, joints, base)

    # ---- what is in it ---------------------------------------------------------------------

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
        Return where a link's frame is fixed.

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

        Raises
        ------
        UnknownNameError
            When there is no such joint; the message lists the joints.

        """
        try:
            return self.joint_names.index(name)
        except ValueError:
            raise UnknownNameError('joint', name, self.joint_names) from None

    def chain(self, body: int) -> list[int]:
        """Return the bodies from just after the base to the given one."""
        found: list[int] = []
        while body > 0:
            found.append(body)
            body = int(self.tree.topology[body, layout.PARENT])
        return found[::-1]

    def with_joint_physics(self, **columns: Mapping[str, float]) -> RobotModel:
        """
        Return the model with other joint physics.

        Parameters
        ----------
        **columns : mapping of joint name to float
            Any of armature, damping, friction, stiffness, rest, effort, lower, upper, velocity.

        Raises
        ------
        UnknownNameError
            When a joint is not in the model.

        """
        changed = {joint.name: joint for joint in self.joints}
        for column, values in columns.items():
            for name, value in values.items():
                self.joint_index(name)
                new: dict[str, Any] = {column: float(value)}
                changed[name] = replace(changed[name], **new)
        copy = object.__new__(RobotModel)
        copy.__dict__.update(self.__dict__)
        copy.joints = tuple(changed.values())
        constants = self.tree.constants.copy()
        for body, joint in enumerate(copy.joints, start=1):
            constants[body, layout.ARMATURE:layout.N_CONSTANTS] = _joint_physics(joint)
        constants.setflags(write=False)
        copy.tree = Tree(self.tree.topology, constants)
        return copy

    def body_inertia(self, body: int) -> Inertia:
        """Return a body's inertia, welded links included, in the body's frame."""
        row = self.tree.constants[body]
        about = np.zeros((3, 3))
        about[np.triu_indices(3)] = row[layout.INERTIA:layout.INERTIA + 6]
        return Inertia(float(row[layout.MASS]), row[layout.COM:layout.COM + 3].copy(),
                       about + np.triu(about, 1).T)

    def with_body_inertia(self, inertias: Mapping[int, Inertia]) -> RobotModel:
        """
        Return the model with other inertias of some bodies, in the bodies' frames.

        Raises
        ------
        ModelError
            When a mass is not positive.

        """
        copy = object.__new__(RobotModel)
        copy.__dict__.update(self.__dict__)
        constants = self.tree.constants.copy()
        for body, inertia in inertias.items():
            if not inertia.mass > 0.0:
                raise ModelError(f'body {body}: expected a mass above 0 kg, got {inertia.mass:g}; '
                                 'is a payload heavier than what it is taken off?')
            constants[body, layout.MASS] = inertia.mass
            constants[body, layout.COM:layout.COM + 3] = inertia.com
            constants[body, layout.INERTIA:layout.INERTIA + 6] = inertia.about_com[
                np.triu_indices(3)]
        constants.setflags(write=False)
        copy.tree = Tree(self.tree.topology, constants)
        return copy

    def __repr__(self) -> str:
        kind = 'floating' if self.floating else 'fixed'
        return (f'RobotModel({self.name!r}, {kind} base {self.base_link!r}, '
                f'{self.n_joints} joints, {self.total_mass:.3f} kg)')

    # ---- how it is built -------------------------------------------------------------------

    def _check_parts(self, joints: Sequence[Joint]) -> None:
        notes = []
        for link, inertia in self.links.items():
            if not np.isfinite(inertia.mass) or inertia.mass < 0.0:
                raise ModelError(f'link {link!r}: expected a mass of at least 0 kg, '
                                 f'got {inertia.mass}')
            flaw = inertia.flaw()
            if flaw:
                notes.append(f'link {link!r}: {flaw}')
        names = [joint.name for joint in joints]
        for name in names:
            if names.count(name) > 1:
                raise ModelError(f'expected each joint name once, got {name!r} '
                                 f'{names.count(name)} times')
        for joint in joints:
            if joint.kind not in JOINT_KINDS:
                raise ModelError(f'joint {joint.name!r}: expected a type of '
                                 f'{", ".join(JOINT_KINDS)}; got {joint.kind!r}')
            if joint.kind in JOINT_CODES and not np.linalg.norm(joint.axis) > 1e-9:
                raise ModelError(f'joint {joint.name!r}: expected an axis of non-zero length, '
                                 f'got {np.asarray(joint.axis).tolist()}')
        self.warnings = tuple(notes)
        for note in notes:
            warnings.warn(f'{self.name}: {note}', ModelWarning, stacklevel=4)

    def _flatten(self, moving: Sequence[Joint], inertias: Sequence[Inertia]) -> Tree:
        """Put bodies into arrays, each in the frame whose z is its joint's axis."""
        n_bodies = len(moving) + 1
        topology = np.full((n_bodies, layout.N_TOPOLOGY), -1, dtype=np.int64)
        constants = np.zeros((n_bodies, layout.N_CONSTANTS))
        turned = [Transform.identity()]     # pose of each body's frame in its link's frame
        q_start = v_start = 0
        for body, joint in enumerate(moving, start=1):
            parent, welded = self.frames[joint.parent]
            # `welded` is still the pose in the parent *link that heads the body*.
            code = JOINT_CODES[joint.kind]
            axis = np.asarray(joint.axis, float) / np.linalg.norm(joint.axis)
            turn = np.eye(3) if code == layout.SPHERICAL else rotation_to_z(axis)
            turned.append(Transform(turn, np.zeros(3)))
            placed = turned[parent].inverse() @ welded @ joint.placement @ turned[body]
            topology[body] = parent, code, q_start, v_start
            constants[body, layout.R_TREE:layout.R_TREE + 9] = placed.R.ravel()
            constants[body, layout.P_TREE:layout.P_TREE + 3] = placed.p
            constants[body, layout.ARMATURE:layout.N_CONSTANTS] = _joint_physics(joint)
            q_start += POSITION_SIZE[code]
            v_start += VELOCITY_SIZE[code]
        for body, inertia in enumerate(inertias):
            local = inertia.seen_from(turned[body].inverse())
            constants[body, layout.MASS] = local.mass
            constants[body, layout.COM:layout.COM + 3] = local.com
            constants[body, layout.INERTIA:layout.INERTIA + 6] = local.about_com[
                np.triu_indices(3)]
        self.frames = {name: Frame(body, turned[body].inverse() @ pose)
                       for name, (body, pose) in self.frames.items()}
        topology.setflags(write=False)
        constants.setflags(write=False)
        return Tree(topology, constants)

    def _check_mass(self) -> None:
        subtree = self.tree.constants[:, layout.MASS].copy()
        for body in range(self.n_bodies - 1, 0, -1):
            joint = self.joints[body - 1]
            if subtree[body] <= 0.0:
                raise ModelError(f'joint {joint.name!r} moves link {joint.child!r} and what hangs '
                                 'on it, and none of that has mass, so its acceleration has no '
                                 'answer. Give the link an <inertial>, or make the joint fixed.')
            subtree[self.tree.topology[body, layout.PARENT]] += subtree[body]
        if self.floating and subtree[0] <= 0.0:
            raise ModelError(f'{self.name!r}: the whole robot has no mass. Give its links an '
                             '<inertial>.')


def _joint_physics(joint: Joint) -> tuple[float, ...]:
    return joint.armature, joint.damping, joint.friction, joint.stiffness, joint.rest
