# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Stage 4, force propagation (3.25)-(3.27): from the feet's wrenches to joint torques.

A leg passes on what its foot bears, link by link, as if at rest: the wrench F_io on a link from
inboard balances the foot's (3.25), (3.27), and the joint takes its component along the axis,
``tau = H^T F_io`` (3.26); so ``tau = -J_q^T lambda``. What the legs' own motion and weight take
comes on top.
"""
from __future__ import annotations

from legged_dynamics.dynamics.jacobians import BODY, CONTACT, FOOT_ROTATION, START, foot_moment
from legged_dynamics.dynamics.kinematics import POSITION, ROTATION
from legged_dynamics.estimation.force_filter import write_wrenches
from legged_dynamics.model.tree import JOINT, PARENT, PRISMATIC, V_START
from legged_dynamics.spatial.algebra import (
    cross,
    dot,
    load3,
    rotate_back,
    store3,
    subtract,
    z_axis,
)
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.table import get3, get9


@part
def propagate_force(tree, feet, bodies, states, shares, effort):
    """
    Add to the (nv,) efforts what the feet's wrenches (nc,) ask of the joints.

    Parameters
    ----------
    tree : Tree
        Of the robot.
    feet : FeetTable
        Those in contact.
    bodies, states : arrays
        Body poses and contact points, base axes.
    shares : (nc,) array [N, N m]
        Contact coordinates, base axes.
    effort : (nv,) array [N m or N]
        Added to.

    """
    topology = tree.topology
    for i in range(feet.index.shape[0]):
        row, b = feet.index[i, START], feet.index[i, BODY]
        force, moment = load3(shares, row), foot_moment(feet.index, states, i, shares)
        point = get3(states, i, CONTACT)
        while b > 0:
            axis = z_axis(get9(bodies, b, ROTATION))
            iv = topology[b, V_START]
            if topology[b, JOINT] == PRISMATIC:
                effort[iv] -= dot(axis, force)
            else:
                arm = subtract(point, get3(bodies, b, POSITION))
                effort[iv] -= dot(axis, cross(arm, force)) + dot(axis, moment)
            b = topology[b, PARENT]


@part
def free_efforts(M, h, acceleration, effort, wrench):
    """
    Fill what base and joints take to accelerate, without ground: ``M a + h``.

    Parameters
    ----------
    M, h : (n, n), (n,) array
        Mass matrix and bias.
    acceleration : (n,) array
        Classical acceleration of the base, then the joints'.
    effort : (nv,) array [N m or N]
        ``M_q a + h_q``: inverse dynamics of the joints.
    wrench : (6,) array [N, N m]
        ``W = M_b a + h_b``: what the feet together must put on the base.

    """
    n = M.shape[0]
    for i in range(n):
        x = h[i]
        for k in range(n):
            x += M[i, k] * acceleration[k]
        if i < 6:
            wrench[i] = x
        else:
            effort[i - 6] = x


@part
def wrenches_in_feet(feet, states, shares, out):
    """Fill the (6 nf,) wrenches in the feet's axes about their links' origins."""
    write_wrenches(feet, states, shares, out, 0)
    for i in range(feet.index.shape[0]):
        R_BF = get9(states, i, FOOT_ROTATION)
        for start in range(6 * i, 6 * i + 6, 3):
            store3(out, start, rotate_back(R_BF, load3(out, start)))
