# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""From one command to the next: adaptive steps, sums for the balances, and feet that let go."""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.layout import offsets
from legged_dynamics.stickybot.model.adhesion import HOLDS, normal_loads, pad_failure
from legged_dynamics.stickybot.model.bookkeeping import N_FLOWS, TOTAL
from legged_dynamics.stickybot.model.dynamics import accelerate, solve_limb
from legged_dynamics.stickybot.model.jacobian import free_coordinates, jacobians
from legged_dynamics.stickybot.model.limb import limb_terms
from legged_dynamics.stickybot.model.machine import FORCE, LIMB, WORK, Machine
from legged_dynamics.stickybot.simulation.rosenbrock import LIMITS, rodas_step

# What :func:`advance` returns beside HOLDS, SLIPS and PEELS of a foot.
STUCK = -1
SHORTEST_STEP = 1e-12   # s


class Progress(NamedTuple):
    """Numbers that :func:`advance` returns through `report`."""

    elapsed: int = 1        # s
    next_step: int = 1      # s, to begin with the next time
    foot: int = 1           # that failed
    steps: int = 1
    width: int = 0


PROGRESS = offsets(Progress())


class MovingRobot(NamedTuple):
    """
    The moving robot: arrays that :func:`advance` changes in place.

    Attributes
    ----------
    z, v, zdd : (nz,) array
    u, ud : (nz - 3,) array
    forces : (N, FORCE.width) array
    normals : (N,) array [N]
    attached : (N,) array of bool
    pad_angle : (N,) array [rad]
    totals : (TOTAL.width,) array
    peak : (N,) array [N]
        Largest reaction of each foot since it was last set to zero.
    spare : (3, nz) array
    sums : (N_FLOWS,) array
        What the last step added to the totals.
    report : (4,) array

    """

    z: np.ndarray
    v: np.ndarray
    zdd: np.ndarray
    u: np.ndarray
    ud: np.ndarray
    forces: np.ndarray
    normals: np.ndarray
    attached: np.ndarray
    pad_angle: np.ndarray
    totals: np.ndarray
    peak: np.ndarray
    spare: np.ndarray
    sums: np.ndarray
    report: np.ndarray


def make_motion(machine: Machine, nz: int) -> MovingRobot:
    """Return arrays for that robot, all feet off the wall."""
    n = machine.index.shape[0]
    report = np.zeros(4)
    report[PROGRESS.next_step] = 1e-5
    return MovingRobot(
        np.zeros(nz), np.zeros(nz), np.zeros(nz), np.zeros(nz - 3), np.zeros(nz - 3),
        np.zeros((n, FORCE.width)), np.zeros(n), np.zeros(n, bool), np.zeros(n),
        np.zeros(TOTAL.width), np.zeros(n), np.zeros((3, nz)), np.zeros(N_FLOWS), report)


@kernel
def settle(machine, step, wall, motion):
    """Fill accelerations, forces and normal loads of the present state."""
    accelerate(machine, step.work, motion.attached, motion.z, motion.v, motion.u, motion.ud,
               motion.zdd, motion.forces)
    normal_loads(machine, wall, motion.attached, motion.z, motion.forces, motion.normals)


@kernel
def first_failure(pads, motion):
    """Return the first foot whose pad does not hold, and how it fails."""
    for i in range(motion.attached.shape[0]):
        if motion.attached[i]:
            how = pad_failure(pads[i], motion.pad_angle[i], motion.forces[i, FORCE.reaction],
                              motion.forces[i, FORCE.reaction + 1], motion.normals[i])
            if how != HOLDS:
                return i, how
    return -1, HOLDS


