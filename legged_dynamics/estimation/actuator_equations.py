# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The equations that actuator parameters are learned from, as a kernel: a block of samples a call.

What they are stands in `estimation.actuator_learning`. A call adds means over a block of some
10 ms to the sums of a recursive least squares: information matrix, right side, residual variances.
How late velocities are is summed beside them.
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    SIZE,
    START,
    FeetTable,
    contact_jacobians,
    contact_map,
    contact_points,
)
from legged_dynamics.dynamics.kinematics import FORCE
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED, newton_euler
from legged_dynamics.estimation.contact import find_swinging
from legged_dynamics.model.actuators import ARMATURE, DELAY, GAIN
from legged_dynamics.model.parts import Tree
from legged_dynamics.optimization.factorizations import factorize, invert_factorized
from legged_dynamics.spatial.algebra import (
    add,
    cross,
    load3,
    load9,
    rotate,
    scale,
    store3,
    subtract,
)
from legged_dynamics.spatial.frames import GRAVITY
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3
from legged_dynamics.spatial.packed import opened

# Parameters of a joint in Phi, in the order of model.actuators.PARAMETERS.
N_LOCAL = 7
# Samples that count as one: neighbouring blocks share their errors.
CORRELATED, CORRELATED_SWINGING = 4.0, 2.0
# Share by which a block changes the residual variances; how far a residual counts in them.
SPREAD_SHARE, SPREAD_CLIP = 0.01, 9.0
MISFIT_SHARE, MISFIT_CLIP = 0.1, 3.0      # the same of what the parameters in use leave
SPREAD_FIRST = 6.0      # blocks that the first guess of a residual variance counts for
# Squared residual over its variance beyond which a block loses weight.
OUTLIER = 6.0
# Variance of dry friction at rest over its square: it is anywhere within its bounds, and stays
# there for some ten blocks.
STUCK = 1.0
# Deviations of noise within which an acceleration may be no more than that.
NOISE = 3.0
# Time that a torque is held before it counts [samples].
HELD = 0.5
# Force of a foot before its joints are heard, in weights.
PRIOR_FORCE = 3.0
# Errors of the base's equations: a force that stays, mass and first moment of a load.
N_BASE = 7
# Places of the constants.
(WEIGHT, ARM, LENGTH, MASS, PERIOD, HAS_IMU, LOWEST, SKIPPED) = range(8)
N_CONSTANTS = 8
# Sums over blocks that say how late velocities are: of their error by the acceleration, of the
# acceleration squared, and of the error squared.
LAG_ERROR, LAG_MOTION, LAG_NOISE = range(3)


