# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Cones of an interior-point method over whole arrays at once.

Elements lie in the last axis: a half-line each, or a second-order cone of three. The algebra is
that of :mod:`~legged_dynamics.optimization.cones`.
"""
from __future__ import annotations

import numpy as np

from legged_dynamics.optimization.cones import (
    BETA,
    divide,
    fill_units,
    find_scaling,
    longest_step,
    scale,
    subtract_product,
)


class ConeArray:
    """
    Cones of one kind, and their Nesterov-Todd scaling at a pair (s, z) inside them.

    Parameters
    ----------
    s, z : (..., k) arrays
        Slacks and multipliers; on a cone's boundary all that follows is NaN.

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
        """Return W v."""
        return self._times(v, False)

    def back(self, v: np.ndarray) -> np.ndarray:
        """Return W^-1 v."""
        return self._times(v, True)

    def target(self, s: np.ndarray, z: np.ndarray, centre: float) -> np.ndarray:
        """Return v of ``lambda o v = centre e - s o z``, for s and z in scaled coordinates."""
        v = np.empty(s.size)
        fill_units(*self._counts, centre, v)
        subtract_product(*self._counts, _flat(s), _flat(z), v)
        divide(*self._counts, _flat(self.scaled), v)
        return v.reshape(self._shape)

    @classmethod
    def step(cls, v: np.ndarray, dv: np.ndarray) -> float:
        """Return the largest step along dv, up to 1000, that stays in the cones."""
        return float(longest_step(*cls._count(v), _flat(v), _flat(dv)))


class HalfLines(ConeArray):
    """Linear inequalities."""

    size = 1

    def squares(self) -> np.ndarray:
        """Return the diagonal of W^-2."""
        return self._scaling[:, BETA].reshape(self._shape) ** -2.0

    @staticmethod
    def inside(v: np.ndarray, least: float) -> np.ndarray:
        """Return v moved into the cone, at least so far from its boundary."""
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
        """Return v moved along the axis into the cone, at least so far from its boundary."""
        moved = v.copy()
        moved[..., 0] = np.maximum(v[..., 0], np.linalg.norm(v[..., 1:], axis=-1) + least)
        return moved


def _flat(v: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(v).reshape(-1)
