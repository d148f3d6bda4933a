# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The fused estimate of all contact forces: base and joint equations, weighed by their noise.

Ground reactions w (contact coordinates, base axes) obey, with b and tau from Newton-Euler,

    A w = b                    six equations of the base: motion and mass
    J^T w = tau - tau_measured one equation a joint: motion and torque

each with its variance, and a weak prior ``w ~ N(0, P_0)`` that decides what neither sees. The
estimate is the weighted least-squares solution, its covariance the inverse of

    A^T S_b^-1 A + J S_j^-1 J^T + P_0^-1

A joint whose torque is missing leaves its equation out; a foot off the ground leaves its unknowns
out. What stays as uncertain as the prior is not observable, and is said to be.
"""
from __future__ import annotations

from legged_dynamics.dynamics.cholesky import factorize, invert_factorized, solve_factorized
from legged_dynamics.dynamics.jacobians import SIZE, START
from legged_dynamics.spatial.jit import kernel


@kernel
def joint_information(columns, jacobian, residual, weight, prior, information, vector):
    """Start the normal equations from the prior and the joints' equations.

    ``columns`` is (nv, nc + 1): the number of contact coordinates a joint bears on, and which.
    """
    nc = information.shape[0]
    for r in range(nc):
        vector[r] = 0.0
        for c in range(nc):
            information[r, c] = 0.0
        information[r, r] = prior[r]
    for j in range(weight.shape[0]):
        w = weight[j]
        if w == 0.0:
            continue
        for m in range(columns[j, 0]):
            r = columns[j, m + 1]
            wr = w * jacobian[r, j]
            vector[r] += wr * residual[j]
            for n in range(columns[j, 0]):
                c = columns[j, n + 1]
                information[r, c] += wr * jacobian[c, j]


@kernel
def foot_alone(feet, i, information, vector, normal, small, x):
    """Estimate one foot from its own joints: return normal force and its variance."""
    start, size = feet.index[i, START], feet.index[i, SIZE]
    for r in range(size):
        x[r] = vector[start + r]
        for c in range(r + 1):
            small[r, c] = information[start + r, start + c]
    factorize(small, size)
    solve_factorized(small, size, x)
    force = normal[0] * x[0] + normal[1] * x[1] + normal[2] * x[2]
    for r in range(size):
        x[r] = normal[r] if r < 3 else 0.0
    solve_factorized(small, size, x)
    return force, normal[0] * x[0] + normal[1] * x[1] + normal[2] * x[2]


@kernel
def add_base_information(grasp, b, weight, information, vector):
    """Add the six equations of the base to the normal equations."""
    nc = information.shape[0]
    for k in range(6):
        for r in range(nc):
            wr = weight[k] * grasp[k, r]
            if wr == 0.0:
                continue
            vector[r] += wr * b[k]
            for c in range(nc):
                information[r, c] += wr * grasp[k, c]


@kernel
def solve_standing(feet, contact, information, vector, active, w, covariance):
    """Solve for the feet that are down; the others carry nothing, exactly.

    ``active`` is integer scratch of length nc. ``information`` is used up.
    """
    nc = information.shape[0]
    na = 0
    for i in range(feet.index.shape[0]):
        if contact[i] > 0.5:
            for k in range(feet.index[i, SIZE]):
                active[na] = feet.index[i, START] + k
                na += 1
    # Indices rise, so gathering the active block in place overwrites nothing still needed.
    for r in range(na):
        vector[r] = vector[active[r]]
        for c in range(na):
            information[r, c] = information[active[r], active[c]]
    factorize(information, na)
    solve_factorized(information, na, vector)
    invert_factorized(information, na)
    for r in range(nc):
        w[r] = 0.0
        for c in range(nc):
            covariance[r * nc + c] = 0.0
    for r in range(na):
        w[active[r]] = vector[r]
        for c in range(na):
            covariance[active[r] * nc + active[c]] = information[r, c]
