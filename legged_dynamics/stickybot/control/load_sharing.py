# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Load sharing of a climber in its control tick: least maximum at a limited rate, one kernel.

The total load follows from the accelerations of body and limbs; its distribution has 2 N - 3
degrees of freedom. A change of foot i's force by dF_i and of its hip's force by the same leaves
every acceleration unchanged when the hip's moment and the inner joints' torques change with it::

    dm_i = -(p_hip - p_foot) x dF_i          dtau_k = (p_hip - p_k) x dF_i + dm_i

and the hip's rest position produces that force through spring and damper::

    K rho + B rhodot = -R^T [dF; dm]

which is a stable filter (B/K is 12 ms in the proposed robot) and is integrated implicitly.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from legged_dynamics.optimization.factorizations import factorize, solve_factorized
from legged_dynamics.spatial.algebra import add, load3, load9, rotate, scale, store3
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.stickybot.allocation.force_allocation import (
    LEAST_MAXIMUM,
    RELAXED,
    SET,
    ForceMemory,
    fill_sets,
    make_force_memory,
    solve_balance,
    solve_forces,
)
from legged_dynamics.stickybot.control.gait import GaitClock
from legged_dynamics.stickybot.model.adhesion import PAD, Adhesion, normal_loads
from legged_dynamics.stickybot.model.dynamics import accelerate
from legged_dynamics.stickybot.model.limb import (
    BODY,
    END,
    FORCE,
    HIP,
    LIMB,
    LINK,
    WORK,
    Machine,
    limb_mass,
    limb_terms,
    make_workspace,
)
from legged_dynamics.stickybot.model.robot import RestPosition, StickybotModel, relax_limb

# How :func:`choose_forces` ended: not at all, beyond what pads can hold, within it.
UNSOLVED, BEYOND, WITHIN = range(3)


class _SharingMemory(NamedTuple):
    """Memory for sharing the load of a robot with N limbs."""

    work: np.ndarray
    force: ForceMemory
    G: np.ndarray       # (3, 2 N)
    w: np.ndarray       # (3,)
    sets: np.ndarray    # (N, SET.width)
    weights: np.ndarray     # (N,)
    chosen: np.ndarray  # (2 N,)
    zdd: np.ndarray     # (nz,)
    forces: np.ndarray  # (N, FORCE.width)
    on: np.ndarray      # (N,) int
    hip: np.ndarray     # (3, 3) of one hip's springs and dampers
    planned: np.ndarray     # (N, 2)


def make_sharing_memory(machine: Machine, nz: int) -> _SharingMemory:
    """Return memory for load sharing with nz coordinates."""
    n = machine.index.shape[0]
    return _SharingMemory(make_workspace(machine), make_force_memory(n), np.zeros((3, 2 * n)),
                          np.zeros(3), np.zeros((n, SET.width)), np.zeros(n),
                          np.zeros(2 * n), np.zeros(nz), np.zeros((n, FORCE.width)),
                          np.zeros(n, np.int64), np.zeros((3, 3)), np.zeros((n, 2)))


@kernel
def static_load(machine, z, wanted, w):
    """
    Fill ``w``: the total foot load for desired body accelerations, about its CoM.

    Limbs count by weight only: their accelerations matter only in the first millisecond
    after a foot is set or released, which sampling would mistake for a constant load.
    """
    constants = machine.constants
    gx, gy = constants[BODY.gravity_x], constants[BODY.gravity_y]
    w[0] = constants[BODY.mass] * (wanted[0] - gx)
    w[1] = constants[BODY.mass] * (wanted[1] - gy)
    w[2] = constants[BODY.inertia] * wanted[2]
    for i in range(machine.index.shape[0]):
        mass, sx, sy = limb_mass(machine, i, z)
        w[0] -= mass * gx
        w[1] -= mass * gy
        w[2] -= (sx - mass * z[0]) * gy - (sy - mass * z[1]) * gx


