# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The external wrench on the base or on another link: a push, a pull, a hand on the robot.

The equations of the base, with the feet's forces as their own joints see them, leave a wrench: a
push, or slowly varying errors of torques, accelerometer and model. The filter's external wrench
has little process noise unless what is left is too large for such errors: by a few samples at
once, or by a mean over a tenth of a second. The published wrench is the filter's and, until a push
is found, the mean of what the filter does not follow; its deviation is that of slowly varying
errors and of the mean.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from legged_dynamics.dynamics.jacobians import START
from legged_dynamics.dynamics.kinematics import POSITION, ROTATION
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.filter.layout import BEYOND, VECTOR, WEIGHTS
from legged_dynamics.estimation.filter.memory import N_EXTRA, PUSH
from legged_dynamics.estimation.filter.normal_equations import joint_information, solve_foot_alone
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.parts import JOINT, PARENT, PRISMATIC, V_START
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.optimization.factorizations import factorize, solve_factorized
from legged_dynamics.spatial.algebra import (
    ZERO,
    add,
    add_scaled,
    compose,
    cross,
    dot,
    load3,
    load9,
    rotate,
    rotate_back,
    store3,
    subtract,
    symmetric_times,
    z_axis,
)
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.symmetric import inverse_symmetric

# -------------------------------------------------------------------------------------------------
# The link that is pushed.
#
# The external wrench e acts at a point p of a link, axes of the base. At the base's origin that is
# ``A_e e`` with ``A_e = [1, 0; [p]x, 1]``; the joints between base and link have ``J_e^T e``.
# Without a named link p is the base's origin, and no joint has a part in it.


# Its deviation unless one is stated, of the weight.
EXTERNAL_FORCE = 0.0011


def external_settings(model: RobotModel, feet: Sequence[str], link: str, point: Sequence[float],
                      force: float, moment: float, length: float) -> dict[str, Any]:
    """
    Return the settings of the pushed link, by the names that kernels use.

    ``link`` empty: the base; ``force``, ``moment``: standard deviations, 0: from the
    weight.
    """
    if len(point) != 3:
        raise ConfigurationError('external.point: expected 3 values (x, y, z in the axes of '
                                 f'external.link), got {len(point)}')
    frame = model.frame(link or model.base_link)
    on_leg = any(set(model.chain(frame.body)) & set(model.chain(model.frame(foot).body))
                 for foot in feet) if frame.body > 0 else False
    force = force or EXTERNAL_FORCE * model.total_mass * GRAVITY
    # The body that is pushed, -1 for the base; the link's orientation on it, where that acts [m].
    return {'external_body': frame.body if link or any(point) else -1,
            'R_external': frame.pose.R.ravel(),
            'p_external': frame.pose.p + frame.pose.R @ np.asarray(point),
            'external_on_leg': float(on_leg),
            'external_force': force, 'external_moment': moment or force * length}


def add_external_columns(model: RobotModel, body: int, columns: np.ndarray,
                         mimics: np.ndarray) -> None:
    """
    Add the external wrench to the state elements of joints between base and link.

    ``body`` of the pushed link, 0 or less for the base; ``columns`` (`Robot.columns`) is
    written.
    """
    columns[:, -1] = columns[:, 0]
    between = {b - 1 for b in model.chain(body)} if body > 0 else set()
    for follower, master in mimics.tolist():
        if follower in between:
            between = (between - {follower}) | {master}
    external = columns.shape[1] - 2 - N_EXTRA + np.arange(N_EXTRA)
    for joint in between:
        count = columns[joint, 0]
        columns[joint, 1 + count:1 + count + N_EXTRA] = external
        columns[joint, -1] = count + N_EXTRA


@part
def predict_external(settings, x, P, dt):
    """Predict the external wrench in ``x``, ``P``: it decays towards zero."""
    nx = x.shape[0]
    keep = 1.0 - min(dt / settings.external_time, 1.0)
    for j in range(nx - N_EXTRA, nx - N_EXTRA + 6):
        x[j] *= keep
        for k in range(nx):
            P[j, k] *= keep
            P[k, j] *= keep


