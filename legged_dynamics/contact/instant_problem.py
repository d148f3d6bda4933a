# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The ground-force problem of an instant, row by row: what the kernels of `program_tick` solve.

They have the same problem in another form, foot by foot and in the space of its multipliers, which
takes a few microseconds. Here it is open: for error bars within limits, for rows and limits of
one's own (an expected share, the last force, limits of torques), and to look at.
"""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from legged_dynamics.contact.solution import ContactSolution, EquationWeights
from legged_dynamics.contact.tick import EASE, GUESS, NORMAL, STANDING, Memory
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    SIZE,
    START,
    contact_jacobians,
)
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.force_map.ground_force_problem import GroundForceProblem
from legged_dynamics.model.feet import MOMENT, Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.rotations import skew


class Solved(Protocol):
    """What is asked of a `ContactInverseDynamics` that has just solved an instant."""

    model: RobotModel
    feet: tuple[Foot, ...]
    friction: tuple[FrictionCone, ...]
    weights: EquationWeights | None
    memory: Memory


@dataclass(frozen=True, eq=False)
class InstantProblem:
    """
    A ground-force problem, and what its unknowns are to the feet.

    Attributes
    ----------
    problem : GroundForceProblem
        Unknown are the contact coordinates of the feet on the ground, foot after foot, base axes.
        First come the six rows of the base, then those of joints whose torque was given.
    to_wrench : (6 nf, nc) array
        To the wrenches ``[f; m]`` in the feet's frames, foot after foot.
    from_wrench : (nc, 6 nf) array
        And back.
    moments : (nc,) bool array
        Which unknowns are moments.
    jacobian : (nc, nv) array
        Of the contacts: joints deliver ``free_effort - jacobian.T @ w``.
    free_effort : (nv,) array [N m or N]
        What the joints would deliver for the same motion without the ground.

    """

    problem: GroundForceProblem
    to_wrench: np.ndarray
    from_wrench: np.ndarray
    moments: np.ndarray
    jacobian: np.ndarray
    free_effort: np.ndarray

    def within_efforts(self, limits: np.ndarray) -> InstantProblem:
        """
        Return the problem with limits on joint efforts more, (nv,) [N m or N]; infinite: none.

        Raises
        ------
        ConfigurationError
            When there is not one limit for each joint velocity, or one is below zero.

        """
        limits = np.asarray(limits, float)
        if limits.shape != self.free_effort.shape or not (limits >= 0.0).all():
            raise ConfigurationError(f'expected {len(self.free_effort)} effort limits of at least '
                                     f'0, got {limits.tolist()}')
        bounded = np.isfinite(limits) & self.jacobian.any(axis=0)
        J, free, most = self.jacobian[:, bounded].T, self.free_effort[bounded], limits[bounded]
        return replace(self, problem=self.problem.with_limits(
            np.vstack([J, -J]), np.concatenate([free - most, -free - most])))

    def wrenches(self, coordinates: np.ndarray) -> np.ndarray:
        """Return (nf, 6) wrenches in the feet's frames [N, N m]."""
        return (self.to_wrench @ coordinates).reshape(-1, 6)

    def wrench_covariance(self, covariance: np.ndarray) -> np.ndarray:
        """Return the (6 nf, 6 nf) covariance of those wrenches."""
        return self.to_wrench @ covariance @ self.to_wrench.T


def instant_problem(solver: Solved, solution: ContactSolution, effort: np.ndarray | None,
                    guessed: bool) -> InstantProblem:
    """
    Return the problem of the instant that a solver has solved last.

    Parameters
    ----------
    solver : ContactInverseDynamics
        Its conditions are still those of that instant.
    solution : ContactSolution
        What it answered.
    effort : (nv,) array, optional [N m or N]
        Measured torques that it was given.
    guessed : bool
        Whether it was given a guess.

    """
    memory = solver.memory
    to_wrench, from_wrench, A, moments = contact_maps(memory)
    on = memory.feet.index[memory.feet.rows.foot, STANDING] != 0
    J = np.zeros((len(on), solver.model.nv))
    contact_jacobians(memory.tree, memory.feet, memory.bodies, memory.states, J)
    J = J[on]
    w = from_wrench @ solution.wrench.ravel()
    demand, free = A @ w + solution.root_residual, solution.joint_effort + J.T @ w
    guess = np.zeros(len(w))
    if guessed:
        guess = from_wrench @ memory.states[:, GUESS:GUESS + 6].ravel()
    measured = effort is not None and solver.weights is not None
    if measured and solver.weights is not None:
        spread = np.where(moments, solver.weights.prior_moment, solver.weights.prior_force)
        problem = GroundForceProblem.prior(guess, spread ** 2).with_rows(
            A, demand, solver.weights.base)
        known = np.isfinite(np.asarray(effort, float)) & J.any(axis=0)
        problem = problem.with_rows(J[:, known].T, (free - effort)[known],
                                    np.asarray(solver.weights.joint, float)[known])
    else:
        # The base's equations must hold; what they leave is a matter of taste, in newtons.
        weight = solver.model.total_mass * GRAVITY
        spread = weight * np.where(moments, memory.settings[EASE] ** -0.5, 1.0)
        problem = GroundForceProblem.prior(guess, spread ** 2).with_rows(A, demand)
    return InstantProblem(problem.with_limits(*_limits(solver)), to_wrench, from_wrench, moments,
                          J, free)


