# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The equations that actuator parameters are learned from, as a kernel: a block of samples a call.

A call adds means over a block of some 10 ms to the sums of a recursive least squares: information
matrix, right side, residual variances. How late velocities are is summed beside them.
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
from legged_dynamics.dynamics.kinematics import FORCE, ROTATION
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED, newton_euler
from legged_dynamics.estimation.contact import find_swinging
from legged_dynamics.model.actuators import ARMATURE, DELAY, GAIN, PARAMETERS
from legged_dynamics.model.parts import Tree
from legged_dynamics.optimization.factorizations import factorize, invert_factorized
from legged_dynamics.spatial.algebra import (
    add,
    cross,
    dot,
    load3,
    load9,
    rotate,
    scale,
    store3,
    subtract,
    z_axis,
)
from legged_dynamics.spatial.frames import GRAVITY
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3, offsets
from legged_dynamics.spatial.packed import opened

# Parameters of a joint in Phi, in the order of model.actuators.PARAMETERS.
N_LOCAL = len(PARAMETERS)
# Errors of the base's equations: a force that stays, mass and first moment of a load.
N_BASE = 7
# Time that a torque is held before it counts, on average [samples].
HELD = 0.5


class BlockConstants(NamedTuple):
    """Places of `Learning.constants`: of the robot, the sensors, and of `LearnerSettings`."""

    weight: int = 1                 # N
    leg_length: int = 1             # m
    mass: int = 1                   # kg
    period: int = 1                 # s, of a sample
    has_imu: int = 1                # 1 where it is on the base
    lowest: int = 1                 # m, height of the base below which nothing is learned
    skipped: int = 1                # blocks that were left out before each
    corrected: int = 1              # what torques are multiplied by, for their gains drift
    base_correlation: int = 1
    outlier: int = 1
    misfit_clip: int = 1
    spread_rate: int = 1
    spread_blocks: int = 1
    acceleration_noise: int = 1
    force_prior: int = 1
    moment_arm: int = 1
    size: int = 0


class DelaySums(NamedTuple):
    """Places of `Learning.lag`: sums over blocks that say how late velocities are."""

    error: int = 1                  # of their error by the acceleration
    motion: int = 1                 # of the acceleration squared
    noise: int = 1                  # of the error squared
    size: int = 0


CONSTANT = offsets(BlockConstants())
LAG = offsets(DelaySums())


class Learning(NamedTuple):
    """Arrays of the regression; m samples make a block, n parameters theta."""

    tree: Tree                      # of the robot, without armature, damping and friction
    feet: FeetTable
    joints: np.ndarray              # (nf, nj + 1) int: number of a leg's own joints, then which
    place: np.ndarray               # (nj, N_LOCAL) int: of each joint's parameters in theta
    at: np.ndarray                  # (5,) int: position, velocity, effort, gyro, accelerometer
    constants: np.ndarray           # (CONSTANT.size,)
    mount: np.ndarray               # (12,): orientation of the IMU on the base, position [m]
    noise: np.ndarray               # (nj,): variance of a joint's equation by noise
    uncertain: np.ndarray           # (nj,): the same with friction at rest
    slip_noise: np.ndarray          # (nj,): variance of friction by noise of velocities, relative
    dry: np.ndarray                 # (nj,): square of the dry friction that a joint may have
    rows: np.ndarray                # (3 m + 1, row size): a block between its neighbours
    bodies: np.ndarray              # scratch of kinematics, as the next three
    states: np.ndarray
    jacobian: np.ndarray
    grasp: np.ndarray
    joint: np.ndarray               # (nj, N_LOCAL + 1): Phi of the block, and the residual
    motion: np.ndarray              # (5, nj): means of q, v, a, inverse dynamics, near torques
    base: np.ndarray                # (9,): mean motion of the base
    force: np.ndarray               # (6,): residual of the base's equations
    swings: np.ndarray              # (nf,): 1 for a foot that swings for certain
    block: np.ndarray               # (6, 6): scratch
    variance: np.ndarray            # (6, 6): of the base's equations
    regressors: np.ndarray          # (6, n + 2): of the base; right side; noise of the IMU's delay
    spread: np.ndarray              # (6 + nj,): residual variances, of the base's and the joints'
    information: np.ndarray         # (n, n): upper triangle
    right: np.ndarray               # (n,)
    lag: np.ndarray                 # (LAG.size,)
    noisy: np.ndarray               # (1,): information on the IMU's delay that is noise
    theta: np.ndarray               # (n,): estimate with all parameters free, for residuals
    used: np.ndarray                # (n,): and the one in use
    misfit: np.ndarray              # (nj,): squared residuals of swinging joints with that
    # (4,): blocks of base equations, of swinging legs; over the latter, sums of the vertical force
    # that torques lack, and of that which bears the robot, in weights.
    counts: np.ndarray
    heard: np.ndarray               # (nj,): blocks in which a joint's leg swung