@kernel
def choose_forces(machine, memory, z, holds, share, wanted, sets, ridge):
    """
    Choose foot forces for wanted body accelerations; `UNSOLVED`, `BEYOND` or `WITHIN`.

    ``share`` (N,) > 0: relative load of feet; ``sets``: half-planes to keep to; ``ridge``:
    see :func:`force_allocation.solve_forces`. Fills ``memory.planned``, zero off the wall.
    """
    planned, n = memory.planned, 0
    planned[:] = 0.0
    for i in range(holds.shape[0]):
        if holds[i]:
            memory.on[n] = i
            n += 1
    if n == 0:
        return WITHIN
    G, w = memory.G, memory.w
    static_load(machine, z, wanted, w)
    lines = 0
    for k in range(n):
        i = memory.on[k]
        start = machine.index[i, LIMB.start]
        G[0, 2 * k], G[0, 2 * k + 1] = 1.0, 0.0
        G[1, 2 * k], G[1, 2 * k + 1] = 0.0, 1.0
        # Moment about the body of the forces at this foot.
        G[2, 2 * k], G[2, 2 * k + 1] = z[1] - z[start + 1], z[start] - z[0]
        memory.weights[k] = share[i]
        memory.sets[k] = sets[i]
        lines += int(sets[i, SET.n_planes])
    # One foot transmits any force but no moment: the body's angle is left to the springs.
    rows = 2 if n == 1 else 3
    basis, least = memory.force.basis, memory.force.particular
    rank, _ = solve_balance(G[:rows, :2 * n], w[:rows], basis, least)
    free = 2 * n - rank
    chosen, outcome = memory.chosen, WITHIN
    code, _ = solve_forces(LEAST_MAXIMUM, least[:2 * n], basis[rank:rank + free],
                               memory.sets[:n], memory.weights, ridge, memory.force, chosen)
    if code < 0 and lines > 0:
        # The pads cannot hold this load: distribute the excess evenly.
        outcome = BEYOND
        code, _ = solve_forces(RELAXED, least[:2 * n], basis[rank:rank + free],
                                   memory.sets[:n], memory.weights, ridge, memory.force, chosen)
    if code < 0:
        return UNSOLVED
    for k in range(n):
        i = memory.on[k]
        planned[i, 0], planned[i, 1] = chosen[2 * k], chosen[2 * k + 1]
    return outcome