class Learning(NamedTuple):
    """
    Arrays of the regression.

    Attributes
    ----------
    tree : Tree
        Of the robot, without armature, damping and friction.
    feet : FeetTable
    joints : (nf, nj + 1) int array
        Number, then indices of the joints that move a foot and no other.
    place : (nj, N_LOCAL) int array
        Of each joint's parameters in theta.
    at : (5,) int array
        Where position, velocity, effort, gyro and accelerometer begin in a row.
    constants : (N_CONSTANTS,) array
        Weight [N], length of a moment and of a leg [m], mass [kg], time of a sample [s], whether
        the IMU is on the base, height of the base below which nothing is learned [m], how many
        blocks were left out before each.
    mount : (12,) array
        Orientation of the IMU on the base by rows, and its position [m].
    noise, uncertain : (nj,) array
        Variance of a joint's equation in a block by noise, and with friction at rest.
    slip_noise : (nj,) array
        Variance that noise of velocities gives to dry friction at rest, over friction squared.
    dry : (nj,) array
        Square of the dry friction that a joint may have.
    rows : (3 m + 1, input_size) array
        Measurements of a block of m samples between its neighbours; blocks share their ends.
    bodies, states, jacobian, grasp : array
        Scratch of kinematics.
    joint : (nj, N_LOCAL + 1) array
        Phi of the block, and the residual.
    motion : (4, nj) array
        Mean position, velocity, acceleration and bare inverse dynamics of the block.
    base : (9,) array
        Mean motion of the base.
    force : (6,) array
        Residual of the base's equations.
    swings : (nf,) array
        1 for a foot that swings for certain.
    block : (6, 6) array
        Scratch.
    variance : (6, 6) array
        Of the base's equations.
    regressors : (6, np + 2) array
        Of the base's equations; the right side, and half the difference of two estimates of the
        regressor of the IMU's delay.
    spread : (6 + nj,) array
        Residual variances, of the base's and the joints' equations.
    information, right : (np, np), (np,) array
        The information's upper triangle.
    lag : (3,) array
        Sums that say how late velocities are, `LAG_ERROR` and so on.
    noisy : (1,) array
        What noise of its regressor has added to the information on the IMU's delay.
    theta, used : (np,) array
        Estimate with all parameters free, for residuals; and the one in use.
    misfit : (nj,) array
        Squared residuals of swinging joints with the parameters in use.
    counts : (2,) array
        Blocks of base equations and of swinging legs so far.
    heard : (nj,) array
        Blocks in which a joint's leg swung.

    """

    tree: Tree
    feet: FeetTable
    joints: np.ndarray
    place: np.ndarray
    at: np.ndarray
    constants: np.ndarray
    mount: np.ndarray
    noise: np.ndarray
    uncertain: np.ndarray
    slip_noise: np.ndarray
    dry: np.ndarray
    rows: np.ndarray
    bodies: np.ndarray
    states: np.ndarray
    jacobian: np.ndarray
    grasp: np.ndarray
    joint: np.ndarray
    motion: np.ndarray
    base: np.ndarray
    force: np.ndarray
    swings: np.ndarray
    block: np.ndarray
    variance: np.ndarray
    regressors: np.ndarray
    spread: np.ndarray
    information: np.ndarray
    right: np.ndarray
    lag: np.ndarray
    noisy: np.ndarray
    theta: np.ndarray
    used: np.ndarray
    misfit: np.ndarray
    counts: np.ndarray
    heard: np.ndarray


@part
def _height(states, i, up):
    """Return how high a foot's contact point is over the base's origin."""
    p = get3(states, i, CONTACT)
    return p[0] * up[0] + p[1] * up[1] + p[2] * up[2]


@part
def _put(x, row, c, v):
    """Write a vector down a column of the regressors."""
    for k in range(3):
        x.regressors[row + k, c] = v[k]


@part
def _add_load(x, c):
    """
    Write the regressors of a force that stays, and of a load's mass m and first moment h.

    With f the specific force of the base, w its angular velocity and a its angular acceleration, a
    load needs m f + a x h + w x (w x h) and h x f of feet, which the model's base does not.
    """
    w, a, f = load3(x.base, 0), load3(x.base, 3), load3(x.base, 6)
    _put(x, 0, c + 3, scale(-1.0, f))
    for k in range(3):
        e = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        _put(x, 0, c + k, e)
        _put(x, 0, c + 4 + k, scale(-1.0, add(cross(a, e), cross(w, cross(w, e)))))
        _put(x, 3, c + 4 + k, cross(f, e))


