# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Arrays that the stages of workspace control work on, for one robot on one set of feet.

Joints and feet are collected in *groups*: feet that share a joint (a waist, for example) only move
together. Legs that are attached to the base are a group each, so matrices are as small as a leg.

The big-base approximation (3.12)-(3.20) is the inboard pass of the articulated-body algorithm: P
is its ``IA``, z its ``pA``, without joint effort. A foot gets a mass and an inertia ``size`` times
the base's (3.14) and no load (3.15) but the drift that keeps the contact point of a moving leg in
place. With a size of 1e6 it agrees with the exact dynamics to 1e-8 (flat feet) or 1e-7 (spherical
feet); larger sizes lose digits.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.forward_dynamics import (
    BIAS_FORCE,
    BIAS_MOMENT,
    Scratch,
    articulate,
    bias,
    carve,
)
from legged_dynamics.dynamics.forward_dynamics import G as COUPLING
from legged_dynamics.dynamics.forward_dynamics import J as ROTATIONAL
from legged_dynamics.dynamics.forward_dynamics import M as LINEAR
from legged_dynamics.dynamics.jacobians import (
    BODY,
    CONTACT,
    N_FOOT_STATE,
    RADIUS,
    SIZE,
    START,
    FeetTable,
    feet_table,
    foot_moment,
    moment_axis,
)
from legged_dynamics.dynamics.kinematics import N_RIGID_BODY, POSITION
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.parts import INERTIA, MASS, P_TREE, V_START, Tree
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import (
    add,
    cross,
    dot,
    load3,
    scale,
    subtract,
    symmetric_times,
)
from legged_dynamics.spatial.jit import as_python, lean_kernel, part
from legged_dynamics.spatial.layout import get3, get6, get9, length_of, offsets, put3, put6, put9
from legged_dynamics.spatial.symmetric import (
    about_origin,
    add6,
    add9,
    add_diagonal,
    full,
    scale6,
)
from legged_dynamics.workspace.workspace_dynamics import to_spatial


class GroupColumns(NamedTuple):
    """Columns of ``StanceArrays.groups``."""

    n_rows: int = 1         # contact coordinates
    n_columns: int = 1      # joint velocities
    members: int = 0        # which coordinates, and behind them which velocities


GROUP = offsets(GroupColumns())


class StanceArrays(NamedTuple):
    """
    Arrays of a robot with some feet in contact: nc contact coordinates, n = 6 + nv velocities.

    Everything is in base axes; "contact" is the contact point of a point foot, the middle of the
    sole of a flat one. Accelerations of the base are classical (second derivative of position).

    Attributes
    ----------
    tree : Tree
    feet : FeetTable
        Those in contact.
    groups : (ng, 2 + nc + nv) int array
        Contact coordinates and joint velocities that belong together.
    reach : (nc,) array [m]
        Length of the leg for linear coordinates, one for angular ones, of each coordinate: what
        makes a Jacobian's rows comparable.
    q, v : (nv,) array [rad, rad/s or m, m/s]
        State: input.
    base : (9,) array
        Angular velocity, zero, and gravity upwards, in base axes: input.
    still : (nv,) array
        Zero.
    posture : (nv,) array [rad/s^2 or m/s^2]
        Acceleration of joints that the feet leave free: input.
    ground : (nf, 9) array
        ``R_WG`` by rows: axes of the ground at each foot, z its normal; level at first: input.
    touch : (nf, 3) array
        Normals in the world that say where on a ball the ground touches; up at first: input.
    lean : (nf, 3) array
        Those less the world's z, in base axes: input of stage 1.
    bodies : (nb, N_RIGID_BODY) array
        Bodies at the columns of dynamics.kinematics.
    states : (nf, 15) array
        Frames and contact points of the feet.
    grasp : (6, nc) array
        ``J_base^T``: contact coordinates to the wrench on the base.
    jacobian : (nc, nv) array
        ``J_q``.
    drift : (nc,) array [m/s^2, rad/s^2]
        ``Jdot v``: acceleration of the contacts when nothing else accelerates.
    M : (n, n) array
        Mass matrix.
    h : (n,) array
        Bias: Coriolis, gravity, friction.
    inverse : (nv, nc) array
        ``J_q^+``.
    singular : (ng, 2) array
        Smallest and largest singular value of each group, in lengths of the leg.
    N : (n, 6) array
        Velocities of base and joints by the base's twist, with the feet fixed.
    n0 : (n,) array
        Accelerations of base and joints while the base's is zero.
    inertia, bias : (6, 6), (6,) array
        ``Lambda``, ``mu``: ``Lambda Vdot + mu = F`` with the component-wise derivative of V.
    spare : (., .) array
        Memory for the kernels.

    """

    tree: Tree
    feet: FeetTable
    groups: np.ndarray
    reach: np.ndarray
    q: np.ndarray
    v: np.ndarray
    base: np.ndarray
    still: np.ndarray
    posture: np.ndarray
    ground: np.ndarray
    touch: np.ndarray
    lean: np.ndarray
    bodies: np.ndarray
    states: np.ndarray
    grasp: np.ndarray
    jacobian: np.ndarray
    drift: np.ndarray
    M: np.ndarray
    h: np.ndarray
    inverse: np.ndarray
    singular: np.ndarray
    N: np.ndarray
    n0: np.ndarray
    inertia: np.ndarray
    bias: np.ndarray
    spare: np.ndarray


