# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Arrays that the stages of workspace control work on, for one robot on one set of feet.

Joints and feet are collected in *groups*: feet that share a joint (a waist, for example) only move
together. Legs that are attached to the base are a group each, so matrices are as small as a leg.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    BODY,
    N_FOOT_STATE,
    RADIUS,
    SIZE,
    START,
    FeetTable,
    feet_table,
)
from legged_dynamics.dynamics.kinematics import N_RIGID_BODY
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.parts import P_TREE, V_START, Tree
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.layout import offsets


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
