# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One step of a stiff integrator: RODAS, an L-stable Rosenbrock method of order 4(3).

Hairer and Wanner, Solving Ordinary Differential Equations II, section VI.4, in the form that
needs no matrix product per stage::

    (1/(h gamma) - J) U_i = f(t + a_i h, y + sum_j A_ij U_j) + sum_j C_ij/h U_j + g_i h f_t

For ``y = (z, v)``, ``f = (v, zdd(z, v))`` half of the unknowns fall out, and the matrix to factor
is ``s 1 - J_v - J_z / s`` with ``s = 1/(h gamma)``, over the coordinates that are free to move.
A light limb on a damped hip settles within 0.2 ms while the robot takes a second for a stride:
this method follows the stride once the limb has settled, whatever its stiffness.
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.optimization.lu import factorize_lu, solve_lu
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.layout import offsets
from legged_dynamics.stickybot.model.bookkeeping import N_FLOWS, flow
from legged_dynamics.stickybot.model.dynamics import accelerate
from legged_dynamics.stickybot.model.jacobian import STAGES

GAMMA = 0.25
A = np.array([
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [1.544, 0.0, 0.0, 0.0, 0.0],
    [0.9466785280815826, 0.2557011698983284, 0.0, 0.0, 0.0],
    [3.314825187068521, 2.896124015972201, 0.9986419139977817, 0.0, 0.0],
    [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 0.0],
    [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0]])
C = np.array([
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [-5.6688, 0.0, 0.0, 0.0, 0.0],
    [-2.430093356833875, -0.2063599157091915, 0.0, 0.0, 0.0],
    [-0.1073529058151375, -9.594562251023355, -20.47028614809616, 0.0, 0.0],
    [7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160, 0.0],
    [8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136,
     -6.058818238834054]])
ALPHA = np.array([0.0, 0.386, 0.21, 0.63, 1.0, 1.0])
GAMMA_SUM = np.array([0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0])
class Limits(NamedTuple):
    """Of an integration."""

    position_error: int = 1     # tolerated local error of positions [m, rad]
    velocity_error: int = 1     # and of velocities [m/s, rad/s]
    longest_step: int = 1       # s


LIMITS = offsets(Limits())


@kernel
def rodas_step(machine, step, limits, n, attached, h, z, v, u, ud, zdd, forces, z_new, v_new,
               sums):
    """
    Take one step of length h; return the error estimate, in units of what is tolerated.

    ``zdd`` and ``forces`` are those of the start; ``limits`` are an integration's. Work, loss and
    impulses are integrated by the same method, so that they hold through transients which the
    step is too long to resolve; they are left in ``sums``.

    Parameters
    ----------
    machine, step, attached, u, ud
        See :mod:`~legged_dynamics.stickybot.model.machine`; the Jacobians in ``step`` are read.
    limits : (3,) array
        At the places `LIMITS`.
    n : int
        Number of free coordinates, of which ``step.free`` is the list.
    h : float [s]
        Length of the step.
    z, v, zdd, forces : arrays
        Of the start.
    z_new, v_new : (nz,) array
        Filled with the end's.
    sums : (N_FLOWS,) array
        Filled with what flowed during the step.

    """
    nz = z.shape[0]
    free, U, J_z, J_v, matrix = (step.free, step.stages, step.by_position, step.by_velocity,
                                 step.matrix)
    s = 1.0 / (h * GAMMA)
    for a in range(n):
        i = free[a]
        for b in range(n):
            j = free[b]
            matrix[a, b] = -J_v[i, j] - J_z[i, j] / s
        matrix[a, a] += s
    # The v half after z has been eliminated; LU, because J_v and J_z are not symmetric.
    factorize_lu(matrix, n, step.pivots)
    a_stage, u_stage, drift, rhs = (step.vectors[0], step.vectors[1], step.vectors[2],
                                    step.vectors[3])
    # The accelerations are affine in the rest positions, so this quotient is exact.
    for j in range(u.shape[0]):
        u_stage[j] = u[j] + 0.5 * h * ud[j]
    accelerate(machine, step.work, attached, z, v, u_stage, ud, drift, step.limb_forces)
    rates, Q, Q_z, Q_v = (step.flow_rates, step.flow_stages, step.flows_by_position,
                          step.flows_by_velocity)
    flow(machine, z, forces, rates[0])
    flow(machine, z, step.limb_forces, rates[2])
    for q in range(N_FLOWS):
        rates[2, q] = (rates[2, q] - rates[0, q]) / (0.5 * h)
        rates[1, q] = rates[0, q]
    for j in range(nz):
        drift[j] = (drift[j] - zdd[j]) / (0.5 * h)
        z_new[j], v_new[j], a_stage[j] = z[j], v[j], zdd[j]
    for k in range(STAGES):
        if k > 0:
            for a in range(n):
                j = free[a]
                z_new[j], v_new[j] = z[j], v[j]
                for m in range(k):
                    z_new[j] += A[k, m] * U[m, j]
                    v_new[j] += A[k, m] * U[m, nz + j]
            for j in range(u.shape[0]):
                u_stage[j] = u[j] + ALPHA[k] * h * ud[j]
            accelerate(machine, step.work, attached, z_new, v_new, u_stage, ud, a_stage,
                       step.limb_forces)
            flow(machine, z_new, step.limb_forces, rates[1])
        for a in range(n):
            j = free[a]
            r_z, r_v = v_new[j], a_stage[j] + GAMMA_SUM[k] * h * drift[j]
            for m in range(k):
                r_z += C[k, m] / h * U[m, j]
                r_v += C[k, m] / h * U[m, nz + j]
            U[k, j] = r_z
            rhs[a] = r_v
        for a in range(n):
            i = free[a]
            for b in range(n):
                j = free[b]
                rhs[a] += J_z[i, j] * U[k, j] / s
        solve_lu(matrix, n, step.pivots, rhs)
        for a in range(n):
            j = free[a]
            U[k, nz + j] = rhs[a]
            U[k, j] = (U[k, j] + rhs[a]) / s
        # Nothing depends on the sums: their rows need no matrix, and follow each stage of the
        # state.
        for q in range(N_FLOWS):
            total = rates[1, q] + GAMMA_SUM[k] * h * rates[2, q]
            for m in range(k):
                total += C[k, m] / h * Q[m, q]
            for a in range(n):
                j = free[a]
                total += Q_z[q, j] * U[k, j] + Q_v[q, j] * U[k, nz + j]
            Q[k, q] = total / s
    # The last stage is the difference of the orders 4 and 3: it completes the solution, and is
    # the error estimate.
    for q in range(N_FLOWS):
        sums[q] = Q[STAGES - 1, q]
        for m in range(STAGES - 1):
            sums[q] += A[STAGES - 1, m] * Q[m, q]
    error = 0.0
    for a in range(n):
        j = free[a]
        z_new[j] += U[STAGES - 1, j]
        v_new[j] += U[STAGES - 1, nz + j]
        error = max(error, abs(U[STAGES - 1, j]) / limits[LIMITS.position_error],
                    abs(U[STAGES - 1, nz + j]) / limits[LIMITS.velocity_error])
    # A step that is not finite must be refused, and NaN compares as neither.
    return error if math.isfinite(error) else math.inf
