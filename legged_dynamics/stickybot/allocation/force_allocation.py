# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Least maximum force and largest acceleration of a climber, Karpick's two questions (1.2).

How can the feet's forces be equalised while the body's acceleration is kept
(:func:`least_maximum`, or :func:`least_squares`)? What is the largest acceleration for a given
limit on the forces (:func:`largest_acceleration`)?

The cone programs are solved to a duality gap that is returned with the result, and the balance and
the limits are checked again on it. An infeasible question returns a certificate that can be
checked by hand.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.optimization.cone_program import (
    SLACK,
    UNKNOWN,
    ConeProgram,
    make_cone_program,
    solve_cone_program,
)
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.layout import offsets
from legged_dynamics.stickybot.model.adhesion import PAD, Adhesion
from legged_dynamics.stickybot.model.dynamics import Load

# -------------------------------------------------------------------------------------------------
# Cone programs over foot forces ``F = F_0 + D x`` whose cost is a largest norm, and sets of
# forces.
#
# Three programs share one form, with weights c_i and sets S_i (a disc of radius rho_i cut by
# half-planes):
#
# =============  ================================================================================
# least maximum  min s  with  |F_i| <= s c_i,  F_i in the half-planes of S_i
# largest        max g . x  with  F_i in S_i
# relaxed        min t  with  |F_i| <= rho_i + t, half-planes moved out by t: feasible at once,
#                bounded, and t > 0 proves that no forces lie in the sets
# =============  ================================================================================


MAX_PLANES = 4


class ForceSet(NamedTuple):
    """Columns of ``ForceSets.table``, a row a foot."""

    radius: int = 1                 # N, of the disc
    n_planes: int = 1               # how many half-planes
    planes: int = 3 * MAX_PLANES    # unit normal (x, y) and bound [N] of each
    width: int = 0


SET = offsets(ForceSet())


@kernel
def fill_sets(pads, normals, angles, table):
    """
    Fill the set of forces that each pad can hold under its normal load.

    ``normals`` [N]: the wall's push. Where the pull alone exceeds the pad's limit, a
    half-plane lies beyond the disc: the set is empty.
    """
    for i in range(pads.shape[0]):
        pressed, pull = pads[i, PAD.friction] * max(normals[i], 0.0), max(-normals[i], 0.0)
        radius = pads[i, PAD.shear] + pressed
        table[i, SET.radius] = radius
        n = 0
        if pull > pads[i, PAD.normal]:
            at = SET.planes
            table[i, at], table[i, at + 1], table[i, at + 2] = -1.0, 0.0, -2.0 * radius - 1.0
            n = 1
        if not math.isnan(pads[i, PAD.direction]):
            x, y = math.cos(angles[i]), math.sin(angles[i])
            c = 1.0 / math.sqrt(1.0 + pads[i, PAD.tan_half] ** 2)
            s = pads[i, PAD.tan_half] * c
            for sign in (1.0, -1.0):
                at = SET.planes + 3 * n
                table[i, at] = -sign * c * y - s * x
                table[i, at + 1] = sign * c * x - s * y
                table[i, at + 2] = s * (pressed + pads[i, PAD.tack])
                n += 1
            if pull > 0.0:
                at = SET.planes + 3 * n
                table[i, at], table[i, at + 1] = -x, -y
                table[i, at + 2] = pads[i, PAD.tack] - pull / pads[i, PAD.tan_release]
                n += 1
        table[i, SET.n_planes] = n


