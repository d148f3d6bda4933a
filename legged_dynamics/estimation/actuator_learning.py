# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Actuator parameters learned while the robot moves, without contact, forces or the base's velocity.

With ``r`` the bare inverse dynamics of a joint less its measured torque and ``Phi theta`` what its
actuator adds (friction, damping, load friction, armature, gain, offset, delay), the equations of a
leg give the force of its foot whether it is down or not, ``w = J^-T (r + Phi theta)``. In the
equations of the base, contact then drops out::

    F - sum_i A_i J_i^-T r_i = sum_i A_i J_i^-T Phi_i theta_i + e

with e a wrench that stays, by errors of the base's mass and its centre. The joints of a leg that
swings, which heights and speeds of the feet alone decide, give ``r + Phi theta = 0`` besides. Both
are linear in theta. Means over blocks of some 10 ms are regressed recursively: information matrix
and right side, residual variances learned, outliers (impacts, pushes) with less weight. The
inverse of a leg's Jacobian is that of least squares with a broad prior of the force, so that a
straight knee, or a leg with fewer joints than its foot has force coordinates, makes an equation
uncertain and not wrong.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from scipy.linalg import lapack

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    N_FOOT_STATE,
    SIZE,
    START,
    FeetTable,
    contact_jacobians,
    contact_map,
    contact_points,
    feet_table,
)
from legged_dynamics.dynamics.kinematics import FORCE, body_workspace, frame_poses
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED, newton_euler
from legged_dynamics.estimation.filter import layout as codes
from legged_dynamics.exceptions import ConfigurationError, OutputError
from legged_dynamics.model import parts as layout
from legged_dynamics.model.actuators import (
    ARMATURE,
    DAMPING,
    DELAY,
    FRICTION,
    GAIN,
    KEYS,
    OFFSET,
    PARAMETERS,
    UNITS,
    ActuatorModel,
)
from legged_dynamics.model.parts import Tree
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
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
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3

