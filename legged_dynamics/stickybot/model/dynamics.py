# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Accelerations, hip forces and wall reactions of the climbing robot.

Source 003 with the corrected moment balance: the hip's force acts on the body where the limb ends,
``d_i = R^T (x_hl,i - x_cg)``, and not at the hip's rest position r_i, so that energy and angular
momentum balance for every stiffness and damping::

    A_i qdd_i  = m_i r_c x g - r_h x F_i - m_i                               (11)
    M_b xdd    = m_b g + sum_i ( F_i ; m_i + (x_hl,i - x_cg) x F_i )         (17), corrected
    F_r,i      = m_i xdd_lcg,i + F_i - m_i g                                 (24)

with the rod's moment of inertia A_i replaced by a mass matrix when a limb has several links.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from legged_dynamics.optimization.cholesky import factorize, solve_factorized
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.stickybot.model.limb import (
    hip_deflection,
    hip_force,
    limb_terms,
    servo_torque,
)
from legged_dynamics.stickybot.model.machine import (
    BIAS,
    BODY_INERTIA,
    BODY_MASS,
    BODY_MOMENT,
    GRAVITY_X,
    GRAVITY_Y,
    HIP,
    JACOBIAN,
    LIMB,
    LINKS,
    LOSS,
    N_FORCE,
    N_LINK,
    N_LINKS,
    N_WORK,
    POWER,
    REACTION,
    SOLUTION,
    START,
    make_workspace,
)
from legged_dynamics.stickybot.model.robot import StickybotModel
from legged_dynamics.stickybot.model.state import RestPosition, StickybotState


@kernel
def limb_accelerations(machine, work, first, last, attached, z, v, u, ud, zdd, forces):
    """Fill accelerations and forces of limbs first to last - 1; the body is only read."""
    index, constants = machine.index, machine.constants
    c, s = math.cos(z[2]), math.sin(z[2])
    for i in range(first, last):
        n, start, limb, link = index[i, N_LINKS], index[i, START], index[i, LIMB], index[i, LINKS]
        limb_terms(index, constants, work, i, z, v)
        deflection = hip_deflection(c, s, z, v, work)
        bx, by, moment, power, loss = hip_force(constants, limb, deflection, start - 3, u, ud)
        fx, fy = c * bx - s * by, s * bx + c * by
        work[0, SOLUTION], work[1, SOLUTION] = -work[0, BIAS] - fx, -work[1, BIAS] - fy
        for j in range(2, n + 2):
            work[j, SOLUTION] = (-work[j, BIAS] - work[j, JACOBIAN] * fx
                                 - work[j, JACOBIAN + 1] * fy - moment)
        for j in range(3, n + 2):
            torque, joint_power, joint_loss = servo_torque(
                constants, link + (j - 2) * N_LINK, start + j, z, v, u, ud)
            work[j, SOLUTION] += torque
            power += joint_power
            loss += joint_loss
        rx, ry = 0.0, 0.0
        if attached[i]:
            # The foot's two rows are the reaction; the others make the links' accelerations.
            rx, ry = -work[0, SOLUTION], -work[1, SOLUTION]
            work[0, SOLUTION] = work[1, SOLUTION] = 0.0
            if n == 1:
                work[2, SOLUTION] /= work[2, N_WORK + 2]
            else:
                solve_limb(work, 2, n)
            for j in range(2, n + 2):
                rx += work[j, N_WORK] * work[j, SOLUTION]
                ry += work[j, N_WORK + 1] * work[j, SOLUTION]
        else:
            solve_limb(work, 0, n + 2)
        for j in range(n + 2):
            zdd[start + j] = work[j, SOLUTION]
        forces[i, HIP], forces[i, HIP + 1], forces[i, HIP + 2] = fx, fy, moment
        forces[i, REACTION], forces[i, REACTION + 1] = rx, ry
        forces[i, BODY_MOMENT] = moment + deflection[0] * by - deflection[1] * bx
        forces[i, POWER], forces[i, LOSS] = power, loss


@kernel
def solve_limb(work, first, n):
    """Solve for n accelerations from coordinate `first` on, in place of their forces."""
    at = N_WORK + work.shape[0] - 1
    for j in range(n):
        for k in range(j + 1):
            work[j, at + k] = work[first + j, N_WORK + first + k]
    factor = work[:, at:]
    factorize(factor, n)
    solve_factorized(factor, n, work[first:, SOLUTION])


@kernel
def body_acceleration(machine, forces, zdd):
    """Fill the body's acceleration from the limbs' forces (17)."""
    constants = machine.constants
    fx, fy, moment = 0.0, 0.0, 0.0
    for i in range(forces.shape[0]):
        fx += forces[i, HIP]
        fy += forces[i, HIP + 1]
        moment += forces[i, BODY_MOMENT]
    zdd[0] = fx / constants[BODY_MASS] + constants[GRAVITY_X]
    zdd[1] = fy / constants[BODY_MASS] + constants[GRAVITY_Y]
    zdd[2] = moment / constants[BODY_INERTIA]


@kernel
def accelerate(machine, work, attached, z, v, u, ud, zdd, forces):
    """Fill all accelerations and forces; see :func:`accelerations`."""
    limb_accelerations(machine, work, 0, forces.shape[0], attached, z, v, u, ud, zdd, forces)
    body_acceleration(machine, forces, zdd)


@dataclass(frozen=True, eq=False)
class Accelerations:
    """
    What a state does next, in wall axes.

    Attributes
    ----------
    body : (3,) array [m/s^2, rad/s^2]
    joint : (nq,) array [rad/s^2]
        Of every limb's links, limb after limb.
    foot : (N, 2) array [m/s^2]
        Zero for a foot on the wall.
    hip_force : (N, 3) array [N, N m]
        Force and moment of each limb on the body; the force acts at the limb's end.
    reaction : (N, 2) array [N]
        Force of the wall on each foot; zero off the wall.
    actuator_power : (N,) array [W]
        What the actuators that move the rest positions put in.
    loss : (N,) array [W]
        What the dampers take out.

    """

    body: np.ndarray
    joint: np.ndarray
    foot: np.ndarray
    hip_force: np.ndarray
    reaction: np.ndarray
    actuator_power: np.ndarray
    loss: np.ndarray

    @classmethod
    def unpacked(cls, model: StickybotModel, zdd: np.ndarray, forces: np.ndarray
                 ) -> Accelerations:
        """Return what a kernel filled."""
        return cls(zdd[:3].copy(), zdd[model.joint_columns], zdd[model.foot_columns],
                   forces[:, HIP:HIP + 3].copy(), forces[:, REACTION:REACTION + 2].copy(),
                   forces[:, POWER].copy(), forces[:, LOSS].copy())


def accelerations(model: StickybotModel, state: StickybotState, rest: RestPosition
                  ) -> Accelerations:
    """
    Return accelerations, hip forces and wall reactions.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    state : StickybotState
        Pose and motion.
    rest : RestPosition
        Where hips and inner joints are held.

    Returns
    -------
    Accelerations

    Raises
    ------
    MeasurementError
        When the state or the rest positions do not fit the model or are not finite.

    """
    z, v, attached = state.packed(model)
    u, ud = rest.packed(model)
    zdd, forces = np.zeros(model.nz), np.zeros((model.n_limbs, N_FORCE))
    accelerate(model.machine, make_workspace(model.machine), attached, z, v, u, ud, zdd, forces)
    return Accelerations.unpacked(model, zdd, forces)
