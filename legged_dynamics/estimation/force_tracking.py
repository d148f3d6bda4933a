# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Forces before contacts: a Kalman filter of all feet's forces, whether they stand or not.

The state is ``x = [w; e; theta]``: contact coordinates w, an external wrench e on the base, and
what is wrong with the base's mass and first moment, theta = [dm; dm c]. Every instant gives

    J^T w                 = tau_model - tau_measured        one equation a joint
    A w + e + B theta     = b                               six of the base

with B = [-a, 0; 0, [a]x], a the proper acceleration: a mass that the model does not know pulls
with gravity, and an external wrench does not. Between ticks w walks at random, e decays, theta
stays; a foot whose own joints contradict its prediction may have been struck and walks as far as
they say. Nothing here decides about contact; see `force_contact` for what contact does to forces.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.cholesky import factorize
from legged_dynamics.dynamics.jacobians import SIZE, START
from legged_dynamics.estimation.fusion import joint_information, leg_alone
from legged_dynamics.estimation.layout import BEYOND, N_BESIDE, VECTOR, WEIGHTS
from legged_dynamics.spatial.algebra import dot, load3, store3, symmetric_times
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.symmetric import inverse_symmetric

# Where the error of the mass lies behind the contact coordinates; the external wrench comes first.
MASS = 6

# All rates are deviations after one second of a random walk, as fractions of the weight.
# A standing foot's force walks as fast as its innovations say: those of a filter that expects too
# little come with one sign, those of one that expects too much change sign. Bounds, and how
# fast it learns [1/s].
SLOWEST, FASTEST, LEARNING = 0.02, 2.0, 60.0
SWINGING_RATE = 6.7         # that of a foot in the air, which may land
# A normalised squared innovation of a foot (3 degrees of freedom) beyond this is a strike: the
# foot's force may then have changed by as much as its joints say.
STRIKE, STRIKE_SHARE = 12.0, 0.5
# External wrench: how it walks, how long it lasts [s]; and how it walks once the base's equations
# have been off in one direction, by so many deviations in the mean of so many seconds.
EXTERNAL_RATE, EXTERNAL_TIME = 0.0022, 0.5
PUSH_RATE, PUSH_LEVEL, PUSH_TIME, PUSH_CLIP = 0.45, 1.3, 0.009, 2.5
# Wrong mass and first moment: memory [s].
MASS_TIME = 5.0


@kernel
def mass_columns(a, columns):
    """Fill B, (6, 4), from the proper acceleration."""
    for k in range(3):
        columns[k, 0] = -a[k]
    columns[3, 2], columns[3, 3] = -a[2], a[1]
    columns[4, 1], columns[4, 3] = a[2], -a[0]
    columns[5, 1], columns[5, 2] = -a[1], a[0]


@kernel
def start_tracking(feet, settings, up, x, P):
    """Begin with the weight on all feet and no knowledge of it."""
    nx, nf = x.shape[0], feet.index.shape[0]
    nc = nx - N_BESIDE
    for r in range(nx):
        x[r] = 0.0
        for c in range(nx):
            P[r, c] = 0.0
    for i in range(nf):
        s = feet.index[i, START]
        for k in range(3):
            x[s + k] = up[k] * settings.weight / nf
            P[s + k, s + k] = settings.weight ** 2
        for k in range(3, feet.index[i, SIZE]):
            P[s + k, s + k] = (settings.weight * settings.arm) ** 2
    for k in range(6):
        unit = settings.weight * (1.0 if k < 3 else settings.arm)
        P[nc + k, nc + k] = 0.5 * EXTERNAL_TIME * (EXTERNAL_RATE * unit) ** 2
    P[nc + MASS, nc + MASS] = settings.mass_unknown ** 2
    for k in range(1, 4):
        P[nc + MASS + k, nc + MASS + k] = settings.moment_unknown ** 2


