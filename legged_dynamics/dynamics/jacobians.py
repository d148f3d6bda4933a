# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contact points and their Jacobians.

A foot's contact frame has base axes. A point foot touches at the bottom of its ball, the ball's
centre less radius times the ground's normal; the reference of others is the middle of what
touches. The Jacobian of a contact has its linear rows first; a joint below no foot has a zero
column.

Contact coordinates are a force and, behind it, moments: none of a point foot, three of a flat one,
both in base axes, and of a line foot the one about its frame's y axis. `moment_coordinates` and
`moment_vector` go from moments in base axes to coordinates and back; who uses them need not ask
what kind of foot it is.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.kinematics import POSITION, ROTATION
from legged_dynamics.exceptions import UnknownNameError
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.tree import JOINT, PARENT, PRISMATIC, SPHERICAL, V_START
from legged_dynamics.spatial.algebra import (
    ZERO,
    add,
    add_scaled,
    compose,
    cross,
    dot,
    load3,
    load9,
    rotate,
    scale,
    store3,
    subtract,
    z_axis,
)
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.table import get3, get9, put3, put9

# Columns of FeetTable.index: body, first column of the foot's contact coordinates, their number.
BODY, START, SIZE = 0, 1, 2
N_INDEX = 3
# Columns of FeetTable.geometry: pose of the foot frame in its body, the contact reference in the
# foot frame, ball radius, sole edges (front, back, left, right).
R_FOOT, P_FOOT, REFERENCE, RADIUS, SOLE = 0, 9, 12, 15, 16
N_GEOMETRY = 20
# Columns of the (nf, N_FOOT_STATE) workspace: foot frame and contact point in base axes.
FOOT_ROTATION, FOOT_POSITION, CONTACT = 0, 9, 12
N_FOOT_STATE = 15
# A sole carries on its low edge once that is lower than the rest by about this [m].
LEANING = 0.01


class FeetTable(NamedTuple):
    """
    Feet as flat arrays, for kernels.

    Attributes
    ----------
    index : (nf, 3) int array
        Body, first contact coordinate, number of contact coordinates (3 point, 4 line, 6 flat).
    geometry : (nf, 20) float array
        At the columns this module names. [m]

    """

    index: np.ndarray
    geometry: np.ndarray

    @property
    def size(self) -> int:
        """Return the number of contact coordinates of all feet together."""
        return int(self.index[:, SIZE].sum())


def feet_table(model: RobotModel, feet: Sequence[Foot]) -> FeetTable:
    """
    Put feet into arrays.

    Raises
    ------
    UnknownNameError
        When a foot's link is not in the model.

    """
    index = np.zeros((len(feet), 3), dtype=np.int64)
    geometry = np.zeros((len(feet), N_GEOMETRY))
    start = 0
    for i, foot in enumerate(feet):
        if foot.link not in model.frames:
            raise UnknownNameError('foot link', foot.link, model.frames)
        body, pose = model.frames[foot.link]
        index[i] = body, start, 3 + len(foot.moments)
        start += int(index[i, SIZE])
        geometry[i, R_FOOT:R_FOOT + 9] = pose.R.ravel()
        geometry[i, P_FOOT:P_FOOT + 3] = pose.p
        geometry[i, REFERENCE:REFERENCE + 3] = foot.center
        geometry[i, RADIUS] = foot.radius
        geometry[i, SOLE:SOLE + 4] = foot.edges
    return FeetTable(index, geometry)


@part
def is_flat(index, i):
    """Return whether a foot has a sole, whose plane is the ground's."""
    return index[i, SIZE] == 6


@part
def has_moment(index, i):
    """Return whether a foot carries any moment."""
    return index[i, SIZE] > 3


@part
def moment_coordinates(index, states, i, m):
    """Return what a moment in base axes is in a foot's coordinates; zeros behind its last one."""
    size = index[i, SIZE]
    if size == 6:
        return m
    if size == 3:
        return ZERO
    return dot(m, y_axis(load9(states[i], FOOT_ROTATION))), 0.0, 0.0


@part
def moment_vector(index, states, i, c):
    """Return the moment in base axes that a foot's coordinates are, (3,) with zeros behind."""
    size = index[i, SIZE]
    if size == 6:
        return c
    if size == 3:
        return ZERO
    return scale(c[0], y_axis(load9(states[i], FOOT_ROTATION)))


def moment_axes(size: int, rotation: np.ndarray) -> np.ndarray:
    """Return the (3, size - 3) axes of a foot's moments in base axes, given ``R_BF``."""
    return rotation[:, 1:2] if size == 4 else np.eye(3)[:, :size - 3]


