# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The ground's normals that a user gives, beside the one that feet have found (`ground_plane`).

World axes: z up, heading of the IMU. A foot without a given normal stands on the common plane.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import FeetTable, contact_points, lean_on_lowest_part
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.optimization.within_limits import BoundsRoom
from legged_dynamics.spatial.algebra import ZERO, add, load3, norm, rotate_back, scale, store3
from legged_dynamics.spatial.jit import part

# Columns of the tables of `Ground`.
N_GIVEN, N_LIMIT = 4, 8
# A vector shorter than this has no direction to speak of.
LEAST_LENGTH = 1e-3


class Ground(NamedTuple):
    """
    What is known of the ground under the feet beforehand.

    Attributes
    ----------
    given : (nf, N_GIVEN) array
        Whether a normal is given, and it, in world axes.
    limits : (m, N_LIMIT) array
        What the ground can give: see `force_limits`.
    bounds : BoundsRoom
        Room to keep forces within that.

    """

    given: np.ndarray
    limits: np.ndarray
    bounds: BoundsRoom


@part
def normals_under_feet(given, R_WB, plane, layout, out):
    """Fill each foot's normal in base axes; return the common one: given for all, or found."""
    shared, total, known = rotate_back(R_WB, plane), ZERO, 0
    for i in range(given.shape[0]):
        normal = shared
        if given[i, 0] > 0.5:
            normal = rotate_back(R_WB, load3(given[i], 1))
            total, known = add(total, normal), known + 1
        store3(out, layout.foot_normals + 3 * i, normal)
    length = norm(total)
    if known == given.shape[0] and length > 1e-9:
        shared = scale(1.0 / length, total)
    store3(out, layout.ground_normal, shared)
    return shared


@part
def stand_on_given(feet, given, bodies, shared, layout, states, out):
    """Move the contact points of feet that stand on ground of their own."""
    for i in range(given.shape[0]):
        normal = load3(out, layout.foot_normals + 3 * i)
        if given[i, 0] > 0.5 and normal != shared:
            one = FeetTable(feet.index[i:i + 1], feet.geometry[i:i + 1])
            contact_points(one, bodies, normal, states[i:i + 1])
            lean_on_lowest_part(one, normal, states[i:i + 1])


def given_normals(normal: Sequence[float], normals: Sequence[float], feet: int) -> np.ndarray:
    """
    Return the normals that settings give, (feet, 4): whether there is one, and it.

    Parameters
    ----------
    normal : sequence of float
        Of the ground under all feet, three values; or empty.
    normals : sequence of float
        The same one foot after the other, three each; zeros for a foot whose normal is to be
        found; or empty.
    feet : int
        How many there are.

    Raises
    ------
    ConfigurationError
        When the number of values is wrong, both are given, or a vector has no length, or points
        down.

    """
    found = np.zeros((feet, 4))
    if len(normal) and len(normals):
        raise ConfigurationError('ground.normal and ground.normals: expected one of them, got '
                                 'both; ground.normal is that of all feet')
    if len(normal) not in (0, 3):
        raise ConfigurationError(f'ground.normal: expected 3 values (x, y, z, with z up), got '
                                 f'{len(normal)}')
    if len(normals) not in (0, 3 * feet):
        raise ConfigurationError(f'ground.normals: expected {3 * feet} values, 3 for each of '
                                 f'{feet} feet, got {len(normals)}')
    rows = np.reshape(normals, (-1, 3)) if len(normals) else np.tile(normal, (feet, 1))
    for i, row in enumerate(rows if rows.size else ()):
        length = float(np.linalg.norm(row))
        name = f'ground.normals, foot {i + 1}' if len(normals) else 'ground.normal'
        if length == 0.0 and len(normals):
            continue
        if not length > LEAST_LENGTH:
            raise ConfigurationError(f'{name}: expected a vector with a direction, got '
                                     f'{row.tolist()}')
        if row[2] < 0.0:
            raise ConfigurationError(f'{name}: expected a normal out of the ground, with z at '
                                     f'least 0 in world axes, got {row.tolist()}; is the sign '
                                     'the wrong way round?')
        found[i] = 1.0, *(row / length)
    return found
