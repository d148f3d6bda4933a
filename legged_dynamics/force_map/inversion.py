# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Torques for a desired ground force: the inverse of a force map, with and without limits.

It asks for torques, not for the forces that are there, so it is no ground-force problem.
:func:`damped_torques` is the pseudo-inverse with damped singular values,
``sigma / (sigma^2 + lambda^2)``: fast, smooth through singular poses, without limits.
:class:`TorqueProgram` finds the torques *within their limits* whose force comes nearest to the
desired one *within friction and without pulling*. Both return the resulting force, the residual,
and the direction in which the map is weakest; in a mirror-symmetric pose that is one no torque can
change at all (see :mod:`legged_dynamics.force_map.affine`), and near one an undamped inverse
requires kilonewton metres: 20 N upwards on an almost upright leg of 61 kg take
(934, -735, 3854) N m.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.affine import RANK_TOLERANCE, AffineMap
from legged_dynamics.optimization.quadratic_program import (
    Outcome,
    QuadraticSolution,
    solve_quadratic_program,
)


class Reach(Enum):
    """Whether a desired force was reached."""

    REACHED = 'the force is as desired'
    NEAREST = 'the force is the nearest that the map, torque limits and friction allow'
    OUTSIDE_CONE = ('torques within their limits cannot keep the forces inside the friction cones;'
                    ' the force is the least bad one')


@dataclass(frozen=True, eq=False)
class TorqueSolution:
    """
    Torques for a desired force, and how reliable they are.

    Attributes
    ----------
    torque : (m,) array [N m or N]
        Torques in the order of the map's columns.
    force : (r,) array [N, N m]
        Force of these torques.
    residual : (r,) array [N, N m]
        Desired less produced force.
    reach : Reach
        Whether the desired force is produced, and if not, why.
    condition : float
        Condition number of the map: largest over smallest singular value; infinite when one is
        zero.
    weakest_direction : (r,) array
        Unit direction of force that torques change least.
    unproducible : (r, k) array
        Orthonormal directions of force that no torque changes; none in a regular pose.
    saturated : (m,) bool array
        Torques at their limits.
    cone_violation : float [N, N m]
        Amount by which the worst friction or load inequality is broken.
    kkt_residual : float
        Relative violation of the optimality conditions; 0 for the damped inverse.
    active : tuple of int
        Constraints at equality: the next solve's warm start.

    """

    torque: np.ndarray
    force: np.ndarray
    residual: np.ndarray
    reach: Reach
    condition: float
    weakest_direction: np.ndarray
    unproducible: np.ndarray
    saturated: np.ndarray
    cone_violation: float = 0.0
    kkt_residual: float = 0.0
    active: tuple[int, ...] = field(default=())


# A residual below this fraction of the desired force counts as none.
REACHED_TOLERANCE = 1e-3


def damped_torques(force_map: AffineMap, desired: np.ndarray, *, damping: float = 0.05,
                   reference: np.ndarray | None = None) -> TorqueSolution:
    """
    Return ``reference + D^+ (desired - f(reference))``, with damped singular values.

    Parameters
    ----------
    force_map : ForceMap, or what :class:`ConstrainedForceMap` computes
        Force map of the present state.
    desired : (r,) array [N, N m]
        Ground on robot, in the map's rows and axes.
    damping : float
        lambda as a fraction of the largest singular value. 0.01 to 0.1 keeps torques sensible
        near singular poses; 0 is the pseudo-inverse.
    reference : (m,) array, optional [N m or N]
        Torques from which to depart as little as possible; zero by default.

    Returns
    -------
    TorqueSolution

    Raises
    ------
    ConfigurationError
        When shapes do not fit or the damping is negative.

    """
    if not damping >= 0.0:
        raise ConfigurationError(f'expected a damping of at least 0, got {damping}')
    D, desired, reference = _checked(force_map, desired, reference)
    U, s, Vt = np.linalg.svd(D)
    largest = s[0] if s.size else 0.0
    kept = s > RANK_TOLERANCE * largest
    gain = np.zeros_like(s)
    gain[kept] = s[kept] / (s[kept] ** 2 + (damping * largest) ** 2)
    start = force_map.force(reference)
    torque = reference + Vt[:s.size].T @ (gain * (U[:, :s.size].T @ (desired - start)))
    return _solution(force_map, torque, desired, np.zeros(len(torque), bool))


