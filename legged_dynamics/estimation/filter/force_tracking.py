# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The Kalman filter of all feet's forces, in contact or not, where torque is measured.

The state is ``x = [w; e]``: contact coordinates w and an external wrench e on a link, the base or
another (`push`). Every instant gives

    J^T w + J_e^T e = tau_model - tau_measured        one equation for each joint
    A w + A_e e     = b - B m                         six of the base

with the mass parameters m (`push`). Between ticks w is a random walk whose rate follows
how much forces have changed of late, and e decays; a foot whose own joints contradict its
prediction may have had an impact and gets more process noise. Contact is decided afterwards: see
`contact`.
"""
from __future__ import annotations

import math

from legged_dynamics.contact.contact_evidence import LEAST_PROBABILITY
from legged_dynamics.dynamics.jacobians import SIZE, START
from legged_dynamics.estimation.filter.layout import BEYOND, MOST, VECTOR, WEIGHTS
from legged_dynamics.estimation.filter.memory import N_EXTRA
from legged_dynamics.estimation.filter.normal_equations import joint_information, solve_foot_alone
from legged_dynamics.estimation.push import external_process_noise, slow_share
from legged_dynamics.optimization.factorizations import factorize, solve_factorized
from legged_dynamics.optimization.kalman_update import update_state, whiten
from legged_dynamics.spatial.algebra import (
    add,
    add_scaled,
    dot,
    load3,
    norm,
    subtract,
    symmetric_times,
)
from legged_dynamics.spatial.jit import inlined_part, part
from legged_dynamics.spatial.layout import get3, put3
from legged_dynamics.spatial.symmetric import inverse_symmetric


@part
def start_tracking(feet, settings, up, deviation, x, P):
    """Initialise ``x`` and ``P``: weight on all feet, each force with this deviation [N]."""
    nx, nf = x.shape[0], feet.index.shape[0]
    nc = nx - N_EXTRA
    for r in range(nx):
        x[r] = 0.0
        for c in range(nx):
            P[r, c] = 0.0
    for i in range(nf):
        s = feet.index[i, START]
        for k in range(3):
            x[s + k] = up[k] * settings.weight / nf
            P[s + k, s + k] = deviation ** 2
        for k in range(3, feet.index[i, SIZE]):
            P[s + k, s + k] = (deviation * settings.arm) ** 2
    for k in range(6):
        deviation = settings.external_force if k < 3 else settings.external_moment
        P[nc + k, nc + k] = deviation ** 2


@part
def copy_state(n, x, P, share, to, covariance):
    """Copy the first n elements of a state, and of its covariance a share."""
    for r in range(n):
        to[r] = x[r]
        for c in range(n):
            covariance[r, c] = share * P[r, c]


@inlined_part
def predict_equation(columns, grasp, jacobian, e, x):
    """Return the left side of equation e (0 to 5: base, 6 + j: joint j) for state x."""
    total = 0.0
    if e >= 6:
        j = e - 6
        for m in range(columns[j, columns.shape[1] - 1]):
            c = columns[j, m + 1]
            total += jacobian[c, j] * x[c]
    else:
        for c in range(grasp.shape[1]):
            total += grasp[e, c] * x[c]
    return total


@part
def force_rate(feet, settings, memory, x, P, dt):
    """
    Return the process noise of stance feet from the recent change of all forces.

    Standard deviation of a random walk after 1 s, as a fraction of the weight.
    """
    moved, share = 0.0, min(dt / settings.recent, 1.0)
    for i in range(feet.index.shape[0]):
        s, mean = feet.index[i, START], get3(memory.mean, i, 0)
        off = subtract(load3(x, s), mean)
        put3(memory.mean, i, 0, add_scaled(mean, share, off))
        noise = P[s, s] + P[s + 1, s + 1] + P[s + 2, s + 2]
        moved += max(dot(off, off) - settings.explained * noise, 0.0)
    rate = math.sqrt(moved / settings.recent) / settings.weight
    # It lasts twice as long: another foot lands or leaves soon.
    kept = (1.0 - 0.5 * share) * memory.rate[0]
    memory.rate[0] = min(max(rate, kept, settings.slowest_rate), settings.fastest_rate)
    return memory.rate[0]


@part
def add_process_noise(robot, settings, scratch, tracking, memory, joints, n, dt):
    """
    Add a tick's process noise to the covariance; return whether there is a push.

    A foot contradicted by its own joints may have had an impact and gets as much noise as
    they imply, from ``tracking.innovation`` and ``tracking.noise``. Row MOST: the largest force
    that each foot's own joints allow.
    """
    forces, probability = memory.forces, memory.contact.probability
    feet, x, P, process_noise = robot.feet, forces.state, forces.covariance, tracking.process_noise
    nx, nf, weight = x.shape[0], feet.index.shape[0], settings.weight
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
    variance = tracking.foot_rows
    rate = force_rate(feet, settings, forces, x, P, dt)
    for i in range(nf):
        s = feet.index[i, START]
        v, C = solve_foot_alone(feet, i, scratch.information, vectors[VECTOR])
        p = probability[i]
        swings = max(1.0 - p - LEAST_PROBABILITY, 0.0)
        g = (p * rate * rate + swings * settings.swinging_rate ** 2) * W2 * dt
        known = inverse_symmetric((C[0] + P[s, s] + g, C[1] + P[s, s + 1], C[2] + P[s, s + 2],
                                   C[3] + P[s + 1, s + 1] + g, C[4] + P[s + 1, s + 2],
                                   C[5] + P[s + 2, s + 2] + g))
        impact = dot(v, symmetric_times(known, v)) > settings.impact
        forces.impact[i] = 1.0 if impact else 0.0
        if impact:
            g += settings.impact_share * dot(v, v)
        for k in range(feet.index[i, SIZE]):
            unit = 1.0 if k < 3 else arm2
            # The variance does not grow beyond that of the prior.
            room = 1.0 - P[s + k, s + k] * robot.prior[s + k]
            process_noise[s + k] = g * unit * max(room, 0.0)
        vectors[MOST, i] = norm(add(load3(x, s), v)) + math.sqrt(C[0] + C[3] + C[5])
        for k in range(3):
            vectors[VECTOR, s + k] = v[k]
            variance[0, s + k] = C[0] if k == 0 else (C[3] if k == 1 else C[5])
    pushed = external_process_noise(feet, settings, scratch, tracking, memory, joints, n, dt)
    for k in range(nx):
        P[k, k] += process_noise[k]
    return pushed


@inlined_part
def covariance_row(columns, grasp, jacobian, e, P, out):
    """Fill ``out`` (nx,) with the row of ``H P`` of equation e (6 + j for joint j)."""
    nx = P.shape[0]
    for k in range(nx):
        out[k] = 0.0
    if e >= 6:
        j, m, count = e - 6, 1, columns[e - 6, columns.shape[1] - 1]
        while m + 1 < count:        # three at a time: a loop costs more than what it does
            a, b, c = columns[j, m], columns[j, m + 1], columns[j, m + 2]
            x, y, z = jacobian[a, j], jacobian[b, j], jacobian[c, j]
            for k in range(nx):
                out[k] += x * P[a, k] + y * P[b, k] + z * P[c, k]
            m += 3
        while m <= count:
            c = columns[j, m]
            h = jacobian[c, j]
            for k in range(nx):
                out[k] += h * P[c, k]
            m += 1
    else:
        for c in range(nx):
            h = grasp[e, c]
            if h != 0.0:
                for k in range(nx):
                    out[k] += h * P[c, k]


@part
def measurement_update(columns, settings, tracking, memory, grasp, jacobian, n):
    """
    Update the state by all equations (Kalman 1960); return False if not possible.

    Slow innovations get their own gain: velocity errors are large between ticks and small
    in the mean, torque errors the reverse. False: a covariance is not positive definite.
    """
    x, P, S, gain = memory.state, memory.covariance, tracking.noise, tracking.gain
    nu, rows, nx = tracking.innovation, tracking.rows, x.shape[0]
    slow, slow_innovation = tracking.slow_noise, tracking.slow_innovation
    for r in range(n):
        covariance_row(columns, grasp, jacobian, rows[r], P, gain[r])
    for s in range(n):
        j = rows[s] - 6
        if j >= 0 and columns[j, columns.shape[1] - 1] == 3:    # most: written out
            a, b, c = columns[j, 1], columns[j, 2], columns[j, 3]
            h, g, m = jacobian[a, j], jacobian[b, j], jacobian[c, j]
            for r in range(s, n):
                known = h * gain[r, a] + g * gain[r, b] + m * gain[r, c]
                S[r, s] += known
                slow[r, s] += known
            continue
        for r in range(s, n):
            known = predict_equation(columns, grasp, jacobian, rows[s], gain[r])
            S[r, s] += known
            slow[r, s] += known
    for r in range(n):
        e = rows[r]
        memory.bias[e] += (nu[r] - memory.bias[e]) / settings.slow_samples
        slow_innovation[r] = memory.bias[e]
        nu[r] -= memory.bias[e]
    if not (factorize(slow, n) and factorize(S, n)):
        return False
    solve_factorized(slow, n, slow_innovation)
    nc = nx - N_EXTRA
    for r in range(n):
        t, row = slow_innovation[r], gain[r]
        for k in range(nc):
            x[k] += t * row[k]
    for k in range(nc, nx):
        t = 0.0
        for r in range(n):
            t += slow_innovation[r] * gain[r, k]
        x[k] += slow_share(tracking.process_noise[k], P[k, k]) * t
    whiten(S, gain, nu, n)
    update_state(x, P, gain, nu, n)
    return True