def stance_arrays(model: RobotModel, feet: Sequence[Foot]) -> StanceArrays:
    """Return the arrays for a robot on these feet, zero except for constants."""
    table = feet_table(model, feet)
    nb, nv, nf, nc = model.n_bodies, model.nv, len(feet), table.size
    n = 6 + nv
    groups = _groups(model, table)
    largest = max(nc, nv, 6)
    return StanceArrays(
        Tree(model.tree.topology.copy(), model.tree.constants.copy()), table, groups,
        _reach(model, table), np.zeros(nv), np.zeros(nv), np.zeros(9), np.zeros(nv), np.zeros(nv),
        np.tile(np.eye(3).ravel(), (nf, 1)), np.tile([0.0, 0.0, 1.0], (nf, 1)),
        np.zeros((nf, 3)),
        np.zeros((nb, N_RIGID_BODY)), np.zeros((nf, N_FOOT_STATE)),
        np.zeros((6, nc)), np.zeros((nc, nv)), np.zeros(nc), np.zeros((n, n)), np.zeros(n),
        np.zeros((nv, nc)), np.zeros((len(groups), 2)), np.eye(n, 6), np.zeros(n),
        np.zeros((6, 6)), np.zeros(6), np.zeros((2 * largest + 8, max(n, largest))))


def _legs(model: RobotModel, table: FeetTable) -> list[list[int]]:
    """Return the velocities of the joints between the base and each foot."""
    return [[int(model.tree.topology[body, V_START]) for body in model.chain(int(foot[BODY]))]
            for foot in table.index]


def _groups(model: RobotModel, table: FeetTable) -> np.ndarray:
    """Return the groups of feet that share joints."""
    found: list[tuple[set[int], set[int]]] = []
    for foot, joints in zip(table.index, _legs(model, table)):
        rows = set(range(foot[START], foot[START] + foot[SIZE]))
        columns = set(joints)
        for group in [group for group in found if group[1] & columns]:
            rows, columns = rows | group[0], columns | group[1]
            found.remove(group)
        found.append((rows, columns))
    groups = np.zeros((len(found), GROUP.members + table.size + model.nv), np.int64)
    for group, (rows, columns) in zip(groups, found):
        group[GROUP.n_rows], group[GROUP.n_columns] = len(rows), len(columns)
        members = [*sorted(rows), *sorted(columns)]
        group[GROUP.members:GROUP.members + len(members)] = members
    return groups


def _reach(model: RobotModel, table: FeetTable) -> np.ndarray:
    """Return the stretched length of each foot's leg for its linear coordinates."""
    reach = np.ones(table.size)
    for index, geometry in zip(table.index, table.geometry):
        start, chain = index[START], model.chain(int(index[BODY]))
        placements = model.tree.constants[chain[1:], P_TREE:P_TREE + 3]
        tip = np.linalg.norm(geometry[9:12]) + geometry[RADIUS]
        length = np.linalg.norm(placements, axis=1).sum() + tip
        reach[start:start + 3] = max(length, 1e-6)
    return reach