class TorqueProgram:
    """
    Torques within limits whose ground forces, within friction, come nearest to desired ones.

    ``min |W^(1/2) (desired - k - D tau)|^2 + lambda^2 |tau - reference|^2`` subject to
    ``|tau| <= limits`` and ``A (k + D tau) >= b``, torques counted in units of their limits.
    Limits are hard. When they leave no force inside the cones, these are violated by as little as
    possible and the solution says so.

    Parameters
    ----------
    limits : (m,) array [N m or N]
        Torque limits of the map's columns; infinite where there are none.
    inequalities : pair of arrays, optional
        ``A`` (k, r) and ``b`` (k,): see :func:`stacked_inequalities` and
        :class:`~legged_dynamics.force_map.friction_cone.FrictionCone`.
    damping : float
        lambda as a fraction of the map's Frobenius norm.

    Raises
    ------
    ConfigurationError
        When a limit is not positive, or shapes do not fit.

    """

    def __init__(self, limits: np.ndarray,
                 inequalities: tuple[np.ndarray, np.ndarray] | None = None, *,
                 damping: float = 1e-4):
        self.limits = np.array(limits, dtype=float)
        if self.limits.ndim != 1 or not (self.limits > 0.0).all():
            raise ConfigurationError('expected torque limits above 0, got '
                                     f'{self.limits.tolist()}; a joint that must not act gets '
                                     'no column')
        if not damping > 0.0:
            raise ConfigurationError(f'expected a damping above 0, got {damping}')
        self.damping = float(damping)
        A, b = inequalities or (np.zeros((0, 0)), np.zeros(0))
        self.A, self.b = np.asarray(A, float), np.asarray(b, float)
        # Torques are counted in units of their limits; one without a limit in N m.
        self._unit = np.where(np.isfinite(self.limits), self.limits, 1.0)
        bounded = np.eye(len(self.limits))[np.isfinite(self.limits)]
        self._box = np.vstack([bounded, -bounded])

    def solve(self, force_map: AffineMap, desired: np.ndarray, *,
              reference: np.ndarray | None = None, weights: np.ndarray | None = None,
              warm_start: Sequence[int] = ()) -> TorqueSolution:
        """
        Return the torques for one state of the robot.

        Parameters
        ----------
        force_map : ForceMap, or what :class:`ConstrainedForceMap` computes
            Force map of the present state.
        desired : (r,) array [N, N m]
            Ground on robot, in the map's rows and axes.
        reference : (m,) array, optional [N m or N]
            Torques preferred where the force leaves a choice; zero by default.
        weights : (r,) array, optional
            Weight of a squared newton of residual in each row; 1 by default.
        warm_start : sequence of int
            `active` of the last solution.

        Returns
        -------
        TorqueSolution

        Raises
        ------
        ConfigurationError
            When shapes do not fit.

        """
        D, desired, reference = _checked(force_map, desired, reference)
        r, m = D.shape
        if m != len(self.limits):
            raise ConfigurationError(f'expected a map of {len(self.limits)} columns, one a torque '
                                     f'limit; got {m}')
        A = self.A if len(self.b) else np.zeros((0, r))
        if A.shape[1] != r:
            raise ConfigurationError(f'expected a map of {A.shape[1]} rows, as the '
                                     f'inequalities have columns; got {r}')
        w = np.ones(r) if weights is None else np.asarray(weights, float)
        scaled = D * self._unit
        gap = desired - force_map.offset
        H = (scaled.T * w) @ scaled
        largest = max(np.sqrt(np.trace(H)), 1e-12)
        ridge = (self.damping * largest) ** 2
        H += ridge * np.eye(m)
        g = -(scaled.T * w) @ gap - ridge * reference / self._unit
        C = np.vstack([self._box, A @ scaled])
        d = np.concatenate([-np.ones(len(self._box)), self.b - A @ force_map.offset])
        found = solve_quadratic_program(H, g, C, d, warm_start=warm_start)
        outside = found.outcome is not Outcome.SOLVED
        if outside:
            found = self._with_slack(H, g, C, d, largest)
        torque = np.clip(found.x[:m] * self._unit, -self.limits, self.limits)
        at_limit = np.abs(torque) >= self.limits * (1.0 - 1e-9)
        solution = _solution(force_map, torque, desired, at_limit, found)
        violation = float((self.b - A @ solution.force).max(initial=0.0))
        solution = replace(solution, cone_violation=violation)
        return replace(solution, reach=Reach.OUTSIDE_CONE, active=()) if outside else solution

    def _with_slack(self, H: np.ndarray, g: np.ndarray, C: np.ndarray, d: np.ndarray,
                    largest: float) -> QuadraticSolution:
        """Solve with one common slack on all inequalities of the forces, at a high cost."""
        m, n_box = len(g), len(self._box)
        H_s, g_s = np.pad(H, (0, 1)), np.append(g, 0.0)
        # Slack costs a million times as much as a residual, in units of the map.
        H_s[m, m] = (1e3 * largest) ** 2
        column = np.append(np.zeros(n_box), np.full(len(d) - n_box, largest))
        C_s = np.vstack([np.column_stack([C, column]), np.append(np.zeros(m), 1.0)])
        return solve_quadratic_program(H_s, g_s, C_s, np.append(d, 0.0))


