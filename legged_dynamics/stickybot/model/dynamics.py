# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Accelerations, hip forces and wall reactions of the climbing robot.

Karpick, *StickyBot model*, with the moment balance (17) corrected: the hip's force acts on the
body where the limb ends, ``d_i = R^T (x_hl,i - x_cg)``, and not at the hip's rest position r_i, so
that energy and angular momentum balance for every stiffness and damping::

    A_i qdd_i  = m_i r_c x g - r_h x F_i - m_i                               (11)
    M_b xdd    = m_b g + sum_i ( F_i ; m_i + (x_hl,i - x_cg) x F_i )         (17), corrected
    F_r,i      = m_i xdd_lcg,i + F_i - m_i g                                 (24)

with the rod's moment of inertia A_i replaced by a mass matrix when a limb has several links.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from legged_dynamics.optimization.factorizations import factorize, solve_factorized
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.stickybot.model.limb import (
    BODY,
    FORCE,
    LIMB,
    LINK,
    WORK,
    Coordinates,
    hip_deflection,
    hip_force,
    limb_terms,
    make_workspace,
    servo_torque,
)
from legged_dynamics.stickybot.model.robot import RestPosition, StickybotModel, StickybotState


@kernel
def limb_accelerations(machine, work, first, last, attached, x, zdd, forces):
    """Fill accelerations and forces of limbs first to last - 1; the body is only read."""
    index, constants, z, v, u, ud = machine.index, machine.constants, x.z, x.v, x.u, x.ud
    c, s = math.cos(z[2]), math.sin(z[2])
    for i in range(first, last):
        n, start = index[i, LIMB.n_links], index[i, LIMB.start]
        limb, link = index[i, LIMB.hip], index[i, LIMB.links]
        # The hip force follows from positions and rates alone, so that each limb is solved by
        # itself, and the body last: no system of all coordinates is formed.
        limb_terms(index, constants, work, i, z, v)
        deflection = hip_deflection(c, s, z, v, work)
        bx, by, moment, power, loss = hip_force(constants, limb, deflection, start - 3, u, ud)
        fx, fy = c * bx - s * by, s * bx + c * by
        # Generalised forces on the limb (11): bias, and the hip's reaction by the end's Jacobian.
        work[0, WORK.solution] = -work[0, WORK.bias] - fx
        work[1, WORK.solution] = -work[1, WORK.bias] - fy
        for j in range(2, n + 2):
            work[j, WORK.solution] = (-work[j, WORK.bias] - work[j, WORK.jacobian] * fx
                                      - work[j, WORK.jacobian + 1] * fy - moment)
        for j in range(3, n + 2):
            torque, joint_power, joint_loss = servo_torque(
                constants, link + (j - 2) * LINK.width, start + j, z, v, u, ud)
            work[j, WORK.solution] += torque
            power += joint_power
            loss += joint_loss
        rx, ry = 0.0, 0.0
        if attached[i]:
            # The foot's two rows are the reaction; the others make the links' accelerations.
            rx, ry = -work[0, WORK.solution], -work[1, WORK.solution]
            work[0, WORK.solution] = work[1, WORK.solution] = 0.0
            # One link takes a division: Karpick's case, and that of most runs.
            if n == 1:
                work[2, WORK.solution] /= work[2, WORK.mass_matrix + 2]
            else:
                solve_limb(work, 2, n)
            for j in range(2, n + 2):
                rx += work[j, WORK.mass_matrix] * work[j, WORK.solution]
                ry += work[j, WORK.mass_matrix + 1] * work[j, WORK.solution]
        else:
            solve_limb(work, 0, n + 2)
        for j in range(n + 2):
            zdd[start + j] = work[j, WORK.solution]
        forces[i, FORCE.hip], forces[i, FORCE.hip + 1], forces[i, FORCE.hip + 2] = fx, fy, moment
        forces[i, FORCE.reaction], forces[i, FORCE.reaction + 1] = rx, ry
        # The arm is d, where the limb ends, and not the rest position r; see the module.
        forces[i, FORCE.body_moment] = moment + deflection[0] * by - deflection[1] * bx
        forces[i, FORCE.power], forces[i, FORCE.loss] = power, loss


@kernel
def solve_limb(work, first, n):
    """Replace a limb's forces in column `WORK.solution` by accelerations."""
    at = WORK.mass_matrix + work.shape[0] - 1
    for j in range(n):
        for k in range(j + 1):
            work[j, at + k] = work[first + j, WORK.mass_matrix + first + k]
    # Factored in a copy: the reaction still needs the mass matrix itself.
    factor = work[:, at:]
    factorize(factor, n)
    solve_factorized(factor, n, work[first:, WORK.solution])


@kernel
def _body_acceleration(machine, forces, zdd):
    """Fill the body's acceleration from the limbs' forces (17)."""
    constants = machine.constants
    fx, fy, moment = 0.0, 0.0, 0.0
    for i in range(forces.shape[0]):
        fx += forces[i, FORCE.hip]
        fy += forces[i, FORCE.hip + 1]
        moment += forces[i, FORCE.body_moment]
    zdd[0] = fx / constants[BODY.mass] + constants[BODY.gravity_x]
    zdd[1] = fy / constants[BODY.mass] + constants[BODY.gravity_y]
    zdd[2] = moment / constants[BODY.inertia]


@kernel
def accelerate(machine, work, attached, x, zdd, forces):
    """Fill all accelerations and forces; see :func:`accelerations`."""
    limb_accelerations(machine, work, 0, forces.shape[0], attached, x, zdd, forces)
    _body_acceleration(machine, forces, zdd)


@dataclass(frozen=True, eq=False)
class Accelerations:
    """
    Accelerations of a state and the forces behind them, in wall axes.

    Attributes
    ----------
    body : (3,) array [m/s^2, rad/s^2]
        Of the centre of mass, and angular.
    joint : (nq,) array [rad/s^2]
        Of every limb's links, limb after limb.
    foot : (N, 2) array [m/s^2]
        Zero for a foot on the wall.
    hip_force : (N, 3) array [N, N m]
        Force and moment of each limb on the body; the force acts at the limb's end.
    reaction : (N, 2) array [N]
        Force of the wall on each foot; zero off the wall.
    actuator_power : (N,) array [W]
        Power of the actuators that move the rest positions.
    loss : (N,) array [W]
        Power lost in the dampers.

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
        """
        Return the accelerations that a kernel filled.

        ``zdd, forces``: of :func:`accelerate`.
        """
        return cls(zdd[:3].copy(), zdd[model.joint_columns], zdd[model.foot_columns],
                   forces[:, FORCE.hip:FORCE.hip + 3].copy(),
                   forces[:, FORCE.reaction:FORCE.reaction + 2].copy(),
                   forces[:, FORCE.power].copy(), forces[:, FORCE.loss].copy())


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
    zdd, forces = np.zeros(model.nz), np.zeros((model.n_limbs, FORCE.width))
    accelerate(model.machine, make_workspace(model.machine), attached, Coordinates(z, v, u, ud),
               zdd, forces)
    return Accelerations.unpacked(model, zdd, forces)
