# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Forces first, contact after: what joint torques and the base's motion say of all feet's forces.

One instant of the filter of `force_tracking`, from the equations' errors to the forces of now.

Arguments of the kernels: see ``estimation/__init__.py``.
"""
from __future__ import annotations

import math

from legged_dynamics.dynamics.jacobians import SIZE, START
from legged_dynamics.dynamics.kinematics import FORCE
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED
from legged_dynamics.estimation.equation_errors import (
    equation_covariance,
    fill_masses,
    motion_response,
    usable_equations,
)
from legged_dynamics.estimation.external_link import fade_external
from legged_dynamics.estimation.external_push import lasting_doubt, write_external
from legged_dynamics.estimation.foot_lift import follow_heights
from legged_dynamics.estimation.force_ahead import carry_ahead
from legged_dynamics.estimation.force_contact import judge_contact, mix_what_flies
from legged_dynamics.estimation.force_tracking import (
    FASTEST,
    correct,
    predicted,
    start_tracking,
    widen,
)
from legged_dynamics.estimation.lasting_errors import keep_lasting, lasting_covariance
from legged_dynamics.estimation.layout import BASE, N_BESIDE, RESIDUAL, SLIPPING
from legged_dynamics.estimation.mass_error import (
    feet_carry,
    learn_mass,
    mass_columns,
    steady_columns,
)
from legged_dynamics.model.tree import FRICTION
from legged_dynamics.spatial.algebra import load3, store3, subtract
from legged_dynamics.spatial.jit import part

# Errors of velocities are counted as new in every tick, although half of each goes back in the
# next one: shares of the filter's covariance that are left of it, in the mean of two ticks and in
# one.
MEAN_SHARE, LATEST_SHARE = 0.3, 0.25
# How far the force between two ticks is from the mean of their two means: its variance, as a share
# of what the force walks in each; of a random walk, and of a blow, which is anywhere in its tick.
WALK_SHARE, STRUCK_SHARE = 1.0 / 12.0, 0.5
# The same of the force of now, which no accelerometer tells, half a tick after its mean.
UNSEEN_SHARE = 0.5


@part
def track_forces(robot, layout, settings, scratch, tracking, window, middle, states, memory, up,
                 normal, imu, dt, out):
    """Advance the filter of all forces by one instant; fill contact, forces and covariance."""
    feet, nc, nj = robot.feet, layout.contacts, layout.joints
    x, P, nx = tracking.state, tracking.covariance, layout.contacts + N_BESIDE
    vectors, grasp, jacobian = scratch.vectors, scratch.grasp, scratch.jacobian
    base_used = imu and settings.use_base > 0.5
    a = load3(vectors[BASE], 6)
    jump = (0.0, 0.0, 0.0)
    started = memory[layout.tracking] < 0.5
    if started:
        start_tracking(feet, settings, up, x, P)
        memory[layout.tracking] = 1.0
        for k in range(6):
            memory[layout.push + k] = memory[layout.push_change + k] = 0.0
            memory[layout.push_beyond + k] = 0.0
        memory[layout.pace] = FASTEST
        for i in range(feet.index.shape[0]):
            store3(memory, layout.recent_force + 3 * i, load3(x, feet.index[i, START]))
        for k in range(6 + nj):
            memory[layout.lasting + k] = 0.0
        for k in range(20):
            memory[layout.mass + k] = 0.0
        for k in range(4):
            tracking.theta[k] = 0.0
        store3(memory, layout.steady_reading, a)
        for k in range(4 * feet.index.shape[0]):
            memory[layout.heights + k] = 0.0
    elif imu:
        jump = subtract(a, load3(memory, layout.reading))
    store3(memory, layout.reading, a)

    # What the equations say, and how wrong they are.
    fill_masses(robot, scratch, tracking)
    mass_columns(a, tracking.columns)
    rows = tracking.rows
    joints, n = usable_equations(robot, layout, middle, base_used, rows)
    motion_response(robot, settings, tracking.mass, rows, n, imu, jump, tracking.response)
    for j in range(nj):
        rubs = robot.tree.constants[j + 1, FRICTION] != 0.0
        v = middle[layout.velocity + j]
        vectors[SLIPPING, j] = math.tanh(v / FRICTION_SPEED) if rubs else 0.0
    equation_covariance(robot, layout, settings, middle, vectors[SLIPPING], rows, n,
                        tracking.response, tracking.noise, tracking.noise_lasting, tracking.steady)
    keep_lasting(tracking, vectors, joints, n)
    if n > joints:
        lasting_doubt(robot, scratch, tracking, joints, n)
    follow_heights(feet, layout, states, normal, memory)

    # Predict, widen, correct.
    fade_external(x, P, dt)
    for r in range(n):
        e = rows[r]
        if e >= 6:
            known = vectors[RESIDUAL, e - 6]
        else:
            known = scratch.bodies[0, FORCE + e]
            for k in range(4):
                known -= tracking.columns[e, k] * tracking.theta[k]
        tracking.innovation[r] = known - predicted(robot.columns, grasp, jacobian, e, x)
    pushed = widen(robot, layout, settings, tracking, memory[layout.standing:], memory, scratch,
                   joints, n, dt)
    if n > joints:
        for e in range(6):      # what the base's equations leave without theta
            for k in range(4):
                tracking.left[e] += tracking.columns[e, k] * tracking.theta[k]
        steady_columns(a, memory, layout.steady_reading, tracking.columns, dt)
        if feet_carry(feet, up, settings.weight, memory[layout.standing:], x):
            learn_mass(settings, tracking.columns, tracking.left, tracking.doubt, pushed, memory,
                       layout.mass, tracking.vector, tracking.block, tracking.theta, dt)
        mass_columns(a, tracking.columns)
    if not correct(robot.columns, layout, settings, tracking, memory, grasp, jacobian, n):
        start_tracking(feet, settings, up, x, P)
    judge_contact(robot, layout, settings, tracking, window[-1], memory, dt, out)
    for i in range(feet.index.shape[0]):
        out[layout.latest_contact + i] = out[layout.contact + i]

    # Forces of now.
    now, covariance = tracking.now, tracking.carried
    for r in range(nx):
        now[r] = x[r]
        for c in range(nx):
            covariance[r, c] = LATEST_SHARE * P[r, c]
    if settings.ahead > 0.5 and base_used and settings.imu_body == 0:
        carry_ahead(robot, layout, settings, tracking, scratch, window[-1], middle,
                    memory[layout.standing:], now, covariance)
    else:
        for k in range(nc):
            covariance[k, k] += UNSEEN_SHARE * tracking.walk[k]
    mix_what_flies(robot, layout, settings, tracking, memory, now, covariance, dt, out)
    for i in range(feet.index.shape[0]):
        s, size = feet.index[i, START], feet.index[i, SIZE]
        lifted = window[-1, layout.given_contact + i] < 0.5     # False where it is not given
        for k in range(s, s + size):
            out[layout.coordinates + k] = 0.0 if lifted else x[k]
            out[layout.latest_coordinates + k] = 0.0 if lifted else now[k]
    lasting_covariance(robot, scratch, tracking, memory[layout.standing:], nc)
    lasting = scratch.information
    for r in range(nc):
        for c in range(nc):
            at = r * nc + c
            out[layout.covariance + at] = MEAN_SHARE * P[r, c] + lasting[r, c]
            out[layout.latest_covariance + at] = covariance[r, c] + lasting[r, c]
    if settings.ahead > 0.5:
        what_may_have_happened(feet, layout, tracking.walk, memory, out)
    write_external(robot, layout, settings, scratch, tracking, memory, joints, n > joints, out)
    for k in range(4):
        out[layout.mass_error + k] = tracking.theta[k]


@part
def what_may_have_happened(feet, layout, walk, memory, out):
    """
    Add what the forces of the sample before may have done in the two ticks about it.

    The mean of a force over a tick does not say when in it the force came and went: a blow may
    lie wholly in the tick before, and a foot that is up now may have left in this one.
    """
    nc = layout.contacts
    for i in range(feet.index.shape[0]):
        stands = memory[layout.standing + i] >= 0.5
        stood = memory[layout.contact_before + 2 * i + 1] >= 0.5
        struck = memory[layout.struck + i] > 0.5
        share = STRUCK_SHARE if struck else WALK_SHARE
        for k in range(feet.index[i, SIZE]):
            r = feet.index[i, START] + k
            happened = share * walk[r] if stands or stood else 0.0
            out[layout.covariance + r * (nc + 1)] += happened + memory[layout.walked + r]
            memory[layout.walked + r] = happened


@part
def describe_sample_before(feet, layout, memory, out):
    """
    Replace forces and contact of the last tick by those of the sample between the last two.

    Forces are means over a tick, so two of them lie evenly about that sample.
    """
    if memory[layout.described] < 0.5:
        memory[layout.described] = 1.0
        for k in range(layout.contacts):
            memory[layout.before + k] = out[layout.coordinates + k]
        for i in range(feet.index.shape[0]):
            memory[layout.contact_before + 2 * i] = out[layout.contact + i]
            memory[layout.contact_before + 2 * i + 1] = out[layout.probability + i]
    for k in range(layout.contacts):
        mean = out[layout.coordinates + k]
        out[layout.coordinates + k] = 0.5 * (memory[layout.before + k] + mean)
        memory[layout.before + k] = mean
    for i in range(feet.index.shape[0]):
        at = layout.contact_before + 2 * i
        memory[at], out[layout.contact + i] = out[layout.contact + i], memory[at]
        memory[at + 1], out[layout.probability + i] = out[layout.probability + i], memory[at + 1]