# Parameters of a joint in Phi, in the order of model.actuators.PARAMETERS.
N_LOCAL = 7
# Column of Learning.joint after Phi and the residual.
DOUBLE = N_LOCAL + 1
# Samples that count as one: neighbouring blocks share their errors.
CORRELATED, CORRELATED_SWINGING = 4.0, 2.0
# Share by which a block changes the residual variances; how far a residual counts in them.
SPREAD_SHARE, SPREAD_CLIP = 0.01, 9.0
MISFIT_SHARE = 0.1      # the same of what the parameters in use leave
SPREAD_FIRST = 6.0      # blocks that the first guess of a residual variance counts for
# Squared residual over its variance beyond which a block loses weight.
OUTLIER = 6.0
# Variance of dry friction at rest over its square: it is anywhere within its bounds.
STUCK = 1.0 / 3.0
# Force of a foot before its joints are heard, in weights.
PRIOR_FORCE = 3.0
# Length of a block [s].
BLOCK = 0.01
# Time from one estimate to the next [s], in the first so many blocks with swinging legs, and else.
SOLVE, SOLVE_OFTEN = (0.05, 0.5), 100.0
# Time after which three of four blocks are left out, [s]; from one estimate to the next then [s].
SETTLED, N_SKIPPED, SOLVE_SETTLED = 10.0, 3, 2.0
# Time after which what was learned is forgotten [s].
MEMORY = 60.0
# Deviations by which data must pull a stated value until it is let go of, and those within which
# it is believed again.
LET_GO, BACK = 3.5, 1.5
# Largest part of the information on a delay that is noise of its regressor.
LARGEST_NOISE_SHARE = 0.6
# Deviations, and least amounts, beyond which a stated value is wrong: friction and armature over
# the torque limit, gain, delay [s].
CERTAIN, LEAST, LEAST_DELAY, LEAST_IMU_DELAY = 5.0, (0.008, 1e-4, 0.08), 1e-3, 1.8e-3
# Least torque that a wrong gain or armature must make at the joint's usual torque or
# acceleration, over the limit.
CARRIES, ACCELERATES = 0.01, 0.014
# Delays that a healthy robot reads [s].
ZERO_DELAY, ZERO_IMU = 3e-4, 1e-4
# Residual of a swinging joint that noise and small errors of the model make, over its limit.
USUAL = 0.008
# Deviation of each parameter that was let go of, as a multiple of that of an unknown one.
LOOSER = (1.5, 1.5, 1.5, 1.5, 4.0, 2.0, 1.5)
# Components of the wrench on the base that stays; least error of the centre of mass [m].
N_BASE, LEAST_CENTER = 6, 0.01
# Lateness of the IMU, one deviation, and that of one which was let go of [s].
IMU_DELAY = (3e-4, 3e-3)
# Parameters that are often wrong are let go of before those that could explain the same.
SUSPICION = {'load_friction': 0.5, 'gain': 0.25, 'offset': 0.2}
# How high [leg lengths] and how fast [sqrt(g l)] a foot moves that swings for certain.
RAISED, FAST = 0.025, 0.08
# Height of the base over the lowest foot, as a part of that in the nominal posture, below which
# the robot may lie on its belly or knees: what bears it there would be taken for wrong torques.
LYING = 0.45
# Places of the constants.
(WEIGHT, ARM, CLEARANCE, SPEED, MASS, PERIOD, HAS_IMU, LOWEST, SKIPPED) = range(9)
N_CONSTANTS = 9
DONE = object()        # what the steps of an estimate end with
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
        Weight [N], length of a moment [m], height [m] and speed [m/s] of a swinging foot, mass
        [kg], time of a sample [s], whether the IMU is on the base, height of the base below which
        nothing is learned [m], how many blocks were left out before each.
    mount : (12,) array
        Orientation of the IMU on the base by rows, and its position [m].
    noise, uncertain : (nj,) array
        Variance of a joint's equation in a block by noise, and with friction at rest.
    rows : (m + 1, input_size) array
        Measurements of a block; the first is the last of the block before.
    bodies, states, jacobian, grasp : array
        Scratch of kinematics.
    joint : (nj, N_LOCAL + 2) array
        Phi of the block, the residual, and half the difference of two slopes of torque.
    motion : (4, nj) array
        Mean position, velocity, acceleration and bare inverse dynamics of the block.
    base : (9,) array
        Mean motion of the base.
    force : (6,) array
        Residual of the base's equations.
    block : (6, 6) array
        Scratch.
    variance : (6, 6) array
        Of the base's equations.
    regressors : (6, np + 3) array
        Of the base's equations; the right side, and half the difference of two estimates of the
        regressors of delay and of the IMU's.
    spread : (6 + nj,) array
        Residual variances, of the base's and the joints' equations.
    information, right : (np, np), (np,) array
        The information's upper triangle.
    lag : (3,) array
        Sums that say how late velocities are, `LAG_ERROR` and so on.
    noisy : (2,) array
        What noise of their regressors has added to the information on delay and on the IMU's.
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
    rows: np.ndarray
    bodies: np.ndarray
    states: np.ndarray
    jacobian: np.ndarray
    grasp: np.ndarray
    joint: np.ndarray
    motion: np.ndarray
    base: np.ndarray
    force: np.ndarray
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
def _speed(x, i, k):
    """Return the speed of a foot's contact point against that of another."""
    if i == k:
        return 0.0
    v = cross(load3(x.base, 0), subtract(get3(x.states, i, CONTACT), get3(x.states, k, CONTACT)))
    s, t = x.feet.index[i, START], x.feet.index[k, START]
    for j in range(x.motion.shape[1]):
        rate = x.motion[1, j]
        v = (v[0] + rate * (x.jacobian[s, j] - x.jacobian[t, j]),
             v[1] + rate * (x.jacobian[s + 1, j] - x.jacobian[t + 1, j]),
             v[2] + rate * (x.jacobian[s + 2, j] - x.jacobian[t + 2, j]))
    return math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


@part
def _add_swinging(x, j):
    """
    Add the equation of a joint whose leg swings: residual and Phi theta make zero.

    Torques are small there, and their slope is mostly noise: it says nothing of delay.
    """
    phi = x.joint[j]
    phi[DELAY] = 0.0
    left = missed = -phi[N_LOCAL]
    for k in range(N_LOCAL):
        left -= phi[k] * x.theta[x.place[j, k]]
        missed -= phi[k] * x.used[x.place[j, k]]
    x.misfit[j] += max(MISFIT_SHARE, 1.0 / (x.heard[j] + 1.0)) * (missed * missed - x.misfit[j])
    spread = x.spread[6 + j]
    variance = spread + x.uncertain[j]
    x.heard[j] += 1.0
    x.spread[6 + j] += max(SPREAD_SHARE, 1.0 / (x.heard[j] + SPREAD_FIRST)) * (
        min(max(left * left - x.uncertain[j], 0.02 * spread), SPREAD_CLIP * spread) - spread)
    alike = max(CORRELATED_SWINGING / (1.0 + x.constants[SKIPPED]), 1.0)
    share = 1.0 / (alike * variance * max(1.0, left * left / (OUTLIER * variance)))
    for k in range(N_LOCAL):
        t = share * phi[k]
        row = x.information[x.place[j, k]]
        for g in range(k, N_LOCAL):     # places of a joint's parameters ascend
            row[x.place[j, g]] += t * phi[g]
        x.right[x.place[j, k]] -= t * phi[N_LOCAL]


