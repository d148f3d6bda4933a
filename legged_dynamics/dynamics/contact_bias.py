# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Bias accelerations of contacts, and Jacobian and bias of any link.

A contact's acceleration is ``J a + bias``; the bias (``Jdot v``) is what it has when neither
joints nor base accelerate. It is the classical acceleration of the point, the second derivative
of its position, and so does not depend on the velocity of the base over ground.
"""
from __future__ import annotations

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    BODY,
    CONTACT,
    N_FOOT_STATE,
    N_GEOMETRY,
    P_FOOT,
    R_FOOT,
    RADIUS,
    START,
    FeetTable,
    contact_jacobians,
    contact_map,
    contact_points,
    index_row,
    put_moment,
)
from legged_dynamics.dynamics.kinematics import (
    ACCELERATION,
    ALPHA,
    OMEGA,
    POSITION,
    body_workspace,
    forward_kinematics,
)
from legged_dynamics.dynamics.motion import BaseMotion, state_vector
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.feet import FlatFoot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import add, add_scaled, cross, subtract
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.table import get3


@lean_kernel
def contact_bias(feet, bodies, states, normal, bias):
    """
    Fill the (nc,) accelerations of the contacts from the bodies' present ones, base axes.

    A ball rolls: the centre has the acceleration ``alpha x (radius n)`` of a wheel's, so the
    point that touches has only the centripetal one, towards the centre, and that is left out.
    """
    for i in range(feet.index.shape[0]):
        b, row = feet.index[i, BODY], feet.index[i, START]
        arm = subtract(get3(states, i, CONTACT), get3(bodies, b, POSITION))
        to_center = add_scaled(arm, feet.geometry[i, RADIUS], normal)
        w, alpha = get3(bodies, b, OMEGA), get3(bodies, b, ALPHA)
        a = add(get3(bodies, b, ACCELERATION),
                add(cross(alpha, arm), cross(w, cross(w, to_center))))
        for k in range(3):
            bias[row + k] = a[k]
        put_moment(feet.index, states, i, alpha, bias)


def _as_contact(model: RobotModel, link: str) -> FeetTable:
    """Return the table of a 'foot' that is the link's own frame, held in all six directions."""
    body, pose = model.frame(link)
    geometry = np.zeros((1, N_GEOMETRY))
    geometry[0, R_FOOT:R_FOOT + 9] = pose.R.ravel()
    geometry[0, P_FOOT:P_FOOT + 3] = pose.p
    return FeetTable(np.array([index_row(body, 0, FlatFoot)]), geometry)


def _rotation(axes: str, states: np.ndarray) -> np.ndarray:
    if axes not in ('base', 'link'):
        raise ConfigurationError(f"expected axes 'base' or 'link', got {axes!r}")
    return np.eye(3) if axes == 'base' else states[0, :9].reshape(3, 3).T


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
    R = _rotation(axes, states)
    jacobian = np.hstack([grasp.T, joints]) if model.floating else joints
    return np.vstack([R @ jacobian[:3], R @ jacobian[3:]])


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
    R = _rotation(axes, states)
    return np.concatenate([R @ bias[:3], R @ bias[3:]])
