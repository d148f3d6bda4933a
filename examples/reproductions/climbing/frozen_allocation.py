# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Allocation by rest angles alone, at a frozen state: the forces are functions of N hip controls.

With d_i the limb's end in body axes, ``R`` the body's rotation on (x, y), W_i the effect of a hip
force on the foot through the limb's own acceleration, and sel the first two rows, reactions and
body acceleration are affine in the rest positions, (30)-(35) and (45)-(57) in the corrected form::

    F_r,i = a_i + C_i r_i + S_i rdot_i           xdd = G + sum_i ( H_i r_i + T_i rdot_i )

    L_i = R (K d_i + B ddot_i)                   N_i = -R K            P_i = -R B       (42)-(44)
    W_i = -M_fq M_qq^-1 J_i^T                    X_i = M_b^-1 (1 + d_i~ R^T)
    C_i = (W_i + sel) N_i                        S_i = (W_i + sel) P_i                 (32), (47)
    G = g + sum X_i L_i                          H_i = X_i N_i         T_i = X_i P_i    (53)-(55)

The arm is d_i, which does not depend on r_i: the maps are exact in all three components of r_i.
The gradients with a rest angle and with its rate, (48), (50), (56) and (57), are the last columns
of C, S, H and T; the first two have the same size in every pose of a limb of one link, (49), (51).

With ``u_i = r_phi,i`` the only control, ``F_i = b_i + c_i u_i`` (48), and of the body's
acceleration only the angular one depends on u, through ``sum k_i u_i``: N controls, one equation
to keep it, N - 1 left for N - 1 equalities of magnitude. These results hold for the instant, on
the time scale of the limbs' own inertia: the load shifts to other feet only once limbs and body
have moved. For sharing a load, see :mod:`.force_allocation`.
"""
from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.stickybot.allocation.force_allocation import (
    LEAST_MAXIMUM,
    SET,
    make_force_memory,
    solve_balance,
    solve_forces,
)
from legged_dynamics.stickybot.model.limb import (
    LIMB,
    WORK,
    hip_deflection,
    limb_terms,
    make_workspace,
)
from legged_dynamics.stickybot.model.robot import RestPosition, StickybotModel, StickybotState

# -------------------------------------------------------------------------------------------------
# Reactions and body acceleration as affine maps of the hips' rest positions, at one state.


@dataclass(frozen=True, eq=False)
class AffineMaps:
    """
    The maps at one state, in wall axes; rows of feet off the wall are zero.

    Attributes
    ----------
    a : (N, 2) array [N]
        ``a_i`` (46): reaction at r = rdot = 0 (inner joints at rest angle 0).
    C, S : (N, 2, 3) array [N/m, N/m, N/rad] and [N s/m, N s/m, N s/rad]
        ``C_i`` (32) and ``S_i`` (47).
    G : (3,) array [m/s^2, rad/s^2]
        (53).
    H, T : (N, 3, 3) array
        (54), (55).
    C_joint, S_joint : tuple of (2, links - 1) arrays [N/rad, N s/rad]
        The same for the rest angles of each limb's inner joints.

    """

    a: np.ndarray
    C: np.ndarray
    S: np.ndarray
    G: np.ndarray
    H: np.ndarray
    T: np.ndarray
    C_joint: tuple[np.ndarray, ...]
    S_joint: tuple[np.ndarray, ...]

    def reaction(self, rest: RestPosition, model: StickybotModel) -> np.ndarray:
        """
        Return the reactions ``a + C r + S rdot`` (45).

        ``rest``: rest positions r and their rates. Returns (N, 2) array [N]: in wall axes.
        """
        u, ud = rest.packed(model)
        r, rd = u[model.hip_columns], ud[model.hip_columns]
        force = self.a + np.einsum('ijk,ik->ij', self.C, r) + np.einsum('ijk,ik->ij', self.S, rd)
        at = 0
        for i, (C, S) in enumerate(zip(self.C_joint, self.S_joint)):
            inner = model.inner_columns[at:at + C.shape[1]]
            force[i] += C @ u[inner] + S @ ud[inner]
            at += C.shape[1]
        return force

    def acceleration(self, rest: RestPosition, model: StickybotModel) -> np.ndarray:
        """
        Return the acceleration of the body ``G + sum H r + T rdot`` (52).

        ``rest``: rest positions r and their rates. Returns (3,) array [m/s^2, m/s^2, rad/s^2]: in
        wall axes.
        """
        u, ud = rest.packed(model)
        return (self.G + np.einsum('ijk,ik->j', self.H, u[model.hip_columns])
                + np.einsum('ijk,ik->j', self.T, ud[model.hip_columns]))


def affine_maps(model: StickybotModel, state: StickybotState) -> AffineMaps:
    """Return the affine maps of a state, (30)-(35) and (45)-(57)."""
    z, v, attached = state.packed(model)
    n = model.n_limbs
    c, s = math.cos(z[2]), math.sin(z[2])
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    inverse_mass = 1.0 / np.array([model.body.mass, model.body.mass, model.body.inertia])
    a, C, S = np.zeros((n, 2)), np.zeros((n, 2, 3)), np.zeros((n, 2, 3))
    H, T = np.zeros((n, 3, 3)), np.zeros((n, 3, 3))
    G = np.array([*model.wall.in_plane, 0.0])
    joints = []
    work = make_workspace(model.machine)
    for i, limb in enumerate(model.limbs):
        start, links = model.machine.index[i, LIMB.start], model.machine.index[i, LIMB.n_links]
        limb_terms(*model.machine, work, i, z, v)
        d = np.array(hip_deflection(c, s, z, v, work))
        L = R @ (limb.stiffness @ d[:3] + limb.damping @ d[3:])
        N, P = -R @ limb.stiffness, -R @ limb.damping
        arm = R[:2, :2] @ d[:2]
        X = inverse_mass[:, None] * np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0],
                                              [-arm[1], arm[0], 1.0]])
        G += X @ L
        H[i], T[i] = X @ N, X @ P
        springs = np.array([link.stiffness for link in limb.links[1:]])
        dampers = np.array([link.damping for link in limb.links[1:]])
        if not attached[i]:
            joints.append((np.zeros((2, links - 1)), np.zeros((2, links - 1))))
            continue
        # Lower triangle only: rows of joints, columns of the foot's position.
        M_fq = work[2:2 + links, WORK.mass_matrix:WORK.mass_matrix + 2].T
        M_qq = np.tril(work[2:2 + links, WORK.mass_matrix + 2:WORK.mass_matrix + 2 + links])
        M_qq = M_qq + np.tril(M_qq, -1).T
        by_force = np.linalg.solve(M_qq, M_fq.T).T
        J = np.column_stack([work[2:2 + links, WORK.jacobian:WORK.jacobian + 2], np.ones(links)])
        W = np.eye(2, 3) - by_force @ J
        servo = np.zeros(links)
        servo[1:] = (-springs * z[start + 3:start + 2 + links]
                     - dampers * v[start + 3:start + 2 + links])
        a[i] = (by_force @ (servo - work[2:2 + links, WORK.bias]) + work[:2, WORK.bias] + W @ L)
        C[i], S[i] = W @ N, W @ P
        joints.append((by_force[:, 1:] * springs, by_force[:, 1:] * dampers))
    return AffineMaps(a, C, S, G, H, T, tuple(pair[0] for pair in joints),
                      tuple(pair[1] for pair in joints))


# -------------------------------------------------------------------------------------------------
# Allocation by rest angles.


@dataclass(frozen=True)
class SearchSettings:
    """Search for equal magnitudes, pattern of signs by pattern."""

    most_feet: int = 16             # 2^N patterns are searched
    samples: int = 2000             # of the magnitude, to bracket all solutions of a pattern
    largest_magnitude: float = 1e4  # largest floors; beyond it a solution is of no use


SEARCH = SearchSettings()


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
        """Return the forces (k, 2) [N] at rest angles u (k,) [rad]."""
        return self.b + self.c * np.asarray(u, dtype=float)[:, None]


def frozen_forces(model: StickybotModel, state: StickybotState, rest: RestPosition
                  ) -> FrozenForces:
    """
    Return the foot forces of a frozen state as functions of the rest angles, (48).

    ``rest``: as they are now. ConfigurationError without a foot on the wall, or where a rest angle
    has no effect.
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
    """One way to make all magnitudes equal."""

    magnitude: float  # [N]
    u: np.ndarray  # (k,) [rad]
    signs: np.ndarray  # (k,): along (+1) or against (-1) c_i, from the point of least force


