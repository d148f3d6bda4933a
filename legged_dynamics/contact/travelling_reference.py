# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Where in the sole a foot presses, as its stance goes by: from heel to toe, or as the foot comes.

The path of a stance is the most likely one under three statements: it starts in the part of the
sole that is lowest when the foot lands and ends in the one that is lowest when it leaves; while
the foot stands alone it is the centre of pressure that the motion gives, within that one's error;
and in between it wanders no faster than a sole's length a stance (a Wiener process). Where nothing
is said, it goes back to the middle of the sole. Each coordinate is one tridiagonal system,

.. math:: \sum_t (x_{t+1} - x_t)^2 / q + \sum_t (x_t - z_t)^2 / r_t .

Taking the path from the motion's own centre of pressure rather than from a table does more than
fit the person: what is wrong with the model's mass shifts path and load alike, and so cancels out
of the split between two feet.
"""
from __future__ import annotations

import numpy as np
from scipy.linalg import solveh_banded

from legged_dynamics.contact.gait_settings import GaitSettings
from legged_dynamics.contact.ground_demand import GroundDemand
from legged_dynamics.contact.stance_detection import Stance, stances
from legged_dynamics.model.feet import FlatFoot


def travelling_reference(demand: GroundDemand, contact: np.ndarray,
                         settings: GaitSettings) -> np.ndarray:
    """
    Return where each foot presses, (n, nf, 3) in its own frame [m], inside the sole.

    Parameters
    ----------
    demand : GroundDemand
        The feet's poses and the wrench that the motion asks for.
    contact : (n, nf) bool array
        Feet on the ground.
    settings : GaitSettings
        Those named `reference`.

    """
    path = demand.low_point.copy()
    alone = contact & (contact.sum(axis=1) == 1)[:, None]
    pressure = demand.pressure_in_feet()
    for stance in stances(contact):
        foot = demand.feet[stance.foot]
        if not isinstance(foot, FlatFoot):
            continue
        part, i = stance.samples, stance.foot
        seen = np.where(alone[part, i, None], pressure[part, i], np.nan)
        for axis, (low, high) in enumerate(((foot.back, foot.front), (foot.right, foot.left))):
            path[part, i, axis] = _path(stance, low, high, seen[:, axis],
                                        demand.low_point[part, i, axis], demand.step, settings)
        path[part, i, 2] = 0.0
    return path


def _path(stance: Stance, low: float, high: float, seen: np.ndarray, edge: np.ndarray, dt: float,
          settings: GaitSettings) -> np.ndarray:
    """Return one coordinate of the path through one stance."""
    n, length = len(seen), high - low
    crossing = max(n * dt, settings.crossing_time)
    step = length ** 2 * dt / crossing
    # A sole's length off the middle within one crossing: no more than a place to come back to.
    middle = dt / (crossing * length ** 2)
    information, pull = np.full(n, middle), np.full(n, middle * (low + high) / 2.0)
    known = np.isfinite(seen)
    inside = np.clip(seen, low, high)
    beyond = np.abs(seen - inside) / settings.plausible_distance
    memory = settings.pressure_error ** 2 * settings.pressure_memory / dt
    trust = np.where(known, 1.0 / (memory * (1.0 + np.nan_to_num(beyond) ** 2) ** 2), 0.0)
    information += trust
    pull += trust * np.nan_to_num(inside)
    for there, sample in ((stance.landed, 0), (stance.left, n - 1)):
        if there:
            information[sample] += settings.edge_error ** -2
            pull[sample] += settings.edge_error ** -2 * edge[sample]
    if n == 1:
        return np.clip(pull / information, low, high)
    band = np.zeros((2, n))
    band[0, 1:] = -1.0 / step
    band[1] = information
    band[1, :-1] += 1.0 / step
    band[1, 1:] += 1.0 / step
    return np.clip(solveh_banded(band, pull), low, high)