@part
def _add_swinging(x, j):
    """
    Add the equation of a swing leg's joint: residual + Phi theta = 0.

    Torques are small there, so gain is taken as known, or noise would bias it upward. A
    commanded torque is held: it is half a sample older than the mean of its readings.
    """
    phi = x.joint[j]
    phi[N_LOCAL] -= HELD * x.constants[PERIOD] * phi[DELAY]
    left = missed = -phi[N_LOCAL]
    for k in range(N_LOCAL):
        left -= phi[k] * x.theta[x.place[j, k]]
        missed -= phi[k] * x.used[x.place[j, k]]
    # What actuators leave unexplained is there in every block; impacts are not.
    most = MISFIT_CLIP * (x.misfit[j] + x.noise[j])
    x.misfit[j] += max(MISFIT_SHARE, 1.0 / (x.heard[j] + 1.0)) * (
        min(missed * missed, most) - x.misfit[j])
    spread = x.spread[6 + j]
    variance = spread + x.uncertain[j]
    x.heard[j] += 1.0
    x.spread[6 + j] += max(SPREAD_SHARE, 1.0 / (x.heard[j] + SPREAD_FIRST)) * (
        min(max(left * left - x.uncertain[j], 0.02 * spread), SPREAD_CLIP * spread) - spread)
    alike = max(CORRELATED_SWINGING / (1.0 + x.constants[SKIPPED]), 1.0)
    share = 1.0 / (alike * variance * max(1.0, left * left / (OUTLIER * variance)))
    residual = phi[N_LOCAL] + phi[GAIN] * x.used[x.place[j, GAIN]]
    for k in range(N_LOCAL):
        t = share * phi[k] if k != GAIN else 0.0
        row = x.information[x.place[j, k]]
        for g in range(k, N_LOCAL):     # places of a joint's parameters ascend
            row[x.place[j, g]] += t * phi[g] if g != GAIN else 0.0
        x.right[x.place[j, k]] -= t * residual


