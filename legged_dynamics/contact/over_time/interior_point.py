# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
A problem over time within limits, by an interior-point method whose steps cost O(T).

.. math::

    \min \tfrac12 x^T H x - g^T x + \tfrac{1}{2 \delta} |b - A x|^2, \qquad G x - d = s \in C

Newton's equations for a step have the matrix ``H + G^T W^-2 G`` with the balance beside it, W the
Nesterov-Todd scaling of s and its multipliers z: blocks by foot are added to the matrices that
:mod:`~legged_dynamics.contact.over_time.problem` eliminates. Each iteration factors once and
solves for Mehrotra's predictor and corrector (1992), with refinement against rounding.

The balance is met exactly where that is possible: b is shifted by ``delta y``, y the balance's
multiplier, as soon as that is known (the method of multipliers). A shift does not help frames
that cannot be balanced within the limits: they still miss the required wrench. It is then replaced
by the wrench that they achieved, and the difference is the root residual.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from legged_dynamics.contact.over_time.limits import ConeRows
from legged_dynamics.contact.over_time.problem import (
    AT_TRANSITIONS,
    DONE,
    Elimination,
    eliminate,
    gain_width,
    substitute,
    substitute_back,
)
from legged_dynamics.contact.over_time.stretch import Frames, Past
from legged_dynamics.dynamics.jacobians import SIZE
from legged_dynamics.optimization.cone_program import ConeScaling, longest_step, moved_inside

# -------------------------------------------------------------------------------------------------
# A problem over time within limits: its scaled data, its products, and its optimality conditions.
#
# Forces are in units of the largest that the motion requires and costs in units of the mean weight
# of a force, so that tolerances have a meaning. Contact coordinates are (T, nc). Slacks and
# multipliers are vectors of all half-lines and then all round cones, by frame and foot, in which
# feet in the air have idle places.