@part
def unit(k):
    """Return the k-th unit vector."""
    return 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0


@part
def y_axis(R):
    """Return the second column of a rotation."""
    return R[1], R[4], R[7]


@lean_kernel
def contact_points(feet, bodies, normal, states):
    """Fill each foot's frame and contact point, given the ground's normal in base axes (tuple)."""
    geometry = feet.geometry
    for i in range(feet.index.shape[0]):
        body = feet.index[i, BODY]
        R_body = get9(bodies, body, ROTATION)
        R_BF = compose(R_body, get9(geometry, i, R_FOOT))
        p_BF = add(get3(bodies, body, POSITION), rotate(R_body, get3(geometry, i, P_FOOT)))
        reference = rotate(R_BF, get3(geometry, i, REFERENCE))
        put9(states, i, FOOT_ROTATION, R_BF)
        put3(states, i, FOOT_POSITION, p_BF)
        put3(states, i, CONTACT, add_scaled(add(p_BF, reference), -geometry[i, RADIUS], normal))


@lean_kernel
def lean_on_lowest_part(feet, normal, states):
    """
    Move the contact point of a foot with edges from its middle to the part that is lowest.

    Corners count by ``exp(-height / LEANING)``: a sole that lies flat keeps its middle, a tilted
    one carries on its low edge, as a heel that strikes and toes that push off do.
    """
    for i in range(feet.index.shape[0]):
        if not has_moment(feet.index, i):
            continue
        R_BF, origin = load9(states[i], FOOT_ROTATION), load3(states[i], FOOT_POSITION)
        sole = feet.geometry[i]
        forward = dot(normal, rotate(R_BF, (1.0, 0.0, 0.0)))
        sideways = dot(normal, rotate(R_BF, (0.0, 1.0, 0.0)))
        lowest = (min(sole[SOLE] * forward, sole[SOLE + 1] * forward)
                  + min(sole[SOLE + 2] * sideways, sole[SOLE + 3] * sideways))
        total, x, y = 0.0, 0.0, 0.0
        for k in range(4):
            a, b = sole[SOLE + k // 2], sole[SOLE + 2 + k % 2]
            weight = math.exp((lowest - a * forward - b * sideways) / LEANING)
            total, x, y = total + weight, x + weight * a, y + weight * b
        store3(states[i], CONTACT, add(origin, rotate(R_BF, (x / total, y / total, 0.0))))


@lean_kernel
def contact_jacobians(tree, feet, bodies, states, jacobian):
    """
    Fill the (nc, nv) joint part of the contact Jacobian, in base axes at the contact points.

    Only columns of joints between base and foot are written; the caller zeroes it once.
    """
    topology = tree.topology
    for i in range(feet.index.shape[0]):
        point = load3(states[i], CONTACT)
        row, moments = feet.index[i, START], feet.index[i, SIZE] - 3
        b = feet.index[i, BODY]
        while b > 0:
            body, iv, kind = bodies[b], topology[b, V_START], topology[b, JOINT]
            R = load9(body, ROTATION)
            arm = subtract(point, load3(body, POSITION))
            for k in range(3 if kind == SPHERICAL else 1):
                axis = (R[k], R[3 + k], R[6 + k]) if kind == SPHERICAL else z_axis(R)
                linear = axis if kind == PRISMATIC else cross(axis, arm)
                turns = moment_coordinates(feet.index, states, i,
                                           ZERO if kind == PRISMATIC else axis)
                for r in range(3):
                    jacobian[row + r, iv + k] = linear[r]
                for r in range(moments):
                    jacobian[row + 3 + r, iv + k] = turns[r]
            b = topology[b, PARENT]


@lean_kernel
def contact_map(feet, states, grasp):
    """Fill the (6, nc) map from contact coordinates to the wrench on the base at its origin."""
    for i in range(feet.index.shape[0]):
        x, y, z = load3(states[i], CONTACT)
        c, n = feet.index[i, START], feet.index[i, SIZE]
        for k in range(n):
            axis = unit(k) if k < 3 else moment_vector(feet.index, states, i, unit(k - 3))
            for r in range(3):
                grasp[r, c + k] = axis[r] if k < 3 else 0.0
                grasp[3 + r, c + k] = 0.0 if k < 3 else axis[r]
        grasp[3, c + 1], grasp[3, c + 2] = -z, y
        grasp[4, c], grasp[4, c + 2] = z, -x
        grasp[5, c], grasp[5, c + 1] = -y, x
