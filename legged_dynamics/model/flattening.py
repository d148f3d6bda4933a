# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bodies into flat arrays, as the kernels see them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from legged_dynamics.model import tree as layout
from legged_dynamics.model.assembly import Frame
from legged_dynamics.model.parts import Inertia, Joint
from legged_dynamics.model.tree import Tree
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_to_z

JOINT_CODES = {'revolute': layout.REVOLUTE, 'continuous': layout.REVOLUTE,
               'prismatic': layout.PRISMATIC, 'spherical': layout.SPHERICAL}
POSITION_SIZE = {layout.REVOLUTE: 1, layout.PRISMATIC: 1, layout.SPHERICAL: 4}
VELOCITY_SIZE = {layout.REVOLUTE: 1, layout.PRISMATIC: 1, layout.SPHERICAL: 3}


def flatten(moving: Sequence[Joint], inertias: Sequence[Inertia],
            frames: Mapping[str, Frame]) -> tuple[Tree, dict[str, Frame]]:
    """
    Put bodies into arrays, each in the frame whose z is its joint's axis.

    Parameters
    ----------
    moving : sequence of Joint
        Of one degree of freedom or spherical; parents before children.
    inertias : sequence of Inertia
        Of the bodies, the base first, in the frames of the links that head them.
    frames : mapping of str to Frame
        Of the links, in those same frames.

    Returns
    -------
    tree : Tree
    frames : dict of str to Frame
        Of the links, in the bodies' own frames.

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
        local = inertia.seen_from(turned[body].inverse())
        constants[body, layout.MASS] = local.mass
        constants[body, layout.COM:layout.COM + 3] = local.com
        constants[body, layout.INERTIA:layout.INERTIA + 6] = local.about_com[
            np.triu_indices(3)]
    topology.setflags(write=False)
    constants.setflags(write=False)
    return Tree(topology, constants), {
        name: Frame(body, turned[body].inverse() @ pose) for name, (body, pose) in frames.items()}


def joint_physics(joint: Joint) -> tuple[float, ...]:
    """Return the constants of a joint, in the order of the tree's columns."""
    return joint.armature, joint.damping, joint.friction, joint.stiffness, joint.rest


def moved_mass(tree: Tree) -> np.ndarray:
    """Return the mass of each body and all that hangs on it, (n_bodies,) [kg]."""
    mass = tree.constants[:, layout.MASS].copy()
    for body in range(len(mass) - 1, 0, -1):
        mass[tree.topology[body, layout.PARENT]] += mass[body]
    return mass
