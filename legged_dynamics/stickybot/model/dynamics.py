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
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.optimization.factorizations import factorize, solve_factorized
from legged_dynamics.spatial.algebra import dot, load3, load9, rotate, subtract
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.layout import offsets
from legged_dynamics.stickybot.model.limb import (
    BODY,
    FORCE,
    HIP,
    LIMB,
    LINK,
    WORK,
    Coordinates,
    hip_deflection,
    hip_force,
    limb_mass,
    limb_terms,
    make_workspace,
    servo_torque,
)
from legged_dynamics.stickybot.model.robot import (
    Body,
    RestPosition,
    StickybotModel,
    StickybotState,
    fitting,
)


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
        hip, power, loss = hip_force(constants, limb, deflection, start - 3, u, ud)
        bx, by, moment = hip
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


# -------------------------------------------------------------------------------------------------
# Energy and momentum of the climbing robot, their balances, and the load of the feet.
#
# Three balances hold for all springs and dampers (Karpick, with the moment balance corrected)::
#
#     d/dt (T + V) = power of the actuators - loss of the dampers        [- loss of touchdowns]
#     d/dt p       = sum F_r + M g                                       [+ touchdown impulses]
#     d/dt L       = sum p_f x F_r + M c x g                             [+ p_f x impulses]
#
# with L and all moments about the origin of the wall's frame and c the centre of mass. When the
# accelerations of the body *and* of the limbs are given, the hip springs drop out, and the feet's
# forces satisfy a grasp balance ``G F = w`` of three equations in two unknowns per foot::
#
#     sum F_i                   = m_b (xdd - g) + sum m_i (a_lcg,i - g)
#     sum (x_f,i - x_cg) x F_i  = I phidd + sum [ (x_c,i - x_cg) x m_i (a_lcg,i - g) + I_i qdd_i ]


class Totals(NamedTuple):
    """Sums over a simulation; the last one jumps, the others have the rates of `flow`."""

    work: int = 1               # J, put in by the actuators that move the rest positions
    damped: int = 1             # J, lost in dampers
    impulse: int = 2            # N s, of wall and weight
    angular_impulse: int = 1    # N m s, about the origin of the wall's frame
    struck: int = 1             # J, lost where feet touch down
    width: int = 0


class Stored(NamedTuple):
    """What :func:`stored` fills, and the rates of all; wall axes and origin."""

    kinetic: int = 1            # J
    potential: int = 1          # J, of springs and weight
    momentum: int = 2           # kg m/s
    angular_momentum: int = 1   # kg m^2/s
    mass_center: int = 2        # m
    width: int = 0


TOTAL = offsets(Totals())
STORED = offsets(Stored())
# How many of the totals flow, and do not jump.
N_FLOWS = TOTAL.struck


