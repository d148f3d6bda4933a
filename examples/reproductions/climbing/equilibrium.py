# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Statics of compliant limbs, where springs determine the forces: rest pose and least forces."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, ModelError, SimulationError
from legged_dynamics.stickybot.allocation.force_allocation import (
    LEAST_MAXIMUM,
    SET,
    Allocation,
    AllocationStatus,
    ForceSets,
    least_maximum,
    make_force_memory,
    solve_balance,
    solve_forces,
)
from legged_dynamics.stickybot.model.dynamics import (
    POSITION_STEP,
    accelerate,
    free_coordinates,
    jacobians,
    load_of,
    make_stepper,
)
from legged_dynamics.stickybot.model.limb import (
    FORCE,
    LIMB,
    WORK,
    Coordinates,
    hip_deflection,
    limb_terms,
    make_workspace,
)
from legged_dynamics.stickybot.model.robot import (
    RestPosition,
    StickybotModel,
    StickybotState,
    fitting,
)

# -------------------------------------------------------------------------------------------------
# Rest positions that produce given forces.


def recover_rest(model: StickybotModel, state: StickybotState, forces: np.ndarray,
                 joint_acceleration: np.ndarray | None = None,
                 deflection_rate: np.ndarray | None = None) -> RestPosition:
    """
    Return the rest positions with which the feet on the wall have the given forces.

    The limb's own balance gives the hip's force and moment, and they its deflection::

        f_i = F_i - m_i (a_lcg,i - g)          m_i = r_c x m g - A qdd - r_h x f_i
        r_i = d_i - K^-1 ( R^T [f_i; m_i] - B deltadot_i )

    In a limb of several links the foot's row gives the moment, and each inner joint's torque then
    follows, and with it the joint's rest angle. Body and limbs accelerate as the forces were
    allocated for.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    state : StickybotState
        Pose and motion.
    forces : (k, 2) array [N]
        Of the feet on the wall, in the order of the limbs.
    joint_acceleration : (nq,) array, optional [rad/s^2]
        Zero unless given.
    deflection_rate : (N, 3) array, optional [m/s, m/s, rad/s]
        ``deltadot``: zero unless given; the rest positions then move along with the limbs' ends.

    Returns
    -------
    RestPosition
        Limbs off the wall are held at their nominal rest position.

    Raises
    ------
    MeasurementError
        When an array does not fit the model.
    ModelError
        When an inner joint without stiffness would have to bear a torque.

    """
    z, v, attached = state.packed(model)
    feet = np.flatnonzero(attached)
    F = fitting(forces, (len(feet), 2), 'forces of the feet on the wall')
    qdd = np.zeros(model.nz)
    if joint_acceleration is not None:
        qdd[model.joint_columns] = fitting(joint_acceleration, (model.n_joints,),
                                           'joint accelerations')
    slip = np.zeros((model.n_limbs, 3)) if deflection_rate is None else \
        fitting(deflection_rate, (model.n_limbs, 3), 'deflection rates')
    c, s = math.cos(z[2]), math.sin(z[2])
    hip, hip_rate = model.rest, np.zeros((model.n_limbs, 3))
    u, ud = RestPosition.nominal(model).packed(model)
    work = make_workspace(model.machine)
    for i, force in zip(feet, F):
        limb, start, n = model.limbs[i], model.machine.index[i, LIMB.start], \
            model.machine.index[i, LIMB.n_links]
        limb_terms(*model.machine, work, i, z, v)
        deflection = np.array(hip_deflection(c, s, z, v, work))
        mass = np.tril(work[:n + 2, WORK.mass_matrix:WORK.mass_matrix + n + 2])
        mass = mass + np.tril(mass, -1).T
        load = mass @ qdd[start:start + n + 2] + work[:n + 2, WORK.bias]
        f = force - load[:2]
        moments = load[2:] + work[2:n + 2, WORK.jacobian:WORK.jacobian + 2] @ f
        moment = -moments[0]
        bf = np.array([c * f[0] + s * f[1], c * f[1] - s * f[0], moment])
        hip[i] = deflection[:3] - np.linalg.solve(limb.stiffness, bf - limb.damping @ slip[i])
        hip_rate[i] = deflection[3:] - slip[i]
        for k in range(1, n):
            link, at = limb.links[k], start + 2 + k
            torque = moments[k] + moment
            if link.stiffness == 0.0 and abs(torque) > 1e-12:
                raise ModelError(f'limb {limb.name!r}: inner joint {k} would have to bear '
                                 f'{torque:.4g} N m and has no stiffness to do it with')
            u[at - 3] = z[at] + (torque / link.stiffness if link.stiffness else 0.0)
            ud[at - 3] = v[at]
    return RestPosition(hip, hip_rate, u[model.inner_columns], ud[model.inner_columns])