@part
def _about_point(grasp, found, nc, k, left, spread):
    """Return the rest of an equation of the base, and its variance, about the external point."""
    if k < 3:
        found[k], found[3 + k] = left, spread
        return left, spread
    for c in range(3):
        left -= grasp[k, nc + c] * found[c]
        spread += grasp[k, nc + c] ** 2 * found[3 + c]
    return left, spread


@part
def _force_on_leg(robot, settings, scratch, tracking, joints, beyond, deviation):
    """
    Convert the base's residual to the force e on a leg's link, replacing ``beyond``.

    Residual ``M e``, ``M = A_e - A N^-1 B``, ``N = J R^-1 J^T``, ``B = J R^-1 J_e^T``, R:
    variances of slow errors. The joints' information is ``J_e R^-1 J_e^T - B^T N^-1 B``.
    """
    nc, vectors, rows = robot.prior.shape[0], scratch.vectors, tracking.rows
    jacobian, grasp, information = scratch.jacobian, scratch.grasp, scratch.information
    weights, B, M = vectors[WEIGHTS], tracking.foot_rows, tracking.block
    for j in range(robot.columns.shape[0]):
        weights[j] = vectors[BEYOND, j] = 0.0
    for r in range(joints):
        weights[rows[r] - 6] = 1.0 / tracking.slow_variance[0, r]
    joint_information(robot.columns, jacobian, vectors[BEYOND], weights, robot.prior, information,
                      vectors[VECTOR])
    if not factorize(information, nc):
        return
    known = tracking.sensor_rows    # information of e, and its right side by `beyond`
    nothing = (settings.large_push * settings.weight) ** -2
    for c in range(3):
        for r in range(nc + 3):
            total = 0.0
            for j in range(robot.columns.shape[0]):
                total += weights[j] * jacobian[r, j] * jacobian[nc + c, j]
            B[c, r] = B[3 + c, r] = total
        solve_factorized(information, nc, B[c])
    for c in range(3):
        for k in range(6):
            total = grasp[k, nc + c]
            for r in range(nc):
                total -= grasp[k, r] * B[c, r]
            for m in range(3 if k > 2 else 0):
                total -= grasp[k, nc + m] * M[m, c]
            M[k, c] = total
    for c in range(3):
        known[c, 3] = 0.0
        for k in range(6):
            known[c, 3] += M[k, c] * beyond[k] / deviation[k] ** 2
        for m in range(3):
            total = B[3 + c, nc + m] + (nothing if c == m else 0.0)
            for r in range(nc):
                total -= B[3 + c, r] * B[m, r]
            for k in range(6):
                total += M[k, c] * M[k, m] / deviation[k] ** 2
            known[c, m] = total
    C = inverse_symmetric((known[0, 0], known[0, 1], known[0, 2], known[1, 1], known[1, 2],
                           known[2, 2]))
    store3(beyond, 0, symmetric_times(C, (known[0, 3], known[1, 3], known[2, 3])))
    store3(beyond, 3, ZERO)
    store3(deviation, 0, (math.sqrt(C[0]), math.sqrt(C[3]), math.sqrt(C[5])))


@part
def external_jacobian(tree, settings, bodies, nc, jacobian, grasp):
    """Fill the external wrench's columns; return its point of action, base axes [m]."""
    point, body = ZERO, settings.external_body
    if body >= 0:
        R = load9(bodies[body], ROTATION)
        point = add(load3(bodies[body], POSITION), rotate(R, load3(settings.p_external, 0)))
    for r in range(6):
        for c in range(6):
            grasp[r, nc + c] = 1.0 if r == c else 0.0
    x, y, z = point
    store3(grasp[3], nc, (0.0, -z, y))
    store3(grasp[4], nc, (z, 0.0, -x))
    store3(grasp[5], nc, (-y, x, 0.0))
    topology = tree.topology
    while body > 0:
        column = topology[body, V_START]
        axis = z_axis(load9(bodies[body], ROTATION))
        arm = subtract(point, load3(bodies[body], POSITION))
        prismatic = topology[body, JOINT] == PRISMATIC
        linear = axis if prismatic else cross(axis, arm)
        for r in range(3):
            jacobian[nc + r, column] = linear[r]
            jacobian[nc + 3 + r, column] = 0.0 if prismatic else axis[r]
        body = topology[body, PARENT]
    return point


