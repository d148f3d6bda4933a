# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contact points and their Jacobians.

A foot's contact frame has base axes. Its reference is the middle of what touches: a ball touches
below its centre, and a cylinder below its axis, by the radius along the ground's normal. The
Jacobian of a contact has its linear rows first; a joint below no foot has a zero column.

Contact coordinates are the rows that kinds of feet have (`model.feet`): of every foot a force in
base axes and, behind it, moments about axes of the base or of the foot. `FeetTable` is the table
of all of them; kernels take the axes of a foot's moments from `moment_axes`, and so do not depend
on the kind of foot.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.kinematics import (
    ACCELERATION,
    ALPHA,
    OMEGA,
    POSITION,
    ROTATION,
    body_workspace,
    forward_kinematics,
)
from legged_dynamics.dynamics.motion import BaseMotion, state_vector
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.feet import FORCE, MOMENT, FlatFoot, Foot, corners_of, touching_points
from legged_dynamics.model.parts import JOINT, PARENT, PRISMATIC, SPHERICAL, V_START
from legged_dynamics.model.robot_model import RobotModel
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
    rotate_back,
    store3,
    subtract,
    z_axis,
)
from legged_dynamics.spatial.jit import as_python, lean_kernel, part
from legged_dynamics.spatial.layout import get3, get9, put3, put9

# Columns of FeetTable.index: body, first column of the foot's contact coordinates, their number;
# whether it lies on the ground with a plane; and of its moments, three at most, the axes: 0, 1, 2
# for those of the base and 3, 4, 5 for those of the foot's frame.
BODY, START, SIZE, PLANE, AXES = range(5)
N_INDEX = 7
IN_FOOT = 3     # the first of the foot's own axes
# Number of coordinates of a foot that can transmit any wrench.
WRENCH = 6
# Columns of FeetTable.geometry: pose of the foot frame in its body, the contact reference in the
# foot frame, radius, sole edges (front, back, left, right).
R_FOOT, P_FOOT, REFERENCE, RADIUS, SOLE = accumulate((0, 9, 3, 3, 1))
N_GEOMETRY = 20
# Columns of the (nf, N_FOOT_STATE) workspace: foot frame and contact point in base axes.
FOOT_ROTATION, FOOT_POSITION, CONTACT = accumulate((0, 9, 3))
N_FOOT_STATE = 15
# Difference of height [m] from which a tilted sole is loaded mainly at its low edge.
LEANING = 0.01


class ContactRows(NamedTuple):
    """The contact coordinates of all feet, a row each."""

    foot: np.ndarray  # (nc,): number of the foot
    kind: np.ndarray  # (nc,): `model.feet.FORCE` or `MOMENT`
    axis: np.ndarray  # (nc,): 0 for x, 1 for y, 2 for z
    in_foot: np.ndarray  # (nc,): whether that is an axis of the foot's frame, and not of the base

    def scales(self, force: float, moment: float) -> np.ndarray:
        """Return one number per contact coordinate (nc,): ``force`` or ``moment``."""
        return np.where(self.kind == FORCE, force, moment)

    def axes(self, rotations: np.ndarray) -> np.ndarray:
        """Return the unit axes (nc, 3) of contact coordinates, base axes, from ``R_BF``."""
        own = rotations.reshape(-1, 3, 3)[self.foot, :, self.axis]
        return np.where(self.in_foot[:, None], own, np.eye(3)[self.axis])


class FeetTable(NamedTuple):
    """Feet as flat arrays, for kernels."""

    # (nf, N_INDEX): body, first contact coordinate, their number, and more, at the columns this
    # module names
    index: np.ndarray
    geometry: np.ndarray  # (nf, N_GEOMETRY): lengths at the columns this module names. [m]

    @property
    def size(self) -> int:
        """Return the number of contact coordinates of all feet together."""
        return int(self.index[:, SIZE].sum())

    @property
    def rows(self) -> ContactRows:
        """Return the table of contact coordinates."""
        size = self.index[:, SIZE]
        foot = np.repeat(np.arange(len(size)), size)
        place = np.arange(len(foot)) - self.index[foot, START]
        kind = np.where(place < 3, FORCE, MOMENT)
        axis = np.where(place < 3, place, self.index[foot, AXES + np.maximum(place - 3, 0)])
        return ContactRows(foot, kind, axis % IN_FOOT, axis >= IN_FOOT)

    def grasp(self, rotations: np.ndarray, points: np.ndarray) -> np.ndarray:
        """
        Return the grasp matrix (6, nc): contact coordinates to the total ``[f; m]``.

        ``rotations`` map foot axes to those of ``points`` [m], given from the moment's origin.
        """
        states = np.zeros((len(self.index), N_FOOT_STATE))
        states[:, FOOT_ROTATION:FOOT_ROTATION + 9] = np.reshape(rotations, (-1, 9))
        states[:, CONTACT:CONTACT + 3] = points
        grasp = np.zeros((6, self.size))
        as_python(contact_map)(self, states, grasp)
        return grasp

    def touching(self, i: int, R: np.ndarray, up: np.ndarray) -> np.ndarray:
        """Return the 1, 2 or 4 corners of contact of foot i from its frame's origin, up's axes."""
        geometry = self.geometry[i]
        return touching_points(corners_of(geometry[SOLE:SOLE + 4]), geometry[RADIUS], R, up)