@kernel
def stored(machine, work, x, zdd, out, rate):
    """
    Fill energies, momenta and centre of mass, and the rates of all.

    Rates follow from each body's motion without the equations of motion, an independent
    check.
    """
    index, constants, z, v, u, ud = machine.index, machine.constants, x.z, x.v, x.u, x.ud
    m, inertia = constants[BODY.mass], constants[BODY.inertia]
    gx, gy = constants[BODY.gravity_x], constants[BODY.gravity_y]
    out[:] = 0.0
    rate[:] = 0.0
    _add_body(out, rate, (m, inertia), (z[0], z[1]), (v[0], v[1], v[2]), (zdd[0], zdd[1], zdd[2]))
    total = m
    body_c, body_s = math.cos(z[2]), math.sin(z[2])
    for i in range(index.shape[0]):
        n, start = index[i, LIMB.n_links], index[i, LIMB.start]
        link, limb = index[i, LIMB.links], index[i, LIMB.hip]
        px, py, vx, vy = z[start], z[start + 1], v[start], v[start + 1]
        ax, ay, angle, w, alpha = zdd[start], zdd[start + 1], 0.0, 0.0, 0.0
        for k in range(n):
            at = start + 2 + k
            angle += z[at]
            w += v[at]
            alpha += zdd[at]
            c, s, r, length = math.cos(angle), math.sin(angle), \
                constants[link + LINK.center], constants[link + LINK.length]
            # Acceleration of the link axis: tangential and centripetal.
            tx, ty = -alpha * s - w * w * c, alpha * c - w * w * s
            m, inertia, k_joint = constants[link + LINK.mass], constants[link + LINK.inertia], \
                constants[link + LINK.stiffness]
            _add_body(out, rate, (m, inertia), (px + r * c, py + r * s),
                      (vx - w * r * s, vy + w * r * c, w), (ax + r * tx, ay + r * ty, alpha))
            total += m
            # The first joint is the foot, which turns freely: no spring.
            if k > 0:
                bend = z[at] - u[at - 3]
                out[STORED.potential] += 0.5 * k_joint * bend * bend
                rate[STORED.potential] += k_joint * bend * (v[at] - ud[at - 3])
            px += length * c
            py += length * s
            vx -= w * length * s
            vy += w * length * c
            ax += length * tx
            ay += length * ty
            link += LINK.width
        # Elastic energy of the hip, e^T K e / 2 with e = d - r, and its rate e^T K edot.
        limb_terms(index, constants, work, i, z, v)
        d = hip_deflection(body_c, body_s, z, v, work)
        e = subtract(d[:3], load3(u, start - 3))
        pull = rotate(load9(constants, limb + HIP.stiffness), e)
        out[STORED.potential] += 0.5 * dot(pull, e)
        rate[STORED.potential] += dot(pull, subtract(d[3:], load3(ud, start - 3)))
    # mass_center still holds the first moment: it is divided by the mass below.
    out[STORED.potential] -= gx * out[STORED.mass_center] + gy * out[STORED.mass_center + 1]
    rate[STORED.potential] -= gx * out[STORED.momentum] + gy * out[STORED.momentum + 1]
    for j in range(2):
        out[STORED.mass_center + j] /= total
        rate[STORED.mass_center + j] = out[STORED.momentum + j] / total


@kernel
def _add_body(out, rate, body, p, v, a):
    """Add a rigid body (mass, inertia) in place; p (x, y), v and a (x, y, angle), wall axes."""
    (m, inertia), w, alpha = body, v[2], a[2]
    # The centre of mass as a first moment.
    out[STORED.kinetic] += 0.5 * (m * (v[0] * v[0] + v[1] * v[1]) + inertia * w * w)
    out[STORED.momentum] += m * v[0]
    out[STORED.momentum + 1] += m * v[1]
    out[STORED.angular_momentum] += inertia * w + m * (p[0] * v[1] - p[1] * v[0])
    out[STORED.mass_center] += m * p[0]
    out[STORED.mass_center + 1] += m * p[1]
    rate[STORED.kinetic] += m * (v[0] * a[0] + v[1] * a[1]) + inertia * w * alpha
    rate[STORED.momentum] += m * a[0]
    rate[STORED.momentum + 1] += m * a[1]
    rate[STORED.angular_momentum] += inertia * alpha + m * (p[0] * a[1] - p[1] * a[0])


@kernel
def flow(machine, z, forces, out):
    """Fill the rates of work, damper loss, impulse and angular impulse, at `TOTAL`."""
    index, constants = machine.index, machine.constants
    gx, gy, mass = constants[BODY.gravity_x], constants[BODY.gravity_y], constants[BODY.mass]
    power, loss, fx, fy = 0.0, 0.0, 0.0, 0.0
    moment = mass * (z[0] * gy - z[1] * gx)
    for i in range(index.shape[0]):
        start = index[i, LIMB.start]
        rx, ry = forces[i, FORCE.reaction], forces[i, FORCE.reaction + 1]
        power += forces[i, FORCE.power]
        loss += forces[i, FORCE.loss]
        fx += rx
        fy += ry
        limb, sx, sy = limb_mass(machine, i, z)
        mass += limb
        moment += z[start] * ry - z[start + 1] * rx + sx * gy - sy * gx
    out[TOTAL.work], out[TOTAL.damped] = power, loss
    out[TOTAL.impulse], out[TOTAL.impulse + 1] = fx + mass * gx, fy + mass * gy
    out[TOTAL.angular_impulse] = moment


