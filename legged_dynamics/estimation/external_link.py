# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The link that is pushed: where an external wrench acts, and what it does to joints and base.

The tracked wrench e acts at a point p of a link, axes of the base. At the base's origin that is
``A_e e`` with ``A_e = [1, 0; [p]x, 1]``; the joints between base and link feel ``J_e^T e``.
Without a named link p is the base's origin, and no joint feels it.

Arguments of the kernels: see ``estimation/__init__.py``.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from legged_dynamics.dynamics.kinematics import POSITION, ROTATION
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.fusion import joint_information
from legged_dynamics.estimation.layout import BEYOND, N_BESIDE, VECTOR, WEIGHTS
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.tree import JOINT, PARENT, PRISMATIC, V_START
from legged_dynamics.optimization.cholesky import factorize, solve_factorized
from legged_dynamics.spatial.algebra import (
    ZERO,
    add,
    compose,
    cross,
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

# Its deviation where nobody states one, of the weight, and how long it lasts [s].
EXTERNAL_FORCE, EXTERNAL_TIME = 0.0011, 0.5
# Its deviation along what neither joints nor base see of a push near a foot, of the weight.
LARGE_PUSH = 0.3


def external_settings(model: RobotModel, feet: Sequence[str], link: str, point: Sequence[float],
                      force: float, moment: float, length: float) -> dict[str, Any]:
    """
    Return what the kernel is told of the link that is pushed, by the name of its setting.

    Parameters
    ----------
    model : RobotModel
        The robot.
    feet : sequence of str
        Their links.
    link : str
        That is pushed; empty: the base.
    point : (3,) sequence of float [m]
        Where, in its axes.
    force, moment : float [N, N m]
        Standard deviations; 0: from the weight.
    length : float [m]
        Moment over force.

    Raises
    ------
    UnknownNameError
        When the model has no such link.
    ConfigurationError
        When the point does not have three values.

    """
    if len(point) != 3:
        raise ConfigurationError('external.point: expected 3 values (x, y, z in the axes of '
                                 f'external.link), got {len(point)}')
    frame = model.frame(link or model.base_link)
    on_leg = any(set(model.chain(frame.body)) & set(model.chain(model.frame(foot).body))
                 for foot in feet) if frame.body > 0 else False
    force = force or EXTERNAL_FORCE * model.total_mass * GRAVITY
    return {'external_body': frame.body if link or any(point) else -1,
            'R_external': frame.pose.R.ravel(),
            'p_external': frame.pose.p + frame.pose.R @ np.asarray(point),
            'external_on_leg': float(on_leg),
            'external_force': force, 'external_moment': moment or force * length}


def let_bear_external(model: RobotModel, body: int, columns: np.ndarray,
                      mimics: np.ndarray) -> None:
    """Let joints that carry a link bear its external wrench: `layout.Robot.columns` and mimics."""
    columns[:, -1] = columns[:, 0]
    carrying = {b - 1 for b in model.chain(body)} if body > 0 else set()
    for follower, master in mimics.tolist():
        if follower in carrying:
            carrying = (carrying - {follower}) | {master}
    beside = columns.shape[1] - 2 - N_BESIDE + np.arange(N_BESIDE)
    for joint in carrying:
        count = columns[joint, 0]
        columns[joint, 1 + count:1 + count + N_BESIDE] = beside
        columns[joint, -1] = count + N_BESIDE


@part
def fade_external(x, P, dt):
    """Let the external wrench decay towards nothing for a tick."""
    nx = x.shape[0]
    keep = 1.0 - min(dt / EXTERNAL_TIME, 1.0)
    for j in range(nx - N_BESIDE, nx - N_BESIDE + 6):
        x[j] *= keep
        for k in range(nx):
            P[j, k] *= keep
            P[k, j] *= keep


@part
def about_point(grasp, found, nc, k, left, spread):
    """Return what an equation of the base leaves, and its variance, about the external point."""
    if k < 3:
        found[k], found[3 + k] = left, spread
        return left, spread
    for c in range(3):
        left -= grasp[k, nc + c] * found[c]
        spread += grasp[k, nc + c] ** 2 * found[3 + c]
    return left, spread


@part
def push_through_leg(robot, settings, scratch, tracking, joints, beyond, deviation):
    """
    Turn what the base's equations leave into the force on a link that a foot's joints carry.

    With the foot as its joints see it such a force e leaves ``M e``, ``M = A_e - A N^-1 B`` with
    ``N = J R^-1 J^T`` and ``B = J R^-1 J_e^T`` of lasting variances R: what looks like the foot's
    force does not show. The joints themselves say ``J_e R^-1 J_e^T - B^T N^-1 B`` of e.

    ``joints`` equations are of joints. The force of ``beyond``, what is left about the point, is
    replaced by e and its moment by none; the force's ``deviation`` by that of e.
    """
    nc, vectors, rows = robot.prior.shape[0], scratch.vectors, tracking.rows
    jacobian, grasp, information = scratch.jacobian, scratch.grasp, scratch.information
    weights, B, M = vectors[WEIGHTS], tracking.few, tracking.block
    for j in range(robot.columns.shape[0]):
        weights[j] = vectors[BEYOND, j] = 0.0
    for r in range(joints):
        weights[rows[r] - 6] = 1.0 / tracking.steady[0, r]
    joint_information(robot.columns, jacobian, vectors[BEYOND], weights, robot.prior, information,
                      vectors[VECTOR])
    if not factorize(information, nc):
        return
    known = tracking.ahead      # e's information, and what `beyond` says of it
    nothing = (LARGE_PUSH * settings.weight) ** -2
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
def push_at_link(tree, settings, bodies, nc, jacobian, grasp):
    """Fill rows and columns of the external wrench, behind the feet's; return its point."""
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
def describe_push(layout, settings, bodies, point, out):
    """Fill the wrench in the link's axes; move the one in the base's to the base's origin."""
    f, m = load3(out, layout.external_wrench), load3(out, layout.external_wrench + 3)
    s, t = load3(out, layout.external_deviation), load3(out, layout.external_deviation + 3)
    store3(out, layout.link_point, point)
    body = settings.external_body
    if body < 0:
        for k in range(6):
            out[layout.link_wrench + k] = out[layout.external_wrench + k]
            out[layout.link_deviation + k] = out[layout.external_deviation + k]
        return
    R = compose(load9(bodies[body], ROTATION), load9(settings.R_external, 0))
    store3(out, layout.link_wrench, rotate_back(R, f))
    store3(out, layout.link_wrench + 3, rotate_back(R, m))
    store3(out, layout.link_deviation, turned_deviation(R, s))
    store3(out, layout.link_deviation + 3, turned_deviation(R, t))
    store3(out, layout.external_wrench + 3, add(m, cross(point, f)))
    x, y, z = point
    store3(out, layout.external_deviation + 3,
           (math.sqrt(t[0] ** 2 + (y * s[2]) ** 2 + (z * s[1]) ** 2),
            math.sqrt(t[1] ** 2 + (z * s[0]) ** 2 + (x * s[2]) ** 2),
            math.sqrt(t[2] ** 2 + (x * s[1]) ** 2 + (y * s[0]) ** 2)))


@part
def turned_deviation(R, s):
    """Return deviations along a link's axes of what is independent along the base's."""
    return (math.sqrt((R[0] * s[0]) ** 2 + (R[3] * s[1]) ** 2 + (R[6] * s[2]) ** 2),
            math.sqrt((R[1] * s[0]) ** 2 + (R[4] * s[1]) ** 2 + (R[7] * s[2]) ** 2),
            math.sqrt((R[2] * s[0]) ** 2 + (R[5] * s[1]) ** 2 + (R[8] * s[2]) ** 2))