@kernel
def touch_down(machine, step, i, motion):
    """
    Pin foot i where it is: a plastic impact of that limb alone.

    The hip's spring and dampers transmit no impulse, so the rates of the limb's links alone
    change: ``M_qq qd+ = M_qf pd_f- + M_qq qd-``, for one rod ``A qd+ = m r x v- + I qd-``.
    The wall's impulse and its moment, and the kinetic energy lost, go to the totals.
    """
    n, start = machine.index[i, LIMB.n_links], machine.index[i, LIMB.start]
    z, v, work, totals = motion.z, motion.v, step.work, motion.totals
    limb_terms(machine.index, machine.constants, work, i, z, v)
    before, after = 0.0, 0.0
    for j in range(n + 2):
        work[j, WORK.solution] = 0.0
        for k in range(n + 2):
            m = work[max(j, k), WORK.mass_matrix + min(j, k)]
            before += 0.5 * v[start + j] * m * v[start + k]
            work[j, WORK.solution] += m * v[start + k]
    px, py = -work[0, WORK.solution], -work[1, WORK.solution]
    # The pinned foot takes the impulse; the angles keep their generalised momentum.
    solve_limb(work, 2, n)
    v[start] = v[start + 1] = 0.0
    for j in range(2, n + 2):
        v[start + j] = work[j, WORK.solution]
    for j in range(2, n + 2):
        px += work[j, WORK.mass_matrix] * v[start + j]
        py += work[j, WORK.mass_matrix + 1] * v[start + j]
        for k in range(2, n + 2):
            m = work[max(j, k), WORK.mass_matrix + min(j, k)]
            after += 0.5 * v[start + j] * m * v[start + k]
    totals[TOTAL.struck] += before - after
    totals[TOTAL.impulse] += px
    totals[TOTAL.impulse + 1] += py
    totals[TOTAL.angular_impulse] += z[start] * py - z[start + 1] * px
    motion.attached[i] = True


@kernel
def advance(machine, step, wall, pads, limits, duration, motion):
    """
    Move the robot on by `duration`, or until a foot lets go.

    The rest positions move at their constant rates. The present accelerations and forces must be
    those of :func:`settle`; on return they are again.

    Parameters
    ----------
    machine, step, pads
        See :mod:`~legged_dynamics.stickybot.model.machine`.
    wall : (2,) array
        Of :func:`~legged_dynamics.stickybot.model.adhesion.normal_loads`.
    limits : (3,) array
        At the places `rosenbrock.LIMITS`.
    duration : float [s]
        At most.
    motion : MovingRobot
        Changed in place.

    Returns
    -------
    int
        `HOLDS` at the end of the duration; `SLIPS` or `PEELS` when the foot in `report` lets go;
        `STUCK` when no step is short enough.

    """
    z, v, u, ud = motion.z, motion.v, motion.u, motion.ud
    z_new, v_new, a_new = motion.spare[0], motion.spare[1], motion.spare[2]
    h, elapsed, steps = motion.report[PROGRESS.next_step], 0.0, 0
    motion.report[PROGRESS.foot] = -1
    n = free_coordinates(machine, motion.attached, step.free)
    stale = True
    code = HOLDS
    while elapsed < duration:
        last = h >= 0.999 * (duration - elapsed)
        trial = duration - elapsed if last else min(h, limits[LIMITS.longest_step])
        # A refused step is tried again from the same state: its Jacobian still holds.
        if stale:
            jacobians(machine, step, motion.attached, z, v, u, ud, motion.zdd, motion.forces)
            stale = False
        error = rodas_step(machine, step, limits, n, motion.attached, trial, z, v, u, ud,
                           motion.zdd, motion.forces, z_new, v_new, motion.sums)
        # Local error goes with h^4: the exponent is -1/4, with a margin of 0.9, within [0.2, 5].
        factor = min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.25))
        if error > 1.0:
            h = trial * factor
            if h < SHORTEST_STEP:
                code = STUCK
                break
            continue
        # The step before a command is often a short remainder, and says little of the next one.
        h = max(h, trial * factor) if last else trial * factor
        for j in range(u.shape[0]):
            step.vectors[7, j] = u[j] + trial * ud[j]
        accelerate(machine, step.work, motion.attached, z_new, v_new, step.vectors[7], ud, a_new,
                   motion.forces)
        for j in range(N_FLOWS):
            motion.totals[j] += motion.sums[j]
        for j in range(z.shape[0]):
            z[j], v[j], motion.zdd[j] = z_new[j], v_new[j], a_new[j]
        for j in range(u.shape[0]):
            u[j] = step.vectors[7, j]
        elapsed = duration if last else elapsed + trial
        steps += 1
        stale = True
        normal_loads(machine, wall, motion.attached, z, motion.forces, motion.normals)
        for i in range(motion.peak.shape[0]):
            size = math.hypot(motion.forces[i, FORCE.reaction],
                              motion.forces[i, FORCE.reaction + 1])
            motion.peak[i] = max(motion.peak[i], size)
        foot, how = first_failure(pads, motion)
        if how != HOLDS:
            motion.report[PROGRESS.foot] = foot
            code = how
            break
    report = motion.report
    report[PROGRESS.elapsed], report[PROGRESS.next_step] = elapsed, h
    report[PROGRESS.steps] = steps
    return code
