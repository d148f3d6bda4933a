# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The ground-force problem of an instant as a `GroundForceProblem`, for `ContactInverseDynamics`.

`program_tick` solves the same problem in a few microseconds. Here it is open: for error bars
within limits, for additional rows and limits (an expected share, the last force, limits of
torques), and to look at.
"""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from legged_dynamics.contact.program import FOOT, LIMITS, Program
from legged_dynamics.contact.solution import ContactSolution, EquationWeights
from legged_dynamics.contact.tick import EASE, GUESS, STANDING, Memory
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    contact_jacobians,
)
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.friction_cone import FrictionCone
from legged_dynamics.force_map.ground_force_problem import GroundForceProblem
from legged_dynamics.model.feet import MOMENT, Foot
from legged_dynamics.model.robot_model import RobotModel


class Solved(Protocol):
    """The parts of a `ContactInverseDynamics` that are read after it has solved an instant."""

    model: RobotModel
    feet: tuple[Foot, ...]
    friction: tuple[FrictionCone, ...]
    weights: EquationWeights | None
    memory: Memory
    program: Program        # where there is friction


@dataclass(frozen=True, eq=False)
class InstantProblem:
    """
    A ground-force problem, and the maps from its unknowns to the feet's wrenches.

    Attributes
    ----------
    problem : GroundForceProblem
        Unknown are the contact coordinates of the feet on the ground, foot after foot, base axes.
        First come the six rows of the base, then those of joints whose torque was given.
    to_wrench : (6 nf, nc) array
        Map to the wrenches ``[f; m]`` in the feet's frames, foot after foot.
    from_wrench : (nc, 6 nf) array
        And back.
    moments : (nc,) bool array
        Which unknowns are moments.
    jacobian : (nc, nv) array
        Jacobian of the contacts: joints deliver ``free_effort - jacobian.T @ w``.
    free_effort : (nv,) array [N m or N]
        Efforts of the joints for the same motion without the ground.

    """

    problem: GroundForceProblem
    to_wrench: np.ndarray
    from_wrench: np.ndarray
    moments: np.ndarray
    jacobian: np.ndarray
    free_effort: np.ndarray

    def within_efforts(self, limits: np.ndarray) -> InstantProblem:
        """
        Return the problem with limits on joint efforts in addition.

        Parameters
        ----------
        limits : (nv,) array [N m or N]
            Largest effort of each joint; infinite for none.

        Returns
        -------
        InstantProblem

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
        """
        Return the wrenches of contact coordinates.

        Parameters
        ----------
        coordinates : (nc,) array [N, N m]
            A solution of the problem.

        Returns
        -------
        (nf, 6) array [N, N m]
            In the feet's frames.

        """
        return (self.to_wrench @ coordinates).reshape(-1, 6)


def instant_problem(solver: Solved, solution: ContactSolution, effort: np.ndarray | None,
                    guessed: bool) -> InstantProblem:
    """Return the problem of the instant that the solver solved last."""
    memory = solver.memory
    to_wrench, from_wrench, A, moments = _contact_maps(memory)
    on = memory.feet.index[memory.feet.rows.foot, STANDING] != 0
    J = np.zeros((len(on), solver.model.nv))
    contact_jacobians(memory.tree, memory.feet, memory.bodies, memory.states, J)
    J = J[on]
    w = from_wrench @ solution.wrench.ravel()
    required, free = A @ w + solution.root_residual, solution.joint_effort + J.T @ w
    guess = np.zeros(len(w))
    if guessed:
        guess = from_wrench @ memory.states[:, GUESS:GUESS + 6].ravel()
    measured = effort is not None and solver.weights is not None
    if measured and solver.weights is not None:
        spread = np.where(moments, solver.weights.prior_moment, solver.weights.prior_force)
        problem = GroundForceProblem.prior(guess, spread ** 2).with_rows(
            A, required, solver.weights.base)
        known = np.isfinite(np.asarray(effort, float)) & J.any(axis=0)
        problem = problem.with_rows(J[:, known].T, (free - effort)[known],
                                    np.asarray(solver.weights.joint, float)[known])
    else:
        # The base's equations are exact; the prior chooses among what they leave open.
        weight = solver.model.total_mass * GRAVITY
        spread = weight * np.where(moments, memory.settings[EASE] ** -0.5, 1.0)
        problem = GroundForceProblem.prior(guess, spread ** 2).with_rows(A, required)
    return InstantProblem(problem.with_limits(*_limits(solver)), to_wrench, from_wrench, moments,
                          J, free)


def _limits(solver: Solved) -> tuple[np.ndarray, np.ndarray]:
    """Return C, d of ``C w >= d`` for the feet on the ground, as the solver's kernel has them."""
    feet = solver.memory.feet
    on = feet.index[feet.rows.foot, STANDING] != 0
    if not solver.friction:
        return np.zeros((0, int(on.sum()))), np.zeros(0)
    qp, foot = solver.program.qp, solver.program.templates[:, FOOT].astype(int)
    standing = LIMITS + np.flatnonzero(feet.index[foot, STANDING])
    return qp.C[standing][:, on], qp.d[standing]


def _contact_maps(memory: Memory) -> tuple[np.ndarray, ...]:
    """
    Return maps of the nc contact coordinates of feet on the ground, of the instant solved last.

    To all wrenches (6 nf, nc), from them (nc, 6 nf), to the base's wrench (6, nc), and which
    coordinates are moments (nc,).
    """
    rows, states = memory.feet.rows, memory.states
    R = states[:, FOOT_ROTATION:FOOT_ROTATION + 9].reshape(-1, 3, 3)
    points = states[:, CONTACT:CONTACT + 3]
    on = np.flatnonzero(memory.feet.index[rows.foot, STANDING])
    foot, moments = rows.foot[on], rows.kind[on] == MOMENT
    # Axis and arm of each coordinate in its foot's frame.
    axis = np.einsum('nji,nj->ni', R[foot], rows.axes(R)[on])
    arm = np.einsum('nji,nj->ni', R[foot],
                    (points - states[:, FOOT_POSITION:FOOT_POSITION + 3])[foot])
    shift, none = np.cross(arm, axis), np.zeros_like(axis)
    is_moment = moments[:, None]
    to = np.hstack([np.where(is_moment, none, axis), np.where(is_moment, axis, shift)])
    back = np.hstack([np.where(is_moment, shift, axis), np.where(is_moment, axis, none)])
    to_wrench = np.zeros((len(R), 6, len(on)))
    from_wrench = np.zeros((len(on), len(R), 6))
    to_wrench[foot, :, np.arange(len(on))] = to
    from_wrench[np.arange(len(on)), foot] = back
    return (to_wrench.reshape(-1, len(on)), from_wrench.reshape(len(on), -1),
            memory.feet.grasp(R, points)[:, on], moments)
