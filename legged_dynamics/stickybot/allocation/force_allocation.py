# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Least maximum force and largest acceleration of a climber, Karpick's two questions (1.2).

How can the feet's forces be equalised while the body's acceleration is kept
(:func:`least_maximum`, or :func:`least_squares`)? What is the largest acceleration for a given
limit on the forces (:func:`largest_acceleration`; for the speed see
:func:`~legged_dynamics.stickybot.allocation.equilibrium.largest_speed`)?

The cone programs are solved to a duality gap that is returned with the result, and the balance and
the limits are checked again on it. An infeasible question returns a certificate that can be
checked by hand.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.stickybot.allocation.force_program import (
    LARGEST,
    LEAST_MAXIMUM,
    RELAXED,
    SET,
    ForceMemory,
    ForceSets,
    force_multipliers,
    make_force_memory,
    solve_balance,
    solve_forces,
)
from legged_dynamics.stickybot.model.bookkeeping import Load

# -------------------------------------------------------------------------------------------------
# Results of an allocation.


class AllocationStatus(Enum):
    """How an allocation ended."""

    OPTIMAL = 'solved to the duality gap that is given'
    INFEASIBLE = 'no forces within the limits carry the load; see the certificate'
    FAILED = 'the solver did not converge; nothing is claimed'


@dataclass(frozen=True, eq=False)
class Infeasibility:
    """
    Proof that no forces within the limits produce a load.

    Of all forces that the feet may have, none produces more of the combination
    ``direction . (force x, force y, moment)`` than `available`; the load requires `demanded`.

    Attributes
    ----------
    direction : (3,) array [1, 1, 1/m]
        Coefficients of the combination.
    demanded, available : float [N]
        What the load requires, and the largest that the feet can produce.
    message : str
        The proof in words.

    """

    direction: np.ndarray
    demanded: float
    available: float
    message: str


@dataclass(frozen=True, eq=False)
class Allocation:
    """
    Forces of the wall on the feet.

    Attributes
    ----------
    status : AllocationStatus
    forces : (k, 2) array [N]
        Of the load's feet; NaN unless optimal.
    value : float
        What was minimised or maximised: the largest force over its weight, or the multiple.
    gap : float
        Duality gap of the solution, relative; 0 for closed forms.
    balance_error : float
        Miss of the balance, relative to the load.
    certificate : Infeasibility or None

    """

    status: AllocationStatus
    forces: np.ndarray
    value: float
    gap: float
    balance_error: float
    certificate: Infeasibility | None = None


def _magnitude(wrench: np.ndarray) -> float:
    """Return the largest component of a load; errors are relative to it."""
    return max(float(np.abs(wrench).max()), 1e-12)


def answer(grasp: np.ndarray, wrench: np.ndarray, forces: np.ndarray, value: float, gap: float
           ) -> Allocation:
    """Return an optimal allocation with its balance verified."""
    error = float(np.abs(grasp @ forces - wrench).max()) / _magnitude(wrench)
    return Allocation(AllocationStatus.OPTIMAL, forces.reshape(-1, 2).copy(), float(value), gap,
                      error)


def no_answer(n: int, status: AllocationStatus, certificate: Infeasibility | None = None
              ) -> Allocation:
    """Return an allocation without forces (NaN), with its status and any proof."""
    return Allocation(status, np.full((n, 2), math.nan), math.nan, math.nan, math.nan,
                      certificate)


# -------------------------------------------------------------------------------------------------
# Certificates of infeasibility.