@part
def write_link_wrench(settings, bodies, found):
    """Fill the wrench in link axes; move that in base axes to the base's origin."""
    f, m = load3(found.wrench, 0), load3(found.wrench, 3)
    s, t = load3(found.deviation, 0), load3(found.deviation, 3)
    point, body = load3(found.link_point, 0), settings.external_body
    if body < 0:
        for k in range(6):
            found.link_wrench[k] = found.wrench[k]
            found.link_deviation[k] = found.deviation[k]
        return
    R = compose(load9(bodies[body], ROTATION), load9(settings.R_external, 0))
    store3(found.link_wrench, 0, rotate_back(R, f))
    store3(found.link_wrench, 3, rotate_back(R, m))
    store3(found.link_deviation, 0, _rotated_deviation(R, s))
    store3(found.link_deviation, 3, _rotated_deviation(R, t))
    store3(found.wrench, 3, add(m, cross(point, f)))
    x, y, z = point
    store3(found.deviation, 3,
           (math.sqrt(t[0] ** 2 + (y * s[2]) ** 2 + (z * s[1]) ** 2),
            math.sqrt(t[1] ** 2 + (z * s[0]) ** 2 + (x * s[2]) ** 2),
            math.sqrt(t[2] ** 2 + (x * s[1]) ** 2 + (y * s[0]) ** 2)))


@part
def _rotated_deviation(R, s):
    """Return deviations along a link's axes of errors that are independent along the base's."""
    return (math.sqrt((R[0] * s[0]) ** 2 + (R[3] * s[1]) ** 2 + (R[6] * s[2]) ** 2),
            math.sqrt((R[1] * s[0]) ** 2 + (R[4] * s[1]) ** 2 + (R[7] * s[2]) ** 2),
            math.sqrt((R[2] * s[0]) ** 2 + (R[5] * s[1]) ** 2 + (R[8] * s[2]) ** 2))


# -------------------------------------------------------------------------------------------------
# Pushes and slowly varying errors.


@part
def slow_push_variance(robot, settings, scratch, tracking, joints, n):
    """Fill ``tracking.push_variance[:6]``: external wrench variance by slow errors."""
    feet, vectors, rows = robot.feet, scratch.vectors, tracking.rows
    steady = tracking.slow_variance[0]
    for j in range(robot.columns.shape[0]):
        vectors[WEIGHTS, j] = vectors[BEYOND, j] = 0.0
    for r in range(joints):
        # A torque that is less noisy than stated may have the stated offset all the same.
        j = rows[r] - 6
        stated = robot.stated_noise[robot.columns.shape[0] + j]
        quieter = max(stated * stated - robot.effort_variance[j], 0.0)
        vectors[WEIGHTS, j] = 1.0 / (steady[r] + settings.offset_share ** 2 * quieter)
    joint_information(robot.columns, scratch.jacobian, vectors[BEYOND], vectors[WEIGHTS],
                      robot.prior, scratch.information, vectors[VECTOR])
    for r in range(joints, n):
        tracking.push_variance[rows[r]] = steady[r]
    for i in range(feet.index.shape[0]):
        s = feet.index[i, START]
        _, C = solve_foot_alone(feet, i, scratch.information, vectors[VECTOR])
        for k in range(6):
            arm = load3(scratch.grasp[k], s)
            tracking.push_variance[k] += dot(arm, symmetric_times(C, arm))


@part
def _variance_about_point(grasp, slow, nc, k):
    """Return the variance of component k of the wrench about the point where it acts."""
    total = slow[k]
    if k > 2:
        for c in range(3):
            total += grasp[k, nc + c] ** 2 * slow[c]
    return total


@part
def sample_weight(settings, slow, k):
    """Return the weight, 0 to 1, of a sample for wrench component k."""
    unit = settings.unsure_push * settings.weight * (1.0 if k < 3 else settings.arm)
    return 1.0 / (1.0 + slow / (unit * unit))