# -------------------------------------------------------------------------------------------------
# Stage 2 in the approximation of the paper, (3.12)-(3.20): feet of a million base masses.
#
# A point foot transmits no moment, so it must stay free to turn: its mass is in the contact point
# and has no inertia.


BIG_BASE = 1e6      # (3.14): mass of a foot, in masses of the base


@part
def held_inertia(index, states, i, inertia):
    """Return the part of an inertia about a foot's moment axes, zero for a point foot."""
    own = scale6(0.0, inertia)
    for k in range(index[i, SIZE] - 3):
        a = moment_axis(index, states, i, k)
        for j in range(index[i, SIZE] - 3):
            b = moment_axis(index, states, i, j)
            own = add6(own, scale6(dot(a, symmetric_times(inertia, b)), (
                a[0] * b[0], a[0] * b[1], a[0] * b[2], a[1] * b[1], a[1] * b[2], a[2] * b[2])))
    return own


@part
def _add_big_base(tree, feet, states, drift, bodies, size):
    """
    Add the approximation's heavy feet to a Scratch's body table: (3.14), (3.15).

    ``drift``: ``Jdot v`` of the contacts; ``size``: mass of a foot, in masses of the base.
    """
    mass = size * tree.constants[0, MASS]
    inertia = scale6(size, get6(tree.constants, 0, INERTIA))
    for i in range(feet.index.shape[0]):
        b, row = feet.index[i, BODY], feet.index[i, START]
        arm = subtract(get3(states, i, CONTACT), get3(bodies, b, POSITION))
        put6(bodies, b, LINEAR, add_diagonal(get6(bodies, b, LINEAR), mass))
        h = scale(mass, arm)
        put9(bodies, b, COUPLING, add9(get9(bodies, b, COUPLING), (
            0.0, h[2], -h[1], -h[2], 0.0, h[0], h[1], -h[0], 0.0)))
        # About axes in which the foot transmits no moment it is free to turn: no inertia there.
        own = held_inertia(feet.index, states, i, inertia)
        put6(bodies, b, ROTATIONAL, add6(get6(bodies, b, ROTATIONAL),
                                         about_origin(own, mass, arm)))
        # The foot's bias wrench: the force that moves its own mass by Jdot v.
        force = scale(mass, load3(drift, row))
        moment = add(cross(arm, force),
                     symmetric_times(own, foot_moment(feet.index, states, i, drift)))
        put3(bodies, b, BIAS_FORCE, add(get3(bodies, b, BIAS_FORCE), force))
        put3(bodies, b, BIAS_MOMENT, add(get3(bodies, b, BIAS_MOMENT), moment))


@lean_kernel
def reduce_big_base(s, a, size, twist):
    """
    Fill ``inertia`` and ``bias`` by the recursion, after stage 1.

    ``a`` from :func:`articulated_scratch`; ``size``: inertia of a foot, in those of the
    base.
    """
    for k in range(9):
        a.base[k] = s.base[k]
    for j in range(s.v.shape[0]):
        a.q[j], a.v[j], a.effort[j] = s.q[j], s.v[j], 0.0
    bias(s.tree, a)                 # (3.12), (3.13)
    _add_big_base(s.tree, s.feet, s.states, s.drift, a.bodies, size)     # (3.14), (3.15)
    articulate(s.tree, a)           # (3.16)-(3.20)
    linear, coupling = full(get6(a.bodies, 0, LINEAR)), get9(a.bodies, 0, COUPLING)
    rotational = full(get6(a.bodies, 0, ROTATIONAL))
    for i in range(3):
        s.bias[i], s.bias[3 + i] = a.bodies[0, BIAS_FORCE + i], a.bodies[0, BIAS_MOMENT + i]
        for j in range(3):
            s.inertia[i, j], s.inertia[3 + i, 3 + j] = linear[3 * i + j], rotational[3 * i + j]
            s.inertia[i, 3 + j] = s.inertia[3 + j, i] = coupling[3 * i + j]
    to_spatial(s.inertia, s.bias, twist)


def articulated_scratch(s: StanceArrays) -> Scratch:
    """Return scratch memory for :func:`reduce_big_base`."""
    nb, nv = s.bodies.shape[0], len(s.v)
    return as_python(carve)(np.zeros(length_of(carve, nb, nv, nv)), nb, nv, nv)
