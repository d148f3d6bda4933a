# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
From links and joints to bodies: find the root, check the tree, combine links that are fixed.

Links that fixed joints connect are one rigid body; its frame is that of the first link, turned so
that z is along the axis of the joint before it. The bodies become the flat arrays of `Tree`.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import ModelError
from legged_dynamics.model import parts as layout
from legged_dynamics.model.parts import JOINT_KINDS, Inertia, Joint, Tree
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_to_z


class Frame(NamedTuple):
    """
    A named link's frame: fixed to a body of the tree.

    Attributes
    ----------
    body : int
        Index of the body that carries the frame.
    pose : Transform
        Pose of the frame in that body's own frame.

    """

    body: int
    pose: Transform


def drop_world(links: dict[str, Inertia], joints: list[Joint]) -> list[Joint]:
    """
    Return the joints without a floating root joint, and remove its parent from links.

    Raises ModelError for a floating joint elsewhere, or a parent with mass or other joints.
    """
    floating = [joint for joint in joints if joint.kind == 'floating']
    if not floating:
        return joints
    root = root_of(links, joints)
    first = floating[0]
    others = [joint for joint in joints if joint.parent == root and joint is not first]
    if len(floating) > 1 or first.parent != root or others or links[root].mass > 0.0:
        raise ModelError(
            f'joint {floating[-1].name!r}: a floating joint is understood only as the one joint '
            f'between a massless root link and the base; the root here is {root!r}')
    del links[root]
    return [joint for joint in joints if joint is not first]


def root_of(links: Mapping[str, Inertia], joints: Sequence[Joint]) -> str:
    """Return the one link that is no joint's child; raise ModelError if there is no tree."""
    if not links:
        raise ModelError('expected at least one link, got a robot without any')
    parent_of: dict[str, str] = {}
    for joint in joints:
        for role, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in links:
                raise ModelError(f'joint {joint.name!r}: its {role} link {link!r} is not defined. '
                                 f'The links are: {", ".join(links)}')
        if joint.child in parent_of:
            raise ModelError(f'link {joint.child!r} is the child of more than one joint '
                             f'({joint.name!r} is one), so this is not a tree. Cut the loop.')
        parent_of[joint.child] = joint.parent
    roots = [link for link in links if link not in parent_of]
    if len(roots) != 1:
        found = ', '.join(roots) or 'none: the joints form a loop'
        raise ModelError(f"expected one root link (a link that is no joint's child), got {found}")
    return roots[0]


def weld(links: Mapping[str, Inertia], joints: Sequence[Joint],
         root: str) -> tuple[list[Joint], list[Inertia], dict[str, Frame]]:
    """
    Merge links on fixed joints into bodies; return moving joints, inertias and frames.

    Parents and the base come first; inertias are in the bodies' frames, ``frames``: each
    link's body and pose on it.
    """
    below: dict[str, list[Joint]] = {link: [] for link in links}
    above = {joint.child: joint for joint in joints}
    for joint in joints:
        below[joint.parent].append(joint)
    moving: list[Joint] = []
    inertias = [links[root]]
    frames = {root: Frame(0, Transform.identity())}
    pending = [root]
    while pending:
        link = pending.pop()
        for joint in reversed(below[link]):
            pending.append(joint.child)
        if link == root:
            continue
        joint = above[link]
        body, pose = frames[joint.parent]
        if joint.kind == 'fixed':
            frames[link] = Frame(body, pose @ joint.placement)
            inertias[body] = inertias[body] + links[link].seen_from(frames[link].pose)
        else:
            moving.append(joint)
            inertias.append(links[link])
            frames[link] = Frame(len(moving), Transform.identity())
    if len(frames) != len(links):
        lost = ', '.join(link for link in links if link not in frames)
        raise ModelError(f'these links are not connected to the root {root!r}: {lost}')
    return moving, inertias, frames


# -------------------------------------------------------------------------------------------------
# Bodies as flat arrays for kernels.


JOINT_CODES = {'revolute': layout.REVOLUTE, 'continuous': layout.REVOLUTE,
               'prismatic': layout.PRISMATIC, 'spherical': layout.SPHERICAL}
POSITION_SIZE = {layout.REVOLUTE: 1, layout.PRISMATIC: 1, layout.SPHERICAL: 4}
VELOCITY_SIZE = {layout.REVOLUTE: 1, layout.PRISMATIC: 1, layout.SPHERICAL: 3}


