# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What the feet must carry together for given accelerations of body and limbs.

The load-sharing form of source 003's questions: with the accelerations of the body *and* of the
limbs held, the hip springs drop out, and the feet's forces satisfy a grasp balance ``G F = w``
of three equations in two unknowns per foot::

    sum F_i                   = m_b (xdd - g) + sum m_i (a_lcg,i - g)
    sum (x_f,i - x_cg) x F_i  = I phidd + sum [ (x_c,i - x_cg) x m_i (a_lcg,i - g) + I_i qdd_i ]
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.stickybot.model.bookkeeping import STORED, stored
from legged_dynamics.stickybot.model.machine import make_workspace
from legged_dynamics.stickybot.model.robot import StickybotModel
from legged_dynamics.stickybot.model.state import StickybotState, fitting


@dataclass(frozen=True, eq=False)
class Load:
    """
    A load on the feet that hold, in wall axes, moments about the body's centre of mass.

    Attributes
    ----------
    grasp : (3, 2 k) array
        ``G``: force and moment of the k feet's forces (x, y of each).
    wrench : (3,) array [N, N, N m]
        ``w``: what they must make.
    per_acceleration : (3,) array [kg, kg, kg m^2]
        What each acceleration of the body adds to it: m_b, m_b, I.
    feet : (k,) int array
        Which limbs the feet belong to.

    """

    grasp: np.ndarray
    wrench: np.ndarray
    per_acceleration: np.ndarray
    feet: np.ndarray


def load_of(model: StickybotModel, state: StickybotState, body_acceleration: np.ndarray,
            joint_acceleration: np.ndarray | None = None,
            foot_acceleration: np.ndarray | None = None) -> Load:
    """
    Return the load for given accelerations.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    state : StickybotState
        Pose and motion.
    body_acceleration : (3,) array [m/s^2, rad/s^2]
        Of the centre of mass, and angular.
    joint_acceleration : (nq,) array, optional [rad/s^2]
        Of the limbs' joints; zero unless given.
    foot_acceleration : (N, 2) array, optional [m/s^2]
        Of feet off the wall; zero unless given.

    Raises
    ------
    MeasurementError
        When an array does not fit the model.

    """
    z, v, attached = state.packed(model)
    zdd = np.zeros(model.nz)
    zdd[:3] = fitting(body_acceleration, (3,), 'body accelerations')
    if joint_acceleration is not None:
        zdd[model.joint_columns] = fitting(joint_acceleration, (model.n_joints,),
                                           'joint accelerations')
    if foot_acceleration is not None:
        zdd[model.foot_columns] = fitting(foot_acceleration, (model.n_limbs, 2),
                                          'foot accelerations')
        zdd[model.foot_columns[attached]] = 0.0
    now, rate, still = np.zeros(STORED.width), np.zeros(STORED.width), np.zeros(model.nz - 3)
    stored(model.machine, make_workspace(model.machine), z, v, zdd, still, still, now, rate)
    weight = model.mass * model.wall.in_plane
    center = now[STORED.mass_center:STORED.mass_center + 2]
    force = rate[STORED.momentum:STORED.momentum + 2] - weight
    moment = (rate[STORED.angular_momentum] - center[0] * weight[1] + center[1] * weight[0]
              - z[0] * force[1] + z[1] * force[0])
    feet = np.flatnonzero(attached)
    arms = z[model.foot_columns[feet]] - z[:2]
    grasp = np.zeros((3, 2 * len(feet)))
    grasp[0, 0::2] = grasp[1, 1::2] = 1.0
    grasp[2, 0::2], grasp[2, 1::2] = -arms[:, 1], arms[:, 0]
    body = model.body
    return Load(grasp, np.array([*force, moment]),
                np.array([body.mass, body.mass, body.inertia]), feet)