@lean_kernel
def regress_block(x, up):
    """
    Add a block of measurements to the regression.

    Parameters
    ----------
    x : Learning
        Written.
    up : (3,) array
        Unit normal of the ground, base axes.

    Returns
    -------
    bool
        Whether anything was learned: not from a robot that lies on the ground.

    """
    m, nj, nf = x.rows.shape[0] - 1, x.joint.shape[0], x.feet.index.shape[0]
    n_theta, rows = x.theta.shape[0], x.rows
    position, velocity, effort, gyro, accelerometer = x.at[0], x.at[1], x.at[2], x.at[3], x.at[4]
    first, last, span = rows[0], rows[m], m * x.constants[PERIOD]
    shorter = span - x.constants[PERIOD]
    weight, arm = x.constants[WEIGHT], x.constants[ARM]

    # Means over the block, by trapezoids, and differences of its ends.
    q, v, a, needed = x.motion[0], x.motion[1], x.motion[2], x.motion[3]
    for j in range(nj):
        p = s = slip = load = tau = 0.0
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
        a[j] = (last[velocity + j] - first[velocity + j]) / span
        phi = x.joint[j]
        # Of a joint at rest friction is anything up to dry.
        x.uncertain[j] = x.noise[j] + STUCK * (1.0 - slip * slip) * x.theta[x.place[j, 0]] ** 2
        phi[0], phi[1], phi[2], phi[3], phi[4], phi[5] = slip, s, load, a[j], tau, 1.0
        early = (rows[m - 1, effort + j] - first[effort + j]) / shorter
        late = (last[effort + j] - rows[1, effort + j]) / shorter
        phi[DELAY], phi[DOUBLE] = -0.5 * (early + late), -0.5 * (early - late)
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
            base[6 + k] = 9.81 * up[k]

    # Bare inverse dynamics and contact geometry at the middle.
    newton_euler(x.tree, q, v, a, base, x.bodies, needed)
    for k in range(6):
        force[k] = x.bodies[0, FORCE + k]
    for j in range(nj):
        x.joint[j, N_LOCAL] = needed[j] - x.joint[j, 4]
    contact_points(x.feet, x.bodies, (up[0], up[1], up[2]), x.states)
    lowest, second = 0, -1
    for i in range(nf):
        h = _height(x.states, i, up)
        if h < _height(x.states, lowest, up):
            lowest, second = i, lowest
        elif i != lowest and (second < 0 or h < _height(x.states, second, up)):
            second = i
    for c in range(rows.shape[1]):
        first[c] = last[c]
    if not -_height(x.states, lowest, up) > x.constants[LOWEST]:
        return False
    contact_jacobians(x.tree, x.feet, x.bodies, x.states, x.jacobian)
    contact_map(x.feet, x.states, x.grasp)

    # Which legs swing: higher than the lowest feet, and fast against them.
    reference = second if nf > 3 else lowest
    ground = _height(x.states, reference, up)

    for r in range(6):
        for c in range(n_theta + 3):
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
        swings = usable and (
            _height(x.states, i, up) > ground + x.constants[CLEARANCE]
            and _speed(x, i, lowest) > x.constants[SPEED]
            and _speed(x, i, reference) > x.constants[SPEED])
        if swings:
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
                x.regressors[e, n_theta + 1] += t * x.joint[j, DOUBLE]
                force[e] -= t * x.joint[j, N_LOCAL]
    if swinging > 0:
        x.counts[1] += 1.0
    if not imu or not math.isfinite(force[0] + force[5]):
        return True
    mass = x.constants[MASS]        # of an IMU that is late: F(t) = F measured + delay dF/dt
    for k in range(3):
        x.regressors[k, n_theta - 1] = -mass * jerk[k]
        x.regressors[k, n_theta + 2] = -mass * jitter[k]
    for e in range(6):
        x.regressors[e, n_theta - 1 - N_BASE + e] = 1.0     # a wrench that stays
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
            for c in range(n_theta + 3):
                row[c] -= h * other[c]
        left = 0.0
        for c in range(n_theta + 3):
            row[c] *= x.variance[e, e]
        left = row[n_theta]
        for c in range(n_theta):
            left -= row[c] * x.theta[c]
        chi2 += left * left
    alike = max(CORRELATED / (1.0 + x.constants[SKIPPED]), 1.0)
    share = 1.0 / (alike * max(1.0, chi2 / (3.0 * OUTLIER)))
    x.counts[0] += 1.0
    # Slopes of torques and accelerations are noisy: a regressor's noise would draw its parameter
    # towards zero. Two slopes with independent noise say how large it is.
    for n in range(2):
        for e in range(6):
            x.noisy[n] += share * x.regressors[e, n_theta + 1 + n] ** 2
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


