# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Energy and momentum of the climbing robot, and what has gone in and out of them.

Three balances hold whatever the springs and dampers are (source 003 with the corrected moment
balance)::

    d/dt (T + V) = power of the actuators - loss of the dampers        [- loss of touchdowns]
    d/dt p       = sum F_r + M g                                       [+ touchdown impulses]
    d/dt L       = sum p_f x F_r + M c x g                             [+ p_f x impulses]

with L and all moments about the origin of the wall's frame and c the centre of mass.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from legged_dynamics.spatial.jit import kernel
from legged_dynamics.stickybot.model.dynamics import accelerate
from legged_dynamics.stickybot.model.limb import hip_deflection, limb_terms
from legged_dynamics.stickybot.model.machine import (
    BODY_INERTIA,
    BODY_MASS,
    CENTER,
    GRAVITY_X,
    GRAVITY_Y,
    INERTIA,
    JOINT_STIFFNESS,
    LENGTH,
    LIMB,
    LINKS,
    LOSS,
    MASS,
    N_FORCE,
    N_LINK,
    N_LINKS,
    POWER,
    REACTION,
    START,
    STIFFNESS,
    make_workspace,
)
from legged_dynamics.stickybot.model.robot import StickybotModel
from legged_dynamics.stickybot.model.state import RestPosition, StickybotState

# Entries of the (N_TOTALS,) sums that a simulation keeps, and of the rates that feed them.
WORK, DAMPED, IMPULSE, ANGULAR_IMPULSE, STRUCK = 0, 1, 2, 4, 5
N_TOTALS = 6
# Number of those that flow, and do not jump.
N_FLOWS = 5
# Entries of the two arrays that :func:`stored` fills: the quantities and their rates.
KINETIC, POTENTIAL, MOMENTUM, ANGULAR_MOMENTUM, MASS_CENTER = 0, 1, 2, 4, 5
N_STORED = 7


@kernel
def stored(machine, work, z, v, zdd, u, ud, out, rate):
    """
    Fill energies, momentum, angular momentum and centre of mass, and the rates of all.

    The rates follow from each body's own velocity and acceleration: nothing of the equations of
    motion is used, so that they can judge them.
    """
    index, constants = machine.index, machine.constants
    m, inertia = constants[BODY_MASS], constants[BODY_INERTIA]
    gx, gy = constants[GRAVITY_X], constants[GRAVITY_Y]
    out[:] = 0.0
    rate[:] = 0.0
    _add_body(out, rate, m, inertia, (z[0], z[1]), (v[0], v[1]), (zdd[0], zdd[1]), v[2], zdd[2])
    total = m
    body_c, body_s = math.cos(z[2]), math.sin(z[2])
    for i in range(index.shape[0]):
        n, start, link, limb = index[i, N_LINKS], index[i, START], index[i, LINKS], index[i, LIMB]
        x, y, vx, vy = z[start], z[start + 1], v[start], v[start + 1]
        ax, ay, angle, w, alpha = zdd[start], zdd[start + 1], 0.0, 0.0, 0.0
        for k in range(n):
            at = start + 2 + k
            angle += z[at]
            w += v[at]
            alpha += zdd[at]
            c, s, r, length = math.cos(angle), math.sin(angle), \
                constants[link + CENTER], constants[link + LENGTH]
            tx, ty = -alpha * s - w * w * c, alpha * c - w * w * s
            m, inertia, k_joint = constants[link + MASS], constants[link + INERTIA], \
                constants[link + JOINT_STIFFNESS]
            _add_body(out, rate, m, inertia, (x + r * c, y + r * s),
                      (vx - w * r * s, vy + w * r * c), (ax + r * tx, ay + r * ty), w, alpha)
            total += m
            if k > 0:
                bend = z[at] - u[at - 3]
                out[POTENTIAL] += 0.5 * k_joint * bend * bend
                rate[POTENTIAL] += k_joint * bend * (v[at] - ud[at - 3])
            x += length * c
            y += length * s
            vx -= w * length * s
            vy += w * length * c
            ax += length * tx
            ay += length * ty
            link += N_LINK
        limb_terms(index, constants, work, i, z, v)
        d = hip_deflection(body_c, body_s, z, v, work)
        for j in range(3):
            pull, at = 0.0, start - 3
            for k in range(3):
                pull += constants[limb + STIFFNESS + 3 * j + k] * (d[k] - u[at + k])
            out[POTENTIAL] += 0.5 * pull * (d[j] - u[at + j])
            rate[POTENTIAL] += pull * (d[3 + j] - ud[at + j])
    out[POTENTIAL] -= gx * out[MASS_CENTER] + gy * out[MASS_CENTER + 1]
    rate[POTENTIAL] -= gx * out[MOMENTUM] + gy * out[MOMENTUM + 1]
    for j in range(2):
        out[MASS_CENTER + j] /= total
        rate[MASS_CENTER + j] = out[MOMENTUM + j] / total


