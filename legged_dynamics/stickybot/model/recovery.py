# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""From forces back to rest positions: where the hips must be held to make an allocation real."""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.exceptions import ModelError
from legged_dynamics.stickybot.model.limb import hip_deflection, limb_terms
from legged_dynamics.stickybot.model.machine import LIMB, WORK, make_workspace
from legged_dynamics.stickybot.model.robot import StickybotModel
from legged_dynamics.stickybot.model.state import RestPosition, StickybotState, fitting


def recover_rest(model: StickybotModel, state: StickybotState, forces: np.ndarray,
                 joint_acceleration: np.ndarray | None = None,
                 deflection_rate: np.ndarray | None = None) -> RestPosition:
    """
    Return the rest positions with which the feet on the wall have the given forces.

    The limb's own balance gives the hip's force and moment, and they its deflection::

        f_i = F_i - m_i (a_lcg,i - g)          m_i = r_c x m g - A qdd - r_h x f_i
        r_i = d_i - K^-1 ( R^T [f_i; m_i] - B deltadot_i )

    In a limb of several links the foot's row gives the moment, and each inner joint's torque then
    follows, and with it the joint's rest angle. Body and limbs accelerate as the forces were
    allocated for.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    state : StickybotState
        Pose and motion.
    forces : (k, 2) array [N]
        Of the feet on the wall, in the order of the limbs.
    joint_acceleration : (nq,) array, optional [rad/s^2]
        Zero unless given.
    deflection_rate : (N, 3) array, optional [m/s, m/s, rad/s]
        ``deltadot``: zero unless given; the rest positions then move along with the limbs' ends.

    Returns
    -------
    RestPosition
        Limbs off the wall are held at their nominal rest position.

    Raises
    ------
    MeasurementError
        When an array does not fit the model.
    ModelError
        When an inner joint without stiffness would have to bear a torque.

    """
    z, v, attached = state.packed(model)
    feet = np.flatnonzero(attached)
    F = fitting(forces, (len(feet), 2), 'forces of the feet on the wall')
    qdd = np.zeros(model.nz)
    if joint_acceleration is not None:
        qdd[model.joint_columns] = fitting(joint_acceleration, (model.n_joints,),
                                           'joint accelerations')
    slip = np.zeros((model.n_limbs, 3)) if deflection_rate is None else \
        fitting(deflection_rate, (model.n_limbs, 3), 'deflection rates')
    c, s = math.cos(z[2]), math.sin(z[2])
    hip, hip_rate = model.rest, np.zeros((model.n_limbs, 3))
    u, ud = RestPosition.nominal(model).packed(model)
    work = make_workspace(model.machine)
    for i, force in zip(feet, F):
        limb, start, n = model.limbs[i], model.machine.index[i, LIMB.start], \
            model.machine.index[i, LIMB.n_links]
        limb_terms(*model.machine, work, i, z, v)
        deflection = np.array(hip_deflection(c, s, z, v, work))
        mass = np.tril(work[:n + 2, WORK.mass_matrix:WORK.mass_matrix + n + 2])
        mass = mass + np.tril(mass, -1).T
        load = mass @ qdd[start:start + n + 2] + work[:n + 2, WORK.bias]
        f = force - load[:2]
        moments = load[2:] + work[2:n + 2, WORK.jacobian:WORK.jacobian + 2] @ f
        moment = -moments[0]
        bf = np.array([c * f[0] + s * f[1], c * f[1] - s * f[0], moment])
        hip[i] = deflection[:3] - np.linalg.solve(limb.stiffness, bf - limb.damping @ slip[i])
        hip_rate[i] = deflection[3:] - slip[i]
        for k in range(1, n):
            link, at = limb.links[k], start + 2 + k
            torque = moments[k] + moment
            if link.stiffness == 0.0 and abs(torque) > 1e-12:
                raise ModelError(f'limb {limb.name!r}: inner joint {k} would have to bear '
                                 f'{torque:.4g} N m and has no stiffness to do it with')
            u[at - 3] = z[at] + (torque / link.stiffness if link.stiffness else 0.0)
            ud[at - 3] = v[at]
    return RestPosition(hip, hip_rate, u[model.inner_columns], ud[model.inner_columns])


def following_rates(model: StickybotModel, state: StickybotState, velocity: np.ndarray
                    ) -> StickybotState:
    """
    Return the pose with the body at a velocity and the limbs on the wall following it.

    Each limb's joints turn so that its end keeps its place on the body as well as it can, in
    least squares; with the one link of a rod, along its own tangent.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    state : StickybotState
        Pose and motion.
    velocity : (3,) array [m/s, m/s, rad/s]
        Of the body.

    """
    z, v, attached = state.packed(model)
    v[:] = 0.0
    v[:3] = fitting(velocity, (3,), 'a body velocity')
    work = make_workspace(model.machine)
    for i in np.flatnonzero(attached):
        start, n = model.machine.index[i, LIMB.start], model.machine.index[i, LIMB.n_links]
        limb_terms(*model.machine, work, i, z, v)
        arm = work[-1, :2] - z[:2]
        wanted = np.array([v[0] - v[2] * arm[1], v[1] + v[2] * arm[0]])
        J = work[2:n + 2, WORK.jacobian:WORK.jacobian + 2].T
        v[start + 2:start + 2 + n] = np.linalg.lstsq(J, wanted, rcond=None)[0]
    return StickybotState.unpacked(model, z, v, attached)
