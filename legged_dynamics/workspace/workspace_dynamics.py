# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Stage 2, workspace dynamics: the base's inertia and bias while the feet stand still.

With the feet held, joints follow the base: ``J_base V + J_q qd = 0``, so all velocities are
``N V`` and all accelerations ``N a + n0``, with

    N = [1; -J_q^+ J_base],    n0 = [0; -J_q^+ Jdot v + (1 - J_q^+ J_q) posture],
    Lambda = N^T M N,    mu = N^T (h + M n0),    Lambda Vdot + mu = F = N^T B tau.

This is exact; the paper's approximation is in :mod:`legged_dynamics.workspace.big_base`. ``Vdot``
is the component-wise derivative of the twist, as in the paper: ``a = Vdot + [w x v; 0]``.
"""
from __future__ import annotations

from legged_dynamics.dynamics.composite_body import composite_inertias, fill_mass_matrix
from legged_dynamics.spatial.algebra import cross
from legged_dynamics.spatial.jit import part


@part
def hold_feet(s):
    """Fill N and n0: how the joints follow the base, and which posture they keep within that."""
    nv, nc = s.inverse.shape
    slip = s.spare[0]
    for c in range(nc):
        slip[c] = s.drift[c]
        for j in range(nv):
            slip[c] += s.jacobian[c, j] * s.posture[j]
    for j in range(nv):
        x = s.posture[j]
        for k in range(6):
            s.N[6 + j, k] = 0.0
        for c in range(nc):
            y = s.inverse[j, c]
            if y != 0.0:
                x -= y * slip[c]
                for k in range(6):
                    s.N[6 + j, k] -= y * s.grasp[k, c]
        s.n0[6 + j] = x


@part
def reduce_exact(s, twist):
    """
    Fill M, N, n0, ``inertia`` and ``bias``, after stage 1 and the inversion of the legs.

    Parameters
    ----------
    s : StanceArrays
        After stage 1.
    twist : (6,) array [m/s, rad/s]
        ``V`` of the base, in base axes.

    """
    composite_inertias(s.tree, s.bodies)
    fill_mass_matrix(s.tree, s.bodies, 6, s.M)
    hold_feet(s)
    n = s.M.shape[0]
    # The base's rows of N are the identity and of n0 zero: sums begin at the joints.
    MN, Mn = s.spare[:6], s.spare[6]
    for i in range(n):
        x = s.h[i]
        for k in range(6, n):
            x += s.M[i, k] * s.n0[k]
        Mn[i] = x
        for j in range(6):
            x = s.M[i, j]
            for k in range(6, n):
                x += s.M[i, k] * s.N[k, j]
            MN[j, i] = x
    for i in range(6):
        x = Mn[i]
        for k in range(6, n):
            x += s.N[k, i] * Mn[k]
        s.bias[i] = x
        for j in range(6):
            x = MN[j, i]
            for k in range(6, n):
                x += s.N[k, i] * MN[j, k]
            s.inertia[i, j] = x
    to_spatial(s.inertia, s.bias, twist)


@part
def to_spatial(inertia, bias, twist):
    """Let ``bias`` go with the component-wise derivative of the twist."""
    turning = cross((twist[3], twist[4], twist[5]), (twist[0], twist[1], twist[2]))
    for i in range(6):
        for k in range(3):
            bias[i] += inertia[i, k] * turning[k]


@part
def follow_base(N, n0, wanted, twist, acceleration):
    """
    Fill the accelerations of base (classical) and joints by which the base gets ``Vdot``.

    Parameters
    ----------
    N, n0 : (n, 6), (n,) array
        Of stage 2.
    wanted : (6,) array [m/s^2, rad/s^2]
        ``Vdot``: component-wise derivative of the twist.
    twist : (6,) array [m/s, rad/s]
        ``V``.
    acceleration : (n,) array
        Of base and joints.

    """
    turning = cross((twist[3], twist[4], twist[5]), (twist[0], twist[1], twist[2]))
    for k in range(6):
        # Classical acceleration of the origin: component-wise derivative plus w x v.
        acceleration[k] = wanted[k] + (turning[k] if k < 3 else 0.0)
    for i in range(6, acceleration.shape[0]):
        x = n0[i]
        for k in range(6):
            x += N[i, k] * acceleration[k]
        acceleration[i] = x