class LimitedProblem:
    """
    Inequality-constrained problem over time, with all products with its matrices.

    ``frames`` are in world axes, with foot rotations; ``residual_weight`` weighs root
    residual against contact force; ``length`` [m] divides residual moments.
    """

    def __init__(self, frames: Frames, rows: ConeRows, residual_weight: float, length: float,
                 past: Past):
        given, nf = frames.problem, len(rows.own)
        self.force = max(float(np.abs(given.required[:, :3]).max(initial=0.0)), 1e-3)
        self.weight = float(given.cost[..., 0].mean()) + float(given.smoothing[0])
        slack = np.array([1.0, 1.0, 1.0, *[length ** 2] * 3]) / residual_weight
        self.problem = given._replace(
            required=given.required / self.force, cost=given.cost / self.weight, slack=slack,
            smoothing=given.smoothing / [self.weight, self.weight, 1.0])
        self.past = Past(past.information / self.weight, past.linear / (self.weight * self.force))
        self._columns = np.array([6 * i + k for i, size in enumerate(given.index[:, SIZE])
                                  for k in range(size)], dtype=int)
        self._on = given.standing.astype(bool)
        self._own = np.flatnonzero(rows.own)
        self._turns = given.turns.reshape(-1, nf, 3, 3)
        self._R = frames.foot_rotation.reshape(-1, nf, 3, 3)
        self.size = len(self._columns)
        self._set_costs()
        self._set_cones(rows)
        self._required, self._given_up = self.problem.required, np.zeros((len(self._on), 1), bool)

    def _set_costs(self) -> None:
        """Fill the coupling of frames, (T - 1, nc), and the diagonal of H, (T, nc)."""
        problem = self.problem
        foot, component = self._columns // 6, self._columns % 6
        kind = (component >= 3).astype(int)
        on, weight = self._on[:, foot], problem.smoothing[kind]
        self._both = weight * (on[1:] & on[:-1])
        edge = weight * problem.smoothing[AT_TRANSITIONS] * (on[1:] != on[:-1])
        diagonal = problem.cost[:, foot, kind].copy()
        diagonal[1:] += self._both + edge
        diagonal[:-1] += self._both + edge
        self._diagonal = np.where(on, diagonal, 0.0)

    def _set_cones(self, rows: ConeRows) -> None:
        """Fill matrices and bounds of the limits, (T, nf, rows): half-lines, then round cones."""
        (T, nf), self._k = self._on.shape, rows.linear.shape[1]
        self._G, present, bound = rows.linear, rows.present, rows.bound / self.force
        if rows.rounded is not None:
            self._G = np.concatenate([self._G, rows.rounded], axis=1)
            present, bound = np.pad(present, ((0, 0), (0, 3)), constant_values=True), np.pad(
                bound, ((0, 0), (0, 3)))
        self._used = present[None] & self._on[..., None]
        idle = np.where(np.arange(self._G.shape[1]) <= self._k, -1.0, 0.0)
        self._bound = self._vector(np.where(self._used, bound, idle))
        self.used = self._vector(self._used)
        self.sizes = T * nf * self._k, 0 if rows.rounded is None else T * nf
        self.degree = max(1, int(self.used[:self.sizes[0]].sum())
                          + int(self._on.sum()) * (rows.rounded is not None))

    def _vector(self, table: np.ndarray) -> np.ndarray:
        """Return a table (T, nf, rows) as a vector."""
        return np.concatenate([table[..., :self._k].ravel(), table[..., self._k:].ravel()])

    def _table(self, v: np.ndarray) -> np.ndarray:
        """Return a vector as a table (T, nf, rows), zero in idle places."""
        shape, lines = (*self._on.shape, -1), self.sizes[0]
        parts = [v[:lines].reshape(shape)]
        if self.sizes[1]:
            parts.append(v[lines:].reshape(shape))
        return np.where(self._used, np.concatenate(parts, axis=2), 0.0)

    def by_cone(self, v: np.ndarray) -> np.ndarray:
        """Return sums over each cone's entries, and a half-line's own."""
        lines = self.sizes[0]
        return np.append(v[:lines], v[lines:].reshape(-1, 3).sum(axis=1))

    # ---- products --------------------------------------------------------------------------

    def turned(self, x: np.ndarray, back: bool = False) -> np.ndarray:
        """Rotate padded coordinates (T, nf, 6) of feet with a plane to foot axes, or back."""
        turned = x.copy()
        for i in self._own:
            R = self._R[:, i] if back else self._R[:, i].swapaxes(1, 2)
            for k in (0, 3):
                turned[:, i, k:k + 3] = np.einsum('tij,tj->ti', R, x[:, i, k:k + 3])
        return turned

    def _padded(self, x: np.ndarray) -> np.ndarray:
        """Return coordinates padded to six a foot."""
        T, nf = self._on.shape
        padded = np.zeros((T, 6 * nf))
        padded[:, self._columns] = x
        return padded.reshape(T, nf, 6)

    def packed(self, x: np.ndarray) -> np.ndarray:
        """Return padded coordinates (T, nf, 6) without padding (T, nc)."""
        return np.take(x.reshape(len(x), -1), self._columns, axis=1)

    def _rows_times(self, x: np.ndarray) -> np.ndarray:
        """Return G x."""
        u = self.turned(self._padded(x)).swapaxes(0, 1)
        return self._vector(np.where(self._used, (u @ self._G.swapaxes(1, 2)).swapaxes(0, 1), 0.0))

    def _slacks(self, x: np.ndarray) -> np.ndarray:
        """Return G x - d."""
        return self._rows_times(x) - self._bound

    def _times_rows(self, v: np.ndarray) -> np.ndarray:
        """Return G^T v."""
        total = self._table(v).swapaxes(0, 1) @ self._G
        return self.packed(self.turned(total.swapaxes(0, 1), back=True))

    def blocks(self, cones: ConeScaling) -> np.ndarray:
        """Return G^T W^-2 G (T, nf, 6, 6)."""
        T, nf = self._on.shape
        scaled = np.stack([self._table(cones.back(self._vector(np.broadcast_to(
            self._G[..., c], self._used.shape)))) for c in range(6)], axis=3)
        blocks = (scaled.swapaxes(2, 3) @ scaled).reshape(T, nf, 2, 3, 2, 3)
        for i in self._own:
            R = self._R[:, i, None, None]
            blocks[:, i] = (R @ blocks[:, i].swapaxes(2, 3) @ R.swapaxes(3, 4)).swapaxes(2, 3)
        return blocks.reshape(T, nf, 6, 6)

    def _hessian_times(self, x: np.ndarray) -> np.ndarray:
        """Return H x, with the coupling of frames and the information about the first."""
        product = self._diagonal * x
        product[:-1] -= self._both * x[1:]
        product[1:] -= self._both * x[:-1]
        product[0] += self.past.information @ x[0]
        return product

    def balance(self, x: np.ndarray) -> np.ndarray:
        """Return A x, the wrench of all feet in each frame (T, 6), for x (T, nc)."""
        w = self._padded(x)
        moment = w[..., 3:]
        if len(self.problem.turns):
            moment = np.einsum('tfij,tfj->tfi', self._turns, moment)
        moment = moment + np.cross(self.problem.points, w[..., :3])
        return np.hstack([w[..., :3].sum(axis=1), moment.sum(axis=1)])

    def _balance_transposed(self, y: np.ndarray) -> np.ndarray:
        """Return A^T y."""
        turn = np.broadcast_to(y[:, None, 3:], self.problem.points.shape)
        force = y[:, None, :3] + np.cross(turn, self.problem.points)
        if len(self.problem.turns):
            turn = np.einsum('tfij,tfi->tfj', self._turns, turn)
        return self.packed(np.concatenate([force, turn], axis=2) * self._on[..., None])

    def holds(self, x: np.ndarray, tolerance: float) -> bool:
        """Return whether x (T, nc) is within limits; tolerance is times the largest force."""
        v = self._slacks(x / self.force)
        return bool(((moved_inside(self.sizes[0], v, 0.0) - v)[self.used] <= tolerance).all())

    # ---- optimality ------------------------------------------------------------------------

    def _stationarity(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return H x - g - G^T z, which at the optimum is A^T times a multiplier."""
        r = self._hessian_times(x) - self._times_rows(z)
        r[0] -= self.past.linear
        return r

    def _mean_complementarity(self, s: np.ndarray, z: np.ndarray) -> float:
        """Return s^T z over the number of cones."""
        return float((s * z)[self.used].sum()) / self.degree

    def multiplier(self, x: np.ndarray) -> np.ndarray:
        """Return y (T, 6) of ``A x + slack y = b`` for x (T, nc)."""
        return (self.problem.required - self.balance(x)) / self.problem.slack

    def optimality(self, x: np.ndarray, s: np.ndarray, z: np.ndarray) -> float:
        """
        Return the largest relative violation of the optimality conditions.

        Relative: stationarity to its terms in each frame, limits to the largest required force,
        complementarity ``s^T z`` of a cone to the larger of 1, s, z.
        """
        r, balanced = self._stationarity(x, z), self._balance_transposed(self.multiplier(x))
        size = 1.0 + np.abs(balanced).max(axis=1) + np.abs(self._times_rows(z)).max(axis=1)
        lines = self.sizes[0]
        # A round cone's entries are at most as large as its first.
        largest = np.maximum(1.0, np.maximum(s, z))
        gap = self.by_cone(np.where(self.used, s * z, 0.0)) / np.append(
            largest[:lines], largest[lines::3])
        return float(np.max([(np.abs(r - balanced).max(axis=1) / size).max(), np.abs(gap).max(),
                             np.abs(self._slacks(x) - s).max()]))

    def shift(self, x: np.ndarray) -> None:
        """Shift the required wrench by slack times the multiplier, to reduce x's misfit."""
        shift = np.where(self._given_up, 0.0, self.problem.slack * self.multiplier(x))
        self.problem = self.problem._replace(required=self._required + shift)

    def _give_up(self, x: np.ndarray, tolerance: float) -> bool:
        """Replace the required wrench of frames that miss it by that of x; no more shifts."""
        achieved = self.balance(x)
        self._given_up = np.abs(self._required - achieved).max(axis=1, keepdims=True) > tolerance
        self._required = np.where(self._given_up, achieved, self._required)
        return bool(self._given_up.any())


# -------------------------------------------------------------------------------------------------
# The method: predictor and corrector steps, shifts of the required wrench in between.


# Violation of the optimality conditions at which multipliers are accurate enough to shift by.
KNOWN = 1e-5
# Violation at which to stop.
TOLERANCE = 1e-10
# A frame that misses more of its wrench after a shift cannot be balanced; in units of the largest
# required force.
MISSED = 1e-5
ITERATIONS = 80
# An iterate better than this that has not improved for PATIENCE steps is limited by rounding.
GOOD = 1e-4
PATIENCE = 5
# Part of the way to the boundary that a step goes.
NEARLY = 0.99
# Complementarity is not reduced while the other conditions are so many times worse.
BEHIND = 1e3
# Nor below this: rounding grows with its reciprocal.
LEAST = TOLERANCE / 10.0
REFINEMENTS = 6
# Least value of the first slacks and multipliers, in units of the largest required force.
START = 1.0


@dataclass(frozen=True, eq=False)
class Optimum:
    """Contact coordinates within limits."""

    x: np.ndarray  # (T, nc) [N, N m]: contact coordinates
    # Largest violation of the optimality conditions, relative to the terms in them
    kkt_residual: float
    iterations: int  # Newton steps


class _Iterate(NamedTuple):
    """Coordinates, slacks and multipliers of the limits, and how far from optimal they are."""

    x: np.ndarray
    s: np.ndarray
    z: np.ndarray
    residual: float


def minimize_within(problem: LimitedProblem, x: np.ndarray) -> Optimum:
    """Return the optimum within limits, starting from the unlimited optimum x (T, nc)."""
    with np.errstate(all='ignore'):     # an iterate that overflows is no better than the best
        found, count = _descend(problem, _begin(problem, x / problem.force), KNOWN)
        problem.shift(found.x)
        found, more = _descend(problem, found, KNOWN)
        count += more
        if problem._give_up(found.x, MISSED):
            found = _begin(problem, found.x)
        for target in (KNOWN, TOLERANCE, TOLERANCE):
            problem.shift(found.x)
            following, more = _descend(problem, found, target)
            count += more
            if following.residual > max(found.residual, target):
                break
            found = following
    return Optimum(problem.force * found.x, found.residual, count)


def _begin(problem: LimitedProblem, x: np.ndarray) -> _Iterate:
    """Return x with slacks and multipliers well inside their cones."""
    v, lines = problem._slacks(x), problem.sizes[0]
    return _Iterate(x, moved_inside(lines, v, START), moved_inside(lines, 0.0 * v, START), np.inf)


def _descend(problem: LimitedProblem, now: _Iterate, target: float) -> tuple[_Iterate, int]:
    """Return the best iterate on the way to a residual, and the number of steps."""
    best, found, steps = now._replace(residual=np.inf), 0, _NewtonSteps(problem)
    for count in range(ITERATIONS + 1):
        now = now._replace(residual=problem.optimality(now.x, now.s, now.z))
        if now.residual < best.residual:
            best, found = now, count
        stuck = count - found > PATIENCE and best.residual < GOOD
        if best.residual < target or stuck or not steps.prepare(now):
            break
        # The predictor aims at complementarity zero; its success sets the corrector's aim.
        ds, dz = steps.predictor()
        predicted = _moved(now, 0.0, ds, dz, steps.length(ds, dz, 1.0))
        mean = problem._mean_complementarity(now.s, now.z)
        centre = mean * (problem._mean_complementarity(predicted.s, predicted.z) / mean) ** 3
        if now.residual > BEHIND * mean:
            centre = mean
        centre = max(centre, LEAST)
        dx, ds, dz = steps.corrector(ds, dz, centre)
        now = _moved(now, dx, ds, dz, steps.length(ds, dz, NEARLY))
    return best, count


def _moved(now: _Iterate, dx: np.ndarray | float, ds: np.ndarray, dz: np.ndarray, length: float
           ) -> _Iterate:
    """Return an iterate a step further."""
    return _Iterate(now.x + length * dx, now.s + length * ds, now.z + length * dz, np.inf)


class _NewtonSteps:
    """Newton steps at a point: prepare once, then predictor and corrector."""

    def __init__(self, problem: LimitedProblem):
        nf, nc = problem.problem.standing.shape[1], problem.size
        T = len(problem.problem.required)
        self._problem = problem
        self._made = Elimination.of(T, nc, gain_width(problem.problem.index))
        self._none, self._zero = np.full(nf, -1), np.zeros(nc)

    def prepare(self, now: _Iterate) -> bool:
        """Scale, factor and solve for the predictor; False where floating point cannot."""
        problem, self._now = self._problem, now
        self._cones = cones = ConeScaling(problem.sizes, now.s, now.z)
        if not cones.exists:
            return False
        self._missing = problem._slacks(now.x) - now.s
        # For the predictor W^-1 v is -z, which cancels against the one in stationarity.
        gradient = problem._times_rows(now.z + cones.back(cones.back(self._missing)))
        self._gradient = -problem._stationarity(now.x, now.z) - gradient
        data = problem.problem._replace(required=problem.problem.required - problem.balance(now.x))
        at = eliminate(data, problem.blocks(cones), self._gradient,
                       problem.past.information.copy(), self._zero.copy(), self._none, self._made)
        return at == DONE

    def predictor(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the step (ds, dz) towards complementarity zero."""
        self._dx = self._back()
        return self._complete(self._dx, -self._cones.scaled)

    def corrector(self, ds: np.ndarray, dz: np.ndarray, centre: float
                  ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the step towards a complementarity, given what the predictor would do."""
        cones = self._cones
        more = cones.target(cones.back(ds), cones.to(dz), centre)
        gradient = self._problem._times_rows(cones.back(more))
        dx = self._dx + self._solved(gradient)
        # Rounding in dx is multiplied by W^-2 in dz, so solve again for its residual.
        best, smallest = dx, np.inf
        for _ in range(REFINEMENTS):
            left = self._left(gradient, dx)
            size = float(np.abs(left).max())
            if not size < smallest / 2.0:
                break
            best, smallest = dx, size
            if size < LEAST:
                break
            dx = dx + self._solved(left)
        return best, *self._complete(best, more - cones.scaled)

    def length(self, ds: np.ndarray, dz: np.ndarray, part: float) -> float:
        """Return the step length: part of the way to the boundary, at most 1."""
        sizes = self._problem.sizes
        return min(1.0, part * min(longest_step(*sizes, self._now.s, ds),
                                   longest_step(*sizes, self._now.z, dz)))

    def _solved(self, gradient: np.ndarray) -> np.ndarray:
        substitute(self._problem.problem, gradient, self._made)
        return self._back()

    def _left(self, gradient: np.ndarray, dx: np.ndarray) -> np.ndarray:
        """Return the residual of Newton's equations after a step dx."""
        problem, cones = self._problem, self._cones
        stiff = problem._times_rows(cones.back(cones.back(problem._rows_times(dx))))
        balanced = problem._balance_transposed(problem.multiplier(self._now.x + dx))
        return self._gradient + gradient - problem._hessian_times(dx) - stiff + balanced

    def _back(self) -> np.ndarray:
        substitute_back(self._problem.problem, self._none, self._zero, self._made)
        return self._made.x.copy()

    def _complete(self, dx: np.ndarray, aim: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cones, ds = self._cones, self._problem._rows_times(dx) + self._missing
        return ds, np.where(self._problem.used, cones.back(aim - cones.back(ds)), 0.0)