def stacked_inequalities(parts: Sequence[tuple[np.ndarray, np.ndarray]]
                         ) -> tuple[np.ndarray, np.ndarray]:
    """
    Put inequalities of single feet side by side, for a map of all of them.

    Parameters
    ----------
    parts : sequence of (A, b)
        Inequalities in the order of the map's feet: (k, 3) and (k,) for a point foot, (k, 6) for a
        flat one.

    Returns
    -------
    array, array
        Block-diagonal A, and b.

    """
    if not parts:
        return np.zeros((0, 0)), np.zeros(0)
    from scipy.linalg import block_diag  # slow to import
    return block_diag(*(a for a, _ in parts)), np.concatenate([b for _, b in parts])


def _checked(force_map: AffineMap, desired: np.ndarray, reference: np.ndarray | None
             ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    D, desired = force_map.matrix, np.asarray(desired, float)
    reference = np.zeros(D.shape[1]) if reference is None else np.asarray(reference, float)
    if desired.shape != (D.shape[0],) or reference.shape != (D.shape[1],):
        raise ConfigurationError(
            f'expected {D.shape[0]} desired force components and {D.shape[1]} reference torques, '
            f'got shapes {desired.shape} and {reference.shape}')
    if not (np.isfinite(desired).all() and np.isfinite(reference).all()):
        raise ConfigurationError('expected finite desired forces and reference torques, got '
                                 f'{desired.tolist()} and {reference.tolist()}')
    return D, desired, reference


def _solution(force_map: AffineMap, torque: np.ndarray, desired: np.ndarray,
              saturated: np.ndarray, program: QuadraticSolution | None = None) -> TorqueSolution:
    force = force_map.force(torque)
    residual = desired - force
    reached = np.linalg.norm(residual) <= REACHED_TOLERANCE * max(1.0, np.linalg.norm(desired))
    return TorqueSolution(
        torque, force, residual, Reach.REACHED if reached else Reach.NEAREST, force_map.condition,
        force_map.weakest_direction, force_map.unproducible, saturated,
        kkt_residual=program.kkt_residual if program else 0.0,
        active=program.active if program else ())