def feet_table(model: RobotModel, feet: Sequence[Foot]) -> FeetTable:
    """Return feet as arrays for kernels."""
    index = np.zeros((len(feet), N_INDEX), dtype=np.int64)
    geometry = np.zeros((len(feet), N_GEOMETRY))
    start = 0
    for i, foot in enumerate(feet):
        body, pose = model.frame(foot.link)
        index[i] = _index_row(body, start, foot)
        start += len(foot.rows)
        geometry[i, R_FOOT:R_FOOT + 9] = pose.R.ravel()
        geometry[i, P_FOOT:P_FOOT + 3] = pose.p
        geometry[i, REFERENCE:REFERENCE + 3] = foot.center
        geometry[i, RADIUS] = foot.radius
        geometry[i, SOLE:SOLE + 4] = foot.edges
    return FeetTable(index, geometry)


def contact_table(feet: Sequence[Foot]) -> FeetTable:
    """Return a table of contact coordinates only: all feet on body 0, without geometry."""
    starts = np.cumsum([0, *(len(foot.rows) for foot in feet)])
    index = [_index_row(0, int(start), foot) for start, foot in zip(starts, feet)]
    return FeetTable(np.array(index, np.int64).reshape(-1, N_INDEX), np.zeros((0, 0)))


def _index_row(body: int, start: int, foot: Foot) -> list[int]:
    """Return a foot's row of `FeetTable.index`."""
    axes = [row.axis + IN_FOOT * row.in_foot for row in foot.rows[3:]]
    return [body, start, len(foot.rows), foot.plane, *axes, *[0] * (3 - len(axes))]


@part
def has_moment(index, i):
    """Return whether a foot can transmit any moment."""
    return index[i, SIZE] > 3


@part
def moment_axis(index, states, i, k):
    """Return the unit axis of foot i's k-th moment in base axes."""
    axis = index[i, AXES + k]
    if axis < IN_FOOT:
        return unit(axis)
    at = FOOT_ROTATION + axis - IN_FOOT
    return states[i, at], states[i, at + 3], states[i, at + 6]


@part
def moment_axes(index, states, i):
    """Return a foot's moment axes in base axes, by rows, zero for missing ones."""
    x, y, z = ZERO, ZERO, ZERO
    n = index[i, SIZE] - 3
    if n > 0:
        x = moment_axis(index, states, i, 0)
    if n > 1:
        y = moment_axis(index, states, i, 1)
    if n > 2:
        z = moment_axis(index, states, i, 2)
    return x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]


@part
def foot_moment(index, states, i, w):
    """Return foot i's moment [N m] in base axes, from all contact coordinates w (nc,)."""
    m = ZERO
    for k in range(index[i, SIZE] - 3):
        m = add_scaled(m, w[index[i, START] + 3 + k], moment_axis(index, states, i, k))
    return m


@part
def put_moment(index, states, i, m, w):
    """Write foot i's moment m [N m], base axes, into the contact coordinates w (nc,)."""
    for k in range(index[i, SIZE] - 3):
        w[index[i, START] + 3 + k] = dot(m, moment_axis(index, states, i, k))


@part
def moment_part(index, states, i, v):
    """Return the projection of v (base axes) on the moment axes of foot i, in base axes."""
    A = moment_axes(index, states, i)
    return rotate_back(A, rotate(A, v))


@part
def unit(k):
    """Return the k-th unit vector, k = 0, 1 or 2."""
    return 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0