def _following_rates(model: StickybotModel, state: StickybotState, velocity: np.ndarray
                     ) -> StickybotState:
    """
    Return the pose with the body at a velocity and the limbs on the wall following it.

    Each limb's joints turn so that its end keeps its place on the body as well as it can, in
    least squares; with the one link of a rod, along its own tangent.
    """
    z, v, attached = state.packed(model)
    v[:] = 0.0
    v[:3] = fitting(velocity, (3,), 'a body velocity')
    work = make_workspace(model.machine)
    for i in np.flatnonzero(attached):
        start, n = model.machine.index[i, LIMB.start], model.machine.index[i, LIMB.n_links]
        limb_terms(*model.machine, work, i, z, v)
        arm = work[-1, :2] - z[:2]
        wanted = np.array([v[0] - v[2] * arm[1], v[1] + v[2] * arm[0]])
        J = work[2:n + 2, WORK.jacobian:WORK.jacobian + 2].T
        v[start + 2:start + 2 + n] = np.linalg.lstsq(J, wanted, rcond=None)[0]
    return StickybotState.unpacked(model, z, v, attached)


# -------------------------------------------------------------------------------------------------
# Equilibria, and the least forces there.


@dataclass(frozen=True)
class NewtonSettings:
    """Newton's method for a pose at rest; steps and tolerance in m or rad."""

    longest_step: float = 0.05      # of a coordinate
    steps: int = 100
    settled: float = 1e-12


NEWTON = NewtonSettings()