@lean_kernel
def regress_block(x, up):
    """Add a block of measurements to ``x``; return False if the robot lies on the ground."""
    x = opened(x)
    m, nj, nf = x.rows.shape[0] // 3, x.joint.shape[0], x.feet.index.shape[0]
    n_theta, rows = x.theta.shape[0], x.rows[m:2 * m + 1]
    position, velocity, effort, gyro, accelerometer = x.at[0], x.at[1], x.at[2], x.at[3], x.at[4]
    first, last, span = rows[0], rows[m], m * x.constants[PERIOD]
    shorter = span - x.constants[PERIOD]
    weight, arm = x.constants[WEIGHT], x.constants[ARM]

    # Means over the block, by trapezoids, and differences of its ends.
    q, v, a, needed = x.motion[0], x.motion[1], x.motion[2], x.motion[3]
    for j in range(nj):
        p = s = slip = load = tau = 0.0
        a[j] = (last[velocity + j] - first[velocity + j]) / span
        frozen = True       # what does not change is not measured
        for k in range(m + 1):
            share = (0.5 if k == 0 or k == m else 1.0) / m
            rate, torque = rows[k, velocity + j], rows[k, effort + j]
            rubs = share * math.tanh(rate / FRICTION_SPEED)
            p += share * rows[k, position + j]
            s += share * rate
            slip += rubs
            load += rubs * math.fabs(torque)
            tau += share * torque
            frozen = frozen and torque == first[effort + j]
        if frozen:
            tau = math.nan
        q[j], v[j] = p, s
        phi = x.joint[j]
        # Of a joint at rest friction is anything up to dry.
        rest = 1.0 - slip * slip
        x.uncertain[j] = x.noise[j] + x.dry[j] * rest * (STUCK + x.slip_noise[j] * rest)
        phi[0], phi[1], phi[2], phi[3], phi[4], phi[5] = slip, s, load, a[j], tau, 1.0
        # The slope is that between the means of the neighbours, which have noise of their own:
        # that of the block's ends would draw the delay to zero.
        before = after = 0.0
        for k in range(m):
            before += x.rows[k, effort + j]
            after += x.rows[2 * m + 1 + k, effort + j]
        phi[DELAY] = (before - after) / (m * (2.0 * span + x.constants[PERIOD]))
        # Velocities that are late differ from the slope of positions by the acceleration.
        miss = (last[position + j] - first[position + j]) / span - s
        if math.isfinite(miss):
            x.lag[LAG_ERROR] += miss * a[j]
            x.lag[LAG_NOISE] += miss * miss
            x.lag[LAG_MOTION] += ((rows[m - 1, velocity + j] - first[velocity + j])
                                  * (last[velocity + j] - rows[1, velocity + j])
                                  / (shorter * shorter))
    base, force = x.base, x.force
    imu = x.constants[HAS_IMU] > 0.5
    jerk = jitter = (0.0, 0.0, 0.0)
    if imu:
        R, arm_of_imu = load9(x.mount, 0), load3(x.mount, 9)
        w, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(m + 1):
            share = (0.5 if k == 0 or k == m else 1.0) / m
            g, h = load3(rows[k], gyro), load3(rows[k], accelerometer)
            w = (w[0] + share * g[0], w[1] + share * g[1], w[2] + share * g[2])
            f = (f[0] + share * h[0], f[1] + share * h[1], f[2] + share * h[2])
        turn = subtract(load3(last, gyro), load3(first, gyro))
        early = rotate(R, subtract(load3(rows[m - 1], accelerometer),
                                   load3(first, accelerometer)))
        late = rotate(R, subtract(load3(last, accelerometer), load3(rows[1], accelerometer)))
        w, f = rotate(R, w), rotate(R, f)
        alpha = rotate(R, (turn[0] / span, turn[1] / span, turn[2] / span))
        jerk, jitter = scale(0.5 / shorter, add(early, late)), scale(0.5 / shorter,
                                                                     subtract(early, late))
        f = subtract(f, add(cross(alpha, arm_of_imu), cross(w, cross(w, arm_of_imu))))
        imu = math.isfinite(w[0] + f[0] + alpha[0] + f[1] + f[2])
        store3(base, 0, w)
        store3(base, 3, alpha)
        store3(base, 6, f)
    if not imu:
        for k in range(9):
            base[k] = 0.0
        for k in range(3):
            base[6 + k] = GRAVITY * up[k]

    # Bare inverse dynamics and contact geometry at the middle.
    newton_euler(x.tree, q, v, a, base, x.bodies, needed)
    for k in range(6):
        force[k] = x.bodies[0, FORCE + k]
    for j in range(nj):
        phi = x.joint[j]
        phi[N_LOCAL] = needed[j] - phi[GAIN]
        # An acceleration that may be noise would draw the armature to where it undoes the same
        # noise in the inverse dynamics: it says nothing of it.
        noise = x.slip_noise[j] * 2.0 * m * (FRICTION_SPEED / span) ** 2
        if a[j] * a[j] < NOISE * NOISE * noise:
            phi[N_LOCAL] += a[j] * x.used[x.place[j, ARMATURE]]
            phi[ARMATURE] = 0.0
    contact_points(x.feet, x.bodies, (up[0], up[1], up[2]), x.states)
    lowest = _height(x.states, 0, up)
    for i in range(1, nf):
        lowest = min(lowest, _height(x.states, i, up))
    for k in range(2 * m + 1):
        for c in range(rows.shape[1]):
            x.rows[k, c] = x.rows[k + m, c]
    if not -lowest > x.constants[LOWEST]:
        return False
    contact_jacobians(x.tree, x.feet, x.bodies, x.states, x.jacobian)
    contact_map(x.feet, x.states, x.grasp)

    find_swinging(x.feet, x.bodies, x.states, (up[0], up[1], up[2]), x.constants[LENGTH], x.swings)
    for r in range(6):
        for c in range(n_theta + 2):
            x.regressors[r, c] = 0.0
        for c in range(6):
            x.variance[r, c] = 0.0
        x.variance[r, r] = x.spread[r]
    swinging = 0
    for i in range(nf):
        s, size, count = x.feet.index[i, START], x.feet.index[i, SIZE], x.joints[i, 0]
        usable = True
        for n in range(count):
            j = x.joints[i, n + 1]
            usable = usable and math.isfinite(x.joint[j, N_LOCAL] + x.joint[j, 6])
        if usable and x.swings[i] > 0.5:
            swinging += 1
            for n in range(count):
                _add_swinging(x, x.joints[i, n + 1])
            continue
        # The force by the joints: P = (J R^-1 J^T + W^-2)^-1, then w = P J R^-1 r.
        for r in range(size):
            for c in range(size):
                x.block[r, c] = 0.0
            wide = PRIOR_FORCE * weight * (1.0 if r < 3 else arm)
            x.block[r, r] = wide ** -2
        for n in range(count if usable else 0):
            j = x.joints[i, n + 1]
            certain = 1.0 / (x.uncertain[j] + x.spread[6 + j])
            for r in range(size):
                for c in range(size):
                    x.block[r, c] += certain * x.jacobian[s + r, j] * x.jacobian[s + c, j]
        if not factorize(x.block, size):
            return True
        invert_factorized(x.block, size)
        for e in range(6):
            for c in range(size):
                t = 0.0
                for r in range(size):
                    t += x.grasp[e, s + r] * x.block[r, c]
                for g in range(e + 1):
                    x.variance[e, g] += t * x.grasp[g, s + c]
        for n in range(count if usable else 0):
            j = x.joints[i, n + 1]
            certain = 1.0 / (x.uncertain[j] + x.spread[6 + j])
            for e in range(6):
                t = 0.0
                for r in range(size):
                    u = 0.0
                    for c in range(size):
                        u += x.block[r, c] * x.jacobian[s + c, j]
                    t += x.grasp[e, s + r] * u
                t *= certain
                for k in range(N_LOCAL):
                    x.regressors[e, x.place[j, k]] += t * x.joint[j, k]
                force[e] -= t * x.joint[j, N_LOCAL]
    if swinging > 0:
        x.counts[1] += 1.0
    if not imu or not math.isfinite(force[0] + force[5]):
        return True
    mass = x.constants[MASS]        # of an IMU that is late: F(t) = F measured + delay dF/dt
    for k in range(3):
        x.regressors[k, n_theta - 1] = -mass * jerk[k]
        x.regressors[k, n_theta + 1] = -mass * jitter[k]
    _add_load(x, n_theta - 1 - N_BASE)
    for e in range(6):
        x.regressors[e, n_theta] = force[e]
        left = force[e]
        for c in range(n_theta):
            left -= x.regressors[e, c] * x.theta[c]
        # What noise of the joints does not explain.
        more = left * left - (x.variance[e, e] - x.spread[e])
        step = max(SPREAD_SHARE, 1.0 / (x.counts[0] + SPREAD_FIRST))
        x.spread[e] += step * (min(max(more, 0.02 * x.spread[e]), SPREAD_CLIP * x.spread[e])
                               - x.spread[e])
    if not factorize(x.variance, 6):
        return True
    chi2 = 0.0
    for e in range(6):      # whiten: L^-1 of regressors and right side
        row = x.regressors[e]
        for g in range(e):
            h, other = x.variance[e, g], x.regressors[g]
            for c in range(n_theta + 2):
                row[c] -= h * other[c]
        left = 0.0
        for c in range(n_theta + 2):
            row[c] *= x.variance[e, e]
        left = row[n_theta]
        for c in range(n_theta):
            left -= row[c] * x.theta[c]
        chi2 += left * left
    alike = max(CORRELATED / (1.0 + x.constants[SKIPPED]), 1.0)
    share = 1.0 / (alike * max(1.0, chi2 / (3.0 * OUTLIER)))
    x.counts[0] += 1.0
    # Slopes of accelerations are noisy: a regressor's noise would draw its parameter towards
    # zero. Two slopes with independent noise say how large it is.
    for e in range(6):
        x.noisy[0] += share * x.regressors[e, n_theta + 1] ** 2
    for c in range(n_theta):
        t0, t1, t2 = (share * x.regressors[0, c], share * x.regressors[1, c],
                      share * x.regressors[2, c])
        t3, t4, t5 = (share * x.regressors[3, c], share * x.regressors[4, c],
                      share * x.regressors[5, c])
        if t0 == 0.0 and t1 == 0.0 and t2 == 0.0 and t5 == 0.0:
            continue
        to, r = x.information[c], x.regressors
        for d in range(c, n_theta):
            to[d] += (t0 * r[0, d] + t1 * r[1, d] + t2 * r[2, d] + t3 * r[3, d] + t4 * r[4, d]
                      + t5 * r[5, d])
        x.right[c] += (t0 * r[0, n_theta] + t1 * r[1, n_theta] + t2 * r[2, n_theta]
                       + t3 * r[3, n_theta] + t4 * r[4, n_theta] + t5 * r[5, n_theta])
    return True