def flatten(moving: Sequence[Joint], inertias: Sequence[Inertia],
            frames: Mapping[str, Frame]) -> tuple[Tree, dict[str, Frame]]:
    """
    Return bodies as arrays, each in the frame with z along its joint axis, and frames.

    Inputs: base first, parents before children, in the frames of the bodies' first links.
    """
    n_bodies = len(moving) + 1
    topology = np.full((n_bodies, layout.N_TOPOLOGY), -1, dtype=np.int64)
    constants = np.zeros((n_bodies, layout.N_CONSTANTS))
    turned = [Transform.identity()]     # pose of each body's frame in its link's frame
    q_start = v_start = 0
    for body, joint in enumerate(moving, start=1):
        parent, welded = frames[joint.parent]
        # `welded` is still the pose in the parent *link that heads the body*.
        code = JOINT_CODES[joint.kind]
        axis = np.asarray(joint.axis, float) / np.linalg.norm(joint.axis)
        turn = np.eye(3) if code == layout.SPHERICAL else rotation_to_z(axis)
        turned.append(Transform(turn, np.zeros(3)))
        placed = turned[parent].inverse() @ welded @ joint.placement @ turned[body]
        topology[body] = parent, code, q_start, v_start
        constants[body, layout.R_TREE:layout.R_TREE + 9] = placed.R.ravel()
        constants[body, layout.P_TREE:layout.P_TREE + 3] = placed.p
        constants[body, layout.ARMATURE:layout.N_CONSTANTS] = joint_physics(joint)
        q_start += POSITION_SIZE[code]
        v_start += VELOCITY_SIZE[code]
    for body, inertia in enumerate(inertias):
        write_inertia(constants[body], inertia.seen_from(turned[body].inverse()))
    topology.setflags(write=False)
    constants.setflags(write=False)
    return Tree(topology, constants), {
        name: Frame(body, turned[body].inverse() @ pose) for name, (body, pose) in frames.items()}


def read_inertia(row: np.ndarray) -> Inertia:
    """Return the inertia in a row of ``Tree.constants``, in the body's frame."""
    about = np.zeros((3, 3))
    about[np.triu_indices(3)] = row[layout.INERTIA:layout.INERTIA + 6]
    return Inertia(float(row[layout.MASS]), row[layout.COM:layout.COM + 3].copy(),
                   about + np.triu(about, 1).T)


def write_inertia(row: np.ndarray, inertia: Inertia) -> None:
    """Write an inertia (body frame) into a row of ``Tree.constants``."""
    row[layout.MASS] = inertia.mass
    row[layout.COM:layout.COM + 3] = inertia.com
    row[layout.INERTIA:layout.INERTIA + 6] = inertia.about_com[np.triu_indices(3)]


def joint_physics(joint: Joint) -> tuple[float, ...]:
    """Return a joint's armature, damping, friction, stiffness and rest position."""
    return joint.armature, joint.damping, joint.friction, joint.stiffness, joint.rest


def moved_mass(tree: Tree) -> np.ndarray:
    """Return the mass of each body's subtree (n_bodies,) [kg]."""
    mass = tree.constants[:, layout.MASS].copy()
    for body in range(len(mass) - 1, 0, -1):
        mass[tree.topology[body, layout.PARENT]] += mass[body]
    return mass


# -------------------------------------------------------------------------------------------------
# Checks of single links and joints.


# A link lighter than this fraction of the robot may have an impossible inertia without a warning:
# its inertia has no noticeable effect.
NEGLIGIBLE = 1e-4


def check_parts(links: Mapping[str, Inertia], joints: Sequence[Joint]) -> list[str]:
    """Return warnings about links and joints; raise ModelError for invalid ones."""
    notes = []
    least = NEGLIGIBLE * sum(inertia.mass for inertia in links.values())
    for link, inertia in links.items():
        if not np.isfinite(inertia.mass) or inertia.mass < 0.0:
            raise ModelError(f'link {link!r}: expected a mass of at least 0 kg, '
                             f'got {inertia.mass}')
        flaw = inertia.flaw() if inertia.mass > least else None
        if flaw:
            notes.append(f'link {link!r}: {flaw}')
    for name, count in Counter(joint.name for joint in joints).items():
        if count > 1:
            raise ModelError(f'expected each joint name once, got {name!r} {count} times')
    for joint in joints:
        if joint.kind not in JOINT_KINDS:
            raise ModelError(f'joint {joint.name!r}: expected a type of '
                             f'{", ".join(JOINT_KINDS)}; got {joint.kind!r}')
        if joint.kind in JOINT_CODES and not np.linalg.norm(joint.axis) > 1e-9:
            raise ModelError(f'joint {joint.name!r}: expected an axis of non-zero length, '
                             f'got {np.asarray(joint.axis).tolist()}')
    return notes