# -------------------------------------------------------------------------------------------------
# Jacobian of the accelerations with positions and rates.
#
# A limb is coupled with the other limbs through the body only, so that a difference quotient with
# one of its coordinates moves that limb alone.


# Steps of the difference quotients that make the Jacobian. The accelerations' roundoff is 1e-13
# of them, and their curvature matters over centimetres and radians.
POSITION_STEP = 1e-7        # m or rad
VELOCITY_STEP = 1e-6        # m/s or rad/s
# Stages of the method whose memory the stepper holds.
STAGES = 6
# Rows of `Stepper.vectors`: accelerations and flows of a stage, their drift as the rest positions
# move, the right side of its equations, and the accelerations of a moved state.
DERIVATIVE, DRIFT, RHS, MOVED = VECTORS = range(4)


class Stepper(NamedTuple):
    """
    Memory for one step of a robot with nz coordinates.

    Attributes
    ----------
    work : (s + 1, WORK.mass_matrix + 2 s) array
    by_position, by_velocity : (nz + N_FLOWS, nz) array
        Jacobian of the accelerations, and of the rates of work, loss and impulses.
    matrix : (nz, nz) array
    pivots : (nz,) int array
    stages : (6, 2 nz + N_FLOWS) array
    vectors : (4, nz + N_FLOWS) array
    limb_forces : (N, FORCE.width) array

    """

    work: np.ndarray
    by_position: np.ndarray
    by_velocity: np.ndarray
    matrix: np.ndarray
    pivots: np.ndarray
    stages: np.ndarray
    vectors: np.ndarray
    limb_forces: np.ndarray


def make_stepper(model: StickybotModel) -> Stepper:
    """Return memory for steps of a robot."""
    nz, rows = model.nz, model.nz + N_FLOWS
    return Stepper(make_workspace(model.machine), np.zeros((rows, nz)), np.zeros((rows, nz)),
                   np.zeros((nz, nz)), np.zeros(nz, np.int64), np.zeros((STAGES, nz + rows)),
                   np.zeros((len(VECTORS), rows)), np.zeros((model.n_limbs, FORCE.width)))


def free_coordinates(model: StickybotModel, attached: np.ndarray) -> np.ndarray:
    """Return the coordinates that are free to move: all but the places of attached feet."""
    return np.setdiff1d(np.arange(model.nz), model.foot_columns[attached])


@kernel
def _fill_column(machine, step, attached, x, now, limbs, column, by_rate):
    """
    Fill the column of a coordinate, or of its rate, by a forward difference of some limbs.

    ``now``: zdd and forces of the present state; ``limbs``: the first, and the one after the last.
    """
    place, size = (x.v, VELOCITY_STEP) if by_rate else (x.z, POSITION_STEP)
    J = step.by_velocity if by_rate else step.by_position
    flows = J[x.z.shape[0]:]
    (zdd, forces), (first, last) = now, limbs
    index, constants = machine.index, machine.constants
    moved, other = step.vectors[MOVED], step.limb_forces
    _, sx, sy = limb_mass(machine, first, x.z)
    kept = place[column]
    place[column] = kept + size
    # The step as it was rounded, and not as it was meant: the quotient gains digits.
    scale = 1.0 / (place[column] - kept)
    limb_accelerations(machine, step.work, first, last, attached, x, moved, other)
    _, to_x, to_y = limb_mass(machine, first, x.z)
    place[column] = kept
    flows[TOTAL.angular_impulse, column] += scale * (
        (to_x - sx) * constants[BODY.gravity_y] - (to_y - sy) * constants[BODY.gravity_x])
    for i in range(first, last):
        start = index[i, LIMB.start]
        for j in range(start, start + index[i, LIMB.n_links] + 2):
            J[j, column] = (moved[j] - zdd[j]) * scale
        for j in range(FORCE.width):
            other[i, j] = (other[i, j] - forces[i, j]) * scale
        J[0, column] += other[i, FORCE.hip] / constants[BODY.mass]
        J[1, column] += other[i, FORCE.hip + 1] / constants[BODY.mass]
        J[2, column] += other[i, FORCE.body_moment] / constants[BODY.inertia]
        rx, ry = other[i, FORCE.reaction], other[i, FORCE.reaction + 1]
        flows[TOTAL.work, column] += other[i, FORCE.power]
        flows[TOTAL.damped, column] += other[i, FORCE.loss]
        flows[TOTAL.impulse, column] += rx
        flows[TOTAL.impulse + 1, column] += ry
        flows[TOTAL.angular_impulse, column] += x.z[start] * ry - x.z[start + 1] * rx