@part
def _height(states, i, up):
    """Return how high a foot's contact point is over the base's origin."""
    p = get3(states, i, CONTACT)
    return p[0] * up[0] + p[1] * up[1] + p[2] * up[2]


@part
def _put(regressors, row, c, v):
    """Write a vector down a column of the regressors."""
    for k in range(3):
        regressors[row + k, c] = v[k]


@part
def _add_load(base, regressors, c):
    """
    Write the regressors of a force that stays, and of a load's mass m and first moment h.

    With f the specific force of the base, w its angular velocity and a its angular acceleration, a
    load needs m f + a x h + w x (w x h) and h x f of feet, which the model's base does not.
    """
    w, a, f = load3(base, 0), load3(base, 3), load3(base, 6)
    _put(regressors, 0, c + 3, scale(-1.0, f))
    for k in range(3):
        e = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        _put(regressors, 0, c + k, e)
        _put(regressors, 0, c + 4 + k, scale(-1.0, add(cross(a, e), cross(w, cross(w, e)))))
        _put(regressors, 3, c + 4 + k, cross(f, e))


@part
def _share(k, m):
    """Return the weight of sample k of a block in a mean by trapezoids."""
    return (0.5 if k == 0 or k == m else 1.0) / m


@part
def _joint_means(all_rows, at, constants, motion, joint, lag):
    """Fill ``motion`` and ``joint`` with means over the block and differences of its ends."""
    m = all_rows.shape[0] // 3
    rows = all_rows[m:2 * m + 1]
    position, velocity, effort = at[0], at[1], at[2]
    period, corrected = constants[CONSTANT.period], constants[CONSTANT.corrected]
    first, last, span = rows[0], rows[m], m * period
    shorter = span - period
    q, v, a = motion[0], motion[1], motion[2]
    for j in range(joint.shape[0]):
        p = s = slip = load = tau = 0.0
        a[j] = (last[velocity + j] - first[velocity + j]) / span
        frozen = True       # what does not change is not measured
        for k in range(m + 1):
            share = _share(k, m)
            rate, torque = rows[k, velocity + j], rows[k, effort + j]
            rubs = share * math.tanh(rate / FRICTION_SPEED)
            p += share * rows[k, position + j]
            s += share * rate
            slip += rubs
            load += rubs * math.fabs(torque)
            tau += share * torque
            frozen = frozen and torque == first[effort + j]
        tau = math.nan if frozen else corrected * tau
        q[j], v[j] = p, s
        phi = joint[j]
        phi[0], phi[1], phi[2], phi[3], phi[4], phi[5] = slip, s, corrected * load, a[j], tau, 1.0
        # The slope is that between the means of the neighbours, which have noise of their own:
        # that of the block's ends would draw the delay to zero.
        before = after = 0.0
        for k in range(m):
            before += all_rows[k, effort + j]
            after += all_rows[2 * m + 1 + k, effort + j]
        phi[DELAY] = corrected * (before - after) / (m * (2.0 * span + period))
        motion[4, j] = corrected * 0.5 * (before + after) / m
        # Velocities that are late differ from the slope of positions by the acceleration.
        miss = (last[position + j] - first[position + j]) / span - s
        if math.isfinite(miss):
            lag[LAG.error] += miss * a[j]
            lag[LAG.noise] += miss * miss
            lag[LAG.motion] += ((rows[m - 1, velocity + j] - first[velocity + j])
                                  * (last[velocity + j] - rows[1, velocity + j])
                                  / (shorter * shorter))


