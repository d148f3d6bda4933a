# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Adhesion of a foot: a disc of shear, or the one-way cone of a gecko's pad.

A directional pad holds only while it is pulled along its own direction (Autumn, Dittmore, Santos,
Spenko and Cutkosky, Frictional adhesion, 2006): the pull off the wall that it resists grows with
the shear along that direction, and pushed the other way it holds by friction alone. With F the
wall's force on the foot in the wall's plane, s its part along the pad's direction, l the part
across, and n the wall's push (negative: the foot pulls)::

    disc          |F| <= shear + friction max(n, 0)             -n <= normal
    directional   the same, and  |l| <= tan(half_angle) (s + tack + friction max(n, 0))
                                 -n <= tan(release_angle) max(s + tack, 0)

A directional pad without tack holds nothing until it is pulled, and so would let go on touching.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.optimization.factorizations import factorize, solve_factorized
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.layout import offsets
from legged_dynamics.stickybot.model.limb import BODY, FORCE, LIMB, limb_mass


class Pad(NamedTuple):
    """Constants of one foot's pad, as :meth:`Adhesion.packed` makes them."""

    shear: int = 1          # N
    normal: int = 1         # N
    friction: int = 1
    tan_half: int = 1       # tangent of the half angle
    tan_release: int = 1    # tangent of the release angle
    tack: int = 1           # N
    direction: int = 1      # rad; NaN for a pad that holds in every direction
    width: int = 0


PAD = offsets(Pad())
# What :func:`pad_failure` returns.
HOLDS, SLIPS, PEELS = range(3)
# A pad that can hold nothing of what acts on it counts as loaded this many times.
OVERLOAD = 10.0
# Entries of the array of the wall's constants.
HEIGHT, NORMAL_GRAVITY = range(2)


@dataclass(frozen=True)
class Adhesion:
    """
    Limits of one foot's pad.

    Attributes
    ----------
    shear : float [N]
        Largest force in the wall's plane.
    normal : float [N]
        Largest pull off the wall.
    friction : float
        Shear gained per newton that the foot is pressed to the wall.
    direction : float or None [rad]
        Direction in which the wall may pull the foot, in body axes at touchdown: pi/2 is towards
        the head, as a climber hanging head up needs it. None for one that holds in all.
    half_angle : float [rad]
        Of the cone about that direction.
    release_angle : float [rad]
        A pad pulled off the wall more steeply than this, from the wall, lets go.
    tack : float [N]
        What a directional pad holds as if it were pulled its own way that much more.

    """

    shear: float = math.inf
    normal: float = math.inf
    friction: float = 0.0
    direction: float | None = None
    half_angle: float = math.pi / 3.0
    release_angle: float = math.pi / 6.0
    tack: float = 0.0

    def __post_init__(self) -> None:
        for name in ('shear', 'normal', 'friction', 'tack'):
            if not getattr(self, name) >= 0.0:
                raise ConfigurationError(f'adhesion: expected {name} of at least 0, '
                                         f'got {getattr(self, name)!r}')
        for name in ('half_angle', 'release_angle'):
            if not 0.0 < getattr(self, name) < math.pi / 2.0:
                raise ConfigurationError(f'adhesion: expected {name} between 0 and pi/2 rad, '
                                         f'got {getattr(self, name)!r}')
        if self.direction is not None and not math.isfinite(self.direction):
            raise ConfigurationError(f'adhesion: expected a finite direction or None, '
                                     f'got {self.direction!r}')

    @property
    def directional(self) -> bool:
        """Whether the pad holds one way only."""
        return self.direction is not None

    def used(self, force: np.ndarray, angle: float = 0.0) -> float:
        """Return the pad's used share, above 1 lost, by a wall's ``force`` [N], z off the wall."""
        x, y, z = map(float, force)
        return float(pad_use(self.packed(), angle, x, y, z))

    def packed(self) -> np.ndarray:
        """Return the (7,) array for kernels, in the places `PAD`; a direction of NaN is a disc."""
        direction = math.nan if self.direction is None else self.direction
        return np.array([self.shear, self.normal, self.friction, math.tan(self.half_angle),
                         math.tan(self.release_angle), self.tack, direction])