@part
def touching_point(feet, i, R_BF, p_BF, at, normal):
    """Return the contact point, base axes [m]: `Foot.touching` in kernels; ``at``: foot's axes."""
    return add_scaled(add(p_BF, rotate(R_BF, at)), -feet.geometry[i, RADIUS], normal)


@lean_kernel
def contact_points(feet, bodies, normal, states):
    """Fill each foot's frame and contact point in ``states``; ``normal`` in base axes."""
    geometry = feet.geometry
    for i in range(feet.index.shape[0]):
        body = feet.index[i, BODY]
        R_body = get9(bodies, body, ROTATION)
        R_BF = compose(R_body, get9(geometry, i, R_FOOT))
        p_BF = add(get3(bodies, body, POSITION), rotate(R_body, get3(geometry, i, P_FOOT)))
        put9(states, i, FOOT_ROTATION, R_BF)
        put3(states, i, FOOT_POSITION, p_BF)
        put3(states, i, CONTACT, touching_point(
            feet, i, R_BF, p_BF, get3(geometry, i, REFERENCE), normal))


@lean_kernel
def move_to_lowest_edge(feet, normal, states):
    """
    Move the contact point of a foot with edges from its middle to its lowest part.

    Corner weights ``exp(-height / LEANING)``: a flat sole keeps its middle, a tilted one is
    loaded at its low edge, as at heel strike and toe-off.
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
        store3(states[i], CONTACT, touching_point(
            feet, i, R_BF, origin, (x / total, y / total, 0.0), normal))


@lean_kernel
def contact_jacobians(tree, feet, bodies, states, jacobian):
    """
    Fill the (nc, nv) joint part of the contact Jacobian, base axes, at contact points.

    Only columns of joints between base and foot are written; the caller zeroes it once.
    """
    topology = tree.topology
    for i in range(feet.index.shape[0]):
        point = load3(states[i], CONTACT)
        row, moments = feet.index[i, START], feet.index[i, SIZE] - 3
        axes, turns = moment_axes(feet.index, states, i), ZERO
        b = feet.index[i, BODY]
        while b > 0:
            body, iv, kind = bodies[b], topology[b, V_START], topology[b, JOINT]
            R = load9(body, ROTATION)
            arm = subtract(point, load3(body, POSITION))
            for k in range(3 if kind == SPHERICAL else 1):
                axis = (R[k], R[3 + k], R[6 + k]) if kind == SPHERICAL else z_axis(R)
                linear = axis if kind == PRISMATIC else cross(axis, arm)
                if moments > 0:
                    turns = rotate(axes, ZERO if kind == PRISMATIC else axis)
                for r in range(3):
                    jacobian[row + r, iv + k] = linear[r]
                for r in range(moments):
                    jacobian[row + 3 + r, iv + k] = turns[r]
            b = topology[b, PARENT]


@lean_kernel
def contact_map(feet, states, grasp):
    """Fill the (6, nc) map from contact coordinates to ``[f; m]`` at the base origin."""
    for i in range(feet.index.shape[0]):
        x, y, z = load3(states[i], CONTACT)
        c, n = feet.index[i, START], feet.index[i, SIZE]
        for k in range(n):
            axis = unit(k) if k < 3 else moment_axis(feet.index, states, i, k - 3)
            for r in range(3):
                grasp[r, c + k] = axis[r] if k < 3 else 0.0
                grasp[3 + r, c + k] = 0.0 if k < 3 else axis[r]
        grasp[3, c + 1], grasp[3, c + 2] = -z, y
        grasp[4, c], grasp[4, c + 2] = z, -x
        grasp[5, c], grasp[5, c + 1] = -y, x


# -------------------------------------------------------------------------------------------------
# Bias accelerations of contacts, and Jacobian and bias of any link.
#
# A contact's acceleration is ``J a + bias``; the bias (``Jdot v``) is what it has when neither
# joints nor base accelerate. It is the classical acceleration of the point, the second derivative
# of its position, and so does not depend on the velocity of the base over ground.


@lean_kernel
def contact_bias(feet, bodies, states, normal, bias):
    """
    Fill ``bias`` (nc,), the contacts' accelerations without joint accelerations, base axes.

    A ball or cylinder rolls: its centre accelerates with ``alpha x (radius n)``, so the contact
    point has only the centripetal part, which is left out.
    """
    for i in range(feet.index.shape[0]):
        b, row = feet.index[i, BODY], feet.index[i, START]
        arm = subtract(get3(states, i, CONTACT), get3(bodies, b, POSITION))
        to_center = add_scaled(arm, feet.geometry[i, RADIUS], normal)
        w, alpha = get3(bodies, b, OMEGA), get3(bodies, b, ALPHA)
        a = add(get3(bodies, b, ACCELERATION),
                add(cross(alpha, arm), cross(w, cross(w, to_center))))
        store3(bias, row, a)
        put_moment(feet.index, states, i, alpha, bias)


def _as_contact(model: RobotModel, link: str) -> FeetTable:
    """Return the table of a 'foot' at a link's own frame, constrained in all directions."""
    model.frame(link)       # refuses an unknown one
    return feet_table(model, [FlatFoot(link, 1.0, -1.0, 1.0, -1.0)])


