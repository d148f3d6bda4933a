# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Stages 2 and 3: the base's dynamics while the feet stand still, and the wrench that moves it.

With the feet fixed, joints follow the base: ``J_base V + J_q qd = 0``, so all velocities are
``N V`` and all accelerations ``N a + n0``, with

    N = [1; -J_q^+ J_base],    n0 = [0; -J_q^+ Jdot v + (1 - J_q^+ J_q) posture],
    Lambda = N^T M N,    mu = N^T (h + M n0),    Lambda Vdot + mu = F = N^T B tau.

This is exact; the paper's approximation is in :mod:`legged_dynamics.workspace.stance_arrays`.
``Vdot`` is the component-wise derivative of the twist, as in the paper: ``a = Vdot + [w x v; 0]``.

Stage 3 is computed torque on the pose of the base in SE(3), (3.21)-(3.23), in base axes:

    e = [R^T (p - p_d); log(R_d^T R)],    V_err = V - Ad(g^-1 g_d) V_d,
    Vdot = d/dt[Ad(g^-1 g_d) V_d] - K_v V_err - K_p e - K_i int e,    F = Lambda Vdot + mu.

The derivative of the transformed target twist is ``Ad Vdot_d - V x (Ad V_d)`` with the bracket of
twists, so ``V_err`` obeys ``d/dt V_err = -K_v V_err - K_p e - ...`` for any motion of the target.
The integral is kept in world axes, where an error of the weight is constant.
"""
from __future__ import annotations

import math
from typing import NamedTuple

from legged_dynamics.dynamics.composite_body import composite_inertias, fill_mass_matrix
from legged_dynamics.spatial.algebra import (
    add,
    compose,
    cross,
    load3,
    load9,
    rotate,
    rotate_back,
    scale,
    store3,
    subtract,
    transpose,
)
from legged_dynamics.spatial.exponential import rotation_log
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.layout import offsets


@part
def _hold_feet(s):
    """Fill N and n0: how the joints follow the base while the feet are fixed."""
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
    """Fill M, N, n0, ``inertia`` and ``bias``, after stage 1 and leg inversion."""
    composite_inertias(s.tree, s.bodies)
    fill_mass_matrix(s.tree, s.bodies, 6, s.M)
    _hold_feet(s)
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
    """Convert ``bias`` in place to the twist's componentwise rate: ``Lambda [w x v; 0]``."""
    turning = cross((twist[3], twist[4], twist[5]), (twist[0], twist[1], twist[2]))
    for i in range(6):
        for k in range(3):
            bias[i] += inertia[i, k] * turning[k]


@part
def follow_base(N, n0, wanted, twist, acceleration):
    """Fill base (classical) and joint accelerations for a wanted ``Vdot`` of the base."""
    turning = cross((twist[3], twist[4], twist[5]), (twist[0], twist[1], twist[2]))
    for k in range(6):
        # Classical acceleration of the origin: component-wise derivative plus w x v.
        acceleration[k] = wanted[k] + (turning[k] if k < 3 else 0.0)
    for i in range(6, acceleration.shape[0]):
        x = n0[i]
        for k in range(6):
            x += N[i, k] * acceleration[k]
        acceleration[i] = x


# -------------------------------------------------------------------------------------------------
# Stage 3, workspace force (3.21)-(3.23): computed torque on the pose of the base, in SE(3).


class PoseColumns(NamedTuple):
    """A pose and its motion in one row; a body's ends before the acceleration."""

    rotation: int = 9       # R_WB by rows
    position: int = 3       # m, world axes
    twist: int = 6          # m/s, rad/s, its own axes
    acceleration: int = 6   # m/s^2, rad/s^2, its own axes
    width: int = 0


class ServoRows(NamedTuple):
    """Rows of the (4, 6) result of stage 3, base axes."""

    error: int = 1          # e [m, rad]
    rate: int = 1           # V_err [m/s, rad/s]
    wanted: int = 1         # Vdot [m/s^2, rad/s^2]
    cut: int = 1            # 1 for a component that was cut


POSE = offsets(PoseColumns())
SERVO = offsets(ServoRows())


@part
def _pose_error(body, target):
    """Return ``e`` (3.21) as two vectors [m, rad]: pose less target."""
    R, R_d = load9(body, POSE.rotation), load9(target, POSE.rotation)
    away = subtract(load3(body, POSE.position), load3(target, POSE.position))
    return rotate_back(R, away), rotation_log(compose(transpose(R_d), R))


@part
def _carried_target(body, target):
    """Return ``Ad(g^-1 g_d) V_d`` and its derivative, as four vectors in base axes."""
    R = load9(body, POSE.rotation)
    to_base = compose(transpose(R), load9(target, POSE.rotation))
    arm = rotate_back(R, subtract(load3(target, POSE.position), load3(body, POSE.position)))
    v, w = load3(body, POSE.twist), load3(body, POSE.twist + 3)
    w_d = rotate(to_base, load3(target, POSE.twist + 3))
    v_d = add(rotate(to_base, load3(target, POSE.twist)), cross(arm, w_d))
    alpha = rotate(to_base, load3(target, POSE.acceleration + 3))
    a = add(rotate(to_base, load3(target, POSE.acceleration)), cross(arm, alpha))
    # The bracket [V, V_d] = [w x v_d + v x w_d; w x w_d].
    a = subtract(a, add(cross(w, v_d), cross(v, w_d)))
    return v_d, w_d, a, subtract(alpha, cross(w, w_d))


@part
def wanted_acceleration(body, target, gains, integral, dt, out):
    """Fill ``e``, ``V_err``, ``Vdot`` (3.21)-(3.23); advance the integral unless dt is 0."""
    R = load9(body, POSE.rotation)
    e_p, e_R = _pose_error(body, target)
    v_d, w_d, a_d, alpha_d = _carried_target(body, target)
    store3(out[SERVO.error], 0, e_p)
    store3(out[SERVO.error], 3, e_R)
    store3(out[SERVO.rate], 0, subtract(load3(body, POSE.twist), v_d))
    store3(out[SERVO.rate], 3, subtract(load3(body, POSE.twist + 3), w_d))
    for start in range(0, 6, 3):
        error = load3(out[SERVO.error], start)
        total = add(load3(integral, start), scale(dt, rotate(R, error)))
        # The integral is kept in world axes and limited in the base's, where the gains are.
        felt = rotate_back(R, total)
        kept, feedback, length = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
        for k in range(3):
            i = start + k
            # Each axis may use its whole limit; without a gain nothing is stored.
            most = gains[3, i] / gains[2, i] if gains[2, i] > 0.0 else 0.0
            memory = min(max(felt[k], -most), most)
            x = -gains[1, i] * out[SERVO.rate, i] - gains[0, i] * error[k] - gains[2, i] * memory
            kept, feedback = (kept[1], kept[2], memory), (feedback[1], feedback[2], x)
            length += x * x
        store3(integral, start, rotate(R, kept))
        length = math.sqrt(length)
        # The feedback is cut as a vector: cut by components it would change direction.
        share = 1.0 if length <= gains[4, start] else gains[4, start] / length
        wanted = add(a_d if start == 0 else alpha_d, scale(share, feedback))
        store3(out[SERVO.wanted], start, wanted)
        for k in range(3):
            out[SERVO.cut, start + k] = 0.0 if share == 1.0 else 1.0


@part
def workspace_force(inertia, bias, wanted, force):
    """Fill ``F = Lambda Vdot + mu`` (3.23), base axes."""
    for i in range(6):
        force[i] = bias[i]
        for k in range(6):
            force[i] += inertia[i, k] * wanted[k]
