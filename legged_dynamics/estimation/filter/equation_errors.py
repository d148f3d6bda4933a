# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Covariance of the errors of an instant's equations, in a sample and over longer times.

The equations are those of the base (0 to 5) and of each joint (6 + j). Sources of error:

* joint and angular accelerations, differences of noisy velocities: the mass matrix takes the error
  of one joint into the equations of its whole branch and of the base;
* the accelerometer, whose mean over a tick is not that of its two readings when a foot has an
  impact in between: that error lies along the jump of the reading, and is a share of it;
* measured torque, dry friction near rest, the torque of an end stop while the joint touches it,
  and errors of the base's model.

The first two are errors of motion: ``M d``, with ``d`` the error of the accelerations. ``rows``
are the n equations that hold, ``mass`` their right sides and mass matrix.
"""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.dynamics.composite_body import composite_inertias, fill_mass_matrix
from legged_dynamics.dynamics.kinematics import place_inertias
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED
from legged_dynamics.estimation.filter.layout import (
    ACCEL,
    DOUBT,
    N_DOUBT,
    N_RIGHT_SIDES,
    SLIPPING,
)
from legged_dynamics.estimation.filter.memory import EFFORT
from legged_dynamics.model.parts import FRICTION, JOINT, PRISMATIC
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import cross, dot, load3
from legged_dynamics.spatial.jit import part

# The accelerometer's mean over a tick with an impact is anywhere between the readings of its ends.
# Ball feet: the square of the tick over this time [s], for the mean of both readings, wrong as it
# is of the tick, foretells the force of a landing ball.
JUMP_TIME = 0.02
LARGEST_JUMP_SHARE = math.sqrt(1.0 / 12.0)
# Variance of dry friction at rest over its square: it is anywhere within its bounds.
STUCK = 1.0 / 3.0
# Time after which an error counts as slowly varying [s].
SLOW_TIME = 0.016
# Variance that an exponential mean over n samples leaves of white errors, times n, and of errors
# that come back with the opposite sign, times n^2.
WANDER = 0.5


def end_stops(model: RobotModel) -> np.ndarray:
    """Return the joints' free range (nv, 2) [rad or m], infinite without end stops."""
    stops = np.array(model.position_limits, dtype=float).reshape(-1, 2)
    stops[~(stops[:, 0] < stops[:, 1])] = -np.inf, np.inf
    return stops


def slow_samples(rate: float) -> float:
    """Return the number of samples after which an error counts as slowly varying."""
    return max(SLOW_TIME * rate, 1.0)


def jump_share(rate: float, soles: bool) -> float:
    """Return the error of the accelerometer's mean over a tick, as a share of its jump."""
    return LARGEST_JUMP_SHARE if soles else min((JUMP_TIME * rate) ** -2, LARGEST_JUMP_SHARE)


@part
def stop_variance(robot, settings, j, position):
    """Return the variance of joint j's equation due to its end stop's torque."""
    if robot.stops[j, 0] <= position <= robot.stops[j, 1]:
        return 0.0
    prismatic = robot.tree.topology[j + 1, JOINT] == PRISMATIC
    return (settings.weight * (1.0 if prismatic else settings.arm)) ** 2


@part
def correct_efforts(row, layout, effort_map):
    """Convert measured torques in ``row`` to motor torques: gain, offset, load friction."""
    for j in range(effort_map.shape[0]):
        at = layout.effort + j
        effort = effort_map[j, 0] * row[at] + effort_map[j, 1]
        if effort_map[j, 2] != 0.0:
            effort -= effort_map[j, 2] * math.fabs(row[at]) * math.tanh(
                row[layout.velocity + j] / FRICTION_SPEED)
        row[at] = effort


@part
def follow_slopes(window, layout, settings, efforts):
    """Update the exponential means of all torques' slopes in ``efforts``."""
    n = window.shape[0]
    dt = window[n - 1, 0] - window[n - 2, 0]
    share = min(dt / settings.slope_time, 1.0)
    for j in range(efforts.shape[0]):
        change = window[n - 1, layout.effort + j] - window[n - 2, layout.effort + j]
        if math.isfinite(change) and dt > 0.0:
            efforts[j, EFFORT.slope] += share * (change / dt - efforts[j, EFFORT.slope])


@part
def fill_doubt(robot, layout, efforts, row, vectors):
    """
    Fill row DOUBT, the variance of each joint's equation by its actuator model.

    ``Phi Sigma Phi^T``, Phi the derivatives by friction, damping, load friction, armature,
    gain, offset and delay. SLIPPING, written: share of dry friction, -1 to 1.
    """
    accel, slipping, doubt = vectors[ACCEL], vectors[SLIPPING], vectors[DOUBT]
    for j in range(robot.columns.shape[0]):
        S, at = robot.doubt[j], layout.effort + j
        v, effort = row[layout.velocity + j], row[at]
        rubs = robot.tree.constants[j + 1, FRICTION] != 0.0 or S[0] > 0.0
        slip = math.tanh(v / FRICTION_SPEED) if rubs else 0.0
        slipping[j] = slip
        slope = -efforts[j, EFFORT.slope]
        phi = (slip, v, slip * math.fabs(effort), accel[j], effort, 1.0, slope)
        variance = 0.0
        for r in range(N_DOUBT):
            t = 0.5 * S[N_DOUBT * r + r] * phi[r]
            for c in range(r):
                t += S[N_DOUBT * r + c] * phi[c]
            variance += 2.0 * t * phi[r]
        doubt[j] = max(variance, 0.0) if math.isfinite(effort) else 0.0


