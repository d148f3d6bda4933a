# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
A problem over time within limits, by an interior-point method whose steps cost O(T).

.. math::

    \min \tfrac12 x^T H x - g^T x + \tfrac{1}{2 \delta} |b - A x|^2, \qquad G x - d = s \in C

Newton's equations for a step have the matrix ``H + G^T W^-2 G`` with the balance beside it, W the
Nesterov-Todd scaling of s and its multipliers z: blocks by foot are added to what
:mod:`~legged_dynamics.contact.over_time.elimination` eliminates anyway. Each iteration factors
once and solves for Mehrotra's predictor and corrector, and to refine what rounding leaves.

The balance is met exactly where it can be: b is shifted by ``delta y``, y the balance's
multiplier, as soon as that is known (the method of multipliers). A shift does not help frames
that cannot be balanced within the limits. They show by what they still miss, are from then on
asked for what they achieved, and what they miss is the root residual.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from legged_dynamics.contact.over_time.elimination import (
    DONE,
    eliminate,
    substitute,
    substitute_back,
)
from legged_dynamics.contact.over_time.limited import LimitedProblem, Parts
from legged_dynamics.contact.over_time.problem import gain_width

# Violation of the optimality conditions at which multipliers are known well enough to shift by,
# and at which to stop.
KNOWN, TOLERANCE = 1e-5, 1e-10
# A frame that misses more of its demand after a shift cannot be balanced; in units of the largest
# force asked for.
MISSED = 1e-5
ITERATIONS = 80
# Rounding stands in the way of an iterate that is as good as this, and for so long no better.
GOOD, PATIENCE = 1e-4, 5
# How far of the way to the boundary a step goes.
NEARLY = 0.99
# Complementarity waits while the other conditions are so many times worse, and need not go below
# the tolerance: rounding grows with its reciprocal.
BEHIND, LEAST = 1e3, TOLERANCE / 10.0
REFINEMENTS = 6
# Where the first slacks and multipliers lie at least, in units of the largest force asked for.
START = 1.0


@dataclass(frozen=True, eq=False)
class Optimum:
    """
    Contact coordinates within limits.

    Attributes
    ----------
    x : (T, nc) array [N, N m]
    kkt_residual : float
        Largest violation of the optimality conditions, relative to the terms in them.
    iterations : int

    """

    x: np.ndarray
    kkt_residual: float
    iterations: int


class Iterate(NamedTuple):
    """Coordinates, slacks and multipliers of the limits, and how far from optimal they are."""

    x: np.ndarray
    s: Parts
    z: Parts
    residual: float


def minimize_within(problem: LimitedProblem, x: np.ndarray) -> Optimum:
    """Return the optimum, from the one without limits, (T, nc) [N, N m]."""
    with np.errstate(all='ignore'):     # an iterate that overflows is no better than the best
        found, count = descend(problem, begin(problem, x / problem.force), KNOWN)
        problem.shift(found.x)
        found, more = descend(problem, found, KNOWN)
        count += more
        if problem.give_up(found.x, MISSED):
            found = begin(problem, found.x)
        for target in (KNOWN, TOLERANCE, TOLERANCE):
            problem.shift(found.x)
            following, more = descend(problem, found, target)
            count += more
            if following.residual > max(found.residual, target):
                break
            found = following
    return Optimum(problem.force * found.x, found.residual, count)


def begin(problem: LimitedProblem, x: np.ndarray) -> Iterate:
    """Return x with slacks and multipliers well inside their cones."""
    slacks = problem.slacks(x)
    return Iterate(x, [kind.inside(v, START) for kind, v in zip(problem.kinds, slacks)],
                   [kind.inside(0.0 * v, START) for kind, v in zip(problem.kinds, slacks)],
                   np.inf)


def descend(problem: LimitedProblem, now: Iterate, target: float) -> tuple[Iterate, int]:
    """Return the best iterate on the way to a residual, and the number of steps."""
    best, found, steps = now._replace(residual=np.inf), 0, NewtonSteps(problem)
    for count in range(ITERATIONS + 1):
        now = now._replace(residual=problem.optimality(now.x, now.s, now.z))
        if now.residual < best.residual:
            best, found = now, count
        stuck = count - found > PATIENCE and best.residual < GOOD
        if best.residual < target or stuck or not steps.prepare(now):
            break
        # The predictor aims at complementarity zero, to see how near it gets.
        ds, dz = steps.predictor()
        ahead = moved(now, 0.0, ds, dz, steps.length(ds, dz, 1.0))
        mean = problem.mean_complementarity(now.s, now.z)
        centre = mean * (problem.mean_complementarity(ahead.s, ahead.z) / mean) ** 3
        if now.residual > BEHIND * mean:
            centre = mean
        centre = max(centre, LEAST)
        dx, ds, dz = steps.corrector(ds, dz, centre)
        now = moved(now, dx, ds, dz, steps.length(ds, dz, NEARLY))
    return best, count