@kernel
def predicted(robot, grasp, jacobian, B, e, x):
    """Return what the state says equation e's left side is."""
    nc = grasp.shape[1]
    total = 0.0
    if e >= 6:
        j = e - 6
        for m in range(robot.columns[j, 0]):
            c = robot.columns[j, m + 1]
            total += jacobian[c, j] * x[c]
    else:
        for c in range(nc):
            total += grasp[e, c] * x[c]
        total += x[nc + e]
        for k in range(4):
            total += B[e, k] * x[nc + MASS + k]
    return total


@kernel
def walking_rate(memory, at, v, spread, dt):
    """Learn how fast a foot's force walks, from whether its innovations agree in sign."""
    agreement = dot(v, load3(memory, at + 1)) / spread
    store3(memory, at + 1, v)
    rate = memory[at] * math.exp(min(LEARNING * dt, 1.0) * min(max(agreement, -1.0), 1.0))
    memory[at] = min(max(rate, SLOWEST), FASTEST)
    return memory[at]


@kernel
def widen(robot, layout, settings, tracking, probability, memory, scratch, joints, n, dt):
    """
    Let the state walk for a tick; a foot that its joints contradict walks as far as they say.

    ``tracking.innovation`` and ``tracking.noise`` must stand; fills ``tracking.walk`` and adds it.
    """
    feet, x, P, walk = robot.feet, tracking.state, tracking.covariance, tracking.walk
    nx, nf, weight = x.shape[0], feet.index.shape[0], settings.weight
    nc = nx - N_BESIDE
    W2, arm2 = weight * weight, settings.arm * settings.arm
    vectors, nu, S, rows = scratch.vectors, tracking.innovation, tracking.noise, tracking.rows
    for j in range(robot.columns.shape[0]):
        vectors[WEIGHTS, j] = 0.0
    for r in range(joints):
        j = rows[r] - 6
        vectors[WEIGHTS, j] = 1.0 / S[r, r]
        vectors[BEYOND, j] = nu[r]
    joint_information(robot.columns, scratch.jacobian, vectors[BEYOND], vectors[WEIGHTS],
                      robot.prior, scratch.information, vectors[VECTOR])
    variance = tracking.few
    for i in range(nf):
        s = feet.index[i, START]
        v, C = leg_alone(feet, i, scratch.information, vectors[VECTOR])
        p = probability[i]
        spread = C[0] + C[3] + C[5] + P[s, s] + P[s + 1, s + 1] + P[s + 2, s + 2]
        rate = walking_rate(memory, layout.walking + 4 * i, v, spread, dt)
        g = (p * rate * rate + (1.0 - p) * SWINGING_RATE ** 2) * W2 * dt
        known = inverse_symmetric((C[0] + P[s, s] + g, C[1] + P[s, s + 1], C[2] + P[s, s + 2],
                                   C[3] + P[s + 1, s + 1] + g, C[4] + P[s + 1, s + 2],
                                   C[5] + P[s + 2, s + 2] + g))
        if dot(v, symmetric_times(known, v)) > STRIKE:
            g += STRIKE_SHARE * dot(v, v)
        for k in range(feet.index[i, SIZE]):
            unit = 1.0 if k < 3 else arm2
            # What is as unknown as before measuring need not become more so.
            room = 1.0 - P[s + k, s + k] * robot.prior[s + k]
            walk[s + k] = g * unit * max(room, 0.0)
        for k in range(3):
            vectors[VECTOR, s + k] = v[k]
            variance[0, s + k] = C[0] if k == 0 else (C[3] if k == 1 else C[5])
    for k in range(6):
        unit = 1.0 if k < 3 else arm2
        walk[nc + k] = EXTERNAL_RATE ** 2 * W2 * dt * unit
        if n > joints:
            # The base's equation with the feet taken as their joints see them.
            r = joints + k
            left, spread = nu[r], S[r, r] + P[nc + k, nc + k]
            for i in range(nf):
                s = feet.index[i, START]
                for m in range(3):
                    left -= scratch.grasp[k, s + m] * vectors[VECTOR, s + m]
                    spread += scratch.grasp[k, s + m] ** 2 * variance[0, s + m]
            for m in range(4):
                spread += tracking.columns[k, m] ** 2 * P[nc + MASS + m, nc + MASS + m]
            score = min(max(left / math.sqrt(spread), -PUSH_CLIP), PUSH_CLIP)
            share = min(dt / PUSH_TIME, 1.0)
            at = layout.push + k
            memory[at] += share * (score - memory[at])
            if math.fabs(memory[at]) > PUSH_LEVEL:
                walk[nc + k] = PUSH_RATE ** 2 * W2 * dt * unit
    walk[nc + MASS] = settings.mass_unknown ** 2 * 2.0 * dt / MASS_TIME
    for k in range(1, 4):
        walk[nc + MASS + k] = settings.moment_unknown ** 2 * 2.0 * dt / MASS_TIME
    for k in range(nx):
        P[k, k] += walk[k]