class _Statics:
    """Accelerations and reactions of one robot as functions of pose and rest positions."""

    def __init__(self, model: StickybotModel, state: StickybotState):
        self.model = model
        self.z, _, self.attached = state.packed(model)
        self.step = make_stepper(model)
        self.free = free_coordinates(model, self.attached)
        self.feet = np.flatnonzero(self.attached)
        self._v, self._ud = np.zeros(model.nz), np.zeros(model.nz - 3)
        self._zdd, self._forces = np.zeros(model.nz), np.zeros((model.n_limbs, FORCE.width))

    def _coordinates(self, z: np.ndarray, u: np.ndarray) -> Coordinates:
        return Coordinates(z, self._v, u, self._ud)

    def at(self, z: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return accelerations of the free coordinates, and reactions (2 k,)."""
        accelerate(self.model.machine, self.step.work, self.attached, self._coordinates(z, u),
                   self._zdd, self._forces)
        return (self._zdd[self.free].copy(),
                self._forces[self.feet, FORCE.reaction:FORCE.reaction + 2].ravel())

    def by_position(self, u: np.ndarray) -> np.ndarray:
        """Return the Jacobian of the free accelerations."""
        self.at(self.z, u)
        jacobians(self.model.machine, self.step, self.attached, self._coordinates(self.z, u),
                  self._zdd, self._forces)
        return self.step.by_position[np.ix_(self.free, self.free)]

    def settle(self, u: np.ndarray) -> None:
        """Move to the equilibrium next to the present pose."""
        for _ in range(NEWTON.steps):
            acceleration, _ = self.at(self.z, u)
            move = -np.linalg.solve(self.by_position(u), acceleration)
            longest = float(np.abs(move).max())
            self.z[self.free] += move * min(1.0, NEWTON.longest_step / max(longest, 1e-300))
            if longest < NEWTON.settled * max(1.0, float(np.abs(self.z).max())):
                return
        raise SimulationError('no equilibrium found near the given pose: the springs may be too '
                              'soft to hold the robot there')

    def sensitivity(self, u: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return d(reactions)/du and d(free coordinates)/du at equilibrium."""
        acceleration, reaction = self.at(self.z, u)
        by_u, reaction_by_u = [], []
        for column in columns:
            moved = u.copy()
            # Affine in u: a step of any size is exact, and one of 1 loses least to rounding.
            moved[column] += 1.0
            a, f = self.at(self.z, moved)
            by_u.append(a - acceleration)
            reaction_by_u.append(f - reaction)
        move = -np.linalg.solve(self.by_position(u), np.array(by_u).T)
        total = np.array(reaction_by_u).T
        for j, coordinate in enumerate(self.free):
            ahead, behind = self.z.copy(), self.z.copy()
            ahead[coordinate] += POSITION_STEP
            behind[coordinate] -= POSITION_STEP
            slope = (self.at(ahead, u)[1] - self.at(behind, u)[1]) / (2.0 * POSITION_STEP)
            total += np.outer(slope, move[j])
        return total, move

    def state(self) -> StickybotState:
        """Return the present pose, at rest."""
        return StickybotState.unpacked(self.model, self.z, self._v, self.attached)


def find_equilibrium(model: StickybotModel, state: StickybotState,
                     rest: RestPosition | None = None) -> StickybotState:
    """Return the pose of rest next to a state, its feet as they are; SimulationError if none."""
    statics = _Statics(model, state)
    statics.settle((rest or RestPosition.nominal(model)).packed(model)[0])
    return statics.state()


def static_sensitivity(model: StickybotModel, state: StickybotState, rest: RestPosition
                       ) -> np.ndarray:
    """
    Return dF_r,i / dr_phi,j (k, 2, N) [N/rad] of the feet on the wall, once all has settled.

    The frozen gradient (48) holds for the first instant, in which only the foot's own limb reacts
    to its rest angle. This one holds at the new equilibrium, found from a state near to it: the
    changes over all feet sum to zero.
    """
    statics = _Statics(model, state)
    u, _ = rest.packed(model)
    statics.settle(u)
    total, _ = statics.sensitivity(u, model.hip_columns[:, 2])
    return total.reshape(-1, 2, model.n_limbs)


@dataclass(frozen=True, eq=False)
class StaticReduction:
    """
    How small the largest reaction of a robot at rest can be made.

    Attributes
    ----------
    rest : RestPosition
        Rest positions that do it.
    state : StickybotState
        Pose at rest with them.
    reactions : (k, 2) array [N]
        Of the feet on the wall.
    before, peak : float [N]
        Largest reaction before and after.
    floor : float [N]
        The least that these feet could have with hips that move in every direction: for equal feet
        in good places, the weight divided by their number.
    shift : (3,) array [m, m, rad]
        Change of the body's pose.
    message : str
        What remains, and why.

    """

    rest: RestPosition
    state: StickybotState
    reactions: np.ndarray
    before: float
    peak: float
    floor: float
    shift: np.ndarray
    message: str

    @property
    def remaining(self) -> float:
        """Largest reaction above the floor [N]."""
        return self.peak - self.floor


def reduce_static_forces(model: StickybotModel, state: StickybotState,
                         rest: RestPosition | None = None, *, authority: str = 'full',
                         hold_pose: bool = False) -> StaticReduction:
    """
    Make the largest reaction of a robot at rest as small as rest positions can.

    With full authority (r_x, r_y, r_phi) the pose stays and the answer is exact: the cone program,
    then the springs. With rest angles alone the robot finds a new balance with every change; a
    sequence of cone programs on the settled sensitivities leads to a local optimum.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    state : StickybotState
        Near the equilibrium, which is found first.
    rest : RestPosition, optional
        The model's own unless given.
    authority : {'full', 'turning'}
        Which parts of the rest positions may move.
    hold_pose : bool
        Keep the body's pose also with rest angles alone.

    Returns
    -------
    StaticReduction
        Rest positions, and the forces with them.

    Raises
    ------
    ConfigurationError
        When the authority is another one, or no foot is on the wall.
    SimulationError
        When there is no equilibrium near.

    """
    if authority not in ('full', 'turning'):
        raise ConfigurationError(f"expected authority 'full' or 'turning', got {authority!r}")
    rest = rest or RestPosition.nominal(model)
    statics = _Statics(model, state)
    if not len(statics.feet):
        raise ConfigurationError('expected at least one foot on the wall, got none')
    u, _ = rest.packed(model)
    statics.settle(u)
    start = statics.z.copy()
    before = _peak(statics.at(statics.z, u)[1])
    settled = statics.state()
    least = least_maximum(load_of(model, settled, np.zeros(3)))
    if least.status is not AllocationStatus.OPTIMAL:
        raise SimulationError(f'the feet cannot carry the robot at rest: {least.status.value}')
    if authority == 'full':
        held = recover_rest(model, settled, least.forces)
        return StaticReduction(RestPosition(held.hip, joint=held.joint), settled, least.forces,
                               before, least.value, least.value, np.zeros(3),
                               'nothing remains: the largest force is the least that these feet '
                               'allow')
    u = _turn(statics, u, hold_pose, start)
    reactions = statics.at(statics.z, u)[1]
    peak = _peak(reactions)
    message = (f'turning the hips leaves {max(peak - least.value, 0.0):.4f} N above the least '
               f'possible {least.value:.4g} N: ')
    message += ("each limb's radial force is set by where its foot and hip are, and takes r_x "
                'and r_y to undo' if peak > 1.01 * least.value else 'less than 1 % of it')
    return StaticReduction(
        RestPosition(u[model.hip_columns], joint=u[model.inner_columns]), statics.state(),
        reactions.reshape(-1, 2), before, peak, least.value, statics.z[:3] - start[:3], message)


def _peak(reactions: np.ndarray) -> float:
    return float(np.hypot(reactions[0::2], reactions[1::2]).max())


def _turn(statics: _Statics, u: np.ndarray, hold_pose: bool, start: np.ndarray) -> np.ndarray:
    """Descend over the rest angles; leave `statics` settled at the answer."""
    columns = statics.model.hip_columns[statics.feet, 2]
    n = len(columns)
    memory, forces, caution = make_force_memory(n), np.zeros(2 * n), 1e-3
    reactions = statics.at(statics.z, u)[1]
    peak = _peak(reactions)
    for _ in range(300):
        slopes, moves = statics.sensitivity(u, columns)
        scale = float(np.abs(slopes).max())
        rows = moves[:3] if hold_pose else np.zeros((1, n))
        miss = start[:3] - statics.z[:3] if hold_pose else np.zeros(1)
        basis, least = np.zeros((n + 1, n)), np.zeros(n)
        rank, _ = solve_balance(np.ascontiguousarray(rows), miss, basis, least)
        if rank == n:
            return u
        base = reactions + slopes @ least
        directions = np.ascontiguousarray(basis[rank:n] @ slopes.T / scale)
        code, _ = solve_forces(LEAST_MAXIMUM, base, directions, np.zeros((n, SET.width)),
                               np.ones(n), caution, memory, forces)
        if code < 0:
            return u
        unit = float(np.hypot(base[0::2], base[1::2]).max())
        turn = least + basis[rank:n].T @ memory.program.unknown[0, :n - rank] * unit / scale
        trial, kept = u.copy(), statics.z.copy()
        trial[columns] += turn
        try:
            statics.settle(trial)
            found = _peak(statics.at(statics.z, trial)[1])
        except SimulationError:
            found = np.inf
        if found < peak - 1e-10 * peak:
            gain = (peak - found) / peak
            u, peak, reactions = trial, found, statics.at(statics.z, trial)[1]
            caution = max(caution / 5.0, 1e-12)
            if gain < 1e-9:
                return u
        else:
            statics.z[:] = kept
            caution *= 10.0
            if caution > 1e6:
                return u
    return u


# -------------------------------------------------------------------------------------------------
# The largest steady speed along the wall that the feet allow.


def largest_speed(model: StickybotModel, state: StickybotState, direction: np.ndarray,
                  sets: ForceSets, *, ceiling: float = 100.0) -> Allocation:
    """
    Return the largest steady speed in a direction that the feet allow.

    The body moves at ``speed * direction``, unaccelerated, and each limb on the wall turns so that
    its end follows its hip as well as it can; what a speed costs is then the limbs' centripetal
    force, which grows with its square. The value is the speed, `ceiling` when that is no limit.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    state : StickybotState
        Its pose counts, its velocities do not.
    direction : (3,) array
        Of the body's velocity, for a speed of 1.
    sets : ForceSets
        Of the feet on the wall.
    ceiling : float
        Largest speed that is asked for.

    Returns
    -------
    Allocation
        Its value is the speed [m/s].

    """
    def allocation(speed: float) -> Allocation:
        moving = _following_rates(model, state, speed * np.asarray(direction, float))
        return least_maximum(load_of(model, moving, np.zeros(3)), sets)

    slow, fast = 0.0, ceiling
    best = allocation(slow)
    if best.status is not AllocationStatus.OPTIMAL:
        return best
    top = allocation(fast)
    if top.status is AllocationStatus.OPTIMAL:
        return Allocation(top.status, top.forces, fast, top.gap, top.balance_error)
    while fast - slow > 1e-9 * fast:
        middle = 0.5 * (slow + fast)
        found = allocation(middle)
        if found.status is AllocationStatus.OPTIMAL:
            slow, best = middle, found
        else:
            fast = middle
    return Allocation(best.status, best.forces, slow, best.gap, best.balance_error)