def moved(now: Iterate, dx: np.ndarray | float, ds: Parts, dz: Parts, length: float) -> Iterate:
    """Return an iterate a step further."""
    return Iterate(now.x + length * dx, [u + length * du for u, du in zip(now.s, ds)],
                   [v + length * dv for v, dv in zip(now.z, dz)], np.inf)


class NewtonSteps:
    """Newton steps at a point: prepare once, then predictor and corrector."""

    def __init__(self, problem: LimitedProblem):
        nf, nc = problem.problem.standing.shape[1], problem.size
        T = len(problem.problem.demand)
        self._problem = problem
        width = gain_width(problem.problem.index, whole=False)
        self._gains, self._x = np.empty((T, width)), np.empty((T, nc))
        self._work, self._vectors = np.zeros((nc + 6, nc + 6)), np.zeros((8, nc + 6))
        self._none, self._zero = np.full(nf, -1), np.zeros(nc)

    def prepare(self, now: Iterate) -> bool:
        """Scale, factor and solve for the predictor; False where floating point cannot."""
        problem, self._now = self._problem, now
        self._cones = [kind(u, v) for kind, u, v in zip(problem.kinds, now.s, now.z)]
        self._missing = [Gx - u for Gx, u in zip(problem.slacks(now.x), now.s)]
        # For the predictor W^-1 v is -z, which cancels against the one in stationarity.
        gradient = problem.times_rows([v + cone.back(cone.back(r)) for v, cone, r
                                       in zip(now.z, self._cones, self._missing)])
        self._gradient = -problem.stationarity(now.x, now.z) - gradient
        data = problem.problem._replace(
            demand=problem.problem.demand - problem.balance(now.x))
        at = eliminate(data, problem.blocks([cone.squares() for cone in self._cones]),
                       self._gradient, problem.past.information.copy(), self._zero.copy(),
                       self._none, self._gains, self._x, self._work, self._vectors)
        return at == DONE

    def predictor(self) -> tuple[Parts, Parts]:
        """Return the step (ds, dz) towards complementarity zero."""
        self._dx = self._back()
        return self._complete(self._dx, [-cone.scaled for cone in self._cones])

    def corrector(self, ds: Parts, dz: Parts, centre: float) -> tuple[np.ndarray, Parts, Parts]:
        """Return the step towards a complementarity, given what the predictor would do."""
        problem, cones = self._problem, self._cones
        more = [cone.target(cone.back(u), cone.to(v), centre)
                for cone, u, v in zip(cones, ds, dz)]
        gradient = problem.times_rows([cone.back(v) for cone, v in zip(cones, more)])
        dx = self._dx + self._solved(gradient)
        # Rounding in dx counts W^-2 times in dz, so solve again for what it leaves.
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
        dx = best
        return dx, *self._complete(dx, [v - cone.scaled for cone, v in zip(cones, more)])

    def length(self, ds: Parts, dz: Parts, part: float) -> float:
        """Return the step length: part of the way to the boundary, at most 1."""
        steps = [kind.step(v, dv) for kind, v, dv
                 in zip(self._problem.kinds * 2, self._now.s + self._now.z, ds + dz)]
        return min(1.0, part * min(steps))

    def _solved(self, gradient: np.ndarray) -> np.ndarray:
        substitute(self._problem.problem, self._gains, gradient, self._x, self._vectors)
        return self._back()

    def _left(self, gradient: np.ndarray, dx: np.ndarray) -> np.ndarray:
        """Return what dx leaves of Newton's equations, the predictor's gradient and more."""
        problem = self._problem
        stiff = problem.times_rows([cone.back(cone.back(v)) for cone, v
                                    in zip(self._cones, problem.rows_times(dx))])
        held = problem.balance_transposed(problem.multiplier(self._now.x + dx))
        return self._gradient + gradient - problem.hessian_times(dx) - stiff + held

    def _back(self) -> np.ndarray:
        substitute_back(self._problem.problem, self._gains, self._x, self._none, self._zero,
                        self._vectors)
        return self._x.copy()

    def _complete(self, dx: np.ndarray, aims: Parts) -> tuple[Parts, Parts]:
        ds = [Gdx + r for Gdx, r in zip(self._problem.rows_times(dx), self._missing)]
        dz = [np.where(used, cone.back(aim - cone.back(u)), 0.0) for cone, aim, u, used
              in zip(self._cones, aims, ds, self._problem.used)]
        return ds, dz