@part
def _base_means(rows, at, constants, mount, base, up):
    """
    Fill ``base``, the mean motion by the IMU or at rest; return whether the IMU counts, and more.

    That is the slope of its acceleration, and half the difference of two estimates of it.
    """
    m = rows.shape[0] - 1
    gyro, accelerometer = at[3], at[4]
    first, last, span = rows[0], rows[m], m * constants[CONSTANT.period]
    shorter = span - constants[CONSTANT.period]
    imu = constants[CONSTANT.has_imu] > 0.5
    jerk = jitter = (0.0, 0.0, 0.0)
    if imu:
        R, arm = load9(mount, 0), load3(mount, 9)
        w, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(m + 1):
            share = _share(k, m)
            g, h = load3(rows[k], gyro), load3(rows[k], accelerometer)
            w = (w[0] + share * g[0], w[1] + share * g[1], w[2] + share * g[2])
            f = (f[0] + share * h[0], f[1] + share * h[1], f[2] + share * h[2])
        turn = subtract(load3(last, gyro), load3(first, gyro))
        early = rotate(R, subtract(load3(rows[m - 1], accelerometer), load3(first, accelerometer)))
        late = rotate(R, subtract(load3(last, accelerometer), load3(rows[1], accelerometer)))
        w, f = rotate(R, w), rotate(R, f)
        alpha = rotate(R, (turn[0] / span, turn[1] / span, turn[2] / span))
        jerk, jitter = scale(0.5 / shorter, add(early, late)), scale(0.5 / shorter,
                                                                     subtract(early, late))
        f = subtract(f, add(cross(alpha, arm), cross(w, cross(w, arm))))
        imu = math.isfinite(w[0] + f[0] + alpha[0] + f[1] + f[2])
        store3(base, 0, w)
        store3(base, 3, alpha)
        store3(base, 6, f)
    if not imu:
        for k in range(9):
            base[k] = 0.0
        for k in range(3):
            base[6 + k] = GRAVITY * up[k]
    return imu, jerk, jitter


@part
def _residuals(joint, motion, used, place, slip_noise, m, constants):
    """Fill the residuals of ``joint`` by bare inverse dynamics, of blocks of m samples."""
    # An acceleration that may be noise would draw the armature to where it undoes that noise.
    span, within = m * constants[CONSTANT.period], constants[CONSTANT.acceleration_noise]
    a, needed = motion[2], motion[3]
    for j in range(joint.shape[0]):
        phi = joint[j]
        phi[N_LOCAL] = needed[j] - phi[GAIN]
        noise = slip_noise[j] * 2.0 * m * (FRICTION_SPEED / span) ** 2
        if a[j] * a[j] < within * within * noise:
            phi[N_LOCAL] += a[j] * used[place[j, ARMATURE]]
            phi[ARMATURE] = 0.0


@part
def _next_block(rows, m):
    """Move measurements on by a block of m samples."""
    for k in range(2 * m + 1):
        for c in range(rows.shape[1]):
            rows[k, c] = rows[k + m, c]


