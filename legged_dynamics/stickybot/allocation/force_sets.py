# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sets of forces that feet can carry: a disc cut by half-planes for each foot."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.layout import offsets
from legged_dynamics.stickybot.model.adhesion import PAD, Adhesion

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

    Where the pull alone already exceeds the limit of the pad, one of the half-planes lies beyond
    the disc: the set is empty.

    Parameters
    ----------
    pads : (N, PAD.width) array
        Of :meth:`Adhesion.packed`.
    normals : (N,) array [N]
        The wall's push on each foot.
    angles : (N,) array [rad]
        Direction of each pad in the axes of the forces.
    table : (N, SET.width) array
        Filled.

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

        Parameters
        ----------
        radius : (N,) sequence of float [N]
            Largest force of each foot.

        Returns
        -------
        ForceSets

        Raises
        ------
        ConfigurationError
            When a radius is negative or not finite.

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

        Parameters
        ----------
        pads : sequence of Adhesion
            Pads of finite shear.
        normals : (N,) sequence [N]
            The wall's push on each foot.
        angles : (N,) sequence [rad]
            Directions of the pads in the axes of the forces; not used for discs.

        Returns
        -------
        ForceSets

        Raises
        ------
        ConfigurationError
            When the lengths do not fit, or a pad has no limit of shear.

        """
        n = len(pads)
        table, loads, turned = np.zeros((n, SET.width)), np.asarray(normals, float), \
            np.asarray(angles, float)
        if loads.shape != (n,) or turned.shape != (n,):
            raise ConfigurationError(f'expected a normal load and an angle for each of {n} pads, '
                                     f'got {loads.size} and {turned.size}')
        if not all(math.isfinite(pad.shear) for pad in pads):
            raise ConfigurationError('expected pads of finite shear, got one without limit')
        fill_sets(np.array([pad.packed() for pad in pads]), loads, turned, table)
        return cls(table)

    @property
    def n_feet(self) -> int:
        """Number of feet."""
        return self.table.shape[0]

    def planes(self, foot: int) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the half-planes of a foot, ``normal . F <= bound``.

        Parameters
        ----------
        foot : int
            Number of the foot.

        Returns
        -------
        normals : (k, 2) array
            Unit normals.
        bounds : (k,) array [N]
            Bounds.

        """
        count = int(self.table[foot, SET.n_planes])
        rows = self.table[foot, SET.planes:SET.planes + 3 * count].reshape(-1, 3)
        return rows[:, :2], rows[:, 2]

    def contains(self, forces: np.ndarray, slack: float = 0.0) -> np.ndarray:
        """
        Return for each foot whether its force lies in its set.

        Parameters
        ----------
        forces : (N, 2) array [N]
            Forces of the feet.
        slack : float [N]
            Tolerated distance outside the set.

        Returns
        -------
        (N,) array of bool

        """
        inside = np.hypot(*np.transpose(forces)) <= self.table[:, SET.radius] + slack
        for i, force in enumerate(forces):
            normals, bounds = self.planes(i)
            inside[i] &= bool((normals @ force <= bounds + slack).all())
        return inside

    def support(self, directions: np.ndarray) -> np.ndarray:
        """
        Return the largest ``d_i . F_i`` over each foot's set.

        Exact: the largest is reached on the circle in the direction itself, on an edge, or in a
        corner.

        Parameters
        ----------
        directions : (N, 2) array
            ``d_i`` of each foot.

        Returns
        -------
        (N,) array
            -inf where a set is empty.

        """
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