def equal_magnitudes(frozen: FrozenForces) -> list[EqualForces]:
    """
    Return all ways to equalise ``|F_i|`` and keep the body's angular acceleration.

    ``u_i = ( -b_i . c_i + sigma_i |c_i| sqrt(s^2 - floor_i^2) ) / |c_i|^2`` with
    ``sum k_i u_i`` kept: for each pattern of signs sigma an equation in s. There may be none, and
    the least may be impractically large; :func:`frozen_least_maximum` always has a solution.

    Parameters
    ----------
    frozen : FrozenForces
        Foot forces of the frozen state.

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
    if n > SEARCH.most_feet:
        raise ConfigurationError(f'expected at most {SEARCH.most_feet} feet, got {n}: 2^N '
                                 'patterns are searched')
    size = np.hypot(frozen.c[:, 0], frozen.c[:, 1])
    middle = -(frozen.b * frozen.c).sum(axis=1) / size ** 2
    kept, floor = float(frozen.k @ frozen.u), frozen.floor
    lowest = float(floor.max())
    reach = frozen.k / size
    unit = max(lowest, 1e-9)
    grid = lowest + unit * np.concatenate([
        [0.0], np.geomspace(1e-12, SEARCH.largest_magnitude, SEARCH.samples)])
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
    Return the least maximum of ``|F_i|`` that keeps the angular acceleration [N], and its u.

    A solution always exists; it is not below the largest floor.
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
    _, value = solve_forces(LEAST_MAXIMUM, base, np.ascontiguousarray(directions / scale),
                            np.zeros((n, SET.width)), np.ones(n), 0.0, memory, forces)
    size2 = (frozen.c ** 2).sum(axis=1)
    return value, ((forces.reshape(-1, 2) - frozen.b) * frozen.c).sum(axis=1) / size2


def angular_acceleration_range(frozen: FrozenForces, limit: float) -> tuple[float, float]:
    """
    Return the least and largest acceleration [rad/s^2] that keep every ``|F_i| <= limit`` [N].

    Closed form: each rest angle has an interval of its own, and the moment is their sum. NaN, NaN
    when a foot's floor is above the limit.
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