@dataclass(frozen=True, eq=False)
class ForceSets:
    """
    Sets of forces that N feet can carry in the wall's plane.

    Attributes
    ----------
    table : (N, 14) array
        One row per foot: radius [N], number of half-planes, their unit normals and bounds [N].

    """

    table: np.ndarray

    @classmethod
    def discs(cls, radius: Sequence[float] | np.ndarray) -> ForceSets:
        """
        Return discs ``|F_i| <= radius_i``.

        ``radius`` (N,) [N]: largest force of each foot. Raises ConfigurationError when a radius is
        negative or not finite.
        """
        radii = np.asarray(radius, dtype=float)
        if radii.ndim != 1 or not np.isfinite(radii).all() or (radii < 0.0).any():
            raise ConfigurationError('expected one finite radius of at least 0 N per foot, '
                                     f'got {radius!r}')
        table = np.zeros((radii.size, SET.width))
        table[:, SET.radius] = radii
        return cls(table)

    @classmethod
    def of_pads(cls, pads: Sequence[Adhesion], normals: Sequence[float],
                angles: Sequence[float]) -> ForceSets:
        """
        Return the forces that pads can hold under given normal loads.

        ``pads``: pads of finite shear. ``normals`` (N,) [N]: the wall's push on each foot.
        ``angles`` (N,) [rad]: directions of the pads in the axes of the forces; not used for
        discs. Raises ConfigurationError when the lengths do not fit, or a pad has no limit of
        shear.
        """
        n = len(pads)
        loads, turned = np.asarray(normals, float), np.asarray(angles, float)
        if loads.shape != (n,) or turned.shape != (n,):
            raise ConfigurationError(f'expected a normal load and an angle for each of {n} pads, '
                                     f'got {loads.size} and {turned.size}')
        if not all(math.isfinite(pad.shear) for pad in pads):
            raise ConfigurationError('expected pads of finite shear, got one without limit')
        table = np.zeros((n, SET.width))
        fill_sets(np.array([pad.packed() for pad in pads]), loads, turned, table)
        return cls(table)

    @property
    def n_feet(self) -> int:
        """Number of feet."""
        return self.table.shape[0]

    def planes(self, foot: int) -> tuple[np.ndarray, np.ndarray]:
        """Return unit normals (k, 2) and bounds (k,) [N] of a foot, ``normal . F <= bound``."""
        count = int(self.table[foot, SET.n_planes])
        rows = self.table[foot, SET.planes:SET.planes + 3 * count].reshape(-1, 3)
        return rows[:, :2], rows[:, 2]

    def contains(self, forces: np.ndarray, slack: float = 0.0) -> np.ndarray:
        """
        Return (N,) bools: whether the forces (N, 2) [N] of the feet lie in their sets.

        ``slack`` [N]: tolerated distance outside the set.
        """
        inside = np.hypot(*np.transpose(forces)) <= self.table[:, SET.radius] + slack
        for i, force in enumerate(forces):
            normals, bounds = self.planes(i)
            inside[i] &= bool((normals @ force <= bounds + slack).all())
        return inside

    def outline(self, foot: int, farthest: float = math.inf, points: int = 72) -> np.ndarray:
        """
        Return the outline (m, 2) [N] of a foot's set; empty where the set is.

        Forces beyond ``farthest`` [N] are left out; a disc is a polygon of that many ``points``.
        """
        angle = np.linspace(0.0, 2.0 * np.pi, points + 1)
        radius = min(float(self.table[foot, SET.radius]), farthest)
        outline = radius * np.column_stack([np.cos(angle), np.sin(angle)])
        for normal, bound in zip(*self.planes(foot)):
            over, kept = outline @ normal - bound, []
            for k in range(len(outline)):
                p, q, a, b = outline[k - 1], outline[k], over[k - 1], over[k]
                if (a > 0.0) != (b > 0.0):
                    kept.append(p + a / (a - b) * (q - p))
                if b <= 0.0:
                    kept.append(q)
            outline = np.array(kept).reshape(-1, 2)
        return outline

    def support(self, directions: np.ndarray) -> np.ndarray:
        """Return (N,) [N]: most of each force along ``directions`` (N, 2); -inf: empty set."""
        return np.array([self._support(i, d) for i, d in enumerate(np.asarray(directions))])

    def _support(self, foot: int, direction: np.ndarray) -> float:
        radius = self.table[foot, SET.radius]
        normals, bounds = self.planes(foot)
        length = math.hypot(*direction)
        candidates = [radius * direction / length if length else np.zeros(2)]
        for k, (normal, bound) in enumerate(zip(normals, bounds)):
            along = np.array([-normal[1], normal[0]])
            half = math.sqrt(max(radius * radius - bound * bound, 0.0))
            if abs(bound) <= radius:
                candidates += [bound * normal + half * along, bound * normal - half * along]
            for other, other_bound in zip(normals[:k], bounds[:k]):
                pair = np.array([normal, other])
                if abs(np.linalg.det(pair)) > 1e-12:
                    candidates.append(np.linalg.solve(pair, [bound, other_bound]))
        slack = 1e-12 * (1.0 + radius)
        values = [float(direction @ point) for point in candidates
                  if math.hypot(*point) <= radius + slack
                  and (normals @ point <= bounds + slack).all()]
        return max(values, default=-math.inf)


