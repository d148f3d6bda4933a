# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contact points and their Jacobians.

A foot's contact frame has base axes. A point foot touches at the bottom of its ball, the ball's
centre less radius times the ground's normal; a flat foot's reference is the middle of its sole.
The Jacobian of a contact has its linear rows first; a joint below no foot has a zero column.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.kinematics import POSITION, ROTATION
from legged_dynamics.exceptions import UnknownNameError
from legged_dynamics.model.feet import FlatFoot, Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.tree import JOINT, PARENT, PRISMATIC, SPHERICAL, V_START
from legged_dynamics.spatial.algebra import (
    add,
    add_scaled,
    compose,
    cross,
    dot,
    load3,
    load9,
    rotate,
    store3,
    subtract,
    z_axis,
)
from legged_dynamics.spatial.jit import lean_kernel
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
        Body, first contact coordinate, number of contact coordinates (3 point, 6 flat).
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
        flat = isinstance(foot, FlatFoot)
        index[i] = body, start, 6 if flat else 3
        start += int(index[i, SIZE])
        geometry[i, R_FOOT:R_FOOT + 9] = pose.R.ravel()
        geometry[i, P_FOOT:P_FOOT + 3] = pose.p
        if isinstance(foot, FlatFoot):
            geometry[i, REFERENCE:REFERENCE + 3] = foot.center
            geometry[i, SOLE:SOLE + 4] = foot.front, foot.back, foot.left, foot.right
        else:
            geometry[i, RADIUS] = foot.radius
    return FeetTable(index, geometry)


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
    Move each flat foot's contact point from the middle of its sole to the part that is lowest.

    Corners count by ``exp(-height / LEANING)``: a sole that lies flat keeps its middle, a tilted
    one carries on its low edge, as a heel that strikes and toes that push off do.
    """
    for i in range(feet.index.shape[0]):
        if feet.index[i, SIZE] != 6:
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
        row, flat = feet.index[i, START], feet.index[i, SIZE] == 6
        b = feet.index[i, BODY]
        while b > 0:
            body, iv, kind = bodies[b], topology[b, V_START], topology[b, JOINT]
            R = load9(body, ROTATION)
            arm = subtract(point, load3(body, POSITION))
            for k in range(3 if kind == SPHERICAL else 1):
                axis = (R[k], R[3 + k], R[6 + k]) if kind == SPHERICAL else z_axis(R)
                linear = axis if kind == PRISMATIC else cross(axis, arm)
                for r in range(3):
                    jacobian[row + r, iv + k] = linear[r]
                    if flat:
                        jacobian[row + 3 + r, iv + k] = 0.0 if kind == PRISMATIC else axis[r]
            b = topology[b, PARENT]


@lean_kernel
def contact_map(feet, states, grasp):
    """Fill the (6, nc) map from contact coordinates to the wrench on the base at its origin."""
    for i in range(feet.index.shape[0]):
        x, y, z = load3(states[i], CONTACT)
        c, n = feet.index[i, START], feet.index[i, SIZE]
        for r in range(6):
            for k in range(n):
                grasp[r, c + k] = 1.0 if r == k else 0.0
        grasp[3, c + 1], grasp[3, c + 2] = -z, y
        grasp[4, c], grasp[4, c + 2] = z, -x
        grasp[5, c], grasp[5, c + 1] = -y, x
