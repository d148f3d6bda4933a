# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A problem over time within limits: its scaled data, its products, and its optimality conditions.

Forces are in units of the largest that the motion asks for and costs in units of the mean weight
of a force, so that tolerances have a meaning. Contact coordinates are (T, nc); the cones of each
kind are one array (T, nf, rows), in which feet in the air have idle places.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from legged_dynamics.contact.over_time.limits import ConeRows
from legged_dynamics.contact.over_time.passes import Frames, Past
from legged_dynamics.contact.over_time.problem import AT_TRANSITIONS
from legged_dynamics.dynamics.jacobians import SIZE
from legged_dynamics.optimization.cone_arrays import HalfLines, RoundCones

Parts = list[np.ndarray]


class LimitedProblem:
    """
    The problem and all products with its matrices.

    Parameters
    ----------
    frames : Frames
        In world axes, with the feet's rotations.
    rows : ConeRows
        Limits of each foot.
    residual_weight : float
        Of a newton of root residual against one of contact force.
    length : float [m]
        What makes moments of residuals comparable to forces.
    past : Past
        What is known before the first frame.

    """

    def __init__(self, frames: Frames, rows: ConeRows, residual_weight: float, length: float,
                 past: Past):
        given, nf = frames.problem, len(rows.own)
        self.force = max(float(np.abs(given.demand[:, :3]).max(initial=0.0)), 1e-3)
        self.weight = float(given.cost[..., 0].mean()) + float(given.smoothing[0])
        slack = np.array([1.0, 1.0, 1.0, *[length ** 2] * 3]) / residual_weight
        self.problem = given._replace(
            demand=given.demand / self.force, cost=given.cost / self.weight, slack=slack,
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
        self._demand, self._given_up = self.problem.demand, np.zeros((len(self._on), 1), bool)

    def _set_costs(self) -> None:
        """Fill what couples frames, (T - 1, nc), and the diagonal of H, (T, nc)."""
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
        """Fill a list over the kinds of cones: their matrices, bounds and idle places."""
        T, nf = self._on.shape
        present = rows.present[None] & self._on[..., None]
        self.kinds: list[Any] = [HalfLines]
        self._G, self.used = [rows.linear], [present]
        self._bound = [np.where(present, rows.bound / self.force, -1.0)]
        self._pairs = [np.einsum('fki,fkj->fkij', rows.linear, rows.linear)]
        if rows.rounded is not None:
            self.kinds.append(RoundCones)
            self._G.append(rows.rounded)
            self.used.append(np.broadcast_to(self._on[..., None], (T, nf, 3)))
            self._bound.append(np.where(self._on[..., None], 0.0, [-1.0, 0.0, 0.0]))
            self._pairs.append(np.einsum('fki,flj->fklij', rows.rounded, rows.rounded
                                         ).reshape(nf, 9, 6, 6))
        self.degree = max(1, int(present.sum()) + int(self._on.sum()) * (len(self.kinds) - 1))

    # ---- products --------------------------------------------------------------------------

    def turned(self, x: np.ndarray, back: bool = False) -> np.ndarray:
        """Return padded coordinates (T, nf, 6), where feet have a plane in (or from) its axes."""
        turned = x.copy()
        for i in self._own:
            R = self._R[:, i] if back else self._R[:, i].swapaxes(1, 2)
            for k in (0, 3):
                turned[:, i, k:k + 3] = np.einsum('tij,tj->ti', R, x[:, i, k:k + 3])
        return turned

    def padded(self, x: np.ndarray) -> np.ndarray:
        """Return (T, nc) coordinates as (T, nf, 6)."""
        T, nf = self._on.shape
        padded = np.zeros((T, 6 * nf))
        padded[:, self._columns] = x
        return padded.reshape(T, nf, 6)

    def packed(self, x: np.ndarray) -> np.ndarray:
        """Return (T, nf, 6) coordinates as (T, nc)."""
        return np.take(x.reshape(len(x), -1), self._columns, axis=1)

    def rows_times(self, x: np.ndarray) -> Parts:
        """Return G x; zero in idle places."""
        u = self.turned(self.padded(x)).swapaxes(0, 1)
        return [np.where(used, (u @ G.swapaxes(1, 2)).swapaxes(0, 1), 0.0)
                for G, used in zip(self._G, self.used)]

    def slacks(self, x: np.ndarray) -> Parts:
        """Return G x - d; the unit of the cone in idle places."""
        return [v - d for v, d in zip(self.rows_times(x), self._bound)]

    def times_rows(self, parts: Parts) -> np.ndarray:
        """Return G^T v, (T, nc)."""
        total = sum(np.where(used, v, 0.0).swapaxes(0, 1) @ G
                    for v, G, used in zip(parts, self._G, self.used))
        return self.packed(self.turned(np.asarray(total).swapaxes(0, 1), back=True))

    def blocks(self, squares: Parts) -> np.ndarray:
        """Return G^T W^-2 G, (T, nf, 6, 6), given W^-2 of each kind."""
        T, nf = self._on.shape
        total = np.zeros((nf, T, 36))
        for W, pairs, used in zip(squares, self._pairs, self.used):
            rows = W.reshape(T, nf, -1)
            if W.ndim == 3:
                rows = np.where(used, rows, 0.0)
            total += rows.swapaxes(0, 1) @ pairs.reshape(nf, -1, 36)
        blocks = np.ascontiguousarray(total.swapaxes(0, 1)).reshape(T, nf, 2, 3, 2, 3)
        for i in self._own:
            R = self._R[:, i, None, None]
            turned = R @ blocks[:, i].swapaxes(2, 3) @ R.swapaxes(3, 4)
            blocks[:, i] = turned.swapaxes(2, 3)
        return blocks.reshape(T, nf, 6, 6)

    def hessian_times(self, x: np.ndarray) -> np.ndarray:
        """Return H x with what couples frames and with the past, (T, nc)."""
        product = self._diagonal * x
        product[:-1] -= self._both * x[1:]
        product[1:] -= self._both * x[:-1]
        product[0] += self.past.information @ x[0]
        return product

    def balance(self, x: np.ndarray) -> np.ndarray:
        """Return A x, (T, 6)."""
        w = self.padded(x)
        moment = w[..., 3:]
        if len(self.problem.turns):
            moment = np.einsum('tfij,tfj->tfi', self._turns, moment)
        moment = moment + np.cross(self.problem.points, w[..., :3])
        return np.hstack([w[..., :3].sum(axis=1), moment.sum(axis=1)])

    def balance_transposed(self, y: np.ndarray) -> np.ndarray:
        """Return A^T y, (T, nc)."""
        turn = np.broadcast_to(y[:, None, 3:], self.problem.points.shape)
        force = y[:, None, :3] + np.cross(turn, self.problem.points)
        if len(self.problem.turns):
            turn = np.einsum('tfij,tfi->tfj', self._turns, turn)
        return self.packed(np.concatenate([force, turn], axis=2) * self._on[..., None])

    def holds(self, x: np.ndarray, tolerance: float) -> bool:
        """Return whether x [N, N m] is within the limits, to a part of the largest force."""
        return all((np.where(used, kind.inside(v, 0.0) - v, 0.0) <= tolerance).all()
                   for kind, v, used in zip(self.kinds, self.slacks(x / self.force), self.used))

    # ---- optimality ------------------------------------------------------------------------

    def stationarity(self, x: np.ndarray, z: Parts) -> np.ndarray:
        """Return H x - g - G^T z, which at the optimum is A^T times something."""
        r = self.hessian_times(x) - self.times_rows(z)
        r[0] -= self.past.linear
        return r

    def mean_complementarity(self, s: Parts, z: Parts) -> float:
        """Return s^T z over the number of cones."""
        return sum(float(np.where(used, u * v, 0.0).sum())
                   for u, v, used in zip(s, z, self.used)) / self.degree

    def multiplier(self, x: np.ndarray) -> np.ndarray:
        """Return y of ``A x + slack y = b``, (T, 6)."""
        return (self.problem.demand - self.balance(x)) / self.problem.slack

    def optimality(self, x: np.ndarray, s: Parts, z: Parts) -> float:
        """
        Return the largest violation of the optimality conditions.

        Of stationarity, relative in each frame to the terms in it; of limits, to the largest force
        asked for; of complementarity, ``s^T z`` of a cone to the larger of 1, s, z.
        """
        r, held = self.stationarity(x, z), self.balance_transposed(self.multiplier(x))
        size = 1.0 + np.abs(held).max(axis=1) + np.abs(self.times_rows(z)).max(axis=1)
        found = float((np.abs(r - held).max(axis=1) / size).max())
        for Gx, u, v, used in zip(self.slacks(x), s, z, self.used):
            product = np.where(used, u * v, 0.0)
            if used is self.used[0]:
                gap = product / np.maximum(1.0, np.maximum(u, v))
            else:
                gap = product.sum(axis=2) / np.maximum(1.0, np.maximum(u, v)[..., 0])
            found = max(found, float(np.abs(gap).max(initial=0.0)),
                        float(np.abs(Gx - u).max(initial=0.0)))
        return found

    def shift(self, x: np.ndarray) -> None:
        """Shift the demand by slack times the balance's multiplier, so that x misses less."""
        shift = np.where(self._given_up, 0.0, self.problem.slack * self.multiplier(x))
        self.problem = self.problem._replace(demand=self._demand + shift)

    def give_up(self, x: np.ndarray, tolerance: float) -> bool:
        """
        Ask of frames that miss their demand for what x achieves; return whether there are any.

        Their demand is not shifted any more.
        """
        achieved = self.balance(x)
        self._given_up = np.abs(self._demand - achieved).max(axis=1, keepdims=True) > tolerance
        self._demand = np.where(self._given_up, achieved, self._demand)
        return bool(self._given_up.any())