@kernel
def jacobians(machine, step, attached, x, zdd, forces):
    """
    Fill the Jacobians of accelerations and of the rates of work, loss and impulses.

    ``zdd`` and ``forces`` are of the present state; z and v are restored.
    """
    index, constants, now = machine.index, machine.constants, (zdd, forces)
    step.by_position[:] = 0.0
    step.by_velocity[:] = 0.0
    turning = x.z.shape[0] + TOTAL.angular_impulse
    step.by_position[turning, 0] = constants[BODY.mass] * constants[BODY.gravity_y]
    step.by_position[turning, 1] = -constants[BODY.mass] * constants[BODY.gravity_x]
    for by_rate in (False, True):
        for column in range(3):
            _fill_column(machine, step, attached, x, now, (0, index.shape[0]), column, by_rate)
        for i in range(index.shape[0]):
            start = index[i, LIMB.start]
            for column in range(start + 2 if attached[i] else start,
                                start + 2 + index[i, LIMB.n_links]):
                _fill_column(machine, step, attached, x, now, (i, i + 1), column, by_rate)


# -------------------------------------------------------------------------------------------------
# Load of the feet for given accelerations of body and limbs.


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

    Returns
    -------
    Load
        What the feet on the wall must carry.

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
    stored(model.machine, make_workspace(model.machine), Coordinates(z, v, still, still), zdd, now,
           rate)
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


# -------------------------------------------------------------------------------------------------
# Damping of the hips: Karpick's design rule (36)-(37).
#
# It treats each axis of each hip separately, with 1/N of the body's mass or inertia on it::
#
#     b_xy = 2 zeta sqrt(m_cg k_xy / N)        b_phi = 2 zeta sqrt(I_cg k_phi / N)      (36), (37)
#
# The hips are coupled through body and limbs, so zeta = 1 is nominal: the mode in which the body
# bends k_phi over a limb's length, for example, has about half of that damping.


def nominal_damping(body: Body, stiffness: np.ndarray, n_limbs: int, ratio: float = 1.0
                    ) -> np.ndarray:
    """
    Return hip damping by (36) and (37), (3,) [N s/m, N s/m, N m s/rad].

    Parameters
    ----------
    body : Body
        Mass and inertia to be damped.
    stiffness : (3,) array [N/m, N/m, N m/rad]
        Of one hip, or the diagonal of its matrix.
    n_limbs : int
        How many hips share the body.
    ratio : float
        Nominal damping ratio zeta; Karpick has 1.

    Returns
    -------
    (3,) array [N s/m, N s/m, N m s/rad]
        Damping of each axis of a hip.

    Raises
    ------
    ConfigurationError
        When the ratio or a stiffness is negative, or there is no limb.

    """
    k = np.asarray(stiffness, dtype=float)
    if k.shape != (3,) or not (k >= 0.0).all() or n_limbs < 1 or not ratio >= 0.0:
        raise ConfigurationError(
            'expected 3 stiffnesses of at least 0, at least one limb and a ratio of at least 0, '
            f'got {stiffness!r}, {n_limbs!r} and {ratio!r}')
    return 2.0 * ratio * np.sqrt(np.array([body.mass, body.mass, body.inertia]) * k / n_limbs)