@part
def _add_swinging(x, j):
    """
    Add the equation of a swing leg's joint: residual + Phi theta = 0.

    Torques are small there, so gain is taken as known, or noise would bias it upward. A
    commanded torque is held: it is half a sample older than the mean of its readings.
    """
    c, phi = x.constants, x.joint[j]
    phi[N_LOCAL] -= HELD * c[CONSTANT.period] * phi[DELAY]
    left = missed = -phi[N_LOCAL]
    for k in range(N_LOCAL):
        left -= phi[k] * x.theta[x.place[j, k]]
        missed -= phi[k] * x.used[x.place[j, k]]
    # What actuators leave unexplained is there in every block; impacts are not.
    most = c[CONSTANT.misfit_clip] * (x.misfit[j] + x.noise[j])
    x.misfit[j] += max(c[CONSTANT.spread_rate], 1.0 / (x.heard[j] + 1.0)) * (
        min(missed * missed, most) - x.misfit[j])
    spread = x.spread[6 + j]
    variance = spread + x.uncertain[j]
    x.heard[j] += 1.0
    x.spread[6 + j] += _spread_step(c, x.heard[j], left * left - x.uncertain[j], spread)
    alike = max(0.5 * c[CONSTANT.base_correlation] / (1.0 + c[CONSTANT.skipped]), 1.0)
    share = 1.0 / (alike * variance * max(1.0, left * left / (c[CONSTANT.outlier] * variance)))
    residual = phi[N_LOCAL] + phi[GAIN] * x.used[x.place[j, GAIN]]
    for k in range(N_LOCAL):
        t = share * phi[k] if k != GAIN else 0.0
        row = x.information[x.place[j, k]]
        for g in range(k, N_LOCAL):     # places of a joint's parameters ascend
            row[x.place[j, g]] += t * phi[g] if g != GAIN else 0.0
        x.right[x.place[j, k]] -= t * residual


@part
def _spread_step(c, blocks, square, spread):
    """Return by how much a squared residual less its noise changes a residual variance."""
    return max(c[CONSTANT.spread_rate], 1.0 / (blocks + c[CONSTANT.spread_blocks])) * (
        min(max(square, 0.0), c[CONSTANT.outlier] * spread) - spread)


@part
def _clear_base(regressors, variance, spread):
    """Set the base's equations to what no foot adds."""
    for r in range(6):
        for c in range(regressors.shape[1]):
            regressors[r, c] = 0.0
        for c in range(6):
            variance[r, c] = 0.0
        variance[r, r] = spread[r]


@part
def _is_measured(joints, joint):
    """Return whether all joints of a leg have readings."""
    usable = True
    for n in range(joints[0]):
        j = joints[n + 1]
        usable = usable and math.isfinite(joint[j, N_LOCAL] + joint[j, 6])
    return usable


@part
def _set_prior(block, size, constants):
    """Set ``block`` to the precision W^-2 of a foot's force before its joints are read."""
    for r in range(size):
        for c in range(size):
            block[r, c] = 0.0
        wide = constants[CONSTANT.force_prior] * constants[CONSTANT.weight] * (
            1.0 if r < 3 else constants[CONSTANT.moment_arm])
        block[r, r] = wide ** -2


@part
def _add_joints(block, size, jacobian, s, joints, count, uncertain, spread):
    """Add J R^-1 J^T of the first ``count`` joints of a leg, s the first row of its foot."""
    for n in range(count):
        j = joints[n + 1]
        certain = 1.0 / (uncertain[j] + spread[6 + j])
        for r in range(size):
            for c in range(size):
                block[r, c] += certain * jacobian[s + r, j] * jacobian[s + c, j]


@part
def _add_variance(variance, grasp, block, s, size):
    """Add the variance P of a foot's force (``block``) to that of the base's equations."""
    for e in range(6):
        for c in range(size):
            t = 0.0
            for r in range(size):
                t += grasp[e, s + r] * block[r, c]
            for g in range(e + 1):
                variance[e, g] += t * grasp[g, s + c]


@part
def _transfer(grasp, block, jacobian, s, size, j):
    """Return what joint j has in a base equation by its foot's force: a row of A times P J."""
    t = 0.0
    for r in range(size):
        u = 0.0
        for c in range(size):
            u += block[r, c] * jacobian[s + c, j]
        t += grasp[s + r] * u
    return t


@part
def _foot_force(x, s, size, joints, count):
    """Return a foot's force by torques of neighbouring blocks, ``block`` its covariance."""
    # Their noise is not in the equations: it would be a compliance, squared.
    f = (0.0, 0.0, 0.0)
    for n in range(count):
        j = joints[n + 1]
        t = (x.motion[3, j] - x.motion[4, j]) / (x.uncertain[j] + x.spread[6 + j])
        for r in range(size):
            f = add(f, scale(t * x.jacobian[s + r, j], get3(x.block, r, 0)))
    return f


