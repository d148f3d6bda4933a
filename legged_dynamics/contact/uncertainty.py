# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Error bars of ground reactions, and what no error bar can be given for.

The answer is taken to be linear in every error; its covariance is the sum of squares of what each
source of noise does to it. Motion alone knows nothing of forces that add up to nothing on the
base (squeeze between feet): those directions are left out of the covariance and listed. With
measured torque a direction is left out when what is known of it comes from the prior.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from legged_dynamics.contact.batch import ContactBatch
from legged_dynamics.contact.instant_problem import InstantProblem
from legged_dynamics.contact.memory import Memory
from legged_dynamics.contact.noise import MotionNoise, shifted_models, shifted_motions
from legged_dynamics.contact.solution import ContactSolution
from legged_dynamics.contact.weights import EquationWeights
from legged_dynamics.dynamics.motion import Motion
from legged_dynamics.exceptions import UnknownNameError
from legged_dynamics.model.foot import Foot
from legged_dynamics.model.robot_model import RobotModel

# A direction is observed when its variance is below this part of the prior's.
OBSERVED = 0.05
# Relative size of a singular value below which feet cannot carry a wrench.
UNSEEN = 1e-6
# Part of a component that may lie in unobserved directions for it to count as observed.
NEGLIGIBLE = 1e-6


class Solver(Protocol):
    """What error bars ask of a `ContactInverseDynamics`."""

    model: RobotModel
    feet: tuple[Foot, ...]
    length_scale: float
    weights: EquationWeights | None
    memory: Memory
    program: tuple[np.ndarray, np.ndarray, np.ndarray]

    @property
    def solve(self) -> Callable[..., ContactSolution]:
        """Ground reactions of an instant."""

    @property
    def problem(self) -> Callable[..., InstantProblem]:
        """The same, row by row."""

    @property
    def batch(self) -> Callable[..., ContactBatch]:
        """Ground reactions of many."""


@dataclass(frozen=True, eq=False)
class WrenchUncertainty:
    """
    How well the wrenches of one instant are known.

    Attributes
    ----------
    feet : tuple of str
        Links of the feet.
    covariance : (6 nf, 6 nf) array [N^2, N^2 m, N^2 m^2]
        Of the wrenches ``[f; m]`` in the feet's frames, foot after foot, within the directions
        that are observed.
    unobservable : (6 nf, k) array
        The other directions: combinations of wrenches that nothing measured depends on.
    observable : (nf, 6) bool array
        Components that have no part in unobservable directions.
    standard_deviation : (nf, 6) array [N, N m]
        Of each component; infinite for those that are not observable.

    """

    feet: tuple[str, ...]
    covariance: np.ndarray
    unobservable: np.ndarray
    observable: np.ndarray
    standard_deviation: np.ndarray

    def covariance_of(self, foot: str) -> np.ndarray:
        """
        Return the (6, 6) covariance of one foot's wrench, within the observed directions.

        Raises
        ------
        UnknownNameError
            When there is no such foot.

        """
        if foot not in self.feet:
            raise UnknownNameError('foot', foot, self.feet)
        i = 6 * self.feet.index(foot)
        return self.covariance[i:i + 6, i:i + 6]


def wrench_uncertainty(solver: Solver, motion: Motion, noise: MotionNoise,
                       effort: np.ndarray | None, conditions: dict[str, Any]
                       ) -> WrenchUncertainty:
    """Return the error bars of what a solver answers; see `ContactInverseDynamics`."""
    feet = tuple(foot.link for foot in solver.feet)

    def answer(measured: np.ndarray | None = effort) -> np.ndarray:
        return solver.solve(motion, effort=measured, **conditions).wrench.ravel().copy()

    moves = np.vstack([shifted_models(solver.memory, noise, answer),
                       _moved_by_motion(solver, motion, noise, effort, conditions)])
    if effort is not None:
        moves = np.vstack([moves, _moved_by_effort(solver, noise, np.asarray(effort, float),
                                                   answer)])
    instant = solver.problem(motion, effort=effort, **conditions)
    to_wrench, from_wrench = instant.to_wrench, instant.from_wrench
    if effort is None or solver.weights is None:
        scale = np.where(instant.moments, solver.length_scale, 1.0)
        unseen = _null_space(instant.problem.rows[:6] * scale)
    else:
        scale = np.sqrt(instant.problem.covariance.diagonal())
        known = instant.problem.without_limits().solve().covariance / np.outer(scale, scale)
        variance, directions = np.linalg.eigh(known)
        unseen = directions[:, variance > OBSERVED]
    seen = scale[:, None] * (np.eye(len(scale)) - unseen @ unseen.T) / scale
    moves = moves @ (to_wrench @ seen @ from_wrench).T
    directions = to_wrench @ (scale[:, None] * unseen)
    size = np.linalg.norm(to_wrench * scale, axis=1)
    observable = (np.linalg.norm(directions, axis=1) <= NEGLIGIBLE * size).reshape(-1, 6)
    deviation = np.linalg.norm(moves, axis=0).reshape(-1, 6)
    return WrenchUncertainty(feet, moves.T @ moves, directions, observable,
                             np.where(observable, deviation, np.inf))


def _null_space(A: np.ndarray) -> np.ndarray:
    _, s, Vt = np.linalg.svd(A)
    rank = int((s > UNSEEN * s[:1].sum()).sum())
    return Vt[rank:].T


def _moved_by_motion(solver: Solver, motion: Motion, noise: MotionNoise,
                     effort: np.ndarray | None, conditions: dict[str, Any]) -> np.ndarray:
    shifted = shifted_motions(solver.model, motion, noise)
    pairs = len(shifted[0])
    of_each = {'effort': effort, 'in_contact': conditions.get('in_contact'),
               'guess': conditions.get('guess')}
    given: dict[str, Any] = {
        key: None if value is None else np.broadcast_to(value, (pairs, *np.shape(value)))
        for key, value in of_each.items()}
    rest = {key: value for key, value in conditions.items() if key not in given}
    q, v, a, base = shifted
    wrench = solver.batch(q, v, a, base, **given, **rest).wrench.reshape(pairs, -1)
    return (wrench[:pairs // 2] - wrench[pairs // 2:]) / 2.0


def _moved_by_effort(solver: Solver, noise: MotionNoise, effort: np.ndarray,
                     answer: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    steps = np.diag(noise.of('effort', solver.model.nv))
    known = np.isfinite(effort) & steps.any(axis=1)
    moves = [(answer(effort + step) - answer(effort - step)) / 2.0 for step in steps[known]]
    return np.array(moves).reshape(len(moves), 6 * len(solver.feet))
