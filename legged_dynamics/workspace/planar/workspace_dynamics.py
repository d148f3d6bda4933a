# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Stage 2, workspace dynamics: the body's inertia and bias while the feet stand still.

``P_1 Vdot_1 + z_1 = F_1``, in the body's axes, holds the legs' inertia and weight. Two ways there:
the paper's *big base* (3.12)-(3.20), which makes the feet a million times heavier than the body,
and the exact one, which roots every leg at its foot.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.algebra import (
    add,
    add_scaled,
    compose,
    cross,
    dot,
    load3,
    load9,
    norm,
    rotate,
    rotate_back,
    scale,
    store3,
    store9,
    subtract,
    transpose,
)
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.workspace.planar.robot import JOINTS_PER_LEG, LINK, PlanarRobot
from legged_dynamics.workspace.planar.se2 import inboard
from legged_dynamics.workspace.planar.velocity_propagation import MOTION, LinkMotion

BIG_BASE = 1e6      # (3.14): mass of a foot, in masses of the body


@dataclass(frozen=True, eq=False)
class WorkspaceDynamics:
    """
    Dynamics of the body: ``inertia Vdot_1 + bias = F_1``.

    Attributes
    ----------
    inertia : (3, 3) array
        ``P_1`` [kg, kg m, kg m^2].
    bias : (3,) array
        ``z_1`` [N, N m].
    condition : float
        Largest condition number of a leg's Jacobian (Frobenius norms, metres and radians): above
        some hundreds the knee is nearly straight. NaN in big-base mode, which does not form it.
    rates : (n, 3) array or None
        Row i turns the body's velocity into the rate of joint i while the feet stand still, and
        that joint's torque into a wrench on the body: ``thd = rates V_1``, ``F_1 = rates^T tau``.
        None in big-base mode.

    """

    inertia: np.ndarray
    bias: np.ndarray
    condition: float
    rates: np.ndarray | None


@lean_kernel
def reduce_big_base(parent, constants, links, size, articulated):
    """
    Fill every link's articulated inertia P (9) and bias z (3): (3.12)-(3.20).

    The feet are set *after* (3.12)-(3.13): in the printed order the approximation is lost. The
    printed (3.19), (3.20) must accumulate on the inboard link's own P and z.
    """
    n = parent.shape[0]
    for j in range(n):
        m = constants[j, LINK.mass]
        store9(articulated[j], 0, (m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, constants[j, LINK.inertia]))
        store3(articulated[j], 9, load3(links[j], MOTION.load))              # (3.12), (3.13)
    for i in range(n - 1, 0, -1):
        outer, inner = articulated[i], articulated[parent[i]]
        leaf = True
        for j in range(i + 1, n):
            leaf &= parent[j] != i
        if leaf:
            m = size * constants[0, LINK.mass]
            store9(outer, 0, (m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0,
                              size * constants[0, LINK.inertia]))            # (3.14)
            store3(outer, 9, (0.0, 0.0, 0.0))                                # (3.15)
        A, H = load9(links[i], MOTION.adjoint), load3(links[i], MOTION.hinge)
        a = load3(links[i], MOTION.drift)
        P, z = load9(outer, 0), load3(outer, 9)
        D = dot(H, rotate(P, H))                                             # (3.16)
        PH = rotate_back(P, H)
        # L = (1 - K P) A with K = H D^-1 H^T: row r of K P is H[r] / D times P^T H.
        KP = (H[0] * PH[0] / D, H[0] * PH[1] / D, H[0] * PH[2] / D,
              H[1] * PH[0] / D, H[1] * PH[1] / D, H[1] * PH[2] / D,
              H[2] * PH[0] / D, H[2] * PH[1] / D, H[2] * PH[2] / D)          # (3.17)
        L = compose((1.0 - KP[0], -KP[1], -KP[2], -KP[3], 1.0 - KP[4], -KP[5],
                     -KP[6], -KP[7], 1.0 - KP[8]), A)                        # (3.18)
        added = compose(transpose(L), compose(P, A))                         # (3.19)
        for k in range(9):
            inner[k] += added[k]
        store3(inner, 9, add(load3(inner, 9),
                             rotate_back(L, add(z, rotate(P, a)))))          # (3.20)