@kernel
def _add_body(out, rate, m, inertia, p, v, a, w, alpha):
    """Add one rigid body; the centre of mass is summed as a first moment."""
    out[KINETIC] += 0.5 * (m * (v[0] * v[0] + v[1] * v[1]) + inertia * w * w)
    out[MOMENTUM] += m * v[0]
    out[MOMENTUM + 1] += m * v[1]
    out[ANGULAR_MOMENTUM] += inertia * w + m * (p[0] * v[1] - p[1] * v[0])
    out[MASS_CENTER] += m * p[0]
    out[MASS_CENTER + 1] += m * p[1]
    rate[KINETIC] += m * (v[0] * a[0] + v[1] * a[1]) + inertia * w * alpha
    rate[MOMENTUM] += m * a[0]
    rate[MOMENTUM + 1] += m * a[1]
    rate[ANGULAR_MOMENTUM] += inertia * alpha + m * (p[0] * a[1] - p[1] * a[0])


@kernel
def limb_weight_moment(machine, i, z):
    """Return the moment of limb i's weight about the origin of the wall's frame."""
    index, constants = machine.index, machine.constants
    gx, gy = constants[GRAVITY_X], constants[GRAVITY_Y]
    start, link = index[i, START], index[i, LINKS]
    x, y, angle, moment = z[start], z[start + 1], 0.0, 0.0
    for k in range(index[i, N_LINKS]):
        angle += z[start + 2 + k]
        c, s = math.cos(angle), math.sin(angle)
        r, length = constants[link + CENTER], constants[link + LENGTH]
        moment += constants[link + MASS] * ((x + r * c) * gy - (y + r * s) * gx)
        x += length * c
        y += length * s
        link += N_LINK
    return moment


@kernel
def flow(machine, z, forces, out):
    """Fill the rates of work, damper loss, impulse and angular impulse."""
    index, constants = machine.index, machine.constants
    gx, gy, mass = constants[GRAVITY_X], constants[GRAVITY_Y], constants[BODY_MASS]
    power, loss, fx, fy = 0.0, 0.0, 0.0, 0.0
    moment = mass * (z[0] * gy - z[1] * gx)
    for i in range(index.shape[0]):
        start, link = index[i, START], index[i, LINKS]
        rx, ry = forces[i, REACTION], forces[i, REACTION + 1]
        power += forces[i, POWER]
        loss += forces[i, LOSS]
        fx += rx
        fy += ry
        moment += z[start] * ry - z[start + 1] * rx + limb_weight_moment(machine, i, z)
        for k in range(index[i, N_LINKS]):
            mass += constants[link + N_LINK * k + MASS]
    out[WORK], out[DAMPED] = power, loss
    out[IMPULSE], out[IMPULSE + 1] = fx + mass * gx, fy + mass * gy
    out[ANGULAR_IMPULSE] = moment


@dataclass(frozen=True, eq=False)
class Balance:
    """
    What a state stores, and how far its rates miss the three balances.

    Attributes
    ----------
    kinetic, potential : float [J]
        Potential energy is elastic and of gravity.
    momentum : (2,) array [kg m/s]
    angular_momentum : float [kg m^2/s]
        About the origin of the wall's frame.
    center_of_mass : (2,) array [m]
    power_residual : float [W]
        d/dt (T + V) less power in, plus loss.
    force_residual : (2,) array [N]
        d/dt p less the sum of reactions and weight (Newton).
    moment_residual : float [N m]
        d/dt L less the moments of reactions and weight.

    """

    kinetic: float
    potential: float
    momentum: np.ndarray
    angular_momentum: float
    center_of_mass: np.ndarray
    power_residual: float
    force_residual: np.ndarray
    moment_residual: float


def balance(model: StickybotModel, state: StickybotState, rest: RestPosition) -> Balance:
    """
    Return energy and momenta of a state, and the residuals of their balances.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    state : StickybotState
        Pose and motion.
    rest : RestPosition
        Where hips and inner joints are held.

    Raises
    ------
    MeasurementError
        When the state or the rest positions do not fit the model.

    """
    z, v, attached = state.packed(model)
    u, ud = rest.packed(model)
    machine, work = model.machine, make_workspace(model.machine)
    zdd, forces, gain = np.zeros(model.nz), np.zeros((model.n_limbs, N_FORCE)), np.zeros(N_TOTALS)
    accelerate(machine, work, attached, z, v, u, ud, zdd, forces)
    flow(machine, z, forces, gain)
    now, rate = np.zeros(N_STORED), np.zeros(N_STORED)
    stored(machine, work, z, v, zdd, u, ud, now, rate)
    return Balance(
        now[KINETIC], now[POTENTIAL], now[MOMENTUM:MOMENTUM + 2], now[ANGULAR_MOMENTUM],
        now[MASS_CENTER:MASS_CENTER + 2],
        power_residual=rate[KINETIC] + rate[POTENTIAL] - gain[WORK] + gain[DAMPED],
        force_residual=rate[MOMENTUM:MOMENTUM + 2] - gain[IMPULSE:IMPULSE + 2],
        moment_residual=rate[ANGULAR_MOMENTUM] - gain[ANGULAR_IMPULSE])