def _turned(rows: np.ndarray, axes: str, states: np.ndarray) -> np.ndarray:
    """Return linear and angular rows (6, ...) in other axes than the base's, if so asked."""
    if axes not in ('base', 'link'):
        raise ConfigurationError(f"expected axes 'base' or 'link', got {axes!r}")
    R = np.eye(3) if axes == 'base' else states[0, :9].reshape(3, 3).T
    return np.concatenate([R @ rows[:3], R @ rows[3:]])


def frame_jacobian(model: RobotModel, position: np.ndarray, link: str,
                   axes: str = 'base') -> np.ndarray:
    """
    Return the Jacobian of a link's frame: its twist over ground per joint (and base) velocity.

    Parameters
    ----------
    model : RobotModel
        The robot.
    position : (nq,) array [rad or m]
        Joint positions in the model's order.
    link : str
        Name of any link of the model, welded ones included.
    axes : {'base', 'link'}
        Axes of the twist ``[v; w]``, which is always that of the link's origin.

    Returns
    -------
    (6, n) array [m, 1]
        A floating base has the first six columns: its own ``[v; w]`` in base axes.

    Raises
    ------
    MeasurementError
        When the positions do not fit the model or are not finite.
    UnknownNameError
        When the link is not in the model.
    ConfigurationError
        When the axes are neither of the two.

    """
    q = state_vector(position, model.nq, 'joint positions')
    feet, bodies, zero = _as_contact(model, link), body_workspace(model), np.zeros(model.nv)
    forward_kinematics(model.tree, q, zero, zero, np.zeros(9), bodies)
    states, grasp, joints = np.zeros((1, N_FOOT_STATE)), np.zeros((6, 6)), np.zeros((6, model.nv))
    contact_points(feet, bodies, (0.0, 0.0, 1.0), states)
    contact_map(feet, states, grasp)
    contact_jacobians(model.tree, feet, bodies, states, joints)
    return _turned(np.hstack([grasp.T, joints]) if model.floating else joints, axes, states)


def frame_bias_acceleration(model: RobotModel, position: np.ndarray, velocity: np.ndarray,
                            link: str, base: BaseMotion | None = None,
                            axes: str = 'base') -> np.ndarray:
    """
    Return ``Jdot v``: how a link accelerates while no joint does.

    Parameters
    ----------
    model : RobotModel
        The robot.
    position : (nq,) array [rad or m]
        Joint positions in the model's order.
    velocity : (nv,) array [rad/s or m/s]
        Joint velocities in the model's order.
    link : str
        Name of any link of the model, welded ones included.
    base : BaseMotion, optional
        Only the angular velocity is read; zero by default.
    axes : {'base', 'link'}
        Axes of the result.

    Returns
    -------
    (6,) array [m/s^2, rad/s^2]
        Classical acceleration of the link's origin, then angular acceleration.

    Raises
    ------
    MeasurementError, UnknownNameError, ConfigurationError
        As :func:`frame_jacobian` does.

    """
    q = state_vector(position, model.nq, 'joint positions')
    v = state_vector(velocity, model.nv, 'joint velocities')
    turning = np.zeros(9)
    if base is not None:
        turning[:3] = state_vector(base.angular_velocity, 3, "rates of the base's rotation")
    feet, bodies, states = (_as_contact(model, link), body_workspace(model),
                            np.zeros((1, N_FOOT_STATE)))
    forward_kinematics(model.tree, q, v, np.zeros(model.nv), turning, bodies)
    contact_points(feet, bodies, (0.0, 0.0, 1.0), states)
    bias = np.zeros(6)
    contact_bias(feet, bodies, states, (0.0, 0.0, 1.0), bias)
    return _turned(bias, axes, states)