@part
def _push_process_noise(settings, push, push_variance, k, off, spread, slow, dt):
    """
    Return the process noise of component k of the wrench in a tick of a push, a variance; else 0.

    ``off``: the wrench of this sample, and the part that the filter does not follow;
    ``spread`` the variance of both by errors of a sample, ``slow`` by slowly varying ones.
    """
    whole, left = off
    # An error that is slow is no push before it is one of so many deviations.
    deviation = math.sqrt(spread + (settings.slow_level / settings.push_level) ** 2 * slow)
    share, opened = 1.0 / settings.push_samples, False
    # The whole wrench shows that there is a push, the rest that a push has changed.
    for at, size in ((PUSH.whole, whole), (PUSH.change, left)):
        score = min(max(size / deviation, -settings.slow_level), settings.slow_level)
        push[k, at] += share * (score - push[k, at])
        opened = opened or math.fabs(push[k, at]) > settings.push_level
    share = min(dt / settings.beyond_time, 1.0)
    limit = settings.slow_level * math.sqrt(spread + slow)
    push[k, PUSH.beyond] += (share * sample_weight(settings, slow, k)
                             * min(max(left - push[k, PUSH.beyond], -limit), limit))
    # Differences of noisy velocities are undone in the next one: the mean keeps its ends.
    push_variance[N_EXTRA + k] = spread * share * share / (2.0 - share)
    level = settings.slow_level * math.sqrt(slow + push_variance[N_EXTRA + k])
    slow_part = max(math.fabs(push[k, PUSH.beyond]),
                math.fabs(push[k, PUSH.beyond] + whole - left))
    opened = opened or slow_part > level
    rate = settings.push_rate * settings.weight * (1.0 if k < 3 else settings.arm)
    return rate * rate * dt if opened else 0.0


@part
def external_process_noise(feet, settings, scratch, tracking, memory, joints, n, dt):
    """
    Fill the external wrench's process noise in a tick; return whether it is a push.

    Row VECTOR: foot forces that their joints add to the predicted ones, with variances
    in ``tracking.foot_rows[0]``.
    """
    x, P, grasp = memory.forces.state, memory.forces.covariance, scratch.grasp
    force, push = scratch.vectors[VECTOR], memory.push
    nx, S, process_noise = x.shape[0], tracking.noise, tracking.process_noise
    nc, variance, pushed = nx - N_EXTRA, tracking.foot_rows[0], False
    for k in range(6):
        deviation = settings.external_force if k < 3 else settings.external_moment
        process_noise[nc + k] = 2.0 / settings.external_time * deviation ** 2 * dt
        if n > joints:
            # The base's equation with the feet taken as their joints see them.
            r = joints + k
            left, spread = tracking.innovation[r], S[r, r] + P[nc + k, nc + k]
            for i in range(feet.index.shape[0]):
                s = feet.index[i, START]
                for m in range(3):
                    left -= grasp[k, s + m] * force[s + m]
                    spread += grasp[k, s + m] ** 2 * variance[s + m]
            tracking.unexplained[k] = left
            for c in range(nc, nx):
                tracking.unexplained[k] += grasp[k, c] * x[c]
            if settings.external_body >= 0:
                left, spread = _about_point(grasp, tracking.vector, nc, k, left, spread)
            slow = _variance_about_point(grasp, tracking.push_variance, nc, k)
            more = _push_process_noise(
                settings, push, tracking.push_variance, k, (left + x[nc + k], left), spread,
                slow, dt)
            process_noise[nc + k], pushed = max(process_noise[nc + k], more), pushed or more > 0.0
    return pushed


@part
def slow_share(process_noise, variance):
    """Return the share of its gain by which a slow innovation moves the wrench."""
    # It recurs in every tick, so it may fill only what the tick's process noise has opened.
    return min(0.5 * process_noise / variance, 1.0) if variance > 0.0 else 1.0