class ActuatorLearner:
    """
    Learns actuator parameters from measurements, and says how well they are known.

    Parameters
    ----------
    model : RobotModel
        With the configuration applied.
    config : RobotConfig
        Feet, noise and what it states of the actuators.
    rate : float
        Of the measurements [Hz].
    starts : sequence of int
        Where position, velocity, effort, gyro and accelerometer begin in a row of measurements.
    row_size : int
        Length of a row.
    file : str
        Where to keep what was learned from start to start; empty: nowhere.

    Attributes
    ----------
    stated : ActuatorModel
        What the configuration says.
    value : (7, nj) array
        Present estimate, rows as `model.actuators.PARAMETERS`.
    covariance : (nj, 7, 7) array
        Of each joint's parameters.
    doubt : (nj, 7, 7) array
        The same for the tick: without what the configuration's noise has already, with what no
        parameter explains.
    torque_variance : (nj,) array
        Of each joint's torque in typical motion, by its actuator [(N m)^2].
    findings : tuple of ActuatorFinding
        What the configuration states otherwise.
    faults : int
        Their bits of `ground_reaction.Fault`.
    seconds : float
        Time that was learned from.

    """

    def __init__(self, model: RobotModel, config: RobotConfig, rate: float,
                 starts: Sequence[int], row_size: int, file: str = ''):
        nj, nf = model.n_joints, len(config.feet)
        self.stated = ActuatorModel.of(model, config)
        table = feet_table(model, config.feet)
        weight = model.total_mass * GRAVITY
        block = max(round(BLOCK * rate), 2)
        self._place, self.names = _places(model, config, table)
        n_theta = len(self.names)
        legs = _leg_joints(model, table)
        joints = np.zeros((nf, nj + 1), np.int64)
        for i, own in enumerate(legs):
            joints[i, 0], joints[i, 1:1 + len(own)] = len(own), own
        mount = model.frame(config.imu_link or config.base_link or model.base_link)
        size = _leg_length(model, config)
        constants = np.zeros(N_CONSTANTS)
        constants[[WEIGHT, ARM, CLEARANCE, SPEED, MASS, PERIOD, HAS_IMU, LOWEST]] = (
            weight, 0.1, RAISED * size, FAST * np.sqrt(GRAVITY * size), model.total_mass,
            1.0 / rate, float(mount.body == 0), np.inf)
        bare = model.tree.constants.copy()
        bare[:, [layout.ARMATURE, layout.DAMPING, layout.FRICTION]] = 0.0
        effort = config.noise.of_joints('effort', model, config.joints)
        velocity = config.noise.of_joints('velocity', model, config.joints)
        span = block / rate
        noise = (effort ** 2 / block + 2.0 * (velocity / span * self.stated.unknown[ARMATURE]) ** 2
                 + (1e-3 * self.stated.limit) ** 2)
        spread = np.concatenate([
            [(0.02 * weight) ** 2] * 3, [(0.02 * weight * size) ** 2] * 3,
            (0.01 * self.stated.limit) ** 2])
        # Friction and damping explain each other: they are let go of together.
        groups = [one.split()[0].replace('damping', 'friction') for one in self.names]
        self._group = np.array([sorted(set(groups)).index(group) for group in groups])
        # Errors of mass, its centre and the accelerometer: a wrench on the base that stays.
        errors = config.noise
        self._base_errors = weight * np.repeat(
            [2.0 * np.hypot(errors.mass, errors.accelerometer_bias / GRAVITY),
             max(3.0 * errors.center_of_mass, LEAST_CENTER)], 3)
        self._prior, self._tight, self._wide = self._priors()
        self._x = Learning(
            tree=Tree(model.tree.topology, bare), feet=table, joints=joints, place=self._place,
            at=np.array(starts, np.int64), constants=constants,
            mount=np.concatenate([mount.pose.R.ravel(), mount.pose.p]), noise=noise,
            uncertain=noise.copy(),
            rows=np.zeros((block + 1, row_size)), bodies=body_workspace(model),
            states=np.zeros((nf, N_FOOT_STATE)), jacobian=np.zeros((table.size, nj)),
            grasp=np.zeros((6, table.size)), joint=np.zeros((nj, N_LOCAL + 2)),
            motion=np.zeros((4, nj)), base=np.zeros(9), force=np.zeros(6),
            block=np.zeros((6, 6)), variance=np.zeros((6, 6)),
            regressors=np.zeros((6, n_theta + 3)), spread=spread,
            information=np.zeros((n_theta, n_theta)), right=np.zeros(n_theta),
            lag=np.zeros(3), noisy=np.zeros(2), theta=self._prior.copy(), used=self._prior.copy(),
            misfit=np.zeros(nj), counts=np.zeros(2), heard=np.zeros(nj))
        self._loose, self._rows = np.zeros(n_theta, bool), self._x.rows
        self._period, self._first_ns, self._last_ns = 1.0 / rate, 0, 0
        self._suspicion = np.array([SUSPICION.get(one.split()[0], 1.0) for one in self.names])
        self._joints, self._command = model.joint_names, config.joints or model.joint_names
        self._in_legs = np.isin(np.arange(nj), [j for own in legs for j in own])
        self._kinds = [np.flatnonzero(self._place[:, 0] == at)
                       for at in np.unique(self._place[:, 0])]
        self._usual = effort ** 2 + (USUAL * self.stated.limit) ** 2
        limit = self.stated.limit
        self._typical = np.stack([np.full(nj, 0.7), np.full(nj, 3.0), 0.2 * limit,
                                  np.full(nj, 50.0), 0.3 * limit, np.ones(nj), 5.0 * limit], 1)
        self._block, self._filled, self._blocks = block, 0, 0
        self._delays = [self._place[0, DELAY], n_theta - 1]
        of, by = self._place[:, :, None], self._place[:, None, :]
        self._pairs = np.minimum(of, by), np.maximum(of, by)
        self._working, self._skip = False, 0
        self.seconds, self._swung = 0.0, 0.0
        self._up = np.array([0.0, 0.0, 1.0])
        regress_block(self._x, self._up)    # compiled now, not when the robot walks
        self._x.lag[:] = 0.0
        constants[LOWEST] = LYING * _nominal_height(model, config)
        self._work: Iterator[None] = iter(())
        self._file, self._recalled = file, bool(file) and Path(file).is_file()
        self._recall()
        for _ in self._solve():
            pass

    def _priors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return mean, deviation and deviation of what is not known, of all of theta."""
        n = len(self.names)
        mean, tight, wide = np.zeros(n), np.full(n, np.inf), np.zeros(n)
        value = self.stated.value.copy()
        value[GAIN] = 0.0           # theta has what is missing of it
        for (j, k), at in np.ndenumerate(self._place):
            mean[at] = value[k, j]
            tight[at] = min(tight[at], self.stated.deviation[k, j])
            wide[at] = max(wide[at], self.stated.unknown[k, j] * LOOSER[k])
        mean[-1], tight[-1], wide[-1] = 0.0, IMU_DELAY[0], IMU_DELAY[1]
        of_base = slice(n - 1 - N_BASE, n - 1)
        mean[of_base], tight[of_base] = 0.0, self._base_errors
        tight = np.where(np.isfinite(tight), tight, 1.0)    # where no joint has it
        return mean, tight, np.maximum(wide, tight)

    def take(self, row: np.ndarray, stamp_ns: int) -> bool:
        """
        Take a row of measurements in.

        Parameters
        ----------
        row : (row_size,) array
            As the estimator's kernel has it, as measured.
        stamp_ns : int [ns]
            When.

        Returns
        -------
        bool
            Whether a block is complete, for :meth:`learn`.

        """
        if self._skip > 0:
            self._skip -= 1
            return self._working
        if self._filled > self._block:      # the last block was not learned from
            self._filled = 0
        self._rows[self._filled] = row
        if not self._filled:
            self._first_ns = stamp_ns
        self._last_ns = stamp_ns
        self._filled += 1
        return self._working or self._filled > self._block

    def learn(self, up: Sequence[float] | np.ndarray) -> bool:
        """
        Learn from a block of measurements, or go on with what follows from the last one.

        A new estimate is made in steps, of which each call does one: no call is long.

        Parameters
        ----------
        up : (3,) sequence of float
            Unit normal of the ground, base axes.

        Returns
        -------
        bool
            Whether there is a new estimate.

        """
        if self._filled <= self._block or self._skip > 0:
            self._working = next(self._work, DONE) is not DONE
            return not self._working
        x = self._x
        period = (self._last_ns - self._first_ns) * 1e-9 / self._block
        self._filled = 0
        if not 0.5 < period / self._period < 2.0:       # samples were lost within the block
            return False
        x.constants[PERIOD] = period
        self._up[:] = up
        regress_block(x, self._up)
        self._filled, self._first_ns = 1, self._last_ns
        self._blocks += 1
        span = self._block * period
        self.seconds += span * (1.0 + float(x.constants[SKIPPED]))
        settled = self.seconds > SETTLED
        if settled:     # neighbours say nearly the same: what counts as one is one
            x.constants[SKIPPED] = N_SKIPPED
            self._filled, self._skip = 0, N_SKIPPED * self._block - 1
        span *= 1.0 + x.constants[SKIPPED]
        if self._working or self._blocks * span < SOLVE[0]:
            return False
        swung = float(x.counts[1])
        if not self._swung < swung < SOLVE_OFTEN and self._blocks * span < (
                SOLVE_SETTLED if settled else SOLVE[1]):
            return False
        self._swung = swung
        keep = math.exp(-self._blocks * span / MEMORY)
        for sums in (x.information, x.right, x.noisy, x.lag):
            sums *= keep
        self._blocks = 0
        self._work, self._working = self._solve(), True
        return False

    def keep(self) -> None:
        """
        Write what was learned to the file, with deviations, date and the time it rests on.

        Raises
        ------
        OutputError
            When the file cannot be written.

        """
        if not self._file or not self._x.counts.any():
            return
        known = {'written': datetime.now(timezone.utc).isoformat(timespec='seconds'),
                 'seconds': round(self.seconds, 1), 'parameters': dict(zip(self.names, (
                     [float(value), float(sigma)]
                     for value, sigma in zip(self._theta, self._deviation))))}
        try:
            Path(self._file).write_text(yaml.safe_dump(known, sort_keys=False), encoding='utf-8')
        except OSError as error:
            raise OutputError(f'actuators.file: {self._file} cannot be written: {error}') from None

    def _recall(self) -> None:
        """Begin with what an earlier run has learned of this robot's actuators."""
        if not self._file or not Path(self._file).is_file():
            return
        try:
            kept = yaml.safe_load(Path(self._file).read_text(encoding='utf-8'))['parameters']
            values = np.array([kept[name] for name in self.names], float).reshape(-1, 2)
        except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError):
            raise ConfigurationError(
                f'actuators.file: {self._file} does not hold what was learned of this robot; '
                'delete it, or name another file') from None
        # Friction changes with temperature: it is known half as well as it was.
        weight = 0.25 * values[:, 1] ** -2.0
        self._x.information[...] += np.diag(weight)
        self._x.right[...] += weight * values[:, 0]
        off = np.abs(values[:, 0] - self._prior) > LET_GO * np.hypot(2.0 * values[:, 1],
                                                                      self._tight)
        self._loose |= np.isin(self._group, self._group[off])

    def restart(self) -> None:
        """Start a new block: the next row does not follow the last one."""
        self._filled = self._skip = 0

    def _solve(self) -> Iterator[None]:
        """Make a new estimate; yields where the rest may wait for the next sample."""
        x, n = self._x, len(self._prior)
        deviation = np.where(self._loose, self._wide, self._tight)
        weight = deviation ** -2.0
        delays = self._delays
        factor = _factorized(x.information, weight)
        # What is known of delays given all else; with little data the noise's part of it is not
        # known well enough to be taken off whole.
        columns = lapack.dpotrs(factor, np.eye(n)[delays].T, lower=1)[0]
        known = 1.0 / columns[delays, [0, 1]] - weight[delays]
        corrected = weight.copy()
        corrected[delays] -= np.minimum(x.noisy, LARGEST_NOISE_SHARE * known)
        factor = _factorized(x.information, corrected)
        theta = lapack.dpotrs(factor, x.right + weight * self._prior, lower=1)[0]
        yield
        covariance = lapack.dpotri(factor, lower=1, overwrite_c=1)[0].T     # upper triangle
        variance = np.maximum(covariance.diagonal(), 1e-6 * self._tight ** 2)
        # A stated value is believed until the data pull it away; parameters of one kind are let
        # go of together, and first those that are pulled most.
        pulled = np.abs(theta - self._prior)
        z = pulled / np.sqrt(np.maximum(deviation ** 2 - variance, 0.1 * deviation ** 2))
        z[self._loose | (self._wide <= 1.5 * self._tight)] = 0.0
        worst = int(np.argmax(z * self._suspicion))
        if z[worst] > LET_GO:
            self._loose |= self._group == self._group[worst]
        yield
        # Residuals are of what no parameter explains, not of what is stated wrong.
        free = np.maximum(self._wide, self._tight) ** -2.0
        x.theta[:] = lapack.dpotrs(_factorized(x.information, free),
                                   x.right + free * self._prior, lower=1)[0]
        x.used[:] = theta
        self._theta, self._deviation = theta, np.sqrt(variance)
        local = theta[self._place].T.copy()
        local[GAIN] = 1.0 / (1.0 - np.clip(local[GAIN], -0.5, 0.5))
        self.value = local
        low, high = self._pairs
        self.covariance = covariance[low, high]
        yield
        self._fill_doubt()
        yield
        self._find()

    def _fill_doubt(self) -> None:
        """Say how far torques may be off: by parameters, and by what no parameter explains."""
        x = self._x
        # Gains and offsets are among the noise that the configuration states.
        stays = np.ones(N_LOCAL)
        stays[[GAIN, OFFSET]] = 0.0
        doubt = self.covariance * stays * stays[:, None]
        left = np.where(x.heard > 0.0, np.maximum(x.misfit - self._usual, 0.0), np.nan)
        for kind in self._kinds:        # what shows in one leg is likely so in its like
            known = left[kind][np.isfinite(left[kind])]
            doubt[kind, OFFSET, OFFSET] += known.mean() if len(known) else 0.0
        self.doubt = doubt
        size = self._typical
        if self.seconds > 0.0:
            now = np.abs(x.joint[:, :N_LOCAL])
            moves = np.isfinite(now).all(axis=1) & (np.abs(now[:, 1]) > 0.3)
            size[moves] += 0.1 * (now[moves] - size[moves])
        self.torque_variance = (np.einsum('jk,jkk->j', size ** 2, doubt)
                                + self.value[FRICTION] ** 2)

    @property
    def walks(self) -> bool:
        """Whether a leg has swung, or an earlier run is remembered."""
        return bool(self._x.counts[1] > 0.0) or self._recalled

    @property
    def effort_age(self) -> float:
        """How old efforts are taken to be [s]: as stated until data say otherwise."""
        stated = float(self.stated.value[DELAY, 0])
        if not self._loose[self._place[0, DELAY]]:
            return stated
        return max(float(self._theta[self._place[0, DELAY]]) + ZERO_DELAY, 0.0)

    @property
    def imu_late(self) -> float:
        """How late the IMU's readings are found to be [s]."""
        return float(self._theta[-1]) + ZERO_IMU

    def _find(self) -> None:
        """Compare what was learned with what is stated."""
        found: list[ActuatorFinding] = []
        stated, names = self.stated, self._joints
        speed = self._typical[:, DAMPING]
        for row, code, least in (
                (FRICTION, codes.FRICTION_MISSTATED,
                 LEAST[0] * stated.limit + 0.2 * stated.value[FRICTION]),
                (ARMATURE, codes.ARMATURE_MISSTATED,
                 LEAST[1] * stated.limit + 0.6 * stated.value[ARMATURE]),
                (GAIN, codes.GAIN_MISSTATED, np.full(len(names), LEAST[2]))):
            sigma = np.sqrt(np.maximum(self.covariance[:, row, row], 0.0))
            off = self.value[row] - stated.value[row]
            if row == FRICTION:     # friction and damping trade places: their sum at usual speed
                off += speed * (self.value[DAMPING] - stated.value[DAMPING])
                S = self.covariance
                sigma = np.sqrt(np.maximum(S[:, 0, 0] + 2.0 * speed * S[:, 0, 1]
                                           + speed ** 2 * S[:, 1, 1], 0.0))
            off = np.abs(off)
            if row == GAIN:     # of a joint that carries little it shows badly, and does nothing
                off = np.where(off * self._typical[:, GAIN] > CARRIES * stated.limit, off, 0.0)
            if row == ARMATURE:     # likewise of a joint that hardly accelerates
                off = np.where(off * self._typical[:, ARMATURE] > ACCELERATES * stated.limit,
                               off, 0.0)
            bad = (off > least) & (off > CERTAIN * sigma) & self._in_legs
            if bad.any():
                worst = int(np.argmax(np.where(bad, off / sigma, 0.0)))
                value = 1.0 / self.value[row] if row == GAIN else np.maximum(self.value[row], 0.0)
                found.append(ActuatorFinding(
                    code, tuple(names[j] for j in np.flatnonzero(bad)), PARAMETERS[row],
                    float(self.value[row, worst]), float(sigma[worst]), UNITS[row],
                    f'{KEYS[row]}: {self._as_list(value)}'))
        stated_age = float(stated.value[DELAY, 0])
        for code, value, sigma, was, key, least_delay in (
                (codes.EFFORT_LATE, self._theta[self._place[0, DELAY]] + ZERO_DELAY,
                 self._deviation[self._place[0, DELAY]], stated_age, 'noise.effort_age',
                 LEAST_DELAY),
                (codes.IMU_LATE, self.imu_late, self._deviation[-1], 0.0,
                 'robot.sensors.imu_delay', LEAST_IMU_DELAY)):
            if value - was > max(least_delay, CERTAIN * sigma):
                found.append(ActuatorFinding(code, (), 'delay', float(value), float(sigma), 's',
                                             f'{key}: {value:.4f}'))
        self.findings = tuple(found)
        self.faults = sum(one.fault for one in found)

    def _as_list(self, values: np.ndarray) -> str:
        """Return values of joints as a YAML list in command order."""
        order = [self._joints.index(name) for name in self._command]
        return f'[{", ".join(f"{values[j]:.3g}" for j in order)}]'


