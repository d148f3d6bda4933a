# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Rotations, twists and wrenches in the x-z plane, for kernels (source 002, (3.3)-(3.4), (3.10)).

z is up and angles turn about +y, right-handed, so ``R(t) = [[cos t, sin t], [-sin t, cos t]]``
and the plane's cross product is ``y x (x, z) = (z, -x)``. A twist is ``(v_x, v_z, w)``, a wrench
``(f_x, f_z, m)``; 3x3 matrices are row-major 9-tuples, as in `spatial.algebra`.
"""
from __future__ import annotations

import math

from legged_dynamics.spatial.jit import part


@part
def adjoint_of_joint(angle, in_x, in_z, out_x, out_z):
    """
    Return ``Ad_g`` (3.10) of ``g = g_io,ii``: inboard twists into outboard axes.

    The joint stands at (in_x, in_z) in the inboard link's frame and at (out_x, out_z) in the
    outboard one's, so ``g`` is the rotation by -angle and ``p = r_out - R(-angle) r_in``.
    """
    c, s = math.cos(angle), math.sin(angle)
    p_x = out_x - (c * in_x - s * in_z)
    p_z = out_z - (s * in_x + c * in_z)
    return c, -s, -p_z, s, c, p_x, 0.0, 0.0, 1.0


@part
def hinge(out_x, out_z):
    """Return ``H``: the twist of the outboard link, in its frame, at one rad/s of the joint."""
    return -out_z, out_x, 1.0


@part
def bracket(V, U):
    """Return ``ad_V U`` with ``ad_V = [[0, w, -v_z], [-w, 0, v_x], [0, 0, 0]]``."""
    return V[2] * U[1] - V[1] * U[2], V[0] * U[2] - V[2] * U[0], 0.0


@part
def inboard(A, U):
    """Return ``A^-1 U``: an outboard twist in inboard axes."""
    x, z = U[0] - A[2] * U[2], U[1] - A[5] * U[2]
    return A[0] * x + A[3] * z, A[1] * x + A[4] * z, U[2]


@part
def outboard_wrench(A, F):
    """Return ``(A^-1)^T F``: an inboard wrench in outboard axes."""
    x, z = A[0] * F[0] + A[1] * F[1], A[3] * F[0] + A[4] * F[1]
    return x, z, F[2] - A[2] * x - A[5] * z


@part
def gravity_and_spin(mass, angle, V, gravity):
    """
    Return the load b of (3.2) and (3.9): ``M Vdot + b = F``, in the link's axes.

    The multiplier of the second term is the link's *total* rate ``V[2]``; as printed, (3.9) has
    the inboard one.
    """
    c, s = math.cos(angle), math.sin(angle)
    return (mass * (V[2] * V[1] - gravity * s), mass * (gravity * c - V[2] * V[0]), 0.0)