@kernel
def follow_forces(machine, memory, x, holds, dt, offsets):
    """
    Move the rest position offsets by one period towards the planned forces, in place.

    ``x`` has nominal rest positions, to which offsets add; those of swing feet decay.
    """
    index, constants, work = machine.index, machine.constants, memory.work
    z, v, planned = x.z, x.v, memory.planned
    accelerate(machine, work, holds, x, memory.zdd, memory.forces)
    gx, gy = constants[BODY.gravity_x], constants[BODY.gravity_y]
    c, s = math.cos(z[2]), math.sin(z[2])
    end = work.shape[0] - 1
    for i in range(index.shape[0]):
        n, start = index[i, LIMB.n_links], index[i, LIMB.start]
        limb, link = index[i, LIMB.hip], index[i, LIMB.links]
        at = start - 3
        dx, dy, moment = 0.0, 0.0, 0.0
        if holds[i]:
            mass = limb_mass(machine, i, z)[0]
            # The hip must transmit the wall's force less the limb's weight.
            dx = planned[i, 0] + mass * gx - memory.forces[i, FORCE.hip]
            dy = planned[i, 1] + mass * gy - memory.forces[i, FORCE.hip + 1]
            limb_terms(index, constants, work, i, z, v)
            px, py = work[end, END.pose], work[end, END.pose + 1]
            moment = -((px - z[start]) * dy - (py - z[start + 1]) * dx)
            for k in range(1, n):
                stiff = constants[link + LINK.width * k + LINK.stiffness]
                damp = constants[link + LINK.width * k + LINK.damping] / dt
                jx, jy = work[2 + k, WORK.joint], work[2 + k, WORK.joint + 1]
                torque = (px - jx) * dy - (py - jy) * dx + moment
                if stiff + damp > 0.0:
                    offsets[at + 2 + k] = (torque + damp * offsets[at + 2 + k]) / (stiff + damp)
        # Implicit Euler of K rho + B rhodot = b: stable at any sample time.
        K, B = limb + HIP.stiffness, limb + HIP.damping
        kept = scale(1.0 / dt, rotate(load9(constants, B), load3(offsets, at)))
        store3(offsets, at, add(kept, (-(c * dx + s * dy), s * dx - c * dy, -moment)))
        for j in range(9):
            memory.hip[j // 3, j % 3] = constants[K + j] + constants[B + j] / dt
        factorize(memory.hip, 3)
        solve_factorized(memory.hip, 3, offsets[at:at + 3])


# -------------------------------------------------------------------------------------------------
# Hips that only turn: r_phi moves, r_x and r_y stay.
#
# A hip's moment sets its foot's tangential force. Radial forces follow from the place of the body,
# which yields to them: on the feet of a stride, the balance of force across the body and of moment
# leaves it at rest only where they are those that belong to the tangential ones. The body then
# swings about the straight way by some milliradians, and the feet do not squeeze each other.


@kernel
def turn_to_forces(machine, memory, x, holds, dt, offsets):
    """Move the rest angles' offsets by one period towards the planned forces, in place."""
    index, constants, work = machine.index, machine.constants, memory.work
    accelerate(machine, work, holds, x, memory.zdd, memory.forces)
    gx, gy = constants[BODY.gravity_x], constants[BODY.gravity_y]
    for i in range(index.shape[0]):
        at, limb = index[i, LIMB.start] - 3, index[i, LIMB.hip]
        extra = 0.0
        if holds[i]:
            mass = limb_mass(machine, i, x.z)[0]
            limb_terms(index, constants, work, i, x.z, x.v)
            # The limb's own balance about its foot, at rest.
            fx, fy = memory.planned[i, 0] + mass * gx, memory.planned[i, 1] + mass * gy
            extra = (-work[2, WORK.bias] - work[2, WORK.jacobian] * fx
                     - work[2, WORK.jacobian + 1] * fy - memory.forces[i, FORCE.hip + 2])
        damping = constants[limb + HIP.damping + 8] / dt
        offsets[at], offsets[at + 1] = 0.0, 0.0
        offsets[at + 2] = ((damping * offsets[at + 2] - extra)
                           / (constants[limb + HIP.stiffness + 8] + damping))


# -------------------------------------------------------------------------------------------------
# Whether pads hold what is to come: the next change of feet, and the plain gait as a whole.


# Parts of the next phase at which its load is allocated.
INSTANTS = (0.0, 0.5, 1.0)


def weaker(pad: Adhesion, part: float) -> Adhesion:
    """Return a pad all limits of which are lower by a part."""
    rest = 1.0 - part
    return replace(pad, shear=rest * pad.shear, normal=rest * pad.normal, tack=rest * pad.tack,
                   half_angle=math.atan(rest * math.tan(pad.half_angle)),
                   release_angle=math.atan(rest * math.tan(pad.release_angle)))


class PadForesight:
    """Allocates the load of the next phase of the gait to pads that are weaker than stated."""

    def __init__(self, model: StickybotModel, clock: GaitClock, pads: Sequence[Adhesion],
                 deviation: float):
        self._model, self._clock = model, clock
        self._pads = np.array([weaker(pad, deviation).packed() for pad in pads])
        self._wall = np.array([model.body.height, model.wall.normal])
        self._nominal, _ = RestPosition.nominal(model).packed(model)
        self._memory = make_sharing_memory(model.machine, model.nz)
        self._sets, self._normals = np.zeros((model.n_limbs, SET.width)), np.zeros(model.n_limbs)

    def holds(self, z: np.ndarray, angles: np.ndarray, time_ns: int, speed: float) -> bool:
        """
        Return whether the pads hold from the next lift-off to the one after it.

        ``z``: coordinates now; ``angles`` (N,) [rad]: of the pads that hold, wall axes;
        ``time_ns``: of the gait; ``speed`` [m/s] of the body along its y axis.
        """
        now = self._clock.at(time_ns)
        wait = float(now.until_lift[now.stance].min(initial=math.inf))
        if not math.isfinite(wait):
            return True
        then = self._clock.at(time_ns + round(1e9 * wait) + 1)
        if not then.stance.any():
            return True
        lasting = float(then.until_lift[then.stance].min())
        # Feet that swing now and stand then are set where their limbs point.
        fresh = then.stance & ~now.stance
        z, angles = z.copy(), np.where(fresh, z[2] + self._pads[:, PAD.direction], angles)
        u = self._nominal.copy()
        u[self._model.hip_columns[:, 2]] += then.angle
        for i in np.flatnonzero(fresh):
            relax_limb(self._model, i, z, u)
        forward = speed * np.array([-math.sin(z[2]), math.cos(z[2])])
        start = z[:2].copy()
        for part in INSTANTS:
            z[:2] = start + forward * (wait + part * lasting)
            if not self._carried(z, angles, then.stance):
                return False
        return True

    def _carried(self, z: np.ndarray, angles: np.ndarray, stance: np.ndarray) -> bool:
        machine, memory, still = self._model.machine, self._memory, np.zeros(3)
        static_load(machine, z, still, memory.w)
        # The pull off the wall follows from the whole load, however it is shared.
        memory.forces[:, FORCE.reaction:FORCE.reaction + 2] = (
            memory.w[:2] / stance.sum() * stance[:, None])
        self._normals[:] = 0.0
        normal_loads(machine, self._wall, stance, z, memory.forces, self._normals)
        fill_sets(self._pads, self._normals, angles, self._sets)
        found = choose_forces(machine, memory, z, stance, np.ones(len(stance)), still, self._sets,
                              1e-6)
        # The program keeps to half-planes; the largest force, which it makes least, to the discs.
        within = np.hypot(*memory.planned.T) <= self._sets[:, SET.radius]
        return bool(found == WITHIN and within[stance].all())