@kernel
def _part(load, capacity):
    """Return what part of a capacity a load uses; at most `OVERLOAD`."""
    if load <= 0.0:
        return 0.0
    return load / capacity if load < OVERLOAD * capacity else OVERLOAD


@kernel
def _parts_used(pad, angle, fx, fy, normal):
    """Return what part a pad uses of its resistance to peeling, and to slipping."""
    pressed, pull = pad[PAD.friction] * max(normal, 0.0), max(-normal, 0.0)
    peels = _part(pull, pad[PAD.normal])
    slips = _part(math.hypot(fx, fy), pad[PAD.shear] + pressed)
    if not math.isnan(pad[PAD.direction]):
        c, s = math.cos(angle), math.sin(angle)
        along, across = c * fx + s * fy + pad[PAD.tack], c * fy - s * fx
        peels = max(peels, _part(pull, pad[PAD.tan_release] * max(along, 0.0)))
        slips = max(slips, OVERLOAD if along + pressed < 0.0 else
                    _part(abs(across), pad[PAD.tan_half] * (along + pressed)))
    return peels, slips


@kernel
def pad_use(pad, angle, fx, fy, normal):
    """Return the share of its limit that a pad uses under shear fx, fy and the wall's push."""
    return max(*_parts_used(pad, angle, fx, fy, normal))


@kernel
def fill_use(pads, angles, forces, normals, used):
    """Fill the share of its limit that each pad uses, of (N, 2) forces in the wall's plane."""
    for i in range(used.shape[0]):
        used[i] = pad_use(pads[i], angles[i], forces[i, 0], forces[i, 1], normals[i])


@kernel
def pad_failure(pad, angle, fx, fy, normal):
    """Return `HOLDS`, `SLIPS` or `PEELS` for a pad under shear fx, fy and wall push."""
    peels, slips = _parts_used(pad, angle, fx, fy, normal)
    return PEELS if peels > 1.0 else SLIPS if slips > 1.0 else HOLDS


@kernel
def normal_loads(machine, wall, attached, z, forces, normals):
    """
    Fill the wall's normal foot forces (N,), positive in compression: least change of those given.

    ``sum n_i = -M g_n``, ``sum n_i (p_i - c) = -height sum F_r,i``: all mass at one height. Feet
    that are off rest on the wall and only push; what no feet balance is left, by least squares.
    """
    index, n = machine.index, attached.shape[0]
    total = machine.constants[BODY.mass]
    cx, cy = total * z[0], total * z[1]
    b = (0.0, 0.0, 0.0)
    for i in range(n):
        mass, mx, my = limb_mass(machine, i, z)
        total, cx, cy = total + mass, cx + mx, cy + my
        if attached[i]:
            b = (0.0, b[1] - wall[HEIGHT] * forces[i, FORCE.reaction],
                 b[2] - wall[HEIGHT] * forces[i, FORCE.reaction + 1])
    b, cx, cy = (-total * wall[NORMAL_GRAVITY], b[1], b[2]), cx / total, cy / total
    # n_i = before_i + [1, x, y] m of feet that can act, lengths in units of 1 m; e keeps two feet
    # solvable, and Newton's steps find who pushes.
    before = np.where(attached, normals, np.maximum(normals, 0.0))
    matrix, m = np.zeros((3, 3)), np.zeros(3)
    normals[:] = 1.0
    for _ in range(n + 1):
        matrix[:], same = 0.0, True
        m[0], m[1], m[2] = b
        for i in range(n):
            if attached[i] or normals[i] > 0.0:
                start = index[i, LIMB.start]
                column = (1.0, z[start] - cx, z[start + 1] - cy)
                for j in range(3):
                    m[j] -= column[j] * before[i]
                    for k in range(3):
                        matrix[j, k] += column[j] * column[k]
        matrix += (1e-9 * (matrix[1, 1] + matrix[2, 2]) + 1e-18) * np.eye(3)
        factorize(matrix, 3)
        solve_factorized(matrix, 3, m)
        for i in range(n):
            start = index[i, LIMB.start]
            push = before[i] + m[0] + m[1] * (z[start] - cx) + m[2] * (z[start + 1] - cy)
            same = same and (attached[i] or (push > 0.0) == (normals[i] > 0.0))
            normals[i] = push if attached[i] else max(push, 0.0)
        if same:
            break