LEAST_MAXIMUM, LARGEST, RELAXED = range(3)
# Relative length from which a row, orthogonal to the others, counts as independent.
RANK_TOLERANCE = 1e-9


class ForceMemory(NamedTuple):
    """Memory for programs of up to N feet."""

    # (2 N, 2 N): orthonormal rows: first those of the balance, then its null space
    basis: np.ndarray
    particular: np.ndarray  # (2 N,)
    goal: np.ndarray  # (2 N,): g of `LARGEST`, by directions
    program: ConeProgram


def make_force_memory(n_feet: int) -> ForceMemory:
    """Return memory for programs of up to ``n_feet`` feet."""
    size = 2 * n_feet
    return ForceMemory(np.zeros((size, size)), np.zeros(size), np.zeros(size),
                       make_cone_program(size + 2, MAX_PLANES * n_feet, n_feet))


@kernel
def solve_balance(G, w, basis, particular):
    """
    Find all F with G F = w; return the rank and the largest unproduced part of w.

    Fills ``particular`` (least F) and ``basis``: orthonormal rows, of the null space from
    `rank` on. Gram-Schmidt, twice, with the longest remaining row first.
    """
    rows, size = G.shape
    # Rows in units of their own length, so that one tolerance serves forces and moments; then
    # the unit vectors, which complete the basis.
    left, value = np.zeros((rows + size, size)), np.zeros(rows)
    for i in range(rows):
        length = math.sqrt((G[i] * G[i]).sum())
        scale = 1.0 / length if length > 0.0 else 1.0
        left[i] = scale * G[i]
        value[i] = scale * w[i]
    for j in range(size):
        left[rows + j, j] = 1.0
    particular[:] = 0.0
    rank = 0
    for n in range(size):
        squares = (left * left).sum(axis=1)
        at = squares[:rows].argmax()
        if squares[at] < RANK_TOLERANCE ** 2:
            at = rows + squares[rows:].argmax()
        else:
            rank = n + 1
        row = left[at] / math.sqrt(squares[at])
        # Twice is enough against rounding (Parlett 1980, 6.9).
        for k in range(n):
            row -= (row * basis[k, :size]).sum() * basis[k, :size]
        row /= math.sqrt((row * row).sum())
        basis[n, :size] = row
        along = (left * row).sum(axis=1)
        if rank == n + 1:
            coordinate = value[at] / along[at]
            particular[:size] += coordinate * row
            value -= coordinate * along[:rows]
        left -= np.outer(along, row)
    return rank, np.abs(value).max()


