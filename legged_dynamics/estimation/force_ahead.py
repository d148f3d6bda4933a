# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
From the middle of the last tick to now: what the newest accelerometer reading says of forces.

Forces tracked from differences of velocities are means over the last tick. The accelerometer's
reading is of now, and obeys ``a = a_0 + G [w; e]`` with ``G = E^T M^-1 [J; 1]``, E the place of
the accelerometer. One more update carries the forces to now. It goes to the output and
is not fed back: the next tick sees the same strike in the joints.

Arguments of the kernels: see ``estimation/__init__.py``.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.branch_elimination import eliminate_branches, substitute
from legged_dynamics.dynamics.jacobians import SIZE, START
from legged_dynamics.dynamics.kinematics import FORCE
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED
from legged_dynamics.estimation.equation_errors import stop_variance
from legged_dynamics.estimation.layout import AHEAD, BASE, SLIPPING, TAU
from legged_dynamics.model.tree import DAMPING, FRICTION
from legged_dynamics.spatial.algebra import (
    add,
    cross,
    dot,
    load3,
    load9,
    rotate,
    subtract,
    symmetric_times,
)
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.symmetric import inverse_symmetric

# A normalised squared innovation of the accelerometer (3 degrees of freedom) beyond this is a
# strike, of an unknown foot: all forces are then less certain by this fraction of the weight.
SURPRISE, SURPRISE_FORCE = 20.0, 0.5


@part
def acceleration_of_forces(robot, layout, settings, tracking, scratch, newest, middle, G):
    """
    Fill G, (3, nx), and return what the accelerometer would read without forces, and its variance.

    Uses up ``tracking.mass``.
    """
    nv, nx = robot.columns.shape[0], tracking.state.shape[0]
    X, vectors = tracking.mass, scratch.vectors
    p = load3(settings.p_BI, 0)
    for e in range(6 + nv):
        for k in range(3):
            X[e, k] = 0.0
    for k in range(3):
        X[k, k] = 1.0
    X[3, 1], X[3, 2] = -p[2], p[1]
    X[4, 0], X[4, 2] = p[2], -p[0]
    X[5, 0], X[5, 1] = -p[1], p[0]
    if not eliminate_branches(X, robot.ends, AHEAD, 0.0):
        return False, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    substitute(X, AHEAD)
    # The middle's accelerations are right for the middle's torques and the wrench they ask for.
    at_rest = add(load3(vectors[BASE], 6), cross(load3(vectors[BASE], 3), p))
    free = tracking.vector
    for k in range(3):
        free[k] = at_rest[k]
    sensed = settings.accelerometer_noise ** 2
    xx, xy, xz, yy, yz, zz = sensed, 0.0, 0.0, sensed, 0.0, sensed
    for j in range(nv):
        damping, friction = robot.tree.constants[j + 1, DAMPING], robot.tree.constants[
            j + 1, FRICTION]
        v, v_mid = newest[layout.velocity + j], middle[layout.velocity + j]
        now = math.tanh(v / FRICTION_SPEED) if friction != 0.0 else 0.0
        effort = (newest[layout.effort + j] - damping * (v - v_mid)
                  - friction * (now - vectors[SLIPPING, j]) - vectors[TAU, j])
        variance = (robot.effort_variance[j] + friction ** 2 * (1.0 - now ** 2)
                    + stop_variance(robot, settings, j, newest[layout.position + j]))
        if not math.isfinite(effort):       # a head's or a gripper's: as it must be to move so
            effort = 0.0
        a, b, c = X[6 + j, 0], X[6 + j, 1], X[6 + j, 2]
        free[0] += a * effort
        free[1] += b * effort
        free[2] += c * effort
        xx, xy, xz = xx + variance * a * a, xy + variance * a * b, xz + variance * a * c
        yy, yz, zz = yy + variance * b * b, yz + variance * b * c, zz + variance * c * c
    for e in range(6):
        wanted = scratch.bodies[0, FORCE + e]
        for m in range(4):
            wanted -= tracking.columns[e, m] * tracking.theta[m]
        for k in range(3):
            free[k] -= X[e, k] * wanted
    for k in range(3):
        to = G[k]
        for c in range(nx):
            to[c] = 0.0
        for e in range(6):
            h, row = X[e, k], scratch.grasp[e]
            for c in range(nx):
                to[c] += h * row[c]
        for j in range(nv):
            # A motor whose torque nobody knows holds what is pushed at behind it.
            if not math.isfinite(newest[layout.effort + j]):
                continue
            for m in range(robot.columns[j, robot.columns.shape[1] - 1]):
                c = robot.columns[j, m + 1]
                G[k, c] += X[6 + j, k] * scratch.jacobian[c, j]
    return True, (free[0], free[1], free[2]), (xx, xy, xz, yy, yz, zz)


@part
def carry_ahead(robot, layout, settings, tracking, scratch, newest, middle, probability, x, P):
    """Replace x and P, copies of the state and its covariance, by those of now."""
    G, GP = tracking.ahead[0:3], tracking.ahead[3:6]
    ok, free, R = acceleration_of_forces(robot, layout, settings, tracking, scratch, newest,
                                         middle, G)
    if not ok:
        return
    feet, nx, W2 = robot.feet, x.shape[0], settings.weight ** 2
    for i in range(feet.index.shape[0]):
        for k in range(feet.index[i, SIZE]):    # half a tick more of walking
            at = feet.index[i, START] + k
            P[at, at] += 0.5 * tracking.walk[at]
    R_BI, p = load9(settings.R_BI, 0), load3(settings.p_BI, 0)
    w = rotate(R_BI, load3(newest, layout.gyro))
    reading = subtract(rotate(R_BI, load3(newest, layout.acceleration)),
                       cross(w, cross(w, p)))
    left = subtract(reading, free)
    v, S = tracking.vector[0:3], tracking.vector[3:9]
    for k in range(3):
        unexpected, to = left[k], GP[k]
        for c in range(nx):
            unexpected -= G[k, c] * x[c]
            to[c] = 0.0
        v[k] = unexpected
        for r in range(nx):
            g, row = G[k, r], P[r]
            for c in range(nx):
                to[c] += g * row[c]
    at = 0
    for k in range(3):
        for m in range(k, 3):
            known = R[at]
            for c in range(nx):
                known += GP[k, c] * G[m, c]
            S[at] = known
            at += 1
    inverse = inverse_symmetric((S[0], S[1], S[2], S[3], S[4], S[5]))
    v = (v[0], v[1], v[2])
    pulled = symmetric_times(inverse, v)
    surprised = dot(v, pulled) > SURPRISE
    first, second, third = GP[0], GP[1], GP[2]
    for i in range(nx):
        K = symmetric_times(inverse, (GP[0, i], GP[1, i], GP[2, i]))
        x[i] += K[0] * v[0] + K[1] * v[1] + K[2] * v[2]
        to = P[i]
        for c in range(nx):
            to[c] -= K[0] * first[c] + K[1] * second[c] + K[2] * third[c]
    if surprised:
        for i in range(feet.index.shape[0]):
            more = SURPRISE_FORCE ** 2 * W2 * (1.05 - probability[i])
            for k in range(min(feet.index[i, SIZE], 3)):
                P[feet.index[i, START] + k, feet.index[i, START] + k] += more
