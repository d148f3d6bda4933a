# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Algebra of the cones that an interior-point method works in, over whole arrays at once.

Elements lie in the last axis: a half line each, or a second-order cone of three,
``v_0 >= |(v_1, v_2)|``. Each cone has a product, a unit, and the scaling of Nesterov and Todd,
``W z = W^-1 s = lambda`` (Vandenberghe 2010, "The CVXOPT linear and quadratic cone program
solvers", sections 2 and 4).
"""
from __future__ import annotations

from typing import Protocol

import numpy as np


class Cone(Protocol):
    """A cone and the scaling at a pair (s, z) inside it."""

    scaled: np.ndarray

    def to(self, v: np.ndarray) -> np.ndarray:
        """Return W v."""

    def back(self, v: np.ndarray) -> np.ndarray:
        """Return W^-1 v."""

    def target(self, s: np.ndarray, z: np.ndarray, centre: float) -> np.ndarray:
        """Return v of ``lambda o v = centre e - s o z``, for s and z in scaled coordinates."""

    def squares(self) -> np.ndarray:
        """Return W^-2: an array of weights, or of 3x3 matrices."""


class HalfLines:
    """Linear inequalities."""

    degree = 1

    def __init__(self, s: np.ndarray, z: np.ndarray):
        self._w = np.sqrt(s / z)
        self.scaled = np.sqrt(s * z)

    def to(self, v: np.ndarray) -> np.ndarray:
        """Return W v."""
        return self._w * v

    def back(self, v: np.ndarray) -> np.ndarray:
        """Return W^-1 v."""
        return v / self._w

    def target(self, s: np.ndarray, z: np.ndarray, centre: float) -> np.ndarray:
        """Return v of ``lambda o v = centre e - s o z``, for s and z in scaled coordinates."""
        return (centre - s * z) / self.scaled

    def squares(self) -> np.ndarray:
        """Return the diagonal of W^-2."""
        return 1.0 / self._w ** 2

    @staticmethod
    def inside(v: np.ndarray, least: float) -> np.ndarray:
        """Return v moved into the cone, at least so far from its boundary."""
        return np.maximum(v, least)

    @staticmethod
    def step(v: np.ndarray, dv: np.ndarray) -> float:
        """Return the largest step along dv that stays in the cone."""
        with np.errstate(divide='ignore', invalid='ignore'):
            steps = np.where(dv < 0.0, -v / dv, np.inf)
        return float(steps.min(initial=np.inf))


class RoundCones:
    """Second-order cones of three."""

    degree = 1

    def __init__(self, s: np.ndarray, z: np.ndarray):
        s_size, z_size = np.sqrt(_determinant(s)), np.sqrt(_determinant(z))
        s_bar, z_bar = s / s_size[..., None], z / z_size[..., None]
        gamma = np.sqrt((1.0 + (s_bar * z_bar).sum(axis=-1)) / 2.0)
        self._w = (s_bar + _mirrored(z_bar)) / (2.0 * gamma[..., None])
        self._size = np.sqrt(s_size / z_size)
        self.scaled = self.to(z)

    def to(self, v: np.ndarray) -> np.ndarray:
        """Return W v."""
        return self._size[..., None] * _reflect(self._w, v)

    def back(self, v: np.ndarray) -> np.ndarray:
        """Return W^-1 v."""
        return _reflect(_mirrored(self._w), v) / self._size[..., None]

    def target(self, s: np.ndarray, z: np.ndarray, centre: float) -> np.ndarray:
        """Return v of ``lambda o v = centre e - s o z``, for s and z in scaled coordinates."""
        r = -_product(s, z)
        r[..., 0] += centre
        head, tail = self.scaled[..., 0], self.scaled[..., 1:]
        v = np.empty_like(r)
        v[..., 0] = (head * r[..., 0] - (tail * r[..., 1:]).sum(axis=-1)) / _determinant(
            self.scaled)
        v[..., 1:] = (r[..., 1:] - v[..., :1] * tail) / head[..., None]
        return v

    def squares(self) -> np.ndarray:
        """Return W^-2, (..., 3, 3)."""
        w = _mirrored(self._w)
        squares = 2.0 * w[..., :, None] * w[..., None, :] - np.diag([1.0, -1.0, -1.0])
        return squares / (self._size ** 2)[..., None, None]

    @staticmethod
    def inside(v: np.ndarray, least: float) -> np.ndarray:
        """Return v moved into the cone, at least so far from its boundary."""
        moved = v.copy()
        moved[..., 0] = np.maximum(v[..., 0], np.linalg.norm(v[..., 1:], axis=-1) + least)
        return moved

    @staticmethod
    def step(v: np.ndarray, dv: np.ndarray) -> float:
        """Return the largest step along dv that stays in the cone."""
        a, c = _determinant(dv), _determinant(v)
        b = v[..., 0] * dv[..., 0] - (v[..., 1:] * dv[..., 1:]).sum(axis=-1)
        with np.errstate(divide='ignore', invalid='ignore'):
            under = np.sqrt(np.maximum(b * b - a * c, 0.0)) - b
            steps = np.where((b * b >= a * c) & (under > 0.0), c / under, np.inf)
        return float(steps.min(initial=np.inf))


def _determinant(v: np.ndarray) -> np.ndarray:
    tail = np.hypot(v[..., 1], v[..., 2])
    return (v[..., 0] - tail) * (v[..., 0] + tail)


def _mirrored(v: np.ndarray) -> np.ndarray:
    return v * np.array([1.0, -1.0, -1.0])


def _product(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    found = u[..., :1] * v + v[..., :1] * u
    found[..., 0] = (u * v).sum(axis=-1)
    return found


def _reflect(w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the hyperbolic reflection ``[w_0, w_1^T; w_1, 1 + w_1 w_1^T / (1 + w_0)] v``."""
    along = (w[..., 1:] * v[..., 1:]).sum(axis=-1)
    found = np.empty_like(v)
    found[..., 0] = w[..., 0] * v[..., 0] + along
    found[..., 1:] = v[..., 1:] + (v[..., 0] + along / (1.0 + w[..., 0]))[..., None] * w[..., 1:]
    return found