@kernel
def solve_forces(kind, base, directions, sets, weights, ridge, memory, forces):
    """
    Solve one of three programs for ``F = base + sum_a x_a directions[a]``.

    ``kind``: `LEAST_MAXIMUM`, `LARGEST` or `RELAXED`; fills ``forces``. Returns the
    iterations (negative on failure), and s, g . x, or t.
    """
    program, goal = memory.program, memory.goal
    G, h, unknown = program.G, program.h, program.unknown
    feet, n = sets.shape[0], directions.shape[0]
    # The program is solved in units of its largest force.
    unit = 0.0
    for i in range(feet):
        unit = max(unit, math.hypot(base[2 * i], base[2 * i + 1]))
        if kind != LEAST_MAXIMUM:
            unit = max(unit, sets[i, SET.radius])
    unit = unit if unit > 0.0 else 1.0
    lines = 0
    for i in range(feet):
        for k in range(int(sets[i, SET.n_planes])):
            column = SET.planes + 3 * k
            nx, ny = sets[i, column], sets[i, column + 1]
            h[lines] = (sets[i, column + 2] - nx * base[2 * i] - ny * base[2 * i + 1]) / unit
            G[lines, :n] = nx * directions[:, 2 * i] + ny * directions[:, 2 * i + 1]
            G[lines, n] = -1.0 if kind == RELAXED else 0.0
            lines += 1
    for i in range(feet):
        row = lines + 3 * i
        h[row] = 0.0 if kind == LEAST_MAXIMUM else sets[i, SET.radius] / unit
        h[row + 1], h[row + 2] = base[2 * i] / unit, base[2 * i + 1] / unit
        G[row:row + 3, :n + 1] = 0.0
        G[row + 1, :n] = -directions[:, 2 * i]
        G[row + 2, :n] = -directions[:, 2 * i + 1]
        G[row, n] = -weights[i] if kind == LEAST_MAXIMUM else -1.0
    # The last unknown is s or t, which the largest multiple has none of.
    cost, x, extra = unknown[UNKNOWN.cost], unknown[UNKNOWN.x], 0 if kind == LARGEST else 1
    cost[:n], cost[n] = 0.0, 1.0
    if kind == LARGEST:
        cost[:n] -= goal[:n]
    iterations = solve_cone_program(program, lines, feet, n + extra, ridge)
    forces[:2 * feet] = base[:2 * feet]
    for a in range(n):
        forces[:2 * feet] += unit * x[a] * directions[a, :2 * feet]
    value = (goal[:n] * x[:n]).sum() if kind == LARGEST else x[n]
    return iterations, unit * value


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
    return Allocation(AllocationStatus.OPTIMAL, forces.reshape(-1, 2).copy(), float(value), gap,
                      float(np.abs(grasp @ forces - wrench).max()) / _magnitude(wrench))


def no_answer(n: int, status: AllocationStatus, certificate: Infeasibility | None = None
              ) -> Allocation:
    """Return an allocation without forces (NaN), with its status and any proof."""
    return Allocation(status, np.full((n, 2), math.nan), math.nan, math.nan, math.nan, certificate)


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
    least, free, _ = _balanced(grasp, wrench)
    memory, forces = make_force_memory(n + 1), np.zeros(2 * n)
    code, excess = solve_forces(RELAXED, least[:2 * n].copy(), free[:, :2 * n].copy(), sets.table,
                                np.ones(n), 0.0, memory, forces)
    if code < 0 or excess <= 0.0:
        return None
    # The multiplier of each foot's force, nu_i = d(optimum)/d F_i, from its disc and half-planes.
    z, lines = memory.program.slack[SLACK.z], int(sets.table[:, SET.n_planes].sum())
    pull = -z[lines:lines + 3 * n].reshape(-1, 3)[:, 1:]
    for i in range(n):
        normals, _ = sets.planes(i)
        pull[i] += z[:len(normals)] @ normals
        z = z[len(normals):]
    # A multiple that is free to choose takes no part in the proof: its column must vanish.
    direction = np.linalg.lstsq(grasp.T, np.append(pull, np.zeros(columns - 2 * n)), rcond=None)[0]
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
    parts = zip(direction, ('force x', 'force y', '1/m * moment'))
    return ' + '.join(f'{value:.3g} * {name}' for value, name in parts if abs(value) > 1e-9)


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
    forces, _, error = _balanced(load.grasp, load.wrench)
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
    least, free, error = _balanced(load.grasp, load.wrench)
    if error > BALANCE_TOLERANCE:
        return _unreachable(load.grasp, load.wrench)
    memory, forces = make_force_memory(n), np.zeros(2 * n)
    code, value = solve_forces(LEAST_MAXIMUM, least, free, table, c, smoothness, memory, forces)
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
    least, free, error = _balanced(grasp, load.wrench)
    if error > BALANCE_TOLERANCE:
        return _unreachable(grasp, load.wrench)
    memory, forces = make_force_memory(n + 1), np.zeros(2 * n)
    memory.goal[:len(free)] = free[:, 2 * n]
    code, value = solve_forces(LARGEST, least[:2 * n].copy(), free[:, :2 * n].copy(), table,
                               np.ones(n), 0.0, memory, forces)
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


def _balanced(grasp: np.ndarray, wrench: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the least forces, unit changes that leave the load as it is, the relative miss."""
    columns = grasp.shape[1]
    basis, least = np.zeros((columns, columns)), np.zeros(columns)
    rank, error = solve_balance(grasp, wrench, basis, least)
    return least, basis[rank:], error / _magnitude(wrench)


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