@part
def _bending(x, s, joints, count, n, f):
    """
    Return what compliance does to the equation of a leg's joint n, f the force of its foot.

    Torques tau bend joints by -c tau, and J^T f changes by that times the derivative of J: of
    joints one behind the other, the axis of the first times the column of the second.
    """
    t = 0.0
    for m in range(count):
        axis = z_axis(load9(x.bodies[joints[min(m, n) + 1] + 1], ROTATION))
        moves = get3(x.jacobian.T, joints[max(m, n) + 1], s)
        t += x.motion[4, joints[m + 1]] * dot(f, cross(axis, moves))
    return t


@part
def _add_base_errors(regressors, base, force, mass, jerk, jitter):
    """Write what the base's equations have beside legs, and their right side."""
    n = regressors.shape[1] - 2
    for k in range(3):          # of a late IMU: F(t) = F measured + delay dF/dt
        regressors[k, n - 1] = -mass * jerk[k]
        regressors[k, n + 1] = -mass * jitter[k]
    _add_load(base, regressors, n - 1 - N_BASE)
    for e in range(6):
        regressors[e, n] = force[e]


@part
def _left(row, theta):
    """Return what an equation leaves: its right side, behind the regressors, less these."""
    left = row[theta.shape[0]]
    for c in range(theta.shape[0]):
        left -= row[c] * theta[c]
    return left


@part
def _learn_spread(regressors, theta, variance, spread, blocks, constants):
    """Learn the residual variances of the base's equations: what noise does not explain."""
    for e in range(6):
        left = _left(regressors[e], theta)
        more = left * left - (variance[e, e] - spread[e])
        spread[e] += _spread_step(constants, blocks, more, spread[e])


@part
def _whiten_base(regressors, variance, theta):
    """Multiply the base's equations by L^-1 of their variance; return their squared residual."""
    chi2 = 0.0
    for e in range(6):
        row = regressors[e]
        for g in range(e):
            h, other = variance[e, g], regressors[g]
            for c in range(row.shape[0]):
                row[c] -= h * other[c]
        for c in range(row.shape[0]):
            row[c] *= variance[e, e]
        left = _left(row, theta)
        chi2 += left * left
    return chi2


@part
def _base_share(chi2, constants):
    """Return the weight of whitened equations of the base with a squared residual."""
    alike = max(constants[CONSTANT.base_correlation] / (1.0 + constants[CONSTANT.skipped]), 1.0)
    return 1.0 / (alike * max(1.0, chi2 / (3.0 * constants[CONSTANT.outlier])))


@part
def _add_base(r, information, right, noisy, share):
    """Add the whitened equations r of the base to the sums of the regression."""
    n = right.shape[0]
    # Slopes of accelerations are noisy: a regressor's noise would draw its parameter towards
    # zero. Two slopes with independent noise say how large it is.
    for e in range(6):
        noisy[0] += share * r[e, n + 1] ** 2
    for c in range(n):
        t0, t1, t2 = share * r[0, c], share * r[1, c], share * r[2, c]
        t3, t4, t5 = share * r[3, c], share * r[4, c], share * r[5, c]
        if t0 == 0.0 and t1 == 0.0 and t2 == 0.0 and t5 == 0.0:
            continue
        to = information[c]
        for d in range(c, n):
            to[d] += (t0 * r[0, d] + t1 * r[1, d] + t2 * r[2, d] + t3 * r[3, d] + t4 * r[4, d]
                      + t5 * r[5, d])
        right[c] += (t0 * r[0, n] + t1 * r[1, n] + t2 * r[2, n]
                     + t3 * r[3, n] + t4 * r[4, n] + t5 * r[5, n])