@lean_kernel
def reduce_exact(parent, constants, links, rates, workspace):
    """
    Fill P_1 (9) and z_1 (3) with the feet fixed, and the joints' rows of ``rates``.

    Each leg is rooted at its foot, where twist and acceleration are zero, and walked inboard:
    ``V_k = J_k thd``, ``Vdot_k = J_k thdd + c_k``. With M and h the sums of ``J_k^T M_k J_k`` and
    ``J_k^T (M_k c_k + b_k)`` over the links that move, the leg adds ``J^-T M J^-1`` and
    ``J^-T (h - M J^-1 c)`` to the body's. Returns the largest condition of a leg's Jacobian.
    """
    m = constants[0, LINK.mass]
    P = (m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, constants[0, LINK.inertia])
    z = load3(links[0], MOTION.load)
    worst = 1.0
    for foot in range(parent.shape[0] - 1, 0, -1):
        leaf = True
        for j in range(foot + 1, parent.shape[0]):
            leaf &= parent[j] != foot
        if not leaf:
            continue
        zero = (0.0, 0.0, 0.0)
        J = (zero, zero, zero)          # columns, by the joints from the foot inwards
        M, h, c = (zero, zero, zero), zero, zero
        link, joints = foot, 0
        while link > 0:
            A, H = load9(links[link], MOTION.adjoint), load3(links[link], MOTION.hinge)
            J = (inboard(A, J[0]), inboard(A, J[1]), inboard(A, J[2]))
            new = inboard(A, scale(-1.0, H))
            J = (new if joints == 0 else J[0], new if joints == 1 else J[1],
                 new if joints == 2 else J[2])
            joints += 1
            c = inboard(A, subtract(c, load3(links[link], MOTION.drift)))
            link = parent[link]
            if link > 0:
                mass, inertia = constants[link, LINK.mass], constants[link, LINK.inertia]
                b = load3(links[link], MOTION.load)
                load = (mass * c[0] + b[0], mass * c[1] + b[1], inertia * c[2] + b[2])
                h = (h[0] + dot(J[0], load), h[1] + dot(J[1], load), h[2] + dot(J[2], load))
                W0 = (mass * J[0][0], mass * J[0][1], inertia * J[0][2])
                W1 = (mass * J[1][0], mass * J[1][1], inertia * J[1][2])
                W2 = (mass * J[2][0], mass * J[2][1], inertia * J[2][2])
                M = (add(M[0], (dot(J[0], W0), dot(J[0], W1), dot(J[0], W2))),
                     add(M[1], (dot(J[1], W0), dot(J[1], W1), dot(J[1], W2))),
                     add(M[2], (dot(J[2], W0), dot(J[2], W1), dot(J[2], W2))))
        # Rows of J^-1 are the reciprocal basis of J's columns.
        volume = dot(J[0], cross(J[1], J[2]))
        R0 = scale(1.0 / volume, cross(J[1], J[2]))
        R1 = scale(1.0 / volume, cross(J[2], J[0]))
        R2 = scale(1.0 / volume, cross(J[0], J[1]))
        size = norm((norm(J[0]), norm(J[1]), norm(J[2])))
        # Not max(): a singular leg's NaN must come through.
        condition = size * norm((norm(R0), norm(R1), norm(R2)))
        worst = worst if condition <= worst else condition
        link = foot
        store3(rates[link], 0, R0)
        store3(rates[parent[link]], 0, R1)
        store3(rates[parent[parent[link]]], 0, R2)
        thdd = (dot(R0, c), dot(R1, c), dot(R2, c))
        h = (h[0] - dot(M[0], thdd), h[1] - dot(M[1], thdd), h[2] - dot(M[2], thdd))
        z = add_scaled(add_scaled(add_scaled(z, h[0], R0), h[1], R1), h[2], R2)
        inverse = (R0[0], R0[1], R0[2], R1[0], R1[1], R1[2], R2[0], R2[1], R2[2])
        mass_matrix = (M[0][0], M[0][1], M[0][2], M[1][0], M[1][1], M[1][2],
                       M[2][0], M[2][1], M[2][2])
        share = compose(transpose(inverse), compose(mass_matrix, inverse))
        P = (P[0] + share[0], P[1] + share[1], P[2] + share[2], P[3] + share[3], P[4] + share[4],
             P[5] + share[5], P[6] + share[6], P[7] + share[7], P[8] + share[8])
    store9(workspace, 0, P)
    store3(workspace, 9, z)
    return worst


def workspace_dynamics_big_base(robot: PlanarRobot, motion: LinkMotion,
                                size: float = BIG_BASE) -> WorkspaceDynamics:
    """
    Run stage 2 as the paper has it: articulated-body inertias with heavy feet, (3.12)-(3.20).

    The relative error is about ``3e-3 / size`` of truncation and ``1e-16 size`` of round-off:
    3e-9 at the paper's 1e6.

    Parameters
    ----------
    robot : PlanarRobot
        The links.
    motion : LinkMotion
        Of stage 1.
    size : float
        Mass and inertia of a foot, in those of the body (3.14).

    Raises
    ------
    ConfigurationError
        When the size is not above zero.

    """
    if not size > 0.0:
        raise ConfigurationError(f'expected a size of the base above zero, got {size!r}')
    articulated = np.empty((robot.n_links, 12))
    reduce_big_base(robot.parent, robot.constants, motion.links, size, articulated)
    return WorkspaceDynamics(articulated[0, :9].reshape(3, 3), articulated[0, 9:], np.nan, None)


def workspace_dynamics(robot: PlanarRobot, motion: LinkMotion) -> WorkspaceDynamics:
    """
    Run stage 2 exactly: every leg rooted at its fixed foot.

    At a straight knee a leg's Jacobian is singular and nothing about it is known: the condition
    is then infinite or NaN.

    Parameters
    ----------
    robot : PlanarRobot
        The links.
    motion : LinkMotion
        Of stage 1.

    """
    rates, workspace = np.zeros((robot.n_links, JOINTS_PER_LEG)), np.empty(12)
    condition = reduce_exact(robot.parent, robot.constants, motion.links, rates, workspace)
    return WorkspaceDynamics(workspace[:9].reshape(3, 3), workspace[9:], condition, rates)
