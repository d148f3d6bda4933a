# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""From links and joints to bodies: find the root, check the tree, weld what is fixed."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from legged_dynamics.exceptions import ModelError
from legged_dynamics.model.parts import Inertia, Joint
from legged_dynamics.spatial.frames import Transform


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
    """Remove an explicit floating joint at the root: the base then floats anyway."""
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
    """
    Return the one link that is no joint's child.

    Raises
    ------
    ModelError
        When the joints do not form a tree.

    """
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
    """Walk the tree from the root, welding fixed links to the body they hang on."""
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