@lean_kernel
def regress_block(x, up):
    """Add a block of measurements to a `Learning`; return False if the robot lies down."""
    x = opened(x)
    m, nf, constants = x.rows.shape[0] // 3, x.feet.index.shape[0], x.constants
    compliance = x.right.shape[0] - 2 - N_BASE
    _joint_means(x.rows, x.at, constants, x.motion, x.joint, x.lag)
    # Dry friction of a joint at rest is anywhere within its bounds, for some ten blocks.
    for j in range(x.joint.shape[0]):
        rest = 1.0 - x.joint[j, 0] * x.joint[j, 0]
        x.uncertain[j] = x.noise[j] + x.dry[j] * rest * (1.0 + x.slip_noise[j] * rest)
    imu, jerk, jitter = _base_means(x.rows[m:2 * m + 1], x.at, constants, x.mount, x.base, up)
    newton_euler(x.tree, x.motion[0], x.motion[1], x.motion[2], x.base, x.bodies, x.motion[3])
    for k in range(6):
        x.force[k] = x.bodies[0, FORCE + k]
    _residuals(x.joint, x.motion, x.used, x.place, x.slip_noise, m, constants)
    _next_block(x.rows, m)

    contact_points(x.feet, x.bodies, (up[0], up[1], up[2]), x.states)
    lowest = _height(x.states, 0, up)
    for i in range(1, nf):
        lowest = min(lowest, _height(x.states, i, up))
    if not -lowest > constants[CONSTANT.lowest]:
        return False
    contact_jacobians(x.tree, x.feet, x.bodies, x.states, x.jacobian)
    contact_map(x.feet, x.states, x.grasp)
    find_swinging(x.feet, x.bodies, x.states, (up[0], up[1], up[2]),
                  constants[CONSTANT.leg_length], x.swings)

    _clear_base(x.regressors, x.variance, x.spread)
    swinging, complete = False, True
    for i in range(nf):
        joints, s, size = x.joints[i], x.feet.index[i, START], x.feet.index[i, SIZE]
        usable = _is_measured(joints, x.joint)
        if usable and x.swings[i] > 0.5:
            swinging = True
            for n in range(joints[0]):
                _add_swinging(x, joints[n + 1])
            continue
        complete = complete and usable
        count = joints[0] if usable else 0
        _set_prior(x.block, size, constants)
        _add_joints(x.block, size, x.jacobian, s, joints, count, x.uncertain, x.spread)
        if not factorize(x.block, size):
            return True
        invert_factorized(x.block, size)    # P = (J R^-1 J^T + W^-2)^-1
        _add_variance(x.variance, x.grasp, x.block, s, size)
        f = _foot_force(x, s, size, joints, count)
        for n in range(count):
            j = joints[n + 1]
            certain = 1.0 / (x.uncertain[j] + x.spread[6 + j])
            bending = _bending(x, s, joints, count, n, f)
            moves = scale(x.motion[4, j], cross(f, get3(x.jacobian.T, j, s)))
            wrench = (0.0, 0.0, 0.0, *moves)
            for e in range(6):
                t = certain * _transfer(x.grasp[e], x.block, x.jacobian, s, size, j)
                for k in range(N_LOCAL):
                    x.regressors[e, x.place[j, k]] += t * x.joint[j, k]
                x.regressors[e, compliance] += t * bending + wrench[e]
                x.force[e] -= t * x.joint[j, N_LOCAL]
    if swinging:
        x.counts[1] += 1.0
    if not imu or not math.isfinite(x.force[0] + x.force[5]):
        return True
    if swinging and complete:
        x.counts[2] += dot(load3(x.force, 0), up) / constants[CONSTANT.weight]
        x.counts[3] += dot(load3(x.bodies[0], FORCE), up) / constants[CONSTANT.weight]
    _add_base_errors(x.regressors, x.base, x.force, constants[CONSTANT.mass], jerk, jitter)
    _learn_spread(x.regressors, x.theta, x.variance, x.spread, x.counts[0], constants)
    if factorize(x.variance, 6):
        share = _base_share(_whiten_base(x.regressors, x.variance, x.theta), constants)
        x.counts[0] += 1.0
        _add_base(x.regressors, x.information, x.right, x.noisy, share)
    return True
