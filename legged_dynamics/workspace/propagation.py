# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Velocity propagation (3.5)-(3.9), force propagation (3.25)-(3.27), and the inverse of the legs.

Stage 1 is the paper's outboard recursion in three dimensions: pose and twist of every body, its
Coriolis acceleration, and its load of gravity and rotation. In base axes and in terms of proper
acceleration neither the base's velocity over ground nor a transform between links enters. The
loads are then collected in the bias ``h``, the inertias in ``M``; contacts get their Jacobians and
drift.

Stage 4 transmits the wrench of each foot through its leg, as if at rest: the wrench F_io on a link
from inboard balances the foot's (3.25), (3.27), and the joint takes its component along the axis,
``tau = H^T F_io`` (3.26); so ``tau = -J_q^T lambda``. The inverse dynamics of the legs are added.

The legs' Jacobians are inverted by one-sided Jacobi rotations (Hestenes): the columns of ``B = (S
J)^T`` are rotated in pairs until they are orthogonal; then ``B V`` has the singular values as
lengths, and ``J^+ = B V diag(1 / sigma^2) V^T S``. Small singular values are as exact as large
ones. S divides linear rows by the length of the leg, so that metres and radians are comparable. At
a straight knee a singular value is zero; below a threshold e the factor ``1 / sigma^2`` becomes
``1 / e^2``, so that the solution goes to zero with the singular value instead of to infinity.
"""

import math

from legged_dynamics.dynamics.jacobians import (
    BODY,
    CONTACT,
    FOOT_ROTATION,
    RADIUS,
    START,
    FeetTable,
    contact_bias,
    contact_jacobians,
    contact_map,
    contact_points,
    foot_moment,
)
from legged_dynamics.dynamics.kinematics import (
    FORCE,
    POSITION,
    ROTATION,
    forward_kinematics,
    place_inertial_wrenches,
    place_inertias,
)
from legged_dynamics.dynamics.newton_euler import add_joint_physics, joint_efforts
from legged_dynamics.estimation.filter.wrench_filter import write_wrenches
from legged_dynamics.model.parts import JOINT, PARENT, PRISMATIC, V_START
from legged_dynamics.spatial.algebra import (
    add,
    cross,
    dot,
    load3,
    rotate_back,
    store3,
    subtract,
    z_axis,
)
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.layout import get3, get9, matrix
from legged_dynamics.workspace.stance_arrays import GROUP


@part
def propagate_velocity(s, up):
    """
    Fill ``bodies``, the bias ``h``, and the feet's contact points, Jacobians, drift.

    ``up``: world z in base axes; a ball touches along that and its ``lean``.
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


# -------------------------------------------------------------------------------------------------
# Stage 4, force propagation (3.25)-(3.27): from the wrenches of the feet to joint efforts.


@part
def propagate_force(tree, feet, bodies, states, shares, effort):
    """Add the feet's wrenches to the joint efforts in place, ``-J_q^T lambda``."""
    topology = tree.topology
    for i in range(feet.index.shape[0]):
        row, b = feet.index[i, START], feet.index[i, BODY]
        force, moment = load3(shares, row), foot_moment(feet.index, states, i, shares)
        point = get3(states, i, CONTACT)
        while b > 0:
            axis = z_axis(get9(bodies, b, ROTATION))
            iv = topology[b, V_START]
            # tau = -J^T lambda, joint by joint: a slide feels the force, a hinge its moment.
            if topology[b, JOINT] == PRISMATIC:
                effort[iv] -= dot(axis, force)
            else:
                arm = subtract(point, get3(bodies, b, POSITION))
                effort[iv] -= dot(axis, cross(arm, force)) + dot(axis, moment)
            b = topology[b, PARENT]