def _limits(solver: Solved) -> tuple[np.ndarray, np.ndarray]:
    """Return C, d of ``C w >= d`` for the feet on the ground."""
    index, states = solver.memory.feet.index, solver.memory.states
    rows, least, start, total = [], [], 0, int(index[index[:, STANDING] != 0, SIZE].sum())
    for i, (foot, cone) in enumerate(zip(solver.feet, solver.friction)):
        if not index[i, STANDING]:
            continue
        R = states[i, FOOT_ROTATION:FOOT_ROTATION + 9].reshape(3, 3)
        normal = R[:, 2] if foot.plane else solver.memory.settings[NORMAL:NORMAL + 3]
        own = FrictionCone(cone.coefficient, normal, cone.facets, cone.minimum, cone.maximum)
        A, b = contact_inequalities(own, foot, R)
        arm = states[i, CONTACT:CONTACT + 3] - states[i, FOOT_POSITION:FOOT_POSITION + 3]
        if foot.moments:        # those of a sole are about its middle
            axes = solver.memory.feet.rows.axes(states[:, FOOT_ROTATION:FOOT_ROTATION + 9])
            own_axes = axes[int(index[i, START]) + 3:int(index[i, START] + index[i, SIZE])]
            A[:, :3] += A[:, 3:] @ own_axes @ skew(arm - R @ foot.center)
        wide = np.zeros((len(b), total))
        wide[:, start:start + A.shape[1]] = A
        rows.append(wide)
        least.append(b)
        start += A.shape[1]
    return np.vstack([np.zeros((0, total)), *rows]), np.concatenate([np.zeros(0), *least])


def contact_maps(memory: Memory) -> tuple[np.ndarray, ...]:
    """
    Return maps of the nc contact coordinates of feet on the ground, of what was solved last.

    To all wrenches (6 nf, nc), from them (nc, 6 nf), to the base's wrench (6, nc), and which
    coordinates are moments (nc,).
    """
    index, states = memory.feet.index, memory.states
    rows = memory.feet.rows
    axis_of = rows.axes(states[:, FOOT_ROTATION:FOOT_ROTATION + 9])
    to_wrench, from_wrench, on_base = [], [], []
    for i in np.flatnonzero(index[:, STANDING]):
        size, state = int(index[i, SIZE]), states[i]
        R = state[FOOT_ROTATION:FOOT_ROTATION + 9].reshape(3, 3)
        point = state[CONTACT:CONTACT + 3]
        arm = skew(point - state[FOOT_POSITION:FOOT_POSITION + 3])
        to, back = np.zeros((6 * len(index), size)), np.zeros((size, 6 * len(index)))
        axes = np.zeros((6, size))
        for k, row in enumerate(range(int(index[i, START]), int(index[i, START]) + size)):
            axes[3 * rows.kind[row]:3 * rows.kind[row] + 3, k] = axis_of[row]
        force, moment = axes[:3], axes[3:]
        to[6 * i:6 * i + 3], to[6 * i + 3:6 * i + 6] = R.T @ force, R.T @ (arm @ force + moment)
        back[:, 6 * i:6 * i + 3] = (force.T - moment.T @ arm) @ R
        back[:, 6 * i + 3:6 * i + 6] = moment.T @ R
        to_wrench.append(to)
        from_wrench.append(back)
        on_base.append(np.vstack([force, skew(point) @ force + moment]))
    moments = (rows.kind == MOMENT)[index[rows.foot, STANDING] != 0]
    nothing = np.zeros((6 * len(index), 0))
    return (np.hstack([nothing, *to_wrench]), np.vstack([nothing.T, *from_wrench]),
            np.hstack([np.zeros((6, 0)), *on_base]), moments)
