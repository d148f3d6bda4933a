# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Jacobian of the accelerations with positions and rates, and the damping of the hips.

A limb is coupled with the other limbs through the body only, so each is differentiated alone. The
hip's force is linear in the deflection and its rate, which gives the body's columns in closed
form; a motion of a free foot is the opposite motion of the body. Only the columns of the limb's
own angles are difference quotients.

Karpick's design rule (36)-(37) for the dampers treats each axis of each hip separately, with 1/N
of the body's mass or inertia on it::

    b_xy = 2 zeta sqrt(m_cg k_xy / N)        b_phi = 2 zeta sqrt(I_cg k_phi / N)       (36), (37)

The hips are coupled through body and limbs, so zeta = 1 is nominal: the mode in which the body
bends k_phi over a limb's length, for example, has about half of that damping.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.optimization.factorizations import factorize, solve_factorized
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.stickybot.model.dynamics import (
    N_FLOWS,
    TOTAL,
    accelerate,
    limb_accelerations,
    limb_weight_moment,
)
from legged_dynamics.stickybot.model.limb import (
    BODY,
    FORCE,
    HIP,
    LIMB,
    LINK,
    WORK,
    Coordinates,
    Machine,
    hip_deflection,
    limb_terms,
    make_workspace,
)
from legged_dynamics.stickybot.model.robot import (
    Body,
    RestPosition,
    StickybotModel,
    StickybotState,
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
def _times(constants, at, x):
    """Return a hip's 3 x 3 matrix, which stands at `at`, times x."""
    return (constants[at] * x[0] + constants[at + 1] * x[1] + constants[at + 2] * x[2],
            constants[at + 3] * x[0] + constants[at + 4] * x[1] + constants[at + 5] * x[2],
            constants[at + 6] * x[0] + constants[at + 7] * x[1] + constants[at + 8] * x[2])


@kernel
def _deflection_change(column, c, s, d, rate):
    """
    Return how d and its rate change with the body's x, y, angle, and their rates (columns 0 to 5).

    From ``d = R^T (x_hl - x_cg)`` and ``ddot = R^T (xdot_hl - xdot_cg) - phidot Z d`` with Z a
    quarter turn.
    """
    still = (0.0, 0.0, 0.0)
    if column == 2:
        return (d[1], -d[0], -1.0), (d[4], -d[3], 0.0)
    if column == 5:
        return still, (d[1], -d[0], -1.0)
    x, y = (-c, s) if column == 0 or column == 3 else (-s, -c)
    if column < 2:
        return (x, y, 0.0), (rate * y, -rate * x, 0.0)
    return still, (x, y, 0.0)


@kernel
def _body_columns(machine, step, attached, x, forces):
    """Fill the Jacobian columns of the body, and of a free foot, in all rows."""
    index, constants, work = machine.index, machine.constants, step.work
    z, v, ud = x.z, x.v, x.ud
    by_position, by_velocity = step.by_position, step.by_velocity
    flows_by_position, flows_by_velocity = step.flows_by_position, step.flows_by_velocity
    mass, inertia = constants[BODY.mass], constants[BODY.inertia]
    c, s = math.cos(z[2]), math.sin(z[2])
    at = WORK.mass_matrix + work.shape[0] - 1
    # One factorisation a limb serves all six columns of the body.
    factor = work[:, at:]
    for i in range(index.shape[0]):
        n, start, limb = index[i, LIMB.n_links], index[i, LIMB.start], index[i, LIMB.hip]
        limb_terms(index, constants, work, i, z, v)
        d = hip_deflection(c, s, z, v, work)
        fx, fy = forces[i, FORCE.hip], forces[i, FORCE.hip + 1]
        bx, by = c * fx + s * fy, c * fy - s * fx
        lag = _times(constants, limb + HIP.damping, (d[3] - ud[start - 3], d[4] - ud[start - 2],
                                                     d[5] - ud[start - 1]))
        first = 2 if attached[i] else 0
        size = n + 2 - first
        for j in range(size):
            for k in range(j + 1):
                work[j, at + k] = work[first + j, WORK.mass_matrix + first + k]
        right = work[first:, WORK.solution]
        factorize(factor, size)
        for column in range(6):
            J = by_position if column < 3 else by_velocity
            flows = flows_by_position if column < 3 else flows_by_velocity
            at_body = column % 3
            dd, dr = _deflection_change(column, c, s, d, v[2])
            k_part = _times(constants, limb + HIP.stiffness, dd)
            b_part = _times(constants, limb + HIP.damping, dr)
            gx, gy, gm = k_part[0] + b_part[0], k_part[1] + b_part[1], k_part[2] + b_part[2]
            wx, wy = c * gx - s * gy, s * gx + c * gy
            # The hip force acts in body axes: turning the body turns it along.
            if column == 2:
                wx -= fy
                wy += fx
            moment = gm + dd[0] * by - dd[1] * bx + d[0] * gy - d[1] * gx
            power = -(gx * ud[start - 3] + gy * ud[start - 2] + gm * ud[start - 1])
            loss = 2.0 * (lag[0] * dr[0] + lag[1] * dr[1] + lag[2] * dr[2])
            for j in range(first, n + 2):
                right[j - first] = -work[j, WORK.jacobian] * wx - work[j, WORK.jacobian + 1] * wy
                if j >= 2:
                    right[j - first] -= gm
            solve_factorized(factor, size, right)
            rx, ry = 0.0, 0.0
            if attached[i]:
                rx, ry = wx, wy
                for j in range(2, n + 2):
                    rx += work[j, WORK.mass_matrix] * work[j, WORK.solution]
                    ry += work[j, WORK.mass_matrix + 1] * work[j, WORK.solution]
            # Moving a free foot along is moving the body the other way.
            for side in range(1 if attached[i] or at_body == 2 else 2):
                sign, where = (1.0, at_body) if side == 0 else (-1.0, start + at_body)
                J[0, where] += sign * wx / mass
                J[1, where] += sign * wy / mass
                J[2, where] += sign * moment / inertia
                for j in range(first, n + 2):
                    J[start + j, where] = sign * work[j, WORK.solution]
                flows[TOTAL.work, where] += sign * power
                flows[TOTAL.damped, where] += sign * loss
            flows[TOTAL.impulse, at_body] += rx
            flows[TOTAL.impulse + 1, at_body] += ry
            flows[TOTAL.angular_impulse, at_body] += z[start] * ry - z[start + 1] * rx


@kernel
def _joint_columns(machine, step, attached, x, zdd, forces):
    """
    Fill the Jacobian columns of all limb angles by forward differences.

    ``zdd`` and ``forces`` are of the present state; z and v are restored.
    """
    index, work, z = machine.index, step.work, x.z
    mass, inertia = machine.constants[BODY.mass], machine.constants[BODY.inertia]
    moved, other = step.vectors[MOVED], step.limb_forces
    by_position, by_velocity = step.by_position, step.by_velocity
    flows_by_position, flows_by_velocity = step.flows_by_position, step.flows_by_velocity
    for i in range(index.shape[0]):
        n, start = index[i, LIMB.n_links], index[i, LIMB.start]
        weight_moment = limb_weight_moment(machine, i, z)
        for column in range(start + 2, start + 2 + n):
            for side in range(2):
                place, size = (z, POSITION_STEP) if side == 0 else (x.v, VELOCITY_STEP)
                J = by_position if side == 0 else by_velocity
                flows = flows_by_position if side == 0 else flows_by_velocity
                kept = place[column]
                place[column] = kept + size
                # The step as it was rounded, and not as it was meant: the quotient gains digits.
                scale = 1.0 / (place[column] - kept)
                limb_accelerations(machine, work, i, i + 1, attached, x, moved, other)
                if side == 0:
                    flows[TOTAL.angular_impulse, column] += (limb_weight_moment(machine, i, z)
                                                             - weight_moment) * scale
                place[column] = kept
                for j in range(start, start + n + 2):
                    J[j, column] = (moved[j] - zdd[j]) * scale
                J[0, column] += (other[i, FORCE.hip] - forces[i, FORCE.hip]) * scale / mass
                J[1, column] += (other[i, FORCE.hip + 1] - forces[i, FORCE.hip + 1]) * scale / mass
                J[2, column] += (other[i, FORCE.body_moment]
                                 - forces[i, FORCE.body_moment]) * scale / inertia
                rx = (other[i, FORCE.reaction] - forces[i, FORCE.reaction]) * scale
                ry = (other[i, FORCE.reaction + 1] - forces[i, FORCE.reaction + 1]) * scale
                flows[TOTAL.work, column] += (other[i, FORCE.power]
                                              - forces[i, FORCE.power]) * scale
                flows[TOTAL.damped, column] += (other[i, FORCE.loss]
                                                - forces[i, FORCE.loss]) * scale
                flows[TOTAL.impulse, column] += rx
                flows[TOTAL.impulse + 1, column] += ry
                flows[TOTAL.angular_impulse, column] += z[start] * ry - z[start + 1] * rx


@kernel
def jacobians(machine, step, attached, x, zdd, forces):
    """
    Fill the Jacobians of accelerations and of the rates of work, loss and impulses.

    ``zdd`` and ``forces`` are of the present state; z and v are restored.
    """
    index, constants = machine.index, machine.constants
    gx, gy = constants[BODY.gravity_x], constants[BODY.gravity_y]
    step.by_position[:] = 0.0
    step.by_velocity[:] = 0.0
    step.flows_by_position[:] = 0.0
    step.flows_by_velocity[:] = 0.0
    turning = step.flows_by_position[TOTAL.angular_impulse]
    turning[0], turning[1] = constants[BODY.mass] * gy, -constants[BODY.mass] * gx
    _body_columns(machine, step, attached, x, forces)
    _joint_columns(machine, step, attached, x, zdd, forces)
    # Moving a free foot moves its limb's weight, which has a moment about the wall's origin.
    for i in range(index.shape[0]):
        if not attached[i]:
            mass = 0.0
            for k in range(index[i, LIMB.n_links]):
                mass += constants[index[i, LIMB.links] + LINK.width * k + LINK.mass]
            turning[index[i, LIMB.start]] += mass * gy
            turning[index[i, LIMB.start] + 1] -= mass * gx


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


@dataclass(frozen=True, eq=False)
class Modes:
    """
    Small motions about a state.

    Attributes
    ----------
    eigenvalues : (m,) complex array [1/s]
        One of each conjugate pair, slowest decay first.
    frequency : (m,) array [rad/s]
        Magnitude of the eigenvalue: of a lightly damped mode, its natural frequency.
    damping_ratio : (m,) array
        ``-Re / |eigenvalue|``: 1 for a mode that does not oscillate.
    shape : (m, nz) complex array
        Motion of the coordinates z, largest entry 1 (metres and radians alike).
    nominal : float
        Damping ratio that the design rule (36), (37) would name for these hips, the largest
        of all axes and limbs.

    """

    eigenvalues: np.ndarray
    frequency: np.ndarray
    damping_ratio: np.ndarray
    shape: np.ndarray
    nominal: float

    @property
    def stable(self) -> bool:
        """Whether no mode grows, to rounding."""
        return bool((self.eigenvalues.real <= 1e-6 * np.abs(self.eigenvalues).max()).all())


def modes(model: StickybotModel, state: StickybotState, rest: RestPosition) -> Modes:
    """
    Return the true modes of the coupled robot with its feet as they are.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    state : StickybotState
        Linearised about; an equilibrium for the modes to mean what they say.
    rest : RestPosition
        Held still.

    Returns
    -------
    Modes
        One of each conjugate pair, slowest decay first.

    Raises
    ------
    MeasurementError
        When state or rest positions do not fit the model.

    """
    z, v, attached = state.packed(model)
    u, _ = rest.packed(model)
    step = make_stepper(model.machine)
    zdd, forces, still = (np.zeros(model.nz), np.zeros((model.n_limbs, FORCE.width)),
                          np.zeros(model.nz - 3))
    x = Coordinates(z, v, u, still)
    accelerate(model.machine, step.work, attached, x, zdd, forces)
    jacobians(model.machine, step, attached, x, zdd, forces)
    n = free_coordinates(model.machine, attached, step.free)
    free = step.free[:n]
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:, :n], A[n:, n:] = step.by_position[np.ix_(free, free)], \
        step.by_velocity[np.ix_(free, free)]
    values, vectors = np.linalg.eig(A)
    keep = np.flatnonzero(values.imag >= 0.0)
    keep = keep[np.argsort(-values[keep].real)]
    values, size = values[keep], np.abs(values[keep])
    shape = np.zeros((len(keep), model.nz), complex)
    shape[:, free] = vectors[:n, keep].T
    for row in shape:
        row /= row[np.argmax(np.abs(row))]
    ratio = np.where(size > 0.0, -values.real / np.maximum(size, 1e-300), math.nan)
    return Modes(values, size, ratio, shape, _nominal_ratio(model))


def _nominal_ratio(model: StickybotModel) -> float:
    ratios = [0.0]
    for limb in model.limbs:
        critical = nominal_damping(model.body, np.diag(limb.stiffness), model.n_limbs)
        ratios += (np.diag(limb.damping) / critical).tolist()
    return max(ratios)