def _unreachable(grasp: np.ndarray, wrench: np.ndarray) -> Allocation:
    """Return the certificate of a load that the feet cannot produce with any forces."""
    missing = wrench - grasp @ np.linalg.lstsq(grasp, wrench, rcond=1e-9)[0]
    direction = missing / np.abs(missing).max()
    proof = Infeasibility(direction, float(direction @ wrench), 0.0,
                          f'with the feet where they are, no forces make any of the combination '
                          f'{_words(direction)}, and the load requires '
                          f'{direction @ wrench:.4g}. Set another foot, away from the line of '
                          'those on the wall.')
    return no_answer(grasp.shape[1] // 2, AllocationStatus.INFEASIBLE, proof)


def certificate(grasp: np.ndarray, wrench: np.ndarray, sets: ForceSets) -> Infeasibility | None:
    """
    Return a proof that no forces in the sets produce the load, or None.

    From the relaxed program's multipliers, a direction in load space; the sets' largest
    value along it is summed exactly. ``grasp`` may have a column for a free multiple.
    """
    n, columns = sets.n_feet, grasp.shape[1]
    basis, least = np.zeros((columns + 1, columns)), np.zeros(columns)
    rank, _ = solve_balance(grasp, wrench, basis, least)
    memory, forces, pull = make_force_memory(n + 1), np.zeros(2 * n), np.zeros(2 * n)
    code, excess = solve_forces(RELAXED, least[:2 * n].copy(), basis[rank:columns, :2 * n].copy(),
                                sets.table, np.ones(n), 0.0, memory, forces)
    if code < 0 or excess <= 0.0:
        return None
    force_multipliers(RELAXED, sets.table, memory.program, pull)
    # A multiple that is free to choose takes no part in the proof: its column must vanish.
    target = np.concatenate([pull, np.zeros(columns - 2 * n)])
    direction = np.linalg.lstsq(grasp.T, target, rcond=None)[0]
    direction /= max(float(np.abs(direction).max()), 1e-300)
    available = float(sets.support((grasp[:, :2 * n].T @ direction).reshape(-1, 2)).sum())
    demanded = float(direction @ wrench)
    if not demanded > available:
        return None
    over = [str(i) for i in np.flatnonzero(~sets.contains(forces.reshape(-1, 2)))]
    return Infeasibility(
        direction, demanded, available,
        f'of the combination {_words(direction)} the feet make at most {available:.4g} N within '
        f'their limits, and the load requires {demanded:.4g} N. Spread as evenly as possible, '
        f'the load is {excess:.4g} N beyond the limits of feet {", ".join(over) or "(none)"}.')


def _words(direction: np.ndarray) -> str:
    return (f'{direction[0]:.3g} * force x + {direction[1]:.3g} * force y + '
            f'{direction[2]:.3g}/m * moment')


# -------------------------------------------------------------------------------------------------
# The allocations.


# Largest miss of a balance, relative to the load, that still counts as meeting it.
BALANCE_TOLERANCE = 1e-8
# How far beyond a limit [relative] forces may lie for rounding's sake.
LIMIT_TOLERANCE = 1e-7


def least_squares(load: Load) -> Allocation:
    """
    Return the forces of least sum of squares, ``F = G^+ w``.

    They are smooth in the load and have no limits; infeasible only when the feet cannot produce
    the load with any forces.

    Parameters
    ----------
    load : Load
        What the feet must carry.

    Returns
    -------
    Allocation
        Its value is the norm of all forces [N].

    """
    forces, _, _, error = _balanced(load.grasp, load.wrench)
    if error > BALANCE_TOLERANCE:
        return _unreachable(load.grasp, load.wrench)
    return answer(load.grasp, load.wrench, forces, float(np.linalg.norm(forces)), 0.0)


def least_maximum(load: Load, sets: ForceSets | None = None, weights: np.ndarray | None = None,
                  *, smoothness: float = 0.0) -> Allocation:
    """
    Return the forces whose largest ``|F_i| / c_i`` is least.

    Parameters
    ----------
    load : Load
        What the feet must carry.
    sets : ForceSets, optional
        Limits of the feet. Forces stay within the half-planes, and the weights c_i are the radii,
        so that the value is the utilisation; above 1 it is infeasible.
    weights : (k,) array, optional
        ``c_i`` without sets; 1 unless given.
    smoothness : float
        Weight of the sum of squares in addition to the maximum, relative to the load: above 0 the
        result is unique and depends smoothly on the load.

    Returns
    -------
    Allocation
        Its value is the largest ``|F_i| / c_i``.

    Raises
    ------
    ConfigurationError
        When sets or weights do not fit the load, or both are given.

    """
    n = len(load.feet)
    if sets is not None and weights is not None:
        raise ConfigurationError('expected sets or weights, got both: with sets, the weights are '
                                 'their radii')
    table = _table(sets, n)
    c = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    if sets is not None:
        c = np.ascontiguousarray(table[:, SET.radius])
    if c.shape != (n,) or not (c > 0.0).all():
        raise ConfigurationError(f'expected {n} weights or radii above 0, got {c.tolist()}')
    least, memory, rank, error = _balanced(load.grasp, load.wrench)
    if error > BALANCE_TOLERANCE:
        return _unreachable(load.grasp, load.wrench)
    forces = np.zeros(2 * n)
    code, value = solve_forces(LEAST_MAXIMUM, least, memory.basis[rank:2 * n], table, c,
                               smoothness, memory, forces)
    if sets is not None and (code < 0 or value > 1.0 + LIMIT_TOLERANCE):
        return _refused(load.grasp, load.wrench, sets)
    if code < 0:
        return no_answer(n, AllocationStatus.FAILED)
    return answer(load.grasp, load.wrench, forces, value, float(memory.program.report[0]))


def largest_multiple(load: Load, direction: np.ndarray, sets: ForceSets) -> Allocation:
    """
    Return the largest alpha for which the feet can carry ``w + alpha direction``.

    Parameters
    ----------
    load : Load
        What the feet must carry for alpha = 0.
    direction : (3,) array [N, N, N m]
        Load per unit of alpha.
    sets : ForceSets
        Limits of the feet.

    Returns
    -------
    Allocation
        Its value is alpha.

    Raises
    ------
    ConfigurationError
        When the direction is zero or the sets do not fit.

    """
    n = len(load.feet)
    table = _table(sets, n)
    d = np.asarray(direction, dtype=float)
    scale = float(np.abs(d).max(initial=0.0))
    if d.shape != (3,) or not math.isfinite(scale) or scale == 0.0:
        raise ConfigurationError(f'expected a direction of 3 values, not all 0, got {direction!r}')
    grasp = np.column_stack([load.grasp, -d / scale])
    # The multiple is one more unknown of the balance; in units in which it is of order 1.
    basis, least = np.zeros((2 * n + 2, 2 * n + 1)), np.zeros(2 * n + 1)
    rank, error = solve_balance(grasp, load.wrench, basis, least)
    if error > BALANCE_TOLERANCE * _magnitude(load.wrench):
        return _unreachable(grasp, load.wrench)
    memory, forces = make_force_memory(n + 1), np.zeros(2 * n)
    free = 2 * n + 1 - rank
    memory.goal[:free] = basis[rank:rank + free, 2 * n]
    code, value = solve_forces(LARGEST, least[:2 * n].copy(),
                               basis[rank:rank + free, :2 * n].copy(), table, np.ones(n), 0.0,
                               memory, forces)
    value = (value + least[2 * n]) / scale
    if code < 0:
        return _refused(grasp, load.wrench, sets)
    return answer(load.grasp, load.wrench + value * d, forces, value,
                  float(memory.program.report[0]))


def largest_acceleration(load: Load, direction: np.ndarray, sets: ForceSets) -> Allocation:
    """
    Return how much more acceleration in a direction the feet allow.

    Parameters
    ----------
    load : Load
        What the feet must carry at the present acceleration.
    direction : (3,) array [m/s^2, m/s^2, rad/s^2]
        Acceleration of the body (x, y, angle) per unit of alpha.
    sets : ForceSets
        Limits of the feet.

    Returns
    -------
    Allocation
        Its value is alpha in ``xdd + alpha direction``, beyond the load's own acceleration.

    Raises
    ------
    ConfigurationError
        When the direction is zero or the sets do not fit.

    """
    return largest_multiple(load, load.per_acceleration * np.asarray(direction, float), sets)


def _balanced(grasp: np.ndarray, wrench: np.ndarray
              ) -> tuple[np.ndarray, ForceMemory, int, float]:
    """Return the least forces, the memory with the null space, the rank, the relative miss."""
    memory = make_force_memory(max(grasp.shape[1] // 2, 1))
    least = memory.particular[:grasp.shape[1]]
    rank, error = solve_balance(grasp, wrench, memory.basis, least)
    return least, memory, rank, error / _magnitude(wrench)


def _table(sets: ForceSets | None, n: int) -> np.ndarray:
    if sets is None:
        return np.zeros((n, SET.width))
    if sets.n_feet != n:
        raise ConfigurationError(f'expected sets of {n} feet, those on the wall, '
                                 f'got {sets.n_feet}')
    return sets.table


def _refused(grasp: np.ndarray, wrench: np.ndarray, sets: ForceSets) -> Allocation:
    """Return infeasible with its proof, or failed when there is none."""
    proof = certificate(grasp, wrench, sets)
    status = AllocationStatus.INFEASIBLE if proof else AllocationStatus.FAILED
    return no_answer(sets.n_feet, status, proof)