@part
def free_efforts(M, h, acceleration, effort, wrench):
    """
    Fill base wrench and joint efforts without ground reactions, ``M a + h``.

    ``acceleration``: classical of the base, then the joints'; ``wrench``: what the feet
    together must put on the base.
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
    """Fill ``out`` (6 nf,): the wrenches on the feet in their axes, about link origins."""
    wrenches, _ = matrix(out, 0, feet.index.shape[0], 6)
    write_wrenches(feet, states, shares, wrenches)
    for i in range(feet.index.shape[0]):
        R_BF = get9(states, i, FOOT_ROTATION)
        for start in range(6 * i, 6 * i + 6, 3):
            store3(out, start, rotate_back(R_BF, load3(out, start)))


# -------------------------------------------------------------------------------------------------
# Pseudo-inverse of the legs' Jacobians, damped near singular configurations.


# Two columns are orthogonal when their cosine is below this.
ORTHOGONAL = 1e-15
SWEEPS = 20
# Lengths below this are zero: not even damped.
NOTHING = 1e-12


@part
def _orthogonalize(B, V, m, k):
    """Rotate k columns of B (m rows) until they are orthogonal, and those of V = 1."""
    for i in range(k):
        for j in range(k):
            V[i, j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        turned = False
        for p in range(k - 1):
            for q in range(p + 1, k):
                a, b, c = 0.0, 0.0, 0.0
                for i in range(m):
                    a += B[i, p] * B[i, p]
                    b += B[i, q] * B[i, q]
                    c += B[i, p] * B[i, q]
                if c * c <= ORTHOGONAL * ORTHOGONAL * a * b or a * b == 0.0:
                    continue
                turned = True
                # One-sided Jacobi (Hestenes): the smaller root of t^2 + 2 zeta t - 1 turns least.
                zeta = (b - a) / (2.0 * c)
                t = math.copysign(1.0, zeta) / (abs(zeta) + math.hypot(1.0, zeta))
                cosine = 1.0 / math.sqrt(1.0 + t * t)
                sine = cosine * t
                for i in range(m):
                    B[i, p], B[i, q] = (cosine * B[i, p] - sine * B[i, q],
                                        sine * B[i, p] + cosine * B[i, q])
                for i in range(k):
                    V[i, p], V[i, q] = (cosine * V[i, p] - sine * V[i, q],
                                        sine * V[i, p] + cosine * V[i, q])
        if not turned:
            return


@part
def invert_legs(s, threshold):
    """
    Fill ``inverse`` and each group's smallest and largest singular value.

    ``threshold``: singular value, in leg lengths, below which a direction is damped.
    """
    nv, nc = s.inverse.shape
    largest = max(nv, nc)
    B, V = s.spare[:largest], s.spare[largest:2 * largest]
    s.inverse[:, :] = 0.0
    for g in range(s.groups.shape[0]):
        k, m = s.groups[g, GROUP.n_rows], s.groups[g, GROUP.n_columns]
        rows, columns = s.groups[g, GROUP.members:], s.groups[g, GROUP.members + k:]
        for i in range(m):
            for j in range(k):
                # J^T in lengths of the leg, so that one threshold serves robots of any size.
                B[i, j] = s.jacobian[rows[j], columns[i]] / s.reach[rows[j]]
        _orthogonalize(B, V, m, k)
        lengths = s.spare[2 * largest]
        for j in range(k):
            square = 0.0
            for i in range(m):
                square += B[i, j] * B[i, j]
            lengths[j] = square
        for j in range(k):          # insertion: largest first, into the next row
            at = j
            while at > 0 and s.spare[2 * largest + 1, at - 1] < lengths[j]:
                s.spare[2 * largest + 1, at] = s.spare[2 * largest + 1, at - 1]
                at -= 1
            s.spare[2 * largest + 1, at] = lengths[j]
        # A leg of fewer joints than its foot has coordinates moves in no more directions.
        s.singular[g, 0] = math.sqrt(s.spare[2 * largest + 1, min(k, m) - 1])
        s.singular[g, 1] = math.sqrt(s.spare[2 * largest + 1, 0])
        for c in range(k):
            if lengths[c] < NOTHING * NOTHING:
                continue
            # J^+ = sum v b^T / sigma^2 with b = sigma u; below the threshold, its square
            # replaces sigma^2, which damps that direction and leaves the others exact.
            weight = 1.0 / max(lengths[c], threshold * threshold)
            for i in range(m):
                for j in range(k):
                    s.inverse[columns[i], rows[j]] += (weight * B[i, c] * V[j, c]
                                                       / s.reach[rows[j]])
