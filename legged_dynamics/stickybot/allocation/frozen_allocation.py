# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
The two questions taken literally: rest angles alone, at a frozen state.

With ``u_i = r_phi,i`` the only control, ``F_i = b_i + c_i u_i`` (48), and of the body's
acceleration only the angular one depends on u, through ``sum k_i u_i``: N controls, one equation
to keep it, N - 1 left for N - 1 equalities of magnitude. These are statements for the instant, on
the time scale of the limbs' own inertia: the forces pass to other feet only once limbs and body
have moved. For sharing a load, see :mod:`.force_allocation`.
"""
from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.stickybot.allocation.force_program import (
    LEAST_MAXIMUM,
    make_force_memory,
    solve_balance,
    solve_forces,
)
from legged_dynamics.stickybot.allocation.force_sets import SET
from legged_dynamics.stickybot.model.affine import affine_maps
from legged_dynamics.stickybot.model.robot import StickybotModel
from legged_dynamics.stickybot.model.state import RestPosition, StickybotState

MOST_FEET = 16      # 2^N patterns of signs are searched
SAMPLES = 2000      # of the magnitude, to bracket all solutions of a pattern
LARGEST_MAGNITUDE = 1e4     # in units of the largest floor; beyond it a solution is of no use


@dataclass(frozen=True, eq=False)
class FrozenForces:
    """
    Foot forces as functions of the hips' rest angles, the state being frozen.

    Attributes
    ----------
    b, c : (k, 2) array [N, N/rad]
        ``F_i = b_i + c_i u_i`` for the feet on the wall.
    k : (k,) array [N m/rad]
        What each rest angle takes from the moment on the body.
    u : (k,) array [rad]
        The present rest angles.
    angular_acceleration : float [rad/s^2]
        Of the body, at the present rest angles.
    inertia : float [kg m^2]
    feet : (k,) int array

    """

    b: np.ndarray
    c: np.ndarray
    k: np.ndarray
    u: np.ndarray
    angular_acceleration: float
    inertia: float
    feet: np.ndarray

    @property
    def floor(self) -> np.ndarray:
        """The least ``|F_i|`` that any rest angle makes, (k,) [N]: the part of b_i across c_i."""
        across = self.b[:, 0] * self.c[:, 1] - self.b[:, 1] * self.c[:, 0]
        return np.abs(across) / np.hypot(self.c[:, 0], self.c[:, 1])

    def at(self, u: np.ndarray) -> np.ndarray:
        """Return the forces at rest angles u, (k, 2) [N]."""
        return self.b + self.c * np.asarray(u, dtype=float)[:, None]


def frozen_forces(model: StickybotModel, state: StickybotState, rest: RestPosition
                  ) -> FrozenForces:
    """
    Return the frozen-state forces of a state.

    Raises
    ------
    ConfigurationError
        When a rest angle has no effect (no stiffness), or no foot is on the wall.
    MeasurementError
        When state or rest positions do not fit the model.

    """
    maps = affine_maps(model, state)
    _, _, attached = state.packed(model)
    feet = np.flatnonzero(attached)
    u, _ = rest.packed(model)
    angles = u[model.hip_columns[:, 2]]
    c = maps.C[feet, :, 2]
    if not len(feet) or (np.hypot(c[:, 0], c[:, 1]) < 1e-12).any():
        raise ConfigurationError('expected feet on the wall whose rest angles move their forces, '
                                 f'got {len(feet)} feet and gradients {c.tolist()} N/rad')
    b = maps.reaction(rest, model)[feet] - c * angles[feet, None]
    return FrozenForces(b, c, -maps.H[feet, 2, 2] * model.body.inertia, angles[feet],
                        float(maps.acceleration(rest, model)[2]), model.body.inertia, feet)


@dataclass(frozen=True, eq=False)
class EqualForces:
    """
    One way to make all magnitudes equal.

    Attributes
    ----------
    magnitude : float [N]
    u : (k,) array [rad]
    signs : (k,) array
        Along (+1) or against (-1) c_i, from the point of least force.

    """

    magnitude: float
    u: np.ndarray
    signs: np.ndarray


def equal_magnitudes(frozen: FrozenForces) -> list[EqualForces]:
    """
    Return all ways to equalise ``|F_i|`` and keep the body's angular acceleration.

    ``u_i = ( -b_i . c_i + sigma_i |c_i| sqrt(s^2 - floor_i^2) ) / |c_i|^2`` with
    ``sum k_i u_i`` kept: for each pattern of signs sigma an equation in s. There may be none, and
    the least may be absurd; :func:`frozen_least_maximum` always has an answer.

    Returns
    -------
    list of EqualForces
        By magnitude, up to 1e4 times the largest floor.

    Raises
    ------
    ConfigurationError
        With more than 16 feet.

    """
    n = len(frozen.feet)
    if n > MOST_FEET:
        raise ConfigurationError(f'expected at most {MOST_FEET} feet, got {n}: 2^N patterns are '
                                 'searched')
    size = np.hypot(frozen.c[:, 0], frozen.c[:, 1])
    middle = -(frozen.b * frozen.c).sum(axis=1) / size ** 2
    kept, floor = float(frozen.k @ frozen.u), frozen.floor
    lowest = float(floor.max())
    reach = frozen.k / size
    unit = max(lowest, 1e-9)
    grid = lowest + unit * np.concatenate([[0.0], np.geomspace(1e-12, LARGEST_MAGNITUDE,
                                                               SAMPLES)])
    roots = np.sqrt(np.maximum(grid[:, None] ** 2 - floor ** 2, 0.0)) * reach
    found = []
    for pattern in itertools.product((-1.0, 1.0), repeat=n):
        signs = np.array(pattern)

        def miss(s: float, signs: np.ndarray = signs) -> float:
            root = np.sqrt(np.maximum(s * s - floor ** 2, 0.0))
            return float(frozen.k @ middle + signs @ (root * reach)) - kept

        values = float(frozen.k @ middle) + roots @ signs - kept
        for j in np.flatnonzero(values[:-1] * values[1:] <= 0.0):
            if values[j] == 0.0 and j > 0:
                continue
            # Evaluated again: near a root, one sum and many at once may round to either side.
            s = brentq(miss, grid[j], grid[j + 1], xtol=1e-14, rtol=1e-15) \
                if miss(grid[j]) * miss(grid[j + 1]) < 0.0 else \
                float(min(grid[j:j + 2], key=lambda end: abs(miss(end))))
            root = np.sqrt(np.maximum(s * s - floor ** 2, 0.0))
            found.append(EqualForces(float(s), middle + signs * root / size, signs))
    return sorted(found, key=lambda way: way.magnitude)


def frozen_least_maximum(frozen: FrozenForces) -> tuple[float, np.ndarray]:
    """
    Return the least maximum of ``|F_i|`` that keeps the angular acceleration, and its u.

    Always has an answer, and not below the largest floor.

    Returns
    -------
    float [N]
    (k,) array [rad]

    """
    n = len(frozen.feet)
    basis, u0 = np.zeros((n + 1, n)), np.zeros(n)
    rank, _ = solve_balance(frozen.k[None, :], np.array([frozen.k @ frozen.u]), basis, u0)
    spread = np.zeros((n, 2 * n))
    for i in range(n):
        spread[i, 2 * i:2 * i + 2] = frozen.c[i]
    # In units in which every rest angle moves its force by 1 N.
    base = frozen.at(u0).ravel()
    directions = basis[rank:n] @ spread
    if n == rank:
        return float(np.hypot(*frozen.at(u0).T).max()), u0
    scale = float(np.abs(directions).max())
    memory, forces = make_force_memory(n), np.zeros(2 * n)
    _, value = solve_forces(LEAST_MAXIMUM, base, np.ascontiguousarray(directions / scale), 0,
                            n - rank, np.zeros((n, SET.width)), np.ones(n), np.zeros(n), 0.0,
                            memory.program, forces)
    size2 = (frozen.c ** 2).sum(axis=1)
    return value, ((forces.reshape(-1, 2) - frozen.b) * frozen.c).sum(axis=1) / size2


def angular_acceleration_range(frozen: FrozenForces, limit: float) -> tuple[float, float]:
    """
    Return the angular accelerations of the body that keep every ``|F_i| <= limit``.

    Closed form: each rest angle has an interval of its own, and the moment is their sum.

    Parameters
    ----------
    frozen : FrozenForces
        Foot forces of the frozen state.
    limit : float [N]
        Largest force allowed.

    Returns
    -------
    float, float [rad/s^2]
        Least and largest; NaN, NaN when a foot's floor is above the limit.

    """
    floor = frozen.floor
    if not limit >= floor.max():
        return math.nan, math.nan
    size = np.hypot(frozen.c[:, 0], frozen.c[:, 1])
    middle = -(frozen.b * frozen.c).sum(axis=1) / size ** 2
    half = np.sqrt(limit * limit - floor ** 2) / size
    at_middle = (frozen.angular_acceleration
                 - float(frozen.k @ (middle - frozen.u)) / frozen.inertia)
    swing = float(np.abs(frozen.k) @ half) / frozen.inertia
    return at_middle - swing, at_middle + swing
