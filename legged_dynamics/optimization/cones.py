# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Operations on a product of half-lines and second-order cones of dimension 3.

A vector has first the half-lines' entries, then (t, y1, y2) of each cone ``t >= |y|``. Each cone
has a product, a unit, and the scaling of Nesterov and Todd, ``W z = W^-1 s = lambda``
(Vandenberghe 2010, "The CVXOPT linear and quadratic cone program solvers", sections 2 and 4).
"""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.spatial.jit import kernel

# Columns of a scaling, one row per half-line and cone: v and beta of W = beta (2 v v^T - J).
V, BETA = 0, 3


@kernel
def _cone_norm(x, j):
    """Return sqrt(t^2 - |y|^2) of the cone at row j; the product form keeps small ones exact."""
    length = math.hypot(x[j + 1], x[j + 2])
    return math.sqrt(max((x[j] - length) * (x[j] + length), 0.0))


@kernel
def scale(scaling, lines, cones, x, out, inverse):
    """
    Set out = W x, or W^-1 x.

    Parameters
    ----------
    scaling : (lines + cones, 4) array
        Of :func:`find_scaling`.
    lines, cones : int
        How many half-lines and cones; x has lines + 3 cones entries.
    x, out : (m,) array
        May be the same array.
    inverse : bool
        Whether W^-1 is meant.

    """
    for j in range(lines):
        out[j] = x[j] / scaling[j, BETA] if inverse else x[j] * scaling[j, BETA]
    for k in range(cones):
        j, row = lines + 3 * k, lines + k
        v0, v1, v2, beta = scaling[row, 0], scaling[row, 1], scaling[row, 2], scaling[row, BETA]
        if inverse:
            v1, v2, beta = -v1, -v2, 1.0 / beta
        dot = 2.0 * (v0 * x[j] + v1 * x[j + 1] + v2 * x[j + 2])
        x0, x1, x2 = x[j], x[j + 1], x[j + 2]
        out[j] = beta * (dot * v0 - x0)
        out[j + 1] = beta * (dot * v1 + x1)
        out[j + 2] = beta * (dot * v2 + x2)


@kernel
def find_scaling(scaling, lines, cones, s, z):
    """
    Fill the Nesterov-Todd scaling, for which W z = W^-1 s; return False on the cones' boundary.

    Parameters
    ----------
    scaling : (lines + cones, 4) array
        Is filled: v and beta of every cone, beta of every half-line.
    lines, cones : int
        Numbers of half-lines and of cones.
    s, z : (lines + 3 cones,) array
        Slacks and multipliers, inside the cones.

    Returns
    -------
    bool
        Whether both are inside.

    """
    for j in range(lines):
        if not s[j] * z[j] > 0.0:
            return False
        scaling[j, BETA] = math.sqrt(s[j] / z[j])
    for k in range(cones):
        j, row = lines + 3 * k, lines + k
        # w is the point halfway between s and z, both scaled to unit norm, and v its square root
        # in the Jordan algebra: then W z = W^-1 s (Vandenberghe 2010, section 4).
        ns, nz = _cone_norm(s, j), _cone_norm(z, j)
        if not ns * nz > 0.0:
            return False
        dot = (s[j] * z[j] + s[j + 1] * z[j + 1] + s[j + 2] * z[j + 2]) / (ns * nz)
        gamma = 2.0 * math.sqrt(0.5 * (1.0 + dot))
        w0 = (s[j] / ns + z[j] / nz) / gamma
        w1 = (s[j + 1] / ns - z[j + 1] / nz) / gamma
        w2 = (s[j + 2] / ns - z[j + 2] / nz) / gamma
        root = math.sqrt(2.0 * (w0 + 1.0))
        scaling[row, 0], scaling[row, 1], scaling[row, 2] = (w0 + 1.0) / root, w1 / root, w2 / root
        scaling[row, BETA] = math.sqrt(ns / nz)
    return True


@kernel
def fill_units(lines, cones, value, out):
    """
    Set a vector to a multiple of the cones' unit e.

    Parameters
    ----------
    lines, cones : int
        Numbers of half-lines and of cones.
    value : float
        The multiple.
    out : (lines + 3 cones,) array
        Is filled.

    """
    for j in range(lines):
        out[j] = value
    for k in range(cones):
        j = lines + 3 * k
        out[j], out[j + 1], out[j + 2] = value, 0.0, 0.0


@kernel
def subtract_product(lines, cones, x, y, out):
    """
    Subtract the Jordan product x o y from out.

    Parameters
    ----------
    lines, cones : int
        Numbers of half-lines and of cones.
    x, y, out : (lines + 3 cones,) array
        Factors, and the vector that is changed.

    """
    for j in range(lines):
        out[j] -= x[j] * y[j]
    for k in range(cones):
        j = lines + 3 * k
        out[j] -= x[j] * y[j] + x[j + 1] * y[j + 1] + x[j + 2] * y[j + 2]
        out[j + 1] -= x[j] * y[j + 1] + y[j] * x[j + 1]
        out[j + 2] -= x[j] * y[j + 2] + y[j] * x[j + 2]


@kernel
def divide(lines, cones, lam, x):
    """
    Replace x by the solution y of lam o y = x (Jordan product).

    Parameters
    ----------
    lines, cones : int
        Numbers of half-lines and of cones.
    lam, x : (lines + 3 cones,) array
        Factor inside the cones, and the right side, which is replaced.

    """
    for j in range(lines):
        x[j] /= lam[j]
    for k in range(cones):
        j = lines + 3 * k
        l0, l1, l2 = lam[j], lam[j + 1], lam[j + 2]
        length = math.hypot(l1, l2)
        det = (l0 - length) * (l0 + length)
        y0 = (l0 * x[j] - l1 * x[j + 1] - l2 * x[j + 2]) / det
        x[j], x[j + 1], x[j + 2] = y0, (x[j + 1] - y0 * l1) / l0, (x[j + 2] - y0 * l2) / l0


@kernel
def longest_step(lines, cones, x, d):
    """
    Return the largest a <= 1e3 for which x + a d is in the cones, x being inside.

    Parameters
    ----------
    lines, cones : int
        Numbers of half-lines and of cones.
    x, d : (lines + 3 cones,) array
        Point inside the cones, and direction.

    Returns
    -------
    float
        Step length.

    """
    longest = 1e3
    for j in range(lines):
        if d[j] < 0.0:
            longest = min(longest, -x[j] / d[j])
    for k in range(cones):
        j = lines + 3 * k
        # (x + a d) lies on the cone where qa a^2 + 2 qb a + qc = 0.
        qa = d[j] * d[j] - d[j + 1] * d[j + 1] - d[j + 2] * d[j + 2]
        qb = x[j] * d[j] - x[j + 1] * d[j + 1] - x[j + 2] * d[j + 2]
        qc = _cone_norm(x, j) ** 2
        root = qb * qb - qa * qc
        # The form of the root that adds and does not cancel.
        if qa < 0.0:
            longest = min(longest, qc / (math.sqrt(max(root, 0.0)) - qb))
        elif qb < 0.0 and root >= 0.0:
            longest = min(longest, qc / (math.sqrt(root) - qb))
    return longest


@kernel
def shift_into_cones(lines, cones, x):
    """
    Shift x along the cones' axes until it is well inside.

    Parameters
    ----------
    lines, cones : int
        Numbers of half-lines and of cones.
    x : (lines + 3 cones,) array
        Is changed, unless it is well inside already.

    """
    shift = -1e300
    for j in range(lines):
        shift = max(shift, -x[j])
    for k in range(cones):
        j = lines + 3 * k
        shift = max(shift, math.hypot(x[j + 1], x[j + 2]) - x[j])
    if shift > -1e-8:
        for j in range(lines):
            x[j] += 1.0 + shift
        for k in range(cones):
            x[lines + 3 * k] += 1.0 + shift


# -------------------------------------------------------------------------------------------------
# The same operations on whole arrays, for interior-point methods in Python. The last axis holds
# one half-line each, or a second-order cone of three.


class ConeArray:
    """
    Cones of one kind, and their Nesterov-Todd scaling at a pair (s, z) inside them.

    Parameters
    ----------
    s, z : (..., k) arrays
        Slacks and multipliers; on a cone's boundary all results are NaN.

    Attributes
    ----------
    scaled : (..., k) array
        ``lambda = W z = W^-1 s``.

    """

    size: int

    def __init__(self, s: np.ndarray, z: np.ndarray):
        self._shape, self._counts = s.shape, self._count(s)
        self._scaling = np.empty((sum(self._counts), 4))
        if not find_scaling(self._scaling, *self._counts, _flat(s), _flat(z)):
            self._scaling[:] = np.nan
        self.scaled = self.to(z)

    @classmethod
    def _count(cls, v: np.ndarray) -> tuple[int, int]:
        return (v.size, 0) if cls.size == 1 else (0, v.size // cls.size)

    def _times(self, v: np.ndarray, inverse: bool) -> np.ndarray:
        out = np.empty(v.size)
        scale(self._scaling, *self._counts, _flat(v), out, inverse)
        return out.reshape(self._shape)

    def to(self, v: np.ndarray) -> np.ndarray:
        """
        Return W v.

        Parameters
        ----------
        v : (..., k) array
            Slacks' direction, one element of a cone in the last axis.

        Returns
        -------
        (..., k) array
            Product.

        """
        return self._times(v, False)

    def back(self, v: np.ndarray) -> np.ndarray:
        """
        Return W^-1 v.

        Parameters
        ----------
        v : (..., k) array
            One element of a cone in the last axis.

        Returns
        -------
        (..., k) array
            Product.

        """
        return self._times(v, True)

    def target(self, s: np.ndarray, z: np.ndarray, centre: float) -> np.ndarray:
        """
        Return v of ``lambda o v = centre e - s o z``, for s and z in scaled coordinates.

        Parameters
        ----------
        s, z : (..., k) array
            Steps of slacks and multipliers in scaled coordinates: W^-1 ds and W dz.
        centre : float
            Complementarity that the step aims at.

        Returns
        -------
        (..., k) array
            Right side of the equations of complementarity, divided by lambda.

        """
        v = np.empty(s.size)
        fill_units(*self._counts, centre, v)
        subtract_product(*self._counts, _flat(s), _flat(z), v)
        divide(*self._counts, _flat(self.scaled), v)
        return v.reshape(self._shape)

    @classmethod
    def step(cls, v: np.ndarray, dv: np.ndarray) -> float:
        """
        Return the largest step along dv, up to 1000, that stays in the cones.

        Parameters
        ----------
        v : (..., k) array
            Point inside the cones.
        dv : (..., k) array
            Direction.

        Returns
        -------
        float
            Length of the step.

        """
        return float(longest_step(*cls._count(v), _flat(v), _flat(dv)))


class HalfLines(ConeArray):
    """Linear inequalities."""

    size = 1

    def squares(self) -> np.ndarray:
        """Return the diagonal of W^-2."""
        return self._scaling[:, BETA].reshape(self._shape) ** -2.0

    @staticmethod
    def inside(v: np.ndarray, least: float) -> np.ndarray:
        """
        Return v moved into the cone, with a least distance from its boundary.

        Parameters
        ----------
        v : (...) array
            Values.
        least : float
            The least distance, above 0.

        Returns
        -------
        (...) array
            ``v``, or ``least`` where it is smaller.

        """
        return np.maximum(v, least)


class RoundCones(ConeArray):
    """Second-order cones of three."""

    size = 3

    def squares(self) -> np.ndarray:
        """Return W^-2, (..., 3, 3)."""
        v, beta = self._scaling[:, :3], self._scaling[:, BETA]
        # W e / beta, mirrored: W^-2 has the form of W^-1 about that point.
        w = np.array([2.0, -2.0, -2.0]) * v[:, :1] * v - np.array([1.0, 0.0, 0.0])
        found = 2.0 * w[:, :, None] * w[:, None, :] - np.diag([1.0, -1.0, -1.0])
        return (found / (beta ** 2)[:, None, None]).reshape(*self._shape, 3)

    @staticmethod
    def inside(v: np.ndarray, least: float) -> np.ndarray:
        """
        Return v moved along the axis into the cone, with a least distance from its boundary.

        Parameters
        ----------
        v : (..., 3) array
            Values (t, y1, y2).
        least : float
            The least of ``t - |y|``, above 0.

        Returns
        -------
        (..., 3) array
            Values with t increased where necessary.

        """
        moved = v.copy()
        moved[..., 0] = np.maximum(v[..., 0], np.linalg.norm(v[..., 1:], axis=-1) + least)
        return moved


def _flat(v: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(v).reshape(-1)
