# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Jacobian of the accelerations with positions and rates, and the damping of the hips.

A limb is coupled with the other limbs through the body only, so that a difference quotient with
one of its coordinates moves that limb alone.

Karpick's design rule (36)-(37) for the dampers treats each axis of each hip separately, with 1/N
of the body's mass or inertia on it::

    b_xy = 2 zeta sqrt(m_cg k_xy / N)        b_phi = 2 zeta sqrt(I_cg k_phi / N)       (36), (37)

The hips are coupled through body and limbs, so zeta = 1 is nominal: the mode in which the body
bends k_phi over a limb's length, for example, has about half of that damping.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.stickybot.model.dynamics import (
    N_FLOWS,
    TOTAL,
    limb_accelerations,
)
from legged_dynamics.stickybot.model.limb import (
    BODY,
    FORCE,
    LIMB,
    Machine,
    limb_mass,
    make_workspace,
)
from legged_dynamics.stickybot.model.robot import (
    Body,
)

# Steps of the difference quotients that make the Jacobian. The accelerations' roundoff is 1e-13
# of them, and their curvature matters over centimetres and radians.
POSITION_STEP = 1e-7        # m or rad
VELOCITY_STEP = 1e-6        # m/s or rad/s
# Stages of the method whose memory the stepper holds.
STAGES = 6
# Rows of `Stepper.vectors`: accelerations and rest positions of a stage, their drift, the right
# side of its equations, a moved state, and the rest positions at the end of the step.
A_STAGE, U_STAGE, DRIFT, RHS, MOVED, U_END = VECTORS = range(6)


class Stepper(NamedTuple):
    """
    Memory for one step of a robot with nz coordinates.

    Attributes
    ----------
    work : (s + 1, WORK.mass_matrix + 2 s) array
    free : (nz,) int array
        Coordinates that are free to move; the first entries are used.
    by_position, by_velocity : (nz, nz) array
        Jacobian of the accelerations.
    matrix : (nz, nz) array
    pivots : (nz,) int array
    stages : (6, 2 nz) array
    vectors : (6, nz) array
    limb_forces : (N, FORCE.width) array
    flows_by_position, flows_by_velocity : (N_FLOWS, nz) array
        Gradients of the rates of work, loss and impulses.
    flow_stages : (6, N_FLOWS) array
    flow_rates : (3, N_FLOWS) array
        At the start, at a stage, and their drift with time.

    """

    work: np.ndarray
    free: np.ndarray
    by_position: np.ndarray
    by_velocity: np.ndarray
    matrix: np.ndarray
    pivots: np.ndarray
    stages: np.ndarray
    vectors: np.ndarray
    limb_forces: np.ndarray
    flows_by_position: np.ndarray
    flows_by_velocity: np.ndarray
    flow_stages: np.ndarray
    flow_rates: np.ndarray


def make_stepper(machine: Machine) -> Stepper:
    """Return memory for steps of a robot."""
    n = machine.index.shape[0]
    nz = int(machine.index[n - 1, LIMB.start] + 2 + machine.index[n - 1, LIMB.n_links])
    return Stepper(make_workspace(machine), np.zeros(nz, np.int64), np.zeros((nz, nz)),
                   np.zeros((nz, nz)), np.zeros((nz, nz)), np.zeros(nz, np.int64),
                   np.zeros((STAGES, 2 * nz)), np.zeros((len(VECTORS), nz)),
                   np.zeros((n, FORCE.width)), np.zeros((N_FLOWS, nz)), np.zeros((N_FLOWS, nz)),
                   np.zeros((STAGES, N_FLOWS)), np.zeros((3, N_FLOWS)))


@kernel
def free_coordinates(machine, attached, free):
    """List the free coordinates in ``free``; return their number."""
    n = 0
    for j in range(3):
        free[n] = j
        n += 1
    for i in range(machine.index.shape[0]):
        start = machine.index[i, LIMB.start]
        for j in range(2 if attached[i] else 0, 2 + machine.index[i, LIMB.n_links]):
            free[n] = start + j
            n += 1
    return n


@kernel
def _fill_column(machine, step, attached, x, now, limbs, column, by_rate):
    """
    Fill the column of a coordinate, or of its rate, by a forward difference of some limbs.

    ``now``: zdd and forces of the present state; ``limbs``: the first, and the one after the last.
    """
    place, size = (x.v, VELOCITY_STEP) if by_rate else (x.z, POSITION_STEP)
    J = step.by_velocity if by_rate else step.by_position
    flows = step.flows_by_velocity if by_rate else step.flows_by_position
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
    step.flows_by_position[:] = 0.0
    step.flows_by_velocity[:] = 0.0
    turning = step.flows_by_position[TOTAL.angular_impulse]
    turning[0] = constants[BODY.mass] * constants[BODY.gravity_y]
    turning[1] = -constants[BODY.mass] * constants[BODY.gravity_x]
    for by_rate in (False, True):
        for column in range(3):
            _fill_column(machine, step, attached, x, now, (0, index.shape[0]), column, by_rate)
        for i in range(index.shape[0]):
            start = index[i, LIMB.start]
            for column in range(start + 2 if attached[i] else start,
                                start + 2 + index[i, LIMB.n_links]):
                _fill_column(machine, step, attached, x, now, (i, i + 1), column, by_rate)


# -------------------------------------------------------------------------------------------------
# Damping of the hips: the design rule (36), (37) and the modes of the coupled robot.


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
