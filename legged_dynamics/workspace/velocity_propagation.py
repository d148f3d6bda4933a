# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Stage 1, velocity propagation (3.5)-(3.9): from the base to the feet, and what motion takes.

The paper's outboard recursion in three dimensions: pose and twist of every body, its Coriolis
acceleration, and its load of gravity and spin. In base axes and in terms of proper acceleration
neither the base's velocity over ground nor a transform between links enters. The loads are then
gathered into the bias ``h`` and the inertias into ``M``; contacts get their Jacobians and drift.
"""
from __future__ import annotations

from legged_dynamics.dynamics.contact_bias import contact_bias
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    RADIUS,
    FeetTable,
    contact_jacobians,
    contact_map,
    contact_points,
)
from legged_dynamics.dynamics.kinematics import FORCE, forward_kinematics
from legged_dynamics.dynamics.newton_euler import add_joint_physics, joint_efforts
from legged_dynamics.dynamics.rigid_body import place_inertial_wrenches, place_inertias
from legged_dynamics.spatial.algebra import add, load3
from legged_dynamics.spatial.jit import part


@part
def propagate_velocity(s, up):
    """
    Fill ``bodies``, the bias ``h``, and contact points, Jacobians and drift of the feet.

    Parameters
    ----------
    s : StanceArrays
        Its q, v and base are read.
    up : tuple of three floats
        The world's z in base axes; a ball touches along that and its ``lean``.

    """
    # With joint accelerations of zero the wrenches that bodies take are the bias h.
    forward_kinematics(s.tree, s.q, s.v, s.still, s.base, s.bodies)
    place_inertias(s.tree, s.bodies)
    place_inertial_wrenches(s.bodies)
    joint_efforts(s.tree, s.bodies, s.h[6:])
    add_joint_physics(s.tree, s.q, s.v, s.still, s.h[6:])
    for k in range(6):
        s.h[k] = s.bodies[0, FORCE + k]
    contact_points(s.feet, s.bodies, up, s.states)
    for i in range(s.feet.index.shape[0]):
        for k in range(3):
            s.states[i, CONTACT + k] -= s.feet.geometry[i, RADIUS] * s.lean[i, k]
    contact_map(s.feet, s.states, s.grasp)
    contact_jacobians(s.tree, s.feet, s.bodies, s.states, s.jacobian)
    gravity = load3(s.base, 6)      # a foot at rest has this proper acceleration
    for i in range(s.feet.index.shape[0]):
        foot = FeetTable(s.feet.index[i:i + 1], s.feet.geometry[i:i + 1])
        contact_bias(foot, s.bodies, s.states[i:i + 1], add(up, load3(s.lean[i], 0)), s.drift)
        for k in range(3):
            s.drift[s.feet.index[i, 1] + k] -= gravity[k]