@part
def write_external(robot, settings, scratch, tracking, push, joints, base_known, found):
    """Write the external wrench and its deviation into ``found``."""
    grasp, now, covariance = scratch.grasp, tracking.latest, tracking.latest_covariance
    nc, pushed = now.shape[0] - N_EXTRA, False
    for k in range(6):      # the filter follows all of a push
        scores = math.fabs(push[k, PUSH.whole]), math.fabs(push[k, PUSH.change])
        pushed = pushed or max(scores[0], scores[1]) > settings.push_level
    beyond = tracking.vector
    for k in range(6):
        beyond[k] = push[k, PUSH.beyond]
        variance = max(covariance[nc + k, nc + k], 0.0)
        if base_known:
            variance = (_variance_about_point(grasp, tracking.push_variance, nc, k)
                        + tracking.push_variance[N_EXTRA + k])
        found.deviation[k] = math.sqrt(variance)
    if base_known and settings.external_on_leg > 0.5:
        _force_on_leg(robot, settings, scratch, tracking, joints, beyond, found.deviation)
    for k in range(6):
        wrench, deviation = now[nc + k], found.deviation[k]
        # During a push the rest belongs to it only where slowly varying errors do not explain it.
        if base_known and (not pushed or math.fabs(beyond[k]) > settings.slow_level * deviation):
            wrench += beyond[k]
        found.wrench[k] = wrench


# -------------------------------------------------------------------------------------------------
# The error of the base's mass and first moments: a payload, for example.
#
# The base's equations, with the feet's forces as their own joints see them, leave B m with the
# mass parameters m = [dm; dm c]. Recursive least squares with a forgetting time of seconds finds
# m; an offset of a torque looks the same, so m counts only where it is larger than offsets could
# make it.


@part
def mass_columns(a, columns):
    """Fill the base wrench (6, 4) by errors of mass and first moments; ``a``: base axes."""
    for k in range(3):
        columns[k, 0] = -a[k]
    columns[3, 2], columns[3, 3] = -a[2], a[1]
    columns[4, 1], columns[4, 3] = a[2], -a[0]
    columns[5, 1], columns[5, 2] = -a[1], a[0]


@part
def mean_mass_columns(settings, a, mean_acceleration, columns, dt):
    """Fill `mass_columns` by the mean acceleration up to the last tick; update the mean."""
    mean = load3(mean_acceleration, 0)
    mass_columns(mean, columns)
    share = min(dt / settings.steady_time, 1.0)
    store3(mean_acceleration, 0, add_scaled(mean, share, subtract(a, mean)))


@part
def feet_carry_weight(feet, settings, up, probability, x):
    """Return whether feet that surely stand bear most of the weight; ``up``: base axes."""
    # Otherwise the robot is held up or in free fall, and its mass cannot be known.
    total = 0.0
    for i in range(feet.index.shape[0]):
        total += probability[i] * dot(up, load3(x, feet.index[i, START]))
    return total > settings.carried * settings.weight


@part
def update_mass_error(settings, tracking, mass, pushed, dt):
    """
    Update the base's mass and first moment errors by recursive least squares.

    By ``tracking.mass_columns`` of `mean_mass_columns`, and what is ``unexplained`` with its
    slow variance.
    """
    columns, left, slow = tracking.mass_columns, tracking.unexplained, tracking.push_variance
    equations, error, weight, block = mass.equations, mass.error, tracking.vector, tracking.block
    keep = 1.0 - min(dt / settings.mass_time, 1.0)
    g2, arm2 = settings.gravity ** 2, settings.arm * settings.arm
    share = settings.pushed_share * dt if pushed else dt
    for e in range(6):
        weight[e] = share * sample_weight(settings, slow[e], e) / (1.0 if e < 3 else arm2)
    for r in range(4):
        for c in range(5):
            total = 0.0
            for e in range(6):
                other = left[e] if c == 4 else columns[e, c]
                total += weight[e] * columns[e, r] * other
            equations[r, c] = keep * equations[r, c] + total
            if c < 4:
                block[r, c] = equations[r, c]
        block[r, r] += settings.steady_time * g2 / (1.0 if r == 0 else arm2)
        error[r] = equations[r, 4]
    if not factorize(block, 4):
        return
    solve_factorized(block, 4, error)
    for r in range(4):
        information, variance = 1e-12 * g2, 0.0
        for e in range(6):
            information += columns[e, r] ** 2
            variance += columns[e, r] ** 2 * slow[e]
        t = (error[r] * information / settings.significant) ** 4 / max(variance * variance, 1e-300)
        error[r] *= t / (1.0 + t)