@dataclass(frozen=True)
class ActuatorFinding:
    """
    Something that a configuration states otherwise than it is.

    Attributes
    ----------
    fault : int
        Bit of `ground_reaction.Fault`.
    joints : tuple of str
        Joints concerned; none for all.
    parameter : str
        One of `model.actuators.PARAMETERS`.
    amount, deviation : float
        What it is, of the joint that shows it most, and one standard deviation.
    unit : str
    line : str
        What to write into the robot's YAML.

    """

    fault: int
    joints: tuple[str, ...]
    parameter: str
    amount: float
    deviation: float
    unit: str
    line: str

    def __str__(self) -> str:
        """Return it in a sentence."""
        where = f' of {", ".join(self.joints)}' if self.joints else ''
        scale, unit = (1e3, 'ms') if self.unit == 's' else (1.0, self.unit)
        size = f'{scale * self.amount:.3g} +- {scale * self.deviation:.2g} {unit}'.strip()
        return f'{self.parameter.replace("_", " ")}{where}: {size}; write {self.line}'


def _factorized(information: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor of a matrix given by its upper triangle, with more diagonal."""
    full = information.T.copy(order='F')        # its lower triangle, as LAPACK stores it
    full[np.diag_indices(len(more))] += more
    factor, wrong = lapack.dpotrf(full, lower=1, overwrite_a=1, clean=0)
    if wrong:       # cannot be, but for rounding
        return _factorized(information, more + 1e-6 * np.abs(information).max())
    return factor


def _leg_joints(model: RobotModel, table: FeetTable) -> list[list[int]]:
    """Return the joints that move each foot and no other, and are no masters of others."""
    chains = [[b - 1 for b in model.chain(int(body))] for body in table.index[:, 0]]
    shared = {j for j in range(model.n_joints) if sum(j in chain for chain in chains) > 1}
    shared |= set(model.mimics.follower_v) | set(model.mimics.master_v)
    return [[j for j in chain if j not in shared] for chain in chains]


def _leg_length(model: RobotModel, config: RobotConfig) -> float:
    feet = frame_poses(model, config.nominal_in(model), tuple(f.link for f in config.feet))
    return max(float(np.median([np.linalg.norm(pose.p) for pose in feet.values()])), 0.02)


def _nominal_height(model: RobotModel, config: RobotConfig) -> float:
    """Return how high the base is over its lowest foot in the nominal posture, level [m]."""
    feet = frame_poses(model, config.nominal_in(model), tuple(f.link for f in config.feet))
    return -min(float(pose.p[2]) for pose in feet.values())


def _places(model: RobotModel, config: RobotConfig, table: FeetTable
            ) -> tuple[np.ndarray, list[str]]:
    """Return where each joint's parameters are in theta, and names of theta's elements."""
    nj = model.n_joints
    limits = model.effort_limits
    kind: list[tuple] = [('none',)] * nj        # of joints that move no foot
    gain_of = np.zeros(nj, np.int64)
    for own in _leg_joints(model, table):
        for n, j in enumerate(own):
            kind[j] = (n, len(own), float(limits[j]), model.joints[j].kind)
    moving = [j for j in range(nj) if kind[j] != ('none',)]
    gain_of[moving] = 1 + np.arange(len(moving))
    kinds = list(dict.fromkeys(kind))
    place = np.zeros((nj, N_LOCAL), np.int64)
    names: list[str] = []
    for k, name in enumerate(PARAMETERS):
        if name == 'delay':
            place[:, k] = len(names)
            names.append(name)
        elif name in ('gain', 'offset'):
            place[:, k] = len(names) + gain_of
            names += [f'{name} others', *(f'{name} {model.joint_names[j]}' for j in moving)]
        else:
            place[:, k] = [len(names) + kinds.index(one) for one in kind]
            names += [f'{name} {one}' for one in kinds]
    names += [f'base {axis}' for axis in ('fx', 'fy', 'fz', 'mx', 'my', 'mz')]
    names.append('imu_delay')
    return place, names
