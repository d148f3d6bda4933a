# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Sharing the load when hips can only be turned: r_phi moves, r_x and r_y stay.

Then a limb's radial force is what geometry makes it, and the hip's moment sets the tangential
one: a foot that turns freely leaves ``r_h x f + m = r_c x m g``. N tangential forces meet the
balance of moments and of force along the body; what they cannot do, the squeeze between opposite
limbs, remains and is reported.
"""
from __future__ import annotations

import math

from legged_dynamics.spatial.jit import kernel
from legged_dynamics.stickybot.allocation.force_program import (
    LEAST_MAXIMUM,
    solve_balance,
    solve_forces,
)
from legged_dynamics.stickybot.control.load_sharing import REPORT, begin_sharing, static_load
from legged_dynamics.stickybot.model.limb import limb_terms
from legged_dynamics.stickybot.model.machine import BODY, END, FORCE, HIP, LIMB, LINK

# A direction of the body's plane is balanced by tangential forces when they have, in the mean
# square, at least this part along it; the other direction is left to the radial springs.
TANGENTIAL_PART = 0.25


@kernel
def share_by_turning(machine, memory, z, v, hips, holds, share, wanted, ridge, gain, moments,
                     planned):
    """
    Choose tangential foot forces, and move the hips' moments towards them.

    Parameters
    ----------
    machine, memory, z, v, holds, wanted, ridge, planned
        As :func:`~legged_dynamics.stickybot.control.load_sharing.choose_forces` takes them.
    hips : (N, FORCE.width) array
        Present hip forces.
    share : (N,) array
        How much of the load a foot may take, relative to the others.
    gain : float
        Part of the difference made up in this period.
    moments : (N,) array [N m]
        Moments beyond the nominal ones, changed; of a foot off the wall set to zero.

    Returns
    -------
    bool
        False when no forces were found.

    """
    index, constants, work, report = machine.index, machine.constants, memory.work, memory.report
    gx, gy = constants[BODY.gravity_x], constants[BODY.gravity_y]
    n = begin_sharing(memory, holds, planned)
    for i in range(index.shape[0]):
        if not holds[i]:
            moments[i] = 0.0
    if n == 0:
        return True
    w, G = memory.w, memory.G
    static_load(machine, z, wanted, w)
    c, s = math.cos(z[2]), math.sin(z[2])
    # Rows of the balance: force along the body's x, along its y, moment. Columns: tangential.
    rows = (c * w[0] + s * w[1], c * w[1] - s * w[0], w[2])
    along_x, along_y = 0.0, 0.0
    base, directions = memory.chosen, memory.tangents
    directions[:] = 0.0
    for k in range(n):
        i = memory.on[k]
        start, link = index[i, LIMB.start], index[i, LIMB.links]
        limb_terms(index, constants, work, i, z, v)
        end = work.shape[0] - 1
        ax, ay = work[end, END.pose] - z[start], work[end, END.pose + 1] - z[start + 1]
        length = math.hypot(ax, ay)
        tx, ty = -ay / length, ax / length
        mass = 0.0
        for j in range(index[i, LIMB.n_links]):
            mass += constants[link + LINK.width * j + LINK.mass]
        fx, fy = hips[i, FORCE.hip] - mass * gx, hips[i, FORCE.hip + 1] - mass * gy
        # The radial part is set by geometry and kept; only the tangential one is chosen.
        radial = fx * ty - fy * tx
        base[2 * k], base[2 * k + 1] = radial * ty, -radial * tx
        memory.lever[k, 0], memory.lever[k, 1] = length, fx * tx + fy * ty
        memory.lever[k, 2], memory.lever[k, 3] = tx, ty
        px, py = z[start] - z[0], z[start + 1] - z[1]
        G[0, k], G[1, k] = c * tx + s * ty, c * ty - s * tx
        G[2, k] = px * ty - py * tx
        along_x += G[0, k] ** 2
        along_y += G[1, k] ** 2
        bx, by = base[2 * k], base[2 * k + 1]
        rows = (rows[0] - c * bx - s * by, rows[1] - c * by + s * bx,
                rows[2] - px * by + py * bx)
        memory.weights[k] = share[i]
        memory.sets[k, 1] = 0.0
    used = 0
    for j in range(3):
        if (j == 0 and along_x < TANGENTIAL_PART * n) or (
                j == 1 and along_y < TANGENTIAL_PART * n) or (j == 2 and n == 1):
            continue
        w[used] = rows[j]
        for k in range(n):
            G[used, k] = G[j, k]
        used += 1
    basis, least = memory.force.basis, memory.force.particular
    rank, unmet = solve_balance(G[:used, :n], w[:used], basis, least)
    report[REPORT.unmet] = unmet
    for k in range(n):
        for j in range(2):
            base[2 * k + j] += least[k] * memory.lever[k, 2 + j]
            for a in range(n - rank):
                directions[a, 2 * k + j] = basis[rank + a, k] * memory.lever[k, 2 + j]
    if n > rank:
        code, value = solve_forces(LEAST_MAXIMUM, base, directions, 0, n - rank, memory.sets[:n],
                                   memory.weights, memory.goal, ridge, memory.force.program,
                                   memory.found)
        if code < 0:
            return False
        report[REPORT.share] = value
    else:
        memory.found[:] = base
    for k in range(n):
        i = memory.on[k]
        planned[i, 0], planned[i, 1] = memory.found[2 * k], memory.found[2 * k + 1]
        tangential = (memory.found[2 * k] * memory.lever[k, 2]
                      + memory.found[2 * k + 1] * memory.lever[k, 3])
        # A hip's moment over the lever of its limb is the foot's tangential force.
        moments[i] -= gain * memory.lever[k, 0] * (tangential - memory.lever[k, 1])
    return True


@kernel
def follow_moments(machine, moments, dt, offsets):
    """Move the offsets of the rest angles one period on towards the moments."""
    index, constants = machine.index, machine.constants
    for i in range(index.shape[0]):
        at, limb = index[i, LIMB.start] - 3, index[i, LIMB.hip]
        damping = constants[limb + HIP.damping + 8] / dt
        offsets[at], offsets[at + 1] = 0.0, 0.0
        offsets[at + 2] = ((damping * offsets[at + 2] - moments[i])
                           / (constants[limb + HIP.stiffness + 8] + damping))