@kernel
def fade_external(x, P, dt):
    """Let the external wrench decay towards nothing for a tick."""
    nx = x.shape[0]
    keep = 1.0 - min(dt / EXTERNAL_TIME, 1.0)
    for j in range(nx - N_BESIDE, nx - N_BESIDE + 6):
        x[j] *= keep
        for k in range(nx):
            P[j, k] *= keep
            P[k, j] *= keep


@kernel
def times_covariance(robot, grasp, jacobian, B, e, P, out):
    """Fill equation e's row of ``H P``."""
    nx, nc = P.shape[0], grasp.shape[1]
    for k in range(nx):
        out[k] = 0.0
    if e >= 6:
        j = e - 6
        for m in range(robot.columns[j, 0]):
            c = robot.columns[j, m + 1]
            h = jacobian[c, j]
            for k in range(nx):
                out[k] += h * P[c, k]
    else:
        for c in range(nc):
            h = grasp[e, c]
            if h != 0.0:
                for k in range(nx):
                    out[k] += h * P[c, k]
        for k in range(nx):
            out[k] += P[nc + e, k]
        for m in range(4):
            h = B[e, m]
            if h != 0.0:
                for k in range(nx):
                    out[k] += h * P[nc + MASS + m, k]


@kernel
def correct(robot, tracking, grasp, jacobian, n):
    """Take the equations in: Kalman's update with all of them at once."""
    x, P, S, gain = tracking.state, tracking.covariance, tracking.noise, tracking.gain
    nu, rows, nx = tracking.innovation, tracking.rows, tracking.state.shape[0]
    B = tracking.columns
    for r in range(n):
        times_covariance(robot, grasp, jacobian, B, rows[r], P, gain[r])
    for r in range(n):
        for s in range(r + 1):
            S[r, s] += predicted(robot, grasp, jacobian, B, rows[s], gain[r])
    if not factorize(S, n):
        return False
    for r in range(n):
        row, t = gain[r], nu[r]
        for s in range(r):
            h, other = S[r, s], gain[s]
            t -= h * nu[s]
            for k in range(nx):
                row[k] -= h * other[k]
        nu[r] = t * S[r, r]
        for k in range(nx):
            row[k] *= S[r, r]
    take_in(x, P, gain, nu, n, 1.0)
    return True


@kernel
def take_in(x, P, gain, nu, n, share):
    """Add ``gain^T nu`` to the state and take ``share gain^T gain`` from its covariance."""
    nx = x.shape[0]
    for r in range(n):
        row, t = gain[r], nu[r]
        for k in range(nx):
            x[k] += t * row[k]
    for i in range(nx):
        to = P[i]
        for r in range(n):
            h, row = share * gain[r, i], gain[r]
            for k in range(nx):
                to[k] -= h * row[k]