@part
def usable_equations(robot, layout, row, use_base, rows):
    """
    List the valid equations in ``rows``; return the number of joint ones and the total.

    Joints that move the state and have a known torque come first, then the base.
    """
    n = 0
    for j in range(robot.columns.shape[0]):
        moves = robot.columns[j, robot.columns.shape[1] - 1] > 0
        if moves and math.isfinite(row[layout.effort + j]):
            rows[n] = 6 + j
            n += 1
    joints = n
    if use_base:
        for k in range(6):
            rows[n] = k
            n += 1
    return joints, n


@part
def fill_masses(robot, scratch, tracking):
    """Fill ``tracking.mass`` with the mass matrix at the pose of the scratch's bodies."""
    for i in range(robot.tree.topology.shape[0]):
        for k in range(12):
            tracking.rigid[i, k] = scratch.bodies[i, k]
    place_inertias(robot.tree, tracking.rigid)
    composite_inertias(robot.tree, tracking.rigid)
    for r in range(6):      # zero, filled by the elimination of the last tick
        for c in range(6):
            tracking.mass[r, N_RIGHT_SIDES + c] = 0.0
    fill_mass_matrix(robot.tree, tracking.rigid, 6, tracking.mass[:, N_RIGHT_SIDES:])


@part
def motion_response(robot, settings, mass, rows, n, imu, jump, response):
    """Fill each equation's error by each motion error of one standard deviation."""
    nv = robot.columns.shape[0]
    p = load3(settings.p_BI, 0)
    angular = settings.angular_noise if imu else settings.angular_unknown
    linear = settings.linear_noise if imu else settings.linear_unknown
    for r in range(n):
        e = rows[r]
        M, L = mass[e], response[e]
        first, end = 0, nv
        if e >= 6:
            first, end = robot.branches[e - 6, 0], robot.branches[e - 6, 1]
        for m in range(first, end):
            L[m] = robot.motion_noise[m] * M[N_RIGHT_SIDES + 6 + m]
        along = (M[N_RIGHT_SIDES], M[N_RIGHT_SIDES + 1], M[N_RIGHT_SIDES + 2])
        # The accelerometer sits at p: its reading is moved to the base by the gyro's slope.
        lever = cross(along, p)
        for k in range(3):
            L[nv + k] = angular * (M[N_RIGHT_SIDES + 3 + k] + lever[k])
            L[nv + 3 + k] = linear * along[k]
        L[nv + 6] = dot(along, jump)


@part
def equation_covariance(robot, layout, settings, row, vectors, tracking, n):
    """
    Fill the covariances of equation errors, lower triangles: ``noise``, ``slow_noise``.

    Velocity errors reverse in the next difference, so a mean over n ticks keeps 1 / n^2, of
    other white noise 1 / n. ``slow_variance``: constant part, and the rest after smoothing.
    """
    nv, rows, response = robot.columns.shape[0], tracking.rows, tracking.response
    S, slow_noise, steady = tracking.noise, tracking.slow_noise, tracking.slow_variance
    slipping, doubt = vectors[SLIPPING], vectors[DOUBT]
    share, linear = 1.0 / settings.slow_samples, settings.linear_slow
    fewer = share * share
    # Without the base's equations nothing else says more: what is uncertain of all is of none.
    unsure = settings.unsure_friction if settings.use_base > 0.5 else 0.0
    for r in range(n):
        e = rows[r]
        L = response[e]
        own = robot.branches[e - 6, 0] if e >= 6 else -1
        tx, ty, tz, x, y, z, jump = (L[nv], L[nv + 1], L[nv + 2], L[nv + 3], L[nv + 4], L[nv + 5],
                                     L[nv + 6])
        brief = sensed = 0.0
        for s in range(r + 1):
            f = rows[s]
            K = response[f]
            first, end = 0, nv
            if f >= 6:
                first, end = robot.branches[f - 6, 0], robot.branches[f - 6, 1]
                if own >= 0 and own != first:
                    first, end = 0, 0       # of different branches: they share the base's errors
            # Written out, for a loop costs more than what it does.
            brief = tx * K[nv] + ty * K[nv + 1] + tz * K[nv + 2]
            for m in range(first, end):
                brief += L[m] * K[m]
            sensed = x * K[nv + 3] + y * K[nv + 4] + z * K[nv + 5]
            of_jump = jump * K[nv + 6]
            S[r, s] = brief + sensed + of_jump
            slow_noise[r, s] = brief * fewer + (linear + share) * sensed + of_jump
        steady[0, r] = linear * sensed
        steady[1, r] = WANDER * brief * fewer
        if e >= 6:
            j = e - 6
            friction = robot.tree.constants[j + 1, FRICTION]
            rest = STUCK * (1.0 - slipping[j] ** 2)
            stuck = rest * (friction ** 2 + robot.doubt[j, 0])
            doubted = doubt[j] + max(unsure - rest, 0.0) * friction ** 2
            slow = (doubted + settings.offset_share ** 2 * robot.effort_variance[j]
                    + (settings.effort_gain * row[layout.effort + j]) ** 2)
            stuck += stop_variance(robot, settings, j, row[layout.position + j])
            # Friction's slope over velocity takes the noise of that into the equation.
            slope = friction * rest / (STUCK * FRICTION_SPEED)
            white = robot.effort_variance[j] + (slope * robot.stated_noise[j]) ** 2
            S[r, r] += white + stuck + slow * fewer + settings.brief_doubt * doubted
            slow_noise[r, r] += share * white + slow + stuck
            steady[0, r] += slow + stuck
            steady[1, r] += WANDER * share * robot.effort_variance[j]
        else:
            more = (settings.weight * (
                settings.base_force if e < 3 else settings.base_moment)) ** 2
            S[r, r] += more
            slow_noise[r, r] += more
            steady[0, r] += more
